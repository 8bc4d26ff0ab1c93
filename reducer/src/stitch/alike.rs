//! Alike: who hands something over prints what others print who hand over the same.
//!
//! What a method does can lead to a hand-off on some of its ways only, and conditions that
//! the analysis cannot decide say on which. Where values tell who has sent, the log shows
//! what such senders print before. Along a pair that has shown it often, whoever has
//! printed nothing of that, but what something else is about, went another way: that he was
//! the last one at work tells nothing. Lines that name nothing can be a piece of the way.

use rustc_hash::{FxHashMap, FxHashSet};
use schema::LogPointId;
use schema::kinds::is_made;

use super::evidence::Candidate;
use super::facts::Facts;
use super::pairs::{Pairs, Role};

/// Senders that values tell from which to learn.
const SENDERS_MIN: usize = 8;

/// Less than one in so many of them prints what has nothing to do with the hand-off.
const OTHERS_SHARE: usize = 16;

/// Takes out what time alone has found if its sender has printed nothing of what those of
/// its pair do that values have found.
pub(super) fn keep_alike(pairs: &Pairs<'_>, facts: &Facts<'_>, candidates: &mut Vec<Candidate>) {
    let mut senders: FxHashMap<u32, Vec<&Candidate>> = FxHashMap::default();
    for candidate in candidates.iter().filter(|candidate| candidate.evidence.0.n_request > 0) {
        senders.entry(candidate.pair).or_default().push(candidate);
    }
    senders.retain(|_, senders| senders.len() >= SENDERS_MIN);
    let usual: FxHashMap<u32, FxHashSet<LogPointId>> =
        senders.into_iter().map(|(pair, senders)| (pair, usual(facts, &senders))).collect();
    candidates.retain(|candidate| {
        let Some(usual) = usual.get(&candidate.pair).filter(|_| is_by_time(pairs, candidate)) else {
            return true;
        };
        let mut before = printed_before(facts, candidate).peekable();
        let names_nothing = !facts.get(candidate.from).values().iter().any(|value| is_made(&value.text));
        names_nothing || before.peek().is_none() || before.any(|point| usual.contains(&point))
    });
}

/// What is printed before a hand-off by those whom values tell.
fn usual(facts: &Facts<'_>, senders: &[&Candidate]) -> FxHashSet<LogPointId> {
    let mut n_printed: FxHashMap<LogPointId, usize> = FxHashMap::default();
    for candidate in senders {
        let points: FxHashSet<LogPointId> = printed_before(facts, candidate).collect();
        points.into_iter().for_each(|point| *n_printed.entry(point).or_default() += 1);
    }
    n_printed.retain(|_, n| *n * OTHERS_SHARE >= senders.len());
    n_printed.into_keys().collect()
}

/// What a sender had printed when its receiver began.
fn printed_before<'f>(
    facts: &'f Facts<'_>,
    candidate: &Candidate,
) -> impl Iterator<Item = LogPointId> + use<'f> {
    let start_us = facts.get(candidate.to).start_us;
    let events = facts.get(candidate.from).events.iter();
    events.take_while(move |event| event.ts_us <= start_us).filter_map(|event| event.log_point)
}

/// Whether nothing but time speaks for a candidate.
fn is_by_time(pairs: &Pairs<'_>, candidate: &Candidate) -> bool {
    candidate.is_bare && !candidate.evidence.0.same_thread && pairs.get(candidate.pair).role == Role::Local
}
