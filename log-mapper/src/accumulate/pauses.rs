//! Pauses: how long a thread of this node prints nothing in the middle of its work, learnt
//! from the log.
//!
//! A line that follows in its thread and names what its work is on continues that work,
//! however late it comes, and so does one with which nothing begins and that can come next.
//! How late it comes is the machine's and the moment's: a tenth of a second is the end of a
//! call on one node, and every second wait for a disk on another.
//!
//! So a call that names nothing goes on after a usual pause, and so does what can have
//! ended where a line follows that everybody prints (`judge`). What goes round in a
//! dispatcher waits between its rounds as well, which tells nothing of its work: a round
//! is over after a pause that is the same on all nodes.

/// Pauses from which to learn, and after which to learn anew.
const PAUSES_MIN: u32 = 64;

/// Only one pause in so many, at most, is longer than what is usual.
const LONG_SHARE: u32 = 50;

/// Parts of a factor of two in which pauses are counted.
const PARTS: u32 = 4;

/// Classes of pauses, by their length in µs.
const CLASSES: usize = (u64::BITS * PARTS) as usize;

/// Counted pauses of a node.
#[derive(Debug)]
pub(super) struct Pauses {
    /// Per class of length, how many there were.
    n: Box<[u32; CLASSES]>,
    n_all: u32,
    /// The longest pause that is nothing special, µs; none before enough were seen.
    usual_us: Option<u64>,
}

impl Default for Pauses {
    fn default() -> Self {
        Self { n: Box::new([0; CLASSES]), n_all: 0, usual_us: None }
    }
}

impl Pauses {
    /// A thread went on with its work after `gap_us`.
    pub(super) fn learn(&mut self, gap_us: u64) {
        let class = class(gap_us);
        self.n[class] = self.n[class].saturating_add(1);
        self.n_all = self.n_all.saturating_add(1);
        if self.n_all.is_multiple_of(PAUSES_MIN) {
            self.usual_us = Some(self.usual());
        }
    }

    /// The longest pause that says nothing of work having ended, µs; none if not known.
    pub(super) fn usual_us(&self) -> Option<u64> {
        self.usual_us
    }

    fn usual(&self) -> u64 {
        let mut n_longer = 0_u64;
        let longest = (0..CLASSES).rev().find(|&class| {
            n_longer += u64::from(self.n[class]);
            n_longer * u64::from(LONG_SHARE) > u64::from(self.n_all)
        });
        longest.map_or(0, first_us)
    }
}

/// Class of a pause of `gap_us`.
fn class(gap_us: u64) -> usize {
    let Some(log) = gap_us.checked_ilog2() else { return 0 };
    let part = ((u128::from(gap_us) * u128::from(PARTS)) >> log) as u32 - PARTS;
    (log * PARTS + part) as usize
}

/// The shortest pause of `class`, µs.
fn first_us(class: usize) -> u64 {
    let (log, part) = (class as u32 / PARTS, class as u32 % PARTS);
    (u128::from(PARTS + part) << log >> PARTS.ilog2()) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_usual_that_one_in_fifty_is_as_long_as() {
        let mut pauses = Pauses::default();
        (0..62).for_each(|_| pauses.learn(1_000));
        assert_eq!(pauses.usual_us(), None, "too few");
        [400_000, 400_000].into_iter().for_each(|us| pauses.learn(us));
        let usual_us = pauses.usual_us().unwrap_or_default();
        assert!((320_000..=400_000).contains(&usual_us), "{usual_us}");
        (0..128).for_each(|_| pauses.learn(1_000));
        let usual_us = pauses.usual_us().unwrap_or_default();
        assert!((800..=1_000).contains(&usual_us), "{usual_us}");
    }

    #[test]
    fn classes_follow_each_other_without_gap() {
        for us in (0..100_000).chain([u64::MAX]) {
            assert!(first_us(class(us)) <= us.max(1));
            assert!(class(us) + 1 >= CLASSES || us < 8 || us < first_us(class(us) + 1));
        }
    }
}
