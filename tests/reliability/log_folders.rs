//! Folders of logs as they change: written to, rotated, truncated, compressed, copied, cut and
//! replaced, and now and then added to a table. Against an oracle that knows every record: each
//! that was there when the folder was added is in the table once.
//!
//! `SEQUENCES` and `SEED` choose how many random sequences are tried and which come first.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use schema::sketch;

use crate::random::{Random, number};

/// Actions of a sequence.
const N_ACTIONS: usize = 50;
/// Sequences that are tried unless more are asked for.
const N_SEQUENCES: u64 = 12;

/// A program of one statement, whose requests have one record each.
fn model() -> schema::Model {
    let mut model = sketch::model("point kept id=Store.id\ntop run RpcHandler id=Store.id\n  >kept<");
    let point = &mut model.log_points[0];
    point.loggers = vec!["sketch.Points".to_owned()];
    point.templates =
        vec![schema::Template { regex: r"Record (\S+) of the store is kept".to_owned(), captures: vec![0] }];
    model
}

/// A folder of logs, and what was done to it.
struct Folder {
    path: PathBuf,
    n_records: u64,
    n_copies: usize,
    done: Vec<String>,
}

impl Folder {
    fn active(&self) -> PathBuf {
        self.path.join("store.log")
    }

    /// All logs but the one that is written to.
    fn others(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(&self.path).expect("a folder").flatten().map(|entry| entry.path());
        let mut all: Vec<PathBuf> = entries.filter(|path| *path != self.active()).collect();
        all.sort();
        all
    }

    fn write(&mut self, n: usize) {
        let mut file =
            std::fs::OpenOptions::new().create(true).append(true).open(self.active()).expect("a log");
        for _ in 0..n {
            let (minute, second) = (self.n_records / 60, self.n_records % 60);
            let time = format!("2026-11-21 {:02}:{:02}:{second:02},000", minute / 60, minute % 60);
            let line =
                format!("{time} INFO sketch.Points: Record r{} of the store is kept\n", self.n_records);
            file.write_all(line.as_bytes()).expect("a log");
            self.n_records += 1;
        }
    }

    /// Makes room for `store.log.1`.
    fn shift(&self) {
        let mut numbered: Vec<(usize, String, PathBuf)> = Vec::new();
        for path in self.others() {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            let Some(rest) = name.strip_prefix("store.log.") else { continue };
            let (number, end) = rest.split_once('.').unwrap_or((rest, ""));
            if let Ok(number) = number.parse() {
                numbered.push((number, end.to_owned(), path));
            }
        }
        numbered.sort();
        for (number, end, path) in numbered.into_iter().rev() {
            let end = if end.is_empty() { end } else { format!(".{end}") };
            std::fs::rename(path, self.path.join(format!("store.log.{}{end}", number + 1))).expect("renamed");
        }
    }

    fn rotate(&self, copies: bool) {
        if !self.active().exists() {
            return;
        }
        self.shift();
        let rotated = self.path.join("store.log.1");
        if copies {
            std::fs::copy(self.active(), rotated).expect("copied");
            std::fs::write(self.active(), b"").expect("truncated");
        } else {
            std::fs::rename(self.active(), rotated).expect("renamed");
        }
    }

    /// Does something to one of the other logs, if there is one.
    fn change(&mut self, random: &mut Random, what: usize) {
        let others = self.others();
        if others.is_empty() {
            return;
        }
        let path = &others[random.below(others.len())];
        let is_packed = path.extension().is_some_and(|end| end == "gz");
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        self.done.push(format!("{} {name}", ["compress", "copy", "cut", "replace", "delete"][what]));
        match what {
            0 if !is_packed => {
                let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
                packed.write_all(&std::fs::read(path).expect("a log")).expect("in memory");
                std::fs::write(self.path.join(format!("{name}.gz")), packed.finish().expect("in memory"))
                    .expect("written");
                std::fs::remove_file(path).expect("removed");
            }
            1 => {
                self.n_copies += 1;
                let end = if is_packed { ".gz" } else { "" };
                let copy = self.path.join(format!("store.log.bak{}{end}", self.n_copies));
                std::fs::copy(path, copy).expect("copied");
            }
            2 if !is_packed => {
                let bytes = std::fs::read(path).expect("a log");
                std::fs::write(path, &bytes[..random.below(bytes.len().max(1))]).expect("cut");
            }
            3 => {
                let bytes = std::fs::read(path).expect("a log");
                std::fs::remove_file(path).expect("removed");
                std::fs::write(path, bytes).expect("written");
            }
            4 => std::fs::remove_file(path).expect("removed"),
            _ => {}
        }
    }

    /// The records that are there.
    fn records(&self) -> BTreeSet<String> {
        let mut all = BTreeSet::new();
        for path in self.others().into_iter().chain([self.active()]).filter(|path| path.exists()) {
            let bytes = std::fs::read(&path).expect("a log");
            let mut text = String::new();
            if path.extension().is_some_and(|end| end == "gz") {
                std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(&bytes[..]), &mut text)
                    .expect("gzip");
            } else {
                text = String::from_utf8(bytes).expect("UTF-8");
            }
            let whole = text.lines().filter(|line| line.ends_with(" is kept"));
            all.extend(whole.filter_map(|line| Some(line.split(' ').nth(5)?.to_owned())));
        }
        all
    }
}

/// How often the table has each record.
fn kept(table: &Path) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    if !table.exists() {
        return counts;
    }
    let table = lprof::Table::open(table).expect("a table");
    for request in table.requests(&lprof::Filter::All).expect("a table") {
        for event in request.expect("a request").spans().iter().flat_map(|span| &span.events) {
            event.values.iter().for_each(|value| *counts.entry(value.value.to_string()).or_default() += 1);
        }
    }
    counts
}

/// Runs a sequence; what is wrong after it.
fn run(seed: u64, model: &str) -> Option<String> {
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let table = scratch.path().join("t");
    let mut folder =
        Folder { path: scratch.path().join("logs"), n_records: 0, n_copies: 0, done: Vec::new() };
    std::fs::create_dir_all(&folder.path).expect("a folder");
    let mut random = Random::new(seed);
    let mut expected = BTreeSet::new();
    for _ in 0..N_ACTIONS {
        let n = random.below(20);
        match n {
            0..8 => {
                let n = 1 + random.below(6);
                folder.done.push(format!("write {n}"));
                folder.write(n);
            }
            8..10 => {
                folder.done.push("rotate".to_owned());
                folder.rotate(false);
            }
            10 => {
                folder.done.push("copy and truncate".to_owned());
                folder.rotate(true);
            }
            11..16 => folder.change(&mut random, n - 11),
            _ => {
                let there = folder.records();
                folder.done.push(format!("add {}", there.len()));
                if there.is_empty() {
                    continue;
                }
                expected.extend(there);
                let logs = folder.path.display().to_string();
                let table = table.display().to_string();
                lprof::run(["lprof", "-q", "run", "--table", &table, "--model", model, &logs]);
            }
        }
    }
    let found = kept(&table);
    let lost: Vec<&String> = expected.iter().filter(|record| !found.contains_key(*record)).collect();
    let twice: Vec<&String> = found.iter().filter(|(_, n)| **n > 1).map(|(record, _)| record).collect();
    let new: Vec<&String> = found.keys().filter(|record| !expected.contains(*record)).collect();
    let is_right = lost.is_empty() && twice.is_empty() && new.is_empty();
    (!is_right).then(|| {
        format!(
            "seed {seed}: lost {lost:?}, twice {twice:?}, not there {new:?}\n  {}",
            folder.done.join("; ")
        )
    })
}

#[test]
fn each_record_is_in_the_table_once() {
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let path = scratch.path().join("model");
    model().write(&path).expect("a model");
    let first = number("SEED").unwrap_or(1);
    let seeds = first..first + number("SEQUENCES").unwrap_or(N_SEQUENCES);
    eprintln!("seeds {seeds:?}");
    let wrong: Vec<String> = seeds.filter_map(|seed| run(seed, &path.display().to_string())).collect();
    assert!(wrong.is_empty(), "{} sequences are wrong\n{}", wrong.len(), wrong.join("\n"));
}
