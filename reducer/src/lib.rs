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
use serde::{Deserialize, Serialize};

use crate::id_lives::IdLives;
use crate::merge::Request;
use crate::requests::Linked;
use crate::skeleton::{Span, Stored};

mod clock_offsets;
mod clocks;
mod id_lives;
mod merge;
mod relations;
mod requests;
mod shuffle;
mod skeleton;
mod stitch;

/// Bounds in time within which spans can belong to one request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Config {
    /// Longest silence between a sender's span and its receiver's, µs (the
    /// paper's merge threshold).
    pub window_us: i64,
    /// How far the clocks of two nodes can be apart, µs.
    pub skew_us: i64,
    /// Passes that are left out, to see what they earn.
    pub without: Passes,
    /// Events of a period: requests of more than that, and of some time, are decided before later
    /// ones are looked at.
    pub period_events: u64,
    /// Fields of ids that are used, or not, whatever is found of them.
    pub ids: ByHand,
    /// Bytes that the periods may take that are decided side by side; none: as many are as there are
    /// threads. It changes nothing of what is decided.
    #[serde(skip)]
    pub memory_bytes: Option<u64>,
}

/// What was decided by hand on the fields that hold ids of requests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ByHand {
    /// They are.
    pub with: Vec<String>,
    /// They are not.
    pub without: Vec<String>,
}

/// A field in which logs carry ids of requests, and what became of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdField {
    /// What it is called.
    pub field: String,
    /// On how many nodes it is.
    pub nodes: usize,
    /// How many ids it holds.
    pub n_values: usize,
    /// How often they come again when the request that they were of is over.
    pub n_again: usize,
    /// Requests are told by it.
    pub is_used: bool,
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
        let (window_us, skew_us, period_events) = (60_000_000, 1_000_000, 1 << 17);
        let (without, ids) = (Passes::default(), ByHand::default());
        Self { window_us, skew_us, without, period_events, ids, memory_bytes: None }
    }
}

/// Merges the accumulators of all nodes to requests, sorted by start, all in memory.
///
/// Links that they hold are made again, so that the result depends on the spans alone, not on how
/// they were split over `outputs`.
#[must_use]
pub fn reduce(model: &Model, outputs: Vec<NodeOutput>, config: &Config) -> Vec<Accumulator> {
    let accumulators = outputs.into_iter().flat_map(|output| output.accumulators);
    let mut whole: Vec<Option<schema::Span>> =
        accumulators.flat_map(|accumulator| accumulator.spans).map(Some).collect();
    let place = |at: usize| Stored { offset: at as u64, ..Stored::default() };
    let skeletons = whole.iter().flatten().enumerate().map(|(at, span)| Span::new(span.clone(), place(at)));
    let mut skeletons: Vec<Span> = skeletons.collect();
    let moved = clocks::align(&mut skeletons);
    let linked = Linked::new(model, skeletons, config, &IdLives::default());
    let mut take = |&at: &u32| {
        let span = whole[linked.spans[at as usize].stored.offset as usize].take();
        span.expect("a span is of one request")
    };
    let is_used = |trace: &schema::TraceId| requests::is_used(&linked.id_fields, trace.field);
    let all = (0..merge::to_u32(linked.spans.len())).collect();
    let requests = merge::assemble(all, &linked.links, &linked.probabilities).into_iter();
    let mut request = |Request { spans, links }: Request<u32>| {
        requests::whole(model, &moved, is_used, (spans.iter().map(&mut take).collect(), links))
    };
    requests.map(&mut request).collect()
}

pub mod append;
pub mod catalog;
pub mod finish;
pub mod spill;
pub mod table;
mod ticks;
