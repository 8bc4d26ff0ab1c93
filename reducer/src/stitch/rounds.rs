//! Rounds: everybody of a group is given the same work in the same order.
//!
//! A server that has all its peers confirm something serves each of them in a thread
//! of its own, and each thread takes part once in every round. Who comes late often
//! prints no more than that there was nothing left to do, which names no round. But
//! what is handed to a group in turn each of its threads takes in turn: between two
//! rounds that a thread has named lie those that it has not, and where it has printed
//! as many lines that name none, they are theirs, one after the other.
//!
//! Whether threads work so is learnt from the log: no thread has part in a round twice,
//! and all come to the rounds in one order. Where they are not as many, nothing follows.
//!
//! Nor need every thread print something in each round, if as many of them do in each: who
//! comes early may print nothing at all. Then a part that names nothing is of the oldest
//! round that lacks one and in which its thread had none yet. That is sure where no round
//! lacks any afterwards, and no two threads can have changed places meanwhile.

use std::collections::{BTreeMap, BTreeSet};

use schema::{Pass, TopLevelId, ValueClassId};

use super::facts::{Fact, Facts};
use super::held::Held;
use super::joined;
use super::pairs::Pairs;
use crate::merge::SpanLink;

/// Rounds from which to learn.
const ROUNDS_MIN: usize = 16;

/// At most one part in this many may be a thread's second one, or out of turn.
const EXCEPTIONS_SHARE: usize = 16;

/// The spans of one top-level method on one node.
type Workers<'s> = BTreeMap<&'s str, Vec<u32>>;

/// Links from rounds to the parts in them that name none, in addition to `links`.
pub(super) fn join(pairs: &Pairs<'_>, facts: &Facts<'_>, links: &[SpanLink]) -> Vec<SpanLink> {
    let (mut sets, mut has_sender) = joined(facts, links);
    let mut groups: BTreeMap<(u32, TopLevelId), Workers<'_>> = BTreeMap::new();
    for (index, fact) in facts.iter() {
        if let (Some(thread), Some(&top)) = (fact.thread, fact.tops.first())
            && !pairs.is_dispatcher(top)
        {
            groups.entry((fact.node, top)).or_default().entry(thread).or_default().push(index);
        }
    }
    let mut out = Vec::new();
    for workers in groups.into_values().filter(|workers| workers.len() > 1) {
        for kind in kinds(facts, &workers) {
            let rounds = Rounds::new(facts, &workers, kind);
            for (from, to) in rounds.in_turn().into_iter().chain(rounds.filled(facts)) {
                if !has_sender[to as usize] && sets.join(from, to) {
                    has_sender[to as usize] = true;
                    out.push(SpanLink { from, to, pair: None, by: Pass::Rounds });
                }
            }
        }
    }
    out
}

/// The kinds of what spans of a group name.
fn kinds(facts: &Facts<'_>, workers: &Workers<'_>) -> BTreeSet<ValueClassId> {
    let values = workers.values().flatten().flat_map(|&span| facts.get(span).values());
    values.map(|value| value.kind).collect()
}

/// The one thing of a kind that a span names.
fn named<'s>(fact: &Fact<'s>, kind: ValueClassId) -> Option<&'s str> {
    let mut names = fact.values().iter().filter(|value| value.kind == kind && value.is_telling());
    let first = names.next()?;
    (first.is_made() && names.all(|name| name.is(first))).then_some(first.text)
}

/// What a group does together, each time for one thing of a kind.
struct Rounds {
    /// First span of each round, in order.
    first: Vec<u32>,
    /// Per thread, in its order: a span, and its round if it names one.
    of_thread: Vec<Vec<(u32, Option<usize>)>>,
    /// Parts that name their round.
    n_named: usize,
    /// Whether there are rounds enough to learn from, and all threads come to them in one order.
    are_in_order: bool,
}

impl Rounds {
    /// The rounds of a group.
    fn new(facts: &Facts<'_>, workers: &Workers<'_>, kind: ValueClassId) -> Self {
        let mut begins: BTreeMap<&str, u32> = BTreeMap::new();
        let spans = || workers.values().flatten().copied();
        for span in spans() {
            if let Some(text) = named(facts.get(span), kind) {
                let first = begins.entry(text).or_insert(span);
                *first = span.min(*first);
            }
        }
        let mut first: Vec<u32> = begins.values().copied().collect();
        first.sort_unstable();
        let round = |span: u32| {
            let begin = named(facts.get(span), kind).and_then(|text| begins.get(text))?;
            first.binary_search(begin).ok()
        };
        let of_thread: Vec<Vec<(u32, Option<usize>)>> =
            (workers.values()).map(|spans| spans.iter().map(|&span| (span, round(span))).collect()).collect();
        let (mut n_named, mut n_out_of_turn) = (0, 0);
        for parts in &of_thread {
            let rounds: Vec<usize> = parts.iter().filter_map(|part| part.1).collect();
            n_named += rounds.len();
            n_out_of_turn += rounds.windows(2).filter(|next| next[1] <= next[0]).count();
        }
        // No thread has part in a round twice, or in an earlier one later.
        let are_in_order = first.len() >= ROUNDS_MIN && n_out_of_turn * EXCEPTIONS_SHARE <= n_named;
        Self { first, of_thread, n_named, are_in_order }
    }

    /// Parts that name no round, each with the first span of its round: as many of a thread
    /// as rounds that it has not named.
    fn in_turn(&self) -> Vec<(u32, u32)> {
        let mut out = Vec::new();
        // Several have part in most rounds.
        if !self.are_in_order || self.n_named * 2 <= self.first.len() * 3 {
            return out;
        }
        for parts in &self.of_thread {
            let mut nameless: Vec<u32> = Vec::new();
            let mut after = 0;
            let end = (u32::MAX, Some(self.first.len()));
            for &(span, round) in parts.iter().chain([&end]) {
                let Some(round) = round else {
                    nameless.push(span);
                    continue;
                };
                if round >= after && round - after == nameless.len() {
                    out.extend((after..round).map(|at| self.first[at]).zip(nameless.iter().copied()));
                }
                nameless.clear();
                after = round + 1;
            }
        }
        out
    }

    /// Parts that name nothing, each with the first span of the oldest round that lacks one,
    /// if all rounds have as many.
    fn filled(&self, facts: &Facts<'_>) -> Vec<(u32, u32)> {
        let mut parts: Vec<(u32, usize, Option<usize>)> = Vec::new();
        for (thread, of_thread) in self.of_thread.iter().enumerate() {
            let counts = |part: &&(u32, Option<usize>)| part.1.is_some() || names_nothing(facts, part.0);
            parts.extend(of_thread.iter().filter(counts).map(|&(span, round)| (span, thread, round)));
        }
        parts.sort_unstable();
        let n_rounds = self.first.len().max(1);
        let size = (parts.len() + n_rounds / 2) / n_rounds;
        if !self.are_in_order || size < 2 {
            return Vec::new();
        }
        let mut filling = Filling::new(size);
        for &(span, thread, round) in &parts {
            match round {
                Some(round) => filling.name(round, thread),
                None => filling.fill(span, thread),
            }
            filling.settle();
        }
        let n_nameless = parts.len() - self.n_named;
        let is_rule = filling.n_single >= ROUNDS_MIN && filling.n_exceptions * EXCEPTIONS_SHARE <= n_nameless;
        let filled = if is_rule { filling.settled } else { Vec::new() };
        filled.into_iter().map(|(round, span)| (self.first[round], span)).collect()
    }
}

/// Whether a span names nothing that was made while the program ran.
fn names_nothing(facts: &Facts<'_>, span: u32) -> bool {
    !facts.get(span).values().iter().any(Held::is_made)
}

/// Rounds that lack parts, while these come.
struct Filling {
    /// Parts of a round.
    size: usize,
    /// Rounds that have begun.
    n_begun: usize,
    /// Of these the rounds that lack parts, with the threads of those that they have.
    lacking: BTreeMap<usize, Vec<usize>>,
    /// Rounds that have begun since no round lacked any part.
    n_open: usize,
    /// Parts that name nothing since then: their rounds and threads.
    open: Vec<(usize, u32, usize)>,
    /// Rounds with parts that are known to be theirs.
    settled: Vec<(usize, u32)>,
    /// How often one round alone lacked parts until it had all.
    n_single: usize,
    /// Parts that no round lacks, and second ones of a thread.
    n_exceptions: usize,
}

impl Filling {
    fn new(size: usize) -> Self {
        Self {
            size,
            n_begun: 0,
            lacking: BTreeMap::new(),
            n_open: 0,
            open: Vec::new(),
            settled: Vec::new(),
            n_single: 0,
            n_exceptions: 0,
        }
    }

    /// A part of a thread that names its round.
    fn name(&mut self, round: usize, thread: usize) {
        if round == self.n_begun {
            self.n_begun += 1;
            self.n_open += 1;
            self.lacking.insert(round, vec![thread]);
            return;
        }
        match self.lacking.get_mut(&round) {
            Some(threads) if !threads.contains(&thread) => threads.push(thread),
            _ => self.n_exceptions += 1,
        }
        self.lacking.retain(|_, threads| threads.len() < self.size);
    }

    /// A part of a thread that names nothing.
    fn fill(&mut self, span: u32, thread: usize) {
        let Some((&round, threads)) = self.lacking.iter_mut().find(|(_, threads)| !threads.contains(&thread))
        else {
            self.n_exceptions += 1;
            return;
        };
        threads.push(thread);
        self.open.push((round, span, thread));
        self.lacking.retain(|_, threads| threads.len() < self.size);
    }

    /// Where no round lacks a part, those since the last such time are known, unless two
    /// threads can have changed places.
    fn settle(&mut self) {
        if !self.lacking.is_empty() {
            return;
        }
        let is_one_thread = self.open.windows(2).all(|two| two[0].2 == two[1].2);
        let open = std::mem::take(&mut self.open);
        if self.n_open == 1 && !open.is_empty() {
            self.n_single += 1;
        }
        if self.n_open == 1 || is_one_thread {
            self.settled.extend(open.into_iter().map(|(round, span, _)| (round, span)));
        }
        self.n_open = 0;
    }
}
