//! Real systems: lprof on the labelled sets of `tests/systems`, held to the
//! scores reached so far (`tests/systems/scores.tsv`).
//!
//! The jars come through Maven into a cache outside of the tree; without Maven
//! these tests say so and are skipped by name. `LPROF_UPDATE_SCORES=1` writes the
//! scores found into the table: a score goes down only in a change that shows it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, Failed, Trial};
use schema::{Model, TopLevelKind, TopLevelMethod};

const SETS: &[(&str, &str)] = &[
    ("cassandra-2.1.0", "set-a"),
    ("cassandra-2.1.0", "set-a-debug"),
    ("cassandra-2.1.0", "set-a-plain"),
    ("cassandra-2.1.0", "set-killed"),
    ("cassandra-2.1.0", "set-killed-plain"),
    ("hbase-0.94.18", "set-a"),
    ("hbase-0.94.18", "set-a-cross"),
    ("hbase-0.94.18", "set-a-debug"),
    ("hbase-0.94.18", "set-a-plain"),
    ("hbase-0.94.18", "set-killed"),
    ("hbase-0.94.18", "set-killed-plain"),
    ("hbase-2.4.18", "set-killed"),
    ("hbase-2.4.18", "set-killed-plain"),
    ("hdfs-2.7.3", "set-a"),
    ("hdfs-2.7.3", "set-killed"),
    ("kafka-3.7.1", "set-killed"),
    ("kafka-3.7.1", "set-killed-plain"),
    ("spark-3.5.1", "set-killed"),
    ("spark-3.5.1", "set-killed-plain"),
    ("yarn-2.0.2-alpha", "set-a"),
    ("yarn-2.0.2-alpha", "set-a-plain"),
    ("yarn-3.3.6", "set-killed"),
    ("yarn-3.3.6", "set-killed-plain"),
    ("zookeeper-3.4.6", "set-a"),
    ("zookeeper-3.4.6", "set-a-debug"),
    ("zookeeper-3.4.6", "set-a-plain"),
    ("zookeeper-3.4.6", "set-killed"),
    ("zookeeper-3.4.6", "set-killed-plain"),
    ("zookeeper-3.9.2", "set-killed"),
    ("zookeeper-3.9.2", "set-killed-debug"),
];

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // The sets share two cores, and a table of scores when it is updated.
    arguments.test_threads = Some(1);
    let listing = arguments.list;
    let jars = if listing { None } else { jars() };
    if let Err(reason) = jars.as_ref().unwrap_or(&Ok(PathBuf::new())) {
        eprintln!("systems: skipped: {reason}");
    }
    let usable = matches!(jars, Some(Ok(_))) || listing;
    let jars = jars.and_then(Result::ok).unwrap_or_default();
    let scores = SETS.iter().map(|&(system, set)| {
        let jars = jars.join(system);
        let name = format!("{system}/{set}");
        Trial::test(name, move || check(system, set, &jars).map_err(Failed::from))
    });
    let requests = REQUESTS.map(|system| {
        let jars = jars.join(system);
        let name = format!("{system}/requests");
        Trial::test(name, move || check_requests(system, &jars).map_err(Failed::from))
    });
    let trials = scores.chain(requests).map(|trial| trial.with_ignored_flag(!usable));
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}

/// Systems with a list of their requests in `requests.tsv`.
const REQUESTS: [&str; 5] =
    ["cassandra-2.1.0", "hbase-0.94.18", "hdfs-2.7.3", "yarn-2.0.2-alpha", "zookeeper-3.4.6"];

/// Holds the model of a system against the list made by hand.
fn check_requests(system: &str, jars: &Path) -> Result<(), String> {
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    let path = scratch.path().join("model");
    let mut analyze = Command::new(env!("CARGO_BIN_EXE_lprof"));
    output(analyze.arg("analyze").args(files(jars, ".jar")?).arg("-o").arg(&path))?;
    let model = Model::read(&path).map_err(|e| e.to_string())?;
    let list = root().join("requests.tsv");
    let list = std::fs::read_to_string(&list).map_err(|e| format!("`{}`: {e}", list.display()))?;
    let mut wrong = Vec::new();
    for line in list.lines().filter(|line| line.starts_with(&format!("{system}\t"))) {
        let cells: Vec<&str> = line.split('\t').collect();
        let [_, found, rule, method, other] = cells[..] else { return Err(format!("no rule: `{line}`")) };
        // A name that nothing has would make every `no` come true.
        let unknown = [method, other].into_iter().find(|name| *name != "-" && !knows(&model, name));
        if let Some(name) = unknown {
            return Err(format!("`{name}`: no top-level method, and no log point is in it"));
        }
        if holds(&model, rule, method, other) != (found == "yes") {
            wrong.push(line);
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(format!("not as listed:\n{}", wrong.join("\n"))) }
}

/// Whether a method called `Class.method` begins or prints something.
fn knows(model: &Model, name: &str) -> bool {
    let is = |class: &str, method: &str| {
        format!("{}.{method}", class.rsplit('.').next().unwrap_or_default()) == name
    };
    model.top_level_methods.iter().any(|top| is(&top.class, &top.method))
        || model.log_points.iter().any(|point| is(&point.class, &point.method))
}

/// Whether a rule of `requests.tsv` holds in `model`.
fn holds(model: &Model, rule: &str, method: &str, other: &str) -> bool {
    let is = |top: &TopLevelMethod, name: &str| {
        format!("{}.{}", top.class.rsplit('.').next().unwrap_or_default(), top.method) == name
    };
    let kinds: Vec<TopLevelKind> =
        model.top_level_methods.iter().filter(|top| is(top, method)).map(|top| top.kind).collect();
    match rule {
        "request" => {
            kinds.iter().any(|kind| !matches!(kind, TopLevelKind::Dispatcher | TopLevelKind::Unreached))
        }
        "service" => !kinds.is_empty() && kinds.iter().all(|kind| *kind == TopLevelKind::Dispatcher),
        _ => model.communication_pairs.iter().any(|pair| {
            is(&model.top_level_methods[pair.from.index()], method)
                && is(&model.top_level_methods[pair.to.index()], other)
        }),
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/systems")
}

/// The folder of jars, one folder a system; the reason why there is none.
fn jars() -> Option<Result<PathBuf, String>> {
    let output = Command::new(root().join("fetch-jars.sh")).output();
    Some(match output {
        Err(e) => Err(format!("fetch-jars.sh: {e}")),
        Ok(o) if o.status.success() => Ok(PathBuf::from(String::from_utf8_lossy(&o.stdout).trim())),
        Ok(o) => Err(String::from_utf8_lossy(&o.stderr).trim().to_owned()),
    })
}

/// Scores in percent, by name of the column.
type Scores = BTreeMap<String, f64>;

/// Columns of the table of scores, and whether more is better.
const COLUMNS: [(&str, bool); 5] =
    [("correct", true), ("incomplete", false), ("incorrect", false), ("failed", false), ("log_point", true)];

fn check(system: &str, set: &str, jars: &Path) -> Result<(), String> {
    let got = measure(system, set, jars)?;
    let path = root().join("scores.tsv");
    let table = std::fs::read_to_string(&path).map_err(|e| format!("`{}`: {e}", path.display()))?;
    if std::env::var_os("LPROF_UPDATE_SCORES").is_some() {
        return std::fs::write(&path, updated(&table, system, set, &got)).map_err(|e| e.to_string());
    }
    let expected =
        row(&table, system, set).ok_or_else(|| format!("scores.tsv has no row for {system} {set}"))?;
    // The share of incomplete messages may grow when incorrect ones shrink: only
    // what must never get worse is held.
    let held = ["correct", "incorrect", "failed", "log_point"];
    let worse = |(name, more_is_better): &(&str, bool)| {
        let (got, expected) = (got[*name], expected[*name]);
        held.contains(name) && (if *more_is_better { got < expected } else { got > expected })
    };
    let worse: Vec<&str> = COLUMNS.iter().filter(|c| worse(c)).map(|(name, _)| *name).collect();
    if worse.is_empty() {
        Ok(())
    } else {
        Err(format!("worse: {worse:?}\nexpected {expected:?}\ngot      {got:?}"))
    }
}

/// Analyzes, maps, reduces and evaluates one set.
fn measure(system: &str, set: &str, jars: &Path) -> Result<Scores, String> {
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    let table = scratch.path().join("table");
    let (folder, truth) = folder_and_truth(system, set, scratch.path())?;
    let mut run = Command::new(env!("CARGO_BIN_EXE_lprof"));
    run.arg("run").arg("--table").arg(&table).args(files(jars, ".jar")?).args(files(&folder, ".log.zst")?);
    output(&mut run)?;
    let mut evaluate = Command::new(env!("CARGO_BIN_EXE_lprof"));
    evaluate.args(["evaluate", "--format", "json", "--table"]).arg(&table);
    let json = output(evaluate.arg("--truth").arg(truth))?;
    let json: serde_json::Value = serde_json::from_str(&json).map_err(|e| format!("{e}: {json}"))?;
    let all = &json["all"];
    let number = |v: &serde_json::Value| v.as_f64().ok_or_else(|| format!("no score in {json}"));
    let mut scores = Scores::new();
    for (name, _) in &COLUMNS[..4] {
        scores.insert((*name).to_owned(), number(&all["percent"][name])?);
    }
    scores.insert("log_point".to_owned(), number(&all["log_point_exact_percent"])?);
    Ok(scores)
}

/// The logs of a set and its truth. `set-a-cross` is `set-a` with the units of
/// `cross.tsv`, which reach from one system into another.
fn folder_and_truth(system: &str, set: &str, scratch: &Path) -> Result<(PathBuf, PathBuf), String> {
    let Some(set) = set.strip_suffix("-cross") else {
        let folder = root().join(system).join(set);
        let truth = folder.join("truth.tsv.zst");
        return Ok((folder, truth));
    };
    let folder = root().join(system).join(set);
    let (truth, cross) = (unpacked(&folder.join("truth.tsv.zst"))?, unpacked(&folder.join("cross.tsv.zst"))?);
    let cross: BTreeMap<&str, &str> = cross.lines().filter_map(|line| line.rsplit_once('\t')).collect();
    let header = truth.lines().next().unwrap_or_default();
    let unit = header.split('\t').position(|name| name == "unit").ok_or("no column `unit`")?;
    let joined = truth.lines().map(|line| {
        let mut cells: Vec<&str> = line.split('\t').collect();
        if let Some(other) = cross.get(cells[..2].join("\t").as_str()) {
            cells[unit] = other;
        }
        cells.join("\t") + "\n"
    });
    let path = scratch.join("truth.tsv");
    std::fs::write(&path, joined.collect::<String>()).map_err(|e| e.to_string())?;
    Ok((folder, path))
}

/// The text of a file packed by zstd.
fn unpacked(path: &Path) -> Result<String, String> {
    let told = |e: std::io::Error| format!("`{}`: {e}", path.display());
    let bytes = std::fs::read(path).map_err(told)?;
    String::from_utf8(zstd::decode_all(&*bytes).map_err(told)?).map_err(|e| e.to_string())
}

fn files(folder: &Path, suffix: &str) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(folder).map_err(|e| format!("`{}`: {e}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    files.retain(|p| p.to_string_lossy().ends_with(suffix));
    files.sort();
    if files.is_empty() { Err(format!("`{}`: no *{suffix}", folder.display())) } else { Ok(files) }
}

fn output(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|e| e.to_string())?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(format!("{command:?}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr)))
    }
}

fn row(table: &str, system: &str, set: &str) -> Option<Scores> {
    let cells = table.lines().map(|l| l.split('\t').collect::<Vec<_>>()).find(|c| c[..2] == [system, set])?;
    COLUMNS
        .iter()
        .zip(&cells[2..])
        .map(|((name, _), cell)| Some(((*name).to_owned(), cell.parse().ok()?)))
        .collect()
}

/// The table with the row of one set replaced or added, sorted.
fn updated(table: &str, system: &str, set: &str, scores: &Scores) -> String {
    let header = format!("system\tset\t{}", COLUMNS.map(|(name, _)| name).join("\t"));
    let mut rows: Vec<String> = table.lines().skip(1).map(str::to_owned).collect();
    rows.retain(|r| !r.starts_with(&format!("{system}\t{set}\t")));
    let cells: Vec<String> = COLUMNS.iter().map(|(name, _)| format!("{:.2}", scores[*name])).collect();
    rows.push(format!("{system}\t{set}\t{}", cells.join("\t")));
    rows.sort();
    format!("{header}\n{}\n", rows.join("\n"))
}
