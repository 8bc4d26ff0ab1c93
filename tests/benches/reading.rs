//! How long it takes to show one request of many, to show the overview of all in the server's page
//! and to export them, and how much memory the server needs.
//!
//! `LPROF_BENCH_REQUESTS=1000000 cargo bench --profile test --bench reading` takes a million requests;
//! without it, it is a fiftieth of that. Commands are run as they are, start included.

#[path = "../support/many_requests.rs"]
mod many_requests;
#[cfg(feature = "serve")]
#[path = "reading/server.rs"]
mod server;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Requests that are shown, one after the other.
const SHOWN: usize = 200;

fn main() {
    let n_requests =
        std::env::var("LPROF_BENCH_REQUESTS").map_or(20_000, |n| n.parse().expect("a whole number"));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let table = folder.path().join("t");
    let took = time(|| many_requests::make(&table, n_requests));
    let read = lprof::Table::open(&table).expect("a table");
    say(&format!("{n_requests} requests, made in {:.1} s", took.as_secs_f64()));
    let ids = ids(&read, n_requests);
    let of_library = ids.iter().map(|id| time(|| drop(read.request(id).expect("a request"))));
    figures("a request, by the library", of_library.collect());
    let of_command = ids.iter().map(|id| time(|| lprof(&["show", "request", id, "--table"], &table)));
    figures("show request", of_command.collect());
    for format in ["jaeger", "perfetto"] {
        let took = time(|| lprof(&["export", "--format", format, "--table"], &table));
        say(&format!("export to {format}, all: {:.2} s", took.as_secs_f64()));
    }
    #[cfg(feature = "serve")]
    server::measure(&table, &ids);
}

#[expect(clippy::print_stdout, reason = "figures are what this is for")]
fn say(text: &str) {
    println!("{text}");
}

fn time(run: impl FnOnce()) -> Duration {
    let start = Instant::now();
    run();
    start.elapsed()
}

fn figures(name: &str, mut took: Vec<Duration>) {
    took.sort();
    let ms = |at: usize| took[at.min(took.len() - 1)].as_secs_f64() * 1e3;
    let (p50, p99) = (ms(took.len() / 2), ms(took.len() * 99 / 100));
    say(&format!("{name:<32} p50 {p50:>7.1} ms  p99 {p99:>7.1} ms  of {}", took.len()));
}

/// Ids of requests from all over the table.
fn ids(table: &lprof::Table, n_requests: u64) -> Vec<String> {
    let every = (n_requests as usize / SHOWN).max(1);
    let requests = table.requests(&lprof::Filter::All).expect("a table");
    requests.step_by(every).map(|request| request.expect("a request").row().request_id.to_string()).collect()
}

fn lprof(arguments: &[&str], table: &Path) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lprof"));
    let status = command.args(arguments).arg(table).stdout(Stdio::null()).status().expect("lprof starts");
    assert!(status.success(), "{arguments:?}");
}
