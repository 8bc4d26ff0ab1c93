//! Files below folders: which are logs by their names, which are class files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::names::name_of;
use crate::error::{Context as _, Result, bail};

/// Entries of a folder that are looked at to tell classes from logs.
const PEEK_ENTRIES_MAX: usize = 10_000;
/// Folders below a folder of logs that are followed.
const DEPTH_MAX: usize = 16;

/// The logs that `path` stands for: itself, or those below a folder, sorted. What cannot be
/// read below a folder is left out with a warning. `doubtful`: files whose names do not say that
/// they are logs, in a folder with others that do.
pub(super) fn log_files(
    path: &Path,
    doubtful: &mut BTreeSet<PathBuf>,
    warnings: &mut Vec<String>,
) -> Result<Vec<PathBuf>> {
    if path.as_os_str() == "-" {
        return Ok(vec![path.to_owned()]);
    }
    let metadata = std::fs::metadata(path).with_context(|| format!("`{}`", path.display()))?;
    if !metadata.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut all = Vec::new();
    walk(path, 0, &mut all, warnings)?;
    all.sort();
    let others: Vec<&PathBuf> = all.iter().filter(|file| !is_log_name(&name_of(file))).collect();
    if others.len() < all.len() {
        doubtful.extend(others.into_iter().cloned());
    }
    let mut files = all;
    files.retain(|file| match std::fs::File::open(file) {
        Ok(_) => true,
        Err(e) => {
            let what = if file.is_symlink() && !file.exists() {
                "a link to nothing".to_owned()
            } else {
                e.to_string()
            };
            warnings.push(format!("`{}` is not read: {what}", file.display()));
            false
        }
    });
    if files.is_empty() {
        bail!(Empty: "`{}`: no log in this folder", path.display());
    }
    Ok(files)
}

/// Whether a file's name says that it is a log: some part of it is `out`,
/// `stdout`, `stderr`, or ends in `log`.
fn is_log_name(name: &str) -> bool {
    let is_log = |part: &str| part.ends_with("log") || matches!(part, "out" | "stdout" | "stderr");
    name.to_ascii_lowercase().split(['.', '-', '_']).any(is_log)
}

/// Jars, wars, class files, and folders that hold any of them.
pub(crate) fn is_class_path(path: &Path) -> bool {
    let is_class = |path: &Path| {
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        ["jar", "war", "ear", "class", "jmod"].iter().any(|known| extension.eq_ignore_ascii_case(known))
    };
    if !path.is_dir() {
        return is_class(path);
    }
    let mut files = Vec::new();
    // A folder that cannot be read is reported when it is read as logs.
    let _ = walk(path, 0, &mut files, &mut Vec::new());
    files.iter().take(PEEK_ENTRIES_MAX).any(|file| is_class(file))
}

/// All files below `folder` that are not hidden. Folders below it that cannot be read are left out
/// with a warning, and tables and outputs of ours, which are no logs.
fn walk(folder: &Path, depth: usize, files: &mut Vec<PathBuf>, warnings: &mut Vec<String>) -> Result<()> {
    if depth > DEPTH_MAX {
        return Ok(());
    }
    let entries: std::io::Result<Vec<PathBuf>> = std::fs::read_dir(folder)
        .and_then(|entries| entries.map(|entry| entry.map(|entry| entry.path())).collect());
    let entries = match entries {
        Ok(entries) => entries,
        Err(e) if depth > 0 => {
            warnings.push(format!("`{}` is not read: {e}", folder.display()));
            return Ok(());
        }
        Err(e) => return Err(e).with_context(|| format!("`{}`", folder.display())),
    };
    if depth > 0 && entries.iter().any(|path| is_of_table(&name_of(path))) {
        return Ok(());
    }
    for path in entries {
        if name_of(&path).starts_with('.') {
            continue;
        }
        if path.is_dir() {
            walk(&path, depth + 1, files, warnings)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

/// Whether a file of that name is there only in a table.
fn is_of_table(name: &str) -> bool {
    let number = name.strip_prefix("manifest-").and_then(|rest| rest.strip_suffix(".json"));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::is_log_name;

    #[test]
    fn names_of_logs() {
        for name in ["a.log", "a.log.1.gz", "syslog", "stdout", "x.out", "catalina.2026-11-21.log"] {
            assert!(is_log_name(name), "{name}");
        }
        for name in ["truth.tsv", "README.md", "jars.txt", "a.json"] {
            assert!(!is_log_name(name), "{name}");
        }
    }
}
