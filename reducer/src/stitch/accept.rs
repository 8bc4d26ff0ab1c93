//! Accepting: of the possible hand-offs of one component, the best first, as
//! long as both ends are free and agree on what they are.
//!
//! INVARIANT: a receiver has at most one sender per role, a sender one receiver
//! per pair unless the pair says `many`, and all links of a span name the same
//! top-level method for it.

use rustc_hash::{FxHashMap, FxHashSet};
use schema::{IdentifierStrength, TopLevelId, ValueClassId};

use super::evidence::Candidate;
use super::facts::Facts;
use super::pairs::{Pair, Pairs, Role};
use crate::merge::SpanLink;

/// The hand-offs taken from `candidates`, which are sorted best first.
pub(super) fn accept(pairs: &Pairs<'_>, facts: &Facts<'_>, candidates: &[Candidate]) -> Vec<SpanLink> {
    let crowded = crowded(pairs, candidates);
    let mut state = State::default();
    let mut links = Vec::new();
    for candidate in candidates {
        let pair = pairs.get(candidate.pair);
        let is_bare = is_bare(pairs, candidate);
        if is_bare && crowded.contains(&(candidate.from, candidate.pair)) {
            continue;
        }
        if state.is_free(pair, candidate)
            && state.is_inside(facts, pair, candidate)
            && state.join(facts, pairs, candidate, is_bare)
        {
            state.occupy(pair, candidate);
            state.extend(facts, pair, candidate);
            links.push(SpanLink { from: candidate.from, to: candidate.to, pair: pair.id });
        }
    }
    links
}

/// Senders that can have one receiver and that several claim by time alone:
/// none of these claims is sure.
fn crowded(pairs: &Pairs<'_>, candidates: &[Candidate]) -> FxHashSet<(u32, u32)> {
    let mut claims: FxHashMap<(u32, u32), u32> = FxHashMap::default();
    for candidate in candidates.iter().filter(|candidate| is_bare(pairs, candidate)) {
        if !pairs.get(candidate.pair).many {
            *claims.entry((candidate.from, candidate.pair)).or_default() += 1;
        }
    }
    claims.into_iter().filter(|&(_, n)| n > 1).map(|(sender, _)| sender).collect()
}

/// Whether nothing but time speaks for a hand-off. The thread of a dispatcher
/// says nothing about which of its requests a line of its own belongs to.
fn is_bare(pairs: &Pairs<'_>, candidate: &Candidate) -> bool {
    let evidence = candidate.evidence.0;
    let by_thread = evidence.same_thread && !pairs.is_dispatcher(pairs.get(candidate.pair).from);
    evidence.n_request == 0 && evidence.n_weak == 0 && !by_thread
}

#[derive(Default)]
struct State<'s> {
    /// What a span turned out to be.
    tops: FxHashMap<u32, TopLevelId>,
    /// (receiver, role) that have their sender.
    received: FxHashSet<(u32, Role)>,
    /// (sender, pair) that have their receiver.
    sent: FxHashSet<(u32, u32)>,
    parent: FxHashMap<u32, u32>,
    /// Last event of a sender and of what it handed over on its node.
    ends_us: FxHashMap<u32, i64>,
    /// Request identifier values per root.
    values: FxHashMap<u32, Values<'s>>,
}

impl<'s> State<'s> {
    /// Remembers how long the receivers of a sender were at work.
    fn extend(&mut self, facts: &Facts<'s>, pair: &Pair, candidate: &Candidate) {
        if matches!(pair.role, Role::Local | Role::Served) {
            let end_us = facts.get(candidate.to).end_us.max(facts.get(candidate.from).end_us);
            let known = self.ends_us.entry(candidate.from).or_insert(end_us);
            *known = end_us.max(*known);
        }
    }

    fn is_free(&self, pair: &Pair, candidate: &Candidate) -> bool {
        // What carries an object can be any of its carriers.
        let is_any = pair.role == Role::Attached;
        let agrees =
            |span: u32, top: TopLevelId| is_any || self.tops.get(&span).is_none_or(|&known| known == top);
        agrees(candidate.from, pair.from)
            && agrees(candidate.to, pair.to)
            && !self.received.contains(&(candidate.to, pair.role))
            && (pair.many || !self.sent.contains(&(candidate.from, candidate.pair)))
    }

    /// Whether a step of a chain over nodes (a method that hands over to itself
    /// on the next node) starts while the sender's side is at work: the sender
    /// waits for what it handed over. Its side is what its own hand-offs showed
    /// so far; local ones are decided first.
    fn is_inside(&mut self, facts: &Facts<'s>, pair: &Pair, candidate: &Candidate) -> bool {
        if pair.role != Role::Remote || pair.from != pair.to {
            return true;
        }
        let end_us = self.ends_us.get(&candidate.from).copied();
        end_us.is_none_or(|end_us| facts.get(candidate.to).start_us <= end_us)
    }

    fn occupy(&mut self, pair: &Pair, candidate: &Candidate) {
        if pair.role != Role::Attached {
            self.tops.insert(candidate.from, pair.from);
            self.tops.insert(candidate.to, pair.to);
        }
        self.received.insert((candidate.to, pair.role));
        self.sent.insert((candidate.from, candidate.pair));
    }

    /// Makes one component of the two ends; false if they are in one already,
    /// or if a bare hand-off would put contradicting values into one request.
    fn join(&mut self, facts: &Facts<'s>, pairs: &Pairs<'_>, candidate: &Candidate, is_bare: bool) -> bool {
        let (a, b) = (self.root(candidate.from), self.root(candidate.to));
        if a == b {
            return false;
        }
        let ours = self.values_of(facts, pairs, a);
        let theirs = self.values_of(facts, pairs, b);
        if is_bare && contradict(&ours, &theirs) {
            self.values.insert(a, ours);
            self.values.insert(b, theirs);
            return false;
        }
        let (root, other) = (a.min(b), a.max(b));
        self.parent.insert(other, root);
        self.values.insert(root, unite(ours, theirs));
        true
    }

    fn root(&mut self, mut span: u32) -> u32 {
        while let Some(&parent) = self.parent.get(&span) {
            if let Some(&grandparent) = self.parent.get(&parent) {
                self.parent.insert(span, grandparent);
            }
            span = parent;
        }
        span
    }

    fn values_of(&mut self, facts: &Facts<'s>, pairs: &Pairs<'_>, root: u32) -> Values<'s> {
        self.values.remove(&root).unwrap_or_else(|| {
            let fact = facts.get(root);
            let mut values = Values::default();
            for value in fact.values() {
                let top = fact.tops.first();
                let strength = top.and_then(|&top| pairs.strength(top, value.value_class));
                if strength == Some(IdentifierStrength::Request) {
                    values.entry(facts.kind(value.value_class)).or_default().insert(&value.text);
                }
            }
            values
        })
    }
}

/// Request identifier values of a component.
type Values<'s> = FxHashMap<ValueClassId, FxHashSet<&'s str>>;

/// Whether two components have a value class in common, but no value of it.
fn contradict(ours: &Values<'_>, theirs: &Values<'_>) -> bool {
    let (few, many) = if ours.len() < theirs.len() { (ours, theirs) } else { (theirs, ours) };
    few.iter().any(|(class, texts)| many.get(class).is_some_and(|others| others.is_disjoint(texts)))
}

/// PERF: the smaller goes into the larger, so that joining n spans to one
/// component costs n log n.
fn unite<'s>(ours: Values<'s>, theirs: Values<'s>) -> Values<'s> {
    let (few, mut many) = if ours.len() < theirs.len() { (ours, theirs) } else { (theirs, ours) };
    for (class, texts) in few {
        let known = many.entry(class).or_default();
        let (less, more) = if known.len() < texts.len() {
            (std::mem::take(known), texts)
        } else {
            (texts, std::mem::take(known))
        };
        *known = more;
        known.extend(less);
    }
    many
}
