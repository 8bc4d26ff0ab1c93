//! Jaeger's JSON, as its query service and its page give it: `{"data": [trace, ...]}`, or one
//! trace, `{"traceID": .., "spans": [..], "processes": {..}}`. Times are microseconds.

use serde_json::Value;

use super::{Fault, Found, number, operation, text};
use crate::export::{REQUEST_TYPE, SCOPE};
use crate::request::trace::Wait;

/// The spans of a document; none: it is not Jaeger's.
pub(super) fn spans(document: &Value) -> Option<Vec<Result<Found, Fault>>> {
    let one = std::slice::from_ref(document);
    let traces = document["data"].as_array().map_or(one, Vec::as_slice);
    let mut found = Vec::new();
    for trace in traces {
        let spans = trace["spans"].as_array()?;
        found.extend(spans.iter().map(|span| read(trace, span)));
    }
    Some(found)
}

fn read(trace: &Value, span: &Value) -> Result<Found, Fault> {
    let id = text(span, "spanID")?;
    let of_trace = text(span, "traceID").or_else(|_| text(trace, "traceID"))?;
    let process = span["processID"].as_str().map_or(&span["process"], |id| &trace["processes"][id]);
    let name = text(span, "operationName")?;
    let tag = |key: &str| {
        let mut tags = span["tags"].as_array().into_iter().flatten();
        tags.find(|tag| tag["key"] == key)?["value"].as_str()
    };
    let is_ours = tag("otel.scope.name") == Some(SCOPE);
    let operation = operation(process["serviceName"].as_str(), name, is_ours);
    let request_type = tag(REQUEST_TYPE).filter(|_| is_ours).map(str::to_owned);
    let (start_us, duration_us) = (number(span, "startTime")?, number(span, "duration")?);
    let (parent, follows) = parent(span, &of_trace);
    let consumes = tag("span.kind") == Some("consumer");
    let wait = if follows || consumes { Wait::Nobody } else { Wait::Within };
    let end_us = start_us.saturating_add(duration_us);
    Ok(Found { trace: of_trace, id, parent, operation, request_type, wait, start_us, end_us })
}

/// Of several references the first to the parent, else the first to whom it follows; whether
/// it is the latter.
fn parent(span: &Value, trace: &str) -> (Option<String>, bool) {
    let references = || {
        let all = span["references"].as_array().into_iter().flatten();
        all.filter(|reference| reference["traceID"].as_str().is_none_or(|id| id == trace))
    };
    let first = |kind: &str| {
        let of_kind = references().find(|reference| reference["refType"] == kind)?;
        of_kind["spanID"].as_str().map(str::to_owned)
    };
    let older = || span["parentSpanID"].as_str().filter(|id| !id.is_empty() && *id != "0");
    match first("CHILD_OF").or_else(|| older().map(str::to_owned)) {
        Some(parent) => (Some(parent), false),
        None => (first("FOLLOWS_FROM"), true),
    }
}
