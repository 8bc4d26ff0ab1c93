//! Nodes: where in its order a method can be after what it has printed.

use schema::{Event, LogPointId, TopLevelId};

use super::{Follows, Orders};

/// Nodes of `top` at which the last of `events` can have been printed.
pub(in crate::accumulate) fn walk(orders: &mut Orders<'_>, top: TopLevelId, events: &[Event]) -> Vec<u32> {
    let mut points = events.iter().filter_map(|event| event.log_point);
    let Some(first) = points.next() else { return Vec::new() };
    let mut nodes = nodes_of(orders, top, first);
    for point in points {
        if !orders.floats(point) {
            nodes = step(orders, top, &nodes, point, |_| true);
        }
    }
    nodes
}

/// Nodes of `top` that print `point`, sorted.
pub(in crate::accumulate) fn nodes_of(orders: &Orders<'_>, top: TopLevelId, point: LogPointId) -> Vec<u32> {
    let places = orders.places(point);
    let found = places.binary_search_by_key(&top, |places| places.top);
    let mut nodes: Vec<u32> =
        found.map_or(Vec::new(), |index| places[index].at.iter().map(|&(node, _)| node).collect());
    nodes.dedup();
    nodes
}

/// Nodes at which `top` can print `point` after any of `from`, if the one follows the other as
/// `is_so` wants it.
pub(in crate::accumulate) fn step(
    orders: &mut Orders<'_>,
    top: TopLevelId,
    from: &[u32],
    point: LogPointId,
    is_so: impl Fn(Follows) -> bool,
) -> Vec<u32> {
    let mut to = nodes_of(orders, top, point);
    to.retain(|&to| from.iter().any(|&from| orders.follows(top, from, to).is_some_and(&is_so)));
    to
}

/// Nodes at which `top` prints `point` as the very next one after any of `nodes`.
pub(in crate::accumulate) fn next_of(
    orders: &mut Orders<'_>,
    top: TopLevelId,
    nodes: &[u32],
    point: LogPointId,
) -> Vec<u32> {
    if orders.floats(point) && !nodes_of(orders, top, point).is_empty() {
        return nodes.to_vec();
    }
    step(orders, top, nodes, point, |follows| follows == Follows::Next)
}
