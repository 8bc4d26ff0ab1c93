//! Skeletons: what stitching sees of spans, the part of them that is held of all nodes at once.
//!
//! A span is what tells it from others (node, thread, top-level methods, identifiers) and of its
//! events what decides: when and where they were printed, by which log point, with which values.
//! All else is needed only for rows, and is read for them where the whole span is kept
//! ([`Stored`]).

use std::sync::Arc;

use schema::{LogPointId, Name, Place, TopLevelId, TraceId, Value, Values};

/// What is seen of a span.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Span {
    /// Label of the log source.
    pub(crate) node: Name,
    /// Thread name, where the layout prints it.
    pub(crate) thread: Option<Arc<str>>,
    /// Top-level methods that can have printed all events, best first.
    pub(crate) top_levels: Box<[TopLevelId]>,
    /// Identifier values, sorted by value class.
    pub(crate) identifiers: Box<[Value]>,
    /// The id of its request that the logs carry.
    pub(crate) trace: Option<TraceId>,
    /// Its events, in log order.
    pub(crate) events: Box<[Event]>,
    /// Closed by the window or the end of input, not by the exit of its DAG.
    pub(crate) truncated: bool,
    /// Records of other spans that it can be a part of.
    pub(crate) hosts: Box<[Place]>,
    /// What the clock of its events was behind, as often as that changed; empty: never.
    pub(crate) late_us: Box<[i64]>,
    /// Offset of its first record in the (decompressed) file.
    pub(crate) byte_offset: u64,
    /// Where all of it is.
    pub(crate) stored: Stored,
    /// It is of the period that is decided, and not of what is seen around that.
    pub(crate) is_own: bool,
}

/// What is seen of an event.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Event {
    /// Time, µs since 1970 UTC, by a clock that is never set back.
    pub(crate) ts_us: i64,
    /// First line of the record, from 1.
    pub(crate) line: u64,
    /// Printed values: (position in the log point's variables, text).
    pub(crate) values: Values,
    /// The log point that printed it.
    pub(crate) log_point: Option<LogPointId>,
    /// Index into the node's `inputs`.
    pub(crate) file: u32,
    /// Lines of the record.
    pub(crate) n_lines: u32,
    /// Level as printed.
    pub(crate) level: Option<schema::Level>,
}

/// Where a whole span is: in which of the stores that are read together, and where there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Stored {
    /// Which store.
    pub(crate) store: u32,
    /// Where it begins there.
    pub(crate) offset: u64,
    /// Its bytes.
    pub(crate) n_bytes: u32,
}

impl Span {
    /// Of a whole span that is kept at `stored`.
    pub(crate) fn new(span: schema::Span, stored: Stored) -> Self {
        let mut late_us: Vec<i64> =
            span.events.iter().map(|event| event.late_us).filter(|us| *us != 0).collect();
        late_us.dedup();
        Self {
            node: span.node,
            thread: span.thread,
            top_levels: span.top_levels.into(),
            identifiers: span.identifiers.into(),
            trace: span.trace,
            byte_offset: span.events.first().map_or(0, |event| event.byte_offset),
            events: span.events.into_iter().map(Event::new).collect(),
            truncated: span.truncated,
            hosts: span.hosts.into(),
            late_us: late_us.into(),
            stored,
            is_own: true,
        }
    }

    /// As much of the whole span as is seen of it.
    pub(crate) fn outline(&self) -> schema::Span {
        let event = |event: &Event| schema::Event {
            file: event.file,
            line: event.line,
            n_lines: event.n_lines,
            byte_offset: 0,
            ts_us: event.ts_us,
            late_us: 0,
            level: event.level,
            log_point: event.log_point,
            values: Values::default(),
            pass: schema::Pass::Opens,
            reason: Name::default(),
        };
        schema::Span {
            node: self.node,
            thread: self.thread.clone(),
            top_levels: self.top_levels.to_vec(),
            identifiers: Vec::new(),
            trace: None,
            events: self.events.iter().map(event).collect(),
            truncated: self.truncated,
            hosts: Vec::new(),
            n_alike: 1,
        }
    }
}

impl Event {
    fn new(event: schema::Event) -> Self {
        let schema::Event { file, line, n_lines, ts_us, level, log_point, values, .. } = event;
        Self { ts_us, line, values, log_point, file, n_lines, level }
    }

    /// Where it stands.
    pub(crate) fn place(&self) -> Place {
        Place { file: self.file, line: self.line }
    }
}
