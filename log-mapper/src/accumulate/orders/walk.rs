//! Walk: where in its order a method can be after what it has printed.

use schema::{Event, LogPointId, TopLevelId};

use super::{Follows, Orders, Position};

/// Positions in the order of `top` at which the last of `events` can have been printed.
pub(in crate::accumulate) fn walk(orders: &Orders<'_>, top: TopLevelId, events: &[Event]) -> Vec<Position> {
    let mut points = events.iter().filter_map(|event| event.log_point);
    let Some(first) = points.next() else { return Vec::new() };
    let mut at = positions_of(orders, top, first);
    for point in points {
        if !orders.floats(point) {
            at = step(orders, top, &at, point, |_| true);
        }
    }
    at
}

/// Positions of `point` in the order of `top`, sorted.
pub(in crate::accumulate) fn positions_of(
    orders: &Orders<'_>,
    top: TopLevelId,
    point: LogPointId,
) -> Vec<Position> {
    orders.places_in(top, point).map_or(Vec::new(), |places| places.at.clone())
}

/// Positions at which `top` can print `point` after any of `from`, if the one follows the other as
/// `is_so` wants it.
pub(in crate::accumulate) fn step(
    orders: &Orders<'_>,
    top: TopLevelId,
    from: &[Position],
    point: LogPointId,
    is_so: impl Fn(Follows) -> bool,
) -> Vec<Position> {
    let follows = |&to: &Position| from.iter().any(|&from| orders.follows(top, from, to).is_some_and(&is_so));
    let places = orders.places_in(top, point);
    places.map_or(Vec::new(), |places| places.at.iter().copied().filter(follows).collect())
}

/// Positions at which `top` prints `point` as the very next one after any of `from`.
pub(in crate::accumulate) fn next_of(
    orders: &Orders<'_>,
    top: TopLevelId,
    from: &[Position],
    point: LogPointId,
) -> Vec<Position> {
    if orders.floats(point) && orders.places_in(top, point).is_some() {
        return from.to_vec();
    }
    step(orders, top, from, point, |follows| follows == Follows::Next)
}

/// Whether `top` prints `point` as the very next one after any of `from`.
pub(in crate::accumulate) fn comes_next(
    orders: &Orders<'_>,
    top: TopLevelId,
    from: &[Position],
    point: LogPointId,
) -> bool {
    let Some(places) = orders.places_in(top, point) else { return false };
    if orders.floats(point) {
        return !from.is_empty();
    }
    let is_next =
        |&to: &Position| from.iter().any(|&from| orders.follows(top, from, to) == Some(Follows::Next));
    places.at.iter().any(is_next)
}
