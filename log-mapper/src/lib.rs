//! Logs and a model to request accumulators.

pub mod accumulate;
pub mod record;
