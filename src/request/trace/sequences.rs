//! Sequences: clocks tell times in ticks, so that what follows on a span can seem to start just
//! before it ends. Such an overlap of two spans of one parent, of a tick at most or of a hundredth
//! of the shorter one, is none: the first is taken to end where the second starts.

use super::{Trace, Wait};

/// Part of the shorter of two spans.
const PART: i64 = 100;

impl Trace {
    /// Ends spans where the next one of their parent starts, if that is as good as where they end.
    pub(super) fn put_in_sequence(&mut self) {
        let tick_us = self.tick_us();
        for at in 0..self.top_down.len() {
            let parent = self.top_down[at];
            let mut waited: Vec<u32> = self.children(parent).to_vec();
            waited.retain(|&child| self.spans[child as usize].wait != Wait::Nobody);
            waited.sort_by_key(|&child| {
                let span = &self.spans[child as usize];
                (span.start_us, span.end_us, child)
            });
            for two in waited.windows(2) {
                let (one, next) = (self.spans[two[0] as usize], self.spans[two[1] as usize]);
                let shorter = (one.end_us - one.start_us).min(next.end_us - next.start_us);
                let overlap = one.end_us - next.start_us;
                let is_none = overlap > 0
                    && overlap <= tick_us.max(shorter / PART)
                    && overlap < shorter
                    && one.end_us < next.end_us;
                if is_none {
                    self.end_at(two[0], next.start_us);
                }
            }
        }
    }

    /// Ends a span, and all for which it waits, at `end_us` at the latest.
    fn end_at(&mut self, span: u32, end_us: i64) {
        let mut open = vec![span];
        while let Some(at) = open.pop() {
            let span = &mut self.spans[at as usize];
            if span.end_us <= end_us {
                continue;
            }
            span.end_us = end_us;
            span.start_us = span.start_us.min(end_us);
            let waited = |child: &&u32| self.spans[**child as usize].wait != Wait::Nobody;
            open.extend(self.children(at).iter().filter(waited));
        }
    }

    /// The tick of the clocks: the longest of a second, a millisecond and a microsecond that all
    /// times are multiples of.
    fn tick_us(&self) -> i64 {
        let is_multiple =
            |tick: &i64| self.spans.iter().all(|span| span.start_us % tick == 0 && span.end_us % tick == 0);
        [1_000_000, 1_000].into_iter().find(is_multiple).unwrap_or(1)
    }
}
