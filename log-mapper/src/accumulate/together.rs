//! Together: two lines that stand directly one after the other in the log far more
//! often than by chance, without threads.
//!
//! A line that names nothing says in no other way whose it is. But if nearly all
//! lines of one log point stand directly after lines of another one, the two are
//! printed by one thread: how often chance alone would put the one before the other
//! follows from how common it is. What the log has shown so of two lines is surer
//! than a name that both of several spans know, and needs no name. The same goes for a line
//! that nearly always follows another one directly, though others print it too, unless
//! somebody is at work on what it names; and for each line of a loop that begins so. The lines
//! of a text that is printed line by line stand together as well. The first lines of the log
//! are looked at ahead, so that its beginning is read as its end is.

use rustc_hash::FxHashMap;
use schema::kinds::TELLING_MIN;
use schema::{Event, LogPointId, Name, Pass};

use super::evidence::{AT_ONCE_US, FLOAT_US, LOOP_US, is_by_chance, is_silence};
use super::facts::Fact;
use super::open_span::{After, Fit, OpenSpan};
use super::open_spans::SpanIndex;
use super::orders::Follows;
use super::{Choice, Goes, Scan, Taker};
use crate::record::Record;

/// Which lines stand together, as far as the log has shown it.
#[derive(Clone, Debug, Default)]
pub(super) struct Together {
    n_records: u64,
    /// Lines of a log point.
    n_lines: FxHashMap<LogPointId, u64>,
    /// Of those of the second, the lines directly after one of the first.
    n_after: FxHashMap<(LogPointId, LogPointId), u64>,
    last: Option<(LogPointId, i64)>,
}

impl Together {
    /// What was seen so far was seen ahead of the first record.
    pub(super) fn begin(&mut self) {
        self.last = None;
    }

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

    /// Whether nearly every line of `before` is followed directly by one of `point`, and not by
    /// chance.
    pub(super) fn is_followed(&self, before: LogPointId, point: LogPointId) -> bool {
        let n = |point| self.n_lines.get(&point).copied().unwrap_or_default();
        !is_by_chance(self.n_after(before, point), n(before), n(point), self.n_records)
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
        if self.leaves_out(Pass::Beside) {
            return None;
        }
        let index = self.before?;
        let before = self.open.get(index);
        let last = before.events.last()?;
        let is_constant = last.values.is_empty();
        let last_names_nothing = last.values.iter().all(|(_, text)| text.len() < TELLING_MIN);
        let last = last.log_point?;
        if before.last_seq + 1 != self.seq || record.ts_us.abs_diff(before.last_us) > FLOAT_US {
            return None;
        }
        for (candidate, fact) in facts {
            // The next line of one text, if it names nothing that somebody works on.
            let is_named = || takers.iter().any(|taker| taker.evidence.n_request > 0);
            let goes_on = last == fact.log_point && self.orders.is_free_text(last) && !is_named();
            let goes_on = goes_on || self.is_run(index, record, fact.log_point);
            let shows_nothing = goes_on || is_constant || record.candidates[*candidate].values.is_empty();
            let is_followed = (last_names_nothing || fact.names_nothing())
                && self.together.is_followed(last, fact.log_point);
            let shows_nothing = shows_nothing || is_followed;
            let is_surely = goes_on || self.together.are(last, fact.log_point);
            if !(is_surely || is_followed) || self.is_complete(index, fact.log_point) {
                continue;
            }
            let Self { orders, open, kinds, .. } = self;
            let fit = open.get(index).fit(orders, kinds, fact, false);
            let is_its =
                |fit: &Fit| fit.follows == Follows::Next && (goes_on || !fit.differs) && shows_nothing;
            let Some(fit) = fit.filter(is_its) else { continue };
            let (candidate, thread) = (*candidate, None);
            if open.get(index).is_nameless()
                && let Some((span, after, run)) = self.around(index, candidate, fact, takers)
            {
                let goes = Goes::Adopts(span, after, run);
                return Some(Choice { candidate, thread, goes, by: Pass::Beside });
            }
            // What follows may as well be of whom it names.
            if !is_surely && is_named() {
                continue;
            }
            let after = self.open.get(index).after(&self.orders, &self.kinds, fact, &fit);
            let goes = Goes::Joins(index, after, Name::from("stands together"));
            return Some(Choice { candidate, thread, goes, by: Pass::Beside });
        }
        None
    }

    /// Whether the span at `index` ends with lines of `point`, all printed at once with the
    /// record, directly after what such lines stand together with: they are printed in a loop.
    fn is_run(&self, index: SpanIndex, record: &Record<'_>, point: LogPointId) -> bool {
        let before = self.open.get(index);
        let is_it = |event: &&Event| event.log_point == Some(point);
        let n_run = before.events.iter().rev().take_while(is_it).count();
        let Some(at) = before.events.len().checked_sub(n_run + 1).filter(|_| n_run > 0) else { return false };
        let head = &before.events[at];
        head.log_point.is_some_and(|head| self.together.is_followed(head, point))
            && record.ts_us.abs_diff(head.ts_us) <= FLOAT_US
            && record.ts_us.abs_diff(before.last_us) <= AT_ONCE_US
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
    ) -> Option<(SpanIndex, After, Vec<SpanIndex>)> {
        let names = |taker: &&Taker| {
            taker.candidate == candidate && taker.span != index && taker.evidence.n_request > 0
        };
        let run = self.run_before(index);
        let Self { orders, open, .. } = self;
        takers.iter().filter(names).find_map(|taker| {
            let span = open.get(taker.span);
            let lacks = taker.evidence.follows == Follows::Later;
            (0..run.len()).find_map(|skipped| {
                let run = &run[skipped..];
                let next = open.get(run[0]);
                let gap_us = next.events[0].ts_us.abs_diff(span.last_us);
                let is_over = is_silence(gap_us, span.lasted_us())
                    || (!lacks && gap_us > LOOP_US && span.is_at_exit(orders));
                if span.last_seq > next.first_seq || is_over {
                    return None;
                }
                let mut tops = span.tops.clone();
                for event in run.iter().flat_map(|&index| &open.get(index).events) {
                    tops = OpenSpan::steps(&tops, orders, &Fact::bare(event.log_point?))?;
                }
                Some((taker.span, OpenSpan::next_after(&tops, orders, fact)?, run.to_vec()))
            })
        })
    }

    /// The span at `index`, after those that name nothing and stand directly before it
    /// in the log, up to one that begins as another does: what comes once more is as
    /// likely somebody else's.
    fn run_before(&self, index: SpanIndex) -> Vec<SpanIndex> {
        let mut run = vec![index];
        let mut next_seq = self.open.get(index).first_seq;
        for &lone in self.opened.iter().rev() {
            let span = self.open.get(lone);
            let begins_so =
                |&other: &SpanIndex| self.open.get(other).events[0].log_point == span.events[0].log_point;
            if span.last_seq + 1 == next_seq && span.is_nameless() && !run.iter().any(begins_so) {
                run.insert(0, lone);
                next_seq = span.first_seq;
            }
        }
        run
    }
}
