//! Elapsed: a line that says how long its work took says when that began. What was begun
//! later has not printed it.
//!
//! Where no thread is printed, two who work on one thing at once are told apart by nothing
//! that they name. But some lines end a piece of work with the time that it took: who has
//! printed one of them was at work that long before. A span whose first line comes later,
//! although such a line comes before that work where the log shows both, has taken the lines
//! of somebody else, all those since the work began. They go back to whoever had begun it, if
//! there is only one, or stand alone. And a span that began with the work is over some time after
//! that line: what comes then is of another one.
//!
//! Whether a number of seconds or milliseconds is such a time is learnt: most spans that print
//! it have printed something about that time before. Limits and pauses have no such moment.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use schema::kinds::{contains_apart, is_made};
use schema::{Event, LogPointId, Model, Pass, TopLevelId, TopLevelMethod, Value};

use super::began::{Took, is_time, took};
use super::between::{nodes_of, step, walk};
use super::evidence::{FLOAT_US, TICK_US};
use super::orders::Orders;
use super::pools::{BEST, Closed, Fitness};

/// Spans from which to learn what comes before the work.
const SPANS_MIN: usize = 4;

/// What began with the work is over after a pause of so many times as long as that took.
const PAUSE_TIMES: u64 = 4;

/// Spans around taken lines that are looked at.
const LOOK_BACK_MAX: usize = 256;

/// Gives back the lines that spans have taken from others, in the closed spans of a log without
/// threads, which have the numbers of their first records and are in order of these.
pub(super) fn give_back(orders: &mut Orders<'_>, model: &Model, done: &mut Vec<(u64, Closed)>) {
    let times = Times::learn(model, done);
    let mut taken: Vec<Closed> = Vec::new();
    for (_, closed) in done.iter_mut() {
        while let Some(found) = times.taken_from(model, closed) {
            let part = split_off(closed, &found);
            taken.push(part);
        }
    }
    if taken.is_empty() {
        return;
    }
    for mut part in taken {
        let points = part.points();
        let (tops, fits) = printing(orders, &points);
        if !tops.is_empty() {
            (part.span.top_levels, part.fits) = (tops, fits);
        }
        match beginner(orders, done, &times, &part) {
            Some((span, tops)) => {
                done[span].1 =
                    done[span].1.clone().with(std::iter::once(part), (Pass::Elapsed, "was at work so long"));
                done[span].1.keep(|top| tops.contains(&top));
            }
            None => {
                let first = (part.span.events[0].ts_us, part.span.events[0].place());
                let at = done.partition_point(|(_, closed)| {
                    (closed.span.events[0].ts_us, closed.span.events[0].place()) <= first
                });
                done.insert(at, (0, part));
            }
        }
    }
    // What was taken out has no number yet; only their order counts.
    (0..).zip(done).for_each(|(number, (first_seq, _))| *first_seq = number);
}

/// What lines say of how long their work took.
struct Times {
    /// By log point: what says such a time.
    told_by: BTreeMap<LogPointId, Took>,
    /// Spans in which a line (the second) that tells it comes after one that was printed before
    /// that work, and those in which that one was printed during it.
    order: FxHashMap<(LogPointId, LogPointId), (usize, usize)>,
}

impl Times {
    fn learn(model: &Model, done: &[(u64, Closed)]) -> Self {
        let mut numbers: FxHashMap<LogPointId, Option<Took>> = FxHashMap::default();
        let mut counts: BTreeMap<(LogPointId, Took), (usize, usize)> = BTreeMap::new();
        for (_, closed) in done {
            for (at, event) in closed.span.events.iter().enumerate().skip(1) {
                let Some(point) = event.log_point else { continue };
                let told = *numbers.entry(point).or_insert_with(|| took(model, point));
                let Some((told, began_us)) = told.and_then(|told| Some((told, told.began_us(event)?))) else {
                    continue;
                };
                let near_us = FLOAT_US.max(event.ts_us.abs_diff(began_us) / 2);
                let is_then = |other: &Event| other.ts_us.abs_diff(began_us) <= near_us;
                let (n, n_right) = counts.entry((point, told)).or_default();
                *n += 1;
                *n_right += usize::from(closed.span.events[..at].iter().any(is_then));
            }
        }
        let told_by = counts.into_iter().filter(|&(_, (n, n_right))| is_time(n_right, n));
        let told_by = told_by.map(|(told, _)| told);
        let mut times = Self { told_by: told_by.collect(), order: FxHashMap::default() };
        for (_, closed) in done {
            let events = &closed.span.events;
            for (at, (point, began_us)) in times.told(events).collect::<Vec<_>>() {
                let mut seen = FxHashSet::default();
                for event in &events[..at] {
                    let Some(other) = event.log_point.filter(|other| seen.insert(*other)) else { continue };
                    let (n_before, n_during) = times.order.entry((other, point)).or_default();
                    let is_before = event.ts_us < began_us;
                    *(if is_before { n_before } else { n_during }) += 1;
                }
            }
        }
        times
    }

    /// The events that tell when their work began: their places, log points, and that, µs.
    fn told<'e>(&'e self, events: &'e [Event]) -> impl Iterator<Item = (usize, (LogPointId, i64))> + 'e {
        events.iter().enumerate().filter_map(|(at, event)| {
            let point = event.log_point?;
            Some((at, (point, self.told_by.get(&point)?.began_us(event)?)))
        })
    }

    /// Whether lines of `point` come before the work of which `told` tells how long it took: that
    /// is the work of a method, and who prints the line calls it, or the log shows so.
    fn is_before(&self, model: &Model, point: LogPointId, told: LogPointId) -> bool {
        if calls(model, point, told) {
            return true;
        }
        let counts = self.order.get(&(point, told)).copied();
        counts.is_some_and(|(n_before, n_during)| n_before >= SPANS_MIN && n_before > n_during)
    }

    /// The events of a span that somebody else has printed, by their places.
    fn taken_from(&self, model: &Model, closed: &Closed) -> Option<Vec<usize>> {
        let events = &closed.span.events;
        let first = events.first()?;
        let first_point = first.log_point?;
        self.told(events).find_map(|(at, (told, began_us))| {
            let is_later = first.ts_us > began_us + TICK_US && self.is_before(model, first_point, told);
            let is_own =
                |event: &Event| event.log_point.is_some_and(|point| self.is_before(model, point, told));
            let taken = || (1..at).filter(|&other| !is_own(&events[other])).chain([at]).collect();
            if at > 0 && is_later {
                return Some(taken());
            }
            // All that it was is done.
            let has_begun_so = at > 0 && first.ts_us + TICK_US >= began_us;
            let pause_us = FLOAT_US.max(PAUSE_TIMES * events[at].ts_us.abs_diff(began_us));
            let is_over = |next: &&Event| next.ts_us.abs_diff(events[at].ts_us) > pause_us;
            let next = events.get(at + 1).filter(is_over).filter(|_| has_begun_so);
            next.map(|_| (at + 1..events.len()).collect())
        })
    }
}

/// Whether a top-level method prints `point` itself, and not `told`, which somebody prints whom it
/// calls.
fn calls(model: &Model, point: LogPointId, told: LogPointId) -> bool {
    let (point, told) = (&model.log_points[point.index()], &model.log_points[told.index()]);
    let is_of = |top: &TopLevelMethod| top.class == point.class && top.method == point.method;
    (&point.class, &point.method) != (&told.class, &told.method) && model.top_level_methods.iter().any(is_of)
}

/// Takes events out of a span: a span of their own, of which nothing is known yet.
pub(super) fn split_off(closed: &mut Closed, taken: &[usize]) -> Closed {
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

/// The top-level methods that can print `points` one after the other, the rest of something
/// begun before among them, and how well they fit.
fn printing(orders: &mut Orders<'_>, points: &[LogPointId]) -> (Vec<TopLevelId>, Vec<Fitness>) {
    let Some((&first, rest)) = points.split_first() else { return (Vec::new(), Vec::new()) };
    let mut tops: Vec<TopLevelId> = orders.places(first).iter().map(|places| places.top).collect();
    tops.retain(|&top| {
        let mut nodes = nodes_of(orders, top, first);
        for &point in rest.iter().filter(|&&point| !orders.floats(point)).collect::<Vec<_>>() {
            nodes = step(orders, top, &nodes, point, |_| true);
        }
        !nodes.is_empty() && orders.is_possible(top)
    });
    let fits = vec![BEST; tops.len()];
    (tops, fits)
}

/// The only span that was at work when that of `part` began, and can have printed it too, with
/// what it then is.
fn beginner(
    orders: &mut Orders<'_>,
    done: &[(u64, Closed)],
    times: &Times,
    part: &Closed,
) -> Option<(usize, Vec<TopLevelId>)> {
    let (_, (told, began_us)) = times.told(&part.span.events).last()?;
    let (first, last) = (part.span.events.first()?, part.span.events.last()?);
    let until = done.partition_point(|(_, closed)| closed.span.events[0].place() < first.place());
    let named = |value: &Value, by: &Closed| {
        let mut texts = by.span.events.iter().flat_map(|event| event.values.iter().map(|(_, text)| text));
        is_made(&value.text) && texts.any(|text| *text == *value.text || contains_apart(text, &value.text))
    };
    let mut found = None;
    for (span, (_, closed)) in done[..until].iter().enumerate().rev().take(LOOK_BACK_MAX) {
        let events = &closed.span.events;
        let is_since =
            events[0].ts_us + TICK_US >= began_us && events.iter().all(|e| e.place() != first.place());
        let is_about = closed.span.identifiers.iter().any(|value| named(value, part))
            || part.span.identifiers.iter().any(|value| named(value, closed));
        let has_ended = times.told(events).next().is_some();
        let begins_later =
            events[0].log_point.is_some_and(|point| times.is_before(orders.model(), point, told));
        if !is_since
            || begins_later
            || !is_about
            || has_ended
            || events.last().map(Event::place) > Some(last.place())
        {
            continue;
        }
        let mut all: Vec<Event> = events.iter().chain(&part.span.events).cloned().collect();
        all.sort_by_key(|event| (event.ts_us, event.place()));
        let mut tops: Vec<TopLevelId> = closed.span.top_levels.clone();
        tops.retain(|&top| !walk(orders, top, &all).is_empty());
        if !tops.is_empty() && found.replace((span, tops)).is_some() {
            return None;
        }
    }
    found
}
