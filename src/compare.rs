//! Two populations of requests, of one table or of two: which types became slower, what only one of them
//! does, and in which spans and regions of code time grew or shrank, each with how sure that is.
//!
//! ```text
//! first table  ── told in the words of the second ─┐            ┌─▶ types
//! second table ────────────────────────────────────┼─▶ groups ──┼─▶ what only one does
//! two conditions on one table ─────────────────────┘            ├─▶ sequences that are new or gone
//!                                                               └─▶ changes in time
//! ```
//! What is computed is here; how it is printed is in `commands::compare`.

pub(crate) mod changes;
pub(crate) mod report;
pub(crate) mod sequences;
pub(crate) mod tables;
pub(crate) mod types;

use crate::profile::differences::{Difference, differences};
use crate::profile::groups::Groups;
use changes::{Change, changes};
use types::{OfType, types};

/// How likely a difference is by chance at most to be told as one, over all that are looked at
/// (Bonferroni).
pub(crate) const CHANCE_MAX: f64 = 0.01;

/// What differs between the populations 1 and 2.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Comparison {
    /// Requests of each.
    pub(crate) n_requests: (u64, u64),
    /// Types of requests side by side.
    pub(crate) types: Vec<OfType>,
    /// What those of the first one do and those of the second one do not.
    pub(crate) only_first: Vec<Difference>,
    /// The other way round.
    pub(crate) only_second: Vec<Difference>,
    /// Changes in time that are more than chance, the largest that is sure first.
    pub(crate) changes: Vec<Change>,
}

/// Compares the populations 1 and 2; a difference in structure is seen in `support` requests.
pub(crate) fn compare(groups: &Groups, support: u64) -> Comparison {
    let population = |request: u32| groups.requests.populations[request as usize];
    let side = |of: u8| {
        move |request: u32| match population(request) {
            1 | 2 => Some(population(request) == of),
            _ => None,
        }
    };
    let n = |of: u8| groups.requests.populations.iter().filter(|p| **p == of).count() as u64;
    Comparison {
        n_requests: (n(1), n(2)),
        types: types(groups),
        only_first: differences(groups, &side(1), support),
        only_second: differences(groups, &side(2), support),
        changes: changes(groups),
    }
}

/// Times of the requests of one type, those of either population apart.
fn apart(times: &[i64], populations: &[u8]) -> [Vec<i64>; 2] {
    let of = |number: u8| {
        let mine = times.iter().zip(populations).filter(|(_, population)| **population == number);
        mine.map(|(us, _)| *us).collect()
    };
    [of(1), of(2)]
}

#[cfg(test)]
mod tests;
