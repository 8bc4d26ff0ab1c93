//! How far the clocks of two nodes can be apart, as the hand-offs between them show:
//! nothing is received before it was sent. So the clock of the receiver's node is later
//! than that of the sender's by no more than the hand-off took by both of them, and the
//! quickest one says the most. In a row of nodes the bounds add up.
//!
//! If two clocks are apart by more than hand-offs allow, one of them drifts, was set, or a
//! hand-off is none: such clocks order nothing, nor does a row of bounds that one is in.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::path::Paths;

/// Nodes of a request whose clocks are compared: bounds in a row cost its cube, and each
/// span carries one per node.
pub const NODES_MAX: usize = 256;

/// The least that a hand-off from one node to another took by their clocks, µs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkewBounds<N: Ord> {
    quickest_us: BTreeMap<(N, N), i64>,
}

/// How long a hand-off took by the clocks of its two ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// The span that was handed over to.
    pub span: usize,
    /// Spans of the event before and of the event after the hand-off, or the wait for it.
    pub from: usize,
    /// See `from`.
    pub to: usize,
    /// From the one event to the other, µs.
    pub us: i64,
}

/// How long the hand-offs of a request took; `times_us` are those of the events of its spans.
/// Where a sender prints nothing before it hands over, what it was handed over itself comes
/// before that, and likewise after it has waited.
#[must_use]
pub fn taken(paths: &Paths, times_us: &[Vec<i64>]) -> Vec<Taken> {
    let mut out = Vec::new();
    for path in &paths.paths {
        let Some(span) = path.last().map(|hop| hop.span as usize) else { continue };
        let (Some(&first), Some(&last)) = (times_us[span].first(), times_us[span].last()) else { continue };
        let ways = || path.windows(2).rev().map(|two| (two[0].span as usize, two[1]));
        let mut before = ways().map_while(|(sender, hop)| Some((sender, hop.before? as usize)));
        if let Some((from, until)) = before.find(|&(_, until)| until > 0)
            && let Some(&sent_us) = times_us[from].get(until - 1)
        {
            out.push(Taken { span, from, to: span, us: first.saturating_sub(sent_us) });
        }
        let mut after = ways().map_while(|(sender, hop)| Some((sender, hop.after? as usize)));
        let told = after.find_map(|(sender, at)| Some((sender, *times_us[sender].get(at)?)));
        if let Some((to, told_us)) = told {
            out.push(Taken { span, from: span, to, us: told_us.saturating_sub(last) });
        }
    }
    out
}

impl<N: Ord + Copy> SkewBounds<N> {
    /// Takes a hand-off into account: at `sent_us` by the clock of `from` and at
    /// `received_us` by that of `to`. On one node it says nothing, unless it contradicts the
    /// clock.
    pub fn add(&mut self, (from, sent_us): (N, i64), (to, received_us): (N, i64)) {
        let took_us = received_us.saturating_sub(sent_us);
        if from != to || took_us < 0 {
            let known = self.quickest_us.entry((from, to)).or_insert(took_us);
            *known = took_us.min(*known);
        }
    }

    /// Takes the hand-offs of a request into account: `node_of` its spans.
    pub fn add_request(&mut self, taken: &[Taken], node_of: impl Fn(usize) -> N) {
        for Taken { from, to, us, .. } in taken {
            self.add((node_of(*from), 0), (node_of(*to), *us));
        }
    }

    /// By position in `nodes`, which are distinct: for each its bounds to others, sorted;
    /// and whether clocks of some of them contradict each other.
    #[must_use]
    pub fn among(&self, nodes: &[N]) -> (Vec<Vec<(u32, i64)>>, bool) {
        let n = nodes.len();
        if n > NODES_MAX {
            return (vec![Vec::new(); n], false);
        }
        let mut us: Vec<Option<i64>> = vec![None; n * n];
        for (a, from) in nodes.iter().enumerate() {
            for (b, to) in nodes.iter().enumerate() {
                let quickest = self.quickest_us.get(&(*from, *to)).copied();
                us[a * n + b] = if a == b { Some(quickest.unwrap_or(0)) } else { quickest };
            }
        }
        // Floyd and Warshall: the shortest way from each node to each.
        for by in 0..n {
            for a in 0..n {
                let Some(first) = us[a * n + by] else { continue };
                for b in 0..n {
                    let Some(second) = us[by * n + b] else { continue };
                    let both = first.saturating_add(second);
                    let known = &mut us[a * n + b];
                    *known = Some(known.map_or(both, |known| known.min(both)));
                }
            }
        }
        let wrong: Vec<usize> = (0..n).filter(|&a| us[a * n + a].is_some_and(|us| us < 0)).collect();
        let leads = |a: usize, b: usize| us[a * n + b].is_some();
        let is_told = |a: usize, b: usize| a != b && !wrong.iter().any(|&by| leads(a, by) && leads(by, b));
        let of = |a: usize| {
            let known = (0..n).filter(|&b| is_told(a, b));
            known.filter_map(|b| Some((u32::try_from(b).ok()?, us[a * n + b]?))).collect()
        };
        ((0..n).map(of).collect(), !wrong.is_empty())
    }
}
