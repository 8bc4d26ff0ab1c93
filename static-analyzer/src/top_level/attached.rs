//! Attached objects: what a program attaches to a connection and finds again
//! with each of its events. Such an object lives as long as the connection, so
//! that the rounds which find it are events of one thing, and whatever carries
//! the object works on that thing.

use std::collections::BTreeSet;

use crate::call_graph::apis;
use crate::ir::{Body, InvokeKind, Op, ValueId};
use crate::program::{ClassId, MethodId, Program};

/// Whether the call at `site` is made on an attached object.
pub(crate) fn is_receiver(program: &Program, caller: MethodId, site: ValueId) -> bool {
    let Some(body) = &program.methods[caller.index()].body else { return false };
    match body.op(site) {
        Op::Invoke { kind, args, .. } if *kind != InvokeKind::Static => {
            args.first().is_some_and(|&receiver| is_attached(body, receiver))
        }
        _ => false,
    }
}

/// The classes of attached objects, by the casts of what was found.
pub(crate) fn classes(program: &Program) -> BTreeSet<ClassId> {
    let bodies = program.methods.iter().filter_map(|method| method.body.as_ref());
    let casts = bodies.flat_map(|body| {
        body.iter().filter_map(|(_, inst)| match inst.op {
            Op::Cast(class, object) if is_attached(body, object) => Some(class),
            _ => None,
        })
    });
    casts.filter_map(|class| program.class(class)).collect()
}

/// Whether `method` attaches an object to a connection.
pub(crate) fn attaches(program: &Program, method: MethodId) -> bool {
    let body = program.methods[method.index()].body.as_ref();
    body.is_some_and(|body| {
        body.iter().any(|(_, inst)| match &inst.op {
            Op::Invoke { method, .. } => {
                apis::ATTACHES.contains(&(method.class.as_str(), method.name.as_str()))
            }
            _ => false,
        })
    })
}

fn is_attached(body: &Body, value: ValueId) -> bool {
    match body.op(value) {
        Op::Cast(_, object) => is_attached(body, *object),
        Op::Invoke { method, .. } => apis::ATTACHED.contains(&(method.class.as_str(), method.name.as_str())),
        _ => false,
    }
}
