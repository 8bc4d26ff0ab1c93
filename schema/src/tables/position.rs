//! `position` of events and spans: all that deciding which of two rows happened before the
//! other needs, see [`crate::happened_before`].

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, StructArray, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::DataType;

use super::cell::{Cell, SharedBytes, Time, record};
#[cfg(doc)]
use crate::happened_before::Label;
use crate::happened_before::Stretch;

record! {
    /// A stretch of a span of a request.
    PositionRow {
        /// The first 8 bytes of the request's id: rows of one request have the same.
        request: i64,
        /// The span in the order of its request, a [`Label`].
        span: SharedBytes,
        /// Position of its first event in the span.
        first: i64,
        /// Position of its last event.
        last: i64,
        /// Its first event, by a clock that is never set back.
        start_ts: Time,
        /// Its last event.
        end_ts: Time,
    }
}

impl PositionRow {
    /// A stretch of the span of `request` whose [`Label`] has the bytes `label`.
    #[must_use]
    pub fn new(request: u128, label: &SharedBytes, stretch: Stretch) -> Self {
        Self {
            request: request_key(request),
            span: label.clone(),
            first: i64::from(stretch.first),
            last: i64::from(stretch.last),
            start_ts: Time(stretch.start_us),
            end_ts: Time(stretch.end_us),
        }
    }
}

/// The first 8 bytes of a request's id.
#[must_use]
pub fn request_key(request: u128) -> i64 {
    ((request >> 64) as u64).cast_signed()
}

impl Cell for Option<PositionRow> {
    const NULLABLE: bool = true;

    fn data_type() -> DataType {
        PositionRow::data_type()
    }

    fn array(values: &[&Self]) -> ArrayRef {
        let known: Vec<&PositionRow> = values.iter().filter_map(|value| value.as_ref()).collect();
        let mut at = 0..;
        let places = values.iter().map(|value| value.is_some().then(|| at.next()).flatten());
        let places: UInt32Array = places.collect();
        if known.is_empty() {
            let DataType::Struct(fields) = Self::data_type() else { unreachable!("a record is a struct") };
            return Arc::new(StructArray::new_null(fields, values.len()));
        }
        take(&PositionRow::array(&known), &places, None).expect("places are those of the known ones")
    }

    fn read(array: &ArrayRef) -> Option<Vec<Self>> {
        let rows = PositionRow::read(array)?.into_iter().enumerate();
        Some(rows.map(|(i, row)| array.is_valid(i).then_some(row)).collect())
    }

    fn missing(len: usize) -> Option<Vec<Self>> {
        Some(vec![None; len])
    }
}
