//! Logs and a model to request accumulators: what runs on each log node.
//!
//! ```text
//! files ─prepare─▶ layouts, order ─read─▶ chunks ─match─▶ records with candidates ─accumulate─▶ accumulators
//!                                   (one thread)   (all cores)                   (one thread, in log order)
//! ```
//! One scan: chunks are matched in parallel while the next ones are read and the
//! ones before are accumulated; of the text only what is at work is held, of the
//! accumulators those of a part of the log. The result does not depend on the number
//! of threads or the size of chunks.

pub mod accumulate;
mod backward;
mod chunks;
mod clock_steps;
mod digests;
mod files;
pub mod header;
mod ids;
mod input;
pub mod limits;
mod lines;
mod matched;
mod overlap;
pub mod patterns;
mod processes;
mod reading;
pub mod record;
pub mod said;
mod stack_trace;
mod stats;
mod strangers;
mod ticks;
mod unpacked;
mod wrappers;

pub use files::look;
pub use header::{Configuration, Found, Layout, detect, patterns_of, read_configuration};
pub use ids::{Fields, name_of_field};
pub use input::{Source, discover};
pub use overlap::{Overlap, copies, overlaps};
pub use patterns::PatternSet;
pub use reading::Reread;
pub use unpacked::Unpacked;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use jiff::tz::TimeZone;
use rayon::prelude::*;
use schema::{InputAccount, Model, Name, NodeOutput, Result};

use accumulate::Accumulated;
use clock_steps::Clock;
use files::{ChunkReader, clocks};
use matched::{Matched, match_chunk};
use reading::Reading;
use record::{Record, Records};
use ticks::{Places, Ticks};

/// How to map the logs of one node.
#[derive(Clone, Debug)]
pub struct Config {
    /// Layouts to choose from per file; empty: the common ones.
    pub layouts: Vec<Arc<Layout>>,
    /// Whether the common ones are tried too, with a word on it, where none of those reads
    /// anything.
    pub may_detect: bool,
    /// Zone of time stamps that have none.
    pub zone: TimeZone,
    /// Whether it was given: what prints a zone that is not known is of it then.
    pub zone_is_given: bool,
    /// Year, month and day of a first time stamp without a date; none: the last one is of the day
    /// on which its file was written.
    pub date: Option<(i16, u8, u8)>,
    /// Bytes of text that are matched at once.
    pub chunk_bytes: usize,
    /// Most bytes of text read of one file.
    pub input_bytes_max: u64,
    /// What names of classes of well-known libraries begin with, as `org/slf4j/`: their lines do not
    /// tell whose log a file is.
    pub libraries: &'static [&'static str],
    /// Which fields hold ids of requests, as far as that was decided by hand.
    pub ids: Fields,
    /// How to accumulate; holds the node's label.
    pub accumulate: accumulate::Config,
}

impl Config {
    /// The defaults for the node `node`.
    #[must_use]
    pub fn new(node: &str) -> Self {
        Self {
            layouts: Vec::new(),
            may_detect: false,
            zone: TimeZone::UTC,
            zone_is_given: false,
            date: None,
            chunk_bytes: limits::CHUNK_BYTES,
            input_bytes_max: u64::MAX,
            libraries: &[],
            ids: Fields::default(),
            accumulate: accumulate::Config { node: node.to_owned(), ..accumulate::Config::default() },
        }
    }
}

/// A zone by IANA name, `UTC`, or an offset such as `+02:00`.
///
/// # Errors
/// No such zone.
pub fn parse_zone(name: &str) -> std::result::Result<TimeZone, String> {
    header::timestamp::parse_zone(name)
}

/// Maps the logs of one node. `progress` is told the stored bytes read, as
/// they are read. Damage inside a file is told in its account.
///
/// # Errors
/// A source cannot be opened.
pub fn map(
    model: &Model,
    patterns: &PatternSet,
    sources: &[Source],
    config: &Config,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<NodeOutput> {
    let mut all = Accumulated::default();
    let inputs = map_parts(model, patterns, sources, config, progress, |part| {
        all.accumulators.extend(part.accumulators);
        all.unattributed.extend(part.unattributed);
        Ok(())
    })?;
    Ok(NodeOutput {
        node: config.accumulate.node.clone(),
        model_digest: model.digest(),
        inputs,
        accumulators: all.accumulators,
        unattributed: all.unattributed,
    })
}

/// The same, one part of the logs after the other: `take` is given what each part has made, while
/// the next one is mapped, so that memory is bounded by a part. Returns the accounts of the files,
/// in time order.
///
/// # Errors
/// A source cannot be opened; those of `take`.
pub fn map_parts(
    model: &Model,
    patterns: &PatternSet,
    sources: &[Source],
    config: &Config,
    progress: &(dyn Fn(u64) + Sync),
    mut take: impl FnMut(Accumulated) -> Result<()> + Send,
) -> Result<Vec<InputAccount>> {
    let files = files::prepare(sources, patterns, config)?;
    let readings = ChunkReader::readings(&files);
    let mut reader = ChunkReader::new(sources, files, config, progress);
    let mut notes = vec![stats::Notes::default(); readings.len()];

    let (placed, steps, ids_change) = std::thread::scope(|scope| {
        let (sender, receiver) = sync_channel(1);
        let fields: Vec<Name> = readings.iter().map(|reading| reading.ids.name()).collect();
        let accumulating = scope.spawn(move || {
            let ticks = Ticks::new(fields.len());
            let mut records = ReceivedRecords::new(receiver, ticks.clone());
            let (mut placed, mut ids_change) = (stats::Placed::default(), false);
            let count = |mut part: Accumulated| {
                ticks.restore(&mut part);
                ids::name_fields(&mut part, &fields);
                placed.add(&part);
                ids_change |= part.ids_change;
                take(part)
            };
            let done = accumulate::accumulate_parts(model, &mut records, &config.accumulate, count);
            done.map(|()| (placed, records.clock.steps, ids_change))
        });
        let matched = match_all(&mut reader, &readings, patterns, config, sender, &mut notes);
        let accumulated = accumulating.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        matched.and(accumulated)
    })?;

    let mut inputs = reader.accounts;
    for (account, notes) in inputs.iter_mut().zip(notes) {
        notes.tell(account);
    }
    stats::add_steps(&mut inputs, &steps);
    placed.tell(&mut inputs);
    if ids_change {
        ids::tell_changes(&mut inputs);
    }
    Ok(inputs)
}

/// Matches batch after batch, reading the next one meanwhile.
fn match_all(
    reader: &mut ChunkReader<'_>,
    readings: &[Arc<Reading>],
    patterns: &PatternSet,
    config: &Config,
    sender: SyncSender<Vec<Matched>>,
    notes: &mut [stats::Notes],
) -> Result<()> {
    let n_chunks = rayon::current_num_threads() + 1;
    let mut batch = reader.batch(n_chunks)?;
    while !batch.is_empty() {
        let match_one = |scratch: &mut patterns::Scratch, chunk: chunks::Chunk| {
            let reading = &readings[chunk.file as usize];
            match_chunk(chunk, reading, patterns, &mut clocks(config, reading), scratch)
        };
        let (mut matched, next) = rayon::join(
            || {
                batch
                    .into_par_iter()
                    .with_max_len(1)
                    .map_init(|| patterns.scratch(), match_one)
                    .collect::<Vec<_>>()
            },
            || reader.batch(n_chunks),
        );
        for one in &mut matched {
            let account = &mut reader.accounts[one.chunk.file as usize];
            one.first_line = account.n_lines + 1;
            stats::add(account, &one.counts);
            notes[one.chunk.file as usize].add(&one.counts, one.first_line);
        }
        // The receiver is gone if accumulating failed, which joining it shows.
        if sender.send(matched).is_err() {
            return Ok(());
        }
        batch = next?;
    }
    Ok(())
}

/// Lends the records of matched chunks as they arrive. Chunks that were looked at ahead
/// are kept.
struct ReceivedRecords {
    receiver: Receiver<Vec<Matched>>,
    batches: VecDeque<Matched>,
    matched: Matched,
    next: usize,
    clock: Clock,
    places: Places,
}

impl ReceivedRecords {
    fn new(receiver: Receiver<Vec<Matched>>, ticks: Ticks) -> Self {
        let (batches, matched, clock) = (VecDeque::new(), Matched::default(), Clock::default());
        Self { receiver, batches, matched, next: 0, clock, places: Places::new(ticks) }
    }

    /// What is to be added to the time of the record at hand: because its clock was set back, and
    /// because its clock shows no fractions of seconds.
    fn late_us(&mut self) -> (i64, i64) {
        let Self { receiver, batches, matched, next, clock, places } = self;
        let index = *next - 1;
        let Some((line, us)) = matched.time(index) else { return (0, 0) };
        let file = matched.chunk.file;
        let mut following = |n| following(receiver, batches, matched, index, n);
        let late_us = clock.late_us((file, line), us, &mut following);
        (late_us, places.since_us((file, line), us, following))
    }
}

/// Printed times of up to `n` records after `index` in the file of `matched`.
fn following(
    receiver: &Receiver<Vec<Matched>>,
    batches: &mut VecDeque<Matched>,
    matched: &Matched,
    index: usize,
    n: usize,
) -> Vec<i64> {
    let times = |matched: &Matched, from: usize, n_left: usize| -> Vec<i64> {
        (from..matched.n_records()).take(n_left).filter_map(|i| Some(matched.time(i)?.1)).collect()
    };
    let mut out = times(matched, index + 1, n);
    let mut at = 0;
    while out.len() < n {
        if at == batches.len() {
            let Ok(batch) = receiver.recv() else { break };
            batches.extend(batch);
            continue;
        }
        if batches[at].chunk.file != matched.chunk.file {
            break;
        }
        out.extend(times(&batches[at], 0, n - out.len()));
        at += 1;
    }
    out
}

impl Records for ReceivedRecords {
    fn next(&mut self) -> Option<Record<'_>> {
        while self.next >= self.matched.n_records() {
            match self.batches.pop_front() {
                Some(matched) => (self.matched, self.next) = (matched, 0),
                None => self.batches = self.receiver.recv().ok()?.into(),
            }
        }
        self.next += 1;
        let (late_us, since_us) = self.late_us();
        let record = self.matched.record(self.next - 1)?;
        let ts_us = record.ts_us.saturating_add(late_us).saturating_add(since_us);
        let tick_us = self.places.tick_us(record.file, record.line);
        Some(Record { ts_us, late_us, tick_us, ..record })
    }

    fn ahead(&mut self, n: u64, see: &mut dyn FnMut(&Record<'_>)) {
        let n = usize::try_from(n).unwrap_or(usize::MAX);
        let mut n_received: usize = self.batches.iter().map(Matched::n_records).sum();
        while n_received < n
            && let Ok(batch) = self.receiver.recv()
        {
            n_received += batch.iter().map(Matched::n_records).sum::<usize>();
            self.batches.extend(batch);
        }
        let all = || {
            let indexes =
                self.batches.iter().flat_map(|matched| (0..matched.n_records()).map(move |at| (matched, at)));
            indexes.take(n)
        };
        let times: Vec<(u32, i64)> =
            all().filter_map(|(matched, at)| Some((matched.chunk.file, matched.time(at)?.1))).collect();
        for ((matched, at), since_us) in all().zip(ticks::places(&times)) {
            let Some(record) = matched.record(at) else { continue };
            see(&Record { ts_us: record.ts_us.saturating_add(since_us), ..record });
        }
    }
}
