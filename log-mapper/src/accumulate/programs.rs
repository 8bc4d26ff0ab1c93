//! Programs: which of the class path's programs a log source is of, learnt from
//! its records. One process runs one program; what only others can run (the
//! tools in the server's jar, the other kind of server) did not print here.
//!
//! What was ruled out stays so for the rest of the source: one that goes on with
//! another program's records after [`RECORDS_MIN`] of the first is read as the
//! first one's.

use schema::{LogPointId, Model};

/// Records after which the source is judged for the first time; then each time
/// that there are this many times more.
const RECORDS_MIN: usize = 64;
const NEXT_TIME: usize = 4;

/// At most one record in this many may be of none of the programs, else the
/// source holds several processes, or objects are made in ways that the analysis
/// does not see.
const CONTRARY_SHARE: usize = 50;

/// What the records say so far.
#[derive(Debug)]
pub(super) struct Programs<'m> {
    model: &'m Model,
    /// Per log point: programs that can print it, sorted; empty: any.
    of: Vec<Vec<u16>>,
    /// Per program: records that it can print.
    votes: Vec<usize>,
    n_records: usize,
    judged_at: usize,
}

impl<'m> Programs<'m> {
    pub(super) fn new(model: &'m Model) -> Self {
        let mut of: Vec<Option<Vec<u16>>> = vec![None; model.log_points.len()];
        for top in &model.top_level_methods {
            for point in top.dag.nodes.iter().flat_map(|node| &node.points) {
                let known = of[point.log_point.index()].get_or_insert_with(|| top.entry_points.clone());
                if top.entry_points.is_empty() {
                    known.clear();
                } else if !known.is_empty() {
                    known.extend(&top.entry_points);
                    known.sort_unstable();
                    known.dedup();
                }
            }
        }
        let of = of.into_iter().map(Option::unwrap_or_default).collect();
        let votes = vec![0; model.entry_points.len()];
        Self { model, of, votes, n_records: 0, judged_at: RECORDS_MIN }
    }

    /// Counts a record of `point`. Now and then: per top-level method, whether
    /// the program that printed the records can run it.
    pub(super) fn learn(&mut self, point: LogPointId) -> Option<Vec<bool>> {
        let programs = &self.of[point.index()];
        if programs.is_empty() {
            return None;
        }
        self.n_records += 1;
        for &program in programs {
            if let Some(votes) = self.votes.get_mut(usize::from(program)) {
                *votes += 1;
            }
        }
        if self.n_records < self.judged_at {
            return None;
        }
        self.judged_at = self.n_records.saturating_mul(NEXT_TIME);
        self.possible()
    }

    /// Per top-level method, whether the program can run it; none if it is not
    /// known which one the source is of.
    pub(super) fn possible(&self) -> Option<Vec<bool>> {
        let most = self.votes.iter().copied().max().filter(|&most| most > 0)?;
        if (self.n_records - most) * CONTRARY_SHARE > self.n_records {
            return None;
        }
        let runs = |program: &u16| self.votes.get(usize::from(*program)) == Some(&most);
        let tops = self.model.top_level_methods.iter();
        Some(tops.map(|top| top.entry_points.is_empty() || top.entry_points.iter().any(runs)).collect())
    }
}
