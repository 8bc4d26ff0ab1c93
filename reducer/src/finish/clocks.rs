//! Hand-offs that clocks contradict: nothing is received before it was sent, so each one
//! bounds by how much the clock of one node is ahead of that of another. Where no distance
//! fits all of them, the one that fits most is taken, of several the one nearest to none; the
//! others are none, or were when a clock was wrong. They order nothing, and their requests
//! say so.
//!
//! A few hand-offs that took less than nothing do not make a clock wrong: where clocks are
//! apart by more than a hand-off takes, most of those one way seem to take less than nothing,
//! not the odd one. The odd one is rather none: of several that could have sent a message,
//! another one did, whose own line comes before. So does one alone: it cannot bear witness for
//! itself.

use std::borrow::Cow;
use std::collections::BTreeMap;

use rayon::prelude::*;
use schema::happened_before::{SkewBounds, Taken};
use schema::{Accumulator, Model, Name};
use serde::{Deserialize, Serialize};

use super::rows::Reached;

/// How long hand-offs between two nodes took, µs: from the first to the second, and back.
type Between = (Vec<i64>, Vec<i64>);

/// What the hand-offs of a period show of the clocks of its nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Clocks {
    /// How far the second node's clock is ahead of the first one's, µs; of nodes that are not
    /// here not at all.
    ahead_us: BTreeMap<(Name, Name), i64>,
    bounds: SkewBounds<Name>,
}

impl Clocks {
    /// What `requests` show, of which nothing but times, places and log points is asked for.
    pub(crate) fn of<'r>(
        model: &Model,
        n_requests: usize,
        request: impl Fn(usize) -> Cow<'r, Accumulator> + Sync,
        node_of: impl Fn(usize, usize) -> Name,
    ) -> Self {
        // How requests were reached is worked out again for their rows: held, it would take as
        // much memory as they do.
        let taken = |at: usize, wrong: &[usize]| -> Box<[Taken]> {
            let request = request(at);
            Reached::new(model, &request, wrong).hand_offs.taken(&request).into()
        };
        let mut all: Vec<Box<[Taken]>> = (0..n_requests).into_par_iter().map(|at| taken(at, &[])).collect();
        let mut clocks = Self { ahead_us: ahead_us(&all, &node_of), bounds: SkewBounds::default() };
        for (at, of_request) in all.iter_mut().enumerate() {
            let wrong = clocks.contradicted(of_request, |span| node_of(at, span));
            if !wrong.is_empty() {
                *of_request = taken(at, &wrong);
            }
            clocks.bounds.add_request(of_request, |span| node_of(at, span));
        }
        clocks
    }

    /// How far clocks can be apart.
    pub(super) fn bounds(&self) -> &SkewBounds<Name> {
        &self.bounds
    }

    /// How the spans of a request were reached, without hand-offs that its clocks contradict.
    pub(super) fn reached(&self, model: &Model, request: &Accumulator) -> Reached {
        let reached = Reached::new(model, request, &[]);
        let taken = reached.hand_offs.taken(request);
        let wrong = self.contradicted(&taken, |span| request.spans[span].node);
        if wrong.is_empty() { reached } else { Reached::new(model, request, &wrong) }
    }

    /// The spans of a request that were handed over to sooner than its clocks allow, by how long
    /// its hand-offs have `taken`.
    fn contradicted(&self, taken: &[Taken], node_of: impl Fn(usize) -> Name) -> Vec<usize> {
        let is_wrong = |taken: &&Taken| {
            let (from, to) = (node_of(taken.from), node_of(taken.to));
            let ahead_us = |a, b| self.ahead_us.get(&(a, b)).copied().unwrap_or_default();
            match from.as_str().cmp(to.as_str()) {
                std::cmp::Ordering::Less => taken.us < ahead_us(from, to),
                std::cmp::Ordering::Greater => taken.us.saturating_neg() > ahead_us(to, from),
                std::cmp::Ordering::Equal => false,
            }
        };
        taken.iter().filter(is_wrong).map(|taken| taken.span).collect()
    }
}

/// How far the clock of the second of each two nodes is ahead of that of the first one, if it is;
/// `taken` are the hand-offs of all requests, whose spans are of the node `node_of(request, span)`.
fn ahead_us(taken: &[Box<[Taken]>], node_of: impl Fn(usize, usize) -> Name) -> BTreeMap<(Name, Name), i64> {
    let mut nodes: BTreeMap<(Name, Name), Between> = BTreeMap::new();
    for (request, taken) in taken.iter().enumerate() {
        for &Taken { from, to, us, .. } in taken {
            let (from, to) = (node_of(request, from), node_of(request, to));
            match from.as_str().cmp(to.as_str()) {
                std::cmp::Ordering::Less => nodes.entry((from, to)).or_default().0.push(us),
                std::cmp::Ordering::Greater => nodes.entry((to, from)).or_default().1.push(us),
                std::cmp::Ordering::Equal => {}
            }
        }
    }
    let ahead = nodes.into_iter().map(|(nodes, (there, back))| (nodes, distance_us(&there, &back)));
    ahead.filter(|(_, us)| *us != 0).collect()
}

/// How far the second node's clock is ahead of the first one's such that the fewest hand-offs
/// contradict it, µs: at most as long as each one there took, at least as long as none back
/// took less than nothing.
fn distance_us(there_us: &[i64], back_us: &[i64]) -> i64 {
    let mut upper = there_us.to_vec();
    let mut lower: Vec<i64> = back_us.iter().map(|us| us.saturating_neg()).collect();
    upper.sort_unstable();
    lower.sort_unstable();
    let n_wrong = |us: i64| {
        let below = upper.partition_point(|bound| *bound < us);
        let above = lower.len() - lower.partition_point(|bound| *bound <= us);
        below + above
    };
    let n_before = upper.partition_point(|us| *us < 0);
    let n_after = lower.len() - lower.partition_point(|us| *us <= 0);
    let are_few = |n: usize, of: usize| n <= 1 || 2 * n < of;
    if are_few(n_before, upper.len()) && are_few(n_after, lower.len()) {
        return 0;
    }
    let all = std::iter::once(0).chain(upper.iter().copied()).chain(lower.iter().copied());
    all.min_by_key(|&us| (n_wrong(us), us.unsigned_abs(), us)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use schema::Name;
    use schema::happened_before::{SkewBounds, Taken};

    use super::{Clocks, ahead_us};

    /// Spans of hand-offs of one request there (`+`) and back (`-`), in µs, that are wrong. The
    /// first two spans are of two nodes.
    #[track_caller]
    fn check(there: &[i64], back: &[i64], expected: &[usize]) {
        let node_of = |span: usize| Name::from(if span == 0 { "a" } else { "b" });
        let taken = |(from, to): (usize, usize), us: &[i64], first: usize| -> Vec<Taken> {
            (first..).zip(us).map(|(span, &us)| Taken { span, from, to, us }).collect()
        };
        let mut all = taken((0, 1), there, 0);
        all.extend(taken((1, 0), back, there.len()));
        let ahead_us: BTreeMap<_, _> = ahead_us(&[all.clone().into()], |_, span| node_of(span));
        let clocks = Clocks { ahead_us, bounds: SkewBounds::default() };
        assert_eq!(clocks.contradicted(&all, node_of), expected);
    }

    #[test]
    fn clocks_that_fit_contradict_nothing() {
        check(&[5, 1, 9], &[3, 2], &[]);
        // The second clock is a second ahead.
        check(&[1_000_005, 1_000_001], &[-999_998, -999_000], &[]);
        // Nothing came back: it may be behind.
        check(&[-7, -6, 3], &[], &[]);
    }

    #[test]
    fn few_that_took_less_than_nothing_are_wrong_not_the_clock() {
        check(&[-8, 40, 30], &[], &[0]);
        check(&[5, 7], &[30, -2, 40, 9], &[3]);
        // Nobody else says what the only one does.
        check(&[-7], &[], &[0]);
        check(&[-7, 3], &[], &[0]);
        // Half of them are many.
        check(&[-8, 40, -7, 9], &[], &[]);
    }

    #[test]
    fn one_that_fits_no_other_is_wrong() {
        check(&[5, -4, 9], &[3, 2], &[1]);
        check(&[1_000_005, 1_000_001], &[-999_998, -999_000, -1_000_003], &[4]);
        // As many say the one as the other: clocks are right.
        check(&[-4], &[2], &[0]);
    }
}
