//! Times that are made: of numbers, and of others by the bin that they are in.

use std::sync::Arc;

use datafusion::arrow::array::{
    Array as _, ArrayRef, AsArray as _, Date32Array, Time64MicrosecondArray, TimestampMicrosecondArray,
};
use datafusion::arrow::datatypes::{DataType, Float64Type, TimeUnit};
use datafusion::common::{Result, exec_datafusion_err, exec_err};

use super::function::{Call, Function, INTERVAL, TIMESTAMP, is_integer, is_text, no_such, timestamptz};
use super::interval::{DAY, Span};
use super::read;
use super::times::{has_zone, instant, time_type};
use super::zone::{Zone, civil, micros};

const TIME: DataType = DataType::Time64(TimeUnit::Microsecond);

/// The functions.
pub(super) const FUNCTIONS: [Function; 6] = [
    Function {
        name: "to_timestamp",
        takes: |of| seconds("to_timestamp", of),
        gives: |_| timestamptz(),
        run: to_timestamp,
    },
    Function {
        name: "make_date",
        takes: |of| numbers("make_date", 3, of),
        gives: |_| DataType::Date32,
        run: make_date,
    },
    Function { name: "make_time", takes: |of| numbers("make_time", 3, of), gives: |_| TIME, run: make_time },
    Function {
        name: "make_timestamp",
        takes: |of| numbers("make_timestamp", 6, of),
        gives: |_| TIMESTAMP,
        run: make_timestamp,
    },
    Function {
        name: "make_timestamptz",
        takes: |of| numbers("make_timestamptz", 6, of),
        gives: |_| timestamptz(),
        run: make_timestamptz,
    },
    Function { name: "date_bin", takes: bin_types, gives: |of| of[1].clone(), run: date_bin },
];

fn seconds(name: &str, types: &[DataType]) -> Result<Vec<DataType>> {
    match types {
        [of] if of.is_numeric() || of.is_null() => Ok(vec![DataType::Float64]),
        [text, pattern] if is_text(text) && is_text(pattern) => Ok(vec![DataType::Utf8; 2]),
        _ => no_such(name, types),
    }
}

fn numbers(name: &str, n: usize, types: &[DataType]) -> Result<Vec<DataType>> {
    let (last, rest) = types.split_last().unwrap_or((&DataType::Utf8, &[]));
    // Of what has seconds these can have a fraction.
    let is_last = if name == "make_date" { is_integer(last) } else { last.is_numeric() || last.is_null() };
    if types.len() != n || !rest.iter().all(is_integer) || !is_last {
        return no_such(name, types);
    }
    let last = if name == "make_date" { DataType::Int64 } else { DataType::Float64 };
    Ok(rest.iter().map(|_| DataType::Int64).chain([last]).collect())
}

fn bin_types(types: &[DataType]) -> Result<Vec<DataType>> {
    match types {
        [stride, time @ DataType::Timestamp(..), origin @ DataType::Timestamp(..)]
            if matches!(stride, DataType::Interval(_) | DataType::Duration(_)) || is_text(stride) =>
        {
            if time_type(time) != time_type(origin) {
                return no_such("date_bin", types);
            }
            let of = time_type(time).unwrap_or(TIMESTAMP);
            Ok(vec![INTERVAL, of.clone(), of])
        }
        [stride, time @ DataType::Timestamp(..)]
            if matches!(stride, DataType::Interval(_)) || is_text(stride) =>
        {
            Ok(vec![INTERVAL, time_type(time).unwrap_or(TIMESTAMP)])
        }
        _ => no_such("date_bin", types),
    }
}

fn to_timestamp(call: &Call) -> Result<ArrayRef> {
    if call.n() == 2 {
        let zone = Zone::of(&call.config)?;
        let read = |row: usize| match (call.text(0, row), call.text(1, row)) {
            (Some(text), Some(pattern)) => zone.instant(read::time(text, pattern)?).map(Some),
            _ => Ok(None),
        };
        let times: TimestampMicrosecondArray = (0..call.n_rows).map(read).collect::<Result<_>>()?;
        return Ok(Arc::new(times.with_timezone("UTC")));
    }
    let column = call.arguments[0].as_primitive::<Float64Type>();
    let at = |seconds: Option<f64>| match seconds {
        None => Ok(None),
        Some(seconds) if seconds.abs() < 2.5e11 => Ok(Some((seconds * 1e6).round_ties_even() as i64)),
        Some(seconds) => exec_err!("timestamp out of range: \"{seconds}\""),
    };
    let times: TimestampMicrosecondArray = column.iter().map(at).collect::<Result<_>>()?;
    Ok(Arc::new(times.with_timezone("UTC")))
}

/// The integers of the first arguments of a row; none: one is NULL.
fn integers<const N: usize>(call: &Call, row: usize) -> Option<[i64; N]> {
    let mut values = [0; N];
    for (argument, value) in values.iter_mut().enumerate() {
        *value = call.integer(argument, row)?;
    }
    Some(values)
}

fn made(year: i64, month: i64, day: i64) -> Result<jiff::civil::Date> {
    let parts = (i16::try_from(year), i8::try_from(month), i8::try_from(day));
    let made = match parts {
        (Ok(year), Ok(month), Ok(day)) if year > 0 => jiff::civil::Date::new(year, month, day).ok(),
        _ => None,
    };
    made.ok_or_else(|| exec_datafusion_err!("date field value out of range: {year}-{month:02}-{day:02}"))
}

fn make_date(call: &Call) -> Result<ArrayRef> {
    let day = |row: usize| -> Result<Option<i32>> {
        let Some([year, month, day]) = integers(call, row) else { return Ok(None) };
        let day = micros(made(year, month, day)?.to_datetime(jiff::civil::Time::midnight()))? / DAY;
        Ok(i32::try_from(day).ok())
    };
    let days: Date32Array = (0..call.n_rows).map(day).collect::<Result<_>>()?;
    Ok(Arc::new(days))
}

/// Microseconds since midnight.
fn clock(hour: i64, minute: i64, second: f64) -> Result<i64> {
    let is_time = (0..24).contains(&hour) && (0..60).contains(&minute) && (0.0..=60.0).contains(&second);
    match is_time || (hour == 24 && minute == 0 && second == 0.0) {
        true => Ok(((hour * 60 + minute) * 60_000_000) + (second * 1e6).round_ties_even() as i64),
        false => exec_err!("time field value out of range: {hour}:{minute:02}:{second}"),
    }
}

fn last_number(call: &Call, argument: usize, row: usize) -> Option<f64> {
    let column = call.arguments[argument].as_primitive::<Float64Type>();
    (!column.is_null(row)).then(|| column.value(row))
}

fn make_time(call: &Call) -> Result<ArrayRef> {
    let time = |row: usize| match (integers(call, row), last_number(call, 2, row)) {
        (Some([hour, minute]), Some(second)) => clock(hour, minute, second).map(Some),
        _ => Ok(None),
    };
    let times: Time64MicrosecondArray = (0..call.n_rows).map(time).collect::<Result<_>>()?;
    Ok(Arc::new(times))
}

fn made_times(call: &Call) -> Result<Vec<Option<i64>>> {
    let time = |row: usize| -> Result<Option<i64>> {
        let (Some([year, month, day, hour, minute]), Some(second)) =
            (integers(call, row), last_number(call, 5, row))
        else {
            return Ok(None);
        };
        let day = micros(made(year, month, day)?.to_datetime(jiff::civil::Time::midnight()))?;
        Ok(Some(day + clock(hour, minute, second)?))
    };
    (0..call.n_rows).map(time).collect()
}

fn make_timestamp(call: &Call) -> Result<ArrayRef> {
    Ok(Arc::new(TimestampMicrosecondArray::from(made_times(call)?)))
}

fn make_timestamptz(call: &Call) -> Result<ArrayRef> {
    let zone = Zone::of(&call.config)?;
    let instants = made_times(call)?.into_iter().map(|at| match at {
        Some(at) => zone.instant(civil(at)?).map(Some),
        None => Ok(None),
    });
    let times: TimestampMicrosecondArray = instants.collect::<Result<_>>()?;
    Ok(Arc::new(times.with_timezone("UTC")))
}

fn date_bin(call: &Call) -> Result<ArrayRef> {
    let bin = |row: usize| -> Result<Option<i64>> {
        let (stride, time) = (&call.arguments[0], &call.arguments[1]);
        // PostgreSQL has to be told an origin.
        let origin = call.arguments.get(2).map_or(Some(0), |origin| instant(origin, row));
        let (Some(stride), Some(at), Some(origin)) = (Span::at(stride, row)?, instant(time, row), origin)
        else {
            return Ok(None);
        };
        if stride.months != 0 {
            return exec_err!("timestamps cannot be binned into intervals containing months or years");
        }
        let length = i64::from(stride.days) * DAY + stride.micros;
        if length <= 0 {
            return exec_err!("stride must be greater than zero");
        }
        Ok(Some(at - (at - origin).rem_euclid(length)))
    };
    let times: TimestampMicrosecondArray = (0..call.n_rows).map(bin).collect::<Result<_>>()?;
    let is_zoned = has_zone(call.arguments[1].data_type());
    Ok(Arc::new(if is_zoned { times.with_timezone("UTC") } else { times }))
}
