//! The critical path of one request, as the profile has those of all.

use super::critical_path::{Part, critical_path};
use super::plan::places;
use super::shape::shape;
use crate::request::Request;
use crate::request::trace::Trace;

/// A part of a critical path: of a span, or of the hand-over to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathPart {
    /// The span, by its position.
    pub span: usize,
    /// Before it starts, after its parent has ended.
    pub is_hand_over: bool,
    /// µs since 1970.
    pub from_us: i64,
    /// µs since 1970.
    pub to_us: i64,
}

impl Request {
    /// The spans and hand-overs, one at each time, without which it would have ended earlier,
    /// from its end back to the start of a root.
    #[must_use]
    pub fn critical_path(&self) -> Vec<PathPart> {
        of(self.trace())
    }
}

/// Of `trace`, from its end back.
fn of(trace: &Trace) -> Vec<PathPart> {
    if trace.spans.is_empty() {
        return Vec::new();
    }
    // Names make no difference: places are only told apart.
    let n_operations = trace.spans.iter().map(|span| span.operation + 1).max().unwrap_or_default();
    let shape = shape(trace, 0, &vec![0; n_operations as usize]);
    let row: Vec<i64> = shape
        .places
        .iter()
        .flat_map(|&at| [trace.spans[at as usize].start_us, trace.spans[at as usize].end_us])
        .collect();
    let part = |part: Part| PathPart {
        span: shape.places[part.place as usize] as usize,
        is_hand_over: part.is_hand_over,
        from_us: part.from_us,
        to_us: part.to_us,
    };
    critical_path(&places(trace, &shape), &row).into_iter().map(part).collect()
}
