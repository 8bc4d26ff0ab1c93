//! Request accumulators to requests (lprof §5, Combine and Reduce).
//!
//! ```text
//! accumulators of a node ──combine──▶ accumulators of a node ──┐
//!                                                              ├──reduce──▶ requests
//! ... of the other nodes ──────────────────────────────────────┘
//! ```

use schema::{Accumulator, Model, NodeOutput, Pass, Passes};

use crate::merge::{assemble, flatten};
use crate::stitch::{Scope, prefer_linked, stitch};

mod clocks;
mod merge;
mod shuffle;
mod stitch;

/// Bounds in time within which spans can belong to one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Longest silence between a sender's span and its receiver's, µs (the
    /// paper's merge threshold).
    pub window_us: i64,
    /// How far the clocks of two nodes can be apart, µs.
    pub skew_us: i64,
    /// Passes that are left out, to see what they earn.
    pub without: Passes,
}

impl Config {
    /// Runs a pass, if it is not left out.
    fn run(&self, pass: Pass, run: impl FnOnce()) {
        if !self.without.contains(pass) {
            run();
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self { window_us: 60_000_000, skew_us: 1_000_000, without: Passes::default() }
    }
}

/// Merges the accumulators of one node along its local communication pairs.
#[must_use]
pub fn combine(model: &Model, mut output: NodeOutput, config: &Config) -> NodeOutput {
    output.accumulators = requests(model, output.accumulators, Scope::Node, config);
    output
}

/// Merges the accumulators of all nodes to requests, sorted by start.
///
/// Links that `combine` made are made again, so that the result depends on the
/// spans alone, not on how they were split over `outputs`.
#[must_use]
pub fn reduce(model: &Model, outputs: Vec<NodeOutput>, config: &Config) -> Vec<Accumulator> {
    let accumulators = outputs.into_iter().flat_map(|output| output.accumulators).collect();
    requests(model, accumulators, Scope::All, config)
}

/// The phases: times by one clock, spans in canonical order, links between them, what hangs together.
fn requests(
    model: &Model,
    mut accumulators: Vec<Accumulator>,
    scope: Scope,
    config: &Config,
) -> Vec<Accumulator> {
    if scope == Scope::All {
        clocks::align(&mut accumulators);
    }
    let mut spans = flatten(accumulators);
    let links = stitch(model, &spans, scope, config);
    if scope == Scope::All {
        prefer_linked(model, &mut spans, &links);
    }
    assemble(spans, &links)
}

pub mod append;
pub mod catalog;
pub mod finish;
mod key;
pub mod table;

pub use key::ShuffleKeys;
