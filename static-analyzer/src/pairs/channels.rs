//! Hand-offs through channels: one unit writes, another reads.
//!
//! Who reads: the unit whose thread takes the value, or, where that unit only
//! dispatches, the units that are called with what was taken. A serialized
//! message is never paired by the stream it is written to, which is shared by
//! all, but by its type (lprof §4.4).

use std::collections::BTreeMap;

use schema::LinkKind;

use super::Context;
use super::apis::Role;
use super::cargo::{self, Cargo};
use super::carry::Carry;
use super::facts::{Channel, Fact, Facts};
use super::handoffs::{Collector, Handoff, Rule};
use super::regions::{Edge, Region, UnitId, Units, in_loop};
use super::uses::{Taken, users};
use crate::ir::{Op, ValueId};
use crate::limits::CHANNEL_HANDOFFS_MAX;
use crate::program::MethodId;

/// Levels of callers looked at above the place where a message is read, to find
/// who is called with it: readers of messages are wrapped.
const READER_LEVELS_MAX: usize = 3;

/// The same for what is taken from a queue: a dispatcher takes it itself, and
/// queues further down are for other purposes (pools of buffers).
const TAKER_LEVELS_MAX: usize = 1;

/// One end of a channel at one unit.
#[derive(Clone, Debug)]
struct End {
    unit: UnitId,
    /// Where the value is put or taken.
    at: (MethodId, ValueId),
    value: Option<ValueId>,
    /// Receivers: edges from the unit's first method up to `at`.
    way: Vec<Edge>,
    many: bool,
}

/// All hand-offs through channels.
pub(super) fn handoffs(
    context: Context<'_>,
    units: &Units,
    facts: &Facts,
    diagnostics: &mut Vec<String>,
    handoffs: &mut Collector,
) {
    let mut senders: BTreeMap<Channel, Vec<End>> = BTreeMap::new();
    let mut receivers: BTreeMap<Channel, Vec<End>> = BTreeMap::new();
    for unit in 0..units.len() {
        for &method in &units.region(unit).methods {
            for fact in &facts.methods[method.index()] {
                match fact.role {
                    Role::Send => senders
                        .entry(fact.channel)
                        .or_default()
                        .push(sender(context, units, unit, method, fact)),
                    Role::Receive => {
                        let found = receivers_of(context, units, unit, method, fact);
                        receivers.entry(fact.channel).or_default().extend(found);
                    }
                }
            }
        }
    }
    for (&verb, handlers) in &facts.handlers {
        receivers.insert(Channel::Verb(verb), registered(context, units, handlers));
    }
    for (channel, senders) in &senders {
        let Some(receivers) = receivers.get(channel) else { continue };
        if senders.len() * receivers.len() > CHANNEL_HANDOFFS_MAX {
            diagnostics.push(format!(
                "channel {} has {} senders and {} receivers: not followed",
                text(channel),
                senders.len(),
                receivers.len()
            ));
            continue;
        }
        for from in senders {
            for to in receivers.iter().filter(|to| sensible(channel, from, to)) {
                if handoffs.wants(from.unit, to.unit, kind(channel)) {
                    handoffs.found.push(join(context, units, channel, from, to));
                }
            }
        }
    }
}

fn sender(context: Context<'_>, units: &Units, unit: UnitId, method: MethodId, fact: &Fact) -> End {
    let many = units.region(unit).is_looped(method) || in_loop(context, method, fact.site);
    End { unit, at: (method, fact.site), value: fact.value, way: Vec::new(), many }
}

/// Who works on what `unit` takes at `fact`.
fn receivers_of(
    context: Context<'_>,
    units: &Units,
    unit: UnitId,
    method: MethodId,
    fact: &Fact,
) -> Vec<End> {
    let itself = End { unit, at: (method, fact.site), value: fact.value, way: Vec::new(), many: false };
    if !units.passes(unit) {
        return vec![itself];
    }
    let region = units.region(unit);
    let levels = match fact.channel {
        Channel::Queue(_) | Channel::Collection(_) | Channel::Map(_) => TAKER_LEVELS_MAX,
        Channel::Message(_) | Channel::Verb(_) | Channel::Store(_) => READER_LEVELS_MAX,
    };
    let mut level = vec![Taken { method, site: fact.site, value: fact.value }];
    for _ in 0..=levels {
        let mut found: Vec<End> = Vec::new();
        for &taken in &level {
            let sites = users(context, taken);
            let below = sites.iter().map(|sites| units.below(context, taken.method, sites));
            for (below, way) in below.into_iter().find(|found| !found.is_empty()).unwrap_or_default() {
                found.push(End { unit: below, at: (method, fact.site), value: fact.value, way, many: false });
            }
        }
        if !found.is_empty() {
            return found;
        }
        level = level.iter().flat_map(|taken| callers(context, region, taken.method)).collect();
        level.sort_unstable();
        level.dedup();
    }
    vec![itself]
}

/// What the callers of `method` have after it: its result, perhaps the value.
fn callers(context: Context<'_>, region: &Region, method: MethodId) -> Vec<Taken> {
    let calls = context.graph.callers[method.index()].iter();
    let calls = calls.map(|&(caller, call)| (caller, &context.graph.calls(caller)[call]));
    calls
        .filter(|(caller, call)| region.contains(*caller) && call.kind.is_local())
        .map(|(method, call)| Taken { method, site: call.site, value: Some(call.site) })
        .collect()
}

/// Units that begin in one of the handler classes.
fn registered(context: Context<'_>, units: &Units, handlers: &[crate::program::Name]) -> Vec<End> {
    let mut ends = Vec::new();
    for unit in 0..units.len() {
        let root = units.region(unit).root;
        let class = context.program.methods[root.index()].class;
        if handlers.contains(&context.program.classes[class.index()].name) {
            ends.push(End { unit, at: (root, ValueId::new(0)), value: None, way: Vec::new(), many: false });
        }
    }
    ends
}

/// A unit that puts and takes itself is no hand-off, except over the network.
fn sensible(channel: &Channel, from: &End, to: &End) -> bool {
    from.unit != to.unit || matches!(channel, Channel::Message(_) | Channel::Verb(_))
}

fn join(context: Context<'_>, units: &Units, channel: &Channel, from: &End, to: &End) -> Handoff {
    let mut chain: Vec<Carry> = to.way.iter().copied().map(Carry::Up).collect();
    chain.push(match (to.value, from.value) {
        (Some(taken), Some(put)) => Carry::Across { taken: (to.at.0, taken), put: (from.at.0, put) },
        _ => Carry::Lost,
    });
    let way = units.region(from.unit).way_up(from.at.0);
    let cargo = match (channel, from.value) {
        (Channel::Message(class), _) => Cargo::Object(*class),
        (Channel::Queue(_), Some(element)) => made_of(context, from.at.0, element),
        (Channel::Store(_), Some(key)) => Cargo::Made(cargo::made_from(context, from.at.0, key, &way)),
        _ => Cargo::Any,
    };
    chain.extend(way.into_iter().map(Carry::Up));
    Handoff {
        from: from.unit,
        to: to.unit,
        kind: kind(channel),
        site: from.at,
        chain,
        many: from.many || to.many,
        needs_identifier: true,
        // Who looks into a queue between other things does not work on all of it.
        followed_only: match channel {
            Channel::Collection(_) | Channel::Map(_) => true,
            Channel::Queue(_) => to.way.is_empty(),
            Channel::Message(_) | Channel::Verb(_) | Channel::Store(_) => false,
        },
        cargo,
        rule: Rule::Channel(text(channel)),
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
        Channel::Message(_) | Channel::Verb(_) => LinkKind::Socket,
        Channel::Store(_) => LinkKind::Store,
    }
}

fn text(channel: &Channel) -> String {
    let simple = |name: &str| name.rsplit('/').next().unwrap_or(name).to_owned();
    match channel {
        Channel::Queue(f) => format!("queue {}.{}", simple(&f.class), f.name),
        Channel::Collection(f) => format!("collection {}.{}", simple(&f.class), f.name),
        Channel::Map(f) => format!("map {}.{}", simple(&f.class), f.name),
        Channel::Message(name) => format!("message {}", simple(name)),
        Channel::Verb(f) => format!("message type {}.{}", simple(&f.class), f.name),
        Channel::Store(name) => format!("store {name}"),
    }
}
