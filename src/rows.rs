//! Rows of the tables, as Rust values; with the feature `sql`, answers as columns of Arrow.

#[doc(inline)]
pub use schema::tables::{
    EventRow, HandOver, NameValue, NodeTime, PositionRow, RecordBatch, RequestRow, SchemaRef, SpanRow, Text,
    Time,
};
