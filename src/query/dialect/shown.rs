//! Values as texts, as PostgreSQL writes them.

use std::sync::Arc;

use datafusion::arrow::array::{Array as _, ArrayRef, AsArray as _, StringArray, new_null_array};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{
    DataType, Date32Type, Float32Type, Float64Type, Time64MicrosecondType, TimeUnit, TimestampMicrosecondType,
};
use datafusion::common::Result;

use super::function::timestamptz;
use super::function::{INTERVAL, TIMESTAMP};
use super::interval::{DAY, Span, clock, fraction};
use super::to_char;
use super::zone::{Zone, civil, micros};

/// The texts of a column; an error for times beyond all calendars.
pub(super) fn texts(column: &ArrayRef, zone: &Zone) -> Result<ArrayRef> {
    let column = match column.data_type() {
        DataType::Null => return Ok(new_null_array(&DataType::Utf8, column.len())),
        DataType::Timestamp(_, None) => cast(column, &TIMESTAMP)?,
        DataType::Timestamp(_, Some(_)) => cast(column, &timestamptz())?,
        DataType::Time32(_) | DataType::Time64(_) => cast(column, &DataType::Time64(TimeUnit::Microsecond))?,
        DataType::Duration(_) => cast(column, &DataType::Duration(TimeUnit::Microsecond))?,
        DataType::Interval(_) => cast(column, &INTERVAL)?,
        _ => Arc::clone(column),
    };
    let text = |row: usize| if column.is_null(row) { Ok(None) } else { text(&column, row, zone).map(Some) };
    let texts: StringArray = (0..column.len()).map(text).collect::<Result<_>>()?;
    Ok(Arc::new(texts))
}

fn text(column: &ArrayRef, row: usize, zone: &Zone) -> Result<String> {
    Ok(match column.data_type() {
        DataType::Float64 => double(column.as_primitive::<Float64Type>().value(row)),
        DataType::Float32 => real(column.as_primitive::<Float32Type>().value(row)),
        DataType::Boolean => if column.as_boolean().value(row) { "true" } else { "false" }.to_owned(),
        DataType::Timestamp(_, None) => time(column.as_primitive::<TimestampMicrosecondType>().value(row))?,
        DataType::Timestamp(..) => {
            instant(column.as_primitive::<TimestampMicrosecondType>().value(row), zone)?
        }
        DataType::Date32 => {
            let day = i64::from(column.as_primitive::<Date32Type>().value(row));
            time(day * DAY)?.split(' ').next().unwrap_or_default().to_owned()
        }
        DataType::Time64(_) => {
            clock(column.as_primitive::<Time64MicrosecondType>().value(row).unsigned_abs())
        }
        DataType::Interval(_) | DataType::Duration(_) => {
            Span::at(column, row)?.map(Span::text).unwrap_or_default()
        }
        DataType::List(_) => list(&column.as_list::<i32>().value(row), zone)?,
        _ => {
            let texts = cast(&column.slice(row, 1), &DataType::Utf8)?;
            texts.as_string::<i32>().value(0).to_owned()
        }
    })
}

/// `{1,NULL,"a b"}`
fn list(items: &ArrayRef, zone: &Zone) -> Result<String> {
    let is_nested = matches!(items.data_type(), DataType::List(_));
    let texts = texts(items, zone)?;
    let item = |text: Option<&str>| match text {
        None => "NULL".to_owned(),
        Some(text) if is_nested => text.to_owned(),
        Some(text) if items.data_type() == &DataType::Boolean => text[..1].to_owned(),
        Some(text) => {
            let is_special = |c: char| c.is_ascii_whitespace() || "{},\"\\".contains(c);
            let is_quoted = text.is_empty() || text.eq_ignore_ascii_case("null") || text.contains(is_special);
            match is_quoted {
                true => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
                false => text.to_owned(),
            }
        }
    };
    let items: Vec<String> = texts.as_string::<i32>().iter().map(item).collect();
    Ok(format!("{{{}}}", items.join(",")))
}

/// A number in the fewest digits that are no other number; very large and small ones with an exponent.
pub(super) fn double(value: f64) -> String {
    digits(value, format!("{value:e}"), 15)
}

fn real(value: f32) -> String {
    digits(f64::from(value), format!("{value:e}"), 6)
}

fn digits(value: f64, scientific: String, n_digits: i32) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..n_digits).contains(&exponent) {
        // As a decimal, from the same digits.
        let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
        let digits = mantissa.replace('.', "");
        let n = i32::try_from(digits.len()).unwrap_or(i32::MAX);
        let point = exponent + 1;
        return match point {
            ..=0 => format!("{sign}0.{}{digits}", "0".repeat(point.unsigned_abs() as usize)),
            point if point >= n => {
                format!("{sign}{digits}{}", "0".repeat((point - n).unsigned_abs() as usize))
            }
            point => {
                let (whole, rest) = digits.split_at(point.unsigned_abs() as usize);
                format!("{sign}{whole}.{rest}")
            }
        };
    }
    format!("{mantissa}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

/// A time without zone.
pub(super) fn time(at: i64) -> Result<String> {
    let shown = civil(at)?;
    let (date, time) = (shown.date(), shown.time());
    let seconds = format!("{:02}:{:02}:{:02}", time.hour(), time.minute(), time.second());
    let rest = fraction(at.rem_euclid(1_000_000).unsigned_abs());
    let year = i32::from(date.year());
    let (year, era) = if year > 0 { (year, "") } else { (1 - year, " BC") };
    Ok(format!("{year:04}-{:02}-{:02} {seconds}{rest}{era}", date.month(), date.day()))
}

/// An instant, as it is in `zone`.
pub(super) fn instant(at: i64, zone: &Zone) -> Result<String> {
    let (shown, offset) = zone.local(at)?;
    let text = time(micros(shown)?)?;
    Ok(text + &to_char::offset(offset.seconds()))
}
