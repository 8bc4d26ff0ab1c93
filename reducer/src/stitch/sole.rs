//! Sole entities: events that do not name the entity that they are sent to, on a
//! node that has only one of its kind (the job of a process that was started for
//! it, the only table of a server).
//!
//! A handler's line says what happened, and not always to whom. If all events of
//! the same handler on the same node that do say it are of one request, there is
//! nobody else whom the others can have happened to.

use std::collections::BTreeMap;

use schema::{IdentifierStrength, Pass, TopLevelId};

use super::facts::{Fact, Facts};
use super::pairs::Pairs;
use crate::merge::{Sets, SpanLink};

/// Events that name their entity from which to learn that there is no other.
const NAMED_MIN: usize = 2;

/// Joins to `sets` the events that name nothing and have no request yet, and
/// returns the links.
pub(super) fn join(pairs: &Pairs<'_>, facts: &Facts<'_>, sets: &mut Sets) -> Vec<SpanLink> {
    let mut events: BTreeMap<(u32, TopLevelId), Vec<u32>> = BTreeMap::new();
    for (index, fact) in facts.iter() {
        if let Some(&top) = fact.tops.first().filter(|top| pairs.is_entity(**top)) {
            events.entry((fact.node, top)).or_default().push(index);
        }
    }
    let mut out = Vec::new();
    for ((_, top), spans) in events {
        let (named, unnamed): (Vec<u32>, Vec<u32>) =
            spans.into_iter().partition(|&span| names_something(pairs, facts.get(span), top));
        let Some(&first) = named.first().filter(|_| named.len() >= NAMED_MIN) else { continue };
        if named.iter().any(|&span| sets.root(span) != sets.root(first)) {
            continue;
        }
        for span in unnamed {
            let before = named.partition_point(|&named| named < span).saturating_sub(1);
            if sets.join(named[before], span) {
                out.push(SpanLink { from: named[before], to: span, pair: None, by: Pass::Sole });
            }
        }
    }
    out
}

/// Whether a span shows a value that tells requests of `top` apart.
fn names_something(pairs: &Pairs<'_>, fact: &Fact<'_>, top: TopLevelId) -> bool {
    fact.values().iter().any(|value| {
        value.is_telling() && pairs.strength(top, value.value_class) == Some(IdentifierStrength::Request)
    })
}
