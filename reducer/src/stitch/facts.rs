//! Facts: what stitching needs to know of a span, taken out of it once.

use std::collections::BTreeMap;
use std::hash::BuildHasher as _;

use rustc_hash::{FxBuildHasher, FxHashMap};
use schema::{Kinds, LogPointId, Pass, Place, TopLevelId, Value, ValueClassId};

use schema::kinds::{
    TELLING_MIN, are_folder_and_file, are_part_and_whole, contains_apart, is_dated, is_digest, is_made,
};

use super::ids::Ids;
use super::pairs::Pairs;
use crate::merge::{Names, Sets, SpanLink, end_us, start_us, to_u32};
use crate::skeleton::{Event, Span};
use crate::ticks::Ticks;

/// Top-level methods of a span that are looked at, best first: a span that more
/// than this many can have printed says little about any one of them.
const TOPS_MAX: usize = 8;

/// A value that more than one span in this many holds, and more than
/// [`COMMON_MIN`] of them, is common: it names a pool, a user or a cluster, not
/// a request, whatever its variable promises.
const COMMON_SHARE: usize = 50;

/// The identifier of a request comes and goes with it; the name of a thing that
/// lives on (a table, a queue) comes back again and again after this much
/// silence, µs.
pub(super) const RETURN_US: i64 = 5_000_000;

/// Returns after which a value is taken for such a name.
const RETURNS_MAX: usize = 3;

/// Spans of one large request can all hold its identifier.
const COMMON_MIN: usize = 64;

/// A thread with more spans than this serves many requests.
const OWN_THREAD_MAX: usize = 16;

/// A value in at most this many spans can be rare, if its class has at least
/// [`DISTINCT_MIN`] values and the value is in at most one of [`RARE_SHARE`] of
/// the spans that have one: it tells requests apart, whatever its variable
/// promises.
const RARE_MAX: usize = 32;
const RARE_SHARE: usize = 8;
const DISTINCT_MIN: usize = 8;

/// The facts of all spans, in canonical order.
#[derive(Debug)]
pub(super) struct Facts<'s> {
    spans: Vec<Fact<'s>>,
    /// When each span starts: beside each other, because they are searched so often.
    starts_us: Vec<i64>,
    /// The texts that each span holds.
    texts: Vec<TextSet>,
    /// Spans that hold a value, and how often it came back after a silence.
    holders: FxHashMap<(ValueClassId, &'s str), Holders>,
    /// The same of the values of a kind.
    of_kinds: FxHashMap<(ValueClassId, &'s str), Holders>,
    /// Values of a class, and spans that hold one.
    classes: FxHashMap<ValueClassId, (usize, usize)>,
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

/// Who holds a value.
#[derive(Clone, Copy, Debug, Default)]
struct Holders {
    n_spans: usize,
    n_returns: usize,
    last_us: i64,
}

impl Holders {
    /// A span holds it, from its start to its end, µs.
    fn add(&mut self, (start_us, end_us): (i64, i64)) {
        let is_back = start_us.saturating_sub(self.last_us) > RETURN_US;
        self.n_returns += usize::from(is_back && self.n_spans > 0);
        self.n_spans += 1;
        self.last_us = self.last_us.max(end_us);
    }
}

/// A set of texts that may hold more than was added to it, but never less: two that
/// have nothing in common share no text.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TextSet(u128);

impl TextSet {
    fn of<'v>(texts: impl Iterator<Item = &'v str>) -> Self {
        let bit = |text: &str| 1 << (FxBuildHasher.hash_one(text) % u64::from(u128::BITS));
        Self(texts.map(bit).fold(0, std::ops::BitOr::bitor))
    }

    /// Whether it holds nothing.
    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether both may hold one text.
    pub(super) fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// The texts of a span with what each can say: anything of who sent it, and of who handed it on.
#[derive(Debug)]
pub(super) struct Telling<'s> {
    texts: Vec<(&'s str, [bool; 2])>,
    sets: [TextSet; 2],
}

impl<'s> Telling<'s> {
    /// Those that say anything of who sent the span, or `hands_on` it.
    pub(super) fn each(&self, hands_on: bool) -> impl Iterator<Item = &'s str> {
        let of = usize::from(hands_on);
        self.texts.iter().filter(move |(_, tells)| tells[of]).map(|(text, _)| *text)
    }

    /// The same as a set.
    pub(super) fn texts(&self, hands_on: bool) -> TextSet {
        self.sets[usize::from(hands_on)]
    }
}

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
    values: &'s [Value],
}

impl<'s> Facts<'s> {
    /// The facts of `spans`.
    pub(super) fn new(pairs: &Pairs<'_>, spans: &'s [Span]) -> Self {
        let mut nodes: FxHashMap<&str, u32> = FxHashMap::default();
        let mut holders: FxHashMap<(ValueClassId, &str), Holders> = FxHashMap::default();
        let mut kinds = Kinds::default();
        let mut known: FxHashMap<&str, Vec<ValueClassId>> = FxHashMap::default();
        let times_us: Vec<(i64, i64)> = spans.iter().map(|span| (start_us(span), end_us(span))).collect();
        for (span, time_us) in spans.iter().zip(&times_us) {
            for value in &span.identifiers {
                kinds.learn(known.entry(&value.text).or_default(), value.value_class, &value.text);
            }
            for value in &span.identifiers {
                holders.entry((value.value_class, &value.text)).or_default().add(*time_us);
            }
        }
        let mut of_kinds: FxHashMap<(ValueClassId, &str), Holders> = FxHashMap::default();
        for (span, time_us) in spans.iter().zip(&times_us) {
            let mut own: Vec<(ValueClassId, &str)> =
                span.identifiers.iter().map(|value| (kinds.of(value.value_class), &*value.text)).collect();
            own.sort_unstable();
            own.dedup();
            for key in own {
                of_kinds.entry(key).or_default().add(*time_us);
            }
        }
        let spans = spans.iter().zip(times_us).map(|(span, (start_us, end_us))| {
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
                values: &span.identifiers,
            }
        });
        let mut classes: FxHashMap<ValueClassId, (usize, usize)> = FxHashMap::default();
        for (&(class, _), of_value) in &holders {
            let (n_values, n_spans) = classes.entry(class).or_default();
            *n_values += 1;
            *n_spans += of_value.n_spans;
        }
        let spans: Vec<Fact<'s>> = spans.collect();
        let mut n_of_thread: FxHashMap<(u32, &str), usize> = FxHashMap::default();
        for (node, thread) in spans.iter().filter_map(|fact| Some((fact.node, fact.thread?))) {
            *n_of_thread.entry((node, thread)).or_default() += 1;
        }
        let starts_us = spans.iter().map(|fact| fact.start_us).collect();
        let texts =
            spans.iter().map(|fact| TextSet::of(fact.values.iter().map(|value| &*value.text))).collect();
        let (within, names) = Default::default();
        let ids = Ids::none(spans.len());
        Self { spans, starts_us, texts, holders, of_kinds, classes, kinds, within, names, ids, n_of_thread }
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
    pub(super) fn is_counted_apart(&self, value: &Value, a: &Fact<'s>, b: &Fact<'s>) -> bool {
        let only = |fact: &Fact<'s>, kind| self.only_value(fact, kind);
        let differs = |&kind: &ValueClassId| only(a, kind).zip(only(b, kind)).is_some_and(|(a, b)| a != b);
        !self.within.is_empty()
            && self.within.get(&self.kind(value.value_class)).is_some_and(|kinds| kinds.iter().any(differs))
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
        let holds = |x: &Value, y: &Value| {
            x.text.len() > y.text.len()
                && self.kind(x.value_class) == self.kind(y.value_class)
                && contains_apart(&x.text, &y.text)
        };
        let is_name = |value: &&Value| value.text.bytes().any(|byte| byte.is_ascii_alphabetic());
        let are_so = |x: &Value| b.values.iter().filter(is_name).any(|y| holds(x, y) || holds(y, x));
        a.thread.is_none() && b.thread.is_none() && a.values.iter().filter(is_name).any(are_so)
    }

    /// The one value of each kind that a span holds.
    pub(super) fn only_values(&self, fact: &Fact<'s>) -> BTreeMap<ValueClassId, &'s str> {
        let mut found: BTreeMap<ValueClassId, Option<&str>> = BTreeMap::new();
        for value in fact.values {
            found
                .entry(self.kind(value.value_class))
                .and_modify(|known| *known = known.filter(|&known| known == &*value.text))
                .or_insert(Some(&value.text));
        }
        found.into_iter().filter_map(|(kind, text)| Some((kind, text?))).collect()
    }

    /// The one value of a kind that a span holds.
    pub(super) fn only_value<'v>(&self, fact: &Fact<'v>, kind: ValueClassId) -> Option<&'v str> {
        let values = fact.values.iter();
        let mut texts = values.filter(|value| self.kind(value.value_class) == kind).map(|value| &*value.text);
        let first = texts.next()?;
        texts.all(|text| text == first).then_some(first)
    }

    /// Whether two spans name different things of one kind, and nothing in common that
    /// not everybody names.
    pub(super) fn differ(&self, a: &Fact<'_>, b: &Fact<'_>) -> bool {
        let telling = |value: &&Value| value.text.len() >= TELLING_MIN;
        let same_kind = |x: &Value, y: &Value| self.kinds.of(x.value_class) == self.kinds.of(y.value_class);
        let has = |fact: &Fact<'_>, x: &Value| fact.values.iter().any(|y| y.text == x.text);
        let shared = |x: &Value| has(b, x) && !self.is_everywhere(x);
        !a.values.iter().filter(telling).any(shared)
            && a.values
                .iter()
                .filter(telling)
                .any(|x| b.values.iter().filter(telling).any(|y| same_kind(x, y) && !has(b, x) && !has(a, y)))
    }

    /// Whether two spans name different things of some kind, whatever else they have
    /// in common.
    pub(super) fn names_other(&self, a: &Fact<'_>, b: &Fact<'_>) -> bool {
        b.values.iter().filter(|value| value.text.len() >= TELLING_MIN).any(|value| {
            let kind = self.kinds.of(value.value_class);
            let mut ours = a.values.iter().filter(|our| self.kinds.of(our.value_class) == kind).peekable();
            ours.peek().is_some() && !ours.any(|our| is_of_one(&our.text, &value.text))
        })
    }

    /// The name of `b`'s that `a` has as well, of one kind of thing, be it ever so common.
    pub(super) fn same_name<'v>(&self, a: &Fact<'_>, b: &Fact<'v>) -> Option<&'v str> {
        let is_same = |our: &Value, value: &Value| {
            our.text == value.text && self.kind(our.value_class) == self.kind(value.value_class)
        };
        let is_name = |value: &&Value| value.text.bytes().any(|byte| byte.is_ascii_alphabetic());
        let mut names = b.values.iter().filter(is_name);
        let name = names.find(|value| a.values.iter().any(|our| is_same(our, value)))?;
        Some(&name.text)
    }

    /// Whether two spans name one thing that was made while the program ran and that
    /// nobody else names.
    pub(super) fn share_alone(&self, a: u32, b: u32) -> bool {
        let n = |value: &Value| self.holders[&(value.value_class, &*value.text)].n_spans;
        let (a, b) = (self.get(a), self.get(b));
        let telling = |value: &&Value| value.text.len() >= TELLING_MIN && is_made(&value.text);
        a.values.iter().filter(telling).any(|x| {
            let mut same = b.values.iter().filter(|y| y.text == x.text);
            same.any(|y| n(x) + n(y) == if x.value_class == y.value_class { 4 } else { 2 })
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

    /// The texts of `fact` that can say anything of who sent it: of what is common only
    /// the name of one thing does, which is meant by who is at work on it; and the same of who
    /// handed it on from another node: that names one thing, be it one that comes back.
    pub(super) fn telling_texts<'v>(&self, fact: &Fact<'v>) -> Telling<'v> {
        let texts = fact.values.iter().map(|value| {
            let Holders { n_spans, n_returns, .. } = self.holders_of_kind(value);
            let is_everywhere = self.are_everywhere(n_spans);
            let is_common = n_returns > RETURNS_MAX || is_everywhere;
            let tells = |is_name: bool| !is_common || (is_name && !is_everywhere);
            let is_meant = is_digest(&value.text) || is_dated(&value.text);
            (&*value.text, [tells(is_meant), tells(is_made(&value.text))])
        });
        let texts: Vec<_> = texts.collect();
        let sets =
            [0, 1].map(|of| TextSet::of(texts.iter().filter(|(_, tells)| tells[of]).map(|(text, _)| *text)));
        Telling { texts, sets }
    }

    /// Whether who is at work on a thing that lives on means it by `value`: nobody else
    /// has that by chance, as it is a digest, or tells when the thing was made.
    pub(super) fn is_meant(&self, value: &Value) -> bool {
        (is_digest(&value.text) || is_dated(&value.text)) && !self.is_everywhere(value)
    }

    /// Whether a value is of the kind that names one thing for its life: made for it,
    /// and not everywhere.
    pub(super) fn is_one_thing(&self, value: &Value) -> bool {
        is_made(&value.text) && !self.is_everywhere(value)
    }

    /// Who holds a value, whatever it is called there: a peer is the same one under all of
    /// its names, and a rare name makes it none that tells.
    fn holders_of_kind(&self, value: &Value) -> Holders {
        let key = (self.kind(value.value_class), &*value.text);
        self.of_kinds.get(&key).copied().unwrap_or_default()
    }

    /// Whether so many spans hold `value` that it tells no requests apart.
    pub(super) fn is_common(&self, value: &Value) -> bool {
        let Holders { n_spans, n_returns, .. } = self.holders_of_kind(value);
        n_returns > RETURNS_MAX || self.are_everywhere(n_spans)
    }

    /// Whether so many spans hold `value` that it names no one thing. It may come
    /// back at any time: a thing lives as long as it lives.
    pub(super) fn is_everywhere(&self, value: &Value) -> bool {
        self.are_everywhere(self.holders_of_kind(value).n_spans)
    }

    /// Whether so many spans hold one value that it is everywhere.
    fn are_everywhere(&self, n_spans: usize) -> bool {
        n_spans > COMMON_MIN && n_spans > self.spans.len() / COMMON_SHARE
    }

    /// Whether `value` tells spans apart: it was made while the program ran, or the
    /// logs show another one of its class. The only host, user or table that there is
    /// is what everybody has to do with.
    pub(super) fn tells_apart(&self, value: &Value) -> bool {
        is_made(&value.text)
            || self.classes.get(&value.value_class).is_some_and(|&(n_values, _)| n_values > 1)
    }

    /// Whether few spans hold `value`, of a class of many values.
    pub(super) fn is_rare(&self, value: &Value) -> bool {
        let key = (value.value_class, &*value.text);
        let n = self.holders.get(&key).map_or(0, |of_value| of_value.n_spans);
        let (n_values, n_spans) = self.classes.get(&value.value_class).copied().unwrap_or_default();
        n <= RARE_MAX && n_values >= DISTINCT_MIN && n * RARE_SHARE <= n_spans
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
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &Fact<'s>)> {
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
    pub(super) fn values(&self) -> &'s [Value] {
        self.values
    }

    /// The values of one class.
    pub(super) fn values_of(&self, class: ValueClassId) -> &'s [Value] {
        let first = self.values.partition_point(|value| value.value_class < class);
        let rest = &self.values[first..];
        &rest[..rest.partition_point(|value| value.value_class == class)]
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

/// Whether two names are one, or of a thing and a part of it.
fn is_of_one(a: &str, b: &str) -> bool {
    a == b || are_folder_and_file(a, b) || are_part_and_whole(a, b)
}
