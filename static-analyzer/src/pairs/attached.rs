//! Pairs of everything that carries one attached object (see
//! [`crate::top_level::attached`]): events of a connection, requests that came
//! over it, commands of its own threads. There is no hand-off between them that
//! would have to be followed: the connection's identifier tells.

use std::collections::BTreeSet;

use schema::{IdentifierStrength, LinkKind, TopLevelKind};

use super::{Context, Pair, Pairs};
use crate::call_graph::RootKind;
use crate::identifiers::Identifier;
use crate::path::{Root, Step};
use crate::program::{ClassId, Name};
use crate::top_level::{TopLevel, attached};

/// Carriers above which an object is everybody's and tells nothing.
const CARRIERS_MAX: usize = 40;

/// Adds the pairs of everything that works on an attached object: what carries
/// the connection of a request carries the request.
pub(super) fn add(context: Context<'_>, pairs: &mut Pairs) {
    for class in attached::classes(context.program) {
        let family = family(context, class);
        let carries = |top: &TopLevel| {
            // What the rounds of a thread's own loop find among many, nobody gave them.
            let by_itself = is_own_round(context, top);
            let of_family = |identifier: &Identifier| {
                let is_local = matches!(identifier.place.path.root, Root::Local(_));
                let is_found = is_local && identifier.place.frame != top.method;
                !(by_itself && (is_found || identifier.is_one_of_many()))
                    && (top.kind == TopLevelKind::DispatchTarget
                        && identifier.strength != IdentifierStrength::Node
                        || identifier.strength == IdentifierStrength::Request && !identifier.is_one_of_many())
                    && identifier.place.path.steps.iter().any(|step| is_in(step, &family))
            };
            top.kind != TopLevelKind::Unreached && top.identifiers.iter().any(of_family)
        };
        let tops = context.top_levels.methods.iter().enumerate();
        let units: Vec<usize> = tops.filter(|(_, top)| carries(top)).map(|(unit, _)| unit).collect();
        if units.len() > CARRIERS_MAX {
            continue;
        }
        let name = context.program.classes[class.index()].name;
        let simple = name.rsplit('/').next().unwrap_or(name.as_str());
        for &from in &units {
            for &to in &units {
                pairs.entry((from, to, LinkKind::Entity)).or_insert_with(|| Pair {
                    from,
                    to,
                    kind: LinkKind::Entity,
                    identifiers: Vec::new(),
                    many: true,
                    before: Vec::new(),
                    after: Vec::new(),
                    beside: Vec::new(),
                    elsewhere: Vec::new(),
                    waits: false,
                    reason: format!("both carry {simple}, which is attached to a connection"),
                });
            }
        }
    }
}

/// Whether it is a round of a loop that its thread has inherited.
fn is_own_round(context: Context<'_>, top: &TopLevel) -> bool {
    let root = context.graph.root(top.method);
    let is_task = root.is_some_and(|root| matches!(root.kind, RootKind::Task | RootKind::Thread));
    top.kind == TopLevelKind::DispatchTarget && is_task
}

/// A class and what it extends and implements within the program.
fn family(context: Context<'_>, class: ClassId) -> BTreeSet<Name> {
    let mut names = BTreeSet::new();
    let mut todo = vec![class];
    while let Some(class) = todo.pop() {
        let class = &context.program.classes[class.index()];
        if names.insert(class.name) {
            let supers = class.super_name.iter().chain(&class.interfaces);
            todo.extend(supers.filter_map(|name| context.program.class(*name)));
        }
    }
    names
}

fn is_in(step: &Step, family: &BTreeSet<Name>) -> bool {
    match step {
        Step::Field(field) => family.contains(&field.class),
        Step::Call(method) => family.contains(&method.class),
        Step::Element => false,
    }
}
