//! A table whose requests are split at links that are not likely enough: a table of its own, beside
//! the one that it is made from, for as long as it is asked.
//!
//! What holds, is as it is in the table; all commands that read tables read such a one as any other.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::error::{Context as _, Result, bail};
use reducer::finish::Rows;
use reducer::finish::split::{Splitter, Whole};
use reducer::table::{Addition, Commit, Manifest, Writer};
use schema::tables::{Batches, EventRow, LogSequenceRow, RequestRow, SpanRow, Text};

use super::files::{Part, Paths, paths};

/// Requests whose rows are written at once.
const REQUESTS_AT_ONCE: usize = 1024;

/// Microseconds of a day.
const US_PER_DAY: i64 = 86_400_000_000;

/// Rows that are not written yet, by day.
type ByDay = BTreeMap<i64, Rows>;

/// A folder that goes when nobody needs it any more.
pub(crate) struct Confident {
    folder: PathBuf,
    /// What was done, for people.
    pub(crate) notes: Vec<String>,
}

impl Drop for Confident {
    fn drop(&mut self) {
        // Nothing can be done about what cannot be removed.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Puts in the place of `table` one whose requests hold only links of at least the probability
/// `min`, if one is given. It is there as long as what is returned.
///
/// # Errors
/// No table, or one that does not say how likely its links are; I/O errors.
pub(crate) fn split(table: &mut PathBuf, min: Option<f64>) -> Result<Option<Confident>> {
    let Some(min) = min.filter(|min| *min > 0.0) else { return Ok(None) };
    let manifest = Manifest::read(table)?;
    let damage =
        manifest.damage.iter().map(|damage| format!("warning: {damage}; the state before it is read"));
    let mut confident = Confident { folder: new_folder()?, notes: damage.collect() };
    let (n_split, n_parts) = write(&manifest, &confident.folder, min)
        .with_context(|| format!("`{}`: split at --min-confidence {min}", table.display()))?;
    confident.notes.push(format!("{n_split} requests are split at links below {min}, into {n_parts}"));
    table.clone_from(&confident.folder);
    Ok(Some(confident))
}

/// A folder that is nobody else's.
fn new_folder() -> Result<PathBuf> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let name = format!("lprof-confident-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
    let folder = std::env::temp_dir().join(name);
    std::fs::create_dir(&folder).with_context(|| format!("`{}`", folder.display()))?;
    Ok(folder)
}

/// Writes the table; how many requests were split, and into how many.
fn write(manifest: &Manifest, folder: &Path, min: f64) -> Result<(usize, usize)> {
    let splitter = Splitter::new(&manifest.rows()?, &manifest.rows()?);
    let mut writer = Writer::open(folder)?;
    copy_models(&manifest.folder, folder)?;
    let thinned = manifest.thinned.note("spans");
    let mut split = Split { splitter, min, thinned, sequences: manifest.rows()?, n_split: 0, n_parts: 0 };
    let files = of_requests_and_none(manifest);
    // A commit adds day by day; those of a table each begin again.
    for (at, (requests, events)) in files.iter().enumerate() {
        let mut commit = writer.begin();
        commit.note_thinned(manifest.thinned);
        let mut by_day = BTreeMap::new();
        if let Some(paths) = requests {
            split.add(paths, &mut by_day, &mut commit)?;
        }
        if let Some(events) = events {
            add_unattributed(events, &mut by_day)?;
        }
        by_day.into_values().try_for_each(|rows| commit.add(rows))?;
        let is_last = at + 1 == files.len();
        let addition = if is_last { split.rest(manifest)? } else { Addition::default() };
        commit.finish(&addition)?;
    }
    if files.is_empty() {
        let mut commit = writer.begin();
        commit.note_thinned(manifest.thinned);
        commit.finish(&split.rest(manifest)?)?;
    }
    Ok((split.n_split, split.n_parts))
}

/// The files of requests, each with those of its events; and events of days without requests.
fn of_requests_and_none(manifest: &Manifest) -> Vec<(Option<Paths>, Option<PathBuf>)> {
    let paths = paths(manifest);
    let mut alone = manifest.paths("events");
    alone.retain(|path| paths.iter().all(|paths| paths.events.as_ref() != Some(path)));
    let of_requests = paths.into_iter().map(|paths| (Some(paths.clone()), paths.events));
    of_requests.chain(alone.into_iter().map(|path| (None, Some(path)))).collect()
}

/// Models are read only: they need no copy where the folders are on one disk.
fn copy_models(from: &Path, to: &Path) -> Result<()> {
    let (from, to) = (from.join("models"), to.join("models"));
    if !from.is_dir() {
        return Ok(());
    }
    std::fs::create_dir(&to).with_context(|| format!("`{}`", to.display()))?;
    for entry in std::fs::read_dir(&from).with_context(|| format!("`{}`", from.display()))? {
        let path = entry?.path();
        let Some(name) = path.file_name() else { continue };
        if std::fs::hard_link(&path, to.join(name)).is_err() {
            std::fs::copy(&path, to.join(name)).with_context(|| format!("`{}`", path.display()))?;
        }
    }
    Ok(())
}

/// A table that is being split.
struct Split {
    splitter: Splitter,
    min: f64,
    /// Why a request can have no spans.
    thinned: Option<String>,
    sequences: Vec<LogSequenceRow>,
    n_split: usize,
    n_parts: usize,
}

impl Split {
    /// Adds the requests that files of a commit and day hold; what is of later days stays in
    /// `by_day`.
    fn add(&mut self, paths: &Paths, by_day: &mut ByDay, commit: &mut Commit<'_>) -> Result<()> {
        if let (None, Some(note)) = (&paths.spans, &self.thinned) {
            bail!(Mismatch: "{note}, and its requests cannot be split");
        }
        if paths.spans.is_none() {
            bail!(Mismatch: "the table keeps no spans; make it with `--keep spans` or `--keep events`");
        }
        let mut part: Part<RequestRow, SpanRow, EventRow> = Part::open(paths, None)?;
        while let Some((request, spans, events)) = part.next()? {
            check(&spans)?;
            let parts = self.splitter.split(Whole { request, spans, events }, self.min);
            if parts.len() > 1 {
                (self.n_split, self.n_parts) = (self.n_split + 1, self.n_parts + parts.len());
            }
            for mut rows in parts {
                self.sequences.append(&mut rows.log_sequences);
                let day = rows.requests[0].start_ts.0.div_euclid(US_PER_DAY);
                extend(by_day.entry(day).or_default(), rows);
            }
            if let Some(first) = by_day.first_entry().filter(|of| of.get().requests.len() >= REQUESTS_AT_ONCE)
            {
                commit.add(first.remove())?;
            }
        }
        Ok(())
    }

    /// What is added at the end.
    fn rest(&mut self, manifest: &Manifest) -> Result<Addition> {
        let mut known: BTreeSet<Text> = BTreeSet::new();
        let mut log_sequences = std::mem::take(&mut self.sequences);
        log_sequences.retain(|row| known.insert(row.log_sequence_id.clone()));
        Ok(Addition {
            rows: Rows { log_sequences, ..Rows::default() },
            log_points: manifest.rows()?,
            top_level_methods: manifest.rows()?,
            communication_pairs: manifest.rows()?,
            intervals: manifest.rows()?,
            inputs: manifest.rows()?,
            runs: manifest.rows()?,
            ..Addition::default()
        })
    }
}

/// Fails where links do not say how likely they are.
fn check(spans: &[SpanRow]) -> Result<()> {
    let is_old = |span: &SpanRow| span.parent_span_id.is_some() && span.link_probability.is_none();
    if spans.iter().any(is_old) {
        bail!(Version: "the table is of an older lprof and does not say how likely its links are; make it again");
    }
    Ok(())
}

/// Adds the records of a file that are in no request.
fn add_unattributed(events: &Path, by_day: &mut ByDay) -> Result<()> {
    for batch in Batches::<EventRow>::open(events)? {
        for event in batch?.into_iter().filter(|event| event.request_id.is_none()) {
            by_day.entry(event.ts.0.div_euclid(US_PER_DAY)).or_default().events.push(event);
        }
    }
    Ok(())
}

fn extend(rows: &mut Rows, mut more: Rows) {
    rows.requests.append(&mut more.requests);
    rows.request_nodes.append(&mut more.request_nodes);
    rows.spans.append(&mut more.spans);
    rows.events.append(&mut more.events);
}
