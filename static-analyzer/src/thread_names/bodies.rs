//! What a thread of a name runs: bodies of threads and tasks, and the top-level
//! methods that are reached from them without leaving the thread.
//!
//! Under-approximates: what a body runs through an interface of the library
//! other than a task is not seen. A body that runs whatever tasks it is given
//! can run anything.

use rayon::prelude::*;

use crate::call_graph::{CallGraph, CallKind};
use crate::ir::{InvokeKind, Op};
use crate::program::{ClassId, MethodId, Name, Program};
use crate::strings::facts::Facts;

/// Bodies that the library runs in a thread: (method, start of the descriptor).
const BODIES: &[(&str, &str)] = &[("run", "()V"), ("call", "()")];

/// The bodies of objects of exactly `class`.
pub(super) fn bodies_of(facts: &Facts<'_>, class: ClassId) -> Vec<MethodId> {
    let program = facts.program;
    let mut found = Vec::new();
    for &name in facts.supertypes(facts.class_name(class)).iter() {
        let Some(above) = program.class(name) else { continue };
        for index in program.classes[above.index()].methods.clone() {
            let method = &program.methods[index];
            let is_body =
                BODIES.iter().any(|(n, d)| method.name == *n && method.descriptor.as_str().starts_with(d));
            let is_overridden =
                || found.iter().any(|&o: &MethodId| program.methods[o.index()].name == method.name);
            if is_body && method.body.is_some() && !method.is_static() && !is_overridden() {
                found.push(MethodId::new(index));
            }
        }
    }
    found
}

/// Whether objects of `class` have a body of their own, and are handed to
/// threads: below one of the library's interfaces for that.
pub(super) fn is_task(facts: &Facts<'_>, class: Name) -> bool {
    const TASKS: [&str; 3] = ["java/lang/Runnable", "java/util/concurrent/Callable", "java/lang/Thread"];
    facts.program.class(class).is_some() && TASKS.iter().any(|t| facts.is_subtype(class, Name::from(t)))
}

/// Per method: whether it runs tasks that it was given, whatever they are.
pub(super) fn task_runners(program: &Program, graph: &CallGraph) -> Vec<bool> {
    let methods = (0..program.methods.len()).into_par_iter();
    methods.map(|i| runs_tasks(program, graph, MethodId::new(i))).collect()
}

/// Per method: whether it is called from `bodies` in their own thread; none: any
/// task can run there.
pub(super) fn reached(graph: &CallGraph, task_runners: &[bool], bodies: &[MethodId]) -> Option<Vec<bool>> {
    let mut reached = vec![false; task_runners.len()];
    let mut todo: Vec<MethodId> = bodies.to_vec();
    bodies.iter().for_each(|body| reached[body.index()] = true);
    while let Some(method) = todo.pop() {
        if task_runners[method.index()] {
            return None;
        }
        let calls = graph.calls(method).iter();
        for call in calls.filter(|c| c.kind.is_local() || c.kind == CallKind::Table) {
            for &target in &call.targets {
                if !std::mem::replace(&mut reached[target.index()], true) {
                    todo.push(target);
                }
            }
        }
    }
    Some(reached)
}

/// Whether a method runs tasks that it was given, whatever they are.
fn runs_tasks(program: &Program, graph: &CallGraph, method: MethodId) -> bool {
    let Some(body) = &program.methods[method.index()].body else { return false };
    body.iter().any(|(site, inst)| {
        let Op::Invoke { kind: InvokeKind::Interface, method: named, .. } = &inst.op else { return false };
        matches!(
            (named.class.as_str(), named.name.as_str()),
            ("java/lang/Runnable", "run") | ("java/util/concurrent/Callable", "call")
        ) && !graph.calls(method).iter().any(|call| call.site == site && !call.targets.is_empty())
    })
}
