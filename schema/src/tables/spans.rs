//! `spans`: the part of a request that one thread of one top-level method did
//! on one node. Times are by a clock that is never set back.

use super::cell::{Text, Time, record};
use super::position::PositionRow;

record! {
    /// A hand-over to a span, or that it goes on with another one.
    HandOver {
        /// The other span.
        span_id: Text,
        /// How it was handed over, as in `spans.link`; null: it goes on with it.
        link: Option<Text>,
        /// The name of the [pass](crate::Pass) that found it.
        reason: Text,
        /// How likely it is true; null: not known, the table is older.
        probability: Option<f64>,
    }
}

record! {
    /// A span of a request.
    SpanRow = "spans" {
        /// The request.
        request_id: Text,
        /// 16 hex digits, unique in the table.
        span_id: Text,
        /// The span that handed over to this one; null: a root.
        parent_span_id: Option<Text>,
        /// Label of the log source.
        node: Text,
        /// Thread name, where the layout prints it.
        thread: Option<Text>,
        /// `Class.method`; joins `top_level_methods`. Where several top-level methods can have
        /// printed it alike, the method that prints its first event.
        top_level_method: Text,
        /// How it was handed over: `call`, `thread`, `queue`, `rpc`, `socket`,
        /// `store`, `entity` or `ask`; null: a root, or the rest of a span that the window cut.
        link: Option<Text>,
        /// First event.
        start_ts: Time,
        /// Last event.
        end_ts: Time,
        /// Its events.
        n_events: i64,
        /// The name of the pass that found the hand-over from `parent_span_id`; null: a root.
        link_reason: Option<Text>,
        /// How likely the hand-over from `parent_span_id` is true, 0 to 1; null: a root, or not
        /// known, the table is older.
        link_probability: Option<f64>,
        /// All hand-overs to it, the first one that of `parent_span_id`; null: not known, the
        /// table is older.
        hand_overs: Option<Vec<HandOver>>,
        /// So many events of the span that handed over to it, the first ones, must have
        /// happened before everything of it; null: nothing is known.
        parent_before: Option<i64>,
        /// `seq` of the first event of the span that handed over to it which everything of
        /// it must have happened before, that after the last one if only its end waits for
        /// it; null: nobody is known to wait.
        parent_after: Option<i64>,
        /// Where it stands in the order of its request, for `happened_before` and the like.
        position: Option<PositionRow>,
        /// The top-level methods that can have printed it and that nothing tells apart, best first:
        /// mostly one; joins `top_level_methods`; null: not known, the table is older.
        top_level_methods: Option<Vec<Text>>,
    }
}
