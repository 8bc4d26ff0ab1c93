//! Indexes of the files of `requests` and of `relations`: each stands in a file of its own, below `index`,
//! and goes with the rows that it is of. So it is right after whatever was done to them: rows of open
//! requests are replaced together with theirs, and what is left of rows that were thinned gets a new one.

use std::path::Path;

use schema::Result;
use schema::tables::index::Index;
use schema::tables::{RelationRow, RequestNodeRow, RequestRow, Row as _};

use super::{DataFile, create_folder_of};

/// The folder of indexes, and what they are called in a manifest.
pub const INDEX: &str = "index";
/// The folder of those of `relations`.
pub(super) const OF_RELATIONS: &str = "index/relations";

/// The path of the index of a file of `requests` or of `relations`, below the table's folder as that.
#[must_use]
pub fn path_of(file: &str) -> String {
    let path = beside(file, INDEX).replacen(RelationRow::TABLE, OF_RELATIONS, 1);
    format!("{}.{INDEX}", path.strip_suffix(".parquet").unwrap_or(&path))
}

/// The path of what stands beside a file of `requests` in another table.
fn beside(requests: &str, table: &str) -> String {
    requests.replacen(RequestRow::TABLE, table, 1)
}

/// Writes the indexes of the files of `requests` and of `relations` among `files`, which are below
/// `folder`.
///
/// # Errors
/// I/O errors.
pub(super) fn write(folder: &Path, files: &[DataFile]) -> Result<Vec<DataFile>> {
    let mut indexes = Vec::new();
    for file in files {
        let full = folder.join(&file.path);
        let index = if file.table == RequestRow::TABLE {
            let nodes = beside(&file.path, RequestNodeRow::TABLE);
            let nodes = files.iter().any(|file| file.path == nodes).then(|| folder.join(&nodes));
            Index::of_rows(&full, nodes.as_deref())?
        } else if file.table == RelationRow::TABLE {
            Index::of_relations(&full)?
        } else {
            continue;
        };
        let path = path_of(&file.path);
        let full = folder.join(&path);
        create_folder_of(&full)?;
        let written = index.write(&full)?;
        indexes.extend(written.map(|written| DataFile::new(INDEX, path, written, file.is_open)));
    }
    Ok(indexes)
}
