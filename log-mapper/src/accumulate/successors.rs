//! Successors: where the code says that a thread has ended what it was at and has begun anew,
//! though the order of either method would let it go on; and that it cannot have begun anew.
//!
//! A method that is too large for an order, or calls itself, can print anything after anything in
//! that. But what stands directly after what is known of it too: a line that cannot stand after the
//! last one of a span is not of that span. Nothing is taken to be so where the last line could not
//! have ended its method, or the next one could not have begun one: a logger that is off, whose
//! lines are missing between the two, looks so.

use fixedbitset::FixedBitSet;
use schema::{LogPointId, Model};

/// Log points by what can stand next to them.
#[derive(Clone, Debug)]
pub(super) struct Successors {
    /// Per log point, if anything is known of it.
    next: Vec<Option<FixedBitSet>>,
    begins: FixedBitSet,
    ends: FixedBitSet,
}

impl Successors {
    pub(super) fn new(model: &Model) -> Self {
        let bits = |points: &[LogPointId]| points.iter().map(|point| point.index()).collect();
        let found = &model.successors;
        let next = found.all().map(|next| next.map(|next| bits(&next))).collect();
        Self { next, begins: bits(&found.begins), ends: bits(&found.ends) }
    }

    /// Whether a thread that has printed `before`, newest first, and then prints `point`, has ended
    /// one run of a method and begun another. Of what is not known of what can follow, the log
    /// shows nothing.
    pub(super) fn is_another_run(&self, before: impl Iterator<Item = LogPointId>, point: LogPointId) -> bool {
        if self.of(point).is_none() || !self.begins.contains(point.index()) {
            return false;
        }
        let is_ended = |(last, next): (LogPointId, &FixedBitSet)| {
            self.ends.contains(last.index()) && !next.contains(point.index())
        };
        self.last(before).is_some_and(is_ended)
    }

    /// Whether no top-level method can print `point` first, of what logs usually show.
    pub(super) fn never_begins(&self, point: LogPointId) -> bool {
        self.of(point).is_some() && !self.begins.contains(point.index())
    }

    /// Whether a thread that has printed `before`, newest first, can print `point` next.
    pub(super) fn can_follow(&self, before: impl Iterator<Item = LogPointId>, point: LogPointId) -> bool {
        self.last(before).is_some_and(|(_, next)| next.contains(point.index()))
    }

    fn of(&self, point: LogPointId) -> Option<&FixedBitSet> {
        self.next.get(point.index())?.as_ref()
    }

    /// The newest of which it is known what can follow, and that.
    fn last(&self, mut before: impl Iterator<Item = LogPointId>) -> Option<(LogPointId, &FixedBitSet)> {
        before.find_map(|before| Some((before, self.of(before)?)))
    }
}
