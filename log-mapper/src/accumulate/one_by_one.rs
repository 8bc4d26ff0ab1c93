//! One by one: what only comes while the one task of its kind is at work is of that task,
//! without threads.
//!
//! Lines that many can print (a block is stored, one is found) name what tasks work on, but not
//! the task. Where a process works tasks off one by one, as its only thread for them does, the
//! log shows it: of many that have begun and ended none begins before the one before it has
//! ended. If such a task can print a line, and the log shows that line only while one of them
//! is at work, although much of the log is not of that time, then nobody else prints it there.
//! Lines of several tasks that name the same thing are the lines of several tasks.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use schema::{Event, LogPointId, Pass, Place, TopLevelId, TopLevelKind, Value};

use super::orders::Orders;
use super::pools::Closed;
use super::rests::names;

/// Tasks from which to learn that they come one by one, and lines from which to learn that they
/// are printed while these are at work.
const TASKS_MIN: usize = 16;
const LINES_MIN: usize = 8;

/// So many of them would be elsewhere by chance, at least, and at most one in so many is.
const BY_CHANCE_MIN: usize = 4;
const ELSEWHERE_SHARE: usize = 16;

/// When something was printed, and where it stands.
type At = (i64, Place);

/// A task from its first to its last line, and the span that it is.
#[derive(Clone, Copy)]
struct Task {
    first: At,
    last: At,
    span: usize,
}

/// The parts of a span that are of tasks: where those are, and the part.
type Parts = Vec<(usize, Closed)>;

/// Joins with tasks what is printed while they are at work, in the closed spans of a log without
/// threads, which have the numbers of their first records and are in order of these.
pub(super) fn join(orders: &Orders<'_>, done: &mut Vec<(u64, Closed)>) {
    let mut found: BTreeMap<usize, Parts> = BTreeMap::new();
    for (top, tasks) in tasks(orders, done) {
        let points = points(orders, top, &tasks, done);
        if !points.values().any(|&is_sure| is_sure) {
            continue;
        }
        let own: FxHashSet<usize> = tasks.iter().map(|task| task.span).collect();
        for span in (0..done.len()).filter(|span| !own.contains(span)) {
            let parts = parts(&tasks, &points, &done[span].1);
            let fits = |(host, part): &(usize, Closed)| !differ(orders, top, &done[*host].1, part);
            if !parts.is_empty() && parts.iter().all(fits) {
                found.entry(span).or_insert(parts);
            }
        }
    }
    let mut of_hosts: BTreeMap<usize, Vec<Closed>> = BTreeMap::new();
    let gone: FxHashSet<usize> = found.keys().copied().collect();
    for (host, part) in found.into_values().flatten().filter(|(host, _)| !gone.contains(host)) {
        of_hosts.entry(host).or_default().push(part);
    }
    for (host, parts) in of_hosts {
        let top = done[host].1.best_tops().next();
        let mut whole =
            done[host].1.clone().with(parts.into_iter(), (Pass::OneByOne, "order, amidst the only task"));
        whole.keep(|other| Some(other) == top);
        done[host].1 = whole;
    }
    let mut span = 0..;
    done.retain(|_| span.next().is_some_and(|span| !gone.contains(&span)));
}

/// The tasks of each kind that are worked off one by one, in order.
fn tasks(orders: &Orders<'_>, done: &[(u64, Closed)]) -> BTreeMap<TopLevelId, Vec<Task>> {
    let mut tasks: BTreeMap<TopLevelId, Vec<Task>> = BTreeMap::new();
    for (span, (_, closed)) in done.iter().enumerate() {
        let events = &closed.span.events;
        let (mut tops, [first, .., last]) = (closed.best_tops(), &events[..]) else { continue };
        let (Some(top), None, Some(point)) = (tops.next(), tops.next(), first.log_point) else { continue };
        let is_task = !matches!(
            orders.kind(top),
            TopLevelKind::Dispatcher | TopLevelKind::Entity | TopLevelKind::Unreached
        );
        if is_task && !closed.span.truncated && !orders.is_main(top) && orders.can_begin(top, point) {
            tasks.entry(top).or_default().push(Task { first: at(first), last: at(last), span });
        }
    }
    let n_records: usize = done.iter().map(|(_, closed)| closed.span.events.len()).sum();
    tasks.retain(|_, tasks| {
        tasks.sort_unstable_by_key(|task| task.first);
        let is_apart = |two: &[Task]| two[0].last < two[1].first;
        tasks.len() >= TASKS_MIN && tasks.windows(2).all(is_apart) && {
            let n_within: usize = done.iter().map(|(_, closed)| n_within(tasks, &closed.span.events)).sum();
            // As many would begin while another one is at work, if chance put them anywhere.
            tasks.len() * n_within / n_records.max(1) >= BY_CHANCE_MIN
        }
    });
    tasks
}

/// When an event was printed, and where it stands.
fn at(event: &Event) -> At {
    (event.ts_us, event.place())
}

/// The task that is at work at some time, of those that come one by one.
fn at_work(tasks: &[Task], at: At) -> Option<usize> {
    let next = tasks.partition_point(|task| task.first < at);
    tasks[..next].last().filter(|task| at < task.last).map(|task| task.span)
}

/// How many of `events` stand within a task.
fn n_within(tasks: &[Task], events: &[Event]) -> usize {
    let within = |event: &&Event| {
        let next = tasks.partition_point(|task| task.first <= at(event));
        tasks[..next].last().is_some_and(|task| at(event) <= task.last)
    };
    events.iter().filter(within).count()
}

/// The log points that `top` prints and that are printed only while one of `tasks` is at work,
/// and whether that is no chance.
fn points(
    orders: &Orders<'_>,
    top: TopLevelId,
    tasks: &[Task],
    done: &[(u64, Closed)],
) -> FxHashMap<LogPointId, bool> {
    let (mut n_records, mut n_at_work) = (0_usize, 0_usize);
    let mut seen: FxHashMap<LogPointId, (usize, usize)> = FxHashMap::default();
    for event in done.iter().flat_map(|(_, closed)| &closed.span.events) {
        let is_at_work = usize::from(at_work(tasks, at(event)).is_some());
        n_records += 1;
        n_at_work += is_at_work;
        if let Some(point) = event.log_point {
            let (n, n_within) = seen.entry(point).or_default();
            *n += 1;
            *n_within += is_at_work;
        }
    }
    let n_elsewhere = n_records - n_at_work;
    let point = |(point, (n, n_within)): (LogPointId, (usize, usize))| {
        let is_printed = orders.places(point).binary_search_by_key(&top, |places| places.top).is_ok();
        let is_sure = n >= LINES_MIN && n * n_elsewhere >= BY_CHANCE_MIN * n_records;
        let n_else = n - n_within;
        let is_its = n_else == 0 || (is_sure && n_else * ELSEWHERE_SHARE <= n);
        (is_printed && is_its).then_some((point, is_sure))
    };
    seen.into_iter().filter_map(point).collect()
}

/// The parts of a span by the tasks that are at work when it prints them; none if it prints
/// anything else, or only what can stand there by chance.
fn parts(tasks: &[Task], points: &FxHashMap<LogPointId, bool>, closed: &Closed) -> Parts {
    let mut of: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut any_sure = false;
    for (index, event) in closed.span.events.iter().enumerate() {
        let sure = event.log_point.and_then(|point| points.get(&point));
        let Some((host, sure)) = at_work(tasks, at(event)).zip(sure) else { return Vec::new() };
        of.entry(host).or_default().push(index);
        any_sure |= sure;
    }
    let part = |(host, events): (usize, Vec<usize>)| (host, split_off(&mut closed.clone(), &events));
    of.into_iter().filter(|_| any_sure).map(part).collect()
}

/// Takes events out of a span: a span of their own, of which nothing is known yet.
fn split_off(closed: &mut Closed, taken: &[usize]) -> Closed {
    let mut part = closed.clone();
    let mut at = 0..;
    part.span.events.retain(|_| at.next().is_some_and(|at| taken.contains(&at)));
    let mut at = 0..;
    closed.span.events.retain(|_| at.next().is_some_and(|at| !taken.contains(&at)));
    for one in [closed, &mut part] {
        let span = &mut one.span;
        let is_shown = |value: &Value| {
            span.events.iter().any(|event| event.values.iter().any(|(_, text)| text.contains(&*value.text)))
        };
        let shown: Vec<bool> = span.identifiers.iter().map(is_shown).collect();
        let mut shown = shown.into_iter();
        span.identifiers.retain(|_| shown.next() == Some(true));
    }
    part.span.truncated = true;
    part
}

/// Whether what `part` names is not what the task `host` names so.
pub(super) fn differ(orders: &Orders<'_>, top: TopLevelId, host: &Closed, part: &Closed) -> bool {
    let theirs = names(orders, top, part);
    host.is_of_another_trace(part)
        || names(orders, top, host).iter().any(|(id, text)| {
            let mut same = theirs.iter().filter(|(other, _)| other == id).peekable();
            same.peek().is_some() && !same.any(|(_, known)| known == text)
        })
}
