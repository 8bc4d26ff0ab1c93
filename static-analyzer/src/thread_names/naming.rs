//! Names that are given to a thread itself: by its constructor or `setName`,
//! through helpers that are handed the thread and the name.
//!
//! A call that names a thread is like a logging call: where the thread, or all
//! that tells in the name, are the method's own parameters, the callers name it,
//! and what they give is followed, a few calls up.

use super::apis::{FACTORIES, STRING, THREAD};
use super::bodies::{ThreadBody, bodies_of, is_task};
use super::{Found, LETTERS_MIN, limits};
use crate::ir::{BootstrapArg, InvokeKind, Op, ValueId};
use crate::log_points::wrapper;
use crate::program::{ClassId, MethodId, Name};
use crate::strings::facts::Facts;
use crate::strings::term::Term;
use crate::strings::{Evaluator, FrameId, Place, PlaceId, types};

/// A call that names a thread.
pub(super) struct Naming {
    /// The call.
    pub(super) call: ValueId,
    /// The thread, or the task that a new thread is made for.
    pub(super) object: ValueId,
    /// The name.
    pub(super) name: ValueId,
}

/// Calls of a method that name threads.
pub(super) fn namings(facts: &Facts<'_>, method: MethodId) -> Vec<Naming> {
    let Some(body) = &facts.program.methods[method.index()].body else { return Vec::new() };
    let mut found = Vec::new();
    for (call, inst) in body.iter() {
        let Op::Invoke { kind, method: named, args } = &inst.op else { continue };
        let makes = *kind == InvokeKind::Special && named.name == "<init>" && named.class == THREAD;
        let sets = named.name == "setName"
            && named.descriptor == "(Ljava/lang/String;)V"
            && facts.is_subtype(named.class, Name::from(THREAD));
        if !makes && !sets {
            continue;
        }
        let parameters = types::parameters(&named.descriptor);
        let at = |wanted: &str| {
            let position = parameters.iter().position(|p| *p == wanted)?;
            args.get(position + 1).copied()
        };
        if let Some(name) = at(STRING) {
            let object = at("Ljava/lang/Runnable;").unwrap_or(args[0]);
            found.push(Naming { call, object, name });
        }
    }
    found
}

/// What is named, as far as one frame shows.
enum Named {
    /// Objects with these bodies.
    Bodies(Vec<ThreadBody>),
    /// The thread that runs the root method.
    Running,
    /// A parameter of the root method, or its `this`.
    Given,
    /// Nobody knows.
    Unknown,
}

/// The names that one call gives, here or at its callers.
pub(super) fn names_of(facts: &Facts<'_>, method: MethodId, naming: &Naming) -> Vec<Found> {
    let mut found = Vec::new();
    let mut chains: Vec<Vec<(MethodId, ValueId)>> = vec![Vec::new()];
    for depth in 0..=limits::WRAPPER_DEPTH_MAX {
        let mut longer: Vec<Vec<(MethodId, ValueId)>> = Vec::new();
        for chain in chains {
            let root = chain.first().map_or(method, |outer| outer.0);
            let mut e = Evaluator::new(facts, root);
            let Some(frame) = wrapper::enter_chain(&mut e, &chain, method) else { continue };
            let term = e.text(frame, naming.name, Name::from(STRING), naming.call);
            let place = e.place(frame, naming.object);
            let named = named(&mut e, place, 0);
            let is_given = matches!(named, Named::Given) && bodies_at(&mut e, place).is_empty();
            let is_bare = wrapper::letters(&e, term, 0) < LETTERS_MIN
                && (matches!(named, Named::Given) || wrapper::gives_parameter(&e, term, is_string));
            let callers = if (is_given || is_bare) && depth < limits::WRAPPER_DEPTH_MAX {
                wrapper::callers_of(facts, root)
            } else {
                &[]
            };
            if callers.is_empty() || callers.len() > limits::WRAPPER_CALLERS_MAX {
                let bodies = match named {
                    Named::Bodies(bodies) => bodies,
                    Named::Running => vec![root.into()],
                    Named::Given => bodies_at(&mut e, place),
                    Named::Unknown => Vec::new(),
                };
                found.extend(Found::new(&mut e, term, bodies));
            } else {
                longer.extend(callers.iter().map(|&c| [vec![c], chain.clone()].concat()));
            }
        }
        if longer.is_empty() || longer.len() > limits::WRAPPER_CALLERS_MAX * 4 {
            break;
        }
        chains = longer;
    }
    found
}

fn is_string(descriptor: &str) -> bool {
    descriptor == STRING
}

/// Who is named by naming what is at `place`: the object itself if it has a
/// body, else the object that it is a part of.
fn named(e: &mut Evaluator<'_>, place: PlaceId, depth: u32) -> Named {
    if depth > limits::WRAPPER_DEPTH_MAX {
        return Named::Unknown;
    }
    match e.place_node(place) {
        Place::Value(frame, value) => match e.op(frame, value) {
            Op::Param(_) if frame == FrameId::ROOT => Named::Given,
            Op::Invoke { method, .. } if method.name == "currentThread" && method.class == THREAD => {
                Named::Running
            }
            Op::New(class) => made(e, frame, value, *class, depth),
            Op::InvokeDynamic { bootstrap, .. } => {
                let target = bootstrap.args.iter().find_map(|arg| match arg {
                    BootstrapArg::Handle { target, .. } => Some(*target),
                    _ => None,
                });
                let body = target.and_then(|t| e.facts.resolve(t.class, t.name, t.descriptor));
                body.map_or(Named::Unknown, |body| Named::Bodies(vec![body.into()]))
            }
            _ => by_type(e, place),
        },
        Place::Field(object, _) | Place::Call(object, _) => match by_type(e, place) {
            Named::Unknown => named(e, object, depth + 1),
            known => known,
        },
        Place::Static(_) => by_type(e, place),
        Place::Element(_) => Named::Unknown,
    }
}

/// An object that is made in a frame: of an own class, or a thread for a task.
fn made(e: &mut Evaluator<'_>, frame: FrameId, value: ValueId, class: Name, depth: u32) -> Named {
    if let Some(own) = e.program().class(class) {
        let bodies = bodies_of(e.facts, own);
        return if bodies.is_empty() { Named::Unknown } else { Named::Bodies(bodies) };
    }
    let init = e.facts.info(e.method_of(frame)).init.get(&value).copied();
    let Some(Op::Invoke { method, args, .. }) = init.map(|init| e.op(frame, init)) else {
        return Named::Unknown;
    };
    let position = types::parameters(&method.descriptor).iter().position(|p| *p == "Ljava/lang/Runnable;");
    let Some(&task) = position.and_then(|p| args.get(p + 1)) else { return Named::Unknown };
    let place = e.place(frame, task);
    named(e, place, depth + 1)
}

/// The bodies of the classes that are at a place, by its type.
fn by_type(e: &mut Evaluator<'_>, place: PlaceId) -> Named {
    let bodies = bodies_at(e, place);
    if bodies.is_empty() { Named::Unknown } else { Named::Bodies(bodies) }
}

/// The bodies of the objects that can be at a place, by its type; none if it is
/// a library's.
pub(super) fn bodies_at(e: &mut Evaluator<'_>, place: PlaceId) -> Vec<ThreadBody> {
    let descriptor = e.place_descriptor(place);
    let Some(class) = types::class_of(&descriptor).map(Name::from) else { return Vec::new() };
    if !is_task(e.facts, class) {
        return Vec::new();
    }
    let mut classes: Vec<ClassId> = e.flowing(place, class);
    if classes.len() > limits::TASK_CLASSES_MAX {
        return Vec::new();
    }
    classes.sort_unstable();
    let mut bodies: Vec<ThreadBody> = classes.into_iter().flat_map(|c| bodies_of(e.facts, c)).collect();
    bodies.sort_unstable();
    bodies.dedup();
    bodies
}

/// Whether a class makes the threads of pools.
pub(super) fn is_factory(facts: &Facts<'_>, class: Name) -> bool {
    FACTORIES.iter().any(|f| facts.is_subtype(class, Name::from(f)))
}

/// The name that a thread gets that is made in `frame` at `value`.
pub(super) fn name_of_new(e: &mut Evaluator<'_>, frame: FrameId, depth: u32) -> Vec<Term> {
    let method = e.method_of(frame);
    let mut terms = Vec::new();
    for naming in namings(e.facts, method) {
        terms.push(e.text(frame, naming.name, Name::from(STRING), naming.call));
    }
    if !terms.is_empty() || depth > 2 {
        return terms;
    }
    // A thread class of the program names itself in its constructor.
    let body = e.body(frame);
    let inits: Vec<(ValueId, MethodId)> = body
        .iter()
        .filter_map(|(call, inst)| match &inst.op {
            Op::Invoke { kind: InvokeKind::Special, method, .. }
                if method.name == "<init>" && e.facts.is_subtype(method.class, Name::from(THREAD)) =>
            {
                Some((call, e.facts.resolve(method.class, method.name, method.descriptor)?))
            }
            _ => None,
        })
        .collect();
    for (call, target) in inits {
        let Op::Invoke { args, .. } = e.op(frame, call) else { continue };
        if let Some(inner) = e.enter(frame, call, target, args) {
            terms.extend(name_of_new(e, inner, depth + 1));
        }
    }
    terms
}
