//! Regions divide the own time of a span, whatever runs beside and below it.

use super::{Edge, Visit, visits};
use crate::profile::groups::Request;
use crate::profile::plan::places;
use crate::profile::shape::shape;
use crate::request::trace::{Span, Trace, Wait};
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng as Random;

/// Lines of a span: (µs, log point).
type Lines = Vec<(i64, Option<i64>)>;

fn of(spans: &[(Option<u32>, Wait, Lines)]) -> (Request, Vec<Visit>) {
    let span = |(operation, (parent, wait, lines)): (u32, &(Option<u32>, Wait, Lines))| Span {
        operation,
        parent: *parent,
        wait: *wait,
        start_us: lines.first().expect("a line").0,
        end_us: lines.last().expect("a line").0,
    };
    let trace = Trace::new((0..).zip(spans).map(span).collect()).0;
    let printed = spans.iter().map(|(.., lines)| lines.clone()).collect();
    let digests: Vec<u64> = (0..spans.len() as u64).collect();
    let shape = shape(&trace, 0, &digests);
    let places = places(&trace, &shape);
    let request = Request { id: "r".into(), request_type: 0, trace, printed, population: 0 };
    let visits = visits(&request, &shape, &places);
    (request, visits)
}

#[test]
fn a_region_ends_where_somebody_else_works() {
    let (_, visits) = of(&[
        (None, Wait::Nobody, vec![(0, Some(1)), (100, Some(2)), (130, Some(3))]),
        (Some(0), Wait::Within, vec![(20, Some(7)), (90, Some(8))]),
        (Some(0), Wait::Nobody, vec![(140, Some(9))]),
    ]);
    use Edge::{Begins, Ends, Line};
    let found: Vec<(u32, Edge, Edge, Option<u32>, i64)> =
        visits.iter().map(|v| (v.region.operation, v.region.from, v.region.to, v.subspan, v.us)).collect();
    let expected = [
        (0, Line(Some(1)), Begins(Some(7)), Some(0), 20),
        (0, Ends(Some(8)), Line(Some(2)), Some(1), 10),
        (0, Line(Some(2)), Line(Some(3)), Some(1), 30),
        (1, Line(Some(7)), Line(Some(8)), Some(0), 70),
        (0, Line(Some(3)), Begins(Some(9)), None, 10),
    ];
    let mut found = found;
    found.sort();
    let mut expected = expected.to_vec();
    expected.sort();
    assert_eq!(found, expected);
}

#[test]
fn regions_of_a_span_add_up_to_its_own_time() {
    let mut random = Random::seed_from_u64(3);
    for _ in 0..2_000 {
        let n = 1 + random.random_range(0..6);
        let spans: Vec<(Option<u32>, Wait, Lines)> = (0..n)
            .map(|at| {
                let mut times: Vec<i64> =
                    (0..1 + random.random_range(0..5)).map(|_| random.random_range(0..40) as i64).collect();
                times.sort_unstable();
                let parent = (at > 0).then(|| random.random_range(0..at.max(1)) as u32);
                let wait = [Wait::Nobody, Wait::Within, Wait::UntilEnd][random.random_range(0..3)];
                (parent, wait, times.into_iter().map(|us| (us, Some(us % 3))).collect())
            })
            .collect();
        let (request, visits) = of(&spans);
        let trace = &request.trace;
        let digests: Vec<u64> = (0..n as u64).collect();
        let shape = shape(trace, 0, &digests);
        for (place, &number) in (0..).zip(&shape.places) {
            let span = &trace.spans[number as usize];
            let covered = |us: &i64| {
                let children = trace.children(number).iter().map(|&child| &trace.spans[child as usize]);
                let mut waited = children.filter(|child| child.wait != Wait::Nobody);
                waited.any(|child| (child.start_us..child.end_us).contains(us))
            };
            let own = (span.start_us..span.end_us).filter(|us| !covered(us)).count() as i64;
            let mine = visits.iter().filter(|visit| visit.place == place && visit.subspan.is_some());
            assert_eq!(mine.map(|visit| visit.us).sum::<i64>(), own, "{spans:?}");
        }
    }
}
