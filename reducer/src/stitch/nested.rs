//! Nesting: what a thread prints in the middle of something is a part of it.
//!
//! A thread does one thing at a time. What begins and ends between two lines of one
//! execution of a method was called by that, over whatever ways: calls that late
//! binding hides, callbacks, libraries that were not analysed. The later line must be
//! one that no execution begins with: else it can be the next execution's, and
//! what stands between them is nobody's (a program runs its `main` once, and what begins
//! it is known). What dispatches hands out requests that are
//! its own as little as the thread's.
//!
//! And what begins anew in its thread has ended before, so that the later line is of
//! another execution, unless it names what the earlier ones do, and what stands between
//! does not.
//!
//! Two that name different things of one kind, and nothing in common, are none in the
//! middle of the other, but in a thread that is named after what the outer one is about:
//! that works on nothing else meanwhile, and meets what it meets. Nor are several that one
//! method prints in the middle of one span, of which each names a thing of its own: they are
//! the rounds of a thread of which the outer one is the life, or what a process that starts
//! again finds left over, and the first has as much to do with it as the next. Nothing follows
//! in a thread whose spans cross (each has a line within the other): its name is that of
//! several threads, or the spans are wrong.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use schema::kinds::is_made;
use schema::{Level, LogPointId, Model, Pass, TopLevelId, TopLevelKind};

use super::evidence::names_thread;
use super::facts::Facts;
use super::joined;
use super::pairs::{Pairs, entries};
use super::request_values::{Values, contradict, request_values};
use crate::merge::SpanLink;
use crate::skeleton::Event;

/// At most one span in this many may cross another one of its thread.
const CROSSING_SHARE: usize = 16;

/// Levels below this are off in usual configurations.
const USUAL_LEVEL: Level = Level::Info;

/// Links from spans to what stands in the middle of them, in addition to `links`.
pub(super) fn join(model: &Model, pairs: &Pairs<'_>, facts: &Facts<'_>, links: &[SpanLink]) -> Vec<SpanLink> {
    let (mut sets, mut has_sender) = joined(facts, links);
    // What others have asked for is handled within what the server runs around it.
    for link in links.iter().filter(|link| is_asked(model, link)) {
        has_sender[link.to as usize] = false;
    }
    let mut threads: BTreeMap<(u32, &str), Vec<u32>> = BTreeMap::new();
    for (index, fact) in facts.iter() {
        if let Some(thread) = fact.thread {
            threads.entry((fact.node, thread)).or_default().push(index);
        }
    }
    let mut begins = Begins::new(model, facts);
    let mut out = Vec::new();
    for spans in threads.into_values() {
        let found = nested(facts, &spans);
        let apart = apart(pairs, facts, &found);
        for (outer, next, inner) in found {
            let tops = facts.get(outer).tops;
            let is_one = |&top: &TopLevelId| {
                !pairs.is_dispatcher(top)
                    && model.top_level_methods[top.index()].kind != TopLevelKind::Entity
                    && next.is_some_and(|point| pairs.is_main(top) || !begins.with(top, point))
            };
            let (outer_fact, inner_fact) = (facts.get(outer), facts.get(inner));
            let mut made = outer_fact.values().iter().filter(|value| value.is_made());
            let is_own = made.any(|value| names_thread(facts, value, outer_fact, inner_fact));
            let differ = !is_own && outer_fact.differ(inner_fact);
            let is_inside = !differ && !tops.is_empty() && tops.iter().all(is_one);
            let is_apart = apart.contains(&(outer, inner_fact.tops.first().copied()));
            let is_inside = is_inside && (is_own || !is_apart);
            if is_inside && !has_sender[inner as usize] && sets.join(outer, inner) {
                has_sender[inner as usize] = true;
                out.push(SpanLink { from: outer, to: inner, pair: None, by: Pass::Nested });
            }
        }
    }
    out
}

/// The spans that hold in their middle several of one method that are of different requests,
/// with that method.
fn apart(
    pairs: &Pairs<'_>,
    facts: &Facts<'_>,
    found: &[(u32, Option<LogPointId>, u32)],
) -> FxHashSet<(u32, Option<TopLevelId>)> {
    let mut named: FxHashMap<(u32, Option<TopLevelId>), Values<'_>> = FxHashMap::default();
    let mut apart = FxHashSet::default();
    for &(outer, _, inner) in found {
        let key = (outer, facts.get(inner).tops.first().copied());
        let values = request_values(facts, pairs, inner);
        let known = named.entry(key).or_default();
        if contradict(known, &values) {
            apart.insert(key);
        }
        for (class, texts) in values {
            known.entry(class).or_default().extend(texts);
        }
    }
    apart
}

/// Whether a link is of somebody who has asked for what a handler does, over a network.
fn is_asked(model: &Model, link: &SpanLink) -> bool {
    let pair = link.pair.and_then(|pair| model.communication_pairs.get(pair.index()));
    pair.is_some_and(|pair| pair.kind.is_served())
}

/// Whether the record at `line` names what an earlier one of its span has named while
/// the program ran, of which `others` between them know nothing: it is of the same
/// execution, whatever they are.
fn goes_on(own: &[Event], others: &[Event], line: Line) -> bool {
    let Some(at) = own.iter().position(|event| line_of(event) == line) else { return false };
    let shows = |events: &[Event], text: &str| {
        events.iter().flat_map(|event| event.values.iter()).any(|(_, other)| other == text)
    };
    let named = own[at].values.iter().map(|(_, text)| text).filter(|text| is_made(text));
    named.into_iter().any(|text| shows(&own[..at], text) && !shows(others, text))
}

/// Where a record stands among those of its node.
type Line = (i64, u32, u64);

fn line_of(event: &Event) -> Line {
    (event.ts_us, event.file, event.line)
}

/// The spans of one thread that stand in the middle of others: (the innermost span
/// around it, that one's next log point, the span).
fn nested(facts: &Facts<'_>, spans: &[u32]) -> Vec<(u32, Option<LogPointId>, u32)> {
    let mut lines: Vec<(i64, u32, u64, u32, Option<LogPointId>)> = (spans.iter())
        .flat_map(|&span| facts.get(span).events.iter().map(move |event| (span, event)))
        .map(|(span, event)| (event.ts_us, event.file, event.line, span, event.log_point))
        .collect();
    lines.sort_unstable();
    let mut n_left: FxHashMap<u32, usize> = FxHashMap::default();
    lines.iter().for_each(|line| *n_left.entry(line.3).or_default() += 1);
    let mut around: Vec<u32> = Vec::new();
    // What stands in the middle of a span since its last line.
    let mut inside: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    let (mut out, mut n_crossing) = (Vec::new(), 0);
    for &(ts_us, file, number, span, point) in &lines {
        let line = (ts_us, file, number);
        if let Some(at) = around.iter().position(|&open| open == span) {
            n_crossing += around.len() - at - 1;
            around.truncate(at + 1);
            let inner = inside.remove(&span).unwrap_or_default();
            let is_again = |&other: &u32| {
                facts.get(other).tops.first() == facts.get(span).tops.first()
                    && !goes_on(facts.get(span).events, facts.get(other).events, line)
            };
            let inner = if inner.iter().any(is_again) { Vec::new() } else { inner };
            out.extend(inner.into_iter().map(|inner| (span, point, inner)));
        } else {
            if let Some(&outer) = around.last() {
                inside.entry(outer).or_default().push(span);
            }
            around.push(span);
        }
        let left = n_left.entry(span).or_default();
        *left = left.saturating_sub(1);
        if *left == 0 {
            around.retain(|&open| open != span);
        }
    }
    if n_crossing * CROSSING_SHARE > spans.len() { Vec::new() } else { out }
}

/// What executions begin with, as far as the log prints it.
struct Begins<'m> {
    model: &'m Model,
    /// Loggers and the lowest level that they have shown.
    shown: FxHashMap<&'m str, Level>,
    known: FxHashMap<TopLevelId, FxHashSet<LogPointId>>,
}

impl<'m> Begins<'m> {
    fn new(model: &'m Model, facts: &Facts<'_>) -> Self {
        let mut begins = Self { model, shown: FxHashMap::default(), known: FxHashMap::default() };
        for event in facts.iter().flat_map(|(_, fact)| fact.events) {
            let logger = event.log_point.and_then(|point| begins.logger(point));
            if let (Some(logger), Some(level)) = (logger, event.level) {
                let shown = begins.shown.entry(logger).or_insert(USUAL_LEVEL);
                *shown = level.min(*shown);
            }
        }
        begins
    }

    fn logger(&self, point: LogPointId) -> Option<&'m str> {
        match self.model.log_points.get(point.index())?.loggers.as_slice() {
            [logger] => Some(logger),
            _ => None,
        }
    }

    /// Whether an execution of `top` can begin with `point`.
    fn with(&mut self, top: TopLevelId, point: LogPointId) -> bool {
        if !self.known.contains_key(&top) {
            let is_quiet = |point: LogPointId| {
                let levels = self.model.log_points.get(point.index()).map_or(&[][..], |p| &p.levels);
                let shown = self.logger(point).and_then(|logger| self.shown.get(logger));
                let lowest = shown.copied().unwrap_or(USUAL_LEVEL);
                levels.iter().all(|&level| level < lowest)
            };
            let points = entries(self.model, top, is_quiet);
            self.known.insert(top, points.into_iter().collect());
        }
        self.known[&top].contains(&point)
    }
}
