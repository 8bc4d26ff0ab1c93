//! Clocks: which of the times of a node were right, where its clock was set.
//!
//! The mapper makes up for a clock that was set back from there on, as of one node alone
//! nothing tells whether it was wrong after that or before: often a clock is set because
//! it was wrong. Other nodes tell: what names the same rare thing on two nodes is printed
//! at about the same time. So all times of the node are moved such that one stretch
//! between two steps is as it was printed, the one by which what names the same things on
//! other nodes is nearest.
//!
//! A clock that was wrong all along is not corrected: nothing shows it to be one.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use schema::Name;
use schema::kinds::is_made;
use xxhash_rust::xxh3::xxh3_64;

use crate::merge::start_us;
use crate::skeleton::Span;

/// A text that more spans hold names something that lives on.
const HOLDERS_MAX: usize = 32;

/// Things that are further apart were not printed of one piece of work, µs.
const APART_MAX_US: u64 = 60_000_000;

/// A text on another node or this one: when a span that holds it starts.
type Holder = (Name, i64);

/// By how much the times of nodes were moved, µs.
pub(crate) type Moved = FxHashMap<Name, i64>;

/// Moves the times of each node whose clock was set back to those of the other nodes; returns by
/// how much.
pub(crate) fn align(spans: &mut [Span]) -> Moved {
    let mut witnesses = Witnesses::default();
    spans.iter().for_each(|span| witnesses.see_clock(span.node, &span.late_us));
    if witnesses.are_asked() {
        spans.iter().for_each(|span| witnesses.add(span));
    }
    let moved = witnesses.moved();
    move_back(spans, &moved);
    moved
}

/// Moves the times of spans as the clocks of their nodes were `moved`.
pub(crate) fn move_back(spans: &mut [Span], moved: &Moved) {
    for span in spans.iter_mut().filter(|_| !moved.is_empty()) {
        let by_us = moved.get(&span.node).copied().unwrap_or_default();
        span.events.iter_mut().for_each(|event| event.ts_us = event.ts_us.saturating_sub(by_us));
    }
}

/// Moves the times of a whole span as those of its skeleton were.
pub(crate) fn make_earlier(span: &mut schema::Span, moved: &Moved) {
    let by_us = moved.get(&span.node).copied().unwrap_or_default();
    for event in span.events.iter_mut().filter(|_| by_us != 0) {
        event.ts_us = event.ts_us.saturating_sub(by_us);
        event.late_us = event.late_us.saturating_sub(by_us);
    }
}

/// Texts of which those of the smallest hashes bear witness: enough to tell by how much a clock was
/// set, whatever is printed.
const TEXTS_MAX: usize = 1 << 18;

/// What tells which times of a node were right: a function of the set of spans that were added.
#[derive(Debug)]
pub(crate) struct Witnesses {
    /// What the clock of each node was behind, as often as that changed.
    stretches: BTreeMap<&'static str, BTreeSet<i64>>,
    /// The holders of each text, by its hash.
    holders: FxHashMap<u64, Vec<Holder>>,
    /// The largest hash that counts.
    hash_max: u64,
}

impl Default for Witnesses {
    fn default() -> Self {
        Self { stretches: BTreeMap::new(), holders: FxHashMap::default(), hash_max: u64::MAX }
    }
}

impl Witnesses {
    /// Takes note of what the clock of a node was behind.
    pub(crate) fn see_clock(&mut self, node: Name, late_us: &[i64]) {
        if !late_us.is_empty() {
            self.stretches.entry(node.as_str()).or_default().extend(late_us);
        }
    }

    /// Whether there is a clock that was set back.
    pub(crate) fn are_asked(&self) -> bool {
        !self.stretches.is_empty()
    }

    /// Adds what a span names.
    pub(crate) fn add(&mut self, span: &Span) {
        if span.events.is_empty() {
            return;
        }
        let texts = span.identifiers.iter().map(|value| &*value.text).filter(|text| is_made(text));
        let hashes: BTreeSet<u64> = texts.map(|text| xxh3_64(text.as_bytes())).collect();
        for hash in hashes.into_iter().filter(|hash| *hash <= self.hash_max) {
            let holders = self.holders.entry(hash).or_default();
            // One more than counts tells that there are too many.
            if holders.len() <= HOLDERS_MAX {
                holders.push((span.node, start_us(span)));
            }
        }
        while self.holders.len() > TEXTS_MAX {
            self.hash_max /= 2;
            self.holders.retain(|hash, _| *hash <= self.hash_max);
        }
    }

    /// By how much the times of each node are to be moved.
    pub(crate) fn moved(&self) -> Moved {
        let mut moved = Moved::default();
        for (node, stretches) in &self.stretches {
            let node = Name::from(node);
            let distances = self.distances(node);
            let cost = |by_us: i64| -> u64 {
                let far =
                    |near: &Vec<i64>| near.iter().map(|us| us.saturating_sub(by_us).unsigned_abs()).min();
                distances.iter().filter_map(far).map(|us| us.min(APART_MAX_US)).sum()
            };
            // Of equals the first: the clock as it was at the beginning of the log.
            let all = std::iter::once(0).chain(stretches.iter().copied());
            let by_us = all.min_by_key(|by_us| cost(*by_us)).unwrap_or(0);
            if by_us != 0 {
                moved.insert(node, by_us);
            }
        }
        moved
    }

    /// For each rare text that a span of `node` shares with other nodes how much later it is
    /// than each of them there, µs.
    fn distances(&self, node: Name) -> Vec<Vec<i64>> {
        let is_rare = |holders: &&Vec<Holder>| holders.len() <= HOLDERS_MAX;
        let mut out = Vec::new();
        for holders in self.holders.values().filter(is_rare) {
            let others = || holders.iter().filter(|(other, _)| *other != node);
            for (_, us) in holders.iter().filter(|(own, _)| *own == node && others().next().is_some()) {
                out.push(others().map(|(_, other_us)| us.saturating_sub(*other_us)).collect());
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use schema::{Event, Value, ValueClassId, Values};

    use super::*;
    use crate::skeleton::Stored;

    /// A span that names `text`, printed at `ms` by a clock that is `late_ms` behind.
    fn span(node: &str, text: &str, ms: i64, late_ms: i64) -> schema::Span {
        let event = Event {
            file: 0,
            line: ms.unsigned_abs(),
            n_lines: 1,
            byte_offset: 0,
            ts_us: (ms + late_ms) * 1000,
            late_us: late_ms * 1000,
            level: None,
            log_point: None,
            values: Values::default(),
            pass: schema::Pass::Opens,
            reason: Name::default(),
        };
        schema::Span {
            node: Name::from(node),
            thread: None,
            top_levels: Vec::new(),
            identifiers: vec![Value { value_class: ValueClassId::new(0), text: text.into() }],
            events: vec![event],
            truncated: false,
            trace: None,
            hosts: Vec::new(),
            n_alike: 1,
        }
    }

    /// The spans by one clock: their skeletons, and they themselves as those were moved.
    fn aligned(mut spans: Vec<schema::Span>) -> Vec<schema::Span> {
        let skeletons = spans.iter().map(|span| Span::new(span.clone(), Stored::default()));
        let mut skeletons: Vec<Span> = skeletons.collect();
        let moved = align(&mut skeletons);
        spans.iter_mut().for_each(|span| make_earlier(span, &moved));
        for (skeleton, span) in skeletons.iter().zip(&spans) {
            assert_eq!(skeleton.events[0].ts_us, span.events[0].ts_us);
        }
        spans
    }

    /// Two requests on `a` and `b`, the second after the clock of `b` was set back by a
    /// second. `ahead_ms`: how far that clock was ahead before.
    #[track_caller]
    fn check(ahead_ms: i64) {
        let spans = vec![
            span("a", "1073741825", 10_000, 0),
            span("b", "1073741825", 10_005 + ahead_ms, 0),
            span("a", "1073741826", 20_000, 0),
            span("b", "1073741826", 20_005 + ahead_ms - 1000, 1000),
        ];
        let printed: Vec<i64> = spans.iter().map(|span| span.events[0].printed_us()).collect();
        let spans = aligned(spans);
        let times: Vec<i64> = spans.iter().map(|span| span.events[0].ts_us / 1000).collect();
        assert_eq!(times, [10_000, 10_005, 20_000, 20_005]);
        let still: Vec<i64> = spans.iter().map(|span| span.events[0].printed_us()).collect();
        assert_eq!(still, printed);
    }

    #[test]
    fn a_clock_that_was_right_was_set_wrong() {
        check(0);
    }

    #[test]
    fn a_clock_that_was_wrong_was_set_right() {
        check(1000);
    }

    #[test]
    fn a_node_that_shares_nothing_keeps_its_first_clock() {
        let spans = vec![span("b", "1073741825", 10_000, 0), span("b", "1073741826", 19_000, 1000)];
        assert_eq!(aligned(spans.clone()), spans);
    }
}
