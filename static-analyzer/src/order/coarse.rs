//! Coarser fragments: the order of what is too large for its caller, less exactly.
//!
//! Over-approximates as fragments do: whatever a fragment can print, a coarser one can.

use std::ops::Range;

use schema::Level;

use super::fragment::{Fragment, Node, once};

impl Fragment {
    /// At most `n_max` nodes, so that it fits into what calls it. Neighbours in the
    /// order are merged: first those that one log shows or hides (`level` of a log
    /// point), of them those of which only one is printed, the smallest first, of equal
    /// ones the last. What is far apart stays in order, and so it is still known where
    /// the method begins, and that it begins only once.
    pub(crate) fn coarsened(&self, n_max: usize, level: &impl Fn(u32) -> Level) -> Fragment {
        if n_max <= 1 {
            return self.in_one_node();
        }
        let levels: Vec<(Level, Level)> = self.nodes.iter().map(|node| span_of(node, level)).collect();
        let mut parts: Vec<Range<usize>> = (0..self.nodes.len()).map(|i| i..i + 1).collect();
        let loss = |a: &Range<usize>, b: &Range<usize>| -> (bool, bool, usize) {
            let both = &levels[a.start..b.end];
            let differ = both.iter().any(|&(low, high)| low != both[0].0 || high != both[0].0);
            let follows = |&to: &u32| b.contains(&(to as usize));
            let is_ordered = self.nodes[a.clone()].iter().any(|node| node.next.iter().any(follows));
            let size = |part: &Range<usize>| -> usize {
                self.nodes[part.clone()].iter().map(|node| node.points.len()).sum()
            };
            (differ, is_ordered, size(a).saturating_mul(size(b)))
        };
        let mut losses: Vec<_> = parts.windows(2).map(|two| loss(&two[0], &two[1])).collect();
        while parts.len() > n_max {
            let Some(least) = (0..losses.len()).rev().min_by_key(|&i| losses[i]) else { break };
            parts[least].end = parts[least + 1].end;
            parts.remove(least + 1);
            losses.remove(least);
            if let Some(next) = parts.get(least + 1) {
                losses[least] = loss(&parts[least], next);
            }
            if let Some(before) = least.checked_sub(1) {
                losses[before] = loss(&parts[before], &parts[least]);
            }
        }
        let mut fragment = self.merged(&parts);
        for i in (0..parts.len()).rev().filter(|&i| parts[i].len() > 1) {
            let (low, high) = span_of(&fragment.nodes[i], level);
            if low != high {
                fragment.make_optional(i);
            }
        }
        fragment
    }

    /// Lets everything go on without printing node `i`: a log can hide what came there.
    fn make_optional(&mut self, i: usize) {
        let id = u32::try_from(i).expect("a fragment has few nodes");
        let after = self.nodes[i].next.clone();
        let ends = |list: &[u32]| list.binary_search(&id).is_ok();
        let (begins, returns, throws) = (ends(&self.entries), ends(&self.returns), ends(&self.throws));
        let mut before = Vec::new();
        for (j, node) in (0..id).zip(&mut self.nodes) {
            if node.next.binary_search(&id).is_ok() {
                before.push(j);
                add_all(&mut node.next, &after);
            }
        }
        if begins {
            add_all(&mut self.entries, &after);
            self.silent |= returns;
        }
        if returns {
            add_all(&mut self.returns, &before);
        }
        if throws {
            add_all(&mut self.throws, &before);
        }
    }

    /// Each of these parts as one node; `parts` are all nodes, in order.
    fn merged(&self, parts: &[Range<usize>]) -> Fragment {
        let mut part_of: Vec<u32> = Vec::with_capacity(self.nodes.len());
        for (i, part) in (0u32..).zip(parts) {
            part_of.extend(part.clone().map(|_| i));
        }
        let renamed = |list: &[u32]| -> Vec<u32> {
            let mut list: Vec<u32> = list.iter().map(|&node| part_of[node as usize]).collect();
            list.sort_unstable();
            list.dedup();
            list
        };
        let node = |(i, part): (u32, &Range<usize>)| -> Node {
            let nodes = &self.nodes[part.clone()];
            let mut points: Vec<u32> = nodes.iter().flat_map(|n| n.points.iter().copied()).collect();
            points.sort_unstable();
            points.dedup();
            let mut next: Vec<u32> = nodes.iter().flat_map(|n| renamed(&n.next)).collect();
            next.sort_unstable();
            next.dedup();
            // Of what cannot follow each other, one is printed, once.
            let repeats = nodes.iter().any(|n| n.repeats) || next.contains(&i);
            next.retain(|&to| to != i);
            let once = if repeats { once(nodes.iter()) } else { Vec::new() };
            Node { points, repeats, once, next }
        };
        Fragment {
            nodes: (0u32..).zip(parts).map(node).collect(),
            entries: renamed(&self.entries),
            returns: renamed(&self.returns),
            throws: renamed(&self.throws),
            silent: self.silent,
            answers: None,
        }
    }
}

/// The lowest and the highest level of what a node prints.
fn span_of(node: &Node, level: &impl Fn(u32) -> Level) -> (Level, Level) {
    let levels = || node.points.iter().map(|&point| level(point));
    levels().min().zip(levels().max()).unwrap_or((Level::Info, Level::Info))
}

/// Adds `more` to a sorted list.
fn add_all(list: &mut Vec<u32>, more: &[u32]) {
    list.extend(more);
    list.sort_unstable();
    list.dedup();
}

#[cfg(test)]
mod tests {
    use schema::Level;

    use crate::order::fragment::Flow;
    use crate::order::fragment::tests::text;

    /// The fragment of a flow of these edges between letters, with at most `n` nodes;
    /// upper case is of a lower level.
    fn check_coarse(edges: &[&str], n: usize, expected: &str) {
        let mut flow = Flow::new();
        let mut letters: Vec<char> = Vec::new();
        let mut vertex = |flow: &mut Flow, c: char| match c {
            '<' => Flow::ENTRY,
            '>' => Flow::RETURN,
            _ => {
                Flow::N_FIXED
                    + u32::try_from(letters.iter().position(|&l| l == c).unwrap_or_else(|| {
                        letters.push(c);
                        flow.add(vec![c as u32], false);
                        letters.len() - 1
                    }))
                    .unwrap()
            }
        };
        for edge in edges {
            let ends: Vec<char> = edge.chars().collect();
            let (from, to) = (vertex(&mut flow, ends[0]), vertex(&mut flow, ends[1]));
            flow.edge(from, to);
        }
        let level = |point: u32| if point < u32::from('a') { Level::Debug } else { Level::Info };
        assert_eq!(text(&flow.into_fragment(None).coarsened(n, &level)), expected);
    }

    #[test]
    fn what_is_too_large_keeps_its_beginning() {
        let line = ["<a", "ab", "bc", "cd", "de", "ef", "f>"];
        check_coarse(&line, 6, "<a a:b b:c c:d d:e e:f f: >f");
        check_coarse(&line, 4, "<a a:b b:cd cd*!cd:ef ef*!ef: >ef");
        check_coarse(&line, 1, "<abcdef abcdef*!abcdef: >abcdef silent");
    }

    #[test]
    fn of_what_cannot_follow_each_other_one_is_printed() {
        check_coarse(&["<a", "ab", "ac", "bd", "cd", "d>"], 3, "<a a:bc bc:d d: >d");
    }

    #[test]
    fn what_a_log_hides_is_not_waited_for() {
        check_coarse(&["<A", "Ab", "bc", "c>"], 2, "<A A:bc bc*!bc: >bc");
        check_coarse(&["<A", "Ab", "bC", "C>"], 2, "<A A:Cb Cb*!Cb: >A,Cb");
    }
}
