//! Names of nodes: what a log is called that is of no named node, by its folder or its own name,
//! without what rotation, compression and habit add.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Labels for files that nobody named: the parent folder if the files have
/// different parents, else the file's stem. Of folders that end alike, as in
/// `host1/logs` and `host2/logs`, the part that differs is the label.
pub(super) fn node_names(files: &[PathBuf]) -> Vec<String> {
    let parents = folders(files);
    let distinct: BTreeSet<&Vec<String>> = parents.iter().collect();
    if distinct.len() < 2 {
        return stems(files);
    }
    let n_same_end = |n: usize| {
        let ends: BTreeSet<Option<&String>> = distinct.iter().map(|p| p.iter().rev().nth(n)).collect();
        ends.len() == 1 && !ends.contains(&None)
    };
    let mut n_common = 0;
    while n_same_end(n_common) {
        n_common += 1;
    }
    let label = |parent: &Vec<String>| parent.iter().rev().nth(n_common).cloned();
    let labels: BTreeSet<Option<String>> = distinct.iter().map(|p| label(p)).collect();
    let common_start = (0..).take_while(|i| same_at(&distinct, *i)).count();
    let name = |(parent, file): (&Vec<String>, &PathBuf)| {
        if labels.len() == distinct.len()
            && let Some(label) = label(parent)
        {
            return label;
        }
        // Two folders share the name that should tell them apart: more of the path does.
        let end = parent.len().saturating_sub(n_common).max(common_start.min(parent.len()));
        let rest = parent[common_start.min(end)..end].join("/");
        if rest.is_empty() { stem(&name_of(file)) } else { rest }
    };
    parents.iter().zip(files).map(name).collect()
}

/// The folder of each file, without what says nothing of a node: a day, into which rotation puts
/// what is old, and the name `logs`, where folders can be told apart without it.
pub(super) fn folders(files: &[PathBuf]) -> Vec<Vec<String>> {
    let mut parents: Vec<Vec<String>> = files.iter().map(|file| components(file.parent())).collect();
    for parent in &mut parents {
        while parent.last().is_some_and(|name| is_day(name)) {
            parent.pop();
        }
    }
    let is_plain = |name: &String| matches!(name.to_ascii_lowercase().as_str(), "logs" | "log");
    let short = |parent: &Vec<String>| match parent.split_last() {
        Some((last, rest)) if is_plain(last) => rest.to_vec(),
        _ => parent.clone(),
    };
    let shorter: Vec<Vec<String>> = parents.iter().map(short).collect();
    let n_distinct = |parents: &[Vec<String>]| parents.iter().collect::<BTreeSet<_>>().len();
    if n_distinct(&shorter) == n_distinct(&parents) { shorter } else { parents }
}

/// `2025-03` or `2025-03-28`
fn is_day(name: &str) -> bool {
    date_len(name) == Some(name.len()) || date_len(&format!("{name}-01")) == Some(name.len() + 3)
}

/// The stems of files of one folder. What is numbered is of the file without a number, if that is
/// there: `app.1.log` and `app-1.log` of `app.log`.
fn stems(files: &[PathBuf]) -> Vec<String> {
    let mut stems: Vec<String> = files.iter().map(|file| stem(&name_of(file))).collect();
    let is_dated = |file: &PathBuf| {
        let name = name_of(file);
        date_len(&name).is_some_and(|n| !name[n..].starts_with(|c: char| c.is_alphanumeric()))
            && stem(&name).bytes().all(|b| !b.is_ascii_alphabetic())
    };
    // What has nothing but a day for a name is of the log that goes on, if it is told which.
    let current: BTreeSet<String> =
        files.iter().zip(&stems).filter(|(file, _)| !is_dated(file)).map(|(_, stem)| stem.clone()).collect();
    let current =
        current.iter().find(|name| current.len() == 1 || matches!(name.as_str(), "latest" | "current"));
    if let Some(current) = current {
        for (stem, _) in stems.iter_mut().zip(files).filter(|(_, file)| is_dated(file)) {
            stem.clone_from(current);
        }
    }
    let known: BTreeSet<&String> = stems.iter().collect();
    let without_number = |stem: &String| {
        let (before, number) = stem.rsplit_once(['.', '-'])?;
        let is_number = (1..=4).contains(&number.len()) && number.bytes().all(|b| b.is_ascii_digit());
        let before = before.to_owned();
        (is_number && known.contains(&before)).then_some(before)
    };
    stems.iter().map(|stem| without_number(stem).unwrap_or_else(|| stem.clone())).collect()
}

fn same_at(parents: &BTreeSet<&Vec<String>>, i: usize) -> bool {
    let parts: BTreeSet<Option<&String>> = parents.iter().map(|p| p.get(i)).collect();
    parts.len() == 1 && !parts.contains(&None)
}

fn components(path: Option<&Path>) -> Vec<String> {
    let absolute = path.map(|p| std::path::absolute(p).unwrap_or_else(|_| p.to_owned())).unwrap_or_default();
    absolute.components().map(|c| c.as_os_str().to_string_lossy().into_owned()).collect()
}

pub(super) fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// A log's name without what rotation, compression and habit add:
/// `dn1.log.3.gz`, `dn1.log.2026-11-21`, `dn1-2026-11-21-1.log`, `dn1-20261121.log` and
/// `dn1-11-21-2026-1.log` are of `dn1`.
pub(super) fn stem(name: &str) -> String {
    if name == "-" {
        return "stdin".to_owned();
    }
    let mut stem = name;
    for extension in COMPRESSED {
        stem = stem.strip_suffix(extension).unwrap_or(stem);
    }
    let cut = HABITS.iter().filter_map(|habit| {
        let at = stem.find(habit)?;
        stem[at + habit.len()..].chars().next().is_none_or(|c| !c.is_alphanumeric()).then_some(at)
    });
    if let Some(at) = cut.min().filter(|at| *at > 0) {
        stem = &stem[..at];
    } else if let Some((before, number)) = stem.rsplit_once('.')
        && !before.is_empty()
        && !number.is_empty()
        && number.chars().all(|c| c.is_ascii_digit() || c == '-')
    {
        stem = before;
    }
    let without_date = date_start(stem).map_or(stem, |at| &stem[..at]);
    // Jetty's `2026_11_21.request`
    let without_date = match date_len(without_date) {
        Some(n) if without_date[n..].starts_with(['.', '-', '_']) => &without_date[n + 1..],
        _ => without_date,
    };
    if without_date.is_empty() { stem.to_owned() } else { without_date.to_owned() }
}

/// How names of logs end.
const HABITS: [&str; 10] =
    [".log", ".out", ".err", ".txt", ".json", ".jsonl", ".ndjson", ".csv", ".xml", ".export"];

/// Where a date at the end of a name begins, its separator included. Behind it stands at most
/// the time of day, and a number.
fn date_start(stem: &str) -> Option<usize> {
    let is_date = |text: &str| {
        date_len(text).is_some_and(|n| {
            let rest = &text.as_bytes()[n..];
            rest.first().is_none_or(|b| !b.is_ascii_digit() || n == 8)
                && rest.iter().all(|b| b.is_ascii_digit() || matches!(b, b'-' | b'_' | b'.' | b'T'))
        })
    };
    stem.char_indices()
        .filter(|(_, c)| matches!(c, '-' | '.' | '_'))
        .map(|(at, _)| at)
        .find(|at| is_date(&stem[at + 1..]))
}

/// Shapes of dates in names: digits of the year, month, day, and what may stand between.
const DATES: [&str; 4] = ["yyyy-mm-dd", "mm-dd-yyyy", "dd-mm-yyyy", "yyyymmdd"];

/// The length of a date at the start of `text`.
fn date_len(text: &str) -> Option<usize> {
    let fits = |shape: &str| -> Option<usize> {
        let text = text.as_bytes().get(..shape.len())?;
        let mut parts = [0_u32; 3];
        let mut separator = None;
        for (b, s) in text.iter().zip(shape.bytes()) {
            let part = match s {
                b'y' => 0,
                b'm' => 1,
                b'd' => 2,
                _ => {
                    let fits = matches!(b, b'-' | b'_' | b'.') && separator.is_none_or(|known| known == *b);
                    separator = Some(*b);
                    fits.then_some(())?;
                    continue;
                }
            };
            parts[part] = parts[part] * 10 + u32::from(b.is_ascii_digit().then(|| b - b'0')?);
        }
        let [year, month, day] = parts;
        let is_date = (1970..2100).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
        is_date.then_some(shape.len())
    };
    DATES.iter().find_map(|shape| fits(shape))
}

const COMPRESSED: [&str; 5] = [".gz", ".zst", ".bz2", ".zip", ".xz"];

#[cfg(test)]
mod tests {
    use super::{node_names, stem};
    use std::path::PathBuf;

    #[track_caller]
    fn check(files: &[&str], expected: &[&str]) {
        let files: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
        assert_eq!(node_names(&files), expected);
    }

    #[test]
    fn files_of_one_folder_are_named_by_their_stem() {
        check(&["l/dn1.log", "l/dn1.log.1.gz", "l/nn.log"], &["dn1", "dn1", "nn"]);
        check(&["am-0001-1.log"], &["am-0001-1"]);
        // What is numbered is of the file that is not.
        check(&["l/app.log", "l/app.1.log", "l/app.2.log.gz", "l/app-3.log"], &["app"; 4]);
        check(&["l/zk-2181.log", "l/zk-2182.log"], &["zk-2181", "zk-2182"]);
        check(&["l/app.log", "l/2025-03/app-03-28-2025-1.log.gz"], &["app"; 2]);
        check(&["l/store.log", "l/store.err", "l/store.ndjson"], &["store"; 3]);
        // What is called by its day is of the log that goes on.
        check(&["l/2025-03-27-1.log.gz", "l/latest.log"], &["latest"; 2]);
        check(&["l/2025-03-27-1.log.gz", "l/debug.log", "l/latest.log"], &["latest", "debug", "latest"]);
    }

    #[test]
    fn files_of_several_folders_are_named_by_the_folder() {
        check(&["l/host1/a.log", "l/host2/a.log", "l/host2/b.log"], &["host1", "host2", "host2"]);
        check(&["l/host1/logs/a.log", "l/host2/logs/a.log"], &["host1", "host2"]);
        check(&["h1/app.log", "h2/app.log", "h3/logs/app.log"], &["h1", "h2", "h3"]);
        check(&["l/a/h/x.log", "l/a/g/x.log", "l/b/h/x.log"], &["a/h", "a/g", "b/h"]);
    }

    #[test]
    fn stems() {
        for (name, expected) in [
            ("a.log", "a"),
            ("a.log.2026-11-21", "a"),
            ("a.log.2026-11-21-13.gz", "a"),
            ("a-2026-11-21-1.log", "a"),
            ("server.7", "server"),
            ("app-20250328.log", "app"),
            ("app.log-20250328.gz", "app"),
            ("app.log.2025-03-28.0.gz", "app"),
            ("app-03-27-2025-1.log.gz", "app"),
            ("app-27.03.2025.log", "app"),
            ("app_2025_03_28_11.log", "app"),
            ("catalina.2026-11-21.log", "catalina"),
            ("2025_03_28.request.log", "request"),
            ("am-1711712345678-0001.log", "am-1711712345678-0001"),
            ("node-10-11-12.log", "node-10-11-12"),
            ("syslog", "syslog"),
            ("hadoop-u-namenode-h.example.log", "hadoop-u-namenode-h.example"),
            (".log", ".log"),
            ("-", "stdin"),
        ] {
            assert_eq!(stem(name), expected, "{name}");
        }
    }
}
