//! Births: a time within what a span names tells when its request made it.
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

use std::collections::{BTreeMap, BTreeSet};

use schema::LogPointId;
use schema::kinds::stamps_us;

use super::elimination::{SHIFT_US, TICK_US};
use super::facts::{Fact, Facts};
use super::joined;
use crate::merge::{Sets, SpanLink};

/// Stamps from which to learn.
const STAMPS_MIN: usize = 16;

/// At most one stamp in so many is made while nobody begins.
const EXCEPTIONS_SHARE: usize = 8;

/// A stamp is new for this long, µs.
const NEW_US: i64 = 1_000_000;

/// Links to what was stamped while somebody began, in addition to `links`.
pub(super) fn join(facts: &Facts<'_>, skew_us: i64, links: &[SpanLink]) -> Vec<SpanLink> {
    let (mut sets, has_sender) = joined(facts, links);
    let mut carriers: BTreeMap<LogPointId, Vec<(i64, u32)>> = BTreeMap::new();
    for (index, fact) in facts.iter().filter(|&(index, _)| !has_sender[index as usize]) {
        if let Some((point, stamp_us)) = fact.first_point.zip(stamp_us(fact, skew_us)) {
            carriers.entry(point).or_default().push((stamp_us, index));
        }
    }
    let mut out = Vec::new();
    for (point, carriers) in carriers {
        let Some(maker) = maker(facts, point, &carriers) else { continue };
        for (stamp_us, to) in carriers {
            if let Some(from) = sole_maker(facts, &mut sets, maker, stamp_us, to)
                && sets.join(from, to)
            {
                out.push(SpanLink { from, to, pair: None });
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

/// The span of the only request that began with `maker` as a stamp was made.
fn sole_maker(facts: &Facts<'_>, sets: &mut Sets, maker: LogPointId, at_us: i64, to: u32) -> Option<u32> {
    let mut found = around(facts, at_us)
        .filter(|&span| span != to && facts.get(span).first_point == Some(maker))
        .filter(|&span| facts.get(span).thread.is_some())
        .collect::<Vec<u32>>()
        .into_iter();
    let first = found.next()?;
    let root = sets.root(first);
    found.all(|span| sets.root(span) == root).then_some(first)
}
