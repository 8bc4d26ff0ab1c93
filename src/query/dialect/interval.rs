//! Intervals: months, days and microseconds, each for itself, and their text.

use datafusion::arrow::array::{Array as _, ArrayRef, AsArray as _};
use datafusion::arrow::datatypes::{
    DataType, DurationMicrosecondType, IntervalMonthDayNano, IntervalMonthDayNanoType,
};
use datafusion::common::{Result, exec_err};

/// Microseconds of a day.
pub(super) const DAY: i64 = 86_400_000_000;

/// An interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) months: i32,
    pub(super) days: i32,
    pub(super) micros: i64,
}

impl Span {
    /// That in a row of a column of intervals, or of durations, which are days and the rest of one.
    pub(super) fn at(column: &ArrayRef, row: usize) -> Result<Option<Self>> {
        if column.is_null(row) {
            return Ok(None);
        }
        match column.data_type() {
            DataType::Interval(_) => {
                let value = column.as_primitive::<IntervalMonthDayNanoType>().value(row);
                let micros = value.nanoseconds / 1000;
                Ok(Some(Self { months: value.months, days: value.days, micros }))
            }
            _ => Self::between(column.as_primitive::<DurationMicrosecondType>().value(row)).map(Some),
        }
    }

    /// That between two times that are so far apart.
    pub(super) fn between(micros: i64) -> Result<Self> {
        match i32::try_from(micros / DAY) {
            Ok(days) => Ok(Self { months: 0, days, micros: micros % DAY }),
            Err(_) => exec_err!("an interval is out of range"),
        }
    }

    /// As the engine holds it.
    pub(super) fn value(self) -> Result<IntervalMonthDayNano> {
        match self.micros.checked_mul(1000) {
            Some(nanos) => Ok(IntervalMonthDayNano::new(self.months, self.days, nanos)),
            None => exec_err!("an interval is out of range"),
        }
    }

    /// In the style that PostgreSQL calls `postgres`.
    pub(super) fn text(self) -> String {
        let mut words = Vec::new();
        let mut is_after_negative = false;
        let mut word = |value: i32, unit: &str| {
            if value != 0 {
                let plus = if is_after_negative && value > 0 { "+" } else { "" };
                let plural = if value == 1 { "" } else { "s" };
                words.push(format!("{plus}{value} {unit}{plural}"));
                is_after_negative = value < 0;
            }
        };
        word(self.months / 12, "year");
        word(self.months % 12, "mon");
        word(self.days, "day");
        if self.micros != 0 || words.is_empty() {
            let sign = match self.micros {
                ..0 => "-",
                _ if is_after_negative => "+",
                _ => "",
            };
            words.push(format!("{sign}{}", clock(self.micros.unsigned_abs())));
        }
        words.join(" ")
    }
}

/// An interval in which `04:05:06` says what it is: `4 hours 5 minutes 6 seconds`.
pub(super) fn with_units(text: &str) -> String {
    let word = |word: &str| {
        let (sign, clock) = match word.strip_prefix('-') {
            Some(clock) => ("-", clock),
            None => ("", word.strip_prefix('+').unwrap_or(word)),
        };
        let parts: Vec<&str> = clock.split(':').collect();
        let is_number =
            |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        match &parts[..] {
            [hours, minutes] if parts.iter().all(is_number) => {
                format!("{sign}{hours} hours {sign}{minutes} minutes")
            }
            [hours, minutes, seconds] if parts.iter().all(is_number) => {
                format!("{sign}{hours} hours {sign}{minutes} minutes {sign}{seconds} seconds")
            }
            _ => word.to_owned(),
        }
    };
    text.split_whitespace().map(word).collect::<Vec<_>>().join(" ")
}

/// `HH:MM:SS`, with as much of a fraction as there is.
pub(super) fn clock(micros: u64) -> String {
    let seconds = micros / 1_000_000;
    let text = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    text + &fraction(micros % 1_000_000)
}

/// `.5` for half a second.
pub(super) fn fraction(micros: u64) -> String {
    match micros {
        0 => String::new(),
        micros => format!(".{micros:06}").trim_end_matches('0').to_owned(),
    }
}
