//! The first thread: a process begins with the thread of `main` and no other one.
//!
//! Where the layout prints no threads, whose a line is that many can print (reading a
//! configuration, binding a port) has to be told by what it names, and what starts a
//! program names nothing yet. But until the first line that `main` cannot have printed
//! nobody else is known to be there. And a process runs its `main` once: as long as that
//! has not fallen silent, what nobody else can have printed is of it.

use schema::{Event, Model, Pass, Place, TopLevelId};

use super::errands::only_main;
use super::evidence::is_silence;
use super::orders::Orders;
use super::pools::{BEST, Closed};

/// When a record was printed, and where it stands.
type At = (i64, Place);

/// Makes one span of the lines that a program began with, if the first one is surely of
/// its `main`, and of what only that can have printed soon after. `done`: the spans of one
/// log source, sorted by their first records.
pub(super) fn join(orders: &Orders<'_>, model: &Model, done: &mut Vec<(u64, Closed)>) {
    let Some(main) = only_main(orders, model) else { return };
    let Some((others, last)) = beginning(orders, main, done) else { return };
    let is_its = |event: &Event| match at(event) < others {
        true => can_be(orders, main, event),
        false => at(event) <= last && is_surely(orders, main, event),
    };
    let (of_main, mut rest): (Vec<_>, Vec<_>) =
        std::mem::take(done).into_iter().partition(|(_, closed)| closed.span.events.iter().all(is_its));
    let mut of_main = of_main.into_iter();
    if let Some((first_seq, first)) = of_main.next() {
        let mut whole = first
            .with(of_main.map(|(_, part)| part), (Pass::FirstThread, "of main, nobody else is there yet"));
        (whole.span.top_levels, whole.fits) = (vec![main], vec![BEST]);
        rest.insert(rest.partition_point(|&(seq, _)| seq < first_seq), (first_seq, whole));
    }
    *done = rest;
}

/// Where the first line of somebody else stands, and the last one of `main` before that
/// falls silent; none if the log begins with something else.
fn beginning(orders: &Orders<'_>, main: TopLevelId, done: &[(u64, Closed)]) -> Option<(At, At)> {
    let mut events: Vec<&Event> = done.iter().flat_map(|(_, closed)| &closed.span.events).collect();
    events.sort_unstable_by_key(|event| at(event));
    let first = events.first().filter(|first| is_surely(orders, main, first))?;
    let n_first = events.iter().take_while(|event| can_be(orders, main, event)).count();
    let others = events.get(n_first).map_or((i64::MAX, events[n_first - 1].place()), |event| at(event));
    let mut last = at(events[n_first - 1]);
    for event in events[n_first..].iter().filter(|event| is_surely(orders, main, event)) {
        if is_silence(event.ts_us.abs_diff(last.0), last.0.abs_diff(first.ts_us)) {
            break;
        }
        last = at(event);
    }
    Some((others, last))
}

fn at(event: &Event) -> At {
    (event.ts_us, event.place())
}

/// Whether `main` can have printed an event. What nobody is known to run is not its: that
/// has a thread which nobody knows of.
fn can_be(orders: &Orders<'_>, main: TopLevelId, event: &Event) -> bool {
    let is_its = |point| orders.places(point).iter().any(|places| places.top == main);
    event.log_point.is_none_or(|point| orders.floats(point) || is_its(point))
}

/// Whether nobody else can have printed it.
fn is_surely(orders: &Orders<'_>, main: TopLevelId, event: &Event) -> bool {
    let Some(point) = event.log_point.filter(|&point| !orders.floats(point)) else { return false };
    let places = orders.places(point);
    !places.is_empty() && places.iter().all(|places| places.top == main)
}
