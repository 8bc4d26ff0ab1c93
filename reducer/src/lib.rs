//! Request accumulators to requests (lprof §5, Combine and Reduce).
//!
//! ```text
//! accumulators of a node ──────┐
//!                              ├──reduce──▶ requests
//! ... of the other nodes ──────┘
//! ```
//! The paper's combine, which merges the accumulators of one node before they are sent, is left
//! out: what is common, usual or rare is told from the spans of all nodes, so that a merge on one
//! node decides nothing that would not have to be decided again.

use schema::{Accumulator, Model, NodeOutput, Pass, Passes};

use crate::merge::{assemble, flatten};
use crate::stitch::{prefer_linked, stitch};

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

/// Merges the accumulators of all nodes to requests, sorted by start.
///
/// Links that they hold are made again, so that the result depends on the spans alone, not on how
/// they were split over `outputs`. The phases: times by one clock, spans in canonical order, links
/// between them, what hangs together.
#[must_use]
pub fn reduce(model: &Model, outputs: Vec<NodeOutput>, config: &Config) -> Vec<Accumulator> {
    let mut accumulators: Vec<Accumulator> =
        outputs.into_iter().flat_map(|output| output.accumulators).collect();
    clocks::align(&mut accumulators);
    let mut spans = flatten(accumulators);
    let links = stitch(model, &spans, config);
    prefer_linked(model, &mut spans, &links);
    assemble(spans, &links)
}

pub mod append;
pub mod catalog;
pub mod finish;
pub mod table;
