//! Neighbours: records that name nothing, and whose they are by what stands
//! before and after them: in the log, where the layout prints no threads, or in
//! their thread; and records printed in the middle of what one is at work on.

use schema::model::CLASS_INITIALIZER;
use schema::{Name, Pass, TopLevelId, TopLevelKind};

use super::evidence::{FLOAT_US, LOOP_US, is_silence};
use super::facts::Fact;
use super::open_span::{OpenSpan, TopState, names_request, opening_after};
use super::open_spans::SpanIndex;
use super::orders::Follows;
use super::{Choice, Goes, Scan, Taker};
use crate::record::Record;

/// Lone records that are remembered.
pub(super) const LONE_MAX: usize = 32;

/// A record that names nothing and has opened a span.
pub(super) struct Lone {
    pub(super) seq: u64,
    pub(super) span: SpanIndex,
    pub(super) fact: Fact,
}

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

    /// The records before in the log, where there are no threads, that stand alone
    /// because they named nothing: if `span`, which goes on with this record, has
    /// to print them in between. One that can begin something itself must stand
    /// between two records of the span.
    ///
    /// `skips`: without them the span would skip a line that it has to print. One
    /// that can begin nothing, and is the only one of its log point since the
    /// span's last record, is that line, wherever it stands: somebody has printed
    /// it in the middle of his work, and here it is missing. Who else waits for
    /// it has printed it later, or will.
    ///
    /// Nothing is adopted that would make the span something else than it can be
    /// without: then it may be printed by a task that somebody else runs.
    pub(super) fn adopting(
        &mut self,
        record: &Record<'_>,
        fact: &Fact,
        span: SpanIndex,
        skips: bool,
    ) -> Option<Goes> {
        if self.leaves_out(Pass::Adopting) {
            return None;
        }
        let window_us = self.config.order_window_us.unsigned_abs();
        let trace = self.trace_of(record);
        let Self { orders, open, opened, neighbours, together, .. } = self;
        let seq = self.seq;
        let taker = open.get(span);
        let gap_us = record.ts_us.abs_diff(taker.last_us);
        if gap_us <= FLOAT_US {
            neighbours.learn(taker.last_seq + 1 == seq);
        }
        let is_likely = neighbours.is_likely();
        let is_at_work = gap_us <= LOOP_US;
        let since = |lone: &&Lone| lone.seq > taker.last_seq;
        let is_of_another = |before: &OpenSpan| {
            let known = before.ids.as_ref().map(|ids| &*ids.trace);
            before.is_of_another_trace(taker) || known.zip(trace).is_some_and(|(known, trace)| known != trace)
        };
        let may_be_its = |lone: &&Lone| {
            let before = open.get(lone.span);
            let gap_us = record.ts_us.abs_diff(before.last_us);
            let is_between = is_at_work && gap_us <= LOOP_US && since(lone);
            let is_cut = before.tops.iter().all(|state| !state.entered);
            let is_next = is_cut && gap_us <= FLOAT_US && lone.seq + 1 == seq;
            let same = |other: &&Lone| other.fact.log_point == lone.fact.log_point;
            let is_sole = || opened.iter().filter(since).filter(same).count() == 1;
            let is_missing = skips && is_cut && gap_us <= window_us && since(lone) && is_sole();
            let is_its = is_missing || (is_likely && (is_between || is_next));
            // A run of lines goes with what mostly stands directly after it.
            let is_run = || {
                let last = before.events.last().and_then(|event| event.log_point);
                before.is_nameless()
                    && before.first_seq + before.events.len() as u64 == seq
                    && last.is_some_and(|last| together.are_mostly(last, fact.log_point))
            };
            lone.span != span && is_its && !is_of_another(before) && (before.events.len() == 1 || is_run())
        };
        let mut tops = None;
        let mut adopted = Vec::new();
        for lone in opened.iter().filter(may_be_its) {
            let before = tops.as_ref().unwrap_or(&taker.tops);
            let without = OpenSpan::fit_after(before, orders, fact);
            let rest = open.get(lone.span).events.iter().skip(1).map(|event| event.log_point);
            let rest: Option<Vec<Fact>> = rest.map(|point| point.map(Fact::bare)).collect();
            let next = OpenSpan::steps(before, orders, &lone.fact);
            if let Some(rest) = rest
                && let Some(next) = rest.iter().fold(next, |tops, fact| OpenSpan::steps(&tops?, orders, fact))
                && let Some(with) = OpenSpan::fit_after(&next, orders, fact)
                && without.is_none_or(|without| with.keeps_all_of(&without))
            {
                tops = Some(next);
                adopted.push(lone.span);
            }
        }
        let fit = OpenSpan::fit_after(&tops?, orders, fact)?;
        Some(Goes::Adopts(span, fit, adopted))
    }

    /// Why the record joins the first of `takers`, best first; none if it does not.
    /// Without threads, who was done long ago does not keep it from the span that
    /// printed the record before, if nothing but order speaks for any of the others.
    pub(super) fn judge_living(
        &mut self,
        record: &Record<'_>,
        thread: Option<u32>,
        takers: &mut Vec<Taker>,
        facts: &[(usize, Fact)],
    ) -> Option<Name> {
        if self.leaves_out(Pass::Judge) {
            return None;
        }
        let reason = self.judge(record, thread, takers, facts);
        let is_over = thread.is_none() && takers.first().is_some_and(|taker| taker.is_over);
        let living = takers.iter().find(|taker| !taker.is_over).filter(|_| is_over);
        let is_next = |taker: &Taker| Some(taker.span) == self.before && taker.evidence.n_request == 0;
        if reason.is_some() || !living.is_some_and(is_next) {
            return reason;
        }
        takers.retain(|taker| !taker.is_over);
        self.judge(record, thread, takers, facts)
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
        let mut tops = opening_after(&mut self.orders, &[last], fact);
        tops.retain(|state| thread.is_none_or(|thread| self.threads.told(thread).allows(state.top)));
        tops.retain(|state| self.is_event(state) || !self.orders.can_begin(state.top, fact.log_point));
        let fits = !tops.is_empty() && (instead.is_none() || tops.iter().all(|state| self.is_event(state)));
        fits.then_some(Goes::Takes(tops, giver, 1))
    }

    /// The records before in the log, where there are no threads, if they were given
    /// to the span before only because they named nothing, and this record, which is
    /// not of that span, shows that they began this one's. What stands together is not
    /// torn apart.
    pub(super) fn taking_back(&mut self, record: &Record<'_>, fact: &Fact) -> Option<Goes> {
        if self.leaves_out(Pass::TakingBack) {
            return None;
        }
        let giver = self.before?;
        let span = self.open.get(giver);
        if fact.names_nothing() || record.ts_us.abs_diff(span.last_us) > LOOP_US {
            return None;
        }
        let run = span.loose_run(self.seq);
        let torn: Vec<bool> = (0..run.len()).map(|skipped| self.tears(span, run.len() - skipped)).collect();
        let mut runs = (0..run.len()).filter(|&skipped| !torn[skipped]).map(|skipped| &run[skipped..]);
        runs.find_map(|run| {
            let tops = opening_after(&mut self.orders, run, fact);
            (!tops.is_empty()).then_some(Goes::Takes(tops, giver, run.len()))
        })
    }

    /// Whether the last `n_taken` records of `span` stand together with the one before them, or
    /// go on with a run of equal lines.
    fn tears(&self, span: &OpenSpan, n_taken: usize) -> bool {
        let kept = span.events.len() - n_taken;
        let point = |at: usize| span.events.get(at).and_then(|event| event.log_point);
        let ends = kept.checked_sub(1).and_then(point).zip(point(kept));
        ends.is_some_and(|(before, first)| {
            before == first || self.together.are(before, first) || self.together.is_followed(before, first)
        })
    }

    /// What a record is printed inside of that no known thread leads to (a static
    /// initializer, a hook of a library), or none of this program: it runs in the
    /// thread of whoever is at work there, in the middle of it.
    pub(super) fn inside(
        &mut self,
        record: &Record<'_>,
        thread: Option<u32>,
        takers: &[Taker],
        fact: &Fact,
    ) -> Option<SpanIndex> {
        if self.leaves_out(Pass::Inside) {
            return None;
        }
        let Some(thread) = thread else { return self.inside_sole(record, fact) };
        let current =
            self.open.current(thread).filter(|&current| !self.is_of_another_trace(record, current))?;
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
        (takers.is_empty() && is_waiting && places.iter().all(|places| unreached(places.top)))
            .then_some(current)
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
                state.entered && places.iter().any(|places| self.calls.contains(&(places.top, state.top)))
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

    /// The same without threads: what no known thread leads to is printed in the middle
    /// of somebody's work, and only one is in the middle of his.
    fn inside_sole(&mut self, record: &Record<'_>, fact: &Fact) -> Option<SpanIndex> {
        let places = self.orders.places(fact.log_point);
        let unreached =
            |top| self.orders.kind(top) == TopLevelKind::Unreached || !self.orders.is_possible(top);
        let is_inner = places.iter().all(|places| unreached(places.top));
        if !is_inner {
            return None;
        }
        // What has a name of its own is a work of its own, whoever has called it.
        let names_its_own = places.iter().any(|places| names_request(&self.orders, places, fact));
        let sole = self.sole_at_work(record).filter(|&sole| !self.is_of_another_trace(record, sole))?;
        (!names_its_own || self.open.get(sole).names_any(fact)).then_some(sole)
    }

    /// Of `takers`, without threads, the only span that has printed just now and has to
    /// print more, if it prints the record next and no other one waits for that; else
    /// the record could at most begin an event of an entity, which is found by what it
    /// names.
    pub(super) fn amid_sole(
        &mut self,
        record: &Record<'_>,
        thread: Option<u32>,
        takers: &[Taker],
    ) -> Option<usize> {
        if self.leaves_out(Pass::AmidSole) {
            return None;
        }
        let waits = |taker: &Taker| {
            let is_next = taker.fit.follows == Follows::Next && taker.fit.entered;
            is_next && !taker.is_over && !taker.evidence.differs
        };
        let at = takers.iter().position(waits).filter(|_| thread.is_none())?;
        let point = record.candidates[takers[at].candidate].log_point;
        let begins_event = self.orders.starts(point) && !self.orders.starts_work(point);
        let is_rival = |taker: &Taker| taker.span != takers[at].span && waits(taker);
        let is_its = begins_event && !takers.iter().any(is_rival);
        (is_its && self.sole_at_work(record) == Some(takers[at].span)).then_some(at)
    }

    /// The only span without a thread that has printed just now and has to print more.
    /// A thread that has printed its first line can wait for work from then on, as does
    /// a dispatcher; who was given an event or a call is at work. Whether an entity's
    /// event goes on is not known.
    pub(super) fn sole_at_work(&self, record: &Record<'_>) -> Option<SpanIndex> {
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
