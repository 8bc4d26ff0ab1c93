//! Civil times: what a time stamp says, before a clock tells when that was ([`super::clock`]).

use super::calendar::Calendar;
use jiff::civil::Date;
use jiff::tz::TimeZone;

/// What a time stamp says, not yet checked against the calendar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Civil {
    pub(super) year: Option<i16>,
    pub(super) month: u8,
    pub(super) day: u8,
    pub(super) second_of_day: u32,
    pub(super) micros: u32,
    /// Digits of the fraction of a second.
    pub(super) n_fraction_digits: u8,
    /// Seconds east of UTC, where the stamp has a zone.
    pub(super) offset: Option<i32>,
    /// µs since 1970, where the stamp is one number.
    pub(super) epoch_us: Option<i64>,
    /// They are since the program began.
    pub(super) is_elapsed: bool,
    /// Minute or second above its range.
    pub(super) impossible: bool,
}

impl Civil {
    /// µs since the program began.
    pub(super) fn elapsed(us: i64) -> Self {
        Self { epoch_us: Some(us), is_elapsed: true, ..Self::default() }
    }

    /// µs since the program began, where that is what it says.
    pub(crate) fn elapsed_us(&self) -> Option<i64> {
        self.epoch_us.filter(|_| self.is_elapsed)
    }

    /// Whether there can be such a time; which day there is decides the calendar.
    pub(super) fn is_possible(&self) -> bool {
        !self.impossible && self.month <= 12 && self.day <= 31
    }

    /// Whether the stamp has a zone.
    pub(crate) fn has_zone(&self) -> bool {
        self.offset.is_some()
    }

    /// What comes round again in stamps that do not name the day, its month or its year: the
    /// second of the day, the day of the month or of the year, and how many of them there are.
    pub(crate) fn round(&self) -> Option<(u32, u32, Round)> {
        if self.epoch_us.is_some() || (self.year.is_some() && self.month != 0) {
            return None;
        }
        if self.year.is_some() {
            return Some((u32::from(self.day), 31, Round::Month));
        }
        if self.month == 0 {
            return Some((self.second_of_day, 86_400, Round::Day));
        }
        Some((u32::from(self.month) * 31 + u32::from(self.day), 12 * 31, Round::Year))
    }

    /// Year, month and day, where it names them.
    pub(crate) fn date(&self) -> Option<(i16, u8, u8)> {
        let is_named = self.epoch_us.is_none() && self.month != 0;
        self.year.filter(|_| is_named).map(|year| (year, self.month, self.day))
    }

    /// µs of the second, as they are printed.
    pub(crate) fn micros(&self) -> u32 {
        self.micros
    }

    /// Day and second, where they are printed: equal for stamps of one second.
    pub(crate) fn second_of_all(&self) -> (Option<i16>, u8, u8, u32) {
        (self.year, self.month, self.day, self.second_of_day)
    }

    /// The second of each so many.
    pub(crate) fn second_within(&self, n: i64) -> Option<i64> {
        let second = self.epoch_us.map_or(i64::from(self.second_of_day), |us| us.div_euclid(1_000_000));
        (n > 0).then(|| second.rem_euclid(n))
    }

    /// The fraction of a second as it is printed: its digits as a number, and how many there are.
    pub(crate) fn fraction(&self) -> (u32, u8) {
        let n = self.n_fraction_digits.min(6);
        (self.micros / 10_u32.pow(u32::from(6 - n)), self.n_fraction_digits)
    }

    /// µs of the second, if the fraction is a number of milliseconds without zeros before it.
    pub(crate) fn micros_of_millis(&self) -> u32 {
        let n_missing = 3_u32.saturating_sub(u32::from(self.n_fraction_digits));
        if self.n_fraction_digits == 0 { 0 } else { self.micros / 10_u32.pow(n_missing) }
    }

    /// Whether it tells milliseconds.
    pub(crate) fn has_millis(&self) -> bool {
        self.n_fraction_digits >= 3 || self.epoch_us.is_some_and(|us| us % 1_000_000 != 0)
    }

    /// A number that is greater for later stamps, of those that print the same fields.
    pub(crate) fn order(&self, calendar: Calendar) -> i64 {
        if let Some(us) = self.epoch_us {
            return us;
        }
        let (year, month, day) = calendar.date((self.year.unwrap_or(0), self.month.max(1), self.day.max(1)));
        let days = (i64::from(year) * 12 + i64::from(month)) * 31 + i64::from(day);
        let seconds = days * 86_400 + i64::from(self.second_of_day) - i64::from(self.offset.unwrap_or(0));
        seconds * 1_000_000 + i64::from(calendar.micros(self))
    }

    /// The day of the month.
    pub(crate) fn day(&self) -> u8 {
        self.day
    }

    /// The hour.
    pub(crate) fn hour(&self) -> u32 {
        self.second_of_day / 3600
    }

    /// Date and time of day, as they are printed.
    pub(crate) fn date_time(&self) -> Option<jiff::civil::DateTime> {
        let (year, month, day) = self.date()?;
        let s = self.second_of_day.min(86_399);
        let (hour, minute, second) = ((s / 3600) as i8, (s / 60 % 60) as i8, (s % 60) as i8);
        Some(Date::new(year, month.cast_signed(), day.cast_signed()).ok()?.at(hour, minute, second, 0))
    }

    /// The same, as seconds since 1970, were it UTC.
    pub(crate) fn local_second(&self) -> Option<i64> {
        Some(TimeZone::UTC.to_timestamp(self.date_time()?).ok()?.as_second())
    }
}

/// What comes round again in time stamps that do not name it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Round {
    /// The day.
    #[default]
    Day,
    /// The month, of a year that is named.
    Month,
    /// The year.
    Year,
}
