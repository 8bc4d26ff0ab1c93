//! The text of records, read in the logs that a table was made from.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use schema::tables::EventRow;

/// Longest text of a record; the rest is in the log.
const TEXT_BYTES_MAX: usize = 2_000;

/// Logs, read at the offset of a record. A compressed log has no such offset,
/// and a log may be gone: then there is no text.
#[derive(Default)]
pub struct Logs {
    open: BTreeMap<String, Option<File>>,
}

impl Logs {
    /// The text of a record.
    pub fn text(&mut self, event: &EventRow) -> Option<String> {
        let file =
            self.open.entry(event.file.to_string()).or_insert_with_key(|path| open_plain(Path::new(path)));
        let file = file.as_mut()?;
        file.seek(SeekFrom::Start(event.byte_offset.try_into().ok()?)).ok()?;
        let mut bytes = Vec::new();
        file.take(TEXT_BYTES_MAX as u64).read_to_end(&mut bytes).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        let n_lines = usize::try_from(event.n_lines).unwrap_or(1);
        let text = text.lines().take(n_lines).collect::<Vec<_>>().join("\n");
        (!text.is_empty()).then_some(text)
    }
}

fn open_plain(path: &Path) -> Option<File> {
    if !path.is_file() {
        return None;
    }
    let mut file = File::open(path).ok()?;
    let mut magic = [0; 4];
    let n = file.read(&mut magic).ok()?;
    let compressed: [&[u8]; 4] = [&[0x1f, 0x8b], b"BZh", b"PK\x03\x04", &[0x28, 0xb5, 0x2f, 0xfd]];
    (!compressed.iter().any(|m| magic[..n].starts_with(m))).then_some(file)
}
