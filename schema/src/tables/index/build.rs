//! An index made of the rows of a file of `requests` and of that of `request_nodes` beside it, which is
//! in the same order.

use std::path::Path;

use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_128;

use super::intervals::Growing;
use super::packed::Packed;
use super::{BLOCK_ROWS, Block, Column, Footer, IdPage, MAGIC, PAGE_IDS, VERSION, start};
use crate::error::{Error, Result};
use crate::tables::{Batches, RelationEnds, RequestNodeTime, RequestTotals, Text};

/// Flags that one file can have: they are bits of a number.
const FLAGS_MAX: usize = 63;

/// The bytes of the index, and its footer.
pub(super) fn of_rows(requests: &Path, nodes: Option<&Path>) -> Result<(Vec<u8>, Footer)> {
    let mut builder = Builder::new();
    let mut nodes = NodeRows { batches: nodes.map(Batches::open).transpose()?, rows: Vec::new().into_iter() };
    for rows in Batches::<RequestTotals>::open(requests)? {
        for row in rows? {
            builder.add(&row, &mut nodes)?;
        }
    }
    if builder.flags.names.len() > FLAGS_MAX {
        return Err(Error::damaged(requests, 0, format!("more than {FLAGS_MAX} different flags")));
    }
    match (nodes.next()?, nodes.batches.as_ref().map(Batches::path)) {
        (Some(_), Some(path)) => Err(Error::damaged(path, 0, "not in the order of the requests")),
        _ => Ok(builder.finish()),
    }
}

/// The bytes of the index of a file of `relations`, and its footer.
pub(super) fn of_relations(relations: &Path) -> Result<(Vec<u8>, Footer)> {
    let mut builder = Builder::new();
    for rows in Batches::<RelationEnds>::open(relations)? {
        for row in rows? {
            let number = builder.footer.n_rows as u32;
            for id in [&row.request_id, &row.other_id] {
                let id = builder.id(id);
                builder.ids.push((start(id) as u32, number));
            }
            builder.footer.n_rows += 1;
        }
    }
    Ok(builder.finish())
}

/// Rows of `request_nodes`, one after the other.
struct NodeRows {
    /// None: there is no such file.
    batches: Option<Batches<RequestNodeTime>>,
    rows: std::vec::IntoIter<RequestNodeTime>,
}

impl NodeRows {
    fn peek(&mut self) -> Result<Option<&RequestNodeTime>> {
        while self.rows.as_slice().is_empty() {
            match self.batches.as_mut().and_then(Iterator::next) {
                Some(rows) => self.rows = rows?.into_iter(),
                None => return Ok(None),
            }
        }
        Ok(self.rows.as_slice().first())
    }

    fn next(&mut self) -> Result<Option<RequestNodeTime>> {
        self.peek()?;
        Ok(self.rows.next())
    }
}

/// Names as numbers, in the order in which they come.
#[derive(Default)]
struct Names {
    numbers: FxHashMap<Text, u32>,
    names: Vec<String>,
}

impl Names {
    fn number(&mut self, name: &Text) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.names.len() as u32;
        self.numbers.insert(name.clone(), number);
        self.names.push(name.to_string());
        number
    }
}

struct Builder {
    out: Vec<u8>,
    footer: Footer,
    types: Names,
    nodes: Names,
    flags: Names,
    /// Of all rows the first bytes of the ids.
    ids: Vec<(u32, u32)>,
    /// Of the block that rows are added to.
    columns: [Vec<i64>; Column::ALL.len()],
    /// Spans and events of the blocks before it.
    n_before: (u64, u64),
    intervals: Growing,
}

impl Builder {
    fn new() -> Self {
        let mut out = MAGIC.to_vec();
        out.extend(VERSION.to_le_bytes());
        Self {
            out,
            footer: Footer { has_ids: true, ..Footer::default() },
            types: Names::default(),
            nodes: Names::default(),
            flags: Names::default(),
            ids: Vec::new(),
            columns: Default::default(),
            n_before: (0, 0),
            intervals: Growing::default(),
        }
    }

    fn add(&mut self, row: &RequestTotals, nodes: &mut NodeRows) -> Result<()> {
        let id = self.id(&row.request_id);
        let mut on_nodes = Vec::new();
        while nodes.peek()?.is_some_and(|on| on.request_id == row.request_id) {
            let on = nodes.next()?.expect("it was there");
            on_nodes.push((self.nodes.number(&on.node), on.end_ts.0.saturating_sub(on.start_ts.0)));
        }
        let request_type = self.types.number(&row.request_type);
        let bits = row.flags.iter().map(|flag| 1_i64.checked_shl(self.flags.number(flag)).unwrap_or(0));
        let flags = bits.fold(0, |all, bit| all | bit);
        let (high, low) = ((id >> 64) as u64, id as u64);
        self.ids.push((start(id) as u32, self.footer.n_rows as u32));
        self.footer.n_rows += 1;
        self.intervals.add((row.start_ts.0, row.duration_us), request_type, &on_nodes);
        for (column, value) in [
            (Column::Start, row.start_ts.0),
            (Column::Duration, row.duration_us),
            (Column::Type, i64::from(request_type)),
            (Column::Flags, flags),
            (Column::Nodes, row.n_nodes),
            (Column::Spans, row.n_spans.max(0)),
            (Column::Events, row.n_events.max(0)),
            (Column::OnNodes, on_nodes.len() as i64),
            (Column::IdHigh, high.cast_signed()),
            (Column::IdLow, low.cast_signed()),
        ] {
            self.columns[column as usize].push(value);
        }
        for (node, duration_us) in on_nodes {
            self.columns[Column::Node as usize].push(i64::from(node));
            self.columns[Column::NodeDuration as usize].push(duration_us);
        }
        if self.columns[Column::Start as usize].len() == BLOCK_ROWS {
            self.end_block();
        }
        Ok(())
    }

    /// The number that an id is; 0: it is none, and requests cannot be found by such ids.
    fn id(&mut self, id: &str) -> u128 {
        let is_digit = |b: u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
        self.footer.has_ids &= id.len() == 32 && id.bytes().all(is_digit);
        u128::from_str_radix(id, 16).unwrap_or_default()
    }

    fn end_block(&mut self) {
        let n = |column: Column| self.columns[column as usize].len() as u64;
        let total =
            |column: Column| self.columns[column as usize].iter().map(|n| n.unsigned_abs()).sum::<u64>();
        let (n_rows, n_on_nodes) = (n(Column::Start), n(Column::Node));
        let n_of = (total(Column::Spans), total(Column::Events));
        let (first_span, first_event) = self.n_before;
        let columns = self.columns.iter_mut().map(|values| {
            let packed = Packed::append(values, &mut self.out);
            values.clear();
            packed
        });
        let columns = columns.collect();
        self.footer.blocks.push(Block { n_rows, n_on_nodes, first_span, first_event, columns });
        self.n_before = (first_span + n_of.0, first_event + n_of.1);
    }

    fn finish(mut self) -> (Vec<u8>, Footer) {
        if !self.columns[0].is_empty() {
            self.end_block();
        }
        self.ids.sort_unstable();
        for page in self.ids.chunks(PAGE_IDS) {
            let (starts, rows): (Vec<i64>, Vec<i64>) =
                page.iter().map(|(start, row)| (i64::from(*start), i64::from(*row))).unzip();
            let [starts, rows] = [starts, rows].map(|values| Packed::append(&values, &mut self.out));
            self.footer.ids.push(IdPage { n: page.len() as u64, starts, rows });
        }
        self.footer.intervals = self.intervals.finish(&mut self.out);
        (self.footer.types, self.footer.nodes) = (self.types.names, self.nodes.names);
        self.footer.flags = self.flags.names;
        let footer = postcard::to_stdvec(&self.footer).expect("plain values");
        self.out.extend(&footer);
        self.out.extend((footer.len() as u64).to_le_bytes());
        self.out.extend(xxh3_128(&footer).to_le_bytes());
        (self.out, self.footer)
    }
}
