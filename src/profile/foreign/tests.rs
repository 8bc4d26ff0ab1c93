//! One trace in each of the formats, which have to give the same.

use std::path::PathBuf;

use super::read;
use crate::profile::groups::Groups;
use crate::profile::layers::{Metric, path};

/// Three files of one trace: a server that asks another one, which hands a message over.
const JAEGER: &str = r#"{"data": [{"traceID": "t1", "processes": {"p1": {"serviceName": "web"}, "p2": {"serviceName": "store"}},
  "spans": [
    {"traceID": "t1", "spanID": "a", "operationName": "GET /", "processID": "p1", "startTime": 1000, "duration": 100, "references": []},
    {"traceID": "t1", "spanID": "b", "operationName": "get", "processID": "p2", "startTime": 1020, "duration": 50,
     "references": [{"refType": "FOLLOWS_FROM", "traceID": "t1", "spanID": "x"}, {"refType": "CHILD_OF", "traceID": "t1", "spanID": "a"}]},
    {"traceID": "t1", "spanID": "c", "operationName": "note", "processID": "p2", "startTime": 1200, "duration": 7,
     "references": [{"refType": "FOLLOWS_FROM", "traceID": "t1", "spanID": "b"}]}]}]}"#;

const OTLP: &str = r#"{"resourceSpans": [{"resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "web"}}]},
  "scopeSpans": [{"spans": [{"traceId": "t1", "spanId": "a", "name": "GET /", "kind": 2, "startTimeUnixNano": "1000000", "endTimeUnixNano": "1100999"}]}]}]}
{"resourceSpans": [{"resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "store"}}]},
  "scopeSpans": [{"spans": [
    {"traceId": "t1", "spanId": "c", "parentSpanId": "b", "name": "note", "kind": 5, "startTimeUnixNano": 1200000, "endTimeUnixNano": 1207000},
    {"traceId": "t1", "spanId": "b", "parentSpanId": "a", "name": "get", "kind": 3, "startTimeUnixNano": "1020000", "endTimeUnixNano": "1070000"}]}]}]}"#;

const ZIPKIN: &str = r#"[[
  {"traceId": "t1", "id": "a", "name": "GET /", "kind": "SERVER", "timestamp": 1000, "duration": 100, "localEndpoint": {"serviceName": "web"}},
  {"traceId": "t1", "id": "b", "parentId": "a", "name": "get", "kind": "CLIENT", "timestamp": 1020, "duration": 50, "localEndpoint": {"serviceName": "store"}},
  {"traceId": "t1", "id": "c", "parentId": "b", "name": "note", "kind": "CONSUMER", "timestamp": 1200, "duration": 7, "localEndpoint": {"serviceName": "store"}}]]"#;

fn groups(texts: &[&str]) -> Result<(Groups, Vec<String>), String> {
    let folder =
        std::env::temp_dir().join(format!("traces-{}-{:?}", std::process::id(), std::thread::current().id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let files: Vec<PathBuf> = (0..texts.len()).map(|n| folder.join(format!("{n}.json"))).collect();
    files.iter().zip(texts).for_each(|(file, text)| std::fs::write(file, text).expect("a file"));
    let found = read(&files).map_err(|error| format!("{error:#}"));
    std::fs::remove_dir_all(&folder).expect("the folder was made");
    found
}

/// The path of a span, and how long it is, is itself, and was handed over.
type Shown = (String, Option<i64>, Option<i64>, Option<i64>);

fn shown(groups: &Groups) -> Vec<Shown> {
    let mut all = Vec::new();
    for (number, group) in (0..).zip(&groups.groups) {
        for place in 0..group.places.len() as u32 {
            let us = |metric| {
                let mut found = None;
                groups.each((number, place), metric, |_, us| found = Some(us));
                found
            };
            let own = us(Metric::OperationSelf);
            all.push((path(groups, (number, place)), us(Metric::Operation), own, us(Metric::HandOver)));
        }
    }
    all
}

#[track_caller]
fn check(text: &str) {
    let (groups, warnings) = groups(&[text]).expect("a trace");
    let (root, get, note) = ("web: GET /", "store: get", "store: note");
    assert_eq!(
        shown(&groups),
        [
            (root.to_owned(), Some(100), Some(50), None),
            (format!("{root} > {get}"), Some(50), Some(50), None),
            (format!("{root} > {get} > {note}"), Some(7), Some(7), Some(130)),
        ]
    );
    assert_eq!((groups.requests.id(0), groups.requests.durations_us[0]), ("t1", 207));
    assert_eq!(groups.names.name(groups.groups[0].request_type), root);
    assert_eq!((groups.repairs.sentence(), warnings), (None, Vec::new()));
}

#[test]
fn one_trace_in_three_formats() {
    [JAEGER, OTLP, ZIPKIN].into_iter().for_each(check);
}

#[test]
fn both_sides_of_a_call_can_share_an_id() {
    let (groups, _) = groups(&[r#"[
      {"traceId": "t", "id": "a", "name": "call", "kind": "CLIENT", "timestamp": 10, "duration": 50, "localEndpoint": {"serviceName": "web"}},
      {"traceId": "t", "id": "a", "name": "call", "kind": "SERVER", "shared": true, "timestamp": 20, "duration": 30, "localEndpoint": {"serviceName": "store"}},
      {"traceId": "t", "id": "b", "parentId": "a", "name": "sql", "timestamp": 25, "duration": 5, "localEndpoint": {"serviceName": "store"}}]"#])
    .expect("a trace");
    let last = shown(&groups).pop().expect("three spans");
    assert_eq!(last, ("web: call > store: call > store: sql".to_owned(), Some(5), Some(5), None));
}

#[test]
fn what_is_no_trace_is_named_with_its_place() {
    for (text, expected) in [
        ("", "the file is empty"),
        ("{\"a\": 1}", "0.json`: what begins at byte 0 is no trace of Jaeger, OTLP or Zipkin"),
        ("[]\n[1]", "0.json`: what begins at byte 2 is no trace"),
        ("{\"data\": [", "0.json`, after byte 0: EOF while parsing"),
        ("\u{1}", "expected value at line 1 column 1"),
    ] {
        let error = groups(&[text]).expect_err(text);
        assert!(error.contains(expected), "expected {expected}\ngot      {error}");
    }
}

#[test]
fn spans_without_times_are_left_out_and_counted() {
    let (groups, warnings) =
        groups(&[r#"{"traceID": "t", "spans": [{"spanID": "a", "operationName": "x"}, {"spanID": "b", "operationName": "y", "startTime": 1, "duration": 2}]}"#])
            .expect("a trace");
    assert_eq!((groups.requests.len(), groups.names.name(groups.groups[0].request_type)), (1, "y"));
    assert!(warnings[0].ends_with("1 spans left out, the first one has no `startTime`"), "{warnings:?}");
}
