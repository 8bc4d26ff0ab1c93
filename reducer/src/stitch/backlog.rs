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
    of_first: FxHashMap<(u32, Option<LogPointId>), Vec<Work>>,
    of_thread: FxHashMap<(u32, &'s str), Vec<Work>>,
}

/// A span at work.
#[derive(Clone, Copy)]
struct Work {
    start_us: i64,
    /// When it and all before it were done.
    done_us: i64,
    /// When those that follow each other without a break up to it began.
    began_us: i64,
}

impl<'s> Backlog<'s> {
    /// Of all spans.
    pub(super) fn new(facts: &Facts<'s>) -> Self {
        let (mut of_first, mut of_thread) = (FxHashMap::default(), FxHashMap::default());
        for (_, fact) in facts.iter() {
            add(of_first.entry((fact.node, fact.first_point)).or_default(), fact);
            if let Some(thread) = fact.thread {
                add(of_thread.entry((fact.node, thread)).or_default(), fact);
            }
        }
        Self { of_first, of_thread }
    }

    /// From when a span could begin that was handed over at `at_us` to when it did, µs.
    pub(super) fn delay_us(&self, span: &Fact<'s>, at_us: i64) -> i64 {
        let of_first = self.of_first.get(&(span.node, span.first_point));
        let of_thread = span.thread.and_then(|thread| self.of_thread.get(&(span.node, thread)));
        let waited_us = |line: &Vec<Work>| {
            let before = line.partition_point(|work| work.start_us < span.start_us).checked_sub(1)?;
            let last = line[before];
            (at_us >= last.began_us).then(|| span.start_us.saturating_sub(last.done_us.max(at_us)).max(0))
        };
        let delay_us = span.start_us.saturating_sub(at_us);
        of_first.into_iter().chain(of_thread).filter_map(waited_us).fold(delay_us, i64::min)
    }
}

/// Adds a span to those that stand in a line, in the order in which they start.
fn add(line: &mut Vec<Work>, fact: &Fact<'_>) {
    let mut work = Work { start_us: fact.start_us, done_us: fact.end_us, began_us: fact.start_us };
    if let Some(last) = line.last() {
        if fact.start_us <= last.done_us.saturating_add(BREAK_US) {
            work.began_us = last.began_us;
        }
        work.done_us = work.done_us.max(last.done_us);
    }
    line.push(work);
}
