//! Programs from seeds: where there is a JDK, a handful of programs is written,
//! compiled, run and labelled afresh by the generator (`tests/programs/generate`).

use std::collections::BTreeSet;
use std::path::Path;

#[path = "programs/generate/generator.rs"]
mod generator;

/// Seeds that are made afresh; not among those committed.
const FRESH: (u64, u64) = (1001, 1003);
/// A set with fewer requests says little.
const UNITS_MIN: usize = 10;

#[test]
fn fresh_programs_are_made_and_labelled() {
    if !generator::has_jdk() {
        eprintln!("seeds: skipped: no JDK of Java 17 or later");
        return;
    }
    let scratch = tempfile::tempdir().expect("a folder");
    let out = scratch.path().join("sets");
    let command = generator::Command {
        first: FRESH.0,
        last: FRESH.1,
        out: out.clone(),
        scratch: scratch.path().join("scratch"),
        check: None,
        minimize: false,
    };
    generator::generate(&command, &mut |line| eprintln!("{line}")).unwrap_or_else(|e| panic!("{e}"));
    for seed in FRESH.0..=FRESH.1 {
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
