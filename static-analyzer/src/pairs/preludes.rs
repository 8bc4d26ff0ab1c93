//! Preludes: what a dispatcher does before its rounds, and after them.
//!
//! What it prints there is of who started or called it. But what it has collected for others
//! by then, it hands out one after the other, and each is a request of its own, as it is in
//! the rounds.

use std::collections::{BTreeMap, BTreeSet};

use schema::TopLevelKind;

use super::handoffs::Handoff;
use super::regions::{Region, Units};
use super::{Context, Key, Pair, Sites};
use crate::ir::ValueId;
use crate::program::MethodId;
use crate::top_level::loops::ServiceLoops;

/// Whether a sender is a dispatcher that calls the receiver outside of its rounds only, for
/// one after the other of several: all that is `carried` over is one of many. Who calls it
/// once, or for what it was given itself, does so for its starter.
pub(super) fn hands_out_each(
    context: Context<'_>,
    units: &Units,
    from: usize,
    carried: &[(u32, u32)],
    ways: &[Vec<&Handoff>],
) -> bool {
    let top = &context.top_levels.methods[from];
    let is_one_of_many = |&(i, _): &(u32, u32)| top.identifiers[i as usize].is_one_of_many();
    if top.kind != TopLevelKind::Dispatcher
        || carried.is_empty()
        || !carried.iter().all(is_one_of_many)
        || !ways.iter().all(|way| way[0].many)
    {
        return false;
    }
    let Some(unit) = units.of(context, top.method) else { return false };
    let Some(rounds) = Rounds::of(context, units.region(unit)) else { return false };
    ways.iter().all(|way| !rounds.may_contain(way[0].site))
}

/// Marks the pairs whose sender hands over outside of its rounds only.
pub(super) fn add(
    context: Context<'_>,
    units: &Units,
    sites: &BTreeMap<Key, Sites>,
    pairs: &mut BTreeMap<Key, Pair>,
) {
    let mut known: Option<(usize, Option<Rounds<'_>>)> = None;
    for (key, pair) in pairs {
        let top = &context.top_levels.methods[pair.from];
        let Some(sites) = sites.get(key).filter(|_| top.kind == TopLevelKind::Dispatcher) else { continue };
        if known.as_ref().is_none_or(|(from, _)| *from != pair.from) {
            let unit = units.of(context, top.method);
            known = Some((pair.from, unit.and_then(|unit| Rounds::of(context, units.region(unit)))));
        }
        if let Some((_, Some(rounds))) = &known {
            pair.outside_rounds = sites.iter().all(|&site| !rounds.may_contain(site));
        }
    }
}

/// What runs in the rounds of a dispatcher.
struct Rounds<'a> {
    context: Context<'a>,
    root: MethodId,
    loops: ServiceLoops,
    /// The methods that are called there.
    methods: BTreeSet<MethodId>,
}

impl<'a> Rounds<'a> {
    /// Those of the first method of `region`, if it has any.
    fn of(context: Context<'a>, region: &Region) -> Option<Self> {
        let root = region.root;
        let loops = ServiceLoops::of(context.program, context.graph, root);
        let body = context.program.methods[root.index()].body.as_ref().filter(|_| loops.any)?;
        let called = context.graph.local_edges(root).filter(|(call, _)| loops.contains(body, call.site));
        let mut todo: Vec<MethodId> = called.map(|(_, target)| target).collect();
        let mut methods = BTreeSet::new();
        while let Some(method) = todo.pop() {
            if region.contains(method) && methods.insert(method) {
                todo.extend(context.graph.local_edges(method).map(|(_, target)| target));
            }
        }
        Some(Self { context, root, loops, methods })
    }

    /// Whether a hand-off can be made in a round.
    fn may_contain(&self, (method, site): (MethodId, ValueId)) -> bool {
        let body = self.context.program.methods[self.root.index()].body.as_ref();
        let is_round = body.is_some_and(|body| method == self.root && self.loops.contains(body, site));
        is_round || self.methods.contains(&method)
    }
}
