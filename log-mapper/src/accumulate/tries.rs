//! Tries: lines of a loop that say how often it has been around, without threads.
//!
//! Who tries something again and again prints the same line each time, and in it how
//! often he has tried: nothing else tells his lines from those of others who try the same.
//! That a number counts is learnt from the log: mostly it is one more than in the line of
//! somebody who is at it. Then who has printed one less goes on, of several the one who
//! has waited longest, and what nobody goes on with is somebody's first try.

use rustc_hash::FxHashMap;
use schema::LogPointId;

use super::Scan;
use super::takers::Taker;
use crate::record::Record;

/// Lines that went on counting from which to learn that a number counts.
const COUNTED_MIN: u32 = 2;

/// Which numbers count, as far as the log has shown it.
#[derive(Debug, Default)]
pub(super) struct Tries {
    /// Lines of a log point that differ from one of a span in one number only, of one
    /// variable, and those of them in which it is one more.
    seen: FxHashMap<(LogPointId, u32), (u32, u32)>,
}

impl Tries {
    fn learn(&mut self, point: LogPointId, variable: u32, is_next: bool) {
        let (n, n_next) = self.seen.entry((point, variable)).or_default();
        (*n, *n_next) = (*n + 1, *n_next + u32::from(is_next));
    }

    fn counts(&self, point: LogPointId, variable: u32) -> bool {
        let (n, n_next) = self.seen.get(&(point, variable)).copied().unwrap_or_default();
        n_next >= COUNTED_MIN && n_next * 2 >= n
    }
}

impl Scan<'_> {
    /// Takes out the `takers` of a line that counts who are not at the number before,
    /// where nothing but order speaks for them; gives these.
    pub(super) fn keep_counting(&mut self, record: &Record<'_>, takers: &mut Vec<Taker>) -> Vec<Taker> {
        let mut seen: Option<(LogPointId, u32, bool)> = None;
        for taker in &*takers {
            if let Some((variable, is_next)) = self.number(record, taker) {
                let is_known = seen.is_some_and(|(.., is_next)| is_next);
                seen = Some((record.candidates[taker.candidate].log_point, variable, is_known || is_next));
            }
        }
        let Some((point, variable, is_next)) = seen else { return Vec::new() };
        let counts = self.tries.counts(point, variable);
        self.tries.learn(point, variable, is_next);
        if !counts {
            return Vec::new();
        }
        let goes_on = |taker: &&Taker| self.number(record, taker) == Some((variable, true));
        let next = takers.iter().filter(goes_on).min_by_key(|taker| self.open.get(taker.span).last_seq);
        let next = next.map(|taker| (taker.span, taker.candidate));
        let is_behind = |taker: &mut Taker| {
            next != Some((taker.span, taker.candidate)) && self.number(record, taker).is_some()
        };
        takers.extract_if(.., is_behind).collect()
    }

    /// The number in which alone the record differs from the last line of a taker that
    /// nothing but order speaks for, see [`one_number`].
    fn number(&self, record: &Record<'_>, taker: &Taker) -> Option<(u32, bool)> {
        let candidate = &record.candidates[taker.candidate];
        let last = self.open.get(taker.span).events.last().filter(|_| taker.evidence.n_request == 0)?;
        let is_same = last.log_point == Some(candidate.log_point);
        is_same.then(|| one_number(last.values.iter(), &candidate.values)).flatten()
    }
}

/// The variable in whose number alone two lines of one log point differ, and whether the
/// second one has one more.
fn one_number<'t>(
    before: impl Iterator<Item = (u32, &'t str)>,
    values: &[(u32, &str)],
) -> Option<(u32, bool)> {
    let mut found = None;
    let mut n = 0;
    for (at, (variable, text)) in before.enumerate() {
        n += 1;
        let &(other, now) = values.get(at).filter(|value| value.0 == variable)?;
        if text == now {
            continue;
        }
        let numbers = text.parse::<u64>().ok().zip(now.parse::<u64>().ok())?;
        if found.replace((other, numbers.0.checked_add(1) == Some(numbers.1))).is_some() {
            return None;
        }
    }
    found.filter(|_| n == values.len())
}

#[cfg(test)]
mod tests {
    use super::{Tries, one_number};
    use schema::LogPointId;

    fn differ(before: &[(u32, &str)], now: &[(u32, &str)]) -> Option<(u32, bool)> {
        one_number(before.iter().copied(), now)
    }

    #[test]
    fn one_more_of_the_same_goes_on() {
        let third = [(0, "a:80"), (1, "2")];
        assert_eq!(differ(&third, &[(0, "a:80"), (1, "3")]), Some((1, true)));
        // Somebody's first try; one of another thing.
        assert_eq!(differ(&third, &[(0, "a:80"), (1, "0")]), Some((1, false)));
        assert_eq!(differ(&third, &[(0, "b:80"), (1, "3")]), None);
    }

    #[test]
    fn what_counts_is_mostly_one_more() {
        let point = LogPointId::new(0);
        let counts = |seen: &[bool]| {
            let mut tries = Tries::default();
            seen.iter().for_each(|&is_next| tries.learn(point, 1, is_next));
            tries.counts(point, 1)
        };
        assert!(counts(&[true, true, false]));
        assert!(!counts(&[true]));
        assert!(!counts(&[true, true, false, false, false]));
    }
}
