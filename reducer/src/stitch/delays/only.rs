//! Only: hand-offs of things of which there is one sender and one receiver, by as much as
//! the two have in common. How long they take is the receiver's affair.

use rustc_hash::{FxHashMap, FxHashSet};
use schema::kinds::is_made;
use schema::{LinkKind, LogPointId, TopLevelKind};

use super::super::evidence::Candidate;
use super::super::facts::{Fact, Facts};
use super::super::pairs::{Pair, Pairs, Role};
use super::{is_hand_off, is_named};

/// Who hands over what, and to whom.
pub(super) struct Only<'f> {
    /// The most values that a receiver shares with any sender.
    most: FxHashMap<u32, u32>,
    /// All senders of a receiver.
    all: FxHashMap<u32, FxHashSet<u32>>,
    /// The senders that share as many, and the receivers that do.
    senders: FxHashMap<u32, FxHashSet<u32>>,
    receivers: FxHashMap<(u32, u32), FxHashSet<u32>>,
    /// Of spans that begin as those which start tasks, or are started, do: how many name a
    /// text.
    named: FxHashMap<(LogPointId, &'f str), u32>,
}

impl<'f> Only<'f> {
    pub(super) fn new(pairs: &Pairs<'_>, facts: &'f Facts<'_>, candidates: &[Candidate]) -> Self {
        let mut most: FxHashMap<u32, u32> = FxHashMap::default();
        let hand_offs = || candidates.iter().filter(|candidate| is_hand_off(pairs, candidate));
        for candidate in hand_offs() {
            let n_shared = most.entry(candidate.to).or_default();
            *n_shared = candidate.evidence.0.n_request.max(*n_shared);
        }
        let mut only = Self {
            most,
            all: FxHashMap::default(),
            senders: FxHashMap::default(),
            receivers: FxHashMap::default(),
            named: FxHashMap::default(),
        };
        let mut begins: FxHashSet<LogPointId> = FxHashSet::default();
        for candidate in hand_offs() {
            only.all.entry(candidate.to).or_default().insert(candidate.from);
            if !only.is_best(candidate) {
                continue;
            }
            only.senders.entry(candidate.to).or_default().insert(candidate.from);
            only.receivers.entry((candidate.from, candidate.pair)).or_default().insert(candidate.to);
            if is_named(candidate) && is_start(pairs.get(candidate.pair)) {
                let ends = [candidate.from, candidate.to];
                begins.extend(ends.iter().filter_map(|&end| facts.get(end).first_point));
            }
        }
        for (_, fact) in facts.iter() {
            let Some(point) = fact.first_point.filter(|point| begins.contains(point)) else { continue };
            for text in made(fact) {
                *only.named.entry((point, text)).or_default() += 1;
            }
        }
        only
    }

    /// Whether nobody shares more with the receiver of a candidate.
    fn is_best(&self, candidate: &Candidate) -> bool {
        candidate.evidence.0.n_request == self.most[&candidate.to]
    }

    fn has_sole_sender(&self, candidate: &Candidate) -> bool {
        self.is_best(candidate) && self.senders[&candidate.to].len() == 1
    }

    /// Whether nobody else can have sent what a candidate's receiver names, nor have
    /// been sent it. A task was given all that it names; what goes round has met things of
    /// others, who share less with it now.
    pub(super) fn are(&self, pairs: &Pairs<'_>, candidate: &Candidate) -> bool {
        let is_task = pairs.kind(pairs.get(candidate.pair).to) == TopLevelKind::Task;
        self.has_sole_sender(candidate)
            && (is_task || self.all[&candidate.to].len() == 1)
            && self.receivers[&(candidate.from, candidate.pair)].len() == 1
    }

    /// The same of a task that nobody else starts, about a thing for which its starter has
    /// never begun so another time, nor the task: as far as the log tells, it was started
    /// once.
    pub(super) fn is_started_once(
        &self,
        pairs: &Pairs<'_>,
        facts: &Facts<'_>,
        candidate: &Candidate,
    ) -> bool {
        let (sender, receiver) = (facts.get(candidate.from), facts.get(candidate.to));
        let is_once = |fact: &Fact<'_>, text: &str| {
            fact.first_point.is_some_and(|point| self.named.get(&(point, text)) == Some(&1))
        };
        let pair = pairs.get(candidate.pair);
        let mut starts = pairs.to(pair.to).map(|index| pairs.get(index));
        is_start(pair)
            && pairs.kind(pair.to) == TopLevelKind::Task
            && starts.all(|other| other.from == pair.from || !is_start(other))
            && is_named(candidate)
            && self.are(pairs, candidate)
            && sender.start_us <= receiver.start_us
            && made(receiver).any(|text| is_once(sender, text) && is_once(receiver, text))
    }

    /// The same of who asks several nodes about one thing, one after the other, and waits
    /// for each: nobody else on the receiver's node can have been asked. A later request
    /// about the same thing would come to a node again.
    pub(super) fn is_asked_once(&self, pairs: &Pairs<'_>, facts: &Facts<'_>, candidate: &Candidate) -> bool {
        let pair = pairs.get(candidate.pair);
        let node = facts.get(candidate.to).node;
        pair.kind == LinkKind::Rpc
            && pair.role == Role::Remote
            && !pair.is_way()
            && pair.many
            && is_named(candidate)
            && self.has_sole_sender(candidate)
            && (self.receivers[&(candidate.from, candidate.pair)].iter())
                .all(|&other| other == candidate.to || facts.get(other).node != node)
    }
}

/// Whether a pair starts a task of its sender.
fn is_start(pair: &Pair) -> bool {
    pair.kind == LinkKind::Thread && pair.role == Role::Local && !pair.is_way()
}

/// The names of things made while the program ran that a span holds, each once.
fn made<'f>(fact: &Fact<'f>) -> impl Iterator<Item = &'f str> {
    let mut texts: Vec<&str> =
        fact.values().iter().map(|value| &*value.text).filter(|text| is_made(text)).collect();
    texts.sort_unstable();
    texts.dedup();
    texts.into_iter()
}
