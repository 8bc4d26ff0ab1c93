//! Builds the call graph, phase by phase.

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::closures::{ClosureId, Closures};
use super::flow::{Flow, Frame, Move, Node, Source};
use super::given::Given;
use super::initializers::Initializers;
use super::keepers::Keepers;
use super::machines::Machines;
use super::passed::Passed;
use super::reflection::{self, Constructors};
use super::resolve::{Resolver, class_of, signature};
use super::rpc::Rpc;
use super::starts::{Starts, direct_targets};
use super::{
    Call, CallGraph, CallKind, Root, RootKind, Times, around, called_back, containers, recursion, reflected,
    roots, scc, times,
};
use crate::ir::{Body, Const, InvokeKind, Op, ValueId};
use crate::limits::{DISPATCH_TARGETS_MAX, TABLE_TARGETS_MAX};
use crate::program::{ClassId, MethodId, MethodRef, Name, Program, access};
use crate::services::{self, Requests};

/// The call graph of `program`. Cost: linear in the size of the code.
pub fn build(program: &Program) -> CallGraph {
    let resolver = Resolver::new(program);
    let instantiated = instantiated(&resolver);
    let rpc = Rpc::find(&resolver);
    // The flow of values is followed by one thread: what does not need it is found meanwhile.
    let ((closures, flow, narrow), ((reflected, handlers), (initializers, constructors))) = rayon::join(
        || direct_calls(&resolver, &rpc, &instantiated),
        || {
            let met = (reflected::find(program), services::handlers(&resolver));
            (met, (Initializers::find(&resolver), Constructors::find(&resolver)))
        },
    );
    let (starts, (given, keepers, passed)) = rayon::join(
        || Starts::new(&resolver, &flow, &closures, &instantiated, &narrow),
        || {
            let given = Given::find(&resolver, &narrow);
            let keepers = Keepers::find(&resolver, &closures, &narrow);
            (given, keepers, Passed::find(&resolver, &flow, &narrow))
        },
    );
    let edges = Edges {
        resolver: &resolver,
        starts: &starts,
        given: &given,
        keepers: &keepers,
        initializers: &initializers,
        constructors: &constructors,
        flow: &flow,
    };
    let finished = narrow.par_iter().enumerate().map(|(i, list)| edges.of(MethodId::new(i), list));
    let mut calls: Vec<Vec<Call>> = finished.collect();
    let times_of_libraries = add_calls_of_libraries(&resolver, &handlers, &mut calls);
    recursion::join(&resolver, &mut calls);
    let machines = Machines::find(&resolver, &calls);
    add_edges(machines.edges, &mut calls);
    let commands = starts.commands(&narrow);
    let known = roots::Known { rpc: &rpc, handlers: &handlers, steps: &machines.steps };
    let roots = roots::roots(&resolver, &known, &starts, &instantiated, &calls);
    through_bridges(program, &roots, &mut calls);
    let (components, levels) = scc::levels(&calls);
    let mut steps: Vec<MethodId> = machines.steps.into_iter().collect();
    steps.sort_unstable();
    let mut times = times::find(program, &closures, &calls);
    times.extend(times_of_libraries);
    calls.iter_mut().for_each(Vec::shrink_to_fit);
    let mut graph = CallGraph {
        calls,
        callers: Vec::new(),
        times,
        roots,
        commands,
        told: keepers.told(program),
        passed,
        steps,
        instantiated,
        reflected,
        components,
        levels,
        handlers,
        requests: Requests::default(),
        rpc_interfaces: rpc_interfaces(program, &rpc),
    };
    graph.set_callers();
    services::connect(&resolver, &mut graph);
    graph
}

/// Adds what containers and libraries call; gives back how often.
fn add_calls_of_libraries(
    resolver: &Resolver<'_>,
    handlers: &[services::Handler],
    calls: &mut [Vec<Call>],
) -> Vec<((MethodId, ValueId, MethodId), Times)> {
    containers::given_to_libraries(resolver.program, handlers, calls);
    containers::publish_events(resolver, calls);
    containers::start_asynchronous(resolver.program, calls);
    let around = around::join(resolver, handlers, calls);
    let called_back = called_back::join(resolver, handlers, calls);
    let around = around.into_iter().map(|at| (at, Times::AtMostOnce));
    around.chain(called_back.into_iter().map(|at| (at, Times::Any))).collect()
}

fn add_edges(edges: impl IntoIterator<Item = (MethodId, Vec<Call>)>, calls: &mut [Vec<Call>]) {
    for (m, edges) in edges {
        calls[m.index()].extend(edges);
        calls[m.index()].sort_by(|a, b| (a.site, a.kind, &a.targets).cmp(&(b.site, b.kind, &b.targets)));
    }
}

/// The closures, what places can hold, and the calls with the targets that follow from that.
fn direct_calls(
    resolver: &Resolver<'_>,
    rpc: &Rpc,
    instantiated: &[bool],
) -> (Closures, Flow, Vec<Vec<Call>>) {
    let wide = plain_calls(resolver, rpc, instantiated);
    let mut closures = Closures::find(resolver, instantiated);
    let flow = value_flow(resolver, instantiated, &wide, &mut closures);
    let narrow = narrowed(resolver, &flow, &wide);
    (closures, flow, narrow)
}

/// The interfaces of RPCs with why they are such, sorted.
fn rpc_interfaces(program: &Program, rpc: &Rpc) -> Vec<(Name, String)> {
    let of = |(class, why): (&ClassId, &String)| (program.classes[class.index()].name, why.clone());
    let mut interfaces: Vec<(Name, String)> = rpc.interfaces.iter().map(of).collect();
    interfaces.sort();
    interfaces
}

/// A handler of events of one type is dispatched to by its bridge, and the method
/// behind it is called by whoever knows the type: both are the handler. Calls of
/// the one are calls of the other, so that nobody else does the handler's work.
/// What is given more than the event, or gives something back, helps its caller.
fn through_bridges(program: &Program, roots: &[Root], calls: &mut [Vec<Call>]) {
    let mut bridges: FxHashMap<MethodId, MethodId> = FxHashMap::default();
    for root in roots.iter().filter(|r| r.kind == RootKind::EventHandler) {
        let bridge = &program.methods[root.method.index()];
        let (params, result) = signature(&bridge.descriptor);
        if bridge.access & access::BRIDGE == 0 || params.len() != 1 || result != "V" {
            continue;
        }
        let behind = calls[root.method.index()].iter().flat_map(|c| &c.targets).copied();
        let mut behind = behind.filter(|m| program.methods[m.index()].name == bridge.name);
        if let (Some(real), None) = (behind.next(), behind.next()) {
            bridges.entry(real).or_insert(root.method);
        }
    }
    for (i, list) in calls.iter_mut().enumerate() {
        let caller = MethodId::new(i);
        for call in list.iter_mut().filter(|c| c.kind == CallKind::Direct) {
            for target in &mut call.targets {
                if let Some(&bridge) = bridges.get(target).filter(|&&b| b != caller) {
                    *target = bridge;
                }
            }
            call.targets.sort_unstable();
            call.targets.dedup();
        }
    }
}

/// Per class: made by `new`, or by reflection.
fn instantiated(resolver: &Resolver<'_>) -> Vec<bool> {
    let program = resolver.program;
    let found: FxHashSet<(ClassId, bool)> = program
        .methods
        .par_iter()
        .filter_map(|m| m.body.as_ref())
        .flat_map_iter(|body| made_in(program, body))
        .collect();
    let mut made = vec![false; program.classes.len()];
    let mut named = made.clone();
    for (class, is_new) in found {
        made[class.index()] |= is_new;
        named[class.index()] |= !is_new;
    }
    // Nobody ships dead code: a class that the program never makes, but gives
    // away as a constant, or that can be made without arguments and is named by
    // a configuration file, is made by reflection.
    for (i, class) in program.classes.iter().enumerate() {
        let concrete = class.access & (access::ABSTRACT | access::INTERFACE) == 0;
        let plain = || resolver.declared(ClassId::new(i), Name::from("<init>"), Name::from("()V")).is_some();
        made[i] |= concrete && (named[i] || plain() || containers::is_component(program, class));
    }
    made
}

/// Classes of which a body makes objects (true), or which it names (false).
fn made_in(program: &Program, body: &Body) -> Vec<(ClassId, bool)> {
    let mut made = Vec::new();
    for (_, inst) in body.iter() {
        match &inst.op {
            Op::New(c) => made.extend(program.class(*c).map(|class| (class, true))),
            Op::Invoke { method, args, .. } => {
                // Class constants for loggers and assertions make no objects.
                if matches!(method.name.as_str(), "getLog" | "getLogger" | "desiredAssertionStatus") {
                    continue;
                }
                for a in args {
                    if let Op::Const(Const::Class(name)) = body.op(*a) {
                        made.extend(program.class(*name).map(|class| (class, false)));
                    }
                }
            }
            _ => {}
        }
    }
    made
}

/// Calls with targets by instantiated types; not yet narrowed or cut.
fn plain_calls(resolver: &Resolver<'_>, rpc: &Rpc, instantiated: &[bool]) -> Vec<Vec<Call>> {
    let methods = &resolver.program.methods;
    let refs: FxHashSet<MethodRef> = methods
        .par_iter()
        .filter_map(|m| m.body.as_ref())
        .flat_map_iter(|body| body.iter().filter_map(|(_, inst)| virtual_ref(resolver, &inst.op)))
        .collect();
    let dispatch: FxHashMap<MethodRef, Vec<MethodId>> =
        refs.into_par_iter().map(|r| (r, resolver.dispatch(r, instantiated))).collect();
    methods
        .par_iter()
        .map(|m| {
            let Some(body) = &m.body else { return Vec::new() };
            let mut calls: Vec<Call> = body
                .iter()
                .filter_map(|(v, inst)| plain_call(resolver, rpc, &dispatch, m.class, v, &inst.op))
                .collect();
            calls.sort_by_key(|c| c.site);
            calls
        })
        .collect()
}

fn virtual_ref(resolver: &Resolver<'_>, op: &Op) -> Option<MethodRef> {
    match op {
        Op::Invoke { kind: InvokeKind::Virtual | InvokeKind::Interface, method, .. } => {
            resolver.own_class(method.class).map(|_| *method)
        }
        _ => None,
    }
}

fn plain_call(
    resolver: &Resolver<'_>,
    rpc: &Rpc,
    dispatch: &FxHashMap<MethodRef, Vec<MethodId>>,
    caller: ClassId,
    site: ValueId,
    op: &Op,
) -> Option<Call> {
    let Op::Invoke { kind, method, args } = op else { return None };
    let args: Vec<Option<ValueId>> = args.iter().map(|a| Some(*a)).collect();
    let has_body = |m: &MethodId| resolver.has_body(*m);
    match kind {
        InvokeKind::Static | InvokeKind::Special => {
            let class = resolver.own_class(method.class)?;
            let target = resolver.lookup(class, method.name, method.descriptor).filter(has_body)?;
            Some(Call { site, targets: vec![target], kind: CallKind::Direct, args })
        }
        InvokeKind::Virtual | InvokeKind::Interface => {
            if let Some(interface) = rpc.interface_of(resolver, *method) {
                let targets = rpc.servers(resolver, interface, method.name, method.descriptor);
                let local = rpc.is_local_call(resolver, caller, interface);
                let kind = if local { CallKind::Direct } else { CallKind::Rpc };
                return (!targets.is_empty()).then_some(Call { site, targets, kind, args });
            }
            let mut targets: Vec<MethodId> = dispatch.get(method).cloned().unwrap_or_default();
            targets.retain(has_body);
            // A library call has no targets yet; value flow may know some.
            Some(Call { site, targets, kind: CallKind::Direct, args })
        }
    }
}

fn value_flow(
    resolver: &Resolver<'_>,
    instantiated: &[bool],
    calls: &[Vec<Call>],
    closures: &mut Closures,
) -> Flow {
    let program = resolver.program;
    let mut flow = Flow::new(resolver);
    let mut is_called = vec![false; program.methods.len()];
    let put = add_moves(resolver, calls, closures, &mut flow);
    for calls in calls {
        for call in calls.iter().filter(|c| c.kind == CallKind::Direct) {
            let cut = call.targets.len().min(TABLE_TARGETS_MAX);
            call.targets[..cut].iter().for_each(|t| is_called[t.index()] = true);
        }
    }
    for (i, m) in program.methods.iter().enumerate() {
        // What a closure captures is what it was given where it was made, and a private
        // method that nobody calls runs never.
        let method = MethodId::new(i);
        let is_dead = m.access & access::PRIVATE != 0 && !closures.is_body(method);
        if !is_called[i] && !is_dead {
            let n = signature(m.descriptor.as_str()).0.len() + usize::from(!m.is_static());
            let asked = (0..n).filter(|&p| !closures.captures(method, p));
            asked.for_each(|p| flow.open(flow.param(method, p)));
        }
    }
    add_receivers(resolver, instantiated, &mut flow);
    flow.solve();
    closures.solve(&flow, &put);
    flow
}

/// Methods whose moves are held at once.
const METHODS_AT_ONCE: usize = 1 << 13;

/// Adds what all bodies move; gives back the closures that they put into nodes.
fn add_moves(
    resolver: &Resolver<'_>,
    calls: &[Vec<Call>],
    closures: &Closures,
    flow: &mut Flow,
) -> Vec<(Node, ClosureId)> {
    let methods = &resolver.program.methods;
    let mut put = Vec::new();
    for first in (0..methods.len()).step_by(METHODS_AT_ONCE) {
        let some = first..methods.len().min(first + METHODS_AT_ONCE);
        let flow_so_far = &*flow;
        let of_method = |i: usize| {
            let targets = |v: ValueId| {
                let mut t = direct_targets(&calls[i], v);
                t.truncate(TABLE_TARGETS_MAX);
                t
            };
            let method = MethodId::new(i);
            let mut moves = flow_so_far.moves(resolver, method, &targets);
            if let Some(body) = &methods[i].body {
                moves.extend(closures.moves(&Frame {
                    resolver,
                    flow: flow_so_far,
                    method,
                    body,
                    targets: &targets,
                }));
            }
            moves
        };
        let moves: Vec<Vec<Move>> = some.clone().into_par_iter().map(of_method).collect();
        for (method, moves) in some.map(MethodId::new).zip(moves) {
            for (to, source) in moves {
                flow.add_move((to, source));
                if let Source::Closure(at) = source {
                    put.extend(closures.made_at(method, at).map(|closure| (to, closure)));
                }
            }
        }
    }
    put
}

/// `this` can be any object that has the method, also one made by reflection.
fn add_receivers(resolver: &Resolver<'_>, instantiated: &[bool], flow: &mut Flow) {
    let program = resolver.program;
    for (i, _) in instantiated.iter().enumerate().filter(|(_, made)| **made) {
        for owner in resolver.supertypes(ClassId::new(i)) {
            for m in program.classes[owner.index()].methods.clone().map(MethodId::new) {
                if !program.methods[m.index()].is_static() && resolver.has_body(m) {
                    flow.add_type(flow.param(m, 0), ClassId::new(i));
                }
            }
        }
    }
}

/// Dispatch restricted to the classes that reach the receiver, where they are
/// known.
fn narrowed(resolver: &Resolver<'_>, flow: &Flow, wide: &[Vec<Call>]) -> Vec<Vec<Call>> {
    let methods = &resolver.program.methods;
    methods
        .par_iter()
        .enumerate()
        .map(|(i, m)| {
            let Some(body) = &m.body else { return Vec::new() };
            let targets = |v: ValueId| direct_targets(&wide[i], v);
            let frame = Frame { resolver, flow, method: MethodId::new(i), body, targets: &targets };
            wide[i].iter().map(|call| accepting(&frame, narrow(&frame, call))).collect()
        })
        .collect()
}

fn narrow(frame: &Frame<'_>, call: &Call) -> Call {
    let Op::Invoke { kind: InvokeKind::Virtual | InvokeKind::Interface, method, args } =
        frame.body.op(call.site)
    else {
        return call.clone();
    };
    if call.kind != CallKind::Direct || call.targets.len() == 1 {
        return call.clone();
    }
    // `this` may be of any class below; parameters are not told apart by caller.
    if matches!(frame.body.op(args[0]), Op::Param(0)) && !call.targets.is_empty() {
        return call.clone();
    }
    let types = frame.flow.types_of(&frame.sources(args[0]));
    if types.open || types.classes.is_empty() {
        return call.clone();
    }
    let resolver = frame.resolver;
    let mut targets: Vec<MethodId> = types
        .classes
        .iter()
        .filter(|c| resolver.is_subtype(**c, method.class))
        .filter_map(|&c| resolver.lookup(c, method.name, method.descriptor))
        .filter(|&m| resolver.has_body(m))
        .collect();
    targets.sort_unstable();
    targets.dedup();
    if targets.is_empty() {
        return call.clone();
    }
    Call { targets, ..call.clone() }
}

/// Without the targets that would refuse an argument: where an interface is
/// generic, a bridge method casts its parameters to what the class takes, so
/// that an event of one type never reaches the handler of another.
fn accepting(frame: &Frame<'_>, mut call: Call) -> Call {
    if call.kind == CallKind::Direct && call.targets.len() > 1 {
        let types: Vec<Option<Name>> =
            call.args.iter().map(|a| a.and_then(|a| declared_type(frame, a))).collect();
        let takes = |target: &MethodId| {
            casts(frame.resolver, *target).all(|(param, class)| {
                let given = types.get(param).copied().flatten();
                given.is_none_or(|given| are_related(frame.resolver, given, class))
            })
        };
        let kept: Vec<MethodId> = call.targets.iter().copied().filter(takes).collect();
        if !kept.is_empty() {
            call.targets = kept;
        }
    }
    call
}

/// The classes to which a bridge method casts its parameters.
fn casts(resolver: &Resolver<'_>, target: MethodId) -> impl Iterator<Item = (usize, Name)> {
    let m = &resolver.program.methods[target.index()];
    let body = m.body.as_ref().filter(|_| m.access & access::BRIDGE != 0);
    body.into_iter().flat_map(|body| {
        body.iter().filter_map(|(_, inst)| match inst.op {
            Op::Cast(class, value) => match body.op(value) {
                Op::Param(i) => Some((*i as usize, class)),
                _ => None,
            },
            _ => None,
        })
    })
}

/// The class that the code says a value has.
fn declared_type(frame: &Frame<'_>, value: ValueId) -> Option<Name> {
    let m = &frame.resolver.program.methods[frame.method.index()];
    let own = usize::from(!m.is_static());
    match frame.body.op(value) {
        Op::New(class) | Op::Cast(class, _) => Some(*class),
        Op::GetField(field, _) => class_of(&field.descriptor).map(Name::from),
        Op::Invoke { method, .. } => class_of(signature(&method.descriptor).1).map(Name::from),
        Op::Param(i) => {
            let (params, _) = signature(&m.descriptor);
            params.get((*i as usize).checked_sub(own)?).and_then(|p| class_of(p)).map(Name::from)
        }
        _ => None,
    }
}

/// Whether an object can be of both classes, as far as the program knows them.
fn are_related(resolver: &Resolver<'_>, a: Name, b: Name) -> bool {
    let (Some(class_a), Some(class_b)) = (resolver.own_class(a), resolver.own_class(b)) else { return true };
    resolver.is_interface(class_a)
        || resolver.is_interface(class_b)
        || resolver.is_subtype(class_a, b)
        || resolver.is_subtype(class_b, a)
}

/// What the edges of a method come from, beside its plain calls.
struct Edges<'a> {
    resolver: &'a Resolver<'a>,
    starts: &'a Starts<'a>,
    given: &'a Given,
    keepers: &'a Keepers,
    initializers: &'a Initializers,
    constructors: &'a Constructors,
    flow: &'a Flow,
}

impl Edges<'_> {
    /// The plain `calls` of a method with handler tables cut, and the tasks and callbacks
    /// that it gives away.
    fn of(&self, method: MethodId, calls: &[Call]) -> Vec<Call> {
        let Self { resolver, starts, flow, .. } = *self;
        let Some(body) = &resolver.program.methods[method.index()].body else { return Vec::new() };
        let targets = |v: ValueId| direct_targets(calls, v);
        let frame = Frame { resolver, flow, method, body, targets: &targets };
        let mut all: Vec<Call> = Vec::with_capacity(calls.len());
        for call in calls {
            if call.targets.is_empty() || is_given(starts, &frame, call) {
                continue;
            }
            let mut call = call.clone();
            let is_wide = call.targets.len() > DISPATCH_TARGETS_MAX;
            let is_template = starts.is_template(method, call.site);
            if call.kind == CallKind::Direct && (is_wide || is_template || is_lookup(body, &call)) {
                call.kind = CallKind::Table;
            }
            if call.targets.len() <= TABLE_TARGETS_MAX {
                all.push(call);
            }
        }
        all.extend(starts.edges(method, calls));
        all.extend(self.given.edges(resolver, body, calls));
        all.extend(self.keepers.edges(resolver, body, calls));
        all.extend(self.initializers.edges(resolver, method));
        all.extend(reflection::constructor_edges(self.constructors, body));
        all.sort_by(|a, b| (a.site, a.kind, &a.targets).cmp(&(b.site, b.kind, &b.targets)));
        all.dedup();
        all
    }
}

/// A library-declared call on a parameter that the callers give: their edge.
fn is_given(starts: &Starts<'_>, frame: &Frame<'_>, call: &Call) -> bool {
    let Op::Invoke { method, args, .. } = frame.body.op(call.site) else { return false };
    if frame.resolver.own_class(method.class).is_some() || args.is_empty() {
        return false;
    }
    frame.sources(args[0]).iter().any(|s| match s {
        Source::Node(n) => {
            (0..12).any(|i| frame.flow.param(frame.method, i) == *n && starts.is_gift(frame.method, i))
        }
        _ => false,
    })
}

/// The receiver was looked up by key in a map: handlers by event or message.
fn is_lookup(body: &Body, call: &Call) -> bool {
    let Op::Invoke { kind: InvokeKind::Virtual | InvokeKind::Interface, args, .. } = body.op(call.site)
    else {
        return false;
    };
    if call.targets.len() < 2 {
        return false;
    }
    matches!(body.op(body.uncast(args[0])), Op::Invoke { method, .. }
        if method.name.as_str() == "get" && method.class.as_str().ends_with("Map"))
}
