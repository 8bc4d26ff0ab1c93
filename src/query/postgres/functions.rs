//! Functions that clients of PostgreSQL ask before anything else, and that the catalogs lack.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, AsArray as _, Int64Array, IntervalMonthDayNanoArray, StringArray};
use datafusion::arrow::datatypes::{DataType, IntervalMonthDayNanoType, IntervalUnit};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility, create_udf,
};
use serde_json::Value;

use super::zones;
use crate::query::values;

/// The version whose clients are answered.
pub(super) const VERSION: &str = "16.6";

/// Settings that clients ask for, beside those of their session.
const SETTINGS: [(&str, &str); 9] = [
    ("server_version", VERSION),
    ("server_version_num", "160006"),
    ("server_encoding", "UTF8"),
    ("client_encoding", "UTF8"),
    ("search_path", "public"),
    ("timezone", "UTC"),
    ("standard_conforming_strings", "on"),
    ("transaction_read_only", "on"),
    ("default_transaction_read_only", "on"),
];

/// Types that are known, by the names that they have in PostgreSQL and in SQL, with their numbers.
const TYPES: [(&str, i64); 33] = [
    ("bool", 16),
    ("boolean", 16),
    ("bytea", 17),
    ("name", 19),
    ("int8", 20),
    ("bigint", 20),
    ("int2", 21),
    ("smallint", 21),
    ("int4", 23),
    ("int", 23),
    ("integer", 23),
    ("text", 25),
    ("oid", 26),
    ("json", 114),
    ("float4", 700),
    ("real", 700),
    ("float8", 701),
    ("double precision", 701),
    ("bpchar", 1042),
    ("varchar", 1043),
    ("character varying", 1043),
    ("date", 1082),
    ("time", 1083),
    ("time without time zone", 1083),
    ("timestamp", 1114),
    ("timestamp without time zone", 1114),
    ("timestamptz", 1184),
    ("timestamp with time zone", 1184),
    ("interval", 1186),
    ("numeric", 1700),
    ("decimal", 1700),
    ("uuid", 2950),
    ("jsonb", 3802),
];

/// The value of a setting.
pub(super) fn setting(name: &str) -> Option<&'static str> {
    SETTINGS.iter().find(|(of, _)| of.eq_ignore_ascii_case(name)).map(|(_, value)| *value)
}

/// Any value as JSON: lists within lists, which clients have no type for.
#[derive(Debug, PartialEq, Eq, Hash)]
struct AsJson(Signature);

impl ScalarUDFImpl for AsJson {
    fn name(&self) -> &str {
        "as_json"
    }

    fn signature(&self) -> &Signature {
        &self.0
    }

    fn return_type(&self, _: &[DataType]) -> datafusion::common::Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> datafusion::common::Result<ColumnarValue> {
        let [column] = &*ColumnarValue::values_to_arrays(&arguments.args)? else {
            return datafusion::common::exec_err!("as_json is of one value");
        };
        let text = |row| match values::value(column, row) {
            Value::Null => None,
            value => Some(value.to_string()),
        };
        let texts: StringArray = (0..column.len()).map(text).collect();
        Ok(ColumnarValue::Array(Arc::new(texts) as ArrayRef))
    }
}

/// A value as JSON.
pub(super) fn as_json() -> ScalarUDF {
    ScalarUDF::from(AsJson(Signature::any(1, Volatility::Immutable)))
}

/// An interval, or [`zones::NO_INTERVAL`] for none: what sends rows takes NULL for no time at all.
pub(super) fn sent_interval() -> ScalarUDF {
    let run = |arguments: &[ColumnarValue]| {
        let arrays = ColumnarValue::values_to_arrays(arguments)?;
        let marked: IntervalMonthDayNanoArray = arrays[0]
            .as_primitive::<IntervalMonthDayNanoType>()
            .iter()
            .map(|value| Some(value.unwrap_or(zones::NO_INTERVAL)))
            .collect();
        Ok(ColumnarValue::Array(Arc::new(marked) as ArrayRef))
    };
    let interval = DataType::Interval(IntervalUnit::MonthDayNano);
    create_udf("sent_interval", vec![interval.clone()], interval, Volatility::Immutable, Arc::new(run))
}

/// The functions.
pub(super) fn functions() -> Vec<ScalarUDF> {
    let text = |text: String| Ok(ColumnarValue::Scalar(ScalarValue::Utf8(Some(text))));
    let version = create_udf(
        "version",
        Vec::new(),
        DataType::Utf8,
        Volatility::Stable,
        Arc::new(move |_: &[ColumnarValue]| {
            text(format!("PostgreSQL {VERSION} (lprof {})", env!("CARGO_PKG_VERSION")))
        }),
    );
    let current_setting = create_udf(
        "current_setting",
        vec![DataType::Utf8],
        DataType::Utf8,
        Volatility::Stable,
        Arc::new(|arguments: &[ColumnarValue]| {
            let [ColumnarValue::Scalar(name)] = arguments else {
                return Ok(ColumnarValue::Scalar(ScalarValue::Utf8(None)));
            };
            let value = name.try_as_str().flatten().and_then(setting).map(str::to_owned);
            Ok(ColumnarValue::Scalar(ScalarValue::Utf8(value)))
        }),
    );
    let is_visible = |name: &str| {
        create_udf(
            name,
            vec![DataType::Int64],
            DataType::Boolean,
            Volatility::Stable,
            Arc::new(|_: &[ColumnarValue]| Ok(ColumnarValue::Scalar(ScalarValue::Boolean(Some(true))))),
        )
    };
    vec![
        version,
        current_setting,
        is_visible("pg_function_is_visible"),
        is_visible("pg_type_is_visible"),
        to_regtype(),
        serial_sequence(),
    ]
}

/// The number of a type by its name; null: there is none.
fn to_regtype() -> ScalarUDF {
    create_udf(
        "to_regtype",
        vec![DataType::Utf8],
        DataType::Int64,
        Volatility::Stable,
        Arc::new(|arguments: &[ColumnarValue]| {
            let arrays = ColumnarValue::values_to_arrays(arguments)?;
            let names = arrays.first().map(|names| names.as_string::<i32>());
            let number = |name: Option<&str>| {
                let known =
                    TYPES.iter().find(|(known, _)| name.is_some_and(|name| name.eq_ignore_ascii_case(known)));
                known.map(|(_, number)| *number)
            };
            let numbers: Int64Array = names.into_iter().flatten().map(number).collect();
            Ok(ColumnarValue::Array(Arc::new(numbers) as ArrayRef))
        }),
    )
}

/// The sequence that a column is numbered by: no column is.
fn serial_sequence() -> ScalarUDF {
    create_udf(
        "pg_get_serial_sequence",
        vec![DataType::Utf8, DataType::Utf8],
        DataType::Utf8,
        Volatility::Stable,
        Arc::new(|_: &[ColumnarValue]| Ok(ColumnarValue::Scalar(ScalarValue::Utf8(None)))),
    )
}
