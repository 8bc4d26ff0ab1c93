//! Entities: things that are made for a request and that events are sent to (a
//! container, an attempt). All that is done to one of them is one request, over
//! threads and nodes and however long it is silent: its name tells.
//!
//! Things contain things (an application its attempts, an attempt its
//! containers), and only the innermost ones are taken: a node's name is that of
//! an entity too, but what is done on one node is many requests. What contains
//! what is learnt from the log.

use std::collections::{BTreeMap, BTreeSet};

use schema::kinds::{TELLING_MIN, is_made};
use schema::{IdentifierStrength, TopLevelId, Value, ValueClassId};

use super::facts::Facts;
use super::pairs::Pairs;

/// Values of a kind from which to learn.
pub(super) const VALUES_MIN: usize = 16;

/// A kind contains another one if more than one in this many of its values is
/// held together with several of the other's.
const CONTAINS_SHARE: usize = 8;

/// Spans by the one value that each holds of a kind, in order of start.
pub(super) type Holders<'s> = BTreeMap<ValueClassId, BTreeMap<&'s str, Vec<u32>>>;

/// For each innermost entity the spans that work on it, in order of start.
pub(super) fn spans(pairs: &Pairs<'_>, facts: &Facts<'_>) -> Vec<Vec<u32>> {
    // Whoever names an entity works on it, known identifier or not; except who
    // looks through all of them.
    let holders = holders(pairs, facts, &|top, value| {
        let strength = pairs.strength(top, value.value_class);
        strength != Some(IdentifierStrength::Node) && !pairs.looks_through(top, value.value_class)
    });
    let innermost = innermost(pairs, facts, &holders);
    let of_entities = holders.into_iter().filter(|(kind, _)| innermost.contains(kind));
    let values = of_entities.flat_map(|(_, values)| values);
    values.filter(|(text, _)| is_made(text)).map(|(_, spans)| spans).collect()
}

/// For each entity the spans of its own events, in order of start: they are its life,
/// however long it is silent, and whatever it is a part of.
pub(super) fn events(pairs: &Pairs<'_>, facts: &Facts<'_>) -> Vec<Vec<u32>> {
    let mut found: BTreeMap<(TopLevelId, ValueClassId), BTreeMap<&str, Vec<u32>>> = BTreeMap::new();
    let identities = pairs.identities();
    for (index, fact) in facts.iter() {
        // Without threads too much hangs on time alone to make one of so much.
        let is_event = |top: &&TopLevelId| fact.thread.is_some() && pairs.is_entity(**top);
        let Some(&top) = fact.tops.first().filter(is_event) else { continue };
        let own = identities.range((top, ValueClassId::new(0))..).take_while(|(of, _)| *of == top);
        for &(_, class) in own {
            let mut names = fact.values_of(class).iter().filter(|value| is_made(&value.text));
            if let (Some(name), None) = (names.next(), names.next()) {
                found.entry((top, class)).or_default().entry(&name.text).or_default().push(index);
            }
        }
    }
    found.into_values().flat_map(BTreeMap::into_values).collect()
}

/// The spans that hold one value of a kind, of those values that `counts`.
pub(super) fn holders<'s>(
    pairs: &Pairs<'_>,
    facts: &Facts<'s>,
    counts: &dyn Fn(TopLevelId, &Value) -> bool,
) -> Holders<'s> {
    let mut out = Holders::new();
    for (index, fact) in facts.iter() {
        let Some(&top) = fact.tops.first().filter(|top| !pairs.is_dispatcher(**top)) else { continue };
        let mut own: BTreeMap<ValueClassId, Option<&str>> = BTreeMap::new();
        for value in fact.values().iter().filter(|value| value.text.len() >= TELLING_MIN) {
            if counts(top, value) {
                own.entry(facts.kind(value.value_class))
                    .and_modify(|known| *known = known.filter(|&known| known == &*value.text))
                    .or_insert(Some(&value.text));
            }
        }
        for (kind, text) in own {
            if let Some(text) = text {
                out.entry(kind).or_default().entry(text).or_default().push(index);
            }
        }
    }
    // A number that is counted within something names nothing by itself.
    out.retain(|&kind, _| !facts.is_counted(kind));
    out
}

/// Whether values are given to things made while the program runs: there are
/// many, and most are numbered.
fn are_made(values: &BTreeMap<&str, Vec<u32>>) -> bool {
    let n_numbered = values.keys().filter(|text| is_made(text)).count();
    values.len() >= VALUES_MIN && n_numbered * 2 > values.len()
}

/// The kinds by which entities name themselves that contain no others of them.
fn innermost(pairs: &Pairs<'_>, facts: &Facts<'_>, holders: &Holders<'_>) -> BTreeSet<ValueClassId> {
    let kinds: BTreeSet<ValueClassId> =
        pairs.names_of_entities().into_iter().map(|class| facts.kind(class)).collect();
    let kinds: Vec<ValueClassId> =
        kinds.into_iter().filter(|kind| holders.get(kind).is_some_and(are_made)).collect();
    // The value of each kind that a span holds.
    let mut held: BTreeMap<(ValueClassId, u32), &str> = BTreeMap::new();
    for &kind in &kinds {
        for (text, spans) in &holders[&kind] {
            held.extend(spans.iter().map(|&span| ((kind, span), *text)));
        }
    }
    let contains = |outer: ValueClassId, inner: ValueClassId| {
        let mut n_many = 0;
        let mut n_known = 0;
        for spans in holders[&outer].values() {
            let texts: BTreeSet<&str> =
                spans.iter().filter_map(|&span| held.get(&(inner, span)).copied()).collect();
            n_known += usize::from(!texts.is_empty());
            n_many += usize::from(texts.len() > 1);
        }
        n_many * CONTAINS_SHARE > n_known
    };
    let is_innermost =
        |kind: &ValueClassId| !kinds.iter().any(|&other| other != *kind && contains(*kind, other));
    let found: BTreeSet<_> = kinds.iter().copied().filter(is_innermost).collect();
    found
}
