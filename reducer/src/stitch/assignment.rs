//! Assignment: each of some receivers gets one place or none, each place one receiver or none.
//! How likely does each receiver get each place, if every way to give them all is as likely as
//! the product of what is told of each choice?
//!
//! To sum over all ways is out of reach (a permanent). Messages between receivers and places
//! that go on until they settle come near it, and they settle always (belief propagation;
//! Williams and Lau, IEEE Transactions on Aerospace and Electronic Systems 2014). What they tell
//! is exact where receivers and places make no circle.

/// A choice of a receiver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Edge {
    /// Which place; none: one with room for any number.
    pub(super) place: Option<u32>,
    /// The logarithm of how much likelier the choice is than none.
    pub(super) odds: f64,
}

/// What two messages of one place can differ by when all is settled.
const SETTLED: f64 = 1e-4;

/// Messages of one place, at most.
const ROUNDS_MAX: usize = 200;

/// Odds beyond which nothing changes.
const ODDS_MAX: f64 = 60.0;

/// For each choice of each receiver how likely it is made.
pub(super) fn shares(edges: &[Vec<Edge>]) -> Vec<Vec<f64>> {
    let all: Vec<Edge> = edges.iter().flatten().copied().collect();
    let mut starts = vec![0];
    starts.extend(edges.iter().scan(0, |n, edges| {
        *n += edges.len();
        Some(*n)
    }));
    let weights: Vec<f64> = all.iter().map(|edge| edge.odds.clamp(-ODDS_MAX, ODDS_MAX).exp()).collect();
    let n_places = all.iter().filter_map(|edge| edge.place).max().map_or(0, |place| place as usize + 1);
    let mut askers: Vec<Vec<usize>> = vec![Vec::new(); n_places];
    for (at, edge) in all.iter().enumerate() {
        edge.place.into_iter().for_each(|place| askers[place as usize].push(at));
    }
    // How much of each place is left for each choice of it by the others, and how much of the
    // place each choice takes.
    let (mut left, mut taken) = (vec![1.0; all.len()], vec![0.0; all.len()]);
    for _ in 0..ROUNDS_MAX {
        for bounds in starts.windows(2) {
            let own = bounds[0]..bounds[1];
            let wanted = own.clone().map(|at| weights[at] * left[at]);
            for (at, others) in own.zip(without_each(&wanted.collect::<Vec<_>>())) {
                taken[at] = weights[at] / (1.0 + others);
            }
        }
        let mut most = 0.0_f64;
        for askers in &askers {
            let all = askers.iter().map(|&at| taken[at]);
            for (&at, others) in askers.iter().zip(without_each(&all.collect::<Vec<_>>())) {
                let now = 1.0 / (1.0 + others);
                most = most.max((now - left[at]).abs());
                left[at] = now;
            }
        }
        if most < SETTLED {
            break;
        }
    }
    let share = |bounds: &[usize]| {
        let wanted: Vec<f64> = (bounds[0]..bounds[1]).map(|at| weights[at] * left[at]).collect();
        let sum = 1.0 + wanted.iter().sum::<f64>();
        wanted.into_iter().map(|one| one / sum).collect()
    };
    starts.windows(2).map(share).collect()
}

/// For each of some numbers the sum of all others. Nothing is subtracted: one can be so large
/// that the rest would be lost.
fn without_each(numbers: &[f64]) -> Vec<f64> {
    let mut sums = Vec::with_capacity(numbers.len());
    let mut before = 0.0;
    for number in numbers {
        sums.push(before);
        before += number;
    }
    let mut behind = 0.0;
    for (sum, number) in sums.iter_mut().zip(numbers).rev() {
        *sum += behind;
        behind += number;
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The weight of all ways for the receivers from `at` on, and in `sums` that of those in which
    /// each choice is made; `chosen` are the choices of those before.
    fn all_ways(edges: &[Vec<Edge>], chosen: &mut Vec<Option<usize>>, sums: &mut [Vec<f64>]) -> f64 {
        let at = chosen.len();
        let edge = |receiver: usize, choice: usize| edges[receiver][choice];
        if at == edges.len() {
            let made = chosen.iter().enumerate().filter_map(|(i, choice)| choice.map(|choice| (i, choice)));
            let weight = made.clone().map(|(i, choice)| edge(i, choice).odds).sum::<f64>().exp();
            made.for_each(|(i, choice)| sums[i][choice] += weight);
            return weight;
        }
        let mut sum = 0.0;
        for choice in std::iter::once(None).chain((0..edges[at].len()).map(Some)) {
            let place = choice.and_then(|choice| edges[at][choice].place);
            let is_taken = place.is_some()
                && chosen.iter().enumerate().any(|(i, c)| c.is_some_and(|c| edge(i, c).place == place));
            if !is_taken {
                chosen.push(choice);
                sum += all_ways(edges, chosen, sums);
                chosen.pop();
            }
        }
        sum
    }

    fn exact(edges: &[Vec<Edge>]) -> Vec<Vec<f64>> {
        let mut sums: Vec<Vec<f64>> = edges.iter().map(|edges| vec![0.0; edges.len()]).collect();
        let all = all_ways(edges, &mut Vec::new(), &mut sums);
        sums.iter().map(|sums| sums.iter().map(|sum| sum / all).collect()).collect()
    }

    /// Numbers that look random.
    struct Random(u64);

    impl Random {
        fn below(&mut self, n: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % n
        }
    }

    fn worst(edges: &[Vec<Edge>]) -> f64 {
        let (near, exact) = (shares(edges), exact(edges));
        let differ = near.iter().flatten().zip(exact.iter().flatten()).map(|(a, b)| (a - b).abs());
        differ.fold(0.0, f64::max)
    }

    #[test]
    fn shares_are_near_to_those_of_all_ways_together() {
        let mut random = Random(7);
        let (mut sum, mut most) = (0.0, 0.0_f64);
        for _ in 0..600 {
            let (n, n_places) = (1 + random.below(5), 1 + random.below(5));
            let edges: Vec<Vec<Edge>> = (0..n)
                .map(|_| {
                    let all = (0..n_places).filter_map(|place| {
                        let odds = random.below(12) as f64 - 4.0;
                        let place = (place > 0).then_some(u32::try_from(place).expect("small"));
                        (random.below(3) > 0).then_some(Edge { place, odds })
                    });
                    all.collect()
                })
                .collect();
            let differ = worst(&edges);
            (sum, most) = (sum + differ, most.max(differ));
        }
        assert!(sum / 600.0 < 0.03 && most < 0.25, "{} on the average, {most} at most", sum / 600.0);
    }

    #[test]
    fn shares_are_exact_without_a_circle() {
        let edge = |place, odds| Edge { place: Some(place), odds };
        let chain = [vec![edge(0, 3.0)], vec![edge(0, 4.0), edge(1, 1.0)], vec![edge(1, 2.0), edge(2, -1.0)]];
        assert!(worst(&chain) < 1e-3);
        // Two that are alike share.
        let alike = [vec![edge(0, 40.0)], vec![edge(0, 40.0)]];
        assert!(shares(&alike).iter().all(|of| (of[0] - 0.5).abs() < 1e-3));
        assert!(shares(&[Vec::new()])[0].is_empty());
    }
}
