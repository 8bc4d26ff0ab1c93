//! First lines: what all tasks of a pool begin with.
//!
//! The threads of a pool are named alike but for a number, and are given one task after
//! the other. If the first line of each of them, and each line after a long silence, is of
//! one log point, then every task of the pool begins with it: a span of such a thread that
//! begins with anything else goes on with the one before it, however long the thread has
//! paused between, and a first line that the one before it ends with is its own.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use schema::{LogPointId, Pass};

use super::orders::Orders;
use super::pools::{Closed, pool};
use super::rests::going_on;
use super::tails::move_tail;

/// After so long without a line a thread has begun anew, µs.
const SILENCE_US: u64 = 1_000_000;

/// Beginnings of a pool's tasks that have to be seen, and by how many of its threads.
const BEGUN_MIN: usize = 8;
const THREADS_MIN: usize = 2;

/// What the threads of a pool began with beyond doubt.
#[derive(Default)]
struct Begun {
    points: BTreeSet<Option<LogPointId>>,
    n_begun: usize,
    n_threads: usize,
}

impl Begun {
    /// The log point that all tasks begin with, if there is one.
    fn point(&self) -> Option<LogPointId> {
        let is_known = self.n_begun >= BEGUN_MIN && self.n_threads >= THREADS_MIN;
        self.points.first().copied().flatten().filter(|_| is_known && self.points.len() == 1)
    }
}

/// Joins what goes on with what was begun. `done`: the spans of one log source with the
/// numbers of their first records, sorted by those.
pub(super) fn join(orders: &mut Orders<'_>, done: &mut Vec<(u64, Closed)>) {
    let mut of_thread: FxHashMap<Arc<str>, Vec<usize>> = FxHashMap::default();
    for (at, (_, closed)) in done.iter().enumerate() {
        if let Some(thread) = &closed.span.thread {
            of_thread.entry(Arc::clone(thread)).or_default().push(at);
        }
    }
    let mut pools: FxHashMap<&str, Begun> = FxHashMap::default();
    for (thread, spans) in &of_thread {
        learn(pools.entry(pool(thread)).or_default(), spans, done);
    }
    let mut is_gone = vec![false; done.len()];
    for (thread, spans) in &of_thread {
        let Some(first) = pools.get(pool(thread)).and_then(Begun::point) else { continue };
        let mut before: Option<usize> = None;
        for &at in spans {
            match before {
                Some(host) if !begins_with(&done[at].1, first) => {
                    if ends_with(&done[host].1, first) {
                        move_tail(done, host, at, Pass::FirstLines);
                        before = Some(at);
                    } else if let Some(whole) = going_on(orders, &done[host].1, &done[at].1) {
                        done[host].1 = whole;
                        is_gone[at] = true;
                    } else {
                        before = Some(at);
                    }
                }
                _ => before = Some(at),
            }
        }
    }
    let mut is_gone = is_gone.into_iter();
    done.retain(|_| is_gone.next() != Some(true));
}

/// Counts what a thread began with.
fn learn(begun: &mut Begun, spans: &[usize], done: &[(u64, Closed)]) {
    let mut last_us: Option<i64> = None;
    begun.n_threads += 1;
    let mut events: Vec<_> = spans.iter().flat_map(|&span| &done[span].1.span.events).collect();
    events.sort_by_key(|event| (event.ts_us, event.file, event.line));
    for event in events {
        if last_us.is_none_or(|last_us| event.ts_us.abs_diff(last_us) >= SILENCE_US) {
            begun.points.insert(event.log_point);
            begun.n_begun += 1;
        }
        last_us = Some(event.ts_us);
    }
}

fn begins_with(closed: &Closed, point: LogPointId) -> bool {
    closed.span.events.first().is_some_and(|event| event.log_point == Some(point))
}

/// Whether a first line is the last one of a span, after others.
fn ends_with(closed: &Closed, point: LogPointId) -> bool {
    let events = &closed.span.events;
    events.len() > 1 && events.last().is_some_and(|event| event.log_point == Some(point))
}
