//! Evidence: how much speaks for a hand-off between two spans. All weights of
//! stitching are here.
//!
//! Fields are compared in the order they stand in: shared request identifiers
//! first, then a caller's and a callee's common thread, then shared weak
//! values, then how well the pair fits what the spans can be, then nearness in
//! time, which tells apart two requests on the same identifiers.

use std::cmp::Reverse;

use super::facts::Fact;
use super::pairs::{Pair, Pairs, Role};
use schema::{IdentifierStrength, LinkKind, TopLevelId, Value};

/// A receiver can print before its sender does: the sender may log after the
/// hand-off. Such a pair counts as this many times as far apart as it is.
const BEFORE_PENALTY: u64 = 10;

/// A possible hand-off. Sorted best first; local ones before remote ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Candidate {
    /// Remote hand-offs are decided when all local ones are.
    pub(super) is_remote: bool,
    pub(super) evidence: Reverse<Evidence>,
    pub(super) to: u32,
    pub(super) from: u32,
    pub(super) pair: u32,
}

/// What speaks for a hand-off: larger is more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Evidence {
    /// Shared values of request identifiers.
    pub(super) n_request: u32,
    /// Call within one thread, by its name.
    pub(super) same_thread: bool,
    /// Shared values of weak identifiers.
    pub(super) n_weak: u32,
    /// Places of the pair's ends among what the spans can be.
    rank: Reverse<u32>,
    /// Time between the starts, µs.
    distance_us: Reverse<u64>,
}

/// Weighs `pair` from `sender` to `receiver`; none if they contradict it.
/// Time is checked by the caller.
pub(super) fn weigh(
    pairs: &Pairs<'_>,
    pair: &Pair,
    sender: &Fact<'_>,
    receiver: &Fact<'_>,
) -> Option<Evidence> {
    let rank = sender.rank(pair.from)? + receiver.rank(pair.to)?;
    let threads_known = sender.thread.is_some() && receiver.thread.is_some();
    let same_thread = threads_known && sender.node == receiver.node && sender.thread == receiver.thread;
    let one_thread = pair.role == Role::Cut || (pair.kind == LinkKind::Call && pair.role == Role::Local);
    if one_thread && threads_known && !same_thread {
        return None;
    }
    let (mut n_request, mut n_weak) = (0, 0);
    for mapped in &pair.map {
        let (ours, theirs) = (sender.values_of(mapped.from), receiver.values_of(mapped.to));
        if ours.is_empty() || theirs.is_empty() {
            continue;
        }
        if shares(ours, theirs) {
            match mapped.strength {
                IdentifierStrength::Request => n_request += 1,
                _ => n_weak += 1,
            }
        } else if mapped.is_single {
            return None;
        }
    }
    // Values that no map names, but that are the same thing by their class.
    for value in sender.values() {
        let class = value.value_class;
        let is_mapped = pair.map.iter().any(|mapped| mapped.from == class);
        if !is_mapped && receiver.values_of(class).iter().any(|other| other.text == value.text) {
            match common_strength(pairs, pair.from, pair.to, value) {
                Some(IdentifierStrength::Request) => n_request += 1,
                Some(IdentifierStrength::Weak) => n_weak += 1,
                _ => {}
            }
        }
    }
    let same_thread = same_thread && one_thread;
    let distance_us = Reverse(distance_us(sender, receiver));
    Some(Evidence { n_request, same_thread, n_weak, rank: Reverse(rank), distance_us })
}

fn shares(ours: &[Value], theirs: &[Value]) -> bool {
    ours.iter().any(|our| theirs.iter().any(|their| our.text == their.text))
}

fn common_strength(
    pairs: &Pairs<'_>,
    from: TopLevelId,
    to: TopLevelId,
    value: &Value,
) -> Option<IdentifierStrength> {
    let from = pairs.strength(from, value.value_class)?;
    let to = pairs.strength(to, value.value_class)?;
    Some(from.max(to))
}

fn distance_us(sender: &Fact<'_>, receiver: &Fact<'_>) -> u64 {
    let distance = sender.start_us.abs_diff(receiver.start_us);
    if sender.start_us <= receiver.start_us { distance } else { distance.saturating_mul(BEFORE_PENALTY) }
}
