//! Elimination: who is left over belongs to who is left over.
//!
//! Several senders can be at work on several things of one kind when their receivers
//! start, and no value or time tells whose is whose. But senders that wait for their
//! receivers contain them: a receiver with one sender around it is that one's. And if
//! no sender of a pair ever has two receivers, one that has its receiver is out of the
//! question for the others: a receiver to which one sender remains is that one's,
//! which leaves fewer to the others. Both rules are learnt from the log; where they do
//! not show, nothing follows.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use schema::{LinkKind, PairId, Pass, TopLevelId};

use super::facts::{Fact, Facts};
use super::pairs::{Pair, Pairs, Role};
use crate::merge::SpanLink;

/// Hand-offs of a pair from which to learn.
const LINKS_MIN: usize = 16;

/// Hand-offs of which time alone told, from which to learn that senders wait.
const EXAMPLES_MIN: usize = 3;

/// A rule holds with at most one exception in this many hand-offs.
const EXCEPTIONS_SHARE: usize = 16;

/// How much later what is together by chance is as likely to be, µs.
pub(super) const SHIFT_US: i64 = 1_000_000;

/// Times closer than this are equal: logs print milliseconds, µs.
pub(super) const TICK_US: i64 = 2_000;

/// Senders looked at per receiver, latest start first.
pub(super) const LOOK_BACK_MAX: usize = 256;

/// The hand-offs that follow from `links` by elimination.
pub(super) fn join(pairs: &Pairs<'_>, facts: &Facts<'_>, links: &[SpanLink]) -> Vec<SpanLink> {
    let mut known: BTreeMap<PairId, Vec<(u32, u32)>> = BTreeMap::new();
    let mut sets = facts.sets();
    let mut left = Left::new(facts);
    for link in links {
        sets.unite(link.from, link.to);
        left.has_sender[link.to as usize] = true;
        if let Some(pair) = link.pair {
            known.entry(pair).or_default().push((link.from, link.to));
        }
    }
    let mut out = Vec::new();
    for pair in pairs.iter().filter(|pair| is_task(pairs, pair)) {
        let mut of_pair = pair.id.and_then(|id| known.remove(&id)).unwrap_or_default();
        let mut take = |found: Vec<(u32, u32)>, left: &mut Left<'_>| {
            for (from, to) in found {
                if sets.join(from, to) {
                    left.has_sender[to as usize] = true;
                    out.push(SpanLink { from, to, pair: pair.id, by: Pass::Elimination });
                    of_pair.push((from, to));
                }
            }
            of_pair.clone()
        };
        let of_pair = take(left.inside(pair), &mut left);
        if is_exact(facts, &of_pair) {
            take(left.remaining(pair, &of_pair), &mut left);
        }
    }
    out
}

/// Whether a pair hands over a task: what dispatches is none, its rounds are requests.
fn is_task(pairs: &Pairs<'_>, pair: &Pair) -> bool {
    let is_start = pair.role == Role::Local && pair.kind == LinkKind::Thread && !pair.is_way();
    is_start && !pairs.is_dispatcher(pair.from) && !pairs.is_dispatcher(pair.to)
}

/// Whether each sender of a pair has one receiver at most, and waits for it.
fn is_exact(facts: &Facts<'_>, links: &[(u32, u32)]) -> bool {
    if links.len() < LINKS_MIN {
        return false;
    }
    let senders: BTreeSet<u32> = links.iter().map(|&(from, _)| from).collect();
    let n_more = links.len() - senders.len();
    let bare: Vec<bool> = (links.iter())
        .map(|&(from, to)| (facts.get(from), facts.get(to)))
        .filter(|(from, to)| !facts.share(from, to))
        .map(|(from, to)| contains(from, to, 0))
        .collect();
    let n_outside = bare.iter().filter(|&&inside| !inside).count();
    n_more * EXCEPTIONS_SHARE <= links.len()
        && bare.len() >= EXAMPLES_MIN
        && n_outside * EXCEPTIONS_SHARE <= bare.len()
}

/// Whether a receiver that is moved by `shift_us` is at work while its sender is.
fn contains(sender: &Fact<'_>, receiver: &Fact<'_>, shift_us: i64) -> bool {
    sender.start_us <= receiver.start_us.saturating_add(shift_us)
        && receiver.end_us.saturating_add(shift_us) <= sender.end_us.saturating_add(TICK_US)
}

/// What is left over.
struct Left<'f> {
    facts: &'f Facts<'f>,
    has_sender: Vec<bool>,
    /// Spans by the top-level method that they are most likely of.
    of_top: FxHashMap<TopLevelId, Vec<u32>>,
    /// Spans by (node, top-level method that they can be of), in order of start.
    can_be: FxHashMap<(u32, TopLevelId), Vec<u32>>,
}

impl<'f> Left<'f> {
    fn new(facts: &'f Facts<'f>) -> Self {
        let mut of_top: FxHashMap<TopLevelId, Vec<u32>> = FxHashMap::default();
        let mut can_be: FxHashMap<(u32, TopLevelId), Vec<u32>> = FxHashMap::default();
        for (index, fact) in facts.iter() {
            fact.tops.first().into_iter().for_each(|&top| of_top.entry(top).or_default().push(index));
            for &top in fact.tops {
                can_be.entry((fact.node, top)).or_default().push(index);
            }
        }
        Self { facts, has_sender: vec![false; facts.len()], of_top, can_be }
    }

    /// The receivers of a pair that have no sender.
    fn receivers(&self, pair: &Pair) -> Vec<u32> {
        let spans = self.of_top.get(&pair.to).map_or(&[][..], Vec::as_slice);
        spans.iter().copied().filter(|&span| !self.has_sender[span as usize]).collect()
    }

    /// The senders of a pair that contain `receiver`, moved by `shift_us`.
    fn around(&self, pair: &Pair, receiver: u32, shift_us: i64) -> Vec<u32> {
        let fact = self.facts.get(receiver);
        let spans = self.can_be.get(&(fact.node, pair.from)).map_or(&[][..], Vec::as_slice);
        let from_us = fact.start_us.saturating_add(shift_us);
        let end = spans.partition_point(|&span| self.facts.get(span).start_us <= from_us);
        let is_around =
            |sender: &Fact<'_>| contains(sender, fact, shift_us) && !self.facts.differ(sender, fact);
        let spans = spans[..end].iter().rev().take(LOOK_BACK_MAX).copied();
        spans.filter(|&span| span != receiver && is_around(self.facts.get(span))).collect()
    }

    /// Hand-offs of a pair to receivers that are at work while one span is that can
    /// have sent them, and no other, if nearly all receivers are at work while one is,
    /// and it is no chance that they are: a little later far fewer would be.
    fn inside(&self, pair: &Pair) -> Vec<(u32, u32)> {
        let free = self.receivers(pair);
        if free.len() < LINKS_MIN {
            return Vec::new();
        }
        let found: Vec<(u32, Vec<u32>)> =
            free.iter().map(|&index| (index, self.around(pair, index, 0))).collect();
        let n_outside = found.iter().filter(|(_, senders)| senders.is_empty()).count();
        let shifted = free.iter().filter(|&&index| !self.around(pair, index, SHIFT_US).is_empty());
        let is_rule = n_outside * EXCEPTIONS_SHARE <= free.len();
        if !is_rule || shifted.count() * 2 > free.len() - n_outside {
            return Vec::new();
        }
        let sole = found.into_iter().filter(|(_, senders)| senders.len() == 1);
        sole.map(|(to, senders)| (senders[0], to)).collect()
    }

    /// Hand-offs from the senders of a pair that have no receiver to the receivers
    /// that have no sender, as far as only one can be. Senders are taken for what
    /// those are that are known.
    fn remaining(&self, pair: &Pair, links: &[(u32, u32)]) -> Vec<(u32, u32)> {
        let sent: BTreeSet<u32> = links.iter().map(|&(from, _)| from).collect();
        let top = |span: u32| self.facts.get(span).tops.first();
        let tops: BTreeSet<Option<&TopLevelId>> = sent.iter().map(|&from| top(from)).collect();
        let is_free = |from: &u32| !sent.contains(from) && tops.contains(&top(*from));
        let mut waiting: Vec<(u32, Vec<u32>)> = (self.receivers(pair).into_iter())
            .map(|to| (to, self.around(pair, to, 0).into_iter().filter(is_free).collect()))
            .collect();
        let mut out = Vec::new();
        while let Some(at) = waiting.iter().position(|(_, senders)| senders.len() == 1) {
            let (to, senders) = waiting.remove(at);
            out.push((senders[0], to));
            waiting.iter_mut().for_each(|(_, others)| others.retain(|&from| from != senders[0]));
        }
        out
    }
}
