//! Closures that get to whoever runs them inside of a closure that wraps them: to give
//! it the key and the value of an entry apart, to leave out some.
//!
//! The wrapper runs what it captured, and runs where it is given away. Its body is one
//! method for all that is ever wrapped so, which therefore cannot tell whom it calls; but
//! whoever makes both closures knows.

use super::{Gift, Starts};
use crate::call_graph::Call;
use crate::call_graph::closures::{ClosureId, closure_of};
use crate::ir::{Body, ValueId};
use crate::program::MethodId;

/// How deep closures are wrapped in closures.
const WRAPPERS_MAX: usize = 4;

impl Starts<'_> {
    /// The edges to what the closure `carrier`, made in `method`, captures and calls:
    /// it runs when that does.
    pub(super) fn wrapped_edges(
        &self,
        method: MethodId,
        body: &Body,
        site: ValueId,
        gift: Gift,
        carrier: ClosureId,
    ) -> Vec<Call> {
        let mut edges = Vec::new();
        let mut todo = vec![carrier];
        while let Some(id) = todo.pop() {
            let closure = self.closures.get(id);
            for (i, &captured) in closure.captured.iter().enumerate() {
                let made = closure_of(body, captured).and_then(|made| self.closures.made_at(method, made));
                if let Some(inner) = made.filter(|_| self.runs_captured(closure, i))
                    && !self.is_kept[inner as usize]
                    && edges.len() < WRAPPERS_MAX
                {
                    edges.push(self.closure_edge(site, gift, inner));
                    todo.push(inner);
                }
            }
        }
        edges
    }
}
