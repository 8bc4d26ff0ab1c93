//! A table of many requests that nobody logged. They have five spans and twelve events on three nodes;
//! one in twenty takes longer and asks twice, and children run side by side in any order.

use std::path::Path;

use reducer::table::{Addition, Writer};
use schema::tables::{EventRow, RequestNodeRow, RequestRow, SpanRow, Text, Time};

/// Requests of one file.
const REQUESTS_OF_FILE: u64 = 50_000;

/// Makes a table of `n_requests` requests.
pub(crate) fn make(table: &Path, n_requests: u64) {
    let mut writer = Writer::open(table).expect("a table");
    let mut from = 0;
    while from < n_requests {
        let until = n_requests.min(from + REQUESTS_OF_FILE);
        let mut addition = Addition::default();
        for number in from..until {
            let (request, spans, events) = request(number);
            addition.rows.request_nodes.extend(on_nodes(&request, &spans));
            addition.rows.requests.push(request);
            addition.rows.spans.extend(spans);
            addition.rows.events.extend(events);
        }
        writer.commit(&addition).expect("a table");
        from = until;
    }
}

/// The node of a span.
fn node(at: usize) -> Text {
    Text::from(["n1", "n2", "n3"][at % 3])
}

fn on_nodes(request: &RequestRow, spans: &[SpanRow]) -> Vec<RequestNodeRow> {
    let of_node = |at: usize| {
        let there = || spans.iter().filter(move |span| span.node == node(at));
        Some(RequestNodeRow {
            request_id: request.request_id.clone(),
            node: node(at),
            start_ts: there().map(|span| span.start_ts).min()?,
            end_ts: there().map(|span| span.end_ts).max()?,
            n_events: there().map(|span| span.n_events).sum(),
        })
    };
    (0..3).filter_map(of_node).collect()
}

/// Operation, parent, whether it is waited for, start and end in µs, events.
type Drawn = (&'static str, Option<usize>, bool, i64, i64, i64);

fn drawn(number: u64) -> Vec<Drawn> {
    let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut below = |n: u64| {
        state ^= state >> 29;
        state = state.wrapping_mul(0xbf58_476d_1ce4_e5b9).wrapping_add(1);
        i64::try_from((state >> 33) % n).expect("small")
    };
    let kind = ["Handler.get", "Handler.put", "Handler.scan"][below(3) as usize];
    let (b, c) = (10 + below(300), 10 + below(300));
    let (b_end, c_end) = (b + 20 + below(500), c + 20 + below(500));
    let retry = below(20) == 0;
    let again = b_end.max(c_end) + 10;
    let end = if retry { again + 3_000 } else { again };
    let mut spans = vec![
        (kind, None, false, 0, end + 50 + below(30), 4),
        ("Store.read", Some(0), true, b, b_end, 2),
        ("Index.find", Some(0), true, c, c_end, 2),
        ("Disk.read", Some(1), true, b + 5, b + 15, 2),
        ("Audit.note", Some(0), false, end + 400, end + 500 + below(90), 2),
    ];
    if retry {
        spans.push(("Store.read", Some(0), true, again, end, 2));
    }
    spans
}

/// The id of a request.
pub(crate) fn id(number: u64) -> String {
    format!("{:032x}", (u128::from(number.wrapping_mul(0x9e37_79b9_7f4a_7c15)) << 64) | u128::from(number))
}

fn request(number: u64) -> (RequestRow, Vec<SpanRow>, Vec<EventRow>) {
    let drawn = drawn(number);
    let base = i64::try_from(number % 80_000_000).expect("a day") * 1_000;
    let id = Text::from(id(number));
    let span_id = |at: usize| Text::from(format!("{:016x}", number * 8 + at as u64));
    let mut spans = Vec::new();
    let mut events = Vec::new();
    for (at, &(operation, parent, waited, start, end, n_events)) in drawn.iter().enumerate() {
        spans.push(SpanRow {
            request_id: id.clone(),
            span_id: span_id(at),
            parent_span_id: parent.map(span_id),
            node: node(at),
            thread: None,
            top_level_method: Text::from(operation),
            link: parent.map(|_| Text::from("rpc")),
            start_ts: Time(base + start),
            end_ts: Time(base + end),
            n_events,
            link_reason: None,
            link_probability: None,
            hand_overs: None,
            top_level_methods: None,
            parent_before: None,
            parent_after: waited.then_some(3),
            position: None,
        });
        for seq in 0..n_events {
            let us = base + start + (end - start) * seq / (n_events - 1);
            let point = operation.len() as i64 * 10 + seq;
            events.push(event((&id, &span_id(at), node(at)), (seq, us), point));
        }
    }
    let end = drawn.iter().map(|span| span.4).max().unwrap_or_default();
    let request = RequestRow {
        request_id: id,
        request_type: Text::from(drawn[0].0),
        start_ts: Time(base),
        end_ts: Time(base + end),
        duration_us: end,
        n_nodes: 3,
        n_spans: spans.len() as i64,
        n_events: events.len() as i64,
        log_sequence_id: Text::from(""),
        nodes: Vec::new(),
        identifiers: Vec::new(),
        flags: Vec::new(),
        confidence: None,
        request_types: None,
    };
    (request, spans, events)
}

fn event((request_id, span_id, node): (&Text, &Text, Text), (seq, us): (i64, i64), point: i64) -> EventRow {
    EventRow {
        request_id: Some(request_id.clone()),
        span_id: Some(span_id.clone()),
        seq,
        node,
        ts: Time(us),
        log_point_id: Some(point),
        ..EventRow::default()
    }
}
