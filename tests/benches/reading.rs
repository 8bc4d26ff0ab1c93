//! How long it takes to show one request of many, to show the overview of all in the server's page
//! and to export them, and how much memory the server needs.
//!
//! `LPROF_BENCH_REQUESTS=1000000 cargo bench --profile test --bench reading` takes a million requests;
//! without it, it is a fiftieth of that. Commands are run as they are, start included. `LPROF_BENCH_TABLE`
//! names a folder in which the table is kept, or is already; `LPROF_BENCH_COMMAND` another `lprof`.

#[path = "../support/many_requests.rs"]
mod many_requests;
#[cfg(feature = "serve")]
#[path = "reading/server.rs"]
mod server;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Requests that are shown, one after the other.
const SHOWN: u64 = 200;
/// Requests that are exported.
const EXPORTED_MAX: u64 = 1_000_000;

fn main() {
    let n_requests =
        std::env::var("LPROF_BENCH_REQUESTS").map_or(20_000, |n| n.parse().expect("a whole number"));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let table = std::env::var_os("LPROF_BENCH_TABLE").map_or_else(|| folder.path().join("t"), PathBuf::from);
    if !table.exists() {
        let took = time(|| many_requests::make(&table, n_requests));
        say(&format!("{n_requests} requests, made in {:.1} s", took.as_secs_f64()));
    }
    let read = lprof::Table::open(&table).expect("a table");
    let n_requests = read.n_requests();
    // From all over the table, in no order of its files.
    let number = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15) % n_requests;
    let ids: Vec<String> = (0..SHOWN).map(|n| many_requests::id(number(n))).collect();
    let of_library = ids.iter().map(|id| time(|| drop(read.request(id).expect("a request"))));
    figures("a request, by the library", of_library.collect());
    let of_command = ids.iter().map(|id| time(|| lprof(&["show", "request", id, "--table"], &table)));
    figures("show request", of_command.collect());
    for format in ["jaeger", "perfetto"].into_iter().filter(|_| n_requests <= EXPORTED_MAX) {
        let took = time(|| lprof(&["export", "--format", format, "--table"], &table));
        say(&format!("export to {format}, all: {:.2} s", took.as_secs_f64()));
    }
    #[cfg(feature = "serve")]
    server::measure(&table, &ids);
}

/// The command that is measured.
fn command() -> Command {
    Command::new(
        std::env::var_os("LPROF_BENCH_COMMAND").unwrap_or_else(|| env!("CARGO_BIN_EXE_lprof").into()),
    )
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

/// The first one is told apart: what it reads may not be in memory yet.
fn figures(name: &str, mut took: Vec<Duration>) {
    let ms = |took: Duration| took.as_secs_f64() * 1e3;
    let first = ms(took.remove(0));
    took.sort();
    let at = |at: usize| ms(took[at.min(took.len() - 1)]);
    let (p50, p99) = (at(took.len() / 2), at(took.len() * 99 / 100));
    let n = took.len();
    say(&format!("{name:<32} first {first:>7.1} ms  p50 {p50:>7.1} ms  p99 {p99:>7.1} ms  of {n}"));
}

fn lprof(arguments: &[&str], table: &Path) {
    let status = command().args(arguments).arg(table).stdout(Stdio::null()).status().expect("lprof starts");
    assert!(status.success(), "{arguments:?}");
}
