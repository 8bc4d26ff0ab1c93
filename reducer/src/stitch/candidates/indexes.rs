//! Indexes of the spans by which candidates are found: by their top-level methods and values, and
//! by what they name and their threads.

use rustc_hash::{FxHashMap, FxHashSet};
use schema::{TopLevelId, ValueClassId};

use super::SHARING_MAX;
use super::by_thread::{AtWork, at_work};
use crate::stitch::determined::Determined;
use crate::stitch::facts::Facts;
use crate::stitch::pairs::{Pairs, Role};

/// Stands for "any node" in an index.
pub(super) const ANY_NODE: u32 = u32::MAX;

/// A node, or any, with a kind of values and the number of a text.
pub(super) type ValueKey = (u32, ValueClassId, u32);

/// Spans of one top-level method.
pub(super) type OfTop = (TopLevelId, Vec<u32>);

/// Adds a span to those of its top-level method, which are sorted by that.
fn add(tops: &mut Vec<OfTop>, top: TopLevelId, span: u32) {
    let at = tops.binary_search_by_key(&top, |(top, _)| *top).unwrap_or_else(|at| {
        tops.insert(at, (top, Vec::new()));
        at
    });
    tops[at].1.push(span);
}

/// What a [`Finder`](super::Finder) knows of spans by their top-level methods.
pub(super) struct ByTop {
    pub(super) by_value: FxHashMap<ValueKey, Vec<OfTop>>,
    pub(super) by_top: FxHashMap<(u32, TopLevelId), Vec<u32>>,
}

impl ByTop {
    pub(super) fn new(pairs: &Pairs<'_>, facts: &Facts<'_>) -> Self {
        let senders = |remote: bool| -> FxHashSet<TopLevelId> {
            let pairs = pairs.iter().filter(|pair| (pair.role == Role::Remote) == remote);
            pairs.map(|pair| pair.from).collect()
        };
        let (local, remote) = (senders(false), senders(true));
        let mut by_value: FxHashMap<ValueKey, Vec<OfTop>> = FxHashMap::default();
        let mut by_top: FxHashMap<_, Vec<u32>> = FxHashMap::default();
        for (index, fact) in facts.iter() {
            for &top in fact.tops {
                let nodes = [(fact.node, local.contains(&top)), (ANY_NODE, remote.contains(&top))];
                for (node, _) in nodes.iter().filter(|(_, wanted)| *wanted) {
                    by_top.entry((*node, top)).or_default().push(index);
                    for value in fact.values() {
                        let key = (*node, value.kind, value.number);
                        add(by_value.entry(key).or_default(), top, index);
                    }
                }
            }
        }
        Self { by_value, by_top }
    }
}

/// What a [`Finder`](super::Finder) knows of spans by what they name, and by their threads.
pub(super) struct ByText<'a> {
    pub(super) by_text: FxHashMap<u32, Vec<u32>>,
    pub(super) holders: Vec<Vec<u32>>,
    pub(super) determined: Determined,
    pub(super) births_us: FxHashMap<(u32, u32), Vec<i64>>,
    pub(super) at_work: FxHashMap<(u32, &'a str), Vec<AtWork>>,
    pub(super) of_thread: FxHashMap<(u32, &'a str), Vec<u32>>,
}

impl<'a> ByText<'a> {
    pub(super) fn new(pairs: &'a Pairs<'a>, facts: &'a Facts<'a>) -> Self {
        let attached: FxHashSet<TopLevelId> =
            pairs.iter().filter(|pair| pair.role == Role::Attached).map(|pair| pair.from).collect();
        let mut by_text: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        let mut holders: Vec<Vec<u32>> = vec![Vec::new(); facts.n_texts()];
        let mut births_us: FxHashMap<(u32, u32), Vec<i64>> = FxHashMap::default();
        let mut of_thread: FxHashMap<(u32, &str), Vec<u32>> = FxHashMap::default();
        for (index, fact) in facts.iter() {
            if let Some(thread) = fact.thread {
                of_thread.entry((fact.node, thread)).or_default().push(index);
            }
            for value in fact.values() {
                let spans = &mut holders[value.number as usize];
                // One more says that there are too many.
                if spans.len() <= SHARING_MAX && spans.last() != Some(&index) {
                    spans.push(index);
                }
            }
            if fact.tops.iter().any(|top| attached.contains(top)) {
                let mut texts: Vec<u32> = fact.values().iter().map(|value| value.number).collect();
                texts.sort_unstable();
                texts.dedup();
                texts.into_iter().for_each(|text| by_text.entry(text).or_default().push(index));
            }
            if fact.tops.first().is_some_and(|&top| pairs.is_dispatcher(top) && !attached.contains(&top)) {
                for value in fact.values().iter().filter(|value| value.is_address()) {
                    births_us.entry((fact.node, value.number)).or_default().push(fact.start_us);
                }
            }
        }
        let determined = Determined::learn(facts, |fact| fact.tops.iter().any(|top| attached.contains(top)));
        let at_work = at_work(pairs, facts);
        Self { by_text, holders, determined, births_us, at_work, of_thread }
    }
}
