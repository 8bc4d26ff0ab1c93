//! Neighbours: records that name nothing, and whose they are by what stands
//! before and after them: in the log, where the layout prints no threads, or in
//! their thread; and records printed in the middle of what one is at work on.

use schema::model::CLASS_INITIALIZER;
use schema::{Pass, TopLevelId, TopLevelKind};

use super::evidence::{FLOAT_US, LOOP_US, is_silence};
use super::facts::Fact;
use super::open_span::{TopState, opening_after};
use super::open_spans::SpanIndex;
use super::orders::Follows;
use super::{Choice, Goes, Scan, Taker};
use crate::record::Record;

/// Spans that lone records have opened, of which so many are remembered.
pub(super) const LONE_MAX: usize = 32;

impl Scan<'_> {
    /// The event of an entity begins with a line that names nothing (what went
    /// wrong), and goes on at once with one that names the entity: without
    /// threads, two records that follow each other in the log are the two.
    pub(super) fn at_once(
        &self,
        record: &Record<'_>,
        thread: Option<u32>,
        takers: &[Taker],
    ) -> Option<usize> {
        if self.leaves_out(Pass::AtOnce) {
            return None;
        }
        takers.iter().position(|taker| {
            let span = self.open.get(taker.span);
            thread.is_none()
                && span.last_seq + 1 == self.seq
                && record.ts_us.abs_diff(span.last_us) <= LOOP_US
                && span.names_nothing()
                && taker.evidence.follows == Follows::Next
                && taker.evidence.entered
                && span.tops.iter().all(|state| self.is_event(state))
        })
    }

    /// The record before in the thread, if it was given to the span before only
    /// because it named nothing, and this record, which is not of that span,
    /// shows that it began this one's. `instead`: where the record would go
    /// otherwise; only the events of an entity find together again. What can begin
    /// with this record itself shows nothing of the one before, but for an event; nor does
    /// what comes long after two lines that were printed at once.
    pub(super) fn taking(
        &mut self,
        record: &Record<'_>,
        thread: Option<u32>,
        fact: &Fact,
        instead: Option<SpanIndex>,
    ) -> Option<Goes> {
        if self.leaves_out(Pass::Taking) {
            return None;
        }
        let giver = self.open.current(thread?)?;
        let span = self.open.get(giver);
        let last = span.loose_end()?;
        if instead == Some(giver)
            || is_silence(record.ts_us.abs_diff(span.last_us), 0)
            || (span.ended_at_once() && record.ts_us.abs_diff(span.last_us) > FLOAT_US)
            || self.is_handed_anew(giver, fact.log_point, record.ts_us)
        {
            return None;
        }
        let mut tops = opening_after(&self.orders, last, fact);
        tops.retain(|state| thread.is_none_or(|thread| self.threads.told(thread).allows(state.top)));
        tops.retain(|state| self.is_event(state) || !self.orders.can_begin(state.top, fact.log_point));
        let fits = !tops.is_empty() && (instead.is_none() || tops.iter().all(|state| self.is_event(state)));
        fits.then_some(Goes::Takes(tops, giver))
    }

    /// What a record is printed inside of that no known thread leads to (a static
    /// initializer, a hook of a library), or none of this program: it runs in the
    /// thread of whoever is at work there, in the middle of it. `is_taken`: some span can
    /// take it.
    pub(super) fn inside(
        &mut self,
        record: &Record<'_>,
        thread: Option<u32>,
        is_taken: bool,
        fact: &Fact,
    ) -> Option<SpanIndex> {
        if self.leaves_out(Pass::Inside) {
            return None;
        }
        let current = self.open.current(thread?)?;
        if self.is_of_another_trace(record, current) {
            return None;
        }
        let gap_us = record.ts_us.abs_diff(self.open.get(current).last_us);
        let places = self.orders.places(fact.log_point);
        // Nothing is inside of itself: what its thread does begins anew.
        let is_it = |state: &TopState| places.iter().any(|places| places.top == state.top);
        if self.open.get(current).tops.iter().any(is_it) {
            return None;
        }
        let unreached =
            |top| self.orders.kind(top) == TopLevelKind::Unreached || !self.orders.is_possible(top);
        // Classes are initialized by whoever needs them first, who waits for it.
        let lasted_us = self.open.get(current).lasted_us();
        let is_initializer =
            |top: TopLevelId| self.model.top_level_methods[top.index()].method == CLASS_INITIALIZER;
        let is_waiting = gap_us <= LOOP_US
            || (places.iter().all(|places| is_initializer(places.top)) && !is_silence(gap_us, lasted_us));
        (!is_taken && is_waiting && places.iter().all(|places| unreached(places.top))).then_some(current)
    }

    /// The call whose failure a record reports: a dispatcher prints in a handler of
    /// exceptions, at the moment when what it has called ends. That is what its thread
    /// was at, or, without threads, the last that names the same.
    pub(super) fn failed(
        &self,
        record: &Record<'_>,
        thread: Option<u32>,
        facts: &[(usize, Fact)],
    ) -> Option<(usize, SpanIndex)> {
        if self.leaves_out(Pass::Failed) {
            return None;
        }
        facts.iter().find_map(|(candidate, fact)| {
            let places = self.orders.places(fact.log_point);
            let is_own = |top: TopLevelId| self.orders.kind(top) == TopLevelKind::Dispatcher;
            if !self.model.log_points[fact.log_point.index()].in_handler
                || places.is_empty()
                || !places.iter().all(|places| is_own(places.top))
            {
                return None;
            }
            let calls = |state: &TopState| {
                state.entered && places.iter().any(|places| self.calls.contains(places.top, state.top))
            };
            let has_just_ended = |span: &SpanIndex| {
                let open = self.open.get(*span);
                record.ts_us.abs_diff(open.last_us) <= LOOP_US && open.tops.iter().any(calls)
            };
            let span = match thread {
                Some(thread) => self.open.current(thread).filter(has_just_ended),
                None => {
                    self.before.filter(has_just_ended).filter(|&span| self.open.get(span).names_any(fact))
                }
            };
            Some((*candidate, span.filter(|&span| !self.is_of_another_trace(record, span))?))
        })
    }

    /// What a record of no log point that is known (of a library that was not analysed) is printed
    /// inside of, where no thread is printed: the only one at work.
    pub(super) fn amid(&mut self, record: &Record<'_>) -> Option<Choice> {
        if self.leaves_out(Pass::NoLogPoint) || record.thread.is_some() {
            return None;
        }
        let current = self.sole_at_work(record)?;
        if self.is_of_another_trace(record, current) {
            return None;
        }
        let candidate = record.candidates.len();
        let goes = Goes::Inside(current);
        Some(Choice { candidate, thread: None, goes, by: Pass::NoLogPoint })
    }

    /// The only span without a thread that has printed just now and has to print more.
    /// A thread that has printed its first line can wait for work from then on, as does
    /// a dispatcher; who was given an event or a call is at work. Whether an entity's
    /// event goes on is not known.
    fn sole_at_work(&self, record: &Record<'_>) -> Option<SpanIndex> {
        let is_at_work = |&index: &SpanIndex| {
            let span = self.open.get(index);
            let works = |state: &TopState| {
                let has_work = match self.orders.kind(state.top) {
                    TopLevelKind::Dispatcher | TopLevelKind::Unreached => false,
                    TopLevelKind::Task => span.events.len() > 1,
                    _ => true,
                };
                state.entered && has_work
            };
            span.tops.iter().any(works) && !span.is_at_exit(&self.orders)
        };
        let (first_us, last_us) =
            (record.ts_us.saturating_sub_unsigned(FLOAT_US), record.ts_us.saturating_add_unsigned(FLOAT_US));
        let mut at_work = self.open.last_printed(first_us..=last_us).filter(is_at_work);
        let first = at_work.next().filter(|_| at_work.next().is_none())?;
        let is_event = |state: &TopState| self.orders.kind(state.top) == TopLevelKind::Entity;
        (!self.open.get(first).tops.iter().any(is_event)).then_some(first)
    }
}
