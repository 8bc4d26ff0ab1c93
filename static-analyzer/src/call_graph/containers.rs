//! What containers do for a program: they make its objects, keep what it registers, and run
//! methods in other threads.

use schema::LinkKind;

use super::{Call, CallKind};
use crate::ir::Op;
use crate::program::{Annotation, Class, Method, MethodId, Program};
use crate::services::Handler;
use crate::services::handler_apis::{ASYNCHRONOUS, COMPONENTS, INJECTED};

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
    for handler in handlers {
        let Some((method, _)) = handler.at else { continue };
        let Some(body) = &program.methods[method.index()].body else { continue };
        let own = &program.methods[handler.method.index()];
        for call in &mut calls[method.index()] {
            let is_called =
                matches!(body.op(call.site), Op::Invoke { method, .. } if method.name == own.name);
            if !is_called {
                call.targets.retain(|&target| target != handler.method);
            }
        }
        calls[method.index()].retain(|call| !call.targets.is_empty());
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
