//! One at a time: what a process runs in one thread, one run after the other, is over when it
//! begins again.
//!
//! Where threads are printed they show that. Without threads the model tells: a timer's task, a
//! thread that is started once. Else the lines of a run could be those of any run before it.

use rustc_hash::FxHashMap;
use schema::{Name, Pass, TopLevelId};

use super::facts::Fact;
use super::open_span::OpenSpan;
use super::open_spans::SpanIndex;
use super::orders::Orders;
use super::{Choice, Goes, Scan};
use crate::record::Record;

/// Of each such top-level method, in the rounds of a dispatcher and around them, the span that
/// began last: where it is, if that is open, and its first record.
#[derive(Debug, Default)]
pub(super) struct Running(FxHashMap<(TopLevelId, bool), (SpanIndex, u64)>);

impl Scan<'_> {
    /// The span that goes on with a record without a thread, if that is of what runs one at a
    /// time and does not begin with it: whatever the record names, nobody else can print it.
    pub(super) fn by_running(
        &mut self,
        record: &Record<'_>,
        thread: Option<u32>,
        facts: &[(usize, Fact)],
    ) -> Option<Choice> {
        let ([(candidate, fact)], None) = (facts, thread) else { return None };
        let [place] = self.orders.places(fact.log_point) else { return None };
        let top = place.top;
        if !self.orders.is_one_at_a_time(top)
            || self.orders.can_begin(top, fact.log_point)
            || self.leaves_out(Pass::Running)
        {
            return None;
        }
        let is_around = self.orders.is_outside_rounds(top, fact.log_point);
        let &(running, first_seq) = self.running.0.get(&(top, is_around))?;
        if self.open.at(running).is_some() && self.is_of_another_trace(record, running) {
            return None;
        }
        let Self { open, orders, .. } = self;
        let is_it = |span: &&OpenSpan| span.first_seq == first_seq && sole_top(span) == Some(top);
        let span = open.at(running).filter(is_it)?;
        let after = OpenSpan::next_after(&span.tops, orders, fact)?;
        let goes = Goes::Joins(running, after, Name::from("order, the only run"));
        Some(Choice { candidate: *candidate, thread, goes, by: Pass::Running })
    }

    /// Closes what a span without a thread, which has just begun, comes after.
    pub(super) fn end_run_before(&mut self, index: SpanIndex) {
        let span = self.open.get(index);
        let Some(top) = sole_top(span).filter(|&top| self.orders.is_one_at_a_time(top)) else { return };
        let Some(point) = span.events.first().and_then(|event| event.log_point) else { return };
        if !self.orders.can_begin(top, point) {
            return;
        }
        let first_seq = self.open.get(index).first_seq;
        let is_around = self.orders.is_outside_rounds(top, point);
        let before = self.running.0.insert((top, is_around), (index, first_seq));
        let Some((before, first_seq)) = before else { return };
        let is_it = |span: &OpenSpan| span.first_seq == first_seq && sole_top(span) == Some(top);
        if self.open.at(before).is_some_and(is_it) {
            self.close(before, false);
        }
    }
}

/// The only top-level method that can have printed a span.
fn sole_top(span: &OpenSpan) -> Option<TopLevelId> {
    let mut tops = span.tops.iter().map(|state| state.top);
    let first = tops.next().filter(|_| span.thread.is_none())?;
    tops.all(|top| top == first).then_some(first)
}

impl Orders<'_> {
    /// Whether a process runs `top` in one thread, one run after the other.
    fn is_one_at_a_time(&self, top: TopLevelId) -> bool {
        self.model.top_level_methods[top.index()].is_one_at_a_time
    }
}
