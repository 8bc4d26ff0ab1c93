//! Elimination: who is left over belongs to who is left over.
//!
//! Several senders can be at work on several things of one kind when their receivers
//! start, and no value or time tells whose is whose. But if no sender of a pair ever
//! has two receivers, one that has its receiver is out of the question for the
//! others, and so is one that was through when a receiver was still at work, if
//! senders wait for their receivers. A receiver to which one sender remains is that
//! one's, which leaves fewer to the others. Both rules are learnt from the hand-offs
//! that are known: from a log where they do not show, nothing follows.

use std::collections::{BTreeMap, BTreeSet};

use schema::{LinkKind, PairId};

use super::facts::{Fact, Facts};
use super::pairs::{Pair, Pairs, Role};
use crate::merge::{Sets, SpanLink};

/// Hand-offs of a pair from which to learn.
const LINKS_MIN: usize = 16;

/// Hand-offs of which time alone told, from which to learn that senders wait.
const EXAMPLES_MIN: usize = 3;

/// A rule holds with at most one exception in this many hand-offs.
const EXCEPTIONS_SHARE: usize = 16;

/// Logs print milliseconds, µs.
const TICK_US: i64 = 2_000;

/// The hand-offs that follow from `links` by elimination.
pub(super) fn join(pairs: &Pairs<'_>, facts: &Facts<'_>, links: &[SpanLink]) -> Vec<SpanLink> {
    let mut known: BTreeMap<PairId, Vec<(u32, u32)>> = BTreeMap::new();
    let mut sets = Sets::new(facts.len());
    let mut has_sender = vec![false; facts.len()];
    for link in links {
        sets.join(link.from, link.to);
        has_sender[link.to as usize] = true;
        if let Some(pair) = link.pair {
            known.entry(pair).or_default().push((link.from, link.to));
        }
    }
    let mut out = Vec::new();
    for pair in pairs.iter().filter(|pair| !pair.is_way()) {
        let Some(of_pair) = pair.id.and_then(|id| known.get(&id)) else { continue };
        if !is_exact(pairs, facts, pair, of_pair) {
            continue;
        }
        for (from, to) in remaining(facts, pair, of_pair, &has_sender) {
            if sets.join(from, to) {
                has_sender[to as usize] = true;
                out.push(SpanLink { from, to, pair: pair.id });
            }
        }
    }
    out
}

/// Whether each sender of a pair has one receiver at most, and waits for it.
fn is_exact(pairs: &Pairs<'_>, facts: &Facts<'_>, pair: &Pair, links: &[(u32, u32)]) -> bool {
    let is_task =
        pair.role == Role::Local && pair.kind == LinkKind::Thread && !pairs.is_dispatcher(pair.from);
    if !is_task || links.len() < LINKS_MIN {
        return false;
    }
    let senders: BTreeSet<u32> = links.iter().map(|&(from, _)| from).collect();
    let n_more = links.len() - senders.len();
    let bare: Vec<bool> = (links.iter())
        .filter(|&&(from, to)| !facts.share(facts.get(from), facts.get(to)))
        .map(|&(from, to)| contains(facts.get(from), facts.get(to)))
        .collect();
    let n_outside = bare.iter().filter(|&&inside| !inside).count();
    n_more * EXCEPTIONS_SHARE <= links.len()
        && bare.len() >= EXAMPLES_MIN
        && n_outside * EXCEPTIONS_SHARE <= bare.len()
}

fn contains(sender: &Fact<'_>, receiver: &Fact<'_>) -> bool {
    sender.start_us <= receiver.start_us && receiver.end_us <= sender.end_us.saturating_add(TICK_US)
}

/// Hand-offs from the senders of a pair that have no receiver to the receivers that
/// have no sender, as far as only one can be.
fn remaining(facts: &Facts<'_>, pair: &Pair, links: &[(u32, u32)], has_sender: &[bool]) -> Vec<(u32, u32)> {
    let sent: BTreeSet<u32> = links.iter().map(|&(from, _)| from).collect();
    let is = |fact: &Fact<'_>, top| fact.tops.first() == Some(&top);
    let free = facts.iter().filter(|(index, fact)| is(fact, pair.from) && !sent.contains(index));
    let free: Vec<u32> = free.map(|(index, _)| index).collect();
    let mut waiting: Vec<(u32, Vec<u32>)> = (facts.iter())
        .filter(|(index, fact)| is(fact, pair.to) && !has_sender[*index as usize])
        .map(|(index, fact)| {
            let can_be = |sender: &Fact<'_>| {
                sender.node == fact.node && contains(sender, fact) && !facts.differ(sender, fact)
            };
            (index, free.iter().copied().filter(|&from| can_be(facts.get(from))).collect())
        })
        .collect();
    let mut out = Vec::new();
    while let Some(at) = waiting.iter().position(|(_, senders)| senders.len() == 1) {
        let (to, senders) = waiting.swap_remove(at);
        out.push((senders[0], to));
        waiting.iter_mut().for_each(|(_, others)| others.retain(|&from| from != senders[0]));
    }
    out
}
