//! Request accumulators to requests (lprof §5, Combine and Reduce).
//!
//! ```text
//! accumulators of a node ──combine──▶ accumulators of a node ──┐
//!                                                              ├──reduce──▶ requests
//! ... of the other nodes ──────────────────────────────────────┘
//! ```

use schema::{Accumulator, Model, NodeOutput};

/// Bounds in time within which spans can belong to one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Longest silence between a sender's span and its receiver's, µs (the
    /// paper's merge threshold).
    pub window_us: i64,
    /// How far the clocks of two nodes can be apart, µs.
    pub skew_us: i64,
}

impl Default for Config {
    fn default() -> Self {
        Self { window_us: 60_000_000, skew_us: 1_000_000 }
    }
}

/// Merges the accumulators of one node along its local communication pairs.
#[must_use]
pub fn combine(model: &Model, output: NodeOutput, config: &Config) -> NodeOutput {
    let _ = (model, config);
    output
}

/// Merges the accumulators of all nodes to requests, sorted by start.
#[must_use]
pub fn reduce(model: &Model, outputs: Vec<NodeOutput>, config: &Config) -> Vec<Accumulator> {
    let _ = (model, config);
    outputs.into_iter().flat_map(|output| output.accumulators).collect()
}
