//! Input: log files, folders of them, standard input; plain or compressed, told
//! apart by their first bytes. The only file access of this crate. What cannot
//! be read to its end is read as far as it goes, and the damage is named.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufReader, Cursor, Read, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use schema::{Error, Result};

use crate::files::Looked;
use crate::limits::{FLOOD_BYTES_MAX, FOLDER_DEPTH_MAX, RATIO_FREE_BYTES, RATIO_MAX, ZIP_ENTRIES_MAX};

/// Where log text comes from.
#[derive(Clone, Debug)]
pub struct Source {
    name: String,
    place: Place,
    /// How it is read, where that was found out before.
    looked: Option<Arc<Looked>>,
    /// Bytes of it that are read, where it is not all.
    until: Option<u64>,
}

#[derive(Clone, Debug)]
enum Place {
    Stdin,
    File(PathBuf),
    /// An entry of a zip archive: where its bytes lie, and whether deflated.
    Entry {
        archive: PathBuf,
        start: u64,
        n_bytes: u64,
        deflated: bool,
    },
    Bytes(Arc<[u8]>),
    Reader(Once),
}

/// What can be read once only, by whoever is the first to open it.
#[derive(Clone)]
struct Once(Arc<Mutex<Option<Box<dyn Read + Send>>>>);

impl Once {
    fn take(&self) -> io::Result<Box<dyn Read + Send>> {
        let reader = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        reader.ok_or_else(|| io::Error::other("it was read already, and can be read once only"))
    }
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Once")
    }
}

impl Source {
    fn new(name: String, place: Place) -> Self {
        Self { name, place, looked: None, until: None }
    }

    /// Text in memory, as if it were the file `name`.
    #[must_use]
    pub fn bytes(name: &str, bytes: &[u8]) -> Self {
        Self::new(name.to_owned(), Place::Bytes(bytes.into()))
    }

    /// What `reader` gives, as if it were the file `name`. It is read once.
    #[must_use]
    pub fn reader(name: &str, reader: impl Read + Send + 'static) -> Self {
        Self::new(name.to_owned(), Place::Reader(Once(Arc::new(Mutex::new(Some(Box::new(reader)))))))
    }

    /// Path as given; `-` is standard input.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Without what stands after the last end of a line, as that is still being written; packed
    /// files, and what is no file, are as they are. What is added meanwhile is not read.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn whole_lines(mut self) -> Result<Self> {
        if let Place::File(path) = &self.place
            && !self.is_stream()
        {
            self.until = end_of_lines(path).map_err(Error::io(path))?;
        }
        Ok(self)
    }

    /// The process whose lines are read, where the file holds those of several.
    #[must_use]
    pub fn process(&self) -> Option<&str> {
        self.looked.as_ref()?.process.as_deref()
    }

    /// Whether the model knows a text of its start; none: that was not looked at.
    #[must_use]
    pub fn is_explained(&self) -> Option<bool> {
        self.looked.as_ref().map(|looked| looked.reading.n_own > 0 && looked.reading.n_explained > 0)
    }

    /// Whether it is a log of the Java machine itself, of what it collects and compiles, and no text
    /// of it is of the program.
    #[must_use]
    pub fn is_of_machine(&self) -> bool {
        self.looked.as_ref().is_some_and(|looked| looked.is_of_machine && looked.reading.n_explained == 0)
    }

    /// Why no record of it is read, if none is.
    #[must_use]
    pub fn why_unread(&self) -> Option<&str> {
        let reading = &self.looked.as_ref()?.reading;
        (reading.n_own == 0).then(|| reading.doubts.last().map(String::as_str)).flatten()
    }

    pub(crate) fn looked(&self) -> Option<&Looked> {
        self.looked.as_deref()
    }

    pub(crate) fn with_looked(self, looked: Looked) -> Self {
        Self { looked: Some(Arc::new(looked)), ..self }
    }

    /// Bytes as they lie there (compressed), if known; for progress.
    #[must_use]
    pub fn n_bytes(&self) -> Option<u64> {
        match &self.place {
            Place::Stdin | Place::Reader(_) => None,
            Place::File(path) => match self.until {
                Some(until) => Some(until),
                None => fs::metadata(path).ok().map(|m| m.len()),
            },
            Place::Entry { n_bytes, .. } => Some(*n_bytes),
            Place::Bytes(bytes) => Some(bytes.len() as u64),
        }
    }

    /// The day on which it was last written, in `zone`; none: it is no file.
    pub(crate) fn written(&self, zone: &jiff::tz::TimeZone) -> Option<(i16, u8, u8)> {
        let day = self.written_at()?.to_zoned(zone.clone()).date();
        Some((day.year(), day.month().unsigned_abs(), day.day().unsigned_abs()))
    }

    /// When it was last written; none: it is no file.
    pub(crate) fn written_at(&self) -> Option<jiff::Timestamp> {
        let path = match &self.place {
            Place::File(path) => path,
            Place::Entry { archive, .. } => archive,
            Place::Stdin | Place::Bytes(_) | Place::Reader(_) => return None,
        };
        let modified = fs::metadata(path).ok()?.modified().ok()?;
        jiff::Timestamp::try_from(modified).ok()
    }

    /// Up to `n` bytes at `start`, as they lie there; none: it cannot be read so.
    pub(crate) fn piece(&self, start: u64, n: usize) -> Option<Vec<u8>> {
        match &self.place {
            Place::File(path) if !self.is_stream() => {
                let mut file = File::open(path).ok()?;
                file.seek(SeekFrom::Start(start)).ok()?;
                let mut bytes = Vec::new();
                let n = self.until.map_or(n as u64, |until| until.saturating_sub(start).min(n as u64));
                file.take(n).read_to_end(&mut bytes).ok()?;
                Some(bytes)
            }
            Place::Bytes(bytes) => {
                let start = usize::try_from(start).ok().filter(|start| *start <= bytes.len())?;
                Some(bytes[start..bytes.len().min(start.saturating_add(n))].to_vec())
            }
            _ => None,
        }
    }

    /// Whether its text is what lies there, and can be read from anywhere.
    pub(crate) fn is_plain(&self) -> bool {
        self.piece(0, PACKED_HEAD).is_some_and(|head| !is_packed(&head))
    }

    /// Whether it can be read once only.
    pub(crate) fn is_stream(&self) -> bool {
        match &self.place {
            Place::Stdin | Place::Reader(_) => true,
            Place::File(path) => fs::metadata(path).is_ok_and(|m| !m.is_file()),
            _ => false,
        }
    }
}

/// The sources that `paths` name: files, all files below folders, entries of
/// zip archives, `-` for standard input; in order, folders sorted by name.
/// Hidden files and, inside folders, code archives are left out.
///
/// # Errors
/// A path does not exist or cannot be read.
pub fn discover(paths: &[PathBuf]) -> Result<Vec<Source>> {
    let mut out = Vec::new();
    for path in paths {
        if path.as_os_str() == "-" {
            out.push(Source::new("-".to_owned(), Place::Stdin));
        } else {
            discover_path(path, 0, &mut out)?;
        }
    }
    Ok(out)
}

fn discover_path(path: &Path, depth: usize, out: &mut Vec<Source>) -> Result<()> {
    let metadata = fs::metadata(path).map_err(Error::io(path))?;
    if !metadata.is_dir() {
        return discover_file(path, metadata.is_file(), out);
    }
    if depth >= FOLDER_DEPTH_MAX {
        let message = format!("folders nest deeper than {FOLDER_DEPTH_MAX}");
        return Err(Error::io(path)(io::Error::other(message)));
    }
    let mut entries = Vec::new();
    for entry in fs::read_dir(path).map_err(Error::io(path))? {
        entries.push(entry.map_err(Error::io(path))?.path());
    }
    entries.sort();
    for entry in entries {
        let hidden = entry.file_name().is_some_and(|n| n.as_encoded_bytes().starts_with(b"."));
        let code = entry.extension().is_some_and(|e| e == "jar" || e == "war" || e == "class");
        if !hidden && !code {
            discover_path(&entry, depth + 1, out)?;
        }
    }
    Ok(())
}

fn discover_file(path: &Path, seekable: bool, out: &mut Vec<Source>) -> Result<()> {
    let name = path.display().to_string();
    let plain = Source::new(name.clone(), Place::File(path.to_owned()));
    if !seekable {
        out.push(plain);
        return Ok(());
    }
    let mut file = File::open(path).map_err(Error::io(path))?;
    let mut magic = [0; 4];
    let is_zip = file.read_exact(&mut magic).is_ok() && &magic == b"PK\x03\x04";
    if !is_zip {
        out.push(plain);
        return Ok(());
    }
    let broken = |e: zip::result::ZipError| Error::damaged(path, 0, e);
    let mut archive = zip::ZipArchive::new(BufReader::new(file)).map_err(broken)?;
    if archive.len() > ZIP_ENTRIES_MAX {
        return Err(Error::damaged(path, 0, format!("more than {ZIP_ENTRIES_MAX} entries")));
    }
    for i in 0..archive.len() {
        let entry = archive.by_index_raw(i).map_err(broken)?;
        if !entry.is_file() {
            continue;
        }
        let entry_name = String::from_utf8_lossy(entry.name_raw()).into_owned();
        let deflated = match entry.compression() {
            zip::CompressionMethod::Stored => false,
            zip::CompressionMethod::Deflated => true,
            other => {
                return Err(Error::damaged(path, 0, format!("entry `{entry_name}` is packed with {other}")));
            }
        };
        let Some(start) = entry.data_start().filter(|_| !entry.encrypted()) else {
            return Err(Error::damaged(path, 0, format!("entry `{entry_name}` is encrypted")));
        };
        let place =
            Place::Entry { archive: path.to_owned(), start, n_bytes: entry.compressed_size(), deflated };
        out.push(Source::new(format!("{name}!/{entry_name}"), place));
    }
    Ok(())
}

/// An open source: plain text, whatever it was stored as.
pub(crate) struct Input {
    reader: Box<dyn Read + Send>,
    stored: Arc<AtomicU64>,
    n_bytes: u64,
    n_bytes_max: u64,
    n_stored_seen: u64,
    /// Bytes of text since the last line feed.
    n_since_feed: u64,
    ended: bool,
    damage: Vec<String>,
}

impl Input {
    /// Opens `source`; reads at most `n_bytes_max` of its text.
    pub(crate) fn open(source: &Source, n_bytes_max: u64) -> Result<Self> {
        let stored = Arc::new(AtomicU64::new(0));
        let path = Path::new(&source.name);
        let mut damage = Vec::new();
        let raw: Box<dyn Read + Send> = match &source.place {
            Place::Stdin => Box::new(io::stdin()),
            Place::File(path) => {
                let file = File::open(path).map_err(Error::io(path))?;
                Box::new(file.take(source.until.unwrap_or(u64::MAX)))
            }
            Place::Bytes(bytes) => Box::new(Cursor::new(Arc::clone(bytes))),
            Place::Reader(once) => once.take().map_err(Error::io(path))?,
            Place::Entry { archive, start, n_bytes, .. } => {
                let mut file = File::open(archive).map_err(Error::io(archive))?;
                file.seek(SeekFrom::Start(*start)).map_err(Error::io(archive))?;
                Box::new(file.take(*n_bytes))
            }
        };
        let counted = Counted { reader: raw, n_bytes: Arc::clone(&stored) };
        let reader = if matches!(source.place, Place::Entry { deflated: true, .. }) {
            let inflated = flate2::bufread::DeflateDecoder::new(BufReader::with_capacity(1 << 16, counted));
            decode(Box::new(inflated), &mut damage)
        } else {
            decode(Box::new(counted), &mut damage)
        };
        let reader = reader.map_err(Error::io(path))?;
        Ok(Self {
            reader,
            stored,
            n_bytes: 0,
            n_bytes_max,
            n_stored_seen: 0,
            n_since_feed: 0,
            ended: false,
            damage,
        })
    }

    /// Appends up to `n` bytes of text to `buffer`; fewer only at the end.
    pub(crate) fn read(&mut self, buffer: &mut Vec<u8>, n: usize) {
        let target = buffer.len() + n;
        let mut filled = buffer.len();
        buffer.resize(target, 0);
        while filled < target && !self.ended {
            match self.reader.read(&mut buffer[filled..target]) {
                Ok(0) => self.ended = true,
                Ok(k) => {
                    let new = &buffer[filled..filled + k];
                    self.n_since_feed = match memchr::memrchr(b'\n', new) {
                        Some(at) => (k - at - 1) as u64,
                        None => self.n_since_feed + k as u64,
                    };
                    filled += k;
                    self.n_bytes += k as u64;
                    self.check_bounds();
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => self.end_with(&format!("damaged at byte {} of the text: {e}", self.n_bytes)),
            }
        }
        buffer.truncate(filled);
    }

    fn check_bounds(&mut self) {
        let stored = self.stored.load(Ordering::Relaxed);
        // A program that repeats itself packs as well as a bomb does; but it prints lines.
        let is_beyond = self.n_bytes > RATIO_FREE_BYTES && self.n_bytes / RATIO_MAX > stored;
        if is_beyond && (self.n_since_feed > RATIO_FREE_BYTES || self.n_bytes > FLOOD_BYTES_MAX) {
            let n = self.n_bytes;
            self.end_with(&format!("read no further than byte {n} of the text: it unpacks to more than {RATIO_MAX} times its size"));
        } else if self.n_bytes > self.n_bytes_max {
            let (n, max) = (self.n_bytes, self.n_bytes_max);
            self.end_with(&format!("read no further than byte {n} of the text: the limit is {max} bytes"));
        }
    }

    fn end_with(&mut self, damage: &str) {
        self.damage.push(damage.to_owned());
        self.ended = true;
    }

    /// Nothing follows.
    pub(crate) fn ended(&self) -> bool {
        self.ended
    }

    /// Stored bytes read since the last call.
    pub(crate) fn progress(&mut self) -> u64 {
        let now = self.stored.load(Ordering::Relaxed);
        let n = now - self.n_stored_seen;
        self.n_stored_seen = now;
        n
    }

    /// What was wrong with it so far, for the accounting.
    pub(crate) fn take_damage(&mut self) -> Vec<String> {
        std::mem::take(&mut self.damage)
    }
}

/// How files begin that are packed in a way that is not read.
const PACKINGS: &[(&[u8], &str)] = &[
    (b"\xfd7zXZ\0", "xz"),
    (b"7z\xbc\xaf\x27\x1c", "7z"),
    (b"Rar!\x1a\x07", "rar"),
    (b"\x04\x22\x4d\x18", "lz4"),
    (b"\x5d\0\0\x80\0", "lzma"),
    (b"LZIP", "lzip"),
    (b"\x1f\x9d", "compress"),
    (b"\x89LZO\0\r", "lzop"),
    (b"\xff\x06\0\0sN", "snappy"),
];

/// The packing that a file begins with, where it is one that is not read.
fn unknown_packing(head: &[u8]) -> Option<&'static str> {
    PACKINGS.iter().find(|(start, _)| head.starts_with(start)).map(|(_, name)| *name)
}

/// Where the last line of a plain file ends; none: it is packed.
fn end_of_lines(path: &Path) -> io::Result<Option<u64>> {
    let mut file = File::open(path)?;
    let mut head = Vec::new();
    (&mut file).take(6).read_to_end(&mut head)?;
    if is_packed(&head) {
        return Ok(None);
    }
    let mut end = file.metadata()?.len();
    let mut block = Vec::new();
    while end > 0 {
        let start = end.saturating_sub(BLOCK_BYTES);
        block.clear();
        file.seek(SeekFrom::Start(start))?;
        (&mut file).take(end - start).read_to_end(&mut block)?;
        if let Some(at) = memchr::memrchr(b'\n', &block) {
            return Ok(Some(start + at as u64 + 1));
        }
        end = start;
    }
    Ok(Some(0))
}

/// Bytes by which it is told whether a file is packed.
const PACKED_HEAD: usize = 6;

/// Bytes of a file that are looked through at a time.
const BLOCK_BYTES: u64 = 1 << 16;

/// Whether a file that begins so is put together by others, and changes as a whole.
fn is_packed(head: &[u8]) -> bool {
    matches!(
        head,
        [0x1f, 0x8b, ..]
            | [0x28, 0xb5, 0x2f, 0xfd, ..]
            | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..]
            | [b'B', b'Z', b'h', ..]
            | [0xfd, b'7', b'z', b'X', ..]
            | [b'P', b'K', 3, 4, ..]
            | [0xff, 0xfe, ..]
            | [0xfe, 0xff, ..]
    ) || unknown_packing(head).is_some()
}

struct Counted {
    reader: Box<dyn Read + Send>,
    n_bytes: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.reader.read(buffer)?;
        self.n_bytes.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

/// Puts the decoder in front that the first bytes ask for.
fn decode(mut raw: Box<dyn Read + Send>, damage: &mut Vec<String>) -> io::Result<Box<dyn Read + Send>> {
    let mut head = Vec::new();
    // A damaged start is met again, and named, when the text is read.
    let first = (&mut raw).take(6).read_to_end(&mut head);
    if first.is_err() && head.is_empty() {
        return first.map(|_| raw);
    }
    if let Some(name) = unknown_packing(&head) {
        damage.push(format!("packed with {name}, which is not read: unpack it first"));
        return Ok(Box::new(io::empty()));
    }
    let whole = Cursor::new(head.clone()).chain(raw);
    Ok(match &head[..] {
        [0x1f, 0x8b, ..] => {
            Box::new(flate2::bufread::MultiGzDecoder::new(BufReader::with_capacity(1 << 16, whole)))
        }
        [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => {
            Box::new(zstd::stream::read::Decoder::new(whole)?)
        }
        [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41] => Box::new(bzip2::read::MultiBzDecoder::new(whole)),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => {
            damage.push("UTF-16 text, of which ASCII alone is read: convert it to UTF-8 first".to_owned());
            Box::new(whole)
        }
        _ => Box::new(whole),
    })
}

#[cfg(test)]
mod tests {
    use super::{BLOCK_BYTES, end_of_lines};

    #[test]
    fn the_last_line_that_is_whole_is_found() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let end = |bytes: &[u8]| {
            let path = folder.path().join("x.log");
            std::fs::write(&path, bytes).expect("a file");
            end_of_lines(&path).expect("it can be read")
        };
        let long = vec![b'x'; 2 * BLOCK_BYTES as usize];
        assert_eq!([&b""[..], b"a", b"a\n", b"a\nb"].map(end), [Some(0), Some(0), Some(2), Some(2)]);
        assert_eq!(end(&[b"a\n", &long[..]].concat()), Some(2));
        assert_eq!(end(&[&long[..], b"\nb"].concat()), Some(long.len() as u64 + 1));
        assert_eq!(end(&long), Some(0));
        assert_eq!(end(&[0x1f, 0x8b, 8, b'\n', 0]), None, "what is packed is read as it is");
    }
}
