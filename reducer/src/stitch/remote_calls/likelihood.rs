//! Likelihood: how much the times and values of a handler's span speak for a caller.
//!
//! Times are by how long it takes at this call, in the matches found so far, from the caller's
//! line before to the handler's first one, and from its last one to the caller's line after.
//! Values are by how often two fields, one of each side, are equal in matches, and how often by
//! chance (Fellegi and Sunter, JASA 1969). Both are learnt from the matches of the round before,
//! each with the weight that its margin gives it; in the first round all are alike.

use rustc_hash::{FxHashMap, FxHashSet};
use schema::{IdentifierId, LogPointId, Model, TopLevelId};

use super::call_order::CallOrder;
use super::clocks::Offsets;
use super::gaps::{Call, Gap, Gaps};
use super::{Choice, Chosen, Handler, Match, UNIT, is_sure};
use crate::stitch::facts::{Fact, Facts};

/// Where nothing was printed the call can have been at any time of this long, µs.
const OPEN_US: f64 = 1e6;

/// One unit of time in which logs tell, µs.
const TICK_US: i64 = 1_000;

/// Powers of two of that which are told apart.
const N_BINS: usize = 24;

/// Matches of which nothing is known yet count as so many.
const PRIOR: f64 = 2.0;

/// Share of the times that are below nothing, before anything is known.
const NEGATIVE: f64 = 0.05;

/// Values of one span that are looked at.
const FIELDS_MAX: usize = 24;

/// Two fields are compared if they are equal at least so often.
const EQUAL_MIN: u32 = 3;

/// No field says more than this.
const FIELD_MAX: f64 = 8.0;

/// A value by where it was printed.
type Field = (LogPointId, u32);

/// What is known by now.
pub(super) struct Likelihood<'f> {
    facts: &'f Facts<'f>,
    /// By call: the times before and after.
    delays: Vec<[Delays; 2]>,
    /// By call: fields that say something.
    fields: Vec<FxHashMap<(Field, Field), Agreement>>,
    /// By call: how much speaks for it where it can have been made, as a logarithm of odds.
    made: Vec<f64>,
    /// By call: how much speaks for one more of it after each, in the same way.
    again: Vec<f64>,
    /// What callers have waited for.
    call_order: CallOrder,
    /// Spans of each receiver that nobody known has asked for.
    n_alone: FxHashMap<TopLevelId, f64>,
    /// How long the logs are, µs.
    whole_us: f64,
}

/// How long something takes: the weight of each power of two.
#[derive(Clone, Debug, Default)]
struct Delays {
    positive: [f64; N_BINS],
    negative: [f64; N_BINS],
    total: f64,
}

impl Delays {
    fn add(&mut self, us: i64, weight: f64) {
        let (bin, _) = bin(us);
        let side = if us < 0 { &mut self.negative } else { &mut self.positive };
        side[bin] += weight;
        self.total += weight;
    }

    /// Minus the logarithm of the density.
    fn cost(&self, us: i64) -> f64 {
        let (bin, width_us) = bin(us);
        let (side, share) = match us < 0 {
            true => (&self.negative, NEGATIVE),
            false => (&self.positive, 1.0 - NEGATIVE),
        };
        let weight = side[bin] + PRIOR * share / N_BINS as f64;
        -(weight / (self.total + PRIOR) / width_us).ln()
    }
}

/// The power of two of a time, and how many µs have the same.
fn bin(us: i64) -> (usize, f64) {
    let ticks = us.unsigned_abs() / TICK_US.unsigned_abs() + 1;
    let bin = (ticks.ilog2() as usize).min(N_BINS - 1);
    (bin, (TICK_US as f64) * f64::from(1_u32 << bin))
}

/// How often two fields are equal.
#[derive(Clone, Copy, Debug, Default)]
struct Agreement {
    /// By chance.
    chance: f64,
    /// What is said by their being equal, and by their not being so.
    says: [f64; 2],
    /// The code says that they are.
    is_bound: bool,
}

impl<'f> Likelihood<'f> {
    /// Before anything is known.
    pub(super) fn new(
        (model, facts): (&Model, &'f Facts<'f>),
        calls: &[Call],
        gaps: &Gaps,
        handlers: &[Handler],
    ) -> Self {
        let delays = vec![<[Delays; 2]>::default(); calls.len()];
        let fields = vec![FxHashMap::default(); calls.len()];
        let start = facts.iter().map(|(_, fact)| fact.start_us).min().unwrap_or_default();
        let end = facts.iter().map(|(_, fact)| fact.end_us).max().unwrap_or_default();
        let mut new = Self {
            facts,
            delays,
            fields,
            made: vec![0.0; calls.len()],
            again: vec![0.0; calls.len()],
            call_order: CallOrder::default(),
            n_alone: FxHashMap::default(),
            whole_us: (end - start).max(TICK_US) as f64,
        };
        new.find_fields((model, calls), gaps, handlers);
        let all_alike = |matches: &[Match]| vec![1.0 / matches.len() as f64; matches.len()];
        let weights: Vec<Vec<f64>> = handlers.iter().map(|(_, matches)| all_alike(matches)).collect();
        new.learn_fields(gaps, handlers, &weights, false);
        new
    }

    /// What a span that nobody known has asked for costs: by how often that happens to its kind.
    pub(super) fn alone(&self, fact: &Fact<'_>) -> f64 {
        let most = 2.0 * OPEN_US.ln() + 2.0 * FIELD_MAX;
        let n = fact.tops.first().and_then(|top| self.n_alone.get(top));
        n.map_or(most, |n| ((self.whole_us / (n + 0.5)).ln() + OPEN_US.ln()).min(most))
    }

    /// Counts spans that nobody known has asked for. Those that several can have asked for are none.
    fn learn_alone(&mut self, handlers: &[Handler], chosen: &[Chosen]) {
        self.n_alone.clear();
        let mut n_asked: FxHashMap<TopLevelId, f64> = FxHashMap::default();
        for ((span, _), choice) in handlers.iter().zip(chosen) {
            let Some(&top) = self.facts.get(*span).tops.first() else { continue };
            *n_asked.entry(top).or_default() += if choice.is_some() { 1.0 } else { 0.0 };
        }
        for (_, fact) in self.facts.iter() {
            if let Some(top) = fact.tops.first().filter(|top| n_asked.contains_key(top)) {
                *self.n_alone.entry(*top).or_default() += 1.0;
            }
        }
        for (top, n) in &mut self.n_alone {
            *n -= n_asked[top];
        }
    }

    /// What a match costs: as the first one of a gap, and as a further one. Where the gap ends is
    /// told by one of them, and to all others as little as to who is asked for by nobody.
    pub(super) fn costs(
        &self,
        (at, gap): (u32, &Gap),
        calls: &[Call],
        offsets: &Offsets,
        span: u32,
    ) -> [f64; 2] {
        let [before, after] = self.times(calls, (at, gap), offsets, span);
        let [first, last] = &self.delays[gap.call as usize];
        let open = OPEN_US.ln();
        let before = before.map_or(open, |us| first.cost(us));
        let after = after.map_or(open, |us| last.cost(us));
        let made = if gap.n_odd == 0 { self.made[gap.call as usize] } else { 0.0 };
        let value = self.value(gap, span);
        [before + after - made - value, before + open - self.again[gap.call as usize] - value]
    }

    /// How much the values speak for a match.
    fn value(&self, gap: &Gap, span: u32) -> f64 {
        let fields = &self.fields[gap.call as usize];
        if fields.is_empty() {
            return 0.0;
        }
        let (caller, handler) = (fields_of(self.facts.get(gap.span)), fields_of(self.facts.get(span)));
        let mut equal: Vec<(&str, f64)> = Vec::new();
        let mut differ = 0.0_f64;
        for (a, texts) in &caller {
            for (b, others) in &handler {
                let Some(agreement) = fields.get(&(*a, *b)) else { continue };
                match texts.iter().find(|text| others.contains(text)) {
                    Some(&text) => match equal.iter_mut().find(|(known, _)| *known == text) {
                        Some((_, most)) => *most = most.max(agreement.says[0]),
                        None => equal.push((text, agreement.says[0])),
                    },
                    None => differ = differ.min(agreement.says[1]),
                }
            }
        }
        equal.iter().map(|(_, says)| says).sum::<f64>() + differ
    }

    /// The pairs of fields that are equal now and then, with how often by chance.
    fn find_fields(&mut self, (model, calls): (&Model, &[Call]), gaps: &Gaps, handlers: &[Handler]) {
        let mut n_equal: FxHashMap<(u32, Field, Field), u32> = FxHashMap::default();
        let mut ends: Vec<[FxHashSet<u32>; 2]> = vec![Default::default(); self.fields.len()];
        for (span, matches) in handlers {
            let handler = fields_of(self.facts.get(*span));
            for one in matches {
                let gap = gaps.get(one.gap);
                let [callers, called] = &mut ends[gap.call as usize];
                callers.insert(gap.span);
                called.insert(*span);
                for (a, texts) in fields_of(self.facts.get(gap.span)) {
                    for (b, others) in &handler {
                        if texts.iter().any(|text| others.contains(text)) {
                            *n_equal.entry((gap.call, a, *b)).or_default() += 1;
                        }
                    }
                }
            }
        }
        let mut texts: Vec<[FxHashMap<Field, Texts<'f>>; 2]> = Vec::new();
        for ends in ends {
            texts.push(ends.map(|spans| texts_of(self.facts, spans)));
        }
        for ((call, a, b), n) in n_equal {
            let [callers, called] = &texts[call as usize];
            let (Some(ours), Some(theirs)) = (callers.get(&a), called.get(&b)) else { continue };
            if n >= EQUAL_MIN {
                let is_bound = is_bound(model, &calls[call as usize], a, b);
                let agreement = Agreement { chance: chance(ours, theirs), says: [0.0, 0.0], is_bound };
                self.fields[call as usize].insert((a, b), agreement);
            }
        }
    }

    /// Learns from what was chosen.
    pub(super) fn learn(
        &mut self,
        (calls, gaps): (&[Call], &Gaps),
        offsets: &Offsets,
        handlers: &[Handler],
        chosen: &[Chosen],
    ) {
        let weights: Vec<Vec<f64>> = (handlers.iter().zip(chosen))
            .map(|((_, matches), choice)| {
                let Some((gap, choice)) = choice else { return vec![0.0; matches.len()] };
                let sure = sureness(choice);
                let rest = (1.0 - sure) / (matches.len() as f64 - 1.0).max(1.0);
                matches.iter().map(|one| if one.gap == *gap { sure } else { rest }).collect()
            })
            .collect();
        self.learn_alone(handlers, chosen);
        self.learn_made((calls, gaps), handlers, &weights);
        self.learn_again((calls, gaps), chosen);
        self.call_order = CallOrder::new(self.facts, (calls, gaps), offsets, handlers, chosen);
        let mut delays = vec![<[Delays; 2]>::default(); calls.len()];
        for ((span, matches), weights) in handlers.iter().zip(&weights) {
            for (one, &weight) in matches.iter().zip(weights) {
                let gap = gaps.get(one.gap);
                let known = self.times(calls, (one.gap, gap), offsets, *span);
                for (delays, us) in delays[gap.call as usize].iter_mut().zip(known) {
                    us.into_iter().for_each(|us| delays.add(us, weight));
                }
            }
        }
        self.delays = delays;
        self.learn_fields(gaps, handlers, &weights, true);
    }

    /// How often calls are made where they can be.
    fn learn_made(&mut self, (calls, gaps): (&[Call], &Gaps), handlers: &[Handler], weights: &[Vec<f64>]) {
        let mut n_made = vec![0.0; calls.len()];
        for ((_, matches), weights) in handlers.iter().zip(weights) {
            for (one, weight) in matches.iter().zip(weights) {
                let gap = gaps.get(one.gap);
                n_made[gap.call as usize] += if gap.n_odd == 0 { *weight } else { 0.0 };
            }
        }
        let n_gaps = gaps.n_even(calls.len());
        self.made = n_made.iter().zip(n_gaps).map(|(made, n)| odds(*made, f64::from(n))).collect();
    }

    /// How often one more follows each call that is made again and again, of those that are sure.
    fn learn_again(&mut self, (calls, gaps): (&[Call], &Gaps), chosen: &[Chosen]) {
        let mut n_in: FxHashMap<u32, u32> = FxHashMap::default();
        for (gap, _) in chosen.iter().flatten().filter(|(_, choice)| is_sure(choice)) {
            *n_in.entry(*gap).or_default() += 1;
        }
        let mut sums = vec![[0_u32; 2]; calls.len()];
        for (gap, n) in n_in {
            let [again, all] = &mut sums[gaps.get(gap).call as usize];
            *again += n - 1;
            *all += n;
        }
        self.again = sums.iter().map(|&[again, all]| odds(f64::from(again), f64::from(all))).collect();
    }

    /// The times of a match that are known, before and after, µs.
    fn times(
        &self,
        calls: &[Call],
        (at, gap): (u32, &Gap),
        offsets: &Offsets,
        span: u32,
    ) -> [Option<i64>; 2] {
        let (caller, handler) = (self.facts.get(gap.span), self.facts.get(span));
        let ahead_us = offsets.between(caller.node, handler.node);
        let own = self.call_order.extent(self.facts, span).map(|us| us - ahead_us);
        let call = &calls[gap.call as usize];
        if !call.waits {
            return [(!gap.is_open[0]).then_some(own[0] - gap.begin_us), None];
        }
        let [begin, end] = self.call_order.left((at, gap), call, span, own);
        [begin.map(|begin| own[0] - begin), end.map(|end| end - own[1])]
    }

    /// How often fields are equal in matches of some weight, and how often in all others.
    fn learn_fields(&mut self, gaps: &Gaps, handlers: &[Handler], weights: &[Vec<f64>], knows_others: bool) {
        // Of matches and of others: how many have both fields, and in how many they are equal.
        let mut sums: FxHashMap<(u32, Field, Field), [[f64; 2]; 2]> = FxHashMap::default();
        for ((span, matches), weights) in handlers.iter().zip(weights) {
            let handler = fields_of(self.facts.get(*span));
            for (one, &weight) in matches.iter().zip(weights) {
                let gap = gaps.get(one.gap);
                let known = &self.fields[gap.call as usize];
                for (a, texts) in fields_of(self.facts.get(gap.span)) {
                    for (b, others) in handler.iter().filter(|(b, _)| known.contains_key(&(a, *b))) {
                        let is_equal = texts.iter().any(|text| others.contains(text));
                        let of = sums.entry((gap.call, a, *b)).or_default();
                        for (side, weight) in [weight, 1.0 - weight].into_iter().enumerate() {
                            of[side][0] += weight;
                            of[side][1] += if is_equal { weight } else { 0.0 };
                        }
                    }
                }
            }
        }
        for ((call, a, b), [ours, others]) in sums {
            let Some(agreement) = self.fields[call as usize].get_mut(&(a, b)) else { continue };
            let rate = |[n, equal]: [f64; 2]| (equal + 0.5) / (n + 1.0);
            // What the code says counts as much as all that is seen.
            let known = if agreement.is_bound { ours[0] } else { 0.0 };
            let chance = agreement.chance.max(1.0 / (others[0] + ours[0] + 1.0));
            let by_chance = if knows_others { chance.max(rate(others)) } else { chance }.min(0.99);
            let (m, u) = (rate([ours[0] + known, ours[1] + known]), by_chance);
            let says = [(m / u).ln(), ((1.0 - m) / (1.0 - u)).ln()];
            // In the first round all matches are alike: of what differs nothing is known.
            let differ =
                if knows_others || agreement.is_bound { says[1].clamp(-FIELD_MAX, 0.0) } else { 0.0 };
            agreement.says = [says[0].clamp(0.0, FIELD_MAX), differ];
        }
    }
}

/// The odds of what was made in so many of `n` cases, as a logarithm.
fn odds(made: f64, n: f64) -> f64 {
    let share = (made + 0.5) / (n.max(made) + 1.0);
    (share / (1.0 - share)).ln().clamp(-FIELD_MAX, FIELD_MAX)
}

/// What a span prints, by field.
fn fields_of<'s>(fact: &Fact<'s>) -> Vec<(Field, Vec<&'s str>)> {
    let mut out: Vec<(Field, Vec<&str>)> = Vec::new();
    for event in fact.events {
        let Some(point) = event.log_point else { continue };
        for (variable, text) in event.values.iter().filter(|(_, text)| !text.is_empty()) {
            let field = (point, variable);
            let is_full = out.len() == FIELDS_MAX;
            match out.iter_mut().find(|(known, _)| *known == field) {
                Some((_, texts)) => texts.push(text),
                None if is_full => return out,
                None => out.push((field, vec![text])),
            }
        }
    }
    out
}

/// How sure a choice is.
fn sureness(choice: &Choice) -> f64 {
    1.0 / (1.0 + (-(choice.margin as f64) / UNIT).exp())
}

/// Whether the code that asks puts into the call what the caller prints in one field, and what
/// the handler prints in the other is what it takes out.
fn is_bound(model: &Model, call: &Call, (from, a): Field, (to, b): Field) -> bool {
    let pair = &model.communication_pairs[call.pair.index()];
    let class = |point: LogPointId, variable: u32| {
        model.log_points[point.index()].variables.get(variable as usize)?.value_class
    };
    let of = |top: TopLevelId, id: IdentifierId| {
        let identifier = model.top_level_methods[top.index()].identifiers.get(id.index());
        identifier.map(|identifier| identifier.value_class)
    };
    let is_same = |(i, j): &(IdentifierId, IdentifierId)| {
        let (ours, theirs) = (of(pair.from, *i), of(pair.to, *j));
        ours.is_some() && ours == class(from, a) && theirs.is_some() && theirs == class(to, b)
    };
    pair.to == call.to && pair.identifiers.iter().any(is_same)
}

/// Texts of a field, with how many spans print each, and how many spans there are.
type Texts<'s> = (FxHashMap<&'s str, u32>, u32);

fn texts_of<'s>(facts: &Facts<'s>, spans: FxHashSet<u32>) -> FxHashMap<Field, Texts<'s>> {
    let mut out: FxHashMap<Field, Texts<'s>> = FxHashMap::default();
    for span in spans {
        for (field, texts) in fields_of(facts.get(span)) {
            let (of, n) = out.entry(field).or_default();
            *n += 1;
            texts
                .into_iter()
                .collect::<FxHashSet<_>>()
                .into_iter()
                .for_each(|text| *of.entry(text).or_default() += 1);
        }
    }
    out
}

/// How often two fields of spans taken at random are equal.
fn chance((ours, n): &Texts<'_>, (theirs, n_theirs): &Texts<'_>) -> f64 {
    let both = |(text, count): (&&str, &u32)| {
        f64::from(*count) * f64::from(theirs.get(*text).copied().unwrap_or_default())
    };
    let equal: f64 = ours.iter().map(both).sum();
    equal / (f64::from(*n) * f64::from(*n_theirs)).max(1.0)
}
