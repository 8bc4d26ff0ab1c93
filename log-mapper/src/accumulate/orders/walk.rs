//! Places: where in its order a method can be after what it has printed.

use schema::{Event, LogPointId, TopLevelId};

use super::{Follows, Orders, Position};

/// Places of `top` at which the last of `events` can have been printed.
pub(in crate::accumulate) fn walk(
    orders: &mut Orders<'_>,
    top: TopLevelId,
    events: &[Event],
) -> Vec<Position> {
    let mut points = events.iter().filter_map(|event| event.log_point);
    let Some(first) = points.next() else { return Vec::new() };
    let mut at = places_of(orders, top, first).to_vec();
    for point in points {
        if !orders.floats(point) {
            at = step(orders, top, &at, point, |_| true);
        }
    }
    at
}

/// Places of `point` in `top`, sorted.
pub(in crate::accumulate) fn places_of<'o>(
    orders: &'o Orders<'_>,
    top: TopLevelId,
    point: LogPointId,
) -> &'o [Position] {
    let places = orders.places(point);
    let found = places.binary_search_by_key(&top, |places| places.top);
    found.map_or(&[], |index| &places[index].at)
}

/// Places at which `top` can print `point` after any of `from`, if the one follows the other as
/// `is_so` wants it.
pub(in crate::accumulate) fn step(
    orders: &mut Orders<'_>,
    top: TopLevelId,
    from: &[Position],
    point: LogPointId,
    is_so: impl Fn(Follows) -> bool,
) -> Vec<Position> {
    let mut to = places_of(orders, top, point).to_vec();
    to.retain(|&to| from.iter().any(|&from| orders.follows(top, from, to).is_some_and(&is_so)));
    to
}

/// Places at which `top` prints `point` as the very next one after any of `from`.
pub(in crate::accumulate) fn next_of(
    orders: &mut Orders<'_>,
    top: TopLevelId,
    from: &[Position],
    point: LogPointId,
) -> Vec<Position> {
    if orders.floats(point) && !places_of(orders, top, point).is_empty() {
        return from.to_vec();
    }
    step(orders, top, from, point, |follows| follows == Follows::Next)
}
