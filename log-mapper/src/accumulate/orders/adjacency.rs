//! Adjacency: which log points of one node of an order can follow which, in one run.
//!
//! A node holds what a loop prints, or a method that is too large for an order. Its log points have
//! no order that a DAG could show, yet not each of them can stand after each other one: a run goes
//! through one case of a switch, and prints its last line once.

use std::cell::OnceCell;

use fixedbitset::FixedBitSet;
use schema::TopLevelId;

use super::{Follows, Orders, Position};

/// What can follow each log point of a node, by their positions in it.
#[derive(Clone, Debug)]
pub(super) struct Adjacency {
    /// Directly.
    next: Vec<FixedBitSet>,
    /// With nothing between that the log would have shown, once asked for.
    visible: Vec<OnceCell<FixedBitSet>>,
    /// At some time, once asked for.
    later: Vec<OnceCell<FixedBitSet>>,
}

impl Adjacency {
    /// The log has shown more than before.
    pub(super) fn show(&mut self) {
        self.visible.fill(OnceCell::new());
    }
}

impl Orders<'_> {
    /// Whether and how the log point at position `to` of the node of `from` can follow that, if
    /// anything of the node can follow another one.
    pub(super) fn follows_within(&self, top: TopLevelId, from: Position, to: u32) -> Option<Follows> {
        let (node, from, to) = (from.0 as usize, from.1 as usize, to as usize);
        let points = &self.dag(top).nodes[node].points;
        if points.len() == 1 {
            return Some(Follows::Next);
        }
        let make = || Box::new(self.make_adjacency(top, node));
        let Adjacency { next, visible, later } = &**self.tops[top.index()].adjacency[node].get_or_init(make);
        if next[from].contains(to) {
            return Some(Follows::Next);
        }
        let is_off = |point: usize| self.is_off(points[point].log_point);
        let is_next = visible[from].get_or_init(|| reach(next, from, is_off)).contains(to);
        let is_later = is_next || later[from].get_or_init(|| reach(next, from, |_| true)).contains(to);
        match (is_next, is_later) {
            (true, _) => Some(Follows::Next),
            (false, true) => Some(Follows::Later),
            (false, false) => None,
        }
    }

    /// Of what nothing is known can be before and after anything.
    fn make_adjacency(&self, top: TopLevelId, node: usize) -> Adjacency {
        let points = &self.dag(top).nodes[node].points;
        let found = points.iter().map(|point| self.model.successors.in_run(top, point.log_point));
        let found: Vec<_> = found.collect();
        let mut unknown = FixedBitSet::with_capacity(points.len());
        unknown.extend((0..points.len()).filter(|&point| found[point].is_none()));
        let next = found.into_iter().map(|next| {
            let mut all = unknown.clone();
            match next {
                Some(next) => {
                    let at = |log_point| points.binary_search_by_key(log_point, |point| point.log_point).ok();
                    all.extend(next.iter().filter_map(at));
                }
                None => all.insert_range(..),
            }
            all
        });
        let none = vec![OnceCell::new(); points.len()];
        Adjacency { next: next.collect(), visible: none.clone(), later: none }
    }
}

/// What can follow `from`, past those of it that are `passed`.
fn reach(next: &[FixedBitSet], from: usize, is_passed: impl Fn(usize) -> bool) -> FixedBitSet {
    let mut reached = next[from].clone();
    let mut passed = FixedBitSet::with_capacity(next.len());
    let mut todo: Vec<usize> = reached.ones().collect();
    while let Some(point) = todo.pop() {
        if !passed.put(point) && is_passed(point) {
            todo.extend(next[point].difference(&passed));
            reached.union_with(&next[point]);
        }
    }
    reached
}
