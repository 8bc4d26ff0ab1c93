//! The open spans of a node, found by what a record shows: its thread, its
//! identifier values, the place its log point has in an order. Never searched
//! as a whole; each index is looked up newest first and to a bounded depth.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::RangeInclusive;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use schema::{IdentifierStrength, Place, TopLevelId, ValueClassId};

use super::ids::Shown;
use super::open_span::OpenSpan;

/// Position of an open span. Positions of closed spans are used again.
pub(super) type SpanIndex = u32;

/// Spans in order of a record number.
type Ordered = BTreeSet<(u64, SpanIndex)>;

/// Spans looked at per thread, value or place: beyond that many at once the
/// older ones are hopeless, and a value that floods the log must not make
/// accumulating quadratic.
const LOOK_BACK_MAX: usize = 64;

/// Spans that more top-level methods than this can have printed are not found
/// by their place in an order: they could be anywhere.
const TOPS_BY_PLACE_MAX: usize = 32;

/// Spans looked at per place.
pub(super) const PLACE_LOOK_BACK_MAX: usize = 4;

/// The open spans and their indexes.
#[derive(Debug, Default)]
pub(super) struct OpenSpans {
    spans: Vec<Option<OpenSpan>>,
    free: Vec<SpanIndex>,
    /// Per thread, in order of their last record.
    by_thread: FxHashMap<u32, Vec<SpanIndex>>,
    /// Per value, in order of opening.
    by_value: FxHashMap<(ValueClassId, Arc<str>), Ordered>,
    /// Per id of a request, in order of opening.
    by_trace: FxHashMap<Arc<str>, Ordered>,
    /// Per (top-level method, node) at which a span without a thread stands,
    /// in order of their last record.
    by_place: BTreeMap<(TopLevelId, u32), Ordered>,
    /// Those without a thread, by their last record.
    by_last: Ordered,
    /// By the time of their last record, µs.
    by_time: BTreeSet<(i64, SpanIndex)>,
    /// (last record's time, span, first record) in about the order of time.
    expiry: VecDeque<(i64, SpanIndex, u64)>,
}

impl OpenSpans {
    /// The span at `index`.
    pub(super) fn get(&self, index: SpanIndex) -> &OpenSpan {
        self.spans[index as usize].as_ref().expect("an index names an open span")
    }

    /// The span at `index`, if that is open.
    pub(super) fn at(&self, index: SpanIndex) -> Option<&OpenSpan> {
        self.spans.get(index as usize)?.as_ref()
    }

    /// Adds a span.
    pub(super) fn open(&mut self, span: OpenSpan) -> SpanIndex {
        let index = self.free.pop().unwrap_or_else(|| {
            self.spans.push(None);
            u32::try_from(self.spans.len() - 1).expect("fewer than 2^32 spans are open")
        });
        self.expiry.push_back((span.last_us, index, span.first_seq));
        self.spans[index as usize] = Some(span);
        self.enter(index);
        index
    }

    /// Changes the span at `index`, keeping the indexes true.
    pub(super) fn update(&mut self, index: SpanIndex, change: impl FnOnce(&mut OpenSpan)) {
        self.leave(index);
        change(self.spans[index as usize].as_mut().expect("an index names an open span"));
        self.enter(index);
    }

    /// Changes what the indexes do not hold of the span at `index`: neither its methods, nor its
    /// values, nor its last record.
    pub(super) fn update_in_place(&mut self, index: SpanIndex, change: impl FnOnce(&mut OpenSpan)) {
        change(self.spans[index as usize].as_mut().expect("an index names an open span"));
    }

    /// Removes the span at `index`.
    pub(super) fn close(&mut self, index: SpanIndex) -> OpenSpan {
        self.leave(index);
        let span = self.spans[index as usize].take().expect("an index names an open span");
        for key in &span.keys {
            if let Some(spans) = self.by_value.get_mut(key) {
                spans.remove(&(span.first_seq, index));
                if spans.is_empty() {
                    self.by_value.remove(key);
                }
            }
        }
        if let Some(ids) = &span.ids
            && let Some(spans) = self.by_trace.get_mut(&ids.trace)
        {
            spans.remove(&(span.first_seq, index));
            if spans.is_empty() {
                self.by_trace.remove(&ids.trace);
            }
        }
        self.free.push(index);
        span
    }

    /// The next span whose last record was at no time of `open_us`, µs.
    pub(super) fn expired(&mut self, open_us: RangeInclusive<i64>) -> Option<SpanIndex> {
        while let Some(&(last_us, index, first_seq)) = self.expiry.front() {
            if open_us.contains(&last_us) {
                return None;
            }
            self.expiry.pop_front();
            match &self.spans[index as usize] {
                Some(span) if span.first_seq == first_seq && !open_us.contains(&span.last_us) => {
                    return Some(index);
                }
                Some(span) if span.first_seq == first_seq => {
                    self.expiry.push_back((span.last_us, index, first_seq));
                }
                _ => {}
            }
        }
        None
    }

    /// The spans that are open.
    pub(super) fn all(&self) -> Vec<SpanIndex> {
        let indexes = 0..u32::try_from(self.spans.len()).expect("fewer than 2^32 spans are open");
        indexes.filter(|&index| self.spans[index as usize].is_some()).collect()
    }

    /// The spans whose last record was at a time of `printed_us`, µs, in the order of these.
    pub(super) fn last_printed(&self, printed_us: RangeInclusive<i64>) -> impl Iterator<Item = SpanIndex> {
        let (first, last) = ((*printed_us.start(), 0), (*printed_us.end(), SpanIndex::MAX));
        self.by_time.range(first..=last).map(|&(_, index)| index)
    }

    /// The `n` spans without a thread that have printed last, newest first.
    pub(super) fn recent(&self, n: usize) -> impl Iterator<Item = SpanIndex> {
        self.by_last.iter().rev().map(|&(_, index)| index).take(n)
    }

    /// The span that `thread` printed last.
    pub(super) fn current(&self, thread: u32) -> Option<SpanIndex> {
        self.by_thread.get(&thread)?.last().copied()
    }

    /// The spans of `thread`, newest first.
    pub(super) fn of_thread(&self, thread: u32) -> impl Iterator<Item = SpanIndex> {
        self.by_thread
            .get(&thread)
            .into_iter()
            .flat_map(|spans| spans.iter().rev().copied())
            .take(LOOK_BACK_MAX)
    }

    /// The spans that have a value, newest first.
    pub(super) fn with_value(&self, class: ValueClassId, text: &Arc<str>) -> impl Iterator<Item = SpanIndex> {
        let spans = self.by_value.get(&(class, Arc::clone(text)));
        spans.into_iter().flat_map(|spans| spans.iter().rev().map(|&(_, span)| span)).take(LOOK_BACK_MAX)
    }

    /// The spans that have printed the id of a request, newest first.
    pub(super) fn with_trace(&self, trace: &str) -> impl Iterator<Item = SpanIndex> {
        let spans = self.by_trace.get(trace);
        spans.into_iter().flat_map(|spans| spans.iter().rev().map(|&(_, span)| span)).take(LOOK_BACK_MAX)
    }

    /// The record at `place` of the span at `index` prints the id of its request, and that of a span.
    pub(super) fn show_trace(&mut self, index: SpanIndex, trace: &str, id: Option<&str>, place: Place) {
        let span = self.spans[index as usize].as_mut().expect("an index names an open span");
        let shown = span.ids.get_or_insert_with(|| {
            let trace = self
                .by_trace
                .get_key_value(trace)
                .map_or_else(|| trace.into(), |(known, _)| Arc::clone(known));
            Shown { trace, span: None, places: [place; 2] }
        });
        if *shown.trace != *trace {
            return;
        }
        self.by_trace.entry(Arc::clone(&shown.trace)).or_default().insert((span.first_seq, index));
        shown.places[1] = place;
        if shown.span.as_deref() != id && id.is_some() {
            shown.span = id.map(Arc::from);
        }
    }

    /// The spans that stand at a place of `top` for which `wanted` holds,
    /// newest first per place.
    pub(super) fn at_places(
        &self,
        top: TopLevelId,
        wanted: impl Fn(u32) -> bool,
    ) -> impl Iterator<Item = SpanIndex> {
        let places = self.by_place.range((top, 0)..=(top, u32::MAX));
        let wanted = places.filter(move |((_, node), _)| wanted(*node));
        wanted.flat_map(|(_, spans)| spans.iter().rev().map(|&(_, span)| span).take(PLACE_LOOK_BACK_MAX))
    }

    /// Takes a span out of the indexes that its records change.
    fn leave(&mut self, index: SpanIndex) {
        let span = self.spans[index as usize].as_ref().expect("an index names an open span");
        self.by_time.remove(&(span.last_us, index));
        self.by_last.remove(&(span.last_seq, index));
        if let Some(thread) = span.thread {
            let spans = self.by_thread.get_mut(&thread).expect("the thread has this span");
            if let Some(position) = spans.iter().rposition(|&other| other == index) {
                spans.remove(position);
            }
            if spans.is_empty() {
                self.by_thread.remove(&thread);
            }
        } else if span.tops.len() <= TOPS_BY_PLACE_MAX {
            for state in &span.tops {
                for &(node, _) in &state.at {
                    let place = (state.top, node);
                    if let Some(spans) = self.by_place.get_mut(&place) {
                        spans.remove(&(span.last_seq, index));
                        if spans.is_empty() {
                            self.by_place.remove(&place);
                        }
                    }
                }
            }
        }
    }

    fn enter(&mut self, index: SpanIndex) {
        let span = self.spans[index as usize].as_mut().expect("an index names an open span");
        self.by_time.insert((span.last_us, index));
        if span.thread.is_none() {
            self.by_last.insert((span.last_seq, index));
        }
        if let Some(thread) = span.thread {
            self.by_thread.entry(thread).or_default().push(index);
        } else if span.tops.len() <= TOPS_BY_PLACE_MAX {
            for state in &span.tops {
                for &(node, _) in &state.at {
                    self.by_place.entry((state.top, node)).or_default().insert((span.last_seq, index));
                }
            }
        }
        let mut keys = std::mem::take(&mut span.keys);
        for bound in span.bounds().flatten() {
            let is_key =
                |(class, text): &(ValueClassId, Arc<str>)| *class == bound.value_class && *text == bound.text;
            if bound.strength == IdentifierStrength::Request && !keys.iter().any(is_key) {
                let key = (bound.value_class, Arc::clone(&bound.text));
                self.by_value.entry(key.clone()).or_default().insert((span.first_seq, index));
                keys.push(key);
            }
        }
        span.keys = keys;
    }
}
