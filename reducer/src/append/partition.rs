//! Partitions: an append that several processes make, on as many machines as there are, that see one
//! folder. It has three steps; the table is the same, row for row, as if one process had made it.
//!
//! ```text
//! learn           what is new, and the plan of its periods      TABLE/shares/plan
//! decide K of N   rows of the requests of some periods          TABLE/shares/PLAN/K-of-N/...
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

use rustc_hash::FxHashSet;
use schema::tables::InputRow;
use schema::version::{self, Format};
use schema::{Error, InputAccount, Model, Result};
use serde::{Deserialize, Serialize};

use self::shares::{
    Aside, FACTS, LeftSpans, SHARES, Shares, Stored, decoded, encoded, facts_path, folder_of,
};
use super::plan::Plan;
use super::share::{Later, Share};
use super::{Adding, Appended, Ready, digests, write_model};
use crate::Config;
use crate::catalog::Catalog;
use crate::finish::{Context, Keep, Names};
use crate::id_lives::IdLives;
use crate::relations::Fact;
use crate::spill::Spilled;
use crate::table::{Manifest, Part, Writer};

mod shares;

const PLAN: Format = Format { magic: *b"lprofPLN", version: 1, name: "plan of an append" };

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

impl Learnt {
    /// Learns what all shares of adding `outputs`, made with `model`, to the table in `folder` go by.
    ///
    /// # Errors
    /// Another writer, a damaged table, I/O errors.
    pub fn of(
        folder: &Path,
        model: &Model,
        outputs: Vec<Spilled>,
        config: &Config,
        keep: Keep,
    ) -> Result<Self> {
        let writer = Writer::open(folder)?;
        // Of an append that was not committed.
        remove_shares(folder);
        let known = known_outputs(&outputs);
        let Ready { goes_on, mut appended, new, .. } =
            Ready::new(writer.manifest(), model, outputs, config.window_us)?;
        appended.count_unattributed(&new.unattributed);
        let plan = match appended.inputs.is_empty() {
            true => Plan::default(),
            false => Plan::of((new.spans, &new.stores), config, &appended.inputs)?.1,
        };
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
        let shares = folder.join(SHARES);
        fs::create_dir_all(&shares).map_err(Error::io(&shares))?;
        version::write(&plan_path(folder), PLAN, &encoded(&learnt))?;
        Ok(learnt)
    }

    /// What was learnt for the table in `folder`, and its digest.
    ///
    /// # Errors
    /// Nothing was; damage; I/O errors.
    pub fn read(folder: &Path) -> Result<(Self, u128)> {
        let path = plan_path(folder);
        if !path.exists() {
            let message = "no plan of an append in this table: run `lprof reduce --learn` first";
            return Err(Error::mismatch(&path, message));
        }
        let bytes = version::read(&path, PLAN)?;
        Ok((decoded(&path, &bytes)?, xxhash_rust::xxh3::xxh3_128(&bytes)))
    }

    /// How many periods there are: more shares than that have nothing to decide. None: nothing is new.
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
        let Partition { number, of } = partition;
        let path = folder_of(folder, digest).join(format!("{number}-of-{of}"));
        if path.exists() || learnt.new.is_empty() {
            return Ok(false);
        }
        if known_outputs(&outputs) != learnt.outputs || model.digest() != learnt.model_digest {
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
            from_us: Some(periods.seen_later_us(&range).min(learnt.plan.revised_from_us)),
            makers: periods.makers_from(range.end),
        };
        let joined = share.join(range.clone(), &later)?;
        let (numbers, _) = ready.catalog.number_log_points(model);
        let (inputs, keep) = (&ready.new.inputs, learnt.keep);
        let names = Names::new(Context { model, inputs, log_point_numbers: &numbers, keep });
        // The share of the last period has the records of no request.
        let unattributed = Some(&ready.new.unattributed[..]).filter(|_| range.end == periods.len());
        let rows = (&names, unattributed.unwrap_or_default());
        let (files, made_of) = aside.add_rows(&share, &joined, rows, learnt.number)?;
        aside.keep(model, &joined.left.spans, (&periods.spans, stores), inputs)?;
        aside.finish(&Stored::of((digest, files), joined, &share, made_of))
    }

    /// Makes all shares of the append to the table in `folder` visible, in one step.
    ///
    /// # Errors
    /// A share that is missing or of another plan, a table that was changed since; I/O errors.
    pub fn commit(folder: &Path) -> Result<Appended> {
        let mut writer = Writer::open(folder)?;
        let (learnt, digest) = Self::read(folder)?;
        // A commit that was ended after its last step is done.
        if learnt.new.is_empty() || learnt.is_done(writer.manifest())? {
            remove_shares(folder);
            return Ok(Appended { n_inputs_known: learnt.n_inputs_known, ..Appended::default() });
        }
        learnt.base_manifest(folder)?;
        let shares = Shares::read(folder, digest)?;
        let Self { config, keep, goes_on, new, inputs, n_inputs_known, unattributed, plan, .. } = learnt;
        let model = Model::read(&folder.join("models").join(format!("{:032x}.model", learnt.model_digest)))?;
        let catalog = Catalog::load(writer.manifest())?;
        let appended = Appended { n_inputs_known, inputs: new, unattributed, ..Appended::default() };
        let mut adding = Adding::new((&mut writer, catalog), (&model, &config, keep), goes_on, appended)?;
        shares.add_files(folder, &mut adding)?;
        let LeftSpans { spans, stores } = shares.left_spans(folder)?;
        let moved = plan.moved();
        let spans = super::periods::in_order(spans, &stores, &moved);
        let periods = plan.periods(spans, &stores, config.window_us);
        let n_periods = periods.len() as u64;
        let (lives, stores) = (&IdLives::default(), &stores[..]);
        let share = Share { model: &model, config: &config, periods: &periods, stores, moved: &moved, lives };
        let (joined, made_of) = shares.join(folder, &share)?;
        let are_open = joined.are_at_work(&share, plan.revised_from_us);
        let numbers = adding.numbers.clone();
        let names = Names::new(Context { model: &model, inputs: &inputs, log_point_numbers: &numbers, keep });
        let (table, number) = adding.commit.place();
        let part = |period| Part::new(&table, (number, n_periods + period));
        let mut made_of = made_of.into_iter();
        joined.add_rows(&share, (&names, &[]), &are_open, part, |period, mut made| {
            let (of_share, n_events, path) = made_of.next().expect("a share for each period");
            made.requests.append(of_share);
            made.n_events += n_events;
            let facts = facts_path(&path, period);
            made.facts.extend(decoded::<Vec<Fact>>(&facts, &version::read(&facts, FACTS)?)?);
            adding.add(period, made, &joined.shown[period])
        })?;
        adding.appended.n_open += joined.n_at_work(&share, plan.open_from_us);
        let spans = joined.open_spans((&share, &names), &are_open, plan.open_from_us);
        adding.keep_open(&model, (&spans, stores), &inputs)?;
        adding.keep_lives(&joined.open_ids(&are_open), joined.shown.iter())?;
        let appended = adding.finish()?;
        remove_shares(folder);
        Ok(appended)
    }

    /// Whether the last commit has added all of this.
    fn is_done(&self, manifest: &Manifest) -> Result<bool> {
        if manifest.number != self.number {
            return Ok(false);
        }
        let rows = manifest.rows::<InputRow>()?;
        let is_added = |(node, account): &(String, InputAccount)| {
            let digest = format!("{:032x}", account.digest);
            let is_same = |row: &InputRow| *row.node == **node && *row.digest == *digest;
            rows.iter().any(|row| row.run.unsigned_abs() == self.number && is_same(row))
        };
        Ok(self.new.iter().all(is_added))
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
    Error::mismatch(folder, message)
}

/// Takes the shares of an append out of sight, and then away, as far as nobody still writes there: a
/// process that was given up and goes on has no effect.
fn remove_shares(table: &Path) {
    let (shares, gone) = (table.join(SHARES), table.join(format!(".{SHARES}")));
    let _ = fs::remove_dir_all(&gone);
    if fs::rename(&shares, &gone).is_ok() {
        let _ = fs::remove_dir_all(&gone);
    } else {
        let _ = fs::remove_dir_all(&shares);
    }
}

fn plan_path(table: &Path) -> PathBuf {
    table.join(SHARES).join("plan")
}

/// Node and inputs of each output, sorted.
fn known_outputs(outputs: &[Spilled]) -> Vec<(String, Vec<u128>)> {
    let mut known: Vec<(String, Vec<u128>)> =
        outputs.iter().map(|output| (output.node.clone(), digests(&output.inputs))).collect();
    known.sort();
    known
}
