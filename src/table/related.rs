//! The relations of one request, whichever end of them it is.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::Result;
use rayon::prelude::*;
use reducer::table::{DataFile, Manifest, indexes};
use schema::tables::index::Index;
use schema::tables::{
    Batches, EventTiming, RelationEnds, RelationRow, RequestRow, Row as _, SpanTiming, Text,
};

use super::files::{Part, paths};
use super::{Table, places};

/// Ways to be related that look another way from the other end.
const TURNED: [(&str, &str); 2] =
    [("made there, used here", "made here, used there"), ("made here, used there", "made there, used here")];

/// Another request that has to do with one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Related {
    /// The other one.
    pub(crate) id: Text,
    /// How, seen from the one that was asked for.
    pub(crate) how: Text,
    /// Class of what they share.
    pub(crate) value_class: Text,
    /// What they share.
    pub(crate) value: Text,
    /// How many times as likely that is for a reason than by chance.
    pub(crate) odds: f64,
}

impl Table {
    /// What has to do with the request `id`, by odds, then by id.
    ///
    /// # Errors
    /// Files that cannot be read.
    pub(crate) fn related(&self, id: &str) -> Result<Vec<Related>> {
        let number = u128::from_str_radix(id, 16);
        let of_file = |file: &RelationFile| -> Result<Vec<Related>> {
            let index = file.index.as_deref().filter(|index| index.has_ids());
            let rows = match (index, &number) {
                (Some(index), Ok(number)) => index.naming(*number)?,
                _ => rows_naming(&file.path, id)?,
            };
            if rows.is_empty() {
                return Ok(Vec::new());
            }
            let ranges: Vec<Range<usize>> = rows.into_iter().map(|row| row..row + 1).collect();
            let mut found = Vec::new();
            for rows in Batches::<RelationRow>::open_rows(&file.path, &ranges)? {
                let its = rows?.into_iter().filter(|row| *row.request_id == *id || *row.other_id == *id);
                found.extend(its.map(|row| seen_from(id, row)));
            }
            Ok(found)
        };
        let found: Vec<Vec<Related>> = match self.indexes.get() {
            // One after the other, and so never behind those who have all cores at work.
            Some(indexes) => indexes.relations.iter().map(of_file).collect::<Result<_>>()?,
            None => {
                let files = relation_files(&self.manifest);
                files.par_iter().map(|file| of_file(&file.open(None)?)).collect::<Result<_>>()?
            }
        };
        let mut found = found.concat();
        found.sort_by(|a, b| b.odds.total_cmp(&a.odds).then_with(|| a.id.cmp(&b.id)));
        Ok(found)
    }

    /// The rows of `requests` with these `ids`, in the order of the table, without their spans.
    pub(crate) fn request_rows(&self, ids: &BTreeSet<u128>) -> Result<Vec<RequestRow>> {
        let mut files = paths(&self.manifest);
        let found = places::of_ids(&files, ids)?;
        let mut rows = Vec::new();
        for (paths, places) in files.iter_mut().zip(found).filter(|(_, places)| !places.is_empty()) {
            (paths.spans, paths.events) = (None, None);
            let mut part: Part<RequestRow, SpanTiming, EventTiming> = Part::open(paths, Some(&places))?;
            while let Some((row, ..)) = part.next()? {
                rows.push(row);
            }
        }
        Ok(rows)
    }
}

/// A file of relations.
#[derive(Clone)]
pub(super) struct RelationFile {
    pub(super) path: PathBuf,
    index_path: Option<PathBuf>,
    /// None: it is not open, or the table is older.
    pub(super) index: Option<Arc<Index>>,
}

impl RelationFile {
    /// The same with its index, which may be `known`.
    pub(super) fn open(&self, known: Option<&Self>) -> Result<Self> {
        let index = match (known.and_then(|known| known.index.clone()), &self.index_path) {
            (Some(index), _) => Some(index),
            (None, Some(path)) => Some(Arc::new(Index::open(path)?)),
            (None, None) => None,
        };
        Ok(Self { index, ..self.clone() })
    }
}

/// Those of a table.
pub(super) fn relation_files(manifest: &Manifest) -> Vec<RelationFile> {
    let names: BTreeSet<&str> = manifest.files.iter().map(|file| file.path.as_str()).collect();
    let files = manifest.files.iter().filter(|file| file.table == RelationRow::TABLE);
    let file = |file: &DataFile| {
        let index = indexes::path_of(&file.path);
        let index_path = names.contains(index.as_str()).then(|| manifest.folder.join(&index));
        RelationFile { path: manifest.folder.join(&file.path), index_path, index: None }
    };
    files.map(file).collect()
}

/// The rows of a file that name a request, looked for in all of them.
fn rows_naming(path: &Path, id: &str) -> Result<Vec<usize>> {
    let (mut found, mut n_rows) = (Vec::new(), 0);
    for rows in Batches::<RelationEnds>::open(path)? {
        let rows = rows?;
        let is_its = |row: &RelationEnds| *row.request_id == *id || *row.other_id == *id;
        found.extend((n_rows..).zip(&rows).filter(|(_, row)| is_its(row)).map(|(at, _)| at));
        n_rows += rows.len();
    }
    Ok(found)
}

/// A relation as the request `id` sees it.
fn seen_from(id: &str, row: RelationRow) -> Related {
    let RelationRow { request_id, other_id, how, value_class, value, odds } = row;
    let odds = odds.unwrap_or_default();
    if *request_id == *id {
        return Related { id: other_id, how, value_class, value, odds };
    }
    let turned = TURNED.iter().find(|(there, _)| *how == **there).map(|(_, here)| Text::from(*here));
    Related { id: request_id, how: turned.unwrap_or(how), value_class, value, odds }
}

#[cfg(test)]
mod tests {
    use super::{RelationRow, seen_from};

    #[test]
    fn who_made_a_thing_is_seen_from_both_ends() {
        let row = |how: &str| RelationRow {
            request_id: "a".into(),
            other_id: "b".into(),
            how: how.into(),
            ..RelationRow::default()
        };
        for (how, turned) in [
            ("made there, used here", "made here, used there"),
            ("made here, used there", "made there, used here"),
            ("same thing at once", "same thing at once"),
        ] {
            let [own, other] = ["a", "b"].map(|id| seen_from(id, row(how)));
            assert_eq!((&*own.id, &*own.how), ("b", how));
            assert_eq!((&*other.id, &*other.how), ("a", turned));
        }
    }
}
