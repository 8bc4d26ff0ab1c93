//! Pools: what kinds of work the threads of one name do, learnt from the spans
//! that can be of one top-level method only. The threads of a pool are named
//! alike but for a number or an address, and run the same few kinds of task; so
//! where several top-level methods could have printed a span's records, those
//! that its pool is known to run come first.

use rustc_hash::{FxHashMap, FxHashSet};
use schema::{Model, Span, TopLevelId};

/// The name that the JVM gives to the thread of `main`.
const MAIN_THREAD: &str = "main";

/// What each pool runs.
#[derive(Debug, Default)]
pub(super) struct Pools {
    runs: FxHashMap<String, FxHashSet<TopLevelId>>,
}

impl Pools {
    /// Learns from a span that only one top-level method can have printed.
    pub(super) fn learn(&mut self, span: &Span) {
        if let (Some(thread), [top]) = (&span.thread, &span.top_levels[..]) {
            self.runs.entry(pool(thread)).or_default().insert(*top);
        }
    }

    /// Puts first what the span's pool is known to run, among top-level methods
    /// that fit as well: `groups` are the lengths of runs of equal fit. Takes out
    /// a `main` of which this is not the thread, if anything else remains.
    pub(super) fn prefer(&self, model: &Model, span: &mut Span, groups: &[usize]) {
        let Some(thread) = &span.thread else { return };
        let known = self.runs.get(&pool(thread));
        let mut rest = &mut span.top_levels[..];
        for &len in groups {
            let (group, after) = rest.split_at_mut(len.min(rest.len()));
            rest = after;
            group.sort_by_key(|top| !known.is_some_and(|known| known.contains(top)));
        }
        if thread != MAIN_THREAD && !span.top_levels.iter().all(|&top| is_main(model, top)) {
            span.top_levels.retain(|&top| !is_main(model, top));
        }
    }
}

fn is_main(model: &Model, top: TopLevelId) -> bool {
    let top = model.top_level_methods.get(top.index());
    top.is_some_and(|top| top.method == "main" && top.descriptor.starts_with("([Ljava/lang/String;)"))
}

/// A thread's name up to its first number or address.
fn pool(thread: &str) -> String {
    thread.split(|c: char| c.is_ascii_digit()).next().unwrap_or_default().to_owned()
}
