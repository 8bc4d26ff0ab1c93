//! Pairs of everything that carries one attached object (see
//! [`crate::top_level::attached`]): events of a connection, requests that came
//! over it, commands of its own threads. There is no hand-off between them that
//! would have to be followed: the connection's identifier tells. What the object keeps
//! for itself names it, so that two which differ in that are two objects.
//!
//! The object's life begins before it is there: who puts on a queue what it is made of,
//! for another thread to take it and attach the object, works on it too.

use std::collections::BTreeSet;

use schema::{IdentifierStrength, LinkKind, TopLevelKind};

use super::apis::Role;
use super::facts::{Channel, Fact, Facts};
use super::homes::Home;
use super::regions::{UnitId, Units};
use super::{Context, Pair, Pairs};
use crate::call_graph::RootKind;
use crate::identifiers::Identifier;
use crate::ir::{Op, ValueId};
use crate::path::{Root, Step};
use crate::program::{ClassId, MethodId, Name};
use crate::top_level::{TopLevel, attached};

/// Carriers above which an object is everybody's and tells nothing.
const CARRIERS_MAX: usize = 40;

/// Adds the pairs of everything that works on an attached object: what carries
/// the connection of a request carries the request.
pub(super) fn add(context: Context<'_>, units: &Units, facts: &Facts, pairs: &mut Pairs) {
    let attaching = attaching(context, units);
    for class in attached::classes(context.program) {
        let family = family(context, class);
        let carries = |top: &TopLevel| {
            // What the rounds of a thread's own loop find among many, nobody gave them.
            let by_itself = is_own_round(context, top);
            let of_family = |identifier: &Identifier| {
                let is_local = matches!(identifier.place.path.root, Root::Local(_));
                let is_found = is_local && identifier.place.frame != top.method;
                !(by_itself && (is_found || identifier.is_one_of_many()))
                    && (top.kind == TopLevelKind::DispatchTarget
                        && identifier.strength != IdentifierStrength::Node
                        || identifier.strength == IdentifierStrength::Request && !identifier.is_one_of_many())
                    && identifier.place.path.steps.iter().any(|step| is_in(step, &family))
            };
            top.kind != TopLevelKind::Unreached && top.identifiers.iter().any(of_family)
        };
        let tops = context.top_levels.methods.iter().enumerate();
        let carriers: Vec<usize> = tops.filter(|(_, top)| carries(top)).map(|(unit, _)| unit).collect();
        if carriers.len() > CARRIERS_MAX {
            continue;
        }
        let begin = beginnings(context, units, facts, &attaching, class);
        let begin = begin.into_iter().filter(|unit| !carriers.contains(unit));
        let from: Vec<usize> = carriers.iter().copied().chain(begin).collect();
        let name = context.program.classes[class.index()].name;
        let simple = name.rsplit('/').next().unwrap_or(name.as_str());
        for &from in &from {
            for &to in &carriers {
                pairs.entry((from, to, LinkKind::Entity)).or_insert_with(|| Pair {
                    from,
                    to,
                    kind: LinkKind::Entity,
                    identifiers: names(context, &family, from, to),
                    many: true,
                    before: Vec::new(),
                    after: Vec::new(),
                    beside: Vec::new(),
                    elsewhere: Vec::new(),
                    waits: false,
                    outside_rounds: false,
                    in_order: false,
                    remote_calls: Vec::new(),
                    reason: format!("both carry {simple}, which is attached to a connection"),
                });
            }
        }
    }
}

/// The identifiers by which two top-level methods call the object of `family` the same.
fn names(context: Context<'_>, family: &BTreeSet<Name>, from: usize, to: usize) -> Vec<(u32, u32)> {
    let own = |unit: usize| {
        let identifiers = (0u32..).zip(&context.top_levels.methods[unit].identifiers);
        identifiers.filter(|(_, identifier)| {
            let is_its_own = identifier.place.path.steps.last().is_some_and(|step| is_in(step, family));
            is_its_own && identifier.strength == IdentifierStrength::Request && !identifier.is_one_of_many()
        })
    };
    let pairs = own(from).flat_map(|(a, ours)| {
        let same = own(to).filter(|(_, theirs)| theirs.value_class == ours.value_class);
        same.map(move |(b, _)| (a, b))
    });
    pairs.collect()
}

/// The units that attach objects to connections.
fn attaching(context: Context<'_>, units: &Units) -> Vec<UnitId> {
    let methods = (0..context.program.methods.len()).map(MethodId::new);
    let sites: Vec<MethodId> = methods.filter(|&m| attached::attaches(context.program, m)).collect();
    let attaches = |unit: &UnitId| sites.iter().any(|&method| units.region(*unit).contains(method));
    if sites.is_empty() { Vec::new() } else { (0..units.len()).filter(attaches).collect() }
}

/// The top-level methods that put on a queue what an object of `class` is made of, where
/// who is `attaching` such objects takes it.
fn beginnings(
    context: Context<'_>,
    units: &Units,
    facts: &Facts,
    attaching: &[UnitId],
    class: ClassId,
) -> Vec<usize> {
    let takes = |method: MethodId| {
        let takes = facts.methods[method.index()].iter().filter(|fact| fact.role == Role::Receive);
        takes.filter_map(move |fact| match fact.channel {
            Channel::Queue(queue) => taken_as(context, method, fact.value?).map(|taken| (queue, taken)),
            _ => None,
        })
    };
    let regions = attaching.iter().flat_map(|&unit| &units.region(unit).methods);
    let taken =
        regions.flat_map(|&method| takes(method)).filter(|&(_, taken)| is_made_of(context, class, taken));
    let queues: BTreeSet<Home> = taken.map(|(queue, _)| queue).collect();
    let puts = |fact: &Fact| {
        fact.role == Role::Send && matches!(fact.channel, Channel::Queue(queue) if queues.contains(&queue))
    };
    let begins = |unit: &usize| {
        let mut methods = units.region(*unit).methods.iter();
        methods.any(|method| facts.methods[method.index()].iter().any(puts))
    };
    if queues.is_empty() {
        Vec::new()
    } else {
        (0..context.top_levels.methods.len()).filter(begins).collect()
    }
}

/// Whether some constructor of `class` is given a `part`, which is nothing that everything is
/// made of.
fn is_made_of(context: Context<'_>, class: ClassId, part: Name) -> bool {
    let methods = &context.program.methods[context.program.classes[class.index()].methods.clone()];
    let given = format!("L{part};");
    !part.starts_with("java/lang/")
        && methods.iter().any(|method| &*method.name == "<init>" && method.descriptor.contains(&*given))
}

/// The class as which `method` has what it took off a queue.
fn taken_as(context: Context<'_>, method: MethodId, taken: ValueId) -> Option<Name> {
    let body = context.program.methods[method.index()].body.as_ref()?;
    body.iter().find_map(|(_, inst)| match inst.op {
        Op::Cast(class, value) if value == taken => Some(class),
        _ => None,
    })
}

/// Whether it is a round of a loop that its thread has inherited.
fn is_own_round(context: Context<'_>, top: &TopLevel) -> bool {
    let root = context.graph.root(top.method);
    let is_task = root.is_some_and(|root| matches!(root.kind, RootKind::Task | RootKind::Thread));
    top.kind == TopLevelKind::DispatchTarget && is_task
}

/// A class and what it extends and implements within the program.
fn family(context: Context<'_>, class: ClassId) -> BTreeSet<Name> {
    let mut names = BTreeSet::new();
    let mut todo = vec![class];
    while let Some(class) = todo.pop() {
        let class = &context.program.classes[class.index()];
        if names.insert(class.name) {
            let supers = class.super_name.iter().chain(&class.interfaces);
            todo.extend(supers.filter_map(|name| context.program.class(*name)));
        }
    }
    names
}

fn is_in(step: &Step, family: &BTreeSet<Name>) -> bool {
    match step {
        Step::Field(field) => family.contains(&field.class),
        Step::Call(method) => family.contains(&method.class),
        Step::Element => false,
    }
}
