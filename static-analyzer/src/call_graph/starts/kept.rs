//! Closures that were kept somewhere are run by whoever calls what is kept there.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::edges::closure_kind;
use super::{Gift, Pass, Starts, direct_targets, task_row};
use crate::call_graph::closures::{ClosureId, plain_name};
use crate::call_graph::flow::{Frame, Source};
use crate::call_graph::{Call, CallKind};
use crate::ir::{InvokeKind, Op, ValueId};
use crate::program::{MethodId, Name};

/// What a call at a site runs, and what it gives to that.
type Edge = (ValueId, CallKind, Vec<Option<ValueId>>);

impl Starts<'_> {
    /// Finds the calls of closures that were kept, and the closures that have one.
    pub(super) fn find_kept(&mut self, calls: &[Vec<Call>]) {
        let n = self.resolver.program.methods.len();
        if self.closures.len() == 0 {
            self.kept = vec![Vec::new(); n];
            return;
        }
        let found: Vec<(Vec<Call>, Vec<ClosureId>)> =
            (0..n).into_par_iter().map(|i| self.kept_of(MethodId::new(i), &calls[i])).collect();
        for (calls, ids) in found {
            self.kept.push(calls);
            ids.into_iter().for_each(|id| self.is_kept[id as usize] = true);
        }
    }

    /// What leads to where closures of the program's own interfaces are kept and
    /// called: a queue of events that are lambdas holds too many of them to tell
    /// which one is called, but whoever puts one in does not call it.
    pub(super) fn find_called_later(&self, calls: &[Vec<Call>]) -> Vec<bool> {
        let methods = &self.resolver.program.methods;
        let ends = (0..methods.len()).into_par_iter().flat_map_iter(|i| {
            let mut found = Vec::new();
            let Some(body) = methods[i].body.as_ref().filter(|_| !self.functional.is_empty()) else {
                return found;
            };
            let targets = |v: ValueId| direct_targets(&calls[i], v);
            let frame = self.frame(MethodId::new(i), body, &targets);
            for (_, inst) in body.iter() {
                if let Op::Invoke { kind: InvokeKind::Interface, method, args } = &inst.op
                    && self.functional.contains(&(method.class, method.name))
                {
                    let nodes = frame.sources(args[0]).into_iter().filter_map(|s| match s {
                        Source::Node(n) if self.flow.is_kept(n) => Some(n),
                        _ => None,
                    });
                    found.extend(nodes);
                }
            }
            found
        });
        self.flow.leading_to(ends.collect())
    }

    /// Whether an argument of a call is kept by the callee, and called later.
    pub(super) fn is_called_later(&self, callees: &[MethodId], argument: usize) -> bool {
        callees.iter().any(|&callee| self.called_later[self.flow.param(callee, argument) as usize])
    }

    /// Whether a closure is run where it was kept, in the thread of who runs it; a
    /// task is run in its own.
    pub(super) fn is_run_as_kept(&self, id: ClosureId) -> bool {
        !self.is_task_closure(id) && self.is_kept[id as usize]
    }

    fn is_task_closure(&self, id: ClosureId) -> bool {
        task_row(self.closures.get(id)).is_some_and(|row| row.link.is_some())
    }

    fn kept_of(&self, method: MethodId, calls: &[Call]) -> (Vec<Call>, Vec<ClosureId>) {
        let mut edges: BTreeMap<Edge, Vec<MethodId>> = BTreeMap::new();
        let mut run = Vec::new();
        let m = &self.resolver.program.methods[method.index()];
        let Some(body) = &m.body else {
            return (Vec::new(), run);
        };
        let targets = |v: ValueId| direct_targets(calls, v);
        let frame = self.frame(method, body, &targets);
        for (site, inst) in body.iter() {
            let Op::Invoke { kind, method: called, args } = &inst.op else { continue };
            let is_store = !targets(site).is_empty() || self.is_put(*kind, *called);
            let is_virtual = matches!(kind, InvokeKind::Virtual | InvokeKind::Interface);
            for (argument, &value) in args.iter().enumerate() {
                let held = self.kept_in(&frame, value);
                if held.is_empty() {
                    continue;
                }
                let is_receiver = argument == 0 && is_virtual;
                let gift = self.gift_of(&frame, &Pass { site, argument, param: None }, calls);
                for id in held {
                    let given = if is_receiver { &args[1..] } else { &[] };
                    let is_call = is_receiver && self.is_call_of(id, called.name, given.len());
                    let kind = match gift {
                        _ if is_call => CallKind::Direct,
                        // What is kept once more is run by whoever calls it there.
                        Some(Gift::Start | Gift::Exit) if is_store && !self.is_task_closure(id) => continue,
                        Some(gift) if !is_receiver => closure_kind(gift, self.closures.get(id)),
                        _ => continue,
                    };
                    let (targets, args) = self.bound(id, given);
                    edges.entry((site, kind, args)).or_default().extend(targets);
                    run.push(id);
                }
            }
        }
        let calls = edges.into_iter().map(|((site, kind, args), mut targets)| {
            targets.sort_unstable();
            targets.dedup();
            Call { site, targets, kind, args }
        });
        (calls.collect(), run)
    }

    /// The closures that a value can be which were made elsewhere. What the callers
    /// give to be called is their affair.
    fn kept_in(&self, frame: &Frame<'_>, value: ValueId) -> Vec<ClosureId> {
        let mut held = Vec::new();
        if matches!(frame.body.op(value), Op::Const(_) | Op::New(_) | Op::InvokeDynamic { .. }) {
            return held;
        }
        for source in frame.sources(value) {
            if let Source::Node(node) = source
                && !self.is_lifted(frame.method, node)
            {
                held.extend_from_slice(self.closures.held(node));
            }
        }
        held.sort_unstable();
        held.dedup();
        held
    }

    fn is_call_of(&self, id: ClosureId, called: Name, n_given: usize) -> bool {
        let closure = self.closures.get(id);
        let n_taken = self.n_params(closure.targets[0]);
        plain_name(closure.method) == plain_name(called)
            && closure.first + closure.captured.len() + n_given == n_taken
    }

    /// What a closure runs, and its parameters: what it captured was given by others.
    fn bound(&self, id: ClosureId, given: &[ValueId]) -> (&[MethodId], Vec<Option<ValueId>>) {
        let closure = self.closures.get(id);
        let mut args = vec![None; self.n_params(closure.targets[0])];
        for (slot, value) in args.iter_mut().skip(closure.first + closure.captured.len()).zip(given) {
            *slot = Some(*value);
        }
        (&closure.targets, args)
    }
}
