//! What a sender prints on one side only of the place where it hands its request over.
//! Before, if it prints it at all: log points from which the hand-off can be reached and
//! that cannot be reached from the hand-off (happened-before, Pivot Tracing §3). After:
//! the other way around. Beside: on other ways through the sender, from which the
//! hand-off is not reached, nor they from it. Who prints that has handed nothing over. Of a
//! dispatcher, in one round: what it prints in the next one is of another request.

use std::sync::OnceLock;

use rustc_hash::{FxHashMap, FxHashSet};
use schema::TopLevelKind;

use super::Context;
use super::regions::Region;
use crate::call_graph::{CallGraph, Times};
use crate::ir::{BlockId, Body, ValueId};
use crate::limits::WAYS_MAX;
use crate::program::{MethodId, Program};
use crate::top_level::loops::ServiceLoops;

type Site = (MethodId, ValueId);

/// For each method: the instructions that print, with their log points.
#[derive(Debug)]
pub(super) struct Prints {
    by_method: FxHashMap<MethodId, Vec<(ValueId, u32)>>,
    /// By method: everything printed by it and below, up to where another
    /// top-level method begins; the same for all senders, made when asked for.
    below: Vec<OnceLock<Box<[u32]>>>,
}

impl Prints {
    /// Of all log points.
    pub(super) fn new(context: Context<'_>) -> Self {
        let mut by_method: FxHashMap<MethodId, Vec<(ValueId, u32)>> = FxHashMap::default();
        for (i, point) in (0u32..).zip(context.log_points) {
            by_method.entry(point.frame).or_default().extend(point.sites.iter().map(|&s| (s, i)));
        }
        Prints { by_method, below: vec![OnceLock::new(); context.program.methods.len()] }
    }

    /// The log points that an instruction prints.
    pub(super) fn at(&self, method: MethodId, site: ValueId) -> impl Iterator<Item = u32> {
        let own = self.by_method.get(&method).into_iter().flatten();
        own.filter(move |(at, _)| *at == site).map(|&(_, point)| point)
    }

    /// Whether neither a method nor what it calls prints anything.
    pub(super) fn is_silent(&self, context: Context<'_>, method: MethodId) -> bool {
        self.below(context, method).is_empty()
    }

    fn below(&self, context: Context<'_>, method: MethodId) -> &[u32] {
        self.below[method.index()].get_or_init(|| self.find_below(context, method))
    }

    fn find_below(&self, context: Context<'_>, method: MethodId) -> Box<[u32]> {
        let mut seen: FxHashSet<MethodId> = FxHashSet::from_iter([method]);
        let mut stack = vec![method];
        let mut points: FxHashSet<u32> = FxHashSet::default();
        while let Some(m) = stack.pop() {
            if let Some(known) = self.below[m.index()].get() {
                points.extend(known);
                continue;
            }
            points.extend(self.by_method.get(&m).into_iter().flatten().map(|p| p.1));
            let targets = context.graph.local_edges(m).map(|(_, target)| target);
            stack.extend(targets.filter(|&t| context.top_levels.position(t).is_none() && seen.insert(t)));
        }
        let mut points: Vec<u32> = points.into_iter().collect();
        points.sort_unstable();
        points.into()
    }
}

/// What is printed before and after something, each sorted.
#[derive(Clone, Debug, Default)]
pub(super) struct Sides {
    pub(super) before: Vec<u32>,
    pub(super) after: Vec<u32>,
    pub(super) beside: Vec<u32>,
    /// After it, be it before it as well.
    pub(super) later: Vec<u32>,
    /// After it, but in no round that has come so far.
    past: Vec<u32>,
}

impl Sides {
    fn add(&mut self, other: &Sides) {
        self.before.extend(&other.before);
        self.after.extend(&other.after);
        self.past.extend(&other.past);
    }

    fn sort(&mut self) {
        for list in [&mut self.before, &mut self.after, &mut self.past] {
            list.sort_unstable();
            list.dedup();
        }
    }

    /// Without what is printed on both sides.
    fn apart(mut self) -> Self {
        self.later = self.after.clone();
        self.after.retain(|point| self.before.binary_search(point).is_err());
        self.before.retain(|point| self.later.binary_search(point).is_err());
        self
    }

    /// What is on the same side of both.
    fn common(mut self, other: &Self) -> Self {
        self.before.retain(|point| other.before.binary_search(point).is_ok());
        self.after.retain(|point| other.after.binary_search(point).is_ok());
        self.later.retain(|point| other.later.binary_search(point).is_ok());
        self.beside.retain(|point| other.beside.binary_search(point).is_ok());
        self
    }
}

/// The call sites on all ways from the root to one method, and what is printed
/// around them.
#[derive(Clone, Debug)]
struct WaysTo {
    sites: FxHashSet<Site>,
    around: Sides,
}

/// What is printed around the hand-offs of one sender.
pub(super) struct SidesOf<'a> {
    context: Context<'a>,
    region: &'a Region,
    prints: &'a Prints,
    /// The service loops of the root, if it is a dispatcher: a round hands over what it does,
    /// and the next one is another request.
    rounds: Option<Rounds>,
    /// Methods that can call the root again.
    recursive: FxHashSet<MethodId>,
    /// Around one instruction, in its method and below.
    around: FxHashMap<Site, Sides>,
    /// To each method; none: too many.
    ways: FxHashMap<MethodId, Option<WaysTo>>,
    /// Points on one side only of one instruction, in the whole region.
    apart: FxHashMap<Site, Sides>,
}

impl<'a> SidesOf<'a> {
    /// For the hand-offs of `region`.
    pub(super) fn new(context: Context<'a>, region: &'a Region, prints: &'a Prints) -> Self {
        let (around, ways, apart) = Default::default();
        let mut recursive = FxHashSet::default();
        let mut stack = vec![region.root];
        while let Some(method) = stack.pop() {
            for &(caller, i) in &context.graph.callers[method.index()] {
                let known = context.graph.calls(caller)[i].kind.is_local() && region.contains(caller);
                if known && recursive.insert(caller) {
                    stack.push(caller);
                }
            }
        }
        let Context { program, graph, top_levels, .. } = context;
        let kind = top_levels.position(region.root).map(|at| top_levels.methods[at].kind);
        let is_dispatcher = kind == Some(TopLevelKind::Dispatcher);
        let rounds = is_dispatcher.then(|| Rounds::of(program, graph, region.root)).flatten();
        SidesOf { context, region, prints, rounds, recursive, around, ways, apart }
    }

    /// Points of the region that are only printed before, or after, each of `sites`.
    pub(super) fn points(&mut self, sites: &[Site]) -> Sides {
        let mut all: Option<Sides> = None;
        for &site in sites {
            if !self.region.contains(site.0) {
                continue;
            }
            if !self.apart.contains_key(&site) {
                let found = self.apart_site(site);
                self.apart.insert(site, found);
            }
            let found = &self.apart[&site];
            all = Some(match all {
                None => found.clone(),
                Some(old) => old.common(found),
            });
        }
        all.unwrap_or_default()
    }

    /// Points on one side only of one site, over all ways from the root to its method.
    fn apart_site(&mut self, site: Site) -> Sides {
        if !self.ways.contains_key(&site.0) {
            let ways = self.ways_to(site.0);
            self.ways.insert(site.0, ways);
        }
        self.around_site(site);
        let Some(ways) = &self.ways[&site.0] else { return Sides::default() };
        if ways.sites.len() + usize::from(!ways.sites.contains(&site)) > WAYS_MAX {
            return Sides::default();
        }
        let mut around = self.around[&site].clone();
        around.add(&ways.around);
        around.sort();
        around.beside = self.beside(site, &around);
        around.apart()
    }

    /// Points of the region that are not `around` the hand-off at `site`, nor within it.
    fn beside(&self, (method, site): Site, around: &Sides) -> Vec<u32> {
        if !self.recursive.is_empty() {
            return Vec::new();
        }
        let own = self.prints.by_method.get(&method).into_iter().flatten();
        let mut within: FxHashSet<u32> = own.filter(|(at, _)| *at == site).map(|&(_, p)| p).collect();
        for (_, target) in self.context.graph.local_edges(method).filter(|(call, _)| call.site == site) {
            within.extend(self.prints.below(self.context, target));
        }
        let is_told = |point: &u32| {
            within.contains(point)
                || around.before.binary_search(point).is_ok()
                || around.after.binary_search(point).is_ok()
                || around.past.binary_search(point).is_ok()
        };
        let all = self.prints.below(self.context, self.region.root).iter();
        all.copied().filter(|point| !is_told(point)).collect()
    }

    /// The calls on all ways from the root to `method`.
    fn ways_to(&mut self, method: MethodId) -> Option<WaysTo> {
        let mut sites: FxHashSet<Site> = FxHashSet::default();
        let mut repeated: Vec<MethodId> = Vec::new();
        let mut stack = vec![method];
        while let Some(method) = stack.pop() {
            if method == self.region.root {
                continue;
            }
            for &(caller, i) in &self.context.graph.callers[method.index()] {
                let call = &self.context.graph.calls(caller)[i];
                let known = call.kind.is_local() && self.region.contains(caller);
                if known && self.context.graph.times(caller, call, method) == Times::Any {
                    repeated.push(method);
                }
                if known && sites.insert((caller, call.site)) {
                    stack.push(caller);
                }
            }
            if sites.len() > WAYS_MAX {
                return None;
            }
        }
        let mut around = Sides::default();
        for &site in &sites {
            around.add(self.around_site(site));
        }
        // What is called over and over is printed before, and after, what it hands over.
        for method in repeated {
            let points = self.prints.below(self.context, method);
            around.before.extend(points);
            around.after.extend(points);
        }
        around.sort();
        Some(WaysTo { sites, around })
    }

    /// What one method prints before and after one of its instructions.
    fn around_site(&mut self, site: Site) -> &Sides {
        if !self.around.contains_key(&site) {
            let found = self.split(site);
            self.around.insert(site, found);
        }
        &self.around[&site]
    }

    fn split(&self, (method, site): Site) -> Sides {
        let Some(body) = &self.context.program.methods[method.index()].body else {
            return Sides::default();
        };
        let home = body.inst(site).block;
        let rounds = self.rounds.as_ref().filter(|_| method == self.region.root);
        let forward = reach(body, home, true, rounds);
        let backward = reach(body, home, false, rounds);
        let past = rounds.map(|_| reach(body, home, true, None)).unwrap_or_default();
        let position = |v: ValueId| body.block(home).insts.iter().position(|&w| w == v);
        // (printed before, printed after) for an instruction that prints.
        let sides = |value: ValueId| -> (bool, bool) {
            let block = body.inst(value).block;
            let (same, other) = (block == home, (position(value), position(site)));
            let before = backward[block.index()] || (same && other.0 < other.1);
            let after = forward[block.index()] || (same && other.0 > other.1);
            (before && value != site, after && value != site)
        };
        let is_past = |value: ValueId| past.get(body.inst(value).block.index()) == Some(&true);
        let mut around = Sides::default();
        for &(value, point) in self.prints.by_method.get(&method).into_iter().flatten() {
            let (earlier, later) = sides(value);
            around.before.extend(earlier.then_some(point));
            around.after.extend(later.then_some(point));
            around.past.extend((!earlier && !later && is_past(value)).then_some(point));
        }
        for (call, target) in self.context.graph.local_edges(method) {
            if self.context.top_levels.position(target).is_some() {
                continue;
            }
            let (earlier, later) = sides(call.site);
            let is_past = !earlier && !later && is_past(call.site);
            if earlier || later || is_past {
                let recursive = self.recursive.contains(&target);
                let from = if recursive { self.region.root } else { target };
                let points = self.prints.below(self.context, from);
                around.before.extend(points.iter().filter(|_| earlier));
                around.after.extend(points.iter().filter(|_| later));
                around.past.extend(points.iter().filter(|_| is_past));
            }
        }
        around.sort();
        around
    }
}

/// The rounds of a dispatcher.
struct Rounds {
    loops: ServiceLoops,
    /// Per block: whether the loop turns after it.
    turning: Vec<bool>,
}

impl Rounds {
    fn of(program: &Program, graph: &CallGraph, method: MethodId) -> Option<Self> {
        let loops = ServiceLoops::of(program, graph, method);
        let turning = loops.turning(program.methods[method.index()].body.as_ref()?);
        loops.any.then_some(Rounds { loops, turning })
    }

    /// Whether the step from one block to another one leads to the next round, or ends the
    /// loop with an exception.
    fn ends(&self, from: BlockId, to: BlockId, is_handler: bool) -> bool {
        let turns = |block: BlockId| self.turning[block.index()];
        turns(from) && (self.loops.begins_round(to) || (is_handler && !turns(to)))
    }
}

/// Blocks that can be reached from the end of `home` (or that reach its start), in one of
/// the `rounds` if there are any.
fn reach(body: &Body, home: BlockId, forward: bool, rounds: Option<&Rounds>) -> Vec<bool> {
    let mut seen = vec![false; body.blocks.len()];
    let mut stack = vec![home];
    while let Some(at) = stack.pop() {
        let block = body.block(at);
        let handlers = block.handlers.iter().map(|h| h.block);
        let next: Vec<(BlockId, bool)> = if forward {
            let next = block.successors.iter().map(|&to| (to, false));
            next.chain(handlers.map(|to| (to, true))).collect()
        } else {
            block.predecessors.iter().map(|&to| (to, false)).collect()
        };
        for (to, is_handler) in next {
            let (a, b) = if forward { (at, to) } else { (to, at) };
            let ends = rounds.is_some_and(|rounds| rounds.ends(a, b, is_handler));
            if !ends && !std::mem::replace(&mut seen[to.index()], true) {
                stack.push(to);
            }
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_on_both_sides_is_on_none() {
        // 2 is printed in a loop around the hand-off.
        let sides =
            Sides { before: vec![1, 2, 3], after: vec![2, 4], beside: vec![5, 6], ..Sides::default() }
                .apart();
        assert_eq!((&sides.before[..], &sides.after[..]), (&[1, 3][..], &[4][..]));
        assert_eq!(sides.later, [2, 4]);
        // Of two hand-offs, 3 stands between.
        let other = Sides { before: vec![1], after: vec![3, 4], beside: vec![6], ..Sides::default() };
        let both = sides.common(&other);
        assert_eq!((&both.before[..], &both.after[..], &both.beside[..]), (&[1][..], &[4][..], &[6][..]));
    }
}
