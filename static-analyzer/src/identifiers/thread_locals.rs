//! Thread-locals: what a thread was given to know by one method, and prints in another one that
//! it calls later, is the same value: `CURRENT.set(id)` and `CURRENT.get()`.
//!
//! Under-approximates: it is set by the method that calls, at whatever depth, who prints it, or
//! by what that method calls to set it; two values that one method sets are none.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::Bindings;
use crate::ir::{Body, Op};
use crate::path::{AccessPath, Root, Step};
use crate::program::{FieldRef, MethodId};

/// Classes of values that each thread has its own of.
const CLASSES: &[&str] = &[
    "Ljava/lang/ThreadLocal;",
    "Ljava/lang/InheritableThreadLocal;",
    "Lio/netty/util/concurrent/FastThreadLocal;",
];

/// What methods set, in their own frames.
pub(super) type ThreadLocals = FxHashMap<(MethodId, FieldRef), Option<AccessPath>>;

/// Of all methods of the program.
pub(super) fn find(bindings: &Bindings<'_>) -> ThreadLocals {
    let methods = 0..bindings.program.methods.len();
    let set: Vec<_> =
        methods.into_par_iter().map(MethodId::new).flat_map_iter(|m| set_by(bindings, m)).collect();
    let own = merged(set);
    if own.is_empty() {
        return own;
    }
    let called = |(&(callee, field), path): (&(MethodId, FieldRef), &Option<AccessPath>)| {
        let callers = bindings.graph.callers[callee.index()].iter();
        let given = callers.filter_map(|&(caller, call)| {
            let call = &bindings.graph.calls(caller)[call];
            let AccessPath { root: Root::Param(i), steps } = path.as_ref()? else { return None };
            let value = call.args.get(usize::from(*i)).copied().flatten().filter(|_| call.kind.is_local())?;
            let mut path = bindings.path(caller, value);
            path.steps.extend_from_slice(steps);
            Some(((caller, field), path))
        });
        given.collect::<Vec<_>>()
    };
    let of_callees: Vec<_> = own.iter().flat_map(called).collect();
    let mut all = merged(of_callees);
    all.extend(own);
    all
}

fn merged(set: Vec<((MethodId, FieldRef), AccessPath)>) -> ThreadLocals {
    let mut found = ThreadLocals::default();
    for (key, path) in set {
        let known = found.entry(key).or_insert_with(|| Some(path.clone()));
        *known = known.take().filter(|known| *known == path);
    }
    found
}

fn set_by(bindings: &Bindings<'_>, method: MethodId) -> Vec<((MethodId, FieldRef), AccessPath)> {
    let insts = bindings.program.methods[method.index()].body.iter().flat_map(Body::iter);
    let set = insts.filter_map(|(_, inst)| {
        let Op::Invoke { method: called, args, .. } = &inst.op else { return None };
        let ("set", &[holder, value]) = (called.name.as_str(), &args[..]) else { return None };
        let AccessPath { root: Root::Static(field), steps } = bindings.path(method, holder) else {
            return None;
        };
        let is_it = steps.is_empty() && is_thread_local(field) && !bindings.is_constant(method, value);
        is_it.then(|| ((method, field), bindings.path(method, value)))
    });
    set.collect()
}

fn is_thread_local(field: FieldRef) -> bool {
    CLASSES.contains(&field.descriptor.as_str())
}

/// Whether a path is that of what a thread has of its own.
pub(super) fn is_one(path: &AccessPath) -> bool {
    matches!(path.root, Root::Static(field) if is_thread_local(field))
        && path.steps.first().is_some_and(is_get)
}

/// Whether a step gives what a thread-local holds.
fn is_get(step: &Step) -> bool {
    match step {
        Step::Element => true,
        Step::Call(method) => method.name == "get",
        Step::Field(_) => false,
    }
}

impl Bindings<'_> {
    /// Whether some method sets what is read from a static field, for its own thread.
    pub(crate) fn is_set_for_thread(&self, field: FieldRef) -> bool {
        is_thread_local(field) && self.thread_locals.keys().any(|&(_, set)| set == field)
    }

    /// What is at `path` in the frame of a method that sets the thread-local it is read from.
    pub(crate) fn set_for_thread(&self, method: MethodId, path: &AccessPath) -> Option<AccessPath> {
        let (Root::Static(field), [get, rest @ ..]) = (path.root, &path.steps[..]) else { return None };
        let AccessPath { root, mut steps } =
            self.thread_locals.get(&(method, field)).filter(|_| is_get(get)).cloned().flatten()?;
        steps.extend_from_slice(rest);
        Some(AccessPath { root, steps })
    }
}
