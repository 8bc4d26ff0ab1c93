//! Siblings: what a thread does over and over for one thing, at once.
//!
//! A method that many call to have something done is called again and again by one of
//! them (for each part of a thing), and who calls it need not print anything. Two such
//! executions that follow each other in one thread at once, with nothing between them,
//! and name one thing, were called by one caller, unless it is a dispatcher: its rounds
//! follow each other as fast, and are requests each.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;
use schema::{LinkKind, Model, Pass, TopLevelId, TopLevelKind};

use super::facts::Facts;
use super::joined;
use super::pairs::Pairs;
use crate::merge::SpanLink;

/// What follows within this time follows at once, µs.
const AT_ONCE_US: i64 = 3_000;

/// A span with where it stands: (start µs, first line, index).
type Placed = (i64, u64, u32);

/// Links between executions of one method that follow each other, in addition to `links`.
pub(super) fn join(model: &Model, pairs: &Pairs<'_>, facts: &Facts<'_>, links: &[SpanLink]) -> Vec<SpanLink> {
    let (mut sets, mut has_sender) = joined(facts, links);
    let dispatched: FxHashSet<TopLevelId> = (model.communication_pairs.iter())
        .filter(|pair| pair.kind == LinkKind::Call && pairs.is_dispatcher(pair.from))
        .map(|pair| pair.to)
        .collect();
    let is_called = |top: TopLevelId| {
        let kind = model.top_level_methods[top.index()].kind;
        kind == TopLevelKind::DispatchTarget && !dispatched.contains(&top)
    };
    let mut threads: BTreeMap<(u32, &str), Vec<Placed>> = BTreeMap::new();
    for (index, fact) in facts.iter() {
        if let (Some(thread), Some(first)) = (fact.thread, fact.events.first()) {
            threads.entry((fact.node, thread)).or_default().push((fact.start_us, first.line, index));
        }
    }
    let mut out = Vec::new();
    for mut spans in threads.into_values() {
        spans.sort_unstable();
        for two in spans.windows(2) {
            let [(.., a), (.., b)] = *two else { continue };
            let (before, after) = (facts.get(a), facts.get(b));
            let top = before.tops.first().filter(|&top| after.tops.first() == Some(top));
            let follows = (before.end_us..=before.end_us + AT_ONCE_US).contains(&after.start_us);
            if follows
                && top.is_some_and(|&top| is_called(top))
                && !has_sender[b as usize]
                && facts.share(before, after)
                && sets.join(a, b)
            {
                has_sender[b as usize] = true;
                out.push(SpanLink { from: a, to: b, pair: None, by: Pass::Siblings });
            }
        }
    }
    out
}
