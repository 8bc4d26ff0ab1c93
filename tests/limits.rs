//! What queries may take: those that take more end with a word why, and nothing of them is left.
#![cfg(feature = "sql")]

#[path = "support/command.rs"]
mod command;
#[path = "support/sample.rs"]
mod sample;

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use command::{done, fails, samples};

/// Rows that are made up and not held: without end, as far as anybody can wait.
const ENDLESS: [&str; 4] = [
    "SELECT sum(value) FROM generate_series(1, 1000000000000)",
    "SELECT value FROM generate_series(1, 1000000000000) WHERE value % 7 = 8",
    "SELECT count(*) FROM events a, events b, events c, events d WHERE a.line * b.line > c.line * d.line",
    "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT max(n) FROM t",
];
/// A sort that goes on on disk.
const SORT: &str = "SELECT max(n) FROM (SELECT row_number() OVER (ORDER BY v % 1000, v) AS n \
                    FROM (SELECT value * 7919 % 1000003 AS v FROM generate_series(1, 3000000)))";

/// `lprof sql` with a folder of its own for what goes on on disk.
fn sql(table: &str, spill: &Path, flags: &[&str], query: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lprof"));
    command.args(["sql", "--table", table]).args(flags).arg(query).env("TMPDIR", spill);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[track_caller]
fn gives_up(output: &Output, why: &str, query: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{query}: {said}");
    assert!(said.contains(why) && !said.contains("panicked"), "{query}: {said}");
    assert_eq!(said.lines().count(), 1, "{said}");
}

#[test]
fn queries_without_end_are_given_up_in_time() {
    let (folder, table) = sample::table("java17");
    let spill = folder.path().join("spill");
    std::fs::create_dir(&spill).expect("a folder");
    for query in ENDLESS {
        let start = Instant::now();
        let output = sql(&table, &spill, &["--timeout", "500ms"], query).output().expect("lprof starts");
        gives_up(&output, "not answered within 500 ms, so it was given up (--timeout)", query);
        assert!(start.elapsed() < Duration::from_secs(30), "{query}: {:?}", start.elapsed());
    }
    assert_eq!(names(&spill), Vec::<String>::new(), "nothing is left");
    let query = "From a In * Join b In * On a -> b Select COUNT";
    fails(1, &["query", "--table", &table, "--timeout", "1us", query], "not answered within");
    let answer = done(&["query", "--table", &table, "--timeout", "60s", query]);
    assert!(answer.lines().count() == 2, "{answer}");
}

#[test]
fn memory_is_kept_to_and_nothing_is_left() {
    let (folder, table) = sample::table("java17");
    let spill = folder.path().join("spill");
    std::fs::create_dir(&spill).expect("a folder");
    let run = |memory: &str, query: &str| {
        sql(&table, &spill, &["--memory", memory], query).output().expect("lprof starts")
    };
    // It goes on on disk ...
    let output = run("40MB", SORT);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && said.contains("3000000"), "{said}{output:?}");
    // ... or, where it cannot, is given up.
    let query = "SELECT count(*) FROM (SELECT value * 7919 % 1000003 AS v, value FROM generate_series(1, 3000000) \
                 ORDER BY 1 LIMIT 2900000)";
    gives_up(&run("32MB", query), "(--memory)", query);
    assert_eq!(names(&spill), Vec::<String>::new(), "nothing is left");
    fails(2, &["sql", "--table", &table, "--memory", "0", "SELECT 1"], "--memory");
    fails(2, &["sql", "--table", &table, "--memory", "much", "SELECT 1"], "--memory");
    fails(2, &["sql", "--table", &table, "--timeout", "soon", "SELECT 1"], "--timeout");
}

#[test]
fn what_a_killed_query_leaves_is_removed_by_the_next_one() {
    let (folder, table) = sample::table("java17");
    let spill = folder.path().join("spill");
    std::fs::create_dir(&spill).expect("a folder");
    let endless = SORT.replace("3000000", "1000000000");
    let mut child = sql(&table, &spill, &["--memory", "40MB"], &endless).spawn().expect("lprof starts");
    let start = Instant::now();
    while files(&spill) < 2 && start.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(files(&spill) >= 2, "it goes on on disk");
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    assert!(!names(&spill).is_empty(), "it could not tidy up");
    let output = sql(&table, &spill, &[], "SELECT 1").output().expect("lprof starts");
    assert!(output.status.success());
    assert_eq!(names(&spill), Vec::<String>::new());
}

#[test]
fn where_nothing_can_be_written_queries_are_still_answered() {
    let (folder, table) = sample::table("java17");
    let output = sql(&table, &folder.path().join("not-there"), &[], "SELECT count(*) FROM requests");
    let output = { output }.output().expect("lprof starts");
    assert!(String::from_utf8_lossy(&output.stdout).contains("149"), "{output:?}");
}

#[test]
fn aggregates_of_nodes_are_limited_too() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = |name: &str| folder.path().join(name).display().to_string();
    let jar = samples().join("classes/java17/store.jar").display().to_string();
    done(&["analyze", &jar, "-o", &file("model")]);
    std::fs::write(file("q.sql"), "SELECT class, count(*) FROM events GROUP BY class").expect("a file");
    let log = samples().join("logs/a.log").display().to_string();
    let map =
        ["map", "--model", &file("model"), "--node", "a", "--aggregate", &file("q.sql"), "-o", &file("a")];
    done(&[&map[..], &[&log]].concat());
    assert!(done(&["sql", "--aggregates", &file("a")]).lines().count() > 2);
    fails(1, &["sql", "--memory", "1kB", "--aggregates", &file("a")], "(--memory)");
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder").flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Files below a folder.
fn files(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| if entry.path().is_dir() { files(&entry.path()) } else { 1 }).sum()
}
