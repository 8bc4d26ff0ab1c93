//! Identities: by what entities are told from their like. An entity has a name of its
//! own, and the events that are sent to it name it by the same.

use std::collections::BTreeSet;

use super::{Identifier, IdentifierStrength, Model, TopLevelKind};
use crate::ids::{TopLevelId, ValueClassId};

impl Model {
    /// Each handler of an entity's events with the value classes of what its entity's own
    /// name and that in an event have in common.
    #[must_use]
    pub fn identities(&self) -> BTreeSet<(TopLevelId, ValueClassId)> {
        let mut found = BTreeSet::new();
        for pair in self.communication_pairs.iter().filter(|pair| pair.from == pair.to) {
            let Some(top) = self.top_level_methods.get(pair.to.index()) else { continue };
            if top.kind != TopLevelKind::Entity {
                continue;
            }
            for &(a, b) in &pair.identifiers {
                let (Some(a), Some(b)) = (top.identifiers.get(a.index()), top.identifiers.get(b.index()))
                else {
                    continue;
                };
                let is_identity = (is_own(a) && is_of_event(b)) || (is_own(b) && is_of_event(a));
                if is_identity && a.value_class == b.value_class {
                    found.insert((pair.to, a.value_class));
                }
            }
        }
        found
    }

    /// Whether a value class is that of a field or of objects, and so of one sort of thing. What
    /// has no more than the name and type of a parameter can be of anything: not all that is
    /// called `name` is of one sort.
    #[must_use]
    pub fn is_declared(&self, class: ValueClassId) -> bool {
        self.value_classes.get(class.index()).is_some_and(|name| !name.contains(':'))
    }

    /// Value classes by which entities name themselves, whoever sends them events.
    #[must_use]
    pub fn own_names(&self) -> BTreeSet<ValueClassId> {
        let entities = self.top_level_methods.iter().filter(|top| top.kind == TopLevelKind::Entity);
        entities.flat_map(|top| &top.identifiers).filter(|id| is_own(id)).map(|id| id.value_class).collect()
    }
}

/// Whether an object that handles an event has one such name itself.
fn is_own(id: &Identifier) -> bool {
    tells(id) && id.path.starts_with("this.") && !id.path.contains("[*]")
}

/// Whether it is a field of an event.
fn is_of_event(id: &Identifier) -> bool {
    let is_field = id.path.matches('.').count() == 1 && !id.path.contains(['(', '[']);
    tells(id) && is_field && !id.path.starts_with("this.")
}

fn tells(id: &Identifier) -> bool {
    id.strength == IdentifierStrength::Request && !id.one_of_many
}
