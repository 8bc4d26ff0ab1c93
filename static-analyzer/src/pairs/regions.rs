//! Regions: what runs in one thread for one unit of work, from its first method
//! down to where another unit begins.

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use schema::{Level, TopLevelKind};

use super::Context;
use crate::call_graph::Call;
use crate::ir::{BlockId, ValueId};
use crate::program::MethodId;
use crate::top_level::TopLevel;
use crate::top_level::loops::ServiceLoops;

/// Position of a unit: top-level methods first, in their order, then links.
pub(crate) type UnitId = usize;

/// A call edge: caller, position in the caller's calls, target.
pub(crate) type Edge = (MethodId, usize, MethodId);

/// The methods of one unit. A large program has thousands of units that share most of
/// their methods: an entry takes 16 bytes.
#[derive(Debug)]
pub(crate) struct Region {
    /// Its first method.
    pub(crate) root: MethodId,
    /// In breadth-first order from the root.
    pub(crate) methods: Box<[MethodId]>,
    /// For each method but the root: an edge on a shortest way from the root, as the
    /// caller's position in `methods` and the call's in the caller's calls.
    ways: Box<[(u32, u32)]>,
    /// Positions in `methods`, sorted by method.
    sorted: Box<[u32]>,
    /// For each method: whether some way to it goes through a loop.
    looped: Box<[bool]>,
}

impl Region {
    /// Whether `method` belongs to it.
    pub(crate) fn contains(&self, method: MethodId) -> bool {
        self.position(method).is_some()
    }

    /// Whether `method` can run several times within one run of the root.
    pub(crate) fn is_looped(&self, method: MethodId) -> bool {
        self.position(method).is_some_and(|at| self.looped[at])
    }

    /// The edges from `method` up to the root.
    pub(crate) fn way_up(&self, method: MethodId) -> Vec<Edge> {
        let mut way = Vec::new();
        let Some(mut at) = self.position(method) else { return way };
        while let Some((caller, edge)) = self.above(at) {
            way.push(edge);
            at = caller;
        }
        way
    }

    /// The caller of the method at a position, by its own position, and the edge; none above the
    /// root.
    pub(crate) fn above(&self, at: usize) -> Option<(usize, Edge)> {
        let (caller, call) = self.ways[at];
        let edge = (self.methods[caller as usize], call as usize, self.methods[at]);
        (at > 0).then_some((caller as usize, edge))
    }

    /// Where `method` stands in [`Self::methods`].
    pub(crate) fn position(&self, method: MethodId) -> Option<usize> {
        let at = self.sorted.binary_search_by_key(&method, |&at| self.methods[at as usize]).ok()?;
        Some(self.sorted[at] as usize)
    }

    fn new(inner: &InnerEdges, root: MethodId, walk: &mut Walk) -> Self {
        walk.begin();
        let mut methods = vec![root];
        let mut ways = vec![(0, 0)];
        walk.add(root, 0);
        let mut at = 0;
        while at < methods.len() {
            for edge in inner.of(methods[at]) {
                if !edge.leaves && walk.position(edge.target).is_none() {
                    walk.add(edge.target, methods.len());
                    methods.push(edge.target);
                    ways.push((at as u32, edge.call));
                }
            }
            at += 1;
        }
        let looped = looped(inner, &methods, walk);
        let mut sorted: Box<[u32]> = (0..methods.len() as u32).collect();
        sorted.sort_unstable_by_key(|&at| methods[at as usize]);
        Region { root, methods: methods.into(), ways: ways.into(), sorted, looped }
    }
}

/// Which of the methods of a region can run several times within one run of its root.
fn looped(inner: &InnerEdges, methods: &[MethodId], walk: &Walk) -> Box<[bool]> {
    let mut looped = vec![false; methods.len()];
    let repeated = methods.iter().flat_map(|&caller| inner.of(caller)).filter(|edge| edge.repeated);
    let mut stack: Vec<usize> = repeated.filter_map(|edge| walk.position(edge.target)).collect();
    while let Some(at) = stack.pop() {
        if !std::mem::replace(&mut looped[at], true) {
            stack.extend(inner.of(methods[at]).iter().filter_map(|edge| walk.position(edge.target)));
        }
    }
    looped.into()
}

/// One target of a local call.
#[derive(Clone, Copy, Debug)]
struct InnerEdge {
    target: MethodId,
    /// Position in the caller's calls.
    call: u32,
    /// One run of the caller can run the target several times.
    repeated: bool,
    /// Into a top-level method.
    leaves: bool,
}

/// The local calls of all methods, in order: each is looked at for very many regions.
struct InnerEdges {
    /// By method: where its edges begin; one more at the end.
    starts: Vec<u32>,
    edges: Vec<InnerEdge>,
}

impl InnerEdges {
    fn new(context: Context<'_>) -> Self {
        let of = |method: usize| -> Vec<InnerEdge> {
            let caller = MethodId::new(method);
            let calls = (0u32..).zip(context.graph.calls(caller)).filter(|(_, call)| call.kind.is_local());
            let edges = calls.flat_map(|(at, call)| {
                let repeated = super::handoffs::is_repeated(context, caller, call);
                call.targets.iter().map(move |&target| {
                    let leaves = context.top_levels.position(target).is_some();
                    InnerEdge { target, call: at, repeated, leaves }
                })
            });
            edges.collect()
        };
        let of_methods: Vec<Vec<InnerEdge>> =
            (0..context.program.methods.len()).into_par_iter().map(of).collect();
        let mut starts = Vec::with_capacity(of_methods.len() + 1);
        let mut edges = Vec::with_capacity(of_methods.iter().map(Vec::len).sum());
        for of_method in of_methods {
            starts.push(edges.len() as u32);
            edges.extend(of_method);
        }
        starts.push(edges.len() as u32);
        InnerEdges { starts, edges }
    }

    fn of(&self, method: MethodId) -> &[InnerEdge] {
        let at = method.index();
        &self.edges[self.starts[at] as usize..self.starts[at + 1] as usize]
    }
}

/// Where the methods of one region stand in it. One thread makes many regions with one
/// of these: it is not cleared between them.
struct Walk {
    round: u32,
    /// By method: the round that met it, and its position.
    met: Vec<(u32, u32)>,
}

impl Walk {
    fn new(n_methods: usize) -> Self {
        Walk { round: 0, met: vec![(0, 0); n_methods] }
    }

    fn begin(&mut self) {
        self.round += 1;
    }

    fn add(&mut self, method: MethodId, position: usize) {
        self.met[method.index()] = (self.round, position as u32);
    }

    fn position(&self, method: MethodId) -> Option<usize> {
        let (round, position) = self.met[method.index()];
        (round == self.round).then_some(position as usize)
    }
}

/// All units.
#[derive(Debug)]
pub(crate) struct Units {
    regions: Vec<Region>,
    n_top_levels: usize,
    links: Vec<MethodId>,
    /// Per method: its calls that leave the unit, by position.
    exits: Vec<Box<[u32]>>,
    /// Units that only pass work on: links, dispatchers, and what is silent when
    /// all goes well.
    passes: Vec<bool>,
    /// Tasks that print nothing but that something failed: what they hand on is somebody's
    /// only if it says whose.
    silent_tasks: Vec<bool>,
    /// Those of them that serve one thing after the other.
    silent_loops: Vec<bool>,
    /// Top-level methods that print nothing but that something failed.
    fails_only: Vec<bool>,
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
        let inner = InnerEdges::new(context);
        let walk = || Walk::new(context.program.methods.len());
        let region = |walk: &mut Walk, &root: &MethodId| Region::new(&inner, root, walk);
        let regions = roots.par_iter().map_init(walk, region).collect();
        let n_top_levels = context.top_levels.methods.len();
        let regions: Vec<Region> = regions;
        let tops = context.top_levels.methods.iter();
        let fails_only: Vec<bool> = tops.map(|top| fails_only(context, top)).collect();
        let is_task = |at: usize| context.top_levels.methods[at].kind == TopLevelKind::Task;
        let mut silent_tasks: Vec<bool> = (0..n_top_levels).map(|at| fails_only[at] && is_task(at)).collect();
        silent_tasks.resize(roots.len(), false);
        let serves = |&method: &MethodId| ServiceLoops::of(context.program, context.graph, method).any;
        let silent_loop = |(&silent, region): (&bool, &Region)| silent && region.methods.iter().any(serves);
        let silent_loops = silent_tasks.iter().zip(&regions).map(silent_loop).collect();
        let passes = (0..roots.len())
            .map(|i| {
                let top = context.top_levels.methods.get(i);
                let passes = |t: &TopLevel| {
                    t.members.is_empty() || t.kind == TopLevelKind::Dispatcher || is_silent(context, t)
                };
                top.is_none_or(passes) || silent_tasks[i]
            })
            .collect();
        let exits = context.graph.calls.par_iter().map(|calls| exits(context, calls)).collect();
        Units { regions, n_top_levels, links, exits, passes, silent_tasks, silent_loops, fails_only }
    }

    /// Number of units.
    pub(crate) fn len(&self) -> usize {
        self.regions.len()
    }

    /// The region of a unit.
    pub(crate) fn region(&self, unit: UnitId) -> &Region {
        &self.regions[unit]
    }

    /// The calls of a method that hand over to other units, by position, in order.
    pub(crate) fn exits(&self, method: MethodId) -> &[u32] {
        &self.exits[method.index()]
    }

    /// The top-level method that a unit is, unless it is a link.
    pub(crate) fn top_level(&self, unit: UnitId) -> Option<usize> {
        (unit < self.n_top_levels).then_some(unit)
    }

    /// Whether the unit only passes work on.
    pub(crate) fn passes(&self, unit: UnitId) -> bool {
        self.passes[unit]
    }

    /// Whether the unit is a task that prints nothing but that something failed.
    pub(crate) fn is_silent_task(&self, unit: UnitId) -> bool {
        self.silent_tasks[unit]
    }

    /// Whether the unit is a top-level method that prints nothing but that something failed.
    pub(crate) fn fails_only(&self, unit: UnitId) -> bool {
        self.fails_only.get(unit).copied().unwrap_or(false)
    }

    /// Whether the unit is a service loop that prints nothing but that something failed.
    pub(crate) fn is_silent_loop(&self, unit: UnitId) -> bool {
        self.silent_loops[unit]
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

fn exits(context: Context<'_>, calls: &[Call]) -> Box<[u32]> {
    let leaves = |call: &Call| super::handoffs::leaving(context, call).next().is_some();
    (0u32..).zip(calls).filter(|(_, call)| leaves(call)).map(|(at, _)| at).collect()
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

/// Whether a top-level method prints nothing but that something failed.
fn fails_only(context: Context<'_>, top: &TopLevel) -> bool {
    top.members.iter().all(|member| context.log_points[member.log_point as usize].in_handler)
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
