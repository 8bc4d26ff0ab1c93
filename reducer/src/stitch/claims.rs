//! Claims: what speaks against a hand-off that time alone tells.
//!
//! Of several that can have had what goes to one, none is known to have had it. And who has
//! called many things, each with a name of its own, as one that starts again calls all that
//! it finds left over, is part of no request of theirs: to hang with the first of them would
//! put into one request what the next has as much to do with. What is called runs in its
//! caller's thread, and an event goes to who lives without its sender; only a task that a
//! thread of its own shows to be started is a part of what started it, whatever it works on.

use rustc_hash::{FxHashMap, FxHashSet};
use schema::{IdentifierStrength, LinkKind, ValueClassId};

use super::evidence::Candidate;
use super::facts::Facts;
use super::pairs::{Pair, Pairs};

/// Who claims by time alone to have been handed something over.
pub(super) struct Claims {
    /// Claims of what can have one receiver, by (sender, pair).
    claims: FxHashMap<(u32, u32), Claim>,
    /// The (sender, pair) that have receivers of which no request can hold all.
    scattered: FxHashSet<(u32, u32)>,
}

/// Who claims one (sender, pair).
#[derive(Clone, Copy, Default)]
struct Claim {
    /// The only one; none if several do.
    sole: Option<u32>,
    n: u32,
    /// The same of those that can be nothing but a receiver of the pair.
    sole_sure: Option<u32>,
    n_sure: u32,
}

impl Claims {
    /// The claims of `candidates`.
    pub(super) fn new(pairs: &Pairs<'_>, facts: &Facts<'_>, candidates: &[Candidate]) -> Self {
        let mut claims: FxHashMap<(u32, u32), Claim> = FxHashMap::default();
        let mut scattered = FxHashSet::default();
        let mut named: FxHashMap<(u32, u32), Values<'_>> = FxHashMap::default();
        for candidate in candidates.iter().filter(|candidate| candidate.is_bare) {
            let pair = pairs.get(candidate.pair);
            let key = (candidate.from, candidate.pair);
            if !pair.many {
                let claim = claims.entry(key).or_default();
                count(&mut claim.sole, &mut claim.n, candidate.to);
                if facts.get(candidate.to).tops == [pair.to] {
                    count(&mut claim.sole_sure, &mut claim.n_sure, candidate.to);
                }
            } else if can_scatter(facts, pair, candidate) {
                let values = request_values(facts, pairs, candidate.to);
                let known = named.entry(key).or_default();
                if contradict(known, &values) {
                    scattered.insert(key);
                }
                for (class, texts) in values {
                    known.entry(class).or_default().extend(texts);
                }
            }
        }
        Self { claims, scattered }
    }

    /// Whether no other claim stands against that of `candidate`. Where several stand, none
    /// is sure; but what can be something else too claims nothing against the only one that
    /// cannot, for that has to have its sender.
    pub(super) fn are_sure(&self, candidate: &Candidate) -> bool {
        let key = (candidate.from, candidate.pair);
        if !candidate.is_bare {
            return true;
        }
        if self.scattered.contains(&key) && !candidate.evidence.0.same_thread {
            return false;
        }
        self.claims.get(&key).is_none_or(|claim| {
            let sole = if claim.n_sure > 0 { claim.sole_sure } else { claim.sole };
            sole == Some(candidate.to)
        })
    }
}

/// Whether what is handed over can be of other requests than its sender's. What one thread
/// does is of one, and so is a task that is seen to run in another thread.
fn can_scatter(facts: &Facts<'_>, pair: &Pair, candidate: &Candidate) -> bool {
    let is_task = pair.kind == LinkKind::Thread && facts.get(candidate.to).thread.is_some();
    !candidate.evidence.0.same_thread && !is_task
}

/// Counts one more claim by `to`.
fn count(sole: &mut Option<u32>, n: &mut u32, to: u32) {
    if *n == 0 || *sole != Some(to) {
        *n += 1;
        *sole = (*n == 1).then_some(to);
    }
}

/// Request identifier values of a component.
pub(super) type Values<'s> = FxHashMap<ValueClassId, FxHashSet<&'s str>>;

/// What tells the request of a span from others.
pub(super) fn request_values<'s>(facts: &Facts<'s>, pairs: &Pairs<'_>, span: u32) -> Values<'s> {
    let fact = facts.get(span);
    let mut values = Values::default();
    for value in fact.values() {
        let top = fact.tops.first();
        let strength = top.and_then(|&top| pairs.strength(top, value.value_class));
        if strength == Some(IdentifierStrength::Request) {
            values.entry(facts.kind(value.value_class)).or_default().insert(&value.text);
        }
    }
    values
}

/// Whether two components have a value class in common, but no value of it.
pub(super) fn contradict(ours: &Values<'_>, theirs: &Values<'_>) -> bool {
    let (few, many) = if ours.len() < theirs.len() { (ours, theirs) } else { (theirs, ours) };
    few.iter().any(|(class, texts)| many.get(class).is_some_and(|others| others.is_disjoint(texts)))
}
