//! One top-level method that can have printed a span: where in its order the span
//! stands, and what it has bound.

use std::cell::OnceCell;
use std::cmp::Reverse;

use schema::{LogPointId, TopLevelId, TopLevelKind};
use smallvec::SmallVec;

use super::BOUND_MAX;
use super::bound::{Bound, bind_once, own_identifier};
use super::bounds::{Agreed, Bounds, Pairs};
use crate::accumulate::facts::Fact;
use crate::accumulate::orders::{Follows, Orders, Places, Position, Role};
use crate::accumulate::pools::{BEST, Fitness};

/// Positions in the DAG of a top-level method: mostly one or two.
pub(in crate::accumulate) type Positions = SmallVec<[Position; 2]>;

/// What a top-level method would be with a record more. A record is tried with many spans, and
/// joins one: what is bound then is put together when it is asked for.
#[derive(Debug)]
pub(in crate::accumulate) struct Next {
    /// It after the record, but for what that binds.
    state: TopState,
    new: Bounds,
    bound: OnceCell<Bounds>,
}

impl Next {
    /// The top-level method.
    pub(in crate::accumulate) fn top(&self) -> TopLevelId {
        self.state.top
    }

    /// What is bound with the record.
    pub(in crate::accumulate) fn bound(&self) -> &[Bound] {
        self.bound.get_or_init(|| with_bound(&self.state.bound, &self.new))
    }

    /// This, or `other` of the same method.
    pub(super) fn or(&mut self, other: &Self) {
        self.state.or(&other.state);
    }

    /// The method with the record.
    fn into_state(self) -> TopState {
        let bound = self.bound.into_inner().unwrap_or_else(|| with_bound(&self.state.bound, &self.new));
        TopState { bound, ..self.state }
    }

    /// All of them with the record.
    pub(super) fn into_states(all: Vec<Self>) -> Vec<TopState> {
        let mut made: Pairs<'_, Bounds> = Pairs::default();
        let mut bounds: SmallVec<[Bounds; 6]> = SmallVec::with_capacity(all.len());
        for Self { state, new, .. } in &all {
            bounds.push(made.get(&state.bound, new, || with_bound(&state.bound, new)));
        }
        drop(made);
        all.into_iter().zip(bounds).map(|(next, bound)| TopState { bound, ..next.state }).collect()
    }
}

/// How well a record fits: request values and weak values that both have, whether it comes next,
/// and whether the method began where it begins.
pub(super) type Score = (u32, u32, Follows, bool);

/// One top-level method that can have printed the span.
#[derive(Clone, Debug)]
pub(in crate::accumulate) struct TopState {
    pub(in crate::accumulate) top: TopLevelId,
    /// Positions at which the last log point can have been; none: nothing so far had
    /// one in the order.
    pub(in crate::accumulate) at: Positions,
    /// Shared with what the span was before, and with what it would be with any of
    /// the records that it could take: few of them add anything. At first what the first
    /// record binds.
    pub(in crate::accumulate) bound: Bounds,
    /// Log point of the first event: of several that print the same, this
    /// method's.
    pub(in crate::accumulate) first: LogPointId,
    /// The first event is one with which the method can start.
    pub(in crate::accumulate) entered: bool,
    /// Events before which something should have printed, but did not.
    pub(super) n_skips: u32,
}

impl TopState {
    /// How well the records fit the top-level method: less is better.
    pub(super) fn fitness(&self) -> (bool, u32, Reverse<usize>) {
        (!self.entered, self.n_skips, Reverse(self.bound.n_request()))
    }

    /// This state, or `other` of the same method.
    pub(super) fn or(&mut self, other: &Self) {
        self.at.extend_from_slice(&other.at);
        self.at.sort_unstable();
        self.at.dedup();
        self.n_skips = self.n_skips.min(other.n_skips);
    }

    /// How well `fact`, whose places are entry `index` of its log point, fits as the next record;
    /// none if it does not. `is_at_work`: one thread has printed the fact and, a moment ago, the
    /// rest.
    pub(super) fn score<'f>(
        &'f self,
        orders: &Orders<'_>,
        fact: &'f Fact,
        (index, is_at_work): (usize, bool),
        agreed: &mut Agreed<'f>,
    ) -> Option<Score> {
        let mut best = None;
        self.each_fit(orders, fact, (index, is_at_work), agreed, |_, fit, _| best = best.max(Some(fit)));
        best.map(|(n_request, n_weak, follows)| (n_request, n_weak, follows, self.entered))
    }

    /// The state after `fact`, and how well that fits, see [`Self::score`].
    pub(super) fn step<'f>(
        &'f self,
        orders: &Orders<'_>,
        fact: &'f Fact,
        (index, is_at_work): (usize, bool),
        agreed: &mut Agreed<'f>,
    ) -> Option<(Next, Score)> {
        let mut at = Positions::new();
        let mut best: Option<((u32, u32, Follows), Bounds)> = None;
        self.each_fit(orders, fact, (index, is_at_work), agreed, |place, fit, bound| {
            at.push(place);
            if best.as_ref().is_none_or(|(old, _)| *old < fit) {
                best = Some((fit, bound.clone()));
            }
        });
        let ((n_request, n_weak, follows), bound) = best?;
        at.dedup();
        let is_free = |&(node, _): &Position| orders.is_free(self.top, node);
        if orders.floats(fact.log_point) || (at.iter().all(is_free) && !self.at.is_empty()) {
            at.clone_from(&self.at);
        }
        let Self { top, first, entered, .. } = *self;
        let n_skips = self.n_skips + u32::from(follows == Follows::Later);
        let state = TopState { top, at, bound: self.bound.clone(), first, entered, n_skips };
        let next = Next { state, new: bound, bound: OnceCell::new() };
        Some((next, (n_request, n_weak, follows, entered)))
    }

    /// Calls `each` for every place at which `fact`, of which they are entry `index`, can come next,
    /// with how well it fits there and what it binds. `agreed`: what other methods have said of it.
    fn each_fit<'f>(
        &'f self,
        orders: &Orders<'_>,
        fact: &'f Fact,
        (index, is_at_work): (usize, bool),
        agreed: &mut Agreed<'f>,
        mut each: impl FnMut(Position, (u32, u32, Follows), &Bounds),
    ) {
        let has_rounds = orders.kind(self.top) == TopLevelKind::Dispatcher;
        for (i, &place) in orders.places(fact.log_point)[index].at.iter().enumerate() {
            let follows = self.follows(orders, fact.log_point, place);
            if follows.is_none() && !has_rounds {
                continue;
            }
            let Some(bound) = bind_once(orders, self.top, (index, i), fact) else { continue };
            let agree = || self.agree(orders, bound, is_at_work && !has_rounds);
            let is_plain = orders.is_plain(self.top) && !(is_at_work && has_rounds);
            let shared = if is_plain { agreed.get(&self.bound, bound, agree) } else { agree() };
            #[cfg(test)]
            assert_eq!(shared, agree(), "what others have said of equal lists holds for this one");
            let Some((n_request, n_weak)) = shared else { continue };
            // Rounds about one thing are one request, in any order.
            let again = (n_request > 0).then_some(Follows::Later);
            let Some(follows) = follows.or(again) else { continue };
            each(place, (n_request, n_weak, follows), bound);
        }
    }

    /// Whether the method, which has printed `point`, whose places are entry `index` of it,
    /// can print it once more. A dispatcher prints it in each round.
    pub(super) fn can_repeat(&self, orders: &Orders<'_>, point: LogPointId, index: usize) -> bool {
        let places = &orders.places(point)[index].at;
        let can_follow =
            |from: Position| places.iter().any(|&to| orders.can_repeat(self.top, point, from.0, to.0));
        self.at.is_empty()
            || orders.kind(self.top) == TopLevelKind::Dispatcher
            || self.at.iter().any(|&from| can_follow(from))
    }

    /// Whether a UUID within the texts of `fact` names another thing than the one
    /// of its kind that the request is about.
    pub(super) fn is_about_another(&self, orders: &Orders<'_>, fact: &Fact) -> bool {
        fact.uuids.iter().filter(|uuid| uuid.is_shown).any(|uuid| {
            let own = own_identifier(orders, self.top, uuid);
            let known = own.and_then(|(_, own)| self.bound.iter().find(|old| old.identifier == Some(own)));
            known.is_some_and(|known| known.text != uuid.text) && !orders.is_main(self.top)
        })
    }

    /// Whether `fact` begins the method anew, for something whose names contradict
    /// those that are known.
    pub(in crate::accumulate) fn begins_another(&self, orders: &Orders<'_>, fact: &Fact) -> bool {
        let places = orders.places(fact.log_point);
        let Ok(index) = places.binary_search_by_key(&self.top, |places| places.top) else { return false };
        let at = &places[index].at;
        let is_entry = |&entry: &usize| orders.is_entry(self.top, at[entry].0);
        let entries: SmallVec<[usize; 2]> = (0..at.len()).filter(is_entry).collect();
        let contradicts = |new: &Bound| {
            let is_other = |old: &Bound| old.identifier == new.identifier && !old.is_called(new);
            new.identifier.is_some() && self.bound.iter().any(is_other)
        };
        let bound = |entry: usize| bind_once(orders, self.top, (index, entry), fact);
        !entries.is_empty()
            && entries.iter().all(|&entry| bound(entry).is_some_and(|all| all.iter().any(contradicts)))
    }

    /// Whether the method can print `point` as the very next one.
    pub(super) fn prints_next(&self, orders: &Orders<'_>, point: LogPointId) -> bool {
        let Some(places) = orders.places_in(self.top, point) else { return false };
        places.at.iter().any(|&place| self.follows(orders, point, place) == Some(Follows::Next))
    }

    /// Whether and how `point` at position `to` can come next.
    pub(super) fn follows(&self, orders: &Orders<'_>, point: LogPointId, to: Position) -> Option<Follows> {
        if orders.floats(point) {
            return Some(Follows::Next);
        }
        if self.at.is_empty() {
            return Some(if orders.is_entry(self.top, to.0) { Follows::Next } else { Follows::Later });
        }
        self.at.iter().filter_map(|&from| orders.follows(self.top, from, to)).max()
    }

    /// How many values the method has in common with `new`, what a record binds: (request, weak); none
    /// if an identifier has another value there.
    fn agree(&self, orders: &Orders<'_>, new: &Bounds, is_at_work: bool) -> Option<(u32, u32)> {
        (!self.contradicts(orders, new, is_at_work)).then(|| self.bound.shared(new))
    }

    /// Whether an identifier has another value in `new`, what a record binds. Paths decide what
    /// conflicts. A program's `main` has to do with many things, one after the other; so has what
    /// meets one of many, or makes them, while it is at work on one round.
    fn contradicts(&self, orders: &Orders<'_>, new: &Bounds, is_at_work: bool) -> bool {
        if !self.bound.has_identifiers() || !new.has_identifiers() || orders.is_main(self.top) {
            return false;
        }
        new.iter().any(|new| {
            let is_one = |id: &Role| !is_at_work || !orders.may_differ(*id);
            let id = new.identifier.filter(is_one);
            let is_same =
                |old: &Bound, id| old.identifier.is_some_and(|old| orders.is_one(self.top, old, id));
            id.is_some_and(|id| self.bound.iter().any(|old| !old.is_called(new) && is_same(old, id)))
        })
    }
}

/// What is bound, together with what is `new` of that which a record binds.
fn with_bound(known: &Bounds, new: &[Bound]) -> Bounds {
    let mut more: SmallVec<[&Bound; 4]> = SmallVec::new();
    for bound in new {
        let same = |old: &Bound| match bound.identifier {
            Some(_) => old.identifier == bound.identifier && old.strength <= bound.strength,
            None => old.value_class == bound.value_class && old.is_called(bound),
        };
        let is_known = |old: &Bound| same(old) && old.is_shown >= bound.is_shown;
        let has_room = known.len() + more.len() < BOUND_MAX;
        if has_room && !known.iter().chain(more.iter().copied()).any(is_known) {
            more.push(bound);
        }
    }
    if more.is_empty() {
        return known.clone();
    }
    known.iter().chain(more).cloned().collect()
}

/// The top-level methods that can have printed `fact` as their first.
fn opening(orders: &Orders<'_>, fact: &Fact) -> Vec<TopState> {
    let mut tops = Vec::new();
    for (index, &Places { top, at: ref places, .. }) in orders.places(fact.log_point).iter().enumerate() {
        let is_entry = |&place: &usize| orders.is_entry(top, places[place].0);
        let mut begun: SmallVec<[usize; 2]> = (0..places.len()).filter(is_entry).collect();
        let floats = orders.floats(fact.log_point);
        let entered = floats || !begun.is_empty();
        if begun.is_empty() {
            begun.extend(0..places.len());
        }
        // A record whose values contradict the bindings still has to be
        // somewhere: it opens a span without those values.
        let bind = |&place: &usize| bind_once(orders, top, (index, place), fact);
        let bound = begun.iter().find_map(bind).cloned().unwrap_or_default();
        let mut at: Positions = begun.iter().map(|&place| places[place]).collect();
        at.dedup();
        if floats {
            at.clear();
        }
        let first = fact.log_point;
        tops.push(TopState { top, at, bound, first, entered, n_skips: u32::from(!entered) });
    }
    tops
}

/// The top-level methods that can have printed one of `facts`, which are readings
/// of one record, as their first; the first of the facts wins where a method can
/// have printed several. What follows shows which one it was.
pub(in crate::accumulate) fn opening_any(orders: &Orders<'_>, facts: &[&Fact]) -> Vec<TopState> {
    let mut tops: Vec<TopState> = facts.iter().flat_map(|fact| opening(orders, fact)).collect();
    tops.sort_by_key(|state| (state.top, !state.entered));
    tops.dedup_by_key(|state| state.top);
    tops
}

/// The top-level methods that can have printed `first` as their first line, which names
/// nothing, and then at once `fact`.
pub(in crate::accumulate) fn opening_after(
    orders: &Orders<'_>,
    first: LogPointId,
    fact: &Fact,
) -> Vec<TopState> {
    if !orders.starts(first) {
        return Vec::new();
    }
    let mut tops = opening(orders, &Fact::bare(first));
    tops.retain(|state| state.entered);
    let next = |state: TopState| {
        let index =
            orders.places(fact.log_point).binary_search_by_key(&state.top, |places| places.top).ok()?;
        let (next, (_, _, follows, _)) = state.step(orders, fact, (index, true), &mut Agreed::default())?;
        (follows == Follows::Next).then(|| next.into_state())
    };
    tops.into_iter().filter_map(next).collect()
}

/// How well the records fit each of the top-level methods, which are sorted by that.
pub(super) fn fits(tops: &[TopState]) -> Vec<Fitness> {
    let (mut at, mut before) = (BEST, None);
    let of = |state: &TopState| {
        let (entered, n_skips, n_bound) = state.fitness();
        if let Some(other) = before.replace((entered, n_skips, n_bound)) {
            at.0 += u32::from((other.0, other.1) != (entered, n_skips));
            at.1 += u32::from(other != (entered, n_skips, n_bound));
        }
        at
    };
    tops.iter().map(of).collect()
}

/// 0: works on one request; 1: the lines around; 2: nobody knows.
pub(in crate::accumulate) fn kind_rank(kind: TopLevelKind) -> u8 {
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
