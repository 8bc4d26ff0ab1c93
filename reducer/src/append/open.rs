//! Open: what a table keeps of its last requests, so that what is appended bit by bit becomes what it
//! would be at once.
//!
//! ```text
//!       an eighth of a period
//!      |<------------------>|
//!      |            a window
//!      |            |<----->|
//! .....|. . . . . . . . . . | end of what was read
//! over | open       | open, |
//!      |            | may go on
//! ```
//! What the next append decides again is open: requests that are at work within a window of the end, as
//! they may go on, and further ones, as many as it takes to learn from. What is usual in a log (how
//! long a hand-off takes, what names a request and what names a node) is learnt from the spans at
//! hand, and of the few lines of ten seconds nothing could be.
//!
//! Their rows are in data files of their own, and their spans as the mapper gave them in
//! `TABLE/open/<n>/kept`, in the form of a map output, with the requests that they are of. The next
//! append takes both out of the table and makes requests of these spans and the new ones together.
//! Ids say where a request begins in the logs, so what goes on keeps its id.
//!
//! A span is not cut where a period ends if the log that it is in is read again, as one that has
//! grown or was renamed is: its records are taken as they are mapped now.
//!
//! What is kept is bounded by what is printed within two windows, or by that many events, beside
//! requests that do not end. What a bound cuts: requests that are silent for longer, whatever the
//! reason, and so those of logs that end long before the last one of their period; spans in logs
//! that are not there any more. Where the model is another one, all that was open is over.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rustc_hash::FxHashSet;
use schema::tables::{self, OutputsWriter};
use schema::{Accumulator, InputAccount, Model, Name, NodeOutput, Place, Result};

use super::Node;
use crate::Config;
use crate::catalog::is_of_same_log;
use crate::skeleton::Stored;
use crate::spill::{self, Spill, SpillWriter, Spilled, Store};
use crate::table::{DataFile, KEPT, Manifest, OPEN};

pub(crate) mod requests;

pub(super) use self::requests::OpenRequest;
use self::requests::Requests;

/// What a table has kept.
#[derive(Debug)]
pub(super) enum Open {
    /// Nothing, or nothing that can go on: it was made with another model.
    Over,
    /// By node.
    Spans(BTreeMap<String, NodeOutput>),
}

impl Open {
    /// What the table of `manifest` has kept that can go on in logs read with `model`.
    ///
    /// # Errors
    /// Files that are not there or damaged.
    pub(super) fn read(manifest: &Manifest, model: &Model) -> Result<Self> {
        let mut inputs = None;
        for file in manifest.files.iter().filter(|file| file.table == KEPT) {
            let path = manifest.folder.join(&file.path);
            file.check(&path)?;
            if path.ends_with("inputs.parquet") {
                inputs = Some(path);
            }
        }
        let outputs = inputs.map(|path| tables::read_outputs(&path)).transpose()?.unwrap_or_default();
        let is_of_model = |output: &NodeOutput| output.model_digest == model.digest();
        let can_go_on = !outputs.is_empty() && outputs.values().all(is_of_model);
        Ok(if can_go_on { Self::Spans(outputs) } else { Self::Over })
    }

    /// Leaves out the records of logs that were read again with `node`, and returns where these
    /// stand there: they are mapped anew, with what follows them.
    ///
    /// # Errors
    /// I/O errors, naming the folder of `stores`.
    pub(super) fn read_again(&mut self, node: &Node, stores: &[Store]) -> Result<FxHashSet<Place>> {
        let Self::Spans(outputs) = self else { return Ok(FxHashSet::default()) };
        let Some(output) = outputs.get_mut(&node.name) else { return Ok(FxHashSet::default()) };
        let again: Vec<Option<u32>> =
            output.inputs.iter().map(|account| again(account, &node.inputs)).collect();
        let events = || output.accumulators.iter().flat_map(|one| &one.spans).flat_map(|span| &span.events);
        let place =
            |event: &schema::Event| Some(Place { file: again[event.file as usize]?, line: event.line });
        let places: FxHashSet<Place> = events().filter_map(place).collect();
        if places.is_empty() {
            return Ok(places);
        }
        // Unless they are all there, it is not the same log.
        let of_none = node.unattributed.iter().map(schema::Event::place);
        let mut found: FxHashSet<Place> = of_none.filter(|place| places.contains(place)).collect();
        let mapped: Vec<Stored> = node.spans.iter().map(|span| span.stored).collect();
        spill::read_in_parts(stores, &mapped, |_, span| {
            found.extend(span.events.iter().map(schema::Event::place).filter(|place| places.contains(place)));
            Ok(())
        })?;
        if found.len() < places.len() {
            return Ok(FxHashSet::default());
        }
        let is_kept = |file: u32| again[file as usize].is_none();
        for span in output.accumulators.iter_mut().flat_map(|one| &mut one.spans) {
            span.events.retain(|event| is_kept(event.file));
            span.hosts.retain(|host| is_kept(host.file));
        }
        Ok(places)
    }

    /// What was not read again, as outputs beside the new ones; spans go to where `table` is.
    pub(super) fn rest(self, table: &Path) -> Result<Vec<Spilled>> {
        let Self::Spans(outputs) = self else { return Ok(Vec::new()) };
        let mut rest = Vec::new();
        for (_, NodeOutput { node, inputs, mut accumulators, .. }) in outputs {
            let mut spill = SpillWriter::create(table)?;
            let files = accumulators.iter().flat_map(|one| &one.spans).flat_map(files_of).collect();
            let used = with_like(&files, &inputs);
            let inputs = keep_files(&used, &inputs, accumulators.iter_mut().flat_map(|one| &mut one.spans));
            spill.add(accumulators, Vec::new())?;
            rest.push(spill.finish(&node, inputs)?);
        }
        Ok(rest)
    }
}

/// Which of `inputs` is the log of `account`, perhaps grown, read in the same way.
fn again(account: &InputAccount, inputs: &[InputAccount]) -> Option<u32> {
    let is_same = |other: &InputAccount| {
        is_of_same_log(account, other)
            && (&account.layout, &account.settings) == (&other.layout, &other.settings)
    };
    inputs.iter().zip(0..).find(|(other, _)| is_same(other)).map(|(_, at)| at)
}

/// The files that a span is in.
fn files_of(span: &schema::Span) -> impl Iterator<Item = u32> {
    span.events.iter().map(|event| event.file)
}

/// The `files`, with those that are told from them by their order alone.
fn with_like(files: &BTreeSet<u32>, inputs: &[InputAccount]) -> BTreeSet<u32> {
    let key = |account: &InputAccount| {
        (account.file.rsplit(['/', '\\']).next().unwrap_or_default().to_owned(), account.first_us)
    };
    let keys: BTreeSet<_> = files.iter().map(|&file| key(&inputs[file as usize])).collect();
    (0..).zip(inputs).filter(|(_, account)| keys.contains(&key(account))).map(|(file, _)| file).collect()
}

/// The accounts of the files that are `used`; what `spans` say of files is changed to that.
fn keep_files<'a>(
    used: &BTreeSet<u32>,
    inputs: &[InputAccount],
    spans: impl Iterator<Item = &'a mut schema::Span>,
) -> Vec<InputAccount> {
    let moved: BTreeMap<u32, u32> = used.iter().copied().zip(0..).collect();
    for span in spans {
        span.events.iter_mut().for_each(|event| event.file = moved[&event.file]);
        span.hosts.retain(|host| moved.contains_key(&host.file));
        span.hosts.iter_mut().for_each(|host| host.file = moved[&host.file]);
    }
    used.iter().map(|&file| inputs[file as usize].clone()).collect()
}

/// From when on what is at work may go on, µs: a window before the first of the logs ends of which
/// something new was read. Logs that were silent for longer than the window when the last one ends
/// are quiet, or over.
pub(super) fn from_us(
    spans: &[Spill],
    (stores, inputs): (&[Store], &[(String, InputAccount)]),
    window_us: i64,
) -> i64 {
    let nodes: BTreeSet<Name> = inputs.iter().map(|(node, _)| Name::from(node)).collect();
    let mut ends: BTreeMap<Name, i64> = BTreeMap::new();
    for span in spans {
        let node = span.node(stores);
        if nodes.contains(&node) {
            let end = ends.entry(node).or_insert(i64::MIN);
            *end = (*end).max(span.end_us);
        }
    }
    let last_us = ends.values().copied().max().unwrap_or(i64::MAX);
    let earliest_us = last_us.saturating_sub(window_us);
    let first_us = ends.values().copied().filter(|end_us| *end_us >= earliest_us).min();
    first_us.unwrap_or(last_us).saturating_sub(window_us)
}

/// Such a share of a period is open when the logs end, however long they are: enough to learn from, and
/// what an append costs beside its own lines.
const ENOUGH_SHARE: u64 = 8;

/// From when on what is at work is decided again with what is appended next, µs: what may go on
/// `open_from_us`, and the last events, as many as it takes to learn from. `spans` are in order.
pub(super) fn revised_from_us(spans: &[Spill], open_from_us: i64, config: &Config) -> i64 {
    let mut n_left = config.period_events / ENOUGH_SHARE;
    let is_one = |span: &&Spill| {
        let is_one = n_left > 0;
        n_left = n_left.saturating_sub(u64::from(span.n_events));
        is_one
    };
    let first = spans.iter().rev().take_while(is_one).last();
    first.map_or(open_from_us, |first| first.start_us.min(open_from_us))
}

/// A span that is decided again, and of which request it is.
pub(super) struct OpenSpan {
    pub(super) stored: Stored,
    pub(super) request: OpenRequest,
}

/// Keeps `spans`, in this order, for the manifest of this `number`; returns the files.
pub(super) fn keep(
    (folder, number): (&Path, u64),
    model: &Model,
    (spans, stores): (&[OpenSpan], &[Store]),
    inputs: &BTreeMap<String, Vec<InputAccount>>,
) -> Result<Vec<DataFile>> {
    let mut by_node: BTreeMap<&str, (Vec<Stored>, Vec<OpenRequest>)> = BTreeMap::new();
    for OpenSpan { stored, request } in spans {
        let of_node = by_node.entry(stores[stored.store as usize].node.as_str()).or_default();
        of_node.0.push(*stored);
        of_node.1.push(*request);
    }
    if by_node.is_empty() {
        return Ok(Vec::new());
    }
    let kept = folder.join(OPEN).join(number.to_string()).join(KEPT);
    let mut writer = OutputsWriter::create(&kept, model.digest())?;
    let mut of_requests = Requests::default();
    for (node, (spans, requests)) in by_node {
        let mut files = BTreeSet::new();
        spill::read_in_parts(stores, &spans, |_, span| {
            files.extend(files_of(&span));
            Ok(())
        })?;
        let used = with_like(&files, &inputs[node]);
        let mut requests = requests.into_iter();
        spill::read_in_parts(stores, &spans, |_, mut span| {
            keep_files(&used, &inputs[node], std::iter::once(&mut span));
            of_requests.add(&span, requests.next().expect("one of each span"));
            writer.add(model, &[Accumulator { spans: vec![span], links: Vec::new() }])
        })?;
        writer.add_inputs(node, &keep_files(&used, &inputs[node], std::iter::empty()));
    }
    let [accumulators, accounts] = writer.finish()?;
    let files = [accumulators, accounts, of_requests.write(&kept)?];
    files.iter().map(|path| DataFile::of_kept(folder, relative(folder, path))).collect()
}

/// A path below the table's folder, with `/`.
fn relative(folder: &Path, path: &Path) -> String {
    let path = path.strip_prefix(folder).unwrap_or(path);
    path.display().to_string().replace('\\', "/")
}
