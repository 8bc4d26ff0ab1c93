//! Dispatch: which methods hand out requests, and to whom: service loops, switches, handlers.

use std::collections::BTreeSet;

use schema::TopLevelKind;

use super::attached;
use super::choose::Chooser;
use super::drops::Drop;
use super::loops::{self, ServiceLoops};
use super::turns::Turn;
use crate::call_graph::{Call, CallGraph};
use crate::ir::{BlockId, ValueId};
use crate::path::AccessPath;
use crate::program::{MethodId, Program, access};

/// How far below a method rounds of start-up are looked for.
const START_UP_DEPTH: usize = 4;

/// The methods in which start-up runs rounds, and those that call them, some calls away.
pub(super) fn of_start_up(
    program: &Program,
    graph: &CallGraph,
    loops: &[ServiceLoops],
) -> BTreeSet<MethodId> {
    let methods = || (0..program.methods.len()).map(MethodId::new);
    let mut found: BTreeSet<MethodId> =
        methods().filter(|method| loops[method.index()].is_of_start_up).collect();
    for _ in 0..START_UP_DEPTH {
        let calls_one = |method: &MethodId| graph.local_edges(*method).any(|(_, to)| found.contains(&to));
        let callers: Vec<MethodId> =
            methods().filter(|method| !found.is_empty() && calls_one(method)).collect();
        found.extend(callers);
    }
    found
}

impl Chooser<'_> {
    /// Whether a root serves requests in a loop, itself or in the method that it
    /// mostly consists of.
    pub(super) fn dispatches(&self, method: MethodId, depth: usize) -> bool {
        let Some(body) = &self.program.methods[method.index()].body else { return false };
        let loops = &self.loops[method.index()];
        let all = self.n_points(method);
        if loops.any {
            let mut served: BTreeSet<u32> = BTreeSet::new();
            for (call, target) in self.graph.local_edges(method) {
                if loops.contains(body, call.site) {
                    served.extend(&self.drops.summaries.methods[target.index()].log_points);
                }
            }
            for point in &self.own_points[method.index()] {
                let sites = &self.drops.log_points[*point as usize].sites;
                if sites.iter().any(|s| loops.contains(body, *s)) {
                    served.insert(*point);
                }
            }
            if served.len() * 4 >= all {
                return true;
            }
        }
        depth > 0
            && self
                .graph
                .local_edges(method)
                .any(|(_, target)| self.is_bulk(method, target) && self.dispatches(target, depth - 1))
    }

    /// Whether `target` prints nearly all of what its caller prints.
    fn is_bulk(&self, caller: MethodId, target: MethodId) -> bool {
        if target != caller && self.start_up.contains(&target) {
            return true;
        }
        target != caller
            && (self.n_points(target) * 10 >= self.n_points(caller) * 9 || self.fails_only(caller, target))
    }

    /// Whether a method prints nothing but what `target` does, unless that fails.
    fn fails_only(&self, caller: MethodId, target: MethodId) -> bool {
        let Some(body) = &self.program.methods[caller.index()].body else { return false };
        let handles = |site: ValueId| body.block(body.inst(site).block).in_handler;
        let own = &self.own_points[caller.index()];
        let sites = own.iter().flat_map(|&point| &self.drops.log_points[point as usize].sites);
        self.n_points(target) > 0
            && sites.into_iter().all(|&site| handles(site))
            && self
                .graph
                .local_edges(caller)
                .all(|(call, t)| t == target || self.n_points(t) == 0 || handles(call.site))
    }

    /// Whether most of what a method prints is printed below edges that lose
    /// identifiers.
    fn passes(&self, method: MethodId) -> bool {
        let mut below: BTreeSet<u32> = BTreeSet::new();
        self.collect_lost(method, 3, &mut below);
        below.len() * 2 > self.n_points(method)
    }

    fn collect_lost(&self, method: MethodId, depth: usize, below: &mut BTreeSet<u32>) {
        for (call, target) in self.graph.local_edges(method) {
            if self.n_points(target) == 0 || target == method {
                continue;
            }
            if self.can_begin(target) && self.drops.edge(method, call, target).is_candidate() {
                below.extend(&self.drops.summaries.methods[target.index()].log_points);
            } else if depth > 0 {
                self.collect_lost(target, depth - 1, below);
            }
        }
    }

    /// `method` hands out requests: in its service loop, or all over if it was
    /// itself called from one (`serving`).
    pub(super) fn dispatcher(&mut self, method: MethodId, why: &str, from_root: bool, depth: usize) {
        if self.chosen.contains_key(&method) || depth > 8 {
            return;
        }
        let name = self.drops.name(method);
        if from_root || !self.own_points[method.index()].is_empty() {
            self.add(method, TopLevelKind::Dispatcher, format!("{why}; hands out requests"));
        }
        let Some(body) = &self.program.methods[method.index()].body else { return };
        let served_in = &self.loops[method.index()];
        let edges: Vec<(Call, MethodId)> = self.work(method).map(|(c, t)| (c.clone(), t)).collect();
        let waits = |t| loops::waits(self.program, self.graph, t, 2);
        let own_points = &self.own_points[method.index()];
        let turn = Turn { drops: self.drops, loops: served_in, method, body, own_points };
        let (linked, named) = (turn.linked(&edges, &waits), turn.named());
        for (call, target) in &edges {
            let target = *target;
            let in_loop = served_in.contains(body, call.site);
            if (in_loop || self.is_bulk(method, target)) && self.dispatches(target, 3) {
                self.dispatcher(target, &format!("called by {name}"), false, depth + 1);
            } else if in_loop || !served_in.any {
                self.served(method, call, target, (linked.contains(&call.site), &named), depth);
            }
        }
    }

    /// What a dispatcher calls for one request. What shares values of the round
    /// with another call of the same round is a part of the round.
    fn served(
        &mut self,
        caller: MethodId,
        call: &Call,
        target: MethodId,
        (linked, named): (bool, &BTreeSet<AccessPath>),
        depth: usize,
    ) {
        let mut drop = self.drops.edge(caller, call, target);
        let is_step = || {
            self.loops[caller.index()].turns_are_requests || self.drops.keeps_all(caller, call, target, named)
        };
        if linked && is_step() {
            drop = Drop::default();
        }
        let from = self.drops.name(caller);
        if attached::is_receiver(self.program, caller, call.site) {
            // The object lives on when the round ends: the next event of its
            // connection finds it again.
            let reason = format!("{from} calls it on an object attached to a connection");
            self.add(target, TopLevelKind::EventHandler, reason);
        } else if drop.is_candidate() {
            let reason = format!(
                "{from} loses {} of {} identifier uses: {}",
                drop.lost,
                drop.total,
                drop.classes.join(", ")
            );
            self.add(target, TopLevelKind::IdentifierLoss, reason);
            self.handed.entry(self.root).or_default().insert(target, drop);
        } else if self.is_switch(target) && (self.passes(target) || self.n_branches(target) > 2) {
            self.dispatcher(target, &format!("called by {from}"), false, depth + 1);
        } else if !linked {
            let target = self.thin(target);
            let reason =
                format!("dispatched by {from}, which loses {} of {} identifier uses", drop.lost, drop.total);
            self.add(target, TopLevelKind::DispatchTarget, reason);
            self.handed.entry(self.root).or_default().insert(target, drop);
        }
    }

    fn n_branches(&self, method: MethodId) -> usize {
        self.work(method).map(|(c, _)| c.site).collect::<BTreeSet<_>>().len()
    }

    /// Calls that print, other than constructors and initializers.
    fn work(&self, method: MethodId) -> impl Iterator<Item = (&Call, MethodId)> {
        self.graph
            .local_edges(method)
            .map(|(call, target)| (call, self.past_accessor(target)))
            .filter(move |(_, t)| self.n_points(*t) > 0 && self.can_begin(*t) && *t != method)
    }

    /// What an accessor calls that javac made for a private method of a
    /// surrounding class: the accessor passes its arguments on as they are.
    fn past_accessor(&self, method: MethodId) -> MethodId {
        let m = &self.program.methods[method.index()];
        let wanted = access::STATIC | access::SYNTHETIC;
        if m.access & wanted != wanted || !m.name.starts_with("access$") {
            return method;
        }
        let mut called = self.graph.local_edges(method).map(|(_, target)| target);
        match (called.next(), called.next()) {
            (Some(one), None) => one,
            _ => method,
        }
    }

    /// Of these, what prints a good part of what the method prints: not the
    /// conversion of an argument that can warn about it.
    fn main_work(&self, method: MethodId) -> impl Iterator<Item = (&Call, MethodId)> {
        let least = self.n_points(method) / 20;
        self.work(method).filter(move |(_, t)| self.n_points(*t) > least)
    }

    /// Whether a method prints nothing itself and calls one of several methods:
    /// no call that prints can follow another.
    fn is_switch(&self, method: MethodId) -> bool {
        let Some(body) = &self.program.methods[method.index()].body else { return false };
        if !self.own_points[method.index()].is_empty() {
            return false;
        }
        let mut blocks: Vec<BlockId> = Vec::new();
        let mut sites: Vec<ValueId> = self.main_work(method).map(|(c, _)| c.site).collect();
        sites.dedup();
        for site in sites {
            let block = body.inst(site).block;
            if body.block(block).in_handler {
                continue;
            }
            if blocks.contains(&block) {
                return false;
            }
            blocks.push(block);
        }
        blocks.len() <= 64
            && blocks.iter().all(|&b| {
                let reached = body.reachable(b);
                blocks.iter().all(|o| !reached[o.index()])
            })
    }

    /// Past methods that only unpack arguments for one other method.
    fn thin(&self, method: MethodId) -> MethodId {
        let mut at = method;
        for _ in 0..4 {
            if !self.own_points[at.index()].is_empty() {
                return at;
            }
            let mut next: Vec<MethodId> = self.main_work(at).map(|(_, t)| t).collect();
            next.sort_unstable();
            next.dedup();
            match next[..] {
                [one] => at = one,
                _ => return at,
            }
        }
        at
    }
}
