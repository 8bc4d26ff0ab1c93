//! Delays: how long a hand-off takes, learnt from the log itself.
//!
//! Two requests on one identifier, seconds apart, share all that two spans of
//! one request share; what tells them apart is that a hand-off takes as long as
//! it always takes. For each pair the delays of the nearest senders are
//! collected, each receiver speaking for its nearest sender only; a hand-off
//! that takes many times the usual delay is another request's.

use rustc_hash::FxHashMap;

use super::evidence::Candidate;
use super::pairs::{Pairs, Role};

/// No delay below this is unusual, µs: scheduling, garbage collection, a slow
/// disk.
const DELAY_MIN_US: i64 = 100_000;

/// Delays up to this many times the usual one are usual.
const TIMES_USUAL: i64 = 10;

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
    let longest: FxHashMap<u32, i64> = delays
        .into_iter()
        .map(|(pair, mut delays)| {
            delays.sort_unstable();
            let usual = delays[delays.len() / 2];
            (pair, usual.saturating_mul(TIMES_USUAL).max(DELAY_MIN_US))
        })
        .collect();
    candidates.retain(|candidate| {
        !is_hand_off(pairs, candidate)
            || candidate.gap_us <= longest.get(&candidate.pair).copied().unwrap_or(DELAY_MIN_US)
    });
}

/// Parts of one entity or of one span follow each other at any distance.
fn is_hand_off(pairs: &Pairs<'_>, candidate: &Candidate) -> bool {
    !matches!(pairs.get(candidate.pair).role, Role::Cut | Role::Entity)
}
