//! How long it takes to show one request of many, to show the overview of all in the server's page
//! and to export them, and how much memory the server needs.
//!
//! `LPROF_BENCH_REQUESTS=1000000 cargo bench --profile dev --bench reading` takes a million requests;
//! without it, it is a fiftieth of that. Commands are run as they are, start included.

#[path = "../support/many_requests.rs"]
mod many_requests;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Requests that are shown, one after the other.
const SHOWN: usize = 200;
/// Answers of each kind that are asked of the server.
const ASKED: usize = 20;

fn main() {
    let n_requests =
        std::env::var("LPROF_BENCH_REQUESTS").map_or(20_000, |n| n.parse().expect("a whole number"));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let table = folder.path().join("t");
    let start = Instant::now();
    many_requests::make(&table, n_requests);
    say(&format!("{n_requests} requests, made in {:.1} s", start.elapsed().as_secs_f64()));
    let read = lprof::Table::open(&table).expect("a table");
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
    serve(&table, &ids);
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

#[cfg(feature = "serve")]
fn serve(table: &Path, ids: &[String]) {
    let start = Instant::now();
    let mut command = Command::new(env!("CARGO_BIN_EXE_lprof"));
    command.args(["serve", "--http", "127.0.0.1:0", "--table"]).arg(table).stdout(Stdio::piped());
    let mut child = command.spawn().expect("lprof starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("an address");
    let host = line.trim().trim_start_matches("page: http://").trim_end_matches('/').to_owned();
    say(&format!("serve, until it listens: {:.2} s", start.elapsed().as_secs_f64()));
    let ask = |path: &str| {
        let start = Instant::now();
        let mut stream = TcpStream::connect(&host).expect("a connection");
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").expect("sent");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("an answer");
        assert!(answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer));
        start.elapsed()
    };
    let often = |path: &str| (0..ASKED).map(|_| ask(path)).collect();
    figures("overview", often("/api/overview"));
    figures("overview of slow ones", often("/api/overview?min=1000"));
    figures("list by duration", often("/api/requests?sort=duration"));
    figures("a request", ids.iter().take(ASKED).map(|id| ask(&format!("/api/requests/{id}"))).collect());
    if cfg!(feature = "sql") {
        figures("overview, where in SQL", often("/api/overview?where=n_spans+%3E+5"));
    }
    let side_by_side = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..32).map(|_| scope.spawn(|| often("/api/overview"))).collect();
        let took: Vec<Vec<Duration>> =
            clients.into_iter().map(|client| client.join().expect("answers")).collect();
        took.concat()
    });
    figures("overview, 32 clients side by side", side_by_side);
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or(" not known").trim();
    say(&format!("memory of the server, at most: {most}"));
    child.kill().expect("it runs");
    child.wait().expect("it ends");
}
