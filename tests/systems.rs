//! Real systems: lprof on the labelled sets of `tests/systems`, held to the
//! scores reached so far (`tests/systems/scores.tsv`).
//!
//! The jars come through Maven into a cache outside of the tree; without Maven
//! these tests say so and are skipped by name. `LPROF_UPDATE_SCORES=1` writes the
//! scores found into the table, and into that of `docs/accuracy.md`: a score goes down only in a change that
//! shows it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, Failed, Trial};
use schema::{Model, TopLevelKind, TopLevelMethod};
use scoring::{Scores, files, output};

#[path = "support/accuracy.rs"]
mod accuracy;
#[path = "support/scoring.rs"]
mod scoring;
#[path = "support/variants.rs"]
mod variants;

const SETS: &[(&str, &str)] = &[
    ("cassandra-2.1.0", "set-a"),
    ("cassandra-2.1.0", "set-a-debug"),
    ("cassandra-2.1.0", "set-a-plain"),
    ("cassandra-2.1.0", "set-killed"),
    ("cassandra-2.1.0", "set-killed-half"),
    ("cassandra-2.1.0", "set-killed-muted"),
    ("cassandra-2.1.0", "set-killed-plain"),
    ("cassandra-2.1.0", "set-killed-plain-seconds"),
    ("hbase-0.94.18", "set-a"),
    ("hbase-0.94.18", "set-a-apart"),
    ("hbase-0.94.18", "set-a-cross"),
    ("hbase-0.94.18", "set-a-debug"),
    ("hbase-0.94.18", "set-a-plain"),
    ("hbase-0.94.18", "set-killed"),
    ("hbase-0.94.18", "set-killed-muted"),
    ("hbase-0.94.18", "set-killed-plain"),
    ("hbase-0.94.18", "set-killed-plain-seconds"),
    ("hbase-2.4.18", "set-killed"),
    ("hbase-2.4.18", "set-killed-apart"),
    ("hbase-2.4.18", "set-killed-half"),
    ("hbase-2.4.18", "set-killed-plain"),
    ("hbase-2.4.18", "set-killed-plain-muted"),
    ("hbase-2.4.18", "set-killed-plain-seconds"),
    ("hdfs-2.7.3", "set-a"),
    ("hdfs-2.7.3", "set-killed"),
    ("hdfs-2.7.3", "set-killed-apart"),
    ("hdfs-2.7.3", "set-killed-muted"),
    ("hdfs-2.7.3", "set-killed-seconds"),
    ("kafka-3.7.1", "set-killed"),
    ("kafka-3.7.1", "set-killed-half"),
    ("kafka-3.7.1", "set-killed-muted"),
    ("kafka-3.7.1", "set-killed-plain"),
    ("kafka-3.7.1", "set-killed-plain-seconds"),
    ("spark-3.5.1", "set-killed"),
    ("spark-3.5.1", "set-killed-apart"),
    ("spark-3.5.1", "set-killed-half"),
    ("spark-3.5.1", "set-killed-muted"),
    ("spark-3.5.1", "set-killed-seconds"),
    ("spark-3.5.1", "set-killed-plain"),
    ("spark-3.5.1", "set-killed-plain-seconds"),
    ("yarn-2.0.2-alpha", "set-a"),
    ("yarn-2.0.2-alpha", "set-a-plain"),
    ("yarn-2.0.2-alpha", "set-a-plain-muted"),
    ("yarn-3.3.6", "set-killed"),
    ("yarn-3.3.6", "set-killed-half"),
    ("yarn-3.3.6", "set-killed-muted"),
    ("yarn-3.3.6", "set-killed-plain"),
    ("yarn-3.3.6", "set-killed-plain-seconds"),
    ("zookeeper-3.4.6", "set-a"),
    ("zookeeper-3.4.6", "set-a-debug"),
    ("zookeeper-3.4.6", "set-a-plain"),
    ("zookeeper-3.4.6", "set-killed"),
    ("zookeeper-3.4.6", "set-killed-muted"),
    ("zookeeper-3.4.6", "set-killed-plain"),
    ("zookeeper-3.4.6", "set-killed-plain-seconds"),
    ("zookeeper-3.9.2", "set-killed"),
    ("zookeeper-3.9.2", "set-killed-seconds"),
    ("zookeeper-3.9.2", "set-killed-debug"),
    ("zookeeper-3.9.2", "set-killed-debug-muted"),
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

/// Columns of the table of scores.
const COLUMNS: [&str; 5] = ["correct", "incomplete", "incorrect", "failed", "log_point"];

/// What must never get worse, and whether more is better. The share of incomplete messages may
/// grow when incorrect ones shrink.
const HELD: [(&str, bool); 6] = [
    ("correct", true),
    ("incorrect", false),
    ("failed", false),
    ("log_point", true),
    ("b_cubed", true),
    ("span_f", true),
];

fn check(system: &str, set: &str, jars: &Path) -> Result<(), String> {
    let got = measure(system, set, jars)?;
    let path = root().join("scores.tsv");
    let table = std::fs::read_to_string(&path).map_err(|e| format!("`{}`: {e}", path.display()))?;
    if scoring::is_update() {
        let columns = [&COLUMNS[..], &scoring::MORE].concat();
        let table = scoring::updated(&table, (&["system", "set"], &[system, set]), (&columns, &got));
        std::fs::write(&path, &table).map_err(|e| e.to_string())?;
        return tell(&table);
    }
    let row = scoring::row(&table, &[system, set])
        .ok_or_else(|| format!("scores.tsv has no row for {system} {set}"))?;
    let expected = |name: &str| row.get(name).and_then(|cell| cell.parse::<f64>().ok());
    let mut worse = Vec::new();
    for (name, more_is_better) in HELD {
        // What nobody has measured is not held.
        if row.get(name).is_some_and(|cell| cell == "-") {
            continue;
        }
        let expected = expected(name).ok_or_else(|| format!("no `{name}` of {system} {set}"))?;
        // As it stands in the table.
        let got = (100.0 * got[name]).round() / 100.0;
        worse.extend((if more_is_better { got < expected } else { got > expected }).then_some(name));
    }
    if worse.is_empty() {
        Ok(())
    } else {
        Err(format!("worse: {worse:?}\nexpected {row:?}\ngot      {got:?}"))
    }
}

/// Writes the scores into the table of the manual.
fn tell(table: &str) -> Result<(), String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/accuracy.md");
    let document = std::fs::read_to_string(&path).map_err(|e| format!("`{}`: {e}", path.display()))?;
    std::fs::write(&path, accuracy::told(&document, table)?).map_err(|e| format!("`{}`: {e}", path.display()))
}

/// Analyzes, maps, reduces and evaluates one set.
fn measure(system: &str, set: &str, jars: &Path) -> Result<Scores, String> {
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    let (folder, truth) = match variants::NAMES.iter().find(|variant| set.ends_with(**variant)) {
        None => folder_and_truth(system, set, scratch.path())?,
        Some(variant) => {
            let set = set.strip_suffix(variant).unwrap_or(set);
            let (folder, truth) = folder_and_truth(system, set, scratch.path())?;
            varied(variant, &folder, &truth, scratch.path())?
        }
    };
    let inputs = (files(jars, ".jar")?, files(&folder, ".log.zst")?);
    let types = root().join(system).join("types.tsv");
    let found = scoring::evaluation((&inputs.0, &inputs.1), (&truth, &types), scratch.path())?;
    #[cfg(feature = "sql")]
    ask(system, set, &scratch.path().join("table"))?;
    scoring::scores(&found)
}

/// Sets of which there are queries in `samples/queries/systems`, and how their names begin.
#[cfg(feature = "sql")]
const ASKED: [(&str, &str, &str); 3] = [
    ("hdfs-2.7.3", "set-killed", "hdfs-"),
    ("yarn-2.0.2-alpha", "set-a", "yarn-"),
    ("hbase-0.94.18", "set-a", "hbase-"),
];

/// Asks the queries of a set: each gives rows, with the columns of those that are written down.
#[cfg(feature = "sql")]
fn ask(system: &str, set: &str, table: &Path) -> Result<(), String> {
    let Some((.., begin)) = ASKED.iter().find(|asked| (asked.0, asked.1) == (system, set)) else {
        return Ok(());
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/queries/systems");
    let queries = files(&folder, ".query")?;
    let name = |file: &Path| file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mine: Vec<_> = queries.into_iter().filter(|file| name(file).starts_with(begin)).collect();
    if mine.is_empty() {
        return Err(format!("no query of {system}"));
    }
    for file in mine {
        let mut query = Command::new(env!("CARGO_BIN_EXE_lprof"));
        query.args(["query", "--format", "csv", "--table"]).arg(table).arg("-f").arg(&file);
        let found = output(&mut query)?;
        let known = std::fs::read_to_string(file.with_extension("csv")).map_err(|e| e.to_string())?;
        if found.lines().next() != known.lines().next() || found.lines().count() < 2 {
            return Err(format!("{}: {found}", file.display()));
        }
    }
    Ok(())
}

/// The logs of a set that is in the tree, and its truth. `set-a-cross` is `set-a` with the units of
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

/// The folder of the logs of a set, and its truth, varied.
fn varied(variant: &str, folder: &Path, truth: &Path, scratch: &Path) -> Result<(PathBuf, PathBuf), String> {
    let told = |e: std::io::Error| e.to_string();
    let mut logs = Vec::new();
    for file in files(folder, ".log.zst")? {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let node = name.strip_suffix(".log.zst").unwrap_or(&name).to_owned();
        logs.push((node, unpacked(&file)?));
    }
    let (logs, rows) = variants::varied(variant, logs, unpacked(truth)?)?;
    let (folder, truth) = (scratch.join("varied"), scratch.join("varied.tsv"));
    std::fs::create_dir(&folder).map_err(told)?;
    for (node, log) in logs {
        let packed = zstd::encode_all(log.as_bytes(), 1).map_err(told)?;
        std::fs::write(folder.join(node + ".log.zst"), packed).map_err(told)?;
    }
    std::fs::write(&truth, rows).map_err(told)?;
    Ok((folder, truth))
}

/// The text of a file packed by zstd.
fn unpacked(path: &Path) -> Result<String, String> {
    let told = |e: std::io::Error| format!("`{}`: {e}", path.display());
    let bytes = std::fs::read(path).map_err(told)?;
    String::from_utf8(zstd::decode_all(&*bytes).map_err(told)?).map_err(|e| e.to_string())
}
