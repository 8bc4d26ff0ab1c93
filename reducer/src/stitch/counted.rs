//! Numbers that are counted within a thing.
//!
//! Who numbers its requests does so from the beginning again: each session, each
//! connection, each run has a request 1. Such a number names nothing by itself, and
//! what it is counted within names many requests; both together name one. That a number
//! is counted is learnt from the log: of what is printed with one thing, it never goes
//! back, and most begin with the same number.

use std::collections::BTreeMap;

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use schema::ValueClassId;
use schema::kinds::is_made;

use super::entities::VALUES_MIN;
use super::facts::Facts;

/// A number may go back once in so many steps.
const BACK_SHARE: usize = 16;

/// What is named by a thing and a number that is counted within it.
#[derive(Debug)]
pub(super) struct Counted {
    /// What the number is counted within.
    pub(super) within: ValueClassId,
    /// What is counted.
    pub(super) number: ValueClassId,
    /// Spans by the thing and the number that they hold, in order of start.
    pub(super) spans: Vec<Vec<u32>>,
}

/// A span that holds a thing and a number, one of each kind.
type Together<'s> = (&'s str, u64, u32);

/// All that is counted within something else, as far as the log shows it.
pub(super) fn find(facts: &Facts<'_>) -> Vec<Counted> {
    let mut together: FxHashMap<(ValueClassId, ValueClassId), Vec<Together<'_>>> = FxHashMap::default();
    for (index, fact) in facts.iter() {
        let values = fact.only_values();
        let number = |(&kind, text): (&ValueClassId, &&str)| Some((kind, text.parse::<u64>().ok()?));
        let numbers: Vec<(ValueClassId, u64)> = values.iter().filter_map(number).collect();
        for (&within, &text) in values.iter().filter(|(_, text)| is_made(text)) {
            for &(number, n) in numbers.iter().filter(|(number, _)| *number != within) {
                together.entry((within, number)).or_default().push((text, n, index));
            }
        }
    }
    let counted = together.into_par_iter().filter_map(|((within, number), mut together)| {
        together.sort_unstable();
        let spans = |same: &[Together<'_>]| same.iter().map(|&(_, _, span)| span).collect();
        let spans = || together.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).map(spans).collect();
        is_counted(&together).then(|| Counted { within, number, spans: spans() })
    });
    let mut counted: Vec<Counted> = counted.collect();
    counted.sort_unstable_by_key(|counted| (counted.within, counted.number));
    counted
}

/// Whether numbers rise from one to the next of those that are first seen with one
/// thing, for many things, of which most begin with the same number. `together` is
/// sorted.
fn is_counted(together: &[Together<'_>]) -> bool {
    let (mut n_things, mut n_steps, mut n_back) = (0, 0, 0);
    let mut n_begin: BTreeMap<u64, usize> = BTreeMap::new();
    for of_thing in together.chunk_by(|a, b| a.0 == b.0) {
        let first: Vec<u32> = of_thing.chunk_by(|a, b| a.1 == b.1).map(|same| same[0].2).collect();
        if first.len() > 1 {
            n_things += 1;
            n_steps += first.len() - 1;
            n_back += first.windows(2).filter(|next| next[1] < next[0]).count();
            *n_begin.entry(of_thing[0].1).or_default() += 1;
        }
    }
    let n_anew = n_begin.into_values().max().unwrap_or_default();
    n_things >= VALUES_MIN && n_back * BACK_SHARE <= n_steps && n_anew * 2 > n_things
}
