//! A function as a row of a table: its name, the types that it takes and gives, and what it does.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use datafusion::arrow::array::{Array as _, ArrayRef, AsArray as _, StringArray};
use datafusion::arrow::datatypes::{DataType, Int64Type, IntervalUnit, TimeUnit};
use datafusion::common::{Result, ScalarValue, plan_err};
use datafusion::config::ConfigOptions;
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

/// The types of times, as all functions here take and give them.
pub(super) const TIMESTAMP: DataType = DataType::Timestamp(TimeUnit::Microsecond, None);
pub(super) const INTERVAL: DataType = DataType::Interval(IntervalUnit::MonthDayNano);

/// A time with a zone: an instant. Its text and its calendar are those of the zone of the session.
pub(super) fn timestamptz() -> DataType {
    DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()))
}

/// One function.
#[derive(Clone, Copy, Debug)]
pub(super) struct Function {
    pub(super) name: &'static str,
    /// What its arguments are cast to.
    pub(super) takes: fn(&[DataType]) -> Result<Vec<DataType>>,
    /// The type of its values.
    pub(super) gives: fn(&[DataType]) -> DataType,
    pub(super) run: fn(&Call) -> Result<ArrayRef>,
}

/// What a function is called with.
pub(super) struct Call {
    pub(super) arguments: Vec<ArrayRef>,
    pub(super) n_rows: usize,
    pub(super) config: Arc<ConfigOptions>,
}

impl Call {
    /// The texts of an argument.
    pub(super) fn texts(&self, argument: usize) -> &StringArray {
        self.arguments[argument].as_string::<i32>()
    }

    /// An integer.
    pub(super) fn integer(&self, argument: usize, row: usize) -> Option<i64> {
        let column = self.arguments[argument].as_primitive::<Int64Type>();
        (!column.is_null(row)).then(|| column.value(row))
    }

    /// A text.
    pub(super) fn text(&self, argument: usize, row: usize) -> Option<&str> {
        let column = self.texts(argument);
        (!column.is_null(row)).then(|| column.value(row))
    }

    /// How many arguments there are.
    pub(super) fn n(&self) -> usize {
        self.arguments.len()
    }

    /// A text of each row.
    pub(super) fn give_texts(&self, of: impl Fn(usize) -> Result<Option<String>>) -> Result<ArrayRef> {
        let texts: StringArray = (0..self.n_rows).map(of).collect::<Result<_>>()?;
        Ok(Arc::new(texts))
    }
}

#[derive(Debug)]
struct Udf {
    of: Function,
    signature: Signature,
}

impl PartialEq for Udf {
    fn eq(&self, other: &Self) -> bool {
        self.of.name == other.of.name
    }
}

impl Eq for Udf {}

impl Hash for Udf {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.of.name.hash(state);
    }
}

impl Function {
    /// As the engine knows functions.
    pub(super) fn udf(self) -> ScalarUDF {
        // What depends on the zone of the session is the same within a query.
        ScalarUDF::from(Udf { of: self, signature: Signature::user_defined(Volatility::Stable) })
    }
}

impl ScalarUDFImpl for Udf {
    fn name(&self) -> &str {
        self.of.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        (self.of.takes)(types)
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        Ok((self.of.gives)(types))
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let is_scalar = arguments.args.iter().all(|of| matches!(of, ColumnarValue::Scalar(_)));
        let n_rows = if is_scalar { 1 } else { arguments.number_rows };
        let arrays = arguments.args.iter().map(|of| of.to_array(n_rows)).collect::<Result<_>>()?;
        let call = Call { arguments: arrays, n_rows, config: arguments.config_options };
        let values = (self.of.run)(&call)?;
        match is_scalar {
            true => Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&values, 0)?)),
            false => Ok(ColumnarValue::Array(values)),
        }
    }
}

/// `name` cannot be called with `types`.
pub(super) fn no_such<T>(name: &str, types: &[DataType]) -> Result<T> {
    let types: Vec<String> = types.iter().map(ToString::to_string).collect();
    plan_err!("Invalid function: {name}({}) does not exist", types.join(", "))
}

/// Whether values of a type are texts, or NULL that can be one.
pub(super) fn is_text(of: &DataType) -> bool {
    matches!(of, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null)
}

/// Whether values of a type are integers, or NULL that can be one.
pub(super) fn is_integer(of: &DataType) -> bool {
    of.is_integer() || matches!(of, DataType::Null)
}

/// Texts only.
pub(super) fn all_texts(name: &str, types: &[DataType]) -> Result<Vec<DataType>> {
    match types.iter().all(is_text) {
        true => Ok(vec![DataType::Utf8; types.len()]),
        false => no_such(name, types),
    }
}
