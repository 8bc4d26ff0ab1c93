//! Rounds of what runs once in a process: threads of start-up and `main`.
//!
//! lprof §4.2 tells a top-level method by its caller: the count of identifiers drops on the
//! way up. What is above the drop is no request; it can only be what runs once, a program or
//! a thread of its start-up, and the drop stands in one of its loops. So whatever kind of
//! loop that is (counted, over data, over the lines of a connection, a client's): if most
//! identifiers that a turn prints are made anew in each turn, or changed, and what stands
//! around the loop prints fewer that last, each turn is a request. A loop of what is itself
//! done for a request (a task that is handed over, a handler) is a step of that, and so is
//! a loop whose turns print what was there before: the copies of one write.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::drops::Drops;
use super::loops::{ServiceLoops, outer_loops};
use crate::call_graph::{Call, CallGraph, CallKind, RootKind, Times};
use crate::identifiers::{Bound, LoggedVariable, Place, in_loop};
use crate::ir::{Body, ValueId};
use crate::path::Root;
use crate::program::MethodId;

/// Adds to `loops` (per method) those of what start-up runs. `own_points`: per method, the log
/// points that stand in it.
pub(super) fn add(graph: &CallGraph, drops: &Drops<'_>, own_points: &[Vec<u32>], loops: &mut [ServiceLoops]) {
    let mains = graph.roots.iter().filter(|root| root.kind == RootKind::Main);
    let mut roots: VecDeque<MethodId> = mains.map(|root| root.method).collect();
    let mut is_met = for_requests(graph, drops, loops);
    let finder = Finder { graph, drops, own_points };
    while let Some(root) = roots.pop_front() {
        let mut todo = vec![(root, Some(0))];
        while let Some((method, n_around)) = todo.pop() {
            if std::mem::replace(&mut is_met[method.index()], true) {
                continue;
            }
            if let Some(n_around) = n_around {
                finder.add_loops_of(method, n_around, &mut loops[method.index()]);
            }
            finder.follow(method, n_around, &loops[method.index()], &mut todo, &mut roots);
        }
    }
}

/// Per method: whether requests run it, as far as is known without their top-level methods:
/// what is served, handles events, is called back, is run by a timer or by a service loop.
fn for_requests(graph: &CallGraph, drops: &Drops<'_>, loops: &[ServiceLoops]) -> Vec<bool> {
    let is_request = |kind| matches!(kind, RootKind::Rpc | RootKind::EventHandler | RootKind::Callback);
    let mut todo: Vec<MethodId> =
        graph.roots.iter().filter(|root| is_request(root.kind)).map(|root| root.method).collect();
    for (at, loops) in loops.iter().enumerate() {
        let method = MethodId::new(at);
        let Some(body) = &drops.program.methods[at].body else { continue };
        for call in graph.calls(method) {
            if !call.kind.is_remote() && (loops.contains(body, call.site) || call.sets_timer(body)) {
                todo.extend(&call.targets);
            }
        }
    }
    let mut is_met = vec![false; loops.len()];
    while let Some(method) = todo.pop() {
        if !std::mem::replace(&mut is_met[method.index()], true) {
            let calls = graph.calls(method).iter().filter(|call| !call.kind.is_remote());
            todo.extend(calls.flat_map(|call| &call.targets));
        }
    }
    is_met
}

struct Finder<'a> {
    graph: &'a CallGraph,
    drops: &'a Drops<'a>,
    own_points: &'a [Vec<u32>],
}

impl<'a> Finder<'a> {
    fn body(&self, method: MethodId) -> Option<&'a Body> {
        self.drops.program.methods[method.index()].body.as_ref()
    }

    /// Goes on from a method of start-up to what it calls and starts outside of its rounds.
    /// `n_around`: how many log points that name something its thread prints on the ways through
    /// it, before and after it; none: it runs several times.
    fn follow(
        &self,
        method: MethodId,
        n_around: Option<usize>,
        loops: &ServiceLoops,
        todo: &mut Vec<(MethodId, Option<usize>)>,
        roots: &mut VecDeque<MethodId>,
    ) {
        let Some(body) = self.body(method) else { return };
        for call in self.graph.calls(method).iter().filter(|call| !loops.contains(body, call.site)) {
            for &target in &call.targets {
                match call.kind {
                    CallKind::Direct | CallKind::Answer | CallKind::Callback => {
                        let is_many = self.graph.times(method, call, target) == Times::Any;
                        let n_around = n_around.filter(|_| !in_loop(body, call.site) && !is_many);
                        let own = || self.drops.n_around(self.graph, method, call.site, target);
                        todo.push((target, n_around.map(|n| n + own())));
                    }
                    CallKind::Table => todo.push((target, None)),
                    CallKind::Start(_) if !call.sets_timer(body) => roots.push_back(target),
                    CallKind::Start(_) | CallKind::Exit | CallKind::Rpc | CallKind::Asks(_) => {}
                }
            }
        }
    }

    fn add_loops_of(&self, method: MethodId, n_around: usize, loops: &mut ServiceLoops) {
        let Some(body) = self.body(method) else { return };
        let mut all = outer_loops(body);
        let looped: BTreeSet<u32> = all.iter().flatten().copied().collect();
        let of_library = self.library_loops(method, body).into_iter();
        all.extend(of_library.filter(|block| !looped.contains(block)).map(|block| vec![block]));
        let is_of_rounds = |members: &Vec<u32>| self.is_of_rounds(method, body, members, n_around);
        let (served, others): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|members| members.iter().any(|&b| loops.has_block(b)));
        let found: Vec<Vec<u32>> = others.into_iter().filter(is_of_rounds).collect();
        loops.turns_are_requests =
            !(found.is_empty() && served.is_empty()) && served.iter().all(is_of_rounds);
        loops.add_rounds(body, found);
    }

    /// Blocks in which a method prints nothing but through what it gives a library to call for
    /// each of many: the loop is the library's.
    fn library_loops(&self, method: MethodId, body: &Body) -> Vec<u32> {
        let block = |site: ValueId| body.inst(site).block.index() as u32;
        let mut printing: BTreeMap<u32, (usize, bool)> = BTreeMap::new();
        for (call, target) in self.graph.local_edges(method) {
            if !self.drops.summaries.methods[target.index()].log_points.is_empty() {
                let is_many = self.graph.times(method, call, target) == Times::Any;
                let of_block = printing.entry(block(call.site)).or_default();
                *of_block = (of_block.0 + 1, is_many);
            }
        }
        for &point in &self.own_points[method.index()] {
            let sites = &self.drops.log_points[point as usize].sites;
            sites.iter().for_each(|&site| printing.entry(block(site)).or_default().0 += 1);
        }
        printing.into_iter().filter(|(_, of_block)| *of_block == (1, true)).map(|(block, _)| block).collect()
    }

    /// Whether what identifies the turns of a loop is lost between them.
    fn is_of_rounds(&self, method: MethodId, body: &Body, members: &[u32], n_around: usize) -> bool {
        let is_in = |site: ValueId| members.binary_search(&(body.inst(site).block.index() as u32)).is_ok();
        let (mut printed, mut kept, mut around) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let (mut points, mut n_around) = (BTreeSet::new(), n_around);
        for (call, target) in self.graph.local_edges(method) {
            if is_in(call.site) && target != method {
                points.extend(&self.drops.summaries.methods[target.index()].log_points);
                printed.extend(self.drops.uses(target));
                kept.extend(self.kept(method, call, target, &is_in));
            }
        }
        for &point in &self.own_points[method.index()] {
            let sites = &self.drops.log_points[point as usize].sites;
            let handled = sites.iter().all(|&site| body.block(body.inst(site).block).in_handler);
            let Some(&site) = sites.first().filter(|_| !handled) else { continue };
            let own = self.own_uses(method, body, point, site, &is_in);
            if is_in(site) {
                points.insert(point);
                printed.extend(own.iter().map(|(used, _)| *used));
                kept.extend(own.iter().filter(|(_, lasts)| *lasts).map(|(used, _)| *used));
            } else {
                around.extend(own.iter().filter(|(_, lasts)| *lasts).map(|(used, _)| *used));
            }
        }
        let lost = printed.difference(&kept).count();
        if let Some(&site) = members.first().and_then(|&b| body.blocks[b as usize].insts.first()) {
            n_around += self.drops.around(self.graph, method, site, &points);
        }
        n_around == 0 && lost > 0 && lost >= kept.len() && lost > around.len()
    }

    /// What of the uses of a callee's identifiers is there before the turn, and after it.
    fn kept(
        &self,
        method: MethodId,
        call: &Call,
        target: MethodId,
        is_in: &dyn Fn(ValueId) -> bool,
    ) -> Vec<LoggedVariable> {
        let places = &self.drops.summaries.methods[target.index()].places;
        let lasts = |place: &Place| match self.drops.bindings.bind(method, call, place) {
            Bound::Place(bound) => self.lasts(method, &bound, is_in),
            Bound::Constant | Bound::Unknown => false,
        };
        places.iter().filter(|(place, _)| lasts(place)).flat_map(|(_, uses)| uses).copied().collect()
    }

    /// The variables that a log point of a method prints, and whether each outlasts a turn.
    fn own_uses(
        &self,
        method: MethodId,
        body: &Body,
        point: u32,
        site: ValueId,
        is_in: &dyn Fn(ValueId) -> bool,
    ) -> Vec<(LoggedVariable, bool)> {
        let variables = self.drops.log_points[point as usize].variables.iter();
        let in_turns = |b: &Body, v: ValueId| std::ptr::eq(b, body) && is_in(v);
        (0_u32..)
            .zip(variables)
            .filter(|(_, variable)| self.drops.is_name(variable))
            .map(|(at, variable)| {
                let place = variable
                    .path
                    .as_ref()
                    .map(|path| self.drops.bindings.place(method, path, site, &in_turns));
                ((point, at), place.is_some_and(|place| self.lasts(method, &place, is_in)))
            })
            .collect()
    }

    /// Whether a place of a method holds one value over all turns of a loop.
    fn lasts(&self, method: MethodId, place: &Place, is_in: &dyn Fn(ValueId) -> bool) -> bool {
        match place.path.root {
            Root::Static(_) => false,
            Root::Local(v) => place.frame == method && !is_in(v),
            Root::Param(_) => {
                place.frame == method && !place.looping && !self.drops.is_modified(method, &place.path)
            }
        }
    }
}
