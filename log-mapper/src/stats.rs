//! Accounting: what became of every record of every input.

use schema::{Event, InputAccount};

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
    account.n_ids += counts.n_ids;
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
    /// Records of times that there are not, and the line of the first of them.
    impossible: (u64, Option<u64>),
}

impl Notes {
    /// Adds those of a chunk whose first line is `first_line`.
    pub(crate) fn add(&mut self, counts: &Counts, first_line: u64) {
        self.cut = (self.cut.0 + counts.n_cut, self.cut.1.or(counts.first_cut));
        let first = counts.first_foreign.map(|before| first_line + before);
        self.foreign = (self.foreign.0 + counts.n_foreign_lines, self.foreign.1.or(first));
        let first = counts.first_impossible.map(|before| first_line + before);
        self.impossible = (self.impossible.0 + counts.n_impossible, self.impossible.1.or(first));
    }

    /// Names them in the account.
    pub(crate) fn tell(&self, account: &mut InputAccount) {
        if let (n_cut, Some(first)) = self.cut {
            account.damage.push(format!(
                "{n_cut} records are longer than {RECORD_BYTES_MAX} bytes and were read to there, the first at byte {first}"
            ));
        }
        if let (n, Some(first)) = self.impossible {
            account.damage.push(format!(
                "{n} records have a date or time that there is not and are left out, the first is line {first}: is the layout another one, with the day of the year (`DD`) for that of the month?"
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

/// Records of each file that are in a request, and those that are in none.
#[derive(Debug, Default)]
pub(crate) struct Placed(Vec<(u64, u64)>);

impl Placed {
    /// Counts those of a part.
    pub(crate) fn add(&mut self, part: &Accumulated) {
        let events = part.accumulators.iter().flat_map(|a| &a.spans).flat_map(|span| &span.events);
        events.for_each(|event| self.of_file(event).0 += 1);
        part.unattributed.iter().for_each(|event| self.of_file(event).1 += 1);
    }

    fn of_file(&mut self, event: &Event) -> &mut (u64, u64) {
        let file = event.file as usize;
        if self.0.len() <= file {
            self.0.resize(file + 1, (0, 0));
        }
        &mut self.0[file]
    }

    /// Completes the accounts.
    pub(crate) fn tell(&self, accounts: &mut [InputAccount]) {
        for (account, &(n_attributed, n_unattributed)) in accounts.iter_mut().zip(&self.0) {
            (account.n_attributed, account.n_unattributed) = (n_attributed, n_unattributed);
        }
        for account in accounts {
            let sum =
                account.n_attributed + account.n_unattributed + account.n_headerless + account.n_rejected;
            assert_eq!(account.n_records, sum, "records of `{}`", account.file);
        }
    }
}
