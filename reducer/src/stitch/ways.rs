//! Ways: hand-offs in a row through top-level methods that print nothing at the
//! level that the logs were written with.
//!
//! The analysis pairs a sender with the task that it hands over, and the task with
//! whom it calls; where no line of the task is in the logs (they are all below the
//! level), the request goes on past it. Which those are is known when the logs are:
//! a top-level method that explains no span best is silent.
//!
//! A way says less than a hand-off: it is taken only where what was handed on can be
//! seen at both of its ends, a value that every step carries, or a name that is a
//! part of the other end's (see [`super::evidence`]).
//!
//! What a task hands over is not always known: it can keep what it starts in a list.
//! Where nobody else starts that, and hardly a line of the task is in the logs, whoever
//! started the task is behind it, and a name that both print of one kind of thing tells
//! who; so does that a program's `main` is in the middle of starting it. Whoever starts a task
//! first, waits for it and prints what came of it is not seen either before the task is.

use std::collections::{BTreeMap, BTreeSet};

use schema::{LinkKind, LogPointId, PairId, TopLevelId};

use super::facts::Facts;
use super::pairs::{Mapped, Pair, Pairs, Role};

/// Steps of a way: a store's watcher, the task that it starts, and whom that tells.
const STEPS_MAX: usize = 3;

/// Tasks per span of who starts them from which on it is hardly ever seen.
const HIDDEN_MIN: usize = 8;

/// Ways from one sender that are looked at.
const WAYS_MAX: usize = 4096;

/// All ways between top-level methods that show in the logs.
pub(super) fn find(pairs: &Pairs<'_>, facts: &Facts<'_>) -> Vec<Pair> {
    let mut n_shown: BTreeMap<TopLevelId, usize> = BTreeMap::new();
    for top in facts.iter().filter_map(|(_, fact)| fact.tops.first()) {
        *n_shown.entry(*top).or_default() += 1;
    }
    let is_shown = |top: TopLevelId| n_shown.contains_key(&top);
    let possible: BTreeSet<TopLevelId> = facts.iter().flat_map(|(_, fact)| fact.tops).copied().collect();
    let mut steps: Vec<&Pair> = pairs.iter().filter(|pair| is_step(pair)).collect();
    steps.sort_by_key(|pair| pair.from);
    let soles = sole_starters(pairs);
    let hidden = hidden_starters(&soles, &n_shown);
    let starters: BTreeSet<TopLevelId> = hidden.values().copied().collect();
    let points: BTreeSet<LogPointId> =
        (facts.iter()).flat_map(|(_, fact)| fact.events.iter().filter_map(|event| event.log_point)).collect();
    // Who prints nothing before it starts the task that it alone starts, but its results.
    let is_late = |step: &Pair| {
        step.kind == LinkKind::Thread
            && soles.get(&step.to) == Some(&step.from)
            && !pairs.printed_after(step).is_empty()
            && !pairs.printed_before(step).iter().any(|point| points.contains(point))
    };
    let late: Vec<&Pair> = steps.iter().copied().filter(|step| is_late(step)).collect();
    let late_starters: BTreeSet<TopLevelId> = late.iter().map(|step| step.from).collect();
    let late: BTreeSet<Option<PairId>> = late.iter().map(|step| step.id).collect();
    let after = |top: TopLevelId| {
        let first = steps.partition_point(|step| step.from < top);
        steps[first..].iter().copied().take_while(move |step| step.from == top)
    };
    let mut found: Vec<Pair> = Vec::new();
    for &from in &possible {
        let passes = |pair: &Pair| {
            let is_silent =
                !is_shown(pair.to) || starters.contains(&pair.to) || late_starters.contains(&pair.to);
            pair.to != from && is_silent && !pairs.is_dispatcher(pair.to)
        };
        let mut ways: Vec<Pair> = after(from).filter(|step| passes(step)).map(begin).collect();
        for _ in 1..STEPS_MAX {
            let mut longer = Vec::new();
            for way in &ways {
                for step in after(way.to).filter(|step| step.to != from && !way.through.contains(&step.to)) {
                    let is_late = late.contains(&step.id);
                    let is_sole = is_late || hidden.get(&step.to) == Some(&step.from);
                    let is_known = (is_sole, pairs.is_main(from));
                    let Some(way) = join(way, step, is_known) else { continue };
                    if is_shown(step.from) && !way.by_name && !is_late {
                        continue;
                    }
                    if is_shown(way.to) || possible.contains(&way.to) {
                        found.push(way.clone());
                    }
                    if passes(&way) && longer.len() < WAYS_MAX {
                        longer.push(way);
                    }
                }
            }
            ways = longer;
        }
    }
    found
}

fn is_step(pair: &Pair) -> bool {
    pair.id.is_some() && matches!(pair.role, Role::Local | Role::Remote) && pair.from != pair.to
}

fn begin(step: &Pair) -> Pair {
    // What hands out the members of a collection hands out parts.
    let is_task = matches!(step.kind, LinkKind::Thread | LinkKind::Queue);
    Pair { to_parts: is_task && step.map.iter().all(|mapped| !mapped.is_one), ..step.clone() }
}

/// By task who starts it, where only one method does.
fn sole_starters(pairs: &Pairs<'_>) -> BTreeMap<TopLevelId, TopLevelId> {
    let mut sole: BTreeMap<TopLevelId, Option<TopLevelId>> = BTreeMap::new();
    // A callee is in its caller's thread.
    let is_told = |pair: &&Pair| pair.kind != LinkKind::Call && pair.id.is_some() && pair.from != pair.to;
    for pair in pairs.iter().filter(is_told) {
        let starter = sole.entry(pair.to).or_insert(Some(pair.from));
        *starter = starter.filter(|&known| known == pair.from && pair.kind == LinkKind::Thread);
    }
    sole.into_iter().filter_map(|(task, starter)| Some((task, starter?))).collect()
}

/// Those of `soles` that hardly ever print a line.
fn hidden_starters(
    soles: &BTreeMap<TopLevelId, TopLevelId>,
    n_shown: &BTreeMap<TopLevelId, usize>,
) -> BTreeMap<TopLevelId, TopLevelId> {
    let n = |top: TopLevelId| n_shown.get(&top).copied().unwrap_or_default();
    let is_hidden = |task, starter| n(task) > n(starter).saturating_mul(HIDDEN_MIN);
    soles.iter().map(|(&task, &starter)| (task, starter)).filter(|&(t, s)| is_hidden(t, s)).collect()
}

/// A way and one more step; none if nothing that can be seen goes along it. `is_sole`: the
/// step's sender alone starts its receiver; `is_program`: the way begins at a `main`.
fn join(way: &Pair, step: &Pair, (is_sole, is_program): (bool, bool)) -> Option<Pair> {
    let mut map: Vec<Mapped> = Vec::new();
    for a in &way.map {
        for b in step.map.iter().filter(|b| b.from == a.to) {
            let both = Mapped {
                from: a.from,
                to: b.to,
                strength: a.strength.max(b.strength),
                is_one: a.is_one && b.is_one,
            };
            if !map.iter().any(|known| known.from == both.from && known.to == both.to) {
                map.push(both);
            }
        }
    }
    // What names nothing that it hands over can be named after it all the same.
    let is_start = way.kind == LinkKind::Thread && step.kind == LinkKind::Thread;
    let by_name = map.is_empty() && is_start && is_sole && (!way.to_parts || is_program);
    if map.is_empty() && !way.to_parts && !by_name {
        return None;
    }
    let mut through = way.through.clone();
    through.push(way.to);
    let crosses = way.kind.crosses_nodes() || step.kind.crosses_nodes();
    Some(Pair {
        id: step.id,
        from: way.from,
        to: step.to,
        kind: if way.kind.crosses_nodes() { way.kind } else { step.kind },
        many: way.many || step.many,
        role: if crosses { Role::Remote } else { Role::Local },
        map,
        through,
        to_parts: way.to_parts,
        by_name,
        ends_on_node: !step.kind.crosses_nodes(),
        by_thread: false,
        in_order: false,
    })
}
