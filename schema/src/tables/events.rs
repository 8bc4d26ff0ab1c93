//! `events`: one row per record of a log. Log text is not stored; file and
//! offset lead back to it.

use super::cell::{Text, Time, record};
use super::position::PositionRow;

record! {
    /// A printed or inferred value with its name.
    NameValue {
        /// Value class, e.g. `Block.blockId`, or the access path where there is none.
        name: Text,
        /// Canonical text.
        value: Text,
    }
}

record! {
    /// A record of a log.
    EventRow = "events" {
        /// The request; null: unattributed.
        request_id: Option<Text>,
        /// The span; null: unattributed.
        span_id: Option<Text>,
        /// Position in its span, from 0; among the unattributed of its node otherwise.
        seq: i64,
        /// Label of the log source.
        node: Text,
        /// Path of the log as it was given.
        file: Text,
        /// First line, from 1.
        line: i64,
        /// Lines of the record.
        n_lines: i64,
        /// Offset in the (decompressed) file.
        byte_offset: i64,
        /// Time of the record, as printed.
        ts: Time,
        /// Level as printed.
        level: Option<Text>,
        /// The log point that printed it; joins `log_points`.
        log_point_id: Option<i64>,
        /// Class of the log point, binary name with dots.
        class: Option<Text>,
        /// Method of the log point.
        method: Option<Text>,
        /// Source line of the log point.
        source_line: Option<i64>,
        /// Printed values.
        values: Vec<NameValue>,
        /// Why it is in this request, or in none.
        reason: Text,
        /// The name of the [pass](crate::Pass) that put it into its span, or, of the first
        /// there, that begins it; null: unattributed, or the table is older.
        pass: Option<Text>,
        /// Where it stands in the order of its request, for `happened_before` and the like;
        /// null: unattributed.
        position: Option<PositionRow>,
    }
}
