//! Merging: spans that hang together become one request.
//!
//! Laws. An accumulator is a set of spans and a set of links between them; the
//! empty set is the empty element, and merging is union, so it is associative,
//! commutative and idempotent as long as every span is told apart by where its
//! events stand in the logs. Spans are held in one canonical order, which makes
//! positions, and all decisions taken in order of position, a function of the
//! set of spans alone: how the input was split, and in which order its parts
//! came, is forgotten here.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use schema::{Link, PairId, Pass, Probability};

use crate::skeleton::Span;

/// `spans` in canonical order, without those that have no events.
pub(crate) fn in_order(mut spans: Vec<Span>) -> Vec<Span> {
    spans.retain(|span| !span.events.is_empty());
    let timed = spans.iter().zip(0..).map(|(span, at)| (start_us(span), end_us(span), at));
    let mut timed: Vec<(i64, i64, u32)> = timed.collect();
    timed.par_sort_by(|a, b| {
        let span = |&(start_us, end_us, at): &(i64, i64, u32)| (start_us, end_us, &spans[at as usize]);
        canonical(span(a), span(b))
    });
    // Each span to its place, along the circles of those that have each other's.
    let mut from: Vec<u32> = timed.into_iter().map(|(_, _, at)| at).collect();
    for first in 0..from.len() {
        let mut at = first;
        loop {
            let next = std::mem::replace(&mut from[at], to_u32(at)) as usize;
            if next == first || next == at {
                break;
            }
            spans.swap(at, next);
            at = next;
        }
    }
    spans
}

/// First event's time, µs.
pub(crate) fn start_us(span: &Span) -> i64 {
    span.events.iter().map(|event| event.ts_us).min().unwrap_or(i64::MAX)
}

/// Last event's time, µs.
pub(crate) fn end_us(span: &Span) -> i64 {
    span.events.iter().map(|event| event.ts_us).max().unwrap_or(i64::MIN)
}

/// Canonical order of spans with their start and end: by start, then by where the span stands
/// in the logs.
fn canonical((a_us, a_end_us, a): (i64, i64, &Span), (b_us, b_end_us, b): (i64, i64, &Span)) -> Ordering {
    let place = |span: &Span| span.events.first().map(|e| (e.file, e.line, span.byte_offset));
    (a_us.cmp(&b_us))
        .then_with(|| a.node.cmp(&b.node))
        .then_with(|| place(a).cmp(&place(b)))
        .then_with(|| a.thread.cmp(&b.thread))
        .then_with(|| a.top_levels.cmp(&b.top_levels))
        .then_with(|| a.identifiers.cmp(&b.identifiers))
        .then_with(|| a.events.len().cmp(&b.events.len()))
        .then_with(|| a_end_us.cmp(&b_end_us))
}

/// A link between spans by their positions in canonical order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SpanLink {
    /// The sender.
    pub(crate) from: u32,
    /// The receiver.
    pub(crate) to: u32,
    /// The pair that connects them, if one does.
    pub(crate) pair: Option<PairId>,
    /// What found it.
    pub(crate) by: Pass,
}

/// Spans that hang together.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Request<S> {
    /// In canonical order.
    pub(crate) spans: Vec<S>,
    /// Links between them, as positions in `spans`.
    pub(crate) links: Vec<Link>,
}

/// One request per connected set of `spans`, in order of their first span.
/// `spans` are in canonical order; `probabilities`: how sure each of `links` is.
pub(crate) fn assemble<S>(
    spans: Vec<S>,
    links: &[SpanLink],
    probabilities: &[Probability],
) -> Vec<Request<S>> {
    let mut sets = Sets::new(spans.len());
    for link in links {
        sets.join(link.from, link.to);
    }
    // The root of a set is its smallest member, so requests appear in
    // canonical order of their first span.
    let mut out: Vec<Request<S>> = Vec::new();
    let mut n_of = vec![0_u32; spans.len()];
    (0..to_u32(spans.len())).for_each(|span| n_of[sets.root(span) as usize] += 1);
    let mut request_of = vec![u32::MAX; spans.len()];
    let mut position = Vec::with_capacity(spans.len());
    for (index, span) in spans.into_iter().enumerate() {
        let root = sets.root(to_u32(index)) as usize;
        if request_of[root] == u32::MAX {
            request_of[root] = to_u32(out.len());
            let spans = Vec::with_capacity(n_of[root] as usize);
            out.push(Request { spans, links: Vec::new() });
        }
        let request = &mut out[request_of[root] as usize];
        position.push((request_of[root], to_u32(request.spans.len())));
        request.spans.push(span);
    }
    for (link, &probability) in links.iter().zip(probabilities) {
        let (request, from) = position[link.from as usize];
        let (_, to) = position[link.to as usize];
        out[request as usize].links.push(Link { from, to, pair: link.pair, by: link.by, probability });
    }
    for request in &mut out {
        request.links.sort_unstable();
        request.links.dedup_by_key(|link| (link.from, link.to, link.pair));
        request.links.shrink_to_fit();
    }
    out
}

/// By what a request is told from others: of some kinds (numbers) the one value (a number)
/// that a span names.
pub(crate) type Names = BTreeMap<u32, u32>;

/// Disjoint sets of spans; the root of a set is its smallest member.
#[derive(Debug)]
pub(crate) struct Sets {
    parent: Vec<u32>,
    /// What the members of a set name, by its root.
    names: FxHashMap<u32, Names>,
}

impl Sets {
    /// `len` sets of one member each.
    pub(crate) fn new(len: usize) -> Self {
        Self { parent: (0..to_u32(len)).collect(), names: FxHashMap::default() }
    }

    /// The same of spans that have `names`: sets of different ones stay apart.
    pub(crate) fn with_names(len: usize, names: FxHashMap<u32, Names>) -> Self {
        Self { names, ..Self::new(len) }
    }

    /// The smallest member of the set of `member`.
    pub(crate) fn root(&mut self, mut member: u32) -> u32 {
        while self.parent[member as usize] != member {
            let parent = self.parent[member as usize];
            self.parent[member as usize] = self.parent[parent as usize];
            member = parent;
        }
        member
    }

    /// Unites two sets; false if they were one already, or name different things.
    pub(crate) fn join(&mut self, a: u32, b: u32) -> bool {
        !self.are_apart(a, b) && self.unite(a, b)
    }

    /// Whether two sets name different things.
    pub(crate) fn are_apart(&mut self, a: u32, b: u32) -> bool {
        let (a, b) = (self.root(a), self.root(b));
        let is_apart =
            |a: &Names, b: &Names| a.iter().any(|(kind, name)| b.get(kind).is_some_and(|b| b != name));
        self.names.get(&a).zip(self.names.get(&b)).is_some_and(|(a, b)| is_apart(a, b))
    }

    /// Whether a set with the `root` names what tells it from others.
    pub(crate) fn is_named(&self, root: u32) -> bool {
        self.names.contains_key(&root)
    }

    /// Unites two sets, whatever they name; false if they were one already.
    pub(crate) fn unite(&mut self, a: u32, b: u32) -> bool {
        let (a, b) = (self.root(a), self.root(b));
        if a == b {
            return false;
        }
        let (root, other) = (a.min(b), a.max(b));
        self.parent[other as usize] = root;
        if let Some(names) = self.names.remove(&other) {
            let known = self.names.entry(root).or_default();
            names.into_iter().for_each(|(kind, name)| {
                known.entry(kind).or_insert(name);
            });
        }
        true
    }
}

/// A position as an index of links.
pub(crate) fn to_u32(n: usize) -> u32 {
    u32::try_from(n).expect("fewer than 2^32 spans are held at once")
}

#[cfg(test)]
mod tests {
    use schema::{Event, Name, Values};

    use crate::skeleton::Stored;

    use super::*;

    /// A span of `node` with an event at each of `times_us`.
    fn span(node: &str, times_us: &[i64]) -> Span {
        let event = |(line, ts_us): (u64, &i64)| Event {
            file: 0,
            line,
            n_lines: 1,
            byte_offset: 0,
            ts_us: *ts_us,
            late_us: 0,
            level: None,
            log_point: None,
            values: Values::default(),
            pass: Pass::Opens,
            reason: Name::default(),
        };
        let span = schema::Span {
            node: Name::from(node),
            thread: None,
            top_levels: Vec::new(),
            identifiers: Vec::new(),
            events: (1..).zip(times_us).map(event).collect(),
            truncated: false,
            trace: None,
            hosts: Vec::new(),
            n_alike: 1,
        };
        Span::new(span, Stored::default())
    }

    #[test]
    fn spans_come_in_one_order_whatever_order_they_were_in() {
        let times: [&[i64]; 8] = [&[7], &[3, 9], &[5], &[3], &[1, 2], &[9], &[], &[4]];
        let all: Vec<Span> = times.iter().zip(["b", "a"].iter().cycle()).map(|(t, n)| span(n, t)).collect();
        let of = |spans: &[Span]| in_order(spans.to_vec());
        let starts =
            |spans: &[Span]| spans.iter().map(|s| (start_us(s), s.node.to_string())).collect::<Vec<_>>();
        let expected = of(&all);
        let mut sorted: Vec<(i64, String)> =
            starts(&all).into_iter().filter(|(us, _)| *us != i64::MAX).collect();
        sorted.sort();
        assert_eq!(starts(&expected), sorted, "by start, then node; without those that are empty");
        let mut spans = all;
        for turn in 0..spans.len() {
            spans.rotate_left(turn % 3 + 1);
            spans.swap(0, turn);
            assert_eq!(of(&spans), expected);
        }
    }

    #[test]
    fn sets_that_name_different_things_stay_apart() {
        let name = |kind, name| Names::from([(kind, name)]);
        let names = [(0, name(1, 10)), (1, name(1, 20)), (3, name(2, 10)), (5, name(1, 10))];
        let mut sets = Sets::with_names(6, names.into_iter().collect());
        assert!(!sets.join(0, 1), "of one kind, but not the same");
        assert!(sets.join(0, 2) && sets.join(2, 3), "one names nothing, one a thing of another kind");
        assert!(!sets.join(1, 2), "what joined 0 is of its request");
        assert!(sets.join(3, 5), "the same thing");
        assert!(sets.unite(1, 5) && !sets.unite(1, 5), "whatever they name");
        assert!(!sets.is_named(4) && sets.is_named(0));
    }
}
