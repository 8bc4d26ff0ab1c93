//! Remote calls: where a sender asks for what a receiver serves, and which of its lines are next
//! to that, so that what the receiver does can be placed between them.
//!
//! Next to a call is what is printed before, or after, with no line between that logs usually
//! show: in its method, in what that calls, and in what calls it, within the sender. What is
//! caught when the call fails comes after it.
//!
//! So is what runs around a handler, as a filter does, a sender that calls it and waits, in one
//! thread: where none is printed, its lines say what the handler's run is a part of.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use schema::{Level, LinkKind, LogPointId, RemoteCall, TopLevelKind};

use super::regions::{Region, Units, are_alternatives, in_loop};
use super::sides::Prints;
use super::{Context, Key, Pair, Pairs, Sites};
use crate::ir::{BlockId, Body, ValueId};
use crate::program::MethodId;
use crate::services::Request;

type Site = (MethodId, ValueId);

/// Adds where the senders of pairs ask, and whether they wait.
pub(super) fn add(
    context: Context<'_>,
    units: &Units,
    prints: &Prints,
    sites: &BTreeMap<Key, Sites>,
    pairs: &mut Pairs,
) {
    let mut of_senders: BTreeMap<usize, Vec<&mut Pair>> = BTreeMap::new();
    let is_around = |pair: &Pair| {
        let to = &context.top_levels.methods[pair.to];
        pair.kind == LinkKind::Call && to.kind == TopLevelKind::RpcHandler
    };
    for pair in pairs.values_mut().filter(|pair| pair.kind.is_served() || is_around(pair)) {
        of_senders.entry(pair.from).or_default().push(pair);
    }
    of_senders.into_par_iter().for_each(|(from, pairs)| {
        let mut near = Near { context, prints, region: units.region(from), edges: FxHashMap::default() };
        let of = |pair: &Pair| sites.get(&(pair.from, pair.to, pair.kind)).cloned().unwrap_or_default();
        let all: BTreeSet<Site> = pairs.iter().flat_map(|pair| of(pair)).collect();
        let ways: BTreeMap<Site, Vec<Way>> = all.into_iter().map(|site| (site, near.ways_to(site))).collect();
        let orders = near.orders(ways.values().flatten());
        for pair in pairs {
            let mut found = Vec::new();
            for way in of(pair).iter().flat_map(|site| &ways[site]) {
                found.extend(near.calls(pair, way, orders[way]));
            }
            found.sort();
            found.dedup();
            if pair.kind.is_served() {
                pair.waits = !found.is_empty() && found.iter().all(|call| call.waits);
            }
            pair.remote_calls = found;
        }
    });
}

/// A way to a place: the place first, then the calls that lead to it, up to the sender's first
/// method. A helper that is called twice is two ways, each with its own lines around it. What
/// calls more than [`WAYS_MAX`] lead to ends below them, and stands for all of them.
type Way = Vec<Site>;

/// Ways to one place that are told apart.
const WAYS_MAX: usize = 32;

/// What is printed at one end of something, and whether it can print nothing.
#[derive(Clone, Debug, Default)]
struct Edge {
    points: BTreeSet<u32>,
    passes: bool,
}

/// What is printed next to places of one sender.
struct Near<'a> {
    context: Context<'a>,
    prints: &'a Prints,
    region: &'a Region,
    /// What methods print first (true) and last.
    edges: FxHashMap<(MethodId, bool), Edge>,
}

impl Near<'_> {
    /// The calls on a way that a pair stands for.
    fn calls(&mut self, pair: &Pair, way: &Way, order: u32) -> Vec<RemoteCall> {
        let target = self.context.top_levels.methods[pair.to].method;
        let in_thread = [Request::in_thread(target)];
        let requests = match self.context.graph.requests.get(&way[0]) {
            _ if pair.kind == LinkKind::Call => &in_thread[..],
            Some(requests) => requests,
            None => return Vec::new(),
        };
        let is_direct = requests.iter().any(|request| request.target == target);
        let (after, before) = (self.next_to(way, false), self.next_to(way, true));
        let repeats = self.repeats(way);
        let ids = |edge: &Edge| edge.points.iter().map(|&point| LogPointId::new(point as usize)).collect();
        let meant = requests.iter().filter(|request| request.target == target || !is_direct);
        meant
            .map(|request| RemoteCall {
                order,
                verb: request.verb.clone(),
                template: request.template.clone(),
                asked: request.asked.clone(),
                host: request.host.clone(),
                waits: request.waits,
                repeats,
                after: ids(&after),
                is_first: after.passes,
                before: ids(&before),
                is_last: before.passes,
            })
            .collect()
    }

    /// The calls of a method within the sender.
    fn callers(&self, method: MethodId) -> Vec<Site> {
        if method == self.region.root {
            return Vec::new();
        }
        let callers = self.context.graph.callers[method.index()].iter();
        let calls = callers.map(|&(caller, at)| (caller, &self.context.graph.calls(caller)[at]));
        let own = calls.filter(|(caller, call)| call.kind.is_local() && self.region.contains(*caller));
        let mut found: Vec<Site> = own.map(|(caller, call)| (caller, call.site)).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// All ways to a place, but for those through a method twice.
    fn ways_to(&self, site: Site) -> Vec<Way> {
        let mut ways = vec![vec![site]];
        loop {
            let mut longer = Vec::new();
            let mut has_grown = false;
            for way in &ways {
                let is_new = |caller: &Site| way.iter().all(|(method, _)| *method != caller.0);
                let mut callers = self.callers(way[way.len() - 1].0);
                callers.retain(is_new);
                has_grown |= !callers.is_empty();
                if callers.is_empty() {
                    longer.push(way.clone());
                }
                longer.extend(callers.into_iter().map(|caller| [&way[..], &[caller]].concat()));
            }
            if !has_grown || longer.len() > WAYS_MAX {
                return ways;
            }
            ways = longer;
        }
    }

    /// The whole of a way, with one way of many where it ends below them.
    fn up<'w>(&'w self, way: &'w Way) -> impl Iterator<Item = Site> + 'w {
        let above = self.region.way_up(way[way.len() - 1].0).into_iter();
        let above = above.map(|(caller, call, _)| (caller, self.context.graph.calls(caller)[call].site));
        way.iter().copied().chain(above)
    }

    /// The place of each way among all, in the order in which one run comes to them; ways of which
    /// one run takes one have the same.
    fn orders<'w>(&self, ways: impl Iterator<Item = &'w Way>) -> FxHashMap<&'w Way, u32> {
        let place = |(method, site): Site| {
            let body = self.context.program.methods[method.index()].body.as_ref()?;
            Some((body.inst(site).block.index(), place_in(body, site)))
        };
        let places = |way: &Way| {
            let mut places: Vec<(usize, usize)> = self.up(way).filter_map(place).collect();
            places.reverse();
            places
        };
        let mut sorted: Vec<(Vec<(usize, usize)>, &Way)> = ways.map(|way| (places(way), way)).collect();
        sorted.sort();
        let mut orders: FxHashMap<&Way, u32> = FxHashMap::default();
        let (mut order, mut same): (u32, Vec<&Way>) = (0, Vec::new());
        for (_, way) in sorted {
            if !same.iter().all(|other| self.are_alternatives(way, other)) {
                order += 1;
                same.clear();
            }
            same.push(way);
            orders.insert(way, order);
        }
        orders
    }

    /// Whether one run of the method in which two ways part takes one of them.
    fn are_alternatives(&self, way: &Way, other: &Way) -> bool {
        let parted = way.iter().rev().zip(other.iter().rev()).find(|(a, b)| a != b);
        parted.is_some_and(|(&a, &b)| are_alternatives(self.context, &[a, b]))
    }

    /// Whether a call can be made twice with no line between: around a loop, of its own method or
    /// of what calls that.
    fn repeats(&mut self, way: &Way) -> bool {
        if !self.region.is_looped(way[0].0) && !in_loop(self.context, way[0].0, way[0].1) {
            return false;
        }
        let calls_itself = |way: &Way, (method, _): &Site| {
            let callers = self.callers(*method);
            callers
                .iter()
                .any(|caller| way.iter().any(|(method, _)| *method == caller.0) && !way.contains(caller))
        };
        let is_recursive = way.iter().any(|site| calls_itself(way, site));
        let up: Vec<Site> = self.up(way).collect();
        for (method, site) in up {
            if in_loop(self.context, method, site) && self.is_silent_round(method, site) {
                return true;
            }
            let [behind, before] = [true, false]
                .map(|is_forwards| self.within(method, Some(site), is_forwards, &mut FxHashSet::default()));
            if !behind.passes || !before.passes {
                return false;
            }
        }
        is_recursive
    }

    /// Whether a method can come back to one of its instructions past nothing that logs show.
    fn is_silent_round(&mut self, method: MethodId, site: ValueId) -> bool {
        let Some(body) = &self.context.program.methods[method.index()].body else { return true };
        let home = body.inst(site).block;
        let (mut shown, mut running) = (Edge::default(), FxHashSet::default());
        if self.block(method, body, home, Some(site), false, &mut running, &mut shown)
            || self.block(method, body, home, Some(site), true, &mut running, &mut shown)
        {
            return false;
        }
        let mut seen = vec![false; body.blocks.len()];
        let mut todo = body.block(home).successors.clone();
        while let Some(block) = todo.pop() {
            if block == home {
                return true;
            }
            if !std::mem::replace(&mut seen[block.index()], true)
                && !self.block(method, body, block, None, true, &mut running, &mut shown)
            {
                todo.extend(&body.block(block).successors);
            }
        }
        false
    }

    /// What is printed next to a place, if a run takes one way to it.
    fn next_to(&mut self, way: &Way, is_forwards: bool) -> Edge {
        let mut found = Edge::default();
        let mut seen = FxHashSet::default();
        // What comes next of the way, as long as it is known.
        let mut todo = vec![(way[0], &way[1..])];
        while let Some(((method, site), rest)) = todo.pop() {
            let own = self.within(method, Some(site), is_forwards, &mut FxHashSet::default());
            found.points.extend(&own.points);
            if !own.passes {
                continue;
            }
            match rest.split_first() {
                _ if method == self.region.root => found.passes = true,
                Some((&caller, rest)) => todo.push((caller, rest)),
                None => {
                    let callers = self.callers(method).into_iter();
                    todo.extend(callers.filter(|&caller| seen.insert(caller)).map(|caller| (caller, rest)));
                }
            }
        }
        found
    }

    /// What a method prints from an instruction on, or from its own end, in one direction.
    fn within(
        &mut self,
        method: MethodId,
        from: Option<ValueId>,
        is_forwards: bool,
        running: &mut FxHashSet<MethodId>,
    ) -> Edge {
        let Some(body) = &self.context.program.methods[method.index()].body else {
            return Edge { passes: true, ..Edge::default() };
        };
        let mut found = Edge::default();
        let mut seen = vec![false; body.blocks.len()];
        let mut todo: Vec<(BlockId, Option<ValueId>)> = Vec::new();
        match from {
            Some(site) => {
                let block = body.inst(site).block;
                todo.push((block, Some(site)));
                if is_forwards {
                    // The call can fail.
                    todo.extend(body.block(block).handlers.iter().map(|handler| (handler.block, None)));
                }
            }
            None if is_forwards => todo.push((BlockId::new(0), None)),
            None => {
                let returns = (0..body.blocks.len())
                    .map(BlockId::new)
                    .filter(|&block| body.block(block).successors.is_empty());
                todo.extend(returns.map(|block| (block, None)));
            }
        }
        while let Some((block, from)) = todo.pop() {
            if self.block(method, body, block, from, is_forwards, running, &mut found) {
                continue;
            }
            let next: Vec<BlockId> = match is_forwards {
                true => body.block(block).successors.clone(),
                false => body
                    .block(block)
                    .predecessors
                    .iter()
                    .copied()
                    .filter(|&before| body.block(before).successors.contains(&block))
                    .collect(),
            };
            // What throws ends no run that goes well.
            let ends = next.is_empty()
                && (is_forwards && is_return(body, block) || !is_forwards && block.index() == 0);
            found.passes |= ends;
            for next in next {
                if !std::mem::replace(&mut seen[next.index()], true) {
                    todo.push((next, None));
                }
            }
        }
        found
    }

    /// Adds what a block prints; true: something that logs usually show.
    #[allow(clippy::too_many_arguments)]
    fn block(
        &mut self,
        method: MethodId,
        body: &Body,
        block: BlockId,
        from: Option<ValueId>,
        is_forwards: bool,
        running: &mut FxHashSet<MethodId>,
        found: &mut Edge,
    ) -> bool {
        let insts = &body.block(block).insts;
        let at = from.map(|site| place_in(body, site));
        let range: Vec<ValueId> = match (is_forwards, at) {
            (true, Some(at)) => insts[at + 1..].to_vec(),
            (true, None) => insts.clone(),
            (false, Some(at)) => insts[..at].iter().rev().copied().collect(),
            (false, None) => insts.iter().rev().copied().collect(),
        };
        for value in range {
            let printed: Vec<u32> = self.prints.at(method, value).collect();
            let mut stops = printed.iter().any(|&point| self.is_shown(point));
            found.points.extend(&printed);
            if printed.is_empty() {
                let mut passes = true;
                let mut is_call = false;
                for target in self.called(method, value) {
                    let edge = self.edge(target, is_forwards, running);
                    passes = if is_call { passes || edge.passes } else { edge.passes };
                    is_call = true;
                    found.points.extend(&edge.points);
                }
                stops = is_call && !passes;
            }
            if stops {
                return true;
            }
        }
        false
    }

    /// What a method prints first or last.
    fn edge(&mut self, method: MethodId, is_forwards: bool, running: &mut FxHashSet<MethodId>) -> Edge {
        if let Some(known) = self.edges.get(&(method, is_forwards)) {
            return known.clone();
        }
        if running.len() > crate::limits::BELOW_METHODS_MAX || !running.insert(method) {
            return Edge { passes: true, ..Edge::default() };
        }
        let edge = match self.prints.is_silent(self.context, method) {
            true => Edge { passes: true, ..Edge::default() },
            false => self.within(method, None, is_forwards, running),
        };
        running.remove(&method);
        self.edges.insert((method, is_forwards), edge.clone());
        edge
    }

    fn called(&self, method: MethodId, site: ValueId) -> Vec<MethodId> {
        let calls = self.context.graph.calls(method);
        let from = calls.partition_point(|call| call.site < site);
        let here =
            calls[from..].iter().take_while(|call| call.site == site).filter(|call| call.kind.is_local());
        let targets = here.flat_map(|call| call.targets.iter().copied());
        targets.filter(|&target| self.context.top_levels.position(target).is_none()).collect()
    }

    fn is_shown(&self, point: u32) -> bool {
        let level = self.context.log_points[point as usize].levels.last().copied();
        level.is_none_or(|level| level >= Level::Info)
    }
}

fn is_return(body: &Body, block: BlockId) -> bool {
    let last = body.block(block).insts.last();
    last.is_some_and(|&last| matches!(body.op(last), crate::ir::Op::Return(_)))
}

/// Where in its block an instruction stands.
fn place_in(body: &Body, value: ValueId) -> usize {
    body.block(body.inst(value).block).insts.iter().position(|&other| other == value).unwrap_or_default()
}
