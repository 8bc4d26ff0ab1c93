//! Alternatives: of several classes that do the same work in other ways, a process has
//! one, chosen by its configuration (a scheduler, a store). They print what they have
//! from a common base or call the same helpers for, so that such lines look like
//! anyone's. But who is there prints lines of its own as well: a class that was never
//! seen alone, although as many lines could have been its as are another one's that was,
//! has no object in this process.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use schema::{Model, TopLevelId, TopLevelKind};

use super::evidence::is_absent;
use super::orders::Orders;
use crate::record::Record;

/// What more classes than this can have printed says of none of them that it is there.
const CLASSES_MAX: usize = 8;

/// What the first records show of the classes of top-level methods.
#[derive(Debug)]
pub(super) struct Alternatives {
    /// Per top-level method: number of its class, with those that are declared in it.
    class: Vec<usize>,
    /// Per class: records that only it can have printed.
    alone: Vec<u32>,
    /// Records that two classes can have printed.
    shared: BTreeMap<(usize, usize), u32>,
}

impl Alternatives {
    pub(super) fn new(model: &Model) -> Self {
        let mut numbers: FxHashMap<&str, usize> = FxHashMap::default();
        let mut class = Vec::with_capacity(model.top_level_methods.len());
        for top in &model.top_level_methods {
            let next = numbers.len();
            class.push(*numbers.entry(outermost(&top.class)).or_insert(next));
        }
        Self { class, alone: vec![0; numbers.len()], shared: BTreeMap::new() }
    }

    /// A record was seen.
    pub(super) fn see(&mut self, orders: &Orders<'_>, record: &Record<'_>) {
        let mut classes = BTreeSet::new();
        for candidate in &record.candidates {
            if candidate.log_point.index() >= orders.n_points() || orders.floats(candidate.log_point) {
                return;
            }
            let runs = orders.places(candidate.log_point).iter().map(|places| places.top);
            let runs = runs.filter(|top| orders.kind(*top) != TopLevelKind::Unreached);
            classes.extend(runs.map(|top| self.class[top.index()]));
            if classes.len() > CLASSES_MAX {
                return;
            }
        }
        if let (Some(first), 1) = (classes.first(), classes.len()) {
            self.alone[*first] += 1;
        }
        for a in &classes {
            for b in classes.range(a + 1..) {
                *self.shared.entry((*a, *b)).or_default() += 1;
            }
        }
    }

    /// Per top-level method, whether its class can be there; none if all can.
    pub(super) fn possible(&self, model: &Model, orders: &Orders<'_>) -> Option<Vec<bool>> {
        let mut absent = BTreeSet::new();
        for (&(a, b), &n_shared) in &self.shared {
            for (one, other) in [(a, b), (b, a)] {
                if is_absent(self.alone[one], self.alone[other], n_shared)
                    && self.has_own(model, orders, one)
                    && self.are_alternatives(model, one, other)
                {
                    absent.insert(one);
                }
            }
        }
        let possible = || self.class.iter().map(|class| !absent.contains(class)).collect();
        (!absent.is_empty()).then(possible)
    }

    /// Whether two classes handle the same events or calls.
    fn are_alternatives(&self, model: &Model, a: usize, b: usize) -> bool {
        use TopLevelKind::{Entity, EventHandler, RpcHandler};
        let tops = || model.top_level_methods.iter().zip(&self.class);
        let handles = |kind| matches!(kind, EventHandler | RpcHandler | Entity);
        tops().filter(|(top, class)| **class == a && handles(top.kind)).any(|(one, _)| {
            let is_same = |top: &schema::TopLevelMethod| {
                (top.kind, &top.method, &top.descriptor) == (one.kind, &one.method, &one.descriptor)
            };
            tops().any(|(top, class)| *class == b && is_same(top))
        })
    }

    /// Whether a class prints something that no other does, at a usual level.
    fn has_own(&self, model: &Model, orders: &Orders<'_>, class: usize) -> bool {
        let tops = (0..self.class.len()).filter(|&top| self.class[top] == class).map(TopLevelId::new);
        let points = tops.flat_map(|top| &model.top_level_methods[top.index()].dag.nodes);
        points.into_iter().flat_map(|node| &node.points).any(|point| {
            let places = orders.places(point.log_point);
            let is_own = places.iter().all(|places| self.class[places.top.index()] == class);
            is_own && !orders.floats(point.log_point) && orders.is_usual(point.log_point)
        })
    }
}

/// The class in whose file a class is declared.
fn outermost(class: &str) -> &str {
    let name = class.rfind('.').map_or(0, |dot| dot + 1);
    match class[name..].find('$') {
        Some(dollar) if dollar > 0 => &class[..name + dollar],
        _ => class,
    }
}
