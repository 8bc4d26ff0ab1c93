//! How far an identifier tells requests apart, by how long its holder lives.
//!
//! - An object is *long-lived* if no request makes objects of its class: every
//!   `new` stands in code that only start-up runs. What a request reads from
//!   fields of long-lived objects names the process ([`Node`]) if it is never
//!   written by requests, and is shared state (no identifier) otherwise.
//! - A value that is not lost on the way out of the request, because the
//!   dispatcher's own object holds it (the connection's peer, the user), is seen
//!   by many requests: [`Weak`].
//! - Everything else differs from request to request: [`Request`].
//!
//! [`Node`]: IdentifierStrength::Node
//! [`Weak`]: IdentifierStrength::Weak
//! [`Request`]: IdentifierStrength::Request

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;
use schema::IdentifierStrength;

use super::{Bindings, Bound, Place};
use crate::call_graph::{CallGraph, CallKind, RootKind};
use crate::ir::Op;
use crate::path::{Root, Step};
use crate::program::{ClassId, FieldRef, MethodId, Program};

/// Which classes and fields live as long as the process.
#[derive(Clone, Debug, Default)]
pub struct Lifetimes {
    /// Per method: a request can run it.
    at_request: Vec<bool>,
    /// Per class: a request can make objects of it.
    made_by_request: Vec<bool>,
    /// Fields written outside of constructors by methods that requests run.
    written_by_request: FxHashSet<FieldRef>,
}

impl Lifetimes {
    /// Reads what the requests that begin at `tops` make and write.
    pub fn new(
        program: &Program,
        graph: &CallGraph,
        bindings: &Bindings<'_>,
        tops: &BTreeSet<MethodId>,
    ) -> Self {
        let _ = bindings;
        let mut lifetimes = Self {
            at_request: vec![false; program.methods.len()],
            made_by_request: vec![false; program.classes.len()],
            written_by_request: FxHashSet::default(),
        };
        let starts = tops.iter().copied().filter(|&m| {
            !matches!(graph.root(m).map(|r| r.kind), Some(RootKind::Main | RootKind::Thread))
        });
        lifetimes.reach(graph, starts.collect());
        for (i, m) in program.methods.iter().enumerate() {
            let Some(body) = m.body.as_ref().filter(|_| lifetimes.at_request[i]) else { continue };
            let in_constructor = m.name.as_str() == "<init>";
            for (_, inst) in body.iter() {
                match &inst.op {
                    Op::New(c) => {
                        if let Some(c) = program.class(*c) {
                            lifetimes.made_by_request[c.index()] = true;
                        }
                    }
                    Op::PutField(f, _, _) if !in_constructor => {
                        lifetimes.written_by_request.insert(*f);
                    }
                    _ => {}
                }
            }
        }
        lifetimes
    }

    fn reach(&mut self, graph: &CallGraph, mut todo: Vec<MethodId>) {
        todo.iter().for_each(|m| self.at_request[m.index()] = true);
        while let Some(m) = todo.pop() {
            for call in graph.calls(m).iter().filter(|c| c.kind != CallKind::Rpc) {
                for &t in &call.targets {
                    if !std::mem::replace(&mut self.at_request[t.index()], true) {
                        todo.push(t);
                    }
                }
            }
        }
    }

    /// Whether objects of `class` are made by start-up only.
    pub fn is_long_lived(&self, class: ClassId) -> bool {
        !self.made_by_request[class.index()]
    }

    /// The strength of the value at `place` of the top-level method `method`;
    /// none: it is no identifier.
    pub(crate) fn strength(
        &self,
        program: &Program,
        graph: &CallGraph,
        bindings: &Bindings<'_>,
        method: MethodId,
        place: &Place,
    ) -> Option<IdentifierStrength> {
        let m = &program.methods[method.index()];
        if place.path.steps.contains(&Step::Element) {
            // One of many: which one, the request decides.
            return Some(IdentifierStrength::Request);
        }
        if place.path.root == Root::Param(0) && !m.is_static() {
            if let Some(found) = self.of_this(program, bindings, m.class, place) {
                return found;
            }
        }
        if self.survives(program, graph, bindings, method, place) {
            return Some(IdentifierStrength::Weak);
        }
        Some(IdentifierStrength::Request)
    }

    /// For a path from `this`: follows it as long as the objects are long-lived.
    /// None: it enters an object of a request.
    fn of_this(
        &self,
        program: &Program,
        bindings: &Bindings<'_>,
        class: ClassId,
        place: &Place,
    ) -> Option<Option<IdentifierStrength>> {
        let mut holder = Some(class);
        for step in &place.path.steps {
            let holder_class = holder?;
            if !self.is_long_lived(holder_class) {
                return None;
            }
            match step {
                Step::Field(f) => {
                    if self.written_by_request.contains(f) && !bindings.is_final(*f) {
                        return Some(None);
                    }
                    let descriptor = f.descriptor.as_str();
                    holder = crate::call_graph::resolve::class_of(descriptor)
                        .and_then(|c| program.class(c.into()));
                    if holder.is_none() {
                        // A plain value of a long-lived object.
                        return Some(Some(IdentifierStrength::Node));
                    }
                }
                Step::Element => return None,
                Step::Call(_) => return Some(Some(IdentifierStrength::Node)),
            }
        }
        Some(Some(IdentifierStrength::Node))
    }

    /// Whether the value is still there in the frame of a local caller that
    /// hands out requests: it outlives this one.
    fn survives(
        &self,
        program: &Program,
        graph: &CallGraph,
        bindings: &Bindings<'_>,
        method: MethodId,
        place: &Place,
    ) -> bool {
        if matches!(place.path.root, Root::Local(_)) {
            return false;
        }
        graph.callers[method.index()].iter().any(|&(caller, at)| {
            let call = &graph.calls(caller)[at];
            let is_this = matches!(
                bindings.bind(caller, call, method, place),
                Bound::Place(Place { path, looping: false, .. })
                    if path.root == Root::Param(0) && !path.steps.is_empty()
            );
            call.kind.is_local() && is_this && !program.methods[caller.index()].is_static()
        })
    }
}
