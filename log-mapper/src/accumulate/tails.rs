//! Tails: what one span ends with that the next one of its thread begins with.
//!
//! A line that one request can print in its middle and another one first, and that both the
//! span before it and the one after it have a place for, is given to the span before it:
//! when it is read, what comes after it is not known. Once all has been read it is. If
//! lines of its log point are nearly always followed by what comes next, while what stands
//! before it is mostly followed by something else, and if it stands nearer to what comes
//! next, it is the beginning of that.

use rustc_hash::FxHashMap;
use schema::{Event, LogPointId, Name, TopLevelId, Value};

use super::between::nodes_of;
use super::orders::Orders;
use super::pools::Closed;
use super::rests::next_of;

/// Lines of a log point from which to learn what follows them.
const LINES_MIN: u32 = 8;

/// One line in so many may be followed by something else.
const STRAY_SHARE: u32 = 8;

/// Moves tails to the spans that they begin. `done`: the spans of one log source with the
/// numbers of their first records, sorted by those.
pub(super) fn join(orders: &mut Orders<'_>, done: &mut [(u64, Closed)]) {
    let mut of_thread: FxHashMap<Name, Vec<usize>> = FxHashMap::default();
    for (at, (_, closed)) in done.iter().enumerate() {
        if let Some(thread) = closed.span.thread {
            of_thread.entry(thread).or_default().push(at);
        }
    }
    let next = Next::of(of_thread.values(), done);
    for spans in of_thread.values() {
        for at in (1..spans.len()).rev() {
            while is_tail(orders, &next, &done[spans[at - 1]].1, &done[spans[at]].1) {
                move_tail(done, spans[at - 1], spans[at]);
            }
        }
    }
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
        let n = |after: LogPointId| self.n_next.get(&(point, after)).copied().unwrap_or_default();
        let again = if point == next { 0 } else { n(point) };
        (self.n_lines.get(&point).copied().unwrap_or_default(), n(next) + again)
    }
}

/// Whether the last line of a span begins the next one of its thread.
fn is_tail(orders: &mut Orders<'_>, next: &Next, span: &Closed, after: &Closed) -> bool {
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
        let nodes = nodes_of(orders, top, t);
        orders.can_begin(top, t) && !next_of(orders, top, &nodes, q).is_empty()
    })
}

/// Moves the last line of a span to the front of another, with the values that it alone
/// shows there.
pub(super) fn move_tail(done: &mut [(u64, Closed)], from: usize, to: usize) {
    let Some(mut tail) = done[from].1.span.events.pop() else { return };
    let shows = |event: &Event, value: &Value| event.values.iter().any(|(_, text)| *text == *value.text);
    let rest = std::mem::take(&mut done[from].1.span.identifiers);
    let events = &done[from].1.span.events;
    let (moved, kept): (Vec<Value>, Vec<Value>) = rest
        .into_iter()
        .partition(|value| shows(&tail, value) && !events.iter().any(|event| shows(event, value)));
    done[from].1.span.identifiers = kept;
    tail.reason = Name::from("order, begins the next");
    let span = &mut done[to].1.span;
    span.events.insert(0, tail);
    span.identifiers.extend(moved);
    span.identifiers.sort();
    span.identifiers.dedup();
}
