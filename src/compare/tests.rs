//! Two populations that differ in what they were made to differ in.

use super::compare;
use crate::profile::differences::Deed;
use crate::profile::groups::{Groups, Request};
use crate::profile::layers::Subject;
use crate::request::trace::{Span, Trace, Wait};
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng as Random;

/// Requests of either population: `get` (0) asks `store` (1) for about 100 µs, in the second
/// one `longer_us` more; with `retries` it asks again in every other request of that one.
fn groups(longer_us: i64, retries: bool) -> Groups {
    let mut groups = Groups::default();
    let (get, store) = (groups.names.number("get"), groups.names.number("store"));
    let mut random = Random::seed_from_u64(11);
    let mut requests = Vec::new();
    for number in 0..400_i64 {
        let population = if number % 2 == 0 { 1 } else { 2 };
        let mut at = 10 + random.random_range(0..20) as i64;
        let mut spans =
            vec![Span { operation: get, parent: None, wait: Wait::Nobody, start_us: 0, end_us: 0 }];
        let asks = if retries && number % 4 == 3 { 2 } else { 1 };
        for _ in 0..asks {
            let more = if population == 2 { longer_us } else { 0 };
            let end_us = at + 80 + random.random_range(0..40) as i64 + more;
            spans.push(Span { operation: store, parent: Some(0), wait: Wait::Within, start_us: at, end_us });
            at = end_us + 5;
        }
        spans[0].end_us = at + 10 + random.random_range(0..20) as i64;
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
    let store = Subject::Operation(groups.names.number("store"));
    let told: Vec<Subject> = found.changes.iter().map(|of| of.subject).collect();
    assert_eq!(told, [store]);
    let of_store = &found.changes[0];
    assert!((of_store.difference.us - 30.0).abs() < 5.0, "{of_store:?}");
    assert!(of_store.difference.low_us < 30.0 && 30.0 < of_store.difference.high_us, "{of_store:?}");
    assert_eq!(of_store.spent.map(|of| of.n_visits), [200, 200]);
    // 110 to 149 µs in the second one, 80 to 119 in the first.
    assert!((140..150).contains(&of_store.longest.1), "{of_store:?}");
    assert_eq!(groups.requests.populations[of_store.longest.0 as usize], 2);
    let [of_type] = &found.types[..] else { panic!("one type: {:?}", found.types) };
    assert_eq!(of_type.p99, None, "200 requests do not tell it");
    for bounds in [of_type.mean, of_type.p50] {
        let bounds = bounds.expect("enough requests");
        assert!(bounds.low_us > 10.0 && bounds.high_us < 50.0, "{bounds:?}");
    }
}

#[test]
fn what_only_one_does_is_told_with_its_counts() {
    let mut groups = groups(0, true);
    let found = compare(&groups, 5);
    let store = groups.names.number("store");
    let told: Vec<_> = found.only_second.iter().map(|of| (of.deed, of.first, of.second)).collect();
    assert_eq!(told, [(Deed::Operation(store, 2), (100, 200), (0, 200))]);
    assert_eq!(found.only_first.len(), 0);
    // It is done half as often again, and no time of it is longer.
    let more: Vec<_> = found.changes.iter().map(|of| of.spent.map(|spent| spent.n_visits)).collect();
    assert_eq!(more[0], [200, 300]);
}

#[test]
fn equal_populations_do_not_differ() {
    let found = compare(&groups(0, false), 5);
    assert_eq!(found.changes, []);
    let of_type = found.types[0];
    assert!(of_type.mean.is_some_and(|mean| mean.least_us() == 0.0), "{of_type:?}");
}

/// 100 pairs of populations that differ in nothing: what is told as more than chance is at most what
/// is said of it.
#[test]
fn chance_is_seldom_told_as_a_difference() {
    let mut random = Random::seed_from_u64(23);
    let mut n_told = 0;
    for _ in 0..100 {
        let mut groups = Groups::default();
        let names: Vec<u32> = (0..8).map(|n| groups.names.number(&format!("o{n}"))).collect();
        let mut requests = Vec::new();
        for number in 0..120_i64 {
            let mut spans =
                vec![Span { operation: names[0], parent: None, wait: Wait::Nobody, start_us: 0, end_us: 0 }];
            let mut at = 0;
            for &operation in &names[1..] {
                let end_us = at + 10 + random.random_range(0..90_i64);
                let wait = Wait::Within;
                spans.push(Span { operation, parent: Some(0), wait, start_us: at, end_us });
                at = end_us + 1;
            }
            spans[0].end_us = at;
            let (trace, _) = Trace::new(spans);
            let id = number.to_string().into();
            let population = 1 + (number % 2) as u8;
            let request_type = names[0];
            requests.push(Request { id, request_type, trace, printed: Vec::new(), population });
        }
        groups.add(requests);
        n_told += usize::from(!compare(&groups, 5).changes.is_empty());
    }
    assert!(n_told <= 4, "{n_told} of 100");
}
