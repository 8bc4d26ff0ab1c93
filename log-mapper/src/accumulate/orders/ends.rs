//! How what a log point is printed by begins, and how it ends.

use schema::{LogPointId, TopLevelId, TopLevelKind};

use super::{Bits, Orders, Places};

impl Orders<'_> {
    /// Whether a dispatcher can start with `point`, before its rounds.
    pub(in crate::accumulate) fn starts_before_rounds(&self, point: LogPointId) -> bool {
        let is_dispatcher = |places: &Places| {
            let top = places.top;
            self.kind(top) == TopLevelKind::Dispatcher && self.is_outside_rounds(top, point)
        };
        !self.floats(point)
            && self.places(point).iter().any(|places| is_dispatcher(places) && self.has_entry(places))
    }

    /// Whether a method other than a dispatcher can start with `point`.
    pub(in crate::accumulate) fn starts(&self, point: LogPointId) -> bool {
        let works = |places: &Places| {
            !matches!(self.kind(places.top), TopLevelKind::Dispatcher | TopLevelKind::Unreached)
        };
        let starts = || self.places(point).iter().any(|places| works(places) && self.has_entry(places));
        !self.floats(point) && *self.starts[point.index()].get_or_init(starts)
    }

    /// Whether a method can start at one of these places of it.
    fn has_entry(&self, places: &Places) -> bool {
        places.at.iter().any(|&(node, _)| self.is_entry(places.top, node))
    }

    /// Whether anything can print after node `from` did.
    pub(in crate::accumulate) fn goes_on(&self, top: TopLevelId, from: u32) -> bool {
        self.row(top, from).later.any()
    }

    /// Whether an execution can end after `node`, as far as it prints. What is below
    /// the usual level comes with exceptions of its own (caches, references), so that
    /// none of it has to come.
    pub(in crate::accumulate) fn is_exit(&self, top: TopLevelId, node: u32) -> bool {
        *self.tops[top.index()].exits[node as usize].get_or_init(|| self.can_end(top, node))
    }

    fn can_end(&self, top: TopLevelId, node: u32) -> bool {
        let dag = self.dag(top);
        if dag.exits.contains(&node) {
            return true;
        }
        let mut seen = Bits::new(dag.nodes.len());
        let mut todo = dag.nodes[node as usize].next.clone();
        while let Some(node) = todo.pop() {
            if !seen.get(node) && (self.is_silent(dag, node) || self.is_unusual(dag, node)) {
                if dag.exits.contains(&node) {
                    return true;
                }
                todo.extend(&dag.nodes[node as usize].next);
            }
            seen.set(node);
        }
        false
    }

    /// Whether `node` can be the first one that prints.
    pub(in crate::accumulate) fn is_entry(&self, top: TopLevelId, node: u32) -> bool {
        let dag = self.dag(top);
        self.tops[top.index()].entries.get_or_init(|| self.audible(dag, &dag.entries)).get(node)
    }

    /// Whether an execution of `top` can begin with `point`.
    pub(in crate::accumulate) fn can_begin(&self, top: TopLevelId, point: LogPointId) -> bool {
        self.places_in(top, point).is_some_and(|places| self.has_entry(places))
    }
}
