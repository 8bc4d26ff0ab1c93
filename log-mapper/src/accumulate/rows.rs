//! Rows: lines about one thing that stand one directly after the other, printed at once,
//! where the layout prints no threads.
//!
//! A line that can begin something begins it, where nothing tells more: that somebody else
//! goes on with it is no likelier. But if it comes at the moment when a span waits for it,
//! and the line that the span has printed last names the same thing, be it within a path,
//! before a line's text or by a longer name, then both are of one piece of work. A name that
//! stands in many lines of the log names nothing so.

use schema::Pass;

use super::evidence::{FLOAT_US, LOOP_US};
use super::orders::Follows;
use super::{Scan, Taker};
use crate::record::Record;
use crate::said::NameOf;

/// Counters of names; those that share one look more frequent.
const COUNTERS: usize = 1 << 20;

/// A name of more lines than this, and than this share of all, tells nothing.
const FEW: u16 = 32;
const FEW_SHARE: u64 = 64;

/// How many lines name what.
#[derive(Debug, Default)]
pub(super) struct Familiar {
    n_lines: Vec<u16>,
    /// Whether some value has ended with it.
    are_things: Vec<bool>,
    n_records: u64,
}

impl Familiar {
    /// A line has `names`.
    pub(super) fn see(&mut self, names: &[NameOf]) {
        self.n_lines.resize(COUNTERS, 0);
        self.n_records += 1;
        self.are_things.resize(COUNTERS, false);
        for NameOf { name, is_last, .. } in names {
            let n = &mut self.n_lines[slot(*name)];
            *n = n.saturating_add(1);
            self.are_things[slot(*name)] |= *is_last;
        }
    }

    /// Whether so few lines have a name that those that do are about one thing.
    fn is_telling(&self, name: u64) -> bool {
        let n = self.n_lines.get(slot(name)).copied().unwrap_or_default();
        n <= FEW || u64::from(n) * FEW_SHARE <= self.n_records
    }

    /// Whether some value has ended with a name.
    fn is_thing(&self, name: u64) -> bool {
        self.are_things.get(slot(name)).copied().unwrap_or_default()
    }
}

fn slot(name: u64) -> usize {
    usize::try_from(name >> 44).expect("20 bits") & (COUNTERS - 1)
}

impl Scan<'_> {
    /// Which of `takers` the record goes on with as a row: it comes next there, at once, and
    /// names what the taker's last line names; of several, who has more names in common, and
    /// of those who printed the line before.
    pub(super) fn in_row(
        &mut self,
        record: &Record<'_>,
        thread: Option<u32>,
        takers: &[Taker],
    ) -> Option<usize> {
        if self.leaves_out(Pass::InRow) {
            return None;
        }
        if thread.is_some() {
            return None;
        }
        let mut read: Option<(usize, bool, Vec<NameOf>)> = None;
        let mut rank = |taker: &Taker| {
            let Self { open, orders, familiar, seq, .. } = self;
            let (open, evidence) = (open.get(taker.span), taker.evidence);
            let is_direct = open.last_seq + 1 == *seq;
            // Who printed the line before may have waited for a disk since.
            let gap_us = record.ts_us.abs_diff(open.last_us);
            let is_at_once = gap_us <= LOOP_US || (is_direct && gap_us <= FLOAT_US);
            let waits = evidence.follows == Follows::Next && evidence.entered;
            if !waits || !is_at_once || (evidence.differs && !is_direct) {
                return None;
            }
            let candidate = &record.candidates[taker.candidate];
            if read.as_ref().is_none_or(|(known, ..)| *known != taker.candidate) {
                let telling = candidate.names.iter().filter(|known| familiar.is_telling(known.name));
                let names = telling.copied().collect();
                read = Some((taker.candidate, orders.starts(candidate.log_point), names));
            }
            let (_, starts, names) = read.as_ref()?;
            // The analysis knows of equal values whether they name the same, and a line that can
            // begin something is as well somebody else's for the same thing.
            let is_new = !open.has_printed(candidate.log_point);
            let is_weak = is_new && (evidence.n_weak > 0 || !starts);
            let is_shared = |ours: &&NameOf| {
                let is_same =
                    |known: &NameOf| known.name == ours.name && (is_weak || known.within != ours.within);
                // It may show another value of a kind, if that is a file of one folder that
                // something is about, and not just where things are.
                (!evidence.differs || familiar.is_thing(ours.name)) && open.last_names.iter().any(is_same)
            };
            let n_shared = names.iter().filter(is_shared).count();
            (n_shared > 0).then_some((n_shared, is_direct))
        };
        let mut best: Option<(usize, (usize, bool))> = None;
        let mut is_sole = false;
        for (at, taker) in takers.iter().enumerate() {
            let Some(rank) = rank(taker) else { continue };
            match best {
                Some((known, most)) if most > rank || takers[known].span == taker.span => {}
                Some((_, most)) if most == rank => is_sole = false,
                _ => (best, is_sole) = (Some((at, rank)), true),
            }
        }
        best.filter(|_| is_sole).map(|(at, _)| at)
    }
}
