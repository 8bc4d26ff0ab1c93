//! Profiles: requests in groups of one structure, where their time goes, and why the slow ones
//! differ, after *tprof: Performance profiling via structural aggregation and automated analysis
//! of distributed systems traces* (SoCC'21).
//!
//! ```text
//! table ──┐                                      ┌─▶ layers
//!         ├─▶ traces ─▶ shapes ─▶ groups of ─────┼─▶ report, regions of code
//! foreign ┘   repaired            layer 4        └─▶ critical path, what if, comparison
//! ```
//! Here is what is computed; how it is printed is in `commands::profile`.

pub(crate) mod bootstrap;
pub(crate) mod code;
pub(crate) mod critical_path;
pub(crate) mod differences;
pub(crate) mod foreign;
pub(crate) mod groups;
pub(crate) mod json;
pub(crate) mod layers;
mod names;
pub(crate) mod plan;
pub(crate) mod regions;
pub(crate) mod report;
mod request_path;
pub(crate) mod shape;
mod slow;
pub(crate) mod statistics;
pub(crate) mod table;

pub use request_path::PathPart;
