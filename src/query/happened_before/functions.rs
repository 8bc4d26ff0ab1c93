//! The functions of positions, and the column of a batch that holds positions.

use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray as _, BinaryArray, BooleanArray, Int64Array, StringBuilder, StructArray,
};
use datafusion::arrow::buffer::NullBuffer;
use datafusion::arrow::datatypes::{DataType, Int64Type};
use datafusion::common::{Result, exec_err, plan_err};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use schema::happened_before::{Label, Stretch};
use schema::tables::stretch;

use super::condition::{Filter, Relation};
use super::rows::LabelBytes;

/// All functions that a session has beside the engine's.
pub(crate) fn all() -> Vec<ScalarUDF> {
    let relations = Relation::ALL.into_iter().map(|relation| {
        ScalarUDF::from(RelationFunction { relation, signature: Signature::any(2, Volatility::Immutable) })
    });
    let filters = Filter::NAMES.into_iter().map(|name| ScalarUDF::from(FilterFunction::named(name)));
    relations.chain(filters).chain([ScalarUDF::from(ValueOf::new()), request_function()]).collect()
}

/// `request_of(position)`: a number that rows of one request have in common.
pub(super) fn request_function() -> ScalarUDF {
    ScalarUDF::from(RequestOf { signature: Signature::any(1, Volatility::Immutable) })
}

/// A column of positions.
pub(super) struct Positions<'a> {
    whole: &'a StructArray,
    span: &'a BinaryArray,
    request: &'a Int64Array,
    first: &'a Int64Array,
    last: &'a Int64Array,
    since_us: &'a Int64Array,
    lasts_us: &'a Int64Array,
}

impl<'a> Positions<'a> {
    /// The positions in `column`; an error: it holds something else.
    pub(super) fn new(column: &'a ArrayRef) -> Result<Self> {
        let found = (|| {
            let whole = column.as_struct_opt()?;
            let number = |name: &str| whole.column_by_name(name)?.as_primitive_opt::<Int64Type>();
            Some(Self {
                whole,
                span: whole.column_by_name("span")?.as_binary_opt()?,
                request: number("request")?,
                first: number("first")?,
                last: number("last")?,
                since_us: number("since_us")?,
                lasts_us: number("lasts_us")?,
            })
        })();
        match found {
            Some(found) => Ok(found),
            None => exec_err!("a position was expected, not {}", column.data_type()),
        }
    }

    /// The span's label with the request that it is of, and the stretch of it in `row`; none: null.
    pub(super) fn get(&self, row: usize) -> Option<(LabelBytes<'a>, Stretch)> {
        if self.whole.is_null(row) || self.span.is_null(row) {
            return None;
        }
        let of_span = (self.first.value(row), self.last.value(row));
        let stretch = stretch(of_span, (self.since_us.value(row), self.lasts_us.value(row)))?;
        Some(((self.request.value(row), self.span.value(row)), stretch))
    }
}

/// Whether a column of this type can hold positions.
fn is_position(data_type: &DataType) -> bool {
    let DataType::Struct(fields) = data_type else { return *data_type == DataType::Null };
    let names = ["request", "span", "first", "last", "since_us", "lasts_us"];
    names.iter().all(|name| fields.find(name).is_some())
}

fn check_positions(name: &str, types: &[DataType]) -> Result<()> {
    match types.iter().find(|data_type| !is_position(data_type)) {
        None => Ok(()),
        Some(other) => plan_err!(
            "`{name}` is about two positions, write `{name}(a.position, b.position)`; one of these is {other}"
        ),
    }
}

/// One relation as a function.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct RelationFunction {
    pub(super) relation: Relation,
    signature: Signature,
}

impl ScalarUDFImpl for RelationFunction {
    fn name(&self) -> &str {
        self.relation.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        check_positions(self.name(), types)?;
        Ok(DataType::Boolean)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let columns = ColumnarValue::values_to_arrays(&args.args)?;
        if columns.iter().any(|column| *column.data_type() == DataType::Null) {
            return Ok(ColumnarValue::Array(Arc::new(BooleanArray::new_null(args.number_rows))));
        }
        let (a, b) = (Positions::new(&columns[0])?, Positions::new(&columns[1])?);
        let mut labels = (Decoded::default(), Decoded::default());
        let holds = |row: usize| {
            let ((a, a_stretch), (b, b_stretch)) = (a.get(row)?, b.get(row)?);
            let (a, b) = (labels.0.decode(a)?, labels.1.decode(b)?);
            Some(self.relation.holds((a, a_stretch), (b, b_stretch)))
        };
        let rows: BooleanArray = (0..columns[0].len()).map(holds).collect();
        Ok(ColumnarValue::Array(Arc::new(rows)))
    }
}

/// The label of the row before: rows of one span stand together, mostly.
#[derive(Default)]
struct Decoded {
    request: i64,
    bytes: Vec<u8>,
    label: Option<Label>,
}

impl Decoded {
    fn decode(&mut self, (request, bytes): LabelBytes<'_>) -> Option<&Label> {
        if self.request != request || self.bytes != bytes {
            self.label = Label::decode(request, bytes);
            self.request = request;
            self.bytes = bytes.to_vec();
        }
        self.label.as_ref()
    }
}

/// A filter in time, which only a join can answer.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct FilterFunction {
    name: &'static str,
    signature: Signature,
}

impl FilterFunction {
    fn named(name: &'static str) -> Self {
        let n_arguments = if name.ends_with('n') { 3 } else { 2 };
        Self { name, signature: Signature::any(n_arguments, Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for FilterFunction {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        check_positions(self.name, &types[..2])?;
        if types.get(2).is_some_and(|n| !n.is_integer()) {
            return plan_err!("`{}` takes a whole number as its last argument", self.name);
        }
        Ok(DataType::Boolean)
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> Result<ColumnarValue> {
        exec_err!("{}", not_a_join(self.name))
    }
}

/// What is said to who uses a filter in time elsewhere.
pub(super) fn not_a_join(name: &str) -> String {
    format!("`{name}` is a condition of a join: write `JOIN ... ON {name}(a.position, b.position)`")
}

/// A number that rows of one request have in common.
#[derive(Debug, PartialEq, Eq, Hash)]
struct RequestOf {
    signature: Signature,
}

impl ScalarUDFImpl for RequestOf {
    fn name(&self) -> &str {
        "request_of"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        check_positions(self.name(), types)?;
        Ok(DataType::Int64)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let columns = ColumnarValue::values_to_arrays(&args.args)?;
        let Some(whole) = columns[0].as_struct_opt() else {
            return Ok(ColumnarValue::Array(Arc::new(Int64Array::new_null(args.number_rows))));
        };
        let Some(request) = whole.column_by_name("request").and_then(|c| c.as_primitive_opt::<Int64Type>())
        else {
            return exec_err!("a position was expected, not {}", columns[0].data_type());
        };
        let nulls = NullBuffer::union(whole.nulls(), request.nulls());
        Ok(ColumnarValue::Array(Arc::new(Int64Array::new(request.values().clone(), nulls))))
    }
}

/// `value_of(values, name)`: the text that an event prints under a name, its first if it
/// prints several; null: none.
#[derive(Debug, PartialEq, Eq, Hash)]
struct ValueOf {
    signature: Signature,
}

impl ValueOf {
    fn new() -> Self {
        Self { signature: Signature::any(2, Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for ValueOf {
    fn name(&self) -> &str {
        "value_of"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        let is_list =
            matches!(&types[0], DataType::List(item) if matches!(item.data_type(), DataType::Struct(_)));
        if !is_list || types[1] != DataType::Utf8 {
            return plan_err!("`value_of` takes the column `values` of `events` and a name");
        }
        Ok(DataType::Utf8)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let columns = ColumnarValue::values_to_arrays(&args.args)?;
        let lists = columns[0].as_list::<i32>();
        let wanted = columns[1].as_string::<i32>();
        let items = lists.values().as_struct();
        let text = |name: &str| items.column_by_name(name).and_then(|column| column.as_string_opt::<i32>());
        let (Some(names), Some(values)) = (text("name"), text("value")) else {
            return exec_err!("`value_of` takes the column `values` of `events`");
        };
        let mut out = StringBuilder::new();
        for row in 0..lists.len() {
            let range = lists.value_offsets()[row] as usize..lists.value_offsets()[row + 1] as usize;
            let is_wanted = |at: &usize| !wanted.is_null(row) && names.value(*at) == wanted.value(row);
            let found = range.into_iter().find(is_wanted).filter(|_| lists.is_valid(row));
            out.append_option(found.map(|at| values.value(at)));
        }
        Ok(ColumnarValue::Array(Arc::new(out.finish())))
    }
}
