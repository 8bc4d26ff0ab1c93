//! Remote calls: who has asked for what a handler of HTTP, gRPC or messages does.
//!
//! A caller that waits holds still: what it has asked for lies between its line before the call
//! and the one after it, and a call that is made once asks for one thing. So all gaps between
//! lines of callers ([`gaps`]) and all spans of handlers are matched at once, at the least cost
//! ([`super::assignment`]). What a match costs is how unlikely it is ([`likelihood`]): by the
//! times from the line before to the handler's first one and from its last one to the line
//! after, and by the values that both sides print, as they are in the matches themselves. Who
//! does not wait is known by the time since it asked. Clocks of nodes may be apart ([`clocks`]).
//!
//! A match counts only where all others together are [`ODDS_MIN`] times less likely.

use rustc_hash::FxHashMap;
use schema::{Model, Pass, TopLevelId};

use self::clocks::Offsets;
use self::gaps::{Call, Gap, Gaps};
use self::likelihood::Likelihood;
use super::assignment::{Choice, Edge, assign};
use super::facts::{Fact, Facts};
use super::pairs::Pairs;
use crate::Config;
use crate::merge::SpanLink;

mod call_order;
mod clocks;
mod gaps;
mod likelihood;

/// A match counts if it is so many times likelier than all without it.
const ODDS_MIN: f64 = 9.0;

/// Units of cost per natural logarithm.
const UNIT: f64 = 1_000.0;

/// Odds beyond which nobody asks, as their logarithm.
const MARGIN_MAX: f64 = 20.0;

/// Times that likelihoods are learnt from matches, if these go on changing.
const ROUNDS_MAX: usize = 16;

/// Handlers that one gap can hold, where a call is made again and again.
const REPEATS_MAX: u32 = 8;

/// What a call past a handler that prints nothing costs, which prints something at other times.
const PAST: f64 = 3.0;

/// What it costs if a line of the caller stands where the code has none, or the handler's span
/// begins with what it does not begin with.
const ODD_LINE: f64 = 3.0;

/// What each further place among the methods that can have printed a span costs.
const RANK: f64 = 1.0;

/// A possible match: a handler's span in a gap.
#[derive(Clone, Copy, Debug)]
struct Match {
    gap: u32,
    /// What its place in the code costs.
    odd: f64,
}

/// A handler's span with the gaps that it can lie in.
type Handler = (u32, Vec<Match>);

/// The gap that a handler's span lies in, if one.
type Chosen = Option<(u32, Choice)>;

/// Links from callers to the spans of handlers that they have asked for.
pub(super) fn find(model: &Model, pairs: &Pairs<'_>, facts: &Facts<'_>, config: &Config) -> Vec<SpanLink> {
    let calls = gaps::calls(model, facts);
    if calls.is_empty() {
        return Vec::new();
    }
    let gaps = gaps::find(facts, &calls, config.window_us);
    let offsets = Offsets::new(facts, &calls, &gaps, config.skew_us);
    let handlers: Vec<Handler> = (facts.iter())
        .map(|(span, fact)| (span, matches(pairs, facts, (&calls, &gaps), &offsets, (span, fact))))
        .filter(|(_, matches)| !matches.is_empty())
        .collect();
    let mut likelihood = Likelihood::new((model, facts), &calls, &gaps, &handlers);
    let mut chosen: Vec<Chosen> = Vec::new();
    for _ in 0..ROUNDS_MAX {
        let edges: Vec<Vec<Edge>> = (handlers.iter())
            .map(|(span, matches)| edges(&likelihood, &calls, &gaps, &offsets, (*span, matches)))
            .collect();
        let alone: Vec<i64> =
            handlers.iter().map(|(span, _)| units(likelihood.alone(facts.get(*span)))).collect();
        let found = assign(&edges, &alone, units(MARGIN_MAX));
        let found: Vec<Chosen> = (found.iter().zip(&edges))
            .map(|(choice, edges)| choice.map(|choice| (edges[choice.edge].place / REPEATS_MAX, choice)))
            .collect();
        let is_settled = are_same(&found, &chosen);
        chosen = found;
        if is_settled {
            break;
        }
        likelihood.learn((&calls, &gaps), &offsets, &handlers, &chosen);
    }
    links(&calls, &gaps, &handlers, &chosen)
}

fn units(cost: f64) -> i64 {
    (cost * UNIT).round() as i64
}

/// The gaps that a span can lie in.
fn matches(
    pairs: &Pairs<'_>,
    facts: &Facts<'_>,
    (calls, gaps): (&[Call], &Gaps),
    offsets: &Offsets,
    (span, fact): (u32, &Fact<'_>),
) -> Vec<Match> {
    let mut best: FxHashMap<u32, f64> = FxHashMap::default();
    for (rank, &top) in fact.tops.iter().enumerate() {
        let begins = fact.first_point.is_none_or(|first| pairs.starts_with(top, first));
        let odd = rank as f64 * RANK + if begins { 0.0 } else { ODD_LINE };
        for gap in gaps.around(top, fact.start_us, |from| offsets.between(from, fact.node)) {
            let Gap { span: caller, call, n_odd, .. } = *gaps.get(gap);
            let is_of_another = facts.ids().are_one(caller, span) == Some(false);
            if caller == span || is_of_another || facts.are_of_one_thread(caller, span) {
                continue;
            }
            let call = &calls[call as usize];
            let odd = odd + f64::from(n_odd) * ODD_LINE + f64::from(call.n_past) * PAST;
            let known = best.entry(gap).or_insert(odd);
            *known = known.min(odd);
        }
    }
    // Where one caller has the id of the span, no other one has asked.
    let is_of_id = |gap: &u32| facts.ids().are_one(gaps.get(*gap).span, span) == Some(true);
    if best.keys().any(is_of_id) {
        best.retain(|gap, _| is_of_id(gap));
    }
    let mut out: Vec<Match> = best.into_iter().map(|(gap, odd)| Match { gap, odd }).collect();
    out.sort_unstable_by_key(|one| one.gap);
    out
}

/// The same with what each costs.
fn edges(
    likelihood: &Likelihood<'_>,
    calls: &[Call],
    gaps: &Gaps,
    offsets: &Offsets,
    (span, matches): (u32, &[Match]),
) -> Vec<Edge> {
    let mut out = Vec::with_capacity(matches.len());
    for one in matches {
        let gap = gaps.get(one.gap);
        let [first, again] = likelihood.costs((one.gap, gap), calls, offsets, span);
        let n = if calls[gap.call as usize].repeats { REPEATS_MAX } else { 1 };
        for at in 0..n {
            let cost = units(one.odd + if at == 0 { first } else { again });
            out.push(Edge { place: one.gap * REPEATS_MAX + at, cost, group: gap.span });
        }
    }
    out
}

/// Whether two rounds have found the same, and are as sure of it.
fn are_same(a: &[Chosen], b: &[Chosen]) -> bool {
    let of = |chosen: &Chosen| chosen.map(|(gap, choice)| (gap, is_sure(&choice)));
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| of(a) == of(b))
}

/// Whether all without a match are much less likely.
fn is_sure(choice: &Choice) -> bool {
    choice.margin >= units(ODDS_MIN.ln())
}

fn links(calls: &[Call], gaps: &Gaps, handlers: &[Handler], chosen: &[Chosen]) -> Vec<SpanLink> {
    let of = |(handler, choice): (&Handler, &Chosen)| {
        let (gap, _) = choice.filter(|(_, choice)| is_sure(choice))?;
        let gap = gaps.get(gap);
        let pair = Some(calls[gap.call as usize].pair);
        Some(SpanLink { from: gap.span, to: handler.0, pair, by: Pass::RemoteCalls })
    };
    handlers.iter().zip(chosen).filter_map(of).collect()
}

/// Spans of each top-level method.
fn spans_of_tops(facts: &Facts<'_>) -> FxHashMap<TopLevelId, Vec<u32>> {
    let mut out: FxHashMap<TopLevelId, Vec<u32>> = FxHashMap::default();
    for (span, fact) in facts.iter() {
        fact.tops.iter().for_each(|&top| out.entry(top).or_default().push(span));
    }
    out
}
