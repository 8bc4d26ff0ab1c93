//! Pairs of the handlers of one entity: methods that take turns on one object
//! with an identity of its own (a state machine) work on one request, the
//! object's life. Objects of two classes whose identity is of one class (a
//! container as the master and as the node sees it) live the same life.

use std::collections::BTreeMap;

use schema::{IdentifierStrength, LinkKind, TopLevelKind};

use super::{Context, Pair, Pairs};
use crate::path::Root;
use crate::program::{ClassId, Name};

/// Handlers of one identity above which only neighbours are paired: the reducer
/// merges along any connected set of pairs.
const HANDLERS_MAX: usize = 40;

/// Adds the pairs of handlers that share their entity's own identity.
pub(super) fn add(context: Context<'_>, pairs: &mut Pairs) {
    for (identity, handlers) in entities(context) {
        for (at, a) in handlers.iter().enumerate() {
            for (other, b) in handlers.iter().enumerate() {
                let neighbours = at == 0 || other == 0;
                if handlers.len() <= HANDLERS_MAX || neighbours {
                    add_pair(pairs, identity, a, b);
                }
            }
        }
    }
}

/// A handler that works on an entity with an identity.
struct Handler {
    unit: usize,
    class: ClassId,
    /// The identifiers that hold the identity.
    own: Vec<u32>,
}

fn add_pair(pairs: &mut Pairs, identity: Name, a: &Handler, b: &Handler) {
    // Only a whole identity means the same wherever it is.
    let is_object = !identity.contains('.') && !identity.contains(':');
    let kind = if a.class == b.class { LinkKind::Queue } else { LinkKind::Socket };
    if kind == LinkKind::Socket && !is_object {
        return;
    }
    let shared = a.own.iter().flat_map(|&i| b.own.iter().map(move |&j| (i, j)));
    pairs.entry((a.unit, b.unit, kind)).or_insert_with(|| Pair {
        from: a.unit,
        to: b.unit,
        kind,
        identifiers: shared.collect(),
        many: true,
        before: Vec::new(),
        after: Vec::new(),
        beside: Vec::new(),
        elsewhere: Vec::new(),
        waits: false,
        outside_rounds: false,
        in_order: false,
        remote_calls: Vec::new(),
        reason: format!("both handle events of one {identity}"),
    });
}

/// Handlers of entities by the class of the identity: what a field of the
/// receiver or of the event names.
fn entities(context: Context<'_>) -> BTreeMap<Name, Vec<Handler>> {
    let mut entities: BTreeMap<Name, Vec<Handler>> = BTreeMap::new();
    for (unit, top) in context.top_levels.methods.iter().enumerate() {
        if top.kind != TopLevelKind::Entity {
            continue;
        }
        let class = context.program.methods[top.method.index()].class;
        let mut own: BTreeMap<Name, Vec<u32>> = BTreeMap::new();
        for (i, identifier) in (0u32..).zip(&top.identifiers) {
            let path = &identifier.place.path;
            if identifier.strength == IdentifierStrength::Request
                && matches!(path.root, Root::Param(_))
                && path.steps.len() == 1
                && !identifier.place.looping
            {
                own.entry(identifier.value_class).or_default().push(i);
            }
        }
        for (identity, own) in own {
            entities.entry(identity).or_default().push(Handler { unit, class, own });
        }
    }
    entities
}
