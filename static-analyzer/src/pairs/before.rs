//! What a sender has printed before it hands its request over, if it printed it
//! at all: log points from which the hand-off can be reached and that cannot be
//! reached from the hand-off (happened-before, Pivot Tracing §3).

use rustc_hash::{FxHashMap, FxHashSet};

use super::Context;
use super::regions::Region;
use crate::ir::{BlockId, Body, ValueId};
use crate::limits::WAYS_MAX;
use crate::program::MethodId;

type Site = (MethodId, ValueId);

/// For each method: the instructions that print, with their log points.
#[derive(Debug)]
pub(super) struct Prints {
    by_method: FxHashMap<MethodId, Vec<(ValueId, u32)>>,
}

impl Prints {
    /// Of all log points.
    pub(super) fn new(context: Context<'_>) -> Self {
        let mut by_method: FxHashMap<MethodId, Vec<(ValueId, u32)>> = FxHashMap::default();
        for (i, point) in (0u32..).zip(context.log_points) {
            by_method.entry(point.frame).or_default().extend(point.sites.iter().map(|&s| (s, i)));
        }
        Prints { by_method }
    }
}

/// What is printed around the hand-offs of one sender.
pub(super) struct Before<'a> {
    context: Context<'a>,
    region: &'a Region,
    prints: &'a Prints,
    /// Everything printed by a method and below.
    below: FxHashMap<MethodId, Vec<u32>>,
    /// (only before, after) one instruction, in its method and below.
    around: FxHashMap<Site, (Vec<u32>, Vec<u32>)>,
    /// Points only before one instruction, in the whole region.
    before: FxHashMap<Site, Vec<u32>>,
}

impl<'a> Before<'a> {
    /// For the hand-offs of `region`.
    pub(super) fn new(context: Context<'a>, region: &'a Region, prints: &'a Prints) -> Self {
        let (below, around, before) = Default::default();
        Before { context, region, prints, below, around, before }
    }

    /// Points of the region that are only printed before each of `sites`, sorted.
    pub(super) fn points(&mut self, sites: &[Site]) -> Vec<u32> {
        let mut before: Option<Vec<u32>> = None;
        for &site in sites {
            if !self.region.contains(site.0) {
                continue;
            }
            if !self.before.contains_key(&site) {
                let found = self.before_site(site);
                self.before.insert(site, found);
            }
            let found = &self.before[&site];
            before = Some(match before {
                None => found.clone(),
                Some(old) => old.into_iter().filter(|p| found.binary_search(p).is_ok()).collect(),
            });
        }
        before.unwrap_or_default()
    }

    /// Points only before one site, over all ways from the root to its method.
    fn before_site(&mut self, site: Site) -> Vec<u32> {
        let mut before: Vec<u32> = Vec::new();
        let mut after: Vec<u32> = Vec::new();
        let mut seen: FxHashSet<Site> = FxHashSet::default();
        seen.insert(site);
        let mut stack = vec![site];
        while let Some(site) = stack.pop() {
            let (earlier, later) = self.around_site(site);
            before.extend(earlier);
            after.extend(later);
            if site.0 == self.region.root {
                continue;
            }
            for &(caller, i) in &self.context.graph.callers[site.0.index()] {
                let call = &self.context.graph.calls(caller)[i];
                let known = call.kind.is_local() && self.region.contains(caller);
                if known && seen.insert((caller, call.site)) {
                    stack.push((caller, call.site));
                }
            }
            if seen.len() > WAYS_MAX {
                return Vec::new();
            }
        }
        before.sort_unstable();
        before.dedup();
        after.sort_unstable();
        before.retain(|p| after.binary_search(p).is_err());
        before
    }

    /// What one method prints before and after one of its instructions.
    fn around_site(&mut self, site: Site) -> &(Vec<u32>, Vec<u32>) {
        if !self.around.contains_key(&site) {
            let found = self.split(site);
            self.around.insert(site, found);
        }
        &self.around[&site]
    }

    fn split(&mut self, (method, site): Site) -> (Vec<u32>, Vec<u32>) {
        let Some(body) = &self.context.program.methods[method.index()].body else {
            return Default::default();
        };
        let home = body.inst(site).block;
        let forward = reach(body, home, true);
        let backward = reach(body, home, false);
        let position = |v: ValueId| body.block(home).insts.iter().position(|&w| w == v);
        // (printed before, printed after) for an instruction that prints.
        let sides = |value: ValueId| -> (bool, bool) {
            let block = body.inst(value).block;
            let (same, other) = (block == home, (position(value), position(site)));
            let before = backward[block.index()] || (same && other.0 < other.1);
            let after = forward[block.index()] || (same && other.0 > other.1);
            (before && value != site, after && value != site)
        };
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for &(value, point) in self.prints.by_method.get(&method).into_iter().flatten() {
            let (earlier, later) = sides(value);
            before.extend(earlier.then_some(point));
            after.extend(later.then_some(point));
        }
        for (call, target) in self.context.graph.local_edges(method) {
            if !self.region.contains(target) || target == self.region.root {
                continue;
            }
            let (earlier, later) = sides(call.site);
            if earlier || later {
                let points = self.below(target);
                before.extend(points.iter().filter(|_| earlier));
                after.extend(points.iter().filter(|_| later));
            }
        }
        for list in [&mut before, &mut after] {
            list.sort_unstable();
            list.dedup();
        }
        (before, after)
    }

    fn below(&mut self, method: MethodId) -> &[u32] {
        if !self.below.contains_key(&method) {
            let mut seen: FxHashSet<MethodId> = FxHashSet::default();
            seen.insert(method);
            let mut stack = vec![method];
            let mut points = Vec::new();
            while let Some(m) = stack.pop() {
                points.extend(self.prints.by_method.get(&m).into_iter().flatten().map(|p| p.1));
                for (_, target) in self.context.graph.local_edges(m) {
                    if self.region.contains(target) && seen.insert(target) {
                        stack.push(target);
                    }
                }
            }
            points.sort_unstable();
            points.dedup();
            self.below.insert(method, points);
        }
        &self.below[&method]
    }
}

/// Blocks that can be reached from the end of `home` (or that reach its start).
fn reach(body: &Body, home: BlockId, forward: bool) -> Vec<bool> {
    let mut seen = vec![false; body.blocks.len()];
    let mut stack = vec![home];
    while let Some(at) = stack.pop() {
        let block = body.block(at);
        let handlers = block.handlers.iter().map(|h| h.block);
        let next: Vec<BlockId> = if forward {
            block.successors.iter().copied().chain(handlers).collect()
        } else {
            block.predecessors.clone()
        };
        for to in next {
            if !std::mem::replace(&mut seen[to.index()], true) {
                stack.push(to);
            }
        }
    }
    seen
}
