//! Told: what a library tells in the middle of other work names nothing of that work.
//!
//! A cache throws out what has expired whenever it is used, and tells a listener which
//! thing that was ([`crate::call_graph`], keepers). The listener's lines stand among those
//! of whoever used the cache just then, but what they name is of somebody else, who has
//! used it last. Only what the listener knows of itself remains.

use crate::call_graph::CallGraph;
use crate::path::{LogPoint, Root};
use crate::program::Program;

/// Takes the value classes from what listeners print of what they are told.
pub(crate) fn forget(program: &Program, graph: &CallGraph, points: &mut [LogPoint]) {
    for point in points.iter_mut().filter(|point| graph.told.binary_search(&point.frame).is_ok()) {
        let has_object = !program.methods[point.frame.index()].is_static();
        for variable in &mut point.variables {
            let is_own = variable.path.as_ref().is_some_and(|path| match path.root {
                Root::Param(i) => has_object && i == 0,
                Root::Static(_) => true,
                Root::Local(_) => false,
            });
            if !is_own {
                variable.value_class = None;
                variable.parts.clear();
            }
        }
    }
}
