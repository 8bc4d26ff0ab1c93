//! A cell: how one Rust value is a column of Arrow, and back.
//!
//! The macro [`record!`] turns a struct into a cell whose columns are its
//! fields; a table is a struct with a name. So a column is declared in one
//! place, and reading cannot disagree with writing.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float64Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Float64Array, Int64Array, ListArray, RecordBatch,
    StringArray, StructArray, TimestampMicrosecondArray,
};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field, SchemaRef, TimeUnit};

/// Shared text: node, class and file names repeat in every row.
pub type Text = Arc<str>;

/// A point in time, µs since 1970 UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub i64);

/// Opaque bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bytes(pub Vec<u8>);

/// Opaque bytes that rows share.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharedBytes(pub Arc<[u8]>);

/// A value that can stand in a column.
pub trait Cell: Sized {
    /// Whether the column can hold null.
    const NULLABLE: bool = false;

    /// Type of the column.
    fn data_type() -> DataType;

    /// The column of `values`.
    fn array(values: &[&Self]) -> ArrayRef;

    /// The values of a column; none if it has another type.
    fn read(array: &ArrayRef) -> Option<Vec<Self>>;

    /// The values of a column that is not there, as in files from before it was added; none
    /// if it has to be.
    #[must_use]
    fn missing(_len: usize) -> Option<Vec<Self>> {
        None
    }

    /// The column `name` of this type.
    #[must_use]
    fn field(name: &str) -> Field {
        Field::new(name, Self::data_type(), Self::NULLABLE)
    }
}

/// A row of a table.
pub trait Row: Cell {
    /// Name of the table.
    const TABLE: &'static str;

    /// Columns of the table.
    #[must_use]
    fn schema() -> SchemaRef {
        match Self::data_type() {
            DataType::Struct(fields) => Arc::new(arrow_schema::Schema::new(fields)),
            other => unreachable!("a row is a struct, not {other}"),
        }
    }

    /// The rows as columns.
    #[must_use]
    fn batch(rows: &[Self]) -> RecordBatch {
        let columns = Self::array(&rows.iter().collect::<Vec<_>>());
        RecordBatch::from(columns.as_struct())
    }

    /// The rows of `batch`; none if its columns are others.
    #[must_use]
    fn rows(batch: &RecordBatch) -> Option<Vec<Self>> {
        Self::read(&(Arc::new(StructArray::from(batch.clone())) as ArrayRef))
    }
}

impl Cell for Text {
    fn data_type() -> DataType {
        DataType::Utf8
    }

    fn array(values: &[&Self]) -> ArrayRef {
        Arc::new(StringArray::from_iter_values(values.iter().map(|v| &***v)))
    }

    fn read(array: &ArrayRef) -> Option<Vec<Self>> {
        let array = array.as_string_opt::<i32>()?;
        let mut last: Text = Text::from("");
        // Names repeat in runs: one allocation per run, not per row.
        let share = |text: &str| {
            if *last != *text {
                last = Text::from(text);
            }
            last.clone()
        };
        Some(array.iter().map(Option::unwrap_or_default).map(share).collect())
    }
}

impl Cell for Option<Text> {
    const NULLABLE: bool = true;

    fn data_type() -> DataType {
        DataType::Utf8
    }

    fn array(values: &[&Self]) -> ArrayRef {
        Arc::new(values.iter().map(|v| v.as_deref()).collect::<StringArray>())
    }

    fn read(array: &ArrayRef) -> Option<Vec<Self>> {
        let array = array.as_string_opt::<i32>()?;
        let mut last: Text = Text::from("");
        // As above: one allocation per run.
        let mut share = |text: &str| {
            if *last != *text {
                last = Text::from(text);
            }
            last.clone()
        };
        Some(array.iter().map(|v| v.map(&mut share)).collect())
    }

    fn missing(len: usize) -> Option<Vec<Self>> {
        Some(vec![None; len])
    }
}

impl Cell for i64 {
    fn data_type() -> DataType {
        DataType::Int64
    }

    fn array(values: &[&Self]) -> ArrayRef {
        Arc::new(Int64Array::from_iter_values(values.iter().map(|v| **v)))
    }

    fn read(array: &ArrayRef) -> Option<Vec<Self>> {
        Some(array.as_primitive_opt::<Int64Type>()?.values().to_vec())
    }
}

impl Cell for Option<i64> {
    const NULLABLE: bool = true;

    fn data_type() -> DataType {
        DataType::Int64
    }

    fn array(values: &[&Self]) -> ArrayRef {
        Arc::new(values.iter().map(|v| **v).collect::<Int64Array>())
    }

    fn read(array: &ArrayRef) -> Option<Vec<Self>> {
        Some(array.as_primitive_opt::<Int64Type>()?.iter().collect())
    }

    fn missing(len: usize) -> Option<Vec<Self>> {
        Some(vec![None; len])
    }
}

impl Cell for Option<f64> {
    const NULLABLE: bool = true;

    fn data_type() -> DataType {
        DataType::Float64
    }

    fn array(values: &[&Self]) -> ArrayRef {
        Arc::new(values.iter().map(|v| **v).collect::<Float64Array>())
    }

    fn read(array: &ArrayRef) -> Option<Vec<Self>> {
        Some(array.as_primitive_opt::<Float64Type>()?.iter().collect())
    }

    fn missing(len: usize) -> Option<Vec<Self>> {
        Some(vec![None; len])
    }
}

fn time_type() -> DataType {
    DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()))
}

impl Cell for Time {
    fn data_type() -> DataType {
        time_type()
    }

    fn array(values: &[&Self]) -> ArrayRef {
        Arc::new(TimestampMicrosecondArray::from_iter_values(values.iter().map(|t| t.0)).with_timezone("UTC"))
    }

    fn read(array: &ArrayRef) -> Option<Vec<Self>> {
        Some(
            array.as_primitive_opt::<TimestampMicrosecondType>()?.values().iter().map(|t| Time(*t)).collect(),
        )
    }
}

impl Cell for Option<Time> {
    const NULLABLE: bool = true;

    fn data_type() -> DataType {
        time_type()
    }

    fn array(values: &[&Self]) -> ArrayRef {
        let times = values.iter().map(|t| t.map(|t| t.0));
        Arc::new(times.collect::<TimestampMicrosecondArray>().with_timezone("UTC"))
    }

    fn read(array: &ArrayRef) -> Option<Vec<Self>> {
        Some(array.as_primitive_opt::<TimestampMicrosecondType>()?.iter().map(|t| t.map(Time)).collect())
    }
}

impl Cell for bool {
    fn data_type() -> DataType {
        DataType::Boolean
    }

    fn array(values: &[&Self]) -> ArrayRef {
        Arc::new(values.iter().map(|v| Some(**v)).collect::<BooleanArray>())
    }

    fn read(array: &ArrayRef) -> Option<Vec<Self>> {
        Some(array.as_boolean_opt()?.iter().map(Option::unwrap_or_default).collect())
    }
}

impl Cell for Bytes {
    fn data_type() -> DataType {
        DataType::Binary
    }

    fn array(values: &[&Self]) -> ArrayRef {
        Arc::new(BinaryArray::from_iter_values(values.iter().map(|v| &v.0)))
    }

    fn read(array: &ArrayRef) -> Option<Vec<Self>> {
        let array = array.as_binary_opt::<i32>()?;
        Some(array.iter().map(|v| Bytes(v.unwrap_or_default().to_vec())).collect())
    }
}

impl Cell for SharedBytes {
    fn data_type() -> DataType {
        DataType::Binary
    }

    fn array(values: &[&Self]) -> ArrayRef {
        Arc::new(BinaryArray::from_iter_values(values.iter().map(|v| &v.0)))
    }

    fn read(array: &ArrayRef) -> Option<Vec<Self>> {
        let array = array.as_binary_opt::<i32>()?;
        let mut last: Arc<[u8]> = Arc::new([]);
        // They repeat in runs: one allocation per run, not per row.
        let share = |bytes: &[u8]| {
            if *last != *bytes {
                last = Arc::from(bytes);
            }
            Self(last.clone())
        };
        Some(array.iter().map(Option::unwrap_or_default).map(share).collect())
    }
}

impl<T: Cell> Cell for Vec<T> {
    fn data_type() -> DataType {
        DataType::List(Arc::new(T::field(Field::LIST_FIELD_DEFAULT_NAME)))
    }

    fn array(values: &[&Self]) -> ArrayRef {
        let offsets = OffsetBuffer::from_lengths(values.iter().map(|list| list.len()));
        let items = T::array(&values.iter().flat_map(|list| list.iter()).collect::<Vec<_>>());
        Arc::new(ListArray::new(Arc::new(T::field(Field::LIST_FIELD_DEFAULT_NAME)), offsets, items, None))
    }

    fn read(array: &ArrayRef) -> Option<Vec<Self>> {
        let lists = array.as_list_opt::<i32>()?;
        let mut items = T::read(lists.values())?.into_iter();
        let first = usize::try_from(*lists.value_offsets().first()?).ok()?;
        for _ in 0..first {
            items.next();
        }
        let take =
            |i: usize| items.by_ref().take(usize::try_from(lists.value_length(i)).unwrap_or(0)).collect();
        Some((0..lists.len()).map(take).collect())
    }
}

impl<T: Cell + Clone> Cell for Option<Vec<T>> {
    const NULLABLE: bool = true;

    fn data_type() -> DataType {
        Vec::<T>::data_type()
    }

    fn array(values: &[&Self]) -> ArrayRef {
        let items: Vec<&T> = values.iter().copied().flatten().flatten().collect();
        let offsets = OffsetBuffer::from_lengths(values.iter().map(|list| list.as_ref().map_or(0, Vec::len)));
        let nulls = values.iter().map(|list| list.is_some()).collect();
        let field = Arc::new(T::field(Field::LIST_FIELD_DEFAULT_NAME));
        Arc::new(ListArray::new(field, offsets, T::array(&items), Some(nulls)))
    }

    fn read(array: &ArrayRef) -> Option<Vec<Self>> {
        let lists = Vec::<T>::read(array)?.into_iter().enumerate();
        Some(lists.map(|(at, list)| array.is_valid(at).then_some(list)).collect())
    }

    fn missing(len: usize) -> Option<Vec<Self>> {
        Some(vec![None; len])
    }
}

/// A struct whose fields are columns; with `= "name"` it is a table.
macro_rules! record {
    ($(#[$doc:meta])* $row:ident $(= $table:literal)? {
        $( $(#[$field_doc:meta])* $field:ident : $ty:ty ),* $(,)?
    }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $row {
            $( $(#[$field_doc])* pub $field: $ty ),*
        }

        impl $crate::tables::cell::Cell for $row {
            fn data_type() -> arrow_schema::DataType {
                arrow_schema::DataType::Struct(
                    vec![$( <$ty as $crate::tables::cell::Cell>::field(stringify!($field)) ),*].into()
                )
            }

            fn array(rows: &[&Self]) -> arrow_array::ArrayRef {
                let arrow_schema::DataType::Struct(fields) = Self::data_type() else {
                    unreachable!("a record is a struct")
                };
                let columns = vec![$(
                    <$ty as $crate::tables::cell::Cell>::array(&rows.iter().map(|row| &row.$field).collect::<Vec<_>>())
                ),*];
                std::sync::Arc::new(arrow_array::StructArray::new(fields, columns, None))
            }

            fn read(array: &arrow_array::ArrayRef) -> Option<Vec<Self>> {
                use arrow_array::{Array as _, cast::AsArray as _};
                let columns = array.as_struct_opt()?;
                $(
                    let column = columns.column_by_name(stringify!($field));
                    let mut $field = match column {
                        Some(column) => <$ty as $crate::tables::cell::Cell>::read(column)?,
                        None => <$ty as $crate::tables::cell::Cell>::missing(columns.len())?,
                    }
                    .into_iter();
                )*
                (0..columns.len()).map(|_| Some($row { $( $field: $field.next()? ),* })).collect()
            }
        }

        $(
            impl $crate::tables::cell::Row for $row {
                const TABLE: &'static str = $table;
            }
        )?
    };
}

pub(super) use record;

#[cfg(test)]
mod tests {
    use super::{Row as _, SharedBytes, Text, Time};
    use crate::happened_before::{Hop, Label, Stretch};
    use crate::tables::{EventRow, NameValue, NodeTime, PositionRow, RequestRow};

    #[track_caller]
    fn check<R: super::Row + PartialEq + std::fmt::Debug>(rows: &[R]) {
        let batch = R::batch(rows);
        assert_eq!(batch.num_rows(), rows.len());
        assert_eq!(R::rows(&batch).as_deref(), Some(rows));
        // A slice of a batch has offsets that do not begin at 0.
        if rows.len() > 1 {
            assert_eq!(R::rows(&batch.slice(1, rows.len() - 1)).as_deref(), Some(&rows[1..]));
        }
    }

    fn request(id: &str, n: i64) -> RequestRow {
        RequestRow {
            request_id: Text::from(id),
            request_type: Text::from("C.m"),
            start_ts: Time(n),
            end_ts: Time(-n),
            duration_us: n,
            n_nodes: n,
            n_spans: n,
            n_events: n,
            log_sequence_id: Text::from(""),
            nodes: (0..n).map(|i| NodeTime { node: id.into(), start_ts: Time(i), end_ts: Time(i) }).collect(),
            identifiers: vec![NameValue { name: id.into(), value: "\u{0}".into() }],
            flags: (0..n).map(|i| Text::from(i.to_string())).collect(),
            confidence: (n > 1).then_some(1.0 / n as f64),
            request_types: (n > 1).then(|| vec![Text::from("C.m"), Text::from("C.n")]),
        }
    }

    #[test]
    fn rows_survive_columns() {
        check::<RequestRow>(&[]);
        check(&[request("a", 0), request("b", 3), request("b", 1)]);
    }

    #[test]
    fn nulls_survive_columns() {
        let event = |id: Option<&str>, point| EventRow {
            request_id: id.map(Text::from),
            node: "n".into(),
            log_point_id: point,
            class: id.map(Text::from),
            source_line: point,
            position: point.map(position),
            ..EventRow::default()
        };
        check(&[event(None, Some(1)), event(Some("x"), None), event(Some(""), Some(-1))]);
    }

    fn position(first: i64) -> PositionRow {
        let path = vec![Hop { span: 3, before: None, after: Some(0) }];
        let label = Label { request: i64::MAX / 3, node: 1, path, bounds_us: vec![(0, -5)] };
        let stretch = Stretch { first: 0, last: 2, start_us: -1, end_us: 9 };
        let bytes = SharedBytes(label.encode().into());
        PositionRow { first, ..PositionRow::new(label.request, &bytes, stretch, -7) }
    }

    #[test]
    fn columns_of_a_later_release_are_null_in_older_files() {
        let event = |position| EventRow { node: "n".into(), position, ..EventRow::default() };
        let mut batch = EventRow::batch(&[event(Some(position(1))), event(None)]);
        let without = |name: &str, batch: &mut super::RecordBatch| {
            batch.remove_column(batch.schema().index_of(name).expect("a column"));
        };
        without("position", &mut batch);
        assert_eq!(EventRow::rows(&batch), Some(vec![event(None), event(None)]));
        without("node", &mut batch);
        assert_eq!(EventRow::rows(&batch), None);
    }

    #[test]
    fn other_columns_are_refused() {
        let batch = RequestRow::batch(&[request("a", 1)]);
        assert_eq!(EventRow::rows(&batch), None);
    }
}
