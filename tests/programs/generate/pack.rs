//! Packed sets: one zip a seed, small enough to be committed, with classes, logs, truth,
//! ingredients and sources.

use std::fs;
use std::io::{Cursor, Read, Write};
use std::path::{Path, PathBuf};

use zip::CompressionMethod;
use zip::write::SimpleFileOptions;

use super::Result;
use super::workshop::{files, put};

/// Files of a set that are not packed: the logs with threads can be made again.
const LEFT_OUT: &str = "threads";

/// Packs the set in `folder`. The jar's entries are not compressed, so that the whole is.
pub(crate) fn pack(folder: &Path, to: &Path) -> Result<()> {
    let told = |e: &dyn std::fmt::Display| format!("`{}`: {e}", to.display());
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_level(Some(9));
    let mut all = Vec::new();
    walk(folder, &mut all)?;
    for path in all {
        let name = path.strip_prefix(folder).map_err(|e| told(&e))?.to_string_lossy().replace('\\', "/");
        if name.starts_with(LEFT_OUT) {
            continue;
        }
        let bytes = fs::read(&path).map_err(|e| told(&e))?;
        zip.start_file(name, options).map_err(|e| told(&e))?;
        zip.write_all(&bytes).map_err(|e| told(&e))?;
    }
    put(to, &zip.finish().map_err(|e| told(&e))?.into_inner())
}

/// A jar of `classes`, by name and bytes.
pub(crate) fn jar(classes: &[(String, Vec<u8>)]) -> Result<Vec<u8>> {
    let told = |e: &dyn std::fmt::Display| format!("app.jar: {e}");
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for (name, bytes) in classes {
        zip.start_file(name, options).map_err(|e| told(&e))?;
        zip.write_all(bytes).map_err(|e| told(&e))?;
    }
    Ok(zip.finish().map_err(|e| told(&e))?.into_inner())
}

/// Unpacks a set into `folder`.
pub(crate) fn unpack(from: &Path, folder: &Path) -> Result<()> {
    let told = |e: &dyn std::fmt::Display| format!("`{}`: {e}", from.display());
    let bytes = fs::read(from).map_err(|e| told(&e))?;
    let mut zip = zip::ZipArchive::new(Cursor::new(bytes)).map_err(|e| told(&e))?;
    for at in 0..zip.len() {
        let mut file = zip.by_index(at).map_err(|e| told(&e))?;
        let name = file.enclosed_name().ok_or_else(|| told(&"a name that leads out of the folder"))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|e| told(&e))?;
        put(&folder.join(name), &bytes)?;
    }
    Ok(())
}

/// Files below a folder, sorted.
fn walk(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    found.extend(files(folder)?);
    let entries = fs::read_dir(folder).map_err(|e| format!("`{}`: {e}", folder.display()))?;
    let mut folders: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    folders.retain(|path| path.is_dir());
    folders.sort();
    folders.iter().try_for_each(|folder| walk(folder, found))
}
