//! Programs: which of the class path's programs a log source is of, learnt from
//! its records. One process runs one program; what only others can run (the
//! tools in the server's jar, the other kind of server) did not print here.
//!
//! One program can contain another (a master that runs all servers in one process, if
//! it is told to). If each of two can have printed all records, it was the one that can
//! print much less: the other would have printed something of its own.
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

/// The larger of two programs prints only what the smaller one can by chance with at most
/// this probability.
const CHANCE_MAX: f64 = 1e-4;

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
    /// Per log point: a record of it was seen.
    seen: Vec<bool>,
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
        let seen = vec![false; model.log_points.len()];
        Self { model, of, votes, n_records: 0, judged_at: RECORDS_MIN, seen }
    }

    /// Counts a record of `point`. Now and then: per top-level method, whether
    /// the program that printed the records can run it.
    pub(super) fn learn(&mut self, point: LogPointId) -> Option<Vec<bool>> {
        if !self.see(point) || self.n_records < self.judged_at {
            return None;
        }
        self.judged_at = self.n_records.saturating_mul(NEXT_TIME);
        self.possible()
    }

    /// Counts a record of `point`; whether only some programs can print it.
    pub(super) fn see(&mut self, point: LogPointId) -> bool {
        let Some(programs) = self.of.get(point.index()).filter(|programs| !programs.is_empty()) else {
            return false;
        };
        self.n_records += 1;
        self.seen[point.index()] = true;
        for &program in programs {
            if let Some(votes) = self.votes.get_mut(usize::from(program)) {
                *votes += 1;
            }
        }
        true
    }

    /// Per top-level method, whether the program can run it; none if it is not
    /// known which one the source is of.
    pub(super) fn possible(&self) -> Option<Vec<bool>> {
        let most = self.votes.iter().copied().max().filter(|&most| most > 0)?;
        if (self.n_records - most) * CONTRARY_SHARE > self.n_records {
            return None;
        }
        let voted = (0..).zip(&self.votes).filter(|(_, votes)| **votes == most);
        let mut runs: Vec<u16> = voted.map(|(program, _)| program).collect();
        if self.is_sure() {
            let more = |program: &u16| runs.iter().any(|less| self.is_less(*less, *program));
            runs = runs.iter().filter(|program| !more(program)).copied().collect();
        }
        let tops = self.model.top_level_methods.iter();
        let can_run = |program: &u16| runs.contains(program);
        Some(tops.map(|top| top.entry_points.is_empty() || top.entry_points.iter().any(can_run)).collect())
    }

    /// Whether some programs can print all of the records, and there are enough of these to
    /// tell.
    pub(super) fn is_sure(&self) -> bool {
        self.n_records >= RECORDS_MIN && self.votes.contains(&self.n_records)
    }

    /// Whether `more` can print so much that `less` cannot that it would have shown: as if
    /// each log point seen, which both can print, were one of its own at random.
    fn is_less(&self, less: u16, more: u16) -> bool {
        let n_of = |program: u16| {
            let of = self.of.iter().filter(|programs| programs.binary_search(&program).is_ok());
            f64::from(of.map(|_| 1_u32).sum::<u32>())
        };
        let points = self.of.iter().zip(&self.seen);
        let of_some = points.filter(|(programs, seen)| **seen && !programs.is_empty());
        let n_seen = f64::from(of_some.map(|_| 1_u32).sum::<u32>());
        (n_of(less) / n_of(more).max(1.0)).powf(n_seen) < CHANCE_MAX
    }
}
