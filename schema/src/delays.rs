//! Delays: how long something takes, learnt from times that are each so likely.
//!
//! A time is told apart to an eighth of its power of two, and each that is seen speaks for its
//! neighbours too. Where few were seen, eighths are as likely as their power of two, and powers that
//! nothing was seen of are all alike.

/// One unit of time in which logs tell, µs.
pub const TICK_US: u64 = 1_000;

/// Powers of two of that which are told apart.
pub const N_POWERS: usize = 24;

/// Parts of a power of two.
const N_PARTS: u64 = 8;
const PART_BITS: u32 = N_PARTS.trailing_zeros();
const N_BINS: usize = N_PARTS as usize * (N_POWERS - PART_BITS as usize + 2);

/// How much a time that is seen speaks for itself and its neighbours, on either side.
const KERNEL: [f64; 3] = [3.0 / 9.0, 2.0 / 9.0, 1.0 / 9.0];

/// Times of which nothing is known yet count as so many.
const PRIOR: f64 = 2.0;

/// What is known of a power of two speaks for its parts as if each was seen once.
const PRIOR_OF_PARTS: f64 = N_PARTS as f64;

/// Share of the times that are below nothing, before anything is known: clocks differ.
const NEGATIVE: f64 = 0.05;

/// How long something takes: the weight of each time that was seen.
#[derive(Clone, Debug, Default)]
pub struct Delays {
    /// Of times from nothing on, and of those below.
    sides: [Option<Box<Side>>; 2],
    total: f64,
}

#[derive(Clone, Debug)]
struct Side {
    powers: [f64; N_POWERS],
    parts: [f64; N_BINS],
}

impl Delays {
    /// So long with a weight, µs.
    pub fn add(&mut self, us: i64, weight: f64) {
        let side = self.sides[usize::from(us < 0)]
            .get_or_insert_with(|| Box::new(Side { powers: [0.0; N_POWERS], parts: [0.0; N_BINS] }));
        side.powers[power(us).0] += weight;
        side.parts[part(us).0] += weight;
        self.total += weight;
    }

    /// The weight of all times.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.total
    }

    /// The logarithm of the density at a time, per µs, by all that was added but for the weight `own`
    /// at that very time; before anything is known, all of `n_powers` are alike.
    #[must_use]
    pub fn log_density(&self, us: i64, own: f64, n_powers: usize) -> f64 {
        let share = if us < 0 { NEGATIVE } else { 1.0 - NEGATIVE };
        let (power, ticks) = power(us);
        let side = self.sides[usize::from(us < 0)].as_deref();
        let total = (self.total - own).max(0.0);
        let seen = (side.map_or(0.0, |side| side.powers[power]) - own).max(0.0);
        let of_power = (seen + PRIOR * share / n_powers as f64) / (total + PRIOR) / ticks;
        let (part, ticks) = part(us);
        let near = side.map_or(0.0, |side| near(&side.parts, part));
        let seen = (near - own * KERNEL[0]).max(0.0) / ticks;
        let density = (seen + PRIOR_OF_PARTS * of_power) / (total + PRIOR_OF_PARTS);
        (density / TICK_US as f64).ln()
    }
}

/// What parts of a power of two tell of one of them.
fn near(parts: &[f64; N_BINS], part: usize) -> f64 {
    let on_side = |(k, weight): (usize, f64)| {
        let below = part.checked_sub(k).map_or(0.0, |at| parts[at]);
        weight * (below + parts.get(part + k).copied().unwrap_or_default())
    };
    KERNEL[0] * parts[part] + KERNEL.into_iter().enumerate().skip(1).map(on_side).sum::<f64>()
}

/// The power of two of a time, and how many ticks have the same.
#[must_use]
pub fn power(us: i64) -> (usize, f64) {
    let ticks = us.unsigned_abs() / TICK_US + 1;
    let power = (ticks.ilog2() as usize).min(N_POWERS - 1);
    (power, f64::from(1_u32 << power))
}

/// The part of its power of two in which a time is, and how many ticks that has.
fn part(us: i64) -> (usize, f64) {
    let ticks = (us.unsigned_abs() / TICK_US).min((1 << N_POWERS) - 1);
    if ticks < N_PARTS {
        return (ticks as usize, 1.0);
    }
    let bits = ticks.ilog2() - PART_BITS;
    let at = u64::from(bits + 1) * N_PARTS + ((ticks >> bits) & (N_PARTS - 1));
    (at as usize, f64::from(1_u32 << bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_in_order_without_a_hole() {
        let us = |ticks: u64| i64::try_from(ticks * TICK_US).expect("small");
        let mut n_ticks = vec![0.0; N_BINS];
        for ticks in 0..4_096 {
            n_ticks[part(us(ticks)).0] += 1.0;
            assert!((0..=1).contains(&(part(us(ticks + 1)).0 - part(us(ticks)).0)));
        }
        for ticks in 0..2_048 {
            assert_eq!(n_ticks[part(us(ticks)).0], part(us(ticks)).1, "of {ticks}");
        }
        assert!(part(i64::MAX).0 < N_BINS && power(i64::MIN).0 < N_POWERS);
    }

    #[test]
    fn all_times_together_are_one() {
        let mut delays = Delays::default();
        for ms in [3, 40, 41, 44, 300] {
            delays.add(ms * 1_000, 1.0);
        }
        // Up to 2^12 ticks, of which all powers are known.
        let sum: f64 = (0..4_095).map(|ms| delays.log_density(ms * 1_000, 0.0, 12).exp() * 1_000.0).sum();
        assert!((0.9..1.05).contains(&sum), "{sum}");
    }

    #[test]
    fn what_was_seen_is_likelier_near_it_and_says_nothing_for_itself() {
        let mut delays = Delays::default();
        (0..50).for_each(|i| delays.add(40_000 + i * 50, 1.0));
        let at = |ms: i64, own| delays.log_density(ms * 1_000, own, 16);
        assert!(at(40, 0.0) > at(60, 0.0) + 1.0 && at(60, 0.0) > at(200, 0.0));
        let mut alone = Delays::default();
        alone.add(40_000, 1.0);
        assert!(
            (alone.log_density(40_000, 1.0, 16) - Delays::default().log_density(40_000, 0.0, 16)).abs()
                < 1e-9
        );
    }
}
