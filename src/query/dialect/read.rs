//! `to_timestamp` of a text by a pattern: the patterns that are numbers, and names of months. What stands
//! between them has to stand in the text too; all other patterns are refused.

use datafusion::common::{Result, exec_datafusion_err, exec_err, not_impl_err};
use jiff::civil::{Date, DateTime, Time};

/// Patterns, the longer ones first, with how many digits they take at most.
const PATTERNS: [(&str, usize); 14] = [
    ("YYYY", 4),
    ("HH24", 2),
    ("HH12", 2),
    ("MONTH", 0),
    ("MON", 0),
    ("AM", 0),
    ("PM", 0),
    ("HH", 2),
    ("MM", 2),
    ("DD", 2),
    ("MI", 2),
    ("SS", 2),
    ("MS", 3),
    ("US", 6),
];
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// What was read.
#[derive(Default)]
struct Parts {
    year: Option<i16>,
    month: Option<i8>,
    day: Option<i8>,
    hour: i64,
    is_of_twelve: bool,
    is_afternoon: bool,
    minute: i8,
    second: i8,
    micros: i64,
}

/// What `text` says by `pattern`.
///
/// # Errors
/// A text that says something else, or a time that is none; a pattern that is refused.
pub(super) fn time(text: &str, pattern: &str) -> Result<DateTime> {
    let (mut parts, mut text, mut pattern) = (Parts::default(), text, pattern);
    while let Some(c) = pattern.chars().next() {
        let found = PATTERNS
            .iter()
            .find(|(of, _)| pattern.get(..of.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(of)));
        let Some((name, digits)) = found else {
            if c.is_alphanumeric() || c == '"' {
                return not_impl_err!("to_timestamp with the pattern `{pattern}` is not supported");
            }
            text = text
                .strip_prefix(c)
                .ok_or_else(|| exec_datafusion_err!("to_timestamp: `{c}` is not in `{text}`"))?;
            pattern = &pattern[c.len_utf8()..];
            continue;
        };
        pattern = &pattern[name.len()..];
        text = match *digits {
            0 => parts.word(name, text)?,
            n => parts.number(name, n, text)?,
        };
    }
    match text.is_empty() {
        true => parts.time(),
        false => not_impl_err!("to_timestamp of a text that goes on after its pattern is not supported"),
    }
}

impl Parts {
    fn number<'t>(&mut self, name: &str, n: usize, text: &'t str) -> Result<&'t str> {
        let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()).min(n);
        let Ok(value) = text[..end].parse::<i64>() else {
            return exec_err!("invalid value \"{text}\" for \"{name}\"");
        };
        let small = i8::try_from(value).unwrap_or(i8::MAX);
        match name {
            "YYYY" => self.year = i16::try_from(value).ok(),
            "MM" => self.month = Some(small),
            "DD" => self.day = Some(small),
            "HH24" => self.hour = value,
            "HH12" | "HH" => (self.hour, self.is_of_twelve) = (value, true),
            "MI" => self.minute = small,
            "SS" => self.second = small,
            // Digits of a fraction.
            _ => self.micros += value * 10_i64.pow(u32::try_from(6_usize.saturating_sub(end)).unwrap_or(0)),
        }
        Ok(&text[end..])
    }

    fn word<'t>(&mut self, name: &str, text: &'t str) -> Result<&'t str> {
        let lower = text.to_ascii_lowercase();
        if matches!(name, "AM" | "PM") {
            self.is_afternoon = lower.starts_with("pm");
            if !self.is_afternoon && !lower.starts_with("am") {
                return exec_err!("invalid value \"{text}\" for \"{name}\"");
            }
            return Ok(&text[2..]);
        }
        for (month, number) in MONTHS.iter().zip(1..) {
            let said = if name == "MON" { &month[..3] } else { month };
            if lower.starts_with(said) {
                self.month = Some(number);
                return Ok(&text[said.len()..]);
            }
        }
        exec_err!("invalid value \"{text}\" for \"{name}\"")
    }

    fn time(self) -> Result<DateTime> {
        let wrong = || exec_datafusion_err!("date/time field value out of range");
        let Some(year) = self.year else {
            return not_impl_err!("to_timestamp without a year is not supported");
        };
        let date = Date::new(year, self.month.unwrap_or(1), self.day.unwrap_or(1)).map_err(|_| wrong())?;
        let hour = match (self.is_of_twelve, self.hour) {
            (true, 1..=12) => self.hour % 12 + if self.is_afternoon { 12 } else { 0 },
            (false, 0..=23) if !self.is_afternoon => self.hour,
            _ => return Err(wrong()),
        };
        let hour = i8::try_from(hour).map_err(|_| wrong())?;
        let nanos = i32::try_from(self.micros * 1_000).map_err(|_| wrong())?;
        let time = Time::new(hour, self.minute, self.second, nanos).map_err(|_| wrong())?;
        Ok(date.to_datetime(time))
    }
}
