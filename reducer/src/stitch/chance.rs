//! Chance: what time alone has found is no hand-off where it would be found at other times too.
//!
//! Where nothing that both ends name tells, who has printed something just before can have
//! started what begins. Along a pair that hands over, tasks begin when such a sender has just
//! printed something, far more often than they would if they began at other times. Where they
//! do not, although the senders are not always at work, somebody else starts them: a timer, or
//! who prints nothing. Then time alone shows none of the senders.

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

/// So many times as often as by chance, a sender has just printed something.
const TIMES_CHANCE: usize = 2;

/// When spans of top-level methods have printed something, by node, sorted.
type Printed = FxHashMap<(u32, TopLevelId), Vec<i64>>;

/// Takes out what time alone has found along pairs that chance explains.
pub(super) fn leave_out(pairs: &Pairs<'_>, facts: &Facts<'_>, candidates: &mut Vec<Candidate>) {
    let is_by_time = |candidate: &Candidate| {
        let pair = pairs.get(candidate.pair);
        candidate.is_bare && !candidate.evidence.0.same_thread && is_start(pair)
    };
    let wanted: FxHashSet<u32> =
        candidates.iter().filter(|candidate| is_by_time(candidate)).map(|candidate| candidate.pair).collect();
    let senders: FxHashSet<TopLevelId> = wanted.iter().map(|&pair| pairs.get(pair).from).collect();
    let mut printed = Printed::default();
    let mut begun: FxHashMap<TopLevelId, Vec<(u32, i64)>> = FxHashMap::default();
    for (_, fact) in facts.iter() {
        for &top in fact.tops {
            if senders.contains(&top) {
                let times = fact.events.iter().map(|event| event.ts_us);
                printed.entry((fact.node, top)).or_default().extend(times);
            }
            begun.entry(top).or_default().push((fact.node, fact.start_us));
        }
    }
    printed.values_mut().for_each(|times| times.sort_unstable());
    let by_chance: FxHashSet<u32> =
        wanted.into_iter().filter(|&pair| is_chance(pairs.get(pair), &printed, &begun)).collect();
    candidates.retain(|candidate| !is_by_time(candidate) || !by_chance.contains(&candidate.pair));
}

/// Whether a pair starts tasks, or sends to them, on one node.
fn is_start(pair: &Pair) -> bool {
    pair.role == Role::Local && !pair.is_way() && matches!(pair.kind, LinkKind::Thread | LinkKind::Queue)
}

/// Whether what a pair leads to begins hardly more often than by chance when a sender has just
/// printed something, although senders are silent most of the time.
fn is_chance(pair: &Pair, printed: &Printed, begun: &FxHashMap<TopLevelId, Vec<(u32, i64)>>) -> bool {
    let tasks = begun.get(&pair.to).map_or(&[][..], Vec::as_slice);
    let has_just = |node: u32, at_us: i64| {
        let times = printed.get(&(node, pair.from)).map_or(&[][..], Vec::as_slice);
        let n_before = times.partition_point(|&ts_us| ts_us <= at_us);
        times[..n_before].last().is_some_and(|&last_us| at_us - last_us <= JUST_US)
    };
    let n_now = tasks.iter().filter(|&&(node, at_us)| has_just(node, at_us)).count();
    // What takes its time is found at one of the other times, and not at all of them.
    let then = |shift_us: i64| {
        tasks.iter().filter(|&&(node, at_us)| has_just(node, at_us.saturating_add(shift_us))).count()
    };
    let mut n_then = SHIFTS_US.map(then);
    n_then.sort_unstable();
    let n_by_chance = n_then[SHIFTS_US.len() / 2 - 1];
    tasks.len() >= TASKS_MIN
        && n_then.iter().sum::<usize>() * 2 < tasks.len() * SHIFTS_US.len()
        && n_now < n_by_chance * TIMES_CHANCE
}
