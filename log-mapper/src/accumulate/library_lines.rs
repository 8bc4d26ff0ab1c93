//! Library lines: records that no log point can have printed, of a thread. A library prints them in
//! the middle of what its thread is at.
//!
//! They wait for the next line of the program in their thread. If that goes on with the span that
//! the thread was at, they stand in the middle of it. If it begins another one, the longest silence
//! parts them: a thread prints nothing while it waits for its next request, so what comes before is
//! of the one that has ended, and what comes after of the next. A failure with a stack trace is
//! reported when something ends: nothing begins with it. A long silence ends it all.

use rustc_hash::FxHashMap;
use schema::{Event, Level, LogPointId};

use super::evidence::is_silence;
use super::reported::Report;
use crate::record::Record;

/// The lines of libraries, by thread and by span.
#[derive(Debug, Default)]
pub(super) struct LibraryLines {
    threads: FxHashMap<u32, Waiting>,
    /// Those that stand before and after the lines of spans, by the number of a span's first record.
    around: FxHashMap<u64, Vec<Event>>,
}

/// What a thread was at, and what libraries have printed since.
#[derive(Debug, Default)]
struct Waiting {
    last: Option<Last>,
    lines: Vec<Line>,
}

/// The span that a thread was at.
#[derive(Clone, Copy, Debug)]
struct Last {
    /// The number of its first record.
    first_seq: u64,
    first_us: i64,
    last_us: i64,
    /// What it has printed last.
    point: Option<LogPointId>,
}

/// A line of a library.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) event: Event,
    /// What it shows of a run that has failed.
    pub(super) report: Option<Box<Report>>,
    reports_failure: bool,
}

impl LibraryLines {
    /// A library prints a line in a thread.
    pub(super) fn wait(
        &mut self,
        thread: u32,
        record: &Record<'_>,
        event: Event,
        report: Option<Box<Report>>,
    ) {
        let reports_failure = reports_failure(record);
        self.threads.entry(thread).or_default().lines.push(Line { event, report, reports_failure });
    }

    /// What the span that a thread was at last has printed last.
    pub(super) fn last_point(&self, thread: u32) -> Option<LogPointId> {
        self.threads.get(&thread)?.last?.point
    }

    /// The lines that stand in the middle of the span that began with record `first_seq`, which its
    /// thread goes on with.
    pub(super) fn amid(&mut self, thread: u32, first_seq: u64) -> Vec<Event> {
        let waiting = self.threads.get_mut(&thread);
        let waiting = waiting.filter(|waiting| waiting.last.is_some_and(|last| last.first_seq == first_seq));
        waiting.map_or_else(Vec::new, |waiting| waiting.lines.drain(..).map(|line| line.event).collect())
    }

    /// A thread prints a line of `point` at `now_us`, of the span that began with record `first_seq`; whether it
    /// begins what its method can begin with, if it is the first one. Returns the lines that are of
    /// nothing.
    pub(super) fn print(
        &mut self,
        thread: u32,
        (first_seq, now_us): (u64, i64),
        point: Option<LogPointId>,
        begins: bool,
    ) -> Vec<Line> {
        let waiting = self.threads.entry(thread).or_default();
        let lines = std::mem::take(&mut waiting.lines);
        let before = waiting.last;
        let is_same = before.is_some_and(|last| last.first_seq == first_seq);
        let first_us = before.filter(|_| is_same).map_or(now_us, |last| last.first_us);
        waiting.last = Some(Last { first_seq, first_us, last_us: now_us, point });
        if lines.is_empty() { lines } else { self.part(lines, before, Some((first_seq, now_us, begins))) }
    }

    /// What all lines that wait are of, since no more is known of their threads; returns those that
    /// are of nothing, by thread.
    pub(super) fn end_part(&mut self) -> Vec<(u32, Vec<Line>)> {
        let mut threads: Vec<(u32, Waiting)> = std::mem::take(&mut self.threads).into_iter().collect();
        threads.sort_unstable_by_key(|&(thread, _)| thread);
        let of_nothing =
            |(thread, waiting): (u32, Waiting)| (thread, self.part(waiting.lines, waiting.last, None));
        threads.into_iter().map(of_nothing).collect()
    }

    /// The lines before and after those of the span that began with record `first_seq`.
    pub(super) fn take_around(&mut self, first_seq: u64) -> Vec<Event> {
        self.around.remove(&first_seq).unwrap_or_default()
    }

    /// Parts lines between the last one of a span and the `next` one; returns those that are of
    /// neither.
    fn part(
        &mut self,
        mut lines: Vec<Line>,
        last: Option<Last>,
        next: Option<(u64, i64, bool)>,
    ) -> Vec<Line> {
        // A run that was reported to have failed has ended.
        let last = last.filter(|last| last.point.is_some());
        let n_before = match next {
            Some((_, now_us, true)) => n_before(&lines, last, now_us),
            _ => lines.len(),
        };
        let mut after = lines.split_off(n_before);
        let mut neither = Vec::new();
        if let Some(last) = last {
            let lasted_us = last.last_us.abs_diff(last.first_us);
            let mut before_us = last.last_us;
            let ends = lines.iter().position(|line| {
                is_silence(
                    line.event.ts_us.abs_diff(std::mem::replace(&mut before_us, line.event.ts_us)),
                    lasted_us,
                )
            });
            neither = lines.split_off(ends.unwrap_or(lines.len()));
            self.around.entry(last.first_seq).or_default().extend(lines_of(lines));
        } else {
            neither.append(&mut lines);
        }
        if let Some((first_seq, now_us, true)) = next {
            let mut after_us = now_us;
            let begins = after.iter().rposition(|line| {
                is_silence(line.event.ts_us.abs_diff(std::mem::replace(&mut after_us, line.event.ts_us)), 0)
            });
            let own = after.split_off(begins.map_or(0, |at| at + 1));
            self.around.entry(first_seq).or_default().extend(lines_of(own));
        }
        neither.append(&mut after);
        neither
    }
}

/// How many of the lines between two spans stand before the longest silence: after a failure, and
/// the last one of silences that are as long.
fn n_before(lines: &[Line], last: Option<Last>, now_us: i64) -> usize {
    let n_failed = lines.iter().rposition(|line| line.reports_failure).map_or(0, |at| at + 1);
    let at_us = |at: usize| lines.get(at).map_or(now_us, |line| line.event.ts_us);
    let silence_us = |at: usize| match at.checked_sub(1) {
        Some(before) => at_us(at).abs_diff(at_us(before)),
        None => last.map_or(u64::MAX, |last| at_us(at).abs_diff(last.last_us)),
    };
    (n_failed..=lines.len()).max_by_key(|&at| silence_us(at)).unwrap_or(n_failed)
}

fn lines_of(lines: Vec<Line>) -> Vec<Event> {
    lines.into_iter().map(|line| line.event).collect()
}

/// Whether a record reports that what its thread was at has failed: a warning or an error with a
/// stack trace.
fn reports_failure(record: &Record<'_>) -> bool {
    let n_lines = 1 + record.text.iter().filter(|&&byte| byte == b'\n').count();
    let is_bad = record.level.is_some_and(|level| level >= Level::Warn);
    is_bad && u64::from(record.n_lines) > n_lines as u64
}
