//! Names of the threads of pools: from where a task is handed to a pool back to
//! where the pool was made, and to the factory that names its threads.
//!
//! Under-approximates: pools that come out of a map or a parameter of everybody
//! are not followed; their threads have any name.

use super::apis::{POOLS, sets_factory, sets_format};
use super::bodies::ThreadBody;
use super::naming::{bodies_at, is_factory, name_of_new};
use super::{Found, limits};
use crate::call_graph::{Call, CallGraph, CallKind};
use crate::ir::{BootstrapArg, InvokeKind, Op, ValueId};
use crate::log_points::wrapper;
use crate::program::{FieldRef, MethodId, Name};
use crate::strings::facts::Facts;
use crate::strings::format::{Argument, Arguments};
use crate::strings::term::{Pattern, Term};
use crate::strings::{Arg, Evaluator, FrameId, Place, PlaceId, types};

mod kept;

/// The names of the threads that run the tasks that a method hands to pools.
pub(super) fn names_of(facts: &Facts<'_>, graph: &CallGraph, method: MethodId) -> Vec<Found> {
    let Some(body) = &facts.program.methods[method.index()].body else { return Vec::new() };
    let mut found = Vec::new();
    for (site, inst) in body.iter() {
        let Op::Invoke { kind: InvokeKind::Virtual | InvokeKind::Interface, method: named, args } = &inst.op
        else {
            continue;
        };
        if args.len() < 2 || !is_pool(facts, named.class) {
            continue;
        }
        let starts = |c: &&Call| c.site == site && matches!(c.kind, CallKind::Start(_) | CallKind::Exit);
        let started = graph.calls(method).iter().filter(starts).flat_map(|c| &c.targets);
        let mut bodies: Vec<ThreadBody> = started.map(|&target| target.into()).collect();
        bodies.extend(handed_bodies(graph, method));
        if bodies.is_empty() {
            bodies = given_bodies(facts, method, &args[1..]);
        }
        if !bodies.is_empty() {
            found.extend(names_at(facts, method, args[0], &bodies));
        }
    }
    found
}

/// Bodies of the tasks that its callers hand to a method which passes them on to a pool.
fn handed_bodies(graph: &CallGraph, method: MethodId) -> Vec<ThreadBody> {
    let mut bodies = Vec::new();
    let mut seen = vec![method];
    let mut at = 0;
    while at < seen.len() && seen.len() <= limits::POOL_PLACES_MAX {
        for &(caller, call) in &graph.callers[seen[at].index()] {
            let calls = graph.calls(caller);
            let direct = &calls[call];
            if direct.kind != CallKind::Direct {
                continue;
            }
            let starts =
                |c: &&Call| c.site == direct.site && matches!(c.kind, CallKind::Start(_) | CallKind::Exit);
            let before = bodies.len();
            let started = calls.iter().filter(starts).flat_map(|c| &c.targets);
            bodies.extend(started.map(|&target| ThreadBody::from(target)));
            // Who starts nothing itself passes on what it is given.
            if bodies.len() == before && !seen.contains(&caller) {
                seen.push(caller);
            }
        }
        at += 1;
    }
    bodies
}

/// Bodies of the tasks that a method passes on to a pool, by their class.
fn given_bodies(facts: &Facts<'_>, method: MethodId, args: &[ValueId]) -> Vec<ThreadBody> {
    let mut e = Evaluator::new(facts, method);
    let places: Vec<PlaceId> = args.iter().map(|&arg| e.place(FrameId::ROOT, arg)).collect();
    places.into_iter().flat_map(|place| bodies_at(&mut e, place)).collect()
}

/// The names of the threads of the pool that a method is given or has.
fn names_at(facts: &Facts<'_>, method: MethodId, pool: ValueId, bodies: &[ThreadBody]) -> Vec<Found> {
    let mut found = Vec::new();
    let mut chains: Vec<wrapper::Chain> = vec![Vec::new()];
    for _ in 0..limits::WRAPPER_DEPTH_MAX {
        let mut longer: Vec<wrapper::Chain> = Vec::new();
        for chain in chains {
            let root = chain.first().map_or(method, |outer| outer.0);
            let mut e = Evaluator::new(facts, root);
            let Some(frame) = wrapper::enter_chain(&mut e, &chain, method) else { continue };
            let place = e.place(frame, pool);
            let is_kept = kept::collection(&e, frame, pool).is_some();
            if chain.is_empty() && (is_own_field(&e, place) || is_kept) {
                found.extend(names_of_made(facts, method, pool, bodies));
                if !found.is_empty() {
                    continue;
                }
            }
            let is_given = matches!(e.place_node(place), Place::Value(FrameId::ROOT, v)
                if matches!(e.op(FrameId::ROOT, v), Op::Param(_)));
            if is_given {
                let callers = wrapper::callers_of(facts, root);
                if callers.len() <= limits::WRAPPER_CALLERS_MAX {
                    longer.extend(callers.iter().map(|&c| [vec![c], chain.clone()].concat()));
                }
                continue;
            }
            for term in (Pools { e: &mut e, seen: Vec::new() }).of_pool(place) {
                found.extend(Found::new(&mut e, term, bodies.to_vec()));
            }
        }
        if longer.is_empty() || longer.len() > limits::WRAPPER_CALLERS_MAX {
            break;
        }
        chains = longer;
    }
    found
}

/// Whether a place is a field of the root method's own object.
fn is_own_field(e: &Evaluator<'_>, place: PlaceId) -> bool {
    let Place::Field(object, _) = e.place_node(place) else { return false };
    let is_static = e.program().methods[e.method_of(FrameId::ROOT).index()].is_static();
    !is_static
        && matches!(e.place_node(object), Place::Value(FrameId::ROOT, v)
            if matches!(e.op(FrameId::ROOT, v), Op::Param(0)))
}

/// The names of the threads of the pool that the object of a method has, as those say who
/// make such objects: names are often among what a constructor is given.
fn names_of_made(facts: &Facts<'_>, method: MethodId, pool: ValueId, bodies: &[ThreadBody]) -> Vec<Found> {
    let class = facts.program.methods[method.index()].class;
    let methods = facts.program.classes[class.index()].methods.clone().map(MethodId::new);
    let constructors = methods.filter(|m| facts.program.methods[m.index()].name == "<init>");
    let calls = constructors.flat_map(|constructor| wrapper::callers_of(facts, constructor)).copied();
    let mut found = Vec::new();
    for (maker, call) in calls.take(limits::WRAPPER_CALLERS_MAX) {
        let mut e = Evaluator::new(facts, maker);
        let Op::Invoke { args, .. } = e.op(FrameId::ROOT, call) else { continue };
        let made = args[0];
        if !matches!(e.op(FrameId::ROOT, made), Op::New(_)) {
            continue;
        }
        let object = e.place(FrameId::ROOT, made);
        let m = &facts.program.methods[method.index()];
        let mut given = vec![Arg::Unknown; types::parameters(&m.descriptor).len() + 1];
        given[0] = Arg::Place(object);
        let Some(frame) = e.make_frame(FrameId::ROOT, None, method, given, None) else { continue };
        let place = e.place(frame, pool);
        let mut pools = Pools { e: &mut e, seen: Vec::new() };
        let mut terms = pools.of_pool(place);
        terms.extend(pools.of_kept(frame, pool));
        for term in terms {
            found.extend(Found::new(&mut e, term, bodies.to_vec()));
        }
    }
    found
}

fn is_pool(facts: &Facts<'_>, class: Name) -> bool {
    POOLS.iter().any(|p| facts.is_subtype(class, Name::from(p)))
}

/// Follows pools and factories back to names.
struct Pools<'e, 'p> {
    e: &'e mut Evaluator<'p>,
    /// Places that were looked at.
    seen: Vec<PlaceId>,
}

impl Pools<'_, '_> {
    /// The names of the threads of the pool or factory at `place`.
    fn of_pool(&mut self, place: PlaceId) -> Vec<Term> {
        if self.seen.len() > limits::POOL_PLACES_MAX || self.seen.contains(&place) {
            return Vec::new();
        }
        self.seen.push(place);
        match self.e.place_node(place) {
            Place::Value(frame, value) => match self.e.op(frame, value) {
                Op::New(class) => self.of_new(place, frame, value, *class),
                Op::Phi(operands) => {
                    let mut terms = Vec::new();
                    for &(_, operand) in operands {
                        let place = self.e.place(frame, operand);
                        terms.extend(self.of_pool(place));
                    }
                    terms
                }
                Op::Invoke { kind, method, args } => {
                    let (kind, method) = (*kind, *method);
                    let mut terms = self.of_formats(frame, value);
                    if terms.is_empty() {
                        terms = self.of_returned(frame, value, kind, method, args);
                    }
                    if terms.is_empty() { self.of_arguments(frame, args) } else { terms }
                }
                Op::InvokeDynamic { bootstrap, args, .. } => {
                    let target = bootstrap.args.iter().find_map(|arg| match arg {
                        BootstrapArg::Handle { target, .. } => Some(*target),
                        _ => None,
                    });
                    let mut given: Vec<Arg> = args.iter().map(|&a| Arg::At(frame, a)).collect();
                    given.push(Arg::Unknown);
                    let body = target.and_then(|t| self.e.facts.resolve(t.class, t.name, t.descriptor));
                    let inner = body.and_then(|b| self.e.make_frame(frame, None, b, given, None));
                    inner.map_or_else(Vec::new, |inner| name_of_new(self.e, inner, 0))
                }
                _ => Vec::new(),
            },
            Place::Field(object, field) => self.of_field(Some(object), field),
            Place::Static(field) => self.of_field(None, field),
            Place::Call(..) | Place::Element(_) => Vec::new(),
        }
    }

    /// A pool or factory that is made in a frame.
    fn of_new(&mut self, place: PlaceId, frame: FrameId, value: ValueId, class: Name) -> Vec<Term> {
        if is_factory(self.e.facts, class) {
            return self.of_factory(place, frame, class);
        }
        let set = self.of_setters(frame, place);
        if !set.is_empty() {
            return set;
        }
        let init = self.e.facts.info(self.e.method_of(frame)).init.get(&value).copied();
        init.map_or_else(Vec::new, |init| self.of_constructor(frame, init, 0))
    }

    /// What a constructor is given, or gives to the constructor above it.
    fn of_constructor(&mut self, frame: FrameId, init: ValueId, depth: u32) -> Vec<Term> {
        let Op::Invoke { method, args, .. } = self.e.op(frame, init) else { return Vec::new() };
        let target = self.e.facts.resolve(method.class, method.name, method.descriptor);
        let Some(target) = target.filter(|_| depth < 5) else { return self.of_arguments(frame, &args[1..]) };
        let Some(inner) = self.e.enter(frame, init, target, args) else { return Vec::new() };
        let this = self.e.facts.info(target).params.get(&0).copied();
        let calls: Vec<ValueId> = self
            .e
            .body(inner)
            .iter()
            .filter(|(_, inst)| {
                matches!(&inst.op, Op::Invoke { kind: InvokeKind::Special, method, args }
                    if method.name == "<init>" && this.is_some() && args.first().copied() == this)
            })
            .map(|(call, _)| call)
            .collect();
        calls.into_iter().flat_map(|call| self.of_constructor(inner, call, depth + 1)).collect()
    }

    /// Pools and factories among arguments.
    fn of_arguments(&mut self, frame: FrameId, args: &[ValueId]) -> Vec<Term> {
        let mut terms = Vec::new();
        for &arg in args {
            let descriptor = self.e.descriptor_of(frame, arg);
            let Some(class) = types::class_of(&descriptor).map(Name::from) else { continue };
            if is_factory(self.e.facts, class) || is_pool(self.e.facts, class) {
                let place = self.e.place(frame, arg);
                terms.extend(self.of_pool(place));
            }
        }
        terms
    }

    /// What `newThread` of a factory calls its threads.
    fn of_factory(&mut self, place: PlaceId, frame: FrameId, class: Name) -> Vec<Term> {
        let descriptor = Name::from("(Ljava/lang/Runnable;)Ljava/lang/Thread;");
        let made = self.e.facts.resolve(class, Name::from("newThread"), descriptor);
        let args = vec![Arg::Place(place), Arg::Unknown];
        let Some(inner) = made.and_then(|m| self.e.make_frame(frame, None, m, args, None)) else {
            return Vec::new();
        };
        let terms = name_of_new(self.e, inner, 0);
        if terms.is_empty() {
            // It asks another factory, which it was given or makes.
            let calls: Vec<ValueId> = (self.e.body(inner).iter())
                .filter(|(_, inst)| {
                    matches!(&inst.op, Op::Invoke { method, args, .. }
                        if method.name == "newThread" && !args.is_empty())
                })
                .map(|(call, _)| call)
                .collect();
            let mut asked = Vec::new();
            for call in calls {
                let Op::Invoke { args, .. } = self.e.op(inner, call) else { continue };
                let place = self.e.place(inner, args[0]);
                asked.extend(self.of_pool(place));
            }
            return asked;
        }
        terms
    }

    /// Formats that the builder of a factory was given, where `built` is what a
    /// chain of its methods gives.
    fn of_formats(&mut self, frame: FrameId, built: ValueId) -> Vec<Term> {
        let root = self.chain_root(frame, built);
        let body = self.e.body(frame);
        let formats: Vec<(ValueId, ValueId)> = body
            .iter()
            .filter_map(|(call, inst)| match &inst.op {
                Op::Invoke { method, args, .. } if sets_format(method) && args.len() == 2 => {
                    (self.chain_root(frame, args[0]) == root).then_some((call, args[1]))
                }
                _ => None,
            })
            .collect();
        let mut terms = Vec::new();
        for (call, format) in formats {
            let text = self.e.text(frame, format, Name::from(super::apis::STRING), call);
            let number = self.e.terms.unknown(Pattern::Integer, "J");
            let arguments =
                Arguments { known: vec![Argument { text: number, throwable: false }], complete: true };
            terms.push(self.e.printf(text, &arguments));
        }
        terms
    }

    /// The object that a chain of calls begins with.
    fn chain_root(&self, frame: FrameId, mut value: ValueId) -> ValueId {
        loop {
            match self.e.op(frame, value) {
                Op::Cast(_, inner) => value = *inner,
                Op::Invoke { kind: InvokeKind::Virtual, args, .. } => value = args[0],
                _ => return value,
            }
        }
    }

    /// Factories that the pool at `place` is given later in the same method.
    fn of_setters(&mut self, frame: FrameId, place: PlaceId) -> Vec<Term> {
        let calls: Vec<(ValueId, ValueId)> = (self.e.body(frame).iter())
            .filter_map(|(_, inst)| match &inst.op {
                Op::Invoke { method, args, .. } if sets_factory(method) && args.len() == 2 => {
                    Some((args[0], args[1]))
                }
                _ => None,
            })
            .collect();
        let mut terms = Vec::new();
        for (pool, factory) in calls {
            let pool = self.e.place(frame, pool);
            let is_it = pool == place || self.holds(frame, pool, place);
            if is_it {
                let factory = self.e.place(frame, factory);
                terms.extend(self.of_pool(factory));
            }
        }
        terms
    }

    /// Whether a method stores what is at `place` in the field at `field`.
    fn holds(&mut self, frame: FrameId, field: PlaceId, place: PlaceId) -> bool {
        let (Place::Field(_, wanted) | Place::Static(wanted)) = self.e.place_node(field) else {
            return false;
        };
        let puts = self.e.facts.info(self.e.method_of(frame)).puts.clone();
        puts.into_iter().any(|put| match self.e.op(frame, put) {
            Op::PutField(field, _, value) if *field == wanted => self.e.place(frame, *value) == place,
            _ => false,
        })
    }

    /// What the program stores in a field.
    fn of_field(&mut self, object: Option<PlaceId>, field: FieldRef) -> Vec<Term> {
        let writes = self.e.facts.writes(field).to_vec();
        if writes.len() > limits::POOL_WRITES_MAX {
            return Vec::new();
        }
        let mut terms = Vec::new();
        for (method, put) in writes {
            for frame in self.writers(object, method, 0) {
                let Op::PutField(_, _, value) = self.e.op(frame, put) else { continue };
                let place = self.e.place(frame, *value);
                terms.extend(self.of_pool(place));
            }
        }
        terms
    }

    /// Frames of a method that writes a field of `object`: of a constructor one
    /// per way to it, for the names are often among its arguments.
    fn writers(&mut self, object: Option<PlaceId>, method: MethodId, depth: u32) -> Vec<FrameId> {
        let declared = &self.e.program().methods[method.index()];
        let mut frames = Vec::new();
        if declared.name == "<init>" || depth > 0 {
            let callers = wrapper::callers_of(self.e.facts, method);
            if depth < limits::WRAPPER_DEPTH_MAX && callers.len() <= limits::POOL_WRITES_MAX * 2 {
                for &(caller, call) in callers {
                    for outer in self.writers(None, caller, depth + 1) {
                        let Op::Invoke { args, .. } = self.e.op(outer, call) else { continue };
                        frames.extend(self.e.enter(outer, call, method, args));
                    }
                    // Too many already: what the other callers give is not looked at.
                    if frames.len() > limits::POOL_PLACES_MAX {
                        break;
                    }
                }
            }
        }
        if frames.is_empty() || frames.len() > limits::POOL_PLACES_MAX {
            let n = types::parameters(&declared.descriptor).len() + usize::from(!declared.is_static());
            let mut args = vec![Arg::Unknown; n];
            if let (Some(object), false) = (object, declared.is_static()) {
                args[0] = Arg::Place(object);
            }
            frames = self.e.make_frame(FrameId::ROOT, None, method, args, None).into_iter().collect();
        }
        frames
    }

    /// What an own method gives back.
    fn of_returned(
        &mut self,
        frame: FrameId,
        call: ValueId,
        kind: InvokeKind,
        method: crate::program::MethodRef,
        args: &[ValueId],
    ) -> Vec<Term> {
        let mut terms = Vec::new();
        for target in self.e.targets(frame, kind, method, args) {
            let Some(inner) = self.e.enter(frame, call, target, args) else { continue };
            for &(_, value) in &self.e.facts.info(target).returns {
                let place = self.e.place(inner, value);
                terms.extend(self.of_pool(place));
            }
        }
        terms
    }
}
