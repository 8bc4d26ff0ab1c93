//! Ticks: what a clock without fractions of seconds leaves open, and what the order of lines tells
//! of it.
//!
//! A layout that prints seconds gives all lines of a second one time. In which order they were
//! printed stands in the log. Of `n` lines of one tick the one that is as likely to be early as to
//! be late in each place of that order is spread evenly: so whatever asks how long ago, or what
//! came first, gets an answer that the log bears out, and none that is sure by less than the clock
//! tells. What people see are the times that were printed.

/// Ticks that layouts have, µs, coarsest first, and how many different times are no chance if all
/// of them are whole ones: one in a thousand is a whole second, one in sixty of these a minute.
const TICKS: [(i64, usize); 2] = [(60_000_000, 4), (1_000_000, 3)];

/// Finds out the tick of a clock from the times that it printed.
#[derive(Clone, Debug, Default)]
pub struct Tick {
    /// Some of the times that differ.
    times_us: Vec<i64>,
    /// The coarsest of [`TICKS`] of which all times are whole ones.
    coarsest: usize,
}

impl Tick {
    /// Looks at one more time, µs since 1970 UTC.
    pub fn see(&mut self, us: i64) {
        while TICKS.get(self.coarsest).is_some_and(|(tick_us, _)| us % tick_us != 0) {
            self.coarsest += 1;
        }
        if self.times_us.len() < TICKS[0].1 && !self.times_us.contains(&us) {
            self.times_us.push(us);
        }
    }

    /// The tick, µs; none: it is fine, or nothing shows that it is not.
    #[must_use]
    pub fn us(&self) -> Option<i64> {
        let is_told = |(_, n_times): &&(i64, usize)| self.times_us.len() >= *n_times;
        TICKS[self.coarsest..].iter().find(is_told).map(|(tick_us, _)| *tick_us)
    }
}

/// How long after the beginning of a tick of `tick_us` the `nth` (from 0) of its `n` lines is taken
/// to be printed, µs.
#[must_use]
pub fn since_us(tick_us: i64, nth: usize, n: usize) -> i64 {
    let (nth, n) = (nth.min(n.saturating_sub(1)) as i128, n.max(1) as i128);
    i64::try_from((2 * nth + 1) * i128::from(tick_us) / (2 * n)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{Tick, since_us};

    fn tick_us(times_ms: &[i64]) -> Option<i64> {
        let mut tick = Tick::default();
        times_ms.iter().for_each(|ms| tick.see(ms * 1000));
        tick.us()
    }

    #[test]
    fn a_clock_is_coarse_where_no_time_has_a_fraction() {
        assert_eq!(tick_us(&[1_000, 1_000, 3_000, 64_000]), Some(1_000_000));
        assert_eq!(tick_us(&[1_000, 3_000, 64_001]), None);
        assert_eq!(tick_us(&[60_000, 120_000, 180_000, 600_000]), Some(60_000_000));
        // Three whole minutes are three whole seconds; two times are a chance.
        assert_eq!(tick_us(&[60_000, 120_000, 180_000]), Some(1_000_000));
        assert_eq!(tick_us(&[60_000, 120_000, 120_000]), None);
        assert_eq!(tick_us(&[]), None);
    }

    #[test]
    fn lines_of_a_tick_are_in_it_in_their_order() {
        let all: Vec<i64> = (0..4).map(|nth| since_us(1_000_000, nth, 4)).collect();
        assert_eq!(all, [125_000, 375_000, 625_000, 875_000]);
        assert_eq!(since_us(1_000_000, 0, 1), 500_000);
        assert_eq!(since_us(1_000_000, 9, 4), 875_000);
        let many: Vec<i64> = (0..100_000).map(|nth| since_us(1_000_000, nth, 100_000)).collect();
        assert!(many.is_sorted() && many[99_999] < 1_000_000);
    }
}
