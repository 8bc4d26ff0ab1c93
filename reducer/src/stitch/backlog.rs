//! Backlog: work that stands in one line waits for as long as what is before it takes.
//!
//! Spans of a node that begin with the same line, or are of one thread, are done one after the other.
//! As long as they follow each other without a break, what was handed over meanwhile could not begin
//! before the last one of them was done.

use rustc_hash::FxHashMap;
use schema::LogPointId;

use super::facts::{Fact, Facts};

/// Work follows other work without a break if it begins so soon after that, µs.
const BREAK_US: i64 = 10_000;

/// When spans were at work, by the line with which they begin and by their threads, of each node.
pub(super) struct Backlog<'s> {
    of_first: FxHashMap<(u32, Option<LogPointId>), Line>,
    of_thread: FxHashMap<(u32, &'s str), Line>,
}

/// Work of which one piece is done after the other, in the order in which it starts.
#[derive(Default)]
pub(super) struct Line(Vec<Work>);

/// A span at work.
#[derive(Clone, Copy)]
pub(super) struct Work {
    start_us: i64,
    /// When it and all before it were done.
    pub(super) done_us: i64,
    /// When those that follow each other without a break up to it began.
    pub(super) began_us: i64,
}

impl Line {
    /// Adds a span, which starts no earlier than those before; what follows them by no more than
    /// `break_us` does so without a break.
    pub(super) fn add(&mut self, fact: &Fact<'_>, break_us: i64) {
        let mut work = Work { start_us: fact.start_us, done_us: fact.end_us, began_us: fact.start_us };
        if let Some(last) = self.0.last() {
            if fact.start_us <= last.done_us.saturating_add(break_us) {
                work.began_us = last.began_us;
            }
            work.done_us = work.done_us.max(last.done_us);
        }
        self.0.push(work);
    }

    /// The last that starts before a time.
    pub(super) fn before(&self, start_us: i64) -> Option<Work> {
        let n_before = self.0.partition_point(|work| work.start_us < start_us);
        Some(self.0[n_before.checked_sub(1)?])
    }
}

impl<'s> Backlog<'s> {
    /// Of all spans.
    pub(super) fn new(facts: &Facts<'s>) -> Self {
        let mut of_first: FxHashMap<_, Line> = FxHashMap::default();
        let mut of_thread: FxHashMap<_, Line> = FxHashMap::default();
        for (_, fact) in facts.iter() {
            of_first.entry((fact.node, fact.first_point)).or_default().add(fact, BREAK_US);
            if let Some(thread) = fact.thread {
                of_thread.entry((fact.node, thread)).or_default().add(fact, BREAK_US);
            }
        }
        Self { of_first, of_thread }
    }

    /// From when a span could begin that was handed over at `at_us` to when it did, µs.
    pub(super) fn delay_us(&self, span: &Fact<'s>, at_us: i64) -> i64 {
        let of_first = self.of_first.get(&(span.node, span.first_point));
        let of_thread = span.thread.and_then(|thread| self.of_thread.get(&(span.node, thread)));
        let waited_us = |line: &Line| {
            let last = line.before(span.start_us)?;
            (at_us >= last.began_us).then(|| span.start_us.saturating_sub(last.done_us.max(at_us)).max(0))
        };
        let delay_us = span.start_us.saturating_sub(at_us);
        of_first.into_iter().chain(of_thread).filter_map(waited_us).fold(delay_us, i64::min)
    }
}
