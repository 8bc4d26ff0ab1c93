//! Exports of the sample, read back: traces of lprof's own say in every layer what its table says.

#[path = "support/command.rs"]
mod command;
#[path = "support/sample.rs"]
mod sample;

use command::{done, fails};

/// The metrics of a layer, of a table or of traces.
fn layer(number: &str, source: &[&str]) -> String {
    let arguments = [&["profile", "--layer", number, "--no-regions", "--format", "csv"], source].concat();
    done(&arguments)
}

#[test]
fn layers_of_exports_are_those_of_the_table() {
    let (folder, table) = sample::table("java17");
    let expected: Vec<String> = ["1", "2", "3", "4"].map(|n| layer(n, &["--table", &table])).into();
    assert!(expected.iter().all(|layer| layer.lines().count() > 5), "the sample has operations");
    for format in ["jaeger", "otlp", "zipkin"] {
        let path = folder.path().join(format!("{format}.json")).display().to_string();
        done(&["export", "--table", &table, "--format", format, "-o", &path]);
        for (number, expected) in ["1", "2", "3", "4"].iter().zip(&expected) {
            assert_eq!(&layer(number, &["--traces", &path]), expected, "{format}, layer {number}");
        }
    }
}

#[test]
fn one_request_is_exported_to_a_pipe() {
    let (_folder, table) = sample::table("java8");
    for format in ["jaeger", "otlp", "zipkin", "chrome"] {
        let all = done(&["export", "--table", &table, "--format", format]);
        let id = "02cfa491850e18db33d71e339787f553";
        let one = done(&["export", "--table", &table, "--format", format, "--request", &id[..12]]);
        assert!(one.contains(id) && one.len() < all.len() / 10, "{format}");
        serde_json::from_str::<serde_json::Value>(&one).expect("JSON");
    }
    fails(1, &["export", "--table", &table, "--format", "otlp", "--request", "zz"], "no request of this id");
    fails(1, &["export", "--table", &table, "--format", "otlp", "--request", ""], "begins several ids");
    fails(2, &["export", "--table", &table, "--format", "svg"], "svg");
}

#[test]
fn what_a_log_says_is_exported_on_demand() {
    let (_folder, table) = sample::table("java8");
    let plain = done(&["export", "--table", &table, "--format", "jaeger", "--request", "02cfa491850e"]);
    let with =
        done(&["export", "--table", &table, "--format", "jaeger", "--request", "02cfa491850e", "--text"]);
    // By templates always; lines of logs have a time.
    let message = "\"Receiving block-";
    assert!(plain.contains(message) && with.contains(message), "{plain}");
    let original = "\"log.record.original\",\"type\":\"string\",\"value\":\"2026-";
    assert!(!plain.contains("log.record.original") && with.contains(original), "{with}");
}
