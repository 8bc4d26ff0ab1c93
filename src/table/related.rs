//! The relations of one request, whichever end of them it is.

use std::collections::BTreeSet;
use std::ops::Range;

use anyhow::Result;
use rayon::prelude::*;
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
        let of_file = |path| -> Result<Vec<Related>> {
            let mut ranges: Vec<Range<usize>> = Vec::new();
            let mut n_rows = 0;
            for rows in Batches::<RelationEnds>::open(path)? {
                let rows = rows?;
                let is_its = |row: &RelationEnds| *row.request_id == *id || *row.other_id == *id;
                let found = (n_rows..).zip(&rows).filter(|(_, row)| is_its(row));
                ranges.extend(found.map(|(at, _)| at..at + 1));
                n_rows += rows.len();
            }
            if ranges.is_empty() {
                return Ok(Vec::new());
            }
            let mut found = Vec::new();
            for rows in Batches::<RelationRow>::open_rows(path, &ranges)? {
                found.extend(rows?.into_iter().map(|row| seen_from(id, row)));
            }
            Ok(found)
        };
        let files = self.manifest.paths(RelationRow::TABLE);
        let found: Vec<Vec<Related>> = files.par_iter().map(|path| of_file(path)).collect::<Result<_>>()?;
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
