//! Copies: what the compiler made several of, and one call in several branches, is one node.

use super::components::components;
use super::fragment::{Fragment, Node, positions};

/// Merges nodes of equal log points that cannot follow each other: copies of
/// `finally` blocks, one call in both branches. Merging two unordered nodes of a
/// DAG cannot make a cycle.
pub(super) fn merge_copies(fragment: &mut Fragment) {
    loop {
        let Some((keep, gone)) = find_copy(fragment) else { return };
        let Node { next, once, .. } = std::mem::take(&mut fragment.nodes[gone as usize]);
        let kept = &mut fragment.nodes[keep as usize];
        kept.next.extend(next);
        kept.once.retain(|point| once.binary_search(point).is_ok());
        let rename = |list: &mut Vec<u32>| {
            for to in list.iter_mut() {
                if *to == gone {
                    *to = keep;
                }
            }
            list.sort_unstable();
            list.dedup();
        };
        for node in &mut fragment.nodes {
            rename(&mut node.next);
        }
        rename(&mut fragment.entries);
        rename(&mut fragment.returns);
        rename(&mut fragment.throws);
        fragment.answers.iter_mut().flatten().for_each(|answer| rename(&mut answer.returns));
        sort_topologically(fragment);
    }
}

fn find_copy(fragment: &Fragment) -> Option<(u32, u32)> {
    let mut order: Vec<usize> = (0..fragment.nodes.len()).collect();
    order.sort_by(|&a, &b| {
        let (x, y) = (&fragment.nodes[a], &fragment.nodes[b]);
        (&x.points, x.repeats, a).cmp(&(&y.points, y.repeats, b))
    });
    for pair in order.windows(2) {
        let (x, y) = (&fragment.nodes[pair[0]], &fragment.nodes[pair[1]]);
        let equal = x.points == y.points && x.repeats == y.repeats;
        // Positions are topological: only the smaller can reach the larger.
        if equal && !reaches(fragment, pair[0], pair[1]) {
            let id = |i: usize| u32::try_from(i).expect("a fragment has few nodes");
            return Some((id(pair[0]), id(pair[1])));
        }
    }
    None
}

fn reaches(fragment: &Fragment, from: usize, to: usize) -> bool {
    let mut seen = vec![false; fragment.nodes.len()];
    let mut stack = vec![from];
    while let Some(v) = stack.pop() {
        if v == to {
            return true;
        }
        for &w in &fragment.nodes[v].next {
            let w = w as usize;
            if w <= to && !std::mem::replace(&mut seen[w], true) {
                stack.push(w);
            }
        }
    }
    false
}

/// Drops nodes without log points and puts the others into topological order.
fn sort_topologically(fragment: &mut Fragment) {
    let successors: Vec<Vec<u32>> = fragment.nodes.iter().map(|n| n.next.clone()).collect();
    let found = components(&successors);
    let mut position = vec![u32::MAX; fragment.nodes.len()];
    let mut nodes = Vec::new();
    for members in found.members.iter().rev() {
        debug_assert_eq!(members.len(), 1, "merging made a cycle");
        for &v in members {
            let node = std::mem::take(&mut fragment.nodes[v as usize]);
            if !node.points.is_empty() {
                position[v as usize] = u32::try_from(nodes.len()).expect("a fragment has few nodes");
                nodes.push(node);
            }
        }
    }
    let renumber = |list: &mut Vec<u32>| {
        *list = positions(list, &position);
    };
    for node in &mut nodes {
        renumber(&mut node.next);
    }
    renumber(&mut fragment.entries);
    renumber(&mut fragment.returns);
    renumber(&mut fragment.throws);
    fragment.answers.iter_mut().flatten().for_each(|answer| renumber(&mut answer.returns));
    fragment.nodes = nodes;
}
