//! What containers do for a program: they make its objects, keep what it registers, hand events
//! to those who listen, and run methods in other threads.

use schema::LinkKind;

use super::resolve::{Resolver, class_of, signature};
use super::{Call, CallKind};
use crate::ir::{Body, Op, ValueId};
use crate::program::{Annotation, Class, Method, MethodId, Name, Program, access};
use crate::services::Handler;
use crate::services::handler_apis::{ASYNCHRONOUS, COMPONENTS, INJECTED, LISTENERS, LISTENS, PUBLISHES};

/// Whether a container makes the objects of a class: it is annotated so, itself or through an
/// annotation of the program's own, or its constructor.
pub(super) fn is_component(program: &Program, class: &Class) -> bool {
    let is = |annotation: &Annotation| COMPONENTS.contains(&annotation.name());
    let is_meta = |annotation: &Annotation| {
        let own = program.class(annotation.class).map(|own| &program.classes[own.index()]);
        own.is_some_and(|own| own.annotations.iter().any(is))
    };
    let is_injected = |method: &Method| {
        method.name == "<init>" && method.annotations.iter().any(|a| INJECTED.contains(&a.name()))
    };
    class.annotations.iter().any(|annotation| is(annotation) || is_meta(annotation))
        || program.methods[class.methods.clone()].iter().any(is_injected)
}

/// What is registered for a path does not run where it is registered.
pub(super) fn given_to_libraries(program: &Program, handlers: &[Handler], calls: &mut [Vec<Call>]) {
    let registered = handlers.iter().filter_map(|handler| Some((handler.method, handler.at?.0)));
    given_away(program, registered, calls);
}

/// What is registered, and where, does not run there.
pub(super) fn given_away(
    program: &Program,
    registered: impl Iterator<Item = (MethodId, MethodId)>,
    calls: &mut [Vec<Call>],
) {
    for (given, method) in registered {
        let Some(body) = &program.methods[method.index()].body else { continue };
        let own = &program.methods[given.index()];
        for call in &mut calls[method.index()] {
            let is_called =
                matches!(body.op(call.site), Op::Invoke { method, .. } if method.name == own.name);
            if !is_called {
                call.targets.retain(|&target| target != given);
            }
        }
        calls[method.index()].retain(|call| !call.targets.is_empty());
    }
}

/// Whoever publishes an event waits until all have it who listen to its class.
pub(super) fn publish_events(resolver: &Resolver<'_>, calls: &mut [Vec<Call>]) {
    let listeners = listeners(resolver);
    if listeners.is_empty() {
        return;
    }
    for (i, list) in calls.iter_mut().enumerate() {
        let method = &resolver.program.methods[i];
        let Some(body) = &method.body else { continue };
        for (site, inst) in body.iter() {
            let Op::Invoke { method: called, args, .. } = &inst.op else { continue };
            let publishes =
                PUBLISHES.iter().any(|row| called.class.starts_with(row.0) && called.name == row.1);
            let Some(&event) = args.last().filter(|_| publishes) else { continue };
            let Some(class) = made_class(method, body, event) else { continue };
            let Some(own) = resolver.own_class(class) else { continue };
            for &(listener, at, of) in &listeners {
                if of != class && !resolver.is_subtype(own, of) {
                    continue;
                }
                let target = &resolver.program.methods[listener.index()];
                let n = signature(&target.descriptor).0.len() + usize::from(!target.is_static());
                let mut args = vec![None; n];
                args[at] = Some(event);
                list.push(Call { site, targets: vec![listener], kind: CallKind::Direct, args });
            }
        }
        list.sort_by(|a, b| (a.site, a.kind, &a.targets).cmp(&(b.site, b.kind, &b.targets)));
    }
}

/// Methods that listen to events: the position of the event among what they are given, its class.
fn listeners(resolver: &Resolver<'_>) -> Vec<(MethodId, usize, Name)> {
    let program = resolver.program;
    let listens = |annotation: &Annotation| LISTENS.contains(&annotation.name());
    let mut found = Vec::new();
    for (i, method) in program.methods.iter().enumerate() {
        if method.body.is_none() || method.access & (access::SYNTHETIC | access::BRIDGE) != 0 {
            continue;
        }
        let (params, _) = signature(&method.descriptor);
        let own = usize::from(!method.is_static());
        let skipped = params.len().saturating_sub(method.parameter_annotations.len());
        let marked = method.parameter_annotations.iter().position(|all| all.iter().any(listens));
        let is_first = params.len() == 1
            && (method.annotations.iter().any(listens) || implements_listener(resolver, method));
        let at = marked.map(|at| at + skipped).or(is_first.then_some(0));
        let class = at.and_then(|at| class_of(params.get(at)?));
        found.extend(at.zip(class).map(|(at, class)| (MethodId::new(i), own + at, Name::from(class))));
    }
    found
}

fn implements_listener(resolver: &Resolver<'_>, method: &Method) -> bool {
    let rows: Vec<_> = LISTENERS.iter().filter(|row| method.name == row.1).collect();
    let is_one = |name: Name| rows.iter().any(|row| name == row.0);
    !rows.is_empty() && resolver.super_names(method.class).into_iter().any(is_one)
}

/// The class that the code says an object has.
fn made_class(method: &Method, body: &Body, value: ValueId) -> Option<Name> {
    match body.op(value) {
        Op::New(class) | Op::Cast(class, _) => Some(*class),
        Op::GetField(field, _) => class_of(&field.descriptor).map(Name::from),
        Op::Invoke { method, .. } => class_of(signature(&method.descriptor).1).map(Name::from),
        Op::Param(i) => {
            let at = usize::from(*i).checked_sub(usize::from(!method.is_static()))?;
            class_of(signature(&method.descriptor).0.get(at)?).map(Name::from)
        }
        _ => None,
    }
}

/// Calls of methods that a library runs in other threads, but for those on one's own object,
/// which it does not see.
pub(super) fn start_asynchronous(program: &Program, calls: &mut [Vec<Call>]) {
    let is = |annotations: &[Annotation]| {
        annotations.iter().any(|annotation| ASYNCHRONOUS.contains(&annotation.name()))
    };
    let is_asynchronous: Vec<bool> = program
        .methods
        .iter()
        .map(|m| is(&m.annotations) || is(&program.classes[m.class.index()].annotations))
        .collect();
    if !is_asynchronous.contains(&true) {
        return;
    }
    for (i, list) in calls.iter_mut().enumerate() {
        let Some(body) = &program.methods[i].body else { continue };
        for call in list.iter_mut().filter(|call| call.kind == CallKind::Direct) {
            let on_itself =
                call.args.first().copied().flatten().is_some_and(|of| matches!(body.op(of), Op::Param(0)));
            let begins = |t: &MethodId| {
                is_asynchronous[t.index()] && !program.methods[t.index()].name.starts_with('<')
            };
            if !on_itself && call.targets.iter().all(begins) {
                call.kind = CallKind::Start(LinkKind::Thread);
            }
        }
    }
}
