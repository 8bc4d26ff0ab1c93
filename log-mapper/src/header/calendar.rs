//! Calendars: what the year of a date and the fraction of a second mean, where a pattern or a
//! language prints another one than people mean by it.

use jiff::ToSpan as _;
use jiff::civil::{Date, Weekday};

use super::civil::Civil;

/// What years and fractions mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Calendar {
    /// Years to be added to those that are printed.
    pub(crate) years: i16,
    /// The year is that of the week (`YYYY` for `yyyy`).
    pub(crate) is_of_week: bool,
    /// A fraction is a number of milliseconds without zeros before it (`S` of `SimpleDateFormat`).
    pub(crate) is_of_millis: bool,
}

impl Calendar {
    /// The date that is meant by a printed one.
    pub(crate) fn date(self, (year, month, day): (i16, u8, u8)) -> (i16, u8, u8) {
        let year = year.saturating_add(self.years);
        if !self.is_of_week {
            return (year, month, day);
        }
        let is_printed = |meant: i16, rule: fn(Date) -> i16| {
            let date = Date::new(meant, month.cast_signed(), day.cast_signed());
            date.is_ok_and(|date| rule(date) == year)
        };
        // Of the last days of a year the week's year is the next one, or of its first days the last
        // one, as weeks are counted in Europe, or in America.
        let near = [year, year.saturating_sub(1), year.saturating_add(1)];
        let meant = [year_of_iso_week as fn(Date) -> i16, year_of_american_week]
            .into_iter()
            .find_map(|rule| near.into_iter().find(|meant| is_printed(*meant, rule) && *meant != year));
        let is_sure = is_printed(year, year_of_iso_week) && is_printed(year, year_of_american_week);
        (meant.filter(|_| !is_sure).unwrap_or(year), month, day)
    }

    /// µs of the second.
    pub(crate) fn micros(self, civil: &Civil) -> u32 {
        if self.is_of_millis { civil.micros_of_millis() } else { civil.micros }
    }
}

/// The year of a week that begins with Monday: that of its Thursday.
fn year_of_iso_week(date: Date) -> i16 {
    date.iso_week_date().year()
}

/// The year of a week that begins with Sunday: that of its Saturday.
fn year_of_american_week(date: Date) -> i16 {
    let days = i64::from(Weekday::Saturday.since(date.weekday()));
    date.checked_add(days.days()).map_or(date.year(), |saturday| saturday.year())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn years_of_weeks() {
        let of_week = Calendar { is_of_week: true, ..Calendar::default() };
        for (printed, meant) in [
            ((2024, 12, 28), (2024, 12, 28)),
            ((2025, 12, 29), (2024, 12, 29)),
            ((2025, 12, 31), (2024, 12, 31)),
            ((2025, 1, 1), (2025, 1, 1)),
            // Of the first days of January nothing tells whether their week is of the year before.
            ((2020, 1, 2), (2020, 1, 2)),
            ((2025, 6, 1), (2025, 6, 1)),
        ] {
            assert_eq!(of_week.date(printed), meant, "{printed:?}");
        }
        let thai = Calendar { years: -543, ..Calendar::default() };
        assert_eq!(thai.date((2568, 3, 29)), (2025, 3, 29));
    }
}
