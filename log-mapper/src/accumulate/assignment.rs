//! Assignment: each of some receivers gets one place or none, each place one receiver or none,
//! at the least cost of all together (the shortest augmenting paths of Jonker and Volgenant,
//! Computing 1987, on a sparse graph).
//!
//! For each receiver the margin is known too: how much dearer all together would be if it did
//! not get anything of its group, that is of who it belongs to now.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What a receiver can get.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Edge {
    /// Which place.
    pub(super) place: u32,
    /// What it costs; less is better, and less than nothing is allowed.
    pub(super) cost: i64,
    /// Whom the place belongs to.
    pub(super) group: u32,
}

/// What a receiver gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    /// Position among the edges of the receiver.
    pub(super) edge: usize,
    /// What all together cost more without this choice, at most the limit.
    pub(super) margin: i64,
}

/// No place and no receiver.
const NONE: u32 = u32::MAX;

/// For each receiver, by its edges, the best choice, where that costs less than `alone`, which the
/// same receiver costs that gets no place. Margins are looked at up to `limit`.
pub(super) fn assign(edges: &[Vec<Edge>], alone: &[i64], limit: i64) -> Vec<Option<Choice>> {
    let n_places = edges.iter().flatten().map(|edge| edge.place as usize + 1).max().unwrap_or_default();
    let mut solver = Solver::new(edges, n_places, alone);
    for receiver in 0..edges.len() {
        solver.augment(to_u32(receiver));
    }
    (0..edges.len())
        .map(|receiver| {
            let edge = solver.chosen(receiver)?;
            let margin = solver.margin(to_u32(receiver), edge, limit);
            Some(Choice { edge, margin })
        })
        .collect()
}

fn to_u32(n: usize) -> u32 {
    u32::try_from(n).expect("fewer than 2^32 receivers")
}

/// The places of a partial assignment, and the prices that prove it best. Each receiver has,
/// besides the places of its edges, one of its own in which it is alone: `n_places + receiver`.
struct Solver<'e> {
    edges: &'e [Vec<Edge>],
    n_places: usize,
    alone: &'e [i64],
    /// Who can get a place, and at which cost.
    asked_by: Vec<Vec<(u32, i64)>>,
    /// Who has a place.
    holder: Vec<u32>,
    /// Which place a receiver has.
    place: Vec<u32>,
    /// What is taken off the cost of a place, never more than nothing.
    price: Vec<i64>,
    search: Search,
}

/// One search for the shortest path; what of it counts is of the current round.
struct Search {
    round: u32,
    seen: Vec<u32>,
    done: Vec<u32>,
    distance: Vec<i64>,
    /// From where a place was reached: a receiver, or the place that its holder moves to.
    from: Vec<u32>,
    heap: BinaryHeap<Reverse<(i64, u32)>>,
}

impl Search {
    fn begin(&mut self) {
        self.round += 1;
        self.heap.clear();
    }

    fn reach(&mut self, place: u32, distance: i64, from: u32) {
        let at = place as usize;
        if self.seen[at] != self.round || distance < self.distance[at] {
            (self.seen[at], self.distance[at], self.from[at]) = (self.round, distance, from);
            self.heap.push(Reverse((distance, place)));
        }
    }

    /// The nearest place that was not taken yet, with its distance.
    fn next(&mut self) -> Option<(i64, u32)> {
        while let Some(Reverse((distance, place))) = self.heap.pop() {
            let at = place as usize;
            if self.done[at] != self.round && self.distance[at] == distance {
                self.done[at] = self.round;
                return Some((distance, place));
            }
        }
        None
    }
}

impl<'e> Solver<'e> {
    fn new(edges: &'e [Vec<Edge>], n_places: usize, alone: &'e [i64]) -> Self {
        let n = n_places + edges.len();
        let search = Search {
            round: 0,
            seen: vec![0; n],
            done: vec![0; n],
            distance: vec![0; n],
            from: vec![NONE; n],
            heap: BinaryHeap::new(),
        };
        let (holder, place, price) = (vec![NONE; n], vec![NONE; edges.len()], vec![0; n]);
        let mut asked_by = vec![Vec::new(); n_places];
        for (receiver, edges) in edges.iter().enumerate() {
            edges.iter().for_each(|edge| asked_by[edge.place as usize].push((to_u32(receiver), edge.cost)));
        }
        Self { edges, n_places, alone, asked_by, holder, place, price, search }
    }

    /// All that a receiver can get, with its cost.
    fn options(&self, receiver: u32) -> impl Iterator<Item = (u32, i64, u32)> + use<'e> {
        let own = (to_u32(self.n_places + receiver as usize), self.alone[receiver as usize], NONE);
        let edges = &self.edges[receiver as usize];
        edges.iter().map(|edge| (edge.place, edge.cost, edge.group)).chain([own])
    }

    fn cost(&self, receiver: u32, place: u32) -> i64 {
        let of_place = self.options(receiver).filter(|option| option.0 == place);
        of_place.map(|option| option.1).min().expect("a receiver has one of its places")
    }

    /// Gives the receiver a place; others move on to other ones where that is cheaper.
    fn augment(&mut self, receiver: u32) {
        self.search.begin();
        let mut scanned = Vec::new();
        for (place, cost, _) in self.options(receiver) {
            self.search.reach(place, cost - self.price[place as usize], receiver);
        }
        let (end, length) = loop {
            let (distance, place) = self.search.next().expect("the place of its own is free");
            let holder = self.holder[place as usize];
            if holder == NONE {
                break (place, distance);
            }
            scanned.push((place, distance));
            self.go_on(holder, distance);
        };
        for (place, distance) in scanned {
            self.price[place as usize] += distance - length;
        }
        let mut place = end;
        while place != NONE {
            let from = self.search.from[place as usize];
            self.holder[place as usize] = from;
            place = std::mem::replace(&mut self.place[from as usize], place);
            if from == receiver {
                break;
            }
        }
    }

    /// Which of its edges a receiver has got.
    fn chosen(&self, receiver: usize) -> Option<usize> {
        let place = self.place[receiver];
        let edges = self.edges[receiver].iter().enumerate().filter(|(_, edge)| edge.place == place);
        edges.min_by_key(|(_, edge)| edge.cost).map(|(at, _)| at)
    }

    /// How much more all together cost if the receiver gets nothing of the group of `edge`: the
    /// others are given what it leaves, and then it gets what costs least.
    fn margin(&mut self, receiver: u32, edge: usize, limit: i64) -> i64 {
        let Edge { cost, group, .. } = self.edges[receiver as usize][edge];
        let mut undo = Undo::default();
        let gain = self.leave(receiver, &mut undo);
        self.search.begin();
        for (place, cost, of) in self.options(receiver) {
            if of != group {
                self.search.reach(place, cost - self.price[place as usize], receiver);
            }
        }
        let most = cost.saturating_add(limit).saturating_add(gain);
        let mut least = most;
        while let Some((distance, place)) = self.search.next() {
            let holder = self.holder[place as usize];
            if distance >= most || holder == NONE {
                least = distance.min(most);
                break;
            }
            self.go_on(holder, distance);
        }
        self.take_back(undo);
        least - gain - cost
    }

    /// Looks at what the holder of a place could get instead, which is `distance` away.
    fn go_on(&mut self, holder: u32, distance: i64) {
        let held = self.place[holder as usize];
        let base = distance - (self.cost(holder, held) - self.price[held as usize]);
        for (place, cost, _) in self.options(holder) {
            self.search.reach(place, base + cost - self.price[place as usize], holder);
        }
    }

    /// Takes the place of a receiver away from it, and lets others move where they are better off
    /// for that: how much less they cost then.
    fn leave(&mut self, receiver: u32, undo: &mut Undo) -> i64 {
        let left = self.place[receiver as usize];
        undo.places.push((receiver, left));
        self.holder[left as usize] = NONE;
        self.search.begin();
        self.search.reach(left, 0, NONE);
        let (mut popped, mut best, mut last) = (Vec::new(), i64::MAX, left);
        while let Some((distance, place)) = self.search.next() {
            if distance >= best {
                break;
            }
            popped.push((place, distance));
            if distance - self.price[place as usize] < best {
                (best, last) = (distance - self.price[place as usize], place);
            }
            for &(other, cost) in self.asked_by.get(place as usize).into_iter().flatten() {
                let held = self.place[other as usize];
                if other == receiver || held == place {
                    continue;
                }
                let owed = self.cost(other, held) - self.price[held as usize];
                let slack = cost - self.price[place as usize] - owed;
                self.search.reach(held, distance + slack, place);
            }
        }
        let gain = -(self.price[left as usize] + best);
        for &(place, distance) in popped.iter().filter(|(_, distance)| *distance < best) {
            undo.prices.push((place, self.price[place as usize]));
            self.price[place as usize] += best - distance;
        }
        self.move_up(last, left, undo);
        gain
    }

    /// Everybody on the way from `last` to `left` moves on to the next place of it.
    fn move_up(&mut self, last: u32, left: u32, undo: &mut Undo) {
        let mut moves = Vec::new();
        let mut freed = last;
        while freed != left {
            let to = self.search.from[freed as usize];
            moves.push((self.holder[freed as usize], to));
            freed = to;
        }
        self.holder[last as usize] = NONE;
        for (mover, to) in moves {
            undo.places.push((mover, self.place[mover as usize]));
            self.place[mover as usize] = to;
            self.holder[to as usize] = mover;
        }
    }

    fn take_back(&mut self, undo: Undo) {
        for &(receiver, _) in &undo.places {
            let place = self.place[receiver as usize];
            if self.holder[place as usize] == receiver {
                self.holder[place as usize] = NONE;
            }
        }
        for &(receiver, place) in &undo.places {
            self.place[receiver as usize] = place;
            self.holder[place as usize] = receiver;
        }
        for (place, price) in undo.prices.into_iter().rev() {
            self.price[place as usize] = price;
        }
    }
}

/// What was before, to be set again.
#[derive(Default)]
struct Undo {
    places: Vec<(u32, u32)>,
    prices: Vec<(u32, i64)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The least cost of all together, by trying everything; `without` is a receiver with the
    /// group that it must not get anything of.
    fn least(edges: &[Vec<Edge>], alone: &[i64], without: Option<(usize, u32)>, taken: &mut Vec<u32>) -> i64 {
        let receiver = edges.len();
        let Some((last, rest)) = edges.split_last() else { return 0 };
        let mut best = alone[receiver - 1] + least(rest, alone, without, taken);
        for edge in last {
            if taken.contains(&edge.place) || without == Some((receiver - 1, edge.group)) {
                continue;
            }
            taken.push(edge.place);
            best = best.min(edge.cost + least(rest, alone, without, taken));
            taken.pop();
        }
        best
    }

    /// Numbers that look random.
    struct Random(u64);

    impl Random {
        fn below(&mut self, n: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % n
        }
    }

    #[test]
    fn all_together_cost_as_little_as_can_be_and_margins_say_how_much_less() {
        let mut random = Random(7);
        for round in 0..600 {
            let (n, n_places) = (1 + random.below(5), 1 + random.below(5));
            let edges: Vec<Vec<Edge>> = (0..n)
                .map(|_| {
                    let all = (0..n_places).filter_map(|place| {
                        let cost = random.below(24) as i64 - 6;
                        let place = u32::try_from(place).expect("small");
                        (random.below(3) > 0).then_some(Edge { place, cost, group: place / 2 })
                    });
                    all.collect()
                })
                .collect();
            let alone: Vec<i64> = (0..n).map(|_| 4 + random.below(12) as i64).collect();
            let chosen = assign(&edges, &alone, 1_000);
            let cost = |(receiver, choice): (usize, &Option<Choice>)| {
                choice.map_or(alone[receiver], |choice| edges[receiver][choice.edge].cost)
            };
            let total: i64 = chosen.iter().enumerate().map(cost).sum();
            let best = least(&edges, &alone, None, &mut Vec::new());
            assert_eq!(total, best, "round {round}: {edges:?}");
            for (receiver, choice) in chosen.iter().enumerate() {
                let Some(choice) = choice else { continue };
                let group = edges[receiver][choice.edge].group;
                let other = least(&edges, &alone, Some((receiver, group)), &mut Vec::new());
                assert_eq!(choice.margin, other - best, "round {round}, receiver {receiver}: {edges:?}");
            }
        }
    }

    #[test]
    fn no_place_is_given_twice() {
        let edge = |place, cost| Edge { place, cost, group: place };
        let edges = vec![vec![edge(0, 1)], vec![edge(0, 2), edge(1, 5)], vec![edge(1, 1)]];
        let chosen = assign(&edges, &[50; 3], 1_000);
        // The one in the middle is left over: 1 + 1 + 50 is less than any other way for three.
        assert_eq!(chosen[0].map(|choice| choice.edge), Some(0));
        assert_eq!((chosen[1], chosen[2].map(|choice| choice.edge)), (None, Some(0)));
        assert_eq!(assign(&[Vec::new()], &[5], 10), vec![None]);
    }
}
