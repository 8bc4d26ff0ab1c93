//! What is left when an operation on a file fails, or when a command is killed: the table as it was
//! or as it becomes, a word on which file it was, and a next run that ends as if nothing had been.
//!
//! `KILLS` and `SEED` choose how often commands are killed, and when.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::command::{done, fails, samples};
use crate::random::{Random, number};
use schema::faults::VARIABLE;

/// Kills that are tried unless more are asked for.
const N_KILLS: u64 = 16;

/// A time in the middle of the sample's logs.
const THIN_BEFORE: &str = "2026-11-21T12:15:06Z";

/// A model, halves of the sample's logs, and tables and outputs made of them.
struct Scratch {
    folder: tempfile::TempDir,
}

impl Scratch {
    fn new() -> Self {
        let scratch = Self { folder: tempfile::tempdir().expect("a temporary folder") };
        let jar = samples().join("classes/java17/store.jar").display().to_string();
        done(&["analyze", &jar, "-o", &scratch.path("model")]);
        for node in ["a", "b", "c"] {
            let text =
                std::fs::read_to_string(samples().join("logs").join(format!("{node}.log"))).expect("a log");
            let lines: Vec<&str> = text.lines().collect();
            for (half, lines) in [("first", &lines[..lines.len() / 2]), ("whole", &lines[..])] {
                let folder = scratch.folder.path().join(half);
                std::fs::create_dir_all(&folder).expect("a folder");
                std::fs::write(folder.join(format!("{node}.log")), lines.join("\n") + "\n").expect("a log");
            }
        }
        scratch
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// Takes away `name`, and puts a copy of the folder `from` there, if there is one.
    fn reset(&self, name: &str, from: Option<&str>) {
        let _ = std::fs::remove_dir_all(self.path(name));
        if let Some(from) = from {
            copy(Path::new(&self.path(from)), Path::new(&self.path(name)));
        }
    }

    /// The commands that are made to fail: what each is called, what it starts from, its arguments,
    /// and what it makes.
    fn steps(&self) -> Vec<(&'static str, Option<&'static str>, Vec<String>, &'static str)> {
        let path = |name: &str| self.path(name);
        let run = |half: &str| {
            let arguments = ["run", "-q", "--table", &path("t"), "--model", &path("model"), &path(half)];
            arguments.map(str::to_owned).to_vec()
        };
        let map =
            ["map", "-q", "--model", &path("model"), "--node", "a", "-o", &path("o"), &path("whole/a.log")];
        let reduce = ["reduce", "-q", &path("mapped"), "--table", &path("t")];
        let thin = ["thin", "-q", "--table", &path("t"), "--before", THIN_BEFORE, "--keep", "requests"];
        vec![
            ("run", None, run("first"), "t"),
            ("append", Some("first.t"), run("whole"), "t"),
            ("map", None, map.map(str::to_owned).to_vec(), "o"),
            ("reduce", None, reduce.map(str::to_owned).to_vec(), "t"),
            ("thin", Some("short.t"), thin.map(str::to_owned).to_vec(), "t"),
        ]
    }

    /// What the commands start from.
    fn prepare(&self) {
        done(&[
            "run",
            "-q",
            "--table",
            &self.path("first.t"),
            "--model",
            &self.path("model"),
            &self.path("first"),
        ]);
        // Of what is as short as the sample nothing is old as long as it can go on.
        let (model, table, logs) = (self.path("model"), self.path("short.t"), self.path("whole"));
        done(&["run", "-q", "--window", "500ms", "--table", &table, "--model", &model, &logs]);
        let map = |node: &str| {
            let log = self.path(&format!("whole/{node}.log"));
            done(&[
                "map",
                "-q",
                "--model",
                &self.path("model"),
                "--node",
                node,
                "-o",
                &self.path("mapped"),
                &log,
            ]);
        };
        ["a", "b", "c"].into_iter().for_each(map);
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder").flatten() {
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).expect("a copy");
        }
    }
}

/// What a table or a map output holds; empty: it is not there.
fn content(path: &str) -> Vec<String> {
    let path = Path::new(path);
    if path.join("inputs").is_dir() && !path.join("models").is_dir() {
        let Ok(outputs) = schema::tables::node_outputs(path) else { return Vec::new() };
        let read =
            |path: &std::path::PathBuf| schema::tables::read_node_output(path).expect("a whole output");
        return outputs.iter().map(|path| format!("{:?}", read(path))).collect();
    }
    let Ok(table) = lprof::Table::open(path) else { return Vec::new() };
    let requests = table.requests(&lprof::Filter::All).expect("a whole table");
    let mut rows: Vec<String> = requests
        .map(|request| {
            let request = request.expect("a whole request");
            format!("{:?} {:?}", request.row(), request.spans())
        })
        .collect();
    rows.sort();
    rows
}

#[test]
fn each_operation_that_fails_leaves_the_old_or_the_new() {
    let scratch = Scratch::new();
    scratch.prepare();
    for (name, from, arguments, made) in scratch.steps() {
        let made = scratch.path(made);
        scratch.reset(&made_name(&made), from);
        let old = content(&made);
        done(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
        let new = content(&made);
        assert!(!new.is_empty() && new != old, "{name} makes something");
        let mut n = 0;
        loop {
            n += 1;
            scratch.reset(&made_name(&made), from);
            let ran = Command::new(env!("CARGO_BIN_EXE_lprof"))
                .args(&arguments)
                .env(VARIABLE, n.to_string())
                .output();
            let ran = ran.expect("lprof starts");
            let said = String::from_utf8_lossy(&ran.stderr);
            let left = content(&made);
            assert!(left == old || left == new, "{name}, operation {n}: neither the old nor the new\n{said}");
            assert!(!said.contains("panicked"), "{name}, operation {n}: {said}");
            if ran.status.success() {
                assert_eq!(left, new, "{name}, operation {n}: done, but not there");
                if !said.contains("os error 5") {
                    break;
                }
            } else {
                assert_eq!(ran.status.code(), Some(1), "{name}, operation {n}: {said}");
                let names = said.contains(scratch.folder.path().to_str().expect("UTF-8"));
                assert!(names, "{name}, operation {n} names no file: {said}");
            }
            // A node is mapped into a folder once.
            if name != "map" || left == old {
                done(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
            }
            assert_eq!(content(&made), new, "{name}, operation {n}: not as if nothing had been");
        }
        assert!(n > 5, "{name} has operations");
        eprintln!("{name}: {n} operations");
    }
}

#[test]
fn a_first_run_that_failed_can_be_repeated() {
    let scratch = Scratch::new();
    let (table, model, logs) = (scratch.path("t"), scratch.path("model"), scratch.path("whole"));
    let arguments = ["run", "-q", "--table", &table, "--model", &model, &logs];
    let ran = Command::new(env!("CARGO_BIN_EXE_lprof")).args(arguments).env(VARIABLE, "8").output();
    assert_eq!(ran.expect("lprof starts").status.code(), Some(1));
    assert!(Path::new(&table).exists(), "it had begun");
    fails(1, &["show", "coverage", "--table", &table], "not a request table");
    done(&arguments);
    done(&["show", "coverage", "--table", &table]);
}

fn made_name(path: &str) -> String {
    Path::new(path).file_name().expect("a name").to_string_lossy().into_owned()
}

#[test]
fn what_was_killed_is_done_by_the_next_run() {
    let scratch = Scratch::new();
    scratch.prepare();
    let (n_kills, seed) = (number("KILLS").unwrap_or(N_KILLS), number("SEED").unwrap_or(1));
    eprintln!("{n_kills} kills, seed {seed}");
    let mut random = Random::new(seed);
    let n_steps = scratch.steps().len();
    for (at, (name, from, arguments, made)) in scratch.steps().into_iter().enumerate() {
        let made = scratch.path(made);
        scratch.reset(&made_name(&made), from);
        let old = content(&made);
        let start = Instant::now();
        done(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
        let (new, length) = (content(&made), start.elapsed());
        for kill in (0..n_kills).filter(|kill| *kill as usize % n_steps == at) {
            let after = length.mul_f64(random.below(1000) as f64 / 1000.0) + Duration::from_micros(1);
            scratch.reset(&made_name(&made), from);
            let mut child = Command::new(env!("CARGO_BIN_EXE_lprof"))
                .args(&arguments)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .expect("lprof starts");
            std::thread::sleep(after);
            let _ = child.kill();
            child.wait().expect("it ends");
            let left = content(&made);
            assert!(
                left == old || left == new,
                "{name}, kill {kill} after {after:?}: neither the old nor the new"
            );
            if name != "map" || left == old {
                done(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
            }
            assert_eq!(content(&made), new, "{name}, kill {kill} after {after:?}");
        }
    }
}
