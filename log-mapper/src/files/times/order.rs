//! In which order the numbers of a date stand, where more than one is possible: as the lines go on in
//! the least time, else as the file's name or the day on which it was written says; what stays open
//! is told.

use std::sync::Arc;

use jiff::tz::TimeZone;

use super::day_of_name;
use crate::Config;
use crate::header::Layout;
use crate::header::civil::Civil;
use crate::input::Source;
use crate::reading::Reading;

/// Orders of the numbers of a date, in rows of which each is possible where another one is.
const ORDERS: &[&[&str]] = &[
    &["MM/dd/yyyy", "dd/MM/yyyy"],
    &["M/d/yy", "d/M/yy"],
    &["MM/dd/yy", "dd/MM/yy", "yy/MM/dd"],
    &["MM-dd-yyyy", "dd-MM-yyyy"],
    &["MM-dd-yy", "dd-MM-yy", "yy-MM-dd"],
    &["MM.dd.yyyy", "dd.MM.yyyy"],
    &["dd.MM.yy", "yy.MM.dd"],
];

/// A number of a date.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Number {
    Year,
    Month,
    Day,
}

/// The numbers of an order, from left to right.
fn numbers(order: &str) -> [Number; 3] {
    let mut parts = order.split(['/', '-', '.']).map(|part| match part.as_bytes()[0] {
        b'y' => Number::Year,
        b'M' => Number::Month,
        _ => Number::Day,
    });
    std::array::from_fn(|_| parts.next().unwrap_or(Number::Day))
}

/// The row with the order that a pattern has; an order can be the start of a longer one.
fn row_of(pattern: &str) -> Option<(&'static [&'static str], &'static str)> {
    let has = |order: &str| {
        let after = |at: usize| pattern[at + order.len()..].chars().next();
        let before = |at: usize| pattern[..at].chars().next_back();
        let goes_on = |c: Option<char>| c.is_some_and(|c| matches!(c, 'y' | 'M' | 'd'));
        pattern.match_indices(order).any(|(at, _)| !goes_on(after(at)) && !goes_on(before(at)))
    };
    ORDERS.iter().find_map(|row| Some((*row, *row.iter().find(|order| has(order))?)))
}

/// Puts the layouts with the order of numbers that is meant into `reading`; `times` are some of its
/// stamps, in the order of the lines.
pub(super) fn settle(reading: &mut Reading, source: &Source, times: &[Civil], config: &Config) {
    let mut open: Option<String> = None;
    for i in 0..reading.n_own {
        let pattern = reading.layouts[i].pattern().to_owned();
        let Some((row, known)) = row_of(&pattern) else { continue };
        let chosen = which(times, row, known, source, config);
        if let Some(order) = chosen.filter(|order| *order != known)
            && let Ok(layout) = Layout::compile(&pattern.replacen(known, order, 1))
        {
            reading.layouts[i] = Arc::new(layout);
        }
        // With a line or a point before the year of four digits the day comes first, as a habit.
        let is_habit = known.contains("yyyy") && !known.contains('/');
        if chosen.is_none() && !is_habit {
            open = reading.layouts[i].time().map(|time| time.pattern().to_owned());
        }
    }
    if let Some(pattern) = open {
        reading.doubts.push(format!(
            "whether the day or the month comes first in its dates is not told: they are read as in `{pattern}`; give the layout if they are not"
        ));
    }
}

/// The day of a number of days since 1970.
fn day_number((year, month, day): (i16, u8, u8)) -> Option<i64> {
    let date = jiff::civil::Date::new(year, month.cast_signed(), day.cast_signed()).ok()?;
    Some(TimeZone::UTC.to_timestamp(date.at(0, 0, 0, 0)).ok()?.as_second() / 86_400)
}

/// The days of `times`, which are read in the order `known`, in another order; none: there is no such day.
fn days(times: &[Civil], known: &str, order: &str) -> Option<Vec<i64>> {
    let (from, to) = (numbers(known), numbers(order));
    let day = |civil: &Civil| {
        let (year, month, day) = civil.date()?;
        let is_short = !known.contains("yyyy");
        let printed = from.map(|number| match number {
            Number::Year if is_short => i32::from(year.rem_euclid(100)),
            Number::Year => i32::from(year),
            Number::Month => i32::from(month),
            Number::Day => i32::from(day),
        });
        let of = |wanted: Number| {
            to.iter().zip(printed).find(|(number, _)| **number == wanted).map_or(0, |(_, value)| value)
        };
        let year = match of(Number::Year) {
            short if is_short && short >= 70 => 1900 + short,
            short if is_short => 2000 + short,
            year => year,
        };
        let small = |number: Number| u8::try_from(of(number)).ok();
        day_number((i16::try_from(year).ok()?, small(Number::Month)?, small(Number::Day)?))
    };
    times.iter().map(day).collect()
}

/// The order of `row` that is meant; none: nothing says it.
fn which(
    times: &[Civil],
    row: &[&'static str],
    known: &'static str,
    source: &Source,
    config: &Config,
) -> Option<&'static str> {
    let possible = row.iter().filter_map(|order| Some((*order, days(times, known, order)?)));
    let mut left: Vec<(&'static str, Vec<i64>)> = possible.collect();
    let way = |days: &[i64]| days.windows(2).map(|two| (two[1] - two[0]).abs()).sum::<i64>();
    if let Some(least) = left.iter().map(|(_, days)| way(days)).min() {
        left.retain(|(_, days)| way(days) == least);
    }
    // What is the same day in each order does not matter.
    if let Some((_, plain)) = left.iter().find(|(order, _)| *order == known).cloned() {
        left.retain(|(order, days)| *order == known || *days != plain);
    }
    let named = day_of_name(source.name()).map(|named| named.day).and_then(day_number);
    let written = source.written(&config.zone).and_then(day_number);
    let last = |days: &[i64]| days.last().copied().unwrap_or_default();
    for day in [named, written].into_iter().flatten() {
        let near: Vec<&'static str> =
            left.iter().filter(|(_, days)| (last(days) - day).abs() <= 1).map(|(order, _)| *order).collect();
        if let [order] = near[..] {
            return Some(order);
        }
    }
    // No record is of a later day than its file.
    if let Some(written) = written {
        let is_before = |days: &[i64]| last(days) <= written + 1;
        if left.iter().any(|(_, days)| is_before(days)) {
            left.retain(|(_, days)| is_before(days));
        }
        // Nor is a log kept for years, where another order makes it one of this year.
        let is_recent = |days: &[i64]| last(days) > written - 365;
        if left.iter().any(|(_, days)| is_recent(days)) {
            left.retain(|(_, days)| is_recent(days));
        }
    }
    match &left[..] {
        [(order, _)] => Some(order),
        _ => None,
    }
}
