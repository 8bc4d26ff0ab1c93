//! Requests as JSON for the page. Texts are what the logs hold, whatever that is: the page shows
//! them as text.

use schema::happened_before::{Order, order as order_of};
use schema::tables::{EventRow, InputRow};
use serde_json::{Value, json};

use super::list::Listed;
use crate::request::{Logs, Request, Wait};
use crate::table::indexed::Indexes;
use crate::table::related::Related;

/// A request of a list.
pub(super) fn listed(indexes: &Indexes, of: &Listed) -> Value {
    json!({
        "id": format!("{:032x}", of.id),
        "type": &*indexes.types[of.request_type as usize],
        "start": of.start_us,
        "duration": of.duration_us,
        "n_nodes": of.n_nodes, "n_spans": of.n_spans, "n_events": of.n_events,
        "flags": of.flags,
    })
}

/// All of a request, and others that have to do with it.
pub(super) fn request(request: &Request, related: &[Related]) -> Value {
    let row = request.row();
    let mut logs = Logs::default();
    let spans: Vec<Value> = (0..request.spans().len()).map(|at| span(request, at, &mut logs)).collect();
    let path: Vec<Value> = request
        .critical_path()
        .iter()
        .map(|part| {
            json!({
                "span": part.span, "is_hand_over": part.is_hand_over, "from": part.from_us, "to": part.to_us,
            })
        })
        .collect();
    let identifiers: Vec<Value> =
        row.identifiers.iter().map(|of| json!({"name": &*of.name, "value": &*of.value})).collect();
    json!({
        "id": &*row.request_id, "type": &*row.request_type, "start": row.start_ts.0, "end": row.end_ts.0,
        "duration": row.duration_us, "sequence": &*row.log_sequence_id, "identifiers": identifiers,
        "flags": row.flags.iter().map(|flag| &**flag).collect::<Vec<_>>(), "spans": spans, "path": path,
        "related": related.iter().map(other).collect::<Vec<_>>(),
    })
}

fn other(of: &Related) -> Value {
    json!({
        "id": &*of.id, "how": &*of.how, "value_class": &*of.value_class, "value": &*of.value, "odds": of.odds,
    })
}

fn span(request: &Request, at: usize, logs: &mut Logs) -> Value {
    let span = &request.spans()[at];
    let row = &span.row;
    let (start, end) = request.times_us(at);
    let wait = match request.wait(at) {
        Wait::Nobody => "nobody",
        Wait::Within => "within",
        Wait::UntilEnd => "until the end",
    };
    let others: Vec<Value> = request
        .other_hand_overs(at)
        .map(|(from, over)| json!({"from": from, "link": over.link.as_deref(), "reason": &*over.reason}))
        .collect();
    let events: Vec<Value> = span.events.iter().map(|of| event(of, logs)).collect();
    json!({
        "id": &*row.span_id, "node": &*row.node, "thread": row.thread.as_deref(),
        "method": &*row.top_level_method, "parent": request.parent(at), "wait": wait,
        "link": row.link.as_deref(), "reason": row.link_reason.as_deref(),
        "probability": row.link_probability,
        "start": start, "end": end, "hand_overs": others, "events": events,
    })
}

fn event(row: &EventRow, logs: &mut Logs) -> Value {
    let values: Vec<Value> =
        row.values.iter().map(|of| json!({"name": &*of.name, "value": &*of.value})).collect();
    json!({
        "us": row.ts.0, "level": row.level.as_deref(), "class": row.class.as_deref(),
        "method": row.method.as_deref(), "source_line": row.source_line, "file": &*row.file,
        "line": row.line, "values": values, "reason": &*row.reason, "pass": row.pass.as_deref(),
        "text": logs.text(row),
    })
}

/// How each event of a request stands to one of them, by span: `before` and `after` must have been,
/// `may before` and `may after` are so by clocks only, of the others nothing is known. None: there
/// is no such event.
pub(super) fn order(request: &Request, span: usize, event: usize) -> Option<Value> {
    let this = request.spans().get(span)?.events.get(event)?.position.as_ref()?.place()?;
    let relation = |row: &EventRow| {
        let Some(other) = row.position.as_ref().and_then(|position| position.place()) else {
            return "unknown";
        };
        match order_of((&other.0, other.1), (&this.0, this.1)) {
            Order::Before => "before",
            Order::After => "after",
            Order::MayBefore => "may before",
            Order::MayAfter => "may after",
            Order::Concurrent | Order::Unrelated => "unknown",
            Order::Overlapping => "this",
        }
    };
    let of_span = |events: &[EventRow]| events.iter().map(relation).collect::<Vec<_>>();
    Some(json!({"order": request.spans().iter().map(|span| of_span(&span.events)).collect::<Vec<_>>()}))
}

/// What became of the records of a file.
pub(super) fn input(row: &InputRow) -> Value {
    json!({
        "node": &*row.node, "file": &*row.file, "layout": &*row.layout, "n_records": row.n_records,
        "n_attributed": row.n_attributed, "n_unattributed": row.n_unattributed,
        "n_headerless": row.n_headerless, "n_rejected": row.n_rejected,
        "damage": row.damage.iter().map(|text| &**text).collect::<Vec<_>>(),
    })
}
