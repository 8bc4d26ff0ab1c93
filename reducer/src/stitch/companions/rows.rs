//! Rows: lines of one statement, one directly after the other, before what goes on with the
//! last of them.
//!
//! Of two lines of one statement nothing tells whether the second begins the work once
//! more, or goes on with it. But if the code prints them in a loop, and there is hardly
//! ever one alone before what goes on with it, though whoever works alone would print one
//! alone, the lines before the last one are of the same work, if they say the same or have
//! a name in common with what goes on: its loop has turned. What names other things than
//! that is of somebody else.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use schema::kinds::TELLING_MIN;
use schema::{Event, LogPointId};

use super::super::facts::{Fact, Facts};
use super::super::pairs::Pairs;
use super::{is_rule, is_soon};
use crate::merge::SpanLink;

/// Spans by the places behind their lines.
type Lines = FxHashMap<(u32, u32, u64), (u32, usize)>;

/// Links from line to line of rows of which the last line goes on by one of `links`.
pub(super) fn find(pairs: &Pairs<'_>, facts: &Facts<'_>, links: &[SpanLink]) -> Vec<SpanLink> {
    let mut lines = Lines::default();
    for (index, fact) in facts.iter().filter(|(_, fact)| fact.thread.is_none()) {
        for (at, event) in fact.events.iter().enumerate() {
            lines.insert((fact.node, event.file, event.line + u64::from(event.n_lines)), (index, at));
        }
    }
    let gone_on: BTreeMap<u32, u32> = links.iter().map(|link| (link.from, link.to)).collect();
    let mut rows: BTreeMap<LogPointId, Vec<Vec<SpanLink>>> = BTreeMap::new();
    for (&last, &next) in &gone_on {
        if let Some(point) = point_of(facts.get(last)) {
            let row = row(pairs, facts, &lines, (point, last, next));
            let row = row.into_iter().filter(|span| !gone_on.contains_key(span));
            let links = row.map(|from| SpanLink { from, to: last, pair: None }).collect();
            rows.entry(point).or_default().push(links);
        }
    }
    let are_long =
        |rows: &Vec<Vec<SpanLink>>| is_rule(rows.len(), rows.iter().filter(|row| !row.is_empty()).count());
    rows.into_values().filter(are_long).flatten().flatten().collect()
}

/// The other spans of lines of `point` that stand directly before the span `last`, which
/// `next` goes on with.
fn row(
    pairs: &Pairs<'_>,
    facts: &Facts<'_>,
    lines: &Lines,
    (point, last, next): (LogPointId, u32, u32),
) -> BTreeSet<u32> {
    let goes_on = facts.get(next);
    let is_turn = |fact: &Fact<'_>| {
        let mut tops = fact.tops.iter().chain(fact.other_tops);
        tops.any(|&top| facts.get(last).any_rank(top).is_some() && pairs.prints_after(top, point, point))
    };
    let mut row = BTreeSet::new();
    let Some(mut event) = facts.get(last).events.last() else { return row };
    let node = facts.get(last).node;
    let before = |event: &Event| lines.get(&(node, event.file, event.line));
    while let Some(&(span, at)) = before(event) {
        let fact = facts.get(span);
        let other = &fact.events[at];
        let is_its = point_of(fact) == Some(point)
            && is_soon(other, event)
            && is_turn(fact)
            && !facts.names_other(goes_on, fact)
            && (say_same(other, event) || goes_on.events.first().is_some_and(|next| share(other, next)));
        if !is_its {
            break;
        }
        row.insert(span);
        event = other;
    }
    row.remove(&last);
    row
}

/// Whether two lines of one statement say the same.
fn say_same(a: &Event, b: &Event) -> bool {
    !a.values.is_empty() && a.values == b.values
}

/// Whether two lines have a name in common.
pub(super) fn share(a: &Event, b: &Event) -> bool {
    let mut texts = a.values.iter().map(|(_, text)| text).filter(|text| text.len() >= TELLING_MIN);
    texts.any(|text| b.values.iter().any(|(_, other)| other == text))
}

/// The log point of all lines of a span without thread.
fn point_of(fact: &Fact<'_>) -> Option<LogPointId> {
    let is_it = |event: &Event| event.log_point == fact.first_point;
    fact.first_point.filter(|_| fact.thread.is_none() && fact.events.iter().all(is_it))
}
