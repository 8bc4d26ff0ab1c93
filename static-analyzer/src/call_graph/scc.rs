//! Components of the call graph in bottom-up order, and levels of components
//! that do not depend on each other.

use std::ops::Range;

use super::Call;
use crate::order::components::components;
use crate::program::MethodId;

/// Components over local edges, sorted by level, with the range of each level.
pub(crate) fn levels(calls: &[Vec<Call>]) -> (Vec<Vec<MethodId>>, Vec<Range<usize>>) {
    let successors: Vec<Vec<u32>> = calls
        .iter()
        .map(|list| {
            let mut out: Vec<u32> = list
                .iter()
                .filter(|c| c.kind.is_local())
                .flat_map(|c| c.targets.iter().map(|t| t.index() as u32))
                .collect();
            out.sort_unstable();
            out.dedup();
            out
        })
        .collect();
    let found = components(&successors);
    // Components are numbered callees first, so one pass gives the depths.
    let mut depth = vec![0_usize; found.members.len()];
    for (c, members) in found.members.iter().enumerate() {
        for &m in members {
            for &s in &successors[m as usize] {
                let to = found.of[s as usize] as usize;
                if to != c {
                    depth[c] = depth[c].max(depth[to] + 1);
                }
            }
        }
    }
    let mut order: Vec<usize> = (0..found.members.len()).collect();
    order.sort_by_key(|&c| (depth[c], found.members[c].first().copied()));
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for (at, &c) in order.iter().enumerate() {
        if depth[c] == ranges.len() {
            ranges.push(at..at + 1);
        } else {
            ranges[depth[c]].end = at + 1;
        }
    }
    let sorted = order
        .iter()
        .map(|&c| found.members[c].iter().map(|&m| MethodId::new(m as usize)).collect())
        .collect();
    (sorted, ranges)
}
