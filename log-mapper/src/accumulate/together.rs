//! Together: two lines that stand directly one after the other in the log far more
//! often than by chance, without threads.
//!
//! A line that names nothing says in no other way whose it is. But if nearly all
//! lines of one log point stand directly after lines of another one, the two are
//! printed by one thread: how often chance alone would put the one before the other
//! follows from how common it is. What the log has shown so of two lines is surer
//! than a name that both of several spans know, and needs no name. The lines of a text
//! that is printed line by line stand together as well.

use rustc_hash::FxHashMap;
use schema::{LogPointId, Name};

use super::evidence::{FLOAT_US, LOOP_US, is_by_chance, is_silence};
use super::facts::Fact;
use super::open_span::{Fit, OpenSpan};
use super::open_spans::SpanIndex;
use super::orders::Follows;
use super::{Choice, Goes, Scan, Taker};
use crate::record::Record;

/// Which lines stand together, as far as the log has shown it.
#[derive(Debug, Default)]
pub(super) struct Together {
    n_records: u64,
    /// Lines of a log point.
    n_lines: FxHashMap<LogPointId, u64>,
    /// Of those of the second, the lines directly after one of the first.
    n_after: FxHashMap<(LogPointId, LogPointId), u64>,
    last: Option<(LogPointId, i64)>,
}

impl Together {
    /// The next record of the log is of `point`; none: of none that is known.
    pub(super) fn see(&mut self, point: Option<LogPointId>, ts_us: i64) {
        self.n_records += 1;
        let Some(point) = point else {
            self.last = None;
            return;
        };
        *self.n_lines.entry(point).or_default() += 1;
        if let Some((before, before_us)) = self.last.replace((point, ts_us))
            && before != point
            && before_us.abs_diff(ts_us) <= FLOAT_US
        {
            *self.n_after.entry((before, point)).or_default() += 1;
        }
    }

    /// Lines of `point` directly after one of `before`.
    pub(super) fn n_after(&self, before: LogPointId, point: LogPointId) -> u64 {
        self.n_after.get(&(before, point)).copied().unwrap_or_default()
    }

    /// Whether a line of `point` directly after one of `before` is of the same thread.
    pub(super) fn are(&self, before: LogPointId, point: LogPointId) -> bool {
        let n = |point| self.n_lines.get(&point).copied().unwrap_or_default();
        let n_after = self.n_after.get(&(before, point)).copied().unwrap_or_default();
        !is_by_chance(n_after, n(point), n(before), self.n_records)
    }

    /// Whether most lines of `point` that the log has shown do not stand directly after
    /// one of `before`.
    pub(super) fn is_mostly_elsewhere(&self, before: LogPointId, point: LogPointId) -> bool {
        let n_lines = self.n_lines.get(&point).copied().unwrap_or_default();
        self.n_after(before, point) * 2 < n_lines
    }

    /// Whether every second line of `point` stands directly after one of `before`, and
    /// not by chance.
    pub(super) fn are_mostly(&self, before: LogPointId, point: LogPointId) -> bool {
        let n = |point| self.n_lines.get(&point).copied().unwrap_or_default();
        let n_after = self.n_after.get(&(before, point)).copied().unwrap_or_default();
        n_after * 2 > n(point) && !is_by_chance(n_after, n_after, n(before), self.n_records)
    }
}

impl Scan<'_> {
    /// Where a record goes that stands directly after one that lines of its log point
    /// stand together with: to that one's span, or with all of that to a span that both
    /// go on with, if nothing in it was named yet.
    pub(super) fn beside(
        &mut self,
        record: &Record<'_>,
        facts: &[(usize, Fact)],
        takers: &[Taker],
    ) -> Option<Choice> {
        let index = self.before?;
        let before = self.open.get(index);
        let last = before.events.last()?;
        let is_constant = last.values.is_empty();
        let last = last.log_point?;
        if before.last_seq + 1 != self.seq || record.ts_us.abs_diff(before.last_us) > FLOAT_US {
            return None;
        }
        for (candidate, fact) in facts {
            // The next line of one text, if it names nothing that somebody works on.
            let is_named = || takers.iter().any(|taker| taker.evidence.n_request > 0);
            let goes_on = last == fact.log_point && self.orders.is_free_text(last) && !is_named();
            let shows_nothing = goes_on || is_constant || record.candidates[*candidate].values.is_empty();
            let are_together = goes_on || self.together.are(last, fact.log_point);
            if !are_together || self.is_complete(index, fact.log_point) {
                continue;
            }
            let Self { orders, open, kinds, .. } = self;
            let fit = open.get(index).fit(orders, kinds, fact, false);
            let is_its =
                |fit: &Fit| fit.follows == Follows::Next && (goes_on || !fit.differs) && shows_nothing;
            let Some(fit) = fit.filter(is_its) else { continue };
            let (candidate, thread) = (*candidate, None);
            if open.get(index).is_nameless()
                && let Some((span, fit, run)) = self.around(index, candidate, fact, takers)
            {
                return Some(Choice { candidate, thread, goes: Goes::Adopts(span, fit, run) });
            }
            let goes = Goes::Joins(index, fit, Name::from("stands together"));
            return Some(Choice { candidate, thread, goes });
        }
        None
    }

    /// The best of `takers` that names what the record names and goes on with all of
    /// the span at `index` first, and with what stands alone directly before that; the
    /// spans that it goes on with.
    fn around(
        &mut self,
        index: SpanIndex,
        candidate: usize,
        fact: &Fact,
        takers: &[Taker],
    ) -> Option<(SpanIndex, Fit, Vec<SpanIndex>)> {
        let names = |taker: &&Taker| {
            taker.candidate == candidate && taker.span != index && taker.evidence.n_request > 0
        };
        let run = self.run_before(index);
        let Self { orders, open, .. } = self;
        takers.iter().filter(names).find_map(|taker| {
            let span = open.get(taker.span);
            (0..run.len()).find_map(|skipped| {
                let run = &run[skipped..];
                let next = open.get(run[0]);
                let gap_us = next.events[0].ts_us.abs_diff(span.last_us);
                let is_over =
                    is_silence(gap_us, span.lasted_us()) || (gap_us > LOOP_US && span.is_at_exit(orders));
                if span.last_seq > next.first_seq || is_over {
                    return None;
                }
                let mut tops = span.tops.clone();
                for event in run.iter().flat_map(|&index| &open.get(index).events) {
                    tops = OpenSpan::steps(&tops, orders, &Fact::bare(event.log_point?))?;
                }
                Some((taker.span, OpenSpan::fit_after(&tops, orders, fact)?, run.to_vec()))
            })
        })
    }

    /// The span at `index`, after those that name nothing and stand directly before it
    /// in the log, up to one that begins as another does: what comes once more is as
    /// likely somebody else's.
    fn run_before(&self, index: SpanIndex) -> Vec<SpanIndex> {
        let mut run = vec![index];
        let mut next_seq = self.open.get(index).first_seq;
        for lone in self.opened.iter().rev() {
            let span = self.open.get(lone.span);
            let begins_so =
                |&other: &SpanIndex| self.open.get(other).events[0].log_point == span.events[0].log_point;
            if span.last_seq + 1 == next_seq && span.is_nameless() && !run.iter().any(begins_so) {
                run.insert(0, lone.span);
                next_seq = span.first_seq;
            }
        }
        run
    }
}
