//! Late: what goes on with a line wherever it stands goes on with it after a long pause, too.
//!
//! A pause is the end of what goes in rounds, as far as time alone tells, and a line that can
//! begin the next round begins one. Once all has been read, the log has shown which lines do:
//! if lines of one log point are mostly followed, in their thread and in the work that they
//! are of, by those of another one, and if these hardly ever begin anything but after such a
//! line, they begin nothing there either. What ends a round and what begins the next one stand
//! together as well, but never in one round.

use rustc_hash::{FxHashMap, FxHashSet};
use schema::{Event, LogPointId, Pass, Place, TopLevelId};

use super::orders::{Follows, Orders, step, walk};
use super::pools::Closed;
use super::rests::names_in;

/// So often one line goes on with another one in what is known to be one piece of work.
const TOGETHER_MIN: u32 = 8;

/// One line in so many may begin something elsewhere.
const BEGINS_SHARE: u32 = 4;

/// Not more than one line in so many is followed late by something else.
const ENDS_SHARE: u32 = 2;

/// Joins what was cut by a pause. `done`: the spans of one log source with the numbers of
/// their first records, sorted by those; a pause is at most `window_us`.
pub(super) fn join(orders: &Orders<'_>, done: &mut Vec<(u64, Closed)>, window_us: i64) {
    let cuts = Next::of(done).cuts();
    let mut joined: FxHashMap<usize, usize> = FxHashMap::default();
    let mut gone = FxHashSet::default();
    for (host, rest) in cuts {
        let host = joined.get(&host).copied().unwrap_or(host);
        if let Some(tops) = goes_on(orders, &done[host].1, &done[rest].1, window_us) {
            let part = done[rest].1.clone();
            let truncated = part.span.truncated;
            let mut whole =
                done[host].1.clone().with(std::iter::once(part), (Pass::Late, "thread, goes on late"));
            whole.keep(|top| tops.contains(&top));
            whole.span.truncated = truncated;
            done[host].1 = whole;
            joined.insert(rest, host);
            gone.insert(rest);
        }
    }
    let mut span = 0..;
    done.retain(|_| span.next().is_some_and(|span| !gone.contains(&span)));
}

/// Of what both can be, all in which the first line of `rest` is the very next one after
/// `host`; none if what the two lines name tells them apart.
fn goes_on(orders: &Orders<'_>, host: &Closed, rest: &Closed, window_us: i64) -> Option<Vec<TopLevelId>> {
    let (last, first) = (host.span.events.last()?, rest.span.events.first()?);
    if first.ts_us.saturating_sub(last.ts_us) > window_us
        || last.place() > first.place()
        || host.is_of_another_trace(rest)
    {
        return None;
    }
    let point = first.log_point?;
    let mut tops: Vec<TopLevelId> = host.best_tops().collect();
    tops.retain(|&top| {
        let positions = walk(orders, top, &host.span.events);
        rest.span.top_levels.contains(&top)
            && !step(orders, top, &positions, point, |follows| follows == Follows::Next).is_empty()
            && !contradict(orders, top, last, first)
    });
    (!tops.is_empty()).then_some(tops)
}

/// Whether two lines name what `top` has one of, and not the same.
fn contradict(orders: &Orders<'_>, top: TopLevelId, a: &Event, b: &Event) -> bool {
    let theirs = names_in(orders, top, b);
    names_in(orders, top, a)
        .iter()
        .any(|(id, text)| theirs.iter().any(|(other, known)| id == other && text != known))
}

/// A line of a thread: where it stands, its log point, and the span that it is of.
#[derive(Clone, Copy)]
struct Line {
    place: (i64, Place),
    point: Option<LogPointId>,
    span: usize,
}

/// The lines of each thread, in order.
fn lines_of_threads(done: &[(u64, Closed)]) -> Vec<Vec<Line>> {
    let mut at: FxHashMap<&str, usize> = FxHashMap::default();
    let mut threads: Vec<Vec<Line>> = Vec::new();
    for (span, (_, closed)) in done.iter().enumerate() {
        let Some(thread) = closed.span.thread.as_deref() else { continue };
        let at = *at.entry(thread).or_insert(threads.len());
        if at == threads.len() {
            threads.push(Vec::new());
        }
        let line = |event: &Event| Line { place: (event.ts_us, event.place()), point: event.log_point, span };
        threads[at].extend(closed.span.events.iter().map(line));
    }
    threads.iter_mut().for_each(|lines| lines.sort_unstable_by_key(|line| (line.place, line.span)));
    threads
}

/// Two lines of one thread, directly one after the other: where they stand, and the spans that
/// they are of.
struct Step {
    points: (LogPointId, LogPointId),
    spans: (usize, usize),
}

/// What follows what in the threads of a log, and how often.
#[derive(Default)]
struct Next {
    /// Where a span ends and the next one of its thread begins, in the order of the log.
    cut: Vec<Step>,
    n_together: FxHashMap<(LogPointId, LogPointId), u32>,
    n_cut: FxHashMap<(LogPointId, LogPointId), u32>,
    n_begins: FxHashMap<LogPointId, u32>,
    n_ends: FxHashMap<LogPointId, u32>,
}

impl Next {
    fn of(done: &[(u64, Closed)]) -> Self {
        let mut next = Self::default();
        lines_of_threads(done).iter().for_each(|lines| next.add(lines));
        next
    }

    /// Adds the lines of one thread, in order.
    fn add(&mut self, lines: &[Line]) {
        let first = lines.first().and_then(|line| line.point);
        first.into_iter().for_each(|point| *self.n_begins.entry(point).or_default() += 1);
        for pair in lines.windows(2) {
            let (host, rest) = (pair[0].span, pair[1].span);
            let Some((before, after)) = pair[0].point.zip(pair[1].point) else { continue };
            let points = (before, after);
            if host == rest {
                *self.n_together.entry(points).or_default() += 1;
            } else {
                *self.n_cut.entry(points).or_default() += 1;
                *self.n_begins.entry(after).or_default() += 1;
                *self.n_ends.entry(before).or_default() += 1;
                self.cut.push(Step { points, spans: (host, rest) });
            }
        }
    }

    /// The spans that lines end and begin which go on with each other elsewhere.
    fn cuts(self) -> Vec<(usize, usize)> {
        let is_one = |step: &&Step| {
            let n = |map: &FxHashMap<_, u32>| map.get(&step.points).copied().unwrap_or_default();
            let (n_together, n_cut) = (n(&self.n_together), n(&self.n_cut));
            let n_begins = self.n_begins.get(&step.points.1).copied().unwrap_or_default() - n_cut;
            let n_ends = self.n_ends.get(&step.points.0).copied().unwrap_or_default() - n_cut;
            n_together >= TOGETHER_MIN
                && n_together > n_cut
                && n_begins * BEGINS_SHARE <= n_together
                && n_ends * ENDS_SHARE <= n_together
                && step.points.0 != step.points.1
        };
        self.cut.iter().filter(is_one).map(|step| step.spans).collect()
    }
}
