//! Waited for: what nearly always comes when a line that names nothing stands alone
//! goes on with that, without threads.
//!
//! The code says of many lines that they can begin a request, because what stands
//! before them is printed under conditions that the analysis cannot decide. The log
//! may show that they never do: something else that is printed on the way to them
//! always stands in the log shortly before, alone, as it names nothing. When one such
//! line waits and one comes, they are one; with several at once nothing tells which. Nor
//! does it if somebody prints without it what otherwise stands after such a line: it can be
//! that one's.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use rustc_hash::FxHashSet;
use schema::{LogPointId, Pass};

use super::evidence::{WAIT_US, is_nearly_always};
use super::orders::Orders;
use super::pools::Closed;
use super::together::Together;

/// Joins, in the closed spans of a log without threads, which have the numbers of their
/// first records and are in order of these, what waits with what comes.
pub(super) fn join(orders: &mut Orders<'_>, together: &Together, done: &mut Vec<(u64, Closed)>) {
    let mut ends = Ends::new(done);
    let points: Vec<LogPointId> = ends.of_point.keys().copied().collect();
    for point in points {
        let next = waited_for(orders, done, &ends, point);
        if !next.is_empty() {
            serve((&mut *orders, together), done, &ends.lone, point, &next);
            ends = Ends::new(done);
        }
    }
}

/// Where closed spans begin and end.
struct Ends {
    /// Their [`lone_end`]s.
    lone: Vec<Option<LogPointId>>,
    /// Their [`begin`]s.
    begins: Vec<Option<LogPointId>>,
    /// Times of their first events, µs.
    first_us: Vec<i64>,
    /// The spans with each of those, in order.
    of_point: BTreeMap<LogPointId, Vec<usize>>,
    /// How many begin with each log point.
    n_begins: BTreeMap<LogPointId, u64>,
    /// They are also in order of the times at which they begin.
    are_in_order: bool,
}

impl Ends {
    fn new(done: &[(u64, Closed)]) -> Self {
        let lone: Vec<_> = done.iter().map(|(_, closed)| lone_end(closed)).collect();
        let mut of_point: BTreeMap<LogPointId, Vec<usize>> = BTreeMap::new();
        for (at, end) in lone.iter().enumerate() {
            end.iter().for_each(|end| of_point.entry(*end).or_default().push(at));
        }
        let mut n_begins: BTreeMap<LogPointId, u64> = BTreeMap::new();
        let begins: Vec<_> = done.iter().map(|(_, closed)| begin(closed)).collect();
        begins.iter().flatten().for_each(|begin| *n_begins.entry(*begin).or_default() += 1);
        let first_us: Vec<_> = done.iter().map(|(_, closed)| first_us(closed)).collect();
        let are_in_order = first_us.is_sorted();
        Self { lone, begins, first_us, of_point, n_begins, are_in_order }
    }

    /// How many spans begin with `begin` and are no lone ones that end with `point`.
    fn n_others(&self, begin: LogPointId, point: LogPointId) -> u64 {
        let lone = self.of_point.get(&point).into_iter().flatten();
        let n_lone = lone.filter(|&&at| self.begins[at] == Some(begin)).count() as u64;
        self.n_begins.get(&begin).copied().unwrap_or_default() - n_lone
    }
}

/// The first log point of a span.
fn begin(closed: &Closed) -> Option<LogPointId> {
    closed.span.events.first()?.log_point
}

/// The last log point of a span of nothing but constant texts.
fn lone_end(closed: &Closed) -> Option<LogPointId> {
    closed.span.events.last().filter(|_| closed.is_nameless())?.log_point
}

/// The log points with which spans begin nearly only when a lone span that ends with
/// `point`, and that they can go on with, stands shortly before: each one its own.
fn waited_for(
    orders: &mut Orders<'_>,
    done: &[(u64, Closed)],
    ends: &Ends,
    point: LogPointId,
) -> BTreeSet<LogPointId> {
    let mut n_waited: BTreeMap<LogPointId, u64> = BTreeMap::new();
    let mut waiting: BTreeMap<LogPointId, VecDeque<&Closed>> = BTreeMap::new();
    let mut lone: VecDeque<&Closed> = VecDeque::new();
    let of_point = ends.of_point.get(&point).map_or(&[][..], Vec::as_slice);
    // Until when a lone one waits, µs.
    let mut until_us = i64::MIN;
    let mut at = of_point.first().copied().unwrap_or(done.len());
    while at < done.len() {
        let closed = &done[at].1;
        if ends.lone[at] == Some(point) {
            for waiting in waiting.values_mut().chain([&mut lone]) {
                waiting.retain(|first| gap_us(first, closed) <= WAIT_US);
                waiting.push_back(closed);
            }
            until_us = until_us.max(last_us(closed).saturating_add(WAIT_US));
        } else if ends.are_in_order && ends.first_us[at] > until_us {
            // Nobody waits any longer until the next one comes.
            let next = of_point.partition_point(|&lone| lone < at);
            at = of_point.get(next).copied().unwrap_or(done.len());
            continue;
        } else if let Some(begin) = ends.begins[at] {
            let waiting = waiting.entry(begin).or_insert_with(|| lone.clone());
            waiting.retain(|first| gap_us(first, closed) <= WAIT_US);
            let served = waiting.iter().position(|first| goes_on(orders, first, closed, (point, begin)));
            served.and_then(|served| waiting.remove(served));
            *n_waited.entry(begin).or_default() += u64::from(served.is_some());
        }
        at += 1;
    }
    n_waited.retain(|&begin, &mut n| n > 0 && is_nearly_always(n, ends.n_others(begin, point)));
    n_waited.into_keys().collect()
}

/// Joins lone spans that end with `point` with spans that begin with one of `next`.
fn serve(
    (orders, together): (&mut Orders<'_>, &Together),
    done: &mut Vec<(u64, Closed)>,
    ends: &[Option<LogPointId>],
    point: LogPointId,
    next: &BTreeSet<LogPointId>,
) {
    let (mut waiting, mut came): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    let missing_us = missing_us((&mut *orders, together), done, point, next);
    let is_missed = |first: &Closed| {
        let last_us = first.span.events.last().map_or(i64::MIN, |event| event.ts_us);
        let at = missing_us.partition_point(|&us| us < last_us);
        missing_us.get(at).is_some_and(|&us| us.saturating_sub(last_us) <= WAIT_US)
    };
    for (at, ((_, closed), end)) in done.iter().zip(ends).enumerate() {
        if waiting.first().is_some_and(|&first| gap_us(&done[first].1, closed) > WAIT_US) {
            (waiting, came) = (Vec::new(), Vec::new());
        }
        if *end == Some(point) {
            waiting.push(at);
        } else if let Some(begin) = begin(closed).filter(|begin| next.contains(begin))
            && let Some(&first) = waiting.get(came.len())
            && goes_on(orders, &done[first].1, closed, (point, begin))
        {
            came.push(at);
            if came.len() == waiting.len() {
                if let ([first], [rest]) = (&waiting[..], &came[..])
                    && !is_missed(&done[*first].1)
                {
                    pairs.push((*first, *rest));
                }
                (waiting, came) = (Vec::new(), Vec::new());
            }
        }
    }
    let mut gone = FxHashSet::default();
    for (first, rest) in pairs {
        if let Some(whole) = done[first].1.clone().with_rest(orders, &done[rest].1, Pass::Waited) {
            done[first].1 = whole;
            gone.insert(done[rest].0);
        }
    }
    done.retain(|(seq, _)| !gone.contains(seq));
}

/// When lines were printed, in order of time, that mostly stand directly after one of
/// `point`, and that their spans, which can print both, print without it; but for those of
/// `next` that begin spans.
fn missing_us(
    (orders, together): (&mut Orders<'_>, &Together),
    done: &[(u64, Closed)],
    point: LogPointId,
    next: &BTreeSet<LogPointId>,
) -> Vec<i64> {
    let mut all = Vec::new();
    for (_, closed) in done {
        let mut before = None;
        for event in &closed.span.events {
            let Some(at) = event.log_point else { continue };
            let is_begin = before.is_none() && next.contains(&at);
            let mut tops = closed.span.top_levels.iter();
            if before != Some(point)
                && !is_begin
                && together.are_mostly(point, at)
                && tops.any(|&top| orders.prints_after(top, point, at))
            {
                all.push(event.ts_us);
            }
            before = Some(at);
        }
    }
    all.sort_unstable();
    all
}

/// From the last event of a span to the first one of another, µs.
fn gap_us(before: &Closed, after: &Closed) -> i64 {
    first_us(after).saturating_sub(last_us(before))
}

/// Time of the last event of a span, µs.
fn last_us(closed: &Closed) -> i64 {
    closed.span.events.last().map_or(i64::MIN, |event| event.ts_us)
}

/// Time of the first event of a span, µs.
fn first_us(closed: &Closed) -> i64 {
    closed.span.events.first().map_or(i64::MAX, |event| event.ts_us)
}

/// Whether a method that both spans can be of prints the second of `points` after the
/// first, and the second span says more than that.
fn goes_on(
    orders: &mut Orders<'_>,
    a: &Closed,
    b: &Closed,
    (before, after): (LogPointId, LogPointId),
) -> bool {
    let common = a.span.top_levels.iter().filter(|top| b.span.top_levels.contains(top));
    let is_lone = lone_end(b).is_some();
    !is_lone && before != after && common.into_iter().any(|&top| orders.prints_after(top, before, after))
}
