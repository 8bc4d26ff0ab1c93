//! OpenTelemetry's OTLP, as JSON, a `TracesData` a line as collectors read and write files, or as
//! protobuf, one `TracesData` of which the requests are parts.

use std::io::{self, Write};

use schema::tables::EventRow;
use serde_json::{Value, json};

use super::protobuf::Message;
use super::{SCOPE, Said, View, Writer, event_name};

/// Kinds of spans: within a process; of a message that nobody waits for.
const INTERNAL: u64 = 1;
const CONSUMER: u64 = 5;
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// JSON, being written.
pub(super) struct Otlp;

impl Writer for Otlp {
    fn request(&mut self, out: &mut dyn Write, view: &mut View<'_>, _is_first: bool) -> io::Result<()> {
        let mut resources = Vec::new();
        for (node, spans) in by_node(view) {
            let spans: Vec<Value> = spans.into_iter().map(|at| span_json(view, at)).collect();
            let service = [("service.name".to_owned(), Said::Text(node))];
            resources.push(json!({
                "resource": {"attributes": attributes_json(&service)},
                "scopeSpans": [{"scope": {"name": SCOPE, "version": VERSION}, "spans": spans}],
            }));
        }
        serde_json::to_writer(&mut *out, &json!({"resourceSpans": resources})).map_err(io::Error::from)?;
        out.write_all(b"\n")
    }
}

/// Protobuf, being written.
pub(super) struct OtlpProtobuf;

impl Writer for OtlpProtobuf {
    fn request(&mut self, out: &mut dyn Write, view: &mut View<'_>, _is_first: bool) -> io::Result<()> {
        for (node, spans) in by_node(view) {
            let service = attribute("service.name", &Said::Text(node));
            let scope = Message::default().text(1, SCOPE).text(2, VERSION);
            let mut of_scope = Message::default().message(1, &scope);
            for at in spans {
                of_scope = of_scope.message(2, &span_message(view, at));
            }
            let resource = Message::default().message(1, &service);
            let resource = Message::default().message(1, &resource).message(2, &of_scope);
            out.write_all(&Message::default().message(1, &resource).0)?;
        }
        Ok(())
    }
}

/// Positions of the spans of each node, nodes by name.
fn by_node(view: &View<'_>) -> std::collections::BTreeMap<String, Vec<usize>> {
    let mut nodes = std::collections::BTreeMap::<String, Vec<usize>>::new();
    for (at, span) in view.request.spans().iter().enumerate() {
        nodes.entry(span.row.node.to_string()).or_default().push(at);
    }
    nodes
}

fn kind(view: &View<'_>, at: usize) -> u64 {
    if view.parent(at).is_some_and(|(_, waits)| !waits) { CONSUMER } else { INTERNAL }
}

fn nanoseconds(us: i64) -> u64 {
    u64::try_from(us).unwrap_or(0).saturating_mul(1_000)
}

fn span_json(view: &mut View<'_>, at: usize) -> Value {
    let span = &view.request.spans()[at];
    let (start_us, end_us) = view.request.times_us(at);
    let event = |event: &EventRow, attributes: &[(String, Said)]| {
        json!({
            "timeUnixNano": nanoseconds(event.ts.0).to_string(), "name": event_name(event),
            "attributes": attributes_json(attributes),
        })
    };
    let events: Vec<Value> = span.events.iter().map(|row| event(row, &view.event_attributes(row))).collect();
    let link = |(id, kind): (&str, Option<&str>)| {
        let attributes: Vec<_> =
            kind.map(|kind| ("lprof.link".to_owned(), Said::from(kind))).into_iter().collect();
        json!({"traceId": view.trace_id(), "spanId": id, "attributes": attributes_json(&attributes)})
    };
    let links: Vec<Value> = view.links(at).map(link).collect();
    let mut value = json!({
        "traceId": view.trace_id(), "spanId": &*span.row.span_id, "name": &*span.row.top_level_method,
        "kind": kind(view, at), "startTimeUnixNano": nanoseconds(start_us).to_string(),
        "endTimeUnixNano": nanoseconds(end_us).to_string(),
        "attributes": attributes_json(&view.attributes(at)),
        "events": events, "links": links, "status": {},
    });
    if let Some((parent, _)) = view.parent(at) {
        value["parentSpanId"] = json!(parent);
    }
    value
}

fn attributes_json(attributes: &[(String, Said)]) -> Vec<Value> {
    let value = |value: &Said| match value {
        Said::Number(number) => json!({"intValue": number.to_string()}),
        Said::Text(text) => json!({"stringValue": text}),
    };
    attributes.iter().map(|(name, of)| json!({"key": name, "value": value(of)})).collect()
}

fn span_message(view: &mut View<'_>, at: usize) -> Message {
    let span = &view.request.spans()[at];
    let (start_us, end_us) = view.request.times_us(at);
    let trace_id = id_bytes(view.trace_id());
    let mut message = Message::default().bytes(1, &trace_id).bytes(2, &id_bytes(&span.row.span_id));
    if let Some((parent, _)) = view.parent(at) {
        message = message.bytes(4, &id_bytes(parent));
    }
    message = message
        .text(5, &span.row.top_level_method)
        .number(6, kind(view, at))
        .fixed(7, nanoseconds(start_us))
        .fixed(8, nanoseconds(end_us));
    for (name, value) in view.attributes(at) {
        message = message.message(9, &attribute(&name, &value));
    }
    for event in &span.events {
        let mut of = Message::default().fixed(1, nanoseconds(event.ts.0)).text(2, &event_name(event));
        for (name, value) in view.event_attributes(event) {
            of = of.message(3, &attribute(&name, &value));
        }
        message = message.message(11, &of);
    }
    for (id, kind) in view.links(at) {
        let mut link = Message::default().bytes(1, &trace_id).bytes(2, &id_bytes(id));
        if let Some(kind) = kind {
            link = link.message(4, &attribute("lprof.link", &Said::from(kind)));
        }
        message = message.message(13, &link);
    }
    message
}

fn attribute(name: &str, value: &Said) -> Message {
    let of = match value {
        Said::Number(number) => Message::default().number(3, number.cast_unsigned()),
        Said::Text(text) => Message::default().text(1, text),
    };
    Message::default().text(1, name).message(2, &of)
}

/// The bytes of an id of hex digits.
fn id_bytes(id: &str) -> Vec<u8> {
    let digit = |at: usize| id.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
    (0..id.len() / 2).map(|pair| digit(2 * pair).unwrap_or(0)).collect()
}
