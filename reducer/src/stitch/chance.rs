//! Chance: what time alone has found is no hand-off where it would be found at other times too.
//!
//! Where nothing that both ends name tells, who has printed something just before can have
//! started what begins. Along a pair that hands over, tasks begin when such a sender has just
//! printed something, far more often than they would if they began at other times. Where they
//! do not, although the senders are not always at work, somebody else starts them: a timer, or
//! who prints nothing. Then time alone shows none of the senders.
//!
//! Several can have just printed something, and who causes the tasks causes what those print,
//! too. So how many of the tasks each of them starts is estimated from all tasks together
//! (expectation maximization): a task is started by one of those who have just printed
//! something, as likely as that one starts such tasks and as unlikely as it is there by chance,
//! or by nobody seen. Time shows no sender where nobody seen is more likely than that one, or
//! where one other is more likely than all the rest.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use schema::{LinkKind, TopLevelId};

use super::evidence::Candidate;
use super::facts::Facts;
use super::pairs::{Pair, Pairs, Role};
use super::waiting::SHIFTS_US;

/// What was printed at most this long ago was just printed, µs.
const JUST_US: i64 = 100_000;

/// Tasks from which to learn.
const TASKS_MIN: usize = 16;

/// Steps in which shares become what the log shows.
const STEPS: usize = 60;

/// When spans of top-level methods have printed something, by node, sorted.
type Printed = FxHashMap<(u32, TopLevelId), Vec<i64>>;

/// Takes out what time alone has found along pairs that chance, or another sender, explains.
pub(super) fn leave_out(pairs: &Pairs<'_>, facts: &Facts<'_>, candidates: &mut Vec<Candidate>) {
    let is_by_time = |candidate: &Candidate| {
        let pair = pairs.get(candidate.pair);
        candidate.is_bare && !candidate.evidence.0.same_thread && is_start(pair)
    };
    let mut wanted: BTreeMap<TopLevelId, Vec<TopLevelId>> = BTreeMap::new();
    for candidate in candidates.iter().filter(|candidate| is_by_time(candidate)) {
        let pair = pairs.get(candidate.pair);
        wanted.entry(pair.to).or_default().push(pair.from);
    }
    for senders in wanted.values_mut() {
        senders.sort_unstable();
        senders.dedup();
    }
    let senders: FxHashSet<TopLevelId> = wanted.values().flatten().copied().collect();
    let mut printed = Printed::default();
    let mut begun: FxHashMap<TopLevelId, Vec<(u32, i64)>> = FxHashMap::default();
    for (_, fact) in facts.iter() {
        for &top in fact.tops {
            if senders.contains(&top) {
                let times = fact.events.iter().map(|event| event.ts_us);
                printed.entry((fact.node, top)).or_default().extend(times);
            }
            if wanted.contains_key(&top) {
                begun.entry(top).or_default().push((fact.node, fact.start_us));
            }
        }
    }
    printed.values_mut().for_each(|times| times.sort_unstable());
    let starters: FxHashMap<TopLevelId, Starters> = (wanted.into_iter())
        .filter_map(|(task, senders)| Some((task, Starters::new(senders, begun.get(&task)?, &printed)?)))
        .collect();
    candidates.retain(|candidate| {
        let (pair, task) = (pairs.get(candidate.pair), facts.get(candidate.to));
        let starters = starters.get(&pair.to).filter(|_| is_by_time(candidate));
        starters.is_none_or(|starters| starters.can_have(pair.from, (task.node, task.start_us), &printed))
    });
}

/// Whether a pair starts tasks, or sends to them, on one node.
fn is_start(pair: &Pair) -> bool {
    pair.role == Role::Local && !pair.is_way() && matches!(pair.kind, LinkKind::Thread | LinkKind::Queue)
}

/// Whether a span of a top-level method has just printed something on a node at a time.
fn has_just(printed: &Printed, sender: TopLevelId, (node, at_us): (u32, i64)) -> bool {
    let times = printed.get(&(node, sender)).map_or(&[][..], Vec::as_slice);
    let n_before = times.partition_point(|&ts_us| ts_us <= at_us);
    times[..n_before].last().is_some_and(|&last_us| at_us - last_us <= JUST_US)
}

/// Who starts tasks of one kind, of those who are not nearly always there.
struct Starters {
    /// How many times as likely each of them has started a task when it is there as it is there
    /// by chance.
    weights: Vec<(TopLevelId, f64)>,
    /// The share of the tasks that nobody seen has started.
    of_nobody: f64,
}

impl Starters {
    /// Learnt from `tasks`; none if they are too few.
    fn new(senders: Vec<TopLevelId>, tasks: &[(u32, i64)], printed: &Printed) -> Option<Self> {
        if tasks.len() < TASKS_MIN {
            return None;
        }
        let by_chance = |sender: &TopLevelId| by_chance(*sender, tasks, printed);
        let senders: Vec<(TopLevelId, f64)> =
            senders.into_iter().filter_map(|sender| Some((sender, by_chance(&sender)?))).collect();
        let there: Vec<Vec<usize>> = (tasks.iter())
            .map(|&task| (0..senders.len()).filter(|&at| has_just(printed, senders[at].0, task)).collect())
            .collect();
        let even = 1.0 / (senders.len() as f64 + 1.0);
        let (mut weights, mut of_nobody) = (vec![even; senders.len()], even);
        for (weight, (_, chance)) in weights.iter_mut().zip(&senders) {
            *weight /= chance;
        }
        for _ in 0..STEPS {
            let mut n_of = vec![0.0; senders.len()];
            let mut n_of_nobody = 0.0;
            for there in &there {
                let all = of_nobody + there.iter().map(|&at| weights[at]).sum::<f64>();
                there.iter().for_each(|&at| n_of[at] += weights[at] / all);
                n_of_nobody += of_nobody / all;
            }
            for (at, n) in n_of.into_iter().enumerate() {
                weights[at] = n / tasks.len() as f64 / senders[at].1;
            }
            of_nobody = n_of_nobody / tasks.len() as f64;
        }
        let weights =
            senders.into_iter().zip(weights).map(|((sender, _), weight)| (sender, weight)).collect();
        Some(Self { weights, of_nobody })
    }

    /// Whether `sender` can have started the task that begins there and then.
    fn can_have(&self, sender: TopLevelId, task: (u32, i64), printed: &Printed) -> bool {
        let weight_of = |wanted: TopLevelId| self.weights.iter().find(|&&(known, _)| known == wanted);
        let Some(&(_, weight)) = weight_of(sender) else { return true };
        let there = |&&(other, _): &&(TopLevelId, f64)| has_just(printed, other, task);
        let (mut all, mut best) = (self.of_nobody, (sender, 0.0));
        for &(other, weight) in self.weights.iter().filter(there) {
            all += weight;
            best = if weight > best.1 { (other, weight) } else { best };
        }
        weight >= self.of_nobody && (best.0 == sender || best.1 * 2.0 <= all)
    }
}

/// How likely somebody has just printed something at any time; none if nearly always.
fn by_chance(sender: TopLevelId, tasks: &[(u32, i64)], printed: &Printed) -> Option<f64> {
    // What takes its time is found at one of the other times, and not at all of them.
    let then = |shift_us: i64| {
        let moved = tasks.iter().map(|&(node, at_us)| (node, at_us.saturating_add(shift_us)));
        moved.filter(|&at| has_just(printed, sender, at)).count()
    };
    let mut n_then = SHIFTS_US.map(then);
    n_then.sort_unstable();
    let is_silent = n_then.iter().sum::<usize>() * 2 < tasks.len() * SHIFTS_US.len();
    // What has not happened is not impossible.
    let chance = (n_then[SHIFTS_US.len() / 2 - 1] as f64 + 0.5) / (tasks.len() as f64 + 1.0);
    is_silent.then_some(chance)
}
