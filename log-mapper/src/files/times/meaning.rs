//! What the numbers of time stamps mean where a pattern or a language prints another thing than people
//! mean by it: fractions without zeros, years of weeks and of other calendars, zones that several
//! places have a name for. What the lines show is read so, and told; what they do not show is told.

use super::super::dated_line;
use crate::Config;
use crate::header::civil::Civil;
use crate::header::timestamp::TimeLayout;
use crate::input::Source;
use crate::reading::Reading;

/// Settles what the numbers in the stamps of `source` mean, which begins with `text`; `times` are its
/// first stamps and `tail` its last ones.
pub(super) fn settle(
    reading: &mut Reading,
    source: &Source,
    text: &[u8],
    times: &[Civil],
    tail: &[Civil],
    config: &Config,
) {
    let all = [times, tail].concat();
    settle_fraction(reading, &all);
    settle_year(reading, &all);
    let written = source.written(&config.zone);
    settle_week(reading, &all, written);
    tell_future(reading, &all, written);
    tell_zone(reading, text, times, config);
}

/// What a fraction is, as far as some of them tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fraction {
    OfASecond,
    Millis,
    Open,
}

/// Fractions of a second have as many digits as the pattern says, or have lost zeros at their end;
/// milliseconds without zeros before them are numbers: none begins with a zero, and some end with one.
fn fraction_of(times: &[Civil]) -> Fraction {
    let printed = || times.iter().map(Civil::fraction).filter(|(_, n)| *n > 0);
    let mut lengths = printed().map(|(_, n)| n);
    let Some(first) = lengths.next() else { return Fraction::OfASecond };
    if lengths.clone().all(|n| n == first) || first > 3 || lengths.any(|n| n > 3) {
        return Fraction::OfASecond;
    }
    let begins_with_zero = |(value, n): (u32, u8)| n > 1 && value < 10_u32.pow(u32::from(n) - 1);
    let ends_with_zero = |(value, n): (u32, u8)| n > 1 && value % 10 == 0;
    if printed().any(begins_with_zero) {
        return Fraction::OfASecond;
    }
    if printed().any(ends_with_zero) {
        return Fraction::Millis;
    }
    // The order of the lines of one second.
    let n_back = |micros: fn(&Civil) -> u32| {
        let goes_back = |two: &&[Civil]| {
            two[0].second_of_all() == two[1].second_of_all() && micros(&two[1]) < micros(&two[0])
        };
        times.windows(2).filter(goes_back).count()
    };
    match (n_back(Civil::micros), n_back(Civil::micros_of_millis)) {
        (of_second, of_millis) if of_millis < of_second => Fraction::Millis,
        (of_second, of_millis) if of_second < of_millis => Fraction::OfASecond,
        _ => Fraction::Open,
    }
}

fn settle_fraction(reading: &mut Reading, times: &[Civil]) {
    match fraction_of(times) {
        Fraction::OfASecond => {}
        Fraction::Millis => {
            reading.calendar.is_of_millis = true;
            reading.doubts.push(
                "fractions of seconds are printed without zeros before them (`S` for `SSS`): they are read as numbers of milliseconds".to_owned(),
            );
        }
        Fraction::Open => reading.doubts.push(
            "fractions of seconds have one to three digits, and nothing tells whether they lack zeros before or after them: `.7` is read as 700 milliseconds".to_owned(),
        ),
    }
}

/// Years that a log can be of.
const YEARS: std::ops::Range<i16> = 1970..2100;
/// Calendars by the year that is 1970 in them: what is to be added to their years.
const CALENDARS: &[(&str, i16)] = &[("Buddhist", -543), ("Minguo", 1911)];

fn settle_year(reading: &mut Reading, times: &[Civil]) {
    let year = |civil: &Civil| civil.date().map(|(year, ..)| year);
    let Some(odd) = times.iter().filter_map(year).find(|year| !YEARS.contains(year)) else { return };
    let is_all = times.iter().filter_map(year).all(|year| !YEARS.contains(&year));
    let known = CALENDARS.iter().find(|(_, years)| YEARS.contains(&odd.saturating_add(*years)));
    match known.filter(|_| is_all) {
        Some((calendar, years)) => {
            reading.calendar.years = *years;
            let meant = odd + years;
            reading.doubts.push(format!(
                "its years are of the {calendar} calendar: {odd} is read as {meant}; give the layout if it is not"
            ));
        }
        None => reading.doubts.push(format!(
            "the year {odd} of its time stamps is of another calendar, or is none: times are wrong; give the layout"
        )),
    }
}

/// Days in which the year of the week can be another one than that of the day.
fn is_about_new_year((_, month, day): (i16, u8, u8)) -> bool {
    (month == 12 && day >= 26) || (month == 1 && day <= 3)
}

/// The days of the year, about, by which a year too many or too few is told from a silence.
const NEARLY_A_YEAR: i64 = 350;

fn settle_week(reading: &mut Reading, times: &[Civil], written: Option<(i16, u8, u8)>) {
    let day = |civil: &Civil| Some((civil.date()?, civil.local_second()? / 86_400));
    let days: Vec<((i16, u8, u8), i64)> = times.iter().filter_map(day).collect();
    let jumps = |two: &[((i16, u8, u8), i64)]| {
        let is_far = (two[1].1 - two[0].1).abs() >= NEARLY_A_YEAR;
        is_far && (is_about_new_year(two[0].0) || is_about_new_year(two[1].0))
    };
    let written = written.and_then(|(year, month, day)| {
        let date = jiff::civil::Date::new(year, month.cast_signed(), day.cast_signed()).ok()?;
        Some(jiff::tz::TimeZone::UTC.to_timestamp(date.at(0, 0, 0, 0)).ok()?.as_second() / 86_400)
    });
    let is_later = |(date, day): &((i16, u8, u8), i64)| {
        date.1 == 12
            && is_about_new_year(*date)
            && written.is_some_and(|written| *day >= written + NEARLY_A_YEAR)
    };
    if reading.calendar.years == 0 && (days.windows(2).any(jumps) || days.iter().any(is_later)) {
        reading.calendar.is_of_week = true;
        reading.doubts.push(
            "days about the New Year have the year of their week (`YYYY` for `yyyy`): the last ones of December are read as of the year before, those of January as printed".to_owned(),
        );
    }
}

/// Tells of years that are later than the file.
fn tell_future(reading: &mut Reading, times: &[Civil], written: Option<(i16, u8, u8)>) {
    let Some((written, ..)) = written else { return };
    let calendar = reading.calendar;
    let year = |civil: &Civil| civil.date().map(|date| calendar.date(date).0);
    let late = times.iter().filter_map(year).find(|year| YEARS.contains(year) && *year > written + 1);
    if let Some(year) = late {
        reading.doubts.push(format!(
            "the year {year} of its time stamps is later than {written}, in which the file was written: is it of another calendar, or are day and year the other way round? Give the layout"
        ));
    }
}

/// Tells of zones that are no zone of one meaning, where none was given.
fn tell_zone(reading: &mut Reading, text: &[u8], times: &[Civil], config: &Config) {
    let time = reading.main().and_then(|layout| layout.time()).filter(|time| time.has_zone_name());
    let is_unknown = times.iter().take(1).any(|civil| !civil.has_zone() && civil.date().is_some());
    let Some(time) = time.filter(|_| is_unknown && !config.zone_is_given) else { return };
    let name = zone_in(time, text).unwrap_or_default();
    let doubt = format!(
        "the zone `{name}` of its time stamps has several meanings, or none that is known: they are read as of UTC; give the zone with --tz"
    );
    reading.doubts.push(doubt);
}

/// The name of the zone in the first stamp of `text`.
fn zone_in(time: &TimeLayout, text: &[u8]) -> Option<String> {
    let stamp = text.split(|b| *b == b'\n').find_map(|line| dated_line(time, line))?;
    let mut words = stamp.rsplit(|b| !b.is_ascii_alphabetic()).filter(|word| (3..=5).contains(&word.len()));
    let name = words.find(|word| word.iter().all(u8::is_ascii_uppercase))?;
    Some(String::from_utf8_lossy(name).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(stamps: &[&str], expected: Fraction) {
        let time = |stamp: &&str| {
            let stamp = format!("2025-03-29 11:54:{stamp}");
            TimeLayout::scan_iso(stamp.as_bytes(), 0).expect("a stamp").1
        };
        assert_eq!(fraction_of(&stamps.iter().map(time).collect::<Vec<_>>()), expected, "{stamps:?}");
    }

    #[test]
    fn fractions() {
        check(&["05.007", "05.044", "05.350"], Fraction::OfASecond);
        check(&["05.7", "05.44", "05.350"], Fraction::Millis);
        check(&["05.7", "05.44", "05.981"], Fraction::Millis);
        check(&["05.07", "05.44", "05.981"], Fraction::OfASecond);
        check(&["05.1", "05.12", "05.123"], Fraction::Open);
        check(&["05.9", "05.12", "06.123"], Fraction::Millis);
        check(&["05.12", "05.9", "06.123"], Fraction::OfASecond);
        check(&["05.1", "05.1234"], Fraction::OfASecond);
        check(&["05", "06"], Fraction::OfASecond);
    }
}
