//! Who works on what is taken from a channel: the unit whose thread takes it, or, where that
//! unit only dispatches, the units that are called with what was taken.

use std::sync::{Arc, PoisonError, RwLock};

use rustc_hash::{FxHashMap, FxHashSet};

use super::Context;
use super::cargo::Cargo;
use super::facts::{Channel, Fact, Facts};
use super::homes::Object;
use super::regions::{Edge, Region, UnitId, Units};
use super::topics;
use super::uses::{Taken, users};
use crate::ir::{Op, ValueId};
use crate::program::{FieldRef, MethodId, Name, access};

/// Levels of callers looked at above the place where a message is read, to find
/// who is called with it: readers of messages are wrapped.
const READER_LEVELS_MAX: usize = 3;

/// The same for what is taken from a queue: a dispatcher takes it itself, and
/// queues further down are for other purposes (pools of buffers).
const TAKER_LEVELS_MAX: usize = 1;

/// Calls between who is told a key of a store and who works on it.
const TOLD_LEVELS_MAX: usize = 2;

/// One end of a channel at one unit.
#[derive(Clone, Debug)]
pub(super) struct End {
    pub(super) unit: UnitId,
    /// Where the value is put or taken.
    pub(super) at: (MethodId, ValueId),
    pub(super) value: Option<ValueId>,
    /// The value is a list of what is put or taken.
    pub(super) is_list: bool,
    /// What is put first is taken first.
    pub(super) is_in_order: bool,
    /// The object that was given the channel, if one was.
    pub(super) object: Option<Object>,
    /// Constants of enums: senders: with which what they put is made; receivers: for which
    /// they are registered as handlers.
    pub(super) verbs: Arc<[FieldRef]>,
    /// The names under which the channel is in a table, if they are known.
    pub(super) topics: Arc<[Name]>,
    /// Receivers: the classes as one of which alone they use it, if they do.
    pub(super) classes: Arc<[Name]>,
    /// Receivers: edges from the unit's first method up to `at`.
    pub(super) way: Arc<[Edge]>,
    /// Senders: what they can put.
    pub(super) cargo: Cargo,
    pub(super) many: bool,
}

impl End {
    /// An end of which nothing else is known.
    pub(super) fn of(unit: UnitId) -> Self {
        End {
            unit,
            at: (MethodId::new(0), ValueId::new(0)),
            value: None,
            is_list: false,
            is_in_order: false,
            object: None,
            verbs: Arc::default(),
            topics: Arc::default(),
            classes: Arc::default(),
            way: Arc::default(),
            cargo: Cargo::Any,
            many: false,
        }
    }
}

/// Who works on a key that `method` is told: the unit that begins with it, else
/// those that it calls or starts.
pub(super) fn told(context: Context<'_>, units: &Units, method: MethodId, param: ValueId) -> Vec<End> {
    let end = |unit, way: Vec<Edge>| {
        let (at, way) = ((method, param), way.into());
        End { at, value: Some(param), way, ..End::of(unit) }
    };
    if let Some(unit) = units.of(context, method) {
        return vec![end(unit, Vec::new())];
    }
    let mut ends: Vec<End> = Vec::new();
    let mut level: Vec<(MethodId, Vec<Edge>)> = vec![(method, Vec::new())];
    for _ in 0..TOLD_LEVELS_MAX {
        let mut next = Vec::new();
        for (caller, way) in level {
            for (i, call) in context.graph.calls(caller).iter().enumerate() {
                for &target in &call.targets {
                    let way: Vec<Edge> =
                        [(caller, i, target)].into_iter().chain(way.iter().copied()).collect();
                    match units.of(context, target) {
                        Some(unit) if !ends.iter().any(|end| end.unit == unit) => ends.push(end(unit, way)),
                        Some(_) => {}
                        None if call.kind.is_local() => next.push((target, way)),
                        None => {}
                    }
                }
            }
        }
        level = next;
    }
    ends
}

/// Who works on what `unit` takes at `fact`.
pub(super) fn receivers_of(
    context: Context<'_>,
    units: &Units,
    (facts, workers): (&Facts, &Workers),
    unit: UnitId,
    method: MethodId,
    fact: &Fact,
) -> Arc<[End]> {
    let taken = Taken { method, site: fact.site, value: fact.value };
    let from = Source { is_list: fact.is_list, is_in_order: fact.is_in_order, object: fact.object };
    let itself = || -> Arc<[End]> { Arc::new([taken_by(taken, from, unit, Arc::default())]) };
    // Which of them what was taken is meant for.
    let meant = |found: Arc<[End]>| -> Arc<[End]> {
        if fact.key.is_none() && (facts.registered.is_empty() || !matches!(fact.channel, Channel::Queue(_))) {
            return found;
        }
        let of = |end: &End| {
            let root = units.region(end.unit).root;
            let topics = fact.key.map(|key| topics::received(context, key, &end.way, root));
            let verbs = facts.verbs_of(context, root).into();
            End { verbs, topics: topics.unwrap_or_default().into(), ..end.clone() }
        };
        found.iter().map(of).collect()
    };
    // What a silent loop takes it hands on itself, or its handlers are known by what they take.
    if !units.passes(unit) || units.is_silent_loop(unit) {
        return meant(itself());
    }
    let region = units.region(unit);
    let levels = match fact.channel {
        Channel::Queue(_) | Channel::Collection(_) | Channel::Map(_) => TAKER_LEVELS_MAX,
        _ => READER_LEVELS_MAX,
    };
    let mut level = vec![Held { value: taken, is_it: true }];
    for _ in 0..=levels {
        let found = workers.on(context, units, (taken, from), &level);
        if !found.is_empty() {
            // What prints nothing but its failure can start tasks for what it reads as well.
            let is_read = matches!(fact.channel, Channel::Line | Channel::Record(..) | Channel::Address);
            if is_read && (units.top_level(unit).is_none() || units.fails_only(unit)) {
                return meant(found.iter().chain(itself().iter()).cloned().collect());
            }
            return meant(found);
        }
        level = level.iter().flat_map(|held| callers(context, region, held)).collect();
        level.sort_unstable();
        level.dedup();
    }
    meant(itself())
}

/// Who has what was taken at one place.
fn taken_by(taken: Taken, from: Source, unit: UnitId, way: Arc<[Edge]>) -> End {
    let Source { is_list, is_in_order, object } = from;
    let at = (taken.method, taken.site);
    End { at, value: taken.value, is_list, is_in_order, object, way, ..End::of(unit) }
}

/// What is known of a channel at the place where something is taken from it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Source {
    is_list: bool,
    is_in_order: bool,
    object: Option<Object>,
}

/// A value that holds what was taken, in a method at or above the place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Held {
    value: Taken,
    /// It is what was taken, handed on as it is.
    is_it: bool,
}

/// What was taken, and the values of one level above that hold it.
type TakenFrom = ((Taken, Source), Vec<Held>);

/// Who works on what was taken, found once for all units that take it there.
#[derive(Default)]
pub(super) struct Workers {
    known: RwLock<FxHashMap<TakenFrom, Arc<[End]>>>,
}

impl Workers {
    /// Units that are called with what a `level` above a place has of what was
    /// `taken` there.
    fn on(
        &self,
        context: Context<'_>,
        units: &Units,
        (taken, from): (Taken, Source),
        level: &[Held],
    ) -> Arc<[End]> {
        let key = ((taken, from), level.to_vec());
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner).get(&key).map(Arc::clone);
        if let Some(known) = known {
            return known;
        }
        let mut found: Vec<End> = Vec::new();
        for held in level {
            let sites = users(context, held.value);
            let below = sites.iter().map(|sites| units.below(context, held.value.method, sites));
            // What is handed on as it is goes by the name that it has where it is used.
            let taken = if held.is_it { held.value } else { taken };
            for (below, way) in below.into_iter().find(|found| !found.is_empty()).unwrap_or_default() {
                let classes = asked_for(context, &way, held.value);
                found.push(End { classes: classes.into(), ..taken_by(taken, from, below, way.into()) });
            }
        }
        let found: Arc<[End]> = found.into();
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.insert(key, Arc::clone(&found));
        found
    }
}

/// The classes as one of which alone who is handed what was `taken` on its `way` uses it.
fn asked_for(context: Context<'_>, way: &[Edge], taken: Taken) -> Vec<Name> {
    let found = way.iter().find_map(|&(caller, call, target)| {
        let caller = Some(caller).filter(|caller| *caller == taken.method)?;
        let body = context.program.methods[caller.index()].body.as_ref()?;
        let value = body.uncast(taken.value?);
        let mut args = context.graph.calls(caller)[call].args.iter();
        let param = args.position(|arg| arg.is_some_and(|arg| body.uncast(arg) == value))?;
        Some((context.program.methods[target.index()].body.as_ref()?, param))
    });
    let Some((body, param)) = found else { return Vec::new() };
    let is_it = |value| matches!(body.op(value), Op::Param(i) if usize::from(*i) == param);
    let mut asked = Vec::new();
    for (_, inst) in body.iter() {
        match inst.op {
            Op::Cast(class, of) if is_it(of) => asked.push(class),
            Op::InstanceOf(..) | Op::If(..) => {}
            // Who does anything else with it takes all.
            _ => {
                let mut is_used = false;
                inst.op.for_each_operand(|value| is_used |= is_it(value));
                if is_used {
                    return Vec::new();
                }
            }
        }
    }
    asked
}

/// What the callers of a method that has what was taken have after it: its result, perhaps
/// the value.
fn callers(context: Context<'_>, region: &Region, held: &Held) -> Vec<Held> {
    let mut found = Vec::new();
    let mut todo = vec![*held];
    let mut seen = FxHashSet::from_iter([held.value.method]);
    while let Some(held) = todo.pop() {
        let is_it = held.is_it && gives_back(context, held.value);
        let calls = context.graph.callers[held.value.method.index()].iter();
        let calls = calls.map(|&(caller, call)| (caller, &context.graph.calls(caller)[call]));
        for (method, call) in calls.filter(|(m, call)| region.contains(*m) && call.kind.is_local()) {
            let value = Taken { method, site: call.site, value: Some(call.site) };
            // What the compiler puts between is no level.
            let is_accessor = context.program.methods[method.index()].access & access::SYNTHETIC != 0;
            let list = if is_accessor && seen.insert(method) { &mut todo } else { &mut found };
            list.push(Held { value, is_it });
        }
    }
    found
}

/// Whether a method gives back what was taken in it, as it is.
fn gives_back(context: Context<'_>, taken: Taken) -> bool {
    let Some(body) = &context.program.methods[taken.method.index()].body else { return false };
    let Some(value) = taken.value else { return false };
    let path = context.bindings.path(taken.method, value);
    body.iter().any(|(_, inst)| match inst.op {
        Op::Return(Some(returned)) => {
            body.uncast(returned) == value || context.bindings.path(taken.method, returned) == path
        }
        _ => false,
    })
}

/// Units that begin in one of the handler classes.
pub(super) fn registered(context: Context<'_>, units: &Units, handlers: &[Name]) -> Vec<End> {
    let mut ends = Vec::new();
    for unit in 0..units.len() {
        let root = units.region(unit).root;
        let class = context.program.methods[root.index()].class;
        if handlers.contains(&context.program.classes[class.index()].name) {
            let (at, way) = ((root, ValueId::new(0)), Arc::default());
            ends.push(End { at, way, ..End::of(unit) });
        }
    }
    ends
}
