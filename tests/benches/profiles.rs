//! How long profiles of a table take that is made here, and how much memory they need: layers
//! without regions of code, and the report with them, each by the command itself, start
//! included. Requests have five spans and twelve events; one in twenty takes longer and asks
//! twice, and children run side by side in any order.
//!
//! `LPROF_BENCH_REQUESTS=1000000 cargo bench --profile test --no-default-features --bench profiles`
//! takes a million requests; without it, it is a fiftieth of that.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

#[path = "../support/many_requests.rs"]
mod many_requests;

use many_requests::make;

fn main() {
    let n_requests =
        std::env::var("LPROF_BENCH_REQUESTS").map_or(20_000, |n| n.parse().expect("a whole number"));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let table = folder.path().join("t");
    let start = Instant::now();
    make(&table, n_requests);
    say(&format!("{n_requests} requests, made in {:.1} s", start.elapsed().as_secs_f64()));
    ask(&table, "layer 1", &["--layer", "1", "--no-regions"]);
    ask(&table, "layer 2", &["--layer", "2", "--no-regions"]);
    ask(&table, "layer 3", &["--layer", "3", "--no-regions"]);
    ask(&table, "layer 4", &["--layer", "4", "--no-regions"]);
    ask(&table, "critical paths", &["--critical-path", "--no-regions"]);
    ask(&table, "report without regions", &["--no-regions"]);
    ask(&table, "report", &[]);
}

#[expect(clippy::print_stdout, reason = "figures are what this is for")]
fn say(text: &str) {
    println!("{text}");
}

fn ask(table: &Path, name: &str, arguments: &[&str]) {
    let start = Instant::now();
    let mut command = Command::new("/usr/bin/time");
    command.args(["-f", "%M", env!("CARGO_BIN_EXE_lprof"), "profile", "--table"]).arg(table).args(arguments);
    let output = command.output().or_else(|_| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lprof"));
        command.args(["profile", "--table"]).arg(table).args(arguments).output()
    });
    let output = output.expect("lprof starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    let kib: u64 = said.lines().last().and_then(|line| line.trim().parse().ok()).unwrap_or(0);
    say(&format!("{name:<24} {:>6.2} s {:>6} MB", start.elapsed().as_secs_f64(), kib / 1024));
}
