//! Jaeger's JSON: `{"data": [trace, ...]}`. A process is a node.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use super::{SCOPE, View, Writer, event_name, item};

/// Being written.
pub(super) struct Jaeger;

impl Writer for Jaeger {
    fn begin(&self) -> &'static [u8] {
        b"{\"data\": ["
    }

    fn end(&self) -> &'static [u8] {
        b"\n]}\n"
    }

    fn request(&mut self, out: &mut dyn Write, view: &mut View<'_>, is_first: bool) -> io::Result<()> {
        item(out, is_first, &trace(view))
    }
}

/// A request as a trace.
pub(crate) fn trace(view: &mut View<'_>) -> Value {
    let request = view.request;
    let mut nodes: Vec<&str> = request.spans().iter().map(|span| &*span.row.node).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let process = |node: &str| format!("p{}", nodes.iter().position(|other| *other == node).unwrap_or(0) + 1);
    let mut spans = Vec::with_capacity(request.spans().len());
    for (at, span) in request.spans().iter().enumerate() {
        let (start_us, end_us) = request.times_us(at);
        let trace_id = view.trace_id().to_owned();
        let reference = |id: &str, waits| {
            let kind = if waits { "CHILD_OF" } else { "FOLLOWS_FROM" };
            json!({"refType": kind, "traceID": trace_id, "spanID": id})
        };
        let parent = view.parent(at).map(|(id, waits)| reference(id, waits));
        let links = view.links(at).map(|(id, _)| reference(id, false));
        let references: Vec<Value> = parent.into_iter().chain(links).collect();
        let mut tags = vec![tag("otel.scope.name", &json!(SCOPE))];
        tags.extend(view.attributes(at).iter().map(|(name, value)| tag(name, value)));
        let mut logs = Vec::with_capacity(span.events.len());
        for event in &span.events {
            let mut fields = vec![tag("event", &json!(event_name(event)))];
            fields.extend(view.event_attributes(event).iter().map(|(name, value)| tag(name, value)));
            logs.push(json!({"timestamp": event.ts.0, "fields": fields}));
        }
        spans.push(json!({
            "traceID": trace_id, "spanID": &*span.row.span_id, "flags": 1,
            "operationName": &*span.row.top_level_method, "references": references,
            "startTime": start_us, "duration": end_us - start_us, "tags": tags, "logs": logs,
            "processID": process(&span.row.node), "warnings": null,
        }));
    }
    let processes = nodes.iter().map(|node| (process(node), json!({"serviceName": node, "tags": []})));
    let processes: Map<String, Value> = processes.collect();
    json!({"traceID": view.trace_id(), "spans": spans, "processes": processes, "warnings": null})
}

fn tag(name: &str, value: &Value) -> Value {
    let kind = if value.is_number() { "int64" } else { "string" };
    json!({"key": name, "type": kind, "value": value})
}
