//! Turns: lines of one statement, each a span of its own, are turns of a loop if that
//! is how it nearly always ends.
//!
//! A line that a task prints in a loop, about another thing each time, can as well be
//! all of a task of its own, and while a log is read nothing tells which. What follows
//! does: the last of the lines, in the same thread and a moment later, is one of a
//! span that goes on as only the loop's method does. If nearly all runs of such lines
//! end so, it is that method at work, and the runs are its turns.

use std::collections::BTreeMap;

use schema::{LogPointId, Pass};

use super::facts::{Fact, Facts};
use super::pairs::Pairs;
use crate::merge::SpanLink;

/// Runs from which to learn.
const RUNS_MIN: usize = 8;

/// At most one exception in so many.
const EXCEPTIONS_SHARE: usize = 16;

/// One turn follows another within this time, µs.
const SOON_US: i64 = 100_000;

/// Links from turn to turn, in canonical order.
pub(super) fn find(pairs: &Pairs<'_>, facts: &Facts<'_>) -> Vec<SpanLink> {
    let mut runs: BTreeMap<LogPointId, (usize, Vec<SpanLink>)> = BTreeMap::new();
    let mut n_ended: BTreeMap<LogPointId, usize> = BTreeMap::new();
    for lines in threads(facts) {
        let mut rest = &lines[..];
        while let Some(point) = rest.first().and_then(|line| lone(facts, line)) {
            let more = rest
                .windows(2)
                .take_while(|two| lone(facts, &two[1]) == Some(point) && two[1].us - two[0].us <= SOON_US);
            let (run, others) = rest.split_at(1 + more.count());
            rest = others;
            let (n_runs, links) = runs.entry(point).or_default();
            *n_runs += 1;
            if let Some(last) = others.first().filter(|last| ends(pairs, facts, run, last, point)) {
                *n_ended.entry(point).or_default() += 1;
                let spans: Vec<u32> = run.iter().chain([last]).map(|line| line.span).collect();
                links.extend(spans.windows(2).map(|two| SpanLink {
                    from: two[0],
                    to: two[1],
                    pair: None,
                    by: Pass::Turns,
                }));
            }
        }
    }
    let is_rule = |(point, (n_runs, _)): &(LogPointId, (usize, Vec<SpanLink>))| {
        let n_ended = n_ended.get(point).copied().unwrap_or_default();
        *n_runs >= RUNS_MIN && (n_runs - n_ended) * EXCEPTIONS_SHARE <= *n_runs
    };
    let mut links: Vec<SpanLink> =
        runs.into_iter().filter(is_rule).flat_map(|(_, (_, links))| links).collect();
    links.sort_unstable();
    links
}

/// A line of a thread.
struct Line {
    us: i64,
    span: u32,
    is_first: bool,
}

/// The lines of each thread in order, cut where a run of lines can begin.
fn threads(facts: &Facts<'_>) -> Vec<Vec<Line>> {
    let mut cut = Vec::new();
    for lines in facts.lines_of_threads() {
        let mut part: Vec<Line> = Vec::new();
        for (us, _, _, span, at) in lines {
            let line = Line { us, span, is_first: at == 0 };
            let begins = part.last().is_none_or(|last| lone(facts, last).is_none());
            if begins && !part.is_empty() {
                cut.push(std::mem::take(&mut part));
            }
            part.push(line);
        }
        cut.push(part);
    }
    cut
}

/// The log point of a span of one line.
fn lone(facts: &Facts<'_>, line: &Line) -> Option<LogPointId> {
    let fact = facts.get(line.span);
    fact.first_point.filter(|_| fact.events.len() == 1)
}

/// Whether a line that follows a run of lone lines of `point` begins a span that shows
/// whose turns they are.
fn ends(pairs: &Pairs<'_>, facts: &Facts<'_>, run: &[Line], last: &Line, point: LogPointId) -> bool {
    let fact = facts.get(last.span);
    let is_soon = run.last().is_some_and(|line| last.us - line.us <= SOON_US);
    let has = |fact: &Fact<'_>, top| fact.tops.contains(&top) || fact.other_tops.contains(&top);
    let top = fact.tops.first().filter(|_| is_soon && last.is_first && fact.first_point == Some(point));
    top.is_some_and(|&top| {
        fact.events.len() > 1
            && pairs.prints_after(top, point, point)
            && run.iter().all(|line| has(facts.get(line.span), top))
    })
}
