//! What the model says of top-level methods and of the lines that they print, as far as
//! stitching asks for it: which values tell their requests apart, what they can begin with and
//! print next, of what kind they are.

use std::collections::BTreeSet;

use schema::kinds::are_part_and_whole;
use schema::{
    DagNode, IdentifierId, IdentifierStrength, Level, LogPointId, Model, TopLevelId, TopLevelKind,
    ValueClassId,
};

use super::Pairs;
use crate::skeleton::Event;
use crate::stitch::facts::Fact;

/// What is asked for of a top-level method again and again.
#[derive(Debug, Default)]
pub(super) struct Top {
    /// Strongest strength per value class, sorted.
    pub(super) classes: Vec<(ValueClassId, IdentifierStrength)>,
    /// Log points with which it can start, sorted.
    entries: Vec<LogPointId>,
    /// Those that it prints, sorted.
    points: Vec<LogPointId>,
}

impl Pairs<'_> {
    /// How far values of `class` tell requests of `top` apart.
    pub(in crate::stitch) fn strength(
        &self,
        top: TopLevelId,
        class: ValueClassId,
    ) -> Option<IdentifierStrength> {
        let classes = &self.tops[top.index()].classes;
        let at = classes.binary_search_by_key(&class, |&(class, _)| class).ok()?;
        Some(classes[at].1)
    }

    /// Whether two spans name different requests: what tells requests of the methods of both
    /// apart, and keeps its value all through one (lprof §4.2), has one value in each of them,
    /// and another one.
    pub(in crate::stitch) fn are_of_different_requests(&self, a: &Fact<'_>, b: &Fact<'_>) -> bool {
        let (Some(&of_a), Some(&of_b)) = (a.tops.first(), b.tops.first()) else { return false };
        self.tops[of_a.index()].classes.iter().any(|&(class, strength)| {
            let tells = |strength| strength == IdentifierStrength::Request;
            tells(strength)
                && self.strength(of_b, class).is_some_and(tells)
                && matches!((a.values_of(class), b.values_of(class)), ([x], [y])
                    if !x.is(y) && !are_part_and_whole(x.text, y.text))
        })
    }

    /// Whether `top` knows values of a class that `is_of` accepts, other than what
    /// names its node.
    pub(in crate::stitch) fn knows_one(&self, top: TopLevelId, is_of: impl Fn(ValueClassId) -> bool) -> bool {
        let classes = &self.tops[top.index()].classes;
        classes.iter().any(|&(class, strength)| strength != IdentifierStrength::Node && is_of(class))
    }

    pub(super) fn strength_of(&self, top: TopLevelId, id: IdentifierId) -> Option<IdentifierStrength> {
        let identifier = self.model.top_level_methods[top.index()].identifiers.get(id.index())?;
        Some(self.strength(top, identifier.value_class).unwrap_or(identifier.strength))
    }

    /// How many top-level methods the model has.
    pub(in crate::stitch) fn n_tops(&self) -> usize {
        self.tops.len()
    }

    /// Whether `top` is a top-level method of the model.
    pub(in crate::stitch) fn knows(&self, top: TopLevelId) -> bool {
        top.index() < self.tops.len()
    }

    /// Whether `top` can start with `point`.
    pub(in crate::stitch) fn starts_with(&self, top: TopLevelId, point: LogPointId) -> bool {
        self.tops[top.index()].entries.binary_search(&point).is_ok()
    }

    /// Whether `top` prints `point`.
    pub(in crate::stitch) fn prints(&self, top: TopLevelId, point: LogPointId) -> bool {
        self.tops[top.index()].points.binary_search(&point).is_ok()
    }

    /// Whether nobody but `top` prints `point`.
    pub(in crate::stitch) fn alone_prints(&self, top: TopLevelId, point: LogPointId) -> bool {
        let mut others = (0..self.tops.len()).map(TopLevelId::new).filter(|&other| other != top);
        !others.any(|other| self.prints(other, point))
    }

    /// Whether `top` can print `after` when it has printed `before`.
    pub(in crate::stitch) fn prints_after(
        &self,
        top: TopLevelId,
        before: LogPointId,
        after: LogPointId,
    ) -> bool {
        if !self.prints(top, before) || !self.prints(top, after) {
            return false;
        }
        let key = (top, before, after);
        let known = self.after.read().ok().and_then(|known| known.get(&key).copied());
        known.unwrap_or_else(|| {
            let comes_after = self.comes_after(top, before, after);
            if let Ok(mut known) = self.after.write() {
                known.insert(key, comes_after);
            }
            comes_after
        })
    }

    /// The same, found in the order of the method.
    fn comes_after(&self, top: TopLevelId, before: LogPointId, after: LogPointId) -> bool {
        let nodes = &self.model.top_level_methods[top.index()].dag.nodes;
        let has = |node: &DagNode, wanted| node.points.iter().any(|point| point.log_point == wanted);
        let (begins, mut seen) = (nodes.iter().filter(|node| has(node, before)), vec![false; nodes.len()]);
        let mut todo: Vec<u32> = Vec::new();
        for node in begins {
            // Log points of one node have no order among themselves, and none follows itself but
            // where it is printed again and again.
            if has(node, after) && (before != after || (node.repeats && !node.once.contains(&after))) {
                return true;
            }
            todo.extend(&node.next);
        }
        while let Some(at) = todo.pop() {
            let Some(node) = nodes.get(at as usize).filter(|_| !seen[at as usize]) else { continue };
            seen[at as usize] = true;
            if has(node, after) {
                return true;
            }
            todo.extend(&node.next);
        }
        false
    }

    /// By which value class each entity is told from its like.
    pub(in crate::stitch) fn identities(&self) -> BTreeSet<(TopLevelId, ValueClassId)> {
        self.model.identities()
    }

    /// Whether spans of `top` are events of an entity that lives on.
    pub(in crate::stitch) fn is_entity(&self, top: TopLevelId) -> bool {
        self.model.top_level_methods[top.index()].kind == TopLevelKind::Entity
    }

    /// Whether all that `top` knows of a value class are elements of what its own
    /// object keeps: it looks through them, whoever works on them.
    pub(in crate::stitch) fn looks_through(&self, top: TopLevelId, class: ValueClassId) -> bool {
        let identifiers = &self.model.top_level_methods[top.index()].identifiers;
        let mut of_class = identifiers.iter().filter(|id| id.value_class == class).peekable();
        of_class.peek().is_some()
            && of_class.all(|id| id.path.starts_with("this.") && id.path.contains("[*]"))
    }

    /// What the line of `event` prints as `variable`.
    pub(in crate::stitch) fn class_of(&self, event: &Event, variable: u32) -> Option<ValueClassId> {
        let point = self.model.log_points.get(event.log_point?.index())?;
        point.variables.get(variable as usize)?.value_class
    }

    /// All that the line of `event` can print as a value, objects of several parts
    /// among them.
    pub(in crate::stitch) fn classes_of(&self, event: &Event) -> impl Iterator<Item = ValueClassId> {
        let point = event.log_point.and_then(|point| self.model.log_points.get(point.index()));
        point.into_iter().flat_map(|point| &point.variables).filter_map(|variable| variable.value_class)
    }

    /// Whether a value that a line prints can be compared with others: what is of no class is not,
    /// as far as the model knows it.
    pub(in crate::stitch) fn is_of_class(&self, event: &Event, variable: u32) -> bool {
        let point = event.log_point.and_then(|point| self.model.log_points.get(point.index()));
        let variable = point.and_then(|point| point.variables.get(variable as usize));
        variable.is_none_or(|variable| variable.value_class.is_some())
    }

    /// What makes `top` a top-level method.
    pub(in crate::stitch) fn kind(&self, top: TopLevelId) -> TopLevelKind {
        self.model.top_level_methods[top.index()].kind
    }

    /// Whether spans of `top` are events that somebody else sent.
    pub(in crate::stitch) fn is_event_handler(&self, top: TopLevelId) -> bool {
        self.model.top_level_methods[top.index()].kind == TopLevelKind::EventHandler
    }

    /// Whether `top` is a program's `main`, which a process runs once.
    pub(in crate::stitch) fn is_main(&self, top: TopLevelId) -> bool {
        self.model.top_level_methods[top.index()].is_main()
    }

    /// Whether `top` hands out requests without being part of one.
    pub(in crate::stitch) fn is_dispatcher(&self, top: TopLevelId) -> bool {
        self.model.top_level_methods[top.index()].kind == TopLevelKind::Dispatcher
    }

    /// Whether a span begins with what the dispatcher `top` prints outside of its rounds only.
    pub(in crate::stitch) fn is_before_rounds(&self, top: TopLevelId, span: &Fact<'_>) -> bool {
        span.first_point.is_some_and(|first| self.is_outside_rounds(top, first))
    }

    /// Whether the dispatcher `top` prints a log point outside of its rounds only.
    pub(in crate::stitch) fn is_outside_rounds(&self, top: TopLevelId, point: LogPointId) -> bool {
        let outside = &self.model.top_level_methods[top.index()].outside_rounds;
        outside.binary_search(&point).is_ok()
    }
}

/// What is known of the top-level method at `index`.
pub(super) fn top(model: &Model, index: usize) -> Top {
    let top = &model.top_level_methods[index];
    let identifiers = top.identifiers.iter().filter(|id| !id.one_of_many);
    let mut classes: Vec<(ValueClassId, IdentifierStrength)> =
        identifiers.map(|id| (id.value_class, id.strength)).collect();
    classes.sort_unstable();
    classes.dedup_by_key(|&mut (class, _)| class);
    // Levels below the usual one may be off.
    let is_quiet = |point: LogPointId| {
        let point = model.log_points.get(point.index());
        point.is_none_or(|point| point.levels.iter().all(|&level| level < Level::Info))
    };
    let printed = top.dag.nodes.iter().flat_map(|node| &node.points);
    let mut points: Vec<LogPointId> = printed.map(|printed| printed.log_point).collect();
    points.sort_unstable();
    points.dedup();
    Top { classes, entries: entries(model, TopLevelId::new(index), is_quiet), points }
}

/// The log points that an execution of a top-level method can begin with, sorted, if those that are
/// quiet may print or not.
pub(in crate::stitch) fn entries(
    model: &Model,
    top: TopLevelId,
    is_quiet: impl Fn(LogPointId) -> bool,
) -> Vec<LogPointId> {
    let dag = &model.top_level_methods[top.index()].dag;
    let mut seen = vec![false; dag.nodes.len()];
    let mut todo = dag.entries.clone();
    let mut entries: Vec<LogPointId> = Vec::new();
    while let Some(at) = todo.pop() {
        let Some(node) = dag.nodes.get(at as usize) else { continue };
        if !std::mem::replace(&mut seen[at as usize], true) {
            entries.extend(node.points.iter().map(|point| point.log_point));
            if node.points.iter().all(|point| is_quiet(point.log_point)) {
                todo.extend(&node.next);
            }
        }
    }
    entries.sort_unstable();
    entries.dedup();
    if let Some(firsts) = model.successors.firsts(top) {
        entries.retain(|entry| firsts.binary_search(entry).is_ok());
    }
    entries
}
