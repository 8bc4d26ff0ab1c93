//! Where requests stand in the files of a table, by their ids.

use std::collections::BTreeSet;

use anyhow::Result;
use rayon::prelude::*;

use super::files::{Paths, Place, each_place};

/// A request: its id, the number of its file among those of the table, and where it stands there.
pub(super) type Placed = (String, usize, Place);

/// The first two requests, in the order of the table, whose ids begin with `prefix`.
pub(super) fn beginning_with(files: &[Paths], prefix: &str) -> Result<(Option<Placed>, Option<Placed>)> {
    let of_file = |(number, paths): (usize, &Paths)| -> Result<Vec<Placed>> {
        let mut found = Vec::new();
        each_place(paths, &mut |id, place| {
            if found.len() < 2 && id.starts_with(prefix) {
                found.push((id.to_owned(), number, place));
            }
        })?;
        Ok(found)
    };
    let found: Vec<Vec<Placed>> = files.par_iter().enumerate().map(of_file).collect::<Result<_>>()?;
    let mut found = found.into_iter().flatten();
    Ok((found.next(), found.next()))
}

/// Where the requests with these `ids` stand, by file, in the order of rows.
pub(super) fn of_ids(files: &[Paths], ids: &BTreeSet<u128>) -> Result<Vec<Vec<Place>>> {
    let of_file = |paths: &Paths| {
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

/// Where a request stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    id: u128,
    event: u64,
    file: u32,
    row: u32,
    span: u32,
    n_spans: u32,
    n_events: u32,
}

/// Where every request stands, by id.
pub(super) struct Index {
    entries: Vec<Entry>,
}

impl Index {
    /// Of all requests of `files`.
    pub(super) fn new(files: &[Paths]) -> Result<Self> {
        let of_file = |(number, paths): (usize, &Paths)| -> Result<Vec<Entry>> {
            let mut entries = Vec::new();
            let small = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
            each_place(paths, &mut |id, place| {
                let Ok(id) = u128::from_str_radix(id, 16) else { return };
                entries.push(Entry {
                    id,
                    event: place.events.0 as u64,
                    file: small(number),
                    row: small(place.row),
                    span: small(place.spans.0),
                    n_spans: small(place.spans.1),
                    n_events: small(place.events.1),
                });
            })?;
            Ok(entries)
        };
        let of_files: Vec<Vec<Entry>> = files.par_iter().enumerate().map(of_file).collect::<Result<_>>()?;
        let mut entries = of_files.concat();
        entries.par_sort_unstable();
        Ok(Self { entries })
    }

    /// Where the requests with these `ids` stand, by file, in the order of rows.
    #[cfg(feature = "serve")]
    pub(super) fn of_ids(&self, ids: &[u128], n_files: usize) -> Vec<Vec<Place>> {
        let mut found = vec![Vec::new(); n_files];
        for id in ids {
            if let Ok(at) = self.entries.binary_search_by_key(id, |entry| entry.id) {
                let (_, file, place) = placed(&self.entries[at]);
                found[file].push(place);
            }
        }
        found.iter_mut().for_each(|places| places.sort_unstable_by_key(|place| place.row));
        found
    }

    /// The first two requests, by id, whose ids begin with `prefix`.
    pub(super) fn beginning_with(&self, prefix: &str) -> (Option<Placed>, Option<Placed>) {
        let Some((from, to)) = range(prefix) else { return (None, None) };
        let at = self.entries.partition_point(|entry| entry.id < from);
        let mut found = self.entries[at..].iter().take_while(|entry| entry.id <= to).map(placed);
        (found.next(), found.next())
    }
}

fn placed(entry: &Entry) -> Placed {
    let place = Place {
        row: entry.row as usize,
        spans: (entry.span as usize, entry.n_spans as usize),
        events: (entry.event as usize, entry.n_events as usize),
    };
    (format!("{:032x}", entry.id), entry.file as usize, place)
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
