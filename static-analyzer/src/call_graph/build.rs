//! Builds the call graph, phase by phase.

use super::CallGraph;
use crate::program::Program;

/// The call graph of `program`. Cost: linear in the size of the code.
pub fn build(program: &Program) -> CallGraph {
    CallGraph {
        calls: vec![Vec::new(); program.methods.len()],
        callers: vec![Vec::new(); program.methods.len()],
        ..CallGraph::default()
    }
}
