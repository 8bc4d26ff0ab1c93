//! Accepting: of the possible hand-offs of one component, the best first, as
//! long as both ends are free and agree on what they are.
//!
//! INVARIANT: a receiver has at most one sender per role (but of what carries an
//! object attached to a connection any number; a way has the role of its last step too,
//! for that is what started the receiver), a sender one receiver
//! per pair unless the pair says `many` (which may be seen in parts where no thread is
//! printed), and there is a top-level method that all links of a span can name for it.

use rustc_hash::{FxHashMap, FxHashSet};
use schema::TopLevelId;

use super::evidence::{Candidate, is_chain};
use super::facts::Facts;
use super::pairs::{Pair, Pairs, Role};
use super::request_values::{Values, contradict, request_values, unite};
use crate::merge::SpanLink;

/// The hand-offs taken from `candidates`, which are sorted best first.
pub(super) fn accept(pairs: &Pairs<'_>, facts: &Facts<'_>, candidates: &[Candidate]) -> Vec<SpanLink> {
    let mut state = State { equals: equals(candidates), ..State::default() };
    let mut taken = Vec::new();
    for candidate in candidates {
        let pair = pairs.get(candidate.pair);
        if state.is_free(facts, pair, candidate)
            && state.is_inside(facts, pair, candidate)
            && state.join(facts, pairs, candidate)
        {
            state.occupy(pairs, candidate);
            state.extend(facts, pair, candidate);
            taken.push(candidate);
        }
    }
    taken.into_iter().map(|candidate| state.link(pairs, candidate)).collect()
}

/// Whether two spans of a node can be parts of one receiver's work: no thread shows that
/// they are, and neither prints what the other one does.
fn is_rest(facts: &Facts<'_>, a: u32, b: u32) -> bool {
    let (a, b) = (facts.get(a), facts.get(b));
    let prints = |point| b.events.iter().any(|event| event.log_point == point);
    a.thread.is_none()
        && b.thread.is_none()
        && a.node == b.node
        && !a.events.iter().any(|event| prints(event.log_point))
}

/// Candidates by their two ends, best first.
fn equals(candidates: &[Candidate]) -> FxHashMap<(u32, u32), Vec<&Candidate>> {
    let mut equals: FxHashMap<(u32, u32), Vec<&Candidate>> = FxHashMap::default();
    for candidate in candidates {
        equals.entry((candidate.from, candidate.to)).or_default().push(candidate);
    }
    equals
}

#[derive(Default)]
struct State<'s, 'c> {
    /// What a span can still be, best first.
    tops: FxHashMap<u32, Vec<TopLevelId>>,
    equals: FxHashMap<(u32, u32), Vec<&'c Candidate>>,
    /// (receiver, role) that have their sender.
    received: FxHashSet<(u32, Role)>,
    /// The receiver, the last one, of each (sender, pair) that has one.
    sent: FxHashMap<(u32, u32), u32>,
    parent: FxHashMap<u32, u32>,
    /// What the component of each root works on, where that has a number.
    labels: FxHashMap<u32, u32>,
    /// Last event of a sender and of what it handed over on its node.
    ends_us: FxHashMap<u32, i64>,
    /// Request identifier values per root.
    values: FxHashMap<u32, Values<'s>>,
}

impl<'s> State<'s, '_> {
    /// Remembers how long the receivers of a sender were at work.
    fn extend(&mut self, facts: &Facts<'s>, pair: &Pair, candidate: &Candidate) {
        if matches!(pair.role, Role::Local | Role::Served) {
            let end_us = facts.get(candidate.to).end_us.max(facts.get(candidate.from).end_us);
            let known = self.ends_us.entry(candidate.from).or_insert(end_us);
            *known = end_us.max(*known);
        }
    }

    fn is_free(&self, facts: &Facts<'s>, pair: &Pair, candidate: &Candidate) -> bool {
        // What carries an object can be any of its carriers, and have it from several.
        let is_any = pair.role == Role::Attached;
        let has_received = |role| self.received.contains(&(candidate.to, role));
        let has_sender = || has_received(pair.role) || (pair.ends_on_node && has_received(Role::Local));
        let known = self.sent.get(&(candidate.from, candidate.pair));
        (is_any || self.agrees(pair, candidate) && !has_sender())
            && (pair.many || known.is_none_or(|&known| is_rest(facts, known, candidate.to)))
    }

    /// Whether a step of a chain over nodes (a method that hands over to itself
    /// on the next node) starts while the sender's side is at work: the sender
    /// waits for what it handed over. Its side is what its own hand-offs showed
    /// so far; local ones are decided first.
    fn is_inside(&mut self, facts: &Facts<'s>, pair: &Pair, candidate: &Candidate) -> bool {
        if !is_chain(pair) {
            return true;
        }
        let end_us = self.ends_us.get(&candidate.from).copied();
        end_us.is_none_or(|end_us| facts.get(candidate.to).start_us <= end_us)
    }

    /// Whether both ends can still be what a pair says they are.
    fn agrees(&self, pair: &Pair, candidate: &Candidate) -> bool {
        let can_be = |span: u32, top| self.tops.get(&span).is_none_or(|known| known.contains(&top));
        can_be(candidate.from, pair.from) && can_be(candidate.to, pair.to)
    }

    /// The candidates that say the same of the same spans, whatever top-level methods
    /// they take them for, if the spans can still be those: as much speaks for each.
    fn equals<'p>(&self, pairs: &'p Pairs<'_>, candidate: &Candidate) -> Vec<&'p Pair> {
        let is_local = |role: Role| matches!(role, Role::Local | Role::Served);
        let role = pairs.get(candidate.pair).role;
        let same = |other: Role| other == role || (is_local(other) && is_local(role));
        let all = self.equals.get(&(candidate.from, candidate.to)).into_iter().flatten();
        let all = all.filter(|other| other.evidence.0.is_as_good(&candidate.evidence.0));
        let all = all.map(|other| (other, pairs.get(other.pair)));
        all.filter(|(other, pair)| same(pair.role) && self.agrees(pair, other))
            .map(|(_, pair)| pair)
            .collect()
    }

    /// The link of an accepted candidate, of those that say the same the one that
    /// takes the spans for what they turned out to be.
    fn link(&self, pairs: &Pairs<'_>, candidate: &Candidate) -> SpanLink {
        let is = |span: u32, top| self.tops.get(&span).and_then(|tops| tops.first()) == Some(&top);
        let equals = self.equals(pairs, candidate);
        let fits = |pair: &&&Pair| is(candidate.from, pair.from) && is(candidate.to, pair.to);
        let pair = equals.iter().find(fits).copied().unwrap_or(pairs.get(candidate.pair));
        SpanLink { from: candidate.from, to: candidate.to, pair: pair.id, by: candidate.by }
    }

    fn occupy(&mut self, pairs: &Pairs<'_>, candidate: &Candidate) {
        let pair = pairs.get(candidate.pair);
        if pair.role != Role::Attached {
            // What several could have handed over says not which of them did.
            let equals = self.equals(pairs, candidate);
            let mut from: Vec<TopLevelId> = equals.iter().map(|pair| pair.from).collect();
            let mut to: Vec<TopLevelId> = equals.iter().map(|pair| pair.to).collect();
            dedup(&mut from);
            dedup(&mut to);
            self.tops.insert(candidate.from, from);
            self.tops.insert(candidate.to, to);
        }
        self.received.insert((candidate.to, pair.role));
        if pair.ends_on_node {
            self.received.insert((candidate.to, Role::Local));
        }
        self.sent.insert((candidate.from, candidate.pair), candidate.to);
    }

    /// Makes one component of the two ends; false if they are in one already,
    /// or if a bare hand-off would put contradicting values into one request.
    fn join(&mut self, facts: &Facts<'s>, pairs: &Pairs<'_>, candidate: &Candidate) -> bool {
        let (a, b) = (self.root(candidate.from), self.root(candidate.to));
        if a == b {
            return false;
        }
        let label = |root: u32| self.labels.get(&root).copied().or_else(|| facts.label_of(root));
        let labels = (label(a), label(b));
        if labels.0.zip(labels.1).is_some_and(|(a, b)| a != b) {
            return false;
        }
        let ours = self.values_of(facts, pairs, a);
        let theirs = self.values_of(facts, pairs, b);
        if candidate.is_bare && contradict(&ours, &theirs) {
            self.values.insert(a, ours);
            self.values.insert(b, theirs);
            return false;
        }
        let (root, other) = (a.min(b), a.max(b));
        self.parent.insert(other, root);
        if let Some(label) = labels.0.or(labels.1) {
            self.labels.insert(root, label);
        }
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
        self.values.remove(&root).unwrap_or_else(|| request_values(facts, pairs, root))
    }
}

/// Keeps the first of equal ones.
fn dedup(tops: &mut Vec<TopLevelId>) {
    let mut known = FxHashSet::default();
    tops.retain(|top| known.insert(*top));
}
