//! What a thread of a name runs: bodies of threads and tasks, and the top-level
//! methods that are reached from them without leaving the thread.
//!
//! Under-approximates: what a body runs through an interface of the library
//! other than a task is not seen, and neither is what tasks do that a body is given.

use rayon::prelude::*;
use rustc_hash::FxHashSet;

use crate::call_graph::{Call, CallGraph, CallKind};
use crate::ir::{InvokeKind, Op};
use crate::program::{ClassId, MethodId, Name, Program, access};
use crate::strings::facts::Facts;

/// Bodies that the library runs in a thread: (method, start of the descriptor).
const BODIES: &[(&str, &str)] = &[("run", "()V"), ("call", "()")];

/// What a thread runs: a method, and the class that its object is exactly of, if
/// that is known: what a body calls on its own object is what that class defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadBody {
    /// The method.
    pub method: MethodId,
    /// The class of its object.
    pub object: Option<ClassId>,
}

impl From<MethodId> for ThreadBody {
    fn from(method: MethodId) -> Self {
        Self { method, object: None }
    }
}

/// The bodies of objects of exactly `class`.
pub(super) fn bodies_of(facts: &Facts<'_>, class: ClassId) -> Vec<ThreadBody> {
    let program = facts.program;
    let mut found: Vec<ThreadBody> = Vec::new();
    for &name in facts.supertypes(facts.class_name(class)).iter() {
        let Some(above) = program.class(name) else { continue };
        for index in program.classes[above.index()].methods.clone() {
            let method = &program.methods[index];
            let is_body =
                BODIES.iter().any(|(n, d)| method.name == *n && method.descriptor.as_str().starts_with(d));
            let is_overridden =
                || found.iter().any(|o| program.methods[o.method.index()].name == method.name);
            if is_body && method.body.is_some() && !method.is_static() && !is_overridden() {
                found.push(ThreadBody { method: MethodId::new(index), object: Some(class) });
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

/// What the threads of a name run.
pub(super) struct Reached {
    /// Per method: whether it is called from the bodies in their own thread.
    pub(super) methods: Vec<bool>,
    /// Some of it runs tasks that it is given, whatever they are.
    pub(super) runs_tasks: bool,
}

/// What is called from `bodies` in their own thread. Who runs tasks that nobody knows
/// is no evidence of those that somebody knows: they are left out, with what they run.
pub(super) fn reached(
    facts: &Facts<'_>,
    graph: &CallGraph,
    (task_runners, is_task): (&[bool], &dyn Fn(MethodId) -> bool),
    bodies: &[ThreadBody],
) -> Reached {
    let all = called(facts, graph, (task_runners, &|_| false), bodies);
    if all.runs_tasks { called(facts, graph, (task_runners, is_task), bodies) } else { all }
}

/// What is called from `bodies`, but for other objects' methods that are `left_out`.
fn called(
    facts: &Facts<'_>,
    graph: &CallGraph,
    (task_runners, left_out): (&[bool], &dyn Fn(MethodId) -> bool),
    bodies: &[ThreadBody],
) -> Reached {
    let mut reached = Reached { methods: vec![false; task_runners.len()], runs_tasks: false };
    let mut seen: FxHashSet<ThreadBody> = bodies.iter().copied().collect();
    let mut todo: Vec<ThreadBody> = bodies.to_vec();
    while let Some(at) = todo.pop() {
        reached.runs_tasks |= task_runners[at.method.index()];
        reached.methods[at.method.index()] = true;
        let calls = graph.calls(at.method).iter();
        for call in calls.filter(|c| c.kind.is_local() || c.kind == CallKind::Table) {
            let own = at.object.zip(own_call(facts.program, at.method, call));
            for &target in &call.targets {
                let next = match own {
                    Some((object, InvokeKind::Virtual | InvokeKind::Interface))
                        if !runs(facts, object, target) =>
                    {
                        continue;
                    }
                    own => ThreadBody { method: target, object: own.map(|(object, _)| object) },
                };
                if next.object.is_none() && left_out(target) {
                    continue;
                }
                // What anybody runs was gone through for objects of every class.
                if !seen.contains(&ThreadBody::from(target)) && seen.insert(next) {
                    todo.push(next);
                }
            }
        }
    }
    reached
}

/// How a method calls something on its own object, if it does.
fn own_call(program: &Program, method: MethodId, call: &Call) -> Option<InvokeKind> {
    let method = &program.methods[method.index()];
    let body = method.body.as_ref().filter(|_| !method.is_static())?;
    let Op::Invoke { kind, args, .. } = body.op(call.site) else { return None };
    let on_itself = *kind != InvokeKind::Static && matches!(body.op(*args.first()?), Op::Param(0));
    on_itself.then_some(*kind)
}

/// Whether objects of exactly `class` run `method` where it is called on them.
fn runs(facts: &Facts<'_>, class: ClassId, method: MethodId) -> bool {
    let m = &facts.program.methods[method.index()];
    m.access & access::PRIVATE != 0
        || facts.resolve(facts.class_name(class), m.name, m.descriptor).is_none_or(|found| found == method)
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
