//! Places: arrays and fields through which threads hand things to each other without a
//! queue of the library: the slots of a ring, which are made once and written again and
//! again, and a field that one thread fills and another waits for.

use super::Context;
use super::apis::{self, Role};
use super::facts::{Channel, Fact};
use super::homes::{Home, Homes};
use crate::ir::{Body, Op, ValueId};
use crate::path::Step;
use crate::program::{FieldRef, MethodId};

/// What `method` writes into such places and takes from them.
pub(super) fn facts(context: Context<'_>, homes: &Homes<'_>, method: MethodId, body: &Body) -> Vec<Fact> {
    let mut facts = Vec::new();
    let (signals, waits) = (calls(body, apis::signals), calls(body, apis::waits_for_signal));
    for (site, inst) in body.iter() {
        match &inst.op {
            Op::ArrayStore(array, _, value) => {
                slot(homes, method, (body, *array), Role::Send, (site, *value), &mut facts);
            }
            Op::ArrayLoad(array, _) => {
                slot(homes, method, (body, *array), Role::Receive, (site, site), &mut facts);
            }
            Op::Invoke { args, .. } if args.len() > 1 && fills(context, method, site) => {
                if let Some(field) = slot_of(context, method, args[0]) {
                    let channel = Channel::Collection(Home::Field(field));
                    facts.push(Fact::new(channel, Role::Send, site, Some(args[0])));
                }
            }
            Op::PutField(field, Some(_), value)
                if signals && holds_object(context, *field) && !matches!(body.op(*value), Op::Const(_)) =>
            {
                let channel = Channel::Collection(Home::Field(*field));
                facts.push(Fact::new(channel, Role::Send, site, Some(*value)));
            }
            Op::GetField(field, Some(_)) if waits && holds_object(context, *field) => {
                let channel = Channel::Collection(Home::Field(*field));
                facts.push(Fact::new(channel, Role::Receive, site, Some(site)));
            }
            _ => {}
        }
    }
    facts
}

/// An element of an array of objects that a field holds is written or read.
fn slot(
    homes: &Homes<'_>,
    method: MethodId,
    (body, array): (&Body, ValueId),
    role: Role,
    (site, value): (ValueId, ValueId),
    facts: &mut Vec<Fact>,
) {
    let is_slots = |field: &FieldRef| field.descriptor.starts_with("[L") && !apis::is_jdk_copy(field.class);
    if !matches!(body.op(body.uncast(array)), Op::GetField(field, Some(_)) if is_slots(field)) {
        return;
    }
    for found in homes.of(method, array) {
        if matches!(found.home, Home::Field(field) if field.descriptor.starts_with("[L")) {
            let (object, givers) = (found.object, found.givers);
            let channel = Channel::Collection(found.home);
            facts.push(Fact { object, givers, ..Fact::new(channel, role, site, Some(value)) });
        }
    }
}

/// The field whose array a value is a slot of.
fn slot_of(context: Context<'_>, method: MethodId, value: ValueId) -> Option<FieldRef> {
    let path = context.bindings.path(method, value);
    match *path.steps {
        [.., Step::Field(field), Step::Element] if field.descriptor.starts_with("[L") => Some(field),
        _ => None,
    }
}

/// Whether what the call at `site` calls keeps what it is given in its object.
fn fills(context: Context<'_>, method: MethodId, site: ValueId) -> bool {
    let calls = context.graph.calls(method).iter();
    let mut targets = calls.filter(|call| call.site == site && call.kind.is_local()).flat_map(|c| &c.targets);
    targets.any(|target| {
        let method = &context.program.methods[target.index()];
        let Some(body) = method.body.as_ref().filter(|_| method.name != "<init>") else { return false };
        body.iter().any(|(_, inst)| match inst.op {
            Op::PutField(_, Some(object), value) => {
                matches!((body.op(object), body.op(value)), (Op::Param(0), Op::Param(_)))
            }
            _ => false,
        })
    })
}

/// Whether a field holds objects of the program.
fn holds_object(context: Context<'_>, field: FieldRef) -> bool {
    let class = field.descriptor.strip_prefix('L').and_then(|class| class.strip_suffix(';'));
    class.is_some_and(|class| context.program.class(class.into()).is_some())
}

fn calls(body: &Body, is_it: impl Fn(&str, &str) -> bool) -> bool {
    body.iter().any(|(_, inst)| match &inst.op {
        Op::Invoke { method, .. } => is_it(&method.class, &method.name),
        _ => false,
    })
}
