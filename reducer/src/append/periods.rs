//! Periods: what was read is decided some time after some time, so that what is held is bounded
//! by what goes on at once, not by how long the logs are; and each period alone, so that it does
//! not matter in which order, or by which process.
//!
//! ```text
//! spans by start   |  1st period  |   2nd period   |  last period  |
//! 2nd decides on   .        [overlap|..............|overlap]
//!                  long span ----------->
//! ```
//! A period sees the spans that begin in it, those at work in the overlap before it, those that
//! begin in the overlap after it, and who made what is still at work: the first that has named it.
//! It owns the links of which the span that begins later begins in it: so each link is decided once,
//! by who sees all of its surroundings, and each span is of one request, whatever the periods are.
//! What links hold together is a request, over as many periods as it goes on.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};
use schema::Result;

use crate::Config;
use crate::clocks::Moved;
use crate::merge::to_u32;
use crate::skeleton::Stored;
use crate::spill::{Spill, Store};

/// A period is at least so many windows long: its overlaps are a small part.
const WINDOWS_MIN: i64 = 4;

/// Spans on disk, by start, and when periods begin.
#[derive(Debug)]
pub(super) struct Periods {
    /// By start, by clocks that were moved; then by where they begin.
    pub(super) spans: Vec<Spill>,
    /// When each period begins, µs; the first one is of all time before the second one.
    pub(super) begins_us: Vec<i64>,
    /// By period, what it sees of what begins before the overlap before it: what is still at work in that,
    /// and who was the first to name what is still named.
    earlier: Vec<Vec<u32>>,
    overlap_us: i64,
}

/// Spans in the order in which periods hold them, by clocks that were `moved`.
pub(super) fn in_order(mut spans: Vec<Spill>, stores: &[Store], moved: &Moved) -> Vec<Spill> {
    for span in spans.iter_mut().filter(|_| !moved.is_empty()) {
        let by_us = moved.get(&span.node(stores)).copied().unwrap_or_default();
        span.start_us = span.start_us.saturating_sub(by_us);
        span.end_us = span.end_us.saturating_sub(by_us);
    }
    spans.sort_unstable_by(|a, b| {
        let key = |span: &Spill| (span.start_us, span.node(stores).as_str(), span.first, span.stored);
        key(a).cmp(&key(b))
    });
    spans
}

/// When periods of `spans`, which are in order, begin, µs.
pub(super) fn begins_us(spans: &[Spill], config: &Config) -> Vec<i64> {
    let &Config { window_us, period_events, .. } = config;
    let mut n_left: u64 = spans.iter().map(|span| u64::from(span.n_events)).sum();
    let mut begins_us = vec![i64::MIN];
    let (mut n_taken, mut first_us) = (0, spans.first().map_or(0, |span| span.start_us));
    for span in spans {
        let is_long = span.start_us >= first_us.saturating_add(window_us.saturating_mul(WINDOWS_MIN));
        // A short rest is decided with it: little could be learnt from that.
        if n_taken >= period_events.max(1) && is_long && n_left > period_events / 2 {
            begins_us.push(span.start_us);
            (n_taken, first_us) = (0, span.start_us);
        }
        n_taken += u64::from(span.n_events);
        n_left -= u64::from(span.n_events);
    }
    begins_us
}

impl Periods {
    /// Those of `spans`, which are in order, that begin at these times; `overlap_us`: how long a
    /// request can be silent.
    pub(super) fn new(spans: Vec<Spill>, begins_us: Vec<i64>, overlap_us: i64) -> Self {
        let earlier = vec![Vec::new(); begins_us.len()];
        let mut periods = Self { spans, begins_us, earlier, overlap_us };
        for (at, span) in (0..).zip(&periods.spans) {
            // Of the periods whose overlap begins after it does.
            let first =
                periods.begins_us.partition_point(|us| us.saturating_sub(overlap_us) <= span.start_us);
            for later in first..periods.begins_us.len() {
                if span.end_us < periods.begins_us[later].saturating_sub(overlap_us) {
                    break;
                }
                periods.earlier[later].push(at);
            }
        }
        periods
    }

    /// How many there are, one at least.
    pub(super) fn len(&self) -> usize {
        self.begins_us.len()
    }

    /// The period in which what starts at a time begins.
    pub(super) fn of(&self, start_us: i64) -> usize {
        self.begins_us.partition_point(|us| *us <= start_us).saturating_sub(1)
    }

    /// The spans that begin in a period.
    pub(super) fn own(&self, period: usize) -> Range<usize> {
        let until = self.begins_us.get(period + 1).map_or(self.spans.len(), |us| self.first_from(*us));
        self.first_from(self.begins_us[period])..until
    }

    /// The spans that begin in some periods in a row.
    pub(super) fn own_of(&self, periods: Range<usize>) -> Range<usize> {
        if periods.is_empty() { 0..0 } else { self.own(periods.start).start..self.own(periods.end - 1).end }
    }

    /// By period, who was the first to name what is still named in it, however long ago that was; a
    /// name that nothing has held for as long as the overlap begins anew. `names` gives what each of
    /// some spans names, in their order.
    pub(super) fn makers(
        &self,
        mut names: impl FnMut(&[Stored], &mut dyn FnMut(usize, &[u64])) -> Result<()>,
    ) -> Result<Vec<Vec<u32>>> {
        // Who was the first to hold each name, and until when it was held.
        let mut held: FxHashMap<u64, (u32, i64)> = FxHashMap::default();
        let mut all = Vec::new();
        for period in 0..self.len() {
            let from_us = self.begins_us[period].saturating_sub(self.overlap_us);
            held.retain(|_, (_, until_us)| *until_us >= from_us);
            let own = self.own(period);
            let (mut makers, spans) = (FxHashSet::default(), &self.spans);
            let stored: Vec<Stored> = spans[own.clone()].iter().map(|span| span.stored).collect();
            names(&stored, &mut |at, names| {
                let (number, span) = (to_u32(own.start + at), &spans[own.start + at]);
                for &name in names {
                    let (first, until_us) = held.entry(name).or_insert((number, span.end_us));
                    if span.start_us.saturating_sub(*until_us) > self.overlap_us {
                        *first = number;
                    }
                    *until_us = span.end_us.max(*until_us);
                    if spans[*first as usize].end_us < from_us {
                        makers.insert(*first);
                    }
                }
            })?;
            let mut makers: Vec<u32> = makers.into_iter().collect();
            makers.sort_unstable();
            all.push(makers);
        }
        Ok(all)
    }

    /// Lets each period see `makers` of what is named in it.
    pub(super) fn see(&mut self, makers: Vec<Vec<u32>>) {
        for (earlier, makers) in self.earlier.iter_mut().zip(makers) {
            earlier.extend(makers);
            earlier.sort_unstable();
        }
    }

    /// The spans that a period sees, in order.
    pub(super) fn seen(&self, period: usize) -> Vec<u32> {
        let from = self.first_from(self.begins_us[period].saturating_sub(self.overlap_us));
        let after = self.begins_us.get(period + 1).map(|us| us.saturating_add(self.overlap_us));
        let until = after.map_or(self.spans.len(), |us| self.first_from(us));
        let near = to_u32(from)..to_u32(until);
        self.earlier[period].iter().copied().chain(near).collect()
    }

    /// From when on what is at work is seen by the periods after some in a row, µs.
    pub(super) fn seen_later_us(&self, periods: &Range<usize>) -> i64 {
        self.begins_us.get(periods.end).map_or(i64::MAX, |us| us.saturating_sub(self.overlap_us))
    }

    /// What the periods from this one on see of what was over by then.
    pub(super) fn makers_from(&self, period: usize) -> FxHashSet<u32> {
        self.earlier.iter().skip(period).flatten().copied().collect()
    }

    /// Events of the spans that a period sees.
    pub(super) fn n_events_seen(&self, period: usize) -> u64 {
        self.seen(period).iter().map(|&at| u64::from(self.spans[at as usize].n_events)).sum()
    }

    /// Where spans are.
    pub(super) fn stored(&self, spans: &[u32]) -> Vec<Stored> {
        spans.iter().map(|&at| self.spans[at as usize].stored).collect()
    }

    fn first_from(&self, us: i64) -> usize {
        self.spans.partition_point(|span| span.start_us < us)
    }
}

#[cfg(test)]
mod tests {
    use schema::Place;

    use super::*;

    fn span((start_us, end_us, n_events): (i64, i64, u32)) -> Spill {
        let first = Place { file: 0, line: start_us.unsigned_abs() };
        Spill { start_us, end_us, n_events, first, stored: Stored::default() }
    }

    fn config(period_events: u64) -> Config {
        Config { window_us: 10, period_events, ..Config::default() }
    }

    #[test]
    fn a_period_has_events_and_windows_and_a_rest_that_is_worth_it() {
        let begins = |spans: &[(i64, i64, u32)], period_events| {
            let spans: Vec<Spill> = spans.iter().copied().map(span).collect();
            begins_us(&spans, &config(period_events))
        };
        assert_eq!(begins(&[], 4), [i64::MIN]);
        let spans: Vec<(i64, i64, u32)> = (0..12).map(|at| (20 * at, 20 * at + 1, 2)).collect();
        assert_eq!(begins(&spans, 4), [i64::MIN, 40, 80, 120, 160, 200]);
        assert_eq!(begins(&spans, 14), [i64::MIN, 140], "the rest of ten events is more than half a period");
        assert_eq!(begins(&spans, 16), [i64::MIN], "one of eight is not");
        let near: Vec<(i64, i64, u32)> = (0..12).map(|at| (10 * at, 10 * at, 2)).collect();
        assert_eq!(begins(&near, 2), [i64::MIN, 40, 80], "four windows at least");
        let equal = [(0, 0, 9), (50, 50, 9), (50, 51, 9), (50, 52, 9)];
        assert_eq!(begins(&equal, 1), [i64::MIN, 50], "what begins at once is of one period");
    }

    #[test]
    fn a_period_sees_what_is_at_work_around_it() {
        let spans = [
            (0, 500, 1),
            (5, 30, 1),
            (80, 82, 1),
            (85, 95, 1),
            (100, 101, 1),
            (199, 400, 1),
            (205, 206, 1),
            (211, 220, 1),
        ];
        let periods = Periods::new(spans.map(span).to_vec(), vec![i64::MIN, 100, 200, 300], 10);
        assert_eq!([0, 1, 2, 3].map(|period| periods.own(period)), [0..4, 4..6, 6..8, 8..8]);
        assert_eq!(periods.seen(0), [0, 1, 2, 3, 4]);
        assert_eq!(periods.seen(1), [0, 3, 4, 5, 6]);
        assert_eq!(periods.seen(2), [0, 5, 6, 7]);
        assert_eq!(periods.seen(3), [0, 5]);
        assert_eq!([-7, 99, 100, 250, 300].map(|us| periods.of(us)), [0, 0, 1, 2, 3]);
        assert_eq!([0..1, 1..4].map(|periods_of| periods.seen_later_us(&periods_of)), [90, i64::MAX]);
    }
}
