//! Identifier loss at call edges (lprof §4.2): how many logged variables that a
//! callee keeps are something else in its caller.
//!
//! The paper compares the totals of callee and caller; a caller with many
//! callees can grow while one callee's identifiers are all lost, so each edge is
//! judged by what *this* callee's variables become.

use std::collections::BTreeSet;

use crate::call_graph::{Call, CallGraph};
use crate::identifiers::{Bindings, Bound, LoggedVariable, Summaries, is_modified, names_something};
use crate::ir::ValueId;
use crate::limits::{LOST_MIN, LOST_PERCENT_MIN};
use crate::path::{AccessPath, LogPoint, Root, Variable};
use crate::program::{MethodId, Program};

/// What one call edge does to the callee's identifier candidates.
#[derive(Clone, Debug, Default)]
pub(crate) struct Drop {
    /// Variables of log points that keep their value in the callee.
    pub(crate) total: usize,
    /// Those that do not in the caller.
    pub(crate) lost: usize,
    /// Value classes of the lost ones, most printed first, for people.
    pub(crate) classes: Vec<String>,
}

impl Drop {
    /// At least half are lost, and at least three (so that a single line is no
    /// evidence).
    pub(crate) fn is_candidate(&self) -> bool {
        self.lost >= LOST_MIN && self.lost * 100 >= self.total * LOST_PERCENT_MIN
    }
}

/// Judges edges; holds the summaries of the whole graph.
pub(crate) struct Drops<'a> {
    pub(crate) program: &'a Program,
    pub(crate) bindings: &'a Bindings<'a>,
    pub(crate) log_points: &'a [LogPoint],
    pub(crate) summaries: &'a Summaries,
}

impl Drops<'_> {
    /// The loss on the edge `caller` to `target`.
    pub(crate) fn edge(&self, caller: MethodId, call: &Call, target: MethodId) -> Drop {
        let callee = &self.summaries.methods[target.index()];
        let above = &self.summaries.methods[caller.index()];
        let mut total: BTreeSet<LoggedVariable> = BTreeSet::new();
        let mut survived: BTreeSet<LoggedVariable> = BTreeSet::new();
        for (place, variables) in &callee.places {
            total.extend(variables);
            if let Bound::Place(bound) = self.bindings.bind(caller, call, place)
                && matches!(bound.path.root, Root::Param(_))
                && above.places.contains_key(&bound)
            {
                survived.extend(variables);
            }
        }
        let lost: Vec<LoggedVariable> = total.difference(&survived).copied().collect();
        Drop { total: total.len(), lost: lost.len(), classes: self.classes(&lost) }
    }

    /// Whether a turn of a service loop of `caller` that itself prints what is at the paths `named`
    /// loses nothing of what the callee prints: all of it is among them, but for constants.
    pub(crate) fn keeps_all(
        &self,
        caller: MethodId,
        call: &Call,
        target: MethodId,
        named: &BTreeSet<AccessPath>,
    ) -> bool {
        let mut kept: BTreeSet<LoggedVariable> = BTreeSet::new();
        for (place, variables) in &self.summaries.methods[target.index()].places {
            let is_kept = match self.bindings.bind(caller, call, place) {
                Bound::Place(bound) => bound.frame == caller && named.contains(&bound.path),
                Bound::Constant => true,
                Bound::Unknown => false,
            };
            kept.extend(variables.iter().filter(|_| is_kept));
        }
        // What the callee makes has no place here.
        !named.is_empty() && self.uses(target).all(|used| kept.contains(&used))
    }

    /// All uses of what can name something, that `method` and what it calls print.
    pub(crate) fn uses(&self, method: MethodId) -> impl Iterator<Item = LoggedVariable> {
        let points = self.summaries.methods[method.index()].log_points.iter();
        points.flat_map(move |&point| {
            let variables = (0_u32..).zip(&self.log_points[point as usize].variables);
            variables.filter(|(_, variable)| self.is_name(variable)).map(move |(at, _)| (point, at))
        })
    }

    /// Whether a variable can name something: no flag, kind, measure or error.
    pub(crate) fn is_name(&self, variable: &Variable) -> bool {
        variable.value_class.is_some() && variable.parts.is_empty() && names_something(variable.shape)
    }

    /// Whether `method` or what it calls changes a field on the way of a path of its frame.
    pub(crate) fn is_modified(&self, method: MethodId, path: &AccessPath) -> bool {
        is_modified(path, &self.summaries.methods[method.index()].modified)
    }

    /// How many log points that name something `caller` prints on the ways through a call of
    /// `target`, before and after it, that `target` does not; what handles failures aside.
    pub(crate) fn n_around(
        &self,
        graph: &CallGraph,
        caller: MethodId,
        site: ValueId,
        target: MethodId,
    ) -> usize {
        let inside = self.summaries.methods[target.index()].log_points.iter().copied().collect();
        self.around(graph, caller, site, &inside)
    }

    /// The same for what stands at `site` and prints `inside`.
    pub(crate) fn around(
        &self,
        graph: &CallGraph,
        caller: MethodId,
        site: ValueId,
        inside: &BTreeSet<u32>,
    ) -> usize {
        let Some(body) = &self.program.methods[caller.index()].body else { return 0 };
        let at = body.inst(site).block;
        let after = body.reachable(at);
        let is_on_way = |site: ValueId| {
            let block = body.inst(site).block;
            let is_handler = body.block(block).in_handler && !body.block(at).in_handler;
            !is_handler && (block == at || after[block.index()] || body.reachable(block)[at.index()])
        };
        let mut around: BTreeSet<u32> = BTreeSet::new();
        for (call, target) in graph.local_edges(caller) {
            if is_on_way(call.site) {
                around.extend(&self.summaries.methods[target.index()].log_points);
            }
        }
        for &point in &self.summaries.methods[caller.index()].log_points {
            let log_point = &self.log_points[point as usize];
            if log_point.frame == caller && log_point.sites.iter().any(|&site| is_on_way(site)) {
                around.insert(point);
            }
        }
        let is_named =
            |point: &&u32| self.log_points[**point as usize].variables.iter().any(|v| self.is_name(v));
        around.difference(inside).filter(is_named).count()
    }

    fn classes(&self, variables: &[LoggedVariable]) -> Vec<String> {
        let mut counts: std::collections::BTreeMap<String, usize> = std::collections::BTreeMap::new();
        for &(point, variable) in variables {
            let variable = &self.log_points[point as usize].variables[variable as usize];
            if let Some(class) = variable.value_class {
                *counts.entry(class.as_str().to_owned()).or_default() += 1;
            }
        }
        let mut sorted: Vec<(String, usize)> = counts.into_iter().collect();
        sorted.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        sorted.truncate(4);
        sorted.into_iter().map(|(class, n)| format!("{class} x{n}")).collect()
    }

    /// `Class.method` for people.
    pub(crate) fn name(&self, method: MethodId) -> String {
        let m = &self.program.methods[method.index()];
        let class = self.program.classes[m.class.index()].name;
        let simple = class.as_str().rsplit('/').next().unwrap_or_default();
        format!("{simple}.{}", m.name)
    }
}
