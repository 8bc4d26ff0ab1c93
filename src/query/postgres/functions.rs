//! Functions that clients of PostgreSQL ask of the catalogs and of their session, as rows of tables.

mod json;
mod lists;
mod session;
mod told;

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, AsArray as _, BooleanArray, Int32Array, Int64Array, IntervalMonthDayNanoArray, ListBuilder,
    StringArray, StringBuilder,
};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, IntervalMonthDayNanoType, IntervalUnit};
use datafusion::common::{Result, ScalarValue, plan_err};
use datafusion::config::ConfigOptions;
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
    create_udf,
};
use serde_json::Value;

use super::catalog::{ALIAS, Names, TYPE};
use super::zones;
use crate::query::values;
pub(super) use session::{SETTINGS, VERSION_NUMBER, setting};

/// What a function gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gives {
    Text,
    /// A text that is sent as this type.
    Sent(&'static str),
    Number,
    Long,
    Flag,
    /// The number of a thing that has names.
    Named(&'static str),
    Texts,
}

/// A function.
#[derive(Clone, Copy)]
pub(super) struct Function {
    pub(super) name: &'static str,
    /// How many arguments, at least and at most.
    pub(super) takes: (usize, usize),
    pub(super) gives: Gives,
    /// Whether it gives NULL of any NULL, unasked.
    pub(super) is_strict: bool,
    pub(super) run: fn(&Asked, &[Value]) -> Result<Value>,
}

impl Function {
    /// One that gives NULL of NULL.
    pub(super) const fn strict(
        name: &'static str,
        takes: (usize, usize),
        gives: Gives,
        run: fn(&Asked, &[Value]) -> Result<Value>,
    ) -> Self {
        Self { name, takes, gives, is_strict: true, run }
    }

    /// One that is asked of NULL too.
    pub(super) const fn lax(
        name: &'static str,
        takes: (usize, usize),
        gives: Gives,
        run: fn(&Asked, &[Value]) -> Result<Value>,
    ) -> Self {
        Self { name, takes, gives, is_strict: false, run }
    }
}

/// What a function may look at.
pub(super) struct Asked<'a> {
    pub(super) names: &'a Names,
    pub(super) config: &'a ConfigOptions,
    /// The types of its arguments.
    pub(super) fields: &'a [FieldRef],
}

struct Udf {
    of: Function,
    names: Arc<Names>,
    signature: Signature,
}

impl std::fmt::Debug for Udf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.of.name)
    }
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

impl ScalarUDFImpl for Udf {
    fn name(&self) -> &str {
        self.of.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        let (least, most) = self.of.takes;
        match (least..=most).contains(&types.len()) {
            true => Ok(types.to_vec()),
            false => plan_err!("Invalid function: {} does not take {} arguments", self.of.name, types.len()),
        }
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(match self.of.gives {
            Gives::Text | Gives::Sent(_) => DataType::Utf8,
            Gives::Number | Gives::Named(_) => DataType::Int32,
            Gives::Long => DataType::Int64,
            Gives::Flag => DataType::Boolean,
            Gives::Texts => DataType::new_list(DataType::Utf8, true),
        })
    }

    fn return_field_from_args(&self, _: ReturnFieldArgs) -> Result<FieldRef> {
        let field = Field::new(self.of.name, self.return_type(&[])?, true);
        let said = match self.of.gives {
            Gives::Sent(of) => Some((TYPE, of)),
            Gives::Named(of) => Some((ALIAS, of)),
            _ => None,
        };
        let metadata = said.map(|(key, of)| (key.to_owned(), of.to_owned()));
        Ok(Arc::new(field.with_metadata(metadata.into_iter().collect::<HashMap<_, _>>())))
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let is_scalar = arguments.args.iter().all(|of| matches!(of, ColumnarValue::Scalar(_)));
        let n_rows = if is_scalar { 1 } else { arguments.number_rows };
        let columns: Vec<ArrayRef> =
            arguments.args.iter().map(|of| of.to_array(n_rows)).collect::<Result<_>>()?;
        let asked =
            Asked { names: &self.names, config: &arguments.config_options, fields: &arguments.arg_fields };
        let value = |row: usize| {
            let values: Vec<Value> = columns.iter().map(|column| values::value(column, row)).collect();
            match self.of.is_strict && values.iter().any(Value::is_null) {
                true => Ok(Value::Null),
                false => (self.of.run)(&asked, &values),
            }
        };
        let values: Vec<Value> = (0..n_rows).map(value).collect::<Result<_>>()?;
        let column = array(&values, self.of.gives);
        match is_scalar {
            true => Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&column, 0)?)),
            false => Ok(ColumnarValue::Array(column)),
        }
    }
}

fn array(values: &[Value], of: Gives) -> ArrayRef {
    let number = |value: &Value| value.as_i64().and_then(|of| i32::try_from(of).ok());
    match of {
        Gives::Text | Gives::Sent(_) => {
            Arc::new(values.iter().map(|value| value.as_str()).collect::<StringArray>())
        }
        Gives::Number | Gives::Named(_) => Arc::new(values.iter().map(number).collect::<Int32Array>()),
        Gives::Long => Arc::new(values.iter().map(Value::as_i64).collect::<Int64Array>()),
        Gives::Flag => Arc::new(values.iter().map(Value::as_bool).collect::<BooleanArray>()),
        Gives::Texts => {
            let mut lists = ListBuilder::new(StringBuilder::new());
            for value in values {
                match value.as_array() {
                    None => lists.append_null(),
                    Some(of) => lists.append_value(of.iter().map(Value::as_str)),
                }
            }
            Arc::new(lists.finish())
        }
    }
}

/// All of them, of the things that `names` has numbers for.
pub(super) fn functions(names: &Arc<Names>) -> Vec<ScalarUDF> {
    let all = told::FUNCTIONS.iter().chain(session::FUNCTIONS).chain(json::FUNCTIONS);
    let udf = |of: &Function| {
        let signature = Signature::user_defined(Volatility::Stable);
        ScalarUDF::from(Udf { of: *of, names: Arc::clone(names), signature })
    };
    all.map(udf).chain(lists::of_lists()).collect()
}

/// The text of what `names` has numbers of one kind for.
pub(super) fn name_of(names: &Arc<Names>, kind: &str) -> Option<ScalarUDF> {
    let of = told::NAMES_OF.iter().find(|(of, _)| *of == kind).map(|(_, function)| *function)?;
    let signature = Signature::user_defined(Volatility::Stable);
    Some(ScalarUDF::from(Udf { of, names: Arc::clone(names), signature }))
}

/// What a cast becomes of what has a type of its own: the same number or text, which then has none.
pub(super) fn plain(names: &Arc<Names>, name: &str) -> Option<ScalarUDF> {
    let of = told::FUNCTIONS.iter().copied().find(|of| of.name == name)?;
    let signature = Signature::user_defined(Volatility::Stable);
    Some(ScalarUDF::from(Udf { of, names: Arc::clone(names), signature }))
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

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
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
