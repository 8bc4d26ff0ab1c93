//! Figures of many times: count, mean, standard deviation, quantiles, and whether two of them differ.

/// Tenths of a microsecond are more than any clock has.
pub(crate) fn rounded(us: f64) -> f64 {
    (us * 10.0).round() / 10.0
}

/// Four digits of a share or a chance.
pub(crate) fn share(share: f64) -> f64 {
    (share * 10_000.0).round() / 10_000.0
}

/// Figures of a column of times, µs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Statistics {
    /// Times.
    pub(crate) count: u64,
    /// Their sum.
    pub(crate) total_us: i128,
    /// 0 if there are none.
    pub(crate) mean_us: f64,
    /// Of a sample: divided by one less than there are; 0 of one.
    pub(crate) std_us: f64,
    /// The smallest time that half of them do not exceed.
    pub(crate) p50_us: i64,
    /// The smallest time that 99 % of them do not exceed.
    pub(crate) p99_us: i64,
}

impl Statistics {
    /// Of `times`, which it reorders.
    pub(crate) fn of(times: &mut [i64]) -> Self {
        if times.is_empty() {
            return Self::default();
        }
        let n = times.len() as f64;
        let total: i128 = times.iter().map(|&us| i128::from(us)).sum();
        let mean = total as f64 / n;
        let squares: f64 = times.iter().map(|&us| (us as f64 - mean).powi(2)).sum();
        let variance = if times.len() > 1 { squares / (n - 1.0) } else { 0.0 };
        Self {
            count: times.len() as u64,
            total_us: total,
            mean_us: mean,
            std_us: variance.sqrt(),
            p50_us: quantile(times, 50),
            p99_us: quantile(times, 99),
        }
    }
}

/// The smallest of `times` that `percent` % of them do not exceed (nearest rank).
pub(crate) fn quantile(times: &mut [i64], percent: u64) -> i64 {
    let rank = (times.len() as u64 * percent).div_ceil(100).max(1);
    *times.select_nth_unstable(usize::try_from(rank - 1).expect("a rank among them")).1
}

/// The same column of all requests, of normal ones and of those in the tail (tprof §3.6).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Summary {
    /// All.
    pub(crate) all: Statistics,
    /// Those that are not in the tail.
    pub(crate) normal: Statistics,
    /// The slowest ones.
    pub(crate) tail: Statistics,
}

/// How unlikely it is, at most, that two means differ so much by chance alone: Welch's t with
/// the normal distribution. 1 where either has no spread that could be judged.
pub(crate) fn chance(a: &Statistics, b: &Statistics) -> f64 {
    if a.count < 2 || b.count < 2 {
        return 1.0;
    }
    let error = (a.std_us.powi(2) / a.count as f64 + b.std_us.powi(2) / b.count as f64).sqrt();
    let difference = (a.mean_us - b.mean_us).abs();
    if error == 0.0 {
        return if difference == 0.0 { 1.0 } else { 0.0 };
    }
    two_sided(difference / error)
}

/// The same of `k` of `n` and `l` of `m`: do two shares differ.
pub(crate) fn chance_of_shares((k, n): (u64, u64), (l, m): (u64, u64)) -> f64 {
    if n == 0 || m == 0 {
        return 1.0;
    }
    let pooled = (k + l) as f64 / (n + m) as f64;
    let error = (pooled * (1.0 - pooled) * (1.0 / n as f64 + 1.0 / m as f64)).sqrt();
    if error == 0.0 {
        return 1.0;
    }
    two_sided((k as f64 / n as f64 - l as f64 / m as f64).abs() / error)
}

/// Both tails of the normal distribution beyond `z` (Abramowitz and Stegun 7.1.26, error
/// below 1.5e-7).
fn two_sided(z: f64) -> f64 {
    let x = z / std::f64::consts::SQRT_2;
    let t = 1.0 / 0.327_591_1_f64.mul_add(x, 1.0);
    let series = [1.061_405_429, -1.453_152_027, 1.421_413_741, -0.284_496_736, 0.254_829_592];
    let polynomial = series.iter().fold(0.0_f64, |sum, term| sum.mul_add(t, *term)) * t;
    polynomial * (-x * x).exp()
}

#[cfg(test)]
mod tests {
    use super::{Statistics, chance, chance_of_shares};

    #[test]
    fn figures_of_few_times() {
        let of = |times: &[i64]| Statistics::of(&mut times.to_vec());
        assert_eq!(of(&[]), Statistics::default());
        let found = of(&[4, 2, 9, 5]);
        assert_eq!((found.count, found.total_us, found.mean_us), (4, 20, 5.0));
        // Deviations 1, 3, 4, 0 squared are 26, a third of it.
        assert!((found.std_us - (26.0_f64 / 3.0).sqrt()).abs() < 1e-12);
        assert_eq!((found.p50_us, found.p99_us), (4, 9));
        assert_eq!((of(&[7]).std_us, of(&[7]).p99_us), (0.0, 7));
        let hundred: Vec<i64> = (1..=100).rev().collect();
        assert_eq!((of(&hundred).p50_us, of(&hundred).p99_us), (50, 99));
    }

    #[test]
    fn figures_of_huge_times_do_not_overflow() {
        let found = Statistics::of(&mut vec![i64::MAX; 1_000]);
        assert_eq!((found.p50_us, found.mean_us), (i64::MAX, i64::MAX as f64));
    }

    #[test]
    fn chance_of_differences() {
        let of = |times: &[i64]| Statistics::of(&mut times.to_vec());
        let (low, high) = (of(&[10, 11, 12, 13, 14]), of(&[20, 21, 22, 23, 24]));
        assert!(chance(&low, &high) < 1e-6);
        assert!((chance(&low, &low) - 1.0).abs() < 1e-6);
        assert_eq!(chance(&of(&[1]), &high), 1.0);
        assert_eq!(chance(&of(&[1, 1]), &of(&[2, 2])), 0.0);
        // z = 2.0 of two shares: 4.55 %.
        let found = chance_of_shares((60, 100), (46, 100));
        assert!((found - 0.0473).abs() < 0.001, "{found}");
    }
}
