//! Shuffle: which spans have to be looked at together.
//!
//! The paper's key is the connected component of the pair graph, which put 75%
//! of one system's messages on one reducer. Here the key is finer: the
//! connected component of the hand-offs that are possible at all for the spans
//! at hand, given their identifiers and times. Nothing outside a component can
//! change what happens inside, so components are decided in parallel, and a
//! span without a possible hand-off is final at once.

use rayon::prelude::*;

use crate::merge::{Sets, to_u32};

/// Splits `candidates` into independent groups by the spans they connect,
/// decides each group with `decide`, and gives back all decisions.
/// The groups keep the order of `candidates`.
pub(crate) fn by_component<C: Send + Sync + Copy, D: Send>(
    n_spans: usize,
    candidates: Vec<C>,
    ends: impl Fn(&C) -> (u32, u32),
    decide: impl Fn(&[C]) -> Vec<D> + Sync,
) -> Vec<D> {
    let mut sets = Sets::new(n_spans);
    for candidate in &candidates {
        let (from, to) = ends(candidate);
        sets.join(from, to);
    }
    let keys: Vec<u32> = candidates.iter().map(|candidate| sets.root(ends(candidate).0)).collect();
    let mut order: Vec<u32> = (0..to_u32(keys.len())).collect();
    order.sort_by_key(|&at| keys[at as usize]);
    let sorted: Vec<C> = order.iter().map(|&at| candidates[at as usize]).collect();
    drop(candidates);
    let mut rest = &sorted[..];
    let groups = order.chunk_by(|&a, &b| keys[a as usize] == keys[b as usize]).map(|group| {
        let (group, after) = rest.split_at(group.len());
        rest = after;
        group
    });
    let groups: Vec<&[C]> = groups.collect();
    groups.into_par_iter().flat_map_iter(&decide).collect()
}
