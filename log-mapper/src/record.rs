//! A record: one log event, that is a header line plus its continuation lines,
//! parsed and matched. Made by the matching phase, consumed by [`crate::accumulate`].

use std::borrow::Cow;

use schema::{Level, LogPointId, TopLevelId};

use crate::said::NameOf;

/// One log event with the log points that can have printed it.
#[derive(Clone, Debug, PartialEq)]
pub struct Record<'a> {
    /// Index of the input file.
    pub file: u32,
    /// First line, from 1.
    pub line: u64,
    /// Header line plus continuation lines.
    pub n_lines: u32,
    /// Offset of the header line in the decompressed file.
    pub byte_offset: u64,
    /// Time, µs since 1970 UTC, by a clock that is never set back.
    pub ts_us: i64,
    /// What has been added to the time that was printed, µs.
    pub late_us: i64,
    /// The tick of the clock, where that is coarse: what its time can be wrong by, µs; 0: fine.
    pub tick_us: i64,
    /// Level, where the layout prints it.
    pub level: Option<Level>,
    /// Thread name, where the layout prints it.
    pub thread: Option<&'a str>,
    /// The ids of its trace and of its span, where it prints them.
    pub ids: [Option<&'a str>; 2],
    /// The message, without a stack trace.
    pub text: &'a [u8],
    /// The words of the message as numbers, sorted; none where the layout prints a thread.
    pub words: Cow<'a, [u64]>,
    /// Log points whose text is exactly as good a match, best first; empty:
    /// no log point of the model can have printed it.
    pub candidates: Vec<Candidate<'a>>,
    /// Without any, the top-level methods that its stack trace shows to have run, the innermost first.
    pub ran: Vec<TopLevelId>,
}

/// A log point that can have printed a record, with what it would have printed.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate<'a> {
    /// Which log point.
    pub log_point: LogPointId,
    /// Captured text: (position in the log point's variables, value).
    pub values: Vec<(u32, &'a str)>,
    /// The names within the values, sorted; none where the layout prints a thread.
    pub names: Cow<'a, [NameOf]>,
}

/// Lends the records of one node one after another, in log order. Lending,
/// because a record borrows from a chunk that is dropped once it is used up:
/// memory is bounded by the chunks in flight, not by the input.
pub trait Records {
    /// The next record; it must be done with before the one after it is asked for.
    fn next(&mut self) -> Option<Record<'_>>;

    /// Shows the first `n` records, or as many as there are, before any is asked for.
    fn ahead(&mut self, n: u64, see: &mut dyn FnMut(&Record<'_>));
}
