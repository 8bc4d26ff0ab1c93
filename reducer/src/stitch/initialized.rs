//! Initialized: what a thread prints only as it initializes classes is of who started it.
//!
//! A class is initialized once, by whoever needs it first. That is no part of the round in
//! which a dispatcher comes to need it: the next rounds do the same without. It is of the
//! thread, and so of who has started that, be it through others that print nothing: of the
//! only one who can have started it and is at work then.

use std::collections::{BTreeMap, BTreeSet};

use schema::{LinkKind, Pass, TopLevelId};

use super::facts::{Fact, Facts};
use super::intervals::Intervals;
use super::joined;
use super::pairs::{Pair, Pairs, Role};
use crate::merge::SpanLink;

/// Steps from who starts a thread to what initializes the class, past what prints nothing.
const STEPS_MAX: usize = 4;

/// Links from the starters of threads to what those print as they initialize classes, in
/// addition to `links`.
pub(super) fn join(pairs: &Pairs<'_>, facts: &Facts<'_>, links: &[SpanLink]) -> Vec<SpanLink> {
    let (mut sets, has_sender) = joined(facts, links);
    let mut of_top: BTreeMap<(u32, TopLevelId), Vec<u32>> = BTreeMap::new();
    for (index, fact) in facts.iter() {
        if let Some(&top) = fact.tops.first() {
            of_top.entry((fact.node, top)).or_default().push(index);
        }
    }
    let of_top: BTreeMap<(u32, TopLevelId), Intervals> =
        of_top.into_iter().map(|(top, spans)| (top, Intervals::new(facts, &spans))).collect();
    let mut out = Vec::new();
    for (to, fact) in
        facts.iter().filter(|&(index, fact)| !has_sender[index as usize] && is_first_use(pairs, fact))
    {
        let is_shown = |top: TopLevelId| of_top.contains_key(&(fact.node, top));
        let spans =
            starters(pairs, fact, is_shown).into_iter().filter_map(|top| of_top.get(&(fact.node, top)));
        let at_work = spans.flat_map(|spans| spans.at_work(fact.start_us, fact.start_us));
        let mut at_work = at_work.filter(|&span| facts.get(span).thread != fact.thread);
        if let (Some(from), None) = (at_work.next(), at_work.next())
            && sets.join(from, to)
        {
            out.push(SpanLink { from, to, pair: None, by: Pass::Initialized });
        }
    }
    out
}

/// Whether a span is all of what initializes classes, and what it is of is known.
fn is_first_use(pairs: &Pairs<'_>, fact: &Fact<'_>) -> bool {
    fact.thread.is_some()
        && fact.other_tops.is_empty()
        && fact.events.iter().all(|event| event.log_point.is_some_and(|point| pairs.initializes(point)))
}

/// Who, of those that print something, can have started the thread of a span.
fn starters(
    pairs: &Pairs<'_>,
    fact: &Fact<'_>,
    is_shown: impl Fn(TopLevelId) -> bool,
) -> BTreeSet<TopLevelId> {
    let mut out = BTreeSet::new();
    // What is called in the thread, and what others have started as another one.
    let mut level: BTreeSet<(TopLevelId, bool)> = fact.tops.iter().map(|&top| (top, false)).collect();
    for _ in 0..STEPS_MAX {
        let mut next = BTreeSet::new();
        for (top, is_started) in level {
            for pair in pairs.to(top).map(|index| pairs.get(index)).filter(|pair| is_step(pair)) {
                let is_started = is_started || pair.kind == LinkKind::Thread;
                if !is_shown(pair.from) {
                    next.insert((pair.from, is_started));
                } else if is_started {
                    out.insert(pair.from);
                }
            }
        }
        level = next;
    }
    out
}

fn is_step(pair: &Pair) -> bool {
    pair.id.is_some()
        && pair.role == Role::Local
        && !pair.is_way()
        && matches!(pair.kind, LinkKind::Call | LinkKind::Thread)
}
