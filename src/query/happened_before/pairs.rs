//! Pairs of rows of one request that a condition holds for, a few at a time, so that a
//! request with very many of them is never held whole.
//!
//! Of two spans, the beginning of the one precedes the end of the other: so the rows of the
//! right that follow one of the left are a range of those of their span, found once for
//! each two spans. *Must* costs the square of the spans and then what comes out, not the
//! square of the rows. What clocks say is asked of each two rows.

use std::ops::Range;

use schema::happened_before::{Precedes, Stretch, is_ancestor, is_child, order, precedes};

use super::condition::Relation;
use super::rows::{Rows, SpanRows};

/// The pairs of one request that are still to come.
#[derive(Debug)]
pub(super) struct Pairs {
    relation: Relation,
    left: Rows,
    right: Rows,
    /// The two spans at hand, and the row of the left one.
    at: (usize, usize, usize),
    /// What is left of the rows of the right span that can be with that row.
    range: Range<usize>,
}

impl Pairs {
    /// Of all rows of `left` and `right` that `relation` holds for.
    pub(super) fn new(relation: Relation, left: Rows, right: Rows) -> Self {
        let mut pairs = Self { relation, left, right, at: (0, 0, 0), range: 0..0 };
        pairs.range = pairs.range_here();
        pairs
    }

    /// Adds pairs to `out`, up to `n_max` in all; false: there are no more.
    pub(super) fn fill(&mut self, n_max: usize, out: &mut Vec<(u32, u32)>) -> bool {
        loop {
            if let (Some(left), Some(right)) =
                (self.left.spans.get(self.at.0), self.right.spans.get(self.at.1))
            {
                let row = left.rows.get(self.at.2).copied();
                while let (Some(row), false) = (row, self.range.is_empty()) {
                    if out.len() >= n_max {
                        return true;
                    }
                    let other = right.rows[self.range.start];
                    self.range.start += 1;
                    if holds(self.relation, (left, row.0), (right, other.0)) {
                        out.push((row.1, other.1));
                    }
                }
            }
            if !self.next_row() {
                return false;
            }
        }
    }

    /// Goes on to the next row of the left; false: there is none.
    fn next_row(&mut self) -> bool {
        let (left, right, row) = self.at;
        let n_rows = self.left.spans.get(left).map_or(0, |span| span.rows.len());
        self.at = if row + 1 < n_rows {
            (left, right, row + 1)
        } else if right + 1 < self.right.spans.len() {
            (left, right + 1, 0)
        } else {
            (left + 1, 0, 0)
        };
        self.range = self.range_here();
        self.at.0 < self.left.spans.len() && !self.right.spans.is_empty()
    }

    /// The rows of the right span among which those are that can be with the row at hand.
    fn range_here(&mut self) -> Range<usize> {
        let (Some(left), Some(right)) = (self.left.spans.get(self.at.0), self.right.spans.get(self.at.1))
        else {
            return 0..0;
        };
        let all = 0..right.rows.len();
        let Some((stretch, _)) = left.rows.get(self.at.2) else { return 0..0 };
        match self.relation {
            Relation::HappenedBefore => following(precedes(&left.label, &right.label), *stretch, right),
            Relation::Ancestor if !is_ancestor(&left.label, &right.label) => self.skip_span(),
            Relation::Child if !is_child(&left.label, &right.label) => self.skip_span(),
            _ => all,
        }
    }

    /// No row of the left span at hand has anything to do with the right one.
    fn skip_span(&mut self) -> Range<usize> {
        self.at.2 = self.left.spans[self.at.0].rows.len();
        0..0
    }
}

/// The rows of a span that follow a stretch of another one.
fn following(precedes: Precedes, stretch: Stretch, right: &SpanRows) -> Range<usize> {
    let from = match precedes {
        Precedes::Block { until, from } if stretch.last < until => from,
        Precedes::InSpan => stretch.last.saturating_add(1),
        Precedes::Block { .. } | Precedes::Nothing => return 0..0,
    };
    right.rows.partition_point(|(other, _)| other.first < from)..right.rows.len()
}

/// Whether a relation holds for two rows that are in the range of each other.
fn holds(relation: Relation, a: (&SpanRows, Stretch), b: (&SpanRows, Stretch)) -> bool {
    match relation {
        // The range says it all.
        Relation::HappenedBefore | Relation::Ancestor | Relation::Child => true,
        Relation::MayHappenBefore | Relation::Concurrent => {
            relation.holds_in_order(order((&a.0.label, a.1), (&b.0.label, b.1)))
        }
    }
}

/// All pairs, each decided by itself: the slow obvious version.
#[cfg(test)]
pub(super) fn naive(relation: Relation, left: &Rows, right: &Rows) -> Vec<(u32, u32)> {
    let mut out = Vec::new();
    for a in &left.spans {
        for b in &right.spans {
            for (stretch, row) in &a.rows {
                for (other, other_row) in &b.rows {
                    if relation.holds((&a.label, *stretch), (&b.label, *other)) {
                        out.push((*row, *other_row));
                    }
                }
            }
        }
    }
    out
}
