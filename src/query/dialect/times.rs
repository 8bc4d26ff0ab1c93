//! Functions of times: parts of them, what they are rounded down to, their texts, and other zones.
//!
//! Of times with a zone, days and hours are those of the zone of the session.

use std::sync::Arc;

use datafusion::arrow::array::{Array as _, ArrayRef, AsArray as _, Float64Array, TimestampMicrosecondArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{
    DataType, Date32Type, DurationMicrosecondType, Time64MicrosecondType, TimeUnit, TimestampMicrosecondType,
};
use datafusion::common::{Result, exec_err};
use jiff::civil::{DateTime, date};

use super::function::{Call, Function, INTERVAL, TIMESTAMP, is_text, no_such, timestamptz};
use super::interval::{DAY, Span};
use super::to_char::{self, Moment};
use super::zone::{Zone, civil, micros};

const TIME: DataType = DataType::Time64(TimeUnit::Microsecond);
const DURATION: DataType = DataType::Duration(TimeUnit::Microsecond);

/// The functions.
pub(super) const FUNCTIONS: [Function; 4] = [
    Function {
        name: "date_part",
        takes: |of| unit_and_time("date_part", of),
        gives: |_| DataType::Float64,
        run: date_part,
    },
    Function {
        name: "date_trunc",
        takes: |of| unit_and_time("date_trunc", of),
        gives: truncated_type,
        run: date_trunc,
    },
    Function { name: "to_char", takes: to_char_types, gives: |_| DataType::Utf8, run: to_char },
    Function { name: "timezone", takes: timezone_types, gives: timezone_type, run: timezone },
];

/// What a time is cast to; none: it is no time.
pub(super) fn time_type(of: &DataType) -> Option<DataType> {
    Some(match of {
        DataType::Timestamp(_, None) => TIMESTAMP,
        DataType::Timestamp(_, Some(_)) => timestamptz(),
        DataType::Date32 | DataType::Date64 => DataType::Date32,
        DataType::Time32(_) | DataType::Time64(_) => TIME,
        DataType::Interval(_) => INTERVAL,
        DataType::Duration(_) => DURATION,
        DataType::Null => TIMESTAMP,
        _ => return None,
    })
}

fn unit_and_time(name: &str, types: &[DataType]) -> Result<Vec<DataType>> {
    match types {
        [unit, time] if is_text(unit) => match time_type(time) {
            Some(time) => Ok(vec![DataType::Utf8, time]),
            None => no_such(name, types),
        },
        [unit, time @ DataType::Timestamp(_, Some(_)), zone]
            if name == "date_trunc" && is_text(unit) && is_text(zone) =>
        {
            Ok(vec![DataType::Utf8, time_type(time).unwrap_or(TIMESTAMP), DataType::Utf8])
        }
        _ => no_such(name, types),
    }
}

fn truncated_type(types: &[DataType]) -> DataType {
    match &types[1] {
        DataType::Date32 => timestamptz(),
        DataType::Duration(_) => INTERVAL,
        other => other.clone(),
    }
}

fn to_char_types(types: &[DataType]) -> Result<Vec<DataType>> {
    match types {
        [time @ (DataType::Timestamp(..) | DataType::Date32 | DataType::Null), pattern]
            if is_text(pattern) =>
        {
            Ok(vec![time_type(time).unwrap_or(TIMESTAMP), DataType::Utf8])
        }
        _ => no_such("to_char", types),
    }
}

fn timezone_types(types: &[DataType]) -> Result<Vec<DataType>> {
    match types {
        [zone, time @ (DataType::Timestamp(..) | DataType::Null)] if is_text(zone) => {
            Ok(vec![DataType::Utf8, time_type(time).unwrap_or(TIMESTAMP)])
        }
        _ => no_such("timezone", types),
    }
}

fn timezone_type(types: &[DataType]) -> DataType {
    if types[1] == TIMESTAMP { timestamptz() } else { TIMESTAMP }
}

pub(super) fn instant(column: &ArrayRef, row: usize) -> Option<i64> {
    (!column.is_null(row)).then(|| column.as_primitive::<TimestampMicrosecondType>().value(row))
}

fn day(column: &ArrayRef, row: usize) -> Option<i64> {
    (!column.is_null(row)).then(|| i64::from(column.as_primitive::<Date32Type>().value(row)) * DAY)
}

pub(super) fn has_zone(of: &DataType) -> bool {
    matches!(of, DataType::Timestamp(_, Some(_)))
}

fn unknown<T>(unit: &str) -> Result<T> {
    exec_err!("unit \"{unit}\" not recognized")
}

/// A unit by all of its names.
fn unit(name: &str) -> Result<&'static str> {
    let name = name.to_ascii_lowercase();
    Ok(match &*name {
        "microsecond" | "microseconds" | "us" | "usec" | "usecs" => "microseconds",
        "millisecond" | "milliseconds" | "ms" | "msec" | "msecs" => "milliseconds",
        "second" | "seconds" | "sec" | "secs" | "s" => "second",
        "minute" | "minutes" | "min" | "mins" | "m" => "minute",
        "hour" | "hours" | "hr" | "hrs" | "h" => "hour",
        "day" | "days" | "d" => "day",
        "week" | "weeks" | "w" => "week",
        "month" | "months" | "mon" | "mons" => "month",
        "quarter" | "qtr" => "quarter",
        "year" | "years" | "y" | "yr" | "yrs" => "year",
        "decade" | "decades" | "dec" | "decs" => "decade",
        "century" | "centuries" | "cent" | "c" => "century",
        "millennium" | "millennia" | "mil" | "mils" => "millennium",
        "epoch" => "epoch",
        "dow" => "dow",
        "isodow" => "isodow",
        "doy" => "doy",
        "isoyear" => "isoyear",
        "julian" | "jd" => "julian",
        "timezone" => "timezone",
        "timezone_hour" => "timezone_hour",
        "timezone_minute" => "timezone_minute",
        _ => return unknown(&name),
    })
}

fn date_part(call: &Call) -> Result<ArrayRef> {
    let zone = Zone::of(&call.config)?;
    let column = &call.arguments[1];
    let part = |row: usize| -> Result<Option<f64>> {
        let Some(name) = call.text(0, row) else { return Ok(None) };
        let name = unit(name)?;
        match column.data_type() {
            DataType::Timestamp(_, zoned) => {
                let Some(at) = instant(column, row) else { return Ok(None) };
                let (shown, offset) = match zoned {
                    Some(_) => zone.local(at).map(|(shown, offset)| (shown, Some(offset.seconds())))?,
                    None => (civil(at)?, None),
                };
                part_of_time(name, at, shown, offset).map(Some)
            }
            DataType::Date32 => {
                day(column, row).map(|at| part_of_time(name, at, civil(at)?, None)).transpose()
            }
            DataType::Time64(_) => {
                if column.is_null(row) {
                    return Ok(None);
                }
                part_of_clock(name, column.as_primitive::<Time64MicrosecondType>().value(row)).map(Some)
            }
            _ => Span::at(column, row)?.map(|span| part_of_span(name, span)).transpose(),
        }
    };
    let parts: Float64Array = (0..call.n_rows).map(part).collect::<Result<_>>()?;
    Ok(Arc::new(parts))
}

fn part_of_time(unit: &str, at: i64, shown: DateTime, offset: Option<i32>) -> Result<f64> {
    let (day, year) = (shown.date(), i32::from(shown.year()));
    let whole = match unit {
        "epoch" => return Ok(at as f64 / 1e6),
        "microseconds" | "milliseconds" | "second" | "minute" | "hour" => {
            return part_of_clock(unit, micros(shown)?.rem_euclid(DAY));
        }
        "julian" => {
            return Ok(to_char::julian(day) as f64 + micros(shown)?.rem_euclid(DAY) as f64 / DAY as f64);
        }
        "day" => i32::from(day.day()),
        "week" => i32::from(day.iso_week_date().week()),
        "month" => i32::from(day.month()),
        "quarter" => i32::from((day.month() - 1) / 3 + 1),
        "year" => year,
        "isoyear" => i32::from(day.iso_week_date().year()),
        "decade" => year.div_euclid(10),
        "century" => (year - 1).div_euclid(100) + 1,
        "millennium" => (year - 1).div_euclid(1000) + 1,
        "dow" => i32::from(day.weekday().to_sunday_zero_offset()),
        "isodow" => i32::from(day.weekday().to_monday_one_offset()),
        "doy" => i32::from(day.day_of_year()),
        "timezone" | "timezone_hour" | "timezone_minute" => match (offset, unit) {
            (Some(offset), "timezone") => offset,
            (Some(offset), "timezone_hour") => offset / 3600,
            (Some(offset), _) => offset / 60 % 60,
            (None, _) => {
                return exec_err!("unit \"{unit}\" not supported for type timestamp without time zone");
            }
        },
        other => return unknown(other),
    };
    Ok(f64::from(whole))
}

fn part_of_clock(unit: &str, micros: i64) -> Result<f64> {
    Ok(match unit {
        "epoch" => micros as f64 / 1e6,
        "microseconds" => (micros % 60_000_000) as f64,
        "milliseconds" => (micros % 60_000_000) as f64 / 1e3,
        "second" => (micros % 60_000_000) as f64 / 1e6,
        "minute" => (micros / 60_000_000 % 60) as f64,
        "hour" => (micros / 3_600_000_000) as f64,
        other => return unknown(other),
    })
}

fn part_of_span(unit: &str, span: Span) -> Result<f64> {
    let years = span.months / 12;
    let whole = match unit {
        "epoch" => {
            let days = f64::from(years) * 365.25 + f64::from(span.months % 12) * 30.0 + f64::from(span.days);
            return Ok(days * 86_400.0 + span.micros as f64 / 1e6);
        }
        "microseconds" | "milliseconds" | "second" | "minute" | "hour" => {
            return part_of_clock(unit, span.micros);
        }
        "day" => span.days,
        "month" => span.months % 12,
        "quarter" => span.months % 12 / 3 + 1,
        "year" => years,
        "decade" => years / 10,
        "century" => years / 100,
        "millennium" => years / 1000,
        other => return unknown(other),
    };
    Ok(f64::from(whole))
}

/// How many microseconds a unit of a fixed length has.
fn fixed(unit: &str) -> Option<i64> {
    Some(match unit {
        "microseconds" => 1,
        "milliseconds" => 1_000,
        "second" => 1_000_000,
        "minute" => 60_000_000,
        "hour" => 3_600_000_000,
        _ => return None,
    })
}

fn date_trunc(call: &Call) -> Result<ArrayRef> {
    let of_session = Zone::of(&call.config)?;
    let column = &call.arguments[1];
    let truncated = |row: usize| -> Result<Option<i64>> {
        let Some(name) = call.text(0, row) else { return Ok(None) };
        let name = unit(name)?;
        let zone = match call.n() {
            2 => of_session.clone(),
            _ => match call.text(2, row) {
                Some(name) => Zone::named(name)?,
                None => return Ok(None),
            },
        };
        match column.data_type() {
            DataType::Timestamp(_, None) => instant(column, row).map(|at| truncate(at, name)).transpose(),
            DataType::Date32 => {
                let Some(at) = day(column, row) else { return Ok(None) };
                Ok(Some(zone.instant(civil(truncate(at, name)?)?)?))
            }
            _ => {
                let Some(at) = instant(column, row) else { return Ok(None) };
                let (shown, offset) = zone.local(at)?;
                let shown = truncate(micros(shown)?, name)?;
                Ok(Some(match fixed(name) {
                    Some(_) => shown - i64::from(offset.seconds()) * 1_000_000,
                    None => zone.instant(civil(shown)?)?,
                }))
            }
        }
    };
    if matches!(column.data_type(), DataType::Interval(_) | DataType::Duration(_)) {
        return spans_truncated(call);
    }
    let times: TimestampMicrosecondArray = (0..call.n_rows).map(truncated).collect::<Result<_>>()?;
    let is_zoned = column.data_type() != &TIMESTAMP;
    Ok(Arc::new(if is_zoned { times.with_timezone("UTC") } else { times }))
}

/// What a time without zone is rounded down to.
fn truncate(at: i64, unit: &str) -> Result<i64> {
    if let Some(length) = fixed(unit) {
        return Ok(at - at.rem_euclid(length));
    }
    if unit == "day" {
        return Ok(at - at.rem_euclid(DAY));
    }
    let day = civil(at)?.date();
    let year = i32::from(day.year());
    let first = |year: i32| match i16::try_from(year) {
        Ok(year) if year > 0 => Ok(date(year, 1, 1)),
        _ => exec_err!("a time is out of range"),
    };
    let first = match unit {
        "week" => {
            let since_monday = i64::from(day.weekday().to_monday_zero_offset());
            return Ok(at - at.rem_euclid(DAY) - since_monday * DAY);
        }
        "month" => day.first_of_month(),
        "quarter" => date(day.year(), (day.month() - 1) / 3 * 3 + 1, 1),
        "year" => day.first_of_year(),
        "decade" => first(year.div_euclid(10) * 10)?,
        "century" => first((year - 1).div_euclid(100) * 100 + 1)?,
        "millennium" => first((year - 1).div_euclid(1000) * 1000 + 1)?,
        other => return unknown(other),
    };
    micros(first.to_datetime(jiff::civil::Time::midnight()))
}

fn spans_truncated(call: &Call) -> Result<ArrayRef> {
    let truncated = |row: usize| -> Result<_> {
        let (Some(name), Some(span)) = (call.text(0, row), Span::at(&call.arguments[1], row)?) else {
            return Ok(None);
        };
        let name = unit(name)?;
        let months = |n: i32| Span { months: span.months / n * n, days: 0, micros: 0 };
        let truncated = match name {
            "day" => Span { micros: 0, ..span },
            "month" => months(1),
            "quarter" => months(3),
            "year" => months(12),
            "decade" => months(120),
            "century" => months(1200),
            "millennium" => months(12_000),
            other => match fixed(other) {
                Some(length) => Span { micros: span.micros / length * length, ..span },
                None => return exec_err!("unit \"{other}\" not supported for type interval"),
            },
        };
        truncated.value().map(Some)
    };
    let spans: datafusion::arrow::array::IntervalMonthDayNanoArray =
        (0..call.n_rows).map(truncated).collect::<Result<_>>()?;
    Ok(Arc::new(spans))
}

fn to_char(call: &Call) -> Result<ArrayRef> {
    let zone = Zone::of(&call.config)?;
    let column = &call.arguments[0];
    call.give_texts(|row| {
        let Some(pattern) = call.text(1, row) else { return Ok(None) };
        let at = match column.data_type() {
            DataType::Date32 => match day(column, row) {
                Some(at) => Some(zone.instant(civil(at)?)?),
                None => None,
            },
            _ => instant(column, row),
        };
        let Some(at) = at else { return Ok(None) };
        let moment = if column.data_type() == &TIMESTAMP {
            Moment { civil: civil(at)?, offset: 0, zone: None }
        } else {
            let (civil, offset) = zone.local(at)?;
            Moment { civil, offset: offset.seconds(), zone: Some(zone.abbreviation(at)?) }
        };
        to_char::time(&moment, pattern).map(Some)
    })
}

fn timezone(call: &Call) -> Result<ArrayRef> {
    let column = &call.arguments[1];
    let is_zoned = has_zone(column.data_type());
    let mut last: Option<(String, Zone)> = None;
    let mut shown = |row: usize| -> Result<Option<i64>> {
        let (Some(name), Some(at)) = (call.text(0, row), instant(column, row)) else { return Ok(None) };
        let zone = match &last {
            Some((known, zone)) if known == name => zone.clone(),
            _ => {
                let zone = Zone::named(name)?;
                last = Some((name.to_owned(), zone.clone()));
                zone
            }
        };
        match is_zoned {
            true => micros(zone.local(at)?.0).map(Some),
            false => zone.instant(civil(at)?).map(Some),
        }
    };
    let times: TimestampMicrosecondArray = (0..call.n_rows).map(&mut shown).collect::<Result<_>>()?;
    Ok(Arc::new(if is_zoned { times } else { times.with_timezone("UTC") }))
}

/// The interval that a duration is.
pub(super) fn durations(column: &ArrayRef) -> Result<ArrayRef> {
    let micros = cast(column, &DURATION)?;
    let durations = micros.as_primitive::<DurationMicrosecondType>();
    let span = |micros: Option<i64>| micros.map(|micros| Span::between(micros)?.value()).transpose();
    let spans: datafusion::arrow::array::IntervalMonthDayNanoArray =
        durations.iter().map(span).collect::<Result<_>>()?;
    Ok(Arc::new(spans))
}
