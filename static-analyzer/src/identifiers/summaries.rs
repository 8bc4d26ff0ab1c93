//! Bottom-up summaries over the components of the call graph.

use std::collections::BTreeMap;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::bindings::Walk;
use super::thread_locals;
use super::{Bindings, Bound, LoggedVariable, Place, Summaries, Summary, in_loop};
use crate::call_graph::{Call, CallGraph};
use crate::ir::{Body, ValueId};
use crate::limits::{COMPONENT_ROUNDS_MAX, MODIFIED_MAX, PLACES_MAX};
use crate::path::{AccessPath, LogPoint, Root};
use crate::program::MethodId;
use crate::top_level::loops::ServiceLoops;

/// What a summary is asked for.
pub struct Scope<'a> {
    /// Edges into these methods are not followed (index of [`MethodId`]).
    pub cut: &'a [bool],
    /// What the body of each method modifies (index of [`MethodId`]).
    pub(crate) writes: &'a [Vec<AccessPath>],
    /// Keep values made inside of callees, and those of which a method meets many:
    /// they belong to a request, but are never rebound further up. Keep also what a wrapper
    /// prints for callers that are not seen: it says nothing of where requests begin.
    pub locals: bool,
    /// Methods of which one round of a service loop is one request: values made
    /// in a round keep their identity in it.
    pub(crate) rounds: &'a FxHashMap<MethodId, &'a ServiceLoops>,
}

impl std::fmt::Debug for Scope<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scope").field("locals", &self.locals).finish_non_exhaustive()
    }
}

/// Summaries of all methods.
pub fn summarize(
    graph: &CallGraph,
    bindings: &Bindings<'_>,
    log_points: &[LogPoint],
    scope: &Scope<'_>,
) -> Summaries {
    let mut points: FxHashMap<MethodId, Vec<u32>> = FxHashMap::default();
    for (i, p) in log_points.iter().enumerate().filter(|(_, p)| scope.locals || !p.is_for_unseen) {
        points.entry(p.frame).or_default().push(i as u32);
    }
    let worker = Worker { graph, bindings, log_points, points, scope };
    let mut summaries = Summaries { methods: vec![Summary::default(); scope.writes.len()] };
    for level in &graph.levels {
        let found: Vec<Vec<(MethodId, Summary)>> = graph.components[level.clone()]
            .par_iter()
            .map(|component| worker.component(component, &summaries))
            .collect();
        for (m, summary) in found.into_iter().flatten() {
            summaries.methods[m.index()] = summary;
        }
    }
    summaries
}

struct Worker<'a> {
    graph: &'a CallGraph,
    bindings: &'a Bindings<'a>,
    log_points: &'a [LogPoint],
    points: FxHashMap<MethodId, Vec<u32>>,
    scope: &'a Scope<'a>,
}

impl Worker<'_> {
    fn component(&self, component: &[MethodId], below: &Summaries) -> Vec<(MethodId, Summary)> {
        let mut inside: BTreeMap<MethodId, Summary> = BTreeMap::new();
        let recursive = component.len() > 1;
        for _ in 0..COMPONENT_ROUNDS_MAX {
            let mut changed = false;
            for &m in component {
                let new = self.method(m, &inside, below);
                changed |= inside.get(&m).is_none_or(|old| {
                    old.log_points != new.log_points || old.places.len() != new.places.len()
                });
                inside.insert(m, new);
            }
            if !changed || !recursive {
                break;
            }
        }
        inside.into_iter().collect()
    }

    fn method(&self, method: MethodId, inside: &BTreeMap<MethodId, Summary>, below: &Summaries) -> Summary {
        let mut summary = Summary::default();
        let mut uses = Uses::default();
        for &p in self.points.get(&method).map_or(&[][..], Vec::as_slice) {
            summary.log_points.push(p);
            self.own_point(method, p, &mut uses);
        }
        // A callee's own values are one thing only if it is called at one place.
        let mut sites: FxHashMap<u32, Option<ValueId>> = FxHashMap::default();
        summary.modified.clone_from(&self.scope.writes[method.index()]);
        let body = self.bindings.body(method);
        let mut walk = body.map(|body| Walk::new(self.bindings, method, body));
        for (call, target) in self.graph.local_edges(method) {
            if self.scope.cut[target.index()] {
                continue;
            }
            let callee = inside.get(&target).unwrap_or(&below.methods[target.index()]);
            summary.log_points.extend(&callee.log_points);
            let Some(walk) = &mut walk else { continue };
            for (place, variables) in &callee.places {
                if let Bound::Place(bound) = walk.bind(call, place, &|b, v| self.loops(method, b, v))
                    && self.keep(method, &bound)
                {
                    let is_callees = matches!(bound.path.root, Root::Local(_)) && bound.frame != method;
                    let at = uses.id(bound);
                    if is_callees {
                        let known = sites.entry(at).or_insert(Some(call.site));
                        if *known != Some(call.site) {
                            *known = None;
                        }
                    }
                    uses.pairs.extend(variables.iter().map(|v| (*v, at)));
                }
            }
            for path in &callee.modified {
                bind_modified(walk, call, (target, path), &mut summary.modified);
            }
        }
        summary.log_points.sort_unstable();
        summary.log_points.dedup();
        summary.modified.sort();
        summary.modified.dedup();
        summary.modified.truncate(MODIFIED_MAX);
        let modified = &summary.modified;
        let keeps = |at, place: &Place| sites.get(&at) != Some(&None) && !is_modified(&place.path, modified);
        summary.places = uses.grouped(keeps);
        summary
    }

    fn own_point(&self, method: MethodId, point: u32, uses: &mut Uses) {
        let log_point = &self.log_points[point as usize];
        let Some(&site) = log_point.sites.first() else { return };
        for (i, variable) in log_point.variables.iter().enumerate() {
            let Some(path) = &variable.path else { continue };
            if variable.value_class.is_none() || !names_something(variable.shape) {
                continue;
            }
            let mut place = self.bindings.place(method, path, site, &|b, v| self.loops(method, b, v));
            if let Some(path) = self.bindings.set_for_thread(method, &place.path) {
                place.path = path;
            }
            if self.keep(method, &place) {
                let at = uses.id(place);
                uses.pairs.push(((point, i as u32), at));
            }
        }
    }

    /// Whether an instruction runs several times in one request.
    fn loops(&self, method: MethodId, body: &Body, value: ValueId) -> bool {
        match self.scope.rounds.get(&method) {
            Some(rounds) => rounds.repeats(body, value),
            None => in_loop(body, value),
        }
    }

    fn keep(&self, method: MethodId, place: &Place) -> bool {
        match place.path.root {
            // What threads have of their own is known where it is set.
            Root::Static(_) => thread_locals::is_one(&place.path),
            Root::Local(_) => self.scope.locals,
            Root::Param(_) => place.frame == method && (self.scope.locals || !place.looping),
        }
    }
}

/// Adds what a callee modifies: a modified path is a place and a last field that is
/// written, not read.
fn bind_modified(
    walk: &mut Walk<'_, '_>,
    call: &Call,
    (target, path): (MethodId, &AccessPath),
    modified: &mut Vec<AccessPath>,
) {
    let Some((last, steps)) = path.steps.split_last() else { return };
    let object = AccessPath { root: path.root, steps: steps.to_vec() };
    let place = Place { path: object, frame: target, looping: false };
    if let Bound::Place(mut bound) = walk.bind(call, &place, &in_loop)
        && !matches!(bound.path.root, Root::Local(_))
    {
        bound.path.steps.push(*last);
        modified.push(bound.path);
    }
}

/// Shapes that can name something: not flags, kinds, measures or errors.
pub(crate) fn names_something(shape: schema::ValueShape) -> bool {
    use schema::ValueShape as S;
    matches!(shape, S::Integer | S::Hex | S::Text)
}

/// Whether some modified path is a prefix of `path`.
pub(crate) fn is_modified(path: &AccessPath, modified: &[AccessPath]) -> bool {
    modified.iter().any(|m| m.root == path.root && path.steps.starts_with(&m.steps))
}

/// Which variables are printed from which places of one method. Places are compared
/// by their names, which costs more than all else here: each is numbered once.
#[derive(Default)]
struct Uses {
    ids: FxHashMap<Place, u32>,
    pairs: Vec<(LoggedVariable, u32)>,
}

impl Uses {
    fn id(&mut self, place: Place) -> u32 {
        let next = self.ids.len() as u32;
        *self.ids.entry(place).or_insert(next)
    }

    /// By place, those that are kept; variables with too many places are dropped.
    fn grouped(mut self, keeps: impl Fn(u32, &Place) -> bool) -> BTreeMap<Place, Vec<LoggedVariable>> {
        self.pairs.sort_unstable();
        self.pairs.dedup();
        let mut groups: Vec<Vec<LoggedVariable>> = vec![Vec::new(); self.ids.len()];
        for list in self.pairs.chunk_by(|a, b| a.0 == b.0).filter(|list| list.len() <= PLACES_MAX) {
            list.iter().for_each(|&(variable, at)| groups[at as usize].push(variable));
        }
        let places = self.ids.into_iter().filter(|(place, at)| keeps(*at, place));
        let groups = places.map(|(place, at)| (place, std::mem::take(&mut groups[at as usize])));
        groups.filter(|(_, variables)| !variables.is_empty()).collect()
    }
}
