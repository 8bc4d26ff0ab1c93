//! Likelihood: how much likelier it is that a caller has asked for a handler's span from a gap
//! than that nobody known has.
//!
//! A caller asks with the odds of its call, then it takes some time from its line before to the
//! handler's first one, and from its last one to the caller's line after. What nobody known has
//! asked for comes at any time, as often as it does, and a gap in which nothing was asked for is
//! as long as such gaps are. Each of these is learnt from the matches of the round before, each
//! with its share; in the first round all times are alike in powers of two.

use rustc_hash::FxHashMap;
use schema::assignment::Edge;
use schema::delays::{Delays, TICK_US, power};
use schema::{LogPointId, Model, TopLevelId};

use super::call_order::CallOrder;
use super::clocks::Offsets;
use super::gaps::{Call, Gap, Gaps};
use super::rounds::Rounds;
use super::values::Values;
use super::{Handler, Match, ODD_LINE, SURE_MIN, Shares, sure};
use crate::merge::to_u32;
use crate::stitch::facts::Facts;

/// Where nothing was printed the call can have been at any time of this long, µs.
const OPEN_US: f64 = 1e6;

/// Matches of which nothing is known yet count as so many.
const PRIOR: f64 = 2.0;

/// Share of the times that are below nothing, and of calls that are made in another order than the
/// code has, before anything is known.
const NEGATIVE: f64 = 0.05;

/// No odds of a call are larger, nor smaller than one against it, as a logarithm.
const ODDS_MAX: f64 = 8.0;

/// What is known by now.
pub(super) struct Likelihood<'f> {
    facts: &'f Facts<'f>,
    calls: &'f [Call],
    gaps: &'f Gaps,
    offsets: &'f Offsets,
    /// By call: the times before and after it, and how long gaps are without it.
    delays: Vec<[Delays; 3]>,
    /// By call: how often it is made in the order of the code, of how many that stand among others.
    in_order: Vec<[f64; 2]>,
    /// By gap: how many spans lie in it.
    n_in: Vec<f64>,
    /// By gap: its call with the line behind it, numbered: a caller goes on otherwise where it has not
    /// asked, or what it has asked for has printed nothing.
    ways: Vec<u32>,
    /// By that: the odds that the call is made where it can be, and where the caller prints other
    /// lines than the code has there, as a logarithm.
    made: Vec<[f64; 2]>,
    /// By call: the odds of one more of it after each, in the same way.
    again: Vec<f64>,
    values: Values<'f>,
    /// What is asked for in each round of a loop.
    rounds: Rounds,
    /// What callers have waited for.
    call_order: CallOrder,
    /// Spans of each receiver that nobody known has asked for.
    strangers: FxHashMap<TopLevelId, f64>,
    /// How long the logs are, µs.
    whole_us: f64,
}

/// The times of a match.
struct Times {
    before: Option<i64>,
    after: Option<i64>,
    /// How long the rest of the gap is.
    length: Option<i64>,
    /// Whether it stands among other calls of the caller as the code has them.
    is_in_order: Option<bool>,
}

impl<'f> Likelihood<'f> {
    /// Before anything is known.
    pub(super) fn new(
        (model, facts): (&Model, &'f Facts<'f>),
        (calls, gaps): (&'f [Call], &'f Gaps),
        offsets: &'f Offsets,
        handlers: &[Handler],
    ) -> Self {
        let start = facts.iter().map(|(_, fact)| fact.start_us).min().unwrap_or_default();
        let end = facts.iter().map(|(_, fact)| fact.end_us).max().unwrap_or_default();
        let whole_us = (end - start).max(TICK_US.cast_signed()) as f64;
        let (ways, n_ways) = ways(facts, gaps);
        Self {
            facts,
            calls,
            gaps,
            offsets,
            delays: vec![<[Delays; 3]>::default(); calls.len()],
            in_order: vec![[0.0; 2]; calls.len()],
            n_in: vec![1.0; gaps.len()],
            ways,
            made: vec![[0.0, -ODD_LINE]; n_ways],
            again: vec![0.0; calls.len()],
            values: Values::new((model, facts), (calls, gaps), handlers),
            rounds: Rounds::default(),
            call_order: CallOrder::default(),
            strangers: strangers(facts, (calls, gaps), handlers, whole_us),
            whole_us,
        }
    }

    /// The choices that a match is: as the first one of a place, and as a further one of a call
    /// that is made again and again. Where the gap ends is told by the first one. `known` is how
    /// likely the match was in the round before.
    pub(super) fn edges(&self, span: u32, one: &Match, known: f64) -> impl Iterator<Item = Edge> + use<> {
        let gap = self.gaps.get(one.gap);
        let call = &self.calls[gap.call as usize];
        let [first, last, without] = &self.delays[gap.call as usize];
        let times = self.times(gap, span);
        // Nothing takes longer than all.
        let n_powers = power(self.whole_us as i64).0 + 1;
        let before = times.before.map_or(OPEN_US.ln(), |us| -first.log_density(us, known, n_powers));
        let unfilled = (1.0 - self.n_in[one.gap as usize]).max(0.0);
        let length = times.length.map_or(OPEN_US.ln(), |us| -without.log_density(us, unfilled, n_powers));
        let after = times.after.map_or(0.0, |us| -last.log_density(us, known, n_powers) - length);
        let own = one.odd + self.order_cost(gap.call, times.is_in_order);
        let odds = self.alone(span) + self.values.odds(gap, span, known) - own - before;
        let made = self.made[self.ways[one.gap as usize] as usize][usize::from(gap.n_odd > 0)];
        // Each round of a loop asks for something else: there is one place for each.
        if let Some(place) = self.rounds.place(&self.values, gap, span) {
            return std::iter::once(Edge { place: Some(place), odds: odds + made }).chain(None);
        }
        let first = Edge { place: Some(gap.place), odds: odds + made - after };
        let again = Edge { place: None, odds: odds + self.again[gap.call as usize] };
        std::iter::once(first).chain(call.repeats.then_some(again))
    }

    /// Minus the logarithm of how often a call is made in the order of the code, or is not.
    fn order_cost(&self, call: u32, is_in_order: Option<bool>) -> f64 {
        let Some(is_in_order) = is_in_order else { return 0.0 };
        let [n, all] = self.in_order[call as usize];
        let share = (n + PRIOR * (1.0 - NEGATIVE)) / (all + PRIOR);
        -if is_in_order { share } else { 1.0 - share }.ln()
    }

    /// How many these are.
    pub(super) fn n_edges(&self, span: u32, one: &Match) -> usize {
        let gap = self.gaps.get(one.gap);
        let is_of_round = self.rounds.place(&self.values, gap, span).is_some();
        1 + usize::from(self.calls[gap.call as usize].repeats && !is_of_round)
    }

    /// Minus the logarithm of how often nobody known asks for such a span, per µs.
    fn alone(&self, span: u32) -> f64 {
        let n = self.facts.get(span).tops.first().and_then(|top| self.strangers.get(top));
        (self.whole_us / (n.copied().unwrap_or_default() + 0.5)).ln()
    }

    fn times(&self, gap: &Gap, span: u32) -> Times {
        let (caller, handler) = (self.facts.get(gap.span), self.facts.get(span));
        let ahead_us = self.offsets.between(caller.node, handler.node);
        let own = self.call_order.extent(self.facts, span).map(|us| us - ahead_us);
        let call = &self.calls[gap.call as usize];
        if !call.waits {
            // What goes on in another thread does so when the answer is there.
            let answered = self.call_order.answered(gap.span).filter(|_| call.is_local);
            let begin_us = gap.begin_us.max(answered.unwrap_or(i64::MIN));
            let before = (!gap.is_open[0]).then_some(own[0] - begin_us);
            return Times { before, after: None, length: None, is_in_order: None };
        }
        let left = self.call_order.left(gap, span, own);
        let [begin, end] = left.bounds;
        Times {
            before: begin.map(|begin| own[0] - begin),
            after: end.map(|end| end - own[1]),
            length: begin.zip(end).map(|(begin, end)| end - begin),
            is_in_order: left.is_in_order,
        }
    }

    /// Learns from how likely all matches are.
    pub(super) fn learn(&mut self, handlers: &[Handler], known: &Shares) {
        let (calls, gaps) = (self.calls, self.gaps);
        let mut n_in: Vec<f64> = vec![0.0; gaps.len()];
        let mut n_asked: FxHashMap<TopLevelId, f64> = FxHashMap::default();
        for ((span, matches), shares) in handlers.iter().zip(known) {
            matches.iter().zip(shares).for_each(|(one, share)| n_in[one.gap as usize] += share);
            let top = self.facts.get(*span).tops.first();
            top.into_iter().for_each(|&top| *n_asked.entry(top).or_default() += shares.iter().sum::<f64>());
        }
        let n_spans = n_spans(self.facts);
        self.strangers = n_asked.into_iter().map(|(top, n)| (top, (n_spans[&top] - n).max(0.0))).collect();
        self.learn_made(&n_in);
        let mut delays = vec![<[Delays; 3]>::default(); calls.len()];
        let mut in_order = vec![[0.0; 2]; calls.len()];
        for ((span, matches), shares) in handlers.iter().zip(known) {
            for (one, &share) in matches.iter().zip(shares) {
                let gap = gaps.get(one.gap);
                let times = self.times(gap, *span);
                let [before, after, _] = &mut delays[gap.call as usize];
                times.before.into_iter().for_each(|us| before.add(us, share));
                times.after.into_iter().for_each(|us| after.add(us, share));
                if let Some(is_in_order) = times.is_in_order {
                    let [n, all] = &mut in_order[gap.call as usize];
                    (*n, *all) = (*n + if is_in_order { share } else { 0.0 }, *all + share);
                }
            }
        }
        for (gap, n) in gaps.iter().zip(&n_in).filter(|(gap, _)| gap.n_odd == 0) {
            let without = (1.0 - n).max(0.0);
            gap.length_us().into_iter().for_each(|us| delays[gap.call as usize][2].add(us, without));
        }
        self.rounds = Rounds::new((self.facts, calls, gaps), &self.values, handlers, known);
        (self.delays, self.in_order) = (delays, in_order);
        self.n_in = n_in;
        self.values.learn(handlers, known);
    }

    /// Lets what is sure tell of the times around it, and learns anew from that.
    pub(super) fn set_order(&mut self, handlers: &[Handler], known: &Shares) {
        let sure = sure(self.gaps, handlers, known, SURE_MIN);
        self.call_order = CallOrder::new(self.facts, (self.calls, self.gaps), self.offsets, handlers, &sure);
        self.learn(handlers, known);
    }

    /// How often calls are made where they can be, and how often again.
    fn learn_made(&mut self, n_in: &[f64]) {
        let mut sums = vec![[[0.0; 2]; 3]; self.calls.len()];
        let mut by_way = vec![(0, [[0.0; 2]; 2]); self.made.len()];
        for ((gap, n), way) in self.gaps.iter().zip(n_in).zip(&self.ways) {
            let (call, own) = &mut by_way[*way as usize];
            *call = gap.call;
            let first = usize::from(gap.n_odd > 0);
            for [made, all] in [&mut own[first], &mut sums[gap.call as usize][first]] {
                (*made, *all) = (*made + n.min(1.0), *all + 1.0);
            }
            let [made, all] = &mut sums[gap.call as usize][2];
            (*made, *all) = (*made + (n - 1.0).max(0.0), *all + n);
        }
        // Where little was seen it is as for the call at all.
        let of = |(call, own): &(u32, [[f64; 2]; 2])| {
            std::array::from_fn(|first| {
                let [made, all] = sums[*call as usize][first];
                let usual = PRIOR * (made + 0.5) / (all.max(made) + 1.0);
                odds(own[first][0] + usual, own[first][1] + PRIOR)
            })
        };
        self.made = by_way.iter().map(of).collect();
        self.again = sums.iter().map(|[.., [made, n]]| odds(*made, *n)).collect();
    }
}

/// The odds of what was made in so many of `n` cases, as a logarithm.
fn odds(made: f64, n: f64) -> f64 {
    let share = (made + 0.5) / (n.max(made) + 1.0);
    (share / (1.0 - share)).ln().clamp(-ODDS_MAX, ODDS_MAX)
}

/// Numbers what each gap asks for with the line behind it; and how many of these there are.
fn ways(facts: &Facts<'_>, gaps: &Gaps) -> (Vec<u32>, usize) {
    let mut numbers: FxHashMap<(u32, Option<LogPointId>), u32> = FxHashMap::default();
    let mut ways = Vec::with_capacity(gaps.len());
    for gap in gaps.iter() {
        let behind = facts.get(gap.span).events.get(gap.behind as usize);
        let next = to_u32(numbers.len());
        ways.push(*numbers.entry((gap.call, behind.and_then(|event| event.log_point))).or_insert(next));
    }
    (ways, numbers.len())
}

fn n_spans(facts: &Facts<'_>) -> FxHashMap<TopLevelId, f64> {
    let mut n: FxHashMap<TopLevelId, f64> = FxHashMap::default();
    for (_, fact) in facts.iter() {
        fact.tops.first().into_iter().for_each(|&top| *n.entry(top).or_default() += 1.0);
    }
    n
}

/// How many spans of each receiver nobody known has asked for, as those tell that lie in no gap:
/// others lie in one by chance, as much as gaps cover of the whole time.
fn strangers(
    facts: &Facts<'_>,
    (calls, gaps): (&[Call], &Gaps),
    handlers: &[Handler],
    whole_us: f64,
) -> FxHashMap<TopLevelId, f64> {
    let mut open: FxHashMap<TopLevelId, Vec<(i64, i64)>> = FxHashMap::default();
    for gap in gaps.iter().filter(|gap| gap.n_odd == 0) {
        open.entry(calls[gap.call as usize].to).or_default().push((gap.begin_us, gap.end_us));
    }
    let covered = |(top, mut open): (TopLevelId, Vec<(i64, i64)>)| {
        open.sort_unstable();
        let (mut sum, mut until) = (0, i64::MIN);
        for (begin, end) in open {
            sum += (end - begin.max(until)).max(0);
            until = until.max(end);
        }
        (top, (sum as f64 / whole_us).min(1.0))
    };
    let covered: FxHashMap<TopLevelId, f64> = open.into_iter().map(covered).collect();
    let mut n_out = n_spans(facts);
    for (span, matches) in handlers {
        let is_in = matches.iter().any(|one| gaps.get(one.gap).n_odd == 0);
        let top = facts.get(*span).tops.first().filter(|_| is_in);
        top.and_then(|top| n_out.get_mut(top)).into_iter().for_each(|n| *n -= 1.0);
    }
    let n_all = n_spans(facts);
    let of = |(top, n): (TopLevelId, f64)| {
        let rest = 1.0 - covered.get(&top).copied().unwrap_or_default();
        (top, if n > 0.0 { (n / rest.max(f64::MIN_POSITIVE)).min(n_all[&top]) } else { 0.0 })
    };
    n_out.into_iter().map(of).collect()
}
