//! Shares on disk, as those who decided them have left them for the commit.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use rustc_hash::{FxHashMap, FxHashSet};
use schema::faults::step;
use schema::tables::{self, LogSequenceRow, Metadata, OutputsWriter, Text};
use schema::version::{self, Format};
use schema::{
    Accumulator, Error, Event, InputAccount, Model, Name, PairId, Pass, Place, Probability, Result,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::changed;
use crate::append::share::{Joined, Links, Share, Shown};
use crate::append::{AddedRequests, Adding};
use crate::finish::Names;
use crate::merge::{SpanLink, to_u32};
use crate::spill::{self, Spill, SpillWriter, Store};
use crate::table::{DataFile, Part};

/// Folder of the shares, below that of the table.
pub(super) const SHARES: &str = "shares";
const SHARE: Format = Format { magic: *b"lprofSHR", version: 1, name: "share of an append" };
pub(super) const FACTS: Format = Format { magic: *b"lprofFCT", version: 1, name: "facts of a period" };

/// A span, by where its first event was printed.
type Key = (Name, Place);

/// What a share knows of what it has decided, and of what it has left.
#[derive(Serialize, Deserialize)]
pub(super) struct Stored {
    /// Digest of the plan.
    plan: u128,
    files: Vec<DataFile>,
    /// By period.
    periods: Vec<(AddedRequests, u64, Shown)>,
    /// Spans that are left: when they begin by the clocks that the order goes by, hashes of their ids.
    spans: Vec<(Key, i64, Option<u64>)>,
    links: Vec<(Key, Key, Option<PairId>, Pass, Probability)>,
}

pub(super) fn encoded(value: &impl Serialize) -> Vec<u8> {
    postcard::to_allocvec(value).expect("it holds nothing that cannot be encoded")
}

pub(super) fn decoded<T: DeserializeOwned>(path: &Path, bytes: &[u8]) -> Result<T> {
    postcard::from_bytes(bytes).map_err(|e| Error::damaged(path, 0, e))
}

fn share_path(share: &Path) -> PathBuf {
    share.join("share")
}

pub(super) fn facts_path(share: &Path, period: usize) -> PathBuf {
    share.join(format!("facts-{period}"))
}

fn sequences_path(share: &Path) -> PathBuf {
    share.join("log_sequences.parquet")
}

fn kept_path(share: &Path) -> PathBuf {
    share.join("kept")
}

/// Where the shares are of the plan with that digest: a process that was given up, and goes on for
/// another plan, is in nobody's way.
pub(super) fn folder_of(table: &Path, plan: u128) -> PathBuf {
    table.join(SHARES).join(format!("{plan:032x}"))
}

/// The folders of all shares of a plan, in order.
fn share_paths(table: &Path, plan: u128) -> Result<Vec<PathBuf>> {
    let shares = folder_of(table, plan);
    let mut found: BTreeMap<u32, FxHashSet<u32>> = BTreeMap::new();
    fs::create_dir_all(&shares).map_err(Error::io(&shares))?;
    for entry in fs::read_dir(&shares).map_err(Error::io(&shares))? {
        let name = entry.map_err(Error::io(&shares))?.file_name();
        let numbers = name.to_str().and_then(|name| name.split_once("-of-"));
        if let Some((Ok(number), Ok(of))) = numbers.map(|(number, of)| (number.parse(), of.parse())) {
            found.entry(of).or_default().insert(number);
        }
    }
    let is_whole =
        |(of, numbers): &(&u32, &FxHashSet<u32>)| (1..=**of).all(|number| numbers.contains(&number));
    if let Some((of, _)) = found.iter().find(is_whole) {
        return Ok((1..=*of).map(|number| shares.join(format!("{number}-of-{of}"))).collect());
    }
    let missing = found.iter().map(|(of, numbers)| {
        let missing = (1..=*of).filter(|number| !numbers.contains(number)).take(8);
        missing.map(|number| format!("{number}/{of}")).collect::<Vec<_>>().join(", ")
    });
    let missing: Vec<String> = missing.collect();
    let message = match &missing[..] {
        [] => "no partition was decided: run `lprof reduce --partition K/N` for each K".to_owned(),
        missing => format!("partitions are missing: {}", missing.join("; or ")),
    };
    Err(Error::mismatch(&shares, message))
}

/// Puts the data files of a share where the table has them, to stay there: a manifest will name them.
fn link_into(table: &Path, share: &Path, files: &[DataFile]) -> Result<()> {
    let mut folders: BTreeSet<PathBuf> = BTreeSet::new();
    for file in files {
        let (from, to) = (share.join(&file.path), table.join(&file.path));
        file.check(&from)?;
        let parent = to.parent().unwrap_or(table);
        step().and_then(|()| fs::create_dir_all(parent)).map_err(Error::io(parent))?;
        // Where there are no links, a copy.
        let copy = || fs::copy(&from, &to).and_then(|_| fs::File::open(&to)?.sync_all());
        step().and_then(|()| fs::hard_link(&from, &to).or_else(|_| copy())).map_err(Error::io(&to))?;
        folders.extend(parent.ancestors().take_while(|folder| *folder != table).map(Path::to_owned));
    }
    let sync = |folder: &Path| fs::File::open(folder).and_then(|folder| folder.sync_all());
    folders.iter().try_for_each(|folder| step().and_then(|()| sync(folder)).map_err(Error::io(folder)))
}

/// All shares of an append, with their folders.
pub(super) struct Shares {
    paths: Vec<PathBuf>,
    stored: Vec<Stored>,
}

/// Requests that were made of a period, and their events.
type MadeOfPeriod = (AddedRequests, u64);

/// What was made of a period by its share: requests, events, and the folder of the share.
pub(super) type MadeOf = (AddedRequests, u64, PathBuf);

impl Shares {
    pub(super) fn read(table: &Path, plan: u128) -> Result<Self> {
        let paths = share_paths(table, plan)?;
        let stored = paths.iter().map(|path| Stored::read(path, plan)).collect::<Result<_>>()?;
        Ok(Self { paths, stored })
    }

    /// Adds the data files of all shares, and their log sequences.
    pub(super) fn add_files(&self, table: &Path, adding: &mut Adding<'_>) -> Result<()> {
        for (stored, path) in self.stored.iter().zip(&self.paths) {
            link_into(table, path, &stored.files)?;
            adding.commit.add_files(stored.files.clone());
            let (sequences, _) = tables::read::<LogSequenceRow>(&sequences_path(path))?;
            for row in sequences {
                adding.sequences[0].entry(row.log_sequence_id.clone()).or_insert(row);
            }
        }
        Ok(())
    }

    /// The spans that the shares have left, on disk where `table` is.
    pub(super) fn left_spans(&self, table: &Path) -> Result<LeftSpans> {
        let mut left = LeftSpans { spans: Vec::new(), stores: Vec::new() };
        for (path, stored) in self.paths.iter().zip(&self.stored) {
            let n_before = left.spans.len();
            let inputs = kept_path(path).join("inputs.parquet");
            for (node, output) in tables::read_outputs(&inputs)? {
                let mut writer = SpillWriter::create(table)?;
                writer.add(output.accumulators, Vec::new())?;
                let mut spilled = writer.finish(&node, Vec::new())?;
                let store = to_u32(left.stores.len());
                spilled.spans.iter_mut().for_each(|span| span.stored.store = store);
                left.spans.append(&mut spilled.spans);
                left.stores.push(spilled.store);
            }
            if left.spans.len() - n_before != stored.spans.len() {
                return Err(Error::damaged(&inputs, 0, "not all spans are there that the share has left"));
            }
        }
        Ok(left)
    }

    /// The requests of the spans that were left, which those of `share` are; and what was made of
    /// each period.
    pub(super) fn join(self, table: &Path, share: &Share<'_>) -> Result<(Joined, Vec<MadeOf>)> {
        let (mut shown, mut made_of) = (Vec::new(), Vec::new());
        let (mut known, mut all_links): (FxHashMap<Key, (i64, Option<u64>)>, Vec<_>) = Default::default();
        for (stored, path) in self.stored.into_iter().zip(&self.paths) {
            for (made, n_events, of_period) in stored.periods {
                made_of.push((made, n_events, path.clone()));
                shown.push(of_period);
            }
            known.extend(stored.spans.into_iter().map(|(key, order_us, id)| (key, (order_us, id))));
            all_links.extend(stored.links);
        }
        let unknown = || Error::damaged(&table.join(SHARES), 0, "of a span some share says nothing");
        let keys = share.periods.spans.iter().map(|span| span.key(share.stores));
        let numbers: FxHashMap<Key, u32> = keys.clone().zip(0..).collect();
        let of_spans = keys.map(|key| known.get(&key).copied().ok_or_else(unknown));
        let (order_us, ids): (Vec<i64>, Vec<Option<u64>>) =
            of_spans.collect::<Result<Vec<_>>>()?.into_iter().unzip();
        let traces = (0..).zip(ids).filter_map(|(at, id)| Some((at, id?))).collect();
        let number = |key: Key| numbers.get(&key).copied().ok_or_else(unknown);
        let link = |(from, to, pair, by, probability): (Key, Key, _, _, _)| {
            Ok((SpanLink { from: number(from)?, to: number(to)?, pair, by }, probability))
        };
        let links: Links = all_links.into_iter().map(link).collect::<Result<_>>()?;
        Ok((share.join_left((&order_us, traces), &links, shown), made_of))
    }
}

impl Stored {
    /// What a share has decided, by the plan of that digest, and left: its data files, and what was made
    /// of its periods.
    pub(super) fn of(
        (plan, files): (u128, Vec<DataFile>),
        joined: Joined,
        share: &Share<'_>,
        made_of: Vec<MadeOfPeriod>,
    ) -> Self {
        let key = |at: u32| share.periods.spans[at as usize].key(share.stores);
        let of_left = |&at: &u32| {
            let (order_us, id) = joined.of_left(at);
            (key(at), order_us, id)
        };
        let link = |(link, probability): &(SpanLink, Probability)| {
            (key(link.from), key(link.to), link.pair, link.by, *probability)
        };
        let spans = joined.left.spans.iter().map(of_left).collect();
        let links = joined.left.links.iter().map(link).collect();
        let periods = made_of.into_iter().zip(joined.shown).map(|((made, n), shown)| (made, n, shown));
        Self { plan, files, periods: periods.collect(), spans, links }
    }

    pub(super) fn read(share: &Path, plan: u128) -> Result<Self> {
        let path = share_path(share);
        let stored: Self = decoded(&path, &version::read(&path, SHARE)?)?;
        if stored.plan != plan {
            return Err(changed(share, "this share is of another plan"));
        }
        Ok(stored)
    }
}

/// The folder of a share, under another name until all of it is there.
pub(super) struct Aside {
    path: PathBuf,
    share: PathBuf,
    is_whole: bool,
}

impl Aside {
    pub(super) fn create(share: PathBuf) -> Result<Self> {
        let name = share.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let host = std::env::var("HOSTNAME").unwrap_or_default();
        let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let path =
            share.with_file_name(format!(".{name}.{host}.{}.{}", std::process::id(), clock.as_nanos()));
        fs::create_dir_all(&path).map_err(Error::io(&path))?;
        Ok(Self { path, share, is_whole: false })
    }

    /// Makes the rows of the requests of a share in data files of the manifest with this number;
    /// returns these, and what was made of each period.
    pub(super) fn add_rows<'n>(
        &self,
        share: &Share<'_>,
        joined: &Joined,
        rows: (&'n Names<'n>, &'n [(String, Event)]),
        number: u64,
    ) -> Result<(Vec<DataFile>, Vec<MadeOfPeriod>)> {
        let part = |period| Part::new(&self.path, (number, period));
        let (mut files, mut made_of) = (Vec::new(), Vec::new());
        let mut sequences: BTreeMap<Text, LogSequenceRow> = BTreeMap::new();
        joined.add_rows(share, rows, &[], part, |period, made| {
            let [of_period, _] = made.log_sequences;
            of_period.into_iter().for_each(|(id, row)| _ = sequences.entry(id).or_insert(row));
            files.extend(made.files);
            made_of.push((made.requests, made.n_events));
            version::write(&facts_path(&self.path, period), FACTS, &encoded(&made.facts))
        })?;
        let sequences: Vec<LogSequenceRow> = sequences.into_values().collect();
        tables::write(&sequences_path(&self.path), &sequences, &Metadata::new())?;
        Ok((files, made_of))
    }

    /// Keeps the spans with these numbers.
    pub(super) fn keep(
        &mut self,
        model: &Model,
        numbers: &[u32],
        (spans, stores): (&[Spill], &[Store]),
        inputs: &BTreeMap<String, Vec<InputAccount>>,
    ) -> Result<()> {
        let mut writer = OutputsWriter::create(&kept_path(&self.path), model.digest())?;
        let places: Vec<_> = numbers.iter().map(|&at| spans[at as usize].stored).collect();
        spill::read_in_parts(stores, &places, |_, span| {
            writer.add(model, &[Accumulator { spans: vec![span], links: Vec::new() }])
        })?;
        inputs.iter().for_each(|(node, inputs)| writer.add_inputs(node, inputs));
        writer.finish().map(drop)
    }

    /// Makes the share visible with what it has left. Says whether nobody else has.
    pub(super) fn finish(mut self, stored: &Stored) -> Result<bool> {
        version::write(&share_path(&self.path), SHARE, &encoded(stored))?;
        if fs::rename(&self.path, &self.share).is_ok() {
            self.is_whole = true;
            return Ok(true);
        }
        // The folder of who was first is whole.
        if self.share.exists() {
            Ok(false)
        } else {
            Err(Error::io(&self.share)(std::io::Error::last_os_error()))
        }
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        if !self.is_whole {
            // Nothing looks for it under this name.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// The spans that shares have left, on disk.
pub(super) struct LeftSpans {
    pub(super) spans: Vec<Spill>,
    pub(super) stores: Vec<Store>,
}
