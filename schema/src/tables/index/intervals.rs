//! Intervals: how many requests of each type began in each stretch of time, and how long they took, in
//! all and on each node. There are three lengths, each a multiple of the one before it.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::bins::Bins;
use super::packed::ZSTD_LEVEL;

/// Lengths of intervals, µs; they begin at multiples of these since 1970. The lengths of the pieces
/// of time of a chart are multiples of one of them: five seconds, five minutes, four hours.
pub const LENGTHS_US: [i64; 3] = [5_000_000, 300_000_000, 14_400_000_000];
/// Rows that have to be counted in a cell, a type or a node of a type in an interval, on average:
/// where there are fewer, the rows are as quickly read.
const ROWS_OF_CELL_MIN: usize = 4;
/// Bytes of intervals that are read together.
const CHUNK_BYTES: usize = 1 << 15;

/// What began in one stretch of time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// When it begins, µs since 1970.
    pub start_us: i64,
    /// The types that are there, by number.
    pub types: Vec<OfType>,
}

/// The requests of one type that began in one stretch of time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OfType {
    /// Number of the type in its file.
    pub request_type: u32,
    /// When the first of them began, µs after the interval.
    pub first_us: u64,
    /// When the last of them began, µs after the interval.
    pub last_us: u64,
    /// How long they took.
    pub durations: Bins,
    /// How long they were on each node, by its number in its file.
    pub nodes: Vec<(u32, Bins)>,
}

/// Intervals that are read together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Chunk {
    /// When the first one begins, and the last one.
    pub(super) starts_us: (i64, i64),
    /// Where they stand in the file.
    pub(super) offset: u64,
    pub(super) n_bytes: u64,
    /// xxh3-64 of them.
    pub(super) sum: u64,
}

/// Intervals of the shortest length, while rows are added.
#[derive(Default)]
pub(super) struct Growing {
    intervals: BTreeMap<i64, BTreeMap<u32, Cell>>,
    n_rows: usize,
}

#[derive(Clone, Default)]
struct Cell {
    times_us: (i64, i64),
    durations: Bins,
    nodes: FxHashMap<u32, Bins>,
}

impl Cell {
    fn add_times(&mut self, (first, last): (i64, i64)) {
        let (from, to) = if self.durations.n() == 0 { (first, last) } else { self.times_us };
        self.times_us = (from.min(first), to.max(last));
    }
}

impl Growing {
    /// Adds a request of a type, and how long it was on which nodes.
    pub(super) fn add(
        &mut self,
        (start_us, duration_us): (i64, i64),
        request_type: u32,
        nodes: &[(u32, i64)],
    ) {
        let cell = self.intervals.entry(begin(start_us, 0)).or_default().entry(request_type).or_default();
        cell.add_times((start_us, start_us));
        cell.durations.add(duration_us);
        nodes.iter().for_each(|(node, us)| cell.nodes.entry(*node).or_default().add(*us));
        self.n_rows += 1;
    }

    /// Appends the intervals of each length to `out`, and says where they stand; none of a length
    /// that has nearly as many cells as there are requests.
    pub(super) fn finish(mut self, out: &mut Vec<u8>) -> Vec<Option<Vec<Chunk>>> {
        let of_length = |length: usize| {
            if length > 0 {
                self.intervals = self.longer(length);
            }
            let cells = self.intervals.values().flat_map(BTreeMap::values);
            let n_cells: usize = cells.map(|cell| 1 + cell.nodes.len()).sum();
            (n_cells * ROWS_OF_CELL_MIN <= self.n_rows).then(|| self.write(out))
        };
        (0..LENGTHS_US.len()).map(of_length).collect()
    }

    /// The same in intervals of another length.
    fn longer(&self, length: usize) -> BTreeMap<i64, BTreeMap<u32, Cell>> {
        let mut longer: BTreeMap<i64, BTreeMap<u32, Cell>> = BTreeMap::new();
        for (start_us, types) in &self.intervals {
            let into = longer.entry(begin(*start_us, length)).or_default();
            for (request_type, cell) in types {
                let into = into.entry(*request_type).or_default();
                into.add_times(cell.times_us);
                into.durations.merge(&cell.durations);
                cell.nodes.iter().for_each(|(node, bins)| into.nodes.entry(*node).or_default().merge(bins));
            }
        }
        longer
    }

    fn write(&self, out: &mut Vec<u8>) -> Vec<Chunk> {
        let mut chunks: Vec<Chunk> = Vec::new();
        let mut bytes = Vec::new();
        let mut starts_us: Option<(i64, i64)> = None;
        for (start_us, types) in &self.intervals {
            let types = types.iter().map(|(number, cell)| of_type(*start_us, *number, cell)).collect();
            let interval = Interval { start_us: *start_us, types };
            bytes.extend(postcard::to_stdvec(&interval).expect("plain values"));
            starts_us = Some((starts_us.map_or(*start_us, |(first, _)| first), *start_us));
            if bytes.len() >= CHUNK_BYTES {
                chunks.extend(starts_us.take().map(|starts_us| chunk(starts_us, &bytes, out)));
                bytes.clear();
            }
        }
        chunks.extend(starts_us.map(|starts_us| chunk(starts_us, &bytes, out)));
        chunks
    }
}

fn of_type(start_us: i64, request_type: u32, cell: &Cell) -> OfType {
    let mut nodes: Vec<(u32, Bins)> = cell.nodes.iter().map(|(node, bins)| (*node, bins.clone())).collect();
    nodes.sort_unstable_by_key(|(node, _)| *node);
    let after = |us: i64| us.wrapping_sub(start_us).cast_unsigned();
    let (first, last) = cell.times_us;
    let durations = cell.durations.clone();
    OfType { request_type, first_us: after(first), last_us: after(last), durations, nodes }
}

fn chunk(starts_us: (i64, i64), bytes: &[u8], out: &mut Vec<u8>) -> Chunk {
    let offset = out.len();
    out.extend(zstd::bulk::compress(bytes, ZSTD_LEVEL).expect("memory is enough for a chunk"));
    let bytes = &out[offset..];
    Chunk { starts_us, offset: offset as u64, n_bytes: bytes.len() as u64, sum: xxh3_64(bytes) }
}

/// When the interval begins in which a time lies.
fn begin(us: i64, length: usize) -> i64 {
    us.saturating_sub(us.rem_euclid(LENGTHS_US[length]))
}
