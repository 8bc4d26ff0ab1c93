//! Filters in time: the request is gone through once, as it went itself, with what a
//! filter has left so far in hand (the baggage of Pivot Tracing §4-5). Where it forks,
//! both branches have it; where a branch is waited for, what both have is united.
//!
//! The first n of a side before a row are those before which fewer than n others of that
//! side happened, the most recent n those after which, and still before the row, fewer
//! than n did. In one thread that is what the names say. Of events in branches that nothing
//! orders all are left that can be among the first, or last, n in some order that fits; so
//! more than n can be left, and none is chosen by clocks.
//!
//! To count the others it is enough to count those that were left: of n that happened
//! before an event the first n are left themselves.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use schema::happened_before::{Hop, Label, Stretch, precedes};

use super::condition::Filter;
use super::rows::Rows;

/// A row of the filtered side, by its place in [`Rows`]: span, row in it.
type At = (usize, usize);

/// Pairs of rows: one of `source` that `filter` leaves, and the one of `targets` that it
/// is left for.
pub(super) fn pairs(filter: Filter, source: &Rows, targets: &Rows) -> Vec<(u32, u32)> {
    let mut walk = Walk { filter, source, targets, tree: Tree::new(source, targets), out: Vec::new() };
    for root in walk.tree.roots.clone() {
        walk.span(&root, Vec::new());
    }
    walk.out.sort_unstable();
    walk.out
}

/// A span of the requests at hand, with rows or without.
type Key = (i64, u32);

/// The spans that rows are of, and those on the way to them.
#[derive(Debug, Default)]
struct Tree {
    roots: Vec<Key>,
    spans: BTreeMap<Key, Node>,
}

#[derive(Debug, Default)]
struct Node {
    /// Spans that it handed over to, each with where.
    children: Vec<(Key, Hop)>,
    source: Option<usize>,
    target: Option<usize>,
}

impl Tree {
    fn new(source: &Rows, targets: &Rows) -> Self {
        let mut tree = Self::default();
        for (at, span) in source.spans.iter().enumerate() {
            tree.add(&span.label).source = Some(at);
        }
        for (at, span) in targets.spans.iter().enumerate() {
            tree.add(&span.label).target = Some(at);
        }
        tree
    }

    /// The span that `label` is of, made with all on the way to it.
    fn add(&mut self, label: &Label) -> &mut Node {
        let mut above: Option<Key> = None;
        for hop in &label.path {
            let key = (label.request, hop.span);
            let is_new = match self.spans.entry(key) {
                Entry::Occupied(_) => false,
                Entry::Vacant(place) => {
                    place.insert(Node::default());
                    true
                }
            };
            if is_new {
                match above.and_then(|above| self.spans.get_mut(&above)) {
                    Some(above) => above.children.push((key, *hop)),
                    None => self.roots.push(key),
                }
            }
            above = Some(key);
        }
        let key = above.unwrap_or((label.request, 0));
        self.spans.entry(key).or_default()
    }
}

/// What happens at a position of a span, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Fork(usize),
    Join(usize),
    /// A row of the other side begins.
    Target(usize),
    /// A row of the filtered side begins: it is judged.
    Begin(usize),
    /// It ends: what comes later has it.
    End(usize),
}

struct Walk<'r> {
    filter: Filter,
    source: &'r Rows,
    targets: &'r Rows,
    tree: Tree,
    out: Vec<(u32, u32)>,
}

impl Walk<'_> {
    /// Goes through a span that begins with `held`; returns what it ends with.
    fn span(&mut self, key: &Key, mut held: Vec<At>) -> Vec<At> {
        let node = self.tree.spans.remove(key).unwrap_or_default();
        let mut ends: BTreeMap<usize, Vec<At>> = BTreeMap::new();
        let mut judged: BTreeSet<usize> = BTreeSet::new();
        for (_, step) in self.steps(&node) {
            match step {
                Step::Fork(child) => {
                    let (key, hop) = node.children[child];
                    let handed = if hop.before.is_some() { held.clone() } else { Vec::new() };
                    let end = self.span(&key, handed);
                    ends.insert(child, end);
                }
                Step::Join(child) => held = self.unite(held, ends.remove(&child).unwrap_or_default()),
                Step::Target(row) => {
                    let target = node.target.map(|at| self.targets.spans[at].rows[row].1);
                    let rows = held.iter().map(|at| self.source.spans[at.0].rows[at.1].1);
                    self.out.extend(rows.zip(std::iter::repeat(target)).filter_map(|(s, t)| Some((s, t?))));
                }
                Step::Begin(row) => {
                    let is_kept = match self.filter {
                        Filter::First(n) => held.len() < n,
                        Filter::MostRecent(n) => n > 0,
                    };
                    judged.extend(is_kept.then_some(row));
                }
                Step::End(row) => {
                    if let (Some(span), true) = (node.source, judged.contains(&row)) {
                        held.push((span, row));
                        held = self.leave(held);
                    }
                }
            }
        }
        held
    }

    /// What happens in a span, in order of position.
    fn steps(&self, node: &Node) -> Vec<(u32, Step)> {
        let mut steps = Vec::new();
        for (child, (_, hop)) in node.children.iter().enumerate() {
            steps.push((hop.before.unwrap_or(0), Step::Fork(child)));
            steps.extend(hop.after.map(|after| (after, Step::Join(child))));
        }
        let rows = |rows: &Rows, at: Option<usize>| -> Vec<(usize, Stretch)> {
            let rows = at.map_or(&[][..], |at| &rows.spans[at].rows);
            rows.iter().map(|(stretch, _)| *stretch).enumerate().collect()
        };
        steps.extend(rows(self.targets, node.target).iter().map(|(i, s)| (s.first, Step::Target(*i))));
        for (row, stretch) in rows(self.source, node.source) {
            steps.push((stretch.first, Step::Begin(row)));
            steps.push((stretch.last, Step::End(row)));
        }
        steps.sort_unstable();
        steps
    }

    fn unite(&self, held: Vec<At>, other: Vec<At>) -> Vec<At> {
        let all: BTreeSet<At> = held.into_iter().chain(other).collect();
        self.leave(all.into_iter().collect())
    }

    /// Of the most recent ones those are left that few others came after.
    fn leave(&self, held: Vec<At>) -> Vec<At> {
        let Filter::MostRecent(n) = self.filter else { return held };
        let is_later = |a: At, b: At| {
            let (a_span, b_span) = (&self.source.spans[a.0], &self.source.spans[b.0]);
            precedes(&a_span.label, &b_span.label).holds(a_span.rows[a.1].0, b_span.rows[b.1].0)
        };
        let n_later = |at: At| held.iter().filter(|&&other| is_later(at, other)).count();
        held.iter().copied().filter(|&at| n_later(at) < n).collect()
    }
}

/// Each by its definition: the slow obvious version.
#[cfg(test)]
pub(super) fn naive(filter: Filter, source: &Rows, targets: &Rows) -> Vec<(u32, u32)> {
    type Row<'r> = (&'r Label, Stretch, u32);
    fn all(rows: &Rows) -> Vec<Row<'_>> {
        let of = |span: &'_ super::rows::SpanRows| span.rows.len();
        assert!(rows.spans.iter().all(|span| of(span) > 0), "a span has rows");
        rows.spans
            .iter()
            .flat_map(|s| s.rows.iter().map(|(stretch, row)| (&s.label, *stretch, *row)))
            .collect()
    }
    let before = |a: &Row<'_>, b: &Row<'_>| precedes(a.0, b.0).holds(a.1, b.1);
    let source = all(source);
    let mut out = Vec::new();
    for target in all(targets) {
        for row in source.iter().filter(|row| before(row, &target)) {
            let n_others = match filter {
                Filter::First(_) => source.iter().filter(|other| before(other, row)).count(),
                Filter::MostRecent(_) => {
                    source.iter().filter(|other| before(row, other) && before(other, &target)).count()
                }
            };
            let (Filter::First(n) | Filter::MostRecent(n)) = filter;
            if n_others < n {
                out.push((row.2, target.2));
            }
        }
    }
    out.sort_unstable();
    out
}
