//! Headers: what a layout prints around a message. A [`Layout`] is compiled
//! from a pattern of log4j 1, log4j 2 or logback and reads, at the start of a
//! line, time, level, logger, thread and call site; a line that it can read
//! begins a record, every other line continues one.

mod align;
pub mod civil;
pub mod clock;
mod configuration;
mod dates;
mod detect;
mod fit;
mod found;
mod induce;
mod judge;
mod languages;
mod layout;
mod layouts;
mod sample;
mod scan;
pub mod timestamp;
mod widths;
mod words;

pub use configuration::{Configuration, patterns_of, read_configuration};
pub use detect::detect;
pub(crate) use detect::{choose, date_patterns};
pub use found::Found;
pub(crate) use judge::Judge;
pub use layout::Layout;

use schema::Level;

use crate::limits::MDC_KEYS_MAX;
use civil::Civil;

/// What the header of one record says; each field only if the layout prints it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header<'a> {
    /// Time, not yet checked against the calendar.
    pub time: Option<Civil>,
    /// Level; none also for a level name that no library has.
    pub level: Option<Level>,
    /// Logger name as shown: whole, its last components, or abbreviated.
    pub logger: Option<&'a [u8]>,
    /// Thread name.
    pub thread: Option<&'a [u8]>,
    /// Source file.
    pub file: Option<&'a [u8]>,
    /// Source line.
    pub line: Option<u32>,
    /// Class, as shown.
    pub class: Option<&'a [u8]>,
    /// Method.
    pub method: Option<&'a [u8]>,
    /// Values of the layout's first MDC keys, see [`Layout::mdc_keys`].
    pub mdc: [Option<&'a [u8]>; MDC_KEYS_MAX],
    /// Where the message begins.
    pub message_start: usize,
    /// Where it begins if what looks like a field that may be missing is the message's own.
    pub earlier_start: Option<usize>,
}

/// The level that a printed name stands for; the outer `None`: not a level name.
pub(crate) fn parse_level(token: &[u8]) -> Option<Option<Level>> {
    let level = match token {
        b"INFO" => Level::Info,
        b"DEBUG" => Level::Debug,
        b"WARN" => Level::Warn,
        b"ERROR" => Level::Error,
        b"TRACE" => Level::Trace,
        b"FATAL" => Level::Fatal,
        b"I" => Level::Info,
        b"D" => Level::Debug,
        b"W" => Level::Warn,
        b"E" => Level::Error,
        b"T" => Level::Trace,
        b"F" => Level::Fatal,
        _ => {
            let name = std::str::from_utf8(token).ok()?;
            let known = Level::parse(name).or_else(|| languages::level(token));
            // A custom level is a short word in capitals.
            let custom = (3..=12).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_uppercase());
            return (known.is_some() || custom).then_some(known);
        }
    };
    Some(Some(level))
}
