//! Baselines: what spans are worth that need little or no analysis. Spans below these are
//! no better than what anyone gets who does not look at the program.
//!
//! *Adjacent* knows nothing: a line of a node goes on where the line before it ended, if it
//! follows soon. The [tracker](super::tracker) weighs what a log says of itself.

use schema::tables::{LogPointRow, TopLevelMethodRow};

use super::found::Found;
use super::spans::{SpanScores, TrueSpans, score_by};
use super::tracker::Tracker;
use super::truth::Place;

/// How soon a line must follow the one before it, µs.
pub(crate) const ADJACENT: [i64; 3] = [0, 1_000, 5_000];

/// What going on must score.
pub(crate) const COSTS: [f64; 3] = [1.0, 2.0, 3.0];

/// The scores of spans that are made in these ways.
#[derive(Clone, Debug)]
pub(crate) struct Baselines {
    /// For each of [`ADJACENT`].
    pub(crate) adjacent: [SpanScores; 3],
    /// For each of [`COSTS`].
    pub(crate) tracker: [SpanScores; 3],
}

/// Measures them; none where the truth has no spans.
pub(crate) fn measure(
    spans: &TrueSpans<'_>,
    found: &Found<'_>,
    points: &[LogPointRow],
    tops: &[TopLevelMethodRow],
) -> Option<Baselines> {
    if spans.spans.is_empty() {
        return None;
    }
    let tracker = Tracker::new(found, points, tops);
    let score = |spans_of: Vec<(&Place, u32)>| {
        let span_of = |place: &Place| {
            let at = spans_of.binary_search_by(|(other, _)| (*other).cmp(place)).ok()?;
            Some(spans_of[at].1)
        };
        score_by(spans, span_of).unwrap_or_default()
    };
    Some(Baselines {
        adjacent: ADJACENT.map(|gap| score(adjacent(found, gap))),
        tracker: COSTS.map(|cost| score(tracker.tracks(cost).collect())),
    })
}

/// Runs of lines of one node that follow each other within `gap`, by the order of their places.
fn adjacent<'a>(found: &'a Found<'_>, gap: i64) -> Vec<(&'a Place, u32)> {
    let (mut run, mut last) = (0, None);
    let run_of = |(place, event): (&'a Place, &&schema::tables::EventRow)| {
        let before = last.replace((&place.0, event.ts.0));
        if before.is_none_or(|(node, ts)| *node != place.0 || event.ts.0 - ts > gap) {
            run += 1;
        }
        (place, run)
    };
    found.events.iter().map(run_of).collect()
}

#[cfg(test)]
mod tests {
    use schema::tables::{LogPointRow, TopLevelMethodRow};

    use super::{Baselines, measure};
    use crate::evaluation::sketch::Sketch;
    use crate::evaluation::spans::TrueSpans;

    fn baselines(text: &str, times: &[i64]) -> Option<Baselines> {
        let mut sketch = Sketch::new(text);
        sketch.set_times(times);
        measure(&TrueSpans::new(&sketch.truth), &sketch.found(&[]), &[], &[])
    }

    #[test]
    fn lines_go_on_within_the_gap() {
        // Gaps of 0 and 1 ms within the first unit, of 5 ms to the second.
        let text = "1 t u o s r -\n2 t u o s r -\n3 t u o s r -\n4 t2 v p s2 r2 -";
        let baselines = baselines(text, &[0, 0, 1_000, 6_000]).expect("spans");
        let n_found = baselines.adjacent.clone().map(|scores| scores.n_found);
        assert_eq!(n_found, [3, 2, 1]);
        let [at_once, soon, late] = baselines.adjacent;
        assert_eq!((at_once.precision, soon.f(), late.recall), (1.0, 1.0, 1.0));
        // Two of three records of the one in one run, one in another: (2/3 + 2/3 + 1/3 + 1) / 4.
        assert!((at_once.recall - 2.0 / 3.0).abs() < 1e-9, "{at_once:?}");
        // Three records and one in one run: (3 * 3/4 + 1/4) / 4.
        assert!((late.precision - 0.625).abs() < 1e-9, "{late:?}");
    }

    #[test]
    fn what_no_method_prints_begins_a_track() {
        let baselines = baselines("1 t u o s r -\n2 t u o s r -", &[0, 0]).expect("spans");
        assert!(baselines.tracker.iter().all(|scores| scores.n_found == 2), "{baselines:?}");
    }

    #[test]
    fn without_threads_there_are_none() {
        assert!(baselines("1 - u o s r -", &[0]).is_none());
    }

    /// Two methods print two lines each, now one after the other, now in turns; what they print
    /// tells them apart.
    #[test]
    fn the_tracker_learns_what_goes_on_with_what() {
        let mut text = String::new();
        let mut order = Vec::new();
        for turn in 0..100 {
            // begin and end of u, begin and end of v, or both in turns.
            let [u, v] = [2 * turn, 2 * turn + 1];
            let in_turns = turn % 4 == 0;
            let [second, third] = if in_turns { [(v, 2), (u, 1)] } else { [(u, 1), (v, 2)] };
            order.extend([(u, 0), second, third, (v, 3)]);
        }
        for (at, (unit, _)) in order.iter().enumerate() {
            text += &format!("{} t{unit} u{unit} o{unit} s r -\n", at + 1);
        }
        let mut sketch = Sketch::new(text.trim_end());
        let times: Vec<i64> = (0..order.len() as i64).map(|at| 20_000 * (at / 4)).collect();
        sketch.set_times(&times);
        sketch.set_points(order.iter().map(|(unit, point)| (*point, format!("unit {unit}"))));
        let point = |id: i64| LogPointRow {
            log_point_id: id,
            class: "a.B".into(),
            method: if id < 2 { "c" } else { "d" }.into(),
            source_line: id,
            ..LogPointRow::default()
        };
        let points: Vec<LogPointRow> = (0..4).map(point).collect();
        let tops = [vec![0, 1], vec![2, 3]]
            .map(|log_points| TopLevelMethodRow { log_points, ..TopLevelMethodRow::default() });
        let found = sketch.found(&[]);
        let spans = TrueSpans::new(&sketch.truth);
        let baselines = measure(&spans, &found, &points, &tops).expect("spans");
        let [tracker, again] = [&baselines.tracker[1], &baselines.tracker[0]];
        assert_eq!(tracker.n_true, 200);
        assert!(tracker.f() > 0.99 && again.recall > 0.99, "{baselines:?}");
        // The four lines of a turn have one time: nothing tells them apart that is not analyzed.
        assert!(baselines.adjacent.iter().all(|scores| scores.precision < 0.51), "{baselines:?}");
    }
}
