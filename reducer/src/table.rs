//! The request table: a folder of Parquet files and the manifest that names
//! those which count.
//!
//! ```text
//! TABLE/manifest-<n>.json             the newest whole one is the table
//! TABLE/requests/day=2026-11-21/part-<n>.parquet     by day of the request's start
//! TABLE/requests/day=2026-11-21/part-<n>-<i>.parquet later periods of one append; what `thin` left
//! TABLE/inputs/part-<n>.parquet       tables without days
//! TABLE/index/day=2026-11-21/part-<n>.index           of each file of `requests`, see `indexes`
//! TABLE/open/<n>/requests/...         the same of open requests, and `kept/`, their spans
//! TABLE/requests/day=2026-11-21/part-<n>-open.parquet     links to that, for who reads folders
//! TABLE/models/<digest>.model         the models the rows were made with
//! TABLE/.catalog/                     an index, see `catalog`
//! TABLE/.lock                         held by the one writer
//! ```
//! Commit: data files first, each written aside, synced and renamed; then the
//! next manifest the same way. Files are never changed, and removed when no manifest names them
//! that is the newest, the way back from that, or held by a reader ([`Lease`]): who holds a
//! manifest sees that table, whole, whatever a writer does meanwhile.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use schema::faults::step;
use schema::tables::{self, Metadata, Row, Written};
use schema::{Error, ErrorKind, Result, version};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::finish::Rows;

mod days;
pub mod indexes;
mod leftovers;
mod part;
pub mod thin;

use self::indexes::INDEX;
pub use self::leftovers::Lease;
pub(crate) use self::part::Part;
pub use self::part::RelationRows;
use self::thin::Thinned;

/// Version of the manifest and of the layout of the folder.
const VERSION: u64 = 4;
/// The oldest one that can be read: its tables hold nothing that goes on.
const VERSION_MIN: u64 = 3;
const FORMAT: &str = "lprof request table";

/// One committed state of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Manifest {
    /// Folder of the table.
    pub folder: PathBuf,
    /// Its number; 0: nothing was ever committed.
    pub number: u64,
    /// The data files, in order of commit.
    pub files: Vec<DataFile>,
    /// What was taken out of it.
    pub thinned: Thinned,
    /// A newer manifest that could not be read, for a warning.
    pub damage: Option<String>,
    /// Keeps its files from being removed.
    lease: Lease,
}

/// A data file of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataFile {
    /// The table it is part of.
    pub table: String,
    /// Path below the table's folder, with `/`.
    pub path: String,
    /// Rows in it.
    pub n_rows: u64,
    /// Its size.
    pub n_bytes: u64,
    /// xxh3-128 of it.
    pub digest: u128,
    /// It is of open requests, which the next append decides again.
    pub is_open: bool,
}

/// What the kept spans of open requests are called as a table. Readers see no such table.
pub(crate) const KEPT: &str = "kept";

/// Folder of what is open.
pub(crate) const OPEN: &str = "open";

impl Manifest {
    /// The newest whole manifest of `folder`.
    ///
    /// # Errors
    /// No table, one of another version, none that is whole; I/O errors.
    pub fn read(folder: &Path) -> Result<Self> {
        let mut damage = None;
        for (number, path) in manifests(folder)?.into_iter().rev() {
            // Held before it is read, so that what it names is there.
            let lease = Lease::take(&path);
            match parse(folder, number, &path) {
                Ok(manifest) => {
                    let damage = damage.map(|e: Error| e.to_string());
                    return Ok(Self { damage, lease, ..manifest });
                }
                Err(error) if matches!(error.kind(), ErrorKind::Damaged { .. }) => {
                    damage = damage.or(Some(error))
                }
                Err(error) => return Err(error),
            }
        }
        Err(damage.unwrap_or_else(|| Error::new(folder, ErrorKind::NotOurs { expected: "request table" })))
    }

    /// The same; without any that of a table to which nothing was committed yet.
    ///
    /// # Errors
    /// Those of [`read`](Self::read), but for a table that is not there.
    pub(crate) fn read_or_none(folder: &Path) -> Result<Self> {
        if manifests(folder)?.is_empty() {
            return Ok(Self { folder: folder.to_owned(), ..Self::default() });
        }
        Self::read(folder)
    }

    /// Paths of the files of `table`.
    #[must_use]
    pub fn paths(&self, table: &str) -> Vec<PathBuf> {
        let files = self.files.iter().filter(|file| file.table == table);
        files.map(|file| self.folder.join(&file.path)).collect()
    }

    /// All rows of a table, in order of commit.
    ///
    /// # Errors
    /// A file that is not there, damaged or of another table.
    pub fn rows<R: Row>(&self) -> Result<Vec<R>> {
        self.rows_of(|_| true)
    }

    /// The same without those that the next commit replaces.
    pub(crate) fn closed_rows<R: Row>(&self) -> Result<Vec<R>> {
        self.rows_of(|file| !file.is_open)
    }

    fn rows_of<R: Row>(&self, is_wanted: impl Fn(&DataFile) -> bool) -> Result<Vec<R>> {
        let mut rows = Vec::new();
        for file in self.files.iter().filter(|file| file.table == R::TABLE && is_wanted(file)) {
            let path = self.folder.join(&file.path);
            file.check(&path)?;
            let (of_file, _) = tables::read::<R>(&path)?;
            if of_file.len() as u64 != file.n_rows {
                let detail = format!("expected {} rows, got {}", file.n_rows, of_file.len());
                return Err(Error::damaged(&path, 0, detail));
            }
            rows.extend(of_file);
        }
        Ok(rows)
    }

    /// Compares every file with its checksum.
    ///
    /// # Errors
    /// The first file that is not what was committed.
    pub fn check(&self) -> Result<()> {
        self.files.iter().try_for_each(|file| file.check(&self.folder.join(&file.path)))
    }

    fn write(&self) -> Result<()> {
        let file = |file: &DataFile| {
            let mut entry = json!({
                "table": file.table, "path": file.path, "n_rows": file.n_rows, "n_bytes": file.n_bytes,
                "digest": format!("{:032x}", file.digest),
            });
            if file.is_open {
                entry["open"] = json!(true);
            }
            entry
        };
        let mut value = json!({
            "format": FORMAT,
            "version": VERSION,
            "producer": env!("CARGO_PKG_VERSION"),
            "number": self.number,
            "files": self.files.iter().map(file).collect::<Vec<_>>(),
        });
        if self.thinned != Thinned::default() {
            value["thinned"] = self.thinned.to_json();
        }
        value["digest"] = json!(digest_of(&value));
        let mut text = serde_json::to_vec_pretty(&value).expect("a manifest is plain JSON");
        text.push(b'\n');
        version::write_atomically(&self.folder.join(format!("manifest-{}.json", self.number)), &text)
    }
}

impl DataFile {
    fn new(table: &str, path: String, written: Written, is_open: bool) -> Self {
        let Written { n_rows, n_bytes, digest } = written;
        Self { table: table.to_owned(), path, n_rows, n_bytes, digest, is_open }
    }

    /// A file of [`KEPT`] that was written at `path` below `folder`.
    pub(crate) fn of_kept(folder: &Path, path: String) -> Result<Self> {
        let full = folder.join(&path);
        let bytes = step().and_then(|()| fs::read(&full)).map_err(Error::io(&full))?;
        let digest = xxhash_rust::xxh3::xxh3_128(&bytes);
        let written = Written { n_rows: 0, n_bytes: bytes.len() as u64, digest };
        Ok(Self::new(KEPT, path, written, true))
    }

    pub(crate) fn check(&self, path: &Path) -> Result<()> {
        let mut file = step().and_then(|()| File::open(path)).map_err(Error::io(path))?;
        let (mut hash, mut n_bytes, mut buffer) = (xxhash_rust::xxh3::Xxh3::new(), 0, vec![0; 1 << 18]);
        loop {
            match file.read(&mut buffer).map_err(Error::io(path))? {
                0 => break,
                n => {
                    hash.update(&buffer[..n]);
                    n_bytes += n as u64;
                }
            }
        }
        if n_bytes != self.n_bytes {
            let detail = format!("expected {} bytes, got {n_bytes}", self.n_bytes);
            return Err(Error::damaged(path, self.n_bytes.min(n_bytes), detail));
        }
        if hash.digest128() != self.digest {
            return Err(Error::damaged(path, 0, "checksum does not fit the manifest's"));
        }
        Ok(())
    }
}

/// The one process that may add to a table.
#[derive(Debug)]
pub struct Writer {
    manifest: Manifest,
    /// Released by the operating system when the process ends, however it ends.
    _lock: File,
}

impl Writer {
    /// Opens `folder` for adding; it is made if it is not there.
    ///
    /// # Errors
    /// Another writer is at work; a folder that holds something else; I/O errors.
    pub fn open(folder: &Path) -> Result<Self> {
        fs::create_dir_all(folder).map_err(Error::io(folder))?;
        let lock_path = folder.join(".lock");
        let has_lock = lock_path.exists();
        if !has_lock && manifests(folder)?.is_empty() && holds_something(folder)? {
            return Err(Error::new(folder, ErrorKind::NotOurs { expected: "request table" }));
        }
        let lock =
            File::options().create(true).append(true).open(&lock_path).map_err(Error::io(&lock_path))?;
        lock.try_lock().map_err(|e| {
            let busy = format!("another lprof is writing this table ({e})");
            let busy = std::io::Error::new(std::io::ErrorKind::ResourceBusy, busy);
            Error::new(folder, ErrorKind::Io(busy))
        })?;
        let manifest = Manifest::read_or_none(folder)?;
        let writer = Self { manifest, _lock: lock };
        writer.remove_leftovers()?;
        Ok(writer)
    }

    /// The state that the next commit adds to.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Number of the next commit, which is the number of its run.
    #[must_use]
    pub fn next_number(&self) -> u64 {
        let newest =
            manifests(&self.manifest.folder).ok().and_then(|all| all.last().map(|(number, _)| *number));
        newest.unwrap_or(0).max(self.manifest.number) + 1
    }

    /// Adds `rows` and makes them visible, all or none.
    ///
    /// # Errors
    /// I/O errors; the table is then as before.
    pub fn commit(&mut self, rows: &Addition) -> Result<()> {
        let mut commit = self.begin();
        commit.add(Rows { log_sequences: Vec::new(), ..rows.rows.clone() })?;
        commit.finish(rows).map(drop)
    }

    /// Begins to add rows.
    pub fn begin(&mut self) -> Commit<'_> {
        let number = self.next_number();
        let next = Manifest { number, damage: None, lease: Lease::default(), ..self.manifest.clone() };
        let part = Part::new(&next.folder, (number, 0));
        Commit { writer: self, next, part, files: Vec::new() }
    }

    /// Removes what a killed writer left, and manifests before the last one, which is kept as a
    /// way back, that nobody reads.
    fn remove_leftovers(&self) -> Result<()> {
        leftovers::remove(&self.manifest, &manifests(&self.manifest.folder)?)
    }
}

/// Rows that one commit adds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Addition {
    /// Requests and what belongs to them.
    pub rows: Rows,
    /// Log points that the table does not know yet.
    pub log_points: Vec<tables::LogPointRow>,
    /// Top-level methods that the table does not know yet.
    pub top_level_methods: Vec<tables::TopLevelMethodRow>,
    /// Pairs that the table does not know yet.
    pub communication_pairs: Vec<tables::CommunicationPairRow>,
    /// Accounting of what was read.
    pub inputs: Vec<tables::InputRow>,
    /// The run itself.
    pub runs: Vec<tables::RunRow>,
    /// Requests that were thinned to figures.
    pub intervals: Vec<tables::IntervalRow>,
    /// Log sequences of nothing but open requests.
    pub open_sequences: Vec<tables::LogSequenceRow>,
}

/// The tables, by name.
pub const TABLES: [&str; 12] = [
    "requests",
    "request_nodes",
    "spans",
    "events",
    "relations",
    "log_points",
    "top_level_methods",
    "communication_pairs",
    "log_sequences",
    "intervals",
    "inputs",
    "runs",
];

/// Rows that are being added. Readers see them when all are, and never if it is dropped.
pub struct Commit<'w> {
    writer: &'w mut Writer,
    next: Manifest,
    part: Part,
    /// Those of other parts.
    files: Vec<DataFile>,
}

impl<'w> Commit<'w> {
    /// Leaves out of the table what is open: all of it is made again. Returns how many rows of
    /// `requests`, `spans` and `events` that is.
    pub(crate) fn replace_open(&mut self) -> [u64; 3] {
        let n_rows = |table: &str| {
            let files = self.next.files.iter().filter(|file| file.is_open && file.table == table);
            files.map(|file| file.n_rows).sum()
        };
        let n_rows = ["requests", "spans", "events"].map(n_rows);
        self.next.files.retain(|file| !file.is_open);
        n_rows
    }

    /// What is open is known to be over: it stays as it is.
    pub(crate) fn close_open(&mut self) {
        self.next.files.retain(|file| file.table != KEPT);
        self.next.files.iter_mut().for_each(|file| file.is_open = false);
    }

    /// Adds the files that hold the spans of what is open.
    pub(crate) fn add_open(&mut self, files: Vec<DataFile>) {
        self.next.files.extend(files);
    }

    /// Below which folder its files are, and its number.
    pub(crate) fn place(&self) -> (PathBuf, u64) {
        (self.next.folder.clone(), self.next.number)
    }

    /// Says that from what is added was taken out what was taken out of another table.
    pub fn note_thinned(&mut self, thinned: Thinned) {
        self.next.thinned = thinned;
    }

    /// Adds requests and what belongs to them; see [`Part::add`].
    ///
    /// # Errors
    /// I/O errors; the table is then as before.
    pub fn add(&mut self, rows: Rows) -> Result<()> {
        self.part.add(rows)
    }

    /// Adds the relations of requests; see [`Part::add_relations`].
    ///
    /// # Errors
    /// I/O errors; the table is then as before.
    pub fn add_relations(&mut self, relations: RelationRows) -> Result<()> {
        self.part.add_relations(relations)
    }

    /// Adds the files of another part, which are below the table's folder.
    pub(crate) fn add_files(&mut self, files: Vec<DataFile>) {
        self.files.extend(files);
    }

    /// Adds all of `rows` but requests and what is by day, and makes what was added visible.
    ///
    /// # Errors
    /// I/O errors; the table is then as before.
    pub fn finish(mut self, rows: &Addition) -> Result<&'w Manifest> {
        let mut files = self.part.finish()?;
        files.append(&mut self.files);
        files.sort_by_cached_key(|file| {
            let day = file.path.rsplit('/').nth(1).map(ToOwned::to_owned);
            let table = TABLES.iter().position(|table| *table == file.table);
            (table.unwrap_or(TABLES.len()), day, file.is_open)
        });
        self.next.files.append(&mut files);
        write(&mut self.next, &rows.rows.log_sequences, false)?;
        write(&mut self.next, &rows.open_sequences, true)?;
        write(&mut self.next, &rows.log_points, false)?;
        write(&mut self.next, &rows.top_level_methods, false)?;
        write(&mut self.next, &rows.communication_pairs, false)?;
        write(&mut self.next, &rows.intervals, false)?;
        write(&mut self.next, &rows.inputs, false)?;
        write(&mut self.next, &rows.runs, false)?;
        self.next.write()?;
        self.writer.manifest = self.next;
        self.writer.remove_leftovers()?;
        Ok(&self.writer.manifest)
    }
}

/// Writes the rows of a table without days, if there are any.
fn write<R: Row>(manifest: &mut Manifest, rows: &[R], is_open: bool) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let path = path_of(R::TABLE, None, manifest.number, is_open);
    let full = manifest.folder.join(&path);
    create_folder_of(&full)?;
    let written = tables::write(&full, rows, &Metadata::new())?;
    manifest.files.push(DataFile::new(R::TABLE, path, written, is_open));
    Ok(())
}

/// The path of what the commit of this `number` adds to a table, below its folder; of a day with
/// the number of the part of the commit.
fn path_of(table: &str, day: Option<(i64, u64)>, number: u64, is_open: bool) -> String {
    let open = if is_open { format!("{OPEN}/{number}/") } else { String::new() };
    match day {
        Some((day, 0)) => format!("{open}{table}/day={}/part-{number}.parquet", date(day)),
        Some((day, part)) => format!("{open}{table}/day={}/part-{number}-{part}.parquet", date(day)),
        None => format!("{open}{table}/part-{number}.parquet"),
    }
}

fn create_folder_of(path: &Path) -> Result<()> {
    let parent = path.parent().expect("a path below the table's folder");
    fs::create_dir_all(parent).map_err(Error::io(parent))
}

/// Year, month and day of a count of days since 1970-01-01, proleptic
/// Gregorian: the year is taken to start in March, so that the leap day is its
/// last, and 400 years are 146,097 days.
fn date(days: i64) -> String {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

/// Whether anything is in a folder that is not a table's: a new file system has a folder of its
/// own at its root.
///
/// # Errors
/// It cannot be read.
pub fn holds_something(folder: &Path) -> Result<bool> {
    for entry in fs::read_dir(folder).map_err(Error::io(folder))? {
        if entry.map_err(Error::io(folder))?.file_name() != "lost+found" {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The number of the newest manifest in `folder`, whole or not; 0: there is none.
///
/// # Errors
/// The folder cannot be read.
pub fn newest_number(folder: &Path) -> Result<u64> {
    Ok(manifests(folder)?.last().map_or(0, |(number, _)| *number))
}

/// Numbers and paths of the manifests in `folder`, oldest first.
fn manifests(folder: &Path) -> Result<Vec<(u64, PathBuf)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(Error::io(folder))? {
        let path = entry.map_err(Error::io(folder))?.path();
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        let number = name.strip_prefix("manifest-").and_then(|n| n.strip_suffix(".json"));
        if let Some(number) = number.and_then(|n| n.parse().ok()) {
            found.push((number, path));
        }
    }
    found.sort();
    Ok(found)
}

fn parse(folder: &Path, number: u64, path: &Path) -> Result<Manifest> {
    let text = step().and_then(|()| fs::read(path)).map_err(Error::io(path))?;
    let mut value: Value = serde_json::from_slice(&text).map_err(|e| Error::damaged(path, 0, e))?;
    if value["format"] != FORMAT {
        return Err(Error::damaged(path, 0, format!("expected the manifest of a {FORMAT}")));
    }
    let got = value["version"].as_u64().unwrap_or(0);
    if !(VERSION_MIN..=VERSION).contains(&got) {
        let (expected, got) = (VERSION as u32, u32::try_from(got).unwrap_or(u32::MAX));
        return Err(Error::new(path, ErrorKind::Version { expected, got }));
    }
    let digest = value["digest"].take();
    if let Some(fields) = value.as_object_mut() {
        fields.remove("digest");
    }
    if digest.as_str() != Some(&digest_of(&value)) {
        return Err(Error::damaged(path, 0, "checksum does not fit"));
    }
    let file = |file: &Value| {
        let relative = file["path"].as_str()?;
        // A manifest names files of its own folder only.
        let inside = Path::new(relative).components().all(|c| matches!(c, std::path::Component::Normal(_)));
        Some(DataFile {
            table: file["table"].as_str()?.to_owned(),
            path: inside.then(|| relative.to_owned())?,
            n_rows: file["n_rows"].as_u64()?,
            n_bytes: file["n_bytes"].as_u64()?,
            digest: u128::from_str_radix(file["digest"].as_str()?, 16).ok()?,
            is_open: file["open"] == true,
        })
    };
    let files: Option<Vec<DataFile>> = value["files"].as_array().into_iter().flatten().map(file).collect();
    let files = files.ok_or_else(|| Error::damaged(path, 0, "an entry of `files` is not whole"))?;
    let thinned = Thinned::of_json(&value["thinned"]);
    Ok(Manifest { folder: folder.to_owned(), number, files, thinned, ..Manifest::default() })
}

/// Digest over the manifest's content without the digest itself.
fn digest_of(value: &Value) -> String {
    format!("{:032x}", xxhash_rust::xxh3::xxh3_128(value.to_string().as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::{Addition, Manifest, Writer};
    use crate::finish::Rows;
    use schema::tables::{EventRow, LogSequenceRow, RequestRow, SpanRow, Text, Time};

    const DAY_US: i64 = 86_400_000_000;

    /// A request of so many events.
    fn request(id: &str, start_us: i64, n_events: i64) -> Rows {
        let (request_id, start_ts) = (Text::from(id), Time(start_us));
        let event = |seq| EventRow {
            request_id: Some(request_id.clone()),
            seq,
            ts: Time(start_us + seq * DAY_US / 2),
            ..EventRow::default()
        };
        Rows {
            requests: vec![RequestRow { request_id: request_id.clone(), start_ts, ..RequestRow::default() }],
            spans: vec![SpanRow { request_id: request_id.clone(), ..SpanRow::default() }],
            events: (0..n_events).map(event).collect(),
            ..Rows::default()
        }
    }

    fn unattributed(us: i64) -> Rows {
        Rows { events: vec![EventRow { ts: Time(us), ..EventRow::default() }], ..Rows::default() }
    }

    #[test]
    fn parts_of_a_commit_are_one_commit() {
        let parts = [
            unattributed(-1),
            request("a", 0, 3),
            request("b", 7, 1),
            unattributed(9),
            request("c", DAY_US, 2),
            unattributed(3 * DAY_US),
        ];
        let mut whole = Addition::default();
        for part in parts.clone() {
            whole.rows.requests.extend(part.requests);
            whole.rows.spans.extend(part.spans);
            whole.rows.events.extend(part.events);
        }
        whole.rows.log_sequences = vec![LogSequenceRow::default()];
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (one, several) = (folder.path().join("one"), folder.path().join("several"));
        Writer::open(&one).and_then(|mut writer| writer.commit(&whole)).expect("committed");
        let mut writer = Writer::open(&several).expect("a new table");
        let mut commit = writer.begin();
        parts.into_iter().for_each(|part| commit.add(part).expect("added"));
        commit.finish(&whole).expect("committed");

        let read = |folder| Manifest::read(folder).expect("a table");
        assert_eq!(read(&several).files, read(&one).files);
        let manifest = read(&one);
        let paths: Vec<&str> = manifest.files.iter().map(|file| &*file.path).collect();
        let expected = [
            "requests/day=1970-01-01/part-1.parquet",
            "requests/day=1970-01-02/part-1.parquet",
            "spans/day=1970-01-01/part-1.parquet",
            "spans/day=1970-01-02/part-1.parquet",
            "events/day=1969-12-31/part-1.parquet",
            "events/day=1970-01-01/part-1.parquet",
            "events/day=1970-01-02/part-1.parquet",
            "events/day=1970-01-04/part-1.parquet",
            "log_sequences/part-1.parquet",
        ];
        assert_eq!(paths, expected);
        assert_eq!(manifest.files[5].n_rows, 5, "an event is of the day of its request");
        read(&several).check().expect("whole files");
    }

    #[test]
    fn a_commit_that_is_dropped_adds_nothing() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut writer = Writer::open(folder.path()).expect("a new table");
        let mut commit = writer.begin();
        commit.add(request("a", 0, 2)).and_then(|()| commit.add(request("b", DAY_US, 2))).expect("added");
        drop(commit);
        writer.commit(&Addition { rows: request("c", 0, 1), ..Addition::default() }).expect("committed");
        let requests: Vec<RequestRow> = writer.manifest().rows().expect("rows");
        let ids: Vec<&str> = requests.iter().map(|row| &*row.request_id).collect();
        assert_eq!(ids, ["c"]);
        writer.manifest().check().expect("whole files");
    }
}
