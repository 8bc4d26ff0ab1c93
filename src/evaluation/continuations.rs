//! Continuations: how runs of lines are kept together.
//!
//! A *continuation* are two records of one unit that a thread of a node printed one right after
//! the other, both of them in spans of the table. It is *broken* if these are two. Told is how
//! near each other the two stand in the log and in the code, since what follows at once, or stands
//! in one method, needs little to be found.

use std::collections::BTreeMap;

use schema::tables::EventRow;

use super::found::Found;
use super::truth::{Place, Truth};

/// Records that follow each other so soon are of one burst of work, µs.
const SOON: i64 = 10_000;

/// Continuations, and those that a table breaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Continuations {
    /// All of them.
    pub(crate) n: u64,
    /// In two spans of the table.
    pub(crate) n_broken: u64,
    /// Of these: right below each other in the log.
    pub(crate) n_next_line: u64,
    /// At most [`SOON`] apart.
    pub(crate) n_soon: u64,
    /// Both.
    pub(crate) n_next_line_soon: u64,
    /// From statements in one method, by the table.
    pub(crate) n_one_method: u64,
    /// That, right below each other.
    pub(crate) n_one_method_next_line: u64,
    /// In spans of one top-level method.
    pub(crate) n_one_top_level: u64,
}

/// Counts the continuations of `truth`; none where it names no threads.
pub(crate) fn count(truth: &Truth, found: &Found<'_>) -> Option<Continuations> {
    let tops: BTreeMap<&str, &str> =
        found.spans.iter().map(|span| (&*span.span_id, &*span.top_level_method)).collect();
    let mut last: BTreeMap<(&str, &str), (&Place, Option<&str>)> = BTreeMap::new();
    let mut count = Continuations::default();
    for (place, record) in &truth.records {
        let Some(thread) = &record.thread else { continue };
        let unit = record.unit.as_deref();
        let before = last.insert((&place.0, thread), (place, unit));
        let Some((before, _)) = before.filter(|before| before.1 == unit && unit.is_some()) else { continue };
        let [a, b] = [before, place].map(|place| found.events.get(place).copied());
        let (Some(a), Some(b)) = (a, b) else { continue };
        if let (Some(from), Some(to)) = (&a.span_id, &b.span_id) {
            count.n += 1;
            if from != to {
                count.add(a, b, tops.get(&**from) == tops.get(&**to));
            }
        }
    }
    (!last.is_empty()).then_some(count)
}

impl Continuations {
    /// Adds one that is broken.
    fn add(&mut self, a: &EventRow, b: &EventRow, is_one_top_level: bool) {
        let is_next = b.line - a.line <= a.n_lines;
        let is_soon = b.ts.0 - a.ts.0 <= SOON;
        let is_one_method = a.class == b.class && a.method == b.method;
        self.n_broken += 1;
        for (n, is_so) in [
            (&mut self.n_next_line, is_next),
            (&mut self.n_soon, is_soon),
            (&mut self.n_next_line_soon, is_next && is_soon),
            (&mut self.n_one_method, is_one_method),
            (&mut self.n_one_method_next_line, is_one_method && is_next),
            (&mut self.n_one_top_level, is_one_top_level),
        ] {
            *n += u64::from(is_so);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Continuations, count};
    use crate::evaluation::sketch::Sketch;

    /// Continuations, broken ones, and those of them that are the next line.
    #[track_caller]
    fn check(text: &str, expected: [u64; 3]) -> Continuations {
        let sketch = Sketch::new(text);
        let count = count(&sketch.truth, &sketch.found(&[])).expect("threads");
        assert_eq!([count.n, count.n_broken, count.n_next_line], expected, "{count:?}");
        count
    }

    #[test]
    fn what_lies_in_one_span_is_not_broken() {
        check("1 t u o s r -\n2 t u o s r -\n3 t u o s2 r -", [2, 1, 1]);
    }

    #[test]
    fn lines_of_other_threads_between_are_told_apart() {
        let count = check("1 t u o s r -\n2 t2 v p s3 r2 -\n3 t u o s2 r -", [1, 1, 0]);
        assert_eq!((count.n_soon, count.n_next_line_soon), (1, 0));
    }

    #[test]
    fn another_unit_or_none_in_the_thread_is_no_continuation() {
        check("1 t u o s r -\n2 t v p s2 r2 -\n3 t u o s3 r -", [0, 0, 0]);
        check("1 t u o s r -\n2 t - ? s2 r2 -\n3 t u o s3 r -", [0, 0, 0]);
        check("1 t - o s r -\n2 t - o s2 r -", [0, 0, 0]);
    }

    #[test]
    fn nothing_is_said_of_what_is_in_no_span() {
        check("1 t u o s r -\n2 t u o - - -\n3 t u o s2 r -", [0, 0, 0]);
    }

    #[test]
    fn without_threads_there_are_none() {
        let sketch = Sketch::new("1 - u o s r -\n2 - u o s2 r -");
        assert_eq!(count(&sketch.truth, &sketch.found(&[])), None);
    }
}
