//! Order: for every method the order in which the log points of it and of what
//! it calls can appear (lprof §4.3), for top-level methods the [`schema::Dag`].
//!
//! Bottom-up over the call graph: the fragment of a callee is made once and
//! inlined wherever it is called, unless the callee is another top-level method
//! (the call is a hand-off then, not part of this request's thread) or calls its
//! caller back (recursion: what can come first, and the rest without order). What becomes too large is
//! folded, the largest callees first; what a program does first of all is only made
//! coarser, as its order tells when it was started anew, and so is what a dispatcher
//! does: of the kinds of work that a round of it can be, each round is one.

use std::collections::BTreeMap;

use schema::model::CLASS_INITIALIZER;

use crate::call_graph::initializers::touched;
use crate::call_graph::{Call, CallGraph, RootKind, Times};
use crate::ir::{BlockId, Op, ValueId};
use crate::limits::{ORDER_CALLEES_MAX, ORDER_NODES_MAX, RECURSION_MEMBERS_MAX};
use crate::path::LogPoint;
use crate::program::{MethodId, Program};
use crate::top_level::TopLevels;
use crate::top_level::loops::ServiceLoops;

mod coarse;
pub(crate) mod components;
mod copies;
pub(crate) mod dag;
mod flags;
pub(crate) mod fragment;
mod method;
mod recursion;
mod successors;
mod without;

use components::components;
use fragment::Fragment;
use method::Event;
use recursion::Recursion;
use successors::{RunSuccessors, Successors};

/// For each calling instruction, in order, the methods that it can run in the
/// same thread and that are not cut, and how often.
type Calls = Vec<(ValueId, Vec<MethodId>, Times)>;

struct Input<'a> {
    program: &'a Program,
    log_points: &'a [LogPoint],
    /// By [`MethodId`].
    calls: Vec<Calls>,
    /// For each method its printing instructions with the points they print.
    sites: Vec<Vec<(ValueId, Vec<u32>)>>,
    /// Where programs begin, sorted.
    mains: Vec<MethodId>,
    /// The service loops of dispatchers.
    rounds: BTreeMap<MethodId, ServiceLoops>,
}

impl Input<'_> {
    /// Whether logs usually show a log point.
    fn is_usual(&self, point: u32) -> bool {
        self.log_points[point as usize].levels.last().is_none_or(|&level| level >= schema::Level::Info)
    }
}

/// Order of what a program prints.
pub(crate) struct Order {
    /// The fragments of all methods, by [`MethodId`]. Calls of top-level methods are
    /// not part of their callers' fragments.
    pub(crate) fragments: Vec<Fragment>,
    /// Which log point can stand directly after which other one.
    pub(crate) successors: Successors,
    /// Per top-level method the log points that a span of it can begin with, sorted.
    pub(crate) firsts: Vec<Vec<u32>>,
    /// Which log point can stand directly after which other one in one run of a top-level method.
    pub(crate) in_run: RunSuccessors,
}

/// Finds both.
pub(crate) fn find(
    program: &Program,
    graph: &CallGraph,
    log_points: &[LogPoint],
    top_levels: &TopLevels,
) -> Order {
    let dispatchers = top_levels.methods.iter().filter(|top| top.kind == schema::TopLevelKind::Dispatcher);
    let rounds = dispatchers.map(|top| (top.method, ServiceLoops::of(program, graph, top.method)));
    let mains = graph.roots.iter().filter(|root| root.kind == RootKind::Main).map(|root| root.method);
    let mut mains: Vec<MethodId> = mains.collect();
    mains.sort_unstable();
    let in_thread = thread_calls(program, graph);
    let input = Input {
        rounds: rounds.collect(),
        mains,
        program,
        log_points,
        calls: local_calls(program, &in_thread, top_levels),
        sites: sites(program, log_points, &floating(program, log_points, top_levels)),
    };
    let ((successors, firsts), (fragments, in_run)) = rayon::join(
        || {
            rayon::join(
                || successors::successors(&input, &in_thread, top_levels),
                || successors::firsts(&input, top_levels),
            )
        },
        || {
            let fragments = fragments(&input, &callees(&input.calls));
            let in_run = successors::in_run(&input, top_levels, &fragments);
            (fragments, in_run)
        },
    );
    Order { fragments, successors, firsts, in_run }
}

/// Whom each method calls, sorted.
fn callees(calls: &[Calls]) -> Vec<Vec<u32>> {
    let of_method = |calls: &Calls| {
        let index = |t: &MethodId| u32::try_from(t.index()).expect("fewer than 2^32 methods");
        let mut to: Vec<u32> = calls.iter().flat_map(|(_, targets, _)| targets).map(index).collect();
        to.sort_unstable();
        to.dedup();
        to
    };
    calls.iter().map(of_method).collect()
}

/// The fragments of all methods; `callees` are whom each calls.
fn fragments(input: &Input<'_>, callees: &[Vec<u32>]) -> Vec<Fragment> {
    let mut fragments = vec![Fragment::empty(); callees.len()];
    for members in &components(callees).members {
        let first = members[0] as usize;
        if members.len() > 1 || callees[first].contains(&members[0]) {
            let recursion = Recursion { input, members, callees, fragments: &fragments };
            for (&m, folded) in members.iter().zip(recursion.fold()) {
                fragments[m as usize] = folded;
            }
            if members.len() <= RECURSION_MEMBERS_MAX {
                let once = members.iter().map(|&m| fragment_of(input, MethodId::new(m as usize), &fragments));
                let once: Vec<Fragment> = once.collect();
                for (&m, fragment) in members.iter().zip(once) {
                    fragments[m as usize] = fragment;
                }
            }
        } else {
            let prints = |t: &u32| !fragments[*t as usize].nodes.is_empty();
            if !input.sites[first].is_empty() || callees[first].iter().any(prints) {
                fragments[first] = fragment_of(input, MethodId::new(first), &fragments);
            }
        }
    }
    fragments
}

/// The calls of each method within its thread, sorted.
fn thread_calls(program: &Program, graph: &CallGraph) -> Vec<Calls> {
    let of_method = |i: usize| -> Calls {
        let method = MethodId::new(i);
        let of_call = |call: &Call| {
            let times = call.targets.iter().map(|&target| graph.times(method, call, target)).max();
            (call.site, call.targets.clone(), times.unwrap_or(Times::Once))
        };
        let mut calls: Calls =
            graph.calls(method).iter().filter(|call| call.kind.is_local()).map(of_call).collect();
        calls.sort();
        calls
    };
    (0..program.methods.len()).map(of_method).collect()
}

/// Those of them that belong to what calls.
fn local_calls(program: &Program, in_thread: &[Calls], top_levels: &TopLevels) -> Vec<Calls> {
    let of_method = |(i, calls): (usize, &Calls)| -> Calls {
        let body = program.methods[i].body.as_ref();
        let of_call = |(site, targets, times): &(ValueId, Vec<MethodId>, Times)| {
            let touched = body.and_then(|body| touched(body.op(*site))).and_then(|name| program.class(name));
            let is_own = |target: &&MethodId| {
                let method = &program.methods[target.index()];
                let is_above = method.name == CLASS_INITIALIZER && touched != Some(method.class);
                top_levels.position(**target).is_none() && !is_above
            };
            (*site, targets.iter().filter(is_own).copied().collect(), *times)
        };
        let mut calls: Calls = calls.iter().map(of_call).collect();
        calls.sort();
        calls
    };
    in_thread.iter().enumerate().map(of_method).collect()
}

/// Per log point: whether utilities print it that everybody calls, or a class
/// that is initialized by whoever comes first. It can come at any time, so that it
/// has no place in an order, and takes none from what has one.
fn floating(program: &Program, log_points: &[LogPoint], top_levels: &TopLevels) -> Vec<bool> {
    let mut n_tops = vec![0; log_points.len()];
    for member in top_levels.methods.iter().flat_map(|top| &top.members) {
        n_tops[member.log_point as usize] += 1;
    }
    let most = schema::model::floats_from(top_levels.methods.len());
    let is_initializer = |point: &LogPoint| program.methods[point.frame.index()].name == CLASS_INITIALIZER;
    n_tops.iter().zip(log_points).map(|(&n, point)| n > most || is_initializer(point)).collect()
}

/// For each method its printing instructions with the points they print, sorted.
fn sites(program: &Program, log_points: &[LogPoint], floating: &[bool]) -> Vec<Vec<(ValueId, Vec<u32>)>> {
    let mut sites: Vec<Vec<(ValueId, Vec<u32>)>> = vec![Vec::new(); program.methods.len()];
    for (i, point) in (0u32..).zip(log_points).filter(|&(i, _)| !floating[i as usize]) {
        let list = &mut sites[point.frame.index()];
        for &site in &point.sites {
            match list.binary_search_by_key(&site, |s| s.0) {
                Ok(at) => list[at].1.push(i),
                Err(at) => list.insert(at, (site, vec![i])),
            }
        }
    }
    sites
}

/// The fragment of one method; callees that are too large are folded.
fn fragment_of(input: &Input<'_>, method: MethodId, fragments: &[Fragment]) -> Fragment {
    let Some(body) = &input.program.methods[method.index()].body else { return Fragment::empty() };
    let calls = &input.calls[method.index()];
    let sites = &input.sites[method.index()];
    let printing = |targets: &[MethodId]| -> Vec<MethodId> {
        targets.iter().filter(|t| !fragments[t.index()].nodes.is_empty()).copied().collect()
    };
    // A program's `main`, or a dispatcher with what it does before its rounds.
    let keeps_order = input.mains.binary_search(&method).is_ok() || input.rounds.contains_key(&method);
    let callees = calls.iter().flat_map(|(_, targets, _)| printing(targets));
    let size_max = callee_size_max(callees, fragments, sites.len(), keeps_order);
    let level = |point: u32| {
        let levels = &input.log_points[point as usize].levels;
        levels.first().copied().unwrap_or(schema::Level::Info)
    };
    let mut small: Vec<(MethodId, Fragment)> = Vec::new();
    if size_max < ORDER_NODES_MAX {
        let mut large: Vec<MethodId> = calls.iter().flat_map(|(_, t, _)| printing(t)).collect();
        large.retain(|t| fragments[t.index()].nodes.len() > size_max);
        large.sort_unstable();
        large.dedup();
        let smaller = |t: MethodId| {
            let fragment = &fragments[t.index()];
            if keeps_order { fragment.coarsened(size_max, &level) } else { fragment.in_one_node() }
        };
        small = large.into_iter().map(|t| (t, smaller(t))).collect();
    }
    let fragment = |t: MethodId| match small.binary_search_by_key(&t, |s| s.0) {
        Ok(at) => &small[at].1,
        Err(_) => &fragments[t.index()],
    };
    let events = events(input, method, &fragment, ORDER_CALLEES_MAX);
    method::fragment(body, &events, input.rounds.get(&method))
}

/// What the instructions of a method print, sorted by instruction, by the fragments of what
/// they call; more than `callees_max` of one site become one.
fn events<'f>(
    input: &Input<'_>,
    method: MethodId,
    fragment: &impl Fn(MethodId) -> &'f Fragment,
    callees_max: usize,
) -> Vec<(ValueId, Event<'f>)> {
    let mut events: Vec<(ValueId, Event<'f>)> = Vec::new();
    for (site, points) in &input.sites[method.index()] {
        events.push((*site, print_event(input, points)));
    }
    for (site, targets, times) in &input.calls[method.index()] {
        let printing: Vec<&Fragment> =
            targets.iter().map(|&t| fragment(t)).filter(|fragment| !fragment.nodes.is_empty()).collect();
        if printing.is_empty() {
            continue;
        }
        let optional = printing.len() < targets.len() || *times == Times::AtMostOnce;
        let event = if printing.len() > callees_max {
            let points = printing.iter().flat_map(|fragment| fragment.points()).collect();
            Event::Print { points: Fragment::folded(points).points(), optional: true, repeats: true }
        } else {
            Event::Call { callees: printing, optional, repeats: *times == Times::Any }
        };
        events.push((*site, event));
    }
    events.sort_by_key(|e| e.0);
    events
}

/// A level is no choice of the program's: the log shows what it prints. A guard
/// that asks for another level than the statement has is one.
fn print_event(input: &Input<'_>, points: &[u32]) -> Event<'static> {
    let off = |&p: &u32| {
        let point = &input.log_points[p as usize];
        let (Some(&lowest), Some(&highest)) = (point.levels.first(), point.levels.last()) else {
            return true;
        };
        let varies = lowest != highest && lowest < schema::Level::Info;
        varies
            || point.is_for_unseen
            || point.guard.is_some_and(|guard| guard != lowest)
            || is_chosen(input.program, point)
    };
    let mut points = points.to_vec();
    points.sort_unstable();
    points.dedup();
    let repeats = points.len() > 1;
    Event::Print { optional: points.iter().any(off), repeats, points }
}

/// Whether the wrapper that prints `point` for its callers decides itself whether
/// to: some way through it goes around the statement.
fn is_chosen(program: &Program, point: &LogPoint) -> bool {
    let Some(body) = program.methods[point.method.index()].body.as_ref() else { return false };
    if point.method == point.frame || body.blocks.is_empty() {
        return false;
    }
    let prints = |&v: &ValueId| {
        let inst = body.inst(v);
        inst.line == point.source_line && matches!(inst.op, Op::Invoke { .. })
    };
    let mut seen = vec![false; body.blocks.len()];
    let mut todo = vec![BlockId::new(0)];
    while let Some(id) = todo.pop() {
        let block = body.block(id);
        if std::mem::replace(&mut seen[id.index()], true) || block.insts.iter().any(prints) {
            continue;
        }
        if matches!(block.insts.last().map(|&v| body.op(v)), Some(Op::Return(_))) {
            return true;
        }
        todo.extend(&block.successors);
    }
    false
}

/// The largest number of nodes a callee may have to be inlined unfolded, so that
/// all callees together stay within [`ORDER_NODES_MAX`]; with `all`, if larger ones
/// are made that small.
fn callee_size_max(
    callees: impl Iterator<Item = MethodId>,
    fragments: &[Fragment],
    n_sites: usize,
    all: bool,
) -> usize {
    let mut sizes: Vec<usize> = callees.map(|t| fragments[t.index()].nodes.len()).collect();
    if all {
        let total = |max: usize| n_sites + sizes.iter().map(|&size| size.min(max)).sum::<usize>();
        return (1..=ORDER_NODES_MAX).rev().find(|&max| total(max) <= ORDER_NODES_MAX).unwrap_or(1);
    }
    sizes.sort_unstable();
    let mut total = n_sites + sizes.iter().sum::<usize>();
    let mut max = ORDER_NODES_MAX;
    while total > ORDER_NODES_MAX {
        let Some(size) = sizes.pop() else { break };
        if size <= 1 {
            break;
        }
        total -= size - 1;
        max = size - 1;
    }
    max
}
