//! Numbers that name: what was given a number is called by it alone where space is
//! short, and by a longer name that holds the number elsewhere ("task 7" here, "task 1.0
//! in stage 3.0 (TID 7)" there). Two programs that exchange the number alone share no
//! text, and the code need not tell that the one was made of the other: the name was
//! written into a message, and read from it.
//!
//! That a number names is learnt from the log: no two names of a kind have the same
//! number at one place, and a variable prints just these numbers, nearly all of them and
//! hardly any other, never beside a name with another one. Then what shows a number is of
//! the request that shows the name, as long as one follows the other without a silence, as
//! it does for nearly every number: counters of other things that happen to come as far
//! count at another time. Who shows several is of all of them if nobody has shown them
//! before: that has given them out. Others only list them.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};
use schema::{LogPointId, Model, Pass, ValueClassId};

use super::entities::VALUES_MIN;
use super::facts::{Fact, Facts};
use super::held::Held;
use super::joined;
use super::lifetimes::{Returns, lives, returns};
use crate::merge::{Sets, SpanLink};

/// At most one number in so many is shown by a name or by the variable only.
const EXCEPTIONS_SHARE: usize = 16;

/// Numbers of a name that are looked at, first ones first.
const PLACES_MAX: usize = 8;

/// A place in the names of a kind.
type Place = (ValueClassId, usize);

/// A variable of a log point.
type Column = (LogPointId, u32);

/// The spans that show each number.
type Shown = BTreeMap<u64, Vec<u32>>;

/// Links between what shows one number, in addition to `links`.
pub(super) fn join(model: &Model, facts: &Facts<'_>, links: &[SpanLink]) -> Vec<SpanLink> {
    let names = names(facts);
    if names.is_empty() {
        return Vec::new();
    }
    let (mut sets, _) = joined(facts, links);
    let mut out = Vec::new();
    for (place, mut numbered) in printed(model, facts, &names, &mut sets) {
        let named = named(facts, place, &numbered);
        let of_several = of_several(&merged(&numbered, &named));
        numbered.values_mut().for_each(|spans| spans.retain(|span| !of_several.contains(span)));
        let shown = merged(&numbered, &named);
        if returns(facts, shown.values().map(Vec::as_slice)) != Returns::Seldom {
            continue;
        }
        for (number, spans) in &shown {
            let Some(named) = named.get(number) else { continue };
            let lives = lives(facts, spans).into_iter();
            out.extend(lives.flat_map(|life| join_life(&mut sets, life, named)));
        }
    }
    out
}

/// Links from what holds the name, if that is of one request, to the other spans of a life.
fn join_life(sets: &mut Sets, life: &[u32], named: &[u32]) -> Vec<SpanLink> {
    let (names, others): (Vec<u32>, Vec<u32>) = life.iter().partition(|span| named.contains(span));
    let Some(&first) = names.first() else { return Vec::new() };
    let root = sets.root(first);
    if names.iter().any(|&span| sets.root(span) != root) {
        return Vec::new();
    }
    let link =
        |span: u32| SpanLink { from: first.min(span), to: first.max(span), pair: None, by: Pass::Numbered };
    others.into_iter().filter(|&span| sets.join(first, span)).map(link).collect()
}

/// The numbers at the places of names of which each stands in one name only.
fn names(facts: &Facts<'_>) -> BTreeMap<Place, FxHashSet<u64>> {
    // None: two names have one number there.
    let mut places: FxHashMap<Place, Option<FxHashMap<u64, &str>>> = FxHashMap::default();
    for (_, fact) in facts.iter() {
        for (kind, text) in composed(fact) {
            for (at, number) in numbers_in(text).enumerate() {
                let known = places.entry((kind, at)).or_insert_with(|| Some(FxHashMap::default()));
                if let Some(names) = known
                    && *names.entry(number).or_insert(text) != text
                {
                    *known = None;
                }
            }
        }
    }
    let names = places.into_iter().filter_map(|(place, names)| Some((place, names?)));
    let names = names.filter(|(_, names)| names.len() >= VALUES_MIN);
    names.map(|(place, names)| (place, names.into_keys().collect())).collect()
}

/// What a span names by texts of several numbers. A text of several lines is no name: with one
/// of a task, what went wrong with it is printed.
fn composed<'s>(fact: &Fact<'s>) -> impl Iterator<Item = (ValueClassId, &'s str)> {
    let names = fact.values().iter().filter(|value| value.is_made());
    let is_line = |value: &&Held<'_>| !value.text.contains('\n');
    let names = names.filter(is_line).filter(|value| numbers_in(value.text).nth(1).is_some());
    names.map(|value| (value.kind, value.text))
}

/// The numbers in a text.
fn numbers_in(text: &str) -> impl Iterator<Item = u64> {
    let runs = text.as_bytes().split(|b| !b.is_ascii_digit()).filter(|run| !run.is_empty());
    runs.take(PLACES_MAX).filter_map(number)
}

/// What digits say; none: more than 64 bits do.
fn number(digits: &[u8]) -> Option<u64> {
    let mut number: u64 = 0;
    for digit in digits {
        number = number.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
    }
    Some(number)
}

/// For each place those spans that print its numbers through variables that print nearly
/// all of them, hardly any other, and hardly any where something of the same request has a
/// name with another one, while what has the name has its own from there: a request can have
/// several names, and lack what stands for one of them.
fn printed(
    model: &Model,
    facts: &Facts<'_>,
    names: &BTreeMap<Place, FxHashSet<u64>>,
    sets: &mut Sets,
) -> BTreeMap<Place, Shown> {
    let named = numbers_of_requests(facts, names, sets);
    let mut holders: FxHashMap<(Place, u64), Vec<u32>> = FxHashMap::default();
    for (&(root, place), numbers) in &named {
        numbers.iter().for_each(|&number| holders.entry((place, number)).or_default().push(root));
    }
    let mut roots_of: FxHashMap<Column, FxHashSet<u32>> = FxHashMap::default();
    for (index, column, _) in numbers_printed(model, facts) {
        roots_of.entry(column).or_default().insert(sets.root(index));
    }
    let mut columns: FxHashMap<Column, Vec<(Place, Shown, usize)>> = FxHashMap::default();
    for (index, column, number) in numbers_printed(model, facts) {
        let root = sets.root(index);
        let has_its_own = |place: Place| {
            let holders = holders.get(&(place, number)).map_or(&[][..], Vec::as_slice);
            holders.iter().any(|holder| roots_of[&column].contains(holder))
        };
        let is_other = |place: Place| {
            let named = named.get(&(root, place));
            !names[&place].contains(&number)
                || (named.is_some_and(|named| !named.contains(&number)) && has_its_own(place))
        };
        let new = || names.keys().map(|&place| (place, Shown::new(), 0)).collect();
        columns.entry(column).or_insert_with(new).retain_mut(|(place, shown, n_others)| {
            if is_other(*place) {
                *n_others += 1;
                return *n_others * EXCEPTIONS_SHARE <= names[place].len();
            }
            shown.entry(number).or_default().push(index);
            true
        });
    }
    let mut found: BTreeMap<Place, Shown> = BTreeMap::new();
    for (place, shown, _) in columns.into_values().flatten() {
        let n = names[&place].len();
        if (n - shown.len()) * EXCEPTIONS_SHARE <= n {
            let all = found.entry(place).or_default();
            shown.into_iter().for_each(|(number, spans)| all.entry(number).or_default().extend(spans));
        }
    }
    found
}

/// The numbers that variables print which name by themselves, with their spans.
fn numbers_printed<'a>(
    model: &'a Model,
    facts: &'a Facts<'_>,
) -> impl Iterator<Item = (u32, Column, u64)> + 'a {
    facts.iter().flat_map(move |(index, fact)| {
        fact.events.iter().filter_map(|event| Some((event.log_point?, event))).flat_map(
            move |(point, event)| {
                event.values.iter().filter_map(move |(variable, text)| {
                    let column = (point, variable);
                    Some((index, column, text.parse().ok()?)).filter(|_| !is_part(model, column))
                })
            },
        )
    })
}

/// Whether a variable is a part of what only several name together: it is no name by
/// itself, and who shows it has more to be known by.
fn is_part(model: &Model, (point, variable): Column) -> bool {
    model.log_points[point.index()].variables.iter().any(|object| object.parts.contains(&variable))
}

/// The numbers at each place of the names that the spans of a request show.
fn numbers_of_requests(
    facts: &Facts<'_>,
    names: &BTreeMap<Place, FxHashSet<u64>>,
    sets: &mut Sets,
) -> FxHashMap<(u32, Place), Vec<u64>> {
    let mut named: FxHashMap<(u32, Place), Vec<u64>> = FxHashMap::default();
    for (index, fact) in facts.iter() {
        for (kind, text) in composed(fact) {
            for (at, number) in
                numbers_in(text).enumerate().filter(|(at, _)| names.contains_key(&(kind, *at)))
            {
                let known = named.entry((sets.root(index), (kind, at))).or_default();
                if !known.contains(&number) {
                    known.push(number);
                }
            }
        }
    }
    named
}

/// The spans that show a name with one of the numbers of `numbered` at `place`.
fn named(facts: &Facts<'_>, (kind, at): Place, numbered: &Shown) -> Shown {
    let mut named = Shown::new();
    for (index, fact) in facts.iter() {
        for (_, text) in composed(fact).filter(|name| name.0 == kind) {
            if let Some(number) = numbers_in(text).nth(at).filter(|number| numbered.contains_key(number)) {
                named.entry(number).or_default().push(index);
            }
        }
    }
    named
}

/// Both together, each number's spans in order.
fn merged(numbered: &Shown, named: &Shown) -> Shown {
    let mut shown = numbered.clone();
    for (&number, spans) in named {
        shown.entry(number).or_default().extend(spans);
    }
    for spans in shown.values_mut() {
        spans.sort_unstable();
        spans.dedup();
    }
    shown
}

/// Spans that show several numbers and are not the first of each to do so: who has given
/// them out is of all that came of it, who lists them is not.
fn of_several(shown: &Shown) -> BTreeSet<u32> {
    let mut numbers: BTreeMap<u32, Vec<bool>> = BTreeMap::new();
    for spans in shown.values() {
        for (position, &span) in spans.iter().enumerate() {
            numbers.entry(span).or_default().push(position == 0);
        }
    }
    let several = numbers.into_iter().filter(|(_, is_first)| is_first.len() > 1 && is_first.contains(&false));
    several.map(|(span, _)| span).collect()
}
