//! Carried values: which of the values that a method prints name its requests, because it hands
//! them over.
//!
//! Most numbers that a program prints measure something. One that is handed over unchanged, and
//! printed on both sides, says what the work is about that is handed over (lprof §4.4 follows
//! identifiers along hand-offs; here hand-offs tell what is one).

use schema::{IdentifierStrength, LinkKind};

use super::Pair;
use crate::top_level::{TopLevel, TopLevels};

/// Keeps those doubtful identifiers of `top_levels` that `pairs` carry, and forgets the others.
/// What is carried names the requests of a method that nothing else names.
pub fn settle(top_levels: &mut TopLevels, pairs: &mut [Pair]) {
    let mut is_carried: Vec<Vec<bool>> =
        top_levels.methods.iter().map(|top| vec![false; top.identifiers.len()]).collect();
    // What lives on can be read anew on the other side.
    let hands_over = |pair: &&Pair| !matches!(pair.kind, LinkKind::Call | LinkKind::Ask | LinkKind::Entity);
    for pair in pairs.iter().filter(hands_over) {
        for &(ours, theirs) in &pair.identifiers {
            is_carried[pair.from][ours as usize] = true;
            is_carried[pair.to][theirs as usize] = true;
        }
    }
    let places: Vec<Vec<Option<u32>>> =
        top_levels.methods.iter_mut().zip(&is_carried).map(|(top, carried)| keep(top, carried)).collect();
    for pair in pairs {
        let place = |&(ours, theirs): &(u32, u32)| {
            Some((places[pair.from][ours as usize]?, places[pair.to][theirs as usize]?))
        };
        pair.identifiers = pair.identifiers.iter().filter_map(place).collect();
    }
}

/// Drops what is doubtful and not carried; gives where each identifier is now.
fn keep(top: &mut TopLevel, is_carried: &[bool]) -> Vec<Option<u32>> {
    let n_sure = top.identifiers.len() - top.n_doubtful;
    let mut n = 0;
    let places: Vec<Option<u32>> = (0..top.identifiers.len())
        .map(|i| {
            (i < n_sure || is_carried[i]).then(|| {
                n += 1;
                n - 1
            })
        })
        .collect();
    let mut kept = places.iter().map(Option::is_some);
    top.identifiers.retain(|_| kept.next() == Some(true));
    for binding in top.members.iter_mut().flat_map(|member| &mut member.bindings) {
        *binding = binding.and_then(|at| places[at as usize]);
    }
    top.n_doubtful = 0;
    let is_named = top.identifiers[..n_sure]
        .iter()
        .any(|id| id.strength == IdentifierStrength::Request && !id.is_one_of_many());
    if !is_named {
        top.identifiers[n_sure..].iter_mut().for_each(|id| id.strength = IdentifierStrength::Request);
    }
    places
}
