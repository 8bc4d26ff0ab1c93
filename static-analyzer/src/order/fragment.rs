//! A fragment: the order of the log points of one method and of everything it
//! calls, ready to be inlined into its callers (lprof §4.3, one method's part).
//!
//! A [`Flow`] is the raw control flow: vertices with or without log points. The
//! fragment keeps the vertices with log points only; an edge means "can be
//! printed next". Over-approximates: whatever a flow can print in this order, a
//! fragment can; loops lose the order inside of them.

use std::collections::BTreeSet;

use super::components::{Components, components};
use super::copies::merge_copies;
use crate::limits::ORDER_NODES_MAX;

/// Log points without an order among themselves, and what can come next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Node {
    /// Positions of log points, sorted.
    pub(crate) points: Vec<u32>,
    /// May print again and again.
    pub(crate) repeats: bool,
    /// Those of its points that are printed at most once although it repeats, sorted.
    pub(crate) once: Vec<u32>,
    /// Positions of nodes that can print next, sorted, all larger than its own.
    pub(crate) next: Vec<u32>,
}

/// Order of the log points of one method.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fragment {
    /// In topological order.
    pub(crate) nodes: Vec<Node>,
    /// Nodes that can print first, sorted.
    pub(crate) entries: Vec<u32>,
    /// Nodes after which the method can return without printing, sorted.
    pub(crate) returns: Vec<u32>,
    /// Nodes after which the method can throw without printing, sorted.
    pub(crate) throws: Vec<u32>,
    /// Whether the method can return without printing anything.
    pub(crate) silent: bool,
    /// Where it returns zero (`false`, `null`), and where anything else; none: what it has
    /// printed says nothing of that.
    pub(crate) answers: Option<[Answer; 2]>,
}

/// Where a method returns one of what its callers tell apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    /// Nodes after which it can return this without printing, sorted.
    pub(crate) returns: Vec<u32>,
    /// Whether it can return this without printing anything.
    pub(crate) silent: bool,
}

impl Fragment {
    /// The fragment of a method that prints nothing.
    pub(crate) fn empty() -> Self {
        Fragment { silent: true, ..Fragment::default() }
    }

    /// All points in one node without order: recursion, and what is too large.
    pub(crate) fn folded(mut points: Vec<u32>) -> Self {
        points.sort_unstable();
        points.dedup();
        if points.is_empty() {
            return Fragment::empty();
        }
        let node = Node { points, repeats: true, ..Node::default() };
        let (nodes, ends) = (vec![node], vec![0]);
        Fragment {
            nodes,
            entries: ends.clone(),
            returns: ends.clone(),
            throws: ends,
            silent: true,
            answers: None,
        }
    }

    /// What one of `first` begins, and anything of `points` follows, in any order.
    pub(crate) fn begun(first: Vec<u32>, points: Vec<u32>, silent: bool) -> Self {
        let begins = Node { points: first, next: vec![1], ..Node::default() };
        let rest = Node { points, repeats: true, ..Node::default() };
        let ends = vec![0, 1];
        Fragment {
            entries: if begins.points.is_empty() { Vec::new() } else { vec![0] },
            nodes: vec![begins, rest],
            returns: ends.clone(),
            throws: ends,
            silent,
            answers: None,
        }
    }

    /// What begins with `first`, and goes on with the `rest`; nodes of `before`, which logs
    /// usually do not show, come earlier, in their order, or can (`begins_so`).
    pub(crate) fn in_turn(
        mut before: Vec<Node>,
        (mut first, begins_so): (Node, bool),
        rest: Node,
        silent: bool,
    ) -> Self {
        let n_before = u32::try_from(before.len()).expect("a fragment has few nodes");
        (1..).zip(&mut before).for_each(|(next, node)| node.next = (next..=n_before).collect());
        first.next = vec![n_before + 1];
        let entries = if before.is_empty() || !begins_so { vec![0] } else { vec![0, n_before] };
        let nodes: Vec<Node> = before.into_iter().chain([first, rest]).collect();
        let ends: Vec<u32> = (0..n_before + 2).collect();
        Fragment { nodes, entries, returns: ends.clone(), throws: ends, silent, answers: None }
    }

    /// All of it in one node, without order, but for what is printed once.
    pub(crate) fn in_one_node(&self) -> Self {
        let mut folded = Fragment::folded(self.points());
        folded.nodes.iter_mut().for_each(|node| node.once = once(self.nodes.iter()));
        folded
    }

    /// Adds log points that can be printed at any time.
    pub(crate) fn add_free(&mut self, points: Vec<u32>) {
        let free = u32::try_from(self.nodes.len()).expect("a fragment has few nodes");
        for node in &mut self.nodes {
            node.next.push(free);
        }
        let free_first = Node { points, repeats: true, ..Node::default() };
        self.nodes.push(free_first);
        self.entries.push(free);
        self.returns.push(free);
    }

    /// All log points, sorted.
    pub(crate) fn points(&self) -> Vec<u32> {
        let mut points: Vec<u32> = self.nodes.iter().flat_map(|n| n.points.iter().copied()).collect();
        points.sort_unstable();
        points.dedup();
        points
    }
}

/// The log points that only one of these nodes prints, and that one once, sorted.
pub(crate) fn once<'a>(nodes: impl Iterator<Item = &'a Node> + Clone) -> Vec<u32> {
    let mut points: Vec<u32> = nodes.clone().flat_map(|node| node.points.iter().copied()).collect();
    points.sort_unstable();
    let sole = points.chunk_by(|a, b| a == b).filter(|same| same.len() == 1).map(|same| same[0]);
    let mut once: Vec<u32> = sole.collect();
    for node in nodes.filter(|node| node.repeats) {
        once.retain(|point| {
            node.points.binary_search(point).is_err() || node.once.binary_search(point).is_ok()
        });
    }
    once
}

/// Control flow in which some vertices print.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    /// For each vertex the log points it prints one of (none: silent).
    pub(crate) points: Vec<Vec<u32>>,
    /// For each vertex: may print again and again.
    pub(crate) repeats: Vec<bool>,
    /// For each vertex: which of its points it prints at most once even so.
    pub(crate) once: Vec<Vec<u32>>,
    /// Successors.
    pub(crate) edges: Vec<Vec<u32>>,
}

impl Flow {
    /// Where the method begins.
    pub(crate) const ENTRY: u32 = 0;
    /// Where it returns.
    pub(crate) const RETURN: u32 = 1;
    /// Where it throws.
    pub(crate) const THROW: u32 = 2;
    /// Where it returns zero, and where anything else.
    pub(crate) const ANSWERS: [u32; 2] = [3, 4];
    /// How many vertices each flow has.
    pub(crate) const N_FIXED: u32 = 5;

    /// A flow of the fixed vertices.
    pub(crate) fn new() -> Self {
        let mut flow = Flow::default();
        (0..Self::N_FIXED).for_each(|_| _ = flow.add(Vec::new(), false));
        Self::ANSWERS.into_iter().for_each(|answer| flow.edge(answer, Self::RETURN));
        flow
    }

    /// How many vertices there are.
    pub(crate) fn len(&self) -> u32 {
        u32::try_from(self.points.len()).expect("fewer than 2^32 vertices")
    }

    /// A new vertex.
    pub(crate) fn add(&mut self, points: Vec<u32>, repeats: bool) -> u32 {
        let vertex = self.len();
        self.points.push(points);
        self.repeats.push(repeats);
        self.once.push(Vec::new());
        self.edges.push(Vec::new());
        vertex
    }

    /// A new vertex that prints what a node of a fragment does.
    pub(crate) fn add_node(&mut self, node: &Node) -> u32 {
        let vertex = self.add(node.points.clone(), node.repeats);
        self.once[vertex as usize].clone_from(&node.once);
        vertex
    }

    /// A new edge; repeats are allowed.
    pub(crate) fn edge(&mut self, from: u32, to: u32) {
        self.edges[from as usize].push(to);
    }

    /// The fragment: loops folded, silent vertices skipped, compiler copies
    /// merged; all in one node if it has more than [`ORDER_NODES_MAX`] nodes.
    /// `told_apart`: a flow in which vertices are copies of this one's, with those; what
    /// no copies can print after each other is no order.
    pub(crate) fn into_fragment(mut self, told_apart: Option<(&Flow, &[u32])>) -> Fragment {
        if self.points.iter().all(Vec::is_empty) {
            return Fragment::empty();
        }
        for edges in &mut self.edges {
            edges.sort_unstable();
            edges.dedup();
        }
        let folded = Folded::new(&self);
        if folded.printing.len() > ORDER_NODES_MAX {
            return folded.in_one_node();
        }
        let mut fragment = folded.fragment();
        if let Some((copies, origins)) = told_apart {
            let next = copies.prints_next(|copy| folded.component(origins[copy as usize]));
            folded.keep(&mut fragment, &next);
        }
        fragment.answers = fragment.answers.filter(|[zero, other]| zero != other);
        merge_copies(&mut fragment);
        fragment
    }
}

impl Flow {
    /// The log points that can be printed first, sorted, and whether the method can return
    /// without printing anything, of those that are shown.
    pub(crate) fn first(&self, is_shown: impl Fn(u32) -> bool) -> (Vec<u32>, bool) {
        let (mut points, mut seen) = (Vec::new(), vec![false; self.points.len()]);
        let mut todo = vec![Self::ENTRY];
        while let Some(vertex) = todo.pop() {
            if std::mem::replace(&mut seen[vertex as usize], true) {
                continue;
            }
            let printed = &self.points[vertex as usize];
            points.extend(printed.iter().filter(|&&point| is_shown(point)));
            if !printed.iter().all(|&point| is_shown(point)) || printed.is_empty() {
                todo.extend(&self.edges[vertex as usize]);
            }
        }
        points.sort_unstable();
        points.dedup();
        (points, seen[Self::RETURN as usize])
    }

    /// What is printed next: after the entry and after each vertex that prints and that the
    /// entry leads to, which vertices can come next that print, or end the method, all by
    /// their `component`.
    fn prints_next(&self, component: impl Fn(u32) -> u32) -> BTreeSet<(u32, u32)> {
        let prints = |vertex: u32| !self.points[vertex as usize].is_empty();
        let is_fixed = |vertex: u32| vertex < Self::N_FIXED;
        let mut found = BTreeSet::new();
        let mut seen = vec![u32::MAX; self.points.len()];
        let mut reached = vec![false; self.points.len()];
        let mut begun = vec![Self::ENTRY];
        while let Some(from) = begun.pop() {
            if std::mem::replace(&mut reached[from as usize], true) {
                continue;
            }
            let mut todo = self.edges[from as usize].clone();
            while let Some(to) = todo.pop() {
                if std::mem::replace(&mut seen[to as usize], from) == from {
                    continue;
                }
                if prints(to) || is_fixed(to) {
                    found.insert((component(from), component(to)));
                }
                if prints(to) {
                    begun.push(to);
                } else {
                    todo.extend(&self.edges[to as usize]);
                }
            }
        }
        found
    }
}

/// A flow with its loops folded.
struct Folded {
    components: Components,
    points: Vec<Vec<u32>>,
    repeats: Vec<bool>,
    once: Vec<Vec<u32>>,
    edges: Vec<Vec<u32>>,
    /// A loop can be left without printing.
    optional: Vec<bool>,
    /// Printing components that the entry reaches, in topological order.
    printing: Vec<u32>,
}

impl Folded {
    fn new(flow: &Flow) -> Self {
        let components = components(&flow.edges);
        let n = components.members.len();
        let mut folded = Folded {
            points: vec![Vec::new(); n],
            repeats: vec![false; n],
            once: vec![Vec::new(); n],
            edges: vec![Vec::new(); n],
            optional: vec![false; n],
            printing: Vec::new(),
            components,
        };
        for c in 0..n {
            folded.fold(flow, c);
        }
        let mut reached = vec![false; n];
        let mut stack = vec![folded.component(Flow::ENTRY)];
        while let Some(c) = stack.pop() {
            if !std::mem::replace(&mut reached[c as usize], true) {
                stack.extend(&folded.edges[c as usize]);
            }
        }
        // Components are numbered against the edges.
        let printing = (0..n).rev().filter(|&c| reached[c] && !folded.points[c].is_empty());
        folded.printing = printing.map(|c| u32::try_from(c).expect("fewer than 2^32 components")).collect();
        folded
    }

    fn component(&self, vertex: u32) -> u32 {
        self.components.of[vertex as usize]
    }

    fn fold(&mut self, flow: &Flow, c: usize) {
        let members = &self.components.members[c];
        let mut looping = members.len() > 1;
        for &v in members {
            self.points[c].extend(&flow.points[v as usize]);
            self.repeats[c] |= flow.repeats[v as usize];
            for &to in &flow.edges[v as usize] {
                let other = self.components.of[to as usize];
                if other as usize == c {
                    looping = true;
                } else {
                    self.edges[c].push(other);
                }
            }
        }
        self.points[c].sort_unstable();
        self.points[c].dedup();
        self.edges[c].sort_unstable();
        self.edges[c].dedup();
        self.repeats[c] |= looping;
        self.optional[c] = looping;
        if let ([vertex], false) = (&members[..], looping) {
            self.once[c].clone_from(&flow.once[*vertex as usize]);
        }
    }

    /// What a component prints.
    fn node(&self, c: u32) -> Node {
        let c = c as usize;
        let (points, once) = (self.points[c].clone(), self.once[c].clone());
        Node { points, repeats: self.repeats[c], once, next: Vec::new() }
    }

    /// All of it in one node.
    fn in_one_node(&self) -> Fragment {
        let nodes = self.printing.iter().map(|&c| self.node(c)).collect();
        Fragment { nodes, ..Fragment::default() }.in_one_node()
    }

    fn fragment(&self) -> Fragment {
        let mut position = vec![u32::MAX; self.points.len()];
        for (i, &c) in (0u32..).zip(&self.printing) {
            position[c as usize] = i;
        }
        let mut search = Search { folded: self, seen: vec![u32::MAX; self.points.len()], round: 0 };
        let ends = [Flow::RETURN, Flow::THROW, Flow::ANSWERS[0], Flow::ANSWERS[1]];
        let ends = ends.map(|vertex| self.component(vertex));
        let mut answers: [Answer; 2] = Default::default();
        let mut fragment = Fragment::default();
        for (i, &c) in (0u32..).zip(&self.printing) {
            let found = search.from(&self.edges[c as usize], ends);
            if found.returns {
                fragment.returns.push(i);
            }
            if found.throws {
                fragment.throws.push(i);
            }
            let is_told = answers.iter_mut().zip(found.answers).filter(|(_, is_told)| *is_told);
            is_told.for_each(|(answer, _)| answer.returns.push(i));
            fragment.nodes.push(Node { next: positions(&found.next, &position), ..self.node(c) });
        }
        let found = search.from(&[self.component(Flow::ENTRY)], ends);
        fragment.entries = positions(&found.next, &position);
        fragment.silent = found.returns;
        answers.iter_mut().zip(found.answers).for_each(|(answer, silent)| answer.silent = silent);
        fragment.answers = Some(answers);
        fragment
    }
}

impl Folded {
    /// Keeps of a fragment what `next` says that can be printed next, by components. What
    /// nothing leads to comes from elsewhere, if it is printed at all.
    fn keep(&self, fragment: &mut Fragment, next: &BTreeSet<(u32, u32)>) {
        let mut reached: BTreeSet<u32> = next.iter().map(|&(_, to)| to).collect();
        reached.insert(self.component(Flow::ENTRY));
        let follows = |from: u32, to: u32| next.contains(&(from, to)) || !reached.contains(&from);
        let of = |node: u32| self.printing[node as usize];
        let [entry, returns, throws] = [Flow::ENTRY, Flow::RETURN, Flow::THROW].map(|v| self.component(v));
        for (node, &from) in fragment.nodes.iter_mut().zip(&self.printing) {
            node.next.retain(|&to| follows(from, of(to)));
        }
        fragment.entries.retain(|&to| follows(entry, of(to)));
        fragment.returns.retain(|&from| follows(of(from), returns));
        fragment.throws.retain(|&from| follows(of(from), throws));
        fragment.silent &= follows(entry, returns);
        for (answer, vertex) in fragment.answers.iter_mut().flatten().zip(Flow::ANSWERS) {
            let told = self.component(vertex);
            answer.returns.retain(|&from| follows(of(from), told));
            answer.silent &= follows(entry, told);
        }
    }
}

/// Where `components` stand by their `position`, sorted.
pub(super) fn positions(components: &[u32], position: &[u32]) -> Vec<u32> {
    let mut found: Vec<u32> = components.iter().map(|&c| position[c as usize]).collect();
    found.sort_unstable();
    found
}

/// Depth-first search through components that print nothing.
struct Search<'a> {
    folded: &'a Folded,
    seen: Vec<u32>,
    round: u32,
}

#[derive(Default)]
struct Found {
    next: Vec<u32>,
    returns: bool,
    throws: bool,
    answers: [bool; 2],
}

impl Search<'_> {
    fn from(&mut self, start: &[u32], [returns, throws, zero, other]: [u32; 4]) -> Found {
        let mut found = Found::default();
        let mut stack: Vec<u32> = start.to_vec();
        while let Some(c) = stack.pop() {
            if self.seen[c as usize] == self.round {
                continue;
            }
            self.seen[c as usize] = self.round;
            found.returns |= c == returns;
            found.throws |= c == throws;
            found.answers[0] |= c == zero;
            found.answers[1] |= c == other;
            let prints = !self.folded.points[c as usize].is_empty();
            if prints {
                found.next.push(c);
            }
            if !prints || self.folded.optional[c as usize] {
                stack.extend(&self.folded.edges[c as usize]);
            }
        }
        self.round += 1;
        found
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::{Flow, Fragment};

    /// `a` `b?` `(c d)*` `e`, from edges between letters; `<` entry, `>` return.
    fn check(edges: &[&str], expected: &str) {
        let mut flow = Flow::new();
        let mut letters: Vec<char> = Vec::new();
        let mut vertex = |flow: &mut Flow, c: char| match c {
            '<' => Flow::ENTRY,
            '>' => Flow::RETURN,
            _ => {
                if let Some(i) = letters.iter().position(|&l| l == c) {
                    return Flow::N_FIXED + u32::try_from(i).unwrap();
                }
                letters.push(c);
                let points = if c.is_ascii_lowercase() { vec![c as u32] } else { vec![] };
                flow.add(points, false)
            }
        };
        for edge in edges {
            let ends: Vec<char> = edge.chars().collect();
            let (from, to) = (vertex(&mut flow, ends[0]), vertex(&mut flow, ends[1]));
            flow.edge(from, to);
        }
        assert_eq!(text(&flow.into_fragment(None)), expected);
    }

    pub(crate) fn text(fragment: &Fragment) -> String {
        let name = |i: &u32| -> String {
            fragment.nodes[*i as usize].points.iter().map(|&p| char::from_u32(p).unwrap()).collect()
        };
        let names = |list: &[u32]| list.iter().map(name).collect::<Vec<_>>().join(",");
        let mut text = format!("<{}", names(&fragment.entries));
        for (i, node) in (0u32..).zip(&fragment.nodes) {
            let star = if node.repeats { "*" } else { "" };
            let once: String = node.once.iter().map(|&p| char::from_u32(p).unwrap()).collect();
            let once = if once.is_empty() { once } else { format!("!{once}") };
            text += &format!(" {}{star}{once}:{}", name(&i), names(&node.next));
        }
        text + &format!(" >{}{}", names(&fragment.returns), if fragment.silent { " silent" } else { "" })
    }

    #[test]
    fn straight_line() {
        check(&["<a", "ab", "b>"], "<a a:b b: >b");
    }

    #[test]
    fn optional_nodes_are_skipped() {
        check(&["<A", "Ab", "AC", "bC", "Cd", "d>"], "<b,d b:d d: >d");
    }

    #[test]
    fn loops_fold_and_may_run_zero_times() {
        check(&["<a", "aL", "Lb", "bc", "cL", "Ld", "d>"], "<a a:bc,d bc*:d d: >d");
    }

    #[test]
    fn in_one_node_it_is_known_what_no_loop_prints() {
        let mut flow = Flow::new();
        let [a, b, c, d] = ['a', 'b', 'c', 'd'].map(|c| flow.add(vec![c as u32], false));
        for (from, to) in [(Flow::ENTRY, a), (a, b), (b, c), (c, b), (c, d), (d, Flow::RETURN)] {
            flow.edge(from, to);
        }
        let folded = flow.into_fragment(None).in_one_node();
        assert_eq!(text(&folded), "<abcd abcd*!ad: >abcd silent");
        // Who calls it keeps that, but not in a loop, nor if it is called twice.
        let calls = |edges: &[(u32, u32)]| {
            let mut caller = Flow::new();
            let _both = [caller.add_node(&folded.nodes[0]), caller.add_node(&folded.nodes[0])];
            edges.iter().for_each(|&(from, to)| caller.edge(from, to));
            text(&caller.into_fragment(None).in_one_node())
        };
        assert_eq!(calls(&[(Flow::ENTRY, 5), (5, Flow::RETURN)]), "<abcd abcd*!ad: >abcd silent");
        let none = "<abcd abcd*: >abcd silent";
        assert_eq!(calls(&[(Flow::ENTRY, 5), (5, 5), (5, Flow::RETURN)]), none);
        assert_eq!(calls(&[(Flow::ENTRY, 5), (5, 6), (6, Flow::RETURN)]), none);
    }

    #[test]
    fn silent_path() {
        check(&["<a", "<>", "a>"], "<a a: >a silent");
    }
}
