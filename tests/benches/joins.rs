//! How long joins by request take on a table that is made here, beside the join of the same
//! rows by the request's id alone, which orders nothing. Each question is asked of the
//! command itself, start included; the quickest of three counts.
//!
//! `LPROF_BENCH_REQUESTS=1000000 LPROF_BENCH_EVENTS=10 cargo bench --profile test --bench joins`
//! takes 10 million events in a million requests; without these it is a hundredth of that.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use reducer::table::{Addition, Writer};
use schema::happened_before::{Hop, Label, Stretch};
use schema::tables::{EventRow, PositionRow, SharedBytes, Text, Time, request_key};

/// Requests of one file.
const REQUESTS_OF_FILE: u64 = 50_000;
/// How often each question is asked.
const RUNS: usize = 3;

fn main() {
    let number = |name: &str, default: u64| {
        std::env::var(name).map_or(default, |text| text.parse().expect("a whole number"))
    };
    let (n_requests, n_events) = (number("LPROF_BENCH_REQUESTS", 10_000), number("LPROF_BENCH_EVENTS", 10));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let table = folder.path().join("t");
    let start = Instant::now();
    make(&table, n_requests, u32::try_from(n_events.max(2)).expect("events of a request"));
    say(&format!(
        "{n_requests} requests of {n_events} events, made in {:.1} s",
        start.elapsed().as_secs_f64()
    ));
    let by_id = ask(&table, "by request, no order", "a.request_id = b.request_id");
    for (name, condition) in [
        ("happened before", "happened_before(a.position, b.position)"),
        ("first", "first(a.position, b.position)"),
        ("most recent", "mostrecent(a.position, b.position)"),
    ] {
        let took = ask(&table, name, condition);
        say(&format!(
            "{:>33} times that of no order",
            format!("{:.2}", took.as_secs_f64() / by_id.as_secs_f64())
        ));
    }
}

#[expect(clippy::print_stdout, reason = "figures are what this is for")]
fn say(text: &str) {
    println!("{text}");
}

/// The quickest of some runs of the join on `condition`, grouped by node.
fn ask(table: &Path, name: &str, condition: &str) -> Duration {
    let side =
        |point: u32| format!("(SELECT request_id, position, node FROM events WHERE log_point_id = {point})");
    let sql = format!(
        "SELECT b.node, count(*) AS n FROM {} a JOIN {} b ON {condition} GROUP BY b.node ORDER BY b.node",
        side(0),
        side(1)
    );
    let mut quickest = Duration::MAX;
    let mut found = String::new();
    for _ in 0..RUNS {
        let start = Instant::now();
        let mut command = Command::new(env!("CARGO_BIN_EXE_lprof"));
        let output = command.args(["sql", "--table"]).arg(table).arg(&sql).output().expect("lprof starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        quickest = quickest.min(start.elapsed());
        found = String::from_utf8_lossy(&output.stdout).trim().replace('\n', " ");
    }
    say(&format!("{name:<22} {:>8.2} s   {found}", quickest.as_secs_f64()));
    quickest
}

/// Requests of two spans on two nodes, each with half of the events; the first hands over
/// after a fifth of all. Two of five events of the first are of log point 0, two of five of
/// the second are of log point 1.
fn make(table: &Path, n_requests: u64, n_events: u32) {
    let mut writer = Writer::open(table).expect("a table");
    let mut from = 0;
    while from < n_requests {
        let until = n_requests.min(from + REQUESTS_OF_FILE);
        let events = (from..until).flat_map(|request| events(request, n_events)).collect();
        let mut addition = Addition::default();
        addition.rows.events = events;
        writer.commit(&addition).expect("a table");
        from = until;
    }
}

fn events(request: u64, n_events: u32) -> Vec<EventRow> {
    // Ids look random, as those of real requests do, and are those of this number alone.
    let high = u128::from(request.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let id = (high << 64) | u128::from(request);
    let request_id = Text::from(format!("{id:032x}"));
    let root = Hop { span: 0, before: None, after: None };
    let child = Hop { span: 1, before: Some(n_events / 5), after: None };
    let start_us = i64::try_from(request % 80_000_000).expect("a day") * 1_000;
    let (n_first, mut out) = (n_events / 2, Vec::new());
    for (node, path, n) in [(0_u32, vec![root], n_first), (1, vec![root, child], n_events - n_first)] {
        let label = Label { request: request_key(id), node, path, bounds_us: Vec::new() };
        let label = SharedBytes(label.encode().into());
        let node_name = Text::from(format!("n{}", (request + u64::from(node)) % 8));
        let span_id = Text::from(format!("{:016x}", request * 2 + u64::from(node)));
        for at in 0..n {
            let us = start_us + i64::from(at);
            let stretch = Stretch { first: at, last: at, start_us: us, end_us: us };
            let position = Some(PositionRow::new(request_key(id), &label, stretch, start_us));
            let point = if at % 5 < 2 { i64::from(node) } else { 2 };
            out.push(event(&request_id, &span_id, &node_name, (at, us), point, position));
        }
    }
    out
}

fn event(
    request_id: &Text,
    span_id: &Text,
    node: &Text,
    (seq, us): (u32, i64),
    point: i64,
    position: Option<PositionRow>,
) -> EventRow {
    EventRow {
        request_id: Some(request_id.clone()),
        span_id: Some(span_id.clone()),
        seq: i64::from(seq),
        node: node.clone(),
        ts: Time(us),
        log_point_id: Some(point),
        position,
        ..EventRow::default()
    }
}
