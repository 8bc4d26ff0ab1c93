//! Assignment: each of some receivers gets one place or none, each place one receiver or none.
//! How likely does each receiver get each place, if every way to give them all is as likely as
//! the product of what is told of each choice?
//!
//! To sum over all ways is out of reach (a permanent). It is come near to by scaling: each receiver
//! and each place has a factor that makes the shares of all its choices one, and a choice counts
//! as much as what is told of it, over a power of what is left for all others (fractional belief
//! propagation; Chertkov and Yedidia, Journal of Machine Learning Research 2013). With the power
//! of one the shares are exact where receivers and places make no circle, but where two receivers
//! want the same two places the likelier way takes all; with that of one half they are exact there,
//! and too careful elsewhere. Three quarters ([`to_power`]) stand in the middle.

use petgraph::unionfind::UnionFind;
use rustc_hash::FxHashMap;

/// A choice of a receiver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// Which place; none: one with room for any number.
    pub place: Option<u32>,
    /// The logarithm of how much likelier the choice is than none.
    pub odds: f64,
}

impl Edge {
    /// Whether anything speaks for it at all.
    fn is_possible(&self) -> bool {
        self.odds > -ODDS_MAX
    }
}

/// What two shares can differ by when all is settled.
const SETTLED: f64 = 1e-3;

/// Rounds until then, at most.
const ROUNDS_MAX: usize = 300;

/// Odds beyond which nothing changes.
const ODDS_MAX: f64 = 60.0;

/// No share is nearer to one.
const REST_MIN: f64 = 1e-9;

/// Steps in which the factor of a place is found.
const STEPS: usize = 8;

/// For each choice of each receiver how likely it is made. What hangs together by places settles
/// by itself: most receivers want few places that few others want.
pub fn shares(edges: &[Vec<Edge>]) -> Vec<Vec<f64>> {
    let mut shares: Vec<Vec<f64>> = edges.iter().map(|edges| vec![0.0; edges.len()]).collect();
    let (mut together, mut places) = (Together::default(), FxHashMap::default());
    for component in components(edges) {
        let possible = |receiver: usize| (0..).zip(&edges[receiver]).filter(|(_, edge)| edge.is_possible());
        places.clear();
        together.clear();
        for &receiver in &component {
            // Choices that can be made, by the component's own numbers of places.
            for (_, edge) in possible(receiver) {
                let next = u32::try_from(places.len()).expect("no more places than a u32 counts");
                let place = edge.place.map(|place| *places.entry(place).or_insert(next));
                together.choices.push(Choice::new(place, edge.odds));
            }
            together.ends.push(together.choices.len());
        }
        together.settle(places.len());
        let mut settled = together.choices.iter().map(|choice| choice.share);
        for &receiver in &component {
            for ((at, _), share) in possible(receiver).zip(&mut settled) {
                shares[receiver][at] = share;
            }
        }
    }
    shares
}

/// Receivers by the places that they want, in their order; not those that cannot have any.
fn components(edges: &[Vec<Edge>]) -> Vec<Vec<usize>> {
    let mut sets: UnionFind<usize> = UnionFind::new(edges.len());
    let mut first: FxHashMap<u32, usize> = FxHashMap::default();
    for (receiver, edges) in edges.iter().enumerate() {
        for place in edges.iter().filter(|edge| edge.is_possible()).filter_map(|edge| edge.place) {
            sets.union(*first.entry(place).or_insert(receiver), receiver);
        }
    }
    let mut found: Vec<Vec<usize>> = Vec::new();
    let mut numbers: FxHashMap<usize, usize> = FxHashMap::default();
    for receiver in (0..edges.len()).filter(|&receiver| edges[receiver].iter().any(Edge::is_possible)) {
        let number = *numbers.entry(sets.find_mut(receiver)).or_insert(found.len());
        if number == found.len() {
            found.push(Vec::new());
        }
        found[number].push(receiver);
    }
    found
}

/// A choice that can be made.
struct Choice {
    place: Option<u32>,
    /// How much likelier it is than none.
    weight: f64,
    /// How much it counts, and how likely it is made, as far as that is known.
    count: f64,
    share: f64,
}

impl Choice {
    fn new(place: Option<u32>, odds: f64) -> Self {
        let weight = odds.clamp(-ODDS_MAX, ODDS_MAX).exp();
        Self { place, weight, count: weight, share: 0.0 }
    }
}

/// Receivers that hang together by the places that they want.
#[derive(Default)]
struct Together {
    /// Those of all receivers, one after the other.
    choices: Vec<Choice>,
    /// Where those of each receiver end.
    ends: Vec<usize>,
    /// Per place its factor, and how much all want of it.
    places: Vec<(f64, f64)>,
}

impl Together {
    fn clear(&mut self) {
        self.choices.clear();
        self.ends.clear();
        self.places.clear();
    }

    /// Finds the shares, until nothing changes any more.
    fn settle(&mut self, n_places: usize) {
        self.places.resize(n_places, (1.0, 0.0));
        for _ in 0..ROUNDS_MAX {
            self.count();
            for (left, wanted) in &mut self.places {
                *left = factor(std::mem::take(wanted));
            }
            let mut most = 0.0_f64;
            for Choice { place, count, share, .. } in &mut self.choices {
                let of = place.map_or(1.0, |place| self.places[place as usize].0);
                // Half the way, so that nothing goes to and fro.
                let now = f64::midpoint((*count * of).min(1.0), *share);
                most = most.max((now - *share).abs());
                *share = now;
            }
            if most < SETTLED {
                break;
            }
        }
    }

    /// Counts how much each choice counts, and how much all want of each place.
    fn count(&mut self) {
        let mut start = 0;
        for &end in &self.ends {
            let choices = &mut self.choices[start..end];
            let mut sum = 1.0;
            for Choice { place, weight, count, share } in &mut *choices {
                let of = place.map_or(1.0, |place| self.places[place as usize].0);
                let rest = (1.0 - *share).max(REST_MIN);
                *count = *weight / if place.is_some() { to_power(rest) } else { 1.0 };
                sum += *count * of;
            }
            for Choice { place, count, .. } in choices {
                *count /= sum;
                if let Some(place) = *place {
                    self.places[place as usize].1 += *count;
                }
            }
            start = end;
        }
    }
}

/// The power of what is left for all others by which a choice is divided: the third of its fourth roots.
fn to_power(left: f64) -> f64 {
    let half = left.sqrt();
    half * half.sqrt()
}

/// The factor of a place: what is wanted of it, times the factor, and what is left of it make one, and
/// the factor is the power of what is left ([`to_power`]). So the fourth root `x` of what is left fulfils
/// `x⁴ + wanted x³ = 1`, which Newton's steps find from above.
fn factor(wanted: f64) -> f64 {
    let mut x = (1.0 / wanted).cbrt().min(1.0);
    for _ in 0..STEPS {
        let next = x - (x * x * x * (x + wanted) - 1.0) / (x * x * (4.0 * x + 3.0 * wanted));
        if next == x {
            break;
        }
        x = next;
    }
    x * x * x
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
        assert!(sum / 600.0 < 0.05 && most < 0.25, "{} on the average, {most} at most", sum / 600.0);
    }

    #[test]
    fn a_factor_and_what_is_left_make_one() {
        for wanted in [0.0, 1e-6, 0.3, 1.0, 2.0, 17.0, 1e4, 1e9] {
            let x = factor(wanted);
            let left = x.powf(4.0 / 3.0);
            assert!((left + x * wanted - 1.0).abs() < 1e-9, "{x} of {wanted}");
            assert!((to_power(left) - x).abs() < 1e-12, "{x} of {wanted}");
        }
    }

    /// The shares if all hang together.
    fn settle(edges: &[Vec<Edge>]) -> Vec<Vec<f64>> {
        let mut together = Together::default();
        for edges in edges {
            together.choices.extend(edges.iter().map(|edge| Choice::new(edge.place, edge.odds)));
            together.ends.push(together.choices.len());
        }
        let n_places = edges.iter().flatten().filter_map(|edge| edge.place).max();
        together.settle(n_places.map_or(0, |most| most as usize + 1));
        let mut shares = together.choices.iter().map(|choice| choice.share);
        edges.iter().map(|edges| shares.by_ref().take(edges.len()).collect()).collect()
    }

    #[test]
    fn what_hangs_together_settles_as_all_do() {
        let mut random = Random(11);
        for _ in 0..200 {
            // Two halves that want no place of the other, and a choice that nothing speaks for.
            let edges: Vec<Vec<Edge>> = (0..6)
                .map(|receiver| {
                    let place = |at: u64| Some(u32::try_from(at + receiver / 3 * 3).expect("small"));
                    let mut own: Vec<Edge> = (0..3)
                        .filter_map(|at| {
                            let odds = random.below(12) as f64 - 4.0;
                            (random.below(3) > 0).then_some(Edge { place: place(at), odds })
                        })
                        .collect();
                    own.push(Edge { place: Some(0), odds: f64::NEG_INFINITY });
                    own
                })
                .collect();
            let (parts, whole) = (shares(&edges), settle(&edges));
            let differ = parts.iter().flatten().zip(whole.iter().flatten()).map(|(a, b)| (a - b).abs());
            let most = differ.fold(0.0, f64::max);
            assert!(most < 0.02, "{most}");
            assert!(parts.iter().all(|shares| shares.last() == Some(&0.0)));
            let is_of_one_half = |of: &Vec<usize>| of.iter().all(|receiver| receiver / 3 == of[0] / 3);
            assert!(components(&edges).iter().all(is_of_one_half));
        }
    }

    #[test]
    fn what_is_alike_is_shared() {
        let edge = |place, odds| Edge { place: Some(place), odds };
        let alike = [vec![edge(0, 40.0)], vec![edge(0, 40.0)]];
        assert!(shares(&alike).iter().all(|of| (of[0] - 0.5).abs() < 0.01));
        // Two that want the same two places: the likelier way does not take all.
        let circle = [vec![edge(0, 14.0), edge(1, 12.0)], vec![edge(0, 12.0), edge(1, 12.0)]];
        assert!(worst(&circle) < 0.1, "{:?} {:?}", shares(&circle), exact(&circle));
        assert!(shares(&[Vec::new()])[0].is_empty());
    }

    #[test]
    fn who_has_one_place_only_gets_it() {
        let edge = |place, odds| Edge { place: Some(place), odds };
        let found = shares(&[vec![edge(0, 12.0)], vec![edge(0, 12.0), edge(1, 10.0)]]);
        assert!(found[0][0] > 0.95 && found[1][1] > 0.95, "{found:?}");
    }
}
