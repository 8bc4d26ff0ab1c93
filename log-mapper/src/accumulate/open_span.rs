//! An open span: the records of one thread's work on one request so far, with
//! every top-level method that can still have printed all of them.
//!
//! Answers whether a record can come next and how well it fits; which of
//! several spans takes it is decided by [`super::evidence`].

use std::cmp::Reverse;
use std::rc::Rc;

use schema::kinds::TELLING_MIN;
use schema::{
    Event, Identifier, IdentifierId, IdentifierStrength, Kinds, LogPointId, Span, TopLevelId, TopLevelKind,
    Value, ValueClassId,
};

use super::evidence::LOOP_US;
use super::names::is_name;
use super::orders::{Follows, Orders, Places};
use super::pools::Closed;
use super::wholes::Whole;

/// Values kept of a span per top-level method: one that meets more entities than
/// this is not told apart by them.
const BOUND_MAX: usize = 256;

/// A log point a record can come from, with the canonical values of its
/// variables that are identifiers somewhere.
#[derive(Debug)]
pub(super) struct Fact {
    pub(super) log_point: LogPointId,
    pub(super) values: Vec<(u32, Rc<str>)>,
    /// Values that so many records show that they tell no spans apart. Whoever
    /// is handed something may still be told by them from whoever is not.
    pub(super) common: Vec<(ValueClassId, Rc<str>)>,
    /// Objects named within its texts.
    pub(super) named: Vec<(ValueClassId, Rc<str>)>,
    /// UUIDs within its texts.
    pub(super) uuids: Vec<Uuid>,
    /// What the things that it names are parts of, where it does not say so.
    pub(super) wholes: Vec<Whole>,
}

/// A UUID within a text.
#[derive(Clone, Debug)]
pub(super) struct Uuid {
    pub(super) text: Rc<str>,
    /// Classes of what it can name.
    pub(super) classes: Vec<ValueClassId>,
}

impl Fact {
    /// Whether it shows no value that is not equal to another one by chance.
    pub(super) fn names_nothing(&self) -> bool {
        self.named.is_empty()
            && self.uuids.is_empty()
            && self.values.iter().all(|(_, text)| text.len() < TELLING_MIN)
    }

    /// What it says itself.
    fn without_wholes(&self) -> Self {
        let Self { log_point, values, common, named, uuids, .. } = self;
        let (values, common, named, uuids) = (values.clone(), common.clone(), named.clone(), uuids.clone());
        Self { log_point: *log_point, values, common, named, uuids, wholes: Vec::new() }
    }

    /// A record of `log_point` that shows no values.
    pub(super) fn bare(log_point: LogPointId) -> Self {
        Self {
            log_point,
            values: Vec::new(),
            common: Vec::new(),
            named: Vec::new(),
            uuids: Vec::new(),
            wholes: Vec::new(),
        }
    }
}

/// A value that the span has printed: bound to an identifier of a top-level
/// method, or *loose*: of a class that tells requests apart, but found by the
/// method in a way that the analysis could not follow (looked up by a key, taken
/// from a collection). A loose value speaks for whoever has the same one; it
/// contradicts nobody, for a request may meet many.
#[derive(Clone, Debug)]
pub(super) struct Bound {
    /// None: loose.
    identifier: Option<IdentifierId>,
    pub(super) value_class: ValueClassId,
    pub(super) strength: IdentifierStrength,
    pub(super) text: Rc<str>,
    /// Not printed, but something that is part of it: the class of that.
    part: Option<ValueClassId>,
}

impl Bound {
    fn is_request_identifier(&self) -> bool {
        self.identifier.is_some() && self.strength == IdentifierStrength::Request
    }
}

/// A span that can still grow.
#[derive(Debug)]
pub(super) struct OpenSpan {
    /// Interned thread name, where the layout prints it.
    pub(super) thread: Option<u32>,
    /// Top-level methods that can have printed all events, sorted by id.
    pub(super) tops: Vec<TopState>,
    pub(super) events: Vec<Event>,
    /// Number of its first and last record on this node.
    pub(super) first_seq: u64,
    pub(super) last_seq: u64,
    pub(super) last_us: i64,
    /// Values under which it is indexed.
    pub(super) keys: Vec<(ValueClassId, Rc<str>)>,
    /// What it was before its last record, if that one named nothing.
    before_last: Option<Box<Before>>,
    /// Common values that it has shown.
    common: Vec<(ValueClassId, Rc<str>)>,
    /// UUIDs that its texts hold.
    uuids: Vec<Rc<str>>,
    /// Words of its messages, sorted, where the layout prints no threads.
    pub(super) words: Vec<u64>,
}

/// What a span was before a record.
#[derive(Debug)]
struct Before {
    tops: Vec<TopState>,
    last_seq: u64,
    last_us: i64,
}

/// One top-level method that can have printed the span.
#[derive(Clone, Debug)]
pub(super) struct TopState {
    pub(super) top: TopLevelId,
    /// Nodes at which the last log point can have been; none: nothing so far had
    /// a place in the order.
    pub(super) at: Vec<u32>,
    pub(super) bound: Vec<Bound>,
    /// The first event is one with which the method can start.
    pub(super) entered: bool,
    /// Events before which something should have printed, but did not.
    n_skips: u32,
}

/// How a record fits a span.
#[derive(Debug)]
pub(super) struct Fit {
    /// The span's top-level methods if it takes the record.
    tops: Vec<TopState>,
    /// Values of [`IdentifierStrength::Request`] that both have.
    pub(super) n_request: u32,
    /// Values of [`IdentifierStrength::Weak`] that both have.
    pub(super) n_weak: u32,
    pub(super) follows: Follows,
    pub(super) entered: bool,
    /// The record shows values of kinds that the span has shown too, and none
    /// is the same.
    pub(super) differs: bool,
    /// The record shows a value.
    names: bool,
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
            first_seq: seq,
            last_seq: seq,
            last_us,
            keys,
            before_last: None,
            common: Vec::new(),
            uuids: Vec::new(),
            words: Vec::new(),
        }
    }

    /// How a record with `fact` fits; none if no top-level method of the span
    /// can have printed it now, or identifiers conflict.
    pub(super) fn fit(&self, orders: &mut Orders<'_>, kinds: &Kinds, fact: &Fact) -> Option<Fit> {
        // Who knows what the record names is to be believed, not who knows nothing.
        if self.tops.iter().any(|state| state.is_about_another(orders, fact)) {
            return None;
        }
        let without;
        let mut fact = fact;
        if !fact.wholes.is_empty() && self.differs_besides_parts(orders, kinds, fact) {
            without = fact.without_wholes();
            fact = &without;
        }
        let mut tops = Vec::new();
        let mut best = None;
        let mut wanted = self.tops.iter().peekable();
        for index in 0..orders.places(fact.log_point).len() {
            let top = orders.places(fact.log_point)[index].top;
            while wanted.next_if(|state| state.top < top).is_some() {}
            let Some(state) = wanted.next_if(|state| state.top == top) else { continue };
            if let Some((next, score)) = state.step(orders, fact, index) {
                best = best.max(Some(score));
                tops.push(next);
            }
        }
        let (n_request, n_weak, follows, entered) = best?;
        if n_request > 0 && self.thread.is_none() && self.is_another(orders, kinds, fact) {
            return None;
        }
        let differs = n_request == 0 && self.differs(orders, kinds, fact);
        let names = !fact.values.is_empty() || !fact.uuids.is_empty();
        Some(Fit { tops, n_request, n_weak, follows, entered, differs, names })
    }

    /// The top-level methods in states `tops` that print `fact` next; none if
    /// there is none.
    pub(super) fn steps(tops: &[TopState], orders: &mut Orders<'_>, fact: &Fact) -> Option<Vec<TopState>> {
        Self::fit_after(tops, orders, fact).map(|fit| fit.tops)
    }

    /// How a record fits top-level methods in states `tops` as the very next one.
    pub(super) fn fit_after(tops: &[TopState], orders: &mut Orders<'_>, fact: &Fact) -> Option<Fit> {
        let mut found = Vec::new();
        let mut best = None;
        for state in tops {
            let places = orders.places(fact.log_point);
            let Ok(index) = places.binary_search_by_key(&state.top, |places| places.top) else { continue };
            let step = state.step(orders, fact, index);
            if let Some((next, score)) = step.filter(|(_, score)| score.2 == Follows::Next) {
                best = best.max(Some(score));
                found.push(next);
            }
        }
        let (n_request, n_weak, follows, entered) = best?;
        Some(Fit { tops: found, n_request, n_weak, follows, entered, differs: false, names: true })
    }

    /// Whether the record and the span name different things of one kind.
    fn differs(&self, orders: &Orders<'_>, kinds: &Kinds, fact: &Fact) -> bool {
        self.differs_in(orders, kinds, fact, &|_| true)
    }

    /// The same, of other kinds than the parts are of by which a whole is known: a
    /// whole has many parts, but what else it has to do with must be the same.
    fn differs_besides_parts(&self, orders: &Orders<'_>, kinds: &Kinds, fact: &Fact) -> bool {
        let is_part = |kind| fact.wholes.iter().any(|whole| kinds.of(whole.part) == kind);
        self.differs_in(orders, kinds, fact, &|kind| !is_part(kind))
    }

    fn differs_in(
        &self,
        orders: &Orders<'_>,
        kinds: &Kinds,
        fact: &Fact,
        counts: &dyn Fn(ValueClassId) -> bool,
    ) -> bool {
        let known = || self.tops.iter().flat_map(|state| &state.bound);
        fact.values.iter().any(|(variable, text)| {
            orders.request_classes(fact.log_point, *variable).iter().any(|class| {
                let kind = kinds.of(*class);
                if !counts(kind) {
                    return false;
                }
                let mut of_kind = known().filter(|b| kinds.of(b.value_class) == kind).peekable();
                of_kind.peek().is_some() && !of_kind.any(|b| b.text == *text)
            })
        })
    }

    /// Whether names that were made while the program ran show another request:
    /// both show one of a kind, not the same one, and have no such name in common.
    /// What they have in common was named when the program was written or set up
    /// (a table, a user), so that many requests share it.
    fn is_another(&self, orders: &Orders<'_>, kinds: &Kinds, fact: &Fact) -> bool {
        let known = || self.tops.iter().flat_map(|state| &state.bound).filter(|b| is_made(&b.text));
        let made = || fact.values.iter().filter(|(_, text)| is_made(text));
        let named = fact.named.iter().chain(fact.wholes.iter().map(|whole| &whole.name));
        let mut shown = made().map(|(_, text)| text).chain(named.map(|(_, text)| text));
        !shown.any(|text| known().any(|b| b.text == *text))
            && made().any(|(variable, _)| {
                let classes = orders.request_classes(fact.log_point, *variable);
                classes.iter().any(|class| known().any(|b| kinds.of(b.value_class) == kinds.of(*class)))
            })
    }

    /// Takes a record that fits.
    pub(super) fn take(&mut self, fit: Fit, event: Event, seq: u64) {
        let tops = std::mem::replace(&mut self.tops, fit.tops);
        let before = Before { tops, last_seq: self.last_seq, last_us: self.last_us };
        self.before_last = (!fit.names).then(|| Box::new(before));
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
        self.events.pop().map(|event| (event, seq))
    }

    /// Remembers the common values of a record.
    pub(super) fn show_common(&mut self, common: Vec<(ValueClassId, Rc<str>)>) {
        for value in common {
            if self.common.len() < BOUND_MAX && !self.common.contains(&value) {
                self.common.push(value);
            }
        }
    }

    /// Remembers the UUIDs of a record.
    pub(super) fn show_uuids(&mut self, uuids: Vec<Rc<str>>) {
        for uuid in uuids {
            if self.uuids.len() < BOUND_MAX && !self.uuids.contains(&uuid) {
                self.uuids.push(uuid);
            }
        }
    }

    /// Whether it is one record that named nothing.
    pub(super) fn names_nothing(&self) -> bool {
        self.events.len() == 1
            && self.common.is_empty()
            && self.tops.iter().all(|state| state.bound.is_empty())
    }

    /// Whether it began with `point`.
    pub(super) fn began_with(&self, point: LogPointId) -> bool {
        self.events.first().is_some_and(|event| event.log_point == Some(point))
    }

    /// Whether it printed nothing but `point`, a moment ago.
    pub(super) fn may_loop(&self, point: LogPointId, gap_us: u64) -> bool {
        gap_us <= LOOP_US && self.events.iter().all(|event| event.log_point == Some(point))
    }

    /// Time from its first to its last record, µs.
    pub(super) fn lasted_us(&self) -> u64 {
        self.events.first().map_or(0, |first| self.last_us.abs_diff(first.ts_us))
    }

    /// Whether any log point can follow.
    pub(super) fn goes_on(&self, orders: &mut Orders<'_>) -> bool {
        let mut goes_on = |state: &TopState| state.at.iter().any(|&node| orders.goes_on(state.top, node));
        self.tops.iter().any(|state| state.at.is_empty() || goes_on(state))
    }

    /// Whether it can be all of something that is handed out, and a record that fits
    /// as `fit` says is the dispatcher's own.
    pub(super) fn was_handed_out(&self, orders: &Orders<'_>, fit: &Fit) -> bool {
        let is_own = |state: &TopState| orders.kind(state.top) == TopLevelKind::Dispatcher;
        let is_whole = |state: &TopState| {
            !is_own(state) && state.entered && state.at.iter().any(|&at| orders.is_exit(state.top, at))
        };
        fit.tops.iter().all(is_own) && self.tops.iter().any(is_whole)
    }

    /// Whether nothing so far had a place in the order.
    pub(super) fn only_floats(&self) -> bool {
        self.tops.iter().all(|state| state.at.is_empty())
    }

    /// Whether the best-fitting reading of the span can end here.
    pub(super) fn is_at_exit(&self, orders: &Orders<'_>) -> bool {
        let states = self.tops.iter().filter(|state| state.entered);
        states
            .into_iter()
            .any(|state| state.at.is_empty() || state.at.iter().any(|&node| orders.is_exit(state.top, node)))
    }

    /// The finished span. `was_cut`: by the window or the end of the input.
    pub(super) fn close(
        mut self,
        orders: &Orders<'_>,
        node: &str,
        thread: Option<String>,
        was_cut: bool,
    ) -> Closed {
        let truncated = was_cut && !self.is_at_exit(orders);
        self.tops.sort_by_key(|state| {
            let rank = kind_rank(orders.kind(state.top));
            let size = orders.n_nodes(state.top);
            (state.fitness(), rank, size, state.top)
        });
        let groups = self.tops.chunk_by(|a, b| a.fitness() == b.fitness());
        let fits = (0..).zip(groups).flat_map(|(n, group)| std::iter::repeat_n(n, group.len())).collect();
        let mut identifiers: Vec<Value> = (self.tops.iter().flat_map(|state| &state.bound))
            .filter(|bound| bound.part.is_none())
            .map(|bound| Value { value_class: bound.value_class, text: bound.text.to_string() })
            .collect();
        identifiers.extend(
            self.common
                .iter()
                .map(|(value_class, text)| Value { value_class: *value_class, text: text.to_string() }),
        );
        identifiers.sort();
        identifiers.dedup();
        let top_levels = self.tops.iter().map(|state| state.top).collect();
        let node = node.to_owned();
        Closed {
            span: Span { node, thread, top_levels, identifiers, events: self.events, truncated },
            fits,
            uuids: self.uuids,
        }
    }
}

impl TopState {
    /// How well the records fit the top-level method: less is better.
    fn fitness(&self) -> (bool, u32, Reverse<usize>) {
        let n_bound = self.bound.iter().filter(|b| b.is_request_identifier()).count();
        (!self.entered, self.n_skips, Reverse(n_bound))
    }

    /// The state after `fact`, whose places are entry `index` of its log point,
    /// and how well it fits: (request values, weak values, follows, entered).
    fn step(
        &self,
        orders: &mut Orders<'_>,
        fact: &Fact,
        index: usize,
    ) -> Option<(TopState, (u32, u32, Follows, bool))> {
        let mut at = Vec::new();
        let has_rounds = orders.kind(self.top) == TopLevelKind::Dispatcher;
        let mut best: Option<((u32, u32, Follows), Vec<Bound>)> = None;
        for i in 0..orders.places(fact.log_point)[index].at.len() {
            let place = orders.places(fact.log_point)[index].at[i];
            let follows = self.follows(orders, fact.log_point, place.0);
            if follows.is_none() && !has_rounds {
                continue;
            }
            let Some(bound) = bind(orders, self.top, place, fact) else { continue };
            let Some((n_request, n_weak)) = self.agree(&bound) else { continue };
            // Rounds about one thing are one request, in any order.
            let again = (n_request > 0).then_some(Follows::Later);
            let Some(follows) = follows.or(again) else { continue };
            at.push(place.0);
            let score = (n_request, n_weak, follows);
            if best.as_ref().is_none_or(|(old, _)| *old < score) {
                best = Some((score, bound));
            }
        }
        let ((n_request, n_weak, follows), bound) = best?;
        at.dedup();
        if orders.floats(fact.log_point) {
            at.clone_from(&self.at);
        }
        let mut next = self.clone();
        next.at = at;
        next.n_skips += u32::from(follows == Follows::Later);
        for bound in bound {
            let same = |old: &Bound| match bound.identifier {
                Some(_) => old.identifier == bound.identifier,
                None => old.value_class == bound.value_class && old.text == bound.text,
            };
            if next.bound.len() < BOUND_MAX && !next.bound.iter().any(same) {
                next.bound.push(bound);
            }
        }
        Some((next, (n_request, n_weak, follows, self.entered)))
    }

    /// Whether a UUID within the texts of `fact` names another thing than the one
    /// of its kind that the request is about.
    fn is_about_another(&self, orders: &Orders<'_>, fact: &Fact) -> bool {
        let identifiers = orders.identifiers(self.top);
        fact.uuids.iter().any(|uuid| {
            let own = own_identifier(identifiers, uuid);
            let known = own.and_then(|id| self.bound.iter().find(|old| old.identifier == Some(id)));
            known.is_some_and(|known| known.text != uuid.text)
        })
    }

    /// Whether and how `point` at `node` can come next.
    fn follows(&self, orders: &mut Orders<'_>, point: LogPointId, node: u32) -> Option<Follows> {
        if orders.floats(point) {
            return Some(Follows::Next);
        }
        if self.at.is_empty() {
            return Some(if orders.is_entry(self.top, node) { Follows::Next } else { Follows::Later });
        }
        self.at.iter().filter_map(|&from| orders.follows(self.top, from, node)).max()
    }

    /// Counts the values shared with `bound`: (request, weak); none if an
    /// identifier has another value. Paths decide what conflicts, value classes
    /// what agrees: two paths can name the same thing.
    fn agree(&self, bound: &[Bound]) -> Option<(u32, u32)> {
        let (mut n_request, mut n_weak) = (0, 0);
        // What is known by its parts is no second evidence besides them.
        let parts: Vec<ValueClassId> = bound.iter().filter_map(|new| new.part).collect();
        let names = |class| bound.iter().any(|new| new.part.is_none() && new.value_class == class);
        for new in bound {
            let conflict = |old: &Bound| {
                new.identifier.is_some() && old.identifier == new.identifier && old.text != new.text
            };
            if self.bound.iter().any(conflict) {
                return None;
            }
            let same = |old: &&Bound| old.value_class == new.value_class && old.text == new.text;
            let Some(old) = self.bound.iter().find(same) else { continue };
            match shared_strength(old, new, &names) {
                IdentifierStrength::Request => n_request += 1,
                IdentifierStrength::Weak if parts.contains(&new.value_class) => {}
                IdentifierStrength::Weak => n_weak += 1,
                IdentifierStrength::Node => {}
            }
        }
        Some((n_request, n_weak))
    }
}

/// What it says that a span and a record have one value. `names`: whether the
/// record names something of a class.
fn shared_strength(old: &Bound, new: &Bound, names: &dyn Fn(ValueClassId) -> bool) -> IdentifierStrength {
    // Who names a whole and, beside it, a part is about another part of it.
    let is_other = old.part.is_some_and(|part| new.part.is_none() && names(part));
    // Two loose values may both be by the way, unless they name one thing, or what
    // something is part of.
    let is_whole = old.part.is_some() || new.part.is_some();
    let both_loose = new.identifier.is_none() && old.identifier.is_none();
    // A small number known in two ways is equal by chance.
    let is_chance = old.identifier != new.identifier && is_small(&new.text);
    let by_the_way = is_other || is_chance || (both_loose && !is_whole && !is_name(&new.text));
    if by_the_way { new.strength.max(IdentifierStrength::Weak) } else { new.strength }
}

/// The top-level methods that can have printed `fact` as their first.
pub(super) fn opening(orders: &mut Orders<'_>, fact: &Fact) -> Vec<TopState> {
    let mut tops = Vec::new();
    for index in 0..orders.places(fact.log_point).len() {
        let Places { top, ref at } = orders.places(fact.log_point)[index];
        let places = at.clone();
        let entries: Vec<(u32, u32)> =
            places.iter().copied().filter(|&(node, _)| orders.is_entry(top, node)).collect();
        let floats = orders.floats(fact.log_point);
        let entered = floats || !entries.is_empty();
        let places = if entries.is_empty() { places } else { entries };
        // A record whose values contradict the bindings still has to be
        // somewhere: it opens a span without those values.
        let bound = places.iter().find_map(|&place| bind(orders, top, place, fact)).unwrap_or_default();
        let mut at: Vec<u32> = places.iter().map(|&(node, _)| node).collect();
        at.dedup();
        if floats {
            at.clear();
        }
        tops.push(TopState { top, at, bound, entered, n_skips: u32::from(!entered) });
    }
    tops
}

/// The top-level methods that can have printed `first` as their first, and then
/// at once `fact`.
pub(super) fn opening_after(orders: &mut Orders<'_>, first: LogPointId, fact: &Fact) -> Vec<TopState> {
    if !orders.starts(first) {
        return Vec::new();
    }
    let mut tops = Vec::new();
    let states = opening(orders, &Fact::bare(first));
    for state in states.iter().filter(|state| state.entered) {
        let places = orders.places(fact.log_point);
        let Ok(index) = places.binary_search_by_key(&state.top, |places| places.top) else { continue };
        if let Some((next, (_, _, Follows::Next, _))) = state.step(orders, fact, index) {
            tops.push(next);
        }
    }
    tops
}

/// The values that `fact` binds at a place; none if it binds one identifier to
/// two values.
fn bind(orders: &Orders<'_>, top: TopLevelId, place: (u32, u32), fact: &Fact) -> Option<Vec<Bound>> {
    let bindings = &orders.dag_point(top, place).bindings;
    let identifiers = orders.identifiers(top);
    let mut bound: Vec<Bound> = Vec::new();
    for (variable, text) in &fact.values {
        let Some(Some(identifier)) = bindings.get(*variable as usize).copied() else {
            if let Some(value_class) = orders.key(fact.log_point, *variable) {
                let (identifier, strength) = (None, IdentifierStrength::Request);
                bound.push(Bound { identifier, value_class, strength, text: Rc::clone(text), part: None });
            }
            continue;
        };
        let Some(known) = identifiers.get(identifier.index()) else { continue };
        if known.strength == IdentifierStrength::Node {
            continue;
        }
        match bound.iter().find(|old| old.identifier == Some(identifier)) {
            Some(old) if old.text != *text => return None,
            Some(_) => {}
            None => bound.push(Bound {
                identifier: Some(identifier),
                value_class: known.value_class,
                strength: known.strength,
                text: Rc::clone(text),
                part: None,
            }),
        }
    }
    // What something is part of speaks for requests that are about such wholes.
    let is_about = |whole: &&Whole| {
        let class = whole.name.0;
        identifiers.iter().any(|id| id.value_class == class && id.strength == IdentifierStrength::Request)
    };
    let named = fact.named.iter().map(|named| (named, None));
    let wholes = fact.wholes.iter().filter(is_about).map(|whole| (&whole.name, Some(whole.part)));
    for ((value_class, text), part) in named.chain(wholes) {
        let (identifier, strength) = (None, IdentifierStrength::Request);
        bound.push(Bound { identifier, value_class: *value_class, strength, text: Rc::clone(text), part });
    }
    for uuid in &fact.uuids {
        bind_uuid(identifiers, uuid, &mut bound)?;
    }
    Some(bound)
}

/// The one identifier of a UUID's class of which a request has one value only: a
/// text of such a request is about that.
fn own_identifier(identifiers: &[Identifier], uuid: &Uuid) -> Option<IdentifierId> {
    let mut own = identifiers.iter().enumerate().filter(|(_, known)| {
        known.strength == IdentifierStrength::Request
            && !known.one_of_many
            && uuid.classes.contains(&known.value_class)
    });
    let (first, second) = (own.next(), own.next());
    first.filter(|_| second.is_none()).map(|(index, _)| IdentifierId::new(index))
}

/// Binds a UUID within a text; none if its identifier has another value.
fn bind_uuid(identifiers: &[Identifier], uuid: &Uuid, bound: &mut Vec<Bound>) -> Option<()> {
    let Some(id) = own_identifier(identifiers, uuid) else { return Some(()) };
    let known = &identifiers[id.index()];
    match bound.iter().find(|old| old.identifier == Some(id)) {
        Some(old) if old.text != uuid.text => return None,
        Some(_) => {}
        None => bound.push(Bound {
            identifier: Some(id),
            value_class: known.value_class,
            strength: known.strength,
            text: Rc::clone(&uuid.text),
            part: None,
        }),
    }
    Some(())
}

/// Whether a name was made while the program ran: such names are numbered.
fn is_made(text: &str) -> bool {
    text.len() >= TELLING_MIN && text.bytes().any(|b| b.is_ascii_digit())
}

fn is_small(text: &str) -> bool {
    text.len() < TELLING_MIN && text.bytes().all(|b| b.is_ascii_digit())
}

/// 0: works on one request; 1: the lines around; 2: nobody knows.
fn kind_rank(kind: TopLevelKind) -> u8 {
    match kind {
        TopLevelKind::Task
        | TopLevelKind::RpcHandler
        | TopLevelKind::EventHandler
        | TopLevelKind::Entity
        | TopLevelKind::DispatchTarget
        | TopLevelKind::IdentifierLoss => 0,
        TopLevelKind::Dispatcher => 1,
        TopLevelKind::Unreached => 2,
    }
}
