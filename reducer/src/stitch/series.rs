//! Series: numbers that one counter gives out, each to one piece of work.
//!
//! Small numbers are equal by chance, so that a number in itself says little. But where
//! the numbers of one kind are first seen one after the other, on the node that gives
//! them out, and each is named for the last time when few more have been given, the
//! number is the name of something that came and went: a job, a stage, a task. However
//! long it is silent in between, all that names it is one request, as far as the model
//! connects it (see [`super::lifetimes`]).
//!
//! Work that has parts with numbers of their own is found by [`super::serials`].
//!
//! What is counted on each node for itself is no such name: the same number comes at
//! another time on another node, and is first seen now here and now there.

use std::collections::BTreeMap;

use schema::serials::are_given_out;
use schema::{IdentifierStrength, ValueClassId};

use super::facts::Facts;
use super::held::Held;
use super::pairs::Pairs;

/// One in so many of the numbers may live on.
const STRAY_SHARE: usize = 16;

/// A number is first named on another node than the one before at most once in so
/// many times: clocks differ, and who gives out numbers moves on when its node dies.
const MOVED_SHARE: usize = 8;

/// From the first to the last time that a number is named, at most one in so many of all
/// are given out.
const ALIVE_SHARE: usize = 8;

/// What the log shows of one number.
#[derive(Default)]
struct Named {
    /// The spans that hold it and no other of its kind, in order of start.
    spans: Vec<u32>,
    /// When and on which node it was first named, in µs since 1970, by whoever.
    birth: (i64, u32),
}

/// The numbers of one kind.
type Numbers = BTreeMap<u64, Named>;

/// The kinds of which the log shows that one counter gives the numbers out, those of fewest
/// numbers first, and for each number that goes by the spans that hold it and no other,
/// in order of start.
pub(super) fn find(pairs: &Pairs<'_>, facts: &Facts<'_>) -> Vec<(ValueClassId, Vec<Vec<u32>>)> {
    let found = named(pairs, facts).into_iter().filter_map(|(kind, numbers)| {
        let is_series = !facts.is_counted(kind) && is_given_out(&numbers);
        is_series.then(|| passing(facts, numbers)).flatten().map(|numbers| (kind, numbers))
    });
    let mut found: Vec<(ValueClassId, Vec<Vec<u32>>)> = found.collect();
    // What names fewer things holds more.
    found.sort_by_key(|(_, numbers)| numbers.len());
    found
}

/// The numbers by which top-level methods know what they work on.
fn named(pairs: &Pairs<'_>, facts: &Facts<'_>) -> BTreeMap<ValueClassId, Numbers> {
    let mut named: BTreeMap<ValueClassId, Numbers> = BTreeMap::new();
    for (index, fact) in facts.iter() {
        let Some(&top) = fact.tops.first().filter(|top| !pairs.is_dispatcher(**top)) else { continue };
        let only = fact.only_values();
        // Who gives out many works on none of them.
        let tells =
            |value: &Held<'_>| pairs.strength(top, value.value_class) == Some(IdentifierStrength::Request);
        for value in fact.values() {
            let Ok(number) = value.text.parse() else { continue };
            let kind = value.kind;
            let birth = (fact.start_us, fact.node);
            let number = named.entry(kind).or_default().entry(number);
            let number = number.or_insert_with(|| Named { birth, ..Named::default() });
            if tells(value) && only.contains_key(&kind) && number.spans.last() != Some(&index) {
                number.spans.push(index);
            }
        }
    }
    named
}

/// Whether one counter gives the numbers out, on one node.
fn is_given_out(numbers: &Numbers) -> bool {
    let births: Vec<(u64, i64)> = numbers.iter().map(|(&n, number)| (n, number.birth.0)).collect();
    let nodes: Vec<u32> = numbers.values().map(|number| number.birth.1).collect();
    let n_moved = nodes.windows(2).filter(|next| next[0] != next[1]).count();
    n_moved * MOVED_SHARE <= numbers.len() && are_given_out(&births)
}

/// The spans of the numbers that go by, if most do.
fn passing(facts: &Facts<'_>, numbers: Numbers) -> Option<Vec<Vec<u32>>> {
    let mut births: Vec<i64> = numbers.values().map(|number| number.birth.0).collect();
    births.sort_unstable();
    let n = numbers.len();
    let n_born = |until_us: i64| births.partition_point(|&at| at <= until_us);
    let goes_by = |number: &Named| {
        let last_us = number.spans.iter().map(|&span| facts.get(span).end_us).max();
        let last_us = last_us.unwrap_or_default().max(number.birth.0);
        (n_born(last_us) - n_born(number.birth.0)) * ALIVE_SHARE <= n
    };
    let passing: Vec<Vec<u32>> = numbers.into_values().filter(goes_by).map(|number| number.spans).collect();
    ((n - passing.len()) * STRAY_SHARE <= n).then_some(passing)
}
