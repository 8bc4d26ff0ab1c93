//! Serials: work that is numbered from one counter, learnt from what a log shows.
//!
//! Small numbers are equal by chance, so that a number in itself says little. But where
//! an object keeps a number by which it names itself, and the log shows that such
//! numbers are given one after the other, whoever prints one prints the name of that
//! object. Things are numbered as well (blocks), and many requests use one of them. An
//! object that also prints the number of another, which is before it and is still there
//! after it, is a part of what that one does: these are pieces of work.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::ids::ValueClassId;

/// Distinct numbers from which to learn, twice.
const VALUES_MIN: usize = 16;

/// A number may be first seen before one that is smaller by [`VALUES_MIN`] once in so
/// many times: what is begun at once is not printed in the order of the numbers.
const BACK_SHARE: usize = 16;

/// At least one in so many of the numbers up to the largest one is seen.
const SEEN_SHARE: u64 = 4;

/// One in so many of the objects that name another one may name it for another reason.
const STRAY_SHARE: usize = 16;

/// Objects that name another one from which to learn why.
const PARTS_MIN: usize = 8;

/// At most one in so many of them are parts of one and the same: the number that stands
/// beside most others, however many there are, is how many of something they have.
const ONE_WORK_SHARE: usize = 2;

/// A number of some class.
pub type Number = (ValueClassId, u64);

/// When an object was first and last named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Life {
    /// µs since 1970.
    pub first_us: i64,
    /// µs since 1970.
    pub last_us: i64,
}

/// Pieces of work that have numbers.
#[derive(Clone, Debug)]
pub struct Work {
    /// Of the numbers.
    pub class: ValueClassId,
    /// When each was at work.
    pub lives: BTreeMap<u64, Life>,
    parents: BTreeMap<u64, u64>,
}

impl Work {
    /// The outermost piece of work that `number` is a part of.
    #[must_use]
    pub fn root(&self, mut number: u64) -> u64 {
        while let Some(&parent) = self.parents.get(&number) {
            number = parent;
        }
        number
    }
}

/// What a log shows of numbers.
#[derive(Clone, Debug, Default)]
pub struct Serials {
    /// Classes by which objects name themselves.
    own: BTreeSet<ValueClassId>,
    /// When each number was named.
    lives: BTreeMap<Number, Life>,
    /// What is printed together with a number of those classes.
    together: BTreeMap<(ValueClassId, ValueClassId), BTreeSet<(u64, u64)>>,
}

impl Serials {
    /// Of objects that name themselves by values of `own`.
    #[must_use]
    pub fn new(own: BTreeSet<ValueClassId>) -> Self {
        Self { own, ..Self::default() }
    }

    /// Adds the numbers of a record.
    pub fn see(&mut self, ts_us: i64, numbers: &[Number]) {
        for &(class, n) in numbers.iter().filter(|(class, _)| self.own.contains(class)) {
            let life = Life { first_us: ts_us, last_us: ts_us };
            let life = self.lives.entry((class, n)).or_insert(life);
            life.first_us = life.first_us.min(ts_us);
            life.last_us = life.last_us.max(ts_us);
            let is_sole = numbers.iter().filter(|(other, _)| *other == class).count() == 1;
            for &(other, of) in numbers.iter().filter(|(other, _)| is_sole && *other != class) {
                self.together.entry((class, other)).or_default().insert((n, of));
            }
        }
    }

    /// The work that is numbered, if any is: of several kinds that of which most is seen.
    #[must_use]
    pub fn work(&self) -> Option<Work> {
        let serial = self.own.iter().filter_map(|&class| Some((class, self.serial(class)?)));
        let found = serial.filter_map(|(class, lives)| {
            let parents = self.parents(class, &lives)?;
            Some(Work { class, lives, parents })
        });
        found.max_by_key(|work| (work.lives.len(), Reverse(work.class)))
    }

    /// The lives of the objects that numbers of a class name, if they are given one
    /// after the other.
    fn serial(&self, class: ValueClassId) -> Option<BTreeMap<u64, Life>> {
        let lives = self.lives.range((class, 0)..=(class, u64::MAX));
        let lives: BTreeMap<u64, Life> = lives.map(|(&(_, n), &life)| (n, life)).collect();
        let births: Vec<(u64, i64)> = lives.iter().map(|(&n, life)| (n, life.first_us)).collect();
        are_given_out(&births).then_some(lives)
    }

    /// For each of the objects that a number of `class` names the one that it is a part
    /// of; none if they are not parts of each other.
    fn parents(&self, class: ValueClassId, lives: &BTreeMap<u64, Life>) -> Option<BTreeMap<u64, u64>> {
        let is_part = |&&(n, of): &&(u64, u64)| {
            let lives = lives.get(&of).zip(lives.get(&n));
            of < n && lives.is_some_and(|(outer, inner)| outer.last_us >= inner.last_us)
        };
        let others = self.together.iter().filter(|((of, _), _)| *of == class);
        let found = others.filter_map(|(&(_, other), pairs)| {
            let mut parents: BTreeMap<u64, u64> = pairs.iter().filter(is_part).copied().collect();
            let n_stray = pairs.iter().filter(|&&pair| is_stray(pair, lives)).count();
            let are_parts = parents.len() >= PARTS_MIN && n_stray * STRAY_SHARE <= pairs.len();
            let are_most = parents.len() * 2 >= pairs.len();
            let is_known = are_parts && are_most && !is_count(&parents);
            if is_known {
                add_unsure(&mut parents, pairs, lives);
            }
            is_known.then_some((other, parents))
        });
        found.max_by_key(|(other, parents)| (parents.len(), Reverse(*other))).map(|(_, parents)| parents)
    }
}

/// Whether the object `n`, which names the one numbered `of`, is no part of that for sure: it was
/// there before it, or began when it was done. Of one from before the log began nothing is known.
fn is_stray((n, of): (u64, u64), lives: &BTreeMap<u64, Life>) -> bool {
    let lives = lives.get(&of).zip(lives.get(&n));
    of >= n || lives.is_some_and(|(outer, inner)| inner.first_us > outer.last_us)
}

/// Adds parts whose end is reported when that of the whole has been, and those of what was at work
/// before the log began: they name no other.
fn add_unsure(parents: &mut BTreeMap<u64, u64>, pairs: &BTreeSet<(u64, u64)>, lives: &BTreeMap<u64, Life>) {
    let named: Vec<(u64, u64)> = pairs.iter().copied().collect();
    for of_one in named.chunk_by(|a, b| a.0 == b.0) {
        let &[(n, of)] = of_one else { continue };
        if !is_stray((n, of), lives) {
            parents.insert(n, of);
        }
    }
}

/// Whether numbers, each with when it was first named in µs and in their own order, are
/// given one after the other, and hardly any is left out.
#[must_use]
pub fn are_given_out(births: &[(u64, i64)]) -> bool {
    let (Some((first, _)), Some((last, _))) = (births.first(), births.last()) else { return false };
    let next = births.windows(VALUES_MIN + 1);
    let n_back = next.filter(|next| next[VALUES_MIN].1 < next[0].1).count();
    let are_seen = (last - first) / SEEN_SHARE <= births.len() as u64;
    births.len() >= 2 * VALUES_MIN && n_back * BACK_SHARE <= births.len() && are_seen
}

/// Whether what stands beside numbers is one and the same for most of them.
fn is_count(parents: &BTreeMap<u64, u64>) -> bool {
    let mut n_parts: BTreeMap<u64, usize> = BTreeMap::new();
    parents.values().for_each(|&of| *n_parts.entry(of).or_default() += 1);
    n_parts.values().any(|&n| n * ONE_WORK_SHARE > parents.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The work of forty objects.
    fn work(number: impl Fn(u64) -> u64, of: impl Fn(u64) -> u64) -> Option<Work> {
        seen(40, number, of).work()
    }

    /// What a log shows of objects, of which three name the fourth by a number of another class.
    fn seen(n_objects: u64, number: impl Fn(u64) -> u64, of: impl Fn(u64) -> u64) -> Serials {
        let [own, other] = [0, 1].map(ValueClassId::new);
        let mut serials = Serials::new(BTreeSet::from([own]));
        for outer in (0..n_objects).step_by(4) {
            for n in outer..outer + 4 {
                let numbers = [(own, number(n)), (other, of(outer))];
                serials.see(n as i64, &numbers[..if n == outer { 1 } else { 2 }]);
            }
            serials.see(outer as i64 + 4, &[(own, number(outer))]);
        }
        serials
    }

    #[test]
    fn parts_are_of_the_outermost_one() {
        let work = work(|n| n, |n| n).expect("work");
        assert_eq!([work.root(7), work.root(4), work.root(39)], [4, 4, 36]);
    }

    #[test]
    fn a_part_that_is_reported_late_is_a_part() {
        let mut serials = seen(80, |n| n, |n| n);
        serials.see(90, &[(ValueClassId::new(0), 7)]);
        assert_eq!(serials.work().expect("work").root(7), 4);
        // What began after the end of the whole is none.
        serials.see(95, &[(ValueClassId::new(0), 80), (ValueClassId::new(1), 4)]);
        assert_eq!(serials.work().expect("work").root(80), 80);
    }

    #[test]
    fn of_what_began_before_the_log_did_parts_are_parts() {
        let [own, other] = [0, 1].map(ValueClassId::new);
        let mut serials = Serials::new(BTreeSet::from([own]));
        // Each is a part of one that began twenty to twenty-three numbers before it, and is named once
        // more when it is done; the log begins at number 100.
        for n in 100..164_u64 {
            let outer = n / 4 * 4 - 20;
            serials.see(2 * n as i64, &[(own, n), (other, outer)]);
            if outer >= 100 {
                serials.see(2 * n as i64 + 1, &[(own, outer)]);
            }
        }
        let work = serials.work().expect("work");
        assert_eq!([work.root(103), work.root(119), work.root(120)], [80, 96, 80]);
    }

    #[test]
    fn numbers_that_are_not_given_in_turn_or_have_no_parts_are_no_work() {
        assert!(work(|n| n * 7 % 41, |n| n * 7 % 41).is_none());
        assert!(work(|n| n * 1000, |n| n * 1000).is_none());
        assert!(work(|n| n, |n| n + 100).is_none(), "things");
    }

    /// Things that have one part each, or two now and then; the first of them is named
    /// once more in the end.
    fn counted(parts: impl Fn(u64) -> u64) -> Option<Work> {
        let [own, other] = [0, 1].map(ValueClassId::new);
        let mut serials = Serials::new(BTreeSet::from([own]));
        (0..40).for_each(|n| serials.see(n as i64, &[(own, n), (other, parts(n))]));
        (0..40).for_each(|n| serials.see(100 - n as i64, &[(own, n)]));
        serials.work()
    }

    #[test]
    fn what_stands_beside_most_numbers_is_a_count() {
        assert!(counted(|_| 1).is_none());
        assert!(counted(|n| if n % 8 == 7 { 2 } else { 1 }).is_none());
        assert!(counted(|n| n / 4).is_some(), "parts of several");
    }
}
