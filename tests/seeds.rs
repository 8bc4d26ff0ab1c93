//! Programs from seeds, made by the generator (`tests/programs/generate`): the committed
//! ones (`tests/programs/seeds`) are held to the share that was right so far, and where there
//! is a JDK, a handful is written, compiled, run and labelled afresh.
//!
//! `LPROF_UPDATE_SCORES=1` writes what was found into `tests/programs/seeds/scores.tsv`: the
//! share goes down only in a change that shows it. The logs print no thread; each set is also read
//! with the threads of its records put in, and that share is held too.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use generator::{Checked, Score};

#[path = "programs/generate/generator.rs"]
mod generator;

/// Seeds that are made afresh; not among those committed.
const FRESH: (u64, u64) = (1001, 1003);
/// A set with fewer requests says little.
const UNITS_MIN: usize = 10;
const COMMITTED: usize = 200;

const COLUMNS: [&str; 11] = [
    "set",
    "right",
    "correct",
    "incomplete",
    "incorrect",
    "failed",
    "threads_right",
    "threads_correct",
    "threads_incomplete",
    "threads_incorrect",
    "threads_failed",
];

/// The columns that tell what is right: as it prints, and with threads.
const RIGHT: [usize; 2] = [1, 6];

#[test]
fn share_of_committed_programs_that_are_right() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/seeds");
    let scratch = tempfile::tempdir().expect("a folder");
    let lprof = PathBuf::from(env!("CARGO_BIN_EXE_lprof"));
    let checked = generator::check_packed(&lprof, &folder, scratch.path()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(checked.len(), COMMITTED, "all committed sets are scored");
    let found = table(&checked);
    let path = folder.join("scores.tsv");
    if std::env::var_os("LPROF_UPDATE_SCORES").is_some() {
        std::fs::write(&path, found).expect("a table to write");
        return;
    }
    let held = std::fs::read_to_string(&path).expect("a table of scores");
    assert_eq!(held.lines().count(), COMMITTED + 2, "a row for each set, a header, a row for all");
    for right in RIGHT {
        let fallen: Vec<&str> = (held.lines().zip(found.lines()).skip(2))
            .filter(|(held, found)| rights(held, right) > rights(found, right))
            .map(|(row, _)| row)
            .collect();
        let [now, before] =
            [&found, &held].map(|table| rights(table.lines().nth(1).unwrap_or_default(), right));
        assert!(
            now >= before,
            "{}: {now} of {COMMITTED}, {before} were; not any more:\n{}\n{}",
            COLUMNS[right],
            fallen.join("\n"),
            generator::shares(&checked)
        );
    }
}

/// One row a set, the first of them for all: whether it is right (how many are), and messages; both
/// as it prints and with the threads of its records.
fn table(checked: &[Checked]) -> String {
    let mut rows = String::new();
    let mut all = [0; 10];
    for set in checked {
        let scores = [set.score, set.with_threads.unwrap_or_default()];
        let cells = scores.map(|score| {
            let Score { correct, incomplete, incorrect, failed } = score;
            [u64::from(score.is_right()), correct, incomplete, incorrect, failed]
        });
        let cells = cells.as_flattened();
        all.iter_mut().zip(cells).for_each(|(sum, n)| *sum += n);
        rows += &row(&set.name, cells);
    }
    format!("{}\n{}{rows}", COLUMNS.join("\t"), row("all", &all))
}

fn row(name: &str, cells: &[u64]) -> String {
    let mut row = name.to_owned();
    for n in cells {
        write!(row, "\t{n}").expect("a string takes all");
    }
    row + "\n"
}

/// What a row says of the column of those that are right.
fn rights(row: &str, column: usize) -> usize {
    row.split('\t').nth(column).and_then(|cell| cell.parse().ok()).expect("how many are right")
}

#[test]
fn fresh_programs_are_made_and_labelled() {
    if !generator::has_jdk() {
        eprintln!("seeds: skipped: no JDK of Java 17 or later");
        return;
    }
    let scratch = tempfile::tempdir().expect("a folder");
    let out = scratch.path().join("sets");
    let (first, last) = FRESH;
    let command =
        generator::Command { first, last, out: out.clone(), check: None, minimize: false, pack: false };
    generator::generate(&command, &scratch.path().join("scratch"), &mut |line| eprintln!("{line}"))
        .unwrap_or_else(|e| panic!("{e}"));
    for seed in first..=last {
        check_set(&out.join(format!("seed-{seed}")));
    }
}

/// Every set has classes, and each record has a row of the truth whose log point is a line of
/// the sources that logs.
#[track_caller]
fn check_set(folder: &Path) {
    let read =
        |name: &str| std::fs::read_to_string(folder.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert!(std::fs::metadata(folder.join("app.jar")).is_ok_and(|jar| jar.len() > 1000), "classes");
    let truth = read("truth.tsv");
    let mut units = BTreeSet::new();
    let mut rows = 0;
    for row in truth.lines().skip(1) {
        let cells: Vec<&str> = row.split('\t').collect();
        units.insert(cells[6]);
        rows += 1;
        let (place, line) = cells[4].rsplit_once(':').expect("a log point with its line");
        let class = place.rsplit_once('.').expect("a method").0.split('$').next().expect("a class");
        let source = read(&format!("source/{}.java", class.replace('.', "/")));
        let line: usize = line.parse().expect("a number");
        let logs = source.lines().nth(line - 1).is_some_and(|line| line.contains("LOG."));
        assert!(logs, "{}: `{}` does not log", folder.display(), cells[4]);
    }
    assert!(units.len() > UNITS_MIN && rows > units.len(), "{}: {} units", folder.display(), units.len());
}
