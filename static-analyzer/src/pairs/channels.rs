//! Hand-offs through channels: one unit writes, another reads.
//!
//! A serialized message is never paired by the stream it is written to, which is shared by
//! all, but by its type (lprof §4.4). Who works on what is taken: [`super::takers`].

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;
use rustc_hash::FxHashSet;
use schema::LinkKind;

use super::Context;
use super::apis::Role;
use super::cargo::{self, Cargo};
use super::facts::{self, Channel, Fact, Facts};
use super::folders::{self, Folders};
use super::handoffs::{self, Collector, Entry, Handoff, Lists, Rule};
use super::homes::Home;
use super::regions::{Region, UnitId, Units, in_loop};
use super::streams::Streams;
use super::takers::{End, Workers, receivers_of, registered, told};
use super::topics;
use crate::ir::{Op, ValueId};
use crate::limits::CHANNEL_HANDOFFS_MAX;
use crate::program::{FieldRef, MethodId, Name, Program};

/// Units that write a message, from which to tell that it is a format of files.
const FORMAT_WRITERS_MIN: usize = 4;

/// Calls between where an object is made and where it is put.
const GIVEN_LEVELS_MAX: usize = 3;

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
    pub(super) fn handoffs(&self, program: &Program, handoffs: &mut Collector<'_>) {
        for (line, from) in &self.senders[handoffs.from] {
            let (channel, receivers) = &self.lines[*line];
            let receivers = receivers.iter().flat_map(|ends| ends.iter());
            let is_taken_by_one =
                receivers.clone().all(|end| Some(end.unit) == receivers.clone().next().map(|end| end.unit));
            for to in receivers.filter(|to| sensible(program, channel, from, to)) {
                // Each of a row of numbers carries what the others do not.
                let of = match channel {
                    Channel::Record(types, at) => Some(Name::from(&format!("{types} {at}"))),
                    _ => None,
                };
                if handoffs.wants_of(to.unit, kind(channel), of) {
                    let handoff = join(channel, from, to);
                    let is_in_order = handoff.is_in_order && is_taken_by_one;
                    handoffs.found.push(Handoff { is_in_order, ..handoff });
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
        (Channel::Queue(_), Some(element)) => made_of(context, region, method, element, GIVEN_LEVELS_MAX),
        (Channel::Store(_), Some(key)) => {
            Cargo::Made(cargo::made_from(context, method, key, &region.way_up(method)).into())
        }
        _ => Cargo::Any,
    };
    let many = region.is_looped(method) || in_loop(context, method, fact.site);
    let Fact { site, value, is_list, is_in_order, object, .. } = *fact;
    let verbs = match (fact.channel, value) {
        (Channel::Queue(_), Some(value)) => facts::made_with(context, region, method, value).into(),
        _ => Arc::default(),
    };
    let topics = fact.key.map(|key| topics::sent(context, region, key)).unwrap_or_default().into();
    let at = (method, site);
    End { at, value, is_list, is_in_order, object, verbs, topics, cargo, many, ..End::of(unit) }
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

/// A unit that puts and takes itself is no hand-off, except over the network, or if what it
/// puts has the constant of an enum for which it is called: else the same work, asked for
/// anew, is far more frequent than what is put back.
fn sensible(program: &Program, channel: &Channel, from: &End, to: &End) -> bool {
    let is_other = |topic: &Name| !to.topics.contains(topic);
    if !from.topics.is_empty() && !to.topics.is_empty() && from.topics.iter().all(is_other) {
        return false;
    }
    // Who uses other classes alone has no use for it.
    if let Cargo::Object(class) = from.cargo
        && !to.classes.is_empty()
        && !to.classes.iter().any(|&other| program.is_subtype(class, other))
    {
        return false;
    }
    is_meant(&from.verbs, &to.verbs)
        && (from.unit != to.unit
            || match channel {
                Channel::Message(_) | Channel::Verb(_) => true,
                Channel::Queue(_) => to.verbs.iter().any(|verb| from.verbs.contains(verb)),
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
        is_in_order: from.is_in_order && to.is_in_order && !from.many && !to.many,
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

/// The class of an element, if it is known where it is put, or who all in `region` gives it.
fn made_of(
    context: Context<'_>,
    region: &Region,
    method: MethodId,
    element: ValueId,
    n_levels: usize,
) -> Cargo {
    let Some(body) = &context.program.methods[method.index()].body else { return Cargo::Any };
    match body.op(body.uncast(element)) {
        Op::New(class) if context.program.class(*class).is_some() => Cargo::Object(*class),
        Op::Param(i) if n_levels > 0 && method != region.root => {
            let callers = context.graph.callers[method.index()].iter();
            let callers = callers.filter(|(caller, _)| region.contains(*caller));
            let mut given = callers.map(|&(caller, call)| {
                let value = context.graph.calls(caller)[call].args.get(usize::from(*i)).copied().flatten();
                value.map_or(Cargo::Any, |value| made_of(context, region, caller, value, n_levels - 1))
            });
            let Some(first) = given.next() else { return Cargo::Any };
            if given.all(|other| other == first) { first } else { Cargo::Any }
        }
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
