//! A value of a column as JSON: numbers stay numbers, times are ISO 8601 in
//! UTC, lists and structs keep their form.

use datafusion::arrow::array::{Array, ArrayRef, AsArray as _, StructArray};
use datafusion::arrow::datatypes::{
    DataType, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use serde_json::{Map, Value, json};

/// The value in `row`.
pub(crate) fn value(column: &ArrayRef, row: usize) -> Value {
    if column.is_null(row) {
        return Value::Null;
    }
    macro_rules! number {
        ($ty:ty) => {
            json!(column.as_primitive::<$ty>().value(row))
        };
    }
    match column.data_type() {
        DataType::Null => Value::Null,
        DataType::Boolean => json!(column.as_boolean().value(row)),
        DataType::Int8 => number!(Int8Type),
        DataType::Int16 => number!(Int16Type),
        DataType::Int32 => number!(Int32Type),
        DataType::Int64 => number!(Int64Type),
        DataType::UInt8 => number!(UInt8Type),
        DataType::UInt16 => number!(UInt16Type),
        DataType::UInt32 => number!(UInt32Type),
        DataType::UInt64 => number!(UInt64Type),
        DataType::Float32 => number!(Float32Type),
        DataType::Float64 => number!(Float64Type),
        DataType::Decimal128(_, 0) => {
            // A sum of integers, as long as it is one for whoever reads it.
            let number = column.as_primitive::<Decimal128Type>().value(row);
            i64::try_from(number).map_or_else(|_| text(column, row), Value::from)
        }
        DataType::Utf8 => json!(column.as_string::<i32>().value(row)),
        DataType::LargeUtf8 => json!(column.as_string::<i64>().value(row)),
        DataType::Utf8View => json!(column.as_string_view().value(row)),
        DataType::List(_) => list(&column.as_list::<i32>().value(row)),
        DataType::LargeList(_) => list(&column.as_list::<i64>().value(row)),
        DataType::Struct(_) => object(column.as_struct(), row),
        _ => text(column, row),
    }
}

fn list(items: &ArrayRef) -> Value {
    (0..items.len()).map(|i| value(items, i)).collect()
}

fn object(fields: &StructArray, row: usize) -> Value {
    let pairs = fields.column_names().into_iter().zip(fields.columns());
    Value::Object(pairs.map(|(name, column)| (name.to_owned(), value(column, row))).collect::<Map<_, _>>())
}

/// Times, decimals, intervals and whatever else has a usual text.
fn text(column: &ArrayRef, row: usize) -> Value {
    let options = FormatOptions::new()
        .with_timestamp_format(Some("%Y-%m-%dT%H:%M:%S%.6f"))
        .with_timestamp_tz_format(Some("%Y-%m-%dT%H:%M:%S%.6fZ"));
    match ArrayFormatter::try_new(column, &options) {
        Ok(formatter) => Value::String(formatter.value(row).to_string()),
        Err(_) => Value::String("?".to_owned()),
    }
}
