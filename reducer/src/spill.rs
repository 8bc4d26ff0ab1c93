//! Spill: the spans of a map on disk; in memory is where each of them is.
//!
//! A span is written when the mapper, or the file that it wrote, gives it; it is read twice more:
//! as a skeleton, when it is decided of which request it is, and when the rows of that are made. The file has no name and is gone when nobody holds it,
//! however the process ends. It lies where the table does: there is room for what becomes of it,
//! and no folder for temporary files that is kept in memory.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;
use rustc_hash::FxHashSet;
use schema::faults::{Checked, step};
use schema::{Accumulator, Error, Event, InputAccount, Name, Place, Result};

use crate::merge::to_u32;
use crate::skeleton::{Span, Stored};

/// Bytes that are read to be left out, where a read of their own would take longer.
const GAP_BYTES_MAX: u64 = 16 << 10;

/// What one map of one node made, as far as it has come.
#[derive(Debug)]
pub struct SpillWriter {
    file: BufWriter<Checked>,
    folder: PathBuf,
    n_bytes: u64,
    encoded: Vec<u8>,
    spans: Vec<Spill>,
    unattributed: Vec<Event>,
    late_us: BTreeSet<i64>,
    has_ids: bool,
}

/// A span on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spill {
    /// Its first event's time, µs.
    pub(crate) start_us: i64,
    /// Its last event's.
    pub(crate) end_us: i64,
    /// Its events.
    pub(crate) n_events: u32,
    /// Where its first event was printed.
    pub(crate) first: Place,
    /// Where it is.
    pub(crate) stored: Stored,
}

impl Spill {
    /// The node that it is of; `stores` are those that it is in.
    pub(crate) fn node(&self, stores: &[Store]) -> Name {
        stores[self.stored.store as usize].node
    }

    /// What tells it from all others: its node, and where its first event was printed there.
    pub(crate) fn key(&self, stores: &[Store]) -> (Name, Place) {
        (self.node(stores), self.first)
    }
}

/// What one map of one node made.
#[derive(Debug)]
pub struct Spilled {
    /// Label of the log source.
    pub node: String,
    /// What was read, one entry per file, in time order.
    pub inputs: Vec<InputAccount>,
    /// Records that no log point could have printed.
    pub(crate) unattributed: Vec<Event>,
    pub(crate) spans: Vec<Spill>,
    pub(crate) store: Store,
}

/// The whole spans of a map.
#[derive(Debug)]
pub(crate) struct Store {
    /// Label of their log source.
    pub(crate) node: Name,
    /// What the clock was behind, as often as that changed.
    pub(crate) late_us: Vec<i64>,
    /// A span holds an id of a request.
    pub(crate) has_ids: bool,
    file: File,
    folder: PathBuf,
    /// By how much the positions of its inputs were moved, as others of the node come first.
    pub(crate) file_moved: u32,
}

impl SpillWriter {
    /// Of spans that become rows of the table in the folder `table`, which need not be there.
    ///
    /// # Errors
    /// I/O errors, naming the folder.
    pub fn create(table: &Path) -> Result<Self> {
        let folder = std::path::absolute(table).map_err(Error::io(table))?;
        let folder = folder.ancestors().find(|folder| folder.is_dir()).unwrap_or(table).to_owned();
        let file = tempfile::tempfile_in(&folder).map_err(Error::io(&folder))?;
        let (spans, unattributed, late_us) = Default::default();
        let (n_bytes, has_ids, encoded) = (0, false, Vec::new());
        let file = BufWriter::with_capacity(1 << 16, Checked(file));
        Ok(Self { file, folder, n_bytes, encoded, spans, unattributed, late_us, has_ids })
    }

    /// Adds what a part of the logs has made. Links between spans are not kept: they are made again.
    ///
    /// # Errors
    /// I/O errors, naming the folder: a full disk.
    pub fn add(&mut self, accumulators: Vec<Accumulator>, unattributed: Vec<Event>) -> Result<()> {
        self.unattributed.extend(unattributed);
        let mut spans = accumulators.into_iter().flat_map(|accumulator| accumulator.spans);
        spans.try_for_each(|span| self.add_span(&span))
    }

    /// Adds a span, if it has an event.
    ///
    /// # Errors
    /// I/O errors, naming the folder: a full disk.
    pub(crate) fn add_span(&mut self, span: &schema::Span) -> Result<()> {
        let Some(first) = span.events.first().map(Event::place) else { return Ok(()) };
        let (mut start_us, mut end_us) = (i64::MAX, i64::MIN);
        for event in &span.events {
            (start_us, end_us) = (start_us.min(event.ts_us), end_us.max(event.ts_us));
            if event.late_us != 0 {
                self.late_us.insert(event.late_us);
            }
        }
        self.has_ids |= span.trace.is_some();
        self.encoded.clear();
        let encoded = postcard::to_extend(span, std::mem::take(&mut self.encoded));
        self.encoded = encoded.expect("a span holds nothing that cannot be encoded");
        self.file.write_all(&self.encoded).map_err(Error::io(&self.folder))?;
        let stored = Stored { store: 0, n_bytes: to_u32(self.encoded.len()), offset: self.n_bytes };
        self.n_bytes += u64::from(stored.n_bytes);
        self.spans.push(Spill { start_us, end_us, n_events: to_u32(span.events.len()), first, stored });
        Ok(())
    }

    /// All that was added, of `node`, with the accounts of all files.
    ///
    /// # Errors
    /// I/O errors, naming the folder.
    pub fn finish(self, node: &str, inputs: Vec<InputAccount>) -> Result<Spilled> {
        let Self { file, folder, spans, unattributed, late_us, has_ids, .. } = self;
        let file = file.into_inner().map_err(|e| Error::io(&folder)(e.into_error()))?;
        let (name, late_us) = (Name::from(node), late_us.into_iter().collect());
        let store = Store { node: name, late_us, has_ids, file: file.0, folder, file_moved: 0 };
        Ok(Spilled { node: node.to_owned(), inputs, unattributed, spans, store })
    }
}

/// Spans that are read at once.
const SPANS_AT_ONCE: usize = 4096;

/// The whole `spans` in `stores`, in that order, some at a time.
///
/// # Errors
/// I/O errors, naming the folder; those of `take`.
pub(crate) fn read_in_parts(
    stores: &[Store],
    spans: &[Stored],
    mut take: impl FnMut(Stored, schema::Span) -> Result<()>,
) -> Result<()> {
    for part in spans.chunks(SPANS_AT_ONCE) {
        let whole = read(stores, part)?;
        part.iter().zip(whole).try_for_each(|(&stored, span)| take(stored, span))?;
    }
    Ok(())
}

/// What is seen of `spans` in `stores`, in that order. Texts of identifiers and names of threads
/// are held once each.
///
/// # Errors
/// I/O errors, naming the folder.
pub(crate) fn skeletons(stores: &[Store], spans: &[Stored]) -> Result<Vec<Span>> {
    let mut texts: FxHashSet<Arc<str>> = FxHashSet::default();
    let mut skeletons = Vec::with_capacity(spans.len());
    read_in_parts(stores, spans, |stored, mut span| {
        let identifiers = span.identifiers.iter_mut().map(|value| &mut value.text);
        for text in identifiers.chain(&mut span.thread) {
            match texts.get(text) {
                Some(known) => *text = Arc::clone(known),
                None => _ = texts.insert(Arc::clone(text)),
            }
        }
        skeletons.push(Span::new(span, stored));
        Ok(())
    })?;
    Ok(skeletons)
}

/// The whole spans at `places` in `stores`, in that order.
///
/// # Errors
/// I/O errors, naming the folder.
pub(crate) fn read(stores: &[Store], places: &[Stored]) -> Result<Vec<schema::Span>> {
    let mut order: Vec<u32> = (0..to_u32(places.len())).collect();
    order.sort_unstable_by_key(|&at| places[at as usize]);
    // What lies close to each other is read at once.
    let mut stretches: Vec<(u32, Range<u64>, Vec<u8>)> = Vec::new();
    let mut stretch_of = vec![0_u32; places.len()];
    for at in order {
        let place = places[at as usize];
        let end = place.offset + u64::from(place.n_bytes);
        match stretches.last_mut() {
            Some((store, bytes, _)) if *store == place.store && place.offset <= bytes.end + GAP_BYTES_MAX => {
                bytes.end = bytes.end.max(end);
            }
            _ => stretches.push((place.store, place.offset..end, Vec::new())),
        }
        stretch_of[at as usize] = to_u32(stretches.len() - 1);
    }
    for (store, bytes, read) in &mut stretches {
        let Store { file, folder, .. } = &stores[*store as usize];
        read.resize(usize::try_from(bytes.end - bytes.start).unwrap_or(usize::MAX), 0);
        step().and_then(|()| read_at(file, read, bytes.start)).map_err(Error::io(folder))?;
    }
    let decode = |(place, stretch): (&Stored, &u32)| {
        let (_, bytes, read) = &stretches[*stretch as usize];
        let from = (place.offset - bytes.start) as usize;
        stores[place.store as usize].decode(&read[from..from + place.n_bytes as usize], place.offset)
    };
    places.par_iter().zip(&stretch_of).map(decode).collect()
}

/// Fills `bytes` from an offset of a file that several threads read.
#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset)
}

/// The same where a file has one place that all who read it move.
#[cfg(not(unix))]
fn read_at(mut file: &File, bytes: &mut [u8], offset: u64) -> std::io::Result<()> {
    use std::io::{Read as _, Seek as _, SeekFrom};
    static ONE_BY_ONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _turn = ONE_BY_ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    file.seek(SeekFrom::Start(offset))?;
    file.read_exact(bytes)
}

impl Store {
    fn decode(&self, bytes: &[u8], offset: u64) -> Result<schema::Span> {
        let mut span: schema::Span =
            postcard::from_bytes(bytes).map_err(|e| Error::damaged(&self.folder, offset, e))?;
        span.events.iter_mut().for_each(|event| event.file += self.file_moved);
        span.hosts.iter_mut().for_each(|place| place.file += self.file_moved);
        Ok(span)
    }
}
