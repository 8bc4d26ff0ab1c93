//! Chooses the top-level methods.
//!
//! From each root inwards: served methods, handlers and tasks begin requests
//! themselves; a root with a service loop is a *dispatcher*, and what its loop
//! calls begins requests: at the outermost edge where identifiers are lost, or
//! at the loop's own callees where too little is printed to lose anything (so
//! the targets of one switch are siblings: all become top-level at their own
//! depth, however little they print).

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use schema::TopLevelKind;

use super::drops::{Drop, Drops};
use super::lifetimes::{entities, sessions, without_identity};
use super::loops::ServiceLoops;
use super::members::{self, Chosen, Walk};
use super::{TopLevel, TopLevels};
use super::{asked, dispatch, one_at_a_time, remembered, rounds};
use crate::call_graph::{Call, CallGraph, CallKind, Root, RootKind, apis};
use crate::identifiers::{Bindings, Lifetimes, Scope, own_writes, summarize};
use crate::ir::{Op, ValueId};
use crate::limits::{DISPATCH_TARGETS_MAX, HELPER_CALLERS_MAX};
use crate::path::LogPoint;
use crate::program::{MethodId, Program};
use crate::rules::Rules;
use crate::services::Handler;

/// The top-level methods; every log point is a member of at least one.
pub fn find(
    program: &Program,
    graph: &CallGraph,
    bindings: &Bindings<'_>,
    log_points: &[LogPoint],
    rules: &Rules,
) -> TopLevels {
    let none = vec![false; program.methods.len()];
    let writes = own_writes(program, bindings, log_points);
    let scope = Scope { cut: &none, writes: &writes, locals: false, rounds: &FxHashMap::default() };
    let summaries = summarize(graph, bindings, log_points, &scope);
    let drops = Drops { program, bindings, log_points, summaries: &summaries };
    let mut loops: Vec<ServiceLoops> = (0..program.methods.len())
        .into_par_iter()
        .map(|i| {
            let logs = !summaries.methods[i].log_points.is_empty();
            if logs || graph.root(MethodId::new(i)).is_some() {
                ServiceLoops::of(program, graph, MethodId::new(i))
            } else {
                ServiceLoops::default()
            }
        })
        .collect();
    let forbidden = forbidden(program, rules);
    let own_points = points_in(program, log_points);
    rounds::add(graph, &drops, &own_points, &mut loops);
    let mut chooser = Chooser {
        program,
        graph,
        drops: &drops,
        loops: &loops,
        forbidden,
        own_points,
        chosen: Chosen::new(),
        root: MethodId::new(0),
        handed: Handed::new(),
        rounds: template_rounds(program, graph, &loops),
        start_up: dispatch::of_start_up(program, graph, &loops),
    };
    chooser.force(rules);
    for root in &graph.roots {
        chooser.root(root);
    }
    chooser.drop_helpers(rules);
    chooser.add_services();
    let asked = chooser.add_asked();
    let chosen = members::cover(program, graph, log_points, std::mem::take(&mut chooser.chosen), &none);
    let own_points = std::mem::take(&mut chooser.own_points);
    let lifetimes = Lifetimes::new(program, graph, bindings, &chosen, &loops);
    let chosen = sessions(&drops, &lifetimes, &chooser.handed, chosen);
    let chosen = entities(program, graph, &lifetimes, &chosen);
    let known = members::Known {
        program,
        writes: &writes,
        graph,
        bindings,
        log_points,
        loops: &loops,
        lifetimes: &lifetimes,
        rules,
    };
    let mut found = members::fill(&known, &chosen);
    found.iter_mut().for_each(|top| without_identity(&lifetimes, top));
    add_rounds(&drops, graph, &loops, &own_points, &mut found);
    let threads = one_at_a_time::Threads::new(program, graph);
    found.iter_mut().for_each(|top| top.is_one_at_a_time = threads.run_one_at_a_time(top.method));
    found.iter_mut().for_each(|top| top.is_asked_for = asked.binary_search(&top.method).is_ok());
    chooser.add_silent_handlers(&mut found);
    TopLevels::new(keep_useful(found, graph, rules, program))
}

/// Per method, the log points that stand in it.
fn points_in(program: &Program, log_points: &[LogPoint]) -> Vec<Vec<u32>> {
    let mut points = vec![Vec::new(); program.methods.len()];
    for (i, point) in log_points.iter().enumerate().filter(|(_, point)| !point.is_for_unseen) {
        points[point.frame.index()].push(i as u32);
    }
    points
}

/// The methods that a service loop gives what it has waited for.
fn rounds(program: &Program, graph: &CallGraph, loops: &[ServiceLoops]) -> FxHashSet<MethodId> {
    let methods = (0..program.methods.len()).map(MethodId::new).filter(|m| loops[m.index()].any);
    let given = methods.flat_map(|caller| {
        let calls = graph.calls(caller).iter().filter(|call| call.kind.is_local());
        let calls = calls.filter(move |call| loops[caller.index()].gives_taken(program, caller, call));
        calls.flat_map(|call| &call.targets)
    });
    given.copied().collect()
}

/// Adds which methods are rounds, and what dispatchers print in theirs and outside of them.
fn add_rounds(
    drops: &Drops<'_>,
    graph: &CallGraph,
    loops: &[ServiceLoops],
    own_points: &[Vec<u32>],
    found: &mut [TopLevel],
) {
    let rounds = rounds(drops.program, graph, loops);
    for top in found {
        top.is_round = rounds.contains(&top.method);
        let loops = &loops[top.method.index()];
        if top.kind == TopLevelKind::Dispatcher && loops.any {
            let (mut served, mut around) = served(drops, graph, loops, own_points, top.method);
            let own = remembered::of(drops.program, drops.log_points, top.method, &served);
            served.retain(|point| !own.contains(point));
            around.extend(&own);
            top.remembered = own.into_iter().collect();
            let of = |points: &BTreeSet<u32>| -> Vec<u32> {
                top.members.iter().map(|m| m.log_point).filter(|point| points.contains(point)).collect()
            };
            let (in_rounds, outside) = (of(&(&served - &around)), of(&(&around - &served)));
            (top.in_rounds, top.outside_rounds) = (in_rounds, outside);
        }
    }
}

/// The log points that rounds of the service loop of `method` print, or what handles that one
/// of them failed; and those that it prints before and after its rounds.
fn served(
    drops: &Drops<'_>,
    graph: &CallGraph,
    loops: &ServiceLoops,
    own_points: &[Vec<u32>],
    method: MethodId,
) -> (BTreeSet<u32>, BTreeSet<u32>) {
    let (mut served, mut around) = (BTreeSet::new(), BTreeSet::new());
    let Some(body) = drops.program.methods[method.index()].body.as_ref() else { return (served, around) };
    let turning = loops.turning(body);
    let mut add = |site: ValueId, points: &[u32]| {
        let block = body.inst(site).block;
        let handles = turning[block.index()] && body.block(block).in_handler;
        let set = if handles || loops.contains(body, site) { &mut served } else { &mut around };
        set.extend(points);
    };
    for (call, target) in graph.local_edges(method) {
        add(call.site, &drops.summaries.methods[target.index()].log_points);
    }
    for &point in &own_points[method.index()] {
        let sites = &drops.log_points[point as usize].sites;
        sites.iter().for_each(|&site| add(site, &[point]));
    }
    (served, around)
}

/// Top-level methods without a line say nothing, unless forced; but of what is served the library
/// that calls it reports the failures, with a stack trace that names it.
fn keep_useful(
    mut found: Vec<TopLevel>,
    graph: &CallGraph,
    rules: &Rules,
    program: &Program,
) -> Vec<TopLevel> {
    let is_forced = |top: &TopLevel| rules.top_level.contains(&binary_name(program, top.method));
    found.retain(|top| !top.members.is_empty() || graph.handler(top.method).is_some() || is_forced(top));
    found
}

/// `a.b.C.m` as rules name it.
pub(crate) fn binary_name(program: &Program, method: MethodId) -> String {
    let m = &program.methods[method.index()];
    format!("{}.{}", program.classes[m.class.index()].name.as_str().replace('/', "."), m.name)
}

fn forbidden(program: &Program, rules: &Rules) -> BTreeSet<MethodId> {
    if rules.not_top_level.is_empty() {
        return BTreeSet::new();
    }
    (0..program.methods.len())
        .map(MethodId::new)
        .filter(|&m| rules.not_top_level.contains(&binary_name(program, m)))
        .collect()
}

pub(super) struct Chooser<'a> {
    pub(super) program: &'a Program,
    pub(super) graph: &'a CallGraph,
    pub(super) drops: &'a Drops<'a>,
    pub(super) loops: &'a [ServiceLoops],
    pub(super) forbidden: BTreeSet<MethodId>,
    /// Per method: the log points that stand in it.
    pub(super) own_points: Vec<Vec<u32>>,
    pub(super) chosen: Chosen,
    /// The root at hand, and what each dispatching root hands requests to.
    pub(super) root: MethodId,
    pub(super) handed: Handed,
    /// What tasks run in each round of an inherited service loop.
    pub(super) rounds: BTreeSet<MethodId>,
    /// Methods in which, or in what they call, start-up runs rounds.
    pub(super) start_up: BTreeSet<MethodId>,
}

/// What the service loops of inherited bodies run of their subclasses.
fn template_rounds(program: &Program, graph: &CallGraph, loops: &[ServiceLoops]) -> BTreeSet<MethodId> {
    let mut found = BTreeSet::new();
    for (i, served_in) in loops.iter().enumerate().filter(|(_, loops)| loops.any) {
        let Some(body) = &program.methods[i].body else { continue };
        for call in graph.calls(MethodId::new(i)).iter().filter(|c| c.kind == CallKind::Table) {
            let receiver = call.args.first().copied().flatten();
            let is_own = receiver.is_some_and(|v| matches!(body.op(v), Op::Param(0)));
            if is_own && served_in.contains(body, call.site) {
                found.extend(&call.targets);
            }
        }
    }
    found
}

/// Per dispatching root: what it hands requests to, and what that loses.
pub(super) type Handed = BTreeMap<MethodId, BTreeMap<MethodId, Drop>>;

impl Chooser<'_> {
    pub(super) fn n_points(&self, method: MethodId) -> usize {
        self.drops.summaries.methods[method.index()].log_points.len()
    }

    /// Constructors, initializers and accessors begin nothing.
    pub(super) fn can_begin(&self, method: MethodId) -> bool {
        let m = &self.program.methods[method.index()];
        let name = m.name.as_str();
        !name.starts_with('<') && !name.starts_with("access$") && !self.forbidden.contains(&method)
    }

    pub(super) fn add(&mut self, method: MethodId, kind: TopLevelKind, reason: String) {
        if self.n_points(method) > 0 && !self.forbidden.contains(&method) {
            self.chosen.entry(method).or_insert((kind, reason));
        }
    }

    fn force(&mut self, rules: &Rules) {
        if rules.top_level.is_empty() {
            return;
        }
        for i in 0..self.program.methods.len() {
            let method = MethodId::new(i);
            if rules.top_level.contains(&binary_name(self.program, method)) {
                self.add(method, TopLevelKind::IdentifierLoss, "forced by a rule".to_owned());
            }
        }
    }

    fn root(&mut self, root: &Root) {
        if self.n_points(root.method) == 0 || !self.can_begin(root.method) {
            return;
        }
        match root.kind {
            RootKind::Rpc => self.add(root.method, TopLevelKind::RpcHandler, root.why.clone()),
            RootKind::EventHandler | RootKind::Callback => {
                self.add(root.method, TopLevelKind::EventHandler, root.why.clone());
            }
            RootKind::Main | RootKind::Thread | RootKind::Task => {
                if self.dispatches(root.method, 4) {
                    self.root = root.method;
                    self.dispatcher(root.method, &root.why, true, 0);
                } else if self.rounds.contains(&root.method) {
                    let reason = format!("{}; a round of its loop", root.why);
                    self.add(root.method, TopLevelKind::DispatchTarget, reason);
                } else if self.graph.commands.binary_search(&root.method).is_ok() {
                    let reason = format!("{}; kept for who runs one after the other", root.why);
                    self.add(root.method, TopLevelKind::DispatchTarget, reason);
                } else {
                    self.add(root.method, TopLevelKind::Task, root.why.clone());
                }
            }
            RootKind::Uncalled => {}
        }
    }

    /// Adds what is served and prints nothing to what was `found`.
    fn add_silent_handlers(&self, found: &mut Vec<TopLevel>) {
        let is_silent = |handler: &&Handler| {
            let method = handler.method;
            let is_known = found.binary_search_by_key(&method, |top| top.method).is_ok();
            handler.is_certain && self.n_points(method) == 0 && self.can_begin(method) && !is_known
        };
        let handlers = self.graph.handlers.iter().filter(is_silent);
        let mut silent: Vec<TopLevel> = handlers
            .map(|handler| TopLevel::new(handler.method, TopLevelKind::RpcHandler, handler.why.clone()))
            .collect();
        silent.dedup_by_key(|top| top.method);
        found.append(&mut silent);
        found.sort_by_key(|top| top.method);
    }

    /// A method that many top-level methods call is a helper of theirs.
    fn drop_helpers(&mut self, rules: &Rules) {
        let mut above: BTreeMap<MethodId, BTreeSet<MethodId>> = BTreeMap::new();
        let (mut walk, is_chosen) = (Walk::new(self.graph), self.is_chosen());
        for &top in self.chosen.keys() {
            for &method in walk.region(self.graph, top, |m| is_chosen[m.index()]) {
                for (_, target) in self.graph.local_edges(method) {
                    if target != top && is_chosen[target.index()] {
                        above.entry(target).or_default().insert(top);
                    }
                }
            }
        }
        for (method, callers) in above {
            let kind = self.chosen[&method].0;
            let by_edge = matches!(kind, TopLevelKind::IdentifierLoss | TopLevelKind::DispatchTarget);
            let forced = rules.top_level.contains(&binary_name(self.program, method));
            // Without a loss of identifiers one caller of another kind is enough.
            let most = if kind == TopLevelKind::DispatchTarget { 1 } else { HELPER_CALLERS_MAX };
            if by_edge && !forced && callers.len() > most {
                self.chosen.remove(&method);
            }
        }
    }

    /// A method through which everybody hands one kind of work to a task begins
    /// the work: what asked for it goes on with its own.
    fn add_services(&mut self) {
        let mut n_above = vec![0_usize; self.program.methods.len()];
        let (mut walk, is_chosen) = (Walk::new(self.graph), self.is_chosen());
        // Who goes through the parts of a structure asks none of them for anything.
        let is_narrow =
            |call: &Call| call.kind != CallKind::Direct || call.targets.len() <= DISPATCH_TARGETS_MAX;
        for &top in self.chosen.keys() {
            let region =
                walk.region_over(self.graph, top, |m| is_chosen[m.index()], |_, call, _| is_narrow(call));
            region.iter().for_each(|m| n_above[m.index()] += 1);
        }
        let services: Vec<(MethodId, usize)> = (0..n_above.len())
            .map(|i| (MethodId::new(i), n_above[i]))
            .filter(|&(m, n)| n > HELPER_CALLERS_MAX && self.can_begin(m) && self.starts_task(m))
            .collect();
        for (method, n) in services {
            let reason = format!("{n} top-level methods hand work to a task through it");
            self.add(method, TopLevelKind::DispatchTarget, reason);
        }
    }

    /// What programs that are not known ask for begins requests: which that is, sorted.
    fn add_asked(&mut self) -> Vec<MethodId> {
        let asked = asked::find(self.program, self.graph, &self.own_points, &self.chosen);
        for &method in &asked {
            let reason = "whoever calls the program asks for it, and waits for the answer".to_owned();
            self.add(method, TopLevelKind::DispatchTarget, reason);
        }
        asked
    }

    /// Whether a method prints, starts a task that prints, and does not wait for
    /// it. What a timer runs again and again is nobody's work that is handed over, and
    /// what the method can as well do at once, by the same call as the task, it does for its
    /// caller.
    fn starts_task(&self, method: MethodId) -> bool {
        let Some(body) = &self.program.methods[method.index()].body else { return false };
        let is_task = |t: &MethodId| self.chosen.get(t).is_some_and(|(kind, _)| *kind == TopLevelKind::Task);
        let calls = self.graph.calls(method).iter();
        // Nobody's work that is handed over: a timer's, and what is told when something is done.
        let is_own = |call: &&Call| {
            call.sets_timer(body)
                || matches!(body.op(call.site), Op::Invoke { method, .. }
                    if apis::FUTURES.contains(&method.class.as_str()) && !method.name.ends_with("Async"))
        };
        let started = calls.filter(|call| matches!(call.kind, CallKind::Start(_)) && !is_own(call));
        let is_done_at_once = |task: &MethodId| {
            let work =
                self.graph.local_edges(*task).filter(|(_, t)| self.n_points(*t) == self.n_points(*task));
            work.into_iter().any(|(_, work)| self.graph.local_edges(method).any(|(_, own)| own == work))
        };
        let starts = started.flat_map(|call| &call.targets).any(|t| is_task(t) && !is_done_at_once(t));
        let waits_for_task = |op: &Op| matches!(op, Op::Invoke { method, .. } if apis::waits_for_task(&method.class, &method.name));
        self.n_points(method) > 0 && starts && !body.iter().any(|(_, inst)| waits_for_task(&inst.op))
    }

    /// By method.
    fn is_chosen(&self) -> Vec<bool> {
        let mut is_chosen = vec![false; self.program.methods.len()];
        self.chosen.keys().for_each(|method| is_chosen[method.index()] = true);
        is_chosen
    }
}
