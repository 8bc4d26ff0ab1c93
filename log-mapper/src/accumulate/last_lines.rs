//! Last lines: between what nearly always ends and what nearly always begins, something has
//! ended and something has begun.
//!
//! A thread that is given one event after the other, or that goes in rounds, can print the
//! first line of the next one where the order of the one before has a place for it, too. Once
//! all has been read, the log has shown what such work ends and begins with. Where a last line
//! meets a first one, and the one is not what mostly comes after the other, the work is cut. But
//! a loop around the whole comes back to its first line at once.

use rustc_hash::FxHashMap;
use schema::{Event, LogPointId, Pass, TopLevelId, TopLevelKind};

use super::called_again::{cut_off, put_in_order};
use super::evidence::LOOP_US;
use super::late::lines_of_threads;
use super::orders::Orders;
use super::pools::Closed;

/// Lines of a log point from which to learn where they stand.
const LINES_MIN: u32 = 8;

/// Not more than one line in so many stands elsewhere.
const STRAY_SHARE: u32 = 8;

/// Cuts spans between last lines and first ones. `done`: the spans of one log source with the
/// numbers of their first records, sorted by those.
pub(super) fn cut(orders: &mut Orders<'_>, done: &mut Vec<(u64, Closed)>) {
    let places = Places::of(done);
    let mut found: Vec<Closed> = Vec::new();
    for (_, closed) in done.iter_mut().filter(|(_, closed)| closed.span.thread.is_some()) {
        let tops: Vec<TopLevelId> = closed.best_tops().collect();
        let mut cuts = Vec::new();
        for (at, pair) in (1..).zip(closed.span.events.windows(2)) {
            let Some((last, first)) = pair[0].log_point.zip(pair[1].log_point) else { continue };
            let at_once = pair[0].ts_us.abs_diff(pair[1].ts_us) <= LOOP_US;
            if at_once && closed.span.events[..at].iter().any(|event| event.log_point == Some(first)) {
                continue;
            }
            let mut tops = tops.clone();
            tops.retain(|&top| {
                !matches!(orders.kind(top), TopLevelKind::Dispatcher | TopLevelKind::Entity)
                    && !orders.is_main(top)
                    && places.are_apart(top, last, first)
                    && orders.can_begin(top, first)
            });
            cuts.extend((!tops.is_empty()).then_some((at, tops)));
        }
        found.extend(cuts.into_iter().rev().map(|(at, tops)| cut_off(closed, at, tops, Pass::LastLines)));
    }
    put_in_order(done, found);
}

/// Rows of equal lines, those of them that begin a span, and those that end one, where these
/// are not the same.
#[derive(Clone, Copy, Default)]
struct Count {
    n: u32,
    n_first: u32,
    n_last: u32,
}

/// Where the lines of each log point stand, in what prints them.
#[derive(Default)]
struct Places {
    counts: FxHashMap<(TopLevelId, LogPointId), Count>,
    /// How often one line ends a span of a thread, and another one begins the next.
    n_next: FxHashMap<(LogPointId, LogPointId), u32>,
}

impl Places {
    fn of(done: &[(u64, Closed)]) -> Self {
        let mut places = Self::default();
        for (_, closed) in done {
            for top in closed.best_tops() {
                places.add(top, &closed.span.events);
            }
        }
        for lines in lines_of_threads(done) {
            let ends = lines.windows(2).filter(|pair| pair[0].span != pair[1].span);
            for points in ends.filter_map(|pair| pair[0].point.zip(pair[1].point)) {
                *places.n_next.entry(points).or_default() += 1;
            }
        }
        places
    }

    fn add(&mut self, top: TopLevelId, events: &[Event]) {
        let rows = events.chunk_by(|a, b| a.log_point == b.log_point);
        let n_rows = rows.clone().count();
        if n_rows == 1 {
            return;
        }
        for (at, row) in rows.enumerate() {
            let Some(point) = row[0].log_point else { continue };
            let count = self.counts.entry((top, point)).or_default();
            count.n += 1;
            count.n_first += u32::from(at == 0);
            count.n_last += u32::from(at + 1 == n_rows);
        }
    }

    /// Whether `top` nearly always ends with the one and begins with the other, and something
    /// else mostly comes between the two.
    fn are_apart(&self, top: TopLevelId, last: LogPointId, first: LogPointId) -> bool {
        let count = |point| self.counts.get(&(top, point)).copied().unwrap_or_default();
        let is_nearly = |n: u32, all: u32| n >= LINES_MIN && (all - n) * STRAY_SHARE <= all;
        let (ends, begins) = (count(last), count(first));
        let n_next = self.n_next.get(&(last, first)).copied().unwrap_or_default();
        is_nearly(ends.n_last, ends.n) && is_nearly(begins.n_first, begins.n) && n_next * 2 <= ends.n_last
    }
}
