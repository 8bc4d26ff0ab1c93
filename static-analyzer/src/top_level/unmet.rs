//! Log points of a top-level method that only others can reach: on objects that are
//! handed down from who makes them ([`crate::call_graph::passed`]).

use rayon::prelude::*;
use rustc_hash::FxHashSet;

use super::members::{Chosen, Walk};
use crate::call_graph::CallGraph;
use crate::path::LogPoint;
use crate::program::MethodId;

/// Per chosen method, in order: the log points in its region that it can print only on
/// objects that it does not meet, sorted. What nobody else could print is its own.
pub(super) fn find(
    graph: &CallGraph,
    log_points: &[LogPoint],
    chosen: &Chosen,
    cut: &[bool],
) -> Vec<Vec<u32>> {
    let mut of_frame = vec![Vec::new(); graph.calls.len()];
    for (i, point) in (0u32..).zip(log_points) {
        of_frame[point.frame.index()].push(i);
    }
    let tops: Vec<MethodId> = chosen.keys().copied().collect();
    let chunks = tops.par_chunks(16).flat_map_iter(|tops| {
        let mut walk = Walk::new(graph);
        let of = |top: &MethodId| frames(graph, &mut walk, *top, cut);
        tops.iter().map(of).collect::<Vec<_>>()
    });
    let frames: Vec<(Vec<MethodId>, Vec<MethodId>)> = chunks.collect();
    let mut is_printed = vec![false; graph.calls.len()];
    frames.iter().flat_map(|(met, _)| met).for_each(|m| is_printed[m.index()] = true);
    let points = |unmet: Vec<MethodId>| {
        let frames = unmet.into_iter().filter(|m| is_printed[m.index()]);
        let mut points: Vec<u32> = frames.flat_map(|m| of_frame[m.index()].iter().copied()).collect();
        points.sort_unstable();
        points
    };
    frames.into_iter().map(|(_, unmet)| points(unmet)).collect()
}

/// The methods in the region of `top` that run, and those that do not.
fn frames(graph: &CallGraph, walk: &mut Walk, top: MethodId, cut: &[bool]) -> (Vec<MethodId>, Vec<MethodId>) {
    let is_cut = |m: MethodId| cut[m.index()];
    let all = walk.region(graph, top, is_cut).to_vec();
    let unmet = graph.passed.unmet(graph, top, &all);
    if unmet.is_empty() {
        return (all, Vec::new());
    }
    let can_run = |caller, call: &_, target| graph.passed.can_run(caller, call, target, &unmet);
    let met: FxHashSet<MethodId> = walk.region_over(graph, top, is_cut, can_run).iter().copied().collect();
    all.into_iter().partition(|m| met.contains(m))
}
