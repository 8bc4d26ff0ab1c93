//! Tails: what one span ends with that the next one of its thread begins with, and heads: what
//! one begins with that the one before it ends with.
//!
//! A line that one request can print in its middle and another one first, and that both the
//! span before it and the one after it have a place for, is given to the span before it:
//! when it is read, what comes after it is not known. Once all has been read it is. If
//! lines of its log point are nearly always followed by what comes next, while what stands
//! before it is mostly followed by something else, and if it stands nearer to what comes
//! next, it is the beginning of that.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use schema::{Event, LogPointId, Name, Pass, TopLevelId, Value};

use super::orders::{Orders, next_of, positions_of, walk};
use super::pools::Closed;

/// Lines of a log point from which to learn what follows them.
const LINES_MIN: u32 = 8;

/// One line in so many may be followed by something else.
const STRAY_SHARE: u32 = 8;

/// Moves tails to the spans that they begin. `done`: the spans of one log source with the
/// numbers of their first records, sorted by those.
pub(super) fn join(orders: &Orders<'_>, done: &mut [(u64, Closed)]) {
    let mut of_thread: FxHashMap<Arc<str>, Vec<usize>> = FxHashMap::default();
    for (at, (_, closed)) in done.iter().enumerate() {
        if let Some(thread) = &closed.span.thread {
            of_thread.entry(Arc::clone(thread)).or_default().push(at);
        }
    }
    let next = Next::of(of_thread.values(), done);
    for spans in of_thread.values() {
        for at in (1..spans.len()).rev() {
            while is_tail(orders, &next, &done[spans[at - 1]].1, &done[spans[at]].1) {
                move_tail(done, spans[at - 1], spans[at]);
            }
        }
        for at in 1..spans.len() {
            if is_head(orders, &next, &done[spans[at - 1]].1, &done[spans[at]].1) {
                move_head(done, spans[at], spans[at - 1]);
            }
        }
    }
}

/// Whether the first line of a span ends the one before it in its thread: what stands there is
/// nearly always what stands before such lines, while something else mostly follows them, and
/// it stands nearer.
fn is_head(orders: &Orders<'_>, next: &Next, span: &Closed, after: &Closed) -> bool {
    let [head, second, ..] = &after.span.events[..] else { return false };
    let Some(last) = span.span.events.last() else { return false };
    let (Some(p), Some(t), Some(q)) = (last.log_point, head.log_point, second.log_point) else {
        return false;
    };
    if head.ts_us.abs_diff(last.ts_us) >= second.ts_us.abs_diff(head.ts_us) || p == t || orders.floats(t) {
        return false;
    }
    let (n_heads, n_ends) = next.preceded(p, t);
    if n_heads < LINES_MIN || (n_heads - n_ends) * STRAY_SHARE > n_heads || next.n(t, q) * 2 > n_heads {
        return false;
    }
    let tops: Vec<TopLevelId> = span.best_tops().filter(|top| after.span.top_levels.contains(top)).collect();
    tops.iter().any(|&top| {
        let positions = walk(orders, top, &span.span.events);
        orders.can_begin(top, q) && !next_of(orders, top, &positions, t).is_empty()
    })
}

/// Which lines follow which, directly, in the same thread.
struct Next {
    n_lines: FxHashMap<LogPointId, u32>,
    n_next: FxHashMap<(LogPointId, LogPointId), u32>,
}

impl Next {
    fn of<'a>(threads: impl Iterator<Item = &'a Vec<usize>>, done: &[(u64, Closed)]) -> Self {
        let mut next = Next { n_lines: FxHashMap::default(), n_next: FxHashMap::default() };
        for spans in threads {
            let events = spans.iter().flat_map(|&span| &done[span].1.span.events);
            let mut before = None;
            for point in events.map(|event| event.log_point) {
                if let Some(point) = point {
                    *next.n_lines.entry(point).or_default() += 1;
                }
                if let (Some(before), Some(point)) = (before, point) {
                    *next.n_next.entry((before, point)).or_default() += 1;
                }
                before = point;
            }
        }
        next
    }

    /// Lines of `point`, and those of them that one of `next` or of `point` itself follows.
    fn followed(&self, point: LogPointId, next: LogPointId) -> (u32, u32) {
        let again = if point == next { 0 } else { self.n(point, point) };
        (self.n_lines.get(&point).copied().unwrap_or_default(), self.n(point, next) + again)
    }

    /// Lines of `point`, and those of them that one of `before` or of `point` itself precedes.
    fn preceded(&self, before: LogPointId, point: LogPointId) -> (u32, u32) {
        let n_lines = self.n_lines.get(&point).copied().unwrap_or_default();
        (n_lines, self.n(before, point) + self.n(point, point))
    }

    fn n(&self, before: LogPointId, after: LogPointId) -> u32 {
        self.n_next.get(&(before, after)).copied().unwrap_or_default()
    }
}

/// Whether the last line of a span begins the next one of its thread.
fn is_tail(orders: &Orders<'_>, next: &Next, span: &Closed, after: &Closed) -> bool {
    let [.., before, tail] = &span.span.events[..] else { return false };
    let Some(first) = after.span.events.first() else { return false };
    let (Some(p), Some(t), Some(q)) = (before.log_point, tail.log_point, first.log_point) else {
        return false;
    };
    if first.ts_us.abs_diff(tail.ts_us) >= tail.ts_us.abs_diff(before.ts_us) || p == t || orders.floats(t) {
        return false;
    }
    let (n_tails, n_goes_on) = next.followed(t, q);
    let (n_before, n_ends) = next.followed(p, t);
    if n_tails < LINES_MIN || (n_tails - n_goes_on) * STRAY_SHARE > n_tails || n_ends * 2 > n_before {
        return false;
    }
    let tops: Vec<TopLevelId> = after.best_tops().filter(|top| span.span.top_levels.contains(top)).collect();
    tops.iter().any(|&top| {
        let positions = positions_of(orders, top, t);
        orders.can_begin(top, t) && !next_of(orders, top, &positions, q).is_empty()
    })
}

/// Moves the last line of a span to the front of another, with the values that it alone
/// shows there.
fn move_tail(done: &mut [(u64, Closed)], from: usize, to: usize) {
    let Some(mut tail) = done[from].1.span.events.pop() else { return };
    (tail.pass, tail.reason) = (Pass::Tails, Name::from("order, begins the next"));
    done[to].1.span.events.first_mut().into_iter().for_each(|begun| begun.pass = Pass::Tails);
    move_values(done, from, to, &tail);
    done[to].1.span.events.insert(0, tail);
}

/// Moves the first line of a span to the end of another one, in the same way.
fn move_head(done: &mut [(u64, Closed)], from: usize, to: usize) {
    let mut head = done[from].1.span.events.remove(0);
    (head.pass, head.reason) = (Pass::Tails, Name::from("order, ends the one before"));
    move_values(done, from, to, &head);
    done[to].1.span.events.push(head);
}

/// Moves the values that only the `moved` line of a span shows to another span.
fn move_values(done: &mut [(u64, Closed)], from: usize, to: usize, moved: &Event) {
    let shows = |event: &Event, value: &Value| event.values.iter().any(|(_, text)| *text == *value.text);
    let rest = std::mem::take(&mut done[from].1.span.identifiers);
    let events = &done[from].1.span.events;
    let (moved, kept): (Vec<Value>, Vec<Value>) = rest
        .into_iter()
        .partition(|value| shows(moved, value) && !events.iter().any(|event| shows(event, value)));
    done[from].1.span.identifiers = kept;
    let span = &mut done[to].1.span;
    span.identifiers.extend(moved);
    span.identifiers.sort();
    span.identifiers.dedup();
}
