//! The request table: a folder of Parquet files and the manifest that names
//! those which count.
//!
//! ```text
//! TABLE/manifest-<n>.json             the newest whole one is the table
//! TABLE/requests/day=2026-11-21/part-<n>.parquet     by day of the request's start
//! TABLE/inputs/part-<n>.parquet       tables without days
//! TABLE/models/<digest>.model         the models the rows were made with
//! TABLE/.catalog/                     an index, see `catalog`
//! TABLE/.lock                         held by the one writer
//! ```
//! Commit: data files first, each written aside, synced and renamed; then the
//! next manifest the same way. Files are never changed, so a reader that holds
//! a manifest sees that table, whole, whatever a writer does meanwhile.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use schema::tables::{self, Metadata, Row, Time};
use schema::{Error, ErrorKind, Result, version};
use serde_json::{Value, json};

use crate::finish::Rows;

/// Version of the manifest and of the layout of the folder.
const VERSION: u64 = 2;
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
    /// A newer manifest that could not be read, for a warning.
    pub damage: Option<String>,
}

/// A data file of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
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
}

impl Manifest {
    /// The newest whole manifest of `folder`.
    ///
    /// # Errors
    /// No table, one of another version, none that is whole; I/O errors.
    pub fn read(folder: &Path) -> Result<Self> {
        let mut damage = None;
        for (number, path) in manifests(folder)?.into_iter().rev() {
            match parse(folder, number, &path) {
                Ok(manifest) => return Ok(Self { damage: damage.map(|e: Error| e.to_string()), ..manifest }),
                Err(error) if matches!(error.kind(), ErrorKind::Damaged { .. }) => {
                    damage = damage.or(Some(error))
                }
                Err(error) => return Err(error),
            }
        }
        Err(damage.unwrap_or_else(|| Error::new(folder, ErrorKind::NotOurs { expected: "request table" })))
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
        let mut rows = Vec::new();
        for file in self.files.iter().filter(|file| file.table == R::TABLE) {
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
            json!({
                "table": file.table, "path": file.path, "n_rows": file.n_rows, "n_bytes": file.n_bytes,
                "digest": format!("{:032x}", file.digest),
            })
        };
        let mut value = json!({
            "format": FORMAT,
            "version": VERSION,
            "producer": env!("CARGO_PKG_VERSION"),
            "number": self.number,
            "files": self.files.iter().map(file).collect::<Vec<_>>(),
        });
        value["digest"] = json!(digest_of(&value));
        let mut text = serde_json::to_vec_pretty(&value).expect("a manifest is plain JSON");
        text.push(b'\n');
        version::write_atomically(&self.folder.join(format!("manifest-{}.json", self.number)), &text)
    }
}

impl DataFile {
    fn check(&self, path: &Path) -> Result<()> {
        let bytes = fs::read(path).map_err(Error::io(path))?;
        if bytes.len() as u64 != self.n_bytes {
            let detail = format!("expected {} bytes, got {}", self.n_bytes, bytes.len());
            return Err(Error::damaged(path, self.n_bytes.min(bytes.len() as u64), detail));
        }
        if xxhash_rust::xxh3::xxh3_128(&bytes) != self.digest {
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
        if !has_lock
            && manifests(folder)?.is_empty()
            && fs::read_dir(folder).map_err(Error::io(folder))?.count() > 0
        {
            return Err(Error::new(folder, ErrorKind::NotOurs { expected: "request table" }));
        }
        let lock =
            File::options().create(true).append(true).open(&lock_path).map_err(Error::io(&lock_path))?;
        lock.try_lock().map_err(|e| {
            let busy = std::io::Error::other(format!("another lprof is writing this table ({e})"));
            Error::new(folder, ErrorKind::Io(busy))
        })?;
        let manifest = match Manifest::read(folder) {
            Ok(manifest) => manifest,
            Err(_) if manifests(folder)?.is_empty() => {
                Manifest { folder: folder.to_owned(), ..Manifest::default() }
            }
            Err(error) => return Err(error),
        };
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
        let mut next = Manifest { number: self.next_number(), damage: None, ..self.manifest.clone() };
        let days = &rows.rows;
        let request_days: BTreeMap<&str, Time> =
            days.requests.iter().map(|row| (&*row.request_id, row.start_ts)).collect();
        let start_of = |request_id: &str| request_days.get(request_id).copied().unwrap_or_default();
        add(&mut next, &days.requests, |row| Some(row.start_ts))?;
        add(&mut next, &days.request_nodes, |row| Some(start_of(&row.request_id)))?;
        add(&mut next, &days.spans, |row| Some(start_of(&row.request_id)))?;
        add(&mut next, &days.events, |row| Some(row.request_id.as_deref().map_or(row.ts, start_of)))?;
        add(&mut next, &days.log_sequences, |_| None)?;
        add(&mut next, &rows.log_points, |_| None)?;
        add(&mut next, &rows.top_level_methods, |_| None)?;
        add(&mut next, &rows.communication_pairs, |_| None)?;
        add(&mut next, &rows.inputs, |_| None)?;
        add(&mut next, &rows.runs, |_| None)?;
        next.write()?;
        self.manifest = next;
        self.remove_leftovers()
    }

    /// Removes what a killed writer left and manifests before the last one,
    /// which is kept as a way back.
    fn remove_leftovers(&self) -> Result<()> {
        let folder = &self.manifest.folder;
        let named: BTreeSet<PathBuf> =
            self.manifest.files.iter().map(|file| folder.join(&file.path)).collect();
        for table in fs::read_dir(folder).map_err(Error::io(folder))? {
            let table = table.map_err(Error::io(folder))?.path();
            let is_table = table.file_name().and_then(|n| n.to_str()).is_some_and(|n| TABLES.contains(&n));
            if is_table && table.is_dir() {
                remove_unnamed(&table, &named)?;
            }
        }
        for (number, path) in manifests(folder)? {
            if number + 1 < self.manifest.number {
                fs::remove_file(&path).map_err(Error::io(&path))?;
            }
        }
        Ok(())
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
}

/// The tables, by name.
pub const TABLES: [&str; 10] = [
    "requests",
    "request_nodes",
    "spans",
    "events",
    "log_points",
    "top_level_methods",
    "communication_pairs",
    "log_sequences",
    "inputs",
    "runs",
];

fn add<R: Row + Clone>(manifest: &mut Manifest, rows: &[R], time: impl Fn(&R) -> Option<Time>) -> Result<()> {
    let mut parts: BTreeMap<Option<i64>, Vec<R>> = BTreeMap::new();
    for row in rows {
        parts.entry(time(row).map(|t| t.0.div_euclid(MICROS_PER_DAY))).or_default().push(row.clone());
    }
    for (day, rows) in parts {
        let path = match day {
            Some(day) => format!("{}/day={}/part-{}.parquet", R::TABLE, date(day), manifest.number),
            None => format!("{}/part-{}.parquet", R::TABLE, manifest.number),
        };
        let full = manifest.folder.join(&path);
        let parent = full.parent().expect("a path below the table's folder");
        fs::create_dir_all(parent).map_err(Error::io(parent))?;
        let written = tables::write(&full, &rows, &Metadata::new())?;
        manifest.files.push(DataFile {
            table: R::TABLE.to_owned(),
            path,
            n_rows: written.n_rows,
            n_bytes: written.n_bytes,
            digest: written.digest,
        });
    }
    Ok(())
}

const MICROS_PER_DAY: i64 = 86_400_000_000;

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
    let text = fs::read(path).map_err(Error::io(path))?;
    let mut value: Value = serde_json::from_slice(&text).map_err(|e| Error::damaged(path, 0, e))?;
    if value["format"] != FORMAT {
        return Err(Error::damaged(path, 0, format!("expected the manifest of a {FORMAT}")));
    }
    let got = value["version"].as_u64().unwrap_or(0);
    if got != VERSION {
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
        })
    };
    let files: Option<Vec<DataFile>> = value["files"].as_array().into_iter().flatten().map(file).collect();
    let files = files.ok_or_else(|| Error::damaged(path, 0, "an entry of `files` is not whole"))?;
    Ok(Manifest { folder: folder.to_owned(), number, files, damage: None })
}

/// Digest over the manifest's content without the digest itself.
fn digest_of(value: &Value) -> String {
    format!("{:032x}", xxhash_rust::xxh3::xxh3_128(value.to_string().as_bytes()))
}

fn remove_unnamed(folder: &Path, named: &BTreeSet<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).map_err(Error::io(folder))? {
        let path = entry.map_err(Error::io(folder))?.path();
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        let ours = (name.starts_with("part-") && name.ends_with(".parquet")) || name.ends_with(".tmp");
        if path.is_dir() {
            remove_unnamed(&path, named)?;
        } else if ours && !named.contains(&path) {
            fs::remove_file(&path).map_err(Error::io(&path))?;
        }
    }
    Ok(())
}
