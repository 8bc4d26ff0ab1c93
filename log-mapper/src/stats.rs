//! Accounting: what became of every record of every input.

use schema::InputAccount;

use crate::accumulate::Accumulated;
use crate::clock_steps::ClockStep;
use crate::limits::RECORD_BYTES_MAX;
use crate::matched::Counts;

/// Adds one chunk to the account of its file.
pub(crate) fn add(account: &mut InputAccount, counts: &Counts) {
    account.n_lines += counts.n_lines;
    account.n_records += counts.n_records;
    account.n_headerless += counts.n_headerless;
    account.n_rejected += counts.n_rejected;
    account.first_us = [account.first_us, counts.first_us].into_iter().flatten().min();
    account.last_us = account.last_us.max(counts.last_us);
}

/// What was met in the chunks of one file, to be named at its end.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Notes {
    /// Records whose end was left out, and offset of the first.
    cut: (u64, Option<u64>),
    /// Lines of other programs, and the first of them.
    foreign: (u64, Option<u64>),
}

impl Notes {
    /// Adds those of a chunk whose first line is `first_line`.
    pub(crate) fn add(&mut self, counts: &Counts, first_line: u64) {
        self.cut = (self.cut.0 + counts.n_cut, self.cut.1.or(counts.first_cut));
        let first = counts.first_foreign.map(|before| first_line + before);
        self.foreign = (self.foreign.0 + counts.n_foreign_lines, self.foreign.1.or(first));
    }

    /// Names them in the account.
    pub(crate) fn tell(&self, account: &mut InputAccount) {
        if let (n_cut, Some(first)) = self.cut {
            account.damage.push(format!(
                "{n_cut} records are longer than {RECORD_BYTES_MAX} bytes and were read to there, the first at byte {first}"
            ));
        }
        if let (n, Some(first)) = self.foreign {
            account.damage.push(format!(
                "{n} lines are of another layout than the program's records and are in none, the first is line {first}"
            ));
        }
    }
}

/// Names where the clock was set.
pub(crate) fn add_steps(accounts: &mut [InputAccount], steps: &[ClockStep]) {
    for step in steps {
        let way = if step.back_us > 0 { "back" } else { "forward again" };
        let seconds = step.back_us.unsigned_abs() as f64 / 1e6;
        accounts[step.file as usize].damage.push(format!(
            "line {}: the clock was set {way} by about {seconds:.3} s, which is made up for from there on",
            step.line
        ));
    }
}

/// Completes the accounts by what accumulating made of the records.
pub(crate) fn finish(accounts: &mut [InputAccount], accumulated: &Accumulated) {
    let spans = accumulated.accumulators.iter().flat_map(|a| &a.spans);
    for event in spans.flat_map(|s| &s.events) {
        accounts[event.file as usize].n_attributed += 1;
    }
    for event in &accumulated.unattributed {
        accounts[event.file as usize].n_unattributed += 1;
    }
    for account in accounts {
        let sum = account.n_attributed + account.n_unattributed + account.n_headerless + account.n_rejected;
        assert_eq!(account.n_records, sum, "records of `{}`", account.file);
    }
}
