//! The contracts of lprof: what one stage writes and the next one reads.
//!
//! ```text
//! class files ──analyze──▶ Model ─┐
//!                                 ├─map─▶ Accumulator ──reduce──▶ request table
//! log files of one node ──────────┘
//! ```
//!
//! `static-analyzer`, `log-mapper` and `reducer` depend on this crate and never
//! on each other. Only the types of this crate are serialized.

pub mod accumulator;
pub mod assignment;
pub mod delays;
pub mod error;
pub mod faults;
pub mod happened_before;
pub mod ids;
pub mod in_common;
pub mod kinds;
pub mod model;
pub mod pass;
pub mod serials;
#[cfg(feature = "sketch")]
pub mod sketch;
#[cfg(feature = "tables")]
pub mod tables;
pub mod ticks;
pub mod values;
pub mod version;

pub use accumulator::{
    Accumulator, Event, InputAccount, Link, Name, NodeOutput, PREFIX_BYTES, Place, Probability, Span,
    TraceId, Value,
};
pub use error::{Error, ErrorKind, Result};
pub use ids::{IdentifierId, LogPointId, PairId, TopLevelId, ValueClassId};
pub use kinds::Kinds;
pub use model::{
    CallSite, CommunicationPair, Dag, DagNode, DagPoint, Identifier, IdentifierStrength, Level, LinkKind,
    LogPoint, Marks, Model, RemoteCall, SlowCall, SlowKind, StoredModel, Successors, Template, ThreadName,
    TopLevelKind, TopLevelMethod, ValueShape, Variable,
};
pub use pass::{Pass, Passes};
pub use values::Values;
