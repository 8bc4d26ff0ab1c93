//! What a sender has printed before it hands its request over, if it printed it
//! at all: log points from which the hand-off can be reached and that cannot be
//! reached from the hand-off (happened-before, Pivot Tracing §3).

use rustc_hash::FxHashMap;

use super::Context;
use super::regions::Region;
use crate::ir::{BlockId, Body, ValueId};
use crate::program::MethodId;

/// Points of the region that are only printed before each of `sites`, sorted.
pub(crate) fn points(context: Context<'_>, region: &Region, sites: &[(MethodId, ValueId)]) -> Vec<u32> {
    let mut own: FxHashMap<MethodId, Vec<(ValueId, u32)>> = FxHashMap::default();
    for (i, point) in (0u32..).zip(context.log_points) {
        if region.contains(point.frame) {
            own.entry(point.frame).or_default().extend(point.sites.iter().map(|&s| (s, i)));
        }
    }
    let mut below = Below { context, region, own: &own, memo: FxHashMap::default() };
    let mut before: Option<Vec<u32>> = None;
    for &(method, site) in sites {
        if !region.contains(method) {
            continue;
        }
        let found = around(&mut below, region, method, site);
        before = Some(match before {
            None => found,
            Some(old) => old.into_iter().filter(|p| found.binary_search(p).is_ok()).collect(),
        });
    }
    before.unwrap_or_default()
}

/// Points only before one site, over all ways from the root to its method.
fn around(below: &mut Below<'_>, region: &Region, method: MethodId, site: ValueId) -> Vec<u32> {
    let mut before: Vec<u32> = Vec::new();
    let mut after: Vec<u32> = Vec::new();
    let mut sites = vec![(method, site)];
    let mut at = 0;
    while at < sites.len() && at < crate::limits::WAYS_MAX {
        let (method, site) = sites[at];
        at += 1;
        split(below, method, site, &mut before, &mut after);
        if method == region.root {
            continue;
        }
        for &(caller, i) in &below.context.graph.callers[method.index()] {
            let call = &below.context.graph.calls(caller)[i];
            if call.kind.is_local() && region.contains(caller) && !sites.contains(&(caller, call.site)) {
                sites.push((caller, call.site));
            }
        }
    }
    if at < sites.len() {
        return Vec::new();
    }
    before.sort_unstable();
    before.dedup();
    after.sort_unstable();
    before.retain(|p| after.binary_search(p).is_err());
    before
}

/// Sorts what one method prints around one of its instructions.
fn split(below: &mut Below<'_>, method: MethodId, site: ValueId, before: &mut Vec<u32>, after: &mut Vec<u32>) {
    let Some(body) = &below.context.program.methods[method.index()].body else { return };
    let home = body.inst(site).block;
    let forward = reach(body, home, true);
    let backward = reach(body, home, false);
    for (value, point) in below.prints(method) {
        if value == site {
            continue;
        }
        let block = body.inst(value).block;
        let position = |v: ValueId| body.block(home).insts.iter().position(|&w| w == v);
        let same_block = block == home;
        if backward[block.index()] || (same_block && position(value) < position(site)) {
            before.push(point);
        }
        if forward[block.index()] || (same_block && position(value) > position(site)) {
            after.push(point);
        }
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

/// What is printed below a method, within the region.
struct Below<'a> {
    context: Context<'a>,
    region: &'a Region,
    own: &'a FxHashMap<MethodId, Vec<(ValueId, u32)>>,
    memo: FxHashMap<MethodId, Vec<u32>>,
}

impl Below<'_> {
    /// (instruction, log point) of everything `method` prints.
    fn prints(&mut self, method: MethodId) -> Vec<(ValueId, u32)> {
        let mut prints = self.own.get(&method).cloned().unwrap_or_default();
        let graph = self.context.graph;
        for (call, target) in graph.local_edges(method) {
            if self.region.contains(target) && target != self.region.root {
                prints.extend(self.all(target).into_iter().map(|p| (call.site, p)));
            }
        }
        prints
    }

    /// Everything printed by `method` and below.
    fn all(&mut self, method: MethodId) -> Vec<u32> {
        if let Some(found) = self.memo.get(&method) {
            return found.clone();
        }
        let mut seen = vec![method];
        let mut at = 0;
        let mut points = Vec::new();
        while at < seen.len() {
            let m = seen[at];
            at += 1;
            points.extend(self.own.get(&m).into_iter().flatten().map(|p| p.1));
            for (_, target) in self.context.graph.local_edges(m) {
                if self.region.contains(target) && !seen.contains(&target) {
                    seen.push(target);
                }
            }
        }
        points.sort_unstable();
        points.dedup();
        self.memo.insert(method, points.clone());
        points
    }
}
