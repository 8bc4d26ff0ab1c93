//! Partitions: an append that several processes make, on as many machines as there are, that see one
//! folder. It has three steps; the table is the same, row for row, as if one process had made it.
//!
//! ```text
//! learn           what is new, and the plan of its periods      TABLE/shares/plan
//! decide K of N   rows of the requests of some periods          TABLE/shares/K-of-N/...
//! commit          what is left over borders, the manifest       TABLE/
//! ```
//! A share is a run of periods of about as many events as the others. Requests that lie in it become
//! rows in data files of its own; of those that can go on over one of its borders, or after the logs
//! end, it keeps the spans and what it knows of them (`kept/`, `share`), and the commit makes their
//! rows. A share appears as a whole, when its folder is renamed: who tries it again, or at the same
//! time, does no harm.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use rustc_hash::{FxHashMap, FxHashSet};
use schema::tables::{self, LogSequenceRow, Metadata, OutputsWriter, Text};
use schema::version::{self, Format};
use schema::{Accumulator, Error, InputAccount, Model, Name, PairId, Pass, Place, Probability, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::plan::Plan;
use super::share::{Later, Links, Share, Shown};
use super::{AddedRequests, Adding, Appended, Ready, digests, write_model};
use crate::Config;
use crate::catalog::Catalog;
use crate::finish::{Context, Keep, Names};
use crate::id_lives::IdLives;
use crate::merge::{SpanLink, to_u32};
use crate::relations::Fact;
use crate::spill::{self, Spill, SpillWriter, Spilled, Store};
use crate::table::{DataFile, Manifest, Part, Writer};

const SHARES: &str = "shares";
const PLAN: Format = Format { magic: *b"lprofPLN", version: 1, name: "plan of an append" };
const SHARE: Format = Format { magic: *b"lprofSHR", version: 1, name: "share of an append" };
const FACTS: Format = Format { magic: *b"lprofFCT", version: 1, name: "facts of a period" };

/// What all shares of an append go by.
#[derive(Debug, Serialize, Deserialize)]
pub struct Learnt {
    /// Number of the manifest that the append adds to; 0: there is none.
    base: u64,
    /// That of its own manifest.
    number: u64,
    model_digest: u128,
    config: Config,
    keep: Keep,
    /// Node and inputs of each output.
    outputs: Vec<(String, Vec<u128>)>,
    /// What was open goes on.
    goes_on: bool,
    /// Accounts of what is new, and of all inputs that events can be in.
    new: Vec<(String, InputAccount)>,
    inputs: BTreeMap<String, Vec<InputAccount>>,
    n_inputs_known: usize,
    unattributed: BTreeMap<String, u64>,
    plan: Plan,
}

/// What one process decides: the share of this number, from 1, of so many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partition {
    /// Which one.
    pub number: u32,
    /// Of how many.
    pub of: u32,
}

/// A span, by where its first event was printed.
type Key = (Name, Place);

/// What a share knows of what it has decided, and of what it has left.
#[derive(Serialize, Deserialize)]
struct Stored {
    /// Digest of the plan.
    plan: u128,
    files: Vec<DataFile>,
    /// By period.
    periods: Vec<(AddedRequests, u64, Shown)>,
    /// Spans that are left: when they begin by the clocks that the order goes by, hashes of their ids.
    spans: Vec<(Key, i64, Option<u64>)>,
    links: Vec<(Key, Key, Option<PairId>, Pass, Probability)>,
}

impl Learnt {
    /// Learns what all shares of adding `outputs`, made with `model`, to the table in `folder` go by.
    /// None: nothing of them is new.
    ///
    /// # Errors
    /// Another writer, a damaged table, I/O errors.
    pub fn of(
        folder: &Path,
        model: &Model,
        outputs: Vec<Spilled>,
        config: &Config,
        keep: Keep,
    ) -> Result<Option<Self>> {
        let writer = Writer::open(folder)?;
        let shares = folder.join(SHARES);
        if shares.exists() {
            // Of an append that was not committed.
            fs::remove_dir_all(&shares).map_err(Error::io(&shares))?;
        }
        let mut known: Vec<(String, Vec<u128>)> =
            outputs.iter().map(|output| (output.node.clone(), digests(&output.inputs))).collect();
        known.sort();
        let Ready { goes_on, mut appended, new, .. } =
            Ready::new(writer.manifest(), model, outputs, config.window_us)?;
        if appended.inputs.is_empty() {
            return Ok(None);
        }
        appended.count_unattributed(&new.unattributed);
        let (_, plan) = Plan::of((new.spans, &new.stores), config, &appended.inputs)?;
        let learnt = Self {
            base: writer.manifest().number,
            number: writer.next_number(),
            model_digest: model.digest(),
            config: config.clone(),
            keep,
            outputs: known,
            goes_on,
            new: appended.inputs,
            inputs: new.inputs,
            n_inputs_known: appended.n_inputs_known,
            unattributed: appended.unattributed,
            plan,
        };
        write_model(folder, model)?;
        fs::create_dir_all(&shares).map_err(Error::io(&shares))?;
        version::write(&plan_path(folder), PLAN, &encoded(&learnt))?;
        Ok(Some(learnt))
    }

    /// What was learnt for the table in `folder`, and its digest.
    ///
    /// # Errors
    /// Nothing was; damage; I/O errors.
    pub fn read(folder: &Path) -> Result<(Self, u128)> {
        let path = plan_path(folder);
        if !path.exists() {
            let message = "no plan of an append in this table: run `lprof reduce --learn` first";
            return Err(Error::io(&path)(std::io::Error::other(message)));
        }
        let bytes = version::read(&path, PLAN)?;
        Ok((decoded(&path, &bytes)?, xxhash_rust::xxh3::xxh3_128(&bytes)))
    }

    /// How many periods there are: more shares than that have nothing to decide.
    #[must_use]
    pub fn n_periods(&self) -> usize {
        self.plan.begins_us.len()
    }

    /// Tells of a span that was mapped, by its first and last time, µs, and the line it begins in,
    /// whether a partition can see it.
    pub fn sees(&self, partition: Partition) -> impl Fn(i64, i64, u64) -> bool + use<> {
        let range = self.range(partition);
        let begins_us = &self.plan.begins_us;
        // Where times are moved, or spans put together, all are seen.
        let is_all = self.goes_on || !self.plan.moved().is_empty();
        let overlap_us = self.config.window_us;
        let from_us = begins_us.get(range.start).map_or(i64::MAX, |us| us.saturating_sub(overlap_us));
        let until_us = begins_us.get(range.end).map_or(i64::MAX, |us| us.saturating_add(overlap_us));
        let makers = self.plan.makers.get(range.clone()).into_iter().flatten().flatten();
        let makers: FxHashSet<(i64, u64)> = makers.map(|(us, _, first)| (*us, first.line)).collect();
        let is_none = range.is_empty();
        move |start_us, end_us, line| {
            let is_near = start_us < until_us && end_us >= from_us && !is_none;
            is_all || is_near || makers.contains(&(start_us, line))
        }
    }

    /// The periods of a partition: those whose middle lies in its share of the events.
    fn range(&self, Partition { number, of }: Partition) -> Range<usize> {
        let n_all: u64 = self.plan.n_events.iter().sum::<u64>().max(1);
        let mut n_before = 0;
        let mut share_of = |n: &u64| {
            let middle = n_before + n / 2;
            n_before += n;
            ((u128::from(middle) * u128::from(of) / u128::from(n_all)) as u32).min(of - 1)
        };
        let shares: Vec<u32> = self.plan.n_events.iter().map(&mut share_of).collect();
        let first_from = |share: u32| shares.partition_point(|known| *known < share);
        first_from(number - 1)..first_from(number)
    }

    /// Decides a share of adding `outputs`, all that were learnt from, though of their spans those
    /// that the partition [sees](Self::sees) are enough. Says whether it had not been decided before.
    ///
    /// # Errors
    /// Other outputs, another model or state of the table than was learnt from; I/O errors.
    pub fn decide(
        folder: &Path,
        model: &Model,
        outputs: Vec<Spilled>,
        partition: Partition,
        memory_bytes: Option<u64>,
    ) -> Result<bool> {
        let (learnt, digest) = Self::read(folder)?;
        let manifest = learnt.base_manifest(folder)?;
        let path = folder.join(SHARES).join(format!("{}-of-{}", partition.number, partition.of));
        if path.exists() {
            return Ok(false);
        }
        let mut known: Vec<(String, Vec<u128>)> =
            outputs.iter().map(|output| (output.node.clone(), digests(&output.inputs))).collect();
        known.sort();
        if known != learnt.outputs || model.digest() != learnt.model_digest {
            return Err(changed(folder, "the map outputs, or their model, are not those of the plan"));
        }
        let mut aside = Aside::create(path)?;
        let config = &Config { memory_bytes, ..learnt.config.clone() };
        let range = learnt.range(partition);
        let mut ready = Ready::new(&manifest, model, outputs, config.window_us)?;
        let stores = &ready.new.stores;
        let moved = learnt.plan.moved();
        let spans = super::periods::in_order(std::mem::take(&mut ready.new.spans), stores, &moved);
        let periods = learnt.plan.periods(spans, stores, config.window_us);
        let lives = &IdLives::read(&manifest)?;
        let share = Share { model, config, periods: &periods, stores, moved: &moved, lives };
        let later = Later {
            from_us: Some(periods.seen_later_us(&range).min(learnt.plan.open_from_us)),
            makers: periods.makers_from(range.end),
        };
        let mut joined = share.join(range.clone(), &later)?;
        let (numbers, _) = ready.catalog.number_log_points(model);
        let context =
            Context { model, inputs: &ready.new.inputs, log_point_numbers: &numbers, keep: learnt.keep };
        let names = Names::new(context);
        let part = |period| Part::new(&aside.path, (learnt.number, period));
        let (mut files, mut made_of) = (Vec::new(), Vec::new());
        let mut sequences: BTreeMap<Text, LogSequenceRow> = BTreeMap::new();
        let has_last = range.end == periods.len();
        let unattributed = if has_last { &ready.new.unattributed[..] } else { &[] };
        joined.add_rows(&share, (&names, unattributed), &[], part, |period, made| {
            let [of_period, _] = made.log_sequences;
            of_period.into_iter().for_each(|(id, row)| _ = sequences.entry(id).or_insert(row));
            files.extend(made.files);
            made_of.push((made.requests, made.n_events));
            version::write(&facts_path(&aside.path, period), FACTS, &encoded(&made.facts))
        })?;
        let sequences: Vec<LogSequenceRow> = sequences.into_values().collect();
        tables::write(&sequences_path(&aside.path), &sequences, &Metadata::new())?;
        aside.keep(model, &joined.left.spans, (&periods.spans, stores), &ready.new.inputs)?;
        let key = |at: u32| -> Key {
            let span = &periods.spans[at as usize];
            (stores[span.stored.store as usize].node, span.first)
        };
        let shown = std::mem::take(&mut joined.shown);
        let of_left = |&at: &u32| {
            let (order_us, id) = joined.of_left(at);
            (key(at), order_us, id)
        };
        let link = |(link, probability): &(SpanLink, Probability)| {
            (key(link.from), key(link.to), link.pair, link.by, *probability)
        };
        let stored = Stored {
            plan: digest,
            files,
            periods: made_of.into_iter().zip(shown).map(|((made, n), shown)| (made, n, shown)).collect(),
            spans: joined.left.spans.iter().map(of_left).collect(),
            links: joined.left.links.iter().map(link).collect(),
        };
        version::write(&share_path(&aside.path), SHARE, &encoded(&stored))?;
        aside.finish()
    }

    /// Makes all shares of the append to the table in `folder` visible, in one step.
    ///
    /// # Errors
    /// A share that is missing or of another plan, a table that was changed since; I/O errors.
    pub fn commit(folder: &Path) -> Result<Appended> {
        let mut writer = Writer::open(folder)?;
        let (learnt, digest) = Self::read(folder)?;
        learnt.base_manifest(folder)?;
        let paths = share_paths(folder)?;
        let shares: Vec<Stored> =
            paths.iter().map(|path| Stored::read(path, digest)).collect::<Result<_>>()?;
        let Self { config, keep, goes_on, new, inputs, n_inputs_known, unattributed, plan, .. } = learnt;
        let model = Model::read(&folder.join("models").join(format!("{:032x}.model", learnt.model_digest)))?;
        let catalog = Catalog::load(writer.manifest())?;
        let appended = Appended { n_inputs_known, inputs: new, unattributed, ..Appended::default() };
        let mut adding = Adding::new((&mut writer, catalog), (&model, &config, keep), goes_on, appended)?;
        let left = LeftSpans::read(folder, &paths, &shares)?;
        let moved = plan.moved();
        let spans = super::periods::in_order(left.spans, &left.stores, &moved);
        let periods = plan.periods(spans, &left.stores, config.window_us);
        let n_periods = periods.len() as u64;
        let (lives, stores) = (&IdLives::default(), &left.stores);
        let share = Share { model: &model, config: &config, periods: &periods, stores, moved: &moved, lives };
        let (mut shown, mut made_of) = (Vec::new(), Vec::new());
        let (mut known, mut all_links): (FxHashMap<Key, (i64, Option<u64>)>, Vec<_>) = Default::default();
        for (stored, path) in shares.into_iter().zip(&paths) {
            for file in &stored.files {
                link_into(folder, path, file)?;
            }
            adding.commit.add_files(stored.files);
            let (sequences, _) = tables::read::<LogSequenceRow>(&sequences_path(path))?;
            for row in sequences {
                adding.sequences[0].entry(row.log_sequence_id.clone()).or_insert(row);
            }
            for (made, n_events, of_period) in stored.periods {
                made_of.push((made, n_events, path));
                shown.push(of_period);
            }
            known.extend(stored.spans.into_iter().map(|(key, order_us, id)| (key, (order_us, id))));
            all_links.extend(stored.links);
        }
        let key = |span: &Spill| -> Key { (stores[span.stored.store as usize].node, span.first) };
        let numbers: FxHashMap<Key, u32> = periods.spans.iter().map(key).zip(0..).collect();
        let order_us: Vec<i64> = periods.spans.iter().map(|span| known[&key(span)].0).collect();
        let traces = (0..).zip(&periods.spans).filter_map(|(at, span)| Some((at, known[&key(span)].1?)));
        let link = |(from, to, pair, by, probability): (Key, Key, _, _, _)| {
            let number = |key: Key| {
                let message = "a share has a link to a span that no share has left";
                numbers.get(&key).copied().ok_or_else(|| Error::damaged(&folder.join(SHARES), 0, message))
            };
            Ok((SpanLink { from: number(from)?, to: number(to)?, pair, by }, probability))
        };
        let links: Links = all_links.into_iter().map(link).collect::<Result<_>>()?;
        let joined = share.join_left((&order_us, traces.collect()), &links, shown);
        let are_open = joined.are_open(&share, plan.open_from_us);
        let numbers = adding.numbers.clone();
        let names = Names::new(Context { model: &model, inputs: &inputs, log_point_numbers: &numbers, keep });
        let (table, number) = adding.commit.place();
        let part = |period| Part::new(&table, (number, n_periods + period));
        let mut made_of = made_of.into_iter();
        joined.add_rows(&share, (&names, &[]), &are_open, part, |period, mut made| {
            let (of_share, n_events, path) = made_of.next().expect("a share for each period");
            made.requests.append(of_share);
            made.n_events += n_events;
            let facts = facts_path(path, period);
            made.facts.extend(decoded::<Vec<Fact>>(&facts, &version::read(&facts, FACTS)?)?);
            adding.add(period, made, &joined.shown[period])
        })?;
        adding.appended.n_open += are_open.iter().filter(|is_open| **is_open).count() as u64;
        adding.keep_open(&model, (joined.open_spans(&share, &are_open), stores), &inputs)?;
        adding.keep_lives(&joined.open_ids(&are_open), joined.shown.iter())?;
        let appended = adding.finish()?;
        let shares = folder.join(SHARES);
        fs::remove_dir_all(&shares).map_err(Error::io(&shares))?;
        Ok(appended)
    }

    /// The state of the table that was learnt for.
    fn base_manifest(&self, folder: &Path) -> Result<Manifest> {
        let manifest = Manifest::read_or_none(folder)?;
        if manifest.number == self.base {
            Ok(manifest)
        } else {
            Err(changed(folder, "the table was changed since"))
        }
    }
}

fn changed(folder: &Path, what: &str) -> Error {
    let message = format!("{what}: run `lprof reduce --learn` again, then all partitions");
    Error::io(folder)(std::io::Error::other(message))
}

fn encoded(value: &impl Serialize) -> Vec<u8> {
    postcard::to_allocvec(value).expect("it holds nothing that cannot be encoded")
}

fn decoded<T: DeserializeOwned>(path: &Path, bytes: &[u8]) -> Result<T> {
    postcard::from_bytes(bytes).map_err(|e| Error::damaged(path, 0, e))
}

fn plan_path(table: &Path) -> PathBuf {
    table.join(SHARES).join("plan")
}

fn share_path(share: &Path) -> PathBuf {
    share.join("share")
}

fn facts_path(share: &Path, period: usize) -> PathBuf {
    share.join(format!("facts-{period}"))
}

fn sequences_path(share: &Path) -> PathBuf {
    share.join("log_sequences.parquet")
}

fn kept_path(share: &Path) -> PathBuf {
    share.join("kept")
}

/// The folders of all shares, in order.
fn share_paths(table: &Path) -> Result<Vec<PathBuf>> {
    let shares = table.join(SHARES);
    let mut found: BTreeMap<u32, FxHashSet<u32>> = BTreeMap::new();
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
    Err(Error::io(&shares)(std::io::Error::other(message)))
}

/// Puts a data file of a share where the table has it.
fn link_into(table: &Path, share: &Path, file: &DataFile) -> Result<()> {
    let (from, to) = (share.join(&file.path), table.join(&file.path));
    file.check(&from)?;
    let parent = to.parent().unwrap_or(table);
    fs::create_dir_all(parent).map_err(Error::io(parent))?;
    // Where there are no links, a copy.
    fs::hard_link(&from, &to).or_else(|_| fs::copy(&from, &to).map(drop)).map_err(Error::io(&to))
}

impl Stored {
    fn read(share: &Path, plan: u128) -> Result<Self> {
        let path = share_path(share);
        let stored: Self = decoded(&path, &version::read(&path, SHARE)?)?;
        if stored.plan != plan {
            return Err(changed(share, "this share is of another plan"));
        }
        Ok(stored)
    }
}

/// The folder of a share, under another name until all of it is there.
struct Aside {
    path: PathBuf,
    share: PathBuf,
    is_whole: bool,
}

impl Aside {
    fn create(share: PathBuf) -> Result<Self> {
        let name = share.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let host = std::env::var("HOSTNAME").unwrap_or_default();
        let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let path =
            share.with_file_name(format!(".{name}.{host}.{}.{}", std::process::id(), clock.as_nanos()));
        fs::create_dir_all(&path).map_err(Error::io(&path))?;
        Ok(Self { path, share, is_whole: false })
    }

    /// Keeps the spans with these numbers.
    fn keep(
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

    /// Makes the share visible. Says whether nobody else has.
    fn finish(mut self) -> Result<bool> {
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
struct LeftSpans {
    spans: Vec<Spill>,
    stores: Vec<Store>,
}

impl LeftSpans {
    fn read(table: &Path, paths: &[PathBuf], shares: &[Stored]) -> Result<Self> {
        let mut left = Self { spans: Vec::new(), stores: Vec::new() };
        for (path, stored) in paths.iter().zip(shares) {
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
}
