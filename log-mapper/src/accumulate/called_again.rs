//! Called again: what nearly always ends what a thread does has ended it.
//!
//! A program that is not known calls the one that is, again and again, in threads of its
//! own, and prints nothing in between. What it calls next can be something that the call
//! before could have printed too, on a way through it that this program never takes. Once
//! all has been read, a line that nearly always ends what prints it has done so wherever it
//! stands, if all that comes after it can have been printed by something that no known
//! thread leads to.

use rustc_hash::FxHashMap;
use schema::{Event, LogPointId, Pass, Span, TopLevelId, TopLevelKind, Value};

use super::orders::Orders;
use super::pools::{BEST, Closed};

/// Lines of a log point from which to learn that they end something.
const LINES_MIN: u32 = 8;

/// One line in so many may be followed by something.
const STRAY_SHARE: u32 = 4;

/// Cuts off what comes after an end. `done`: the spans of one log source with the numbers of
/// their first records, sorted by those.
pub(super) fn cut(orders: &Orders<'_>, done: &mut Vec<(u64, Closed)>) {
    if !orders.model().top_level_methods.iter().any(|top| top.is_asked_for) {
        return;
    }
    let ends = Ends::of(orders, done);
    let mut found: Vec<Closed> = Vec::new();
    for (_, closed) in &mut *done {
        let Some(top) = asked_for(orders, closed) else { continue };
        let events = &closed.span.events;
        let after = (1..events.len()).find_map(|at| {
            let point = events[at - 1].log_point.filter(|&point| ends.is_end(top, point));
            let tops = point.map(|_| outside(orders, &closed.span, &events[at..]))?;
            (!tops.is_empty()).then_some((at, tops))
        });
        if let Some((at, tops)) = after {
            found.push(cut_off(closed, at, tops, Pass::CalledAgain));
        }
    }
    put_in_order(done, found);
}

/// Adds what was cut off to the spans of a log source, each numbered as the span before it, after
/// which it then stands.
fn put_in_order(done: &mut Vec<(u64, Closed)>, found: Vec<Closed>) {
    let place =
        |closed: &Closed| closed.span.events.first().map(|event| (event.ts_us, event.file, event.line));
    let numbered = found.into_iter().map(|closed| {
        let at = done.partition_point(|(_, other)| place(other) < place(&closed));
        (at.checked_sub(1).map_or(0, |before| done[before].0), closed)
    });
    let numbered: Vec<_> = numbered.collect();
    done.extend(numbered);
    done.sort_by_key(|&(number, _)| number);
}

/// What a span with a thread is most likely of, if programs that are not known ask for that.
fn asked_for(orders: &Orders<'_>, closed: &Closed) -> Option<TopLevelId> {
    let top = closed.best_tops().next().filter(|_| closed.span.thread.is_some())?;
    orders.model().top_level_methods[top.index()].is_asked_for.then_some(top)
}

/// How often the lines of what is asked for are its last.
struct Ends(FxHashMap<(TopLevelId, LogPointId), (u32, u32)>);

impl Ends {
    fn of(orders: &Orders<'_>, done: &[(u64, Closed)]) -> Self {
        let mut ends = Self(FxHashMap::default());
        for (_, closed) in done {
            let Some(top) = asked_for(orders, closed) else { continue };
            for (at, event) in (1..).zip(&closed.span.events) {
                let Some(point) = event.log_point else { continue };
                let (n, n_last) = ends.0.entry((top, point)).or_default();
                *n += 1;
                *n_last += u32::from(at == closed.span.events.len());
            }
        }
        ends
    }

    fn is_end(&self, top: TopLevelId, point: LogPointId) -> bool {
        let (n, n_last) = self.0.get(&(top, point)).copied().unwrap_or_default();
        n >= LINES_MIN && (n - n_last) * STRAY_SHARE <= n
    }
}

/// The top-level methods other than the span's own that can have printed all of `events`
/// and that no known thread leads to, sorted.
fn outside(orders: &Orders<'_>, span: &Span, events: &[Event]) -> Vec<TopLevelId> {
    let mut points = events.iter().map(|event| event.log_point);
    let Some(Some(first)) = points.next() else { return Vec::new() };
    let is_outside = |&top: &TopLevelId| {
        orders.kind(top) == TopLevelKind::Unreached
            && orders.is_possible(top)
            && !span.top_levels.contains(&top)
    };
    let prints = |top: TopLevelId, point: LogPointId| {
        orders.places(point).binary_search_by_key(&top, |places| places.top).is_ok()
    };
    let mut tops: Vec<TopLevelId> =
        orders.places(first).iter().map(|places| places.top).filter(is_outside).collect();
    for point in points {
        tops.retain(|&top| point.is_some_and(|point| prints(top, point)));
    }
    tops.sort_unstable();
    tops
}

/// Takes the events from `at` on out of a span, as one of `top_levels`, with the values that
/// they show.
fn cut_off(closed: &mut Closed, at: usize, top_levels: Vec<TopLevelId>, by: Pass) -> Closed {
    let span = &mut closed.span;
    let mut events = span.events.split_off(at);
    events.first_mut().into_iter().for_each(|first| first.pass = by);
    let shows = |events: &[Event], value: &Value| {
        events.iter().any(|event| event.values.iter().any(|(_, text)| *text == *value.text))
    };
    let values = std::mem::take(&mut span.identifiers);
    let identifiers: Vec<Value> = values.iter().filter(|value| shows(&events, value)).cloned().collect();
    let is_kept = |value: &Value| shows(&span.events, value) || !shows(&events, value);
    span.identifiers = values.into_iter().filter(is_kept).collect();
    let fits = vec![BEST; top_levels.len()];
    let (node, thread, truncated) = (span.node, span.thread.clone(), span.truncated);
    let (trace, hosts) = (None, Vec::new());
    let cut = Span { node, thread, top_levels, n_alike: 1, identifiers, trace, events, truncated, hosts };
    Closed::new(cut, fits, Vec::new()).with_ids(closed.ids.iter().cloned())
}
