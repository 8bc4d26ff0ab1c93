//! The overview: how many requests there were at each time and how long they took, by type and by
//! node, and all of them by time and duration. Every request counts and quantiles are exact: two
//! walks over the columns put each into its cell, a time and a type, of one array.

use rayon::prelude::*;
use serde::Serialize;

use super::requests::Columns;

/// Types and nodes that have series of their own, those with most requests; the others are one.
const SERIES_MAX: usize = 8;
/// Rows of the heat map for each doubling of the duration.
const ROWS_OF_DOUBLING: usize = 2;
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
}

/// One line of a chart.
#[derive(Debug, Serialize)]
struct Series {
    name: String,
    /// Of all times.
    total: Cell,
    /// By piece of time.
    cells: Vec<Cell>,
}

/// Durations of some requests: how many, and quantiles in µs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
struct Cell {
    n: u64,
    p50: Option<i64>,
    p99: Option<i64>,
    max: Option<i64>,
}

/// Requests by time and duration.
#[derive(Debug, Serialize)]
struct Heat {
    /// Least duration of each row, µs.
    rows: Vec<i64>,
    /// By piece of time, by row.
    counts: Vec<Vec<u32>>,
}

/// Of the `chosen` requests of `columns`, in about `n_steps` pieces of time.
pub(super) fn overview(columns: &Columns, chosen: &[bool], n_steps: usize) -> Overview {
    let rows = || (0..columns.len()).filter(|row| chosen[*row]);
    let extent = rows().map(|row| columns.starts_us[row]).fold(None, |extent: Option<(i64, i64)>, us| {
        let (from, to) = extent.unwrap_or((us, us));
        Some((from.min(us), to.max(us)))
    });
    let (first, last) = extent.unwrap_or_default();
    let (from, step, n_steps) = pieces(first, last, n_steps.clamp(1, 1_000) as i64);
    let piece = |us: i64| usize::try_from((us - from).div_euclid(step)).unwrap_or(0).min(n_steps - 1);
    let by_type = || {
        let found = rows().map(|row| (columns.types[row], piece(columns.starts_us[row])));
        series(found, rows().map(|row| columns.durations_us[row]), &columns.type_names, n_steps)
    };
    let by_node = || {
        let on_nodes = || columns.on_nodes.iter().filter(|on| chosen[on.request as usize]);
        let found = on_nodes().map(|on| (on.node, piece(on.start_us.clamp(first, last))));
        series(found, on_nodes().map(|on| on.duration_us), &columns.node_names, n_steps)
    };
    let by_duration = || {
        let found = || rows().map(|row| (piece(columns.starts_us[row]), columns.durations_us[row]));
        let longest = found().map(|(_, us)| us).max().unwrap_or(0);
        let mut heat = Heat { rows: (0..=row_of(longest)).map(least_of).collect(), counts: Vec::new() };
        heat.counts = vec![vec![0; heat.rows.len()]; n_steps];
        found().for_each(|(piece, us)| heat.counts[piece][row_of(us)] += 1);
        heat
    };
    let (nodes, (types, heat)) = rayon::join(by_node, || rayon::join(by_type, by_duration));
    Overview { from, step, n_steps, n: rows().count() as u64, types, nodes, heat }
}

/// Start, length and number of about `n` round pieces of time that hold both.
fn pieces(first: i64, last: i64, n: i64) -> (i64, i64, usize) {
    let day = ROUND_US[ROUND_US.len() - 1];
    let least = last.saturating_sub(first) / n + 1;
    let step = ROUND_US.into_iter().find(|us| *us >= least).unwrap_or(((least + day - 1) / day) * day);
    let from = first.div_euclid(step) * step;
    (from, step, usize::try_from((last - from) / step + 1).unwrap_or(1))
}

/// The row of the heat map of a duration: 0 for less than a microsecond.
fn row_of(us: i64) -> usize {
    let Some(us) = u64::try_from(us).ok().filter(|us| *us > 0) else { return 0 };
    let doubling = us.ilog2() as usize;
    1 + ROWS_OF_DOUBLING * doubling + usize::from(us >= half_way(doubling))
}

/// The least duration of a row, µs.
fn least_of(row: usize) -> i64 {
    let Some(at) = row.checked_sub(1) else { return 0 };
    let (doubling, half) = (at / ROWS_OF_DOUBLING, at % ROWS_OF_DOUBLING);
    let least = if half == 0 { 1_u64 << doubling } else { half_way(doubling) };
    i64::try_from(least).unwrap_or(i64::MAX)
}

/// Where the second half of a doubling begins, on a scale of logarithms.
fn half_way(doubling: usize) -> u64 {
    ((1_u64 << doubling) as f64 * std::f64::consts::SQRT_2).ceil() as u64
}

/// Series of numbers with most requests, by `names`; the others together. `found` are numbers and
/// pieces of time, which took `durations_us`.
fn series(
    found: impl Iterator<Item = (u32, usize)>,
    durations_us: impl Iterator<Item = i64>,
    names: &[schema::tables::Text],
    n_steps: usize,
) -> Vec<Series> {
    let cells: Vec<u32> = found.map(|(number, piece)| number * n_steps as u32 + piece as u32).collect();
    let mut n_of_cell = vec![0_usize; names.len() * n_steps];
    cells.iter().for_each(|&cell| n_of_cell[cell as usize] += 1);
    let n_of = |number: &usize| n_of_cell[number * n_steps..][..n_steps].iter().sum::<usize>();
    let mut most: Vec<usize> = (0..names.len()).filter(|number| n_of(number) > 0).collect();
    most.sort_by_cached_key(|number| (std::cmp::Reverse(n_of(number)), *number));
    let n_own = if most.len() > SERIES_MAX + 1 { SERIES_MAX } else { most.len() };
    let n_series = n_own + usize::from(n_own < most.len());
    // The durations of a piece of a series stand together, and so do the pieces of a series.
    let mut n_of_piece = vec![0; n_series * n_steps];
    for (place, number) in most.iter().enumerate() {
        let of_series = &mut n_of_piece[place.min(n_own) * n_steps..][..n_steps];
        of_series.iter_mut().zip(&n_of_cell[number * n_steps..]).for_each(|(n, more)| *n += more);
    }
    let mut begins = Vec::with_capacity(n_of_piece.len());
    let mut n_before = 0;
    for n in &n_of_piece {
        begins.push(n_before);
        n_before += n;
    }
    let mut series_of = vec![0; names.len()];
    most.iter().enumerate().for_each(|(place, &number)| series_of[number] = place.min(n_own));
    let mut durations = vec![0; n_before];
    for (cell, us) in cells.into_iter().zip(durations_us) {
        let (number, piece) = (cell as usize / n_steps, cell as usize % n_steps);
        let begin = &mut begins[series_of[number] * n_steps + piece];
        durations[*begin] = us;
        *begin += 1;
    }
    let mut rest = durations.as_mut_slice();
    let mut of_series = Vec::with_capacity(n_series);
    for n_of_pieces in n_of_piece.chunks(n_steps) {
        let (these, others) = rest.split_at_mut(n_of_pieces.iter().sum());
        of_series.push((these, n_of_pieces));
        rest = others;
    }
    let named = |(place, (durations, n_of_pieces)): (usize, (&mut [i64], &[usize]))| {
        let name = match most.get(place) {
            Some(&number) if place < n_own => names[number].to_string(),
            _ => format!("{} others", most.len() - n_own),
        };
        let cells = cells_of(durations, n_of_pieces);
        Series { name, cells, total: cell(durations) }
    };
    of_series.into_par_iter().enumerate().map(named).collect()
}

/// A cell of each of the pieces, which have so many durations each.
fn cells_of(durations: &mut [i64], n_of_pieces: &[usize]) -> Vec<Cell> {
    let mut rest = durations;
    let mut cells = Vec::with_capacity(n_of_pieces.len());
    for &n in n_of_pieces {
        let (these, others) = rest.split_at_mut(n);
        cells.push(cell(these));
        rest = others;
    }
    cells
}

/// Quantiles by the nearest rank.
fn cell(us: &mut [i64]) -> Cell {
    if us.is_empty() {
        return Cell::default();
    }
    let mut at = |percent: usize| {
        let rank = (us.len() * percent).div_ceil(100).clamp(1, us.len()) - 1;
        Some(*us.select_nth_unstable(rank).1)
    };
    let (p50, p99) = (at(50), at(99));
    Cell { n: us.len() as u64, p50, p99, max: us.iter().max().copied() }
}

#[cfg(test)]
mod tests {
    use super::{Cell, cell, least_of, pieces, row_of, series};

    #[test]
    fn quantiles_are_of_the_nearest_rank() {
        let mut us: Vec<i64> = (1..=200).rev().collect();
        assert_eq!(cell(&mut us), Cell { n: 200, p50: Some(100), p99: Some(198), max: Some(200) });
        assert_eq!(cell(&mut [7]), Cell { n: 1, p50: Some(7), p99: Some(7), max: Some(7) });
        assert_eq!(cell(&mut []), Cell::default());
    }

    #[test]
    fn pieces_are_round_and_hold_all() {
        assert_eq!(pieces(0, 0, 100), (0, 1, 1));
        assert_eq!(pieces(1_234_567, 61_234_567, 60), (0, 2_000_000, 31));
        let (from, step, n) = pieces(-5, 400 * 86_400_000_000, 100);
        assert!(from <= -5 && from + step * n as i64 > 400 * 86_400_000_000 && n <= 102, "{from} {step} {n}");
    }

    #[test]
    fn a_duration_lies_in_its_row() {
        for us in [0, 1, 2, 3, 5, 6, 90, 91, 1_000, 1_448_154, 1_448_155, 1 << 40] {
            let row = row_of(us);
            assert!(least_of(row) <= us && us < least_of(row + 1).max(least_of(row) + 1), "{us} {row}");
        }
    }

    #[test]
    fn those_with_few_requests_are_one() {
        let names: Vec<schema::tables::Text> = (0..12).map(|n| format!("t{n}").into()).collect();
        let found = || (0..12_u32).flat_map(|number| (0..=number).map(move |n| (number, n)));
        let all = series(
            found().map(|(number, n)| (number, n as usize % 2)),
            found().map(|(_, n)| n.into()),
            &names,
            2,
        );
        assert_eq!((all.len(), all[0].name.as_str(), all[8].name.as_str()), (9, "t11", "4 others"));
        assert_eq!((all[0].total.n, all[8].total.n), (12, 1 + 2 + 3 + 4));
        assert_eq!(all.iter().flat_map(|of| &of.cells).map(|cell| cell.n).sum::<u64>(), 78);
        // 0 to 11, of which every second one stands in the second piece.
        assert_eq!(
            (all[0].total.max, all[0].cells[0].max, all[0].cells[1].p50),
            (Some(11), Some(10), Some(5))
        );
        // 0, 0 1, 0 1 2, 0 1 2 3
        let others = Cell { n: 10, p50: Some(1), p99: Some(3), max: Some(3) };
        assert_eq!((all[8].total, all[8].cells[1].n), (others, 4));
    }
}
