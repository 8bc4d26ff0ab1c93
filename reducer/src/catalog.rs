//! The catalog: what a table already holds, so that the same input adds
//! nothing, a log that grew adds its new part, and a log point keeps its number
//! from one model to the next.
//!
//! All of it stands in the table's own files; sled keeps it at hand in
//! `TABLE/.catalog`. The index is made again whenever it does not belong to
//! the current manifest or cannot be opened, and a table without it is whole.
//! sled can panic on files that a crash left: it is called under
//! `catch_unwind`, and nothing but this module calls it.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use rustc_hash::FxHashSet;
use schema::tables::{InputRow, LogPointRow, LogSequenceRow, RunRow};
use schema::{Event, InputAccount, LogPointId, Model, Place, Result};

use crate::table::Manifest;

/// What a table holds already.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalog {
    /// (node, digest of the content) of each input.
    digests: BTreeSet<(String, String)>,
    /// Of each node what was read of each of its logs, in all.
    files: BTreeMap<String, Vec<Progress>>,
    /// Ids of the known log sequences.
    sequences: BTreeSet<String>,
    /// Identity of each known log point, and its number.
    log_points: BTreeMap<String, i64>,
    /// Digests of the models that are in the tables.
    models: BTreeSet<String>,
}

/// How far a log was read. It is known by its content: it can have another name by now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Progress {
    /// What it was called first.
    file: String,
    /// Digests of its first bytes.
    prefixes: Vec<u128>,
    n_bytes: u64,
    n_lines: u64,
    n_records: u64,
    n_attributed: u64,
    n_unattributed: u64,
    n_headerless: u64,
    n_rejected: u64,
    first_us: Option<i64>,
}

impl Catalog {
    /// The catalog of `manifest`: from the index if it is of this manifest,
    /// else from the table's files.
    ///
    /// # Errors
    /// The table's files cannot be read.
    pub fn load(manifest: &Manifest) -> Result<Self> {
        if let Some(catalog) = index::load(&manifest.folder, manifest.number) {
            return Ok(catalog);
        }
        let mut catalog = Self::default();
        catalog.add(
            &manifest.rows::<InputRow>()?,
            &manifest.closed_rows::<LogSequenceRow>()?,
            &manifest.rows::<LogPointRow>()?,
            &manifest.rows::<RunRow>()?,
        );
        Ok(catalog)
    }

    /// Notes rows that were committed.
    pub fn add(
        &mut self,
        inputs: &[InputRow],
        sequences: &[LogSequenceRow],
        points: &[LogPointRow],
        runs: &[RunRow],
    ) {
        for row in inputs {
            self.digests.insert((row.node.to_string(), row.digest.to_string()));
            let logs = self.files.entry(row.node.to_string()).or_default();
            let prefixes = row.prefix_digests();
            let first_us = row.first_ts.map(|t| t.0);
            let known = logs.iter().position(|log| log.begins(&row.file, first_us, &prefixes));
            let at = known.unwrap_or_else(|| {
                logs.push(Progress { file: row.file.to_string(), ..Progress::default() });
                logs.len() - 1
            });
            logs[at].add(row, prefixes);
        }
        self.sequences.extend(sequences.iter().map(|row| row.log_sequence_id.to_string()));
        for row in points {
            let same = identity(row);
            let mut key = nth(&same, 0);
            for n in 1.. {
                if !self.log_points.contains_key(&key) {
                    break;
                }
                key = nth(&same, n);
            }
            self.log_points.insert(key, row.log_point_id);
        }
        self.models.extend(runs.iter().map(|row| row.model_digest.to_string()));
    }

    /// Keeps the catalog as the index of `manifest`. It is only an index: if it
    /// cannot be kept, the next command makes it again.
    pub fn keep(&self, manifest: &Manifest) {
        index::keep(self, &manifest.folder, manifest.number);
    }

    /// Whether the table knows the log sequence.
    #[must_use]
    pub fn knows_sequence(&self, log_sequence_id: &str) -> bool {
        self.sequences.contains(log_sequence_id)
    }

    /// Whether the model's methods and pairs are in the table.
    #[must_use]
    pub fn knows_model(&self, digest: u128) -> bool {
        self.models.contains(&format!("{digest:032x}"))
    }

    /// Numbers for the log points of `model`, and rows for those that are new.
    /// In a new table the numbers are the positions in the model.
    #[must_use]
    pub fn number_log_points(&self, model: &Model) -> (Vec<i64>, Vec<LogPointRow>) {
        let mut next = self.log_points.values().max().map_or(0, |n| n + 1);
        let mut n_alike: BTreeMap<String, u32> = BTreeMap::new();
        let (mut numbers, mut rows) = (Vec::new(), Vec::new());
        for index in 0..model.log_points.len() {
            let mut row = LogPointRow::new(model, LogPointId::new(index), next);
            // Two log points of one model are never one, however alike: the
            // first is the first, the second the second.
            let same = identity(&row);
            let n = n_alike.entry(same.clone()).or_insert(0);
            let known = self.log_points.get(&nth(&same, *n)).copied();
            *n += 1;
            let number = known.unwrap_or_else(|| {
                row.log_point_id = next;
                next += 1;
                rows.push(row);
                next - 1
            });
            numbers.push(number);
        }
        (numbers, rows)
    }

    /// What of `inputs` of `node` the table does not hold yet, and how much of each it does.
    pub(crate) fn known(&self, node: &str, inputs: &[InputAccount]) -> Known {
        let mut known = Known::default();
        for account in inputs {
            let digest = (node.to_owned(), format!("{:032x}", account.digest));
            let logs = self.files.get(node).map(Vec::as_slice).unwrap_or_default();
            let grown = logs.iter().rev().find(|log| {
                log.n_bytes < account.n_bytes
                    && log.begins(&account.file, account.first_us, &account.prefixes)
            });
            let is_cut = || logs.iter().any(|log| log.holds(account));
            if self.digests.contains(&digest) || (grown.is_none() && is_cut()) {
                known.n_inputs += 1;
                known.read_before.push(u64::MAX);
            } else if let Some(progress) = grown {
                known.new.push(progress.rest_of(account));
                known.read_before.push(progress.n_bytes);
            } else {
                known.new.push(account.clone());
                known.read_before.push(0);
            }
        }
        known
    }
}

/// What a table holds of the inputs of a node.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// The accounting of what is new.
    pub(crate) new: Vec<InputAccount>,
    /// Inputs that had nothing new: with the same content, or a part of what was read.
    pub(crate) n_inputs: usize,
    /// Bytes of each input that were read before.
    pub(crate) read_before: Vec<u64>,
    /// Records that were read before and are taken again, with what follows them.
    pub(crate) again: FxHashSet<Place>,
}

impl Known {
    /// Whether all is new.
    pub(crate) fn is_nothing(&self) -> bool {
        self.read_before.iter().all(|n| *n == 0)
    }

    /// Whether a record is new: of an input that is not known, or of the part by which that has
    /// grown.
    pub(crate) fn is_new(&self, event: &Event) -> bool {
        self.read_before.get(event.file as usize).is_none_or(|n| event.byte_offset >= *n)
            || self.again.contains(&event.place())
    }
}

/// Whether the log of `account` begins with all of what was read as `known`.
pub(crate) fn is_of_same_log(known: &InputAccount, account: &InputAccount) -> bool {
    if known.digest == account.digest && known.n_bytes == account.n_bytes {
        return true;
    }
    let (file, prefixes) = (known.file.clone(), known.prefixes.clone());
    let progress = Progress { file, prefixes, first_us: known.first_us, ..Progress::default() };
    known.n_bytes <= account.n_bytes && progress.begins(&account.file, account.first_us, &account.prefixes)
}

impl Progress {
    /// Whether a log of that name, first time and content begins with all that was read of this
    /// one. Content that has no digests, as it is short or from an older version, is told by name.
    fn begins(&self, file: &str, first_us: Option<i64>, prefixes: &[u128]) -> bool {
        if self.first_us != first_us {
            return false;
        }
        match self.prefixes.split_last() {
            Some((last, before)) if !prefixes.is_empty() => prefixes.get(before.len()) == Some(last),
            _ => self.file == file,
        }
    }

    /// Whether `account` is of a copy that was cut: all of it was read.
    fn holds(&self, account: &InputAccount) -> bool {
        let is_start = match account.prefixes.split_last() {
            Some((last, before)) => self.prefixes.get(before.len()) == Some(last),
            None => false,
        };
        is_start && self.first_us == account.first_us && account.n_bytes <= self.n_bytes
    }

    fn add(&mut self, row: &InputRow, prefixes: Vec<u128>) {
        if prefixes.len() > self.prefixes.len() {
            self.prefixes = prefixes;
        }
        self.n_bytes += row.n_bytes.unsigned_abs();
        self.n_lines += row.n_lines.unsigned_abs();
        self.n_records += row.n_records.unsigned_abs();
        self.n_attributed += row.n_attributed.unsigned_abs();
        self.n_unattributed += row.n_unattributed.unsigned_abs();
        self.n_headerless += row.n_headerless.unsigned_abs();
        self.n_rejected += row.n_rejected.unsigned_abs();
        self.first_us = self.first_us.or(row.first_ts.map(|t| t.0));
    }

    /// What `account`, of the whole file, says of the part not read before.
    fn rest_of(&self, account: &InputAccount) -> InputAccount {
        InputAccount {
            n_bytes: account.n_bytes.saturating_sub(self.n_bytes),
            n_lines: account.n_lines.saturating_sub(self.n_lines),
            n_records: account.n_records.saturating_sub(self.n_records),
            n_attributed: account.n_attributed.saturating_sub(self.n_attributed),
            n_unattributed: account.n_unattributed.saturating_sub(self.n_unattributed),
            n_headerless: account.n_headerless.saturating_sub(self.n_headerless),
            n_rejected: account.n_rejected.saturating_sub(self.n_rejected),
            ..account.clone()
        }
    }
}

/// What makes a log point the same one in another model: where it stands and
/// what it prints.
fn identity(row: &LogPointRow) -> String {
    let mut hash = xxhash_rust::xxh3::Xxh3::new();
    let mut text = |text: &str| {
        hash.update(&(text.len() as u64).to_le_bytes());
        hash.update(text.as_bytes());
    };
    text(&row.class);
    text(&row.method);
    text(&row.source_line.to_string());
    text(row.call_site.as_deref().unwrap_or_default());
    for template in &row.templates {
        text(&template.regex);
        template.variables.iter().for_each(|variable| text(variable));
    }
    format!("{:032x}", hash.digest128())
}

/// Key of the `n`-th log point with one identity.
fn nth(identity: &str, n: u32) -> String {
    format!("{identity}#{n}")
}

/// The index in sled.
mod index {
    use super::{AssertUnwindSafe, BTreeMap, Catalog, Path, Progress, catch_unwind};

    /// A key and its value, as sled keeps them.
    type Entry = (Vec<u8>, Vec<u8>);

    const FOLDER: &str = ".catalog";
    /// Changes when the form of the entries does: an index of another form is
    /// made again, not converted.
    const FORM: &[u8] = b"2";

    pub(super) fn load(table: &Path, number: u64) -> Option<Catalog> {
        let folder = table.join(FOLDER);
        if number == 0 || !folder.is_dir() {
            return None;
        }
        let loaded = catch_unwind(AssertUnwindSafe(|| read(&folder, number)));
        loaded.ok().flatten()
    }

    pub(super) fn keep(catalog: &Catalog, table: &Path, number: u64) {
        let folder = table.join(FOLDER);
        let kept =
            || catch_unwind(AssertUnwindSafe(|| write(catalog, &folder, number).is_ok())).unwrap_or(false);
        if !kept() {
            // What cannot be opened is made again from nothing, once.
            let _ = std::fs::remove_dir_all(&folder);
            let _ = kept();
        }
    }

    fn open(folder: &Path) -> sled::Result<sled::Db> {
        sled::Config::new().path(folder).cache_capacity(16 << 20).flush_every_ms(None).open()
    }

    fn write(catalog: &Catalog, folder: &Path, number: u64) -> sled::Result<()> {
        let db = open(folder)?;
        // Without its number the index is nobody's until it is whole.
        db.remove("manifest")?;
        let entries = entries(catalog);
        for (name, entries) in entries {
            let tree = db.open_tree(name)?;
            if tree.len() > entries.len() {
                // Entries of a state that the manifest does not have.
                tree.clear()?;
            }
            for (key, value) in entries {
                if tree.get(&key)?.as_deref() != Some(&value) {
                    tree.insert(key, value)?;
                }
            }
        }
        db.insert("form", FORM)?;
        db.flush()?;
        db.insert("manifest", &number.to_le_bytes())?;
        db.flush()?;
        Ok(())
    }

    fn entries(catalog: &Catalog) -> BTreeMap<&'static str, Vec<Entry>> {
        let two = |(a, b): &(String, String)| format!("{a}\0{b}").into_bytes();
        let none = |key: &String| (key.clone().into_bytes(), Vec::new());
        let logs = |(node, logs): (&String, &Vec<Progress>)| -> Vec<Entry> {
            let key = |i: usize| format!("{node}\0{i:012}").into_bytes();
            logs.iter().enumerate().map(|(i, log)| (key(i), log.to_bytes())).collect()
        };
        BTreeMap::from([
            ("digests", catalog.digests.iter().map(|key| (two(key), Vec::new())).collect()),
            ("files", catalog.files.iter().flat_map(logs).collect()),
            ("sequences", catalog.sequences.iter().map(none).collect()),
            ("models", catalog.models.iter().map(none).collect()),
            (
                "log_points",
                catalog
                    .log_points
                    .iter()
                    .map(|(k, n)| (k.clone().into_bytes(), n.to_le_bytes().into()))
                    .collect(),
            ),
        ])
    }

    fn read(folder: &Path, number: u64) -> Option<Catalog> {
        let db = open(folder).ok()?;
        if db.get("manifest").ok()?.as_deref() != Some(&number.to_le_bytes())
            || db.get("form").ok()?.as_deref() != Some(FORM)
        {
            return None;
        }
        let mut trees = BTreeMap::new();
        for name in ["digests", "files", "sequences", "models", "log_points"] {
            let tree = db.open_tree(name).ok()?;
            let mut entries = Vec::new();
            for entry in tree.iter() {
                let (key, value) = entry.ok()?;
                entries.push((String::from_utf8(key.to_vec()).ok()?, value.to_vec()));
            }
            trees.insert(name, entries);
        }
        let two = |key: &str| key.split_once('\0').map(|(a, b)| (a.to_owned(), b.to_owned()));
        let keys = |name: &str| trees[name].iter().map(|(key, _)| key.clone());
        // In the order in which they were read, which is that of the keys.
        let mut files: BTreeMap<String, Vec<Progress>> = BTreeMap::new();
        for (key, value) in &trees["files"] {
            files.entry(two(key)?.0).or_default().push(Progress::from_bytes(value)?);
        }
        let number = |(key, value): &(String, Vec<u8>)| {
            Some((key.clone(), i64::from_le_bytes(value.as_slice().try_into().ok()?)))
        };
        Some(Catalog {
            digests: keys("digests").map(|key| two(&key)).collect::<Option<_>>()?,
            files,
            sequences: keys("sequences").collect(),
            models: keys("models").collect(),
            log_points: trees["log_points"].iter().map(number).collect::<Option<_>>()?,
        })
    }

    impl Progress {
        fn to_bytes(&self) -> Vec<u8> {
            let counters = [
                self.n_bytes,
                self.n_lines,
                self.n_records,
                self.n_attributed,
                self.n_unattributed,
                self.n_headerless,
                self.n_rejected,
                u64::from(self.first_us.is_some()),
                self.first_us.unwrap_or_default().cast_unsigned(),
            ];
            let mut bytes: Vec<u8> = counters.iter().flat_map(|n| n.to_le_bytes()).collect();
            bytes.extend((self.prefixes.len() as u64).to_le_bytes());
            bytes.extend(self.prefixes.iter().flat_map(|digest| digest.to_le_bytes()));
            bytes.extend_from_slice(self.file.as_bytes());
            bytes
        }

        fn from_bytes(bytes: &[u8]) -> Option<Self> {
            let n = |i: usize| bytes.get(8 * i..8 * i + 8)?.try_into().ok().map(u64::from_le_bytes);
            let (digests, file) =
                bytes.get(80..)?.split_at_checked(usize::try_from(n(9)?).ok()?.checked_mul(16)?)?;
            let digest = |bytes: &[u8]| bytes.try_into().ok().map(u128::from_le_bytes);
            Some(Self {
                file: String::from_utf8(file.to_vec()).ok()?,
                prefixes: digests.chunks(16).map(digest).collect::<Option<_>>()?,
                n_bytes: n(0)?,
                n_lines: n(1)?,
                n_records: n(2)?,
                n_attributed: n(3)?,
                n_unattributed: n(4)?,
                n_headerless: n(5)?,
                n_rejected: n(6)?,
                first_us: if n(7)? == 1 { Some(n(8)?.cast_signed()) } else { None },
            })
        }
    }
}
