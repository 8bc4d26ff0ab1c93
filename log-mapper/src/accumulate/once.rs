//! Once: a line that hardly ever comes twice at once comes once in what prints it.
//!
//! A line can be printed in a loop, and the same line can begin the next round of its thread:
//! which it was is not known when it is read. Once all has been read, the log has shown whether
//! its loop ever turns: turns follow each other at once. If it does not, and if rounds begin with
//! the line more often than it seems to turn, what prints it once more, and not the same, has
//! begun anew.

use rustc_hash::FxHashMap;
use schema::kinds::is_made;
use schema::{Event, LogPointId, Pass, TopLevelId, TopLevelKind};

use super::between::walk;
use super::called_again::{cut_off, put_in_order};
use super::evidence::{AT_ONCE_US, LOOP_US};
use super::orders::Orders;
use super::pools::Closed;

/// Lines of a log point from which to learn that it comes once.
const LINES_MIN: u32 = 32;

/// Not more than one line in so many comes directly after another one, at once.
const AGAIN_SHARE: u32 = 16;

/// Cuts spans before what begins anew. `done`: the spans of one log source with the numbers of
/// their first records, sorted by those.
pub(super) fn cut(orders: &mut Orders<'_>, done: &mut Vec<(u64, Closed)>) {
    let lines = Lines::of(done);
    let mut found: Vec<Closed> = Vec::new();
    for (_, closed) in done.iter_mut().filter(|(_, closed)| closed.span.thread.is_some()) {
        let mut cuts = Vec::new();
        let events = &closed.span.events;
        for at in 1..events.len() {
            let gap_us = events[at].ts_us.abs_diff(events[at - 1].ts_us);
            let again = events[at].log_point.filter(|&point| events[at - 1].log_point == Some(point));
            let comes_once = |&point: &LogPointId| closed.best_tops().any(|top| lines.comes_once(top, point));
            if let Some(point) = again.filter(|point| gap_us > AT_ONCE_US && comes_once(point)) {
                let names_it = names_the_same(&events[at - 1], &events[at]);
                let since = cuts.last().map_or(0, |&(at, _)| at);
                let mut tops = anew(orders, closed, (since, at), point);
                tops.retain(|&top| lines.comes_once(top, point));
                cuts.extend((!names_it && !tops.is_empty()).then_some((at, tops)));
            }
        }
        found.extend(cuts.into_iter().rev().map(|(at, tops)| cut_off(closed, at, tops, Pass::Once)));
    }
    put_in_order(done, found);
}

/// Whether it goes round in its thread: other work is over when its thread is given the next.
fn is_round(kind: TopLevelKind) -> bool {
    use TopLevelKind::{DispatchTarget, EventHandler, IdentifierLoss};
    matches!(kind, DispatchTarget | EventHandler | IdentifierLoss)
}

/// Whether a line names things that were made while the program ran, and all of them are named
/// by the one before.
fn names_the_same(before: &Event, event: &Event) -> bool {
    let mut made = event.values.iter().map(|(_, text)| text).filter(|text| is_made(text)).peekable();
    made.peek().is_some() && made.all(|text| before.values.iter().any(|(_, other)| other == text))
}

/// What a span can be that ends after its events from `since` to `at` and begins anew with
/// `point`.
fn anew(
    orders: &mut Orders<'_>,
    closed: &Closed,
    (since, at): (usize, usize),
    point: LogPointId,
) -> Vec<TopLevelId> {
    let mut tops: Vec<TopLevelId> = closed.best_tops().collect();
    tops.retain(|&top| {
        is_round(orders.kind(top)) && orders.can_begin(top, point) && {
            let nodes = walk(orders, top, &closed.span.events[since..at]);
            nodes.iter().any(|&node| orders.is_exit(top, node))
        }
    });
    tops
}

/// Lines of a log point, of what one top-level method prints.
#[derive(Clone, Copy, Default)]
struct Count {
    n: u32,
    /// Those that begin a span.
    n_begins: u32,
    /// Those that come directly after another one, and of these those that come at once.
    n_again: u32,
    n_at_once: u32,
}

/// The lines of each log point, by what their spans are most likely.
struct Lines(FxHashMap<(TopLevelId, LogPointId), Count>);

impl Lines {
    fn of(done: &[(u64, Closed)]) -> Self {
        let mut lines = Self(FxHashMap::default());
        for (_, closed) in done {
            for top in closed.best_tops() {
                lines.add(top, &closed.span.events);
            }
        }
        lines
    }

    fn add(&mut self, top: TopLevelId, events: &[Event]) {
        let mut before = None;
        for (at, event) in events.iter().enumerate() {
            if let Some(point) = event.log_point {
                let again = before.filter(|&(last, _)| last == point).map(|(_, us)| us);
                let at_once = again.filter(|&last_us: &i64| event.ts_us.abs_diff(last_us) <= LOOP_US);
                let count = self.0.entry((top, point)).or_default();
                count.n += 1;
                count.n_begins += u32::from(at == 0);
                count.n_again += u32::from(again.is_some());
                count.n_at_once += u32::from(at_once.is_some());
            }
            before = event.log_point.map(|point| (point, event.ts_us));
        }
    }

    /// Whether `top` begins with `point` more often than it prints that again, and hardly ever
    /// does so at once.
    fn comes_once(&self, top: TopLevelId, point: LogPointId) -> bool {
        let count = self.0.get(&(top, point)).copied().unwrap_or_default();
        let Count { n, n_begins, n_again, n_at_once } = count;
        n >= LINES_MIN && n_at_once * AGAIN_SHARE <= n && n_begins > n_again
    }
}
