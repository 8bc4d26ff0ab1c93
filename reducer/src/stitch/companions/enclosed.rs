//! Enclosed: lines that stand directly between two lines of one span.
//!
//! Where the layout prints no threads, a line in the middle of a piece of work stands
//! alone if what it names is that of others. But if the log shows two lines directly one
//! after the other in one span again and again, and hardly ever the second after the first
//! in a span of somebody else, such a line directly after the first is of its span, where
//! nothing else stands before that goes on: the same lines would have to stand there by
//! chance, all of them, and those of the span be left out.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use schema::{LogPointId, Pass, TopLevelId};

use super::super::facts::{Fact, Facts};
use super::super::pairs::Pairs;
use super::{is_rule, is_soon};
use crate::merge::SpanLink;
use crate::skeleton::Event;

/// Lines that can stand between two.
const LINES_MAX: usize = 64;

/// Spans without threads by the places of their lines.
type Places = FxHashMap<(u32, u32, u64), (u32, usize)>;

/// Two statements, one of which stands directly after the other.
type Two = (LogPointId, LogPointId);

/// Links from spans to the lines that they enclose.
pub(super) fn find(pairs: &Pairs<'_>, facts: &Facts<'_>) -> Vec<SpanLink> {
    let mut places = Places::default();
    for (index, fact) in facts.iter().filter(|(_, fact)| fact.thread.is_none()) {
        for (at, event) in fact.events.iter().enumerate() {
            places.insert((fact.node, event.file, event.line), (index, at));
        }
    }
    let mut n_own: BTreeMap<Two, usize> = BTreeMap::new();
    let mut n_other: BTreeMap<Two, usize> = BTreeMap::new();
    let mut found: Vec<(Two, u32, Vec<u32>)> = Vec::new();
    for (index, fact) in facts.iter().filter(|(_, fact)| fact.thread.is_none()) {
        for (at, event) in fact.events.iter().enumerate() {
            let next = places.get(&(fact.node, event.file, end_of(event)));
            let Some((&(span, place), before)) = next.zip(event.log_point) else { continue };
            let after = &facts.get(span).events[place];
            let Some(point) = after.log_point.filter(|_| is_soon(event, after)) else { continue };
            if span == index {
                *n_own.entry((before, point)).or_default() += 1;
            } else if facts.get(span).events.len() > 1 {
                *n_other.entry((before, point)).or_default() += 1;
            } else if let Some(lines) = enclosed(pairs, facts, &places, fact, (at, point)) {
                found.push(((before, point), index, lines));
            }
        }
    }
    let is_known = |two: &Two| {
        let n_own = n_own.get(two).copied().unwrap_or_default();
        is_rule(n_own + n_other.get(two).copied().unwrap_or_default(), n_own)
    };
    let found = found.into_iter().filter(|(two, ..)| is_known(two));
    found
        .flat_map(|(_, from, lines)| {
            lines.into_iter().map(move |to| SpanLink { from, to, pair: None, by: Pass::CompanionsEnclosed })
        })
        .collect()
}

/// The lines of `point`, each a span of its own, of which alone consists what stands between
/// the line at `at` and the next one of a span.
fn enclosed(
    pairs: &Pairs<'_>,
    facts: &Facts<'_>,
    places: &Places,
    fact: &Fact<'_>,
    (at, point): (usize, LogPointId),
) -> Option<Vec<u32>> {
    let (before, after) = (&fact.events[at], fact.events.get(at + 1)?);
    let is_between = |top: &&TopLevelId| {
        let prints = |first: Option<LogPointId>, second: Option<LogPointId>| {
            first.zip(second).is_some_and(|(first, second)| pairs.prints_after(**top, first, second))
        };
        prints(before.log_point, Some(point)) && prints(Some(point), after.log_point)
    };
    let &top = fact.tops.first().filter(is_between).filter(|_| is_soon(before, after))?;
    let mut lines = Vec::new();
    let mut line = end_of(before);
    while line < after.line && before.file == after.file && lines.len() < LINES_MAX {
        let &(span, _) = places.get(&(fact.node, before.file, line))?;
        let lone = facts.get(span);
        let is_its = lone.events.len() == 1
            && lone.first_point == Some(point)
            && lone.any_rank(top).is_some()
            && !is_started(pairs, lone, top);
        if !is_its {
            return None;
        }
        line = end_of(&lone.events[0]);
        lines.push(span);
    }
    (line == after.line).then_some(lines)
}

/// Whether a line is rather the first of what `top` hands over, and names something: a
/// hand-off tells whose.
fn is_started(pairs: &Pairs<'_>, lone: &Fact<'_>, top: TopLevelId) -> bool {
    let best = lone.tops.first().filter(|&&best| best != top && !lone.values().is_empty());
    best.is_some_and(|&best| pairs.to(best).any(|index| pairs.get(index).from == top))
}

/// The line directly behind an event.
fn end_of(event: &Event) -> u64 {
    event.line + u64::from(event.n_lines)
}
