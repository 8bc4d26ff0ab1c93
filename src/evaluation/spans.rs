//! Spans: what one thread did for one unit, by the truth and in the table.
//!
//! A *true span* is a maximal run of records of one unit that one thread of a
//! node printed without a record of another unit between them. Records without
//! a unit are in no span and end none. Where the truth names no threads there
//! are none.
//!
//! B-cubed, over the records that are in a true span: *precision* is the share of
//! those in a record's span of the table that are of its true span (records in
//! no span of the table are left out), *recall* the share of its true span that
//! is in its span of the table (0 without one).

use std::collections::BTreeMap;

use super::found::Found;
use super::score::harmonic_mean;
use super::truth::{Place, Truth};

/// The true spans of a log.
#[derive(Clone, Debug, Default)]
pub(crate) struct TrueSpans<'a> {
    /// In order of their first records, by node and line.
    pub(crate) spans: Vec<TrueSpan<'a>>,
    of: BTreeMap<&'a Place, usize>,
}

/// One of them.
#[derive(Clone, Debug)]
pub(crate) struct TrueSpan<'a> {
    pub(crate) unit: &'a str,
    /// Where its records stand, in order; at least one.
    pub(crate) places: Vec<&'a Place>,
}

impl<'a> TrueSpans<'a> {
    /// The spans of `truth`.
    pub(crate) fn new(truth: &'a Truth) -> Self {
        let mut found = Self::default();
        let mut last: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        for (place, record) in &truth.records {
            let (Some(unit), Some(thread)) = (&record.unit, &record.thread) else { continue };
            let last = last.entry((&place.0, thread)).or_insert(usize::MAX);
            if found.spans.get(*last).is_none_or(|span| span.unit != *unit) {
                *last = found.spans.len();
                found.spans.push(TrueSpan { unit, places: Vec::new() });
            }
            found.spans[*last].places.push(place);
            found.of.insert(place, *last);
        }
        found
    }

    /// The span that a record is in, by its position.
    pub(crate) fn of(&self, place: &Place) -> Option<usize> {
        self.of.get(place).copied()
    }

    /// Whether a record is the first one of its span; none if it is in none.
    pub(crate) fn begins(&self, place: &Place) -> Option<bool> {
        Some(self.spans[self.of(place)?].places[0] == place)
    }
}

/// How right the spans of a table are.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SpanScores {
    /// True spans.
    pub(crate) n_true: u64,
    /// Spans of the table that hold records of true ones.
    pub(crate) n_found: u64,
    /// B-cubed precision; 1 where no record is in a span of the table.
    pub(crate) precision: f64,
    /// B-cubed recall.
    pub(crate) recall: f64,
}

impl SpanScores {
    /// The harmonic mean of both.
    pub(crate) fn f(&self) -> f64 {
        harmonic_mean(self.precision, self.recall)
    }
}

/// Scores the spans of `found`; none where the truth has none.
pub(crate) fn score(spans: &TrueSpans<'_>, found: &Found<'_>) -> Option<SpanScores> {
    score_by(spans, |place| found.span_of(place))
}

/// Scores what `span_of` says that the span of a record is; none where the truth has no spans.
pub(crate) fn score_by<K: Copy + Ord>(
    spans: &TrueSpans<'_>,
    span_of: impl Fn(&Place) -> Option<K>,
) -> Option<SpanScores> {
    let mut n_found: BTreeMap<K, u64> = BTreeMap::new();
    let mut n_both: BTreeMap<(usize, K), u64> = BTreeMap::new();
    for (&place, &span) in &spans.of {
        if let Some(id) = span_of(place) {
            *n_found.entry(id).or_default() += 1;
            *n_both.entry((span, id)).or_default() += 1;
        }
    }
    if spans.spans.is_empty() {
        return None;
    }
    let (mut precision, mut recall, mut n_in_span) = (0.0, 0.0, 0);
    // Each of the n records that both have in common has the same shares.
    for (&(span, id), &n) in &n_both {
        let n_f = n as f64;
        precision += n_f * n_f / n_found[&id] as f64;
        recall += n_f * n_f / spans.spans[span].places.len() as f64;
        n_in_span += n;
    }
    Some(SpanScores {
        n_true: spans.spans.len() as u64,
        n_found: n_found.len() as u64,
        precision: if n_in_span == 0 { 1.0 } else { precision / n_in_span as f64 },
        recall: recall / spans.of.len() as f64,
    })
}

#[cfg(test)]
mod tests {
    use super::{TrueSpans, score};
    use crate::evaluation::sketch::Sketch;

    #[track_caller]
    fn check(text: &str, n_true: u64, precision: f64, recall: f64) {
        let sketch = Sketch::new(text);
        let scores = score(&TrueSpans::new(&sketch.truth), &sketch.found(&[])).expect("spans");
        assert_eq!(scores.n_true, n_true, "true spans");
        assert!((scores.precision - precision).abs() < 1e-9, "{scores:?}");
        assert!((scores.recall - recall).abs() < 1e-9, "{scores:?}");
    }

    #[test]
    fn a_thread_that_turns_to_another_unit_has_ended_its_span() {
        check("1 t u o s r -\n2 t u o s r -\n3 t v p s2 r2 -\n4 t u o s3 r -", 3, 1.0, 1.0);
    }

    #[test]
    fn other_threads_and_records_without_a_unit_end_no_span() {
        check("1 t u o s r -\n2 t2 v p s2 r2 -\n3 t - ? s r -\n4 t u o s r -", 2, 1.0, 1.0);
    }

    #[test]
    fn a_span_in_two_parts_is_half_found() {
        // Of three records two are in one span, one in another: 2/3, 2/3, 1/3.
        check("1 t u o s r -\n2 t u o s r -\n3 t u o s2 r -", 1, 1.0, 5.0 / 9.0);
    }

    #[test]
    fn a_span_of_two_units_is_half_right_and_one_without_is_not_found() {
        check("1 t u o s r -\n2 t v p s r -\n3 t w q - - -", 3, 0.5, 2.0 / 3.0);
    }

    #[test]
    fn without_threads_there_are_no_spans() {
        let sketch = Sketch::new("1 - u o s r -");
        assert_eq!(score(&TrueSpans::new(&sketch.truth), &sketch.found(&[])), None);
    }
}
