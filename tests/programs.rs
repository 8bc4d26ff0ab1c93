//! Small programs: lprof on the labelled programs of `tests/programs/sets`, each
//! of which isolates one difficulty, held to what was right so far
//! (`tests/programs/scores.tsv`).
//!
//! A program is right if at least 99 % of its messages are correct and none is
//! incorrect. Its logs print no thread; each is also read with the threads of its
//! records put in, which is right or not by itself. One that was right must stay right, so the share that is right
//! never falls; `LPROF_UPDATE_SCORES=1` writes what was found into the table.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;

use libtest_mimic::{Arguments, Failed, Trial};
use scoring::Scores;

#[path = "support/scoring.rs"]
mod scoring;
#[path = "support/thread_names.rs"]
mod thread_names;

/// Messages of a right program that are correct, %.
const CORRECT_MIN: f64 = 99.0;

/// The row of the share that is right.
const ALL: &str = "all";

const COLUMNS: [&str; 9] = [
    "right",
    "threads_right",
    "correct",
    "incomplete",
    "incorrect",
    "failed",
    "log_point",
    "threads_correct",
    "threads_incorrect",
];

/// Whether a program is right as it prints, and with the threads of its records.
const RIGHT: [&str; 2] = ["right", "threads_right"];

/// Held by who writes the table.
static TABLE: Mutex<()> = Mutex::new(());

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let programs = programs();
    assert!(!programs.is_empty(), "there are programs");
    let trials = programs
        .iter()
        .cloned()
        .map(|name| Trial::test(name.clone(), move || check(&name).map_err(Failed::from)));
    let share = Trial::test("share of programs that are right", || check_share().map_err(Failed::from));
    libtest_mimic::run(&arguments, trials.chain([share]).collect()).exit_code()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs")
}

/// Names of the programs, sorted.
fn programs() -> Vec<String> {
    let entries = std::fs::read_dir(root().join("sets")).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn check(name: &str) -> Result<(), String> {
    let got = measure(name)?;
    let path = root().join("scores.tsv");
    let lock = TABLE.lock().map_err(|e| e.to_string())?;
    let table = std::fs::read_to_string(&path).unwrap_or_default();
    if scoring::is_update() {
        let table = scoring::updated(&table, (&["program"], &[name]), (&columns(), &got));
        return std::fs::write(&path, with_share(&table)).map_err(|e| e.to_string());
    }
    drop(lock);
    let expected =
        scoring::row(&table, &[name]).ok_or_else(|| format!("scores.tsv has no row for {name}"))?;
    for right in RIGHT {
        match (expected[right] == "100.00", got[right] == 100.0) {
            (true, false) => return Err(format!("was {right}\nexpected {expected:?}\ngot      {got:?}")),
            (false, true) => eprintln!("{name} is {right} now: LPROF_UPDATE_SCORES=1 holds it"),
            _ => {}
        }
    }
    Ok(())
}

/// Scores of one program, in percent; `right` is 100 or 0.
fn measure(name: &str) -> Result<Scores, String> {
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    let folder = root().join("sets").join(name);
    let inputs = [folder.join("app.jar")];
    let (logs, truth) = (scoring::files(&folder, ".log.zst")?, folder.join("truth.tsv.zst"));
    let types = folder.join("types.tsv");
    let evaluation = scoring::evaluation((&inputs, &logs), (&truth, &types), scratch.path())?;
    let mut scores = scoring::scores(&evaluation)?;
    let scratch = scratch.path().join("threads");
    let logs = with_threads(&logs, &truth, &scratch)?;
    let evaluation = scoring::evaluation((&inputs, &logs), (&truth, &types), &scratch)?;
    let threads = scoring::scores(&evaluation)?;
    for (right, found) in [("right", scores.clone()), ("threads_right", threads.clone())] {
        let is_right = found["correct"] >= CORRECT_MIN && found["incorrect"] == 0.0;
        scores.insert(right.to_owned(), if is_right { 100.0 } else { 0.0 });
    }
    for class in ["correct", "incorrect"] {
        scores.insert(format!("threads_{class}"), threads[class]);
    }
    Ok(scores)
}

/// The logs with the threads of their records, below `folder`.
fn with_threads(logs: &[PathBuf], truth: &Path, folder: &Path) -> Result<Vec<PathBuf>, String> {
    std::fs::create_dir_all(folder).map_err(|e| format!("`{}`: {e}", folder.display()))?;
    let truth = unpacked(truth)?;
    let named = |log: &PathBuf| {
        let file = log.file_name().unwrap_or_default().to_string_lossy().replace(".zst", "");
        let text = thread_names::with_threads(&unpacked(log)?, file.trim_end_matches(".log"), &truth)?;
        let path = folder.join(file);
        std::fs::write(&path, text).map_err(|e| format!("`{}`: {e}", path.display()))?;
        Ok(path)
    };
    logs.iter().map(named).collect()
}

/// The text of a file packed by zstd.
fn unpacked(path: &Path) -> Result<String, String> {
    let told = |e: std::io::Error| format!("`{}`: {e}", path.display());
    let bytes = std::fs::read(path).map_err(told)?;
    String::from_utf8(zstd::decode_all(&*bytes).map_err(told)?).map_err(|e| e.to_string())
}

/// The table with the means of its rows, of which the share that is right is the first.
fn with_share(table: &str) -> String {
    scoring::updated(table, (&["program"], &[ALL]), (&columns(), &means(table)))
}

fn columns() -> Vec<&'static str> {
    [&COLUMNS[..], &scoring::MORE].concat()
}

/// Means over the programs of a table that have a score.
fn means(table: &str) -> Scores {
    let rows: Vec<Vec<&str>> = (table.lines().skip(1))
        .map(|line| line.split('\t').collect::<Vec<_>>())
        .filter(|cells| cells[0] != ALL)
        .collect();
    let mean = |(at, name): (usize, &str)| {
        let cells = rows.iter().filter_map(|row| row.get(at + 1).copied()).filter(|cell| *cell != "-");
        let scores: Vec<f64> = cells.map(|cell| cell.parse().expect("a score")).collect();
        (!scores.is_empty()).then(|| (name.to_owned(), scores.iter().sum::<f64>() / scores.len() as f64))
    };
    columns().into_iter().enumerate().filter_map(mean).collect()
}

/// The table tells of all programs, and its share is theirs.
fn check_share() -> Result<(), String> {
    if scoring::is_update() {
        return Ok(());
    }
    let path = root().join("scores.tsv");
    let table = std::fs::read_to_string(&path).map_err(|e| format!("`{}`: {e}", path.display()))?;
    let mut named: Vec<&str> = table.lines().skip(1).filter_map(|line| line.split('\t').next()).collect();
    named.retain(|name| *name != ALL);
    if named != programs() {
        return Err(format!("scores.tsv is of other programs: {named:?}"));
    }
    if with_share(&table) == table {
        Ok(())
    } else {
        Err("the row `all` is not the mean of the rows".to_owned())
    }
}
