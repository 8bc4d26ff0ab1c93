//! The operator's pairs against those that are decided one by one, on random requests.

use schema::happened_before::random::{Random, RandomRequest};
use schema::happened_before::{Hop, Label, Stretch};

use super::condition::{Filter, Relation};
use super::pairs::{self, Pairs};
use super::rows::Rows;
use super::temporal;

mod queries;
mod tables;

/// Requests that are looked at.
const REQUESTS: u64 = 10_000;

/// A row to come: its request, its label's bytes and its stretch.
type Row = (i64, Vec<u8>, Stretch);

/// Rows of one request, or two: events, some of them several times, and whole spans.
fn rows(random: &mut Random, requests: &[(RandomRequest, Vec<Label>)]) -> Vec<Row> {
    let mut out = Vec::new();
    for _ in 0..random.below(14) {
        let n = u32::try_from(requests.len()).expect("few");
        let (request, labels) = &requests[random.below(n) as usize];
        let events = request.events();
        if events.is_empty() {
            continue;
        }
        let (span, event) = events[random.below(u32::try_from(events.len()).expect("few")) as usize];
        let is_span = random.once_in(5);
        let (first, last) = if is_span { (0, request.times_us[span].len() - 1) } else { (event, event) };
        out.push((labels[span].request, labels[span].encode(), request.stretch(span, first, last)));
    }
    out
}

/// Both sides of a join.
fn sides(seed: u64) -> (Vec<Row>, Vec<Row>) {
    let mut random = Random(seed);
    let n_requests = 1 + i64::from(random.below(2));
    let request = |id: i64, random: &mut Random| {
        let request = RandomRequest::new(random);
        let labels = request.labels(id).0;
        (request, labels)
    };
    let requests: Vec<_> = (0..n_requests).map(|id| request(id, &mut random)).collect();
    let left = rows(&mut random, &requests);
    (left, rows(&mut random, &requests))
}

fn side(rows: &[Row]) -> Rows {
    Rows::new(
        (0..).zip(rows).map(|(row, (request, label, stretch))| (row, (*request, label.as_slice()), *stretch)),
    )
}

/// All pairs, taken `n` at a time.
fn filled(mut pairs: Pairs, n: usize) -> Vec<(u32, u32)> {
    let mut all = Vec::new();
    loop {
        let mut some = Vec::new();
        let more = pairs.fill(n, &mut some);
        assert!(some.len() <= n && (more || some.len() <= n), "at most as many as asked for");
        all.extend(some);
        if !more {
            all.sort_unstable();
            return all;
        }
    }
}

#[test]
fn pairs_are_those_of_the_nested_loop() {
    let mut n_pairs = 0;
    for seed in 0..REQUESTS {
        let (left, right) = sides(seed);
        let n = 1 + (seed % 20) as usize;
        for relation in Relation::ALL {
            let mut expected = pairs::naive(relation, &side(&left), &side(&right));
            expected.sort_unstable();
            let found = filled(Pairs::new(relation, side(&left), side(&right)), n);
            assert_eq!(found, expected, "{} of seed {seed}", relation.name());
            n_pairs += expected.len();
        }
    }
    assert!(n_pairs > 100_000, "{n_pairs} pairs");
}

#[test]
fn filters_leave_what_they_say() {
    let mut n_pairs = 0;
    for seed in 0..REQUESTS {
        let (left, right) = sides(seed);
        let n = 1 + (seed % 3) as usize;
        for filter in [Filter::First(n), Filter::MostRecent(n)] {
            let expected = temporal::naive(filter, &side(&left), &side(&right));
            let found = temporal::pairs(filter, &side(&left), &side(&right));
            assert_eq!(found, expected, "{filter:?} of seed {seed}");
            n_pairs += expected.len();
        }
    }
    assert!(n_pairs > 10_000, "{n_pairs} pairs");
}

/// One span of many events, or many spans of one: first and most recent grow with what
/// comes out, not with its square.
#[test]
fn filters_are_quick_on_large_requests() {
    let n = 100_000_u32;
    let label = |span: u32| {
        let path = [0].into_iter().chain((span > 0).then_some(span)).map(|span| Hop {
            span,
            before: (span > 0).then_some(span),
            after: (span > 0).then_some(span),
        });
        Label { request: 1, node: 0, path: path.collect(), bounds_us: Vec::new() }.encode()
    };
    let event = |at: u32| Stretch { first: at, last: at, start_us: 0, end_us: 0 };
    let one: Vec<Row> = (0..n).map(|at| (1, label(0), event(at))).collect();
    let many: Vec<Row> = (1..=n).map(|span| (1, label(span), event(0))).collect();
    for rows in [one, many] {
        for filter in [Filter::First(1), Filter::MostRecent(1)] {
            let pairs = temporal::pairs(filter, &side(&rows), &side(&rows));
            // All but the first row have exactly one before them.
            assert_eq!(pairs.len(), n as usize - 1, "{filter:?}");
        }
    }
}

#[test]
fn what_is_no_label_is_in_no_pair() {
    let stretch = Stretch { first: 0, last: 0, start_us: 0, end_us: 0 };
    let rows = side(&[(1, Vec::new(), stretch), (1, vec![9; 40], stretch)]);
    assert!(rows.spans.is_empty());
    let pairs = Pairs::new(Relation::Concurrent, side(&[(1, Vec::new(), stretch)]), rows);
    assert_eq!(filled(pairs, 8), []);
}
