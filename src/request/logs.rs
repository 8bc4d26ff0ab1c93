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
use super::{Request, Span};

/// Longest text of a record; the rest is in the log.
const TEXT_BYTES_MAX: usize = 2_000;
/// Packed logs that are kept open, each with what its packing needs to go on: up to 10 MB as a rule.
const OPEN_MAX: usize = 4;
/// Bytes of packed logs that are unpacked by a command: who asks out of their order begins anew each time.
const UNPACKED_BYTES_MAX: u64 = 8 << 30;

/// Logs, read at the offset of a record. A log may be gone, be that of another machine, or hold other
/// records by now: then there is no text, or it is made.
pub struct Logs {
    open: BTreeMap<String, Option<Open>>,
    packed: Arc<Mutex<Packed>>,
    /// Bytes that may still be unpacked.
    n_left: u64,
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

impl Default for Logs {
    /// Of no table: nothing is made.
    fn default() -> Self {
        Self::new(Arc::default())
    }
}

impl Logs {
    /// Logs of a table with these `messages`, of which so many bytes may be unpacked, beginning with
    /// those that are open.
    #[cfg(feature = "serve")]
    pub(crate) fn bounded(messages: Arc<Messages>, packed: Arc<Mutex<Packed>>, n_left: u64) -> Self {
        Self { packed, n_left, ..Self::new(messages) }
    }

    /// Logs of a table with these `messages`.
    pub(crate) fn new(messages: Arc<Messages>) -> Self {
        Self {
            open: BTreeMap::new(),
            packed: Arc::default(),
            n_left: UNPACKED_BYTES_MAX,
            messages,
            is_closed: false,
        }
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

    /// What the events of a request say, by span: each log is read from its beginning to its end.
    pub(crate) fn all_said(&mut self, request: &Request) -> Vec<Vec<Option<Said>>> {
        let mut said: Vec<Vec<Option<Said>>> =
            request.spans().iter().map(|span| vec![None; span.events.len()]).collect();
        let of_span = |(at, span): (usize, &Span)| (0..span.events.len()).map(move |event| (at, event));
        let mut places: Vec<(usize, usize)> = request.spans().iter().enumerate().flat_map(of_span).collect();
        let event = |(span, event): (usize, usize)| &request.spans()[span].events[event];
        places.sort_by(|a, b| {
            let (a, b) = (event(*a), event(*b));
            a.file.cmp(&b.file).then(a.byte_offset.cmp(&b.byte_offset))
        });
        for place in places {
            said[place.0][place.1] = self.said(event(place));
        }
        said
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
                let mut packed = self.packed.lock().unwrap_or_else(PoisonError::into_inner);
                bytes = packed.read(&event.file, from, n_before + TEXT_BYTES_MAX, &mut self.n_left)?;
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
    fn read(&mut self, name: &str, offset: u64, n: usize, n_left: &mut u64) -> Option<Vec<u8>> {
        let stamp = stamp(name);
        let known = self.0.iter().position(|(other, ..)| other == name).map(|at| self.0.remove(at));
        let known = known.filter(|(_, then, text)| *then == stamp && !text.is_past(offset));
        let (.., mut text) = match known {
            Some(known) => known,
            None => (name.to_owned(), stamp, Unpacked::open(name)?),
        };
        let found = text.read(offset, n, n_left).map(<[u8]>::to_vec);
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

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use schema::tables::{EventRow, NameValue};

    use super::{Logs, Messages, Said, TEXT_BYTES_MAX};

    const LINE: &str = "12:00:00 INFO Stored block-7 at /p";

    fn messages() -> Arc<Messages> {
        Arc::new(Messages::of_point(1, &[(r"Stored block\-(\d+) at (.*?)", &["id", "peer"])]))
    }

    /// The third line of a log.
    fn event(file: &Path, text: &str) -> EventRow {
        let value = |name: &str, value: &str| NameValue { name: name.into(), value: value.into() };
        EventRow {
            file: file.display().to_string().into(),
            byte_offset: text.find(LINE).unwrap_or(text.len()) as i64,
            n_lines: 1,
            log_point_id: Some(1),
            values: vec![value("id", "7"), value("peer", "/p")],
            ..EventRow::default()
        }
    }

    fn read(text: &str) -> Option<Said> {
        Some(Said { text: text.to_owned(), is_read: true })
    }

    fn made() -> Option<Said> {
        Some(Said { text: "Stored block-7 at /p".to_owned(), is_read: false })
    }

    #[test]
    fn what_a_log_says_is_read_also_where_it_is_packed() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let text = format!("first\nsecond\n{LINE}\nlast\n");
        let (plain, packed) = (folder.path().join("a.log"), folder.path().join("a.log.zst"));
        std::fs::write(&plain, &text).expect("written");
        std::fs::write(&packed, zstd::encode_all(text.as_bytes(), 1).expect("packed")).expect("written");
        let mut logs = Logs::new(messages());
        for path in [&plain, &packed, &packed, &plain] {
            assert_eq!(logs.said(&event(path, &text)), read(LINE), "{}", path.display());
        }
        assert_eq!(logs.closed().said(&event(&plain, &text)), made());
    }

    #[test]
    fn what_is_gone_or_says_something_else_by_now_is_made() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let text = format!("first\nsecond\n{LINE}\nlast\n");
        let path = folder.path().join("a.log");
        assert_eq!(Logs::new(messages()).said(&event(&path, &text)), made());
        // Rotated: another line there, the middle of one, the same of another block, the end.
        for now in [
            "first\nsecond\nsomething else that is printed\n".to_owned(),
            format!("first second {LINE}\n"),
            text.replace("block-7", "block-8"),
            "short\n".to_owned(),
            String::new(),
        ] {
            std::fs::write(&path, &now).expect("written");
            assert_eq!(Logs::new(messages()).said(&event(&path, &text)), made(), "{now:?}");
        }
        let unknown = EventRow { log_point_id: None, ..event(&path, &text) };
        assert_eq!(Logs::new(messages()).said(&unknown), None);
    }

    #[test]
    fn quotes_within_json_are_those_of_the_message() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("a.log");
        let line = r#"{"log":"Stored block-7 at \"/p\"\n","stream":"stdout"}"#;
        std::fs::write(&path, line).expect("written");
        let mut event = EventRow { byte_offset: 0, ..event(&path, "") };
        event.values[1].value = "\"/p\"".into();
        assert_eq!(Logs::new(messages()).said(&event), read(line));
    }

    #[test]
    fn a_long_record_is_cut() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("a.log");
        let text = format!("{}{}", "Stored block-7 at /", "p".repeat(3 * TEXT_BYTES_MAX));
        std::fs::write(&path, &text).expect("written");
        let mut event = EventRow { byte_offset: 0, ..event(&path, "") };
        event.values[1].value = text["Stored block-7 at ".len()..].into();
        assert_eq!(Logs::new(messages()).said(&event), read(&text[..TEXT_BYTES_MAX]));
    }

    #[cfg(feature = "serve")]
    #[test]
    fn one_answer_unpacks_so_much_and_the_next_one_goes_on() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("a.log.zst");
        let text = format!("{}{LINE}\n", "another line\n".repeat(100_000));
        std::fs::write(&path, zstd::encode_all(text.as_bytes(), 1).expect("packed")).expect("written");
        let packed = Arc::default();
        let said = || {
            let mut logs = Logs::bounded(messages(), Arc::clone(&packed), 700_000);
            [logs.said(&event(&path, &text)), logs.said(&event(&path, &text))]
        };
        assert_eq!(said(), [made(), made()]);
        assert_eq!(said(), [read(LINE), read(LINE)]);
    }
}
