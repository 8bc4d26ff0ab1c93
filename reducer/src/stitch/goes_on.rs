//! Goes on: what a thread begins with lines that everybody prints, it goes on with.
//!
//! A task can begin with lines of utilities that very many methods call. They name nothing,
//! and do not tell what the thread is at; what it prints next does. But nor do they tell that
//! this is the same piece of work: a pool that runs all sorts of tasks runs some that print
//! nothing else. Which of both holds for the threads of a name is learnt from the log: there
//! is a rule if nearly all such lines are followed, in their thread and soon, by one of a
//! method that can have printed them, while far fewer would be if they stood elsewhere.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use schema::{Pass, TopLevelId};

use super::facts::{Fact, Facts};
use super::joined;
use super::waiting::SHIFTS_US;
use crate::merge::SpanLink;

/// Spans from which to learn.
const SPANS_MIN: usize = 8;

/// At most one in so many of those that go on is not seen to.
const ALONE_SHARE: usize = 8;

/// At most one in so many would be followed at another time.
const CHANCE_SHARE: usize = 4;

/// What goes on does so within this time, µs.
const SOON_US: i64 = 100_000;

/// What the threads of one name do.
#[derive(Default)]
struct Pool {
    n_spans: usize,
    n_by_chance: usize,
    /// Spans that everybody can have printed, each with the one that goes on with it.
    next: Vec<(u32, u32)>,
}

/// Links to what everybody can have printed from what its thread goes on with, in addition
/// to `links`.
pub(super) fn join(facts: &Facts<'_>, links: &[SpanLink]) -> Vec<SpanLink> {
    let (mut sets, mut has_sender) = joined(facts, links);
    let mut threads: BTreeMap<(u32, &str), Vec<u32>> = BTreeMap::new();
    for (index, fact) in facts.iter() {
        if let Some(thread) = fact.thread {
            threads.entry((fact.node, thread)).or_default().push(index);
        }
    }
    let mut pools: BTreeMap<String, Pool> = BTreeMap::new();
    for ((_, thread), spans) in &threads {
        let pool = pools.entry(without_digits(thread)).or_default();
        for (at, &index) in spans.iter().enumerate().filter(|(_, index)| facts.get(**index).is_anybodys()) {
            pool.n_spans += 1;
            pool.next.extend(
                spans.get(at + 1).filter(|next| goes_on(facts, index, **next)).map(|&next| (index, next)),
            );
            pool.n_by_chance +=
                SHIFTS_US.iter().filter(|shift_us| would_go_on(facts, spans, index, **shift_us)).count();
        }
    }
    let mut out = Vec::new();
    for pool in pools.into_values().filter(Pool::is_rule) {
        for (index, next) in pool.next {
            if !has_sender[index as usize] && sets.join(next, index) {
                has_sender[index as usize] = true;
                out.push(SpanLink { from: next, to: index, pair: None, by: Pass::GoesOn });
            }
        }
    }
    out
}

/// What is known by `links` of spans that everybody can have printed: the method that their
/// thread goes on with.
pub(super) fn methods(facts: &Facts<'_>, links: &[SpanLink]) -> FxHashMap<u32, TopLevelId> {
    let is_told = |link: &&SpanLink| {
        let (next, span) = (facts.get(link.from), facts.get(link.to));
        link.pair.is_none()
            && link.from > link.to
            && span.is_anybodys()
            && (next.node, next.thread) == (span.node, span.thread)
            && span.thread.is_some()
    };
    let mut told: Vec<&SpanLink> = links.iter().filter(is_told).collect();
    // What the last one of a row is, all of them are.
    told.sort_unstable_by_key(|link| std::cmp::Reverse((link.to, link.from)));
    let mut methods = FxHashMap::default();
    for link in told {
        let top = methods.get(&link.from).or(facts.get(link.from).tops.first()).copied();
        methods.extend(top.map(|top| (link.to, top)));
    }
    methods
}

impl Pool {
    fn is_rule(&self) -> bool {
        self.n_spans >= SPANS_MIN
            && (self.n_spans - self.next.len()) * ALONE_SHARE <= self.n_spans
            && self.n_by_chance * CHANCE_SHARE <= self.n_spans * SHIFTS_US.len()
    }
}

/// Whether a span of its thread begins soon after another one has ended, and is of a method
/// that can have printed that.
fn goes_on(facts: &Facts<'_>, before: u32, next: u32) -> bool {
    let (span, rest) = (facts.get(before), facts.get(next));
    (0..=SOON_US).contains(&rest.start_us.saturating_sub(span.end_us)) && can_be(span, rest)
}

/// The same for any span of its thread, if it had ended `shift_us` later.
fn would_go_on(facts: &Facts<'_>, spans: &[u32], before: u32, shift_us: i64) -> bool {
    let span = facts.get(before);
    let end_us = span.end_us.saturating_add(shift_us);
    let from = spans.partition_point(|&other| facts.get(other).start_us < end_us);
    spans.get(from).is_some_and(|&next| {
        let rest = facts.get(next);
        rest.start_us <= end_us.saturating_add(SOON_US) && can_be(span, rest)
    })
}

/// Whether what a span most likely is can have printed another one.
fn can_be(span: &Fact<'_>, rest: &Fact<'_>) -> bool {
    rest.tops.first().is_some_and(|top| span.tops.iter().chain(span.other_tops).any(|other| other == top))
}

/// The name of a pool's threads, as far as it is the same for all of them.
fn without_digits(thread: &str) -> String {
    thread.chars().filter(|c| !c.is_ascii_digit()).collect()
}
