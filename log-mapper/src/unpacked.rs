//! The text of a packed log, read again: forward, up to where a record stands that is to be shown. What
//! was passed last is held, so that records near to each other are found without beginning anew.

use std::path::PathBuf;

use crate::input::{Input, Source, discover};

/// Bytes of text that are unpacked at a time.
const STEP_BYTES: usize = 256 << 10;
/// Bytes of text that are held of what was passed.
const HELD_BYTES: usize = 1 << 20;

/// A packed log, read up to some place of its text.
pub struct Unpacked {
    input: Input,
    /// The last bytes that were read.
    held: Vec<u8>,
    /// Where these begin in the text.
    start: u64,
}

impl Unpacked {
    /// Opens what a log is called in a table: a file, or an entry of a zip archive as `archive!/entry`.
    /// None: it is not there.
    #[must_use]
    pub fn open(name: &str) -> Option<Self> {
        let source = source(name)?;
        let input = Input::open(&source, u64::MAX).ok()?;
        Some(Self { input, held: Vec::new(), start: 0 })
    }

    /// Whether what stands at `offset` of the text was passed and is no longer held.
    #[must_use]
    pub fn is_past(&self, offset: u64) -> bool {
        offset < self.start
    }

    /// Up to `n` bytes of text at `offset`, for which `n_left` bytes may be unpacked. None: that is
    /// too far, or past, or the text ends before.
    pub fn read(&mut self, offset: u64, n: usize, n_left: &mut u64) -> Option<&[u8]> {
        if self.is_past(offset) {
            return None;
        }
        let until = offset.saturating_add(n as u64);
        while self.end() < until && !self.input.ended() {
            let step = usize::try_from(*n_left).unwrap_or(usize::MAX).min(STEP_BYTES);
            if step == 0 {
                return None;
            }
            let before = self.held.len();
            self.input.read(&mut self.held, step);
            *n_left -= (self.held.len() - before) as u64;
            self.forget(offset);
        }
        let from = usize::try_from(offset - self.start).ok().filter(|from| *from < self.held.len())?;
        Some(&self.held[from..self.held.len().min(from.saturating_add(n))])
    }

    fn end(&self) -> u64 {
        self.start + self.held.len() as u64
    }

    /// Lets go of what stands before `offset` and is more than is held.
    fn forget(&mut self, offset: u64) {
        let n_past = usize::try_from(offset - self.start).unwrap_or(usize::MAX);
        let n = n_past.min(self.held.len().saturating_sub(HELD_BYTES));
        // So many at a time that moving the others costs little.
        if n >= HELD_BYTES {
            self.held.drain(..n);
            self.start += n as u64;
        }
    }
}

/// The source of this name.
fn source(name: &str) -> Option<Source> {
    let is_it = |source: &Source| source.name() == name;
    let of_path = |path: &str| {
        let path = PathBuf::from(path);
        path.is_file().then(|| discover(&[path]).ok()?.into_iter().find(is_it)).flatten()
    };
    let archives = name.match_indices("!/").map(|(at, _)| &name[..at]);
    of_path(name).or_else(|| archives.into_iter().find_map(of_path))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::path::Path;

    use super::{HELD_BYTES, Unpacked};

    const LINES: usize = 200_000;

    fn line(number: usize) -> String {
        format!("line {number:>8} of a log\n")
    }

    /// The same text in every packing, each by its name.
    fn packed(folder: &Path) -> Vec<String> {
        let text: String = (0..LINES).map(line).collect();
        let path = |name: &str| folder.join(name);
        let gz = std::fs::File::create(path("a.gz")).expect("a file");
        let mut gz = flate2::write::GzEncoder::new(gz, flate2::Compression::fast());
        gz.write_all(text.as_bytes()).and_then(|()| gz.finish().map(drop)).expect("written");
        let bz2 = std::fs::File::create(path("a.bz2")).expect("a file");
        let mut bz2 = bzip2::write::BzEncoder::new(bz2, bzip2::Compression::fast());
        bz2.write_all(text.as_bytes()).and_then(|()| bz2.finish().map(drop)).expect("written");
        let zst = zstd::encode_all(text.as_bytes(), 1).expect("packed");
        std::fs::write(path("a.zst"), zst).expect("written");
        let mut zip = zip::ZipWriter::new(std::fs::File::create(path("a.zip")).expect("a file"));
        zip.start_file("logs/a.log", zip::write::SimpleFileOptions::default()).expect("an entry");
        zip.write_all(text.as_bytes()).expect("written");
        zip.finish().expect("written");
        ["a.gz", "a.bz2", "a.zst", "a.zip!/logs/a.log"].map(|name| path(name).display().to_string()).into()
    }

    #[test]
    fn lines_are_read_in_every_packing() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let length = line(0).len();
        for name in packed(folder.path()) {
            let mut text = Unpacked::open(&name).unwrap_or_else(|| panic!("{name}"));
            let mut n_left = u64::MAX;
            // Forward, a little back, the same again, the last one.
            for number in [0, 3, 100_000, 99_990, 99_990, LINES - 1] {
                let found = text.read((number * length) as u64, length, &mut n_left);
                assert_eq!(found, Some(line(number).as_bytes()), "{name}, line {number}");
            }
            assert!(text.is_past(0), "{name}: only the last {HELD_BYTES} bytes are held");
            assert_eq!(text.read(0, length, &mut n_left), None);
            assert_eq!(text.read((LINES * length) as u64, 1, &mut n_left), None, "{name} has ended");
        }
        assert!(Unpacked::open("no such file").is_none() && Unpacked::open("no.zip!/a.log").is_none());
    }

    #[test]
    fn no_more_is_unpacked_than_may_be() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let name = packed(folder.path()).remove(0);
        let mut text = Unpacked::open(&name).expect("it is there");
        let mut n_left = 300_000;
        assert_eq!(text.read(2_000_000, 10, &mut n_left), None);
        assert_eq!(n_left, 0);
        // What was unpacked is not unpacked again.
        n_left = 2_000_000;
        let offset = (80_000 * line(0).len()) as u64;
        assert_eq!(text.read(offset, 13, &mut n_left), Some(&line(80_000).as_bytes()[..13]));
    }
}
