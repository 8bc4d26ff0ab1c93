//! Only: hand-offs of things of which there is one sender and one receiver, by as much as
//! the two have in common. How long they take is the receiver's affair.
//!
//! About one thing the same task can be started again and again. If those who start it and
//! the tasks take turns on a node, each time one of them and then a task, the log tells of
//! everybody who has started one; if it tells of all that can, now and then: of who never
//! prints anything it would tell nothing.

use rustc_hash::{FxHashMap, FxHashSet};
use schema::{LinkKind, TopLevelId, TopLevelKind};

use super::super::evidence::Candidate;
use super::super::facts::{Fact, Facts};
use super::super::pairs::{Pair, Pairs, Role};
use super::{is_hand_off, is_named};

/// Who hands over what, and to whom.
pub(super) struct Only<'f> {
    /// The most values that each span shares, as a receiver, with any sender.
    most: Vec<u32>,
    /// All senders of each span, as far as there is one only.
    all: Vec<Sender>,
    /// Those that share as many.
    senders: Vec<Sender>,
    /// The receivers that do, of each of them along each pair, sorted.
    receivers: Vec<(u32, u32, u32)>,
    /// Who has begun about which thing on which node, in order, by the task that is or can have
    /// been started.
    turns: FxHashMap<(u32, TopLevelId, &'f str), Turns>,
}

/// Who can have handed over to a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sender {
    Nobody,
    One(u32),
    Several,
}

impl Sender {
    fn add(&mut self, sender: u32) {
        *self = match *self {
            Self::Nobody => Self::One(sender),
            Self::One(known) if known == sender => Self::One(known),
            _ => Self::Several,
        };
    }

    fn is_one(self) -> bool {
        matches!(self, Self::One(_))
    }
}

/// Who starts a task about one thing (`false`), and such tasks (`true`), in order of start.
#[derive(Debug, Default)]
struct Turns(Vec<(u32, bool)>);

impl Turns {
    /// Whether each task begins after one that can have started it, and who starts one starts
    /// only one, those of a candidate among them.
    fn are_in_turn(&self, candidate: &Candidate) -> bool {
        let is_turn = |turn: &[(u32, bool)]| matches!(turn, [(_, false), (_, true)]);
        let mut turns = self.0.chunks(2);
        turns.clone().all(is_turn)
            && turns.any(|turn| turn == [(candidate.from, false), (candidate.to, true)])
    }
}

impl<'f> Only<'f> {
    pub(super) fn new(pairs: &Pairs<'_>, facts: &'f Facts<'_>, candidates: &[Candidate]) -> Self {
        let mut most = vec![0; facts.len()];
        let hand_offs = || candidates.iter().filter(|candidate| is_hand_off(pairs, candidate));
        for candidate in hand_offs() {
            let n_shared: &mut u32 = &mut most[candidate.to as usize];
            *n_shared = candidate.evidence.0.n_request.max(*n_shared);
        }
        let mut only = Self {
            most,
            all: vec![Sender::Nobody; facts.len()],
            senders: vec![Sender::Nobody; facts.len()],
            receivers: Vec::new(),
            turns: FxHashMap::default(),
        };
        let mut tasks: FxHashSet<TopLevelId> = FxHashSet::default();
        for candidate in hand_offs() {
            only.all[candidate.to as usize].add(candidate.from);
            if !only.is_best(candidate) {
                continue;
            }
            only.senders[candidate.to as usize].add(candidate.from);
            only.receivers.push((candidate.from, candidate.pair, candidate.to));
            if is_named(candidate) && is_start(pairs.get(candidate.pair)) {
                tasks.insert(pairs.get(candidate.pair).to);
            }
        }
        only.receivers.sort_unstable();
        only.receivers.dedup();
        only.take_turns(pairs, facts, &tasks);
        only
    }

    /// Learns who has begun about what, for `tasks` of which all starters are seen.
    fn take_turns(&mut self, pairs: &Pairs<'_>, facts: &'f Facts<'_>, tasks: &FxHashSet<TopLevelId>) {
        let starts = |task| pairs.to(task).map(|index| pairs.get(index)).filter(|pair| is_start(pair));
        let seen: FxHashSet<TopLevelId> =
            facts.iter().filter_map(|(_, fact)| fact.tops.first().copied()).collect();
        let is_told = |task: &&TopLevelId| starts(**task).all(|pair| seen.contains(&pair.from));
        let tasks: FxHashSet<TopLevelId> = tasks.iter().filter(is_told).copied().collect();
        let mut started: FxHashMap<TopLevelId, FxHashSet<TopLevelId>> = FxHashMap::default();
        for &task in &tasks {
            for pair in starts(task) {
                started.entry(pair.from).or_default().insert(task);
            }
        }
        for (index, fact) in facts.iter() {
            let Some(top) = fact.tops.first() else { continue };
            for text in made(fact) {
                for &task in started.get(top).into_iter().flatten() {
                    self.turns.entry((fact.node, task, text)).or_default().0.push((index, false));
                }
                if tasks.contains(top) {
                    self.turns.entry((fact.node, *top, text)).or_default().0.push((index, true));
                }
            }
        }
    }

    /// Whether nobody shares more with the receiver of a candidate.
    fn is_best(&self, candidate: &Candidate) -> bool {
        candidate.evidence.0.n_request == self.most[candidate.to as usize]
    }

    fn has_sole_sender(&self, candidate: &Candidate) -> bool {
        self.is_best(candidate) && self.senders[candidate.to as usize].is_one()
    }

    /// The receivers of the sender of a candidate along its pair.
    fn receivers_of(&self, candidate: &Candidate) -> impl Iterator<Item = u32> {
        let key = (candidate.from, candidate.pair);
        let first = self.receivers.partition_point(|&(from, pair, _)| (from, pair) < key);
        let of_key = self.receivers[first..].iter().take_while(move |&&(from, pair, _)| (from, pair) == key);
        of_key.map(|&(_, _, to)| to)
    }

    /// Whether nobody else can have sent what a candidate's receiver names, nor have
    /// been sent it. A task was given all that it names; what goes round has met things of
    /// others, who share less with it now.
    pub(super) fn are(&self, pairs: &Pairs<'_>, candidate: &Candidate) -> bool {
        let is_task = pairs.kind(pairs.get(candidate.pair).to) == TopLevelKind::Task;
        self.has_sole_sender(candidate)
            && (is_task || self.all[candidate.to as usize].is_one())
            && self.receivers_of(candidate).nth(1).is_none()
    }

    /// The same of a task about a thing for which it and those who start it begin in turn, on
    /// their node: as far as the log tells, nobody else has started it in between.
    pub(super) fn is_started_in_turn(
        &self,
        pairs: &Pairs<'_>,
        facts: &Facts<'_>,
        candidate: &Candidate,
    ) -> bool {
        let pair = pairs.get(candidate.pair);
        let (sender, receiver) = (facts.get(candidate.from), facts.get(candidate.to));
        is_start(pair)
            && pairs.kind(pair.to) == TopLevelKind::Task
            && is_named(candidate)
            && self.are(pairs, candidate)
            && sender.start_us <= receiver.start_us
            && made(receiver).any(|text| {
                let key = (receiver.node, pair.to, text);
                made(sender).any(|other| other == text)
                    && self.turns.get(&key).is_some_and(|turns| turns.are_in_turn(candidate))
            })
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
            && (self.receivers_of(candidate))
                .all(|other| other == candidate.to || facts.get(other).node != node)
    }
}

/// Whether a pair starts a task of its sender.
fn is_start(pair: &Pair) -> bool {
    pair.kind == LinkKind::Thread && pair.role == Role::Local && !pair.is_way()
}

/// The names of things made while the program ran that a span holds, each once.
fn made<'f>(fact: &Fact<'f>) -> impl Iterator<Item = &'f str> {
    let mut texts: Vec<&str> =
        fact.values().iter().filter(|value| value.is_made()).map(|value| value.text).collect();
    texts.sort_unstable();
    texts.dedup();
    texts.into_iter()
}
