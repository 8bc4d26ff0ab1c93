//! Order: for every method the order in which the log points of it and of what
//! it calls can appear (lprof §4.3), for top-level methods the [`schema::Dag`].
//!
//! Bottom-up over the call graph: the fragment of a callee is made once and
//! inlined wherever it is called, unless the callee is another top-level method
//! (the call is a hand-off then, not part of this request's thread) or calls its
//! caller back (recursion: one node without order). What becomes too large is
//! folded, the largest callees first.

use crate::ir::ValueId;
use crate::limits::{ORDER_CALLEES_MAX, ORDER_NODES_MAX};
use crate::path::LogPoint;
use crate::program::{MethodId, Program};

pub(crate) mod components;
pub(crate) mod dag;
pub(crate) mod fragment;
mod method;

use components::components;
use fragment::Fragment;
use method::Event;

/// Local calls of every method: for each calling instruction, in order, the
/// methods of the program it can run in the same thread.
pub(crate) type Calls = Vec<Vec<(ValueId, Vec<MethodId>)>>;

/// Levels below this are off in usual configurations: their log points may
/// always be skipped.
const USUAL_LEVEL: schema::Level = schema::Level::Info;

/// What the fragments are made from.
pub(crate) struct Input<'a> {
    /// The program.
    pub(crate) program: &'a Program,
    /// All log points; a point is a position here.
    pub(crate) log_points: &'a [LogPoint],
    /// Who calls whom, within a thread.
    pub(crate) calls: &'a Calls,
    /// For each method: not inlined, because it is top-level.
    pub(crate) cut: &'a [bool],
}

/// The fragments of all methods, by [`MethodId`]; cut methods have theirs too.
/// Second: how many methods were folded because of their size.
pub(crate) fn fragments(input: &Input<'_>) -> (Vec<Fragment>, usize) {
    let sites = sites(input);
    let n = input.program.methods.len();
    let graph: Vec<Vec<u32>> = input
        .calls
        .iter()
        .map(|calls| {
            let mut to: Vec<u32> = calls
                .iter()
                .flat_map(|(_, targets)| targets)
                .filter(|t| !input.cut[t.index()])
                .map(|t| u32::try_from(t.index()).expect("fewer than 2^32 methods"))
                .collect();
            to.sort_unstable();
            to.dedup();
            to
        })
        .collect();
    let groups = components(&graph);
    let mut fragments = vec![Fragment::empty(); n];
    let mut n_folded = 0;
    for members in &groups.members {
        let recursive = members.len() > 1 || graph[members[0] as usize].contains(&members[0]);
        let Some(first) = members.first().map(|&m| m as usize) else { continue };
        if recursive {
            let folded = recursion(members, &graph, &sites, &fragments);
            for &m in members {
                fragments[m as usize] = folded.clone();
            }
        } else if !sites[first].is_empty() || graph[first].iter().any(|&t| !fragments[t as usize].nodes.is_empty()) {
            let (fragment, folded) = fragment_of(input, MethodId::new(first), &sites[first], &fragments);
            n_folded += usize::from(folded);
            fragments[first] = fragment;
        }
    }
    (fragments, n_folded)
}

/// For each method its printing instructions with the points they print, sorted.
fn sites(input: &Input<'_>) -> Vec<Vec<(ValueId, Vec<u32>)>> {
    let mut sites: Vec<Vec<(ValueId, Vec<u32>)>> = vec![Vec::new(); input.program.methods.len()];
    for (i, point) in (0u32..).zip(input.log_points) {
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

fn recursion(
    members: &[u32],
    graph: &[Vec<u32>],
    sites: &[Vec<(ValueId, Vec<u32>)>],
    fragments: &[Fragment],
) -> Fragment {
    let mut points: Vec<u32> = Vec::new();
    for &m in members {
        points.extend(sites[m as usize].iter().flat_map(|(_, p)| p));
        for &callee in &graph[m as usize] {
            points.extend(fragments[callee as usize].points());
        }
    }
    Fragment::folded(points)
}

/// The fragment of one method, and whether something had to be folded.
fn fragment_of(
    input: &Input<'_>,
    method: MethodId,
    sites: &[(ValueId, Vec<u32>)],
    fragments: &[Fragment],
) -> (Fragment, bool) {
    let Some(body) = &input.program.methods[method.index()].body else {
        return (Fragment::empty(), false);
    };
    let calls = &input.calls[method.index()];
    let printing = |targets: &[MethodId]| -> Vec<MethodId> {
        let inlined = |t: &&MethodId| !input.cut[t.index()] && !fragments[t.index()].nodes.is_empty();
        targets.iter().filter(inlined).copied().collect()
    };
    let size_max = callee_size_max(calls.iter().flat_map(|(_, t)| printing(t)), fragments, sites.len());
    let mut small: Vec<(MethodId, Fragment)> = Vec::new();
    if size_max < ORDER_NODES_MAX {
        let mut large: Vec<MethodId> = calls.iter().flat_map(|(_, t)| printing(t)).collect();
        large.retain(|t| fragments[t.index()].nodes.len() > size_max);
        large.sort_unstable();
        large.dedup();
        small = large.into_iter().map(|t| (t, Fragment::folded(fragments[t.index()].points()))).collect();
    }
    let fragment = |t: MethodId| match small.binary_search_by_key(&t, |s| s.0) {
        Ok(at) => &small[at].1,
        Err(_) => &fragments[t.index()],
    };
    let mut events: Vec<(ValueId, Event<'_>)> = Vec::new();
    for (site, points) in sites {
        events.push((*site, print_event(input, points)));
    }
    for (site, targets) in calls {
        let printing = printing(targets);
        if printing.is_empty() {
            continue;
        }
        let optional = printing.len() < targets.len();
        let many = printing.len() > ORDER_CALLEES_MAX;
        let callees = if many { Vec::new() } else { printing.iter().map(|&t| fragment(t)).collect() };
        let event = if many {
            let points = printing.iter().flat_map(|&t| fragment(t).points()).collect();
            Event::Print { points: Fragment::folded(points).points(), optional: true, repeats: true }
        } else {
            Event::Call { callees, optional }
        };
        events.push((*site, event));
    }
    events.sort_by_key(|e| e.0);
    let fragment = method::flow(body, &events).into_fragment();
    (fragment, !small.is_empty())
}

fn print_event(input: &Input<'_>, points: &[u32]) -> Event<'static> {
    let off = |&p: &u32| {
        let point = &input.log_points[p as usize];
        point.guard.is_some() || point.levels.first().is_none_or(|&level| level < USUAL_LEVEL)
    };
    let mut points = points.to_vec();
    points.sort_unstable();
    points.dedup();
    let repeats = points.len() > 1;
    Event::Print { optional: points.iter().any(off), repeats, points }
}

/// The largest number of nodes a callee may have to be inlined unfolded, so that
/// all callees together stay within [`ORDER_NODES_MAX`].
fn callee_size_max(
    callees: impl Iterator<Item = MethodId>,
    fragments: &[Fragment],
    n_sites: usize,
) -> usize {
    let mut sizes: Vec<usize> = callees.map(|t| fragments[t.index()].nodes.len()).collect();
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
