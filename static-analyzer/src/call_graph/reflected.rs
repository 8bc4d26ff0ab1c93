//! Reflected: objects that reflection makes of classes which only a configuration names.
//!
//! Which class `newInstance` makes an object of is not in the code, but whoever uses the
//! object casts it to what he needs: its class is below that type. Of the classes that the
//! program names or makes itself it is known who makes them. Those that it never makes
//! are there to be configured: whoever asks reflection for an object of such a type can
//! make one of each.
//!
//! Over-approximates: a configuration names one of them. Types of libraries are left out,
//! for too much is below them.

use rayon::prelude::*;

use crate::ir::{Body, Const, Op, ValueId};
use crate::program::{ClassId, MethodId, Program, access};

/// Methods with the classes that reflection makes an object of for whoever runs them,
/// sorted.
pub(super) fn find(program: &Program) -> Vec<(MethodId, ClassId)> {
    let gives = gives(program);
    let casts = |method: MethodId| {
        let body = program.methods[method.index()].body.as_ref();
        let casts = body.into_iter().flat_map(|body| body.iter().map(move |(_, inst)| (body, &inst.op)));
        let casts = casts.filter_map(|(body, op)| match *op {
            Op::Cast(class, value) if is_reflected(program, &gives, body, value) => program.class(class),
            _ => None,
        });
        casts.map(|class| (method, class)).collect::<Vec<_>>()
    };
    let casts: Vec<_> =
        (0..program.methods.len()).into_par_iter().map(MethodId::new).flat_map_iter(casts).collect();
    if casts.is_empty() {
        return Vec::new();
    }
    let unseen = unseen(program);
    let mut found: Vec<(MethodId, ClassId)> = Vec::new();
    for (method, cast) in casts {
        let below = program.all_subtypes(program.classes[cast.index()].name);
        let below = below.into_iter().filter(|class| unseen[class.index()]);
        found.extend(below.map(|class| (method, class)));
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Classes that a body makes objects of by name.
pub(super) fn made_by<'a>(program: &'a Program, body: &'a Body) -> impl Iterator<Item = ClassId> + 'a {
    body.iter().filter_map(|(_, inst)| match &inst.op {
        Op::New(class) | Op::Const(Const::Class(class)) => program.class(*class),
        // The name of a class is known to the program, or it is none.
        Op::Const(Const::Text(text)) if text.contains('.') => {
            program.class(ustr::existing_ustr(&text.replace('.', "/"))?)
        }
        _ => None,
    })
}

/// Per class: whether there can be objects of it, but nothing is seen that makes one.
fn unseen(program: &Program) -> Vec<bool> {
    let no_object = access::ABSTRACT | access::INTERFACE;
    let mut unseen: Vec<bool> = program.classes.iter().map(|c| c.access & no_object == 0).collect();
    let bodies = program.methods.par_iter().filter_map(|method| method.body.as_ref());
    let seen: Vec<ClassId> = bodies.flat_map_iter(|body| made_by(program, body)).collect();
    seen.into_iter().for_each(|class| unseen[class.index()] = false);
    unseen
}

/// Per method: whether it gives back what reflection has made, for its caller to cast.
fn gives(program: &Program) -> Vec<bool> {
    let any_object = |method: &MethodId| program.methods[method.index()].descriptor.contains(")L");
    let methods = (0..program.methods.len()).map(MethodId::new).filter(any_object);
    let methods: Vec<MethodId> = methods.collect();
    let mut gives = vec![false; program.methods.len()];
    loop {
        let does = |method: &MethodId| {
            let body = program.methods[method.index()].body.as_ref().filter(|_| !gives[method.index()]);
            body.is_some_and(|body| {
                body.iter().any(|(_, inst)| match inst.op {
                    Op::Return(Some(value)) => is_reflected(program, &gives, body, value),
                    _ => false,
                })
            })
        };
        let more: Vec<MethodId> = methods.par_iter().copied().filter(does).collect();
        if more.is_empty() {
            return gives;
        }
        more.into_iter().for_each(|method| gives[method.index()] = true);
    }
}

/// Whether a value is an object that reflection has made.
fn is_reflected(program: &Program, gives: &[bool], body: &Body, value: ValueId) -> bool {
    let Op::Invoke { method, .. } = body.op(body.uncast(value)) else { return false };
    if matches!(method.class.as_str(), "java/lang/Class" | "java/lang/reflect/Constructor") {
        return method.name == "newInstance";
    }
    program.resolve_declaration(*method).is_some_and(|helper| gives[helper.index()])
}
