//! Intervals: which of many spans were at work at a time, found without a look at all that
//! began before it, however long one of them lasts.

use super::facts::Facts;

/// Spans, or blocks of them, that a block holds.
const BLOCK: usize = 16;

/// Spans by when they were at work.
#[derive(Debug, Default)]
pub(super) struct Intervals {
    /// In the order of their starts.
    spans: Vec<u32>,
    starts_us: Vec<i64>,
    /// The end of each span, then the latest one in each block of those, and so on.
    ends_us: Vec<Vec<i64>>,
}

impl Intervals {
    /// Of `spans`, which are in canonical order.
    pub(super) fn new(facts: &Facts<'_>, spans: &[u32]) -> Self {
        let facts = spans.iter().map(|&span| (span, facts.get(span)));
        Self::of(facts.map(|(span, fact)| (span, fact.start_us, fact.end_us)))
    }

    /// Of spans with their start and end, in the order of their starts.
    fn of(times: impl Iterator<Item = (u32, i64, i64)>) -> Self {
        let mut out = Self { ends_us: vec![Vec::new()], ..Self::default() };
        for (span, start_us, end_us) in times {
            out.spans.push(span);
            out.starts_us.push(start_us);
            out.ends_us[0].push(end_us);
        }
        while let Some(last) = out.ends_us.last().filter(|last| last.len() > BLOCK) {
            let latest = last.chunks(BLOCK).map(|block| block.iter().copied().max().unwrap_or(i64::MIN));
            let latest = latest.collect();
            out.ends_us.push(latest);
        }
        out
    }

    /// The spans that start no later than `start_us` and end no earlier than `end_us`, the
    /// latest in canonical order first.
    pub(super) fn at_work(&self, start_us: i64, end_us: i64) -> impl Iterator<Item = u32> {
        let mut at = self.starts_us.partition_point(|&start| start <= start_us);
        std::iter::from_fn(move || {
            at = self.last_before(at, end_us)?;
            Some(self.spans[at])
        })
    }

    /// Position of the last span before that at `until` that ends no earlier than `end_us`.
    fn last_before(&self, until: usize, end_us: i64) -> Option<usize> {
        // Looked at next is what stands before `until` on `level`.
        let (mut level, mut until) = (0, until);
        while let Some(at) = until.checked_sub(1) {
            if self.ends_us[level][at] < end_us {
                until = at;
                // All before it is in whole blocks.
                if until.is_multiple_of(BLOCK) && level + 1 < self.ends_us.len() {
                    (level, until) = (level + 1, until / BLOCK);
                }
            } else if level == 0 {
                return Some(at);
            } else {
                level -= 1;
                until = (until * BLOCK).min(self.ends_us[level].len());
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::Intervals;
    use schema::happened_before::random::Random;

    #[test]
    fn those_at_work_are_found_as_by_looking_at_all() {
        let mut random = Random(7);
        for n in [0, 1, 15, 16, 17, 255, 256, 257, 5000] {
            let mut starts: Vec<i64> = (0..n).map(|_| i64::from(random.below(n))).collect();
            starts.sort_unstable();
            let mut time = |(span, start): (u32, i64)| {
                let is_long = random.once_in(50);
                (span, start, start + i64::from(random.below(if is_long { n } else { 5 })))
            };
            let times: Vec<(u32, i64, i64)> = (0..n).zip(starts).map(&mut time).collect();
            let intervals = Intervals::of(times.iter().copied());
            for _ in 0..200 {
                let (start_us, end_us) =
                    (i64::from(random.below(n + 2)) - 1, i64::from(random.below(n + 2)) - 1);
                let found: Vec<u32> = intervals.at_work(start_us, end_us).collect();
                let is_at_work = |&&(_, start, end): &&(u32, i64, i64)| start <= start_us && end >= end_us;
                let expected: Vec<u32> = times.iter().rev().filter(is_at_work).map(|time| time.0).collect();
                assert_eq!(found, expected, "{n} spans, start to {start_us}, end from {end_us}");
            }
        }
    }
}
