//! `lprof follow`: logs that are written while they are followed, rotated and late, against one
//! `lprof run` of all of it.
#![cfg(unix)]

#[path = "support/command.rs"]
mod command;
#[path = "support/scratch.rs"]
mod scratch;

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use command::{done, fails, samples};
use scratch::Scratch;

/// How long is waited for what must come.
const PATIENCE: Duration = Duration::from_secs(60);

/// Who follows; not beyond the test.
struct Follower(Child);

impl Drop for Follower {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Scratch {
    /// Begins to follow; what is said goes to files.
    fn follow(&self, arguments: &[&str]) -> Follower {
        let to = |name: &str| Stdio::from(File::create(self.path(name)).expect("a file"));
        let child = Command::new(env!("CARGO_BIN_EXE_lprof"))
            .args(["follow", "--every", "100ms", "--table", &self.path("t")])
            .args(arguments)
            .stdout(to("stdout"))
            .stderr(to("stderr"))
            .spawn();
        Follower(child.expect("lprof starts"))
    }

    fn said(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("a file")
    }

    /// Waits until the table holds so many events.
    fn wait(&self, child: &mut Follower, n_events: usize) {
        let start = Instant::now();
        while n_events_of(&self.path("t")) != n_events {
            assert!(child.0.try_wait().expect("a child").is_none(), "it ended: {}", self.said("stderr"));
            assert!(
                start.elapsed() < PATIENCE,
                "{} of {n_events}: {}{}",
                n_events_of(&self.path("t")),
                self.said("stdout"),
                self.said("stderr")
            );
            std::thread::sleep(Duration::from_millis(30));
        }
    }
}

/// Ends it as an operator does; its exit code.
fn end(mut child: Follower, signal: &str) -> Option<i32> {
    let pid = child.0.id().to_string();
    assert!(Command::new("kill").args([signal, &pid]).status().expect("kill").success());
    child.0.wait().expect("it ends").code()
}

fn n_events_of(table: &str) -> usize {
    let Ok(manifest) = reducer::table::Manifest::read(Path::new(table)) else { return 0 };
    manifest.files.iter().filter(|file| file.table == "events").map(|file| file.n_rows as usize).sum()
}

/// The requests of a table with their spans and events, without the confidence, which is learnt from
/// what is read at once.
fn rows(table: &str) -> Vec<String> {
    let table = lprof::Table::open(Path::new(table)).expect("a table");
    let requests = table.requests(&lprof::Filter::All).expect("requests");
    let whole = |request: lprof::Request| format!("{:?} {:?}", request.row(), request.spans());
    let mut rows: Vec<String> = requests.map(|request| whole(request.expect("a whole request"))).collect();
    rows.sort();
    rows
}

fn sample(node: &str) -> String {
    fs::read_to_string(samples().join(format!("logs/{node}.log"))).expect("a log")
}

/// Whole lines that begin a record.
fn n_records(text: &str) -> usize {
    text.split_inclusive('\n').filter(|line| line.starts_with("2026-") && line.ends_with('\n')).count()
}

fn add(path: &Path, text: &str) {
    let mut file = File::options().create(true).append(true).open(path).expect("a log");
    file.write_all(text.as_bytes()).expect("written");
}

/// `text` in so many parts that end anywhere, also within lines.
fn parts(text: &str, n: usize) -> Vec<&str> {
    let at = |part: usize| text.len() * part / n;
    (0..n).map(|part| &text[at(part)..at(part + 1)]).collect()
}

#[test]
fn what_grows_and_is_rotated_becomes_what_it_is_at_once() {
    let scratch = Scratch::new();
    let (logs, jar) = (scratch.path("logs"), samples().join("classes/java8/store.jar").display().to_string());
    let log = |node: &str| PathBuf::from(&logs).join(node).join("store.log");
    let texts = ["a", "b", "c"].map(|node| (node, sample(node)));
    let node = |name: &str| format!("{name}={logs}/{name}");
    fs::create_dir_all(&logs).expect("a folder");
    let mut child = scratch.follow(&[&jar, &node("a"), &node("b"), &node("c")]);
    let n_parts = 4;
    let mut written = 0;
    for part in 0..n_parts {
        for (name, text) in &texts {
            // One node is late.
            if part == 0 && *name == "c" {
                continue;
            }
            fs::create_dir_all(log(name).parent().expect("a folder")).expect("a folder");
            let all = parts(text, n_parts);
            let mut new = all[part].to_owned();
            if part == 1 && *name == "c" {
                new = all[..2].concat();
            }
            if part == 2 && *name != "c" {
                // Rotated in the middle of what is new, where a line ends.
                let cut = new.find('\n').expect("a line") + 1;
                add(&log(name), &new[..cut]);
                fs::rename(log(name), log(name).with_extension("log.1")).expect("renamed");
                new = new[cut..].to_owned();
            }
            add(&log(name), &new);
        }
        // What stands after the last end of a line is not read yet.
        let count = |path: PathBuf| n_records(&fs::read_to_string(path).unwrap_or_default());
        written = ["a", "b", "c"]
            .iter()
            .map(|name| count(log(name)) + count(log(name).with_extension("log.1")))
            .sum();
        scratch.wait(&mut child, written);
    }
    assert_eq!(written, texts.iter().map(|(_, text)| n_records(text)).sum::<usize>());
    assert_eq!(end(child, "-TERM"), Some(0));
    done(&["run", "--table", &scratch.path("once"), &jar, &node("a"), &node("b"), &node("c")]);
    assert_eq!(rows(&scratch.path("t")), rows(&scratch.path("once")));
    let stderr = scratch.said("stderr");
    assert!(stderr.contains("it is waited for") && !stderr.contains("failed"), "{stderr}");
    let stdout = scratch.said("stdout");
    assert!(stdout.lines().last().is_some_and(|last| last.contains("records, 0 of them in no")), "{stdout}");
    assert!(stdout.lines().count() > n_parts, "a line for each round that added something: {stdout}");
}

#[test]
fn logs_that_vanish_and_rounds_without_news_cost_nothing() {
    let scratch = Scratch::new();
    let jar = samples().join("classes/java8/store.jar").display().to_string();
    let log = PathBuf::from(scratch.path("a.log"));
    add(&log, &sample("a"));
    let mut child = scratch.follow(&[&jar, &log.display().to_string()]);
    scratch.wait(&mut child, n_records(&sample("a")));
    fs::remove_file(&log).expect("removed");
    let start = Instant::now();
    while !scratch.said("stderr").contains("it is waited for") && start.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(30));
    }
    // Some rounds more.
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(end(child, "-INT"), Some(0));
    let stderr = scratch.said("stderr");
    assert_eq!(stderr.matches("warning: ").count(), 1, "{stderr}");
    assert!(stderr.contains("a.log") && stderr.contains(" times: "), "it is counted: {stderr}");
    let number = reducer::table::Manifest::read(Path::new(&scratch.path("t"))).expect("a table").number;
    assert_eq!(number, 1, "what is known already makes no commit");
}

#[test]
fn wrong_usage_is_2() {
    let scratch = Scratch::new();
    let (table, jar) = (scratch.path("t"), samples().join("classes/java8/store.jar").display().to_string());
    fails(2, &["follow", "--table", &table, &jar], "no log given");
    fails(2, &["follow", "--table", &table, &jar, "-"], "standard input cannot be followed");
    fails(2, &["follow", "--table", &table, "x.log"], "no model");
    fails(2, &["follow", "--table", &table, "--every", "soon", &jar, "x.log"], "--every");
    assert!(!Path::new(&table).exists(), "wrong usage makes no table");
}
