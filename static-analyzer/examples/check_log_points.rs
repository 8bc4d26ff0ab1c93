//! Measures templates against records whose printing statement is known:
//! `check_log_points LOG_DIR JAR...` reads `LOG_DIR/truth.tsv` (node, line,
//! n_lines, .., log_point, level, .. [call_site]) and `LOG_DIR/NODE.log`.
//!
//! Matching is the obvious way: every template of the record's logger and level
//! is tried, the one with the most constant characters wins.
#![allow(clippy::print_stdout, reason = "it is a command")]

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use regex::{Regex, RegexBuilder};
use static_analyzer::class_path::Config;
use static_analyzer::path::LogPoint;
use static_analyzer::program::{MethodId, Program};

/// Layouts: level, logger or source file, message.
const HEADERS: &[&str] = &[
    r"^(?P<level>[A-Z]+) +\[.*?\] \S+ \S+ (?P<file>\w+\.java):(?P<line>\d+) - ",
    r"^\S+ \S+ \[myid:\d*\] - (?P<level>[A-Z]+) +\[.*:(?P<class>[\w.$]+)@\d+\] - ",
    r"^\S+ \S+ (?P<level>[A-Z]+) +\[.*?\] (?P<logger>[\w.$]+): ",
    r"^\S+ \S+ (?P<level>[A-Z]+) +(?P<logger>[\w.$]+): ",
    r"^\S+ \S+ (?P<level>[A-Z]+) +\[.*?\] (?P<file>\w+\.java):(?P<line>\d+) - ",
];

struct Compiled<'a> {
    point: &'a LogPoint,
    regex: Regex,
    uncaptured: bool,
    texts: Vec<bool>,
}

fn main() {
    let mut args = std::env::args().skip(1);
    let folder = PathBuf::from(args.next().expect("a folder"));
    let paths: Vec<PathBuf> = args.map(PathBuf::from).collect();
    let program =
        static_analyzer::program::load(&paths, &Config::default()).unwrap_or_else(|e| panic!("{e}"));
    let points = static_analyzer::log_points::log_points(&program);
    let compiled = compile(&points);
    let truth = std::fs::read_to_string(folder.join("truth.tsv")).expect("truth.tsv");
    let headers: Vec<Regex> = HEADERS.iter().map(|h| Regex::new(h).expect("a header")).collect();
    check(&program, &compiled, &folder, &truth, &headers);
}

fn compile(points: &[LogPoint]) -> Vec<Compiled<'_>> {
    let mut all = Vec::new();
    for point in points {
        for template in &point.templates {
            let tail = if point.has_throwable { r"(?:\n.*)?" } else { "" };
            let regex = RegexBuilder::new(&format!("^(?:{}){tail}$", template.regex))
                .dot_matches_new_line(true)
                .size_limit(64 << 20)
                .build();
            let regex = match regex {
                Ok(regex) => regex,
                Err(error) => {
                    println!("bad regex {error}: {}", template.regex.len());
                    continue;
                }
            };
            let wild = template.regex.matches(".*?").count();
            let uncaptured = wild > template.regex.matches("(.*?)").count();
            let texts = template
                .captures
                .iter()
                .map(|&c| {
                    point.variables[c as usize].shape == schema::ValueShape::Text
                        || point.variables[c as usize].shape == schema::ValueShape::Throwable
                })
                .collect();
            all.push(Compiled { point, regex, uncaptured, texts });
        }
    }
    all
}

fn score(c: &Compiled<'_>, text: &str) -> Option<usize> {
    let captures = c.regex.captures(text)?;
    let mut variable = 0;
    for (i, &is_text) in c.texts.iter().enumerate() {
        if let Some(m) = captures.get(i + 1) {
            variable += if is_text { m.len() } else { m.len() / 2 };
        }
    }
    let constant = text.len().saturating_sub(variable);
    Some(if c.uncaptured { constant.min(literals(c.regex.as_str())) } else { constant })
}

fn literals(regex: &str) -> usize {
    regex.chars().filter(|c| c.is_alphanumeric() || *c == ' ').count() / 2
}

fn site(program: &Program, method: MethodId, line: u32) -> String {
    let m = &program.methods[method.index()];
    format!("{}.{}:{line}", program.classes[m.class.index()].name.replace('/', "."), m.name)
}

fn check(program: &Program, compiled: &[Compiled<'_>], folder: &Path, truth: &str, headers: &[Regex]) {
    let mut rows = truth.lines();
    let columns: Vec<&str> = rows.next().expect("a header").split('\t').collect();
    let column = |name: &str| columns.iter().position(|c| *c == name);
    let (node, line, n_lines, log_point) =
        (column("node"), column("line"), column("n_lines"), column("log_point"));
    let call_site = column("call_site");
    let mut files: HashMap<String, Vec<String>> = HashMap::new();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut worst: BTreeMap<(String, String), (usize, String)> = BTreeMap::new();
    let known: std::collections::HashSet<String> =
        compiled.iter().map(|c| site(program, c.point.method, c.point.source_line)).collect();
    let mut memo: HashMap<String, (&'static str, String)> = HashMap::new();
    for row in rows {
        let row: Vec<&str> = row.split('\t').collect();
        let get = |c: Option<usize>| row[c.expect("a column")];
        let name = get(node).to_string();
        let lines = files.entry(name.clone()).or_insert_with(|| {
            let bytes = std::fs::read(folder.join(format!("{name}.log"))).unwrap_or_default();
            String::from_utf8_lossy(&bytes).lines().map(str::to_string).collect()
        });
        let first: usize = get(line).parse().expect("a number");
        let count: usize = get(n_lines).parse().expect("a number");
        let Some(record) = lines.get(first - 1..first - 1 + count) else {
            *counts.entry("no such line").or_default() += 1;
            continue;
        };
        let record = record.join("\n");
        let wanted = get(log_point);
        let also = call_site.map_or("", |c| row[c]);
        let Some((header, captures)) = headers.iter().find_map(|h| h.captures(&record).map(|c| (h, c)))
        else {
            *counts.entry("no header").or_default() += 1;
            continue;
        };
        let _ = header;
        let text = &record[captures.get(0).expect("a match").end()..];
        let key = format!("{wanted} {also} {record}").chars().skip_while(|c| *c != ' ').collect::<String>();
        let key = format!("{wanted}{}{text}", captures.name("logger").map_or("", |m| m.as_str())) + &key[..0];
        let (outcome, chosen) = memo
            .entry(key)
            .or_insert_with(|| {
                let level = captures.name("level").map_or("", |m| m.as_str());
                let logger = captures.name("logger").map_or("", |m| m.as_str());
                let class = captures.name("class").map_or("", |m| m.as_str());
                choose(program, compiled, (level, class), logger, text, wanted, also, &known)
            })
            .clone();
        *counts.entry(outcome).or_default() += 1;
        if outcome != "true" && outcome != "not in jars" {
            let entry = worst
                .entry((outcome.to_string(), format!("{wanted} {also} -> {chosen}")))
                .or_insert((0, record.clone()));
            entry.0 += 1;
        }
    }
    println!("{counts:?}");
    let mut worst: Vec<_> = worst.into_iter().collect();
    worst.sort_by_key(|w| std::cmp::Reverse(w.1.0));
    for ((outcome, what), (count, example)) in worst.iter().take(60) {
        println!(
            "{count} {outcome} {what}\n      {}",
            example.chars().take(400).collect::<String>().replace('\n', "\\n")
        );
    }
}

#[expect(clippy::too_many_arguments, reason = "a tool")]
fn choose(
    program: &Program,
    compiled: &[Compiled<'_>],
    (level, class): (&str, &str),
    logger: &str,
    text: &str,
    wanted: &str,
    also: &str,
    known: &std::collections::HashSet<String>,
) -> (&'static str, String) {
    let level = schema::Level::parse(level);
    let suits = |p: &LogPoint| {
        let level_ok = p.levels.is_empty() || level.is_none_or(|l| p.levels.contains(&l));
        let m = &program.methods[p.method.index()];
        let level_ok = level_ok && program.classes[m.class.index()].name.ends_with(class);
        let logger_ok =
            logger.is_empty() || p.loggers.is_empty() || p.loggers.iter().any(|l| l.ends_with(logger));
        (level_ok, logger_ok)
    };
    let mut best: Vec<&Compiled<'_>> = Vec::new();
    for strict in [true, false] {
        let mut top = 0;
        for c in compiled {
            let (level_ok, logger_ok) = suits(c.point);
            if !level_ok || strict && !logger_ok {
                continue;
            }
            if let Some(score) = score(c, text) {
                if best.is_empty() || score > top {
                    best.clear();
                    top = score;
                }
                if score == top {
                    best.push(c);
                }
            }
        }
        if !best.is_empty() {
            break;
        }
    }
    let is_true = |c: &&Compiled<'_>| {
        site(program, c.point.method, c.point.source_line) == wanted
            || !also.is_empty() && c.point.call_line.is_some_and(|l| site(program, c.point.frame, l) == also)
    };
    let names = best.iter().take(3).map(|c| {
        site(program, c.point.method, c.point.source_line)
            + &c.point.call_line.map_or(String::new(), |l| format!("@{l}"))
    });
    let names = names.collect::<Vec<_>>().join(", ");
    if best.is_empty() {
        return (if known.contains(wanted) { "none" } else { "not in jars" }, String::new());
    }
    let sites: std::collections::HashSet<String> =
        best.iter().map(|c| site(program, c.point.method, c.point.source_line)).collect();
    if best.iter().any(is_true) {
        return (if sites.len() == 1 { "true" } else { "tie" }, names);
    }
    (if known.contains(wanted) { "wrong" } else { "not in jars" }, names)
}
