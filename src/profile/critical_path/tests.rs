//! Paths of small traces, and random ones against a simulation: what a span can be longer
//! without the request ending later, and what it cannot.

use std::collections::BTreeSet;

use super::{SpeedUps, critical_path, slacks, what_if};
use crate::profile::layers::Subject;
use crate::profile::plan::{Place, places};
use crate::profile::shape::shape;
use crate::request::trace::{Span, Trace, Wait};
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng as Random;

/// The places and times of a trace of spans (parent, wait, start, end), each an operation of
/// its own.
fn of(spans: &[(Option<u32>, Wait, i64, i64)]) -> (Vec<Place>, Vec<i64>, Trace) {
    let span = |(operation, &(parent, wait, start_us, end_us)): (u32, &(_, _, _, _))| Span {
        operation,
        parent,
        wait,
        start_us,
        end_us,
    };
    let trace = Trace::new((0..).zip(spans).map(span).collect()).0;
    let digests: Vec<u64> = (100..100 + spans.len() as u64).collect();
    let shape = shape(&trace, 0, &digests);
    let times = shape.places.iter().map(|&at| &trace.spans[at as usize]);
    let row = times.flat_map(|span| [span.start_us, span.end_us]).collect();
    (places(&trace, &shape), row, trace)
}

/// (operation, whether handed over, from, to), from the end to the start.
fn path(spans: &[(Option<u32>, Wait, i64, i64)]) -> Vec<(u32, bool, i64, i64)> {
    let (places, row, _) = of(spans);
    let parts = critical_path(&places, &row);
    let part = |p: &super::Part| (places[p.place as usize].operation, p.is_hand_over, p.from_us, p.to_us);
    parts.iter().map(part).collect()
}

#[test]
fn of_two_in_parallel_the_later_one_is_on_the_path() {
    use Wait::Within;
    let spans = [(None, Within, 0, 100), (Some(0), Within, 10, 50), (Some(0), Within, 20, 80)];
    assert_eq!(path(&spans), [(0, false, 80, 100), (2, false, 20, 80), (0, false, 0, 20)]);
}

#[test]
fn of_two_in_a_row_both_are() {
    use Wait::Within;
    let spans = [(None, Within, 0, 100), (Some(0), Within, 10, 50), (Some(0), Within, 60, 80)];
    let expected =
        [(0, false, 80, 100), (2, false, 60, 80), (0, false, 50, 60), (1, false, 10, 50), (0, false, 0, 10)];
    assert_eq!(path(&spans), expected);
}

#[test]
fn an_overlap_within_the_tick_of_the_clock_is_a_sequence() {
    use Wait::Within;
    for (over, end) in [(1000, 1000), (608, 1000)] {
        let spans = [
            (None, Within, 0, over),
            (Some(0), Within, 10, 210),
            (Some(0), Within, 209, 309),
            (Some(0), Within, 308, 608),
        ];
        for unit in [1, 1000] {
            let spans = spans.map(|(parent, wait, from, to)| (parent, wait, from * unit, to * unit));
            let mut expected = vec![
                (0, false, 608, end),
                (3, false, 308, 608),
                (2, false, 209, 308),
                (1, false, 10, 209),
                (0, false, 0, 10),
            ];
            expected.retain(|(operation, _, from, _)| *operation != 0 || *from < over);
            let expected: Vec<_> =
                expected.into_iter().map(|(o, h, a, b)| (o, h, a * unit, b * unit)).collect();
            assert_eq!(path(&spans), expected);
        }
    }
    // By more than that they are at work at one time.
    let spans = [(None, Within, 0, 100), (Some(0), Within, 10, 50), (Some(0), Within, 48, 80)];
    assert_eq!(path(&spans), [(0, false, 80, 100), (2, false, 48, 80), (0, false, 0, 48)]);
}

#[test]
fn what_nobody_waits_for_is_on_the_path_if_it_ends_last() {
    use Wait::{Nobody, Within};
    // 1 runs while 2 is started: nobody waits for 1 before that.
    let spans = [
        (None, Nobody, 0, 50),
        (Some(0), Within, 10, 40),
        (Some(0), Nobody, 60, 90),
        (Some(0), Nobody, 20, 70),
    ];
    let expected =
        [(2, false, 60, 90), (2, true, 50, 60), (0, false, 40, 50), (1, false, 10, 40), (0, false, 0, 10)];
    assert_eq!(path(&spans), expected);
    let (places, row, _) = of(&spans);
    let slack: Vec<(u32, i64)> = places.iter().map(|p| p.operation).zip(slacks(&places, &row)).collect();
    let slack_of = |operation| slack.iter().find(|(o, _)| *o == operation).map(|(_, us)| *us);
    assert_eq!([0, 1, 2, 3].map(slack_of), [Some(0), Some(0), Some(0), Some(20)]);
}

#[test]
fn half_as_long_is_what_it_saves_on_the_path() {
    use Wait::Within;
    let (places, row, _) =
        of(&[(None, Within, 0, 100), (Some(0), Within, 10, 50), (Some(0), Within, 20, 80)]);
    let twice = |operation| what_if(&places, &row, &SpeedUps::from([(Subject::Operation(operation), 2.0)]));
    // 1 is off the path; 2 ends at 50, as 1 does; 0 starts them at 5 and 10, and ends quicker.
    assert_eq!([twice(1), twice(2), twice(0)], [100.0, 70.0, 80.0]);
}

/// How long a request takes if the span `longer` ends so much later, by what its parts wait
/// for: each child starts as long as before after the last one that had ended.
fn simulate(trace: &Trace, at: u32, longer: (u32, i64), start: i64, last: &mut i64) -> i64 {
    let span = &trace.spans[at as usize];
    let mut children = trace.children(at).to_vec();
    children.sort_by_key(|&child| trace.spans[child as usize].start_us);
    // (as it was, as it would be) of the ends of children.
    let mut ends: Vec<(i64, i64)> = Vec::new();
    let since = |ends: &[(i64, i64)], us: i64| {
        let before: Vec<&(i64, i64)> = ends.iter().filter(|(was, _)| *was <= us).collect();
        let was = before.iter().map(|(was, _)| *was).max().unwrap_or(span.start_us);
        (was, before.iter().map(|(_, is)| *is).max().unwrap_or(start))
    };
    let late = |child: &u32| trace.spans[*child as usize].start_us > span.end_us;
    for &child in children.iter().filter(|child| !late(child)) {
        let of = &trace.spans[child as usize];
        let (was, is) = since(&ends, of.start_us);
        let end = simulate(trace, child, longer, is + of.start_us - was, last);
        if of.wait != Wait::Nobody {
            ends.push((of.end_us, end));
        }
    }
    let (was, is) = since(&ends, span.end_us);
    let end = is + span.end_us - was + if longer.0 == at { longer.1 } else { 0 };
    *last = (*last).max(end);
    for &child in children.iter().filter(|child| late(child)) {
        simulate(trace, child, longer, end + trace.spans[child as usize].start_us - span.end_us, last);
    }
    end
}

/// Whether clipping has put events of two children at one time: which one has waited for
/// which is then open.
fn has_ties(trace: &Trace) -> bool {
    (0..trace.spans.len() as u32).any(|at| {
        let spans = || trace.children(at).iter().map(|&child| &trace.spans[child as usize]);
        let times = || spans().flat_map(|s| BTreeSet::from([s.start_us, s.end_us]));
        times().collect::<BTreeSet<i64>>().len() < times().count()
    })
}

/// 3,000 random traces, of which those count in which no two children have events at one time.
#[test]
fn paths_and_slacks_are_what_a_simulation_says() {
    let mut random = Random::seed_from_u64(5);
    let mut n_checked = 0;
    for _ in 0..3_000 {
        let n = 1 + random.random_range(0..7);
        let spans: Vec<_> = (0..n as u32)
            .map(|at| {
                let wait =
                    [Wait::Within, Wait::Within, Wait::UntilEnd, Wait::Nobody][random.random_range(0..4)];
                let (start, length) = (random.random_range(0..24) as i64, random.random_range(0..16) as i64);
                let parent = (at > 0).then(|| random.random_range(0..at.max(1) as usize) as u32);
                // No two at one time, but where they are clipped.
                let end = 32 * (start + length) + i64::from(at) + 16;
                (parent, wait, 32 * start + i64::from(at), end)
            })
            .collect();
        let (places, row, trace) = of(&spans);
        if !has_ties(&trace) {
            n_checked += 1;
            check(&places, &row, &trace);
        }
    }
    assert!(n_checked > 1_500, "{n_checked}");
}

fn check(places: &[Place], row: &[i64], trace: &Trace) {
    let (start, end) = trace.extent();
    assert_eq!(what_if(places, row, &SpeedUps::new()), (end - start) as f64);
    let path = critical_path(places, row);
    assert_eq!(path.iter().map(|part| part.to_us - part.from_us).sum::<i64>(), end - start);
    assert!(path.windows(2).all(|two| two[0].from_us == two[1].to_us));
    for (place, slack) in places.iter().zip(slacks(places, row)) {
        let over = |longer: i64| {
            let mut last = 0;
            simulate(trace, 0, (place.operation, longer), start, &mut last);
            last
        };
        assert!(slack >= 0);
        assert_eq!(over(slack), end, "slack {slack} of {}", place.operation);
        assert_eq!(over(slack + 1), end + 1, "slack {slack} of {}", place.operation);
    }
}
