//! The order of events that a table tells, against what logs show of it.
//!
//! Of two records of one log file that which stands first was printed first, whichever
//! threads printed them. Of records of several nodes only their clocks tell; they say who is
//! right only where the clocks are those of one machine.

use std::collections::BTreeMap;

use schema::happened_before::{Label, Order, Stretch, order};
use schema::tables::EventRow;

/// Largest request of which all pairs are looked at, events.
const EVENTS_MAX: usize = 4_000;

/// Pairs of events of one request, by what is told of their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OrderTally {
    /// One must have happened before the other.
    pub(crate) n_must: u64,
    /// Of those, pairs in one span.
    pub(crate) n_must_in_span: u64,
    /// Only clocks say so.
    pub(crate) n_may: u64,
    /// Nothing orders them.
    pub(crate) n_concurrent: u64,
    /// One must have happened before the other, but stands behind it in the log.
    pub(crate) n_against_log: u64,
    /// One must have happened before the other, but is later by the clocks of their nodes.
    pub(crate) n_against_clocks: u64,
    /// Clocks say that one happened before the other, which stands before it in the log.
    pub(crate) n_may_against_log: u64,
    /// Requests that are left out because they are too large.
    pub(crate) n_left_out: u64,
}

impl OrderTally {
    /// All pairs that were looked at.
    pub(crate) fn n_pairs(&self) -> u64 {
        self.n_must + self.n_may + self.n_concurrent
    }

    fn add(&mut self, a: &Placed<'_>, b: &Placed<'_>) {
        let (first, second) = match order((&a.label, a.stretch), (&b.label, b.stretch)) {
            Order::Before | Order::MayBefore => (a, b),
            Order::After | Order::MayAfter => (b, a),
            _ => {
                self.n_concurrent += 1;
                return;
            }
        };
        let is_must =
            matches!(order((&a.label, a.stretch), (&b.label, b.stretch)), Order::Before | Order::After);
        let is_one_log = first.event.node == second.event.node && first.event.file == second.event.file;
        let is_against_log = is_one_log && first.event.line > second.event.line;
        if is_must {
            self.n_must += 1;
            self.n_must_in_span += u64::from(a.label.span() == b.label.span());
            self.n_against_log += u64::from(is_against_log);
            let is_later =
                first.event.node != second.event.node && first.stretch.start_us > second.stretch.start_us;
            self.n_against_clocks += u64::from(is_later);
        } else {
            self.n_may += 1;
            self.n_may_against_log += u64::from(is_against_log);
        }
    }
}

/// An event in the order of its request.
struct Placed<'e> {
    event: &'e EventRow,
    label: Label,
    stretch: Stretch,
}

/// All pairs of events of one request.
pub(crate) fn order_tally(events: &[EventRow]) -> OrderTally {
    let mut requests: BTreeMap<&str, Vec<&EventRow>> = BTreeMap::new();
    for event in events {
        if let Some(id) = event.request_id.as_deref() {
            requests.entry(id).or_default().push(event);
        }
    }
    let mut tally = OrderTally::default();
    for events in requests.into_values() {
        if events.len() > EVENTS_MAX {
            tally.n_left_out += 1;
            continue;
        }
        let placed: Vec<Placed<'_>> = events.into_iter().filter_map(placed).collect();
        for (i, a) in placed.iter().enumerate() {
            placed[i + 1..].iter().for_each(|b| tally.add(a, b));
        }
    }
    tally
}

fn placed(event: &EventRow) -> Option<Placed<'_>> {
    let (label, stretch) = event.position.as_ref()?.place()?;
    Some(Placed { event, label, stretch })
}

#[cfg(test)]
mod tests {
    use schema::happened_before::{Hop, Label, Stretch};
    use schema::tables::{EventRow, PositionRow, SharedBytes, Time};

    use super::{OrderTally, order_tally};

    /// An event at `line` of `node`, in a span by its way: `(span, before, after)` each.
    fn event(node: &str, line: i64, way: &[(u32, Option<u32>, Option<u32>)], seq: u32) -> EventRow {
        let hop = |&(span, before, after): &(u32, Option<u32>, Option<u32>)| Hop { span, before, after };
        let path = way.iter().map(hop).collect();
        let label = Label { request: 1, node: u32::from(node == "b"), path, bounds_us: Vec::new() };
        let stretch = Stretch { first: seq, last: seq, start_us: line, end_us: line };
        EventRow {
            request_id: Some("1".into()),
            span_id: Some("1".into()),
            seq: i64::from(seq),
            node: node.into(),
            line,
            ts: Time(line),
            position: Some(PositionRow::new(1, &SharedBytes(label.encode().into()), stretch, 0)),
            ..EventRow::default()
        }
    }

    #[test]
    fn pairs_are_told_apart() {
        let (root, child) = ([(0, None, None)], [(0, None, None), (1, Some(1), None)]);
        let events = [event("a", 1, &root, 0), event("a", 5, &root, 1), event("a", 3, &child, 0)];
        let tally = order_tally(&events);
        // 1 before 5 in the span, 1 before 3 by the hand-off, 3 before 5 by the clock.
        let expected = OrderTally { n_must: 2, n_must_in_span: 1, n_may: 1, ..OrderTally::default() };
        assert_eq!(tally, expected);
        // Events of other requests, and those of none, are no pairs.
        let alone = EventRow { request_id: None, ..event("a", 9, &root, 2) };
        assert_eq!(order_tally(&[events[0].clone(), alone]).n_pairs(), 0);
    }

    #[test]
    fn contradictions_are_counted() {
        let (root, child) = ([(0, None, None)], [(0, None, None), (1, Some(1), None)]);
        let tally = order_tally(&[event("a", 7, &root, 0), event("a", 3, &child, 0)]);
        assert_eq!((tally.n_must, tally.n_against_log, tally.n_against_clocks), (1, 1, 0));
        let tally = order_tally(&[event("a", 7, &root, 0), event("b", 3, &child, 0)]);
        assert_eq!((tally.n_must, tally.n_against_log, tally.n_against_clocks), (1, 0, 1));
        // Without a bound clocks of two nodes say nothing.
        let tally = order_tally(&[event("a", 1, &root, 0), event("b", 9, &[(2, None, None)], 0)]);
        assert_eq!((tally.n_concurrent, tally.n_pairs()), (1, 1));
    }
}
