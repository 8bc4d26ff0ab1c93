//! Takers: the open spans that can take a record, as far as their thread, what they have
//! named and what they wait for show; which of them does is for [`super::judge`] to say.

use fixedbitset::FixedBitSet;

use super::Scan;
use super::evidence::{Evidence, LOOP_US, is_silence};
use super::facts::Fact;
use super::open_span::{After, Fit};
use super::open_spans::SpanIndex;
use super::orders::{Follows, Places};
use crate::record::Record;

/// An open span that can take a record.
pub(super) struct Taker {
    pub(super) candidate: usize,
    pub(super) span: SpanIndex,
    pub(super) fit: Fit,
    pub(super) evidence: Evidence,
    /// The span was done long before the record, which can begin another one.
    pub(super) is_over: bool,
}

/// Open spans that were found for a record, each once.
#[derive(Debug, Default)]
pub(super) struct Found {
    spans: Vec<SpanIndex>,
    are_there: FixedBitSet,
}

impl Found {
    fn clear(&mut self) {
        let Self { spans, are_there } = self;
        spans.drain(..).for_each(|span| are_there.remove(span as usize));
    }

    fn add(&mut self, spans: impl Iterator<Item = SpanIndex>) {
        for span in spans {
            self.are_there.grow(span as usize + 1);
            if !self.are_there.put(span as usize) {
                self.spans.push(span);
            }
        }
    }
}

impl Taker {
    /// Its candidate's of `facts`.
    pub(super) fn fact_of<'f>(&self, facts: &'f [(usize, Fact)]) -> Option<&'f Fact> {
        facts.iter().find(|(candidate, _)| *candidate == self.candidate).map(|(_, fact)| fact)
    }
}

impl Scan<'_> {
    /// All open spans that can take the record, as far as the indexes see.
    pub(super) fn takers(
        &mut self,
        record: &Record<'_>,
        thread: Option<u32>,
        facts: &[(usize, Fact)],
    ) -> Vec<Taker> {
        self.see_id(record, thread);
        let mut takers = Vec::new();
        let current = thread.and_then(|thread| self.open.current(thread));
        // What its thread is at comes before all else, but for what the record names.
        if let Some(current) = current.filter(|&current| !self.is_of_another_trace(record, current)) {
            for (candidate, fact) in facts {
                takers.extend(self.taker(record, (fact, thread, Some(current)), (*candidate, current)));
            }
        }
        let is_at_current = !takers.is_empty();
        let mut found = std::mem::take(&mut self.found);
        for (candidate, fact) in facts {
            self.find(record, (thread.filter(|_| !is_at_current), thread), fact, &mut found);
            for &span in found.spans.iter().filter(|&&span| current != Some(span)) {
                takers.extend(self.taker(record, (fact, thread, current), (*candidate, span)));
            }
        }
        self.found = found;
        takers
    }

    /// What the span of a taker is after the record of `facts`.
    pub(super) fn after(&mut self, taker: &Taker, facts: &[(usize, Fact)]) -> After {
        let fact = taker.fact_of(facts).expect("a taker fits by one of the facts");
        let shown = if taker.evidence.current { None } else { fact.without_hidden() };
        let said = shown.unwrap_or(fact);
        self.open.get(taker.span).after(&self.orders, &self.kinds, said, &taker.fit)
    }

    /// Adds, where no thread is printed, who can take the record of the `n` spans that have printed
    /// last, as far as it is not among the `takers`, which come in order of their candidates.
    pub(super) fn add_recent(
        &mut self,
        record: &Record<'_>,
        facts: &[(usize, Fact)],
        n: usize,
        takers: &mut Vec<Taker>,
    ) {
        let place = |taker: &Taker| (taker.candidate, taker.span);
        takers.sort_unstable_by_key(place);
        let recent: Vec<SpanIndex> = self.open.recent(n).collect();
        let n_known = takers.len();
        for (candidate, fact) in facts {
            for &span in &recent {
                let is_known = takers[..n_known].binary_search_by_key(&(*candidate, span), place).is_ok();
                if !is_known && !self.is_of_another_trace(record, span) {
                    takers.extend(self.taker(record, (fact, None, None), (*candidate, span)));
                }
            }
        }
        takers.sort_unstable_by_key(place);
        #[cfg(test)]
        self.check_recent(record, facts, &recent, takers);
    }

    /// Looks for all of them anew, which has to find the same.
    #[cfg(test)]
    fn check_recent(
        &mut self,
        record: &Record<'_>,
        facts: &[(usize, Fact)],
        recent: &[SpanIndex],
        takers: &[Taker],
    ) {
        let mut anew = Vec::new();
        for (candidate, fact) in facts {
            let mut found = Found::default();
            self.find(record, (None, None), fact, &mut found);
            found.add(recent.iter().copied().filter(|&span| !self.is_of_another_trace(record, span)));
            found.spans.sort_unstable();
            for span in found.spans {
                anew.extend(self.taker(record, (fact, None, None), (*candidate, span)));
            }
        }
        let of = |takers: &[Taker]| -> Vec<(usize, SpanIndex, Evidence, bool)> {
            let of = |taker: &Taker| (taker.candidate, taker.span, taker.evidence, taker.is_over);
            takers.iter().map(of).collect()
        };
        assert_eq!(of(takers), of(&anew), "who was found before is who is found anew");
    }

    /// A span as one that can take the record by `fact`, that of one of its candidates; none if it
    /// cannot.
    fn taker(
        &mut self,
        record: &Record<'_>,
        (fact, thread, current): (&Fact, Option<u32>, Option<SpanIndex>),
        (candidate, span): (usize, SpanIndex),
    ) -> Option<Taker> {
        let open = self.open.get(span);
        let gap_us = record.ts_us.abs_diff(open.last_us);
        let trace = self.trace_of(record);
        let is_of_another_call =
            trace.is_some() && self.orders.starts(fact.log_point) && self.is_of_another_call(record, span);
        if is_of_another_call || gap_us > self.config.window_us.unsigned_abs() {
            return None;
        }
        if open.is_left && !open.may_resume(&self.orders, fact) {
            #[cfg(test)]
            self.check_left(fact, span);
            return None;
        }
        let is_at_work = current == Some(span) && gap_us <= LOOP_US;
        // What the text of a thread names is known to what that is at work on, alone.
        let shown = if current == Some(span) { None } else { fact.without_hidden() };
        let said = shown.unwrap_or(fact);
        let mut fit = open.fit(&self.orders, &self.kinds, said, is_at_work)?;
        if trace.is_some() {
            fit.prints_id(thread.is_none() && open.ids.is_some());
        }
        let is_apart = thread.is_some() && current != Some(span) && fit.n_request > 0;
        let resumes = !open.is_left || fit.resumes(&self.orders, fact.log_point);
        if !resumes || (is_apart && open.is_another(&self.orders, &self.kinds, fact)) {
            return None;
        }
        let is_new = thread.is_some()
            && fit.n_request == 0
            && self.successors.is_another_run(open.newest_first(), fact.log_point);
        // What is run, and what begins, is not the middle of what nobody runs.
        let is_run =
            thread.is_none() && (self.orders.starts(fact.log_point) || !open.is_unreached(&self.orders));
        if is_new || (is_run && fit.is_unreached(&self.orders)) {
            return None;
        }
        // Who would have to skip lines is no nearer than who begins, unless its thread shows that
        // it is at work.
        let is_far =
            self.orders.starts(fact.log_point) || (thread.is_none() && fit.follows == Follows::Later);
        let is_over = is_far
            && is_silence(gap_us, open.lasted_us())
            && (thread.is_none() || open.is_at_exit(&self.orders));
        let evidence = Evidence::new(&fit, current == Some(span), open.last_seq);
        Some(Taker { candidate, span, fit, evidence, is_over })
    }

    /// Fits a span that was left behind and cannot resume with the record after all: it does not.
    #[cfg(test)]
    fn check_left(&mut self, fact: &Fact, span: SpanIndex) {
        let Self { orders, open, kinds, .. } = self;
        for is_at_work in [false, true] {
            let fit = open.get(span).fit(orders, kinds, fact, is_at_work);
            assert!(fit.is_none_or(|fit| !fit.resumes(orders, fact.log_point)));
        }
    }

    /// Finds the open spans that the indexes have for a record of `thread`, in their order: by what it
    /// names, by its id, all `of_thread`, or, where no thread is printed, those in whose orders its line
    /// stands next.
    fn find(
        &self,
        record: &Record<'_>,
        (of_thread, thread): (Option<u32>, Option<u32>),
        fact: &Fact,
        found: &mut Found,
    ) {
        found.clear();
        let same_thread = |span: &SpanIndex| self.open.get(*span).thread == thread;
        for (class, text) in fact.named.iter().chain(fact.wholes.iter().map(|whole| &whole.name)) {
            found.add(self.open.with_value(*class, text).filter(same_thread));
        }
        for (variable, text) in &fact.values {
            for &class in self.orders.request_classes(fact.log_point, *variable) {
                found.add(self.open.with_value(class, text).filter(same_thread));
            }
        }
        found.add(of_thread.into_iter().flat_map(|thread| self.open.of_thread(thread)));
        if thread.is_none() {
            self.find_by_place(fact, found);
        }
        let same_trace = self.trace_of(record).into_iter().flat_map(|trace| self.open.with_trace(trace));
        found.add(same_trace.filter(same_thread));
        let Found { spans, are_there } = found;
        let is_another = |span: &mut SpanIndex| self.is_of_another_trace(record, *span);
        spans.extract_if(.., is_another).for_each(|span| are_there.remove(span as usize));
        spans.sort_unstable();
    }

    /// Spans for which the log point of `fact` would be the next one.
    fn find_by_place(&self, fact: &Fact, found: &mut Found) {
        if self.orders.floats(fact.log_point) {
            return;
        }
        let orders = &self.orders;
        for Places { top, at, .. } in orders.places(fact.log_point) {
            let is_next = |from, to| orders.follows_node(*top, from, to) == Some(Follows::Next);
            found.add(self.open.at_places(*top, |from| at.iter().any(|&(to, _)| is_next(from, to))));
        }
    }
}

/// Of the `takers`, best first, puts one before the best if that was done long
/// before: it prints nothing more, however much it has in common with the record,
/// and must not stand before one that does. That is what the record's thread is at
/// work on, or, without threads, who shares as many identifiers.
pub(super) fn prefer_living(takers: &mut [Taker], has_thread: bool) {
    let Some(first) = takers.first().filter(|first| first.is_over) else { return };
    let n_request = first.evidence.n_request.max(1);
    let rivals = |taker: &Taker| match has_thread {
        true => taker.evidence.current,
        false => taker.evidence.n_request >= n_request,
    };
    if let Some(at) = takers.iter().position(|taker| !taker.is_over && rivals(taker)) {
        takers[..=at].rotate_right(1);
    }
}
