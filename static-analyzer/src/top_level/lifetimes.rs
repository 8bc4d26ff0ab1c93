//! What the lifetimes of objects say of top-level methods that were chosen by
//! their calls alone: a loop whose thread is made for one request, and handlers
//! whose object lives through one.

use schema::{IdentifierStrength, TopLevelKind};

use super::TopLevel;
use super::choose::Handed;
use super::drops::Drops;
use super::members::{Chosen, is_number};
use crate::call_graph::{CallGraph, RootKind};
use crate::identifiers::{Identifier, Lifetimes};
use crate::path::{Root, Step};
use crate::program::{MethodId, Program};

/// Loops that serve one request: the thread is made for it, and all that the
/// loop calls prints the identifiers of the thread's own object and loses none
/// (messages of one session that a connection's thread reads). No line of what
/// it calls begins anything.
pub(super) fn sessions(
    drops: &Drops<'_>,
    lifetimes: &Lifetimes<'_>,
    handed: &Handed,
    mut chosen: Chosen,
) -> Chosen {
    for (&root, targets) in handed {
        let is_dispatcher = chosen.get(&root).is_some_and(|(kind, _)| *kind == TopLevelKind::Dispatcher);
        let loses =
            targets.values().any(|drop| drop.lost > 0) || targets.values().all(|drop| drop.total == 0);
        if !is_dispatcher || loses || !names_itself(drops, lifetimes, root) {
            continue;
        }
        for target in targets.keys() {
            let elsewhere =
                handed.iter().any(|(other, targets)| *other != root && targets.contains_key(target));
            if !elsewhere {
                chosen.remove(target);
            }
        }
        let why = "its loop serves one request, whose identifiers its object holds".to_owned();
        chosen.insert(root, (TopLevelKind::Task, why));
    }
    chosen
}

/// Whether the object of a thread holds identifiers of one request.
fn names_itself(drops: &Drops<'_>, lifetimes: &Lifetimes<'_>, root: MethodId) -> bool {
    drops.summaries.methods[root.index()].places.iter().any(|(place, variables)| {
        let own = matches!(place.path.root, Root::Param(0)) && !place.path.steps.contains(&Step::Element);
        own && variables.iter().any(|&(point, variable)| {
            let variable = &drops.log_points[point as usize].variables[variable as usize];
            let strength = variable.value_class.and_then(|class| {
                lifetimes.strength(root, place, class, is_number(variable), variables.len())
            });
            strength == Some(IdentifierStrength::Request)
        })
    })
}

/// Handlers of events whose object is made by requests: what happens to one
/// object is one request. What only start-up calls handles no events.
pub(super) fn entities(
    program: &Program,
    graph: &CallGraph,
    lifetimes: &Lifetimes<'_>,
    chosen: &Chosen,
) -> Chosen {
    let is_entity = |method: MethodId| {
        let m = &program.methods[method.index()];
        let is_handler = graph.root(method).is_some_and(|r| r.kind == RootKind::EventHandler);
        is_handler && !m.is_static() && !lifetimes.is_long_lived(m.class)
    };
    let is_start_up = |method: MethodId| {
        graph.root(method).is_some_and(|r| r.kind == RootKind::EventHandler)
            && !lifetimes.is_at_request(method)
    };
    let kind = |method, kind| match kind {
        TopLevelKind::EventHandler if is_start_up(method) => TopLevelKind::Task,
        TopLevelKind::EventHandler if is_entity(method) => TopLevelKind::Entity,
        kind => kind,
    };
    chosen.iter().map(|(&method, (old, why))| (method, (kind(method, *old), why.clone()))).collect()
}

/// An entity whose object prints nothing that names it has no life that could be
/// followed: each of its events is a request. What it keeps many of names others, and
/// what changes while it lives is a state that it has met.
pub(super) fn without_identity(lifetimes: &Lifetimes<'_>, top: &mut TopLevel) {
    let names_itself = |identifier: &Identifier| {
        let path = &identifier.place.path;
        let is_own = path.root == Root::Param(0) && !path.steps.contains(&Step::Element);
        identifier.strength == IdentifierStrength::Request && is_own && !lifetimes.changes(path)
    };
    if top.kind == TopLevelKind::Entity && !top.identifiers.iter().any(names_itself) {
        top.kind = TopLevelKind::EventHandler;
    }
}
