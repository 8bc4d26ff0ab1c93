//! How what a log point is printed by begins, and how it ends.

use schema::{LogPointId, TopLevelId, TopLevelKind};

use super::{Bits, Orders};

impl Orders<'_> {
    /// Whether a dispatcher can start with `point`, before its rounds.
    pub(in crate::accumulate) fn starts_before_rounds(&mut self, point: LogPointId) -> bool {
        let mut starts = false;
        for index in 0..self.places[point.index()].len() {
            let top = self.places[point.index()][index].top;
            if self.kind(top) == TopLevelKind::Dispatcher && self.is_outside_rounds(top, point) {
                for at in 0..self.places[point.index()][index].at.len() {
                    let (node, _) = self.places[point.index()][index].at[at];
                    starts |= self.is_entry(top, node);
                }
            }
        }
        starts && !self.floats(point)
    }

    /// Whether a method other than a dispatcher can start with `point`.
    pub(in crate::accumulate) fn starts(&mut self, point: LogPointId) -> bool {
        if self.floats(point) {
            return false;
        }
        if let Some(starts) = self.starts[point.index()] {
            return starts;
        }
        let mut starts = false;
        for index in 0..self.places[point.index()].len() {
            let top = self.places[point.index()][index].top;
            let works = !matches!(self.kind(top), TopLevelKind::Dispatcher | TopLevelKind::Unreached);
            for at in 0..self.places[point.index()][index].at.len() {
                let (node, _) = self.places[point.index()][index].at[at];
                starts |= works && self.is_entry(top, node);
            }
        }
        self.starts[point.index()] = Some(starts);
        starts
    }

    /// Whether anything can print after node `from` did.
    pub(in crate::accumulate) fn goes_on(&mut self, top: TopLevelId, from: u32) -> bool {
        self.row(top, from).later.any()
    }

    /// Whether an execution can end after `node`, as far as it prints. What is below
    /// the usual level comes with exceptions of its own (caches, references), so that
    /// none of it has to come.
    pub(in crate::accumulate) fn is_exit(&self, top: TopLevelId, node: u32) -> bool {
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
    pub(in crate::accumulate) fn is_entry(&mut self, top: TopLevelId, node: u32) -> bool {
        let dag = self.dag(top);
        if self.tops[top.index()].entries.is_none() {
            let entries = self.audible(dag, &dag.entries);
            self.tops[top.index()].entries = Some(entries);
        }
        self.tops[top.index()].entries.as_ref().expect("made above").get(node)
    }

    /// Whether an execution of `top` can begin with `point`.
    pub(in crate::accumulate) fn can_begin(&mut self, top: TopLevelId, point: LogPointId) -> bool {
        let places = &self.places[point.index()];
        let Ok(index) = places.binary_search_by_key(&top, |places| places.top) else { return false };
        let nodes: Vec<u32> = places[index].at.iter().map(|&(node, _)| node).collect();
        nodes.into_iter().any(|node| self.is_entry(top, node))
    }
}
