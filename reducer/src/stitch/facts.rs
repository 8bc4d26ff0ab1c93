//! Facts: what stitching needs to know of a span, taken out of it once.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use schema::kinds::{are_folder_and_file, are_part_and_whole, contains_apart};
use schema::{Kinds, LogPointId, Pass, Place, TopLevelId, ValueClassId};

use super::held::{Held, TextSet, Values};
use super::ids::Ids;
use super::pairs::Pairs;
use crate::merge::{Names, Sets, SpanLink, end_us, start_us, to_u32};
use crate::skeleton::{Event, Span};
use crate::ticks::Ticks;

/// Top-level methods of a span that are looked at, best first: a span that more
/// than this many can have printed says little about any one of them.
const TOPS_MAX: usize = 8;

/// A thread with more spans than this serves many requests.
const OWN_THREAD_MAX: usize = 16;

/// The facts of all spans, in canonical order.
#[derive(Debug)]
pub(super) struct Facts<'s> {
    spans: Vec<Fact<'s>>,
    /// When each span starts: beside each other, because they are searched so often.
    starts_us: Vec<i64>,
    /// The texts that each span holds.
    texts: Vec<TextSet>,
    /// How many texts they are.
    n_texts: usize,
    kinds: Kinds,
    /// Per kind of numbers what they are counted within.
    within: FxHashMap<ValueClassId, Vec<ValueClassId>>,
    /// What tells requests apart, by the spans that name it.
    names: FxHashMap<u32, Names>,
    /// The ids that the logs carry.
    ids: Ids,
    /// Spans of each (node, thread).
    n_of_thread: FxHashMap<(u32, &'s str), usize>,
}

/// Among what tells requests apart, the number of what a span works on.
const NUMBER: u32 = u32::MAX;

/// The same of the ids of the first kind; those of others come before it.
const FIRST_ID: u32 = NUMBER - 1;

/// Kinds of ids that are told apart from other names.
const ID_KINDS_MAX: u32 = 1 << 16;

/// By their numbers what spans work on, where that has one.
fn numbered(labels: Vec<Option<u32>>) -> impl Iterator<Item = (u32, Names)> {
    (0..).zip(labels).filter_map(|(span, label)| Some((span, Names::from([(NUMBER, label?)]))))
}

/// A line of a thread: (time in µs, file, line, span, place in the span).
pub(super) type Printed = (i64, u32, u64, u32, usize);

/// The facts of one span.
#[derive(Debug)]
pub(super) struct Fact<'s> {
    /// Number of its node.
    pub(super) node: u32,
    pub(super) thread: Option<&'s str>,
    pub(super) start_us: i64,
    pub(super) end_us: i64,
    /// The tick of its clock, where that is coarse, µs; 0: its times are what they say.
    pub(super) tick_us: i64,
    /// Best first.
    pub(super) tops: &'s [TopLevelId],
    /// Further ones, of which none says much.
    pub(super) other_tops: &'s [TopLevelId],
    pub(super) truncated: bool,
    pub(super) first_point: Option<LogPointId>,
    /// In log order.
    pub(super) events: &'s [Event],
    /// That is also the order of their times, where no clock was set back.
    is_in_order: bool,
    /// Sorted by value class.
    values: Box<[Held<'s>]>,
}

impl<'s> Facts<'s> {
    /// The facts of `spans`.
    pub(super) fn new(pairs: &Pairs<'_>, spans: &'s [Span]) -> Self {
        let mut nodes: FxHashMap<&str, u32> = FxHashMap::default();
        let times_us: Vec<(i64, i64)> = spans.iter().map(|span| (start_us(span), end_us(span))).collect();
        let Values { of_spans, kinds, n_texts } = Values::of(spans, &times_us);
        let spans = spans.iter().zip(times_us).zip(of_spans).map(|((span, (start_us, end_us)), values)| {
            let next = u32::try_from(nodes.len()).expect("fewer than 2^32 nodes");
            let node = *nodes.entry(&span.node).or_insert(next);
            let known = span.top_levels.iter().take_while(|&&top| pairs.knows(top)).count();
            Fact {
                node,
                thread: span.thread.as_deref(),
                start_us,
                end_us,
                tick_us: 0,
                tops: &span.top_levels[..known.min(TOPS_MAX)],
                other_tops: &span.top_levels[known.min(TOPS_MAX)..known],
                truncated: span.truncated,
                events: &span.events,
                is_in_order: span.events.is_sorted_by_key(when),
                first_point: span.events.iter().find_map(|event| event.log_point),
                values,
            }
        });
        let spans: Vec<Fact<'s>> = spans.collect();
        let mut n_of_thread: FxHashMap<(u32, &str), usize> = FxHashMap::default();
        for (node, thread) in spans.iter().filter_map(|fact| Some((fact.node, fact.thread?))) {
            *n_of_thread.entry((node, thread)).or_default() += 1;
        }
        let starts_us = spans.iter().map(|fact| fact.start_us).collect();
        let texts = spans.iter().map(|fact| TextSet::of(fact.values.iter())).collect();
        let (within, names) = Default::default();
        let ids = Ids::none(spans.len());
        Self { spans, starts_us, texts, n_texts, kinds, within, names, ids, n_of_thread }
    }

    /// Remembers whose clocks are coarse.
    pub(super) fn by_clocks(&mut self, spans: &[Span], ticks: &Ticks) {
        if !ticks.is_empty() {
            let facts = self.spans.iter_mut().zip(spans);
            facts.for_each(|(fact, span)| fact.tick_us = ticks.get(&span.node).copied().unwrap_or_default());
        }
    }

    /// Remembers what each span works on, where that has a number.
    pub(super) fn label(&mut self, labels: Vec<Option<u32>>) {
        self.tell_apart(numbered(labels));
    }

    /// What a span works on, where that has a number.
    pub(super) fn label_of(&self, span: u32) -> Option<u32> {
        self.names.get(&span)?.get(&NUMBER).copied()
    }

    /// Remembers the ids that the logs carry.
    pub(super) fn carry(&mut self, ids: Ids) {
        let named = (0..).zip(&ids.of).filter_map(|(span, id)| {
            let (kind, number) = id.filter(|(kind, _)| *kind < ID_KINDS_MAX)?;
            Some((span, Names::from([(FIRST_ID - kind, number)])))
        });
        self.tell_apart(named);
        self.ids = ids;
    }

    /// The ids that the logs carry.
    pub(super) fn ids(&self) -> &Ids {
        &self.ids
    }

    /// Whether two spans work on different things, as their numbers say, or are of different
    /// requests, as their ids do.
    pub(super) fn are_apart(&self, a: u32, b: u32) -> bool {
        if self.ids.are_one(a, b) == Some(false) {
            return true;
        }
        self.label_of(a).zip(self.label_of(b)).is_some_and(|(a, b)| a != b)
    }

    /// The spans, each a set of its own, of which those never become one that name
    /// different things.
    pub(super) fn sets(&self) -> Sets {
        let mut sets = Sets::with_names(self.len(), self.names.clone());
        self.ids.unite(&mut sets);
        sets
    }

    /// The same, of which only those never become one whose work has different numbers, or
    /// different ids.
    pub(super) fn numbered_sets(&self) -> Sets {
        let of_span = |(span, names): (&u32, &Names)| {
            let names: Names =
                names.range(FIRST_ID - ID_KINDS_MAX..).map(|(kind, name)| (*kind, *name)).collect();
            (!names.is_empty()).then_some((*span, names))
        };
        let mut sets = Sets::with_names(self.len(), self.names.iter().filter_map(of_span).collect());
        self.ids.unite(&mut sets);
        sets
    }

    /// Links between the spans that work on one thing.
    pub(super) fn of_label(&self) -> Vec<SpanLink> {
        let mut last: FxHashMap<u32, u32> = FxHashMap::default();
        let mut links = Vec::new();
        for span in 0..to_u32(self.len()) {
            if let Some(from) = self.label_of(span).and_then(|label| last.insert(label, span)) {
                links.push(SpanLink { from, to: span, pair: None, by: Pass::Labels });
            }
        }
        links
    }

    /// Remembers that numbers of the kind `number` are counted within things of another.
    pub(super) fn count_within(&mut self, number: ValueClassId, within: ValueClassId) {
        self.within.entry(number).or_default().push(within);
    }

    /// Remembers what tells requests apart.
    pub(super) fn tell_apart(&mut self, names: impl IntoIterator<Item = (u32, Names)>) {
        names.into_iter().for_each(|(span, names)| self.names.entry(span).or_default().extend(names));
    }

    /// Whether values of a kind name something only together with what they are
    /// counted within.
    pub(super) fn is_counted(&self, kind: ValueClassId) -> bool {
        self.within.contains_key(&kind)
    }

    /// Whether a number that two spans have in common is counted within different
    /// things.
    pub(super) fn is_counted_apart(&self, value: &Held<'_>, a: &Fact<'s>, b: &Fact<'s>) -> bool {
        let only = |fact: &Fact<'s>, kind| fact.only_value(kind);
        let differs = |&kind: &ValueClassId| only(a, kind).zip(only(b, kind)).is_some_and(|(a, b)| a != b);
        !self.within.is_empty() && self.within.get(&value.kind).is_some_and(|kinds| kinds.iter().any(differs))
    }

    /// The class that stands for the kind of `class`.
    pub(super) fn kind(&self, class: ValueClassId) -> ValueClassId {
        self.kinds.of(class)
    }

    /// The name of a span's thread, if the thread does a few things only: it can
    /// be named after them.
    pub(super) fn own_thread(&self, fact: &Fact<'s>) -> Option<&'s str> {
        let n = |thread: &&str| self.n_of_thread.get(&(fact.node, *thread)).copied().unwrap_or_default();
        fact.thread.filter(|thread| n(thread) <= OWN_THREAD_MAX)
    }

    /// Whether one thread has printed two spans.
    pub(super) fn are_of_one_thread(&self, a: u32, b: u32) -> bool {
        let (a, b) = (self.get(a), self.get(b));
        a.thread.is_some() && (a.node, a.thread) == (b.node, b.thread)
    }

    /// Whether two spans without threads are about a thing and a part of it: the name of
    /// one holds that of the other, be it ever so short.
    pub(super) fn are_part_and_whole(&self, a: u32, b: u32) -> bool {
        let (a, b) = (self.get(a), self.get(b));
        let holds = |x: &Held<'_>, y: &Held<'_>| {
            x.text.len() > y.text.len() && x.kind == y.kind && contains_apart(x.text, y.text)
        };
        let is_name = |value: &&Held<'_>| value.is_name();
        let are_so = |x: &Held<'_>| b.values.iter().filter(is_name).any(|y| holds(x, y) || holds(y, x));
        a.thread.is_none() && b.thread.is_none() && a.values.iter().filter(is_name).any(are_so)
    }

    /// Whether two spans name one thing that was made while the program ran and that
    /// nobody else names.
    pub(super) fn share_alone(&self, a: u32, b: u32) -> bool {
        let (a, b) = (self.get(a), self.get(b));
        a.values.iter().filter(|value| value.is_made()).any(|x| {
            let mut same = b.values.iter().filter(|y| y.is(x));
            same.any(|y| x.n_spans + y.n_spans == if x.value_class == y.value_class { 4 } else { 2 })
        })
    }

    /// The facts of the span at `index`.
    pub(super) fn get(&self, index: u32) -> &Fact<'s> {
        &self.spans[index as usize]
    }

    /// How many spans start no later than `until_us`: those before this position, as
    /// canonical order is by start.
    pub(super) fn n_started(&self, until_us: i64) -> u32 {
        to_u32(self.starts_us.partition_point(|&start_us| start_us <= until_us))
    }

    /// The texts that the span at `index` holds.
    pub(super) fn texts(&self, index: u32) -> TextSet {
        self.texts[index as usize]
    }

    /// How many texts the spans hold: that of a value has a number below.
    pub(super) fn n_texts(&self) -> usize {
        self.n_texts
    }

    /// The lines of each thread of each node, in log order.
    pub(super) fn lines_of_threads(&self) -> Vec<Vec<Printed>> {
        let mut threads: BTreeMap<(u32, &str), Vec<Printed>> = BTreeMap::new();
        for (index, fact) in self.iter() {
            let Some(thread) = fact.thread else { continue };
            let lines = threads.entry((fact.node, thread)).or_default();
            let events = fact.events.iter().enumerate();
            lines.extend(events.map(|(at, event)| (event.ts_us, event.file, event.line, index, at)));
        }
        threads.values_mut().for_each(|lines| lines.sort_unstable());
        threads.into_values().collect()
    }

    /// Number of spans.
    pub(super) fn len(&self) -> usize {
        self.spans.len()
    }

    /// All facts with their positions.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &Fact<'s>)> + Clone {
        self.spans.iter().enumerate().map(|(index, fact)| (to_u32(index), fact))
    }
}

/// When an event was printed, and where.
fn when(event: &Event) -> (i64, Place) {
    (event.ts_us, event.place())
}

impl<'s> Fact<'s> {
    /// Whether two spans of different nodes begin in one tick of a coarse clock: nobody knows which
    /// of them came first. On one node the order of their lines tells.
    pub(super) fn begins_in_one_tick(&self, other: &Fact<'_>) -> bool {
        let tick_us = self.tick_us.max(other.tick_us);
        let tick = |fact: &Fact<'_>| fact.start_us.div_euclid(tick_us);
        self.node != other.node && tick_us > 0 && tick(self) == tick(other)
    }

    /// The last event that was printed no later than `until_us`.
    pub(super) fn last_until(&self, until_us: i64) -> Option<&'s Event> {
        if self.is_in_order {
            let n = self.events.partition_point(|event| event.ts_us <= until_us);
            return self.events[..n].last();
        }
        self.events.iter().rev().find(|event| event.ts_us <= until_us)
    }

    /// The events that were printed after the one that another span began with.
    pub(super) fn events_after_begin(&self, other: &Fact<'_>) -> impl Iterator<Item = &'s Event> {
        let began = other.events.first().map(when);
        let first = match self.is_in_order {
            true => self.events.partition_point(|event| Some(when(event)) <= began),
            false => 0,
        };
        self.events[first..].iter().filter(move |event| Some(when(event)) > began)
    }

    /// Whether very many methods can have printed all of the span: what it begins with begins
    /// nothing by itself.
    pub(super) fn is_anybodys(&self) -> bool {
        !self.other_tops.is_empty()
    }

    /// All values, sorted by value class.
    pub(super) fn values(&self) -> &[Held<'s>] {
        &self.values
    }

    /// The values of one class.
    pub(super) fn values_of(&self, class: ValueClassId) -> &[Held<'s>] {
        let first = self.values.partition_point(|value| value.value_class < class);
        let rest = &self.values[first..];
        &rest[..rest.partition_point(|value| value.value_class == class)]
    }

    /// The one value of each kind that a span holds.
    pub(super) fn only_values(&self) -> BTreeMap<ValueClassId, &'s str> {
        let mut found: BTreeMap<ValueClassId, Option<&Held<'_>>> = BTreeMap::new();
        for value in &self.values {
            found
                .entry(value.kind)
                .and_modify(|known| *known = known.filter(|known| known.is(value)))
                .or_insert(Some(value));
        }
        found.into_iter().filter_map(|(kind, value)| Some((kind, value?.text))).collect()
    }

    /// The one value of a kind that a span holds.
    pub(super) fn only_value(&self, kind: ValueClassId) -> Option<&'s str> {
        let mut values = self.values.iter().filter(|value| value.kind == kind);
        let first = values.next()?;
        values.all(|value| value.is(first)).then_some(first.text)
    }

    /// Whether two spans name different things of one kind, and nothing in common that
    /// not everybody names.
    pub(super) fn differ(&self, other: &Fact<'_>) -> bool {
        let telling = |value: &&Held<'_>| value.is_telling();
        let has = |fact: &Fact<'_>, x: &Held<'_>| fact.values.iter().any(|y| y.is(x));
        let shared = |x: &Held<'_>| has(other, x) && !x.is_everywhere();
        !self.values.iter().filter(telling).any(shared)
            && self.values.iter().filter(telling).any(|x| {
                other
                    .values
                    .iter()
                    .filter(telling)
                    .any(|y| x.kind == y.kind && !has(other, x) && !has(self, y))
            })
    }

    /// Whether two spans name different things of some kind, whatever else they have
    /// in common.
    pub(super) fn names_other(&self, other: &Fact<'_>) -> bool {
        other.values.iter().filter(|value| value.is_telling()).any(|value| {
            let mut ours = self.values.iter().filter(|our| our.kind == value.kind).peekable();
            ours.peek().is_some() && !ours.any(|our| our.is(value) || are_of_one(our.text, value.text))
        })
    }

    /// The name of another span's that this one has as well, of one kind of thing, be it ever so common.
    pub(super) fn same_name<'v>(&self, other: &Fact<'v>) -> Option<&'v str> {
        let is_same = |our: &Held<'_>, value: &Held<'_>| our.is(value) && our.kind == value.kind;
        let mut names = other.values.iter().filter(|value| value.is_name());
        names.find(|value| self.values.iter().any(|our| is_same(our, value))).map(|name| name.text)
    }

    /// Place of `top` in the span's top-level methods.
    pub(super) fn rank(&self, top: TopLevelId) -> Option<u32> {
        let position = self.tops.iter().position(|&other| other == top)?;
        u32::try_from(position).ok()
    }

    /// The same among all that it can be.
    pub(super) fn any_rank(&self, top: TopLevelId) -> Option<u32> {
        let position = self.tops.iter().chain(self.other_tops).position(|&other| other == top)?;
        u32::try_from(position).ok()
    }
}

/// Whether two names are of a thing and a part of it.
fn are_of_one(a: &str, b: &str) -> bool {
    are_folder_and_file(a, b) || are_part_and_whole(a, b)
}
