//! Bottom-up summaries over the components of the call graph.

use std::collections::BTreeMap;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::{Bindings, Bound, LoggedVariable, Place, Summaries, Summary, in_loop};
use crate::call_graph::CallGraph;
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
    /// they belong to a request, but are never rebound further up.
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
    for (i, p) in log_points.iter().enumerate() {
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
        let mut pairs: Vec<(LoggedVariable, Place)> = Vec::new();
        for &p in self.points.get(&method).map_or(&[][..], Vec::as_slice) {
            summary.log_points.push(p);
            self.own_point(method, p, &mut pairs);
        }
        // A callee's own values are one thing only if it is called at one place.
        let mut sites: FxHashMap<Place, Option<ValueId>> = FxHashMap::default();
        summary.modified.clone_from(&self.scope.writes[method.index()]);
        for (call, target) in self.graph.local_edges(method) {
            if self.scope.cut[target.index()] {
                continue;
            }
            let callee = inside.get(&target).unwrap_or(&below.methods[target.index()]);
            summary.log_points.extend(&callee.log_points);
            for (place, variables) in &callee.places {
                if let Bound::Place(bound) =
                    self.bindings.bind_in(method, call, target, place, &|b, v| self.loops(method, b, v))
                    && self.keep(method, &bound)
                {
                    if matches!(bound.path.root, Root::Local(_)) && bound.frame != method {
                        let known = sites.entry(bound.clone()).or_insert(Some(call.site));
                        if *known != Some(call.site) {
                            *known = None;
                        }
                    }
                    pairs.extend(variables.iter().map(|v| (*v, bound.clone())));
                }
            }
            for path in &callee.modified {
                self.bind_modified(method, call, target, path, &mut summary.modified);
            }
        }
        summary.log_points.sort_unstable();
        summary.log_points.dedup();
        summary.modified.sort();
        summary.modified.dedup();
        summary.modified.truncate(MODIFIED_MAX);
        summary.places = grouped(pairs);
        summary.places.retain(|place, _| sites.get(place) != Some(&None));
        let modified = &summary.modified;
        summary.places.retain(|place, _| !is_modified(&place.path, modified));
        summary
    }

    fn own_point(&self, method: MethodId, point: u32, pairs: &mut Vec<(LoggedVariable, Place)>) {
        let log_point = &self.log_points[point as usize];
        let Some(&site) = log_point.sites.first() else { return };
        for (i, variable) in log_point.variables.iter().enumerate() {
            let Some(path) = &variable.path else { continue };
            if variable.value_class.is_none() || !names_something(variable.shape) {
                continue;
            }
            let place = self.bindings.place(method, path, site, &|b, v| self.loops(method, b, v));
            if self.keep(method, &place) {
                pairs.push(((point, i as u32), place));
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
            Root::Static(_) => false,
            Root::Local(_) => self.scope.locals,
            Root::Param(_) => place.frame == method && (self.scope.locals || !place.looping),
        }
    }

    /// A modified path is a place and a last field that is written, not read.
    fn bind_modified(
        &self,
        method: MethodId,
        call: &crate::call_graph::Call,
        target: MethodId,
        path: &AccessPath,
        modified: &mut Vec<AccessPath>,
    ) {
        let Some((last, steps)) = path.steps.split_last() else { return };
        let object = AccessPath { root: path.root, steps: steps.to_vec() };
        let place = Place { path: object, frame: target, looping: false };
        if let Bound::Place(mut bound) = self.bindings.bind(method, call, target, &place)
            && !matches!(bound.path.root, Root::Local(_))
        {
            bound.path.steps.push(*last);
            modified.push(bound.path);
        }
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

/// Groups by place; variables with too many places are dropped.
fn grouped(mut pairs: Vec<(LoggedVariable, Place)>) -> BTreeMap<Place, Vec<LoggedVariable>> {
    pairs.sort();
    pairs.dedup();
    let mut groups: BTreeMap<Place, Vec<LoggedVariable>> = BTreeMap::new();
    for list in pairs.chunk_by(|a, b| a.0 == b.0) {
        if list.len() > PLACES_MAX {
            continue;
        }
        for (variable, place) in list {
            groups.entry(place.clone()).or_default().push(*variable);
        }
    }
    groups
}
