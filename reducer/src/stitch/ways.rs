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

use std::collections::BTreeSet;

use schema::{LinkKind, TopLevelId};

use super::facts::Facts;
use super::pairs::{Mapped, Pair, Pairs, Role};

/// Steps of a way: a store's watcher, the task that it starts, and whom that tells.
const STEPS_MAX: usize = 3;

/// Ways from one sender that are looked at.
const WAYS_MAX: usize = 4096;

/// All ways between top-level methods that show in the logs.
pub(super) fn find(pairs: &Pairs<'_>, facts: &Facts<'_>) -> Vec<Pair> {
    let shown: BTreeSet<TopLevelId> =
        facts.iter().filter_map(|(_, fact)| fact.tops.first().copied()).collect();
    let possible: BTreeSet<TopLevelId> = facts.iter().flat_map(|(_, fact)| fact.tops).copied().collect();
    let mut steps: Vec<&Pair> = pairs.iter().filter(|pair| is_step(pair)).collect();
    steps.sort_by_key(|pair| pair.from);
    let after = |top: TopLevelId| {
        let first = steps.partition_point(|step| step.from < top);
        steps[first..].iter().copied().take_while(move |step| step.from == top)
    };
    let mut found: Vec<Pair> = Vec::new();
    for &from in &possible {
        let passes =
            |pair: &Pair| pair.to != from && !shown.contains(&pair.to) && !pairs.is_dispatcher(pair.to);
        let mut ways: Vec<Pair> = after(from).filter(|step| passes(step)).map(begin).collect();
        for _ in 1..STEPS_MAX {
            let mut longer = Vec::new();
            for way in &ways {
                for step in after(way.to).filter(|step| step.to != from && !way.through.contains(&step.to)) {
                    let Some(way) = join(way, step) else { continue };
                    if shown.contains(&way.to) || possible.contains(&way.to) {
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

/// A way and one more step; none if nothing that can be seen goes along it.
fn join(way: &Pair, step: &Pair) -> Option<Pair> {
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
    if map.is_empty() && !way.to_parts {
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
    })
}
