//! A table whose names, values and logs are markup, colours for terminals and marks that turn text.

use reducer::table::{Addition, Writer};
use schema::tables::{EventRow, NameValue, NodeTime, RequestNodeRow, RequestRow, SpanRow, Text, Time};

/// What logs can say.
pub(crate) const TEXTS: [&str; 18] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "'><img src=x onerror='alert(1)'>",
    "<svg/onload=alert(1)>",
    "<svg><animate onbegin=alert(1) attributeName=x dur=1s>",
    "</td></tr></table><iframe src=\"javascript:alert(1)\">",
    "<a href=\"javascript:alert(1)\">a</a>",
    "</script><script>alert(1)</script><!--",
    "<style>*{background:url(//evil.example)}</style>",
    "<meta http-equiv=refresh content=\"0;url=//evil.example\">",
    "${alert(1)} {{constructor.constructor('alert(1)')()}}",
    "a\u{1b}[2J\u{1b}]0;title\u{7}\u{1b}]8;;http://evil.example\u{1b}\\b",
    "\u{9b}31m\u{90}q\u{9c}",
    "\u{202e}txt.exe",
    "\u{2066}a\u{2069}\u{200b}\u{feff}",
    "line\rover the line\u{8}\u{8}",
    "' OR 1=1; DROP TABLE requests --",
    "=HYPERLINK(\"http://evil.example\";\"a\")",
];

/// One in which every text is one of those, a request each, and so is what its log says.
pub(crate) fn table() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let table = folder.path().join("t");
    let mut addition = Addition::default();
    for (number, text) in (0_i64..).zip(TEXTS) {
        let log = folder.path().join(format!("<b>{number}.log"));
        std::fs::write(&log, format!("{text}\n")).expect("a log");
        add(&mut addition, number, text, &log.display().to_string());
    }
    Writer::open(&table).expect("a table").commit(&addition).expect("a table");
    (folder, table.display().to_string())
}

fn add(addition: &mut Addition, number: i64, text: &str, log: &str) {
    let (id, text) = (Text::from(format!("{number:032x}")), Text::from(text));
    let value = NameValue { name: text.clone(), value: text.clone() };
    let time = Time(1_000_000 * number);
    addition.rows.requests.push(RequestRow {
        request_id: id.clone(),
        request_type: text.clone(),
        start_ts: time,
        end_ts: time,
        n_nodes: 1,
        n_spans: 1,
        n_events: 1,
        log_sequence_id: text.clone(),
        nodes: vec![NodeTime { node: text.clone(), start_ts: time, end_ts: time }],
        identifiers: vec![value.clone()],
        ..RequestRow::default()
    });
    addition.rows.request_nodes.push(RequestNodeRow {
        request_id: id.clone(),
        node: text.clone(),
        n_events: 1,
        start_ts: time,
        end_ts: time,
    });
    addition.rows.spans.push(SpanRow {
        request_id: id.clone(),
        span_id: format!("{number:016x}").into(),
        node: text.clone(),
        thread: Some(text.clone()),
        top_level_method: text.clone(),
        start_ts: time,
        end_ts: time,
        n_events: 1,
        ..SpanRow::default()
    });
    addition.rows.events.push(EventRow {
        request_id: Some(id),
        span_id: Some(format!("{number:016x}").into()),
        node: text.clone(),
        file: log.into(),
        n_lines: 1,
        line: 1,
        level: Some(text.clone()),
        class: Some(text.clone()),
        method: Some(text.clone()),
        values: vec![value],
        ts: time,
        ..EventRow::default()
    });
}
