//! Clock steps: where the clock that stamps a node's records was set back, or local time
//! repeated an hour.
//!
//! Between two records of one file the time goes back by as long as a thread can wait
//! between asking for the time and writing: some milliseconds, a tenth of a second on a
//! machine with too much to do. Where it goes back by much more, from one record to the
//! next, and stays there, the clock was set. All times after that are then taken to be
//! that much later: the record after the step follows the one before it at once. When a
//! clock steps forward again cannot be told from silence, but for a long way that ends
//! just where the clock would be by now had it never been set.
//!
//! Underestimates a step by the silence in which it fell, and does not see one that is
//! no longer than that silence.

/// Going back by less is disorder of threads, µs. The logs of the labelled systems go back
/// by up to 148 ms.
const STEP_MIN_US: i64 = 500_000;

/// Records that stay before what was printed last when the clock was set back; fewer are
/// late writers, or a text that looks like a record.
const STAYS_MIN: usize = 8;

/// Records directly before a step that are all later than the first one after it: one
/// alone is a wrong time stamp.
const BEFORE_MIN: usize = 3;

/// A clock that went further than this and comes back to as near as this where it would
/// be has come back, µs.
const NEAR_US: i64 = 60_000_000;

/// A clock that was set back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClockStep {
    /// Index of the input file.
    pub(crate) file: u32,
    /// First line of the first record after it.
    pub(crate) line: u64,
    /// How far, µs; less than nothing: forward to where it was before.
    pub(crate) back_us: i64,
}

/// A long way that the clock went: its times before and after.
#[derive(Clone, Copy, Debug)]
struct Jump {
    from_us: i64,
    to_us: i64,
}

impl Jump {
    /// Whether a clock that shows `last_us` now and `us` next returns to where it was.
    fn ends(self, last_us: i64, us: i64) -> bool {
        let would_be_us = self.from_us.saturating_add(last_us.saturating_sub(self.to_us).max(0));
        us.saturating_sub(would_be_us).saturating_abs() <= NEAR_US
    }
}

/// Follows the clock of one node through its records, in log order.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    file: u32,
    /// The last printed times of the file.
    last_us: Vec<i64>,
    /// Latest printed time since the last step.
    latest_us: i64,
    late_us: i64,
    /// The last long way forward, if the clock has not come back from there.
    forward: Option<Jump>,
    /// The last long way back, if the clock has not come back from there.
    back: Option<Jump>,
    /// Files that are read: last printed time, and what was added to it.
    ended: Vec<(i64, i64)>,
    /// What was found.
    pub(crate) steps: Vec<ClockStep>,
}

impl Clock {
    /// What is to be added to the time `us` that the record at `file` and `line` printed.
    /// `following` gives up to so many printed times after it in its file.
    pub(crate) fn late_us(
        &mut self,
        (file, line): (u32, u64),
        us: i64,
        following: impl FnOnce(usize) -> Vec<i64>,
    ) -> i64 {
        if self.file != file || self.last_us.is_empty() {
            self.begin(file, us);
        }
        let latest_us = self.latest_us;
        let went_us = us.saturating_sub(latest_us);
        if went_us < -STEP_MIN_US && self.is_before_all(us) {
            if self.forward.is_some_and(|jump| jump.ends(latest_us, us)) {
                self.forward = None;
                self.latest_us = us;
            } else if self.stays(following(STAYS_MIN - 1)) {
                self.step(line, us, -went_us);
                self.back = Some(Jump { from_us: latest_us, to_us: us }).filter(|_| went_us < -NEAR_US);
            }
        } else if went_us > NEAR_US {
            if self.back.is_some_and(|jump| jump.ends(latest_us, us)) {
                self.back = None;
                self.step(line, us, -self.last_back_us());
            } else {
                self.forward = Some(Jump { from_us: latest_us, to_us: us });
            }
        }
        self.latest_us = self.latest_us.max(us);
        if self.last_us.len() == BEFORE_MIN {
            self.last_us.remove(0);
        }
        self.last_us.push(us);
        self.late_us
    }

    /// A file goes on with the clock of the file that ended last before it.
    fn begin(&mut self, file: u32, us: i64) {
        if let Some(&last_us) = self.last_us.last() {
            self.ended.push((last_us, self.late_us));
        }
        let before = self.ended.iter().filter(|(end_us, _)| *end_us <= us).max_by_key(|(end_us, _)| *end_us);
        let late_us = before.map_or(0, |(_, late_us)| *late_us);
        let (ended, steps) = (std::mem::take(&mut self.ended), std::mem::take(&mut self.steps));
        *self = Self { file, latest_us: us, late_us, ended, steps, ..Self::default() };
    }

    fn step(&mut self, line: u64, us: i64, back_us: i64) {
        self.steps.push(ClockStep { file: self.file, line, back_us });
        self.late_us = self.late_us.saturating_add(back_us);
        self.latest_us = us;
    }

    /// How far the clock was set back last.
    fn last_back_us(&self) -> i64 {
        self.steps.iter().rev().map(|step| step.back_us).find(|us| *us > 0).unwrap_or_default()
    }

    fn is_before_all(&self, us: i64) -> bool {
        self.last_us.len() == BEFORE_MIN && self.last_us.iter().all(|last_us| us < *last_us)
    }

    /// Whether the records that follow are all before what was printed last.
    fn stays(&self, following: Vec<i64>) -> bool {
        following.len() == STAYS_MIN - 1 && following.into_iter().all(|us| us < self.latest_us)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Holds the steps of files of printed times, in ms, against `expected`: (file, line,
    /// ms back), and what was added to the last time.
    #[track_caller]
    fn check(files: &[&[i64]], expected: &[(u32, u64, i64)], late_ms: i64) {
        let mut clock = Clock::default();
        let mut late_us = 0;
        for (file, times) in (0..).zip(files) {
            for (index, ms) in times.iter().enumerate() {
                let following = |n: usize| times[index + 1..].iter().take(n).map(|ms| ms * 1000).collect();
                late_us = clock.late_us((file, index as u64 + 1), ms * 1000, following);
            }
        }
        let steps = clock.steps.iter().map(|step| (step.file, step.line, step.back_us / 1000));
        assert_eq!(steps.collect::<Vec<_>>(), expected);
        assert_eq!(late_us, late_ms * 1000);
    }

    fn every(from: i64, step: i64, n: i64) -> Vec<i64> {
        (0..n).map(|i| from + i * step).collect()
    }

    #[test]
    fn a_clock_that_is_set_back_stays_there() {
        let times = [every(10_000, 10, 10), every(9_100, 10, 200)].concat();
        check(&[&times], &[(0, 11, 990)], 990);
    }

    #[test]
    fn late_writers_and_wrong_stamps_set_no_clock() {
        let late = [every(10_000, 10, 10), vec![8_000, 8_010], every(10_100, 10, 20)].concat();
        check(&[&late], &[], 0);
        let wrong = [every(10_000, 10, 10), vec![90_000], every(10_100, 10, 20)].concat();
        check(&[&wrong], &[], 0);
        let threads = [every(10_000, 10, 10), every(9_900, 10, 20)].concat();
        check(&[&threads], &[], 0);
    }

    #[test]
    fn a_text_with_times_of_another_day_sets_no_clock() {
        let times = [every(10_000, 10, 10), every(90_000_000, 10, 10), every(10_100, 10, 20)].concat();
        check(&[&times], &[], 0);
        let times = [every(90_000_000, 10, 10), every(10_000, 10, 10), every(90_000_100, 10, 20)].concat();
        check(&[&times], &[(0, 11, 89_990_090), (0, 21, -89_990_090)], 0);
    }

    #[test]
    fn an_hour_that_comes_twice_is_over_when_it_is() {
        let hour = 3_600_000;
        let times = [every(hour, 10_000, 360), every(hour, 10_000, 360), every(3 * hour, 10_000, 9)].concat();
        check(&[&times], &[(0, 361, hour - 10_000), (0, 721, 10_000 - hour)], 0);
    }

    #[test]
    fn rotated_files_go_on_with_the_clock_of_the_one_before() {
        let first = [every(10_000, 10, 10), every(9_100, 10, 200)].concat();
        check(&[&first, &every(11_200, 10, 5)], &[(0, 11, 990)], 990);
        // What another appender wrote meanwhile has a clock of its own.
        check(&[&first, &every(10_500, 10, 5)], &[(0, 11, 990)], 0);
    }
}
