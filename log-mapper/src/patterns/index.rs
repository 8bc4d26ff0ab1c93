//! The index of one bucket: from a message to the templates that can match it.
//! A tree of the templates' prefixes is walked along the message; templates
//! that begin with a variable are found by a literal they must contain.

use std::sync::OnceLock;

use aho_corasick::AhoCorasick;

use super::template::Template;

/// From so many templates on, one scan for all their needles is faster than
/// a scan for each.
const AUTOMATON_MIN: usize = 8;

/// Templates that are looked for together.
#[derive(Debug, Default)]
pub(super) struct Bucket {
    /// Sorted.
    templates: Vec<u32>,
    index: OnceLock<Index>,
}

#[derive(Debug)]
struct Index {
    nodes: Vec<Node>,
    /// Templates whose whole prefix a node is, and templates without needles.
    ids: Vec<u32>,
    edges: Vec<u8>,
    always: Vec<u32>,
    needles: Needles,
}

/// A node of the prefix tree, path compressed.
#[derive(Debug, Default)]
struct Node {
    label: Box<[u8]>,
    ids: (u32, u32),
    /// First edge; children are in the order of the edges.
    edges: (u32, u32),
    first_child: u32,
}

#[derive(Debug)]
enum Needles {
    Few(Vec<u32>),
    Many { automaton: Box<AhoCorasick>, ids: Vec<u32> },
}

impl Bucket {
    pub(super) fn new(templates: Vec<u32>) -> Self {
        Self { templates, index: OnceLock::new() }
    }

    /// Templates come in ascending order.
    pub(super) fn push(&mut self, template: u32) {
        if self.templates.last() != Some(&template) {
            self.templates.push(template);
        }
    }

    /// All of them, sorted.
    pub(super) fn templates(&self) -> &[u32] {
        &self.templates
    }

    pub(super) fn contains(&self, template: u32) -> bool {
        self.templates.binary_search(&template).is_ok()
    }

    /// Gives every template of the bucket that can match `text`, and maybe
    /// others; some more than once.
    pub(super) fn candidates(&self, templates: &[Template], text: &[u8], give: &mut dyn FnMut(u32)) {
        if self.templates.is_empty() {
            return;
        }
        let index = self.index.get_or_init(|| Index::new(&self.templates, templates));
        index.walk(text, give);
        index.always.iter().for_each(|id| give(*id));
        match &index.needles {
            Needles::Few(ids) => {
                for &id in ids {
                    if templates[id as usize].has_needle(text) {
                        give(id);
                    }
                }
            }
            Needles::Many { automaton, ids } => {
                for found in automaton.find_overlapping_iter(text) {
                    give(ids[found.pattern().as_usize()]);
                }
            }
        }
    }
}

impl Index {
    fn new(bucket: &[u32], templates: &[Template]) -> Self {
        let mut prefixes: Vec<(&[u8], u32)> = Vec::new();
        let mut always = Vec::new();
        let mut with_needle = Vec::new();
        for &id in bucket {
            let literals = &templates[id as usize].literals;
            if !literals.prefixes.is_empty() {
                prefixes.extend(literals.prefixes.iter().map(|p| (&p[..], id)));
            } else if literals.needles.is_empty() {
                always.push(id);
            } else {
                with_needle.push(id);
            }
        }
        prefixes.sort_unstable();
        let mut index = Self {
            nodes: Vec::new(),
            ids: Vec::new(),
            edges: Vec::new(),
            always,
            needles: Needles::Few(Vec::new()),
        };
        if !prefixes.is_empty() {
            index.nodes.push(Node::default());
            index.build(0, &prefixes, 0);
        }
        index.needles = needles(with_needle, templates);
        index
    }

    /// Fills node `at` with `prefixes`, sorted, equal in their first `depth` bytes.
    fn build(&mut self, at: usize, prefixes: &[(&[u8], u32)], depth: usize) {
        let (first, last) = (prefixes[0].0, prefixes[prefixes.len() - 1].0);
        let common = first[depth..].iter().zip(&last[depth..]).take_while(|(a, b)| a == b).count();
        let end = depth + common;
        let n_here = prefixes.iter().take_while(|(p, _)| p.len() == end).count();
        let ids_start = self.ids.len() as u32;
        self.ids.extend(prefixes[..n_here].iter().map(|(_, id)| *id));
        let groups: Vec<&[(&[u8], u32)]> = prefixes[n_here..].chunk_by(|a, b| a.0[end] == b.0[end]).collect();
        let edges_start = self.edges.len() as u32;
        self.edges.extend(groups.iter().map(|g| g[0].0[end]));
        let first_child = self.nodes.len();
        self.nodes.resize_with(first_child + groups.len(), Node::default);
        self.nodes[at] = Node {
            label: first[depth..end].into(),
            ids: (ids_start, self.ids.len() as u32),
            edges: (edges_start, self.edges.len() as u32),
            first_child: first_child as u32,
        };
        for (i, group) in groups.into_iter().enumerate() {
            self.build(first_child + i, group, end);
        }
    }

    fn walk(&self, text: &[u8], give: &mut dyn FnMut(u32)) {
        let Some(mut node) = self.nodes.first() else { return };
        let mut rest = text;
        while let Some(after) = rest.strip_prefix(&node.label[..]) {
            self.ids[node.ids.0 as usize..node.ids.1 as usize].iter().for_each(|id| give(*id));
            let edges = &self.edges[node.edges.0 as usize..node.edges.1 as usize];
            let Some(child) = after.first().and_then(|b| memchr::memchr(*b, edges)) else { return };
            node = &self.nodes[node.first_child as usize + child];
            rest = after;
        }
    }
}

fn needles(ids: Vec<u32>, templates: &[Template]) -> Needles {
    if ids.len() < AUTOMATON_MIN {
        return Needles::Few(ids);
    }
    let pairs =
        || ids.iter().flat_map(|id| templates[*id as usize].literals.needles.iter().map(|n| (n, *id)));
    match AhoCorasick::new(pairs().map(|(n, _)| n)) {
        Ok(automaton) => {
            Needles::Many { automaton: Box::new(automaton), ids: pairs().map(|(_, id)| id).collect() }
        }
        // Larger than the automaton can be: one by one.
        Err(_) => Needles::Few(ids),
    }
}
