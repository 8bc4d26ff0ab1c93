//! Pairs of the handlers of one entity: methods that take turns on one object
//! with an identifier of its own (a state machine) work on one request, the
//! object's life.

use schema::{IdentifierStrength, LinkKind, TopLevelKind};
use std::collections::BTreeMap;

use super::{Context, Pair, Pairs};
use crate::path::{Root, Step};
use crate::program::{ClassId, Name};

/// Handlers of one entity above which only neighbours are paired: the reducer
/// merges along any connected set of pairs.
const HANDLERS_MAX: usize = 40;

/// Adds the pairs of handlers that share their entity's own identifier.
pub(super) fn add(context: Context<'_>, pairs: &mut Pairs) {
    for handlers in entities(context).values() {
        for (at, a) in handlers.iter().enumerate() {
            for (other, b) in handlers.iter().enumerate() {
                let neighbours = at == 0 || other == 0;
                if handlers.len() <= HANDLERS_MAX || neighbours {
                    add_pair(pairs, a, b);
                }
            }
        }
    }
}

/// A handler with those of its identifiers that are the entity's own.
struct Handler {
    unit: usize,
    own: Vec<(u32, Name)>,
}

fn add_pair(pairs: &mut Pairs, a: &Handler, b: &Handler) {
    let mut identifiers = Vec::new();
    for &(i, class) in &a.own {
        identifiers.extend(b.own.iter().filter(|(_, c)| *c == class).map(|&(j, _)| (i, j)));
    }
    if identifiers.is_empty() {
        return;
    }
    pairs.entry((a.unit, b.unit, LinkKind::Queue)).or_insert_with(|| Pair {
        from: a.unit,
        to: b.unit,
        kind: LinkKind::Queue,
        identifiers,
        many: true,
        before: Vec::new(),
        reason: "both handle events of one entity".to_owned(),
    });
}

/// Event handlers grouped by the class of their entity: the receiver, or the
/// first parameter of a transition object.
fn entities(context: Context<'_>) -> BTreeMap<ClassId, Vec<Handler>> {
    let mut entities: BTreeMap<ClassId, Vec<Handler>> = BTreeMap::new();
    for (unit, top) in context.top_levels.methods.iter().enumerate() {
        if top.kind != TopLevelKind::Entity {
            continue;
        }
        let mut by_class: BTreeMap<ClassId, Vec<(u32, Name)>> = BTreeMap::new();
        for (i, identifier) in (0u32..).zip(&top.identifiers) {
            let path = &identifier.place.path;
            let (Root::Param(_), Some(Step::Field(field))) = (path.root, path.steps.first()) else {
                continue;
            };
            if identifier.strength == IdentifierStrength::Request
                && let Some(class) = context.program.class(field.class)
            {
                by_class.entry(class).or_default().push((i, identifier.value_class));
            }
        }
        for (class, own) in by_class {
            entities.entry(class).or_default().push(Handler { unit, own });
        }
    }
    entities
}
