//! An open span: the records of one thread's work on one request so far, with
//! every top-level method that can still have printed all of them.
//!
//! Answers whether a record can come next and how well it fits; which of
//! several spans takes it is decided by [`super::evidence`].

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashSet;
use schema::kinds::{TELLING_MIN, is_made};
use schema::{
    Event, IdentifierStrength, Kinds, LogPointId, Name, Span, TopLevelId, TopLevelKind, Value, ValueClassId,
    Values,
};

use super::decoder::Track;
use super::evidence::{AT_ONCE_US, LOOP_US};
use super::facts::{Fact, Number};
use super::ids::Shown;
use super::orders::Orders;
use super::pools::Closed;
use crate::said::NameOf;
pub(super) use bound::{Bound, BoundAt};
use bounds::Bounds;
use fit::are_unreached;
pub(super) use fit::{After, Fit};
pub(super) use text_set::TextSet;
pub(super) use top_state::{Next, TopState, kind_rank, opening_after, opening_any};

mod bound;
mod bounds;
mod differs;
mod fit;
mod text_set;
mod top_state;

/// Values kept of a span per top-level method: one that meets more entities than
/// this is not told apart by them.
const BOUND_MAX: usize = 256;

/// A span that can still grow.
#[derive(Debug)]
pub(super) struct OpenSpan {
    /// Interned thread name, where the layout prints it.
    pub(super) thread: Option<u32>,
    /// Top-level methods that can have printed all events, sorted by id.
    pub(super) tops: Vec<TopState>,
    pub(super) events: Vec<Event>,
    /// Other log points of its first event that print the same, with their values.
    readings: Vec<(LogPointId, Values)>,
    /// Number of its first and last record on this node.
    pub(super) first_seq: u64,
    pub(super) last_seq: u64,
    pub(super) last_us: i64,
    /// Its thread was at something else since, that it is not known to call.
    pub(super) is_left: bool,
    /// Who calls it in its thread has printed since: it has returned.
    pub(super) has_returned: bool,
    /// The ids that its records print.
    pub(super) ids: Option<Shown>,
    /// Values under which it is indexed.
    pub(super) keys: Vec<(ValueClassId, Arc<str>)>,
    /// Texts that its methods had bound when its thread left it behind.
    texts: TextSet,
    /// What it was before its last record, if that one named nothing.
    before_last: Option<Box<Before>>,
    /// Common values that it has shown.
    common: Vec<(ValueClassId, Arc<str>)>,
    /// UUIDs that its texts hold.
    uuids: Vec<Arc<str>>,
    /// Numbers of the entities that it is about.
    numbers: Vec<Number>,
    /// Words of its messages, sorted, where the layout prints no threads.
    pub(super) words: Vec<u64>,
    /// Names in its last message, sorted, where the layout prints no threads.
    pub(super) last_names: Vec<NameOf>,
    printed: RefCell<Printed>,
    /// What it has shown, where the layout prints no threads.
    pub(super) track: Track,
}

/// The log points of the first `n` events of a span, as far as they were looked at.
#[derive(Debug, Default)]
struct Printed {
    n: usize,
    points: FxHashSet<Option<LogPointId>>,
}

/// In so many events it is as fast to look at each of them.
const EVENTS_FEW: usize = 16;

/// What a span was before a record.
#[derive(Debug)]
struct Before {
    tops: Vec<TopState>,
    last_seq: u64,
    last_us: i64,
}

impl OpenSpan {
    /// A span that begins with `event`, record number `seq`.
    pub(super) fn new(thread: Option<u32>, tops: Vec<TopState>, event: Event, seq: u64) -> Self {
        let last_us = event.ts_us;
        let (events, keys) = (vec![event], Vec::new());
        Self {
            thread,
            tops,
            events,
            readings: Vec::new(),
            first_seq: seq,
            last_seq: seq,
            last_us,
            is_left: false,
            has_returned: false,
            ids: None,
            keys,
            texts: TextSet::default(),
            before_last: None,
            common: Vec::new(),
            uuids: Vec::new(),
            numbers: Vec::new(),
            words: Vec::new(),
            last_names: Vec::new(),
            printed: RefCell::default(),
            track: Track::default(),
        }
    }

    /// A span whose first record can come from one of `readings` too.
    pub(super) fn with_readings(mut self, readings: Vec<(LogPointId, Values)>) -> Self {
        self.readings = readings;
        self
    }

    /// Its thread is at something else now.
    pub(super) fn leave_behind(&mut self) {
        if !self.is_left {
            (self.is_left, self.texts) = (true, TextSet::of_states(&self.tops));
        }
    }

    /// Whether a span that its thread has left behind may go on with a record of `fact`, as
    /// [`Fit::resumes`] has it, as far as is told without a fit, of which hardly any comes to
    /// something: both may name one thing, or a method of it prints the record as the very next one.
    pub(super) fn may_resume(&self, orders: &Orders<'_>, fact: &Fact) -> bool {
        let point = fact.log_point;
        if self.texts.may_share(fact.texts()) || orders.floats(point) || orders.starts(point) {
            return self.texts.may_share(fact.texts());
        }
        self.tops.iter().any(|state| state.entered && state.prints_next(orders, point))
    }

    /// The lists of what its methods have bound; those in a row that have bound the same share one.
    pub(super) fn bounds(&self) -> impl Iterator<Item = &[Bound]> {
        let mut last: Option<&Bounds> = None;
        let all = self.tops.iter().map(|state| &state.bound);
        all.filter(move |&bound| !last.replace(bound).is_some_and(|last| last.is(bound))).map(|all| &**all)
    }

    /// The values by which it is told from others.
    fn known(&self) -> impl Iterator<Item = &Bound> {
        self.bounds().flatten().filter(|bound| bound.strength != IdentifierStrength::Node)
    }

    /// Whether names that were made while the program ran show another request:
    /// both show one of a kind, not the same one, and have no such name in common.
    /// What they have in common was named when the program was written or set up
    /// (a table, a user), so that many requests share it.
    pub(super) fn is_another(&self, orders: &Orders<'_>, kinds: &Kinds, fact: &Fact) -> bool {
        let known = || self.known().filter(|b| is_made(&b.text));
        let made = || fact.values.iter().filter(|(_, text)| is_made(text));
        let named = fact.named.iter().chain(fact.wholes.iter().map(|whole| &whole.name));
        let within = fact.uuids.iter().map(|uuid| &uuid.text);
        let mut shown = made().map(|(_, text)| text).chain(named.map(|(_, text)| text)).chain(within);
        !shown.any(|text| known().any(|b| b.text == *text))
            && made().any(|(variable, _)| {
                let classes = orders.request_classes(fact.log_point, *variable);
                classes.iter().any(|class| known().any(|b| kinds.of(b.value_class) == kinds.of(*class)))
            })
    }

    /// Whether all that it has shown, as the methods that fit, are names of `entities` that its
    /// handler met on its way.
    pub(super) fn has_only_met(&self, fit: &Fit, entities: &BTreeSet<ValueClassId>) -> bool {
        fit.tops().iter().all(|&top| {
            let Ok(at) = self.tops.binary_search_by_key(&top, |state| state.top) else { return false };
            let mut names = self.tops[at].bound.iter();
            names.clone().any(|name| is_made(&name.text) && entities.contains(&name.value_class))
                && names.all(|name| name.identifier.is_none())
        })
    }

    /// Takes a record that fits, `after` which it is that.
    pub(super) fn take(&mut self, after: After, event: Event, seq: u64) {
        let names = after.names;
        let tops = std::mem::replace(&mut self.tops, after.into_states());
        let before = Before { tops, last_seq: self.last_seq, last_us: self.last_us };
        self.before_last = (!names).then(|| Box::new(before));
        self.last_us = event.ts_us;
        self.last_seq = seq;
        self.events.push(event);
    }

    /// Takes a record that is printed in the middle of it.
    pub(super) fn add(&mut self, event: Event, seq: u64) {
        self.before_last = None;
        self.last_us = event.ts_us;
        self.last_seq = seq;
        self.events.push(event);
    }

    /// The log point of its last record, if that one named nothing and is not
    /// its first.
    pub(super) fn loose_end(&self) -> Option<LogPointId> {
        self.before_last.as_ref()?;
        self.events.last()?.log_point
    }

    /// Gives its last record away, with its number.
    pub(super) fn give_last(&mut self) -> Option<(Event, u64)> {
        let before = self.before_last.take()?;
        let seq = std::mem::replace(&mut self.last_seq, before.last_seq);
        self.last_us = before.last_us;
        self.tops = before.tops;
        self.printed.take();
        self.events.pop().map(|event| (event, seq))
    }

    /// Remembers the common values of a record.
    pub(super) fn show_common(&mut self, common: Vec<(ValueClassId, Arc<str>)>) {
        for value in common {
            if self.common.len() < BOUND_MAX && !self.common.contains(&value) {
                self.common.push(value);
            }
        }
    }

    /// Remembers the UUIDs of a record.
    pub(super) fn show_uuids(&mut self, uuids: Vec<Arc<str>>) {
        for uuid in uuids {
            if self.uuids.len() < BOUND_MAX && !self.uuids.contains(&uuid) {
                self.uuids.push(uuid);
            }
        }
    }

    /// Remembers of the numbers of a record those that all of its records with any of
    /// their class have shown: what it is about, and not what it meets.
    pub(super) fn show_numbers(&mut self, numbers: &[Number]) {
        let known = self.numbers.clone();
        let is_known = |class: ValueClassId| known.iter().any(|number| number.0 == class);
        let goes_on = |class: ValueClassId| numbers.iter().any(|n| n.0 == class && known.contains(n));
        self.numbers.retain(|number| !goes_on(number.0) || numbers.contains(number));
        for number in numbers.iter().filter(|number| !is_known(number.0)) {
            if self.numbers.len() < BOUND_MAX && !self.numbers.contains(number) {
                self.numbers.push(*number);
            }
        }
    }

    /// Whether the record is of other entities than the span, which are told from each
    /// other by small numbers: these are no sizes.
    fn counts_another(&self, fact: &Fact) -> bool {
        fact.numbers.iter().any(|(class, _)| {
            let mut ours = self.numbers.iter().filter(|(other, _)| other == class).peekable();
            ours.peek().is_some() && !ours.any(|number| fact.numbers.contains(number))
        })
    }

    /// Whether nobody is known to run any of what it can be.
    pub(super) fn is_unreached(&self, orders: &Orders<'_>) -> bool {
        are_unreached(self.tops.iter().map(|state| state.top), orders)
    }

    /// Whether none of its records named anything, but for what nearly all records name.
    pub(super) fn is_nameless(&self) -> bool {
        let is_bare = |state: &TopState| state.bound.is_empty();
        self.uuids.is_empty() && self.tops.iter().all(is_bare)
    }

    /// Whether it is one record that named nothing.
    pub(super) fn names_nothing(&self) -> bool {
        self.events.len() == 1
            && self.common.is_empty()
            && self.tops.iter().all(|state| state.bound.is_empty())
    }

    /// Whether it has printed `point`.
    pub(super) fn has_printed(&self, point: LogPointId) -> bool {
        if self.events.len() <= EVENTS_FEW {
            return self.events.iter().any(|event| event.log_point == Some(point));
        }
        self.printed(|points| points.contains(&Some(point)))
    }

    /// Whether it holds of the log points of all its events.
    fn printed(&self, holds: impl FnOnce(&FxHashSet<Option<LogPointId>>) -> bool) -> bool {
        let mut printed = self.printed.borrow_mut();
        let Printed { n, points } = &mut *printed;
        points.extend(self.events[*n..].iter().map(|event| event.log_point));
        *n = self.events.len();
        holds(points)
    }

    /// Whether it began with `point`.
    pub(super) fn began_with(&self, point: LogPointId) -> bool {
        let is_first = |event: &Event| event.log_point == Some(point);
        self.events.first().is_some_and(is_first) || self.readings.iter().any(|(other, _)| *other == point)
    }

    /// Log points of what it printed, newest first.
    pub(super) fn newest_first(&self) -> impl Iterator<Item = LogPointId> + '_ {
        self.events.iter().rev().filter_map(|event| event.log_point)
    }

    /// Whether it began where a method that it can be begins.
    pub(super) fn began(&self) -> bool {
        self.tops.iter().any(|state| state.entered && !state.at.is_empty())
    }

    /// Whether it printed nothing but `point`, a moment ago.
    pub(super) fn may_loop(&self, point: LogPointId, gap_us: u64) -> bool {
        gap_us <= LOOP_US && self.is_only(point)
    }

    /// Whether it printed nothing but `point`.
    pub(super) fn is_only(&self, point: LogPointId) -> bool {
        if self.events.len() <= EVENTS_FEW {
            return self.events.iter().all(|event| event.log_point == Some(point));
        }
        self.printed(|points| points.len() == 1 && points.contains(&Some(point)))
    }

    /// Time from its first to its last record, µs.
    pub(super) fn lasted_us(&self) -> u64 {
        self.events.first().map_or(0, |first| self.last_us.abs_diff(first.ts_us))
    }

    /// Whether its last record was printed at once with the one before.
    pub(super) fn ended_at_once(&self) -> bool {
        let mut last = self.events.iter().rev().map(|event| event.ts_us);
        let both = last.next().zip(last.next());
        both.is_some_and(|(last_us, before_us)| last_us.abs_diff(before_us) <= AT_ONCE_US)
    }

    /// Whether any log point can follow.
    pub(super) fn goes_on(&self, orders: &Orders<'_>) -> bool {
        let goes_on = |state: &TopState| state.at.iter().any(|&(node, _)| orders.goes_on(state.top, node));
        self.tops.iter().any(|state| state.at.is_empty() || goes_on(state))
    }

    /// Whether it can be all of something that is handed out, and a record that fits
    /// as `fit` says is the dispatcher's own.
    pub(super) fn was_handed_out(&self, orders: &Orders<'_>, fit: &Fit) -> bool {
        let is_own = |top: TopLevelId| orders.kind(top) == TopLevelKind::Dispatcher;
        let is_whole = |state: &TopState| {
            !is_own(state.top)
                && state.entered
                && state.at.iter().any(|&(node, _)| orders.is_exit(state.top, node))
        };
        fit.tops().iter().copied().all(is_own) && self.tops.iter().any(is_whole)
    }

    /// Whether it names something that the record names too, whatever it knows of it.
    pub(super) fn names_any(&self, fact: &Fact) -> bool {
        let known = || self.known();
        let telling = fact.values.iter().filter(|(_, text)| text.len() >= TELLING_MIN);
        telling.into_iter().any(|(_, text)| known().any(|b| b.text == *text))
    }

    /// The same of something that was made while the program ran.
    pub(super) fn names_made(&self, fact: &Fact) -> bool {
        let made = fact.values.iter().filter(|(_, text)| is_made(text));
        made.into_iter().any(|(_, text)| self.known().any(|b| b.text == *text))
    }

    /// Whether nothing so far had a place in the order.
    pub(super) fn only_floats(&self) -> bool {
        self.tops.iter().all(|state| state.at.is_empty())
    }

    /// Whether the best-fitting reading of the span can end here.
    pub(super) fn is_at_exit(&self, orders: &Orders<'_>) -> bool {
        let states = self.tops.iter().filter(|state| state.entered);
        states.into_iter().any(|state| {
            state.at.is_empty() || state.at.iter().any(|&(node, _)| orders.is_exit(state.top, node))
        })
    }

    /// Settles which log point the first event is of, now that what followed has
    /// shown the top-level method.
    fn read_first(&mut self) {
        let (Some(state), Some(event)) = (self.tops.first(), self.events.first_mut()) else { return };
        if let Some(at) = self.readings.iter().position(|(point, _)| *point == state.first)
            && event.log_point != Some(state.first)
        {
            let (point, values) = self.readings.swap_remove(at);
            event.log_point = Some(point);
            event.values = values;
        }
    }

    /// The finished span. `was_cut`: by the window or the end of the input.
    pub(super) fn close(
        mut self,
        orders: &Orders<'_>,
        node: Name,
        thread: Option<Arc<str>>,
        was_cut: bool,
    ) -> Closed {
        let truncated = was_cut && !self.is_at_exit(orders);
        self.tops.sort_by_cached_key(|state| {
            let rank = kind_rank(orders.kind(state.top));
            let size = orders.n_nodes(state.top);
            (state.fitness(), rank, size, state.top)
        });
        self.read_first();
        self.events.shrink_to_fit();
        let fits = top_state::fits(&self.tops);
        let bound = self.bounds().flatten().filter(|bound| bound.part.is_none() && bound.is_shown);
        let common = self.common.iter().map(|(class, text)| (*class, text));
        let mut shown: Vec<(ValueClassId, &Arc<str>)> =
            bound.map(|bound| (bound.value_class, &bound.text)).chain(common).collect();
        shown.sort_unstable();
        shown.dedup();
        let value = |(value_class, text)| Value { value_class, text: Arc::clone(text) };
        let identifiers = shown.into_iter().map(value).collect();
        let top_levels = self.tops.iter().map(|state| state.top).collect();
        let (events, hosts) = (self.events, Vec::new());
        let trace = None;
        let span =
            Span { node, thread, top_levels, n_alike: 1, identifiers, trace, events, truncated, hosts };
        Closed::new(span, fits, self.uuids).with_ids(self.ids)
    }
}
