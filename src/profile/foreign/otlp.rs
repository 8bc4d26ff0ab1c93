//! OpenTelemetry's OTLP JSON, as collectors write it to files: resources, scopes, spans.
//! Times are nanoseconds, in text.

use serde_json::Value;

use super::{Fault, Found, number, operation, text};
use crate::export::{REQUEST_TYPE, SCOPE};
use crate::request::trace::Wait;

/// The spans of a document; none: it is not OTLP.
pub(super) fn spans(document: &Value) -> Option<Vec<Result<Found, Fault>>> {
    let holder = if document["trace"].is_object() { &document["trace"] } else { document };
    let resources = holder["resourceSpans"].as_array().or_else(|| holder["batches"].as_array())?;
    let mut found = Vec::new();
    for resource in resources {
        let service = service(&resource["resource"]);
        let scopes = ["scopeSpans", "instrumentationLibrarySpans"].map(|name| resource[name].as_array());
        for scope in scopes.into_iter().flatten().flatten() {
            let is_ours = scope["scope"]["name"] == SCOPE;
            let spans = scope["spans"].as_array().into_iter().flatten();
            found.extend(spans.map(|span| read(service, is_ours, span)));
        }
    }
    Some(found)
}

fn service(resource: &Value) -> Option<&str> {
    attribute(resource, "service.name")
}

/// An attribute that is a text.
fn attribute<'v>(of: &'v Value, key: &str) -> Option<&'v str> {
    let mut attributes = of["attributes"].as_array()?.iter();
    attributes.find(|attribute| attribute["key"] == key)?["value"]["stringValue"].as_str()
}

fn read(service: Option<&str>, is_ours: bool, span: &Value) -> Result<Found, Fault> {
    let name = text(span, "name")?;
    let consumes = span["kind"] == 5 || span["kind"] == "SPAN_KIND_CONSUMER";
    Ok(Found {
        trace: text(span, "traceId")?,
        id: text(span, "spanId")?,
        parent: text(span, "parentSpanId").ok(),
        operation: operation(service, name, is_ours),
        request_type: attribute(span, REQUEST_TYPE).filter(|_| is_ours).map(str::to_owned),
        wait: if consumes { Wait::Nobody } else { Wait::Within },
        start_us: number(span, "startTimeUnixNano")? / 1_000,
        end_us: number(span, "endTimeUnixNano")? / 1_000,
    })
}
