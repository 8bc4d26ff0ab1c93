//! Parquet forms of the contracts: the request table and the output of a map.
//!
//! Every table is a Rust struct whose fields are its columns, in order; the
//! struct is the schema. Times are `Timestamp(us, UTC)`, whole numbers are
//! signed 64 bit, text is UTF-8, lists and structs come last. What makes rows
//! is not here (`reducer`), nor which files form a table (its manifest).
//!
//! | table | one row is | partitioned by day |
//! |---|---|---|
//! | [`RequestRow`] `requests` | a request | yes |
//! | [`RequestNodeRow`] `request_nodes` | a request on a node | yes |
//! | [`SpanRow`] `spans` | a span of a request | yes |
//! | [`EventRow`] `events` | a record of a log | yes |
//! | [`RelationRow`] `relations` | a request that has to do with another one | yes |
//! | [`LogPointRow`] `log_points` | a log point of a model | no |
//! | [`TopLevelMethodRow`] `top_level_methods` | a top-level method of a model | no |
//! | [`CommunicationPairRow`] `communication_pairs` | a pair of a model | no |
//! | [`LogSequenceRow`] `log_sequences` | a path through the code | no |
//! | [`IntervalRow`] `intervals` | requests of a type and interval that were thinned | no |
//! | [`InputRow`] `inputs` | an input file of a run | no |
//! | [`RunRow`] `runs` | what one command added | no |
//!
//! Beside a file of `requests` stands its [`index`], which is no table.

mod aggregates;
mod cell;
mod events;
pub mod index;
mod inputs;
mod map_output;
mod model;
mod parquet;
mod position;
mod relations;
mod requests;
mod spans;
mod timings;

pub use aggregates::{NodeAggregate, aggregate_path, read_aggregates, write_aggregate};
pub use cell::{Bytes, Cell, Row, SharedBytes, Text, Time};
pub use events::{EventRow, NameValue};
pub use inputs::{InputRow, RunRow};
pub use map_output::{
    AccumulatorRow, NodeOutputWriter, OutputsWriter, UnattributedRow, node_outputs, read_node_output,
    read_node_output_in_parts, read_node_output_where, read_outputs, write_node_output,
};
pub use model::{
    CommunicationPairRow, IdentifierRow, LogPointRow, TemplateRow, TopLevelMethodRow, kind_name, short_name,
    strength_name,
};
pub use parquet::{Batches, Growing, Metadata, Written, each_request, read, write, write_batches};
pub use position::{PositionRow, request_key, stretch};
pub use relations::{RelationEnds, RelationRow, RequestValues};
pub use requests::{IntervalRow, LogSequenceRow, NodeTime, RequestNodeRow, RequestRow};
pub use spans::{HandOver, SpanRow};
pub use timings::{EventTiming, RequestEnd, RequestNodeTime, RequestTiming, RequestTotals, SpanTiming};

/// Arrow's types, for those who take columns as they are.
pub use arrow_array::RecordBatch;
pub use arrow_schema::SchemaRef;
