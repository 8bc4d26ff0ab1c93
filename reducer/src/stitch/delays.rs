//! Delays: how long a hand-off takes, learnt from the log itself.
//!
//! Two requests on one identifier, seconds apart, share all that two spans of
//! one request share; what tells them apart is that a hand-off takes as long as
//! it always takes. For each pair the delays of the nearest senders are
//! collected, each receiver speaking for its nearest sender only; a hand-off
//! that takes many times the usual delay is another request's.

use rustc_hash::FxHashMap;
use schema::LinkKind;

use super::evidence::Candidate;
use super::pairs::{Pairs, Role};

/// No delay below this is unusual, µs: scheduling, garbage collection, a slow
/// disk.
const DELAY_MIN_US: i64 = 100_000;

/// Delays up to this many times the usual one are usual.
const TIMES_USUAL: i64 = 10;

/// Starts of threads from which to learn what is quick.
const STARTS_MIN: usize = 16;

/// Takes out the candidates whose delay is unusual for their pair.
pub(super) fn keep_usual(pairs: &Pairs<'_>, n_spans: usize, candidates: &mut Vec<Candidate>) {
    let mut nearest: Vec<Option<(i64, u32)>> = vec![None; n_spans];
    for candidate in candidates.iter().filter(|candidate| is_hand_off(pairs, candidate)) {
        let delay = (candidate.gap_us, candidate.pair);
        let known = &mut nearest[candidate.to as usize];
        *known = Some(known.map_or(delay, |known| known.min(delay)));
    }
    let mut delays: FxHashMap<u32, Vec<i64>> = FxHashMap::default();
    for (delay_us, pair) in nearest.into_iter().flatten() {
        delays.entry(pair).or_default().push(delay_us);
    }
    let sure = most_of_sure(pairs, &delays);
    let longest: FxHashMap<u32, i64> = delays
        .into_iter()
        .map(|(pair, mut delays)| {
            delays.sort_unstable();
            let usual = delays[delays.len() / 2];
            (pair, usual.saturating_mul(TIMES_USUAL).min(sure).max(DELAY_MIN_US))
        })
        .collect();
    candidates.retain(|candidate| {
        !is_hand_off(pairs, candidate)
            || candidate.gap_us <= longest.get(&candidate.pair).copied().unwrap_or(DELAY_MIN_US)
    });
}

/// How long a hand-off can take at all. Threads are started at once where they
/// are started at all, so half of those starts being quick shows what quick is
/// on the systems at hand; a pair of which every delay is longer joins requests
/// that merely follow each other on one thing.
fn most_of_sure(pairs: &Pairs<'_>, delays: &FxHashMap<u32, Vec<i64>>) -> i64 {
    let is_start =
        |pair: u32| pairs.get(pair).kind == LinkKind::Thread && pairs.get(pair).role == Role::Local;
    let starts = delays.iter().filter(|&(&pair, _)| is_start(pair));
    let mut starts: Vec<i64> = starts.flat_map(|(_, delays)| delays.iter().copied()).collect();
    starts.sort_unstable();
    let usual = starts.get(starts.len() / 2).copied().filter(|_| starts.len() >= STARTS_MIN);
    usual.map_or(i64::MAX, |usual| usual.saturating_mul(TIMES_USUAL))
}

/// Parts of one entity or of one span follow each other at any distance.
fn is_hand_off(pairs: &Pairs<'_>, candidate: &Candidate) -> bool {
    !matches!(pairs.get(candidate.pair).role, Role::Cut | Role::Entity | Role::Attached)
}
