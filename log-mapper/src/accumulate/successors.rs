//! Successors: what the code says of which line can stand directly after which other one in a
//! span, ready to be asked for two log points.

use fixedbitset::FixedBitSet;
use schema::Model;

/// Per log point those that one thread can print next.
#[derive(Clone, Debug)]
pub(super) struct Successors {
    of: Vec<Option<FixedBitSet>>,
}

impl Successors {
    pub(super) fn new(model: &Model) -> Self {
        let bits = |next: Vec<schema::LogPointId>| next.iter().map(|point| point.index()).collect();
        Self { of: model.successors.all().map(|next| next.map(bits)).collect() }
    }

    /// Whether something is known of a log point.
    pub(super) fn knows(&self, point: u32) -> bool {
        self.of.get(point as usize).is_some_and(Option::is_some)
    }

    /// Whether `b` can be printed directly after `a`; none: nobody knows.
    pub(super) fn can_follow(&self, a: u32, b: u32) -> Option<bool> {
        let next = self.of.get(a as usize)?.as_ref().filter(|_| self.knows(b))?;
        Some(next.contains(b as usize))
    }
}
