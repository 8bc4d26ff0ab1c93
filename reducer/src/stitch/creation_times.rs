//! Creation times: a time within what a span names tells when its request made it.
//!
//! Who makes something often stamps it with the time: a write its cells, a copy its
//! file, a store its next log. Whoever shows the stamp, on any node, works on what was
//! made then; and who made it was at work then, by the clock of its own node. Of the
//! stamps that a span shows the newest counts: older ones are on what others have made
//! before. And only a stamp that is new as the span begins tells: what is older is the
//! name of something that lives on.
//!
//! Who makes the stamps that a line shows is learnt from the log: at nearly every one of
//! them somebody begins with the same other line, and far less often a little later. If
//! one request only did so just then, what shows the stamp is a part of it. Where no
//! thread is printed, what a request holds is less sure, and so is what hangs on it.
//!
//! Who makes such stamps can do the same each time, and say so as it begins: which of its
//! statements it runs, by a digest. If nearly all sole makers have named the same, the
//! others have as well, and of several that begin at once it tells who made a stamp; if
//! none that says so has just begun, so does the only one that is still at work.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use schema::kinds::{is_unique, stamps_us};
use schema::{LogPointId, Pass};

use super::candidates::TICK_US;
use super::facts::{Fact, Facts};
use super::joined;
use crate::merge::{Sets, SpanLink};

/// Stamps from which to learn.
const STAMPS_MIN: usize = 16;

/// At most one stamp in so many is made while nobody begins.
const EXCEPTIONS_SHARE: usize = 8;

/// A stamp is new for this long, µs.
const NEW_US: i64 = 1_000_000;

/// How much later what is together by chance is as likely to be, µs.
const SHIFT_US: i64 = 1_000_000;

/// Links to what was stamped while somebody began, in addition to `links`.
pub(super) fn join(facts: &Facts<'_>, skew_us: i64, links: &[SpanLink]) -> Vec<SpanLink> {
    let (mut sets, has_sender) = joined(facts, links);
    let mut carriers: BTreeMap<LogPointId, Vec<(i64, u32)>> = BTreeMap::new();
    for (index, fact) in facts.iter().filter(|&(index, _)| !has_sender[index as usize]) {
        if let Some((point, stamp_us)) = fact.first_point.zip(stamp_us(fact, skew_us)) {
            carriers.entry(point).or_default().push((stamp_us, index));
        }
    }
    let mut ends_us: FxHashMap<u32, i64> = FxHashMap::default();
    for (index, fact) in facts.iter() {
        let end_us = ends_us.entry(sets.root(index)).or_insert(fact.end_us);
        *end_us = fact.end_us.max(*end_us);
    }
    let mut out = Vec::new();
    for (point, carriers) in carriers {
        let Some(maker) = maker(facts, point, &carriers) else { continue };
        let makers = Makers { facts, point: maker, names: BTreeSet::new() };
        let names = makers.names(&mut sets, &carriers);
        let makers = Makers { names, ..makers };
        for (stamp_us, to) in carriers {
            let from = makers.sole(&mut sets, stamp_us, to);
            let from = from.or_else(|| makers.at_work(&mut sets, &ends_us, stamp_us, to));
            if let Some(from) = from.filter(|&from| sets.join(from, to)) {
                out.push(SpanLink { from, to, pair: None, by: Pass::CreationTimes });
            }
        }
    }
    out
}

/// The newest time that a span shows, if it is new as the span begins. Several that are
/// made as long after each other as others come and go say that the span is of several.
fn stamp_us(fact: &Fact<'_>, skew_us: i64) -> Option<i64> {
    let texts = fact.events.iter().flat_map(|event| event.values.iter()).map(|(_, text)| text);
    let new = fact.start_us.saturating_sub(NEW_US)..=fact.end_us.saturating_add(skew_us);
    let stamps: BTreeSet<i64> = texts.flat_map(stamps_us).filter(|stamp_us| new.contains(stamp_us)).collect();
    let (first, last) = (*stamps.first()?, *stamps.last()?);
    (last - first <= TICK_US).then_some(last)
}

/// The line with which begins who makes the stamps of `carriers`, which begin with
/// `point`; none if the log does not tell.
fn maker(facts: &Facts<'_>, point: LogPointId, carriers: &[(i64, u32)]) -> Option<LogPointId> {
    let stamps: BTreeSet<i64> = carriers.iter().map(|&(stamp_us, _)| stamp_us).collect();
    if stamps.len() < STAMPS_MIN {
        return None;
    }
    let mut known: BTreeMap<LogPointId, (usize, usize)> = BTreeMap::new();
    for stamp_us in &stamps {
        begun(facts, *stamp_us).into_iter().for_each(|point| known.entry(point).or_default().0 += 1);
        let later_us = stamp_us.saturating_add(SHIFT_US);
        begun(facts, later_us).into_iter().for_each(|point| known.entry(point).or_default().1 += 1);
    }
    let is_rule = |(_, (n, n_later)): &(LogPointId, (usize, usize))| {
        (stamps.len() - n) * EXCEPTIONS_SHARE <= stamps.len() && n_later * 2 <= *n
    };
    let known = known.into_iter().filter(|&(other, _)| other != point).filter(is_rule);
    known.max_by_key(|&(point, (n, _))| (n, std::cmp::Reverse(point))).map(|(point, _)| point)
}

/// The lines with which spans begin at a time.
fn begun(facts: &Facts<'_>, at_us: i64) -> BTreeSet<LogPointId> {
    around(facts, at_us).filter_map(|span| facts.get(span).first_point).collect()
}

/// The spans that begin at a time.
fn around(facts: &Facts<'_>, at_us: i64) -> impl Iterator<Item = u32> {
    let before = |us: i64| facts.n_started(us.saturating_sub(1));
    before(at_us.saturating_sub(TICK_US))..facts.n_started(at_us.saturating_add(TICK_US))
}

/// Who makes the stamps of one line.
struct Makers<'f, 's> {
    facts: &'f Facts<'s>,
    /// The line with which they begin.
    point: LogPointId,
    /// The digest that nearly all of them name in it, if there is one.
    names: BTreeSet<&'s str>,
}

impl<'s> Makers<'_, 's> {
    /// What nearly all sole makers of the stamps of `carriers` have named.
    fn names(&self, sets: &mut Sets, carriers: &[(i64, u32)]) -> BTreeSet<&'s str> {
        let mut known: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
        let mut makers: BTreeSet<u32> = BTreeSet::new();
        for &(stamp_us, to) in carriers {
            let Some(maker) = self.sole(sets, stamp_us, to) else { continue };
            makers.insert(maker);
            self.named(maker).for_each(|name| _ = known.entry(name).or_default().insert(maker));
        }
        let is_rule = |(_, named): &(&str, BTreeSet<u32>)| {
            named.len() >= STAMPS_MIN && (makers.len() - named.len()) * EXCEPTIONS_SHARE <= makers.len()
        };
        known.into_iter().filter(is_rule).map(|(name, _)| name).collect()
    }

    /// The digests in the line with which a span begins.
    fn named(&self, span: u32) -> impl Iterator<Item = &'s str> {
        let first = self.facts.get(span).events.first().into_iter();
        let texts = first.flat_map(|event| event.values.iter()).map(|(_, text)| text);
        texts.filter(|text| is_unique(text))
    }

    /// Whether a span begins as makers do.
    fn is_maker(&self, span: u32) -> bool {
        let fact = self.facts.get(span);
        fact.first_point == Some(self.point)
            && fact.thread.is_some()
            && (self.names.is_empty() || self.named(span).any(|name| self.names.contains(name)))
    }

    /// The span of the only request that began so as a stamp was made.
    fn sole(&self, sets: &mut Sets, at_us: i64, to: u32) -> Option<u32> {
        only(sets, around(self.facts, at_us).filter(|&span| span != to && self.is_maker(span)))
    }

    /// The span of the only one that was at work as a stamp was made, of those that say
    /// what makers do.
    fn at_work(&self, sets: &mut Sets, ends_us: &FxHashMap<u32, i64>, at_us: i64, to: u32) -> Option<u32> {
        if self.names.is_empty() {
            return None;
        }
        let first = self.facts.n_started(at_us.saturating_sub(NEW_US));
        let spans = first..self.facts.n_started(at_us.saturating_add(TICK_US));
        let makers: Vec<u32> = spans.filter(|&span| span != to && self.is_maker(span)).collect();
        let is_busy = |&span: &u32| ends_us.get(&sets.root(span)).is_some_and(|&end_us| end_us >= at_us);
        let makers: Vec<u32> = makers.into_iter().filter(is_busy).collect();
        only(sets, makers.into_iter())
    }
}

/// The first of `spans`, if all are of one request.
fn only(sets: &mut Sets, mut spans: impl Iterator<Item = u32>) -> Option<u32> {
    let first = spans.next()?;
    let root = sets.root(first);
    spans.all(|span| sets.root(span) == root).then_some(first)
}
