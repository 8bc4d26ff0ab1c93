//! In time: whether a sender was there when its receiver began, by clocks and by the order of lines.

use schema::{LinkKind, TopLevelId};

use super::by_thread::is_amid;
use super::{Finder, is_round_of};
use crate::stitch::evidence::is_chain;
use crate::stitch::facts::Fact;
use crate::stitch::held::Held;
use crate::stitch::pairs::{Pair, Role};

impl Finder<'_> {
    pub(super) fn in_time(&self, index: u32, sender: u32, receiver: &Fact<'_>) -> bool {
        let pair = self.pairs.get(index);
        let other = self.facts.get(sender);
        if (is_chain(pair) && other.node == receiver.node) || !self.is_near(pair, other, receiver) {
            return false;
        }
        if pair.role == Role::Cut {
            let starts = receiver.first_point.is_none_or(|point| self.pairs.starts_with(pair.to, point));
            // What begins as something else begins is no rest, unless its thread says so.
            let begins = |&top: &TopLevelId| {
                receiver.first_point.is_some_and(|point| self.pairs.starts_with(top, point))
            };
            let is_other = receiver.thread.is_none() && receiver.tops.first().is_some_and(begins);
            let is_cut = other.truncated || self.is_late_rest(other, receiver);
            if !is_cut || starts || is_other || !self.can_go_on(pair.to, other, receiver) {
                return false;
            }
        }
        // Spans that follow each other: the earlier one sends.
        if matches!(pair.role, Role::Cut | Role::Entity) && other.start_us > receiver.start_us {
            return false;
        }
        if is_round_of(self.pairs, pair) && other.start_us > receiver.start_us {
            // A line that a dispatcher prints by itself, of the very thing, is of its round.
            let is_same = |value: &Held<'_>| {
                value.is_one_thing() && other.values_of(value.value_class).iter().any(|our| our.is(value))
            };
            if other.events.len() > 1 || !receiver.values().iter().any(is_same) {
                return false;
            }
        }
        !(self.pairs.is_ahead(pair, other, receiver)
            || self.has_begun_anew(pair, sender, receiver)
            || self.has_called_before(pair, other, receiver)
            || (pair.kind == LinkKind::Queue && is_amid(other, receiver)))
    }

    /// Whether a sender began early enough, and had not ended too long ago.
    fn is_near(&self, pair: &Pair, sender: &Fact<'_>, receiver: &Fact<'_>) -> bool {
        let gap_us = receiver.start_us.saturating_sub(sender.end_us);
        let lead_us = sender.start_us.saturating_sub(receiver.start_us);
        let is_endless = || pair.role == Role::Entity && self.pairs.is_entity(pair.from);
        let is_rest = || pair.role == Role::Cut && self.is_late_rest(sender, receiver);
        lead_us <= self.lead_max_us(pair) && (gap_us <= self.config.window_us || is_endless() || is_rest())
    }

    /// Whether a thread goes on about a thing, by its digest, that it was at before it waited
    /// for longer than the window is: it waits as long as it has to.
    fn is_late_rest(&self, before: &Fact<'_>, rest: &Fact<'_>) -> bool {
        let is_same = |value: &Held<'_>| before.values().iter().any(|our| our.is(value));
        before.node == rest.node
            && before.thread.is_some()
            && before.thread == rest.thread
            && rest.start_us.saturating_sub(before.end_us) > self.config.window_us
            && rest.values().iter().any(|value| value.is_unique() && is_same(value))
    }

    /// Whether `top` can print the first line of the one after the last of the other, as far
    /// as it prints both: what cannot follow is no rest.
    fn can_go_on(&self, top: TopLevelId, before: &Fact<'_>, rest: &Fact<'_>) -> bool {
        let last = before.events.last().and_then(|event| event.log_point);
        last.zip(rest.first_point).is_none_or(|(last, first)| {
            !self.pairs.prints(top, last)
                || !self.pairs.prints(top, first)
                || self.pairs.prints_after(top, last, first)
        })
    }
}
