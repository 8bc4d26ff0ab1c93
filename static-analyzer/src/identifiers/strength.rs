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
use super::{Bindings, Bound, Place, made};
use crate::call_graph::resolve::class_of;
use crate::call_graph::{CallGraph, RootKind, apis};
use crate::ir::{Op, ValueId};
use crate::path::{AccessPath, Root, Step};
use crate::program::{ClassId, FieldRef, MethodId, Name, Program, access};
use crate::top_level::loops::{ServiceLoops, is_take};

/// Cuts one after the other.
const CUTS_MAX: usize = 6;

/// Methods that give back what another one gives back.
const RETURNS_MAX: usize = 3;

/// Methods with which requests begin.
struct Starts {
    /// What services hand out, serve and are called back for.
    of_services: Vec<MethodId>,
    /// What the loops of start-up run, those of a client or a tool.
    of_start_up: Vec<MethodId>,
}

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
    /// Per class: whether objects of it are made in a loop.
    made_in_loop: Vec<bool>,
    /// Value classes of the fields of tasks.
    task_fields: FxHashSet<Name>,
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
            made_in_loop: made::in_loops(program),
            task_fields: made::fields_of_tasks(program, graph),
        };
        let Starts { of_services, of_start_up } = lifetimes.starts(tops, loops);
        made::reach(graph, &mut lifetimes.at_request, of_services);
        // What the rounds of start-up run makes objects of requests. Where its values come from
        // says nothing of those of the services in the same class path: a tool computes anything.
        let mut is_run = lifetimes.at_request.clone();
        made::reach(graph, &mut is_run, of_start_up);
        for method in (0..program.methods.len()).filter(|&i| is_run[i]).map(MethodId::new) {
            lifetimes.read(method, &|_| true);
        }
        // What start-up makes in a loop, and a service loop takes, is a request each time.
        for class in made::handed_to_loops(program, loops) {
            lifetimes.made_by_request[class.index()] |= lifetimes.made_in_loop[class.index()];
        }
        lifetimes.lift_to_supers();
        let weak = Origins::new(program, graph, bindings, &lifetimes).weak_fields();
        lifetimes.weak = weak
            .into_iter()
            .map(|f| format!("{}.{}", f.class.rsplit('/').next().unwrap_or_default(), f.name))
            .collect();
        lifetimes
    }

    /// Where requests begin, and what the rounds of dispatchers make and write.
    fn starts(
        &mut self,
        tops: &BTreeMap<MethodId, (TopLevelKind, String)>,
        loops: &[ServiceLoops],
    ) -> Starts {
        let (program, graph) = (self.program, self.graph);
        let (mut of_services, mut of_start_up, mut handed_out) = (Vec::new(), Vec::new(), Vec::new());
        let is_dispatcher = |method| tops.get(&method).is_some_and(|t| t.0 == TopLevelKind::Dispatcher);
        // Also a loop that logs nothing serves: it accepts connections.
        let is_thread = |kind| matches!(kind, RootKind::Main | RootKind::Thread | RootKind::Task);
        let roots = graph.roots.iter().filter(|root| is_thread(root.kind)).map(|root| root.method);
        for method in roots.filter(|&method| !is_dispatcher(method)) {
            let loops = &loops[method.index()];
            let starts = if loops.is_of_start_up() { &mut of_start_up } else { &mut of_services };
            self.read_rounds(method, loops, starts);
        }
        for (&method, (kind, _)) in tops {
            let (class, root) = (program.methods[method.index()].class, graph.root(method).map(|r| r.kind));
            // A task whose objects start-up makes one after the other is a request each time.
            let is_task =
                *kind == TopLevelKind::Task && matches!(root, Some(RootKind::Task | RootKind::Thread));
            self.made_by_request[class.index()] |= is_task && self.made_in_loop[class.index()];
            match (kind, root) {
                (TopLevelKind::Dispatcher, _) => {
                    let loops = &loops[method.index()];
                    let starts = if loops.is_of_start_up() { &mut of_start_up } else { &mut of_services };
                    self.read_rounds(method, loops, starts);
                    self.read_work(method, loops);
                }
                // Threads that start-up starts are start-up, unless reached.
                (_, Some(RootKind::Main | RootKind::Thread)) => {}
                (TopLevelKind::Unreached, _) if program.methods[method.index()].name.starts_with('<') => {}
                // Whoever calls it is not seen, and can do so at any time.
                (TopLevelKind::Unreached, _) => of_services.push(method),
                // A table of handlers that only start-up goes through starts and
                // stops services; one that serves is reached from what serves.
                (_, Some(RootKind::EventHandler)) => {}
                (TopLevelKind::IdentifierLoss | TopLevelKind::DispatchTarget, None) => {
                    handed_out.push(method);
                }
                _ => of_services.push(method),
            }
        }
        let mut is_of_start_up = vec![false; program.methods.len()];
        made::reach(graph, &mut is_of_start_up, of_start_up.clone());
        of_services.extend(handed_out.into_iter().filter(|method| !is_of_start_up[method.index()]));
        Starts { of_services, of_start_up }
    }

    /// What a dispatcher does in a round belongs to requests.
    fn read_rounds(&mut self, method: MethodId, loops: &ServiceLoops, starts: &mut Vec<MethodId>) {
        let Some(body) = &self.program.methods[method.index()].body else { return };
        self.read(method, &|v| loops.contains(body, v));
        for call in self.graph.calls(method) {
            if loops.contains(body, call.site) && !call.kind.is_remote() {
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
                Op::PutField(f, holder, _) if !in_constructor && counts(v) => {
                    let is_new = holder.is_some_and(|holder| self.is_being_made(method, holder, RETURNS_MAX));
                    if !is_new {
                        self.written_by_request.insert(*f);
                    }
                }
                _ => {}
            }
        }
    }

    /// Whether an object has just been made by who calls `method`, or by that itself: what is
    /// put into it is no change of it, as it is none in a constructor.
    fn is_being_made(&self, method: MethodId, object: ValueId, depth: usize) -> bool {
        let path = self.bindings.path(method, object);
        let Some(depth) = depth.checked_sub(1).filter(|_| path.steps.is_empty()) else { return false };
        match path.root {
            Root::Local(v) => self.is_made_at(method, v, depth),
            Root::Param(0) if !self.program.methods[method.index()].is_static() => {
                let callers = &self.graph.callers[method.index()];
                let is_of_caller = |&(caller, at): &(MethodId, usize)| {
                    let call = &self.graph.calls(caller)[at];
                    let object = call.args.first().copied().flatten();
                    let is_made = |object| self.is_being_made(caller, object, depth);
                    call.kind.is_local() && object.is_some_and(is_made)
                };
                !callers.is_empty() && callers.iter().all(is_of_caller)
            }
            Root::Param(_) | Root::Static(_) => false,
        }
    }

    /// Whether a value is an object that is made there, or by the one method that gives it back.
    fn is_made_at(&self, method: MethodId, value: ValueId, depth: usize) -> bool {
        let Some(body) = &self.program.methods[method.index()].body else { return false };
        match body.op(value) {
            Op::New(_) => true,
            Op::Invoke { .. } if depth > 0 => {
                let given = self.given_back(method, value);
                given.is_some_and(|(target, value)| self.is_made_at(target, value, depth - 1))
            }
            _ => false,
        }
    }

    /// What the one method that is called at `call` gives back, if it makes that itself.
    fn given_back(&self, method: MethodId, call: ValueId) -> Option<(MethodId, ValueId)> {
        let mut targets = self.bindings.targets(method, call).map(|(_, target)| target);
        let (Some(target), None) = (targets.next(), targets.next()) else { return None };
        match self.bindings.returned(target) {
            Some(AccessPath { root: Root::Local(made), steps }) if steps.is_empty() => Some((target, *made)),
            _ => None,
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
        n_points: usize,
    ) -> Option<IdentifierStrength> {
        if self.is_no_identity(method, place) {
            return None;
        }
        if let Some(found) = self.through_long_lived(method, place, is_number) {
            return found;
        }
        let is_named = || self.keys.names(place.path.steps.last(), value_class.as_str());
        if is_number && !is_named() && !self.makes(place) {
            return self.numbers_something(place, value_class, n_points).then_some(IdentifierStrength::Weak);
        }
        let is_entity = matches!(self.graph.root(method), Some(root) if root.kind == RootKind::EventHandler);
        if self.weak.contains(value_class.as_str()) || !is_entity && self.survives(method, place) {
            return Some(IdentifierStrength::Weak);
        }
        // A text made in the request and known by a local's name only could be
        // anything.
        let named_only = value_class.as_str().contains(':') && !is_number;
        let is_local = matches!(place.path.root, Root::Local(_)) && place.path.steps.is_empty();
        if named_only
            && is_local
            && !self.is_taken_out(place)
            && !self.makes(place)
            && !self.is_part_of_message(method, place)
        {
            return None;
        }
        Some(IdentifierStrength::Request)
    }

    /// Error texts, class names; values of the library that no object holds.
    fn is_no_identity(&self, method: MethodId, place: &Place) -> bool {
        if self.makes(place) {
            return false;
        }
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
            // What is taken out of a collection is what was put into it.
            op if is_taken_out(op) => false,
            Op::Invoke { method: called, .. } => {
                let is_library = place.path.steps.is_empty() && self.program.class(called.class).is_none();
                is_library && !self.is_part_of_message(method, place)
                    || apis::NO_IDENTITY.contains(&called.name.as_str())
            }
            Op::Caught(_) | Op::Const(_) | Op::Binary(..) | Op::Negate(_) | Op::ArrayLength(_) => true,
            Op::InstanceOf(..) | Op::NewArray(..) => true,
            _ => false,
        }
    }

    /// See the function.
    fn is_taken_out(&self, place: &Place) -> bool {
        let Root::Local(v) = place.path.root else { return false };
        let body = &self.program.methods[place.frame.index()].body;
        body.as_ref().is_some_and(|body| is_taken_out(body.op(v)))
    }

    /// Whether the value is made anew: counted, or random.
    fn makes(&self, place: &Place) -> bool {
        match place.path.root {
            Root::Local(v) if place.path.steps.is_empty() => self.makes_at(place.frame, v, RETURNS_MAX),
            _ => false,
        }
    }

    /// Whether a value was cut out of a message, which `method` was given or has read: a word of
    /// it names something.
    fn is_part_of_message(&self, method: MethodId, place: &Place) -> bool {
        let Root::Local(mut value) = place.path.root else { return false };
        let Some(body) = &self.program.methods[place.frame.index()].body else { return false };
        let mut is_part = false;
        for _ in 0..CUTS_MAX {
            value = body.uncast(value);
            let (called, args) = match body.op(value) {
                Op::ArrayLoad(parts, _) => match body.op(body.uncast(*parts)) {
                    Op::Invoke { method, args, .. } if apis::splits(method) => (method, args),
                    _ => return false,
                },
                // Names and values are a message, if no object keeps them.
                Op::Invoke { method, args, .. } if apis::is_named(body, method, args) => {
                    return matches!(
                        self.bindings.path(place.frame, args[0]).root,
                        Root::Local(_) | Root::Param(1..)
                    );
                }
                Op::Invoke { method, args, .. } => (method, args),
                Op::Param(_) => return is_part && place.frame == method,
                // A text that is made of bytes.
                Op::New(class) => return is_part && class.as_str() == "java/lang/String",
                _ => return false,
            };
            if apis::is_parameter(called) {
                return true;
            }
            if apis::reads_line(called) || apis::is_asked_for(called) {
                return is_part;
            }
            let is_address = called.class.as_str() == "java/net/URI" && called.name.starts_with("get");
            if !is_address && !apis::splits(called) && !apis::is_part_of_text(called) {
                return false;
            }
            is_part |= !is_address;
            let Some(&text) = args.first() else { return false };
            value = text;
        }
        false
    }

    /// Whether a field is of an object to which events happen: it tells of that, whoever hands
    /// the object over.
    fn is_of_handler(&self, step: Option<&Step>) -> bool {
        let Some(Step::Field(field)) = step else { return false };
        let handlers = self.graph.roots.iter().filter(|root| root.kind == RootKind::EventHandler);
        handlers.map(|root| &self.program.methods[root.method.index()]).any(|handler| {
            !handler.is_static()
                && self.program.is_subtype(self.program.classes[handler.class.index()].name, field.class)
        })
    }

    /// The same of a value, or of what the one method that gives it back makes.
    fn makes_at(&self, method: MethodId, value: ValueId, depth: usize) -> bool {
        let Some(body) = &self.program.methods[method.index()].body else { return false };
        match body.op(value) {
            Op::Invoke { method: callee, .. } if made::counts(*callee) => true,
            // A text that has in it what is made is made, and so is the text of it alone.
            _ if depth > 0
                && made::parts_of_text(body, value)
                    .into_iter()
                    .any(|part| self.makes_at(method, part, depth - 1)) =>
            {
                true
            }
            Op::Invoke { method: callee, args, .. } if depth > 0 && callee.name == "toString" => {
                matches!(args[..], [of] if self.makes_at(method, body.uncast(of), depth - 1))
            }
            Op::Invoke { .. } if depth > 0 => {
                let given = self.given_back(method, value);
                given.is_some_and(|(target, value)| self.makes_at(target, value, depth - 1))
            }
            Op::Binary(..) | Op::GetField(..) => made::is_counted(body, value),
            _ => false,
        }
    }

    /// Whether a value of which nothing says that it names something, a number or what was made
    /// here, does so if it is handed over unchanged, and printed on both sides.
    pub(crate) fn can_be_carried(&self, method: MethodId, place: &Place, is_number: bool) -> bool {
        let is_made_here = matches!(place.path.root, Root::Local(_)) && place.path.steps.is_empty();
        (is_number || is_made_here)
            && !self.is_no_identity(method, place)
            && place.path.steps.iter().all(|step| matches!(step, Step::Field(_)))
            && (!self.changes(&place.path) || self.is_taken_out(place))
            && !self.is_of_handler(place.path.steps.last())
            && !self.keys.is_sum(place.path.steps.last())
            && self.through_long_lived(method, place, is_number).is_none()
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
        // One of several that live as long as the process: another one has other values.
        if inside && is_this && self.made_in_loop[m.class.index()] {
            return Some(Some(IdentifierStrength::Weak));
        }
        inside.then_some(Some(IdentifierStrength::Node))
    }

    /// Whether a value is of an object that lives as long as the process, one of several that
    /// start-up makes in a loop.
    pub(crate) fn is_of_several(&self, place: &Place) -> bool {
        let holders = place.path.steps.iter().filter_map(|step| match step {
            Step::Field(f) => self.program.class(f.class),
            _ => None,
        });
        let is_one = |class: ClassId| self.is_long_lived(class) && self.made_in_loop[class.index()];
        holders.into_iter().any(is_one)
    }

    /// Whether a number that the program tells nothing apart by is an identifier all the same:
    /// measures are printed once; what several lines of one method show, unchanged, says what
    /// they are about, and so does what is handed over with a task. What sums up what was done
    /// so far goes from one request to the next.
    pub(crate) fn numbers_something(&self, place: &Place, value_class: Name, n_points: usize) -> bool {
        !self.keys.is_sum(place.path.steps.last())
            && (n_points >= 2 || self.task_fields.contains(&value_class))
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

/// Whether something is taken out of a collection of the library, or out of an array: it is the
/// taker's until it is given back.
fn is_taken_out(op: &Op) -> bool {
    let is_taken =
        is_take(op) && matches!(op, Op::Invoke { method, .. } if method.class.starts_with("java/util/"));
    is_taken || matches!(op, Op::ArrayLoad(..))
}
