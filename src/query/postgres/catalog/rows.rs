//! Rows of a relation: what is not said of a column is NULL there, or the zero of its type where it
//! never is.

use std::borrow::Cow;
use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray, new_null_array,
};
use datafusion::arrow::array::{ListArray, ListBuilder, StringBuilder};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::Result;

use super::relation::Relation;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell<'v> {
    Null,
    Number(i64),
    Fraction(f64),
    Flag(bool),
    Text(Cow<'v, str>),
    /// Texts or numbers, as texts.
    List(Vec<String>),
}

impl From<i32> for Cell<'_> {
    fn from(of: i32) -> Self {
        Self::Number(of.into())
    }
}

impl From<bool> for Cell<'_> {
    fn from(of: bool) -> Self {
        Self::Flag(of)
    }
}

impl<'v> From<&'v str> for Cell<'v> {
    fn from(of: &'v str) -> Self {
        Self::Text(Cow::Borrowed(of))
    }
}

impl From<String> for Cell<'_> {
    fn from(of: String) -> Self {
        Self::Text(Cow::Owned(of))
    }
}

/// The rows of a relation.
pub(super) struct Rows<'v> {
    of: &'v Relation,
    columns: Vec<Vec<Cell<'v>>>,
}

impl<'v> Rows<'v> {
    /// None yet.
    pub(super) fn new(of: &'v Relation) -> Self {
        Self { of, columns: vec![Vec::new(); of.columns.len()] }
    }

    /// One more, with what is said of some of its columns.
    pub(super) fn push<const N: usize>(&mut self, said: [(&str, Cell<'v>); N]) {
        for (column, cells) in self.of.columns.iter().zip(&mut self.columns) {
            let cell = said.iter().find(|(name, _)| *name == column.name).map(|(_, cell)| cell.clone());
            cells.push(cell.unwrap_or_else(|| if column.is_needed { zero(&column.of) } else { Cell::Null }));
        }
    }

    /// A row of which all is said.
    pub(super) fn push_whole(&mut self, row: Vec<Cell<'v>>) {
        for ((column, cells), cell) in self.of.columns.iter().zip(&mut self.columns).zip(row) {
            let is_missing = cell == Cell::Null && column.is_needed;
            cells.push(if is_missing { zero(&column.of) } else { cell });
        }
    }

    /// Them as the engine has them.
    pub(super) fn batch(self) -> Result<RecordBatch> {
        let schema = self.of.arrow();
        let columns = self.columns.iter().zip(schema.fields());
        let columns = columns.map(|(cells, field)| array(cells, field.data_type())).collect::<Result<_>>()?;
        Ok(RecordBatch::try_new(schema, columns)?)
    }
}

fn zero(of: &str) -> Cell<'static> {
    match super::relation::arrow(of) {
        DataType::Boolean => Cell::Flag(false),
        DataType::Utf8 => Cell::Text(Cow::Borrowed("")),
        DataType::List(_) => Cell::List(Vec::new()),
        DataType::Timestamp(..) | DataType::Interval(_) | DataType::Binary => Cell::Null,
        _ => Cell::Number(0),
    }
}

fn array(cells: &[Cell], of: &DataType) -> Result<ArrayRef> {
    let values: ArrayRef = match of {
        DataType::Boolean => Arc::new(cells.iter().map(flag).collect::<BooleanArray>()),
        DataType::Utf8 => Arc::new(cells.iter().map(text).collect::<StringArray>()),
        DataType::Float32 | DataType::Float64 => {
            Arc::new(cells.iter().map(fraction).collect::<Float64Array>())
        }
        DataType::List(_) => Arc::new(lists(cells)),
        DataType::Int16 | DataType::Int32 | DataType::Int64 => {
            Arc::new(cells.iter().map(number).collect::<Int64Array>())
        }
        _ => return Ok(new_null_array(of, cells.len())),
    };
    Ok(if values.data_type() == of { values } else { cast(&values, of)? })
}

fn flag(cell: &Cell) -> Option<bool> {
    match cell {
        Cell::Flag(of) => Some(*of),
        Cell::Text(of) => Some(*of == "t" || *of == "true"),
        _ => None,
    }
}

fn number(cell: &Cell) -> Option<i64> {
    match cell {
        Cell::Number(of) => Some(*of),
        Cell::Text(of) => of.parse().ok(),
        _ => None,
    }
}

fn fraction(cell: &Cell) -> Option<f64> {
    match cell {
        Cell::Fraction(of) => Some(*of),
        Cell::Number(of) => Some(*of as f64),
        _ => None,
    }
}

fn text<'c>(cell: &'c Cell) -> Option<Cow<'c, str>> {
    match cell {
        Cell::Text(of) => Some(Cow::Borrowed(of)),
        Cell::Number(of) => Some(Cow::Owned(of.to_string())),
        Cell::Flag(of) => Some(Cow::Borrowed(if *of { "t" } else { "f" })),
        _ => None,
    }
}

/// Of `{a,b}` or `1 2` too.
fn lists(cells: &[Cell]) -> ListArray {
    let mut lists = ListBuilder::new(StringBuilder::new());
    for cell in cells {
        match cell {
            Cell::List(of) => lists.append_value(of.iter().map(Some)),
            Cell::Text(of) => {
                let within = of.trim_start_matches('{').trim_end_matches('}');
                let items = within.split([',', ' ']).filter(|item| !item.is_empty());
                lists.append_value(items.map(|item| Some(item.trim_matches('"').to_owned())));
            }
            _ => lists.append_null(),
        }
    }
    lists.finish()
}
