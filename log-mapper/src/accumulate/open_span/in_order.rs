//! In order: which log points a span can print next, as far as its methods stand. A span is tried
//! with very many records before one of them is its own, most of which are of a few log points and
//! cannot come next: each log point is looked up in the orders of all methods once.

use std::cell::RefCell;

use schema::{LogPointId, TopLevelKind};
use smallvec::SmallVec;

use super::TopState;
use crate::accumulate::orders::Orders;

/// Log points that are remembered.
const POINTS_MAX: usize = 16;

/// What has been looked up of a span as it stands.
#[derive(Debug, Default)]
pub(super) struct InOrder(RefCell<Known>);

#[derive(Debug, Default)]
struct Known {
    /// Of the orders, when it was looked up.
    version: u32,
    points: SmallVec<[(LogPointId, bool); 4]>,
}

impl InOrder {
    /// Whether methods in these `states` can print `point` next, whatever it shows.
    pub(super) fn get(&self, orders: &Orders<'_>, states: &[TopState], point: LogPointId) -> bool {
        let mut known = self.0.borrow_mut();
        if known.version != orders.version() {
            *known = Known { version: orders.version(), points: SmallVec::new() };
        }
        let comes = || states.iter().any(|state| can_print(orders, state, point));
        if let Some(&(_, known)) = known.points.iter().find(|(known, _)| *known == point) {
            #[cfg(test)]
            assert_eq!(known, comes(), "it is forgotten as soon as the span or the orders change");
            return known;
        }
        let comes = comes();
        if known.points.len() < POINTS_MAX {
            known.points.push((point, comes));
        }
        comes
    }

    /// The span has changed.
    pub(super) fn forget(&mut self) {
        self.0.get_mut().points.clear();
    }
}

/// Whether a method in this `state` can print `point` next. The rounds of a dispatcher come in any
/// order.
fn can_print(orders: &Orders<'_>, state: &TopState, point: LogPointId) -> bool {
    let Some(places) = orders.places_in(state.top, point) else { return false };
    orders.kind(state.top) == TopLevelKind::Dispatcher
        || places.at.iter().any(|&place| state.follows(orders, point, place).is_some())
}
