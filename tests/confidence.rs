//! Tables that are split at links of which lprof is not sure, on the sample.

#[path = "support/command.rs"]
mod command;

use std::collections::BTreeSet;

use command::{done, fails, samples};
use serde_json::Value;

/// A table of the sample, and its folder.
fn table() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let table = folder.path().join("t").display().to_string();
    let path = |name: &str| samples().join(name).display().to_string();
    done(&["run", "-q", "--table", &table, &path("classes/java8/store.jar"), &path("logs")]);
    (folder, table)
}

/// The ids of requests, and of the spans of all.
fn ids(table: &str, min: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let out = done(&["export", "-q", "--format", "otlp", "--table", table, "--min-confidence", min]);
    let mut ids = (BTreeSet::new(), BTreeSet::new());
    for line in out.lines() {
        let value: Value = serde_json::from_str(line).expect("JSON");
        collect(&value, "traceId", &mut ids.0);
        collect(&value, "spanId", &mut ids.1);
    }
    ids
}

fn collect(value: &Value, key: &str, into: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            into.extend(fields.get(key).and_then(Value::as_str).map(str::to_owned));
            fields.values().for_each(|value| collect(value, key, into));
        }
        Value::Array(items) => items.iter().for_each(|value| collect(value, key, into)),
        _ => {}
    }
}

#[test]
fn below_all_nothing_is_split_and_above_all_every_span_is_alone() {
    let (_folder, table) = table();
    let (requests, spans) = ids(&table, "0");
    assert!(requests.len() > 100 && spans.len() > requests.len());
    assert_eq!(ids(&table, "0.0001"), (requests.clone(), spans.clone()), "made, and as it was");
    let (alone, same) = ids(&table, "1.5");
    assert_eq!(same, spans, "nothing is lost");
    let begins: BTreeSet<String> = alone.iter().map(|id| id[..16].to_owned()).collect();
    assert_eq!(begins, spans, "each begins where its span does");
    assert!(requests.is_subset(&alone), "the part with the first span keeps the id");
}

#[test]
fn a_split_table_is_evaluated_and_shown_as_any_other() {
    let (_folder, table) = table();
    let truth = samples().join("expected/truth.tsv").display().to_string();
    let scores = |min: &str| -> Value {
        let args = ["evaluate", "--format", "json", "--table", &table, "--truth", &truth];
        let out = done(&[&args[..], &["-q", "--min-confidence", min]].concat());
        serde_json::from_str(&out).expect("JSON")
    };
    let (whole, alone) = (scores("0"), scores("2"));
    let bins = whole["reliability"]["links"].as_array().expect("a curve");
    let n: u64 = bins.iter().filter_map(|bin| bin["n"].as_u64()).sum();
    assert!(n > 0 && bins.iter().all(|bin| bin["said"].as_f64().is_some_and(|said| said <= 1.0)));
    assert_eq!(alone["links"]["in_table"]["n"], 0);
    assert_eq!(alone["reliability"], Value::Null, "there is no link");
    assert_eq!(whole["all"]["n_messages"], alone["all"]["n_messages"]);
    let (_, spans) = ids(&table, "0");
    for span in spans.iter().take(3) {
        let shown = done(&["show", "request", span, "--table", &table, "-q", "--min-confidence", "2"]);
        assert!(shown.contains("on 1 nodes, 1 spans"), "{shown}");
    }
}

#[test]
fn what_cannot_be_split_says_so() {
    let (folder, table) = table();
    let bare = folder.path().join("bare").display().to_string();
    let path = |name: &str| samples().join(name).display().to_string();
    let jar = path("classes/java8/store.jar");
    done(&["run", "-q", "--keep", "requests", "--table", &bare, &jar, &path("logs")]);
    let export = |table: &str, min: &str, expected: &str, code: i32| {
        fails(code, &["export", "--format", "otlp", "--table", table, "--min-confidence", min], expected);
    };
    export(&bare, "0.5", "keeps no spans", 1);
    export(&table, "much", "a number from 0 to 1", 2);
}
