//! The profile of chosen requests: where their time goes, and what only the slow ones do. Of very many
//! only some are read, in runs that lie evenly over all of them, so that it can be asked for anything.

use serde_json::{Value, json};

use super::Served;
use super::http::Answer;
use crate::profile::code::Code;
use crate::profile::layers::Tails;
use crate::profile::report::{Limits, Report};
use crate::profile::{json as as_json, table};

/// Requests that are read.
const READ_MAX: usize = 10_000;
/// Runs of requests that are read, of more than these.
const RUNS: usize = 20;
/// The slowest requests of each group that are its tail, in percent, and requests that a line must be
/// seen in: what `lprof profile` takes if it is told nothing else.
const TAIL_PERCENT: f64 = 10.0;
const SUPPORT: u64 = 5;

/// The profile of the `chosen` requests.
pub(super) fn profile(served: &Served, chosen: &[bool]) -> Result<Value, Answer> {
    let ids = served.columns.ids.iter().zip(chosen).filter(|(_, is_chosen)| **is_chosen);
    let ids: Vec<u128> = ids.map(|(id, _)| *id).collect();
    let read = runs(&ids, READ_MAX, RUNS);
    let places = served.table.places(&read)?;
    let groups = table::read_at(served.table.manifest(), &places)?;
    let (code, warning) = Code::read(served.table.manifest())?;
    let tails = Tails::new(&groups, TAIL_PERCENT);
    let report = Report::new(&groups, &code, (&tails, TAIL_PERCENT), Limits { support: SUPPORT }, None);
    let warnings: Vec<String> = warning.into_iter().chain(groups.repairs.sentence()).collect();
    Ok(json!({"n": ids.len(), "report": as_json::report(&report), "warnings": warnings}))
}

/// About `n_max` of `all`, in `n_runs` runs that lie evenly over it; all of them, if that is no more.
fn runs<T: Copy>(all: &[T], n_max: usize, n_runs: usize) -> Vec<T> {
    if all.len() <= n_max {
        return all.to_vec();
    }
    let length = n_max / n_runs;
    let starts = (0..n_runs).map(|run| run * (all.len() - length) / (n_runs - 1).max(1));
    starts.flat_map(|start| &all[start..start + length]).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::runs;

    #[test]
    fn runs_lie_evenly() {
        let all: Vec<usize> = (0..1_000).collect();
        assert_eq!(runs(&all, 1_000, 10), all);
        let some = runs(&all, 100, 10);
        assert_eq!((some.len(), some[0], some[99]), (100, 0, 999));
        assert!(some.is_sorted_by(|a, b| a < b), "none is there twice");
        assert_eq!(some.iter().filter(|at| **at < 500).count(), 50);
        assert_eq!(runs(&all, 10, 1), (0..10).collect::<Vec<_>>());
    }
}
