//! Alike: who hands something over prints what others print who hand over the same.
//!
//! What a method does can lead to a hand-off on some of its ways only, and conditions that
//! the analysis cannot decide say on which. Where values tell who has sent, the log shows
//! what such senders print last before. Along a pair that has shown it often, whoever has
//! printed something else last, and is about something, went another way: that he was the
//! last one at work tells nothing. Lines that name nothing can be a piece of the way.

use rustc_hash::{FxHashMap, FxHashSet};
use schema::kinds::is_made;
use schema::{LogPointId, TopLevelId};

use super::evidence::Candidate;
use super::facts::Facts;
use super::pairs::{Pairs, Role};

/// Senders that values tell from which to learn.
const SENDERS_MIN: usize = 8;

/// Less than one in so many of them prints last what has nothing to do with the hand-off.
const OTHERS_SHARE: usize = 16;

/// Takes out what time alone has found if its sender has not printed last before what those
/// do that values have found to send the same. What a sender is taken for may differ: which
/// of several pairs it is matters as little as which of several methods has printed a line.
pub(super) fn keep_alike(pairs: &Pairs<'_>, facts: &Facts<'_>, candidates: &mut Vec<Candidate>) {
    let is_local = |candidate: &&Candidate| pairs.get(candidate.pair).role == Role::Local;
    let mut senders: FxHashMap<TopLevelId, Vec<&Candidate>> = FxHashMap::default();
    let named = candidates.iter().filter(|candidate| candidate.evidence.0.n_request > 0);
    for candidate in named.filter(is_local) {
        senders.entry(pairs.get(candidate.pair).to).or_default().push(candidate);
    }
    senders.retain(|_, senders| senders.len() >= SENDERS_MIN);
    let usual: FxHashMap<TopLevelId, FxHashSet<LogPointId>> =
        senders.into_iter().map(|(to, senders)| (to, usual(facts, &senders))).collect();
    candidates.retain(|candidate| {
        let is_by_time = candidate.is_bare && !candidate.evidence.0.same_thread && is_local(&candidate);
        let to = pairs.get(candidate.pair).to;
        let Some(usual) = usual.get(&to).filter(|_| is_by_time) else { return true };
        let names_nothing = !facts.get(candidate.from).values().iter().any(|value| is_made(&value.text));
        names_nothing || printed_last(facts, candidate).is_none_or(|point| usual.contains(&point))
    });
}

/// What is printed last before a hand-off by those whom values tell.
fn usual(facts: &Facts<'_>, senders: &[&Candidate]) -> FxHashSet<LogPointId> {
    let mut n_printed: FxHashMap<LogPointId, usize> = FxHashMap::default();
    for point in senders.iter().filter_map(|candidate| printed_last(facts, candidate)) {
        *n_printed.entry(point).or_default() += 1;
    }
    n_printed.retain(|_, n| *n * OTHERS_SHARE >= senders.len());
    n_printed.into_keys().collect()
}

/// What a sender had printed last when its receiver began.
fn printed_last(facts: &Facts<'_>, candidate: &Candidate) -> Option<LogPointId> {
    let start_us = facts.get(candidate.to).start_us;
    let events = facts.get(candidate.from).events;
    let n_before = events.partition_point(|event| event.ts_us <= start_us);
    events[..n_before].iter().rev().find_map(|event| event.log_point)
}
