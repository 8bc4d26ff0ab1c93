//! A list of requests, the first ones by some column. The blocks that can hold the first are read
//! before others, and of those that cannot hold any before the last one listed, nothing is read that the
//! conditions do not need.

use std::collections::BTreeMap;

use crate::error::{Result, bail};
use rayon::prelude::*;
use schema::tables::index::{BLOCK_ROWS, Column};
use serde::Serialize;

use super::chosen::{Block, Chosen};
use crate::table::indexed::Indexes;

/// Requests that a list can begin behind: so many are held to find those that come first.
const BEFORE_MAX: usize = 1_000_000;

/// In which order requests are listed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sort {
    pub(super) column: Column,
    pub(super) is_ascending: bool,
}

/// A request by its file, among those of the table, and its row there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Row {
    pub(super) file: usize,
    pub(super) row: usize,
}

impl Row {
    fn block(self) -> (usize, usize) {
        (self.file, self.row / BLOCK_ROWS)
    }
}

/// A list of requests as the page shows it.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct RequestList {
    /// Chosen ones.
    pub(super) n: usize,
    pub(super) requests: Vec<ListedRequest>,
    /// A query for the same.
    pub(super) sql: String,
}

/// A request of a list.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename = "Listed"))]
pub(super) struct ListedRequest {
    id: String,
    #[serde(rename = "type")]
    request_type: String,
    start: i64,
    duration: i64,
    n_nodes: i64,
    n_spans: i64,
    n_events: i64,
    flags: Vec<String>,
}

impl ListedRequest {
    pub(super) fn new(indexes: &Indexes, of: Listed) -> Self {
        Self {
            id: format!("{:032x}", of.id),
            request_type: indexes.types[of.request_type as usize].to_string(),
            start: of.start_us,
            duration: of.duration_us,
            n_nodes: of.n_nodes,
            n_spans: of.n_spans,
            n_events: of.n_events,
            flags: of.flags,
        }
    }
}

/// What a list tells of a request.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Listed {
    pub(super) id: u128,
    pub(super) request_type: u32,
    pub(super) start_us: i64,
    pub(super) duration_us: i64,
    pub(super) n_nodes: i64,
    pub(super) n_spans: i64,
    pub(super) n_events: i64,
    pub(super) flags: Vec<String>,
}

impl Sort {
    /// The least key of a request of a block comes first.
    fn key(self, value: i64) -> i64 {
        // Of all numbers the complement stands in the opposite order.
        if self.is_ascending { value } else { !value }
    }

    fn best(self, (min, max): (i64, i64)) -> i64 {
        self.key(if self.is_ascending { min } else { max })
    }
}

/// How many are chosen, and those of them that stand at `offset` and later, `limit` at most.
pub(super) fn list(
    chosen: &Chosen<'_>,
    sort: Sort,
    (offset, limit): (usize, usize),
) -> Result<(usize, Vec<Row>)> {
    let n_at_most = chosen.n_at_most();
    if (BEFORE_MAX + 1..n_at_most).contains(&offset) {
        bail!("a list begins behind {BEFORE_MAX} requests at most: choose times, or another order");
    }
    // Behind all of them there is nothing to be listed.
    let until = if offset < n_at_most { offset.saturating_add(limit).min(n_at_most) } else { 0 };
    let bounds =
        |(file, block): &(usize, usize)| chosen.indexes.files[*file].index.bounds(*block, sort.column);
    let mut blocks: Vec<(i64, (usize, usize))> =
        chosen.blocks().into_iter().map(|block| (sort.best(bounds(&block)), block)).collect();
    blocks.sort_unstable();
    // The key of the last one of enough that were found.
    let (mut first, mut n, mut last) = (Vec::new(), 0, None);
    // Together so many that all cores are at work, and few enough that the first ones spare the rest.
    for blocks in blocks.chunks(2 * rayon::current_num_threads()) {
        let of_block = |(best, (file, block)): &(i64, (usize, usize))| {
            let is_late = until == 0 || last.is_some_and(|last| *best > last);
            keys(chosen, (*file, *block), sort, is_late)
        };
        let found: Vec<(usize, Vec<(i64, Row)>)> = blocks.par_iter().map(of_block).collect::<Result<_>>()?;
        for (n_of_block, keys) in found {
            n += n_of_block;
            first.extend(keys);
        }
        if until > 0 && first.len() >= 2 * until {
            last = Some(first.select_nth_unstable(until - 1).1.0);
            first.truncate(until);
        }
    }
    first.sort_unstable();
    first.truncate(until);
    let rows = first.into_iter().skip(offset).map(|(_, row)| row).collect();
    Ok((n, rows))
}

/// How many of a block are chosen, and their keys unless it `is_late`.
fn keys(
    chosen: &Chosen<'_>,
    (file, number): (usize, usize),
    sort: Sort,
    is_late: bool,
) -> Result<(usize, Vec<(i64, Row)>)> {
    let block = Block::new(chosen.indexes, file, number);
    let rows = chosen.rows(&block)?;
    if is_late || rows.len() == 0 {
        return Ok((rows.len(), Vec::new()));
    }
    let values = block.column(sort.column)?;
    let key = |row: usize| (sort.key(values[row]), Row { file, row: number * BLOCK_ROWS + row });
    Ok((rows.len(), rows.iter().map(key).collect()))
}

/// What a list tells of `rows`, in their order.
pub(super) fn listed(indexes: &Indexes, rows: &[Row]) -> Result<Vec<Listed>> {
    let mut by_block: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
    for (at, row) in rows.iter().enumerate() {
        by_block.entry(row.block()).or_default().push(at);
    }
    let of_block = |((file, number), places): (&(usize, usize), &Vec<usize>)| {
        let block = Block::new(indexes, *file, *number);
        let listed = |at: &usize| Ok((*at, one(&block, rows[*at].row % BLOCK_ROWS)?));
        places.iter().map(listed).collect::<Result<Vec<_>>>()
    };
    let found: Vec<Vec<(usize, Listed)>> = by_block.par_iter().map(of_block).collect::<Result<_>>()?;
    let mut found = found.concat();
    found.sort_unstable_by_key(|(at, _)| *at);
    Ok(found.into_iter().map(|(_, listed)| listed).collect())
}

fn one(block: &Block<'_>, row: usize) -> Result<Listed> {
    let value = |column| Ok::<_, crate::error::Error>(block.column(column)?[row]);
    let half = |column| Ok::<_, crate::error::Error>(u128::from(value(column)?.cast_unsigned()));
    let bits = value(Column::Flags)?;
    let flags = block.of.index.flags().iter().enumerate().filter(|(bit, _)| bits >> bit & 1 == 1);
    Ok(Listed {
        id: half(Column::IdHigh)? << 64 | half(Column::IdLow)?,
        request_type: block.of.types[value(Column::Type)? as usize],
        start_us: value(Column::Start)?,
        duration_us: value(Column::Duration)?,
        n_nodes: value(Column::Nodes)?,
        n_spans: value(Column::Spans)?,
        n_events: value(Column::Events)?,
        flags: flags.map(|(_, name)| name.clone()).collect(),
    })
}
