//! Labels against the relation itself: the transitive closure of an explicit graph of all
//! events, and all pairs of events for what clocks say.

use super::random::{Random, RandomRequest};
use super::{HOPS_MAX, HandOff, Label, Order, Paths, Stretch, is_ancestor, is_child, order};

/// Requests that are looked at.
const REQUESTS: u64 = 10_000;

/// An event: number of its span, position in it.
type Event = (usize, usize);

/// The relation of a request, without labels.
struct Oracle<'r>(&'r RandomRequest);

impl Oracle<'_> {
    /// Which event must precede which, by the closure of an explicit graph: each span has
    /// a start and an end beside its events.
    fn must(&self, events: &[Event]) -> Vec<Vec<bool>> {
        let n = events.len() + 2 * self.0.times_us.len();
        let at = |event: Event| events.iter().position(|&other| other == event).expect("known");
        let (start, end) = (|s: usize| events.len() + 2 * s, |s: usize| events.len() + 2 * s + 1);
        let mut reaches = vec![vec![false; n]; n];
        for (s, times) in self.0.times_us.iter().enumerate() {
            let row: Vec<usize> = std::iter::once(start(s))
                .chain((0..times.len()).map(|e| at((s, e))))
                .chain([end(s)])
                .collect();
            row.windows(2).for_each(|two| reaches[two[0]][two[1]] = true);
            let Some(hand_off) = self.0.hand_offs[s] else { continue };
            let from = hand_off.from as usize;
            if let Some(before) = hand_off.before {
                let sent = if before == 0 { start(from) } else { at((from, before as usize - 1)) };
                reaches[sent][start(s)] = true;
            }
            if let Some(after) = hand_off.after {
                let is_event = (after as usize) < self.0.times_us[from].len();
                let told = if is_event { at((from, after as usize)) } else { end(from) };
                reaches[end(s)][told] = true;
            }
        }
        for (by, a) in (0..n * n).map(|i| (i / n, i % n)) {
            if reaches[a][by] {
                let through = reaches[by].clone();
                reaches[a].iter_mut().zip(through).for_each(|(known, more)| *known |= more);
            }
        }
        reaches
    }

    /// The least by which an event of each node follows one of each other, over all pairs
    /// that must; none if clocks contradict each other there.
    fn bounds(&self, events: &[Event], must: &[Vec<bool>]) -> Vec<Vec<Option<i64>>> {
        let node = |event: Event| self.0.nodes[event.0] as usize;
        let us = |event: Event| self.0.times_us[event.0][event.1];
        let mut least: Vec<Vec<Option<i64>>> = vec![vec![None; 3]; 3];
        for (i, &a) in events.iter().enumerate() {
            for (j, &b) in events.iter().enumerate() {
                let known = &mut least[node(a)][node(b)];
                if must[i][j] {
                    *known = Some(known.map_or(us(b) - us(a), |known| known.min(us(b) - us(a))));
                }
            }
        }
        // Long ways over three nodes, some in circles: enough of them show any contradiction.
        for _ in 0..4 {
            for (a, by, b) in (0..27).map(|i| (i / 9, i / 3 % 3, i % 3)) {
                if let (Some(first), Some(second)) = (least[a][by], least[by][b]) {
                    let both = first + second;
                    least[a][b] = Some(least[a][b].map_or(both, |known| known.min(both)));
                }
            }
        }
        let is_wrong = |a: usize| least[a][a].is_some_and(|us| us < 0);
        let through = |a: usize, b: usize| {
            (0..3).any(|by| is_wrong(by) && least[a][by].is_some() && least[by][b].is_some())
        };
        let bound = |a: usize, b: usize| {
            if a == b { Some(0) } else { least[a][b].filter(|_| !through(a, b)) }
        };
        (0..3).map(|a| (0..3).map(|b| bound(a, b)).collect()).collect()
    }
}

#[test]
fn labels_say_what_the_graph_says() {
    let mut n = std::collections::BTreeMap::new();
    for seed in 0..REQUESTS {
        let request = RandomRequest::new(&mut Random(seed));
        let (labels, is_wrong) = request.labels(7);
        let events = request.events();
        let must = Oracle(&request).must(&events);
        let bounds = Oracle(&request).bounds(&events, &must);
        let node = |event: Event| request.nodes[event.0] as usize;
        let us = |event: Event| request.times_us[event.0][event.1];
        let mut is_before = vec![vec![false; events.len()]; events.len()];
        for (i, &a) in events.iter().enumerate() {
            for (j, &b) in events.iter().enumerate() {
                let clocks = |a, b| bounds[node(a)][node(b)].is_some_and(|bound| us(b) - us(a) > bound);
                let expected = match (i == j, must[i][j], must[j][i]) {
                    (true, ..) => Order::Overlapping,
                    (_, true, true) => unreachable!("a graph without circles"),
                    (_, true, _) => Order::Before,
                    (_, _, true) => Order::After,
                    _ if clocks(a, b) => Order::MayBefore,
                    _ if clocks(b, a) => Order::MayAfter,
                    _ => Order::Concurrent,
                };
                let place = |(s, e): Event| (&labels[s], request.stretch(s, e, e));
                let found = order(place(a), place(b));
                assert_eq!(found, expected, "seed {seed}, {a:?} and {b:?} of {request:?}");
                is_before[i][j] = matches!(found, Order::Before | Order::MayBefore);
                *n.entry(format!("{found:?}")).or_insert(0) += 1;
            }
        }
        if !is_wrong {
            check_transitive(&is_before);
        }
    }
    // Each outcome is frequent, so that each was tried.
    assert!(n.len() == 6 && n.values().all(|&n| n > 10_000), "{n:?}");
}

#[test]
fn labels_survive_bytes() {
    let mut random = Random(1);
    for _ in 0..REQUESTS {
        let (labels, _) = RandomRequest::new(&mut random).labels(i64::MAX / 3);
        for label in labels {
            let mut bytes = label.encode();
            assert_eq!(Label::decode(label.request, &bytes), Some(label));
            let at = random.below(u32::try_from(bytes.len()).expect("few bytes")) as usize;
            assert_eq!(Label::decode(1, &bytes[..at]), None);
            // Damage is refused or is another label, and never a panic.
            bytes[at] = u8::try_from(random.below(256)).expect("a byte");
            let _ = Label::decode(1, &bytes);
        }
    }
}

fn check_transitive(is_before: &[Vec<bool>]) {
    let n = is_before.len();
    for (a, b) in (0..n * n).map(|i| (i / n, i % n)).filter(|&(a, b)| is_before[a][b]) {
        assert!(!is_before[b][a], "{a} and {b} both ways");
        for c in (0..n).filter(|&c| is_before[b][c]) {
            assert!(is_before[a][c], "{a}, {b}, {c}");
        }
    }
}

fn label(request: i64, paths: &Paths, span: usize) -> Label {
    Label { request, node: 0, path: paths.paths[span].clone(), bounds_us: Vec::new() }
}

fn from(from: u32) -> Option<HandOff> {
    Some(HandOff { from, before: Some(0), after: None })
}

#[test]
fn ways_of_spans() {
    let paths = Paths::new(&[None, from(0), from(1), from(0), None]);
    let label = |span| label(1, &paths, span);
    let ancestors = |of: usize| (0..5).filter(|&a| is_ancestor(&label(a), &label(of))).collect::<Vec<_>>();
    assert_eq!(ancestors(2), [0, 1]);
    assert_eq!(ancestors(3), [0]);
    assert_eq!(ancestors(0), [0_usize; 0]);
    let children = |of: usize| (0..5).filter(|&c| is_child(&label(c), &label(of))).collect::<Vec<_>>();
    assert_eq!(children(0), [1, 3]);
    assert_eq!(children(1), [2]);
    let other = Label { request: 2, ..label(0) };
    assert!(!is_ancestor(&other, &label(2)) && !is_child(&label(1), &other));
}

#[test]
fn spans_that_only_lead_to_each_other_have_a_root() {
    // 3 leads into the circle of 0, 2 and 1.
    let paths = Paths::new(&[from(2), from(0), from(1), from(2), from(4)]);
    let spans = |span: usize| paths.paths[span].iter().map(|hop| hop.span).collect::<Vec<_>>();
    assert_eq!((spans(0), spans(1), spans(2)), (vec![0], vec![0, 1], vec![0, 1, 2]));
    assert_eq!((spans(3), spans(4)), (vec![0, 1, 2, 3], vec![4]));
    assert_eq!(paths.n_cut, 1);
}

#[test]
fn long_rows_are_cut() {
    let n = HOPS_MAX + 10;
    let row: Vec<Option<HandOff>> =
        (0..n).map(|i| i.checked_sub(1).and_then(|i| from(u32::try_from(i).expect("few")))).collect();
    let paths = Paths::new(&row);
    assert_eq!(paths.paths[HOPS_MAX - 1].len(), HOPS_MAX);
    assert_eq!(paths.paths[HOPS_MAX].len(), 1);
    assert_eq!(paths.n_cut, 1);
    assert_eq!(Label::decode(0, &label(0, &paths, n - 1).encode()), Some(label(0, &paths, n - 1)));
}

#[test]
fn other_requests_are_unrelated() {
    let paths = Paths::new(&[None]);
    let at = |us| Stretch { first: 0, last: 0, start_us: us, end_us: us };
    let (a, b) = (label(1, &paths, 0), label(2, &paths, 0));
    assert_eq!(order((&a, at(0)), (&b, at(9))), Order::Unrelated);
}

#[test]
fn spans_precede_as_a_whole() {
    // The sender of two events hands over after its first one and waits before the second.
    let paths = Paths::new(&[None, Some(HandOff { from: 0, before: Some(1), after: Some(1) })]);
    let (sender, receiver) = (label(1, &paths, 0), label(1, &paths, 1));
    let part = |first, last| Stretch { first, last, start_us: 0, end_us: 0 };
    assert_eq!(order((&sender, part(0, 0)), (&receiver, part(0, 8))), Order::Before);
    assert_eq!(order((&sender, part(0, 1)), (&receiver, part(0, 8))), Order::Concurrent);
    assert_eq!(order((&sender, part(1, 1)), (&receiver, part(0, 8))), Order::After);
    assert_eq!(order((&sender, part(0, 1)), (&sender, part(1, 1))), Order::Overlapping);
}
