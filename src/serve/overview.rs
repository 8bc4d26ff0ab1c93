//! The overview: how many requests there were at each time and how long they took, by type and by
//! node, and all of them by time and duration. A first walk over the chosen requests tells when they
//! were and which types and nodes have most of them, a second one puts each into its cell, a piece of
//! time and a type or node. What a request did on a node counts where the request begins.
//!
//! Every request counts. Of few requests the quantiles are exact; of more, durations are told apart by
//! the ranges of [`Bins`] only, and where nothing but times and types were asked for, the intervals of the
//! indexes are walked over, and rows only before and after whole intervals.

use crate::error::Result;
use schema::tables::Text;
use schema::tables::index::{BINS_OF_DOUBLING, Bins, Column, ERROR, LENGTHS_US, bin_of, least_of};
use serde::Serialize;

use super::chosen::{Chosen, Found};

/// Requests of which the quantiles are exact.
const EXACT_MAX: usize = 1 << 18;
/// Types and nodes that have series of their own, those with most requests; the others are one.
const SERIES_MAX: usize = 8;
/// Ranges of durations that are one row of the heat map: it has two for each doubling.
const BINS_OF_ROW: usize = BINS_OF_DOUBLING / 2;
/// Lengths of the pieces of time, µs: round in the units that people count in.
const ROUND_US: [i64; 30] = [
    1,
    10,
    100,
    1_000,
    2_000,
    5_000,
    10_000,
    20_000,
    50_000,
    100_000,
    200_000,
    500_000,
    1_000_000,
    2_000_000,
    5_000_000,
    10_000_000,
    15_000_000,
    30_000_000,
    60_000_000,
    120_000_000,
    300_000_000,
    600_000_000,
    900_000_000,
    1_800_000_000,
    3_600_000_000,
    7_200_000_000,
    14_400_000_000,
    28_800_000_000,
    43_200_000_000,
    86_400_000_000,
];

/// The overview of some requests.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct Overview {
    /// Start of the first piece of time, µs since 1970.
    from: i64,
    /// Length of a piece, µs.
    step: i64,
    /// Pieces.
    n_steps: usize,
    /// Requests.
    n: u64,
    /// By type, most first.
    types: Vec<Series>,
    /// By node, most first.
    nodes: Vec<Series>,
    heat: Heat,
    /// What quantiles can be off, as a part of them; none: they are exact.
    error: Option<f64>,
}

/// One line of a chart.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Series {
    name: String,
    /// Of all times.
    total: Cell,
    /// By piece of time.
    cells: Vec<Cell>,
}

/// Durations of some requests: how many, and quantiles in µs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Cell {
    n: u64,
    p50: Option<i64>,
    p99: Option<i64>,
    max: Option<i64>,
}

/// Requests by time and duration.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Heat {
    /// Least duration of each row, µs.
    rows: Vec<i64>,
    /// By piece of time, by row.
    counts: Vec<Vec<u32>>,
}

/// Durations that are put together.
trait Durations: Clone + Default + Send {
    fn add(&mut self, us: i64);
    fn add_bins(&mut self, bins: &Bins);
    fn merge(&mut self, other: &Self);
    fn cell(&mut self) -> Cell;
    /// Tells how many there are in which row of the heat map.
    fn each_row(&self, take: &mut dyn FnMut(usize, u32));
}

/// How the durations of many requests are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// One by one.
    Exact,
    /// By ranges, of rows.
    Rows,
    /// By ranges, of intervals where they are.
    Intervals,
}

/// When the chosen requests were, and how many of each type, and on each node.
#[derive(Default)]
struct Totals {
    n: u64,
    times_us: Option<(i64, i64)>,
    of_type: Vec<u64>,
    of_node: Vec<u64>,
}

/// Of the `chosen` requests, in about `n_steps` pieces of time.
pub(super) fn overview(chosen: &Chosen<'_>, n_steps: usize) -> Result<Overview> {
    let way = match chosen.n_at_most() {
        n if n <= EXACT_MAX => Way::Exact,
        _ if chosen.are_of_intervals() => Way::Intervals,
        _ => Way::Rows,
    };
    overview_by(chosen, n_steps, way)
}

fn overview_by(chosen: &Chosen<'_>, n_steps: usize, way: Way) -> Result<Overview> {
    let n_steps = n_steps.clamp(1, 1_000) as i64;
    // Blocks say about when all is, and so which intervals the answer will be of, at the least.
    let (first, last) = about_when(chosen);
    let totals = totals(chosen, length_of(pieces(first, last, n_steps).1, way))?;
    let (first, last) = totals.times_us.unwrap_or_default();
    let (from, step, n_steps) = pieces(first, last, n_steps);
    let time = Pieces { from, step, n_steps, length: length_of(step, way) };
    let found = match way {
        Way::Exact => charts::<Vec<i64>>(chosen, &totals, &time)?,
        Way::Rows | Way::Intervals => charts::<Bins>(chosen, &totals, &time)?,
    };
    let error = (way != Way::Exact).then_some(ERROR);
    let Charts { types, nodes, heat } = found;
    Ok(Overview { from, step, n_steps, n: totals.n, types, nodes, heat, error })
}

/// Start, length and number of about `n` round pieces of time that hold both.
fn pieces(first: i64, last: i64, n: i64) -> (i64, i64, usize) {
    let day = ROUND_US[ROUND_US.len() - 1];
    let least = last.saturating_sub(first) / n + 1;
    let step = ROUND_US.into_iter().find(|us| *us >= least).unwrap_or(((least + day - 1) / day) * day);
    let from = first.div_euclid(step) * step;
    (from, step, usize::try_from((last - from) / step + 1).unwrap_or(1))
}

/// Pieces of time, and the length of the intervals that they are made of; none: they are made of rows.
struct Pieces {
    from: i64,
    step: i64,
    n_steps: usize,
    length: Option<usize>,
}

impl Pieces {
    fn of(&self, us: i64) -> usize {
        usize::try_from((us - self.from).div_euclid(self.step)).unwrap_or(0).min(self.n_steps - 1)
    }
}

/// The longest intervals of which pieces of this length are made.
fn length_of(step: i64, way: Way) -> Option<usize> {
    let lengths = LENGTHS_US.iter().rposition(|us| step % us == 0);
    lengths.filter(|_| way == Way::Intervals)
}

/// Times between which all chosen requests begin.
fn about_when(chosen: &Chosen<'_>) -> (i64, i64) {
    let bounds = chosen.blocks().into_iter().map(|(file, block)| {
        let (first, last) = chosen.indexes.files[file].index.bounds(block, Column::Start);
        (first.max(chosen.starts_us.start), last.min(chosen.starts_us.end.saturating_sub(1)))
    });
    bounds.reduce(|(from, to), (first, last)| (from.min(first), to.max(last))).unwrap_or_default()
}

fn totals(chosen: &Chosen<'_>, length: Option<usize>) -> Result<Totals> {
    let empty = || Totals {
        of_type: vec![0; chosen.indexes.types.len()],
        of_node: vec![0; chosen.indexes.nodes.len()],
        ..Totals::default()
    };
    let add = |totals: &mut Totals, found: &Found<'_, '_>| {
        match found {
            Found::Rows(block, rows) => {
                let (starts, types) = (block.column(Column::Start)?, block.column(Column::Type)?);
                for row in rows.iter() {
                    totals.add((starts[row], starts[row]), block.of.types[types[row] as usize], 1);
                }
                block.each_node(rows, &mut |_, node, _| {
                    totals.of_node[block.of.nodes[node] as usize] += 1;
                })?;
            }
            Found::Interval(of, interval) => {
                for found in &interval.types {
                    let time = |us: u64| interval.start_us.wrapping_add_unsigned(us);
                    let number = of.types[found.request_type as usize];
                    totals.add((time(found.first_us), time(found.last_us)), number, found.durations.n());
                    for (node, bins) in &found.nodes {
                        totals.of_node[of.nodes[*node as usize] as usize] += bins.n();
                    }
                }
            }
        }
        Ok(())
    };
    chosen.fold(length, empty, add, Totals::merge)
}

impl Totals {
    fn add(&mut self, (first, last): (i64, i64), request_type: u32, n: u64) {
        let (from, to) = self.times_us.unwrap_or((first, last));
        self.times_us = Some((from.min(first), to.max(last)));
        self.of_type[request_type as usize] += n;
        self.n += n;
    }

    fn merge(&mut self, other: Self) {
        let Some((first, last)) = other.times_us else { return };
        let (from, to) = self.times_us.unwrap_or((first, last));
        self.times_us = Some((from.min(first), to.max(last)));
        self.n += other.n;
        let add = |to: &mut [u64], more: &[u64]| to.iter_mut().zip(more).for_each(|(n, more)| *n += more);
        add(&mut self.of_type, &other.of_type);
        add(&mut self.of_node, &other.of_node);
    }
}

/// Which series each of some numbers is in, and what the series are called: those with most requests
/// have one of their own, the others are one.
struct Shares {
    series_of: Vec<usize>,
    names: Vec<String>,
}

impl Shares {
    fn new(n_of: &[u64], names: &[Text]) -> Self {
        let mut most: Vec<usize> = (0..n_of.len()).filter(|number| n_of[*number] > 0).collect();
        most.sort_by_key(|number| (std::cmp::Reverse(n_of[*number]), *number));
        let n_own = if most.len() > SERIES_MAX + 1 { SERIES_MAX } else { most.len() };
        let mut series_of = vec![0; n_of.len()];
        most.iter().enumerate().for_each(|(place, number)| series_of[*number] = place.min(n_own));
        let mut own: Vec<String> = most[..n_own].iter().map(|number| names[*number].to_string()).collect();
        if n_own < most.len() {
            own.push(format!("{} others", most.len() - n_own));
        }
        Self { series_of, names: own }
    }
}

/// What the charts show.
struct Charts {
    types: Vec<Series>,
    nodes: Vec<Series>,
    heat: Heat,
}

/// Durations by series and piece of time, of types and of nodes.
struct Cells<D>([Vec<D>; 2]);

fn charts<D: Durations>(chosen: &Chosen<'_>, totals: &Totals, time: &Pieces) -> Result<Charts> {
    let types = Shares::new(&totals.of_type, &chosen.indexes.types);
    let nodes = Shares::new(&totals.of_node, &chosen.indexes.nodes);
    let cells = |shares: &Shares| vec![D::default(); shares.names.len() * time.n_steps];
    let empty = || Cells([cells(&types), cells(&nodes)]);
    let add = |Cells([of_types, of_nodes]): &mut Cells<D>, found: &Found<'_, '_>| {
        match found {
            Found::Rows(block, rows) => {
                let starts = block.column(Column::Start)?;
                let (numbers, durations) = (block.column(Column::Type)?, block.column(Column::Duration)?);
                for row in rows.iter() {
                    let series = types.series_of[block.of.types[numbers[row] as usize] as usize];
                    of_types[series * time.n_steps + time.of(starts[row])].add(durations[row]);
                }
                block.each_node(rows, &mut |row, node, us| {
                    let series = nodes.series_of[block.of.nodes[node] as usize];
                    of_nodes[series * time.n_steps + time.of(starts[row])].add(us);
                })?;
            }
            Found::Interval(of, interval) => {
                let piece = time.of(interval.start_us);
                for found in &interval.types {
                    let series = types.series_of[of.types[found.request_type as usize] as usize];
                    of_types[series * time.n_steps + piece].add_bins(&found.durations);
                    for (node, bins) in &found.nodes {
                        let series = nodes.series_of[of.nodes[*node as usize] as usize];
                        of_nodes[series * time.n_steps + piece].add_bins(bins);
                    }
                }
            }
        }
        Ok(())
    };
    let merge = |all: &mut Cells<D>, part: Cells<D>| {
        for (cells, more) in all.0.iter_mut().zip(part.0) {
            cells.iter_mut().zip(&more).for_each(|(cell, more)| cell.merge(more));
        }
    };
    let Cells([of_types, of_nodes]) = chosen.fold(time.length, empty, add, merge)?;
    let heat = heat(&of_types, time.n_steps);
    let (types, nodes) = (series(types, of_types, time.n_steps), series(nodes, of_nodes, time.n_steps));
    Ok(Charts { types, nodes, heat })
}

fn series<D: Durations>(shares: Shares, mut cells: Vec<D>, n_steps: usize) -> Vec<Series> {
    let named = |(name, cells): (String, &mut [D])| {
        let mut total = D::default();
        cells.iter().for_each(|cell| total.merge(cell));
        Series { name, total: total.cell(), cells: cells.iter_mut().map(D::cell).collect() }
    };
    shares.names.into_iter().zip(cells.chunks_mut(n_steps)).map(named).collect()
}

/// Of all types together.
fn heat<D: Durations>(cells: &[D], n_steps: usize) -> Heat {
    let mut counts: Vec<Vec<u32>> = vec![Vec::new(); n_steps];
    for (at, cell) in cells.iter().enumerate() {
        let of_piece = &mut counts[at % n_steps];
        cell.each_row(&mut |row, n| {
            of_piece.resize(of_piece.len().max(row + 1), 0);
            of_piece[row] += n;
        });
    }
    let n_rows = counts.iter().map(Vec::len).max().unwrap_or(0).max(1);
    counts.iter_mut().for_each(|of_piece| of_piece.resize(n_rows, 0));
    Heat { rows: (0..n_rows).map(least_of_row).collect(), counts }
}

/// The row of the heat map of a range: 0 for less than a microsecond.
fn row_of(bin: usize) -> usize {
    bin.checked_sub(1).map_or(0, |at| 1 + at / BINS_OF_ROW)
}

/// The least duration of a row, µs.
fn least_of_row(row: usize) -> i64 {
    row.checked_sub(1).map_or(0, |at| least_of(1 + at * BINS_OF_ROW))
}

impl Durations for Vec<i64> {
    fn add(&mut self, us: i64) {
        self.push(us);
    }

    fn add_bins(&mut self, _: &Bins) {
        unreachable!("what is exact is made of rows");
    }

    fn merge(&mut self, other: &Self) {
        self.extend(other);
    }

    /// Quantiles by the nearest rank.
    fn cell(&mut self) -> Cell {
        if self.is_empty() {
            return Cell::default();
        }
        let mut at = |percent: usize| {
            let rank = (self.len() * percent).div_ceil(100).clamp(1, self.len()) - 1;
            Some(*self.select_nth_unstable(rank).1)
        };
        let (p50, p99) = (at(50), at(99));
        Cell { n: self.len() as u64, p50, p99, max: self.iter().max().copied() }
    }

    fn each_row(&self, take: &mut dyn FnMut(usize, u32)) {
        self.iter().for_each(|us| take(row_of(bin_of(*us)), 1));
    }
}

impl Durations for Bins {
    fn add(&mut self, us: i64) {
        Self::add(self, us);
    }

    fn add_bins(&mut self, bins: &Bins) {
        Self::merge(self, bins);
    }

    fn merge(&mut self, other: &Self) {
        Self::merge(self, other);
    }

    fn cell(&mut self) -> Cell {
        Cell { n: self.n(), p50: self.quantile(50), p99: self.quantile(99), max: self.max() }
    }

    fn each_row(&self, take: &mut dyn FnMut(usize, u32)) {
        self.counts().for_each(|(bin, n)| take(row_of(bin), n));
    }
}

#[cfg(test)]
mod tests;
