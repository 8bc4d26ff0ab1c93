//! A trace: the spans of one request as a forest whose times fit into each other.
//!
//! What comes in is what clocks and people say, so it is repaired here, once, and counted: a
//! span that ends before it starts lasts no time; a circle of parents is cut; a child for
//! which somebody waits is clipped to the time of its parent (tprof §3.1 presumes that it
//! lies within); a span that is known to wait until another one ends lasts that long, even if
//! the last line that it prints comes before.

mod sequences;

/// Whether the one who handed over to a span waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Wait {
    /// Nobody is known to wait; it can outlive its parent and covers no time of it.
    Nobody,
    /// It ends before its parent goes on.
    Within,
    /// Its parent is known to wait for it, and prints nothing afterwards.
    UntilEnd,
}

/// A span of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// What it does, by its number among the names.
    pub(crate) operation: u32,
    /// Position of its parent in the trace; none: a root.
    pub(crate) parent: Option<u32>,
    /// Whether its parent waits for it.
    pub(crate) wait: Wait,
    /// µs.
    pub(crate) start_us: i64,
    /// µs; not before `start_us`.
    pub(crate) end_us: i64,
}

/// What had to be repaired in traces, in spans.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Repairs {
    /// Name a parent that is not there; they are roots.
    pub(crate) n_orphans: u64,
    /// Have the id of another one; left out.
    pub(crate) n_duplicates: u64,
    /// Were their own ancestors; they are roots.
    pub(crate) n_circles: u64,
    /// Ended before they started; they last no time.
    pub(crate) n_negative: u64,
    /// Reached out of the time of their parent; clipped.
    pub(crate) n_clipped: u64,
}

impl Repairs {
    /// Adds those of another trace.
    pub(crate) fn add(&mut self, other: Self) {
        self.n_orphans += other.n_orphans;
        self.n_duplicates += other.n_duplicates;
        self.n_circles += other.n_circles;
        self.n_negative += other.n_negative;
        self.n_clipped += other.n_clipped;
    }

    /// In words; none: nothing had to be repaired.
    pub(crate) fn sentence(self) -> Option<String> {
        let parts = [
            (self.n_clipped, "reach out of the time of their parent and were clipped"),
            (self.n_negative, "end before they start and last no time"),
            (self.n_orphans, "name a parent that is not there and are roots"),
            (self.n_circles, "are their own ancestors and are roots"),
            (self.n_duplicates, "have the id of another one and were left out"),
        ];
        let parts: Vec<String> =
            parts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
        (!parts.is_empty()).then(|| format!("spans: {}", parts.join("; ")))
    }
}

/// The spans of one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trace {
    /// In the order in which they came.
    pub(crate) spans: Vec<Span>,
    /// Children of each span, one after the other; see [`Trace::children`].
    children: Vec<u32>,
    /// Where the children of each span begin; one more than there are spans.
    first_child: Vec<u32>,
    /// Spans without a parent.
    pub(crate) roots: Vec<u32>,
    /// Parents before their children.
    pub(crate) top_down: Vec<u32>,
}

impl Trace {
    /// The trace of `spans`, repaired, and what was.
    pub(crate) fn new(mut spans: Vec<Span>) -> (Self, Repairs) {
        let mut repairs = Repairs::default();
        for span in &mut spans {
            if span.end_us < span.start_us {
                span.end_us = span.start_us;
                repairs.n_negative += 1;
            }
        }
        cut_circles(&mut spans, &mut repairs);
        let (children, first_child, roots) = families(&spans);
        let mut trace = Self { spans, children, first_child, roots, top_down: Vec::new() };
        trace.top_down = trace.in_order();
        trace.extend();
        trace.clip(&mut repairs);
        trace.put_in_sequence();
        (trace, repairs)
    }

    /// Children of `span`, in the order in which they came.
    pub(crate) fn children(&self, span: u32) -> &[u32] {
        let (from, to) = (self.first_child[span as usize], self.first_child[span as usize + 1]);
        &self.children[from as usize..to as usize]
    }

    /// When the first span starts and the last one ends.
    pub(crate) fn extent(&self) -> (i64, i64) {
        let start = self.spans.iter().map(|span| span.start_us).min().unwrap_or_default();
        let end = self.spans.iter().map(|span| span.end_us).max().unwrap_or_default();
        (start, end)
    }

    fn in_order(&self) -> Vec<u32> {
        let mut order = self.roots.clone();
        let mut next = 0;
        while let Some(&span) = order.get(next) {
            order.extend_from_slice(self.children(span));
            next += 1;
        }
        assert!(order.len() == self.spans.len(), "every span has a root");
        order
    }

    /// Who waits until another one ends lasts that long.
    fn extend(&mut self) {
        for &span in self.top_down.iter().rev() {
            let Span { parent, wait, end_us, .. } = self.spans[span as usize];
            if let (Some(parent), Wait::UntilEnd) = (parent, wait) {
                let parent = &mut self.spans[parent as usize];
                parent.end_us = parent.end_us.max(end_us);
            }
        }
    }

    fn clip(&mut self, repairs: &mut Repairs) {
        for &span in &self.top_down {
            let Some(parent) = self.spans[span as usize].parent else { continue };
            let Span { start_us, end_us, .. } = self.spans[parent as usize];
            let child = &mut self.spans[span as usize];
            let was = *child;
            if child.wait == Wait::Nobody {
                child.start_us = child.start_us.max(start_us);
                child.end_us = child.end_us.max(child.start_us);
            } else {
                child.start_us = child.start_us.clamp(start_us, end_us);
                child.end_us = child.end_us.clamp(start_us, end_us);
            }
            repairs.n_clipped += u64::from(*child != was);
        }
    }
}

/// Every span has one parent, so each circle is found by walking up from any span below it.
fn cut_circles(spans: &mut [Span], repairs: &mut Repairs) {
    // The walk in which a span was met first; 0: in none.
    let mut met = vec![0_u32; spans.len()];
    for first in 0..spans.len() {
        let walk = first as u32 + 1;
        let mut at = first;
        while met[at] == 0 {
            met[at] = walk;
            let Some(parent) = spans[at].parent else { break };
            if met[parent as usize] == walk {
                spans[at].parent = None;
                repairs.n_circles += 1;
                break;
            }
            at = parent as usize;
        }
    }
}

/// Children by parent, where those of each begin, and the roots.
fn families(spans: &[Span]) -> (Vec<u32>, Vec<u32>, Vec<u32>) {
    let mut first_child = vec![0_u32; spans.len() + 1];
    for parent in spans.iter().filter_map(|span| span.parent) {
        first_child[parent as usize + 1] += 1;
    }
    for at in 1..first_child.len() {
        first_child[at] += first_child[at - 1];
    }
    let mut next = first_child.clone();
    let mut children = vec![0_u32; first_child[spans.len()] as usize];
    let mut roots = Vec::new();
    for (at, span) in (0..).zip(spans) {
        match span.parent {
            Some(parent) => {
                let slot = &mut next[parent as usize];
                children[*slot as usize] = at;
                *slot += 1;
            }
            None => roots.push(at),
        }
    }
    (children, first_child, roots)
}

/// Positions of the parents of spans that name them by id; ids that are there twice and
/// parents that are not there are counted. None: the id is that of an earlier span.
pub(crate) fn resolve<'i, I: Eq + std::hash::Hash + Copy + 'i>(
    ids: impl Iterator<Item = (I, Option<I>)> + Clone,
    repairs: &mut Repairs,
) -> Vec<Option<Option<u32>>> {
    let mut places = rustc_hash::FxHashMap::default();
    let mut n_kept = 0;
    for (id, _) in ids.clone() {
        places.entry(id).or_insert_with(|| {
            n_kept += 1;
            n_kept - 1
        });
    }
    let mut next = 0;
    let mut parent_of = |(id, parent): (I, Option<I>)| {
        if places[&id] != next {
            repairs.n_duplicates += 1;
            return None;
        }
        next += 1;
        let parent = parent.map(|parent| places.get(&parent).copied());
        repairs.n_orphans += u64::from(parent == Some(None));
        Some(parent.flatten())
    };
    ids.map(&mut parent_of).collect()
}

#[cfg(test)]
mod tests {
    use super::{Repairs, Span, Trace, Wait, resolve};

    fn span(parent: Option<u32>, wait: Wait, start_us: i64, end_us: i64) -> Span {
        Span { operation: 0, parent, wait, start_us, end_us }
    }

    #[track_caller]
    fn check(spans: Vec<Span>, expected: &[(i64, i64)], repairs: Repairs) {
        let (trace, found) = Trace::new(spans);
        let times: Vec<(i64, i64)> = trace.spans.iter().map(|span| (span.start_us, span.end_us)).collect();
        assert_eq!((times.as_slice(), found), (expected, repairs));
    }

    #[test]
    fn a_child_that_starts_before_its_parent_is_clipped_with_all_below_it() {
        let spans = vec![
            span(None, Wait::Nobody, 10, 20),
            span(Some(0), Wait::Within, 5, 25),
            span(Some(1), Wait::Within, 2, 8),
        ];
        check(spans, &[(10, 20), (10, 20), (10, 10)], Repairs { n_clipped: 2, ..Repairs::default() });
    }

    #[test]
    fn who_waits_until_the_end_lasts_as_long() {
        let spans = vec![
            span(None, Wait::Nobody, 0, 1),
            span(Some(0), Wait::UntilEnd, 2, 3),
            span(Some(1), Wait::UntilEnd, 4, 9),
        ];
        check(spans, &[(0, 9), (2, 9), (4, 9)], Repairs::default());
    }

    #[test]
    fn what_nobody_waits_for_outlives_its_parent() {
        let spans = vec![span(None, Wait::Nobody, 0, 5), span(Some(0), Wait::Nobody, 8, 30)];
        check(spans, &[(0, 5), (8, 30)], Repairs::default());
    }

    #[test]
    fn circles_and_negative_times_are_counted() {
        let spans = vec![
            span(Some(1), Wait::Within, 0, 5),
            span(Some(0), Wait::Within, 1, 4),
            span(Some(2), Wait::Within, 7, 6),
        ];
        let repairs = Repairs { n_circles: 2, n_negative: 1, n_clipped: 1, ..Repairs::default() };
        check(spans, &[(1, 4), (1, 4), (7, 7)], repairs);
    }

    #[test]
    fn unknown_parents_and_repeated_ids_are_counted() {
        let ids = [("a", None), ("b", Some("a")), ("a", Some("b")), ("c", Some("x")), ("d", Some("c"))];
        let mut repairs = Repairs::default();
        let found = resolve(ids.iter().copied(), &mut repairs);
        assert_eq!(found, [Some(None), Some(Some(0)), None, Some(None), Some(Some(2))]);
        assert_eq!(repairs, Repairs { n_orphans: 1, n_duplicates: 1, ..Repairs::default() });
    }
}
