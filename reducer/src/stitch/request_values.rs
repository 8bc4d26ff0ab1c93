//! Request values: what tells the request of a span from others, and when two are not one.

use rustc_hash::{FxHashMap, FxHashSet};
use schema::{IdentifierStrength, ValueClassId};

use super::facts::Facts;
use super::pairs::Pairs;

/// Request identifier values of a component.
pub(super) type Values<'s> = FxHashMap<ValueClassId, FxHashSet<&'s str>>;

/// What tells the request of a span from others.
pub(super) fn request_values<'s>(facts: &Facts<'s>, pairs: &Pairs<'_>, span: u32) -> Values<'s> {
    let fact = facts.get(span);
    let mut values = Values::default();
    for value in fact.values() {
        let top = fact.tops.first();
        let strength = top.and_then(|&top| pairs.strength(top, value.value_class));
        if strength == Some(IdentifierStrength::Request) {
            values.entry(value.kind).or_default().insert(value.text);
        }
    }
    values
}

/// Whether two components have a value class in common, but no value of it.
pub(super) fn contradict(ours: &Values<'_>, theirs: &Values<'_>) -> bool {
    let (few, many) = if ours.len() < theirs.len() { (ours, theirs) } else { (theirs, ours) };
    few.iter().any(|(class, texts)| many.get(class).is_some_and(|others| others.is_disjoint(texts)))
}

/// The values of both.
///
/// PERF: the smaller goes into the larger, so that joining n spans to one
/// component costs n log n.
pub(super) fn unite<'s>(ours: Values<'s>, theirs: Values<'s>) -> Values<'s> {
    let (few, mut many) = if ours.len() < theirs.len() { (ours, theirs) } else { (theirs, ours) };
    for (class, texts) in few {
        let known = many.entry(class).or_default();
        let (less, more) = if known.len() < texts.len() {
            (std::mem::take(known), texts)
        } else {
            (texts, std::mem::take(known))
        };
        *known = more;
        known.extend(less);
    }
    many
}
