//! Ticks: records of files whose clock prints no fractions of seconds, in the order of their lines
//! ([`schema::ticks`]). What is written is what was printed.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use schema::ticks::{Tick, since_us};
use schema::{Accumulator, Event};

use crate::accumulate::Accumulated;

/// Times of a file that tell its tick.
const TIMES: usize = 4096;

/// Records of one tick that are looked at together; those after them are taken for its last ones.
const LOOK_MAX: usize = 1 << 16;

/// The ticks of files, µs; 0: fine, or not read yet. From which line on the clock of a file is fine
/// all the same, as its layout has changed.
#[derive(Clone, Debug)]
pub(crate) struct Ticks(Arc<[(AtomicI64, AtomicU64)]>);

impl Ticks {
    /// Of `n_files` files, of which none is known.
    pub(crate) fn new(n_files: usize) -> Self {
        Self((0..n_files).map(|_| (AtomicI64::new(0), AtomicU64::new(u64::MAX))).collect())
    }

    fn of(&self, file: u32, line: u64) -> i64 {
        let known = self.0.get(file as usize).filter(|(_, fine)| line < fine.load(Ordering::Acquire));
        known.map_or(0, |(tick_us, _)| tick_us.load(Ordering::Acquire))
    }

    fn end(&self, file: u32, line: u64) {
        if let Some((_, fine)) = self.0.get(file as usize) {
            fine.store(line, Ordering::Release);
        }
    }

    fn set(&self, file: u32, times_us: impl Iterator<Item = i64>) {
        let mut tick = Tick::default();
        times_us.for_each(|us| tick.see(us));
        if let Some((known, _)) = self.0.get(file as usize) {
            known.store(tick.us().unwrap_or_default(), Ordering::Release);
        }
    }

    /// Gives the events of a part the times that were printed.
    pub(crate) fn restore(&self, part: &mut Accumulated) {
        let spans = part.accumulators.iter_mut().flat_map(|Accumulator { spans, .. }| spans);
        for event in spans.flat_map(|span| &mut span.events).chain(&mut part.unattributed) {
            self.restore_one(event);
        }
    }

    fn restore_one(&self, event: &mut Event) {
        let tick_us = self.of(event.file, event.line);
        if tick_us != 0 {
            event.ts_us -= event.ts_us.saturating_sub(event.late_us).rem_euclid(tick_us);
        }
    }
}

/// Where in their ticks the records of a node stand, one after the other.
#[derive(Debug)]
pub(crate) struct Places {
    ticks: Ticks,
    /// The file that is read.
    file: Option<u32>,
    /// The tick at hand, µs, how many of its records there are, and how many of them have been.
    at_us: i64,
    n: usize,
    nth: usize,
}

impl Places {
    /// Of records of files with `ticks`, which are found out file by file.
    pub(crate) fn new(ticks: Ticks) -> Self {
        Self { ticks, file: None, at_us: 0, n: 0, nth: 0 }
    }

    /// The tick of the clock of `file` at `line`, µs; 0: fine.
    pub(crate) fn tick_us(&self, file: u32, line: u64) -> i64 {
        self.ticks.of(file, line)
    }

    /// How long after its printed time `us` the next record, at `(file, line)`, is taken to be printed, µs.
    /// `following` gives up to so many printed times after it in its file.
    pub(crate) fn since_us(
        &mut self,
        (file, line): (u32, u64),
        us: i64,
        mut following: impl FnMut(usize) -> Vec<i64>,
    ) -> i64 {
        if self.file != Some(file) {
            (self.file, self.n) = (Some(file), 0);
            self.ticks.set(file, std::iter::once(us).chain(following(TIMES - 1)));
        }
        let tick_us = self.ticks.of(file, line);
        if tick_us == 0 {
            return 0;
        }
        if us % tick_us != 0 {
            self.ticks.end(file, line);
            return 0;
        }
        if self.n == 0 || self.at_us != us {
            (self.at_us, self.nth) = (us, 0);
            let mut n_looked_at = 64;
            self.n = loop {
                let times = following(n_looked_at);
                let n = times.iter().take_while(|&&next_us| next_us == us).count();
                if n < n_looked_at || n_looked_at >= LOOK_MAX {
                    break n + 1;
                }
                n_looked_at *= 8;
            };
        } else {
            self.nth += 1;
        }
        since_us(tick_us, self.nth, self.n)
    }
}

/// The same of the first records of a node, (file, printed time) each.
pub(crate) fn places(times: &[(u32, i64)]) -> Vec<i64> {
    let n_files = times.iter().map(|(file, _)| *file as usize + 1).max().unwrap_or_default();
    let mut places = Places::new(Ticks::new(n_files));
    let since = |(at, &(file, us)): (usize, &(u32, i64))| {
        let of_file = times[at + 1..].iter().take_while(|(next, _)| *next == file);
        places.since_us((file, at as u64), us, |n| of_file.clone().take(n).map(|(_, us)| *us).collect())
    };
    times.iter().enumerate().map(since).collect()
}

#[cfg(test)]
mod tests {
    use super::{Places, Ticks, places};

    #[test]
    fn records_of_a_tick_keep_their_order() {
        let seconds = |times: &[i64]| times.iter().map(|s| (0, s * 1_000_000)).collect::<Vec<_>>();
        let times = seconds(&[1, 1, 2, 4, 4, 4, 4]);
        assert_eq!(places(&times), [250_000, 750_000, 500_000, 125_000, 375_000, 625_000, 875_000]);
        // A fraction anywhere in the file says that the clock is fine.
        let fine = [times, vec![(0, 5_001_000)]].concat();
        assert_eq!(places(&fine), [0; 8]);
    }

    #[test]
    fn what_a_later_layout_prints_is_kept() {
        let mut places = Places::new(Ticks::new(1));
        let seconds = [1_000_000, 2_000_000, 3_000_000, 3_000_000];
        let since: Vec<i64> = (0..4)
            .map(|at| {
                places.since_us((0, at as u64), seconds[at], |n| {
                    seconds[at + 1..].iter().take(n).copied().collect()
                })
            })
            .collect();
        assert_eq!(since, [500_000, 500_000, 250_000, 750_000]);
        assert_eq!(places.since_us((0, 9), 4_000_123, |_| Vec::new()), 0);
        assert_eq!(places.since_us((0, 10), 5_000_000, |_| Vec::new()), 0);
        assert_eq!([places.tick_us(0, 8), places.tick_us(0, 9)], [1_000_000, 0]);
    }

    #[test]
    fn each_file_has_its_clock() {
        let coarse = (1..40).map(|s| (0, s / 2 * 1_000_000));
        let fine = (1..40).map(|ms| (1, ms * 1_000));
        let places = places(&coarse.chain(fine).collect::<Vec<_>>());
        assert_eq!(&places[1..5], [250_000, 750_000, 250_000, 750_000]);
        assert_eq!(places[39..], [0; 39]);
    }
}
