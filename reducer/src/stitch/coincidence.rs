//! Coincidences: copies of one message that went to several nodes from a sender
//! that prints nothing.
//!
//! Replicas that are asked the same print the same, and often nothing that names
//! who asked. Time tells alone, if it tells: requests that have nothing to do with
//! each other come at chance intervals, copies of one message arrive together. How
//! close copies are is learnt from the log, for each text that spans print: as far
//! apart as leaves chance one join in [`CHANCE_SHARE`]. Where chance alone would
//! bring as many so close (a busy service, clocks that differ), nothing is joined.
//!
//! Only receivers of a hand-off that goes to many nodes at once can be copies: what
//! nodes do by themselves (a timer with the same period on each of them) coincides
//! too, and is no request in common.

use std::collections::BTreeMap;

use schema::{LogPointId, Pass};

use super::facts::Facts;
use super::pairs::Pairs;
use crate::merge::SpanLink;

/// Of so many joins one may be by chance.
const CHANCE_SHARE: i64 = 50;

/// Coincidences from which to learn.
const COINCIDENCES_MIN: usize = 16;

/// Copies go to different nodes: at most one gap in this many is within a node (it
/// was asked once more).
const AGAIN_SHARE: usize = 16;

/// Logs print milliseconds, µs.
const TICK_US: i64 = 1_000;

/// What copies of one message have in common: what was printed, and what it names.
type Alike<'s> = (Vec<Option<LogPointId>>, Vec<&'s str>);

/// Links between the copies among the spans that nothing in `links` joins.
pub(super) fn join(pairs: &Pairs<'_>, facts: &Facts<'_>, links: &[SpanLink]) -> Vec<SpanLink> {
    let mut is_linked = vec![false; facts.len()];
    for link in links {
        is_linked[link.from as usize] = true;
        is_linked[link.to as usize] = true;
    }
    let mut alike: BTreeMap<Alike<'_>, Vec<u32>> = BTreeMap::new();
    for (index, fact) in facts.iter().filter(|&(index, _)| !is_linked[index as usize]) {
        if fact.tops.iter().chain(fact.other_tops).any(|&top| pairs.is_copied(top)) {
            let points = fact.events.iter().map(|event| event.log_point).collect();
            let telling = fact.values().iter().filter(|value| value.is_telling());
            let mut texts: Vec<&str> = telling.map(|value| value.text).collect();
            texts.sort_unstable();
            texts.dedup();
            if !texts.is_empty() {
                alike.entry((points, texts)).or_default().push(index);
            }
        }
    }
    let mut out = Vec::new();
    for spans in alike.into_values() {
        let Some(longest_us) = longest(facts, &spans) else { continue };
        for ends in spans.windows(2).filter(|ends| gap_us(facts, ends) <= longest_us) {
            if facts.get(ends[0]).node != facts.get(ends[1]).node {
                out.push(SpanLink { from: ends[0], to: ends[1], pair: None, by: Pass::Coincidence });
            }
        }
    }
    out
}

/// How far apart copies are at most, µs; none if the log does not tell.
/// `spans` are in order of start.
///
/// Intervals between requests that have nothing to do with each other are as if
/// drawn by chance: of `n` of them with the median `m`, about `n · ln 2 · t / m` are
/// shorter than a small `t`.
fn longest(facts: &Facts<'_>, spans: &[u32]) -> Option<i64> {
    const LN_2_PERCENT: i64 = 69;
    let mut gaps: Vec<(i64, bool)> = (spans.windows(2))
        .map(|ends| (gap_us(facts, ends), facts.get(ends[0]).node != facts.get(ends[1]).node))
        .collect();
    gaps.sort_unstable();
    let mut n_joined = 0_usize;
    let mut found = None;
    for (position, &(gap_us, is_apart)) in gaps.iter().enumerate() {
        n_joined += usize::from(is_apart);
        let rest = &gaps[position + 1..];
        if rest.first().is_none_or(|&(next_us, _)| next_us == gap_us) {
            continue;
        }
        let median_us = rest[rest.len() / 2].0;
        let count = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        let by_chance = count(rest.len()).saturating_mul(gap_us + TICK_US).saturating_mul(LN_2_PERCENT) / 100;
        let is_sure = by_chance.saturating_mul(CHANCE_SHARE) <= count(n_joined).saturating_mul(median_us);
        let n_alone = position + 1 - n_joined;
        if n_joined >= COINCIDENCES_MIN && n_alone * AGAIN_SHARE <= n_joined && is_sure {
            found = Some(gap_us);
        } else if found.is_some() {
            break;
        }
    }
    found
}

fn gap_us(facts: &Facts<'_>, ends: &[u32]) -> i64 {
    facts.get(ends[1]).start_us.saturating_sub(facts.get(ends[0]).start_us)
}
