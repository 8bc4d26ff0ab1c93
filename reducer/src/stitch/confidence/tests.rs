//! How likely links are, beside the slow way and beside logs of which it is known.

use std::collections::BTreeMap;

use schema::{PairId, Pass};

use super::{Counts, REAL, Sort, UNREAL, are_real, log_chance, real, weigh};

/// The chance that a share is so `n` times and then is not `n_not` times, summed over all shares.
fn slowly(n: usize, n_not: usize, (a, b): (f64, f64)) -> f64 {
    const STEPS: usize = 400_000;
    let (mut sum, mut whole) = (0.0, 0.0);
    for step in 0..STEPS {
        let share = (step as f64 + 0.5) / STEPS as f64;
        let density = share.powf(a - 1.0) * (1.0 - share).powf(b - 1.0);
        whole += density;
        sum += density * share.powf(n as f64) * (1.0 - share).powf(n_not as f64);
    }
    sum / whole
}

#[test]
fn chances_are_those_of_all_shares_together() {
    for shape in [(0.5, 1.0), (2.0, 0.5), (1.0, 1.0), (3.0, 2.0)] {
        for (n, n_not) in [(0, 0), (1, 0), (0, 1), (2, 3), (7, 1), (0, 12), (12, 0)] {
            let (fast, slow) = (log_chance(n, n_not, shape).exp(), slowly(n, n_not, shape));
            assert!((fast - slow).abs() < 0.01 * slow + 1e-4, "{n} {n_not} {shape:?}: {fast} {slow}");
        }
    }
}

fn sort(number: usize) -> Sort {
    (Pass::ByValues, Some(PairId::new(number)), None, None)
}

fn counts(n: usize, (n_agree, n_denied): (usize, usize), (n_near, n_far): (usize, usize)) -> Counts {
    Counts { n, n_agree, n_denied, n_near, n_far }
}

#[test]
fn evidence_is_what_is_counted() {
    let of = |counts: Counts| real(counts.evidence(), 0.5);
    assert!(of(counts(9, (9, 0), (9, 0))) > 0.99, "all speaks for it");
    assert!(of(counts(9, (0, 9), (0, 9))) < 0.05, "all speaks against it");
    assert!(of(counts(9, (0, 0), (0, 9))) < 0.1, "no other spans, and never near");
    assert!(of(counts(9, (9, 0), (0, 9))) < of(counts(9, (9, 0), (9, 0))), "not near");
    let denied = counts(9, (0, 9), (0, 0));
    assert!((real(denied.evidence(), 0.5) - 0.5).abs() < 1e-9, "what is no hand-over is not denied");
    assert!(of(counts(1, (1, 0), (1, 0))) < of(counts(5, (5, 0), (5, 0))), "the more, the surer");
}

#[test]
fn what_was_seen_once_is_less_sure_than_what_was_seen_often() {
    let all = [(0, counts(1, (0, 0), (1, 0))), (1, counts(400, (0, 0), (400, 0)))];
    let weights = weigh(&all.map(|(number, counts)| (sort(number), counts)).into_iter().collect());
    assert!(weights[&sort(0)] < weights[&sort(1)] && weights[&sort(1)] > 0.98, "{weights:?}");
    assert!(weights.values().all(|weight| (0.0..=1.0).contains(weight)));
    assert!(weigh(&BTreeMap::new()).is_empty());
}

/// Numbers between 0 and 1 that look as if drawn by chance.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A share of a shape, by the slowest way: the first that its density does not refuse.
    fn share(&mut self, (a, b): (f64, f64)) -> f64 {
        loop {
            let (x, y) = (self.next().powf(1.0 / a), self.next().powf(1.0 / b));
            if x + y <= 1.0 && x + y > 0.0 {
                return x / (x + y);
            }
        }
    }

    fn count(&mut self, n: usize, share: f64) -> usize {
        (0..n).filter(|_| self.next() < share).count()
    }
}

/// A log of many sorts of which it is known which are real: as many links are true as was said.
#[test]
fn of_a_simulated_log_as_many_are_true_as_is_said() {
    for share_of_real in [0.95, 0.8, 0.5] {
        let mut chance = Chance(7);
        let (mut all, mut is_real) = (BTreeMap::new(), Vec::new());
        for number in 0..4000 {
            let real = chance.next() < share_of_real;
            let shape = if real { REAL } else { UNREAL };
            let n = 1 + (12.0 * chance.next()) as usize;
            let (agrees, near) = (chance.share(shape.agrees), chance.share(shape.near));
            let (n_agree, n_near) = (chance.count(n, agrees), chance.count(n, near));
            all.insert(sort(number), counts(n, (n_agree, n - n_agree), (n_near, n - n_near)));
            is_real.push(real);
        }
        let mut bins = [(0.0, 0.0, 0.0); 5];
        for ((_, said_of), real) in are_real(&all).into_iter().zip(is_real) {
            let (n, said, right) = &mut bins[((said_of * 5.0) as usize).min(4)];
            (*n, *said, *right) = (*n + 1.0, *said + said_of, *right + f64::from(u8::from(real)));
        }
        for (n, said, right) in bins.into_iter().filter(|(n, ..)| *n >= 100.0) {
            let off = (said - right) / n;
            assert!(off.abs() < 0.06, "{share_of_real}: {n} said {said} right {right}");
        }
    }
}
