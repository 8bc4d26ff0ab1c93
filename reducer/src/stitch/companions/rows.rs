//! Rows: lines of one statement that name the same, one directly after the other, before
//! what goes on with the last of them.
//!
//! Of two lines of one statement nothing tells whether the second begins the work once
//! more, or goes on with it. But if there is hardly ever one alone before what goes on with
//! it, though whoever works alone would print one alone, and all of a row name the same,
//! the lines before the last one are of the same work: its loop meets one thing each time.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use schema::LogPointId;

use super::super::facts::{Fact, Facts};
use super::{is_rule, is_soon};
use crate::merge::SpanLink;

/// Links from line to line of rows of which the last line goes on by one of `links`.
pub(super) fn find(facts: &Facts<'_>, links: &[SpanLink]) -> Vec<SpanLink> {
    let gone_on: BTreeSet<u32> = links.iter().map(|link| link.from).collect();
    let ends: FxHashMap<(u32, u32, u64), u32> = facts
        .iter()
        .filter(|(_, fact)| fact.thread.is_none() && fact.events.len() == 1)
        .map(|(index, fact)| {
            let event = &fact.events[0];
            ((fact.node, event.file, event.line + u64::from(event.n_lines)), index)
        })
        .collect();
    let before = |span: u32| {
        let fact = facts.get(span);
        let event = fact.events.first()?;
        let other = *ends.get(&(fact.node, event.file, event.line))?;
        (other != span && name_same(facts.get(other), fact)).then_some(other)
    };
    let mut rows: BTreeMap<LogPointId, Vec<Vec<SpanLink>>> = BTreeMap::new();
    for &last in &gone_on {
        let fact = facts.get(last);
        let Some(point) = fact.first_point.filter(|_| fact.thread.is_none() && fact.events.len() == 1) else {
            continue;
        };
        let mut row = Vec::new();
        let mut to = last;
        // Each stands before the one after it, so that this ends.
        while let Some(from) = before(to).filter(|from| !gone_on.contains(from)) {
            row.push(SpanLink { from, to, pair: None });
            to = from;
        }
        rows.entry(point).or_default().push(row);
    }
    let are_long =
        |rows: &Vec<Vec<SpanLink>>| is_rule(rows.len(), rows.iter().filter(|row| !row.is_empty()).count());
    rows.into_values().filter(are_long).flatten().flatten().collect()
}

/// Whether two spans of one line each name the same, one soon after the other.
fn name_same(a: &Fact<'_>, b: &Fact<'_>) -> bool {
    let (a, b) = (&a.events[0], &b.events[0]);
    !a.values.is_empty() && a.log_point == b.log_point && a.values == b.values && is_soon(a, b)
}
