//! Clocks: by how much that of a handler's node is ahead of that of its callers' node.
//!
//! What a caller waits for lies within a gap of the caller's. Of all differences of two clocks
//! the one is taken under which most of a handler's spans lie in some gap, and of those the one
//! nearest to none. Clocks are told to be apart only where that says much more than chance: many
//! spans have other callers, and gaps of callers on several threads overlap.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::gaps::{Call, Gaps};
use crate::stitch::facts::Facts;

/// Clocks are apart if that is so many times likelier than chance.
const ODDS_MIN: f64 = 9.0;

/// Spans that say what the difference of two clocks is, of each pair of nodes.
const SPANS_MAX: usize = 2_000;

/// One span in so many can lie in no gap: nobody known has asked for it, or it has gone on after
/// its caller had given up.
const STRAY_SHARE: usize = 32;

/// Differences of clocks by (node of the caller, node of the handler), µs.
#[derive(Debug, Default)]
pub(super) struct Offsets {
    of: FxHashMap<(u32, u32), i64>,
}

impl Offsets {
    /// The differences that the spans show, each at most `most_us`.
    pub(super) fn new(facts: &Facts<'_>, calls: &[Call], gaps: &Gaps, most_us: i64) -> Self {
        let mut ranges: BTreeMap<(u32, u32), Vec<Vec<[i64; 2]>>> = BTreeMap::new();
        for (_, fact) in facts.iter() {
            let mut own: BTreeMap<u32, Vec<[i64; 2]>> = BTreeMap::new();
            for &top in fact.tops.iter().take(1) {
                for gap in gaps.next_to(top, fact.start_us) {
                    let gap = gaps.get(gap);
                    let from = facts.get(gap.span).node;
                    let (low, high) = (fact.end_us - gap.end_us, fact.start_us - gap.begin_us);
                    let range = [low.max(-most_us), high.min(most_us)];
                    if gap.n_odd == 0
                        && from != fact.node
                        && calls[gap.call as usize].waits
                        && range[0] <= range[1]
                    {
                        own.entry(from).or_default().push(range);
                    }
                }
            }
            for (from, own) in own {
                let all = ranges.entry((from, fact.node)).or_default();
                if all.len() < SPANS_MAX {
                    all.push(own);
                }
            }
        }
        Self { of: ranges.into_iter().map(|(nodes, ranges)| (nodes, best(ranges))).collect() }
    }

    /// By how much the clock of `to` is ahead of that of `from`, µs.
    pub(super) fn between(&self, from: u32, to: u32) -> i64 {
        self.of.get(&(from, to)).copied().unwrap_or_default()
    }
}

/// The difference that lies in ranges of as many spans as any, but for strays; the nearest to none.
fn best(spans: Vec<Vec<[i64; 2]>>) -> i64 {
    let n_spans = spans.len();
    let mut steps: Vec<(i64, i32)> = Vec::new();
    for mut ranges in spans {
        ranges.sort_unstable();
        let mut last: Option<[i64; 2]> = None;
        for [low, high] in ranges {
            match &mut last {
                Some(last) if low <= last[1] => last[1] = last[1].max(high),
                _ => {
                    steps.extend(last.map(ends).into_iter().flatten());
                    last = Some([low, high]);
                }
            }
        }
        steps.extend(last.map(ends).into_iter().flatten());
    }
    steps.sort_unstable();
    let (mut n, mut covered) = (0_i32, Vec::new());
    for (at, &(us, step)) in steps.iter().enumerate() {
        n += step;
        let next = steps.get(at + 1).map_or(us, |next| next.0 - 1);
        covered.push((n, us, next.max(us)));
    }
    let most = covered.iter().map(|one| one.0).max().unwrap_or_default();
    let enough = most - i32::try_from(n_spans / STRAY_SHARE).unwrap_or(i32::MAX);
    let together = covered.iter().filter(|&&(_, low, high)| low <= 0 && 0 <= high).map(|one| one.0).max();
    let together = together.unwrap_or_default();
    // Of as many differences as there are, one fits best by chance.
    let chance = (covered.len() as f64).ln() + ODDS_MIN.ln();
    if together >= enough || evidence(n_spans, most, together) < chance {
        return 0;
    }
    // The middle of the nearest range: its ends are where the first spans drop out.
    let nearest = covered.iter().filter(|one| one.0 == most).min_by_key(|one| one.1.abs().min(one.2.abs()));
    nearest.map_or(0, |&(_, low, high)| low + (high - low) / 2)
}

/// How much likelier, as a logarithm, it is that of `n` spans `most` lie in gaps if so many do on
/// the average than if only so many do as under clocks that are `together`.
fn evidence(n: usize, most: i32, together: i32) -> f64 {
    let (n, most, together) = (n as f64 + 1.0, f64::from(most) + 0.5, f64::from(together) + 0.5);
    most * (most / together).ln() + (n - most) * ((n - most) / (n - together)).ln()
}

/// A range as the steps at its two ends.
fn ends([low, high]: [i64; 2]) -> [(i64, i32); 2] {
    [(low, 1), (high + 1, -1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same ranges again and again, as many requests show them.
    fn often(ranges: &[&[[i64; 2]]]) -> Vec<Vec<[i64; 2]>> {
        (0..20).flat_map(|_| ranges.iter().map(|of| of.to_vec())).collect()
    }

    #[test]
    fn the_difference_is_the_one_that_most_spans_agree_on_and_none_if_that_will_do() {
        assert_eq!(best(often(&[&[[-5, 5]], &[[-1, 9]]])), 0);
        assert_eq!(best(often(&[&[[10, 20]], &[[14, 30]], &[[-40, -30], [0, 18]]])), 16);
        assert_eq!(best(Vec::new()), 0);
    }

    #[test]
    fn ranges_of_one_span_count_once() {
        let twice: &[[i64; 2]] = &[[-10, -5], [-8, -4]];
        assert_eq!(best(often(&[twice, &[[4, 8]], &[[5, 9]]])), 6);
    }

    #[test]
    fn few_spans_that_fit_better_by_chance_set_no_clock_apart() {
        // Two thirds of the spans have other callers; some of those fit another difference too.
        let mut spans = vec![vec![[-5, 5]]; 30];
        spans.extend(vec![vec![[40, 50]]; 34]);
        spans.extend((0..40).map(|at| vec![[100 + at * 20, 104 + at * 20]]));
        assert_eq!(best(spans), 0);
    }
}
