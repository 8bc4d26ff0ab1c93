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

use std::collections::{BTreeMap, BTreeSet};

use schema::kinds::{TELLING_MIN, is_made};
use schema::{TopLevelId, ValueClassId};

use super::facts::{Fact, Facts};
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
            let Some(rounds) = Rounds::learn(facts, &workers, kind) else { continue };
            for (from, to) in rounds.parts() {
                if !has_sender[to as usize] && sets.join(from, to) {
                    has_sender[to as usize] = true;
                    out.push(SpanLink { from, to, pair: None });
                }
            }
        }
    }
    out
}

/// The kinds of what spans of a group name.
fn kinds(facts: &Facts<'_>, workers: &Workers<'_>) -> BTreeSet<ValueClassId> {
    let values = workers.values().flatten().flat_map(|&span| facts.get(span).values());
    values.map(|value| facts.kind(value.value_class)).collect()
}

/// The one thing of a kind that a span names.
fn named<'s>(facts: &Facts<'s>, fact: &Fact<'s>, kind: ValueClassId) -> Option<&'s str> {
    let mut texts = (fact.values().iter())
        .filter(|value| facts.kind(value.value_class) == kind && value.text.len() >= TELLING_MIN)
        .map(|value| &*value.text);
    let first = texts.next()?;
    (is_made(first) && texts.all(|text| text == first)).then_some(first)
}

/// What a group does together, each time for one thing of a kind.
struct Rounds {
    /// First span of each round, in order.
    first: Vec<u32>,
    /// Per thread, in its order: a span, and its round if it names one.
    of_thread: Vec<Vec<(u32, Option<usize>)>>,
}

impl Rounds {
    /// The rounds of a group, if it works in rounds.
    fn learn(facts: &Facts<'_>, workers: &Workers<'_>, kind: ValueClassId) -> Option<Self> {
        let mut begins: BTreeMap<&str, u32> = BTreeMap::new();
        let spans = || workers.values().flatten().copied();
        for span in spans() {
            if let Some(text) = named(facts, facts.get(span), kind) {
                let first = begins.entry(text).or_insert(span);
                *first = span.min(*first);
            }
        }
        let mut first: Vec<u32> = begins.values().copied().collect();
        first.sort_unstable();
        let round = |span: u32| {
            let begin = named(facts, facts.get(span), kind).and_then(|text| begins.get(text))?;
            first.binary_search(begin).ok()
        };
        let of_thread: Vec<Vec<(u32, Option<usize>)>> =
            (workers.values()).map(|spans| spans.iter().map(|&span| (span, round(span))).collect()).collect();
        let (mut n_parts, mut n_out_of_turn) = (0, 0);
        for parts in &of_thread {
            let rounds: Vec<usize> = parts.iter().filter_map(|part| part.1).collect();
            n_parts += rounds.len();
            n_out_of_turn += rounds.windows(2).filter(|next| next[1] <= next[0]).count();
        }
        // Several have part in most rounds.
        let is_rule = first.len() >= ROUNDS_MIN
            && n_parts * 2 > first.len() * 3
            && n_out_of_turn * EXCEPTIONS_SHARE <= n_parts;
        is_rule.then_some(Self { first, of_thread })
    }

    /// Parts that name no round, each with the first span of its round.
    fn parts(&self) -> Vec<(u32, u32)> {
        let mut out = Vec::new();
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
}
