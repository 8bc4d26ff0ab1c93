//! The clock of a file: what a scanner of time stamps has read, in µs since 1970 UTC.
//!
//! Most of a time stamp repeats: the clock computes a day once and then only adds
//! the time of day. Local times that exist twice or never (DST) are resolved by
//! jiff's `compatible` rule: the first of two, and after the gap by its length.

use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::timestamp::Civil;

/// Turns civil times into µs since 1970 UTC; remembers the last day.
#[derive(Clone, Debug)]
pub struct Clock {
    zone: TimeZone,
    /// Day of stamps that have none.
    date: (i16, u8, u8),
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
        Self { zone, date, cached: None }
    }

    /// Sets the day of stamps without one.
    pub(crate) fn set_date(&mut self, date: (i16, u8, u8)) {
        self.date = date;
    }

    /// µs since 1970 UTC; none if there is no such time.
    pub fn resolve(&mut self, civil: &Civil) -> Option<i64> {
        if let Some(us) = civil.epoch_us {
            return Some(us);
        }
        if civil.impossible {
            return None;
        }
        let date = match civil.year {
            Some(year) => (year, civil.month, civil.day),
            None if civil.month != 0 => (self.date.0, civil.month, civil.day),
            None => self.date,
        };
        let day = match self.cached {
            Some(day) if day.date == date => day,
            _ => {
                let day = cache_day(&self.zone, date)?;
                self.cached = Some(day);
                day
            }
        };
        let local_us = day.midnight_us + i64::from(civil.second_of_day) * 1_000_000 + i64::from(civil.micros);
        match civil.offset.or(day.offset) {
            Some(offset) => Some(local_us - i64::from(offset) * 1_000_000),
            None => self.resolve_by_rule(date, civil),
        }
    }

    /// A time on a day on which the offset changes.
    fn resolve_by_rule(&self, date: (i16, u8, u8), civil: &Civil) -> Option<i64> {
        let s = civil.second_of_day.min(86_399);
        let (hour, minute, second) = ((s / 3600) as i8, (s / 60 % 60) as i8, (s % 60) as i8);
        let local = Date::new(date.0, date.1 as i8, date.2 as i8).ok()?.at(hour, minute, second, 0);
        let us = self.zone.to_timestamp(local).ok()?.as_microsecond();
        Some(us + i64::from(civil.micros))
    }
}

fn cache_day(zone: &TimeZone, date: (i16, u8, u8)) -> Option<CachedDay> {
    let day = Date::new(date.0, i8::try_from(date.1).ok()?, i8::try_from(date.2).ok()?).ok()?;
    let as_utc = TimeZone::UTC.to_timestamp(day.at(0, 0, 0, 0)).ok()?;
    let start = zone.to_timestamp(day.at(0, 0, 0, 0)).ok()?;
    let end = zone.to_timestamp(day.at(23, 59, 59, 0)).ok()?;
    let (first, last) = (zone.to_offset(start), zone.to_offset(end));
    // Two changes in one day that cancel out do not exist in the zone data.
    let offset = (first == last).then(|| first.seconds());
    Some(CachedDay { date, midnight_us: as_utc.as_microsecond(), offset })
}
