//! Queue order: what is put into a queue first is taken first.
//!
//! Queues do not let what comes later overtake. Where the model says that one taker takes all that is
//! put into a queue, the first sender is the first receiver's, whatever else speaks for others.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;
use schema::{Pass, Place, TopLevelId};

use super::evidence::Candidate;
use super::facts::{Fact, Facts};
use super::held::Held;
use super::pairs::{Pair, Pairs};
use crate::merge::SpanLink;
use crate::skeleton::Event;

/// Links from who puts something into a queue to who takes it, where the model says that what is
/// put first is taken first, by one taker: the first sender is the first receiver's.
///
/// Only where all that was put was taken, or is left over at the end, and nothing was taken before
/// it was put: else something of it was not printed, and who is whose is not known. What only time
/// speaks for as the sender of what is linked is taken out of `candidates`.
pub(super) fn find(pairs: &Pairs<'_>, facts: &Facts<'_>, candidates: &mut Vec<Candidate>) -> Vec<SpanLink> {
    let mut of_takers: BTreeMap<TopLevelId, Vec<&Pair>> = BTreeMap::new();
    for pair in pairs.iter().filter(|pair| pair.in_order && !pair.is_way()) {
        of_takers.entry(pair.to).or_default().push(pair);
    }
    let mut links: Vec<SpanLink> = Vec::new();
    for (taker, pairs_to) in of_takers {
        let mut of_nodes: BTreeMap<u32, Line<'_>> = BTreeMap::new();
        for (index, fact) in facts.iter() {
            let line = of_nodes.entry(fact.node).or_default();
            let Some(first) = fact.events.first().filter(|_| !fact.tops.is_empty()) else { continue };
            let top = fact.tops[0];
            if top == taker {
                let begins = first.log_point.is_some_and(|point| pairs.starts_with(taker, point));
                line.taken
                    .extend((begins && !pairs.is_before_rounds(taker, fact)).then(|| (when(first), index)));
            }
            let pair = pairs_to.iter().find(|pair| pair.from == top);
            line.put.extend(pair.and_then(|pair| Some((put_at(pairs, pair, fact)?, index, *pair))));
        }
        links.extend(of_nodes.into_values().flat_map(|line| line.links(facts)));
    }
    links.sort_unstable();
    let linked: FxHashSet<u32> = links.iter().map(|link| link.to).collect();
    candidates.retain(|candidate| !(candidate.is_bare && linked.contains(&candidate.to)));
    links
}

/// When something was printed, and where that stands.
type At = (i64, Place);

/// What is put into a queue and taken from it on one node.
#[derive(Default)]
struct Line<'p> {
    put: Vec<(At, u32, &'p Pair)>,
    taken: Vec<(At, u32)>,
}

impl Line<'_> {
    fn links(mut self, facts: &Facts<'_>) -> Vec<SpanLink> {
        self.put.sort_unstable_by_key(|&(at, span, _)| (at, span));
        self.taken.sort_unstable();
        let is_after = |(taken, put): (&(At, u32), &(At, u32, &Pair))| put.0 <= taken.0;
        let is_all_put = self.put.len() >= self.taken.len() && self.taken.iter().zip(&self.put).all(is_after);
        let left = self.put.get(self.taken.len()..).unwrap_or_default();
        let is_left_over = left.iter().all(|put| self.taken.last().is_none_or(|last| put.0 > last.0));
        let both = || self.put.iter().zip(&self.taken);
        let name_others = both().any(|(put, taken)| hands_over_other(facts, put.2, put.1, taken.1));
        if !is_all_put || !is_left_over || name_others {
            return Vec::new();
        }
        both()
            .map(|(&(_, from, pair), &(_, to))| SpanLink { from, to, pair: pair.id, by: Pass::QueueOrder })
            .collect()
    }
}

/// Whether both ends of a pair show a value that it hands over, and not the same one.
fn hands_over_other(facts: &Facts<'_>, pair: &Pair, sender: u32, receiver: u32) -> bool {
    pair.map.iter().any(|mapped| {
        let sent = facts.get(sender).values_of(mapped.from);
        let taken = facts.get(receiver).values_of(mapped.to);
        let is_sent = |value: &Held<'_>| sent.iter().any(|other| other.is(value));
        !sent.is_empty() && !taken.is_empty() && !taken.iter().any(is_sent)
    })
}

fn when(event: &Event) -> At {
    (event.ts_us, event.place())
}

/// When a sender printed the last that it prints before it puts something into the queue.
fn put_at(pairs: &Pairs<'_>, pair: &Pair, sender: &Fact<'_>) -> Option<At> {
    let before = pairs.printed_before(pair);
    let is_before =
        |event: &&Event| event.log_point.is_some_and(|point| before.binary_search(&point).is_ok());
    sender.events.iter().rev().find(is_before).map(when)
}
