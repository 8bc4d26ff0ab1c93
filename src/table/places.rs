//! Where requests stand in the files of a table, by their ids: by the index of each file, or, where it
//! has none, by all of its ids.

use std::collections::BTreeSet;

use crate::error::Result;
use rayon::prelude::*;
use schema::tables::index::{BLOCK_ROWS, Index};

use super::files::{Paths, Place, each_place};

/// Ids that are looked for one by one; of more the index is read as a whole.
const SINGLE_MAX: usize = 32;

/// A request: its id, the number of its file among those of the table, and where it stands there.
pub(super) type Placed = (String, usize, Place);

/// The first two requests, in the order of the table, whose ids begin with `prefix`.
pub(super) fn beginning_with(files: &[Paths], prefix: &str) -> Result<(Option<Placed>, Option<Placed>)> {
    let of_file = |(number, paths): (usize, &Paths)| {
        let index = open(paths)?;
        beginning_with_in(number, paths, index.as_ref(), prefix)
    };
    let found: Vec<Vec<Placed>> = files.par_iter().enumerate().map(of_file).collect::<Result<_>>()?;
    let mut found = found.into_iter().flatten();
    Ok((found.next(), found.next()))
}

/// Two requests at most of one file, whose ids begin with `prefix`.
pub(super) fn beginning_with_in(
    number: usize,
    paths: &Paths,
    index: Option<&Index>,
    prefix: &str,
) -> Result<Vec<Placed>> {
    let mut found = Vec::new();
    let Some(index) = index.filter(|index| index.has_ids()) else {
        each_place(paths, &mut |id, place| {
            if found.len() < 2 && id.starts_with(prefix) {
                found.push((id.to_owned(), number, place));
            }
        })?;
        return Ok(found);
    };
    let Some(range) = range(prefix) else { return Ok(found) };
    for (id, row) in index.between(range, 2)? {
        found.extend(of_rows(index, &[row])?.pop().map(|place| (format!("{id:032x}"), number, place)));
    }
    Ok(found)
}

/// Where the requests with these `ids` stand, by file, in the order of rows.
pub(super) fn of_ids(files: &[Paths], ids: &BTreeSet<u128>) -> Result<Vec<Vec<Place>>> {
    let sorted: Vec<u128> = ids.iter().copied().collect();
    let of_file = |paths: &Paths| {
        if let Some(index) = open(paths)?.filter(Index::has_ids) {
            return of_rows(&index, &rows_with(&index, &sorted)?);
        }
        let mut found = Vec::new();
        each_place(paths, &mut |id, place| {
            if u128::from_str_radix(id, 16).is_ok_and(|id| ids.contains(&id)) {
                found.push(place);
            }
        })?;
        Ok(found)
    };
    files.par_iter().map(of_file).collect()
}

/// The rows of an index whose ids are among these, which ascend, as rows do.
pub(crate) fn rows_with(index: &Index, ids: &[u128]) -> Result<Vec<usize>> {
    if ids.len() > SINGLE_MAX {
        return Ok(index.rows_with(ids)?);
    }
    let mut rows = Vec::new();
    for id in ids {
        rows.extend(index.between((*id, *id), usize::MAX)?.into_iter().map(|(_, row)| row));
    }
    rows.sort_unstable();
    Ok(rows)
}

/// Where some rows of a file stand, which ascend.
pub(super) fn of_rows(index: &Index, rows: &[usize]) -> Result<Vec<Place>> {
    let mut found = Vec::with_capacity(rows.len());
    let count = |(first, n): (u64, u64)| (first as usize, n as usize);
    for rows in rows.chunk_by(|a, b| a / BLOCK_ROWS == b / BLOCK_ROWS) {
        let places = index.places(rows[0] / BLOCK_ROWS, rows)?;
        let places = rows.iter().zip(places).map(|(row, place)| Place {
            row: *row,
            spans: count(place.spans),
            events: count(place.events),
        });
        found.extend(places);
    }
    Ok(found)
}

fn open(paths: &Paths) -> Result<Option<Index>> {
    Ok(paths.index.as_deref().map(Index::open).transpose()?)
}

/// The first and the last id that begin with `prefix`; none: no id does.
fn range(prefix: &str) -> Option<(u128, u128)> {
    let is_id = prefix.len() <= 32 && prefix.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    let number = |filler: &str| {
        let text = format!("{prefix}{}", filler.repeat(32 - prefix.len()));
        u128::from_str_radix(&text, 16).ok()
    };
    if is_id { Some((number("0")?, number("f")?)) } else { None }
}

#[cfg(test)]
mod tests {
    use super::range;

    #[test]
    fn ids_by_their_beginning() {
        assert_eq!(range("0a"), Some((0x0a << 120, (0x0b << 120) - 1)));
        assert_eq!(range(""), Some((0, u128::MAX)));
        assert_eq!(range(&"f".repeat(32)), Some((u128::MAX, u128::MAX)));
        for none in ["g", "+1", "A", "%", &"0".repeat(33), "é"] {
            assert_eq!(range(none), None, "{none}");
        }
    }
}
