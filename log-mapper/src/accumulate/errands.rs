//! Errands: processes that are started for one request and end with it.
//!
//! A server's `main` starts others and is done; the `main` of a task's process, or
//! of a command, is at work from its first line to its last. Where the layout
//! prints no threads, that shows in the log: what only `main` can have printed
//! stands at the beginning of the log and at its end. Such a process serves nobody
//! and has one thing to do: whatever its `main` can have printed, it has printed, in
//! any order that its loops may take.

use schema::{Event, Model, Pass, TopLevelId, TopLevelKind};

use super::evidence::is_errand;
use super::orders::Orders;
use super::pools::{BEST, Closed, is_main};

/// Makes one span of what `main` can have printed, if the records of `done`, which
/// are all of one log source and sorted by their first records, are of such a
/// process.
pub(super) fn gather(orders: &Orders<'_>, model: &Model, done: &mut Vec<(u64, Closed)>) {
    let Some(main) = only_main(orders, model) else { return };
    let events = || done.iter().flat_map(|(_, closed)| &closed.span.events);
    let sure = || events().filter(|event| is_surely(orders, main, event)).map(Event::place);
    let (Some(first), Some(last)) = (sure().min(), sure().max()) else { return };
    let n_within = events().filter(|event| (first..=last).contains(&event.place())).count();
    if !is_errand(n_within, events().count()) || events().any(|event| is_served(orders, main, event)) {
        return;
    }
    let is_of_main = |closed: &Closed| closed.span.events.iter().all(|event| can_be(orders, main, event));
    let (of_main, mut rest): (Vec<_>, Vec<_>) =
        std::mem::take(done).into_iter().partition(|(_, closed)| is_of_main(closed));
    let mut of_main = of_main.into_iter();
    if let Some((first_seq, first)) = of_main.next() {
        let mut whole =
            first.with(of_main.map(|(_, part)| part), (Pass::Errands, "of main, which is at work all along"));
        (whole.span.top_levels, whole.fits) = (vec![main], vec![BEST]);
        rest.insert(rest.partition_point(|&(seq, _)| seq < first_seq), (first_seq, whole));
    }
    *done = rest;
}

/// The `main` of the program, if it is known which one that is.
fn only_main(orders: &Orders<'_>, model: &Model) -> Option<TopLevelId> {
    let tops = (0..model.top_level_methods.len()).map(TopLevelId::new);
    let mut mains = tops.filter(|&top| orders.is_possible(top) && is_main(model, top));
    let main = mains.next()?;
    mains.next().is_none().then_some(main)
}

/// Whether nobody else can have printed an event.
fn is_surely(orders: &Orders<'_>, main: TopLevelId, event: &Event) -> bool {
    let Some(point) = event.log_point.filter(|&point| !orders.floats(point)) else { return false };
    let places = orders.places(point);
    places.iter().any(|places| places.top == main)
        && places.iter().all(|places| is_of(orders, main, places.top))
}

/// Whether an event is what somebody was served with: a process that answers calls
/// and handles events has many things to do, however long its `main` waits.
fn is_served(orders: &Orders<'_>, main: TopLevelId, event: &Event) -> bool {
    use TopLevelKind::{DispatchTarget, Entity, EventHandler, RpcHandler};
    let Some(point) = event.log_point.filter(|_| !can_be(orders, main, event)) else { return false };
    let serves = |top| matches!(orders.kind(top), DispatchTarget | Entity | EventHandler | RpcHandler);
    let mut who = orders.places(point).iter().map(|places| places.top);
    !orders.places(point).is_empty() && who.all(|top| serves(top) || !orders.is_possible(top))
}

/// Whether `main` can have printed an event.
fn can_be(orders: &Orders<'_>, main: TopLevelId, event: &Event) -> bool {
    let is_its = |point| orders.places(point).iter().any(|places| is_of(orders, main, places.top));
    event.log_point.is_none_or(|point| orders.floats(point) || is_its(point))
}

/// Whether what `top` prints is printed in the thread of `main`, as far as is known:
/// no thread leads to what is not reached.
fn is_of(orders: &Orders<'_>, main: TopLevelId, top: TopLevelId) -> bool {
    top == main || orders.kind(top) == TopLevelKind::Unreached
}
