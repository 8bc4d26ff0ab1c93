//! `requests`, `request_nodes` and `log_sequences`: what a request is as a whole; `intervals`:
//! what is left of those that were thinned to counts. Times are by a clock that is never set back: where the clock of a node was, they
//! are not those that its events print.

use super::cell::{Text, Time, record};
use super::events::NameValue;

record! {
    /// The time a request spent on one node, inside `requests`.
    NodeTime {
        /// Label of the log source.
        node: Text,
        /// First event there.
        start_ts: Time,
        /// Last event there.
        end_ts: Time,
    }
}

record! {
    /// A request: the finished stitch of its spans.
    RequestRow = "requests" {
        /// 32 hex digits, a function of where it begins in the logs.
        request_id: Text,
        /// What the earliest span is called, `spans.top_level_method`.
        request_type: Text,
        /// First event.
        start_ts: Time,
        /// Last event.
        end_ts: Time,
        /// Microseconds between them.
        duration_us: i64,
        /// Nodes it was on.
        n_nodes: i64,
        /// Its spans.
        n_spans: i64,
        /// Its events.
        n_events: i64,
        /// Equal ids: same path through the code; joins `log_sequences`.
        log_sequence_id: Text,
        /// When it was on which node, by start.
        nodes: Vec<NodeTime>,
        /// Values of its identifiers, by name.
        identifiers: Vec<NameValue>,
        /// `truncated`: closed by the window or the end of input;
        /// `clock_conflict`: a receiver starts before its sender.
        flags: Vec<Text>,
        /// How likely all its hand-overs are true, 0 to 1: the product of
        /// `spans.link_probability`; null: not known, the table is older.
        confidence: Option<f64>,
        /// What it can be, `spans.top_level_methods` of the earliest span: one, which
        /// `request_type` names, or several that nothing tells apart; null: the table is older.
        request_types: Option<Vec<Text>>,
    }
}

record! {
    /// A request on one node.
    RequestNodeRow = "request_nodes" {
        /// The request.
        request_id: Text,
        /// Label of the log source.
        node: Text,
        /// First event there.
        start_ts: Time,
        /// Last event there.
        end_ts: Time,
        /// Events there.
        n_events: i64,
    }
}

record! {
    /// A path through the code: the log points of each span, spans sorted.
    LogSequenceRow = "log_sequences" {
        /// Hash of what follows.
        log_sequence_id: Text,
        /// Type of the first request seen with it.
        request_type: Text,
        /// Log point ids, one list per span.
        sequence: Vec<Vec<i64>>,
    }
}

record! {
    /// Requests of one type that began in one interval, in figures: what is left of them.
    IntervalRow = "intervals" {
        /// When the interval begins.
        start_ts: Time,
        /// When it ends; this is not in it.
        end_ts: Time,
        /// Type of the requests.
        request_type: Text,
        /// How many.
        n_requests: i64,
        /// Their spans.
        n_spans: i64,
        /// Their events.
        n_events: i64,
        /// Sum of their durations, µs.
        sum_duration_us: i64,
        /// The shortest.
        min_duration_us: i64,
        /// The longest.
        max_duration_us: i64,
        /// When the first of them began.
        first_start_ts: Time,
        /// When the last of them ended.
        last_end_ts: Time,
    }
}
