//! What lprof makes of a set: its messages in the four classes, and right or not.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Result;
use super::thread_names::with_threads;
use super::workshop::{clear, files, put, read, said};

/// Messages of a set as `lprof evaluate` classes them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Score {
    pub(crate) correct: u64,
    pub(crate) incomplete: u64,
    pub(crate) incorrect: u64,
    pub(crate) failed: u64,
}

impl Score {
    /// At least 99 of 100 messages correct and none incorrect.
    pub(crate) fn is_right(self) -> bool {
        let all = self.correct + self.incomplete + self.incorrect + self.failed;
        all > 0 && self.incorrect == 0 && 100 * self.correct >= 99 * all
    }
}

impl Score {
    /// For people.
    pub(crate) fn row(self, name: &str) -> String {
        let Score { correct, incomplete, incorrect, failed } = self;
        let right = if self.is_right() { "right" } else { "wrong" };
        format!(
            "{name} {right}: {correct} correct, {incomplete} incomplete, {incorrect} incorrect, {failed} failed"
        )
    }
}

/// Analyzes, maps, reduces and evaluates the set in `folder`.
pub(crate) fn score(lprof: &Path, folder: &Path, scratch: &Path) -> Result<Score> {
    score_logs(lprof, folder, &logs(folder)?, scratch)
}

/// The same with the threads of the records, which the truth knows.
pub(crate) fn score_with_threads(lprof: &Path, folder: &Path, scratch: &Path) -> Result<Score> {
    let truth = read(&folder.join("truth.tsv"))?;
    let named = |log: &PathBuf| {
        let node = log.file_stem().unwrap_or_default().to_string_lossy();
        let path = scratch.join("with-threads").join(log.file_name().unwrap_or_default());
        put(&path, with_threads(&read(log)?, &node, &truth)?.as_bytes())?;
        Ok(path)
    };
    let logs = logs(folder)?.iter().map(named).collect::<Result<Vec<PathBuf>>>()?;
    score_logs(lprof, folder, &logs, scratch)
}

fn logs(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut logs: Vec<PathBuf> = files(folder)?;
    logs.retain(|path| path.extension().is_some_and(|ending| ending == "log"));
    Ok(logs)
}

fn score_logs(lprof: &Path, folder: &Path, logs: &[PathBuf], scratch: &Path) -> Result<Score> {
    let table = scratch.join("table");
    clear(&table)?;
    let named = |log: &PathBuf| {
        format!("{}={}", log.file_stem().unwrap_or_default().to_string_lossy(), log.display())
    };
    let mut run = Command::new(lprof);
    run.args(["run", "-q", "--table"]).arg(&table).arg(folder.join("app.jar")).args(logs.iter().map(named));
    said(&mut run)?;
    let mut evaluate = Command::new(lprof);
    evaluate.args(["evaluate", "--format", "json", "--table"]).arg(&table);
    let json = said(evaluate.arg("--truth").arg(folder.join("truth.tsv")))?;
    let json: serde_json::Value = serde_json::from_str(&json).map_err(|e| format!("{e}: {json}"))?;
    let number = |class: &str| {
        json["all"]["messages"][class].as_u64().ok_or_else(|| format!("no messages `{class}` in {json}"))
    };
    Ok(Score {
        correct: number("correct")?,
        incomplete: number("incomplete")?,
        incorrect: number("incorrect")?,
        failed: number("failed")?,
    })
}

/// Right and all programs for each ingredient.
#[derive(Debug, Default)]
pub(crate) struct Shares(BTreeMap<String, (usize, usize)>);

impl Shares {
    pub(crate) fn add(&mut self, ingredients: impl IntoIterator<Item = String>, right: bool) {
        for ingredient in ingredients {
            let (rights, all) = self.0.entry(ingredient).or_default();
            *rights += usize::from(right);
            *all += 1;
        }
    }

    /// `ingredient TAB right TAB programs TAB percent`, the least right first.
    pub(crate) fn table(&self) -> String {
        let percent = |&(rights, all): &(usize, usize)| 100.0 * rights as f64 / all as f64;
        let mut rows: Vec<_> = self.0.iter().collect();
        rows.sort_by(|(a, x), (b, y)| percent(x).total_cmp(&percent(y)).then_with(|| a.cmp(b)));
        let mut table = String::from("ingredient\tright\tprograms\tpercent\n");
        for (ingredient, share) in rows {
            table += &format!("{ingredient}\t{}\t{}\t{:.0}\n", share.0, share.1, percent(share));
        }
        table
    }
}
