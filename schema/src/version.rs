//! How files of ours begin, and how they are written so that a half-written
//! one is never read as whole.
//!
//! ```text
//! OFFSET SIZE DESCRIPTION
//!      0    8 magic: what kind of file this is
//!      8    4 format version, little endian
//!     12    8 length of the payload
//!     20   16 xxh3-128 of the payload
//!     36    2 length of the producer's version
//!     38    n producer's version, UTF-8
//!   38+n    . payload: zstd of postcard
//! ```

use std::fs;
use std::io::Write as _;
use std::path::Path;

use crate::error::{Error, ErrorKind, Result};
use crate::faults::{Checked, step};

/// One kind of file: its magic and the version this program reads and writes.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// First eight bytes.
    pub magic: [u8; 8],
    /// Format version.
    pub version: u32,
    /// Name of the kind of file in messages.
    pub name: &'static str,
}

/// The model file (`lprof analyze -o MODEL`).
pub const MODEL: Format = Format { magic: *b"lprofMDL", version: 15, name: "model" };

const PRODUCER: &str = env!("CARGO_PKG_VERSION");

/// Writes `payload` as one file of `format`: to a temporary name in the same
/// folder, synced, renamed, folder synced.
///
/// # Errors
/// I/O errors, naming the file.
pub fn write(path: &Path, format: Format, payload: &[u8]) -> Result<()> {
    let mut bytes = Vec::with_capacity(payload.len() + 64);
    bytes.extend_from_slice(&format.magic);
    bytes.extend_from_slice(&format.version.to_le_bytes());
    bytes.extend_from_slice(&(payload.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&xxhash_rust::xxh3::xxh3_128(payload).to_le_bytes());
    bytes.extend_from_slice(&(PRODUCER.len() as u16).to_le_bytes());
    bytes.extend_from_slice(PRODUCER.as_bytes());
    bytes.extend_from_slice(payload);
    write_atomically(path, &bytes)
}

/// Writes `bytes` so that a reader sees the old file or the new one, also after
/// a crash.
///
/// # Errors
/// I/O errors, naming the file.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    let folder = match path.parent() {
        Some(p) if !p.as_os_str().is_empty() => p,
        _ => Path::new("."),
    };
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = folder.join(format!(".{name}.{}.tmp", std::process::id()));
    let written = (|| {
        step()?;
        let mut file = Checked(fs::File::create(&temporary)?);
        file.write_all(bytes)?;
        step()?;
        file.0.sync_all()?;
        step()?;
        fs::rename(&temporary, path)?;
        step()?;
        fs::File::open(folder)?.sync_all()
    })();
    if written.is_err() {
        // The temporary file may not exist; either way nothing is left behind.
        let _ = fs::remove_file(&temporary);
    }
    written.map_err(Error::io(path))
}

/// Reads a file of `format` and returns its payload.
///
/// # Errors
/// Not this kind of file, another version, cut short or damaged; I/O errors.
pub fn read(path: &Path, format: Format) -> Result<Vec<u8>> {
    let bytes = step().and_then(|()| fs::read(path)).map_err(Error::io(path))?;
    let head: &[u8; 38] = match bytes.first_chunk::<38>() {
        Some(head) if head[..8] == format.magic => head,
        _ => return Err(Error::new(path, ErrorKind::NotOurs { expected: format.name })),
    };
    let number = |at: usize| u64::from_le_bytes(head[at..at + 8].try_into().expect("eight bytes"));
    let got = u32::from_le_bytes(head[8..12].try_into().expect("four bytes"));
    if got != format.version {
        return Err(Error::new(path, ErrorKind::Version { expected: format.version, got }));
    }
    let digest = u128::from_le_bytes(head[20..36].try_into().expect("sixteen bytes"));
    let start = 38 + usize::from(u16::from_le_bytes([head[36], head[37]]));
    let payload = bytes.get(start..).unwrap_or_default();
    if payload.len() as u64 != number(12) {
        let detail = format!("expected {} bytes of payload, got {}", number(12), payload.len());
        return Err(Error::damaged(path, start as u64, detail));
    }
    if xxhash_rust::xxh3::xxh3_128(payload) != digest {
        return Err(Error::damaged(path, start as u64, "checksum does not fit"));
    }
    Ok(payload.to_vec())
}
