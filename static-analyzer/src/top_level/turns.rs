//! Turns: what of one turn of a service loop is one request.
//!
//! Calls of a turn that share what was made or taken in it, or print it, are steps of the turn,
//! as are lines of the loop's own; what the turn itself prints all names of is lost at none of
//! its calls.

use std::collections::{BTreeMap, BTreeSet};

use super::drops::Drops;
use super::loops::ServiceLoops;
use crate::call_graph::Call;
use crate::identifiers::Bound;
use crate::ir::{BlockId, Body, Op, ValueId};
use crate::path::{AccessPath, Root, Step};
use crate::program::MethodId;

/// A turn of the service loops of one method.
pub(super) struct Turn<'a> {
    pub(super) drops: &'a Drops<'a>,
    /// Those of the method.
    pub(super) loops: &'a ServiceLoops,
    pub(super) method: MethodId,
    pub(super) body: &'a Body,
    /// Log points that stand in the method.
    pub(super) own_points: &'a [u32],
}

impl Turn<'_> {
    /// Of the calls `edges` of the method those that are steps of one turn; `waits` tells which
    /// methods wait for others.
    pub(super) fn linked(
        &self,
        edges: &[(Call, MethodId)],
        waits: &dyn Fn(MethodId) -> bool,
    ) -> BTreeSet<ValueId> {
        let mut linked = linked_sites(self.body, edges, waits);
        linked.extend(self.printing_one(edges));
        linked.extend(self.naming_nothing(edges));
        linked
    }

    /// The calls that print no name at all, before or after a line of the loop's own that names
    /// what the turn works on.
    fn naming_nothing(&self, edges: &[(Call, MethodId)]) -> Vec<ValueId> {
        let names: BTreeSet<ValueId> = self.own_names().into_iter().map(|(site, _)| site).collect();
        let is_nameless = |target: MethodId| self.drops.summaries.methods[target.index()].places.is_empty();
        let nameless = edges.iter().filter(|(call, target)| self.is_once(call.site) && is_nameless(*target));
        let sites = nameless.map(|(call, _)| call.site);
        let is_beside = |site: &ValueId| {
            names.iter().any(|&name| followed(self.body, BTreeSet::from([name, *site])).contains(site))
        };
        sites.filter(is_beside).collect()
    }

    /// What lines of the loop's own print once in each turn of what is made or taken in it.
    pub(super) fn named(&self) -> BTreeSet<AccessPath> {
        self.own_names().into_iter().map(|(_, path)| path).collect()
    }

    /// The calls that print, of what is made or taken in the turn, what another call of the same
    /// turn prints too, or a line of the loop's own.
    fn printing_one(&self, edges: &[(Call, MethodId)]) -> Vec<ValueId> {
        let mut users: BTreeMap<ValueId, BTreeSet<ValueId>> = BTreeMap::new();
        for (call, target) in edges.iter().filter(|(call, _)| self.is_once(call.site)) {
            for place in self.drops.summaries.methods[target.index()].places.keys() {
                if let Bound::Place(place) = self.drops.bindings.bind(self.method, call, place)
                    && place.frame == self.method
                    && let Some(made) = self.made(&place.path)
                {
                    users.entry(made).or_default().insert(call.site);
                }
            }
        }
        for (site, path) in self.own_names() {
            if let Some(made) = self.made(&path) {
                users.entry(made).or_default().insert(site);
            }
        }
        users.into_values().flat_map(|sites| followed(self.body, sites)).collect()
    }

    /// See [`Turn::named`], with where it is printed.
    fn own_names(&self) -> Vec<(ValueId, AccessPath)> {
        let mut names = Vec::new();
        for &point in self.own_points {
            let point = &self.drops.log_points[point as usize];
            let paths = point.variables.iter().filter_map(|variable| variable.path.as_ref());
            for path in paths.filter(|path| self.made(path).is_some()) {
                let path = self.drops.bindings.normalize(self.method, path);
                let sites = point.sites.iter().filter(|&&site| self.is_once(site));
                names.extend(sites.map(|&site| (site, path.clone())));
            }
        }
        names
    }

    /// Whether an instruction runs once in each turn.
    fn is_once(&self, site: ValueId) -> bool {
        self.loops.contains(self.body, site) && !self.loops.repeats(self.body, site)
    }

    /// What a path begins with, if that is made or taken in the turn.
    fn made(&self, path: &AccessPath) -> Option<ValueId> {
        match path.root {
            Root::Local(v) if self.is_once(v) && !path.steps.contains(&Step::Element) => Some(v),
            _ => None,
        }
    }
}

/// Sites that share a value made in the method (not a parameter, field or
/// constant) with another site, or work on what another one waited for.
fn linked_sites(
    body: &Body,
    edges: &[(Call, MethodId)],
    waits: &dyn Fn(MethodId) -> bool,
) -> BTreeSet<ValueId> {
    let mut users: BTreeMap<ValueId, BTreeSet<ValueId>> = BTreeMap::new();
    for (call, target) in edges {
        if waits(*target) {
            users.entry(call.site).or_default().insert(call.site);
        }
        let Op::Invoke { args, .. } = body.op(call.site) else { continue };
        for &arg in args {
            let made = body.uncast(arg);
            if matches!(body.op(made), Op::Invoke { .. } | Op::New(_) | Op::ArrayLoad(..) | Op::Phi(_)) {
                users.entry(made).or_default().insert(call.site);
            }
        }
    }
    users.into_values().flat_map(|sites| followed(body, sites)).collect()
}

/// Of these sites those that another one follows, or that follow another one.
/// Alternatives have nothing to do with each other, whatever they are both given.
fn followed(body: &Body, sites: BTreeSet<ValueId>) -> Vec<ValueId> {
    let follows = |a: ValueId, b: ValueId| {
        let (from, to) = (body.inst(a).block, body.inst(b).block);
        from == to || steps_to(body, from, to)
    };
    let is_linked = |a: &ValueId| sites.iter().any(|b| a != b && (follows(*a, *b) || follows(*b, *a)));
    sites.iter().copied().filter(is_linked).collect()
}

/// Whether control can get from one block to another without going round a loop.
fn steps_to(body: &Body, from: BlockId, to: BlockId) -> bool {
    let mut seen = vec![false; body.blocks.len()];
    let mut todo = vec![from];
    while let Some(block) = todo.pop() {
        for &next in &body.block(block).successors {
            let is_back = body.block(next).loop_header == Some(next) && next.index() <= block.index();
            if next == to && !is_back {
                return true;
            }
            if !is_back && !std::mem::replace(&mut seen[next.index()], true) {
                todo.push(next);
            }
        }
    }
    false
}
