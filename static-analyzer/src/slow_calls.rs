//! Slow calls: what can take time between two log points of a method, so that a profile which
//! knows between which lines time passes can say in what.
//!
//! Over-approximates: what some way through the code does, however rarely, and the calls of
//! everything that a call may dispatch to. Under-approximates: what lies more than
//! [`SLOW_DEPTH_MAX`] calls below, what only exception handlers do, and libraries that are in
//! no table. Locks count where they are taken, or by whom is called directly: some lock is
//! taken below almost any call.

use rayon::prelude::*;
use schema::{Level, SlowKind};

use crate::call_graph::{CallGraph, CallKind};
use crate::ir::{BlockId, Body, Op, ValueId};
use crate::limits::{SLOW_CALLS_MAX, SLOW_DEPTH_MAX};
use crate::path::LogPoint;
use crate::program::{MethodId, Name, Program, access};

mod apis;

/// Something that can take time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SlowCall {
    /// What can.
    pub(crate) kind: SlowKind,
    /// Source line.
    pub(crate) source_line: u32,
    /// `Class.method` that is called; empty: it is no call.
    pub(crate) call: String,
    /// The library's method below it.
    pub(crate) comes_to: String,
    /// Positions of the log points that can be printed before and after it, sorted.
    pub(crate) after: Vec<u32>,
    /// See `after`.
    pub(crate) before: Vec<u32>,
}

/// What a method comes to: of each kind the nearest call, by kind, how many calls below, and
/// what it calls there.
type Below = Vec<(SlowKind, u8, Name)>;

/// All slow calls of methods that print, sorted.
pub(crate) fn find(program: &Program, graph: &CallGraph, log_points: &[LogPoint]) -> Vec<SlowCall> {
    let below = below(program, graph);
    let mut sites: Vec<Vec<(ValueId, u32)>> = vec![Vec::new(); program.methods.len()];
    for (position, point) in (0_u32..).zip(log_points) {
        sites[point.frame.index()].extend(point.sites.iter().map(|&site| (site, position)));
    }
    let methods: Vec<usize> = (0..sites.len()).filter(|&method| !sites[method].is_empty()).collect();
    let of_method = |method: usize| {
        let body = program.methods[method].body.as_ref();
        let places = body.map(|body| Places::new(body, &sites[method], log_points));
        let (Some(body), Some(places)) = (body, places) else { return Vec::new() };
        let mut found = places.between(calls(graph, &below, MethodId::new(method), body));
        found.sort();
        found.dedup();
        found.truncate(SLOW_CALLS_MAX);
        found
    };
    let mut found: Vec<SlowCall> = methods.into_par_iter().flat_map_iter(of_method).collect();
    found.sort();
    found
}

/// What each method comes to, in itself and below.
fn below(program: &Program, graph: &CallGraph) -> Vec<Below> {
    let own = |method: usize| -> Below {
        let mut found = Below::new();
        let Some(body) = &program.methods[method].body else { return found };
        for (_, inst) in body.iter() {
            match &inst.op {
                Op::Invoke { method, .. } => {
                    if let Some(kind) = apis::kind(&method.class, &method.name) {
                        add(&mut found, (kind, 0, shown(&method.class, &method.name)));
                    }
                }
                Op::Monitor(_) => add(&mut found, (SlowKind::Lock, 0, Name::from(""))),
                _ => {}
            }
        }
        if program.methods[method].access & access::SYNCHRONIZED != 0 {
            add(&mut found, (SlowKind::Lock, 0, Name::from("")));
        }
        let asks = graph.calls(MethodId::new(method)).iter().find(|call| call.kind.is_remote());
        if let Some(Op::Invoke { method, .. }) = asks.map(|call| body.op(call.site)) {
            add(&mut found, (SlowKind::Rpc, 0, shown(&method.class, &method.name)));
        }
        found
    };
    let mut below: Vec<Below> = (0..program.methods.len()).into_par_iter().map(own).collect();
    for depth in 1..=SLOW_DEPTH_MAX {
        let next = |method: usize| -> Below {
            let mut found = below[method].clone();
            for target in called(graph, MethodId::new(method)) {
                let nearest = below[target.index()]
                    .iter()
                    .filter(|(kind, at, _)| *at + 1 == depth && *kind != SlowKind::Lock);
                nearest.for_each(|&(kind, _, name)| add(&mut found, (kind, depth, name)));
            }
            found
        };
        below = (0..below.len()).into_par_iter().map(next).collect();
    }
    below
}

/// Who is called in the same thread.
fn called(graph: &CallGraph, method: MethodId) -> impl Iterator<Item = MethodId> {
    let calls = graph.calls(method).iter();
    let is_here = |call: &&crate::call_graph::Call| call.kind.is_local() || call.kind == CallKind::Table;
    calls.filter(is_here).flat_map(|call| call.targets.iter().copied())
}

/// Adds one of a kind of which there is none that is nearer; of several as near the first by name.
fn add(found: &mut Below, one: (SlowKind, u8, Name)) {
    match found.iter_mut().find(|known| known.0 == one.0) {
        None => found.push(one),
        Some(known) if (one.1, one.2.as_str()) < (known.1, known.2.as_str()) => *known = one,
        Some(_) => {}
    }
}

/// `Class.method` without package and enclosing classes.
fn shown(class: &str, method: &str) -> Name {
    let class = class.rsplit(['/', '$']).next().unwrap_or(class);
    match method {
        "<init>" => Name::from(&format!("new {class}")),
        _ => Name::from(&format!("{class}.{method}")),
    }
}

/// What can take time in a body: where, which kind, what is called, what that comes to.
fn calls(
    graph: &CallGraph,
    below: &[Below],
    method: MethodId,
    body: &Body,
) -> Vec<(ValueId, SlowKind, String, String)> {
    let mut found = Vec::new();
    let mut locked: Vec<ValueId> = Vec::new();
    for (value, inst) in body.iter() {
        match &inst.op {
            Op::Invoke { method, .. } => {
                if let Some(kind) = apis::kind(&method.class, &method.name) {
                    found.push((value, kind, shown(&method.class, &method.name).to_string(), String::new()));
                }
            }
            // It is entered and left; the first one enters.
            Op::Monitor(object) if !locked.contains(object) => {
                locked.push(*object);
                found.push((value, SlowKind::Lock, String::new(), String::new()));
            }
            _ => {}
        }
    }
    for call in graph.calls(method) {
        let Op::Invoke { method: named, .. } = body.op(call.site) else { continue };
        let name = || shown(&named.class, &named.name).to_string();
        if call.kind.is_remote() {
            found.push((call.site, SlowKind::Rpc, name(), String::new()));
        }
        if !call.kind.is_local() && call.kind != CallKind::Table {
            continue;
        }
        // The best guess of one call: what usually takes longest, of that the nearest.
        let all = call.targets.iter().flat_map(|target| &below[target.index()]);
        if let Some((kind, _, comes_to)) =
            all.min_by_key(|(kind, depth, name)| (*kind, *depth, name.as_str()))
        {
            found.push((call.site, *kind, name(), comes_to.to_string()));
        }
    }
    found.extend(loops(body).map(|header| {
        let first = body.block(header).insts.iter().copied().find(|&value| body.inst(value).line > 0);
        (first.unwrap_or(ValueId::new(0)), SlowKind::Loop, String::new(), String::new())
    }));
    found
}

/// The headers of loops that call something.
fn loops(body: &Body) -> impl Iterator<Item = BlockId> {
    let calls = |block: BlockId| {
        let insts = &body.block(block).insts;
        insts.iter().any(|&value| matches!(body.op(value), Op::Invoke { .. } | Op::InvokeDynamic { .. }))
    };
    let all = (0..body.blocks.len()).map(BlockId::new);
    let mut headers: Vec<BlockId> =
        all.filter(|&block| calls(block)).filter_map(|block| body.block(block).loop_header).collect();
    headers.sort_unstable();
    headers.dedup();
    headers.into_iter()
}

/// Where the log points of a body stand.
struct Places<'a> {
    body: &'a Body,
    /// By block: place in the block, position of the log point; in order.
    points: Vec<Vec<(usize, u32)>>,
    log_points: &'a [LogPoint],
}

impl<'a> Places<'a> {
    fn new(body: &'a Body, sites: &[(ValueId, u32)], log_points: &'a [LogPoint]) -> Self {
        let mut points = vec![Vec::new(); body.blocks.len()];
        for &(site, point) in sites {
            let block = body.inst(site).block.index();
            points[block].extend(place_in(body, site).map(|at| (at, point)));
        }
        points.iter_mut().for_each(|of_block| of_block.sort_unstable());
        Self { body, points, log_points }
    }

    /// Those of `calls` that stand between log points.
    fn between(&self, calls: Vec<(ValueId, SlowKind, String, String)>) -> Vec<SlowCall> {
        let slow = |(value, kind, call, comes_to): (ValueId, SlowKind, String, String)| {
            let block = self.body.inst(value).block;
            let at = place_in(self.body, value)?;
            if self.points[block.index()].iter().any(|&(point, _)| point == at && kind != SlowKind::Loop) {
                // It prints.
                return None;
            }
            let (after, before) = (self.reached(block, at, false), self.reached(block, at, true));
            let is_known = !after.is_empty() || !before.is_empty();
            let source_line = self.body.inst(value).line;
            is_known.then_some(SlowCall { kind, source_line, call, comes_to, after, before })
        };
        calls.into_iter().filter_map(slow).collect()
    }

    /// Log points that can be met from a place on, forwards or backwards, before another one
    /// that logs usually show; sorted.
    fn reached(&self, block: BlockId, at: usize, is_forwards: bool) -> Vec<u32> {
        let mut found = Vec::new();
        let mut seen = vec![false; self.body.blocks.len()];
        let mut todo = Vec::new();
        if !self.meet(block, Some(at), is_forwards, &mut found) {
            todo.push(block);
        }
        while let Some(from) = todo.pop() {
            let block = self.body.block(from);
            let next = if is_forwards { &block.successors } else { &block.predecessors };
            for &next in next {
                // Ways into exception handlers are none.
                let is_way = is_forwards || self.body.block(next).successors.contains(&from);
                if is_way
                    && !std::mem::replace(&mut seen[next.index()], true)
                    && !self.meet(next, None, is_forwards, &mut found)
                {
                    todo.push(next);
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Adds what is met in a block, from a place in it or from its end; true: no further.
    fn meet(&self, block: BlockId, at: Option<usize>, is_forwards: bool, found: &mut Vec<u32>) -> bool {
        let points = &self.points[block.index()];
        let is_ahead = |place: usize| match at {
            None => true,
            Some(at) if is_forwards => place > at,
            Some(at) => place < at,
        };
        let ahead: Vec<(usize, u32)> = points.iter().copied().filter(|&(place, _)| is_ahead(place)).collect();
        let in_order: Box<dyn Iterator<Item = (usize, u32)>> =
            if is_forwards { Box::new(ahead.into_iter()) } else { Box::new(ahead.into_iter().rev()) };
        let mut stop = None;
        for (place, point) in in_order {
            if stop.is_some_and(|stop| stop != place) {
                break;
            }
            found.push(point);
            // Of one place all that it can print.
            let level = self.log_points[point as usize].levels.last().copied();
            if level.is_none_or(|level| level >= Level::Info) {
                stop = Some(place);
            }
        }
        stop.is_some()
    }
}

/// Where in its block an instruction stands.
fn place_in(body: &Body, value: ValueId) -> Option<usize> {
    body.block(body.inst(value).block).insts.iter().position(|&other| other == value)
}
