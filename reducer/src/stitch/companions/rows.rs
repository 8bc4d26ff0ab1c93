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
use schema::{LogPointId, Pass};

use super::super::facts::{Fact, Facts};
use super::super::pairs::Pairs;
use super::super::waiting::SHIFTS_US;
use super::{CHANCES_MIN, is_rule, is_soon};
use crate::merge::SpanLink;
use crate::skeleton::Event;

/// What follows within this time follows at once: logs print milliseconds, µs.
const AT_ONCE_US: i64 = 1_000;

/// Of so many rows whose lines stand at once, at most one would if its last one came at
/// another time.
const CHANCE_SHARE: usize = 8;

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
    let mut rows: BTreeMap<LogPointId, Vec<Row>> = BTreeMap::new();
    for (&last, &next) in &gone_on {
        if let Some(point) = point_of(facts.get(last)) {
            let mut others = row(pairs, facts, &lines, (point, last, next));
            others.retain(|span| !gone_on.contains_key(span));
            rows.entry(point).or_default().push(Row { last, others });
        }
    }
    let mut found = Vec::new();
    for (point, mut rows) in rows {
        let n_long = rows.iter().filter(|row| !row.others.is_empty()).count();
        if !is_rule(rows.len(), n_long) {
            rows.iter_mut().for_each(|row| row.keep_at_once(facts));
            if !are_no_chance(facts, point, &rows) {
                continue;
            }
        }
        let links = |row: Row| {
            row.others.into_iter().map(move |from| SpanLink {
                from,
                to: row.last,
                pair: None,
                by: Pass::CompanionsRows,
            })
        };
        found.extend(rows.into_iter().flat_map(links));
    }
    found
}

/// Lines of one statement.
struct Row {
    /// The span of the last one.
    last: u32,
    /// Those of the others.
    others: BTreeSet<u32>,
}

impl Row {
    /// Keeps those that follow each other at once, up to the last one.
    fn keep_at_once(&mut self, facts: &Facts<'_>) {
        let mut start_us = facts.get(self.last).start_us;
        let mut kept = BTreeSet::new();
        for &span in self.others.iter().rev() {
            let fact = facts.get(span);
            if start_us.saturating_sub(fact.end_us) > AT_ONCE_US {
                break;
            }
            kept.insert(span);
            start_us = fact.start_us;
        }
        self.others = kept;
    }
}

/// Whether far more of the `rows` of lines of `point`, which stand at once, are long than
/// would be if their last lines came at another time.
fn are_no_chance(facts: &Facts<'_>, point: LogPointId, rows: &[Row]) -> bool {
    let n_long = rows.iter().filter(|row| !row.others.is_empty()).count();
    if rows.len() < CHANCES_MIN || n_long == 0 {
        return false;
    }
    let of_point = facts.iter().filter(|(_, fact)| point_of(fact) == Some(point));
    let ends: BTreeSet<(u32, i64)> = of_point.map(|(_, fact)| (fact.node, fact.end_us)).collect();
    let would = |row: &Row, shift_us: i64| {
        let fact = facts.get(row.last);
        let at_us = fact.start_us.saturating_add(shift_us);
        ends.range((fact.node, at_us.saturating_sub(AT_ONCE_US))..=(fact.node, at_us)).next().is_some()
    };
    let n_would = |row: &Row| SHIFTS_US.iter().filter(|&&shift_us| would(row, shift_us)).count();
    let n_chance: usize = rows.iter().map(n_would).sum();
    n_chance * CHANCE_SHARE <= n_long * SHIFTS_US.len()
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
