//! Small services that call each other: lprof on the labelled programs of
//! `tests/programs/services/sets`, each in a layout with threads and in one without, held to
//! what was reached so far (`tests/programs/services/scores.tsv`).

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;

use libtest_mimic::{Arguments, Failed, Trial};
use scoring::Scores;

#[path = "support/scoring.rs"]
mod scoring;

const LAYOUTS: [&str; 2] = ["threads", "plain"];

const COLUMNS: [&str; 5] = ["correct", "incomplete", "incorrect", "failed", "log_point"];

/// Scores that never fall, and whether more is better.
const HELD: [(&str, bool); 3] = [("correct", true), ("incorrect", false), ("b_cubed", true)];

/// Held by who writes the table.
static TABLE: Mutex<()> = Mutex::new(());

fn main() -> ExitCode {
    let programs = programs();
    assert!(!programs.is_empty(), "there are programs");
    let trials = programs.into_iter().flat_map(|program| {
        LAYOUTS.map(|layout| {
            let program = program.clone();
            Trial::test(format!("{program} {layout}"), move || check(&program, layout).map_err(Failed::from))
        })
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/services")
}

/// Names of the programs, sorted.
fn programs() -> Vec<String> {
    let entries = std::fs::read_dir(root().join("sets")).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn check(program: &str, layout: &str) -> Result<(), String> {
    let got = measure(program, layout)?;
    let path = root().join("scores.tsv");
    let _lock = TABLE.lock().map_err(|e| e.to_string())?;
    let table = std::fs::read_to_string(&path).unwrap_or_default();
    let key = [program, layout];
    if scoring::is_update() {
        let columns = [&COLUMNS[..], &scoring::MORE].concat();
        let table = scoring::updated(&table, (&["program", "layout"], &key), (&columns, &got));
        return std::fs::write(&path, table).map_err(|e| e.to_string());
    }
    let row = scoring::row(&table, &key).ok_or_else(|| format!("scores.tsv has no row for {key:?}"))?;
    for (name, more_is_better) in HELD {
        let expected: f64 = row[name].parse().map_err(|e| format!("{name}: {e}"))?;
        // As it stands in the table.
        let got_now = (100.0 * got[name]).round() / 100.0;
        if if more_is_better { got_now < expected } else { got_now > expected } {
            return Err(format!("worse: {name}\nexpected {row:?}\ngot      {got:?}"));
        }
    }
    Ok(())
}

fn measure(program: &str, layout: &str) -> Result<Scores, String> {
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    let folder = root().join("sets").join(program);
    let logs = scoring::files(&folder.join(layout), ".log.zst")?;
    let (truth, types) = (folder.join("truth.tsv.zst"), folder.join("types.tsv"));
    let found = scoring::evaluation((&[folder.join("app.jar")], &logs), (&truth, &types), scratch.path())?;
    scoring::scores(&found)
}
