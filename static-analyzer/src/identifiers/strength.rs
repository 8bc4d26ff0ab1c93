//! How far an identifier tells requests apart, by how long its holder lives and
//! where its values come from.
//!
//! - An object is *long-lived* if no request makes objects of its class: every
//!   `new` stands in code that only start-up runs. What a request reads from
//!   fields of long-lived objects names the process ([`Node`]) if it is never
//!   written by requests, and is shared state (no identifier) otherwise.
//! - A value that is not lost on the way out of the request, because the
//!   dispatcher's own object holds it (the connection's peer, the user), is seen
//!   by many requests: [`Weak`]. So is a value whose class is only ever filled
//!   from fields of long-lived objects, though it travels in request objects
//!   (the pool of a block): see [`super::origins`].
//! - Numbers that nothing is told apart by ([`super::keys`]), texts of errors, names of classes and results of library calls that no
//!   program object holds are no identity of anything.
//! - Everything else differs from request to request: [`Request`].
//!
//! [`Node`]: IdentifierStrength::Node
//! [`Weak`]: IdentifierStrength::Weak
//! [`Request`]: IdentifierStrength::Request

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;
use schema::{IdentifierStrength, TopLevelKind};

use super::keys::Keys;
use super::origins::Origins;
use super::{Bindings, Bound, Place};
use crate::call_graph::resolve::class_of;
use crate::call_graph::{CallGraph, CallKind, RootKind, apis};
use crate::ir::{Op, ValueId};
use crate::path::{AccessPath, Root, Step};
use crate::program::{ClassId, FieldRef, MethodId, Name, Program, access};
use crate::top_level::loops::ServiceLoops;

/// Which classes and fields live as long as the process.
#[derive(Debug)]
pub struct Lifetimes<'a> {
    program: &'a Program,
    graph: &'a CallGraph,
    bindings: &'a Bindings<'a>,
    /// Per method: a request can run it.
    at_request: Vec<bool>,
    /// Per class: a request can make objects of it or of a class below.
    made_by_request: Vec<bool>,
    /// Fields written outside of constructors by methods that requests run.
    written_by_request: FxHashSet<FieldRef>,
    /// Fields into which the loop of a thread puts what it works on in a round, in
    /// the thread's own object.
    work: FxHashSet<FieldRef>,
    /// Value classes (`Class.field`) whose values all come from long-lived
    /// objects.
    weak: FxHashSet<String>,
    keys: Keys,
}

impl<'a> Lifetimes<'a> {
    /// Reads what the requests that begin at `tops` make and write.
    pub(crate) fn new(
        program: &'a Program,
        graph: &'a CallGraph,
        bindings: &'a Bindings<'a>,
        tops: &BTreeMap<MethodId, (TopLevelKind, String)>,
        loops: &[ServiceLoops],
    ) -> Self {
        let mut lifetimes = Self {
            program,
            graph,
            bindings,
            at_request: vec![false; program.methods.len()],
            made_by_request: vec![false; program.classes.len()],
            written_by_request: FxHashSet::default(),
            work: FxHashSet::default(),
            weak: FxHashSet::default(),
            keys: Keys::find(program, bindings),
        };
        let mut starts = Vec::new();
        // Also a loop that logs nothing serves: it accepts connections.
        let served = graph.roots.iter().filter(|r| {
            matches!(r.kind, RootKind::Main | RootKind::Thread | RootKind::Task)
                && tops.get(&r.method).is_none_or(|t| t.0 != TopLevelKind::Dispatcher)
        });
        for root in served {
            lifetimes.read_rounds(root.method, &loops[root.method.index()], &mut starts);
        }
        for (&method, (kind, _)) in tops {
            match (kind, graph.root(method).map(|r| r.kind)) {
                (TopLevelKind::Dispatcher, _) => {
                    lifetimes.read_rounds(method, &loops[method.index()], &mut starts);
                    lifetimes.read_work(method, &loops[method.index()]);
                }
                // Threads that start-up starts are start-up, unless reached.
                (_, Some(RootKind::Main | RootKind::Thread)) | (TopLevelKind::Unreached, _) => {}
                // A table of handlers that only start-up goes through starts and
                // stops services; one that serves is reached from what serves.
                (_, Some(RootKind::EventHandler)) => {}
                _ => starts.push(method),
            }
        }
        lifetimes.reach(starts);
        for i in 0..program.methods.len() {
            if lifetimes.at_request[i] {
                lifetimes.read(MethodId::new(i), &|_| true);
            }
        }
        lifetimes.lift_to_supers();
        let weak = Origins::new(program, graph, bindings, &lifetimes).weak_fields();
        lifetimes.weak = weak
            .into_iter()
            .map(|f| format!("{}.{}", f.class.rsplit('/').next().unwrap_or_default(), f.name))
            .collect();
        lifetimes
    }

    /// What a dispatcher does in a round belongs to requests.
    fn read_rounds(&mut self, method: MethodId, loops: &ServiceLoops, starts: &mut Vec<MethodId>) {
        let Some(body) = &self.program.methods[method.index()].body else { return };
        self.read(method, &|v| loops.contains(body, v));
        for call in self.graph.calls(method) {
            if loops.contains(body, call.site) && call.kind != CallKind::Rpc {
                starts.extend(&call.targets);
            }
        }
    }

    /// What the loop of a thread puts into its own object is what the round is about:
    /// no other thread's, and another one in the next round.
    fn read_work(&mut self, method: MethodId, loops: &ServiceLoops) {
        let m = &self.program.methods[method.index()];
        let Some(body) = m.body.as_ref().filter(|_| !m.is_static()) else { return };
        for (_, inst) in body.iter().filter(|(site, _)| loops.contains(body, *site)) {
            let Op::PutField(f, Some(holder), value) = &inst.op else { continue };
            let is_own = matches!(body.op(*holder), Op::Param(0));
            if is_own && f.descriptor.starts_with('L') && loops.contains(body, *value) {
                self.work.insert(*f);
            }
        }
    }

    fn read(&mut self, method: MethodId, counts: &dyn Fn(ValueId) -> bool) {
        let m = &self.program.methods[method.index()];
        let Some(body) = &m.body else { return };
        let in_constructor = m.name.as_str() == "<init>";
        for (v, inst) in body.iter() {
            match &inst.op {
                Op::New(c) if counts(v) => {
                    if let Some(c) = self.program.class(*c) {
                        self.made_by_request[c.index()] = true;
                    }
                }
                Op::PutField(f, _, _) if !in_constructor && counts(v) => {
                    self.written_by_request.insert(*f);
                }
                _ => {}
            }
        }
    }

    fn reach(&mut self, mut todo: Vec<MethodId>) {
        todo.iter().for_each(|m| self.at_request[m.index()] = true);
        while let Some(m) = todo.pop() {
            for call in self.graph.calls(m).iter().filter(|c| c.kind != CallKind::Rpc) {
                for &t in &call.targets {
                    if !std::mem::replace(&mut self.at_request[t.index()], true) {
                        todo.push(t);
                    }
                }
            }
        }
    }

    fn lift_to_supers(&mut self) {
        for i in 0..self.program.classes.len() {
            if !self.made_by_request[i] {
                continue;
            }
            let mut todo = vec![i];
            while let Some(c) = todo.pop() {
                let class = &self.program.classes[c];
                for name in class.super_name.iter().chain(&class.interfaces) {
                    if let Some(s) = self.program.class(*name)
                        && !std::mem::replace(&mut self.made_by_request[s.index()], true)
                    {
                        todo.push(s.index());
                    }
                }
            }
        }
    }

    /// Whether only start-up makes objects of `class`. Enum constants are made
    /// by start-up but hold nothing of it.
    pub(crate) fn is_long_lived(&self, class: ClassId) -> bool {
        !self.made_by_request[class.index()] && self.program.classes[class.index()].access & access::ENUM == 0
    }

    /// Whether a field is a fact of the process: of a long-lived object, not
    /// written by requests.
    pub(crate) fn is_fact(&self, f: FieldRef) -> bool {
        self.program.class(f.class).is_some_and(|c| self.is_long_lived(c))
            && (!self.written_by_request.contains(&f) || self.bindings.is_final(f))
    }

    /// Whether requests write a field on the way of `path` anew.
    pub(crate) fn changes(&self, path: &AccessPath) -> bool {
        path.steps.iter().any(|step| match step {
            Step::Field(f) => self.written_by_request.contains(f) && !self.bindings.is_final(*f),
            Step::Call(_) | Step::Element => false,
        })
    }

    /// Whether requests run `method`.
    pub(crate) fn is_at_request(&self, method: MethodId) -> bool {
        self.at_request[method.index()]
    }

    /// The strength of the value at `place` of the top-level method `method`;
    /// none: it is no identifier.
    pub(crate) fn strength(
        &self,
        method: MethodId,
        place: &Place,
        value_class: Name,
        is_number: bool,
    ) -> Option<IdentifierStrength> {
        if self.is_no_identity(place) {
            return None;
        }
        if let Some(found) = self.through_long_lived(method, place, is_number) {
            return found;
        }
        if is_number && !self.keys.names(place.path.steps.last(), value_class.as_str()) {
            return None;
        }
        let is_entity = matches!(self.graph.root(method), Some(root) if root.kind == RootKind::EventHandler);
        if self.weak.contains(value_class.as_str()) || !is_entity && self.survives(method, place) {
            return Some(IdentifierStrength::Weak);
        }
        // A text made in the request and known by a local's name only could be
        // anything.
        let named_only = value_class.as_str().contains(':') && !is_number;
        if named_only && matches!(place.path.root, Root::Local(_)) && place.path.steps.is_empty() {
            return None;
        }
        Some(IdentifierStrength::Request)
    }

    /// Error texts, class names; values of the library that no object holds.
    fn is_no_identity(&self, place: &Place) -> bool {
        let by_step = place.path.steps.iter().any(|s| match s {
            Step::Call(m) => {
                apis::NO_IDENTITY.contains(&m.name.as_str())
                    || m.class.as_str() == "java/lang/Class"
                    || m.class.as_str().starts_with("java/util/concurrent/atomic/")
            }
            Step::Field(f) => f.class.as_str().ends_with("Exception") || f.class.as_str().ends_with("Error"),
            Step::Element => false,
        });
        if by_step {
            return true;
        }
        let Root::Local(v) = place.path.root else { return false };
        let Some(body) = &self.program.methods[place.frame.index()].body else { return true };
        match body.op(v) {
            Op::Invoke { method, .. } => {
                place.path.steps.is_empty() && self.program.class(method.class).is_none()
                    || apis::NO_IDENTITY.contains(&method.name.as_str())
            }
            Op::Caught(_) | Op::Const(_) | Op::Binary(..) | Op::Negate(_) | Op::ArrayLength(_) => true,
            Op::InstanceOf(..) | Op::NewArray(..) => true,
            _ => false,
        }
    }

    /// For a path that enters a long-lived object: what it finds there. None: it
    /// stays in objects of requests.
    fn through_long_lived(
        &self,
        method: MethodId,
        place: &Place,
        is_number: bool,
    ) -> Option<Option<IdentifierStrength>> {
        let m = &self.program.methods[method.index()];
        let is_this = place.path.root == Root::Param(0) && !m.is_static();
        let mut inside = is_this && self.is_long_lived(m.class);
        let is_handler = self.graph.root(method).is_some_and(|root| root.kind == RootKind::EventHandler);
        let measures = inside && is_handler && is_number;
        if inside && place.path.steps.is_empty() {
            return Some(Some(IdentifierStrength::Node));
        }
        for step in &place.path.steps {
            let Step::Field(f) = step else { break };
            if inside && self.work.contains(f) {
                inside = false;
                continue;
            }
            if inside && self.written_by_request.contains(f) && !self.bindings.is_final(*f) {
                return Some(None);
            }
            let holder = class_of(f.descriptor.as_str()).and_then(|c| self.program.class(Name::from(c)));
            // A number of what start-up put into a handler of events measures it,
            // whatever else is of its class.
            if inside && (measures || holder.is_none_or(|c| self.is_long_lived(c))) {
                continue;
            }
            inside = holder.is_some_and(|c| self.is_long_lived(c));
        }
        inside.then_some(Some(IdentifierStrength::Node))
    }

    /// Whether the value is still there in the frame of a local caller that
    /// hands out requests: it outlives this one.
    fn survives(&self, method: MethodId, place: &Place) -> bool {
        let is_work = matches!(place.path.steps.first(), Some(Step::Field(f)) if self.work.contains(f));
        if is_work || matches!(place.path.root, Root::Local(_)) {
            return false;
        }
        self.graph.callers[method.index()].iter().any(|&(caller, at)| {
            let call = &self.graph.calls(caller)[at];
            let is_this = || {
                matches!(
                    self.bindings.bind(caller, call, place),
                    Bound::Place(Place { path, looping: false, .. })
                        if path.root == Root::Param(0) && !path.steps.is_empty()
                )
            };
            call.kind.is_local() && !self.program.methods[caller.index()].is_static() && is_this()
        })
    }
}
