//! Class files to model: what a release of a JVM program can log, and what its
//! requests are (lprof §4).

// The modules stand in the order of the data flow.
pub mod limits;
pub mod error;
pub mod class_path;
pub mod program;
pub mod ir;
pub mod path;
pub mod strings;
pub mod log_points;
pub mod rules;
pub mod call_graph;
pub mod identifiers;
pub mod top_level;
pub mod order;
pub mod pairs;
pub mod emit;
