//! Functions that clients of PostgreSQL ask before anything else, and that the catalogs lack.

use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{ColumnarValue, ScalarUDF, Volatility, create_udf};

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

/// The value of a setting.
pub(super) fn setting(name: &str) -> Option<&'static str> {
    SETTINGS.iter().find(|(of, _)| of.eq_ignore_ascii_case(name)).map(|(_, value)| *value)
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
    vec![version, current_setting, is_visible("pg_function_is_visible"), is_visible("pg_type_is_visible")]
}
