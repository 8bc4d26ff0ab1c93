//! Confidence: how likely each link is true, told by the log itself.
//!
//! Links of one sort - found by one pass, along one pair, between the same two top-level methods -
//! are right or wrong together: a pair is what starts such work, or it is not. So each sort is
//! judged by two kinds of evidence, of which a pass has used one at most:
//!
//! - *Agreement*. What the two ends name is hidden. Do the other spans on both sides of the link
//!   name something in common, or does another way hold the two sides together? Or do they name
//!   different things of one kind? Then the link is denied.
//! - *Nearness*. Who hands over has just printed something. Was it as long ago as it would be, or
//!   longer, if the receiver began at another time, whichever time that is? Then any such sender
//!   is as near. What is no hand-over along a pair, or is about an object that outlives all, can
//!   come at any time and is not judged so.
//!
//! How often links of a sort agree or are near differs from sort to sort, so each is a share that
//! is not known beforehand ([`REAL`], [`UNREAL`]); what is compared is how well shares of both
//! shapes explain what was counted. How many sorts of a pass are real to begin with is learnt from
//! those that could be judged (expectation maximization), with that of all passes as a prior.
//! A sort that was seen once is less sure than one that was seen often (rule of succession).

use std::collections::{BTreeMap, VecDeque};

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use schema::{PairId, Pass, Probability, TopLevelId, ValueClassId};

use super::candidates::LEAD_PENALTY;
use super::facts::{Fact, Facts};
use super::pairs::{Pairs, Role};
use super::waiting::SHIFTS_US;
use crate::merge::{SpanLink, to_u32};

/// Spans of each side of a link that are looked at.
const SIDE_MAX: usize = 24;

/// Steps in which shares become what the log shows.
const STEPS: usize = 20;

/// The share of sorts that are real where nothing is known, and how many judged sorts that is
/// worth.
const PRIOR: f64 = 0.9;
const PRIOR_WORTH: f64 = 4.0;

/// How many links the share of its pass is worth beside those of a sort.
const SUCCESSION: f64 = 2.0;

/// Nothing is surer than this: one of the smallest share that a probability can tell.
const SUREST: f64 = 0.999;

/// What the shares of links that agree, and that are near, are like: beta distributions.
struct Shape {
    agrees: (f64, f64),
    near: (f64, f64),
}

/// Of a real sort: many or few agree, and most are near.
const REAL: Shape = Shape { agrees: (0.5, 0.5), near: (2.0, 0.5) };

/// Of one that is none: few agree, and few are near.
const UNREAL: Shape = Shape { agrees: (0.5, 1.0), near: (0.5, 2.0) };

/// What links that are judged together have in common.
type Sort = (Pass, Option<PairId>, Option<TopLevelId>, Option<TopLevelId>);

/// How likely each of `links` is true. What one's pass has `told` of it, given that it is of a sort
/// that is real, counts besides.
pub(super) fn of(
    pairs: &Pairs<'_>,
    facts: &Facts<'_>,
    links: &[SpanLink],
    told: &BTreeMap<SpanLink, f64>,
) -> Vec<Probability> {
    let judge = Judge::new(pairs, facts, links);
    let verdicts: Vec<Verdict> =
        (0..to_u32(links.len())).into_par_iter().map(|link| judge.verdict(link)).collect();
    let sort = |link: &SpanLink| -> Sort {
        let top = |span: u32| facts.get(span).tops.first().copied();
        (link.by, link.pair, top(link.from), top(link.to))
    };
    let mut counts: BTreeMap<Sort, Counts> = BTreeMap::new();
    for (link, verdict) in links.iter().zip(&verdicts) {
        counts.entry(sort(link)).or_default().add(verdict);
    }
    let weights = weigh(&counts);
    let is_one = |link: &SpanLink| facts.ids().are_one(link.from, link.to) == Some(true);
    let of = |link: &SpanLink| weights[&sort(link)] * told.get(link).copied().unwrap_or(1.0);
    let weight = |link: &SpanLink| if is_one(link) { 1.0 } else { of(link) };
    links.iter().map(|link| Probability::new(weight(link))).collect()
}

/// What was counted of the links of a sort.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Counts {
    n: usize,
    n_agree: usize,
    n_denied: usize,
    n_near: usize,
    n_far: usize,
}

impl Counts {
    fn add(&mut self, verdict: &Verdict) {
        self.n += 1;
        self.n_agree += usize::from(verdict.agrees == Some(true));
        self.n_denied += usize::from(verdict.agrees == Some(false));
        self.n_near += usize::from(verdict.is_near == Some(true));
        self.n_far += usize::from(verdict.is_near == Some(false));
    }

    /// How much better the counts are explained if the sort is real: the logarithm of a ratio.
    fn evidence(&self) -> f64 {
        let ratio = |(n, n_not), real, unreal| log_chance(n, n_not, real) - log_chance(n, n_not, unreal);
        let agreement = ratio((self.n_agree, self.n_denied), REAL.agrees, UNREAL.agrees);
        if self.n_near + self.n_far == 0 {
            // No hand-over: what joins two of many things can name the other ones.
            return agreement.max(0.0);
        }
        agreement + ratio((self.n_near, self.n_far), REAL.near, UNREAL.near)
    }
}

/// The logarithm of the chance that first `n` things are so and then `n_not` are not, if their
/// share is drawn from the beta distribution of `a` and `b`.
fn log_chance(n: usize, n_not: usize, (a, b): (f64, f64)) -> f64 {
    let so: f64 = (0..n).map(|at| ((a + at as f64) / (a + b + at as f64)).ln()).sum();
    let not: f64 = (0..n_not).map(|at| ((b + at as f64) / (a + b + (n + at) as f64)).ln()).sum();
    so + not
}

/// How likely the links of each sort are true.
fn weigh(counts: &BTreeMap<Sort, Counts>) -> BTreeMap<Sort, f64> {
    let weight = |((&sort, of), (prior, real)): ((&Sort, &Counts), (f64, f64))| {
        let n = of.n as f64;
        let succeeds = (n + SUCCESSION * prior) / (n + SUCCESSION);
        (sort, (real * succeeds).min(SUREST))
    };
    counts.iter().zip(are_real(counts)).map(weight).collect()
}

/// How likely sorts of its pass are real, and how likely each one is.
fn are_real(counts: &BTreeMap<Sort, Counts>) -> Vec<(f64, f64)> {
    let evidence: Vec<(Pass, f64)> = counts.iter().map(|(sort, of)| (sort.0, of.evidence())).collect();
    let judged: Vec<(Pass, f64)> = evidence.iter().copied().filter(|(_, of)| *of != 0.0).collect();
    let mut of_all = PRIOR;
    let mut of_pass: BTreeMap<Pass, f64> = BTreeMap::new();
    for _ in 0..STEPS {
        let mut sums: BTreeMap<Pass, (f64, f64)> = BTreeMap::new();
        for (pass, evidence) in &judged {
            let (sum, n) = sums.entry(*pass).or_default();
            (*sum, *n) = (*sum + real(*evidence, of_pass.get(pass).copied().unwrap_or(of_all)), *n + 1.0);
        }
        let sum: f64 = sums.values().map(|(sum, _)| sum).sum();
        of_all = (sum + PRIOR_WORTH * PRIOR) / (judged.len() as f64 + PRIOR_WORTH);
        let share = |(sum, n): (f64, f64)| (sum + PRIOR_WORTH * of_all) / (n + PRIOR_WORTH);
        of_pass = sums.into_iter().map(|(pass, sums)| (pass, share(sums))).collect();
    }
    let prior = |pass: Pass| of_pass.get(&pass).copied().unwrap_or(of_all);
    evidence.into_iter().map(|(pass, of)| (prior(pass), real(of, prior(pass)))).collect()
}

/// How likely a sort is real that was as likely as `prior` before the `evidence` was seen.
fn real(evidence: f64, prior: f64) -> f64 {
    1.0 / (1.0 + (1.0 - prior) / prior * (-evidence).exp())
}

/// What speaks for a link, and against it; none: nothing does either.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Verdict {
    agrees: Option<bool>,
    is_near: Option<bool>,
}

/// Who prints where.
type Printer = (u32, Option<TopLevelId>);

/// What verdicts are made of.
struct Judge<'j, 's> {
    facts: &'j Facts<'s>,
    links: &'j [SpanLink],
    /// The links of each span, with the span at the other end.
    around: Vec<Vec<(u32, u32)>>,
    /// When spans of a top-level method have printed something, by node, sorted.
    printed: FxHashMap<Printer, Vec<i64>>,
    /// What each span names, by its number.
    telling: Vec<Box<[(ValueClassId, u32)]>>,
    /// Pairs of what works on an object that outlives all of them.
    lasting: FxHashSet<PairId>,
}

impl<'j, 's> Judge<'j, 's> {
    fn new(pairs: &Pairs<'_>, facts: &'j Facts<'s>, links: &'j [SpanLink]) -> Self {
        let mut around = vec![Vec::new(); facts.len()];
        for (at, link) in links.iter().enumerate() {
            around[link.from as usize].push((to_u32(at), link.to));
            around[link.to as usize].push((to_u32(at), link.from));
        }
        let senders: FxHashSet<Printer> = links.iter().map(|link| printer(facts.get(link.from))).collect();
        let mut printed: FxHashMap<Printer, Vec<i64>> = FxHashMap::default();
        for (_, fact) in facts.iter().filter(|(_, fact)| senders.contains(&printer(fact))) {
            printed.entry(printer(fact)).or_default().extend(fact.events.iter().map(|event| event.ts_us));
        }
        printed.values_mut().for_each(|times| times.sort_unstable());
        let lasting = pairs.iter().filter(|pair| pair.role == Role::Attached);
        let lasting = lasting.filter_map(|pair| pair.id).collect();
        Self { facts, links, around, printed, telling: telling(facts), lasting }
    }

    fn verdict(&self, link: u32) -> Verdict {
        Verdict { agrees: self.agrees(link), is_near: self.is_near(link) }
    }

    /// Whether the two sides of a link agree, whatever its ends say of each other.
    fn agrees(&self, link: u32) -> Option<bool> {
        let SpanLink { from, to, .. } = self.links[link as usize];
        let (ours, theirs) = (self.side(from, link), self.side(to, link));
        if ours.iter().any(|span| theirs.contains(span)) {
            return Some(true);
        }
        let (ours, theirs) = (self.names(&ours), self.names(&theirs));
        let mut differs = false;
        for ours in ours.chunk_by(|a, b| a.kind == b.kind) {
            let theirs = of_kind(&theirs, ours[0].kind);
            if theirs.is_empty() {
                continue;
            }
            let same = |name: &Named| theirs.iter().find(|other| other.text == name.text);
            // What only the two ends name is hidden.
            let counts = |name: &&Named| same(name).is_some_and(|other| !name.by_end || !other.by_end);
            if ours.iter().any(|name| counts(&name)) {
                return Some(true);
            }
            let is_beside = ours.iter().chain(theirs).any(|name| !name.by_end);
            differs |= is_beside && ours.iter().all(|name| same(name).is_none());
        }
        differs.then_some(false)
    }

    /// The spans that are nearest to `span` by links other than one.
    fn side(&self, span: u32, without: u32) -> Vec<u32> {
        let mut side = vec![span];
        let mut rest = VecDeque::from([span]);
        while let Some(span) = rest.pop_front() {
            for &(link, other) in &self.around[span as usize] {
                if side.len() == SIDE_MAX {
                    return side;
                }
                if link != without && !side.contains(&other) {
                    side.push(other);
                    rest.push_back(other);
                }
            }
        }
        side
    }

    /// What the spans of a side name, sorted; the first one is the end of the link.
    fn names(&self, side: &[u32]) -> Vec<Named> {
        let of = |(at, &span): (usize, &u32)| {
            self.telling[span as usize].iter().map(move |&(kind, text)| Named { kind, text, by_end: at == 0 })
        };
        // Who names it besides the end comes first, and is kept.
        let mut names: Vec<Named> = side.iter().enumerate().flat_map(of).collect();
        names.sort_unstable();
        names.dedup_by_key(|name| (name.kind, name.text));
        names
    }

    /// Whether the sender of a link is nearer to its receiver than such senders are at other times.
    fn is_near(&self, link: u32) -> Option<bool> {
        let SpanLink { from, to, pair, .. } = self.links[link as usize];
        if self.lasting.contains(&pair?) {
            return None;
        }
        let (sender, receiver) = (self.facts.get(from), self.facts.get(to));
        let begin_us = receiver.start_us;
        let gap_us = match sender.last_until(begin_us) {
            Some(event) => begin_us.saturating_sub(event.ts_us),
            None => sender.start_us.saturating_sub(begin_us).saturating_mul(LEAD_PENALTY),
        };
        let times = self.printed.get(&printer(sender)).map_or(&[][..], Vec::as_slice);
        let gap_at = |at_us: i64| {
            let n_before = times.partition_point(|&ts_us| ts_us <= at_us);
            times[..n_before].last().map(|&ts_us| at_us - ts_us)
        };
        let is_nearer =
            |shift_us: &i64| gap_at(begin_us.saturating_add(*shift_us)).is_none_or(|other| gap_us < other);
        Some(SHIFTS_US.iter().any(is_nearer))
    }
}

/// Something that is named on one side of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Named {
    kind: ValueClassId,
    /// The number of its text.
    text: u32,
    /// Nobody but the end of the link names it.
    by_end: bool,
}

/// Those of a kind, of `names` that are sorted.
fn of_kind(names: &[Named], kind: ValueClassId) -> &[Named] {
    let rest = &names[names.partition_point(|name| name.kind < kind)..];
    &rest[..rest.partition_point(|name| name.kind == kind)]
}

/// What each span names that tells things apart: its kind, and the number of its text.
fn telling(facts: &Facts<'_>) -> Vec<Box<[(ValueClassId, u32)]>> {
    let of_span = |(_, fact): (u32, &Fact<'_>)| {
        let tells = fact.values().iter().filter(|value| value.is_telling() && !value.is_everywhere());
        tells.map(|value| (value.kind, value.number)).collect()
    };
    facts.iter().map(of_span).collect()
}

fn printer(fact: &Fact<'_>) -> Printer {
    (fact.node, fact.tops.first().copied())
}

#[cfg(test)]
mod tests;
