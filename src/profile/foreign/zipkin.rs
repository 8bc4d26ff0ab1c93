//! Zipkin's JSON of version 2: an array of spans, or of traces, which are arrays of spans.
//! Times are microseconds. The two sides of a call can share one id: then the server's side
//! is a child of the client's, and what names that id as parent is of the server's.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Fault, Found, number, operation, text};
use crate::export::{DURATION, REQUEST_TYPE, SCOPE};
use crate::request::trace::Wait;

/// The spans of a document; none: it is not Zipkin's.
pub(super) fn spans(document: &Value) -> Option<Vec<Result<Found, Fault>>> {
    let items = document.as_array()?;
    let is_span = |item: &&Value| item["traceId"].is_string();
    let spans: Vec<&Value> = if items.iter().all(Value::is_array) {
        items.iter().filter_map(Value::as_array).flatten().collect()
    } else {
        items.iter().collect()
    };
    if !spans.iter().all(is_span) {
        return None;
    }
    let key =
        |span: &Value, id: &str| Some((span["traceId"].as_str()?.to_owned(), span[id].as_str()?.to_owned()));
    let is_shared = |span: &&&Value| span["shared"] == true;
    let shared: BTreeSet<(String, String)> =
        spans.iter().filter(is_shared).filter_map(|span| key(span, "id")).collect();
    let clients: BTreeSet<(String, String)> =
        spans.iter().filter(|span| !is_shared(span)).filter_map(|span| key(span, "id")).collect();
    let has = |set: &BTreeSet<_>, span: &Value, id: &str| key(span, id).is_some_and(|key| set.contains(&key));
    let read = |span: &&Value| {
        let mut found = read(span)?;
        if has(&shared, span, "parentId") {
            found.parent = found.parent.map(|parent| server_side(&parent));
        }
        if is_shared(&span) {
            if has(&clients, span, "id") {
                found.parent = Some(found.id.clone());
            }
            found.id = server_side(&found.id);
        }
        Ok(found)
    };
    Some(spans.iter().map(read).collect())
}

fn server_side(id: &str) -> String {
    format!("{id}/server")
}

fn read(span: &Value) -> Result<Found, Fault> {
    let name = text(span, "name").or_else(|_| text(span, "kind")).unwrap_or_else(|_| "unknown".to_owned());
    let start_us = number(span, "timestamp")?;
    // What was not finished has no duration.
    let tag = |key: &str| span["tags"][key].as_str();
    let is_ours = tag("otel.scope.name") == Some(SCOPE);
    let lasts_no_time = is_ours && tag(DURATION) == Some("0");
    let duration_us = if lasts_no_time { 0 } else { number(span, "duration").unwrap_or(0) };
    let end_us = start_us.saturating_add(duration_us);
    let service = span["localEndpoint"]["serviceName"].as_str();
    Ok(Found {
        trace: text(span, "traceId")?,
        id: text(span, "id")?,
        parent: text(span, "parentId").ok(),
        operation: operation(service, name, is_ours),
        request_type: tag(REQUEST_TYPE).filter(|_| is_ours).map(str::to_owned),
        wait: if span["kind"] == "CONSUMER" { Wait::Nobody } else { Wait::Within },
        start_us,
        end_us,
    })
}
