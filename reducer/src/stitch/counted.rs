//! Numbers that are counted within a thing.
//!
//! Who numbers its requests does so from the beginning again: each session, each
//! connection, each run has a request 1. Such a number names nothing by itself, and
//! what it is counted within names many requests; both together name one. That a number
//! is counted is learnt from the log: of what is printed with one thing, it never goes
//! back, and most begin with the same number.

use std::collections::BTreeMap;

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

/// Spans by what they hold of two kinds.
type Together<'s> = BTreeMap<&'s str, BTreeMap<u64, Vec<u32>>>;

/// All that is counted within something else, as far as the log shows it.
pub(super) fn find(facts: &Facts<'_>) -> Vec<Counted> {
    let mut together: BTreeMap<(ValueClassId, ValueClassId), Together<'_>> = BTreeMap::new();
    for (index, fact) in facts.iter() {
        let values = facts.only_values(fact);
        for (&within, &text) in values.iter().filter(|(_, text)| is_made(text)) {
            for (&number, &digits) in values.iter().filter(|&(&number, _)| number != within) {
                if let Ok(n) = digits.parse() {
                    let of_thing = together.entry((within, number)).or_default().entry(text).or_default();
                    of_thing.entry(n).or_default().push(index);
                }
            }
        }
    }
    let counted = together.into_iter().filter(|(_, together)| is_counted(together));
    let counted = counted.map(|((within, number), together)| {
        let spans = together.into_values().flat_map(BTreeMap::into_values).collect();
        Counted { within, number, spans }
    });
    counted.collect()
}

/// Whether numbers rise from one to the next of those that are first seen with one
/// thing, for many things, of which most begin with the same number.
fn is_counted(together: &Together<'_>) -> bool {
    let (mut n_things, mut n_steps, mut n_back) = (0, 0, 0);
    let mut n_begin: BTreeMap<u64, usize> = BTreeMap::new();
    for numbers in together.values().filter(|numbers| numbers.len() > 1) {
        let first = |spans: &Vec<u32>| spans.iter().min().copied().unwrap_or_default();
        let first: Vec<u32> = numbers.values().map(first).collect();
        n_things += 1;
        n_steps += first.len() - 1;
        n_back += first.windows(2).filter(|next| next[1] < next[0]).count();
        numbers.keys().take(1).for_each(|&number| *n_begin.entry(number).or_default() += 1);
    }
    let n_anew = n_begin.into_values().max().unwrap_or_default();
    n_things >= VALUES_MIN && n_back * BACK_SHARE <= n_steps && n_anew * 2 > n_things
}
