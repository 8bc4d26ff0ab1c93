//! Scoring: the command on the classes and logs of a labelled set, its scores,
//! and the table that holds the scores reached so far. What is held against
//! that table is for each test to say.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Scores, by name of the column.
pub(crate) type Scores = BTreeMap<String, f64>;

/// Writes the scores found into the table: a score goes down only in a change that shows it.
pub(crate) fn is_update() -> bool {
    std::env::var_os("LPROF_UPDATE_SCORES").is_some()
}

/// Analyzes `jars`, maps and reduces `logs`, and scores the table, which is made in `scratch`,
/// against `truth` and the table of types, if there is one: what `lprof evaluate` says.
pub(crate) fn evaluation(
    (jars, logs): (&[PathBuf], &[PathBuf]),
    (truth, types): (&Path, &Path),
    scratch: &Path,
) -> Result<serde_json::Value, String> {
    let table = scratch.join("table");
    let mut run = Command::new(env!("CARGO_BIN_EXE_lprof"));
    output(run.arg("run").arg("--table").arg(&table).args(jars).args(logs))?;
    evaluated(&table, truth, types)
}

/// What `lprof evaluate` says of a table.
pub(crate) fn evaluated(table: &Path, truth: &Path, types: &Path) -> Result<serde_json::Value, String> {
    let mut evaluate = Command::new(env!("CARGO_BIN_EXE_lprof"));
    evaluate.args(["evaluate", "--ceiling", "--format", "json", "--table"]).arg(table);
    if types.is_file() {
        evaluate.arg("--types").arg(types);
    }
    let json = output(evaluate.arg("--truth").arg(truth))?;
    serde_json::from_str(&json).map_err(|e| format!("{e}: {json}"))
}

/// Columns of scores beyond those of messages: how right requests, spans, links and types are;
/// beside spans what they are where nothing is analyzed, and beside links what the model proposes.
pub(crate) const MORE: [&str; 11] = [
    "b_cubed",
    "span_precision",
    "span_recall",
    "span_f",
    "adjacent_f",
    "tracker_f",
    "broken",
    "link_precision",
    "link_recall",
    "ceiling",
    "types",
];

/// The cost at which the tracker is scored.
const TRACKER_COST: f64 = 2.0;

/// The scores of an evaluation over all its messages, in percent. What the truth does not tell
/// is not there.
pub(crate) fn scores(evaluation: &serde_json::Value) -> Result<Scores, String> {
    let all = &evaluation["all"];
    let number = |v: &serde_json::Value| v.as_f64().ok_or_else(|| format!("no score in {evaluation}"));
    let mut scores = Scores::new();
    for name in ["correct", "incomplete", "incorrect", "failed"] {
        scores.insert(name.to_owned(), number(&all["percent"][name])?);
    }
    scores.insert("log_point".to_owned(), number(&all["log_point_exact_percent"])?);
    scores.insert("b_cubed".to_owned(), 100.0 * number(&all["b_cubed"]["f"])?);
    let (spans, links) = (&evaluation["spans"]["b_cubed"], &evaluation["links"]);
    let (baselines, ceiling) = (&evaluation["baselines"], &evaluation["ceiling"]);
    let continuations = &evaluation["continuations"];
    let f = |baseline: &serde_json::Value| baseline["b_cubed"]["f"].as_f64();
    let of = |name: &str| baselines[name].as_array().into_iter().flatten();
    let shares = [
        ("span_precision", spans["precision"].as_f64()),
        ("span_recall", spans["recall"].as_f64()),
        ("span_f", spans["f"].as_f64()),
        ("adjacent_f", of("adjacent").filter_map(f).reduce(f64::max)),
        ("tracker_f", of("tracker").find(|tracker| tracker["cost"] == TRACKER_COST).and_then(f)),
        ("broken", share(&continuations["n_broken"], &continuations["n"])),
        ("link_precision", links["precision"].as_f64()),
        ("link_recall", links["recall"].as_f64()),
        ("ceiling", share(&ceiling["n_way"], &ceiling["n_needed"])),
    ];
    let shares = shares.into_iter().filter_map(|(name, share)| Some((name, 100.0 * share?)));
    let types = evaluation["types"]["percent"].as_f64().map(|types| ("types", types));
    scores.extend(shares.chain(types).map(|(name, score)| (name.to_owned(), score)));
    Ok(scores)
}

fn share(n: &serde_json::Value, of: &serde_json::Value) -> Option<f64> {
    let (n, of) = (n.as_f64()?, of.as_f64()?);
    (of > 0.0).then_some(n / of)
}

/// The files of a folder that end with `suffix`, sorted; at least one.
pub(crate) fn files(folder: &Path, suffix: &str) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(folder).map_err(|e| format!("`{}`: {e}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    files.retain(|p| p.to_string_lossy().ends_with(suffix));
    files.sort();
    if files.is_empty() { Err(format!("`{}`: no *{suffix}", folder.display())) } else { Ok(files) }
}

/// What a command prints, if it succeeds.
pub(crate) fn output(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|e| e.to_string())?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(format!("{command:?}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr)))
    }
}

/// The cells of a row of a table, by name of the column; none if there is no row that begins
/// with `key`.
pub(crate) fn row(table: &str, key: &[&str]) -> Option<BTreeMap<String, String>> {
    let mut lines = table.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let header = lines.next()?;
    let cells = lines.find(|cells| cells.starts_with(key))?;
    Some(header.iter().zip(cells).map(|(name, cell)| ((*name).to_owned(), cell.to_owned())).collect())
}

/// The table with a row replaced or added, sorted. A row begins with its key, which `names`
/// names, and ends with `columns` of its scores (`-`: none).
pub(crate) fn updated(
    table: &str,
    (names, key): (&[&str], &[&str]),
    (columns, scores): (&[&str], &Scores),
) -> String {
    let header = [names, columns].concat().join("\t");
    let begin = key.join("\t") + "\t";
    let mut rows: Vec<String> = table.lines().skip(1).map(str::to_owned).collect();
    rows.retain(|row| !row.starts_with(&begin));
    let cell = |name: &&str| scores.get(*name).map_or("-".to_owned(), |score| format!("{score:.2}"));
    let cells: Vec<String> = columns.iter().map(cell).collect();
    rows.push(begin + &cells.join("\t"));
    rows.sort();
    format!("{header}\n{}\n", rows.join("\n"))
}
