//! Bins: how many of some durations lie in each of fixed ranges, so that the durations of several
//! intervals, types or files can be put together without the rows they are of.
//!
//! The ranges are those of DDSketch (Masson, Rim, Lee; VLDB 2019) with γ = 2^(1/32): each ends 2.2 %
//! above where it begins. A quantile is told as a value that is at most 1.1 % off any in the range of
//! its rank. The crate of that name chooses ranges of its own; with these a range begins at each
//! doubling and half-way between two, where rows of a heat map begin, so that its counts are exact.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

/// Ranges of a doubling.
pub const BINS_OF_DOUBLING: usize = 32;
/// What a quantile can be off, as a part of it: (γ - 1) / (γ + 1).
pub const ERROR: f64 = 0.011;

/// Where the ranges of a doubling begin, of 2^63. Roots are exact to the last bit wherever they are
/// computed, powers are not.
static BEGINS: LazyLock<[u64; BINS_OF_DOUBLING]> = LazyLock::new(|| {
    let mut root = 2_f64;
    let roots: [f64; 5] = std::array::from_fn(|_| {
        root = root.sqrt();
        root
    });
    std::array::from_fn(|bin| {
        let factors = (0..5).filter(|bit| bin >> (4 - bit) & 1 == 1).map(|bit| roots[bit]);
        (factors.product::<f64>() * (1_u64 << 63) as f64) as u64
    })
});

/// The range in which a duration lies; 0: it is less than a microsecond.
#[must_use]
pub fn bin_of(us: i64) -> usize {
    let Some(us) = u64::try_from(us).ok().filter(|us| *us > 0) else { return 0 };
    let doubling = us.ilog2();
    let scaled = us << (63 - doubling);
    doubling as usize * BINS_OF_DOUBLING + BEGINS.partition_point(|begin| *begin <= scaled)
}

/// The least duration of a range, µs.
#[must_use]
pub fn least_of(bin: usize) -> i64 {
    let Some(at) = bin.checked_sub(1) else { return 0 };
    let (doubling, part) = (at / BINS_OF_DOUBLING, at % BINS_OF_DOUBLING);
    let least = BEGINS[part].checked_shr(63_u32.saturating_sub(doubling as u32)).unwrap_or(0);
    let is_whole = doubling >= 63 || least << (63 - doubling) == BEGINS[part];
    i64::try_from(least + u64::from(!is_whole)).unwrap_or(i64::MAX)
}

/// How many durations lie in each range, and the longest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Stored", into = "Stored")]
pub struct Bins {
    /// The range of the first of `counts`.
    first: usize,
    counts: Vec<u32>,
    n: u64,
    max_us: i64,
}

/// The ranges in which there are any, each by how far it is from the one before.
#[derive(Serialize, Deserialize)]
struct Stored {
    max_us: i64,
    counts: Vec<(u16, u32)>,
}

impl Bins {
    /// Adds a duration.
    pub fn add(&mut self, us: i64) {
        *self.count(bin_of(us)) += 1;
        self.max_us = if self.n == 0 { us } else { self.max_us.max(us) };
        self.n += 1;
    }

    /// Adds those of `other`.
    pub fn merge(&mut self, other: &Self) {
        let (Some(last), true) = (other.counts.len().checked_sub(1), other.n > 0) else { return };
        self.count(other.first + last);
        self.count(other.first);
        let counts = &mut self.counts[other.first - self.first..];
        counts.iter_mut().zip(&other.counts).for_each(|(count, more)| *count += more);
        self.max_us = if self.n == 0 { other.max_us } else { self.max_us.max(other.max_us) };
        self.n += other.n;
    }

    fn count(&mut self, bin: usize) -> &mut u32 {
        if self.counts.is_empty() {
            self.first = bin;
        } else if bin < self.first {
            let n_before = self.first - bin;
            self.counts.splice(..0, std::iter::repeat_n(0, n_before));
            self.first = bin;
        }
        let at = bin - self.first;
        if at >= self.counts.len() {
            self.counts.resize(at + 1, 0);
        }
        &mut self.counts[at]
    }

    /// How many there are.
    #[must_use]
    pub fn n(&self) -> u64 {
        self.n
    }

    /// The longest, exactly.
    #[must_use]
    pub fn max(&self) -> Option<i64> {
        (self.n > 0).then_some(self.max_us)
    }

    /// Ranges and how many lie in each.
    pub fn counts(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        (self.first..).zip(self.counts.iter().copied()).filter(|(_, n)| *n > 0)
    }

    /// The duration of the nearest rank, up to [`ERROR`].
    #[must_use]
    pub fn quantile(&self, percent: u64) -> Option<i64> {
        let rank = (self.n * percent).div_ceil(100).clamp(1, self.n.max(1));
        let mut n_until = 0;
        let (bin, _) = self.counts().find(|(_, n)| {
            n_until += u64::from(*n);
            n_until >= rank
        })?;
        let (from, to) = (least_of(bin), least_of(bin + 1).saturating_sub(1).min(self.max_us));
        // As far, in parts of it, from both ends.
        let (from_f, to_f) = (from as f64, to as f64);
        let middle = if from >= to { to } else { (2.0 * from_f * to_f / (from_f + to_f)).round() as i64 };
        Some(middle)
    }
}

impl From<Bins> for Stored {
    fn from(bins: Bins) -> Self {
        let mut before = 0;
        let counts = bins.counts().map(|(bin, n)| {
            let step = bin - std::mem::replace(&mut before, bin);
            (u16::try_from(step).expect("there are some 2,000 ranges"), n)
        });
        Self { max_us: bins.max_us, counts: counts.collect() }
    }
}

impl From<Stored> for Bins {
    fn from(stored: Stored) -> Self {
        let mut bins = Self { max_us: stored.max_us, ..Self::default() };
        let mut at = 0;
        for (step, n) in stored.counts {
            at += usize::from(step);
            *bins.count(at) += n;
            bins.n += u64::from(n);
        }
        bins
    }
}

#[cfg(test)]
mod tests {
    use super::{BINS_OF_DOUBLING, Bins, ERROR, bin_of, least_of};

    /// Durations of every size.
    fn durations() -> Vec<i64> {
        let small = -2..3_000;
        let large = (0..62).flat_map(|k| [-1, 0, 1].map(|d| (1_i64 << k) + d));
        let drawn = (1..5_000_i64).map(|n| (n * n * n * 7_919) % 90_000_000 + n);
        small.chain(large).chain(drawn).collect()
    }

    #[test]
    fn a_duration_lies_in_its_range() {
        for us in durations().into_iter().map(|us| us.max(0)) {
            let bin = bin_of(us);
            assert!(least_of(bin) <= us && (us < least_of(bin + 1) || us == i64::MAX), "{us} in {bin}");
        }
        // Rows of the heat map: doublings, and half-way between.
        let half = 1 + 20 * BINS_OF_DOUBLING + BINS_OF_DOUBLING / 2;
        assert_eq!(
            [least_of(1), least_of(1 + 20 * BINS_OF_DOUBLING), least_of(half)],
            [1, 1 << 20, 1_482_911]
        );
    }

    #[test]
    fn a_quantile_is_near_the_exact_one() {
        let mut sorted: Vec<i64> = durations().into_iter().filter(|us| *us < 1 << 50).collect();
        let mut bins = Bins::default();
        sorted.iter().for_each(|us| bins.add(*us));
        sorted.sort_unstable();
        for percent in 1..=100 {
            let exact = sorted[(sorted.len() * percent).div_ceil(100) - 1].max(0) as f64;
            let told = bins.quantile(percent as u64).expect("a quantile") as f64;
            assert!((told - exact).abs() <= ERROR * exact + 0.5, "{percent}: {told} for {exact}");
        }
        assert_eq!((bins.max(), Bins::default().quantile(50)), (sorted.last().copied(), None));
    }

    #[test]
    fn parts_put_together_are_the_whole() {
        let all = durations();
        let bins = |us: &[i64]| {
            let mut bins = Bins::default();
            us.iter().for_each(|us| bins.add(*us));
            bins
        };
        let mut together = Bins::default();
        all.chunks(97).rev().for_each(|part| together.merge(&bins(part)));
        assert_eq!((together.n(), together.max()), (all.len() as u64, all.iter().max().copied()));
        assert!(together.counts().eq(bins(&all).counts()));
        let stored = postcard::to_stdvec(&together).expect("bytes");
        let read: Bins = postcard::from_bytes(&stored).expect("bins");
        assert!(read.counts().eq(together.counts()) && read.max() == together.max());
    }
}
