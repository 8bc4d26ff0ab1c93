//! Shuffle: which spans have to be looked at together.
//!
//! The paper's key is the connected component of the pair graph, which put 75%
//! of one system's messages on one reducer. Here the key is finer: the
//! connected component of the hand-offs that are possible at all for the spans
//! at hand, given their identifiers and times. Nothing outside a component can
//! change what happens inside, so components are decided in parallel, and a
//! span without a possible hand-off is final at once.

use rayon::prelude::*;

use crate::merge::Sets;

/// Splits `candidates` into independent groups by the spans they connect,
/// decides each group with `decide`, and gives back all decisions.
/// The groups keep the order of `candidates`.
pub(crate) fn by_component<C: Send + Sync + Copy, D: Send>(
    n_spans: usize,
    candidates: &[C],
    ends: impl Fn(&C) -> (u32, u32),
    decide: impl Fn(&[C]) -> Vec<D> + Sync,
) -> Vec<D> {
    let mut sets = Sets::new(n_spans);
    for candidate in candidates {
        let (from, to) = ends(candidate);
        sets.join(from, to);
    }
    let mut keyed: Vec<(u32, C)> =
        candidates.iter().map(|candidate| (sets.root(ends(candidate).0), *candidate)).collect();
    keyed.sort_by_key(|&(key, _)| key);
    let groups: Vec<Vec<C>> = keyed
        .chunk_by(|(a, _), (b, _)| a == b)
        .map(|group| group.iter().map(|&(_, candidate)| candidate).collect())
        .collect();
    groups.par_iter().flat_map_iter(|group| decide(group)).collect()
}
