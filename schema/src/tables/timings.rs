//! The columns of `requests`, `spans` and `events` that tell when and where what happened: all
//! that a profile reads. A file of the table is read by these alone, so that what they leave out is
//! never decoded.

use super::cell::{Text, Time, record};

record! {
    /// When a request was.
    RequestTiming = "requests" {
        /// 32 hex digits.
        request_id: Text,
        /// `Class.method` of the earliest span's top-level method.
        request_type: Text,
        /// First event.
        start_ts: Time,
        /// Its spans.
        n_spans: i64,
        /// Its events.
        n_events: i64,
    }
}

record! {
    /// When a request ended.
    RequestEnd = "requests" {
        /// 32 hex digits.
        request_id: Text,
        /// Last event.
        end_ts: Time,
    }
}

record! {
    /// When a span was, and whom it belongs to.
    SpanTiming = "spans" {
        /// The request.
        request_id: Text,
        /// 16 hex digits, unique in the table.
        span_id: Text,
        /// The span that handed over to this one; null: a root.
        parent_span_id: Option<Text>,
        /// `Class.method`.
        top_level_method: Text,
        /// How it was handed over; null: a root.
        link: Option<Text>,
        /// First event.
        start_ts: Time,
        /// Last event.
        end_ts: Time,
        /// Its events.
        n_events: i64,
        /// `seq` of the first event of the span that handed over to it which everything of it
        /// must have happened before; null: nobody is known to wait.
        parent_after: Option<i64>,
    }
}

record! {
    /// When an event was, and which log point printed it.
    EventTiming = "events" {
        /// The request; null: unattributed.
        request_id: Option<Text>,
        /// The span; null: unattributed.
        span_id: Option<Text>,
        /// Position in its span, from 0.
        seq: i64,
        /// Time of the record, as printed.
        ts: Time,
        /// The log point that printed it.
        log_point_id: Option<i64>,
    }
}

record! {
    /// What a list of requests tells of each.
    RequestTotals = "requests" {
        /// 32 hex digits.
        request_id: Text,
        /// `Class.method` of the earliest span's top-level method.
        request_type: Text,
        /// First event.
        start_ts: Time,
        /// Microseconds from it to the last one.
        duration_us: i64,
        /// Nodes it was on.
        n_nodes: i64,
        /// Its spans.
        n_spans: i64,
        /// Its events.
        n_events: i64,
        /// What is odd about it.
        flags: Vec<Text>,
    }
}

record! {
    /// When a request was on a node.
    RequestNodeTime = "request_nodes" {
        /// The request.
        request_id: Text,
        /// Label of the log source.
        node: Text,
        /// First event there.
        start_ts: Time,
        /// Last event there.
        end_ts: Time,
    }
}

record! {
    /// Which way a request went through the code.
    RequestSequence = "requests" {
        /// 32 hex digits.
        request_id: Text,
        /// `Class.method` of the earliest span's top-level method.
        request_type: Text,
        /// Equal ids: same path through the code.
        log_sequence_id: Text,
        /// First event.
        start_ts: Time,
        /// Last event.
        end_ts: Time,
    }
}
