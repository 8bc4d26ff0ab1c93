//! Traces of a small request in each format, read back as what the formats say.

use schema::tables::{EventRow, HandOver, NameValue, RequestRow, SpanRow, Text, Time};
use serde_json::Value;

use super::{TraceFormat, export};
use crate::request::Request;

/// A request on two nodes: a span that asks another one and waits, and one for which nobody
/// waits, handed over by both.
fn request() -> Request {
    let span = |id: &str, parent: Option<&str>, node: &str, us: (i64, i64), after| SpanRow {
        span_id: id.into(),
        parent_span_id: parent.map(Text::from),
        node: node.into(),
        thread: (node == "a").then(|| "worker <1>".into()),
        top_level_method: format!("C.{id}").into(),
        start_ts: Time(us.0),
        end_ts: Time(us.1),
        n_events: 1,
        parent_after: after,
        ..SpanRow::default()
    };
    let mut last = span("000000000000000c", Some("000000000000000b"), "a", (1_300, 1_300), None);
    let over = |id: &str| HandOver {
        span_id: id.into(),
        link: Some("queue".into()),
        reason: "pair".into(),
        probability: None,
    };
    last.hand_overs = Some(vec![over("000000000000000b"), over("000000000000000a")]);
    let spans = vec![
        span("000000000000000a", None, "a", (1_000, 1_500), None),
        // Waited for, and past the end of its parent by its clock.
        span("000000000000000b", Some("000000000000000a"), "b", (1_100, 1_600), Some(0)),
        last,
    ];
    let event = EventRow {
        span_id: Some("000000000000000b".into()),
        node: "b".into(),
        file: "b.log".into(),
        line: 7,
        ts: Time(1_150),
        class: Some("x.Y$Z".into()),
        method: Some("m".into()),
        source_line: Some(3),
        values: vec![NameValue { name: "Block.id".into(), value: "<b>\u{1b}".into() }],
        ..EventRow::default()
    };
    let row = RequestRow {
        request_id: "000000000000000000000000000000ff".into(),
        request_type: "C.root".into(),
        ..RequestRow::default()
    };
    Request::new(row, spans, vec![event])
}

fn written(format: TraceFormat, n: usize) -> Vec<u8> {
    let mut out = Vec::new();
    let requests = (0..n).map(|_| Ok(request()));
    assert_eq!(export(requests, format, None, &mut out).expect("memory does not fail"), n as u64);
    out
}

fn json(format: TraceFormat) -> Value {
    serde_json::from_slice(&written(format, 1)).expect("JSON")
}

#[test]
fn none_and_several_are_whole_documents() {
    for format in [TraceFormat::Jaeger, TraceFormat::Zipkin, TraceFormat::Chrome] {
        for n in [0, 1, 3] {
            let document: Value = serde_json::from_slice(&written(format, n)).expect("JSON");
            let list = [&document["data"], &document["traceEvents"], &document];
            assert!(
                list.iter().any(|list| list.as_array().is_some_and(|list| list.len() >= n)),
                "{format:?}"
            );
        }
    }
    let lines = String::from_utf8(written(TraceFormat::Otlp, 3)).expect("UTF-8");
    assert_eq!(lines.lines().filter(|line| serde_json::from_str::<Value>(line).is_ok()).count(), 3);
}

#[test]
fn jaeger_has_processes_references_and_logs() {
    let trace = &json(TraceFormat::Jaeger)["data"][0];
    assert_eq!(trace["processes"]["p2"]["serviceName"], "b");
    let spans = trace["spans"].as_array().expect("spans");
    let reference = |span: usize, at: usize| {
        let of = &spans[span]["references"][at];
        (of["refType"].as_str().expect("a kind"), of["spanID"].as_str().expect("a span"))
    };
    assert_eq!(reference(1, 0), ("CHILD_OF", "000000000000000a"));
    assert_eq!(reference(2, 0), ("FOLLOWS_FROM", "000000000000000b"));
    assert_eq!(reference(2, 1), ("FOLLOWS_FROM", "000000000000000a"));
    // By its clock the child ends after its parent, which goes on after it.
    assert_eq!((&spans[0]["startTime"], &spans[0]["duration"]), (&1_000.into(), &500.into()));
    assert_eq!((&spans[1]["startTime"], &spans[1]["duration"]), (&1_100.into(), &400.into()));
    let fields = spans[1]["logs"][0]["fields"].as_array().expect("fields");
    let field = |key: &str| &fields.iter().find(|field| field["key"] == key).expect("a field")["value"];
    assert_eq!((field("event"), field("lprof.value.Block.id")), (&"Z.m:3".into(), &"<b>\u{1b}".into()));
}

#[test]
fn otlp_has_resources_events_and_links() {
    let document = json(TraceFormat::Otlp);
    let service = |at: usize| {
        document["resourceSpans"][at]["resource"]["attributes"][0]["value"]["stringValue"].clone()
    };
    assert_eq!([service(0), service(1)], ["a", "b"]);
    let of_a = &document["resourceSpans"][0]["scopeSpans"][0];
    assert_eq!(of_a["scope"]["name"], "lprof");
    let last = &of_a["spans"][1];
    assert_eq!((&last["kind"], &last["parentSpanId"]), (&5.into(), &"000000000000000b".into()));
    assert_eq!(last["links"][0]["spanId"], "000000000000000a");
    assert_eq!(last["startTimeUnixNano"], "1300000");
    let event = &document["resourceSpans"][1]["scopeSpans"][0]["spans"][0]["events"][0];
    assert_eq!((&event["name"], &event["timeUnixNano"]), (&"Z.m:3".into(), &"1150000".into()));
}

#[test]
fn zipkin_rounds_up_what_lasts_no_time() {
    let document = json(TraceFormat::Zipkin);
    let last = &document[2];
    assert_eq!((&last["duration"], &last["tags"]["lprof.duration_us"]), (&1.into(), &"0".into()));
    assert_eq!((&last["kind"], &last["localEndpoint"]["serviceName"]), (&"CONSUMER".into(), &"a".into()));
    assert!(last["tags"].as_object().is_some_and(|tags| tags.values().all(Value::is_string)));
}

#[test]
fn chrome_has_threads_and_flows() {
    let document = json(TraceFormat::Chrome);
    let events = document["traceEvents"].as_array().expect("events");
    let count = |phase: &str| events.iter().filter(|event| event["ph"] == phase).count();
    // Two nodes and a thread; two spans in it, one without; three hand-overs.
    assert_eq!(["M", "X", "b", "e", "s", "f", "i"].map(count), [3, 2, 1, 1, 3, 3, 1]);
}
