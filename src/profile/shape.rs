//! The shape of a trace: what makes two traces alike in the third and in the fourth layer
//! (tprof §3.3, §3.4).
//!
//! Layer 3 is the tree without the order of children; layer 4 adds the order in which the
//! children of each span start and end, each child by its own shape, so that B B C C, B C B C
//! and the others are told apart. Both are digests of names and structure, not of numbers
//! that depend on what was read before, so any machine finds the same ones.
//!
//! Children of one shape are interchangeable: the one that starts first comes first. At one
//! time everything is taken in the order that needs the fewest overlaps: what has started
//! before ends, what lasts no time starts and ends, then others start. So clocks that are
//! coarser than the order do not make a shape of their own for each order.

use xxhash_rust::xxh3::xxh3_128;

use crate::request::trace::{Span, Trace, Wait};

/// What happens in the time of a span, seen from it; a child is told by its rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// A child starts.
    Start(u32),
    /// A child for which the span waits ends.
    End(u32),
    /// The span ends.
    Over,
}

/// The shape of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Equal: the same tree of spans.
    pub(crate) tree: u128,
    /// Equal: the same order of starts and ends too.
    pub(crate) order: u128,
    /// Spans of the trace, parents before children, children by rank: a span of another
    /// trace of this shape that stands at the same place is the same one.
    pub(crate) places: Vec<u32>,
}

/// The shape of `trace`, a request of the type that has the digest `request_type`;
/// `operations` are the digests of all names.
pub(crate) fn shape(trace: &Trace, request_type: u64, operations: &[u64]) -> Shape {
    let mut digests = vec![(0_u128, 0_u128); trace.spans.len()];
    let mut ranked: Vec<Vec<u32>> = vec![Vec::new(); trace.spans.len()];
    let mut bytes = Vec::new();
    for &at in trace.top_down.iter().rev() {
        let span = &trace.spans[at as usize];
        let children = by_rank(trace, trace.children(at), &digests);
        let name = (operations[span.operation as usize], span.wait != Wait::Nobody);
        digests[at as usize] = digest(&mut bytes, name, trace, Some(span), &children, &digests);
        ranked[at as usize] = children;
    }
    let roots = by_rank(trace, &trace.roots, &digests);
    let (tree, order) = digest(&mut bytes, (request_type, false), trace, None, &roots, &digests);
    let mut places = Vec::with_capacity(trace.spans.len());
    let mut rest: Vec<u32> = roots.into_iter().rev().collect();
    while let Some(at) = rest.pop() {
        places.push(at);
        rest.extend(ranked[at as usize].iter().rev());
    }
    Shape { tree, order, places }
}

/// `spans` by shape, those of one shape by time.
fn by_rank(trace: &Trace, spans: &[u32], digests: &[(u128, u128)]) -> Vec<u32> {
    let mut ranked = spans.to_vec();
    ranked.sort_by_key(|&at| {
        let span = &trace.spans[at as usize];
        let (tree, order) = digests[at as usize];
        (tree, span.start_us, span.end_us, order)
    });
    ranked
}

fn digest(
    bytes: &mut Vec<u8>,
    (name, waited): (u64, bool),
    trace: &Trace,
    span: Option<&Span>,
    children: &[u32],
    digests: &[(u128, u128)],
) -> (u128, u128) {
    bytes.clear();
    bytes.extend(name.to_le_bytes());
    bytes.push(u8::from(waited));
    let begin = bytes.len();
    children.iter().for_each(|&child| bytes.extend(digests[child as usize].0.to_le_bytes()));
    let tree = xxh3_128(bytes);
    bytes.truncate(begin);
    children.iter().for_each(|&child| bytes.extend(digests[child as usize].1.to_le_bytes()));
    // Roots have nobody who waits for them: all their starts and ends count.
    let end_us = span.map_or(i64::MAX, |span| span.end_us);
    let children: Vec<Span> = children.iter().map(|&child| trace.spans[child as usize]).collect();
    for moment in moments(end_us, &children, span.is_none()) {
        let code = match moment {
            Moment::Start(rank) => 2 * rank + 1,
            Moment::End(rank) => 2 * rank + 2,
            Moment::Over => 0,
        };
        bytes.extend(code.to_le_bytes());
    }
    (tree, xxh3_128(bytes))
}

/// What happens until a span ends at `end_us`, and which children start after that;
/// `children` by rank. Ends of children that nobody waits for are no moments, unless
/// `all_ends`.
pub(crate) fn moments(end_us: i64, children: &[Span], all_ends: bool) -> Vec<Moment> {
    // Time, place at that time, rank, whether it is an end.
    let mut keys: Vec<(i64, u8, u32, bool)> = Vec::with_capacity(2 * children.len() + 1);
    for (rank, child) in (0..).zip(children) {
        let has_end = all_ends || child.wait != Wait::Nobody;
        let is_moment = has_end && child.start_us == child.end_us;
        keys.push((child.start_us, if is_moment { 1 } else { 2 }, rank, false));
        if has_end {
            keys.push((child.end_us, u8::from(is_moment), rank, true));
        }
    }
    keys.push((end_us, 3, 0, false));
    keys.sort_unstable();
    let moment = |(_, place, rank, is_end)| match (place, is_end) {
        (3, _) => Moment::Over,
        (_, true) => Moment::End(rank),
        (_, false) => Moment::Start(rank),
    };
    keys.into_iter().map(moment).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Moment, Shape, moments, shape};
    use crate::request::trace::{Span, Trace, Wait};

    fn trace(children: &[(u32, Wait, i64, i64)]) -> Trace {
        let mut spans =
            vec![Span { operation: 0, parent: None, wait: Wait::Nobody, start_us: 0, end_us: 100 }];
        spans.extend(children.iter().map(|&(operation, wait, start_us, end_us)| Span {
            operation,
            parent: Some(0),
            wait,
            start_us,
            end_us,
        }));
        Trace::new(spans).0
    }

    fn of(children: &[(u32, Wait, i64, i64)]) -> Shape {
        shape(&trace(children), 7, &[10, 11, 12])
    }

    #[test]
    fn six_orders_of_two_children_are_six_groups_of_one_tree() {
        use Wait::Within;
        // Times of B and C as in Fig. 4: (start, end) of each, all different, by more than a tick.
        let times = [
            ((10, 20), (30, 40)),
            ((10, 30), (20, 40)),
            ((10, 40), (20, 30)),
            ((30, 40), (10, 20)),
            ((20, 40), (10, 30)),
            ((20, 30), (10, 40)),
        ];
        let shapes: Vec<Shape> =
            times.iter().map(|(b, c)| of(&[(1, Within, b.0, b.1), (2, Within, c.0, c.1)])).collect();
        assert_eq!(shapes.iter().map(|s| s.order).collect::<BTreeSet<_>>().len(), 6);
        assert_eq!(shapes.iter().map(|s| s.tree).collect::<BTreeSet<_>>().len(), 1);
    }

    #[test]
    fn children_of_one_name_and_one_start_are_interchangeable() {
        use Wait::Within;
        let one = of(&[(1, Within, 5, 9), (1, Within, 5, 7)]);
        let other = of(&[(1, Within, 5, 7), (1, Within, 5, 9)]);
        assert_eq!((one.tree, one.order), (other.tree, other.order));
        assert_eq!((one.places, other.places), (vec![0, 2, 1], vec![0, 1, 2]));
    }

    #[test]
    fn at_one_time_what_has_started_ends_first() {
        let span =
            |start_us, end_us| Span { operation: 0, parent: Some(0), wait: Wait::Within, start_us, end_us };
        use Moment::{End, Over, Start};
        let found = moments(5, &[span(1, 5), span(5, 5), span(0, 1)], false);
        assert_eq!(found, [Start(2), End(2), Start(0), End(0), Start(1), End(1), Over]);
    }

    #[test]
    fn when_nobody_waits_the_end_makes_no_difference() {
        use Wait::Nobody;
        let (one, other) = (of(&[(1, Nobody, 5, 9)]), of(&[(1, Nobody, 5, 300)]));
        assert_eq!(one, other);
        assert_ne!(one.order, of(&[(1, Nobody, 200, 300)]).order, "started after the end");
        assert_ne!(one.tree, of(&[(1, Wait::Within, 5, 9)]).tree);
    }
}
