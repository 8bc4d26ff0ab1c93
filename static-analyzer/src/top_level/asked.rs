//! Asked for: what everybody asks a service of his own process for, and waits for.
//!
//! A program that others call (a user's program, one that is not in the class path) begins
//! no request in a thread that is known: its calls do. A method that waits for an answer
//! which it has started no task for, has asked somebody who serves everybody: each call is
//! a request. Asked from very many places, it begins where all of them go through.

use std::collections::BTreeSet;

use super::members::Chosen;
use crate::call_graph::{CallGraph, CallKind, RootKind, apis};
use crate::ir::Op;
use crate::limits::HELPER_CALLERS_MAX;
use crate::program::{MethodId, Program};

/// The methods that begin what is asked for, sorted. `own_points`: per method, the log points
/// in it.
pub(super) fn find(
    program: &Program,
    graph: &CallGraph,
    own_points: &[Vec<u32>],
    chosen: &Chosen,
) -> Vec<MethodId> {
    let is_outside = |m: MethodId| graph.root(m).is_some_and(|root| root.kind == RootKind::Uncalled);
    let known = Known { program, graph, own_points };
    let methods = (0..program.methods.len()).map(MethodId::new);
    let asks = methods.filter(|&m| !own_points[m.index()].is_empty() && known.asks(m));
    let mut found: Vec<MethodId> = asks
        .map(|m| known.outermost(m))
        .filter(|&m| !chosen.contains_key(&m))
        .filter(|&m| known.n_ways(m, is_outside, |m| chosen.contains_key(&m)) > HELPER_CALLERS_MAX)
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

struct Known<'a> {
    program: &'a Program,
    graph: &'a CallGraph,
    own_points: &'a [Vec<u32>],
}

impl Known<'_> {
    /// Whether a method waits, and neither it nor what it calls starts a task.
    fn asks(&self, method: MethodId) -> bool {
        let helped = |target: MethodId| self.is_helper(target) && self.waits(target);
        let called = || self.graph.local_edges(method).map(|(_, target)| target);
        let starts = |m: MethodId| {
            self.graph
                .calls(m)
                .iter()
                .any(|call| matches!(call.kind, CallKind::Start(_)) || call.kind.is_remote())
        };
        (self.waits(method) || called().any(helped)) && !starts(method) && !called().any(starts)
    }

    /// Whether the body of a method waits for the result of something.
    fn waits(&self, method: MethodId) -> bool {
        let Some(body) = &self.program.methods[method.index()].body else { return false };
        body.iter().any(|(_, inst)| {
            matches!(&inst.op, Op::Invoke { method, .. } if method.class != "java/lang/Thread"
                && apis::waits_for(&method.class, &method.name))
        })
    }

    /// Whether a method that waits does so for whoever calls it: it says nothing of it.
    fn is_helper(&self, method: MethodId) -> bool {
        self.own_points[method.index()].is_empty()
    }

    /// Up through those that alone call it and print, too.
    fn outermost(&self, method: MethodId) -> MethodId {
        let (mut at, mut met) = (method, BTreeSet::from([method]));
        loop {
            let mut above = self.callers(at).filter(|&caller| caller != at);
            let Some(first) = above.next() else { return at };
            let prints = !self.own_points[first.index()].is_empty();
            if !prints || above.any(|other| other != first) || !met.insert(first) {
                return at;
            }
            at = first;
        }
    }

    fn callers(&self, method: MethodId) -> impl Iterator<Item = MethodId> {
        let callers = self.graph.callers[method.index()].iter();
        callers
            .filter(|&&(caller, at)| self.graph.calls(caller)[at].kind.is_local())
            .map(|&(caller, _)| caller)
    }

    /// From how many methods that are called from `outside` the way leads to `method`, other
    /// than through what begins a request of its own; no more are counted than make a helper.
    fn n_ways(
        &self,
        method: MethodId,
        outside: impl Fn(MethodId) -> bool,
        begins: impl Fn(MethodId) -> bool,
    ) -> usize {
        let (mut met, mut todo, mut n) = (BTreeSet::from([method]), vec![method], 0);
        while let Some(at) = todo.pop() {
            for caller in self.callers(at) {
                if n <= HELPER_CALLERS_MAX && met.insert(caller) {
                    n += usize::from(outside(caller));
                    todo.extend((!begins(caller)).then_some(caller));
                }
            }
        }
        n
    }
}
