//! The index of a file of `requests`: what of its rows is asked for most, so that one request, or how
//! many there were and how long they took, is told without reading the file. That of a file of `relations`
//! tells by the ids of both ends of each row in which rows a request is named, and has no more.
//!
//! ```text
//! OFFSET SIZE DESCRIPTION
//!      0    8 magic
//!      8    4 version, little endian
//!     12    . blocks of 8,192 rows, in their order: column after column
//!      .    . ids: of each row, by id, the first 4 bytes of it, and then the numbers of all these rows;
//!             1,024 of them together
//!      .    . intervals of three lengths, see `intervals`: postcard, by zstd
//!      .    n footer: postcard of what stands where, with the least and the most of each column of a
//!             block, and a checksum of each piece
//!    -24    8 length of the footer
//!    -16   16 xxh3-128 of the footer
//! ```
//! Numbers that stand together are written less the least of them, in as many bytes as the largest takes,
//! and by zstd where that leaves out an eighth of them; see `packed`.
//!
//! Bloom filters and page indexes of Parquet were the other way. The pages of `requests` hold 131,072
//! rows, since smaller ones take a fifth more bytes, so each row that is found costs a page of each of
//! its columns; a filter says only that an id may be there, not where its spans and events begin; and
//! nothing of Parquet counts. An index is read at the places that an answer needs, and nothing of it
//! is held but its footer, some 300 bytes for each 1,000 requests.

mod bins;
mod build;
mod intervals;
mod packed;

use std::fs::File;
use std::ops::{Range, RangeInclusive};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

pub use self::bins::{BINS_OF_DOUBLING, Bins, ERROR, bin_of, least_of};
pub use self::intervals::{Interval, LENGTHS_US, OfType};

use self::intervals::Chunk;
use self::packed::Packed;
use super::Written;
use crate::error::{Error, ErrorKind, Result};
use crate::faults::step;

const MAGIC: [u8; 8] = *b"lprofIDX";
const VERSION: u32 = 1;
/// Bytes behind the footer: its length and its checksum.
const TAIL_BYTES: usize = 24;
/// Rows of a block.
pub const BLOCK_ROWS: usize = 1 << 13;
/// Ids that are read together.
const PAGE_IDS: usize = 1 << 10;

/// A column of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// First event, µs since 1970.
    Start,
    /// µs.
    Duration,
    /// Number of the type.
    Type,
    /// A bit for each flag, by its number.
    Flags,
    /// Nodes.
    Nodes,
    /// Spans.
    Spans,
    /// Events.
    Events,
    /// Values of `Node` and `NodeDuration`, which have one for each node of each row.
    OnNodes,
    /// Number of the node.
    Node,
    /// How long it was there, µs.
    NodeDuration,
    /// The first 16 digits of the id.
    IdHigh,
    /// The others.
    IdLow,
}

impl Column {
    /// All, in the order in which they stand.
    const ALL: [Self; 12] = [
        Self::Start,
        Self::Duration,
        Self::Type,
        Self::Flags,
        Self::Nodes,
        Self::Spans,
        Self::Events,
        Self::OnNodes,
        Self::Node,
        Self::NodeDuration,
        Self::IdHigh,
        Self::IdLow,
    ];

    fn is_of_nodes(self) -> bool {
        matches!(self, Self::Node | Self::NodeDuration)
    }
}

/// What stands where.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Footer {
    n_rows: u64,
    /// All ids are 32 hex digits, so that they can be found by them.
    has_ids: bool,
    types: Vec<String>,
    nodes: Vec<String>,
    flags: Vec<String>,
    blocks: Vec<Block>,
    ids: Vec<IdPage>,
    /// By length; none: these are not kept.
    intervals: Vec<Option<Vec<Chunk>>>,
}

/// Rows that stand together.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Block {
    n_rows: u64,
    n_on_nodes: u64,
    first_span: u64,
    first_event: u64,
    columns: Vec<Packed>,
}

/// Ids that stand together.
#[derive(Debug, Serialize, Deserialize)]
struct IdPage {
    n: u64,
    starts: Packed,
    rows: Packed,
}

/// Where the rows of a request stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowPlace {
    /// First of its rows of `spans`, and how many.
    pub spans: (u64, u64),
    /// First of its rows of `events`, and how many.
    pub events: (u64, u64),
}

/// An index, read as it is asked.
#[derive(Debug)]
pub struct Index {
    path: PathBuf,
    /// None: it is in the file.
    bytes: Option<Vec<u8>>,
    footer: Footer,
}

impl Index {
    /// That in the file at `path`.
    ///
    /// # Errors
    /// Not an index, of another version, cut short or damaged; I/O errors.
    pub fn open(path: &Path) -> Result<Self> {
        let file = step().and_then(|()| File::open(path)).map_err(Error::io(path))?;
        let n_bytes = file.metadata().map_err(Error::io(path))?.len();
        let read = |offset: u64, bytes: &mut [u8]| file.read_exact_at(bytes, offset).map_err(Error::io(path));
        let cut = || Error::damaged(path, n_bytes, "it is cut short");
        let mut head = [0; 12];
        if n_bytes < (head.len() + TAIL_BYTES) as u64 {
            return Err(cut());
        }
        read(0, &mut head)?;
        check_head(path, &head)?;
        let mut tail = [0; TAIL_BYTES];
        read(n_bytes - TAIL_BYTES as u64, &mut tail)?;
        let length = u64::from_le_bytes(tail[..8].try_into().expect("eight bytes"));
        let offset = n_bytes.checked_sub(TAIL_BYTES as u64).and_then(|end| end.checked_sub(length));
        let offset = offset.ok_or_else(cut)?;
        let mut footer = vec![0; usize::try_from(length).map_err(|_| cut())?];
        read(offset, &mut footer)?;
        Ok(Self { path: path.to_owned(), bytes: None, footer: footer_of(path, offset, &footer, &tail[8..])? })
    }

    /// That of the rows of a file of `requests` and of that of `request_nodes` beside it, in memory.
    ///
    /// # Errors
    /// Files that are damaged, or of other tables; I/O errors.
    pub fn of_rows(requests: &Path, nodes: Option<&Path>) -> Result<Self> {
        let (bytes, footer) = build::of_rows(requests, nodes)?;
        Ok(Self { path: requests.to_owned(), bytes: Some(bytes), footer })
    }

    /// That of a file of `relations`, in memory.
    ///
    /// # Errors
    /// A file that is damaged, or of another table; I/O errors.
    pub fn of_relations(relations: &Path) -> Result<Self> {
        let (bytes, footer) = build::of_relations(relations)?;
        Ok(Self { path: relations.to_owned(), bytes: Some(bytes), footer })
    }

    /// Writes it to the file at `path`, atomically; none: it has no file of its own.
    ///
    /// # Errors
    /// I/O errors.
    pub fn write(&self, path: &Path) -> Result<Option<Written>> {
        let Some(bytes) = self.bytes.as_ref().filter(|_| self.footer.has_ids) else { return Ok(None) };
        crate::version::write_atomically(path, bytes)?;
        let (n_bytes, digest) = (bytes.len() as u64, xxh3_128(bytes));
        Ok(Some(Written { n_rows: self.footer.n_rows, n_bytes, digest }))
    }

    /// Rows.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        usize::try_from(self.footer.n_rows).unwrap_or(usize::MAX)
    }

    /// Whether a request can be found by its id: those of all are 32 hex digits.
    #[must_use]
    pub fn has_ids(&self) -> bool {
        self.footer.has_ids
    }

    /// Names of types, by number.
    #[must_use]
    pub fn types(&self) -> &[String] {
        &self.footer.types
    }

    /// Names of nodes, by number.
    #[must_use]
    pub fn nodes(&self) -> &[String] {
        &self.footer.nodes
    }

    /// Names of flags, by number.
    #[must_use]
    pub fn flags(&self) -> &[String] {
        &self.footer.flags
    }

    /// Blocks.
    #[must_use]
    pub fn n_blocks(&self) -> usize {
        self.footer.blocks.len()
    }

    /// Rows of a block.
    #[must_use]
    pub fn n_rows_of(&self, block: usize) -> usize {
        self.footer.blocks[block].n_rows as usize
    }

    /// The least and the most of a column of a block.
    #[must_use]
    pub fn bounds(&self, block: usize, column: Column) -> (i64, i64) {
        let packed = &self.footer.blocks[block].columns[column as usize];
        (packed.min, packed.max)
    }

    /// The values of a column of a block.
    ///
    /// # Errors
    /// A damaged file; I/O errors.
    pub fn column(&self, block: usize, column: Column) -> Result<Vec<i64>> {
        let of = &self.footer.blocks[block];
        let n = if column.is_of_nodes() { of.n_on_nodes } else { of.n_rows };
        self.values(&of.columns[column as usize], n)
    }

    /// Rows whose ids lie between two, these included, by id: no more than `n_max`.
    ///
    /// # Errors
    /// A damaged file; I/O errors.
    pub fn between(&self, (from, to): (u128, u128), n_max: usize) -> Result<Vec<(u128, usize)>> {
        let mut found = Vec::new();
        self.beginning_within(start(from)..=start(to), &mut |row| {
            let id = self.id(row)?;
            found.extend((from..=to).contains(&id).then_some((id, row)));
            Ok(found.len() < n_max)
        })?;
        Ok(found)
    }

    /// Rows of a file of `relations` that can name a request: all that do, and few others.
    ///
    /// # Errors
    /// A damaged file; I/O errors.
    pub fn naming(&self, id: u128) -> Result<Vec<usize>> {
        let mut rows = Vec::new();
        self.beginning_within(start(id)..=start(id), &mut |row| {
            rows.push(row);
            Ok(true)
        })?;
        rows.sort_unstable();
        rows.dedup();
        Ok(rows)
    }

    /// Tells `take` of the rows with ids whose first bytes are within these, until it wants no more.
    fn beginning_within(
        &self,
        starts: RangeInclusive<i64>,
        take: &mut dyn FnMut(usize) -> Result<bool>,
    ) -> Result<()> {
        let pages = &self.footer.ids;
        let first = pages.partition_point(|page| page.starts.max < *starts.start());
        for page in pages[first..].iter().take_while(|page| page.starts.min <= *starts.end()) {
            let (begins, rows) = self.id_page(page)?;
            for (_, row) in begins.iter().zip(rows).filter(|(begin, _)| starts.contains(begin)) {
                if !take(row as usize)? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// All rows whose ids are among these, which ascend, as rows do.
    ///
    /// # Errors
    /// A damaged file; I/O errors.
    pub fn rows_with(&self, ids: &[u128]) -> Result<Vec<usize>> {
        // By the first bytes of the ids, in one walk over both; then whole ids, block by block.
        let (mut maybe, mut at) = (Vec::new(), 0);
        for page in &self.footer.ids {
            let wanted = ids[at..].iter().take_while(|id| start(**id) <= page.starts.max);
            if !wanted.clone().any(|id| start(*id) >= page.starts.min) {
                at += wanted.count();
                continue;
            }
            let (starts, rows) = self.id_page(page)?;
            for (begins, row) in starts.into_iter().zip(rows) {
                while ids.get(at).is_some_and(|id| start(*id) < begins) {
                    at += 1;
                }
                if ids.get(at).is_some_and(|id| start(*id) == begins) {
                    maybe.push(row as usize);
                }
            }
        }
        maybe.sort_unstable();
        let mut found = Vec::new();
        for rows in maybe.chunk_by(|a, b| a / BLOCK_ROWS == b / BLOCK_ROWS) {
            let block = rows[0] / BLOCK_ROWS;
            let (high, low) = (self.column(block, Column::IdHigh)?, self.column(block, Column::IdLow)?);
            let id = |row: usize| whole(high[row % BLOCK_ROWS], low[row % BLOCK_ROWS]);
            found.extend(rows.iter().filter(|row| ids.binary_search(&id(**row)).is_ok()));
        }
        Ok(found)
    }

    /// The id of a row.
    ///
    /// # Errors
    /// A damaged file; I/O errors.
    pub fn id(&self, row: usize) -> Result<u128> {
        let (block, at) = (row / BLOCK_ROWS, row % BLOCK_ROWS);
        let column = |column| Ok::<_, Error>(self.column(block, column)?[at]);
        Ok(whole(column(Column::IdHigh)?, column(Column::IdLow)?))
    }

    /// Where the rows of some requests stand that are of one block.
    ///
    /// # Errors
    /// A damaged file; I/O errors.
    pub fn places(&self, block: usize, rows: &[usize]) -> Result<Vec<RowPlace>> {
        let of = &self.footer.blocks[block];
        let starts = |first: u64, column| -> Result<Vec<(u64, u64)>> {
            let mut next = first;
            let of_row = |n: i64| {
                let n = n.unsigned_abs();
                next += n;
                (next - n, n)
            };
            Ok(self.column(block, column)?.into_iter().map(of_row).collect())
        };
        let (spans, events) =
            (starts(of.first_span, Column::Spans)?, starts(of.first_event, Column::Events)?);
        let place =
            |row: &usize| RowPlace { spans: spans[row % BLOCK_ROWS], events: events[row % BLOCK_ROWS] };
        Ok(rows.iter().map(place).collect())
    }

    /// Whether intervals of this length are kept.
    #[must_use]
    pub fn has_intervals(&self, length: usize) -> bool {
        self.footer.intervals.get(length).is_some_and(Option::is_some)
    }

    /// Tells `take` of all intervals of a length that begin within `starts_us`.
    ///
    /// # Errors
    /// A damaged file; I/O errors.
    pub fn intervals(
        &self,
        length: usize,
        starts_us: Range<i64>,
        take: &mut dyn FnMut(Interval),
    ) -> Result<()> {
        for chunk in self.footer.intervals.get(length).into_iter().flatten().flatten() {
            if chunk.starts_us.1 < starts_us.start || chunk.starts_us.0 >= starts_us.end {
                continue;
            }
            let bytes = self.piece(chunk.offset, chunk.n_bytes, chunk.sum)?;
            let bytes = zstd::decode_all(bytes.as_slice())
                .map_err(|e| Error::damaged(&self.path, chunk.offset, e))?;
            let mut rest = bytes.as_slice();
            while !rest.is_empty() {
                let (interval, after): (Interval, _) = postcard::take_from_bytes(rest)
                    .map_err(|e| Error::damaged(&self.path, chunk.offset, e))?;
                rest = after;
                if starts_us.contains(&interval.start_us) {
                    take(interval);
                }
            }
        }
        Ok(())
    }

    /// First bytes of ids, and rows, of a page.
    fn id_page(&self, page: &IdPage) -> Result<(Vec<i64>, Vec<i64>)> {
        Ok((self.values(&page.starts, page.n)?, self.values(&page.rows, page.n)?))
    }

    /// Numbers that stand together.
    fn values(&self, packed: &Packed, n: u64) -> Result<Vec<i64>> {
        let bytes = self.piece(packed.offset, packed.n_bytes, packed.sum)?;
        let values = packed.unpack(bytes, usize::try_from(n).unwrap_or(usize::MAX));
        values.map_err(|e| Error::damaged(&self.path, packed.offset, e))
    }

    /// Bytes that were written together, with this checksum.
    fn piece(&self, offset: u64, n_bytes: u64, sum: u64) -> Result<Vec<u8>> {
        let n = usize::try_from(n_bytes).unwrap_or(usize::MAX);
        let bytes = match &self.bytes {
            Some(bytes) => bytes[offset as usize..][..n].to_vec(),
            None if n == 0 => Vec::new(),
            None => {
                let file = step().and_then(|()| File::open(&self.path)).map_err(Error::io(&self.path))?;
                let mut bytes = vec![0; n];
                file.read_exact_at(&mut bytes, offset).map_err(Error::io(&self.path))?;
                bytes
            }
        };
        if xxh3_64(&bytes) != sum {
            return Err(Error::damaged(&self.path, offset, "checksum does not fit"));
        }
        Ok(bytes)
    }
}

fn check_head(path: &Path, head: &[u8; 12]) -> Result<()> {
    if head[..8] != MAGIC {
        return Err(Error::new(path, ErrorKind::NotOurs { expected: "index" }));
    }
    let got = u32::from_le_bytes(head[8..].try_into().expect("four bytes"));
    if got == VERSION { Ok(()) } else { Err(Error::new(path, ErrorKind::Version { expected: VERSION, got })) }
}

fn footer_of(path: &Path, offset: u64, bytes: &[u8], digest: &[u8]) -> Result<Footer> {
    if xxh3_128(bytes).to_le_bytes() != digest {
        return Err(Error::damaged(path, offset, "checksum does not fit"));
    }
    postcard::from_bytes(bytes).map_err(|e| Error::damaged(path, offset, e))
}

fn whole(high: i64, low: i64) -> u128 {
    u128::from(high.cast_unsigned()) << 64 | u128::from(low.cast_unsigned())
}

/// The first bytes of an id.
fn start(id: u128) -> i64 {
    (id >> 96) as i64
}
