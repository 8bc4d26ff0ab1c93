//! Remote calls: who has asked for what a handler of HTTP, gRPC or messages does.
//!
//! A caller that waits holds still: what it has asked for lies between its line before the call
//! and the one after it, and one run of a call asks for one thing. So all gaps between lines of
//! callers ([`gaps`]), with a place for each call that can be made there, and all spans of handlers
//! are given to each other at once ([`schema::assignment`]). How likely a match is, against that
//! none of the known callers has asked, is weighed once ([`likelihood`]): by the times from the
//! line before to the handler's first one and from its last one to the line after, by the order of
//! calls ([`call_order`]), and by the values that go together on both sides ([`values`]). All of
//! that is learnt from the matches themselves, in rounds (expectation maximization). Who does not
//! wait is known by the time since it asked. Clocks of nodes may be apart ([`clocks`]).
//!
//! A match counts where its share of all ways to give places to spans is [`LINK_MIN`].
//!
//! What runs around a handler in its thread, a filter, asks for it in the same way. Where no threads
//! are printed, it is found likewise, among the spans of one node ([`Asked::InThread`]): for itself,
//! since somebody far off has asked for the same run.

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use schema::assignment::{Edge, shares};
use schema::{CommunicationPair, LinkKind, Model, Pass, TopLevelId};

use self::clocks::Offsets;
use self::gaps::{Call, Gap, Gaps};
use self::likelihood::Likelihood;
use self::same_ids::SameIds;
use super::facts::{Fact, Facts};
use super::pairs::Pairs;
use crate::Config;
use crate::merge::SpanLink;

mod call_order;
mod clocks;
mod gaps;
mod in_turn;
mod likelihood;
mod rounds;
mod same_ids;
mod values;

/// Of all ways to give places to spans a match has this share, if it counts: it is three times as
/// likely as not.
const LINK_MIN: f64 = 0.75;

/// The same, if it tells of the calls around it.
const SURE_MIN: f64 = 0.9;

/// Times that what is sure by then tells of the calls around it: the first time nothing does. If
/// it were told anew in each round, matches would be sure because of what they have told.
const STAGES: usize = 3;

/// Further ones where ids tell who is of one request ([`same_ids`]): what they tell of a call tells
/// of those within it.
const ID_STAGES: usize = 4;

/// Rounds of learning from matches in each, if these go on changing.
const ROUNDS_MAX: usize = 12;

/// What a share can differ by when all is settled.
const SETTLED: f64 = 0.01;

/// What a call past a handler that prints nothing costs, which prints something at other times.
const PAST: f64 = 3.0;

/// What it costs if the handler's span begins with what it does not begin with.
const ODD_LINE: f64 = 3.0;

/// What it is worth if both have one id: those of 64 bits are equal by chance once in e^44.
const OF_ID: f64 = 44.0;

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

/// For each handler how likely each of its matches is.
type Shares = Vec<Vec<f64>>;

/// A match that counts.
#[derive(Clone, Copy, Debug)]
struct Sure {
    /// The likeliest gap of the caller.
    gap: u32,
    /// How likely it is that this caller has asked.
    share: f64,
}

/// Whose calls are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// Of what runs elsewhere, over a network.
    FarOff,
    /// Of what runs around a handler in its thread, which is not printed.
    InThread,
}

impl Asked {
    /// Whether a pair is of such calls.
    fn is_by(self, pair: &CommunicationPair) -> bool {
        match self {
            Asked::FarOff => pair.kind.is_served(),
            Asked::InThread => pair.kind == LinkKind::Call,
        }
    }

    /// Whether the one span can have called the other.
    fn can_be(self, caller: &Fact<'_>, handler: &Fact<'_>) -> bool {
        let is_near = caller.node == handler.node && caller.thread.is_none() && handler.thread.is_none();
        self == Asked::FarOff || is_near
    }
}

/// Links from callers to the spans of handlers that they have asked for, and how likely each is.
pub(super) fn find(
    model: &Model,
    pairs: &Pairs<'_>,
    facts: &Facts<'_>,
    (asked, config): (Asked, &Config),
) -> Vec<(SpanLink, f64)> {
    let calls = gaps::calls(model, facts, asked);
    if calls.is_empty() {
        return Vec::new();
    }
    let gaps = gaps::find(facts, &calls, config.window_us);
    let offsets = Offsets::new(facts, &calls, &gaps, config.skew_us);
    let mut handlers: Vec<Handler> = (facts.iter())
        .map(|(span, fact)| (span, matches((pairs, facts), asked, (&calls, &gaps), &offsets, (span, fact))))
        .filter(|(_, matches)| !matches.is_empty())
        .collect();
    let mut likelihood = Likelihood::new((model, facts), (&calls, &gaps), &offsets, &handlers);
    let mut known: Shares = handlers.iter().map(|(_, matches)| vec![0.0; matches.len()]).collect();
    let mut ids = SameIds::new(facts);
    let odd: Vec<Vec<f64>> =
        handlers.iter().map(|(_, matches)| matches.iter().map(|one| one.odd).collect()).collect();
    let n_stages = STAGES + if ids.is_some() { ID_STAGES } else { 0 };
    for stage in 0..n_stages {
        if stage > 0 {
            likelihood.set_order(&handlers, &known);
        }
        if let Some(ids) = ids.as_mut().filter(|_| stage > 0) {
            let share_min = if stage + 1 < n_stages { SURE_MIN } else { LINK_MIN };
            ids.learn((&gaps, &likelihood), (&handlers, &known), share_min);
            ids.keep_apart(&gaps, &mut handlers, &odd);
            in_turn::keep(facts, (&calls, &gaps), &mut handlers, &known);
        }
        for _ in 0..ROUNDS_MAX {
            let found = weigh(&likelihood, &handlers, &known);
            let differ = found.iter().flatten().zip(known.iter().flatten()).map(|(a, b)| (a - b).abs());
            let is_settled = differ.fold(0.0, f64::max) < SETTLED;
            known = found;
            if is_settled {
                break;
            }
            likelihood.learn(&handlers, &known);
        }
    }
    links(&calls, &gaps, &handlers, &known)
}

/// The gaps that a span can lie in.
fn matches(
    (pairs, facts): (&Pairs<'_>, &Facts<'_>),
    asked: Asked,
    (calls, gaps): (&[Call], &Gaps),
    offsets: &Offsets,
    (span, fact): (u32, &Fact<'_>),
) -> Vec<Match> {
    let mut best: FxHashMap<u32, f64> = FxHashMap::default();
    for (rank, &top) in fact.tops.iter().enumerate() {
        let begins = fact.first_point.is_none_or(|first| pairs.starts_with(top, first));
        let odd = rank as f64 * RANK + if begins { 0.0 } else { ODD_LINE };
        for gap in gaps.around(top, fact.start_us, |from| offsets.between(from, fact.node)) {
            let Gap { span: caller, call, .. } = *gaps.get(gap);
            let is_of_another = facts.ids().are_one(caller, span) == Some(false);
            let call = &calls[call as usize];
            let is_elsewhere = match call.is_local {
                true => facts.get(caller).node != fact.node,
                false => facts.are_of_one_thread(caller, span) || !asked.can_be(facts.get(caller), fact),
            };
            if caller == span || is_of_another || is_elsewhere {
                continue;
            }
            let odd = odd + f64::from(call.n_past) * PAST;
            let known = best.entry(gap).or_insert(odd);
            *known = known.min(odd);
        }
    }
    // Where one caller has the id of the span, no other one has asked.
    let is_of_id = |gap: &u32| facts.ids().are_one(gaps.get(*gap).span, span) == Some(true);
    if best.keys().any(is_of_id) {
        best.retain(|gap, _| is_of_id(gap));
        best.values_mut().for_each(|odd| *odd -= OF_ID);
    }
    let mut out: Vec<Match> = best.into_iter().map(|(gap, odd)| Match { gap, odd }).collect();
    out.sort_unstable_by_key(|one| one.gap);
    out
}

/// How likely each match is by what is known. Where a call is made again and again there is room
/// for any number behind the first one.
fn weigh(likelihood: &Likelihood<'_>, handlers: &[Handler], known: &Shares) -> Shares {
    let of = |((span, matches), known): (&Handler, &Vec<f64>)| {
        let one = |(one, &known): (&Match, &f64)| likelihood.edges(*span, one, known);
        matches.iter().zip(known).flat_map(one).collect::<Vec<Edge>>()
    };
    let edges: Vec<Vec<Edge>> = handlers.par_iter().zip(known).map(of).collect();
    let of = |((span, matches), shares): (&Handler, Vec<f64>)| {
        let mut shares = shares.into_iter();
        let one = |one: &Match| shares.by_ref().take(likelihood.n_edges(*span, one)).sum();
        matches.iter().map(one).collect()
    };
    handlers.iter().zip(shares(&edges)).map(of).collect()
}

/// For each handler the caller that has asked for it, if one is likely enough.
fn sure(gaps: &Gaps, handlers: &[Handler], known: &Shares, share_min: f64) -> Vec<Option<Sure>> {
    let of = |((_, matches), shares): (&Handler, &Vec<f64>)| {
        let mut of_callers: FxHashMap<u32, f64> = FxHashMap::default();
        for (one, share) in matches.iter().zip(shares) {
            *of_callers.entry(gaps.get(one.gap).span).or_default() += share;
        }
        let share = |one: &Match| of_callers[&gaps.get(one.gap).span];
        let likely = matches.iter().zip(shares).filter(|(one, _)| share(one) >= share_min);
        let best = likely.max_by(|a, b| a.1.total_cmp(b.1).then(b.0.gap.cmp(&a.0.gap)))?;
        Some(Sure { gap: best.0.gap, share: share(best.0).min(1.0) })
    };
    handlers.iter().zip(known).map(of).collect()
}

fn links(calls: &[Call], gaps: &Gaps, handlers: &[Handler], known: &Shares) -> Vec<(SpanLink, f64)> {
    let of = |((handler, _), sure): (&Handler, Option<Sure>)| {
        let Sure { gap, share } = sure?;
        let gap = gaps.get(gap);
        let pair = Some(calls[gap.call as usize].pair);
        Some((SpanLink { from: gap.span, to: *handler, pair, by: Pass::RemoteCalls }, share))
    };
    handlers.iter().zip(sure(gaps, handlers, known, LINK_MIN)).filter_map(of).collect()
}

/// Spans of each top-level method.
fn spans_of_tops(facts: &Facts<'_>) -> FxHashMap<TopLevelId, Vec<u32>> {
    let mut out: FxHashMap<TopLevelId, Vec<u32>> = FxHashMap::default();
    for (span, fact) in facts.iter() {
        fact.tops.iter().for_each(|&top| out.entry(top).or_default().push(span));
    }
    out
}
