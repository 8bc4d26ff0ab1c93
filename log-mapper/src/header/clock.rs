//! The clock of a file: what a scanner of time stamps has read, in µs since 1970 UTC.
//!
//! Most of a time stamp repeats: the clock computes a day once and then only adds
//! the time of day. Local times that exist twice or never (DST) are resolved by
//! jiff's `compatible` rule: the first of two, unless the order of the lines says that it is the
//! second, and after the gap by its length.

use jiff::civil::Date;
use jiff::tz::{AmbiguousOffset, TimeZone};

use super::calendar::Calendar;
use super::civil::Civil;

/// Turns civil times into µs since 1970 UTC; remembers the last day.
#[derive(Clone, Debug)]
pub struct Clock {
    zone: TimeZone,
    /// Day of stamps that have none.
    date: (i16, u8, u8),
    /// Of two hours of one name the second is meant.
    is_second: bool,
    /// The half of the day, where only hours from 1 to 12 are printed.
    half: Option<bool>,
    calendar: Calendar,
    /// When the program began, of stamps that count from there.
    start_us: i64,
    cached: Option<CachedDay>,
}

#[derive(Clone, Copy, Debug)]
struct CachedDay {
    date: (i16, u8, u8),
    /// µs of its midnight, were it UTC.
    midnight_us: i64,
    /// Seconds east of UTC, if they are the same the whole day.
    offset: Option<i32>,
}

impl Clock {
    /// A clock for stamps of `zone`; `date` is the day of stamps without one.
    #[must_use]
    pub fn new(zone: TimeZone, date: (i16, u8, u8)) -> Self {
        Self {
            zone,
            date,
            is_second: false,
            half: None,
            calendar: Calendar::default(),
            start_us: 0,
            cached: None,
        }
    }

    /// Sets what years and fractions mean.
    pub(crate) fn with_calendar(self, calendar: Calendar) -> Self {
        Self { calendar, ..self }
    }

    /// Sets when the program began, in µs since 1970.
    pub(crate) fn with_start(self, start_us: i64) -> Self {
        Self { start_us, ..self }
    }

    /// Sets the day of stamps without one.
    pub(crate) fn set_date(&mut self, date: (i16, u8, u8)) {
        self.date = date;
    }

    /// Sets which of two hours of one name is meant, and the half of the day.
    pub(crate) fn set_hours(&mut self, is_second: bool, half: Option<bool>) {
        (self.is_second, self.half) = (is_second, half);
    }

    /// µs since 1970 UTC; none if there is no such time.
    pub fn resolve(&mut self, civil: &Civil) -> Option<i64> {
        if let Some(us) = civil.epoch_us {
            return Some(if civil.is_elapsed { us.saturating_add(self.start_us) } else { us });
        }
        if civil.impossible {
            return None;
        }
        let date = match civil.year {
            Some(year) if civil.month == 0 => (year, self.date.1, civil.day),
            Some(year) => (year, civil.month, civil.day),
            None if civil.month != 0 => (self.date.0, civil.month, civil.day),
            None => self.date,
        };
        let day = match self.cached {
            Some(day) if day.date == date => day,
            _ => {
                let day = cache_day(&self.zone, date, self.calendar)?;
                self.cached = Some(day);
                day
            }
        };
        let second_of_day = self.second_of_day(civil);
        let micros = self.calendar.micros(civil);
        let local_us = day.midnight_us + i64::from(second_of_day) * 1_000_000 + i64::from(micros);
        match civil.offset.or(day.offset) {
            Some(offset) => Some(local_us - i64::from(offset) * 1_000_000),
            None => self.resolve_by_rule(self.calendar.date(date), civil),
        }
    }

    fn second_of_day(&self, civil: &Civil) -> u32 {
        const HALF: u32 = 12 * 3600;
        let s = civil.second_of_day;
        self.half.map_or(s, |is_second| s % HALF + if is_second { HALF } else { 0 })
    }

    /// A time on a day on which the offset changes.
    fn resolve_by_rule(&self, date: (i16, u8, u8), civil: &Civil) -> Option<i64> {
        let s = self.second_of_day(civil).min(86_399);
        let (hour, minute, second) = ((s / 3600) as i8, (s / 60 % 60) as i8, (s % 60) as i8);
        let local = Date::new(date.0, date.1 as i8, date.2 as i8).ok()?.at(hour, minute, second, 0);
        let meant = self.zone.to_ambiguous_timestamp(local);
        let is_second = self.is_second && matches!(meant.offset(), AmbiguousOffset::Fold { .. });
        let meant = if is_second { meant.later() } else { meant.compatible() };
        let us = meant.ok()?.as_microsecond();
        Some(us + i64::from(self.calendar.micros(civil)))
    }
}

fn cache_day(zone: &TimeZone, date: (i16, u8, u8), calendar: Calendar) -> Option<CachedDay> {
    let meant = calendar.date(date);
    let day = Date::new(meant.0, i8::try_from(meant.1).ok()?, i8::try_from(meant.2).ok()?).ok()?;
    let as_utc = TimeZone::UTC.to_timestamp(day.at(0, 0, 0, 0)).ok()?;
    let start = zone.to_timestamp(day.at(0, 0, 0, 0)).ok()?;
    let end = zone.to_timestamp(day.at(23, 59, 59, 0)).ok()?;
    let (first, last) = (zone.to_offset(start), zone.to_offset(end));
    // Two changes in one day that cancel out do not exist in the zone data.
    let offset = (first == last).then(|| first.seconds());
    Some(CachedDay { date, midnight_us: as_utc.as_microsecond(), offset })
}
