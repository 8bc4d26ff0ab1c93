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

use std::collections::BTreeMap;

use schema::Name;
use schema::happened_before::Taken;

/// A hand-off: its request, the span that was handed over to, and how long it took, µs.
type HandOff = (usize, usize, i64);

/// Hand-offs between two nodes: from the first to the second, and back.
type Between = (Vec<HandOff>, Vec<HandOff>);

/// The hand-offs that contradict most others between their nodes, by request, each by the span
/// that was handed over to; `taken` are those of all requests, whose spans are of the node
/// `node_of(request, span)`.
pub(super) fn contradicting(
    taken: &[Box<[Taken]>],
    node_of: impl Fn(usize, usize) -> Name,
) -> BTreeMap<usize, Vec<usize>> {
    let mut nodes: BTreeMap<(&'static str, &'static str), Between> = BTreeMap::new();
    for (request, taken) in taken.iter().enumerate() {
        for &Taken { span, from, to, us } in taken {
            let (from, to) = (node_of(request, from).as_str(), node_of(request, to).as_str());
            let hand_off = (request, span, us);
            match from.cmp(to) {
                std::cmp::Ordering::Less => nodes.entry((from, to)).or_default().0.push(hand_off),
                std::cmp::Ordering::Greater => nodes.entry((to, from)).or_default().1.push(hand_off),
                std::cmp::Ordering::Equal => {}
            }
        }
    }
    let mut wrong: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (there, back) in nodes.values() {
        for (request, span) in contradicted(there, back) {
            wrong.entry(request).or_default().push(span);
        }
    }
    wrong
}

/// The hand-offs between two nodes that the distance of their clocks contradicts.
fn contradicted(there: &[HandOff], back: &[HandOff]) -> Vec<(usize, usize)> {
    let distance_us = distance_us(there, back);
    let is_wrong_there = |hand_off: &&HandOff| hand_off.2 < distance_us;
    let is_wrong_back = |hand_off: &&HandOff| hand_off.2.saturating_neg() > distance_us;
    let wrong = there.iter().filter(is_wrong_there).chain(back.iter().filter(is_wrong_back));
    wrong.map(|(request, span, _)| (*request, *span)).collect()
}

/// How far the second node's clock is ahead of the first one's such that the fewest hand-offs
/// contradict it, µs: at most as long as each one there took, at least as long as none back
/// took less than nothing.
fn distance_us(there: &[HandOff], back: &[HandOff]) -> i64 {
    let mut upper: Vec<i64> = there.iter().map(|hand_off| hand_off.2).collect();
    let mut lower: Vec<i64> = back.iter().map(|hand_off| hand_off.2.saturating_neg()).collect();
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
    use super::contradicted;

    /// Spans of hand-offs of one request there (`+`) and back (`-`), in µs, that are wrong.
    #[track_caller]
    fn check(there: &[i64], back: &[i64], expected: &[usize]) {
        let of = |us: &[i64], first: usize| -> Vec<_> {
            us.iter().enumerate().map(|(i, us)| (0, first + i, *us)).collect()
        };
        let wrong = contradicted(&of(there, 0), &of(back, there.len()));
        assert_eq!(wrong.into_iter().map(|(_, span)| span).collect::<Vec<_>>(), expected);
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
