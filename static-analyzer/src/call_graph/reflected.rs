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
use rustc_hash::FxHashMap;

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
    let given = |at: usize| {
        let method = &program.methods[at];
        let body = method.body.as_ref().filter(|_| method.descriptor.contains(")L"));
        let given = body.into_iter().flat_map(|body| {
            body.iter().filter_map(move |(_, inst)| match inst.op {
                Op::Return(Some(value)) => made_by_call(program, body, value),
                _ => None,
            })
        });
        given.map(|by| (MethodId::new(at), by)).collect::<Vec<_>>()
    };
    let given: Vec<(MethodId, Maker)> =
        (0..program.methods.len()).into_par_iter().flat_map_iter(given).collect();
    let (mut gives, mut todo) = (vec![false; program.methods.len()], Vec::new());
    let mut askers: FxHashMap<MethodId, Vec<MethodId>> = FxHashMap::default();
    for (method, by) in given {
        match by {
            Maker::Reflection => todo.push(method),
            Maker::Helper(helper) => askers.entry(helper).or_default().push(method),
        }
    }
    while let Some(method) = todo.pop() {
        if !std::mem::replace(&mut gives[method.index()], true) {
            todo.extend(askers.get(&method).into_iter().flatten());
        }
    }
    gives
}

/// Who makes the result of a call.
enum Maker {
    Reflection,
    /// A method of the program, if that gives back what reflection makes.
    Helper(MethodId),
}

fn made_by_call(program: &Program, body: &Body, value: ValueId) -> Option<Maker> {
    let Op::Invoke { method, .. } = body.op(body.uncast(value)) else { return None };
    if matches!(method.class.as_str(), "java/lang/Class" | "java/lang/reflect/Constructor") {
        return (method.name == "newInstance").then_some(Maker::Reflection);
    }
    program.resolve_declaration(*method).map(Maker::Helper)
}

/// Whether a value is an object that reflection has made.
fn is_reflected(program: &Program, gives: &[bool], body: &Body, value: ValueId) -> bool {
    match made_by_call(program, body, value) {
        Some(Maker::Reflection) => true,
        Some(Maker::Helper(helper)) => gives[helper.index()],
        None => false,
    }
}
