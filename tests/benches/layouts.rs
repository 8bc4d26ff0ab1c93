//! How labelled sets score that are rewritten into other layouts with the same fields: what a
//! record says must not depend on how it is laid out. Prints correct and incorrect messages of
//! each, in percent, and how far they are from those of the layout that the set is in.
//!
//! `cargo bench --profile test --no-default-features --bench layouts`; needs the jars of
//! `tests/systems/fetch-jars.sh`, `LPROF_JARS` or `~/.cache/lprof/jars`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

/// Small sets whose lines are `date level [thread] logger: message`.
const SETS: [(&str, &str, &str); 3] = [
    ("yarn-2.0.2-alpha", "set-a", "2026-11-21"),
    ("kafka-3.7.1", "set-killed", "2026-11-24"),
    ("hbase-0.94.18", "set-killed", "2026-11-23"),
];

/// A record: its header's fields, and its message with all further lines.
struct Record<'t> {
    day: &'t str,
    /// `hh:mm:ss` and milliseconds.
    clock: (&'t str, &'t str),
    level: &'t str,
    thread: &'t str,
    logger: &'t str,
    /// The first line as it stood there, and the message in it.
    line: &'t str,
    message: &'t str,
    more: Vec<&'t str>,
}

impl<'t> Record<'t> {
    /// The record that begins with `line`; none: none begins there.
    fn begin(line: &'t str) -> Option<Self> {
        let (day, clock, ms) = (line.get(..10)?, line.get(11..19)?, line.get(20..23)?);
        (day.starts_with("20") && line.get(19..20)? == ",").then_some(())?;
        let (level, rest) = line.get(24..)?.split_once(' ')?;
        let rest = rest.trim_start().strip_prefix('[')?;
        // Names of threads hold brackets; what follows the last one of them is a logger.
        let is_logger = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '$' | '_');
        for (at, _) in rest.match_indices("] ") {
            let after = &rest[at + 2..];
            let n = after.find(|c| !is_logger(c)).unwrap_or(after.len());
            if let (true, Some(message)) = (n > 0, after[n..].strip_prefix(": ")) {
                let (thread, logger) = (&rest[..at], &after[..n]);
                let clock = (clock, ms);
                return Some(Self { day, clock, level, thread, logger, line, message, more: Vec::new() });
            }
        }
        None
    }

    /// The lines of the record with another header.
    fn headed(&self, header: &str) -> String {
        let mut out = format!("{header}{}\n", self.message);
        self.more.iter().for_each(|line| out += &format!("{line}\n"));
        out
    }

    /// The lines of the record, each with `f`.
    fn wrapped(&self, f: impl Fn(&str) -> String) -> String {
        std::iter::once(&self.line).chain(&self.more).map(|line| f(line) + "\n").collect()
    }

    fn iso(&self) -> String {
        format!("{}T{}.{}", self.day, self.clock.0, self.clock.1)
    }

    /// One line, with the message and all that follows it.
    fn json(&self, fields: Value) -> String {
        let mut fields = fields;
        let text = std::iter::once(&self.message).chain(&self.more).copied().collect::<Vec<_>>().join("\n");
        fields["message"] = Value::String(text);
        format!("{fields}\n")
    }
}

/// A layout: its name, and the lines of a record in it.
type Layout = (&'static str, fn(&Record<'_>) -> String);

/// The layout of the set first.
const LAYOUTS: [Layout; 12] = [
    ("as it is", |r| r.wrapped(str::to_owned)),
    ("trailing blank", |r| r.wrapped(|line| format!("{line} "))),
    ("Spring Boot file", |r| {
        r.headed(&format!("{}Z  {:>5} 4711 --- [{}] {:<40} : ", r.iso(), r.level, r.thread, r.logger))
    }),
    ("NiFi", |r| {
        r.headed(&format!("{} {},{} {} [{}] {} ", r.day, r.clock.0, r.clock.1, r.level, r.thread, r.logger))
    }),
    ("Tomcat JULI", |r| {
        let month = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
            [r.day[5..7].parse::<usize>().expect("a month") - 1];
        let date = format!("{}-{month}-{} {}.{}", &r.day[8..], &r.day[..4], r.clock.0, r.clock.1);
        r.headed(&format!("{date} {} [{}] {} ", r.level, r.thread, r.logger))
    }),
    ("Elasticsearch", |r| {
        let time = format!("{}T{},{}", r.day, r.clock.0, r.clock.1);
        r.headed(&format!("[{time}][{:<5}][{:<25}] [{}] ", r.level, r.logger, r.thread))
    }),
    ("logback default", |r| {
        r.headed(&format!("{}.{} [{}] {:<5} {} - ", r.clock.0, r.clock.1, r.thread, r.level, r.logger))
    }),
    ("CRI", |r| r.wrapped(|line| format!("{}456789Z stdout F {line}", r.iso()))),
    ("Docker JSON", |r| {
        r.wrapped(|line| {
            json!({"log": format!("{line}\n"), "stream": "stdout", "time": r.iso() + "Z"}).to_string()
        })
    }),
    ("syslog 3164", |r| {
        let month = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
            [r.day[5..7].parse::<usize>().expect("a month") - 1];
        r.wrapped(|line| format!("<14>{month} {} {} host app[4711]: {line}", &r.day[8..], r.clock.0))
    }),
    ("logstash JSON", |r| {
        let time = r.iso() + "Z";
        r.json(json!({"@timestamp": time, "@version": "1", "logger_name": r.logger, "thread_name": r.thread,
            "level": r.level, "level_value": 1}))
    }),
    ("ECS JSON", |r| {
        r.json(json!({"@timestamp": r.iso() + "Z", "log.level": r.level, "ecs.version": "1.2.0",
            "process.thread.name": r.thread, "log.logger": r.logger}))
    }),
];

#[expect(clippy::print_stdout, reason = "figures are what this is for")]
fn say(text: &str) {
    println!("{text}");
}

fn main() {
    let jars = std::env::var_os("LPROF_JARS").map(PathBuf::from).unwrap_or_else(|| {
        PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache/lprof/jars")
    });
    say("| set | layout | correct | incorrect | apart |\n|---|---|---|---|---|");
    for (system, set, day) in SETS {
        let scratch = tempfile::tempdir().expect("a temporary folder");
        let model = scratch.path().join("model");
        let classes = files(&jars.join(system), ".jar");
        assert!(!classes.is_empty(), "no jars in {}: run tests/systems/fetch-jars.sh", jars.display());
        run(Command::new(env!("CARGO_BIN_EXE_lprof")).arg("analyze").args(classes).arg("-o").arg(&model));
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/systems").join(system).join(set);
        let mut first = None;
        for layout in LAYOUTS {
            let (correct, incorrect) = score(&folder, layout, day, &model, scratch.path());
            let (known, _) = *first.get_or_insert((correct, incorrect));
            let (name, apart) = (layout.0, correct - known);
            say(&format!("| {system} {set} | {name} | {correct:.2} % | {incorrect:.2} % | {apart:+.2} |"));
        }
    }
}

/// Messages that are correct and incorrect where the set is laid out so.
fn score(folder: &Path, layout: Layout, day: &str, model: &Path, scratch: &Path) -> (f64, f64) {
    let (table, logs) = (scratch.join("table"), scratch.join("logs"));
    for old in [&table, &logs] {
        let _ = std::fs::remove_dir_all(old);
    }
    std::fs::create_dir_all(&logs).expect("a folder");
    // Node and line of a record, to its line in the other layout.
    let mut lines: BTreeMap<(String, String), usize> = BTreeMap::new();
    for file in files(folder, ".log.zst") {
        let text = unpacked(&file);
        let node = file.file_name().expect("a name").to_string_lossy().replace(".log.zst", "");
        let mut out = String::new();
        let mut number = 1;
        let mut add = |record: Option<(usize, Record<'_>)>| {
            let Some((at, record)) = record else { return };
            let text = layout.1(&record);
            lines.insert((node.clone(), at.to_string()), number);
            number += text.lines().count();
            out += &text;
        };
        let mut open = None;
        for (at, line) in (1..).zip(text.lines()) {
            match (Record::begin(line), &mut open) {
                (Some(record), _) => add(open.replace((at, record))),
                (None, Some((_, record))) => record.more.push(line),
                (None, None) => {}
            }
        }
        add(open);
        std::fs::write(logs.join(format!("{node}.log")), out).expect("a log");
    }
    let truth = scratch.join("truth.tsv");
    std::fs::write(&truth, moved(&unpacked(&folder.join("truth.tsv.zst")), &lines)).expect("a truth");
    let mut command = Command::new(env!("CARGO_BIN_EXE_lprof"));
    command.arg("run").arg("--model").arg(model).args(["--date", day, "--table"]).arg(&table);
    run(command.args(files(&logs, ".log")));
    let mut command = Command::new(env!("CARGO_BIN_EXE_lprof"));
    command.args(["evaluate", "--format", "json", "--table"]).arg(&table).arg("--truth").arg(&truth);
    let found: Value = serde_json::from_str(&run(&mut command)).expect("JSON");
    let percent = |name: &str| found["all"]["percent"][name].as_f64().expect("a score");
    (percent("correct"), percent("incorrect"))
}

/// The truth with the lines of the other layout, without records that are not in it.
fn moved(truth: &str, lines: &BTreeMap<(String, String), usize>) -> String {
    let mut rows = truth.lines();
    let header = rows.next().expect("a header");
    let place = |name: &str| header.split('\t').position(|column| column == name).expect("a column");
    let (node, line) = (place("node"), place("line"));
    let mut out = format!("{header}\n");
    for row in rows {
        let mut cells: Vec<String> = row.split('\t').map(ToOwned::to_owned).collect();
        let key = (cells[node].clone(), cells[line].clone());
        if let Some(number) = lines.get(&key) {
            cells[line] = number.to_string();
            let _ = writeln!(out, "{}", cells.join("\t"));
        }
    }
    out
}

fn unpacked(file: &Path) -> String {
    let bytes = std::fs::read(file).expect("a file of the set");
    let plain = zstd::stream::decode_all(bytes.as_slice()).expect("zstd");
    String::from_utf8_lossy(&plain).into_owned()
}

fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| path.to_string_lossy().ends_with(ending));
    files.sort();
    files
}

fn run(command: &mut Command) -> String {
    let output = command.output().expect("lprof starts");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}
