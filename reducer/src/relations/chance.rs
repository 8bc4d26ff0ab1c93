//! Chance: how likely two requests share a value without a reason, told by the log itself.
//!
//! Requests hold values of kinds (a block, a file, a user). If those of one kind drew their value
//! from a hat, a value with `n` holders among the `N` requests of its kind would be drawn with
//! `p = n / N`: what few hold is shared by no chance, and what all share tells nothing.
//!
//! - *Made there, used here*: whoever uses a thing is later than who made it, so time tells
//!   nothing: chance is `p`, unless the value was there before the log shows it. In its life, from
//!   its first holder to its last one, one in so many requests of its kind holds it; that none of
//!   those before its first holder did is as likely by chance as it is to miss them all.
//! - *At once*: that one of the `w` requests of the kind that began from one to the other holds the
//!   value has a chance of `1 - (1 - p)^w`: little in a burst, nearly certain for what is always
//!   in use.
//!
//! What is likelier by chance than for a reason is no relation.

/// A value and its place among those of its kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shared {
    /// Requests that hold it.
    pub(super) n_holders: u32,
    /// Requests that hold a value of its kind.
    pub(super) n_of_kind: u32,
    /// Which of these, from 1, was its first and its last holder.
    pub(super) life: (u32, u32),
}

impl Shared {
    /// How likely a request of the kind holds it.
    pub(super) fn share(self) -> f64 {
        f64::from(self.n_holders) / f64::from(self.n_of_kind)
    }

    /// How likely a request shares it with its first holder by chance, or this one did not make it.
    pub(super) fn made(self) -> f64 {
        let (first, last) = self.life;
        let in_life = f64::from(self.n_holders) / f64::from(last - first + 1);
        let was_there = (1.0 - in_life).powf(f64::from(first - 1));
        1.0 - (1.0 - self.share()) * (1.0 - was_there)
    }

    /// How likely one of `n` requests of its kind holds it.
    pub(super) fn at_once(self, n: u32) -> f64 {
        1.0 - (1.0 - self.share()).powf(f64::from(n))
    }
}

/// Whether a reason is likelier than `chance`.
pub(super) fn is_small(chance: f64) -> bool {
    chance < 0.5
}

/// How many times as likely something is for a reason than by `chance`, in two digits.
pub(super) fn odds(chance: f64) -> f64 {
    let odds = (1.0 - chance) / chance;
    format!("{odds:.1e}").parse().unwrap_or(odds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(n_holders: u32, n_of_kind: u32, life: (u32, u32), made: f64, next: f64) {
        let shared = Shared { n_holders, n_of_kind, life };
        assert!((shared.made() - made).abs() < 1e-3, "made: {}", shared.made());
        assert!((shared.at_once(1) - next).abs() < 1e-3, "at once: {}", shared.at_once(1));
    }

    #[test]
    fn what_few_hold_in_a_short_life_was_made_there() {
        check(3, 1000, (500, 504), 0.003, 0.003);
    }

    #[test]
    fn what_all_share_tells_nothing() {
        check(100, 100, (1, 100), 1.0, 1.0);
    }

    #[test]
    fn what_was_there_when_the_log_began_was_not_made_there() {
        check(3, 1000, (1, 4), 1.0, 0.003);
        // Seen twice in all of the log: it may have been there before.
        check(2, 1000, (400, 1000), 0.266, 0.002);
    }

    #[test]
    fn the_longer_ago_the_likelier_by_chance() {
        let shared = Shared { n_holders: 10, n_of_kind: 100, life: (1, 100) };
        assert!((shared.at_once(1) - 0.1).abs() < 1e-9);
        assert!(shared.at_once(50) > 0.99);
    }

    #[test]
    fn odds_have_two_digits() {
        assert_eq!([0.5, 0.003, 1.0].map(odds), [1.0, 330.0, 0.0]);
    }
}
