//! How sure a mean, and how sure the difference of two means or two quantiles is: percentiles of a
//! bootstrap (Efron and Tibshirani, *An Introduction to the Bootstrap*, 1993, ch. 13) with a fixed seed,
//! so that a report is a function of its table.
//!
//! A mean is resampled as it stands; of times that are too many to be drawn again and again it is
//! normally distributed. A quantile needs no resampling: the r-th smallest of n indexes drawn with
//! replacement is `ceil(n * U)`, where U, the r-th smallest of n uniform numbers, has the distribution
//! Beta(r, n + 1 - r). So one number is drawn of each resample, however many times there are.

use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Beta, Distribution as _};

use super::statistics::Statistics;

/// Resamples of a bootstrap.
const RESAMPLES: usize = 1_000;
/// Times that are drawn for one interval, at most; of more of them the mean is not resampled.
const DRAWS_MAX: usize = 2_000_000;
/// Resamples beyond either end of the bounds.
const ENDS: f64 = 0.025;
/// z of 95 %.
const Z_95: f64 = 1.959_963_984_540_054;

/// A figure with its bounds at 95 %, µs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Interval {
    /// The figure.
    pub(crate) us: f64,
    /// Its lower bound.
    pub(crate) low_us: f64,
    /// Its upper bound.
    pub(crate) high_us: f64,
}

impl Interval {
    /// What is left of it for certain: its bound next to 0, and 0 if the bounds lie around that.
    pub(crate) fn least_us(&self) -> f64 {
        if self.low_us > 0.0 {
            self.low_us
        } else if self.high_us < 0.0 {
            self.high_us
        } else {
            0.0
        }
    }

    fn around(us: f64, error_us: f64) -> Self {
        Self { us, low_us: us - Z_95 * error_us, high_us: us + Z_95 * error_us }
    }

    fn of_resamples(us: f64, mut resamples: Vec<f64>) -> Self {
        resamples.sort_by(f64::total_cmp);
        let at = |share: f64| resamples[((resamples.len() - 1) as f64 * share).round() as usize];
        Self { us, low_us: at(ENDS), high_us: at(1.0 - ENDS) }
    }
}

/// The mean of `times`.
pub(crate) fn mean(times: &[i64]) -> Interval {
    let statistics = Statistics::of(&mut times.to_vec());
    let Some(n) = resamples(times.len()) else {
        return Interval::around(statistics.mean_us, error_us(&statistics));
    };
    let mut random = ChaCha8Rng::seed_from_u64(times.len() as u64);
    Interval::of_resamples(statistics.mean_us, (0..n).map(|_| resampled_mean(times, &mut random)).collect())
}

/// How much larger the mean of `second` is than that of `first`; none if one of them is not two times
/// at least.
pub(crate) fn mean_difference(first: &[i64], second: &[i64]) -> Option<Interval> {
    if first.len() < 2 || second.len() < 2 {
        return None;
    }
    let [a, b] = [first, second].map(|times| Statistics::of(&mut times.to_vec()));
    let us = b.mean_us - a.mean_us;
    let Some(n) = resamples(first.len() + second.len()) else {
        return Some(Interval::around(us, error_us(&a).hypot(error_us(&b))));
    };
    let mut random = seeded(first, second);
    let difference = |_| resampled_mean(second, &mut random) - resampled_mean(first, &mut random);
    Some(Interval::of_resamples(us, (0..n).map(difference).collect()))
}

/// How much larger the quantile of `second` is than that of `first`, which are sorted; none if that cannot be
/// said of one of them.
pub(crate) fn quantile_difference(first: &[i64], second: &[i64], percent: u64) -> Option<Interval> {
    if !has_bounds(first.len(), percent) || !has_bounds(second.len(), percent) {
        return None;
    }
    let rank = |times: &[i64]| (times.len() as u64 * percent).div_ceil(100).max(1);
    let [a, b] = [first, second].map(|times| (times, rank(times)));
    let at = |(times, rank): (&[i64], u64)| times[usize::try_from(rank - 1).expect("a rank among them")];
    let us = (at(b) - at(a)) as f64;
    let mut random = seeded(first, second);
    let [of_a, of_b] = [a, b].map(|(times, rank)| {
        let above = times.len() as f64 + 1.0 - rank as f64;
        Beta::new(rank as f64, above).expect("a rank is 1 to the number of times")
    });
    let mut drawn = |beta: &Beta<f64>, times: &[i64]| {
        let at = (times.len() as f64 * beta.sample(&mut random)) as usize;
        times[at.min(times.len() - 1)]
    };
    let difference = |_| (drawn(&of_b, second) - drawn(&of_a, first)) as f64;
    Some(Interval::of_resamples(us, (0..RESAMPLES).map(difference).collect()))
}

/// Whether so many times tell how large a quantile is at most: the longest of them is not below it but with
/// the probability of one end of the bounds. It takes 6 for the median, 368 for the 99th percentile; what is
/// resampled of fewer never has the tail that they do not have.
fn has_bounds(n_times: usize, percent: u64) -> bool {
    (percent as f64 / 100.0).powf(n_times as f64) <= ENDS
}

/// How often a mean of so many times is resampled; none: too seldom for percentiles.
fn resamples(n_times: usize) -> Option<usize> {
    let n = (DRAWS_MAX / n_times.max(1)).min(RESAMPLES);
    (n >= RESAMPLES / 5).then_some(n)
}

fn resampled_mean(times: &[i64], random: &mut ChaCha8Rng) -> f64 {
    if times.is_empty() {
        return 0.0;
    }
    let drawn = (0..times.len()).map(|_| i128::from(times[random.random_range(0..times.len())]));
    drawn.sum::<i128>() as f64 / times.len() as f64
}

/// The standard error of a mean, µs.
fn error_us(of: &Statistics) -> f64 {
    of.std_us / (of.count.max(1) as f64).sqrt()
}

fn seeded(first: &[i64], second: &[i64]) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(((first.len() as u64) << 32) ^ second.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::{ChaCha8Rng, Interval, mean, mean_difference, quantile_difference, seeded};
    use crate::profile::statistics::quantile;
    use rand::{Rng as _, SeedableRng as _};

    fn width(of: Interval) -> f64 {
        of.high_us - of.low_us
    }

    #[test]
    fn a_mean_lies_within_its_bounds_and_more_times_narrow_them() {
        let times = |n: i64| (0..n).map(|i| i * 7_919 % 1_000).collect::<Vec<i64>>();
        let widths: Vec<f64> = [30, 1_000, 100_000]
            .map(|n| {
                let found = mean(&times(n));
                assert!(found.low_us < found.us && found.us < found.high_us, "{found:?}");
                assert_eq!(found.us, times(n).iter().sum::<i64>() as f64 / n as f64);
                // 1.96 standard errors to each side.
                let expected = 2.0 * 1.96 * 288.7 / (n as f64).sqrt();
                assert!((width(found) / expected - 1.0).abs() < 0.2, "{found:?} {expected}");
                width(found)
            })
            .to_vec();
        assert!(widths.is_sorted_by(|a, b| a > b));
        assert_eq!(mean(&times(500)), mean(&times(500)));
        let nothing = mean(&[]);
        assert_eq!((nothing.us, nothing.low_us, nothing.high_us), (0.0, 0.0, 0.0));
    }

    /// 200 pairs of samples whose means differ by 30: the bounds hold it as often as they say.
    #[test]
    fn bounds_of_a_difference_hold_it_in_95_of_100_pairs() {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let (mut means, mut medians) = (0, 0);
        for _ in 0..200 {
            let mut drawn = |n: usize, from: i64| {
                let mut times: Vec<i64> = (0..n).map(|_| from + random.random_range(0..200)).collect();
                times.sort_unstable();
                times
            };
            let (first, second) = (drawn(80, 100), drawn(120, 130));
            let holds = |of: Interval| of.low_us <= 30.0 && 30.0 <= of.high_us;
            means += u32::from(holds(mean_difference(&first, &second).expect("enough times")));
            medians += u32::from(holds(quantile_difference(&first, &second, 50).expect("enough times")));
        }
        assert!((180..=200).contains(&means), "{means}");
        assert!((180..=200).contains(&medians), "{medians}");
    }

    /// The oracle: resamples as they are drawn, and their quantiles.
    #[test]
    fn a_quantile_of_resamples_is_one_drawn_number() {
        let mut random = ChaCha8Rng::seed_from_u64(9);
        let mut times = |n: usize| {
            let mut times: Vec<i64> = (0..n).map(|_| random.random_range(0..1_000_i64).pow(2)).collect();
            times.sort_unstable();
            times
        };
        let (first, second) = (times(450), times(400));
        for percent in [50, 90, 99] {
            let found = quantile_difference(&first, &second, percent).expect("enough times");
            let mut random = seeded(&second, &first);
            let mut resampled = |times: &[i64]| {
                let n = times.len();
                let mut drawn: Vec<i64> = (0..n).map(|_| times[random.random_range(0..n)]).collect();
                quantile(&mut drawn, percent) as f64
            };
            let all: Vec<f64> = (0..4_000).map(|_| resampled(&second) - resampled(&first)).collect();
            let slow = Interval::of_resamples(found.us, all);
            for (a, b) in [(found.low_us, slow.low_us), (found.high_us, slow.high_us)] {
                assert!((a - b).abs() < 0.15 * width(slow), "{percent}: {found:?} {slow:?}");
            }
        }
    }

    #[test]
    fn few_times_have_no_bounds() {
        assert_eq!(mean_difference(&[1], &[1, 2]), None);
        assert_eq!(quantile_difference(&[1, 2], &[], 50), None);
        let times = |n: i64| (0..n).collect::<Vec<i64>>();
        for (n, percent, expected) in [(5, 50, false), (6, 50, true), (367, 99, false), (368, 99, true)] {
            let found = quantile_difference(&times(n), &times(1_000), percent);
            assert_eq!(found.is_some(), expected, "{percent} % of {n}");
        }
        let equal = mean_difference(&[4, 4], &[4, 4]).expect("enough times");
        assert_eq!((equal.us, equal.low_us, equal.high_us, equal.least_us()), (0.0, 0.0, 0.0, 0.0));
    }
}
