//! Lives of ids: what is known of those whose requests are over, from one period to the next and, in
//! the table, from one append to the next ([`crate::append`]).
//!
//! An id of a user's session or of a connection is told by its life ([`crate::stitch`]): it comes again
//! when the request that it was of is over. Where requests are added as they come, that is long after
//! they were written, and nothing of them is read again. So of the last ids there is kept how often
//! they have come again, and who has them now is judged by all of these together: what the first
//! minutes seemed to show is revised for what comes.
//!
//! ```text
//! TABLE/open/<n>/kept/ids.tsv    hash, times it has come again, entries, field; the oldest first
//! ```

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use rustc_hash::{FxHashMap, FxHashSet};
use schema::{Error, Name, Result};
use serde::{Deserialize, Serialize};

use crate::table::{DataFile, KEPT, Manifest, OPEN};

/// Ids that are remembered, the last ones: some hundred kilobytes.
const REMEMBERED_MAX: usize = 1 << 14;

/// The file that holds them.
pub(crate) const FILE: &str = "ids.tsv";

/// The life of an id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Life {
    /// The field that holds it.
    pub(crate) field: Name,
    /// How often it has come again when what it was of was over.
    pub(crate) n_again: usize,
    /// How often something that carries it was asked for by nothing that is known.
    pub(crate) n_entries: usize,
}

/// Of an id of spans at hand: its hash, and its life as far as these show it.
pub(crate) type Shown = (u64, Life);

/// What is known of ids.
#[derive(Debug, Default)]
pub(crate) struct IdLives {
    of: FxHashMap<u64, Life>,
    /// The hashes, the oldest first.
    order: Vec<u64>,
}

/// What stands for an id.
pub(crate) fn hash(text: &str) -> u64 {
    xxhash_rust::xxh3::xxh3_64(text.as_bytes())
}

impl IdLives {
    /// Whether an id is of a request that is over.
    pub(crate) fn is_known(&self, hash: u64) -> bool {
        self.of.contains_key(&hash)
    }

    /// How many of these fields are known that are not among `shown`, how often any of these fields
    /// have come again, and their entries.
    pub(crate) fn sums(&self, fields: &dyn Fn(Name) -> bool, shown: &FxHashSet<u64>) -> [usize; 3] {
        let of_fields = self.of.iter().filter(|(_, life)| fields(life.field));
        of_fields.fold([0; 3], |[n, n_again, n_entries], (hash, life)| {
            let is_other = usize::from(!shown.contains(hash));
            [n + is_other, n_again + life.n_again, n_entries + life.n_entries]
        })
    }

    /// Remembers ids whose requests are over now.
    pub(crate) fn end(&mut self, over: impl IntoIterator<Item = Shown>) {
        for (hash, shown) in over {
            let known = self.of.entry(hash).or_insert(Life { field: shown.field, ..Life::default() });
            known.n_again += shown.n_again;
            known.n_entries += shown.n_entries;
            self.order.push(hash);
        }
        if self.order.len() > 2 * REMEMBERED_MAX {
            self.forget();
        }
    }

    /// Leaves the last ones.
    fn forget(&mut self) {
        let mut seen = FxHashSet::default();
        let last = self.order.iter().rev().filter(|hash| seen.insert(**hash)).take(REMEMBERED_MAX);
        let mut last: Vec<u64> = last.copied().collect();
        last.reverse();
        let kept: FxHashSet<u64> = last.iter().copied().collect();
        self.of.retain(|hash, _| kept.contains(hash));
        self.order = last;
    }

    /// What the table of `manifest` has kept.
    ///
    /// # Errors
    /// A file that is not there or damaged.
    pub(crate) fn read(manifest: &Manifest) -> Result<Self> {
        let mut files = manifest.files.iter().filter(|file| file.table == KEPT);
        let Some(file) = files.find(|file| file.path.ends_with(FILE)) else { return Ok(Self::default()) };
        let path = manifest.folder.join(&file.path);
        file.check(&path)?;
        let text = std::fs::read_to_string(&path).map_err(Error::io(&path))?;
        let mut new = Self::default();
        for (number, line) in (1..).zip(text.lines()) {
            let shown = life(line).ok_or_else(|| Error::damaged(&path, number, "no id in this line"))?;
            new.end([shown]);
        }
        Ok(new)
    }

    /// Keeps them in `folder`, for the manifest of this `number`.
    ///
    /// # Errors
    /// I/O errors.
    pub(crate) fn keep(&mut self, folder: &Path, number: u64) -> Result<Option<DataFile>> {
        self.forget();
        if self.order.is_empty() {
            return Ok(None);
        }
        let mut text = String::new();
        for hash in &self.order {
            let Life { field, n_again, n_entries } = self.of[hash];
            writeln!(text, "{hash:016x}\t{n_again}\t{n_entries}\t{field}").expect("a text");
        }
        let relative = format!("{OPEN}/{number}/{KEPT}/{FILE}");
        let path = folder.join(&relative);
        let parent = path.parent().unwrap_or(folder);
        std::fs::create_dir_all(parent).map_err(Error::io(parent))?;
        std::fs::write(&path, text).map_err(Error::io(&path))?;
        DataFile::of_kept(folder, relative).map(Some)
    }
}

/// The life that a line tells.
fn life(line: &str) -> Option<Shown> {
    let mut parts = line.splitn(4, '\t');
    let hash = u64::from_str_radix(parts.next()?, 16).ok()?;
    let (n_again, n_entries) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    Some((hash, Life { field: Name::from(parts.next()?), n_again, n_entries }))
}

/// Of ids of spans, by whether a request that carries each is open: those of which none does.
pub(crate) fn over(shown: &BTreeMap<u64, Life>, are_open: &FxHashSet<u64>) -> Vec<Shown> {
    shown.iter().filter(|(hash, _)| !are_open.contains(hash)).map(|(hash, life)| (*hash, *life)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_ids_are_remembered() {
        let mut lives = IdLives::default();
        let life = |n_again| Life { field: Name::from("traceId"), n_again, n_entries: 1 };
        let n = 3 * REMEMBERED_MAX as u64;
        lives.end((0..n).map(|hash| (hash, life(0))));
        lives.end([(5, life(1))]);
        lives.forget();
        assert_eq!(lives.order.len(), REMEMBERED_MAX);
        assert!(lives.is_known(5) && lives.is_known(n - 1) && !lives.is_known(6));
        let of = |name: &'static str| move |field: Name| field == name;
        let shown = FxHashSet::from_iter([5]);
        assert_eq!(lives.sums(&of("traceId"), &shown), [REMEMBERED_MAX - 1, 1, REMEMBERED_MAX]);
        assert_eq!(lives.sums(&of("other"), &shown), [0; 3]);
    }

    #[test]
    fn a_life_is_a_line() {
        let known = (7, Life { field: Name::from("a\tb"), n_again: 2, n_entries: 3 });
        assert_eq!(life("0000000000000007\t2\t3\ta\tb"), Some(known));
        assert_eq!(life("7\t2"), None);
    }
}
