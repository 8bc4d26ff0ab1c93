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
