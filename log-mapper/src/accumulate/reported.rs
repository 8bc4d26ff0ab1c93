//! Reported failures: what a library that has called a method of the program prints when that fails.
//!
//! No log point has printed it, but its stack trace shows which top-level methods ran in the thread.
//! If the thread is at one of them by what it has printed, or at what one of them calls, the record is
//! of that. Else what has failed had printed nothing before, and the report is all that there is of it:
//! a span of its own, of the innermost of them.

use schema::{Event, Name, Pass, Span, TopLevelId};

use super::Scan;
use super::choice::event;
use super::ids::Shown;
use super::library_lines::Line;
use super::open_span::OpenSpan;
use super::pools::{BEST, Closed};
use crate::record::Record;

/// What a report shows of the run that has failed.
#[derive(Debug)]
pub(super) struct Report {
    /// The number of the record.
    seq: u64,
    /// The top-level methods that ran, the innermost first.
    pub(super) ran: Box<[TopLevelId]>,
    ids: Option<Shown>,
}

impl Scan<'_> {
    /// Makes a span of a report that is all that there is of a run; whether it is one.
    pub(super) fn place_report(&mut self, record: &Record<'_>) -> bool {
        if record.ran.is_empty() || self.leaves_out(Pass::NoLogPoint) {
            return false;
        }
        let thread = record.thread.map(|name| self.threads.show(name));
        let is_whole = self.is_all_of_its_run(record, thread);
        let Some(report) = self.report(record).filter(|_| is_whole) else { return false };
        if let Some(thread) = thread {
            let of_nothing = self.library_lines.print(thread, (self.seq, record.ts_us), None, false);
            self.leave_lines(thread, of_nothing);
        }
        self.close_reported(thread, event(record, None, (Pass::NoLogPoint, Name::default())), *report);
        true
    }

    /// The report that a record is; none: it is none.
    pub(super) fn report(&self, record: &Record<'_>) -> Option<Box<Report>> {
        if record.ran.is_empty() {
            return None;
        }
        let ids = self.shown_by(record);
        Some(Box::new(Report { seq: self.seq, ran: record.ran.clone().into(), ids }))
    }

    /// Whether a thread was at nothing, by what it has printed, of which a report can be.
    pub(super) fn is_all_of_its_run(&self, record: &Record<'_>, thread: Option<u32>) -> bool {
        let Some(thread) = thread else {
            // Which of the threads it was is not known, but for methods that print nothing.
            let dag = |top: &TopLevelId| &self.model.top_level_methods[top.index()].dag;
            return record.ran.first().is_some_and(|top| dag(top).nodes.is_empty());
        };
        let is_open = |span: &OpenSpan| span.tops.iter().any(|state| self.can_be_in(&record.ran, state.top));
        let mut open = self.open.of_thread(thread);
        if open.any(|span| is_open(self.open.get(span)) && !self.is_of_another_trace(record, span)) {
            return false;
        }
        let last = self.library_lines.last_point(thread).filter(|_| self.open.current(thread).is_none());
        let mut tops = last.into_iter().flat_map(|point| self.orders.places(point));
        !tops.any(|places| self.can_be_in(&record.ran, places.top))
    }

    /// Whether what prints a line as `top` can have been a part of one of those that `ran`.
    fn can_be_in(&self, ran: &[TopLevelId], top: TopLevelId) -> bool {
        ran.iter().any(|&ran| ran == top || self.calls.contains(ran, top))
    }

    /// Closes the span that begins and ends with a report.
    pub(super) fn close_reported(&mut self, thread: Option<u32>, mut event: Event, report: Report) {
        event.reason = Name::from("opens, its failure is reported");
        let top = |id: TopLevelId| &self.model.top_level_methods[id.index()];
        let name = |id: TopLevelId| (&*top(id).class, &*top(id).method);
        let first = report.ran.first().copied();
        let ran = report.ran.iter().copied();
        let top_levels: Vec<TopLevelId> = ran.filter(|&id| first.map(name) == Some(name(id))).collect();
        let fits = vec![BEST; top_levels.len()];
        let span = Span {
            node: self.node,
            thread: thread.map(|thread| self.threads.name(thread).clone()),
            top_levels,
            n_alike: 1,
            identifiers: Vec::new(),
            trace: None,
            events: vec![event],
            truncated: false,
            hosts: Vec::new(),
        };
        self.done.push((report.seq, Closed::new(span, fits, Vec::new()).with_ids(report.ids)));
    }

    /// What becomes of lines of libraries that are of nothing that their `thread` has printed.
    pub(super) fn leave_lines(&mut self, thread: u32, lines: Vec<Line>) {
        for Line { event, report, .. } in lines {
            match report {
                Some(report) => self.close_reported(Some(thread), event, *report),
                None => self.unattributed.push(event),
            }
        }
    }
}
