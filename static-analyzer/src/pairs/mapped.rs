//! Mapped objects: those that a library writes as they are and makes again on the other side
//! (JSON, object streams). Who writes says what with the object, who reads with a class, or
//! with what the result is cast to.
//!
//! Programs wrap such calls, so the type is looked for where a wrapper is given the object or
//! the class: there is the end, and its value is what the wrapper is given or gives back.

use rustc_hash::FxHashSet;

use super::apis::{self, Mapped};
use super::facts::{Channel, Fact};
use super::{Context, apis::Role};
use crate::ir::{Body, Const, Op, ValueId};
use crate::program::{MethodId, MethodRef, Name};
use crate::strings::types;

/// Wrappers of wrappers.
const WRAPPERS_MAX: usize = 4;

/// The ends of mapped objects at or above a call, each with the method that it is in.
pub(super) fn facts(
    context: Context<'_>,
    method: MethodId,
    site: ValueId,
    called: &MethodRef,
    args: &[ValueId],
) -> Vec<(MethodId, Fact)> {
    let mut found = Vec::new();
    match apis::mapped_call(called) {
        Some(Mapped::Writes(part)) => {
            if let Some(&object) = args.get(part) {
                written(context, (method, site, object), &mut found);
            }
        }
        Some(Mapped::Reads(class)) => {
            let class = class.and_then(|part| args.get(part)).copied();
            read(context, (method, site, class), &mut found);
        }
        None => {}
    }
    found
}

/// Where an object that is written gets its class.
fn written(
    context: Context<'_>,
    (method, site, object): (MethodId, ValueId, ValueId),
    found: &mut Vec<(MethodId, Fact)>,
) {
    let mut level = vec![(method, site, object)];
    for _ in 0..WRAPPERS_MAX {
        let mut above = Vec::new();
        for (method, site, object) in level {
            let Some(body) = &context.program.methods[method.index()].body else { continue };
            let object = body.uncast(object);
            if let Some(class) = class_of(context, method, body, object) {
                found.push((method, Fact::new(Channel::Message(class), Role::Send, site, Some(object))));
            } else if let Op::Param(i) = body.op(object) {
                above.extend(given(context, method, *i));
            }
        }
        level = above;
    }
}

/// Where an object that is read gets its class.
fn read(
    context: Context<'_>,
    (method, site, class): (MethodId, ValueId, Option<ValueId>),
    found: &mut Vec<(MethodId, Fact)>,
) {
    let mut level = vec![(method, site, class)];
    let mut seen = FxHashSet::default();
    for _ in 0..WRAPPERS_MAX {
        let mut above = Vec::new();
        for (method, site, class) in level {
            let Some(body) = &context.program.methods[method.index()].body else { continue };
            if !seen.insert((method, site)) {
                continue;
            }
            let known = class.and_then(|class| constant(body, class)).filter(|class| is_own(context, *class));
            let casts = casts(context, body, site);
            if let Some(class) = known {
                found.push((method, Fact::new(Channel::Message(class), Role::Receive, site, Some(site))));
            } else if class.is_none_or(|class| !matches!(body.op(class), Op::Param(_))) && !casts.is_empty() {
                found.extend(casts.into_iter().map(|(class, value)| {
                    (method, Fact::new(Channel::Message(class), Role::Receive, value, Some(value)))
                }));
            } else if gives_back(body, site) {
                let param = class.and_then(|class| match body.op(class) {
                    Op::Param(i) => Some(*i),
                    _ => None,
                });
                let callers = context.graph.callers[method.index()].iter();
                above.extend(callers.filter_map(|&(caller, call)| {
                    let call = &context.graph.calls(caller)[call];
                    let class = param.and_then(|i| call.args.get(usize::from(i)).copied().flatten());
                    call.kind.is_local().then_some((caller, call.site, class))
                }));
            }
        }
        level = above;
    }
}

/// The class of the program that a value is declared or made as, if that is one that objects
/// are made of.
fn class_of(context: Context<'_>, method: MethodId, body: &Body, value: ValueId) -> Option<Name> {
    let of = |descriptor: &str| Some(Name::from(descriptor.strip_prefix('L')?.strip_suffix(';')?));
    let class = match body.op(value) {
        Op::New(class) => Some(*class),
        Op::GetField(field, _) => of(&field.descriptor),
        Op::Invoke { method, .. } => of(method.descriptor.split_once(')')?.1),
        Op::Param(i) => {
            let m = &context.program.methods[method.index()];
            let at = usize::from(*i).checked_sub(usize::from(!m.is_static()))?;
            of(types::parameters(&m.descriptor).get(at)?)
        }
        _ => None,
    };
    class.filter(|&class| is_own(context, class))
}

/// Whether objects are made of a class of the program.
fn is_own(context: Context<'_>, class: Name) -> bool {
    let class = context.program.class(class);
    class.is_some_and(|class| context.graph.instantiated[class.index()] || !is_abstract(context, class))
}

fn is_abstract(context: Context<'_>, class: crate::program::ClassId) -> bool {
    use crate::program::access::{ABSTRACT, INTERFACE};
    context.program.classes[class.index()].access & (ABSTRACT | INTERFACE) != 0
}

fn constant(body: &Body, value: ValueId) -> Option<Name> {
    match body.op(body.uncast(value)) {
        Op::Const(Const::Class(class)) => Some(*class),
        _ => None,
    }
}

/// The classes of the program that a value is cast to.
fn casts(context: Context<'_>, body: &Body, value: ValueId) -> Vec<(Name, ValueId)> {
    let casts = body.iter().filter_map(|(cast, inst)| match inst.op {
        Op::Cast(class, inner) if body.uncast(inner) == value => Some((class, cast)),
        _ => None,
    });
    casts.filter(|&(class, _)| is_own(context, class)).collect()
}

fn gives_back(body: &Body, value: ValueId) -> bool {
    body.iter().any(|(_, inst)| matches!(inst.op, Op::Return(Some(of)) if body.uncast(of) == value))
}

/// What callers give as a parameter.
fn given(context: Context<'_>, method: MethodId, param: u16) -> Vec<(MethodId, ValueId, ValueId)> {
    let callers = context.graph.callers[method.index()].iter();
    let given = callers.filter_map(|&(caller, call)| {
        let call = &context.graph.calls(caller)[call];
        let value = call.args.get(usize::from(param)).copied().flatten()?;
        call.kind.is_local().then_some((caller, call.site, value))
    });
    given.collect()
}
