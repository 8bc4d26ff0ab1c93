//! What belongs to each top-level method: its log points and identifiers.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use schema::{IdentifierStrength, TopLevelKind};

use super::loops::ServiceLoops;
use super::{Member, TopLevel};
use crate::call_graph::CallGraph;
use crate::identifiers::{Bindings, Identifier, Lifetimes, Place, Scope, Summary, summarize};
use crate::path::LogPoint;
use crate::program::{MethodId, Name, Program};
use crate::rules::Rules;

/// The chosen methods with kind and reason.
pub(crate) type Chosen = BTreeMap<MethodId, (TopLevelKind, String)>;

/// Methods reached from `top` over local edges, itself included, without
/// entering methods that `is_cut`.
pub(crate) fn region(
    graph: &CallGraph,
    top: MethodId,
    is_cut: &dyn Fn(MethodId) -> bool,
) -> BTreeSet<MethodId> {
    let mut seen = BTreeSet::from([top]);
    let mut todo = vec![top];
    while let Some(m) = todo.pop() {
        for (_, target) in graph.local_edges(m) {
            if !is_cut(target) && seen.insert(target) {
                todo.push(target);
            }
        }
    }
    seen
}

/// Adds a home for log points that no chosen method reaches: the outermost
/// caller, or the method itself.
pub(crate) fn cover(
    program: &Program,
    graph: &CallGraph,
    log_points: &[LogPoint],
    mut chosen: Chosen,
    none: &[bool],
) -> Chosen {
    let mut reached = vec![false; none.len()];
    for &top in chosen.keys() {
        mark(graph, top, &chosen, &mut reached);
    }
    for point in log_points {
        if reached[point.frame.index()] {
            continue;
        }
        let home = outermost(program, graph, point.frame, &reached);
        let why = "no known thread reaches it".to_owned();
        chosen.entry(home).or_insert((TopLevelKind::Unreached, why));
        mark(graph, home, &chosen, &mut reached);
        if !reached[point.frame.index()] {
            let why = "no known thread reaches it".to_owned();
            chosen.entry(point.frame).or_insert((TopLevelKind::Unreached, why));
            mark(graph, point.frame, &chosen, &mut reached);
        }
    }
    chosen
}

fn mark(graph: &CallGraph, top: MethodId, chosen: &Chosen, reached: &mut [bool]) {
    let mut todo = vec![top];
    reached[top.index()] = true;
    while let Some(m) = todo.pop() {
        for (_, target) in graph.local_edges(m) {
            if !reached[target.index()] && !chosen.contains_key(&target) {
                reached[target.index()] = true;
                todo.push(target);
            }
        }
    }
}

/// The farthest unreached caller of `method` (breadth first, smallest id among
/// equals); constructors and initializers only if there is no other.
fn outermost(program: &Program, graph: &CallGraph, method: MethodId, reached: &[bool]) -> MethodId {
    let mut seen = BTreeSet::from([method]);
    let mut layer = vec![method];
    let mut best = method;
    while !layer.is_empty() {
        let mut next = Vec::new();
        for m in layer {
            let callers = &graph.callers[m.index()];
            for &(caller, at) in callers {
                let local = graph.calls(caller)[at].kind.is_local();
                if local && !reached[caller.index()] && seen.insert(caller) {
                    next.push(caller);
                }
            }
        }
        next.sort_unstable();
        let named = |m: &&MethodId| !program.methods[m.index()].name.as_str().starts_with('<');
        if let Some(&first) = next.iter().find(named) {
            best = first;
        }
        layer = next;
    }
    best
}

/// Identifiers and members of all chosen methods, sorted by method.
#[expect(clippy::too_many_arguments, reason = "one call, all of them whole phases' results")]
pub(crate) fn fill(
    program: &Program,
    graph: &CallGraph,
    bindings: &Bindings<'_>,
    log_points: &[LogPoint],
    chosen: &Chosen,
    loops: &[ServiceLoops],
    lifetimes: &Lifetimes,
    rules: &Rules,
) -> Vec<TopLevel> {
    let mut cut = vec![false; program.methods.len()];
    chosen.keys().for_each(|m| cut[m.index()] = true);
    // One round of a dispatcher is one request: what a round makes is its own.
    let rounds = chosen
        .iter()
        .filter(|(_, (kind, _))| *kind == TopLevelKind::Dispatcher)
        .map(|(&m, _)| (m, &loops[m.index()]))
        .collect();
    let scope = Scope { cut: &cut, locals: true, rounds: &rounds };
    let summaries = summarize(program, graph, bindings, log_points, &scope);
    chosen
        .par_iter()
        .map(|(&method, (kind, reason))| {
            let summary = &summaries.methods[method.index()];
            let context = Context { program, graph, bindings, log_points, lifetimes, rules };
            top_level(&context, method, *kind, reason, summary)
        })
        .collect()
}

struct Context<'a> {
    program: &'a Program,
    graph: &'a CallGraph,
    bindings: &'a Bindings<'a>,
    log_points: &'a [LogPoint],
    lifetimes: &'a Lifetimes,
    rules: &'a Rules,
}

fn top_level(
    context: &Context<'_>,
    method: MethodId,
    kind: TopLevelKind,
    reason: &str,
    summary: &Summary,
) -> TopLevel {
    let mut uses: BTreeMap<(Place, Name), Vec<(u32, u32)>> = BTreeMap::new();
    for (place, variables) in &summary.places {
        for &(point, variable) in variables {
            let class = context.log_points[point as usize].variables[variable as usize].value_class;
            if let Some(class) = class {
                uses.entry((place.clone(), class)).or_default().push((point, variable));
            }
        }
    }
    let mut identifiers = Vec::new();
    let mut bound: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
    for ((place, value_class), variables) in uses {
        let Some(strength) = strength(context, method, &place, value_class) else { continue };
        let at = identifiers.len() as u32;
        identifiers.push(Identifier { place, value_class, strength });
        variables.iter().for_each(|v| bound.entry(*v).or_default().push(at));
    }
    let members = summary
        .log_points
        .iter()
        .map(|&point| Member {
            log_point: point,
            bindings: (0..context.log_points[point as usize].variables.len() as u32)
                .map(|v| match bound.get(&(point, v)).map(Vec::as_slice) {
                    // Two identifiers through two call chains: which one, only
                    // the run knows.
                    Some([one]) => Some(*one),
                    _ => None,
                })
                .collect(),
        })
        .collect();
    TopLevel { method, kind, identifiers, members, reason: reason.to_owned() }
}

fn strength(
    context: &Context<'_>,
    method: MethodId,
    place: &Place,
    value_class: Name,
) -> Option<IdentifierStrength> {
    let named = |list: &[String]| list.iter().any(|c| {
        value_class.as_str() == c || value_class.as_str().ends_with(&format!("/{c}"))
    });
    if named(&context.rules.not_identifier) {
        return None;
    }
    if named(&context.rules.identifier) {
        return Some(IdentifierStrength::Request);
    }
    context.lifetimes.strength(context.program, context.graph, context.bindings, method, place)
}
