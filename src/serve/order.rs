//! How the events of a request stand to one of them.

use schema::happened_before::{Order, order as order_of};
use schema::tables::EventRow;
use serde::Serialize;

use crate::request::Request;

/// How each event of a request stands to one of them, by span.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename = "EventOrder"))]
pub(super) struct OrderShown {
    order: Vec<Vec<Relation>>,
}

/// `before` and `after` must have been, `may before` and `may after` are so by clocks only, of the
/// unknown nothing says how they stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
enum Relation {
    Before,
    After,
    #[serde(rename = "may before")]
    MayBefore,
    #[serde(rename = "may after")]
    MayAfter,
    Unknown,
    This,
}

impl OrderShown {
    /// How all events of a request stand to one of a span; none: there is no such event.
    pub(super) fn new(request: &Request, span: usize, event: usize) -> Option<Self> {
        let place = |row: &EventRow| row.position.as_ref().and_then(|position| position.place());
        let this = place(request.spans().get(span)?.events.get(event)?);
        let relation = |row: &EventRow| {
            // Of older tables no order is known.
            let (Some(this), Some(other)) = (&this, place(row)) else { return Relation::Unknown };
            match order_of((&other.0, other.1), (&this.0, this.1)) {
                Order::Before => Relation::Before,
                Order::After => Relation::After,
                Order::MayBefore => Relation::MayBefore,
                Order::MayAfter => Relation::MayAfter,
                Order::Concurrent | Order::Unrelated => Relation::Unknown,
                Order::Overlapping => Relation::This,
            }
        };
        let of_span = |events: &[EventRow]| events.iter().map(relation).collect();
        Some(Self { order: request.spans().iter().map(|span| of_span(&span.events)).collect() })
    }
}
