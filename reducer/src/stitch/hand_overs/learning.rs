//! Learning: what the log shows of who hands over to whom, in rounds.
//!
//! What speaks for a step, from the line that a sender printed last to the line that a receiver begins
//! with, is how often the one line leads to the other, of all the times that it is printed; how long
//! that takes, from when the receiver could begin; what both ends name; and that what was handed over
//! first is begun first. Against it stands how often such receivers begin without a sender that is
//! seen, so long after the one before, and how often the line is near them by chance ([`nearness`]).
//! In the first round a step is as likely as the line is oftener near than by chance.
//!
//! What a line shows itself is never evidence for it. And however many receivers one line leads to, it
//! shows once how soon and how often such a line does: they are no more independent of each other than
//! those are that begin in a burst without a sender.
//!
//! [`nearness`]: super::nearness

use rustc_hash::{FxHashMap, FxHashSet};
use schema::TopLevelId;
use schema::assignment::{Edge, shares};
use schema::delays::{Delays, power};
use schema::in_common::{InCommon, Named};

use super::nearness::{Distance, Nearness};
use super::{Begin, Choice, Facts, PRIOR, Receiver, Step};

/// Rounds of learning; after so many of them little changes.
const ROUNDS: usize = 8;

/// What is known of how long other steps take counts as so many of the same.
const LIKE: f64 = 2.0;

/// Of what leads to something, so much leads nowhere: it fails, or what it led to printed nothing.
const LEADS_NOWHERE: f64 = 0.01;

/// Before anything is known, what was handed over first is begun first so many times as often as not.
const IN_ORDER: f64 = 3.0;

/// Receivers before one that can have what it has, and how likely what they have must be to count.
const NEIGHBOURS_MAX: usize = 8;
const SHARE_SEEN: f64 = 0.01;

/// What one line that leads to receivers shows.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Sight {
    /// How many it leads to.
    Place(u32, Step),
    /// How often so soon, as a power of two.
    Delay(u32, Step, usize),
}

/// When receivers that begin with one line follow each other.
struct Gaps {
    /// All, sorted, µs.
    all_us: Vec<i64>,
    all: Delays,
    /// Of those without a sender.
    alone: Delays,
}

/// What is known of steps, and how likely each receiver has each of its senders by that.
pub(super) struct Learning<'r> {
    receivers: &'r [Receiver],
    named: &'r Named,
    nearness: Nearness<'r>,
    /// How much oftener than at any time a line is near.
    bursts: FxHashMap<Distance, f64>,
    shares: Vec<Vec<f64>>,
    /// How long each step takes, those to each line, and all.
    steps: FxHashMap<Step, Delays>,
    of_begin: FxHashMap<Begin, Delays>,
    all: Delays,
    in_common: InCommon<Step>,
    gaps: FxHashMap<Begin, Gaps>,
    sights: FxHashMap<Sight, f64>,
    /// How often a line that leads to a receiver leads to one more.
    n_again: FxHashMap<Step, f64>,
    n_powers: usize,
}

impl<'r> Learning<'r> {
    /// What is more often so than by chance.
    pub(super) fn new(
        facts: &Facts<'_>,
        receivers: &'r [Receiver],
        from: &FxHashSet<TopLevelId>,
        named: &'r Named,
    ) -> Self {
        let nearness = Nearness::new(facts, receivers, from);
        let distances = nearness.of_distances();
        let share = |choice: &Choice| {
            let (seen, by_chance, bursts) = distances[&(choice.step, power(choice.delay_us).0)];
            (seen - by_chance * bursts).max(0.0) / seen
        };
        let first = |receiver: &Receiver| -> Vec<f64> {
            let shares: Vec<f64> = receiver.choices.iter().map(share).collect();
            let sum = shares.iter().sum::<f64>().max(1.0);
            shares.into_iter().map(|share| share / sum).collect()
        };
        let (steps, of_begin, all, sights, n_again) = Default::default();
        let mut learning = Self {
            receivers,
            named,
            bursts: distances.iter().map(|(distance, (.., bursts))| (*distance, *bursts)).collect(),
            shares: receivers.iter().map(first).collect(),
            steps,
            of_begin,
            all,
            in_common: InCommon::new(named),
            gaps: gaps(receivers),
            sights,
            n_again,
            n_powers: power(nearness.whole_us).0 + 1,
            nearness,
        };
        learning.learn();
        learning
    }

    /// Per receiver how likely each of its senders is.
    pub(super) fn shares(mut self) -> Vec<Vec<f64>> {
        for _ in 0..ROUNDS {
            let edges = self.edges();
            let both = |edges: Vec<f64>| edges.chunks(2).map(|both| both.iter().sum()).collect();
            self.shares = shares(&edges).into_iter().map(both).collect();
            self.learn();
        }
        self.shares
    }

    fn learn(&mut self) {
        self.steps.clear();
        self.of_begin.clear();
        self.all = Delays::default();
        self.in_common = InCommon::new(self.named);
        self.sights.clear();
        self.n_again.clear();
        self.gaps.values_mut().for_each(|gaps| gaps.alone = Delays::default());
        let receivers = self.receivers;
        let choices = |shares: &[Vec<f64>]| -> Vec<(&'r Choice, f64)> {
            let all = receivers.iter().zip(shares);
            all.flat_map(|(receiver, shares)| receiver.choices.iter().zip(shares.iter().copied())).collect()
        };
        let choices = choices(&self.shares);
        for &(choice, share) in &choices {
            *self.sights.entry(Sight::Place(choice.place, choice.step)).or_default() += share;
        }
        for (choice, share) in choices {
            let (step, place, delay_us) = (choice.step, choice.place, choice.delay_us);
            let weight = share / self.own(Sight::Place(place, step)).max(1.0);
            *self.sights.entry(Sight::Delay(place, step, power(delay_us).0)).or_default() += weight;
            self.steps.entry(step).or_default().add(delay_us, weight);
            self.of_begin.entry(step.1).or_default().add(delay_us, weight);
            self.all.add(delay_us, weight);
            self.in_common.add(step, choice.in_common, share);
            *self.n_again.entry(step).or_default() += share - weight;
        }
        for (receiver, shares) in receivers.iter().zip(&self.shares) {
            if let (Some(gap_us), Some(gaps)) = (receiver.gap_us, self.gaps.get_mut(&receiver.begin)) {
                gaps.alone.add(gap_us, alone(shares));
            }
        }
    }

    /// What a line shows: no evidence for itself.
    fn own(&self, sight: Sight) -> f64 {
        self.sights.get(&sight).copied().unwrap_or_default()
    }

    /// Per receiver two edges for each of its senders: its line leads to this receiver first, or to
    /// one more.
    fn edges(&self) -> Vec<Vec<Edge>> {
        let (usual, crossings) = (self.usual(), self.crossings());
        let all = self.receivers.iter().zip(&self.shares).zip(&crossings);
        let edges = |((receiver, shares), crossings): ((&Receiver, &Vec<f64>), &Vec<f64>)| {
            let rate = self.rate_alone(receiver, alone(shares));
            let choices = receiver.choices.iter().zip(shares).zip(crossings);
            let edges = choices.flat_map(|((choice, &share), crossed)| {
                let odds = self.odds(choice, share, usual) - rate.ln() + crossed;
                let again = self.again(choice.step, share).ln();
                let again = if choice.many { odds + again } else { f64::NEG_INFINITY };
                [Edge { place: Some(choice.place), odds }, Edge { place: None, odds: again }]
            });
            edges.collect()
        };
        all.map(edges).collect()
    }

    /// How much likelier a sender has handed over than not, against how often its line is near by
    /// chance, as a logarithm; by all others.
    fn odds(&self, choice: &Choice, own: f64, usual: f64) -> f64 {
        let step = choice.step;
        let own_made = self.own(Sight::Place(choice.place, step)).min(1.0);
        let made = (self.steps[&step].total() - own_made).max(0.0);
        let n_others = self.nearness.n_printed(step, choice.many) - 1.0;
        let leads = ((made + PRIOR * usual) / (n_others + PRIOR)).min(1.0 - LEADS_NOWHERE);
        let near = self.bursts[&(step, power(choice.delay_us).0)];
        (leads / (1.0 - leads)).ln()
            + self.density(choice).ln()
            + self.in_common.odds(step, choice.in_common, own)
            - near.ln()
    }

    /// The density of a delay, per µs, by all others.
    fn density(&self, choice: &Choice) -> f64 {
        let own = self.own(Sight::Delay(choice.place, choice.step, power(choice.delay_us).0));
        let of = |delays: &Delays| delays.log_density(choice.delay_us, own, self.n_powers).exp();
        let filled = |delays: &Delays, like: f64| {
            let n = (delays.total() - own).max(0.0);
            (n * of(delays) + LIKE * like) / (n + LIKE)
        };
        filled(&self.steps[&choice.step], filled(&self.of_begin[&choice.step.1], of(&self.all)))
    }

    /// How often a receiver begins without a sender so long after the one before, of all times that
    /// it could, per µs; by all others. The first one can at any time.
    fn rate_alone(&self, receiver: &Receiver, own: f64) -> f64 {
        let Some(gap_us) = receiver.gap_us else { return PRIOR / self.nearness.whole_us as f64 };
        let Gaps { all_us, all, alone } = &self.gaps[&receiver.begin];
        let density = |delays: &Delays, own: f64| delays.log_density(gap_us, own, self.n_powers).exp();
        let n_longer = all_us.len() - all_us.partition_point(|&other_us| other_us < gap_us);
        let n_alone = (alone.total() - own).max(0.0);
        (n_alone * density(alone, own) + PRIOR * density(all, 1.0)) / n_longer as f64
    }

    /// How often a line leads to something, of all lines that can.
    fn usual(&self) -> f64 {
        // A span that prints a line many times can lead to as many.
        ((self.all.total() + PRIOR) / (self.nearness.n_all_printed() + PRIOR)).min(1.0)
    }

    /// How often a step is made once more, of all times.
    fn again(&self, step: Step, own: f64) -> f64 {
        let made = (self.steps[&step].total() - own).max(0.0);
        let again = self.n_again.get(&step).copied().unwrap_or_default();
        ((again - own).max(0.0) + PRIOR / 2.0) / (made + PRIOR)
    }

    /// For each choice what it says against it that it crosses those of others: what was handed over
    /// first is begun first, as often as the log shows that of what could be the other way around.
    fn crossings(&self) -> Vec<Vec<f64>> {
        let mut lines: FxHashMap<(u32, Begin), Vec<usize>> = FxHashMap::default();
        for (at, receiver) in self.receivers.iter().enumerate() {
            lines.entry((receiver.node, receiver.begin)).or_default().push(at);
        }
        let mut in_order: FxHashMap<Begin, (f64, f64)> = FxHashMap::default();
        let mut crossed: Vec<Vec<f64>> = self.shares.iter().map(|shares| vec![0.0; shares.len()]).collect();
        for ((_, begin), line) in &lines {
            let known = in_order.entry(*begin).or_default();
            for (position, &at) in line.iter().enumerate() {
                for &other in &line[position.saturating_sub(NEIGHBOURS_MAX)..position] {
                    let (n_in_order, n_crossed) = self.cross((other, at), &mut crossed);
                    (known.0, known.1) = (known.0 + n_in_order, known.1 + n_crossed);
                }
            }
        }
        for (receiver, crossed) in self.receivers.iter().zip(&mut crossed) {
            let (n_in_order, n_crossed) = in_order.get(&receiver.begin).copied().unwrap_or_default();
            let odds = ((n_crossed + PRIOR) / (n_in_order + IN_ORDER * PRIOR)).min(1.0).ln();
            crossed.iter_mut().for_each(|crossed| *crossed *= odds);
        }
        crossed
    }

    /// Adds how much the choices of two receivers cross each other; how many are in order, and how
    /// many are not, of those that could be either.
    fn cross(&self, (a, b): (usize, usize), crossed: &mut [Vec<f64>]) -> (f64, f64) {
        let start_us = self.receivers[a].start_us;
        let choices = |at: usize| {
            let choices = self.receivers[at].choices.iter().zip(&self.shares[at]).enumerate();
            choices.filter(move |(_, (choice, share))| **share >= SHARE_SEEN && choice.at.0 <= start_us)
        };
        let (mut n_in_order, mut n_crossed) = (0.0, 0.0);
        for (i, (first, &share)) in choices(a) {
            for (j, (second, &other)) in choices(b) {
                if first.at < second.at {
                    n_in_order += share * other;
                } else if first.at > second.at {
                    n_crossed += share * other;
                    crossed[a][i] += other;
                    crossed[b][j] += share;
                }
            }
        }
        (n_in_order, n_crossed)
    }
}

/// How likely a receiver has no sender, by the shares of those that it can have.
fn alone(shares: &[f64]) -> f64 {
    (1.0 - shares.iter().sum::<f64>()).max(0.0)
}

/// When receivers that begin with each line follow each other.
fn gaps(receivers: &[Receiver]) -> FxHashMap<Begin, Gaps> {
    let mut found: FxHashMap<Begin, Gaps> = FxHashMap::default();
    for (receiver, gap_us) in receivers.iter().filter_map(|receiver| Some((receiver, receiver.gap_us?))) {
        let none = || Gaps { all_us: Vec::new(), all: Delays::default(), alone: Delays::default() };
        let gaps = found.entry(receiver.begin).or_insert_with(none);
        gaps.all_us.push(gap_us);
        gaps.all.add(gap_us, 1.0);
    }
    found.values_mut().for_each(|gaps| gaps.all_us.sort_unstable());
    found
}
