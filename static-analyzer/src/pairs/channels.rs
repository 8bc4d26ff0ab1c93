//! Hand-offs through channels: one unit writes, another reads.
//!
//! Who reads: the unit whose thread takes the value, or, where that unit only
//! dispatches, the units that are called with what was taken. A serialized
//! message is never paired by the stream it is written to, which is shared by
//! all, but by its type (lprof §4.4).

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use schema::LinkKind;

use super::Context;
use super::apis::Role;
use super::cargo::{self, Cargo};
use super::facts::{self, Channel, Fact, Facts};
use super::folders::{self, Folders};
use super::handoffs::{self, Collector, Entry, Handoff, Lists, Rule};
use super::homes::{Home, Object};
use super::regions::{Edge, Region, UnitId, Units, in_loop};
use super::streams::Streams;
use super::topics;
use super::uses::{Taken, users};
use crate::ir::{Op, ValueId};
use crate::limits::CHANNEL_HANDOFFS_MAX;
use crate::program::{FieldRef, MethodId, Name, access};

/// Levels of callers looked at above the place where a message is read, to find
/// who is called with it: readers of messages are wrapped.
const READER_LEVELS_MAX: usize = 3;

/// The same for what is taken from a queue: a dispatcher takes it itself, and
/// queues further down are for other purposes (pools of buffers).
const TAKER_LEVELS_MAX: usize = 1;

/// Units that write a message, from which to tell that it is a format of files.
const FORMAT_WRITERS_MIN: usize = 4;

/// Calls between who is told a key of a store and who works on it.
const TOLD_LEVELS_MAX: usize = 2;

/// One end of a channel at one unit.
#[derive(Clone, Debug)]
struct End {
    unit: UnitId,
    /// Where the value is put or taken.
    at: (MethodId, ValueId),
    value: Option<ValueId>,
    /// The value is a list of what is put or taken.
    is_list: bool,
    /// The object that was given the channel, if one was.
    object: Option<Object>,
    /// Constants of enums: senders: with which what they put is made; receivers: for which
    /// they are registered as handlers.
    verbs: Arc<[FieldRef]>,
    /// The names under which the channel is in a table, if they are known.
    topics: Arc<[Name]>,
    /// Receivers: edges from the unit's first method up to `at`.
    way: Arc<[Edge]>,
    /// Senders: what they can put.
    cargo: Cargo,
    many: bool,
}

impl End {
    /// An end of which nothing else is known.
    fn of(unit: UnitId) -> Self {
        End {
            unit,
            at: (MethodId::new(0), ValueId::new(0)),
            value: None,
            is_list: false,
            object: None,
            verbs: Arc::default(),
            topics: Arc::default(),
            way: Arc::default(),
            cargo: Cargo::Any,
            many: false,
        }
    }
}

/// All channels that somebody writes and somebody reads.
#[derive(Debug)]
pub(super) struct Channels {
    /// Sorted, each with who reads.
    lines: Vec<(Channel, Receivers)>,
    /// Per unit: what it writes, as (position in `lines`, end), in that order.
    senders: Vec<Vec<(usize, End)>>,
    /// Per unit: classes of messages that it has from files alone, and others receive,
    /// sorted.
    read_back: Vec<Vec<Name>>,
}

/// Who reads. What dispatches in many units is read by the same ones in each: they
/// are counted as often, and are there once.
type Receivers = Vec<Arc<[End]>>;

/// What one unit does to channels.
#[derive(Default)]
struct Ends {
    /// What it writes.
    sent: Vec<(Channel, End)>,
    /// What is read because of it.
    received: Vec<(Channel, Arc<[End]>)>,
    /// The same of files.
    read_back: Vec<(Channel, Arc<[End]>)>,
}

impl Channels {
    /// Of all units; what is too wide to tell anything is named for people.
    pub(super) fn new(
        context: Context<'_>,
        units: &Units,
        facts: &Facts,
        diagnostics: &mut Vec<String>,
    ) -> Self {
        let folders = Folders::new(context, facts, &|method| units.of(context, method).is_some());
        let (workers, streams) = (Workers::default(), Streams::new(context));
        let ends: Vec<Ends> = (0..units.len())
            .into_par_iter()
            .map(|unit| ends(context, units, (facts, &folders, &streams), &workers, unit))
            .collect();
        let mut receivers: BTreeMap<Channel, Receivers> = BTreeMap::new();
        for &(folder, method, param) in &folders.listeners {
            let told = told(context, units, method, param);
            receivers.entry(Channel::Folder(folder)).or_default().push(told.into());
        }
        let mut n_senders: BTreeMap<Channel, usize> = BTreeMap::new();
        let mut senders = Vec::with_capacity(ends.len());
        let mut readers: BTreeMap<Channel, FxHashSet<UnitId>> = BTreeMap::new();
        // What is read from files only is left there by one for another to take.
        let received = ends.iter().flat_map(|ends| &ends.received);
        let carried: FxHashSet<Channel> = received.map(|(channel, _)| *channel).collect();
        let of_files: Vec<Vec<Name>> = ends.iter().map(|ends| ends.of_files(&carried)).collect();
        for Ends { sent, received, read_back } in ends {
            sent.iter().for_each(|(channel, _)| *n_senders.entry(*channel).or_default() += 1);
            senders.push(sent);
            for (channel, ends) in received.iter().chain(&read_back) {
                readers.entry(*channel).or_default().extend(ends.iter().map(|end| end.unit));
            }
            let taken = read_back.into_iter().filter(|(channel, _)| !carried.contains(channel));
            for (channel, ends) in received.into_iter().chain(taken) {
                receivers.entry(channel).or_default().push(ends);
            }
        }
        for (&verb, handlers) in &facts.handlers {
            receivers.insert(Channel::Verb(verb), vec![registered(context, units, handlers).into()]);
        }
        let n_senders = |channel: &Channel| n_senders.get(channel).copied().unwrap_or_default();
        receivers.retain(|channel, ends| n_senders(channel) > 0 && ends.iter().any(|ends| !ends.is_empty()));
        let (formats, containers) = (formats(&senders, &readers), containers(&senders, &readers));
        receivers.retain(|channel, receivers| {
            let n: usize = receivers.iter().map(|ends| ends.len()).sum();
            let why = if formats.contains(channel) {
                "is read by who writes it: a format of files".to_owned()
            } else if containers.contains(channel) {
                "is tidied up by who uses it: part of a container".to_owned()
            } else if n_senders(channel) * n > CHANNEL_HANDOFFS_MAX {
                format!("has {} senders and {n} receivers: not followed", n_senders(channel))
            } else {
                return true;
            };
            diagnostics.push(format!("channel {} {why}", text(context, channel)));
            false
        });
        let lines: Vec<(Channel, Receivers)> = receivers.into_iter().collect();
        let line = |channel| lines.binary_search_by_key(&channel, |(channel, _)| *channel).ok();
        let known = |sent: Vec<(Channel, End)>| {
            let sent = sent.into_iter().filter_map(|(channel, end)| Some((line(channel)?, end)));
            let mut sent: Vec<(usize, End)> = sent.collect();
            sent.sort_by_key(|&(line, _)| line);
            sent
        };
        let senders = senders.into_iter().map(known).collect();
        Channels { lines, senders, read_back: of_files }
    }

    /// Whether a unit has messages of a class, that others receive, from files alone.
    pub(super) fn is_read_back(&self, unit: UnitId, class: Name) -> bool {
        self.read_back[unit].binary_search(&class).is_ok()
    }

    /// The hand-offs of one sender.
    pub(super) fn handoffs(&self, handoffs: &mut Collector<'_>) {
        for (line, from) in &self.senders[handoffs.from] {
            let (channel, receivers) = &self.lines[*line];
            let receivers = receivers.iter().flat_map(|ends| ends.iter());
            for to in receivers.filter(|to| sensible(channel, from, to)) {
                // Each of a row of numbers carries what the others do not.
                let of = match channel {
                    Channel::Record(types, at) => Some(Name::from(&format!("{types} {at}"))),
                    _ => None,
                };
                if handoffs.wants_of(to.unit, kind(channel), of) {
                    handoffs.found.push(join(channel, from, to));
                }
            }
        }
    }
}

impl Ends {
    /// Of the messages that are `carried` to somebody, the classes of those that come here
    /// from files alone, sorted.
    fn of_files(&self, carried: &FxHashSet<Channel>) -> Vec<Name> {
        let received: FxHashSet<Channel> = self.received.iter().map(|(channel, _)| *channel).collect();
        let read_back = self.read_back.iter().map(|(channel, _)| channel);
        let classes = read_back.filter(|channel| carried.contains(channel) && !received.contains(channel));
        let mut classes: Vec<Name> = classes
            .filter_map(|channel| match channel {
                Channel::Message(class) => Some(*class),
                _ => None,
            })
            .collect();
        classes.sort_unstable();
        classes.dedup();
        classes
    }
}

/// Messages that those read who write them: each opens files of others and makes its
/// own. What is sent has one end at who asks and the other at who answers.
fn formats(
    senders: &[Vec<(Channel, End)>],
    readers: &BTreeMap<Channel, FxHashSet<UnitId>>,
) -> FxHashSet<Channel> {
    let of_both = of_both(senders, readers, |channel| matches!(channel, Channel::Message(_)));
    of_both.into_keys().collect()
}

/// Queues from which those take who put, and many others too or nobody else:
/// a part of a container, which each of its users tidies up. A queue that hands something
/// over is worked off by one of those who take, or by few.
fn containers(
    senders: &[Vec<(Channel, End)>],
    readers: &BTreeMap<Channel, FxHashSet<UnitId>>,
) -> FxHashSet<Channel> {
    let mut users = of_both(senders, readers, |channel| matches!(channel, Channel::Queue(_)));
    users.retain(|channel, users| {
        let n_others = readers.get(channel).map_or(0, |readers| readers.difference(users).count());
        n_others == 0 || n_others * 2 > users.len()
    });
    users.into_keys().collect()
}

/// The channels that most of those read who write to them, with who does both.
fn of_both(
    senders: &[Vec<(Channel, End)>],
    readers: &BTreeMap<Channel, FxHashSet<UnitId>>,
    is_asked: impl Fn(&Channel) -> bool,
) -> BTreeMap<Channel, FxHashSet<UnitId>> {
    let mut writers: BTreeMap<Channel, FxHashSet<UnitId>> = BTreeMap::new();
    for (channel, end) in senders.iter().flatten().filter(|(channel, _)| is_asked(channel)) {
        writers.entry(*channel).or_default().insert(end.unit);
    }
    writers.retain(|channel, writers| {
        let n_writers = writers.len();
        writers.retain(|unit| readers.get(channel).is_some_and(|readers| readers.contains(unit)));
        n_writers >= FORMAT_WRITERS_MIN && writers.len() * 2 > n_writers
    });
    writers
}

fn ends(
    context: Context<'_>,
    units: &Units,
    (facts, folders, streams): (&Facts, &Folders, &Streams<'_>),
    workers: &Workers,
    unit: UnitId,
) -> Ends {
    let mut ends = Ends::default();
    let Ends { sent, received, read_back } = &mut ends;
    let reads_files = |method, fact: &Fact| {
        let is_message = matches!(fact.channel, Channel::Message(_));
        is_message && streams.reads_files(units.region(unit), method, fact.site)
    };
    let region = units.region(unit);
    for &method in &region.methods {
        // A channel that is handed down is the one that is handed down in this unit.
        let is_here = |fact: &&Fact| fact.givers.iter().all(|giver| region.contains(*giver));
        for fact in facts.methods[method.index()].iter().filter(is_here) {
            match fact.role {
                Role::Send => {
                    let end = sender(context, units, unit, method, fact);
                    let into = into_folders(context, units, folders, (fact, &end));
                    if into.is_empty() {
                        sent.push((fact.channel, end));
                    }
                    sent.extend(into);
                }
                Role::Receive if folders.dispatches(method) => {}
                Role::Receive => {
                    let ends = receivers_of(context, units, (facts, workers), unit, method, fact);
                    let of_files = reads_files(method, fact);
                    let ends_of = if of_files { &mut *read_back } else { &mut *received };
                    ends_of.push((fact.channel, ends));
                }
            }
        }
    }
    ends
}

fn sender(context: Context<'_>, units: &Units, unit: UnitId, method: MethodId, fact: &Fact) -> End {
    let region = units.region(unit);
    let cargo = match (fact.channel, fact.value) {
        (Channel::Message(class), _) => Cargo::Object(class),
        (Channel::Queue(_), Some(element)) => made_of(context, method, element),
        (Channel::Store(_), Some(key)) => {
            Cargo::Made(cargo::made_from(context, method, key, &region.way_up(method)).into())
        }
        _ => Cargo::Any,
    };
    let many = region.is_looped(method) || in_loop(context, method, fact.site);
    let Fact { site, value, is_list, object, .. } = *fact;
    let verbs = match (fact.channel, value) {
        (Channel::Queue(_), Some(value)) => facts::made_with(context, region, method, value).into(),
        _ => Arc::default(),
    };
    let topics = fact.key.map(|key| topics::sent(context, region, key)).unwrap_or_default().into();
    End { at: (method, site), value, is_list, object, verbs, topics, cargo, many, ..End::of(unit) }
}

/// The folders that are written to, each with what its keys are made from.
fn into_folders(
    context: Context<'_>,
    units: &Units,
    folders: &Folders,
    (fact, end): (&Fact, &End),
) -> Vec<(Channel, End)> {
    let (Channel::Store(_), Some(key)) = (fact.channel, fact.value) else { return Vec::new() };
    if folders.listeners.is_empty() {
        return Vec::new();
    }
    let keys = folders::keys(context, units.region(end.unit), end.at.0, key);
    let ends = keys.iter().flat_map(|key| folders.of(key)).map(|(folder, names)| {
        (Channel::Folder(folder), End { cargo: Cargo::Made(names), value: None, ..end.clone() })
    });
    ends.collect()
}

/// Who works on a key that `method` is told: the unit that begins with it, else
/// those that it calls or starts.
fn told(context: Context<'_>, units: &Units, method: MethodId, param: ValueId) -> Vec<End> {
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
fn receivers_of(
    context: Context<'_>,
    units: &Units,
    (facts, workers): (&Facts, &Workers),
    unit: UnitId,
    method: MethodId,
    fact: &Fact,
) -> Arc<[End]> {
    let taken = Taken { method, site: fact.site, value: fact.value };
    let from = Source { is_list: fact.is_list, object: fact.object };
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
    if !units.passes(unit) {
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
            // What prints nothing can start tasks for what it reads as well.
            let is_read = matches!(fact.channel, Channel::Line | Channel::Record(..) | Channel::Address);
            if is_read && units.top_level(unit).is_none() {
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
    let Source { is_list, object } = from;
    End { at: (taken.method, taken.site), value: taken.value, is_list, object, way, ..End::of(unit) }
}

/// What is known of a channel at the place where something is taken from it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Source {
    is_list: bool,
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
struct Workers {
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
                found.push(taken_by(taken, from, below, way.into()));
            }
        }
        let found: Arc<[End]> = found.into();
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.insert(key, Arc::clone(&found));
        found
    }
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
fn registered(context: Context<'_>, units: &Units, handlers: &[crate::program::Name]) -> Vec<End> {
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

/// A unit that puts and takes itself is no hand-off, except over the network, or through
/// who takes it and calls the unit again.
fn sensible(channel: &Channel, from: &End, to: &End) -> bool {
    let is_other = |topic: &Name| !to.topics.contains(topic);
    if !from.topics.is_empty() && !to.topics.is_empty() && from.topics.iter().all(is_other) {
        return false;
    }
    is_meant(&from.verbs, &to.verbs)
        && (from.unit != to.unit
            || match channel {
                Channel::Message(_) | Channel::Verb(_) => true,
                Channel::Queue(_) => !to.way.is_empty(),
                _ => false,
            })
}

/// Whether what is made with some constants of enums is meant for a handler that is
/// registered for some: for none of an enum of both is one of another.
pub(super) fn is_meant(sent: &[FieldRef], handled: &[FieldRef]) -> bool {
    handled.is_empty()
        || handled.iter().any(|verb| sent.contains(verb))
        || !handled.iter().any(|verb| sent.iter().any(|other| other.class == verb.class))
}

fn join(channel: &Channel, from: &End, to: &End) -> Handoff {
    let taken = to.value.map(|taken| (to.at.0, taken));
    Handoff {
        from: from.unit,
        to: to.unit,
        kind: kind(channel),
        site: from.at,
        entry: Entry::Channel {
            way: Arc::clone(&to.way),
            taken,
            put: from.value,
            lists: Lists { taken: to.is_list, put: from.is_list },
        },
        many: from.many || to.many,
        needs_identifier: true,
        // Who looks into a queue between other things does not work on all of it.
        followed_only: match channel {
            Channel::Collection(_) | Channel::Map(_) => true,
            // Of a text, or a row of numbers, only what was followed is known.
            Channel::Line | Channel::Record(..) | Channel::Address => true,
            Channel::Queue(_) => to.way.is_empty(),
            Channel::Message(_) | Channel::Verb(_) | Channel::Store(_) | Channel::Folder(_) => false,
        },
        by: from.object,
        through: to.object,
        cargo: from.cargo.clone(),
        rule: Rule::Channel(*channel),
    }
}

/// The class of an element, if it is known where it is put.
fn made_of(context: Context<'_>, method: MethodId, element: ValueId) -> Cargo {
    let body = context.program.methods[method.index()].body.as_ref();
    match body.map(|b| b.op(element)) {
        Some(Op::New(class)) if context.program.class(*class).is_some() => Cargo::Object(*class),
        Some(Op::Cast(_, inner)) => made_of(context, method, *inner),
        _ => Cargo::Any,
    }
}

fn kind(channel: &Channel) -> LinkKind {
    match channel {
        Channel::Queue(_) | Channel::Collection(_) | Channel::Map(_) => LinkKind::Queue,
        Channel::Message(_) | Channel::Verb(_) | Channel::Line | Channel::Record(..) | Channel::Address => {
            LinkKind::Socket
        }
        Channel::Store(_) | Channel::Folder(_) => LinkKind::Store,
    }
}

/// What it is, for people.
pub(super) fn text(context: Context<'_>, channel: &Channel) -> String {
    let simple = |name: &str| name.rsplit('/').next().unwrap_or(name).to_owned();
    let home = |home: &Home| match home {
        Home::Field(f) => format!("{}.{}", simple(&f.class), f.name),
        Home::Made(method, site) => {
            let body = context.program.methods[method.index()].body.as_ref();
            let line = body.map_or(0, |body| body.inst(*site).line);
            format!("of {}:{line}", handoffs::name(context, *method))
        }
    };
    match channel {
        Channel::Queue(queue) => format!("queue {}", home(queue)),
        Channel::Collection(collection) => format!("collection {}", home(collection)),
        Channel::Map(f) => format!("map {}.{}", simple(&f.class), f.name),
        Channel::Message(name) => format!("message {}", simple(name)),
        Channel::Verb(f) => format!("message type {}.{}", simple(&f.class), f.name),
        Channel::Line => "a line of text".to_owned(),
        Channel::Record(types, at) => format!("data {types}, {at}"),
        Channel::Address => "its address".to_owned(),
        Channel::Store(name) => format!("store {name}"),
        Channel::Folder(f) => format!("folder {}.{}", simple(&f.class), f.name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_by_who_writes_it_is_a_format_of_files() {
        let [block, request] = ["Block", "Request"].map(|name| Channel::Message(Name::from(name)));
        let both = |unit| vec![(block, End::of(unit)), (request, End::of(unit))];
        let senders: Vec<_> = (0..4).map(both).collect();
        let readers = BTreeMap::from([(block, (1..6).collect()), (request, (3..9).collect())]);
        assert_eq!(formats(&senders, &readers), FxHashSet::from_iter([block]));
        assert!(formats(&senders[1..], &readers).is_empty(), "too few");
    }

    #[test]
    fn a_queue_that_its_users_tidy_up_hands_nothing_over() {
        let queue = |name: &str| {
            let (class, descriptor) = (Name::from("a/Cache"), Name::from("Ljava/util/Queue;"));
            Channel::Queue(Home::Field(FieldRef { class, name: Name::from(name), descriptor }))
        };
        // Who puts there, and who takes.
        let users = [
            ("handed over", 0..4, vec![9]),
            ("handed over and over", 0..4, vec![1, 2, 3, 9]),
            ("tidied up", 0..4, vec![0, 1, 2, 3]),
            ("tidied up by readers", 0..4, vec![0, 1, 2, 7, 8, 9]),
            ("used by few", 0..3, vec![0, 1, 2]),
        ];
        let (mut senders, mut readers) = (vec![Vec::new(); 4], BTreeMap::new());
        for (name, putters, takers) in users {
            putters.for_each(|unit| senders[unit].push((queue(name), End::of(unit))));
            readers.insert(queue(name), FxHashSet::from_iter(takers));
        }
        let tidied = [queue("tidied up"), queue("tidied up by readers")];
        assert_eq!(containers(&senders, &readers), FxHashSet::from_iter(tidied));
    }
}
