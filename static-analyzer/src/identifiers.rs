//! Identifiers: which logged values keep their identity on the way up the call
//! graph (lprof §4.2: request identifier candidates and modified variables).
//!
//! Every logged value is a [`Place`]: an access path in the frame at hand. A
//! call edge rebinds the callee's places to the caller's frame ([`Bindings`]);
//! what ends in a fresh, looping or modified place is lost there. Counts are
//! sets of log points, never paths through the graph.

use std::collections::BTreeMap;

use crate::path::{AccessPath, Root, Step};
use crate::program::{MethodId, Name};

mod bindings;
mod copies;
mod kept;
mod keys;
mod made;
mod modified;
pub(crate) mod objects;
mod origins;
mod owned;
mod strength;
mod summaries;
mod thread_locals;
pub(crate) mod told;

pub use bindings::{Bindings, Bound};
pub(crate) use bindings::{in_loop, is_slot};
pub use copies::Copies;
pub(crate) use modified::own_writes;
pub(crate) use objects::plain;
pub use strength::Lifetimes;
pub use summaries::{Scope, summarize};
pub(crate) use summaries::{is_modified, names_something};

/// Where a value comes from, seen from one method's frame.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The path.
    pub path: AccessPath,
    /// The frame that a `Root::Local` of the path belongs to: the method at
    /// hand, or a callee in which the value is made. Equals the method at hand
    /// for other roots.
    pub frame: MethodId,
    /// Made anew again and again within one run of the method at hand: inside a
    /// loop, taken from a collection, or in a recursive callee. Such a value is
    /// no identifier of this method.
    pub looping: bool,
}

/// A variable of a log point: (position in the log points, position in
/// [`crate::path::LogPoint::variables`]).
pub type LoggedVariable = (u32, u32);

/// What is known of one method, callees included.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Request identifier candidates (lprof: RIC): for each place that keeps its
    /// value in this method, the logged variables of this method or a local
    /// callee that print it, sorted. A variable has at most
    /// [`crate::limits::PLACES_MAX`] places.
    pub places: BTreeMap<Place, Vec<LoggedVariable>>,
    /// All log points that this method or a local callee prints, sorted.
    pub log_points: Vec<u32>,
    /// Prefixes of paths modified by this method or a callee (lprof: MV),
    /// restricted to fields that are on some logged path; sorted.
    pub modified: Vec<AccessPath>,
}

/// Summaries of all methods (index of [`MethodId`]).
#[derive(Clone, Debug, Default)]
pub struct Summaries {
    /// One per method.
    pub methods: Vec<Summary>,
}

impl Place {
    /// Whether it is an element of a collection that the method made itself.
    pub fn is_collected(&self) -> bool {
        matches!(self.path.root, Root::Local(_)) && self.path.steps.contains(&Step::Element)
    }

    /// Whether it is an element of a collection that is a field of the method's object.
    pub fn is_given(&self) -> bool {
        self.path.root == Root::Param(0) && matches!(*self.path.steps, [Step::Field(_), Step::Element, ..])
    }
}

/// A value that keeps its identity within one request of a top-level method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identifier {
    /// Where it is, in the top-level method's frame.
    pub place: Place,
    /// Which values it may be compared with.
    pub value_class: Name,
    /// How far it tells requests apart.
    pub strength: schema::IdentifierStrength,
}

impl Identifier {
    /// Whether a request meets many such values: what hands one on carries it,
    /// but two records of one request need not show the same.
    pub fn is_one_of_many(&self) -> bool {
        self.place.looping || self.place.path.steps.contains(&Step::Element)
    }
}
