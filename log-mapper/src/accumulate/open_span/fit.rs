//! How a record fits a span, and what the span is after it.
//!
//! A record is tried with many spans, of which some can be hundreds of methods, and joins one. So
//! a fit is no more than which methods can print the record and how well that goes with what is
//! known; where they stand then, and what they have bound, is put together for the one span that
//! the record joins.

use schema::{Kinds, LogPointId, TopLevelId, TopLevelKind};
use smallvec::SmallVec;

use super::OpenSpan;
use super::bounds::Agreed;
use super::top_state::{Next, Score, TopState};
use crate::accumulate::facts::Fact;
use crate::accumulate::orders::{Follows, Orders};

/// Of methods of a span that are so many times fewer than those that print a log point, each is looked
/// up among these.
const FEW_SHARE: usize = 8;

/// How a record fits a span.
#[derive(Debug)]
pub(in crate::accumulate) struct Fit {
    /// The methods of the span that can print the record, sorted.
    tops: SmallVec<[TopLevelId; 6]>,
    /// Values of [`schema::IdentifierStrength::Request`] that both have.
    pub(in crate::accumulate) n_request: u32,
    /// Values of [`schema::IdentifierStrength::Weak`] that both have.
    pub(in crate::accumulate) n_weak: u32,
    pub(in crate::accumulate) follows: Follows,
    pub(in crate::accumulate) entered: bool,
    /// The record shows values of kinds that the span has shown too, and none
    /// is the same.
    pub(in crate::accumulate) differs: bool,
    /// The record shows a value.
    names: bool,
    /// Its thread has printed the record, and the span a moment ago.
    is_at_work: bool,
}

/// What a span is after a record that fits.
#[derive(Debug)]
pub(in crate::accumulate) struct After {
    /// The methods that it can be then, sorted.
    pub(super) tops: Vec<Next>,
    /// Values of [`schema::IdentifierStrength::Request`] that both have.
    pub(in crate::accumulate) n_request: u32,
    /// Values of [`schema::IdentifierStrength::Weak`] that both have.
    pub(in crate::accumulate) n_weak: u32,
    /// The record shows a value.
    pub(super) names: bool,
}

impl Fit {
    /// The methods of the span that can print the record.
    pub(in crate::accumulate) fn tops(&self) -> &[TopLevelId] {
        &self.tops
    }

    /// The record prints an id: of the span's request, where no thread tells, as much as one that
    /// both name.
    pub(in crate::accumulate) fn prints_id(&mut self, is_the_same: bool) {
        self.names = true;
        if is_the_same {
            self.n_request += 1;
            self.differs = false;
        }
    }

    /// Whether nobody is known to run what would have printed both.
    pub(in crate::accumulate) fn is_unreached(&self, orders: &Orders<'_>) -> bool {
        are_unreached(self.tops.iter().copied(), orders)
    }

    /// Whether a span that its thread has left behind goes on with this record of
    /// `point`: it is the very next one of what the span began as, and begins nothing,
    /// or names what the span is about, which is enough for events. Where both, and the
    /// span is the task of its thread, the thread can have printed what comes between as
    /// something else.
    pub(in crate::accumulate) fn resumes(&self, orders: &Orders<'_>, point: LogPointId) -> bool {
        if self.n_request > 0 && self.tops.iter().all(|&top| orders.is_event(top)) {
            return true;
        }
        if !self.entered || orders.floats(point) {
            return false;
        }
        let (names_it, begins) = (self.n_request > 0, orders.starts(point));
        let is_task = || self.tops.iter().all(|&top| orders.kind(top) == TopLevelKind::Task);
        match self.follows {
            Follows::Next => names_it || !begins,
            Follows::Later => names_it && !begins && is_task(),
        }
    }
}

impl After {
    /// What follows tells whether the record is this or another log point of the same
    /// text, which fits as well: the span can be where either of them is.
    pub(in crate::accumulate) fn or(&mut self, other: Self) {
        for next in other.tops {
            match self.tops.binary_search_by_key(&next.top(), Next::top) {
                Ok(at) => self.tops[at].or(&next),
                Err(at) => self.tops.insert(at, next),
            }
        }
    }

    /// The methods that it can be then.
    pub(in crate::accumulate) fn tops(&self) -> &[Next] {
        &self.tops
    }

    /// The states of these methods.
    pub(in crate::accumulate) fn into_states(self) -> Vec<TopState> {
        Next::into_states(self.tops)
    }

    /// Whether all methods that it can be know then what they are about.
    pub(in crate::accumulate) fn is_about_something(&self) -> bool {
        self.tops.iter().all(|next| next.bound().iter().any(|name| name.identifier.is_some()))
    }
}

pub(super) fn are_unreached(mut tops: impl Iterator<Item = TopLevelId>, orders: &Orders<'_>) -> bool {
    tops.all(|top| orders.kind(top) == TopLevelKind::Unreached)
}

impl OpenSpan {
    /// How a record with `fact` fits; none if no top-level method of the span
    /// can have printed it now, or identifiers conflict. `is_at_work`: its thread has
    /// printed it, and the span a moment ago.
    pub(in crate::accumulate) fn fit(
        &self,
        orders: &Orders<'_>,
        kinds: &Kinds,
        fact: &Fact,
        is_at_work: bool,
    ) -> Option<Fit> {
        // Who knows what the record names is to be believed, not who knows nothing.
        let is_about_another = |state: &TopState| state.is_about_another(orders, fact);
        if (!fact.uuids.is_empty() && self.tops.iter().any(is_about_another)) || self.counts_another(fact) {
            return None;
        }
        let fact = self.without_wholes(orders, kinds, fact);
        let (mut tops, mut best, mut agreed) = (SmallVec::new(), None, Agreed::default());
        self.each_top(orders, fact, |state, index| {
            if let Some(score) = state.score(orders, fact, (index, is_at_work), &mut agreed) {
                best = best.max(Some(score));
                tops.push(state.top);
            }
        });
        let (n_request, n_weak, follows, entered) = best?;
        if n_request > 0 && self.thread.is_none() && self.is_another(orders, kinds, fact) {
            return None;
        }
        let differs = n_request == 0 && self.differs(orders, kinds, fact);
        let names = !fact.values.is_empty() || !fact.uuids.is_empty();
        Some(Fit { tops, n_request, n_weak, follows, entered, differs, names, is_at_work })
    }

    /// What it is after the record of `fact`, which fits as `fit` says.
    pub(in crate::accumulate) fn after(
        &self,
        orders: &Orders<'_>,
        kinds: &Kinds,
        fact: &Fact,
        fit: &Fit,
    ) -> After {
        let fact = self.without_wholes(orders, kinds, fact);
        let mut tops: Vec<Next> = Vec::with_capacity(fit.tops.len());
        let mut agreed = Agreed::default();
        self.each_top(orders, fact, |state, index| {
            let step = state.step(orders, fact, (index, fit.is_at_work), &mut agreed);
            tops.extend(step.map(|(next, _)| next));
        });
        debug_assert!(tops.iter().map(Next::top).eq(fit.tops.iter().copied()), "what fits is what goes on");
        After { tops, n_request: fit.n_request, n_weak: fit.n_weak, names: fit.names }
    }

    /// What the record says, but not what its parts are parts of if that is not what the span is about.
    fn without_wholes<'f>(&self, orders: &Orders<'_>, kinds: &Kinds, fact: &'f Fact) -> &'f Fact {
        let differs = !fact.wholes.is_empty() && self.differs_besides_parts(orders, kinds, fact);
        if differs { fact.without_wholes() } else { fact }
    }

    /// Calls `each` for every method that prints the log point of `fact` somewhere and can have
    /// printed the span, with its entry among the places of the log point.
    fn each_top<'s>(&'s self, orders: &Orders<'_>, fact: &Fact, mut each: impl FnMut(&'s TopState, usize)) {
        let places = orders.places(fact.log_point);
        // Where no thread is printed, the line before can have been somebody else's.
        let is_again =
            self.thread.is_some() && orders.is_ever_once(fact.log_point) && self.has_printed(fact.log_point);
        let mut each = |state: &'s TopState, index: usize| {
            if !is_again || state.can_repeat(orders, fact.log_point, index) {
                each(state, index);
            }
        };
        if self.tops.len() * FEW_SHARE < places.len() {
            for state in &self.tops {
                let index = places.binary_search_by_key(&state.top, |places| places.top);
                index.into_iter().for_each(|index| each(state, index));
            }
            return;
        }
        let mut wanted = self.tops.iter().peekable();
        for (index, places) in places.iter().enumerate() {
            while wanted.next_if(|state| state.top < places.top).is_some() {}
            let state = wanted.next_if(|state| state.top == places.top);
            state.into_iter().for_each(|state| each(state, index));
        }
    }

    /// The top-level methods in states `tops` that print `fact` next; none if
    /// there is none.
    pub(in crate::accumulate) fn steps(
        tops: &[TopState],
        orders: &Orders<'_>,
        fact: &Fact,
    ) -> Option<Vec<TopState>> {
        Some(Self::next_after(tops, orders, fact)?.into_states())
    }

    /// What a span is, of which the methods are in states `tops`, after a record that is the very
    /// next one.
    pub(in crate::accumulate) fn next_after(
        tops: &[TopState],
        orders: &Orders<'_>,
        fact: &Fact,
    ) -> Option<After> {
        let (mut found, mut best): (_, Option<Score>) = (Vec::new(), None);
        let mut agreed = Agreed::default();
        for state in tops {
            let places = orders.places(fact.log_point);
            let Ok(index) = places.binary_search_by_key(&state.top, |places| places.top) else { continue };
            let step = state.step(orders, fact, (index, false), &mut agreed);
            if let Some((next, score)) = step.filter(|(_, score)| score.2 == Follows::Next) {
                best = best.max(Some(score));
                found.push(next);
            }
        }
        let (n_request, n_weak, ..) = best?;
        Some(After { tops: found, n_request, n_weak, names: true })
    }
}
