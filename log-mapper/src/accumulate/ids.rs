//! Ids: what the logs themselves say of which request a record is of ([`crate::ids`]).
//!
//! Records with different ids are never of one span; records with the same one are of one request,
//! and so of the span among those that can take them. A record without one is joined by all else.
//! An id that changes in the middle of what the code proves to be one run of a method is none of a
//! request, and is not looked at any more; one that lasts for too long does no harm here, since it
//! changes between requests all the same. Whether it does is for the reducer to say.

use std::hash::BuildHasher as _;
use std::sync::Arc;

use rustc_hash::{FxBuildHasher, FxHashSet};
use schema::{Place, TraceId};

use super::Scan;
use super::open_spans::SpanIndex;
use super::pools::Closed;
use crate::record::Record;

/// How often a record that only goes on with what its thread was at has printed the same id as the
/// record before, and another one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Changes {
    n_same: u64,
    n_changed: u64,
}

impl Changes {
    /// Whether ids change within a run as often as not.
    pub(super) fn are_within_runs(self) -> bool {
        self.n_changed > self.n_same
    }
}

/// The ids that the first records print, by their hashes.
#[derive(Clone, Debug, Default)]
pub(super) struct Ahead {
    seen: FxHashSet<u64>,
    n: usize,
}

/// Ids of which none of so many stands on two records are those of records.
const ALONE_MIN: usize = 16;

impl Ahead {
    /// Sees one of the first records.
    pub(super) fn see(&mut self, record: &Record<'_>) {
        if let Some(id) = record.ids[0] {
            self.seen.insert(FxBuildHasher.hash_one(id));
            self.n += 1;
        }
    }

    /// Whether no two records share an id: here it tells nothing of which span they are.
    pub(super) fn are_of_records(&self) -> bool {
        self.n >= ALONE_MIN && self.seen.len() == self.n
    }
}

/// The ids that a span has shown.
#[derive(Clone, Debug)]
pub(super) struct Shown {
    pub(super) trace: Arc<str>,
    /// The id of the span that the tracer of the program was in last.
    pub(super) span: Option<Arc<str>>,
    /// The first and the last record that has printed one.
    pub(super) places: [Place; 2],
}

impl Scan<'_> {
    /// The id of the request that a record prints, if that tells of which span it is.
    pub(super) fn trace_of<'r>(&self, record: &Record<'r>) -> Option<&'r str> {
        record.ids[0].filter(|_| !self.id_changes.are_within_runs() && !self.ids_ahead.are_of_records())
    }

    /// Whether the record is of another request than `span`, as their ids say.
    pub(super) fn is_of_another_trace(&self, record: &Record<'_>, span: SpanIndex) -> bool {
        let known = self.open.get(span).ids.as_ref();
        known.zip(self.trace_of(record)).is_some_and(|(known, trace)| *known.trace != *trace)
    }

    /// Whether the record begins another call of the same request: a tracer has one span for each.
    pub(super) fn is_of_another_call(&self, record: &Record<'_>, span: SpanIndex) -> bool {
        let known = self.open.get(span).ids.as_ref().and_then(|ids| ids.span.as_deref());
        self.trace_of(record).is_some() && known.zip(record.ids[1]).is_some_and(|(known, id)| known != id)
    }

    /// Learns from a record of a thread that prints an id whether ids stay while the thread goes on
    /// with one run of a method.
    pub(super) fn see_id(&mut self, record: &Record<'_>, thread: Option<u32>) {
        let current = thread.and_then(|thread| self.open.current(thread));
        let Some((current, id)) = current.zip(record.ids[0]) else { return };
        let open = self.open.get(current);
        let Some(known) = open.ids.as_ref() else { return };
        if !self.only_goes_on(record, thread, current) {
            return;
        }
        match *known.trace == *id {
            true => self.id_changes.n_same += 1,
            false => self.id_changes.n_changed += 1,
        }
    }

    /// The ids of a record that is a span of its own.
    pub(super) fn shown_by(&self, record: &Record<'_>) -> Option<Shown> {
        let trace = record.ids[0].filter(|_| !self.id_changes.are_within_runs())?;
        let place = Place { file: record.file, line: record.line };
        Some(Shown { trace: trace.into(), span: record.ids[1].map(Into::into), places: [place; 2] })
    }

    /// Remembers the ids of a record that `span` has taken.
    pub(super) fn show_ids(&mut self, span: SpanIndex, record: &Record<'_>) {
        let Some(trace) = record.ids[0].filter(|_| !self.id_changes.are_within_runs()) else { return };
        let place = Place { file: record.file, line: record.line };
        self.open.show_trace(span, trace, record.ids[1], place);
    }
}

impl Closed {
    /// Whether two spans are of different requests, as their ids say.
    pub(super) fn is_of_another_trace(&self, other: &Self) -> bool {
        self.ids.iter().any(|a| other.ids.iter().any(|b| a.trace != b.trace))
    }

    /// Settles of which request it is by the ids that its records have printed. Where spans of
    /// several were joined all the same, it is of none.
    pub(super) fn settle_trace(&mut self) {
        let events = &self.span.events;
        let printed =
            |shown: &&Shown| shown.places.iter().any(|place| events.iter().any(|e| e.place() == *place));
        let mut ids = self.ids.iter().filter(printed).map(|shown| &shown.trace);
        let first = ids.next();
        let only = first.filter(|first| ids.all(|other| other == *first));
        self.span.trace = only.map(|text| TraceId { field: schema::Name::default(), text: Arc::clone(text) });
    }
}
