//! The profile of chosen requests: where their time goes, and what only the slow ones do. Of very many
//! only some are read, in runs that lie evenly over all of them, so that it can be asked for anything.

use std::ops::Range;

use rayon::prelude::*;
use schema::tables::index::BLOCK_ROWS;

use super::Served;
use super::chosen::{Block, Chosen};
use super::http::Answer;
use crate::page::profile::ProfileShown;
use crate::profile::code::Code;
use crate::profile::json::ReportJson;
use crate::profile::layers::Tails;
use crate::profile::report::{Limits, Report};
use crate::profile::table;

/// Requests that are read.
const READ_MAX: usize = 10_000;
/// Runs of requests that are read, of more than these.
const RUNS: usize = 20;
/// The slowest requests of each group that are its tail, in percent, and requests that a line must be
/// seen in: what `lprof profile` takes if it is told nothing else.
const TAIL_PERCENT: f64 = 10.0;
const SUPPORT: u64 = 5;

/// The profile of the `chosen` requests, which meet the condition `sql`.
pub(super) fn profile(
    served: &Served,
    chosen: &Chosen<'_>,
    sql: Option<String>,
) -> Result<ProfileShown, Answer> {
    let blocks = chosen.blocks();
    let rows = |(file, number): (usize, usize)| chosen.rows(&Block::new(chosen.indexes, file, number));
    let n_of: Vec<usize> =
        blocks.par_iter().map(|block| Ok(rows(*block)?.len())).collect::<anyhow::Result<_>>()?;
    let n: usize = n_of.iter().sum();
    let mut wanted = runs(n, READ_MAX, RUNS).into_iter().flatten().peekable();
    let mut places = vec![Vec::new(); chosen.indexes.files.len()];
    let mut first = 0;
    for (block, n) in blocks.into_iter().zip(n_of) {
        let until = first + n;
        if wanted.peek().is_some_and(|next| *next < until) {
            let rows: Vec<usize> = rows(block)?.iter().map(|row| block.1 * BLOCK_ROWS + row).collect();
            let of_block = std::iter::from_fn(|| wanted.next_if(|next| *next < until));
            let of_block: Vec<usize> = of_block.map(|at| rows[at - first]).collect();
            places[block.0].extend(chosen.indexes.places(block.0, &of_block)?);
        }
        first = until;
    }
    let groups = table::read_at(served.table.manifest(), &places)?;
    let (code, warning) = Code::read(served.table.manifest())?;
    let tails = Tails::new(&groups, TAIL_PERCENT);
    let report = Report::new(&groups, &code, (&tails, TAIL_PERCENT), Limits { support: SUPPORT }, None);
    let warnings: Vec<String> = warning.into_iter().chain(groups.repairs.sentence()).collect();
    Ok(ProfileShown { n, report: ReportJson::new(&report), warnings, sql })
}

/// About `n_max` of so many, in `n_runs` runs that lie evenly over them; all of them, if that is no
/// more.
fn runs(n: usize, n_max: usize, n_runs: usize) -> Vec<Range<usize>> {
    if n <= n_max {
        return std::iter::once(0..n).collect();
    }
    let length = n_max / n_runs;
    let starts = (0..n_runs).map(|run| run * (n - length) / (n_runs - 1).max(1));
    starts.map(|start| start..start + length).collect()
}

#[cfg(test)]
mod tests {
    use super::runs;

    #[test]
    fn runs_lie_evenly() {
        let all = |runs: Vec<std::ops::Range<usize>>| runs.into_iter().flatten().collect::<Vec<_>>();
        assert_eq!(all(runs(1_000, 1_000, 10)), (0..1_000).collect::<Vec<_>>());
        let some = all(runs(1_000, 100, 10));
        assert_eq!((some.len(), some[0], some[99]), (100, 0, 999));
        assert!(some.is_sorted_by(|a, b| a < b), "none is there twice");
        assert_eq!(some.iter().filter(|at| **at < 500).count(), 50);
        assert_eq!(all(runs(1_000, 10, 1)), (0..10).collect::<Vec<_>>());
    }
}
