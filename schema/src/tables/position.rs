//! `position` of events and spans: all that deciding which of two rows happened before the
//! other needs, see [`crate::happened_before`].

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, StructArray, UInt32Array};
use arrow_schema::DataType;
use arrow_select::take::take;

use super::cell::{Cell, SharedBytes, record};
use crate::happened_before::{Label, Stretch};

record! {
    /// A stretch of a span of a request.
    PositionRow {
        /// The first 8 bytes of the request's id, which are those of its first span and unique
        /// in the table: rows of one request have the same.
        request: i64,
        /// The span in the order of its request, a [`Label`].
        span: SharedBytes,
        /// Position of its first event in the span.
        first: i64,
        /// Position of its last event.
        last: i64,
        /// From the start of the request to its first event, by a clock that is never set back,
        /// µs.
        since_us: i64,
        /// From that to its last event, µs.
        lasts_us: i64,
    }
}

impl PositionRow {
    /// A stretch of the span of `request` whose [`Label`] has the bytes `label`; the request
    /// starts at `start_us`.
    #[must_use]
    pub fn new(request: i64, label: &SharedBytes, stretch: Stretch, start_us: i64) -> Self {
        Self {
            request,
            span: label.clone(),
            first: i64::from(stretch.first),
            last: i64::from(stretch.last),
            since_us: stretch.start_us.saturating_sub(start_us),
            lasts_us: stretch.end_us.saturating_sub(stretch.start_us),
        }
    }

    /// What it is a stretch of, and which; its times are µs since the start of the request.
    /// None: it is damaged.
    #[must_use]
    pub fn place(&self) -> Option<(Label, Stretch)> {
        let stretch = stretch((self.first, self.last), (self.since_us, self.lasts_us))?;
        Some((Label::decode(self.request, &self.span.0)?, stretch))
    }
}

/// The stretch whose columns are these; none: they are damaged.
#[must_use]
pub fn stretch((first, last): (i64, i64), (since_us, lasts_us): (i64, i64)) -> Option<Stretch> {
    let (first, last) = (u32::try_from(first).ok()?, u32::try_from(last).ok()?);
    Some(Stretch { first, last, start_us: since_us, end_us: since_us.saturating_add(lasts_us) })
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

#[cfg(test)]
mod tests {
    use super::{PositionRow, SharedBytes};
    use crate::happened_before::{Hop, Label, Stretch};

    #[test]
    fn a_position_is_told_from_the_start_of_its_request() {
        let path = vec![Hop { span: 2, before: Some(1), after: None }];
        let label = Label { request: -7, node: 1, path, bounds_us: vec![(0, 9)] };
        let stretch = Stretch { first: 3, last: 5, start_us: 1_000_040, end_us: 1_000_100 };
        let bytes = SharedBytes(label.encode().into());
        let row = PositionRow::new(label.request, &bytes, stretch, 1_000_000);
        assert_eq!((row.since_us, row.lasts_us), (40, 60));
        let place = Some((label, Stretch { start_us: 40, end_us: 100, ..stretch }));
        assert_eq!(row.place(), place);
        assert_eq!(PositionRow { first: -1, ..row.clone() }.place(), None);
        assert_eq!(PositionRow { span: SharedBytes::default(), ..row }.place(), None);
    }
}
