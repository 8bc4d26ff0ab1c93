//! Passes: what each of them has begun, joined and linked, and how much of that is
//! true.
//!
//! | what | one is | true | false |
//! |---|---|---|---|
//! | *begin* | the first record of a span of the table | it begins a true span | it does not |
//! | *join* | any other record of a span | the record before it in the span that has a unit is of its unit | these two have ops, and not the same |
//! | *link* | a hand-off between two spans | as in [`links`](super::links) | as there |
//!
//! Of all others nothing is claimed.

use std::collections::BTreeMap;

use schema::Pass;

use super::found::Found;
use super::links::{Claims, Verdict, Verdicts};
use super::spans::TrueSpans;
use super::truth::{Place, Record, Truth};

/// What a pass does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Deed {
    Begin,
    Join,
    Link,
}

impl Deed {
    /// The word for it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Deed::Begin => "begin",
            Deed::Join => "join",
            Deed::Link => "link",
        }
    }
}

/// What each pass has done, in the order in which they run.
pub(crate) type Passes = BTreeMap<(Deed, Pass), Verdicts>;

/// Counts what the passes have done to the spans and requests of `found`.
pub(crate) fn count(truth: &Truth, spans: &TrueSpans<'_>, found: &Found<'_>) -> Passes {
    let mut passes = Passes::new();
    for events in found.by_span().values() {
        let mut before = None;
        for (at, &(place, event)) in events.iter().enumerate() {
            let record = truth.records.get(place);
            if let Some(pass) = event.pass.as_deref().and_then(Pass::named) {
                let (deed, verdict) = match at {
                    0 => (Deed::Begin, begun(spans, place)),
                    _ => (Deed::Join, joined(before, record)),
                };
                passes.entry((deed, pass)).or_default().add(verdict);
            }
            before = record.filter(|record| record.unit.is_some()).or(before);
        }
    }
    let claims = Claims::of_spans(truth, found);
    for link in found.links() {
        if let Some(pass) = Pass::named(link.by) {
            passes.entry((Deed::Link, pass)).or_default().add(link.verdict(&claims));
        }
    }
    passes
}

fn begun(spans: &TrueSpans<'_>, place: &Place) -> Verdict {
    match spans.begins(place) {
        Some(true) => Verdict::True,
        Some(false) => Verdict::False,
        None => Verdict::Unclaimed,
    }
}

fn joined(before: Option<&Record>, record: Option<&Record>) -> Verdict {
    let Some((before, record)) = before.zip(record) else { return Verdict::Unclaimed };
    if before.unit.is_some() && before.unit == record.unit {
        return Verdict::True;
    }
    match before.op.as_ref().zip(record.op.as_ref()) {
        Some((a, b)) if a != b => Verdict::False,
        _ => Verdict::Unclaimed,
    }
}

#[cfg(test)]
mod tests {
    use schema::Pass;

    use super::{Deed, count};
    use crate::evaluation::sketch::Sketch;
    use crate::evaluation::spans::TrueSpans;

    /// Of a deed of a pass: true, false, unclaimed.
    #[track_caller]
    fn check(text: &str, expected: &[(Deed, Pass, [u64; 3])]) {
        let sketch = Sketch::new(text);
        let passes = count(&sketch.truth, &TrueSpans::new(&sketch.truth), &sketch.found(&[]));
        let found: Vec<_> = (passes.into_iter())
            .map(|((deed, pass), v)| (deed, pass, [v.n_true, v.n_false, v.n_unclaimed]))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn joins_are_held_against_the_record_before_that_has_a_unit() {
        check(
            "1 t u o s r opens\n2 t - ? s r judge\n3 t u o s r judge\n4 t v p s r late\n5 t v p s r judge",
            &[
                (Deed::Begin, Pass::Opens, [1, 0, 0]),
                (Deed::Join, Pass::Judge, [2, 0, 1]),
                (Deed::Join, Pass::Late, [0, 1, 0]),
            ],
        );
    }

    #[test]
    fn a_span_that_begins_in_the_middle_is_begun_wrongly() {
        check(
            "1 t u o s1 r opens\n2 t u o s2 r called_again\n3 t - ? s3 r opens\ns1 > s2 nested",
            &[
                (Deed::Begin, Pass::Opens, [1, 0, 1]),
                (Deed::Begin, Pass::CalledAgain, [0, 1, 0]),
                (Deed::Link, Pass::Nested, [1, 0, 0]),
            ],
        );
    }
}
