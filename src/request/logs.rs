//! What events say: the text of their records, read again in the logs that a table was made from, or
//! put together from templates and values.

use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use log_mapper::Unpacked;
use schema::tables::EventRow;

use super::message::Messages;

/// Longest text of a record; the rest is in the log.
const TEXT_BYTES_MAX: usize = 2_000;
/// Packed logs that are kept open, each with what its packing needs to go on.
const OPEN_MAX: usize = 2;

/// Logs, read at the offset of a record. A log may be gone, be that of another machine, or hold other
/// records by now: then there is no text, or it is made.
#[derive(Default)]
pub struct Logs {
    open: BTreeMap<String, Option<Open>>,
    packed: Arc<Mutex<Packed>>,
    /// Bytes that may still be unpacked; none: as many as it takes.
    n_left: Option<u64>,
    messages: Arc<Messages>,
    /// No log is read.
    is_closed: bool,
}

/// Packed logs that are open, each read up to some place, the latest last.
#[derive(Default)]
pub(crate) struct Packed(Vec<(String, Stamp, Unpacked)>);

/// By what a file is known to be as it was.
type Stamp = Option<(u64, SystemTime)>;

enum Open {
    Plain(File),
    Packed,
}

/// What an event says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) text: String,
    /// It is read in the log; else it is made from a template.
    pub(crate) is_read: bool,
}

impl Logs {
    /// Logs of a table with these `messages`, of which so many bytes may be unpacked, beginning with
    /// those that are open.
    #[cfg(feature = "serve")]
    pub(crate) fn bounded(messages: Arc<Messages>, packed: Arc<Mutex<Packed>>, n_left: u64) -> Self {
        Self { packed, n_left: Some(n_left), messages, ..Self::default() }
    }

    /// Logs of a table with these `messages`.
    pub(crate) fn new(messages: Arc<Messages>) -> Self {
        Self { messages, ..Self::default() }
    }

    /// The same, of which no log is read: what an event says is made of what the table holds.
    #[must_use]
    pub fn closed(self) -> Self {
        Self { is_closed: true, ..self }
    }

    /// What an event says, made from a template of its log point; none: no template fits.
    pub(crate) fn made(&self, event: &EventRow) -> Option<String> {
        self.messages.made(event)
    }

    /// The text of a record, as its log says by now.
    pub fn text(&mut self, event: &EventRow) -> Option<String> {
        self.record(event).map(|(text, _)| text)
    }

    /// What an event says, by its log if that is still the one that the event was read from; else made.
    pub(crate) fn said(&mut self, event: &EventRow) -> Option<Said> {
        let messages = Arc::clone(&self.messages);
        let pieces = messages.pieces(event);
        let read = self.record(event).filter(|(text, is_cut)| {
            // Within JSON quotes are escaped.
            let is_it = |text: &str| pieces.as_ref().is_none_or(|pieces| pieces.are_in(text, *is_cut));
            is_it(text) || is_it(&text.replace("\\\"", "\"").replace("\\\\", "\\"))
        });
        match read {
            Some((text, _)) => Some(Said { text, is_read: true }),
            None => messages.made(event).map(|text| Said { text, is_read: false }),
        }
    }

    /// The text of a record, and whether it goes on.
    fn record(&mut self, event: &EventRow) -> Option<(String, bool)> {
        let offset = u64::try_from(event.byte_offset).ok().filter(|_| !self.is_closed)?;
        // With what stands before it: the end of a line.
        let (from, n_before) = if offset == 0 { (0, 0) } else { (offset - 1, 1) };
        let name = event.file.to_string();
        let mut bytes = Vec::new();
        match self.open.entry(name).or_insert_with_key(|name| open(name)).as_mut()? {
            Open::Plain(file) => {
                file.seek(SeekFrom::Start(from)).ok()?;
                file.take((n_before + TEXT_BYTES_MAX) as u64).read_to_end(&mut bytes).ok()?;
            }
            Open::Packed => {
                let n_left = self.n_left.as_mut();
                let mut packed = self.packed.lock().unwrap_or_else(PoisonError::into_inner);
                bytes = packed.read(&event.file, from, n_before + TEXT_BYTES_MAX, n_left)?;
            }
        }
        let before = bytes.get(..n_before)?;
        if before.first().is_some_and(|byte| *byte != b'\n') {
            return None;
        }
        let text = String::from_utf8_lossy(&bytes[n_before..]);
        let n_lines = usize::try_from(event.n_lines).unwrap_or(1);
        let n_ends = text.matches('\n').count();
        let is_cut = bytes.len() == n_before + TEXT_BYTES_MAX && n_ends < n_lines;
        let text = text.lines().take(n_lines).collect::<Vec<_>>().join("\n");
        (!text.is_empty()).then_some((text, is_cut))
    }
}

impl Packed {
    /// Up to `n` bytes of the text of the log `name`, at `offset`.
    fn read(&mut self, name: &str, offset: u64, n: usize, n_left: Option<&mut u64>) -> Option<Vec<u8>> {
        let stamp = stamp(name);
        let known = self.0.iter().position(|(other, ..)| other == name).map(|at| self.0.remove(at));
        let known = known.filter(|(_, then, text)| *then == stamp && !text.is_past(offset));
        let (.., mut text) = match known {
            Some(known) => known,
            None => (name.to_owned(), stamp, Unpacked::open(name)?),
        };
        let found = text.read(offset, n, n_left.unwrap_or(&mut u64::MAX.clone())).map(<[u8]>::to_vec);
        if self.0.len() == OPEN_MAX {
            self.0.remove(0);
        }
        self.0.push((name.to_owned(), stamp, text));
        found
    }
}

/// The file of a log, which may be an entry of an archive.
fn file_of(name: &str) -> Option<Metadata> {
    let archives = name.match_indices("!/").map(|(at, _)| &name[..at]);
    let of = |path: &str| Path::new(path).metadata().ok().filter(Metadata::is_file);
    of(name).or_else(|| archives.into_iter().find_map(of))
}

fn stamp(name: &str) -> Stamp {
    let of = file_of(name)?;
    Some((of.len(), of.modified().ok()?))
}

fn open(name: &str) -> Option<Open> {
    let path = Path::new(name);
    if !path.is_file() {
        return file_of(name).map(|_| Open::Packed);
    }
    let mut file = File::open(path).ok()?;
    let mut magic = [0; 4];
    let n = file.read(&mut magic).ok()?;
    let packed: [&[u8]; 4] = [&[0x1f, 0x8b], b"BZh", b"PK\x03\x04", &[0x28, 0xb5, 0x2f, 0xfd]];
    let is_packed = packed.iter().any(|m| magic[..n].starts_with(m));
    Some(if is_packed { Open::Packed } else { Open::Plain(file) })
}
