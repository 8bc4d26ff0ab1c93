//! The request accumulator: one request as far as it is known so far (lprof §5).
//!
//! The mapper makes accumulators of one [`Span`] each; reduce merges them along
//! communication pairs until one accumulator is one request. Ids are those of
//! the model that both sides read; its digest travels along.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::ids::{LogPointId, PairId, TopLevelId, ValueClassId};
use crate::model::Level;
use crate::pass::Pass;
use crate::values::Values;

/// A text of which there are few, however long a log is: held once, for good.
pub type Name = ustr::Ustr;

/// What one `map` of one node wrote: its accumulators and the accounting of its
/// inputs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NodeOutput {
    /// Label of the log source.
    pub node: String,
    /// Digest of the model it was mapped with.
    pub model_digest: u128,
    /// What was read, one entry per file, in time order.
    pub inputs: Vec<InputAccount>,
    /// Request accumulators, of each part of the logs in order of their first event.
    pub accumulators: Vec<Accumulator>,
    /// Records that no log point could have printed, as events without a log
    /// point; kept so that nothing is lost silently.
    pub unattributed: Vec<Event>,
}

/// Accounting of one input file:
/// `n_records = n_attributed + n_unattributed + n_headerless + n_rejected`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputAccount {
    /// Path as given.
    pub file: String,
    /// Layouts that were used, as patterns, ` || ` between them.
    pub layout: String,
    /// How they were found, for people.
    pub layout_found: String,
    /// Zone of time stamps that have none, and what else the reading depends on.
    pub settings: String,
    /// Bytes read, after decompression.
    pub n_bytes: u64,
    /// Lines read.
    pub n_lines: u64,
    /// Records: header line plus continuation lines; lines before the first
    /// header count as one headerless record.
    pub n_records: u64,
    /// Records that are in a request.
    pub n_attributed: u64,
    /// Records with a header that no log point of the model can have printed.
    pub n_unattributed: u64,
    /// Text without a header.
    pub n_headerless: u64,
    /// Records refused: too long, or a time stamp that is none.
    pub n_rejected: u64,
    /// The field that holds ids of requests, if one does.
    pub id_field: Option<String>,
    /// Records that print one.
    pub n_ids: u64,
    /// Damage met while reading, e.g. a truncated gzip, naming the offset.
    pub damage: Vec<String>,
    /// First and last time stamp, µs since 1970 UTC.
    pub first_us: Option<i64>,
    /// Last time stamp.
    pub last_us: Option<i64>,
    /// xxh3-128 of the (decompressed) content: equal digests, same input.
    pub digest: u128,
    /// The same of its first 32 bytes, and of twice as many, and so on: a log that has grown or
    /// was cut is known by them, whatever it is called now.
    pub prefixes: Vec<u128>,
}

/// Bytes of the first prefix of an input that has a digest.
pub const PREFIX_BYTES: u64 = 32;

/// One request so far: spans and how they hang together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Accumulator {
    /// At least one; sorted by (start, node, first line).
    pub spans: Vec<Span>,
    /// Links between the spans, as positions in `spans`.
    pub links: Vec<Link>,
}

/// A hand-off between two spans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Link {
    /// Position of the sender's span.
    pub from: u32,
    /// Position of the receiver's span.
    pub to: u32,
    /// The communication pair, if one connects them; none: joined because they
    /// are parts of one span that the window cut.
    pub pair: Option<PairId>,
    /// What made it.
    pub by: Pass,
    /// How sure it is.
    pub probability: Probability,
}

/// How sure something is, in ten-thousandths: a number of its own, so that it is the same on
/// every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Probability(u16);

/// What is certain, in parts of it.
const CERTAIN: u16 = 10_000;

impl Probability {
    /// Of a number between 0 and 1; what is outside is at the nearer end.
    #[must_use]
    pub fn new(share: f64) -> Self {
        Self((share.clamp(0.0, 1.0) * f64::from(CERTAIN)).round() as u16)
    }

    /// As a number between 0 and 1.
    #[must_use]
    pub fn get(self) -> f64 {
        f64::from(self.0) / f64::from(CERTAIN)
    }
}

impl Default for Probability {
    /// Nothing speaks against it.
    fn default() -> Self {
        Self(CERTAIN)
    }
}

/// The part of a request that one thread of one top-level method did on one node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Span {
    /// Label of the log source.
    pub node: Name,
    /// Thread name, where the layout prints it. There are as many as requests where it names what
    /// the thread works on.
    #[serde(with = "crate::values::shared::optional")]
    pub thread: Option<Arc<str>>,
    /// Top-level methods that can have printed all events, best first.
    pub top_levels: Vec<TopLevelId>,
    /// How many of them, the first ones, nothing tells apart: at least 1, if there is any.
    pub n_alike: u32,
    /// Identifier values, sorted by value class.
    pub identifiers: Vec<Value>,
    /// The id of its request that the logs carry, where its records print one.
    pub trace: Option<TraceId>,
    /// Its events, in log order; never empty.
    pub events: Vec<Event>,
    /// Closed by the window or the end of input, not by the exit of its DAG.
    pub truncated: bool,
    /// Records of other spans of its node, sorted: it is a part of one of these spans,
    /// printed directly before that record, and nothing in the log tells of which.
    pub hosts: Vec<Place>,
}

/// An id that the program itself has given to what a record is printed for: that of a trace, a
/// correlation, a request.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TraceId {
    /// What the field is called that holds it.
    pub field: Name,
    /// As printed.
    #[serde(with = "crate::values::shared")]
    pub text: Arc<str>,
}

/// Where a record stands on its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place {
    /// Index into the node's `inputs`.
    pub file: u32,
    /// First line of the record, from 1.
    pub line: u64,
}

/// A value of an identifier.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Value {
    /// What it is.
    pub value_class: ValueClassId,
    /// Canonical text: decimal for numbers, as printed for text. Shared by the spans of
    /// a node that show it.
    #[serde(with = "crate::values::shared")]
    pub text: Arc<str>,
}

/// One record of the log, understood.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Index into the node's `inputs`.
    pub file: u32,
    /// First line of the record, from 1.
    pub line: u64,
    /// Lines of the record.
    pub n_lines: u32,
    /// Offset of the record in the (decompressed) file.
    pub byte_offset: u64,
    /// Time, µs since 1970 UTC, by a clock that is never set back: as printed, later by
    /// `late_us`.
    pub ts_us: i64,
    /// What the clock that printed it was behind that one, µs: 0 unless it was set back.
    pub late_us: i64,
    /// Level as printed.
    pub level: Option<Level>,
    /// The log point that printed it; none: unattributed.
    pub log_point: Option<LogPointId>,
    /// Printed values: (position in the log point's variables, text).
    pub values: Values,
    /// What put it where it is: into its span, or, if it is the first there, what begins it.
    pub pass: Pass,
    /// Why it is where it is, for people: e.g. `thread`, `2 ids`, `order`, `opens`.
    pub reason: Name,
}

impl Event {
    /// Where it stands.
    #[must_use]
    pub fn place(&self) -> Place {
        Place { file: self.file, line: self.line }
    }

    /// Time as printed, µs since 1970 UTC.
    #[must_use]
    pub fn printed_us(&self) -> i64 {
        self.ts_us.saturating_sub(self.late_us)
    }
}
