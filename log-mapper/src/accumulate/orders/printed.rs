//! Printed: what the variables of log points print, and where those stand in the orders of methods.

use std::collections::BTreeSet;

use schema::{Identifier, IdentifierStrength, Model, TopLevelId, ValueClassId};

use super::{Places, to_u32};

/// The identifiers that one variable prints in some DAG.
#[derive(Clone, Debug, Default)]
pub(super) struct Printed {
    pub(super) is_identifier: bool,
    /// Its own value class, if that tells requests apart somewhere.
    pub(super) key: Option<ValueClassId>,
    /// Value classes of those that tell requests apart, sorted.
    pub(super) request_classes: Vec<ValueClassId>,
    /// Its own value class, if a method that prints it meets many values of that.
    pub(super) met: Option<ValueClassId>,
    /// Objects of which it is a part.
    pub(super) wholes: Vec<u32>,
}

impl Printed {
    fn add(&mut self, identifier: &Identifier) {
        self.is_identifier = true;
        if identifier.strength == IdentifierStrength::Request
            && let Err(at) = self.request_classes.binary_search(&identifier.value_class)
        {
            self.request_classes.insert(at, identifier.value_class);
        }
    }
}

/// Adds where log points stand in the order of a top-level method, and what they print there.
pub(super) fn add_places(
    model: &Model,
    id: TopLevelId,
    (places, printed): (&mut [Vec<Places>], &mut [Vec<Printed>]),
) {
    let top = &model.top_level_methods[id.index()];
    let meets = |id: &&Identifier| id.one_of_many && id.strength == IdentifierStrength::Weak;
    let met: BTreeSet<ValueClassId> = top.identifiers.iter().filter(meets).map(|id| id.value_class).collect();
    for (n, node) in top.dag.nodes.iter().enumerate() {
        for (p, point) in node.points.iter().enumerate() {
            let index = point.log_point.index();
            let of_point = &mut places[index];
            if of_point.last().is_none_or(|last| last.top != id) {
                of_point.push(Places { top: id, at: Vec::new(), bindings: Vec::new() });
            }
            let last = of_point.last_mut().expect("pushed above");
            last.at.push((to_u32(n), to_u32(p)));
            let variables = &model.log_points[index].variables;
            for ((printed, binding), variable) in
                printed[index].iter_mut().zip(&point.bindings).zip(variables)
            {
                if let Some(class) = variable.value_class.filter(|class| met.contains(class))
                    && binding.is_none()
                {
                    printed.met = Some(class);
                }
                let identifier = binding.and_then(|binding| top.identifiers.get(binding.index()));
                identifier.into_iter().for_each(|identifier| printed.add(identifier));
            }
        }
    }
}

/// Adds of which objects each variable of a log point is a part.
pub(super) fn add_wholes(model: &Model, printed: &mut [Vec<Printed>]) {
    for (point, printed) in model.log_points.iter().zip(printed) {
        for (index, object) in (0u32..).zip(&point.variables) {
            for (variable, printed) in (0u32..).zip(&mut *printed) {
                if object.parts.contains(&variable) {
                    printed.wholes.push(index);
                }
            }
        }
    }
}

/// Notes which variables print values that tell requests apart somewhere.
pub(super) fn add_keys(model: &Model, printed: &mut [Vec<Printed>]) {
    let is_key = |class: ValueClassId| {
        let ids = model.top_level_methods.iter().flat_map(|top| &top.identifiers);
        ids.into_iter().any(|id| id.value_class == class && id.strength == IdentifierStrength::Request)
    };
    let keys: Vec<bool> = (0..model.value_classes.len()).map(|c| is_key(ValueClassId::new(c))).collect();
    for (printed, point) in printed.iter_mut().zip(&model.log_points) {
        for (printed, variable) in printed.iter_mut().zip(&point.variables) {
            printed.key = variable.value_class.filter(|class| keys.get(class.index()) == Some(&true));
            if let Some(class) = printed.key
                && let Err(at) = printed.request_classes.binary_search(&class)
            {
                printed.request_classes.insert(at, class);
            }
        }
    }
}
