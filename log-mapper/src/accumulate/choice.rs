//! A choice: where a record goes, and the event that it becomes.

use schema::{Event, Name, Pass, Values};

use super::open_span::{After, TopState};
use super::open_spans::SpanIndex;
use super::takers::Taker;
use crate::record::{Candidate, Record};

/// Where a record goes: with which of its candidates, and why.
pub(super) struct Choice {
    pub(super) candidate: usize,
    pub(super) thread: Option<u32>,
    pub(super) goes: Goes,
    /// What has decided so.
    pub(super) by: Pass,
}

impl Choice {
    /// The record joins the span of a taker, which is that `after` it.
    pub(super) fn joins(
        (taker, after): (&Taker, After),
        thread: Option<u32>,
        reason: &str,
        by: Pass,
    ) -> Self {
        let Taker { candidate, span, .. } = *taker;
        Self { candidate, thread, goes: Goes::Joins(span, after, Name::from(reason)), by }
    }
}

/// What becomes of it.
pub(super) enum Goes {
    Joins(SpanIndex, After, Name),
    Opens(Vec<TopState>),
    /// Is a span of its own, while its thread goes on with what it was at.
    Apart(Vec<TopState>),
    /// Opens a span that begins with the last record of another one.
    Takes(Vec<TopState>, SpanIndex),
    /// Is printed inside of what its thread is doing.
    Inside(SpanIndex),
    /// Is what the caller of a span prints of its failure.
    Fails(SpanIndex),
    /// Joins a span together with the only records of other ones.
    Adopts(SpanIndex, After, Vec<SpanIndex>),
}

/// The event of a record that one of its candidates has printed, or none.
pub(super) fn event(
    record: &Record<'_>,
    candidate: Option<&Candidate<'_>>,
    (pass, reason): (Pass, Name),
) -> Event {
    Event {
        file: record.file,
        line: record.line,
        n_lines: record.n_lines,
        byte_offset: record.byte_offset,
        ts_us: record.ts_us,
        late_us: record.late_us,
        level: record.level,
        log_point: candidate.map(|candidate| candidate.log_point),
        values: candidate.map(|candidate| Values::new(&candidate.values)).unwrap_or_default(),
        pass,
        reason,
    }
}
