//! Jaeger's JSON: `{"data": [trace, ...]}`. A process is a node.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use super::{SCOPE, Said, View, Writer, event_name, item};

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
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Trace {
    #[serde(rename = "traceID")]
    trace_id: String,
    spans: Vec<Span>,
    processes: BTreeMap<String, Process>,
    /// Always null.
    warnings: Option<Vec<String>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Span {
    #[serde(rename = "traceID")]
    trace_id: String,
    #[serde(rename = "spanID")]
    span_id: String,
    flags: u32,
    operation_name: String,
    references: Vec<Reference>,
    start_time: i64,
    duration: i64,
    tags: Vec<Tag>,
    logs: Vec<Log>,
    #[serde(rename = "processID")]
    process_id: String,
    /// Always null.
    warnings: Option<Vec<String>>,
}

#[derive(Debug, Serialize)]
struct Process {
    #[serde(rename = "serviceName")]
    service_name: String,
    tags: Vec<Tag>,
}

#[derive(Debug, Serialize)]
struct Reference {
    #[serde(rename = "refType")]
    kind: &'static str,
    #[serde(rename = "traceID")]
    trace_id: String,
    #[serde(rename = "spanID")]
    span_id: String,
}

#[derive(Debug, Serialize)]
struct Log {
    timestamp: i64,
    fields: Vec<Tag>,
}

#[derive(Debug, Serialize)]
struct Tag {
    key: String,
    #[serde(rename = "type")]
    kind: &'static str,
    value: Said,
}

impl Trace {
    /// Whether one of its spans has all of these tags, itself or in a line that it printed.
    #[cfg(feature = "serve")]
    pub(crate) fn has_tags(&self, tags: &[(String, String)]) -> bool {
        self.spans.iter().any(|span| {
            let of_lines = || span.logs.iter().flat_map(|line| &line.fields);
            let has = |(name, value): &(String, String)| {
                span.tags.iter().chain(of_lines()).any(|tag| tag.key == *name && tag.value.is(value))
            };
            tags.iter().all(has)
        })
    }
}

/// A request as a trace.
pub(crate) fn trace(view: &mut View<'_>) -> Trace {
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
            Reference { kind, trace_id: trace_id.clone(), span_id: id.to_owned() }
        };
        let parent = view.parent(at).map(|(id, waits)| reference(id, waits));
        let links = view.links(at).map(|(id, _)| reference(id, false));
        let references = parent.into_iter().chain(links).collect();
        let mut tags = vec![tag("otel.scope.name", Said::from(SCOPE))];
        tags.extend(view.attributes(at).into_iter().map(|(name, value)| tag(name, value)));
        let mut logs = Vec::with_capacity(span.events.len());
        for event in &span.events {
            let mut fields = vec![tag("event", Said::Text(event_name(event)))];
            fields.extend(view.event_attributes(event).into_iter().map(|(name, value)| tag(name, value)));
            logs.push(Log { timestamp: event.ts.0, fields });
        }
        spans.push(Span {
            trace_id,
            span_id: span.row.span_id.to_string(),
            flags: 1,
            operation_name: span.row.top_level_method.to_string(),
            references,
            start_time: start_us,
            duration: end_us - start_us,
            tags,
            logs,
            process_id: process(&span.row.node),
            warnings: None,
        });
    }
    let of_node =
        |node: &&str| (process(node), Process { service_name: (*node).to_owned(), tags: Vec::new() });
    let processes = nodes.iter().map(of_node).collect();
    Trace { trace_id: view.trace_id().to_owned(), spans, processes, warnings: None }
}

fn tag(name: impl Into<String>, value: Said) -> Tag {
    let kind = if matches!(value, Said::Number(_)) { "int64" } else { "string" };
    Tag { key: name.into(), kind, value }
}

#[cfg(all(test, feature = "serve"))]
mod tests {
    use super::{Log, Said, Span, Trace, tag};

    #[test]
    fn all_tags_are_of_one_span() {
        let span = |tags, logs| Span {
            trace_id: String::new(),
            span_id: String::new(),
            flags: 1,
            operation_name: String::new(),
            references: Vec::new(),
            start_time: 0,
            duration: 0,
            tags,
            logs,
            process_id: String::new(),
            warnings: None,
        };
        let line = Log { timestamp: 0, fields: vec![tag("level", "WARN".into())] };
        let spans = vec![
            span(vec![tag("thread.name", "a".into())], vec![line]),
            span(vec![tag("thread.name", "b".into()), tag("n", Said::Number(5))], Vec::new()),
        ];
        let trace = Trace { trace_id: String::new(), spans, processes: Default::default(), warnings: None };
        for (asked, expected) in [
            (&[("thread.name", "a")] as &[(&str, &str)], true),
            (&[("thread.name", "a"), ("level", "WARN")], true),
            (&[("thread.name", "b"), ("level", "WARN")], false),
            (&[("n", "5")], true),
            (&[("n", "6")], false),
            (&[], true),
        ] {
            let tags: Vec<(String, String)> =
                asked.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            assert_eq!(trace.has_tags(&tags), expected, "{asked:?}");
        }
    }
}
