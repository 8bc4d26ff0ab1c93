//! Regions: what runs in one thread for one unit of work, from its first method
//! down to where another unit begins.

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use schema::{Level, TopLevelKind};

use super::Context;
use crate::ir::{BlockId, ValueId};
use crate::program::MethodId;
use crate::top_level::TopLevel;

/// Position of a unit: top-level methods first, in their order, then links.
pub(crate) type UnitId = usize;

/// A call edge: caller, position in the caller's calls, target.
pub(crate) type Edge = (MethodId, usize, MethodId);

/// The methods of one unit.
#[derive(Debug)]
pub(crate) struct Region {
    /// Its first method.
    pub(crate) root: MethodId,
    /// In breadth-first order from the root.
    pub(crate) methods: Vec<MethodId>,
    /// For each method but the root: an edge on a shortest way from the root,
    /// and whether some way goes through a loop.
    ways: FxHashMap<MethodId, Way>,
}

#[derive(Clone, Copy, Debug)]
struct Way {
    edge: Option<Edge>,
    looped: bool,
}

impl Region {
    /// Whether `method` belongs to it.
    pub(crate) fn contains(&self, method: MethodId) -> bool {
        self.ways.contains_key(&method)
    }

    /// Whether `method` can run several times within one run of the root.
    pub(crate) fn is_looped(&self, method: MethodId) -> bool {
        self.ways.get(&method).is_some_and(|w| w.looped)
    }

    /// The edges from `method` up to the root.
    pub(crate) fn way_up(&self, method: MethodId) -> Vec<Edge> {
        let mut way = Vec::new();
        let mut at = method;
        while let Some(Way { edge: Some(edge), .. }) = self.ways.get(&at) {
            way.push(*edge);
            at = edge.0;
        }
        way
    }

    fn new(context: Context<'_>, root: MethodId) -> Self {
        let start = Way { edge: None, looped: false };
        let mut region = Region { root, methods: vec![root], ways: FxHashMap::default() };
        region.ways.insert(root, start);
        let mut at = 0;
        while at < region.methods.len() {
            let caller = region.methods[at];
            at += 1;
            for (i, call) in context.graph.calls(caller).iter().enumerate() {
                if !call.kind.is_local() {
                    continue;
                }
                for &target in &call.targets {
                    if context.top_levels.position(target).is_none() && !region.contains(target) {
                        let edge = Some((caller, i, target));
                        region.ways.insert(target, Way { edge, looped: false });
                        region.methods.push(target);
                    }
                }
            }
        }
        region.mark_loops(context);
        region
    }

    fn mark_loops(&mut self, context: Context<'_>) {
        let mut stack: Vec<MethodId> = Vec::new();
        for &caller in &self.methods {
            for call in context.graph.calls(caller).iter().filter(|c| c.kind.is_local()) {
                if super::handoffs::is_repeated(context, caller, call) {
                    stack.extend(call.targets.iter().filter(|&&t| self.contains(t)));
                }
            }
        }
        while let Some(method) = stack.pop() {
            let Some(way) = self.ways.get_mut(&method) else { continue };
            if !std::mem::replace(&mut way.looped, true) {
                stack.extend(context.graph.local_edges(method).map(|(_, t)| t));
            }
        }
    }
}

/// All units.
#[derive(Debug)]
pub(crate) struct Units {
    regions: Vec<Region>,
    n_top_levels: usize,
    links: Vec<MethodId>,
    /// Units that only pass work on: links, dispatchers, and what is silent when
    /// all goes well.
    passes: Vec<bool>,
}

impl Units {
    /// Regions of all top-level methods and links.
    pub(crate) fn new(context: Context<'_>) -> Self {
        let mut links: Vec<MethodId> = Vec::new();
        for calls in &context.graph.calls {
            for call in calls.iter().filter(|c| !c.kind.is_local()) {
                links.extend(call.targets.iter().filter(|&&t| context.top_levels.position(t).is_none()));
            }
        }
        links.sort_unstable();
        links.dedup();
        let tops = context.top_levels.methods.iter().map(|t| t.method);
        let roots: Vec<MethodId> = tops.chain(links.iter().copied()).collect();
        let regions = roots.par_iter().map(|&root| Region::new(context, root)).collect();
        let n_top_levels = context.top_levels.methods.len();
        let passes = (0..roots.len())
            .map(|i| {
                let top = context.top_levels.methods.get(i);
                top.is_none_or(|t| t.kind == TopLevelKind::Dispatcher || is_silent(context, t))
            })
            .collect();
        Units { regions, n_top_levels, links, passes }
    }

    /// Number of units.
    pub(crate) fn len(&self) -> usize {
        self.regions.len()
    }

    /// The region of a unit.
    pub(crate) fn region(&self, unit: UnitId) -> &Region {
        &self.regions[unit]
    }

    /// The top-level method that a unit is, unless it is a link.
    pub(crate) fn top_level(&self, unit: UnitId) -> Option<usize> {
        (unit < self.n_top_levels).then_some(unit)
    }

    /// Whether the unit only passes work on.
    pub(crate) fn passes(&self, unit: UnitId) -> bool {
        self.passes[unit]
    }

    /// The unit that begins with `method`.
    pub(crate) fn of(&self, context: Context<'_>, method: MethodId) -> Option<UnitId> {
        if let Some(top) = context.top_levels.position(method) {
            return Some(top);
        }
        self.links.binary_search(&method).ok().map(|i| self.n_top_levels + i)
    }

    /// Units that are called, directly or through methods without a unit of
    /// their own, from `sites` of `method`: each with the edges from it up to
    /// `method`.
    pub(crate) fn below(
        &self,
        context: Context<'_>,
        method: MethodId,
        sites: &FxHashSet<ValueId>,
    ) -> Vec<(UnitId, Vec<Edge>)> {
        let mut parents: FxHashMap<MethodId, Option<Edge>> = FxHashMap::default();
        parents.insert(method, None);
        let mut order = vec![method];
        let mut found = Vec::new();
        let mut at = 0;
        while at < order.len() && order.len() < crate::limits::BELOW_METHODS_MAX {
            let caller = order[at];
            at += 1;
            for (i, call) in context.graph.calls(caller).iter().enumerate() {
                let leaves = !call.kind.is_local() && call.kind != crate::call_graph::CallKind::Table;
                if leaves || caller == method && !sites.contains(&call.site) {
                    continue;
                }
                for &target in &call.targets {
                    if parents.contains_key(&target) {
                        continue;
                    }
                    parents.insert(target, Some((caller, i, target)));
                    match self.of(context, target) {
                        Some(unit) if unit < self.n_top_levels || !call.kind.is_local() => {
                            found.push((unit, target));
                        }
                        _ => order.push(target),
                    }
                }
            }
        }
        let way = |mut at: MethodId| {
            let mut way = Vec::new();
            while let Some(Some(edge)) = parents.get(&at) {
                way.push(*edge);
                at = edge.0;
            }
            way
        };
        found.into_iter().map(|(unit, target)| (unit, way(target))).collect()
    }
}

/// Whether a step of somebody's thread prints nothing when all goes well, at the
/// level that programs are run with.
fn is_silent(context: Context<'_>, top: &TopLevel) -> bool {
    let is_step = matches!(top.kind, TopLevelKind::IdentifierLoss | TopLevelKind::DispatchTarget);
    is_step
        && top.members.iter().all(|member| {
            let point = &context.log_points[member.log_point as usize];
            !point.levels.is_empty() && !point.levels.contains(&Level::Info)
        })
}

/// Whether an instruction stands inside a loop of its method.
pub(crate) fn in_loop(context: Context<'_>, method: MethodId, site: ValueId) -> bool {
    let Some(body) = &context.program.methods[method.index()].body else { return false };
    body.block(body.inst(site).block).loop_header.is_some()
}

/// Whether only one of several instructions can run each time that their method does.
pub(crate) fn are_alternatives(context: Context<'_>, sites: &[(MethodId, ValueId)]) -> bool {
    let [(method, _), ..] = *sites else { return false };
    if sites.iter().any(|&(other, _)| other != method) {
        return false;
    }
    let Some(body) = &context.program.methods[method.index()].body else { return false };
    let blocks: Vec<BlockId> = sites.iter().map(|&(_, site)| body.inst(site).block).collect();
    let excludes = |(at, &block): (usize, &BlockId)| {
        let after = body.reachable(block);
        let others = blocks.iter().enumerate().filter(|&(other, _)| other != at);
        others.map(|(_, other)| *other).all(|other| other != block && !after[other.index()])
    };
    blocks.iter().enumerate().all(excludes)
}
