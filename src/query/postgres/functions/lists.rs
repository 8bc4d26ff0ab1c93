//! Functions of lists: their items with numbers, and numbers as a list.

use std::sync::Arc;

use datafusion::arrow::array::{
    Array as _, ArrayRef, AsArray as _, Int32Array, ListArray, ListBuilder, PrimitiveBuilder, StructArray,
    new_empty_array,
};
use datafusion::arrow::buffer::{NullBuffer, OffsetBuffer};
use datafusion::arrow::datatypes::{DataType, Field, Fields, Int32Type, Int64Type};
use datafusion::common::{Result, exec_err, plan_err};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility, create_udf,
};

/// Most numbers of a series that depends on a row: as many as a list has items in the catalogs.
const SERIES_MAX: i64 = 100_000;

/// Functions of lists.
pub(super) fn of_lists() -> Vec<ScalarUDF> {
    let of =
        |kind| ScalarUDF::from(OfList { kind, signature: Signature::user_defined(Volatility::Immutable) });
    vec![of(Kind::OrEmpty), of(Kind::Numbered), of(Kind::Subscripts), series()]
}

/// Whole numbers from one to another, as a list.
fn series() -> ScalarUDF {
    let run = |arguments: &[ColumnarValue]| {
        let arrays = ColumnarValue::values_to_arrays(arguments)?;
        let (from, to) = (arrays[0].as_primitive::<Int64Type>(), arrays[1].as_primitive::<Int64Type>());
        let mut out = ListBuilder::new(PrimitiveBuilder::<Int64Type>::new());
        for (from, to) in from.iter().zip(to) {
            match from.zip(to) {
                Some((from, to)) if to.saturating_sub(from) > SERIES_MAX => {
                    return exec_err!("a series of more than {SERIES_MAX} numbers");
                }
                Some((from, to)) => out.append_value((from..=to).map(Some)),
                None => out.append_value([]),
            }
        }
        Ok(ColumnarValue::Array(Arc::new(out.finish()) as ArrayRef))
    };
    let list = DataType::new_list(DataType::Int64, true);
    let takes = vec![DataType::Int64, DataType::Int64];
    create_udf("series_of", takes, list, Volatility::Immutable, Arc::new(run))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    /// The list, or an empty one for NULL.
    OrEmpty,
    /// Its items with their numbers, `(x, n)`.
    Numbered,
    /// The numbers of its items.
    Subscripts,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct OfList {
    kind: Kind,
    signature: Signature,
}

fn numbered(item: &DataType) -> Fields {
    Fields::from(vec![Field::new("x", item.clone(), true), Field::new("n", DataType::Int32, true)])
}

impl ScalarUDFImpl for OfList {
    fn name(&self) -> &str {
        match self.kind {
            Kind::OrEmpty => "or_empty",
            Kind::Numbered => "_pg_expandarray",
            Kind::Subscripts => "generate_subscripts",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        match types.first() {
            Some(DataType::List(_)) => Ok(types.to_vec()),
            _ => plan_err!("Invalid function: {} is of a list", self.name()),
        }
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        let DataType::List(item) = &types[0] else { return plan_err!("{} is of a list", self.name()) };
        Ok(match self.kind {
            Kind::OrEmpty => types[0].clone(),
            Kind::Numbered => DataType::new_list(DataType::Struct(numbered(item.data_type())), true),
            Kind::Subscripts => DataType::new_list(DataType::Int32, true),
        })
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let column = arguments.args[0].to_array(arguments.number_rows)?;
        let lists = column.as_list::<i32>();
        let counted = |row: usize| (1..).take(if lists.is_null(row) { 0 } else { lists.value(row).len() });
        Ok(ColumnarValue::Array(match self.kind {
            Kind::OrEmpty => {
                let offsets = OffsetBuffer::from_lengths(lists.iter().map(|of| of.map_or(0, |of| of.len())));
                let items: Vec<ArrayRef> = lists.iter().flatten().collect();
                let items: Vec<_> = items.iter().map(|of| of.as_ref()).collect();
                let items = match items.is_empty() {
                    true => new_empty_array(&lists.value_type()),
                    false => datafusion::arrow::compute::concat(&items)?,
                };
                let DataType::List(field) = column.data_type() else { return exec_err!("a list") };
                Arc::new(ListArray::try_new(Arc::clone(field), offsets, items, None)?)
            }
            Kind::Numbered => {
                let n: Int32Array = (0..lists.len()).flat_map(counted).map(Some).collect();
                let items: Vec<ArrayRef> = lists.iter().flatten().collect();
                let items: Vec<_> = items.iter().map(|of| of.as_ref()).collect();
                let items = match items.is_empty() {
                    true => new_empty_array(&lists.value_type()),
                    false => datafusion::arrow::compute::concat(&items)?,
                };
                let fields = numbered(&lists.value_type());
                let of = StructArray::try_new(fields, vec![items, Arc::new(n)], None)?;
                let offsets = OffsetBuffer::from_lengths((0..lists.len()).map(|row| counted(row).count()));
                let field = Arc::new(Field::new_list_field(of.data_type().clone(), true));
                let nulls: Option<NullBuffer> = lists.nulls().cloned();
                Arc::new(ListArray::try_new(field, offsets, Arc::new(of), nulls)?)
            }
            Kind::Subscripts => {
                let mut out = ListBuilder::new(PrimitiveBuilder::<Int32Type>::new());
                (0..lists.len()).for_each(|row| out.append_value(counted(row).map(Some)));
                Arc::new(out.finish())
            }
        }))
    }
}
