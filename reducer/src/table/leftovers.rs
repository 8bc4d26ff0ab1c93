//! Leftovers: files that no manifest names that counts: of a writer that was killed, or of rows
//! that were replaced. A manifest counts if it is the newest, the way back from that, or if a
//! reader holds it.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use schema::{Error, Result};

use super::{DataFile, INDEX, Manifest, OPEN, TABLES, parse};

/// Held by who reads a manifest, so that what it names stays; the operating system gives it back
/// when the process ends, however it ends. Where files cannot be locked nothing is held, and what
/// is replaced is there until the commit after the next one.
#[derive(Clone, Debug, Default)]
pub struct Lease {
    _file: Option<Arc<File>>,
}

impl PartialEq for Lease {
    /// It is no part of what a manifest says.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Lease {
    /// Of the manifest at `path`.
    pub(super) fn take(path: &Path) -> Self {
        let file = File::open(path).ok().filter(|file| file.lock_shared().is_ok());
        Self { _file: file.map(Arc::new) }
    }

    /// Whether somebody holds the manifest at `path`.
    fn is_held(path: &Path) -> bool {
        File::open(path).is_ok_and(|file| matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock)))
    }
}

/// Removes leftovers from the table whose newest manifest is `newest`; `all` are the numbers and
/// paths of its manifests. What is open is linked to where rows of its tables are.
pub(super) fn remove(newest: &Manifest, all: &[(u64, PathBuf)]) -> Result<()> {
    let folder = &newest.folder;
    let paths = |manifest: &Manifest| -> BTreeSet<PathBuf> {
        manifest.files.iter().map(|file| folder.join(&file.path)).collect()
    };
    let mut named = paths(newest);
    for (number, path) in all.iter().filter(|(number, _)| *number < newest.number) {
        if number + 1 == newest.number || Lease::is_held(path) {
            // One that cannot be read is no way back.
            named.extend(parse(folder, *number, path).iter().flat_map(paths));
        } else {
            fs::remove_file(path).map_err(Error::io(path))?;
        }
    }
    named.extend(link_open(newest)?);
    for table in TABLES.iter().chain([&OPEN, &INDEX]) {
        let path = folder.join(table);
        if path.is_dir() {
            remove_unnamed(&path, *table == OPEN, &named)?;
        }
    }
    Ok(())
}

/// Links the rows of what is open, or was once, to where others of their tables are; returns
/// the links.
fn link_open(newest: &Manifest) -> Result<Vec<PathBuf>> {
    let mut links = Vec::new();
    // What is over by now stays where it was open.
    let is_row_file = |file: &&DataFile| TABLES.contains(&&*file.table) && file.path.starts_with(OPEN);
    for file in newest.files.iter().filter(is_row_file) {
        let path = newest.folder.join(&file.path);
        let Some(at) = file.path.find(&format!("{}/", file.table)) else { continue };
        let link = newest.folder.join(file.path[at..].replace(".parquet", "-open.parquet"));
        if !link.exists() {
            let parent = link.parent().unwrap_or(&newest.folder);
            fs::create_dir_all(parent).map_err(Error::io(parent))?;
            // Where there are no links, a copy.
            fs::hard_link(&path, &link)
                .or_else(|_| fs::copy(&path, &link).map(drop))
                .map_err(Error::io(&link))?;
        }
        links.push(link);
    }
    Ok(links)
}

fn remove_unnamed(folder: &Path, is_open: bool, named: &BTreeSet<PathBuf>) -> Result<()> {
    let mut is_empty = true;
    for entry in fs::read_dir(folder).map_err(Error::io(folder))? {
        let path = entry.map_err(Error::io(folder))?.path();
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        let is_rows = (name.ends_with(".parquet") || name.ends_with(".index")) && name.starts_with("part-");
        let is_data = is_rows || (is_open && (name.ends_with(".parquet") || name.ends_with(".tsv")));
        let ours = is_data || name.ends_with(".tmp");
        if path.is_dir() {
            remove_unnamed(&path, is_open, named)?;
            is_empty &= !path.exists();
        } else if ours && !named.contains(&path) {
            fs::remove_file(&path).map_err(Error::io(&path))?;
        } else {
            is_empty = false;
        }
    }
    if is_empty {
        // Into what is not empty any more somebody has just put something.
        let _ = fs::remove_dir(folder);
    }
    Ok(())
}
