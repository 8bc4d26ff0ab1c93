//! Two populations that differ in what they were made to differ in.

use super::{CHANCE_MAX, Measured, compare};
use crate::profile::differences::Deed;
use crate::profile::groups::{Groups, Request};
use crate::profile::layers::Subject;
use crate::profile::statistics::Random;
use crate::request::trace::{Span, Trace, Wait};

/// Requests of either population: `get` (0) asks `store` (1) for about 100 µs, in the second
/// one `longer_us` more; with `retries` it asks again in every other request of that one.
fn groups(longer_us: i64, retries: bool) -> Groups {
    let mut groups = Groups::default();
    let (get, store) = (groups.names.number("get"), groups.names.number("store"));
    let mut random = Random(11);
    let mut requests = Vec::new();
    for number in 0..400_i64 {
        let population = if number % 2 == 0 { 1 } else { 2 };
        let mut at = 10 + random.below(20) as i64;
        let mut spans =
            vec![Span { operation: get, parent: None, wait: Wait::Nobody, start_us: 0, end_us: 0 }];
        let asks = if retries && number % 4 == 3 { 2 } else { 1 };
        for _ in 0..asks {
            let more = if population == 2 { longer_us } else { 0 };
            let end_us = at + 80 + random.below(40) as i64 + more;
            spans.push(Span { operation: store, parent: Some(0), wait: Wait::Within, start_us: at, end_us });
            at = end_us + 5;
        }
        spans[0].end_us = at + 10 + random.below(20) as i64;
        let (trace, _) = Trace::new(spans);
        let id = number.to_string().into();
        requests.push(Request { id, request_type: get, trace, printed: Vec::new(), population });
    }
    groups.add(requests);
    groups
}

#[test]
fn what_takes_longer_is_told_and_nothing_else() {
    let mut groups = groups(30, false);
    let found = compare(&groups, 5);
    assert_eq!(found.n_requests, (200, 200));
    assert_eq!((found.only_first.len(), found.only_second.len()), (0, 0));
    let store = groups.names.number("store");
    let sure: Vec<Measured> =
        found.in_time.iter().filter(|of| of.chance < CHANCE_MAX).map(|of| of.measured).collect();
    let (store, get) = (Subject::Operation(store), Subject::Operation(groups.groups[0].request_type));
    assert!(sure.contains(&Measured::Subject(store)) && sure.contains(&Measured::Request), "{sure:?}");
    assert!(!sure.contains(&Measured::Subject(get)), "{sure:?}");
    let of_store = found.in_time.iter().find(|of| of.measured == Measured::Subject(store)).expect("a row");
    assert!((of_store.difference_us() - 30.0).abs() < 5.0, "{}", of_store.difference_us());
}

#[test]
fn what_only_one_does_is_told_with_its_counts() {
    let mut groups = groups(0, true);
    let found = compare(&groups, 5);
    let store = groups.names.number("store");
    let told: Vec<_> = found.only_second.iter().map(|of| (of.deed, of.first, of.second)).collect();
    assert_eq!(told, [(Deed::Operation(store, 2), (100, 200), (0, 200))]);
    assert_eq!(found.only_first.len(), 0);
}

#[test]
fn equal_populations_do_not_differ() {
    let found = compare(&groups(0, false), 5);
    assert!(found.in_time.iter().all(|of| of.chance >= CHANCE_MAX), "{:?}", found.in_time);
}
