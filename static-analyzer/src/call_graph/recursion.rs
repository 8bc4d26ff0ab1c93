//! Recursion through dispatch: a method of a class that calls the many implementations of
//! another one of the same class, most of which call it again, walks over a structure (a
//! plan of operators, a message made of messages, a tree of components), each part through
//! those below it.
//!
//! The whole walk is one work, whatever it is made of: none of its parts is a handler that
//! work is handed out to, since handlers are done before the next event is dispatched. What
//! is made anew for a method that calls it there is no part of a structure: a closure that
//! leads to another one.

use rayon::prelude::*;
use rustc_hash::FxHashSet;

use super::resolve::Resolver;
use super::{Call, CallKind};
use crate::ir::Op;
use crate::limits::{DISPATCH_TARGETS_MAX, RECURSION_CALLS_MAX};
use crate::order::components::components;
use crate::program::{MethodId, Name};

/// Makes the wide dispatches that are recursive plain calls again. Cost: linear in the edges,
/// and those of a component of the graph once more for each target of its wide dispatches.
pub(crate) fn join(resolver: &Resolver<'_>, calls: &mut [Vec<Call>]) {
    let successors: Vec<Vec<u32>> = calls.iter().map(|list| targets(list)).collect();
    let found = components(&successors);
    let is_recursive = |(i, call): (usize, &Call)| {
        let own = found.of[i];
        let inside = |m: MethodId| found.of[m.index()] == own;
        let least = call.targets.len() / 2 + 1;
        let may = call.targets.iter().filter(|&&m| inside(m)).count() >= least;
        let Some(declared) = declared(resolver, MethodId::new(i), call).filter(|_| may) else { return false };
        let caller = resolver.program.methods[i].class;
        if !resolver.is_subtype(caller, declared) {
            return false;
        }
        let goes = |from: MethodId, call: &Call| !is_made(resolver, from, call, declared);
        let leads_back = |&&m: &&MethodId| leads_to(calls, m, MethodId::new(i), &inside, &goes);
        call.targets.iter().filter(leads_back).count() >= least
    };
    let recursive = |(i, list): (usize, &Vec<Call>)| {
        let wide = |(_, call): &(usize, &Call)| {
            call.kind == CallKind::Table && call.targets.len() > DISPATCH_TARGETS_MAX
        };
        let wide = list.iter().enumerate().filter(wide);
        wide.filter(|&(_, call)| is_recursive((i, call))).map(|(at, _)| (i, at)).collect::<Vec<_>>()
    };
    let recursive: Vec<_> = calls.par_iter().enumerate().flat_map_iter(recursive).collect();
    for (i, at) in recursive {
        calls[i][at].kind = CallKind::Direct;
    }
}

/// Methods that the calls of a list run in the same thread, handlers too.
fn targets(list: &[Call]) -> Vec<u32> {
    let in_thread = list.iter().filter(|call| call.kind.is_local() || call.kind == CallKind::Table);
    let mut all: Vec<u32> =
        in_thread.flat_map(|call| call.targets.iter().map(|m| m.index() as u32)).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The class that a dispatch is declared on.
fn declared(resolver: &Resolver<'_>, caller: MethodId, call: &Call) -> Option<Name> {
    match resolver.program.methods[caller.index()].body.as_ref()?.op(call.site) {
        Op::Invoke { method, .. } => Some(method.class),
        _ => None,
    }
}

/// Whether a call is on an object of such a class that is made for it, or gives one away.
fn is_made(resolver: &Resolver<'_>, caller: MethodId, call: &Call, declared: Name) -> bool {
    let Some(body) = &resolver.program.methods[caller.index()].body else { return false };
    call.args.iter().flatten().any(|&arg| match body.op(body.uncast(arg)) {
        Op::New(class) => {
            resolver.own_class(*class).is_some_and(|class| resolver.is_subtype(class, declared))
        }
        _ => false,
    })
}

/// Whether a few plain calls lead from one method to another, among those that are `inside`,
/// by calls that it `goes` on with.
fn leads_to(
    calls: &[Vec<Call>],
    from: MethodId,
    to: MethodId,
    inside: &impl Fn(MethodId) -> bool,
    goes: &impl Fn(MethodId, &Call) -> bool,
) -> bool {
    let (mut met, mut layer) = (FxHashSet::from_iter([from]), vec![from]);
    for _ in 0..RECURSION_CALLS_MAX {
        if layer.contains(&to) {
            return true;
        }
        let plain = layer.iter().flat_map(|&method| {
            calls[method.index()].iter().filter(move |call| call.kind.is_local() && goes(method, call))
        });
        let next = plain.flat_map(|call| call.targets.iter().copied());
        layer = next.filter(|&m| inside(m) && met.insert(m)).collect();
    }
    false
}
