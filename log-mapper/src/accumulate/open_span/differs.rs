//! Whether a record names another thing than a span that could take it.

use std::sync::Arc;

use schema::kinds::are_part_and_whole;
use schema::{Kinds, LogPointId, TopLevelKind, ValueClassId};

use super::OpenSpan;
use super::bound::is_small;
use crate::accumulate::facts::{Fact, Uuid};
use crate::accumulate::orders::Orders;

/// Events of a span, latest first, in which what it knows is looked up as a field.
const FIELDS_BACK_MAX: usize = 64;

impl OpenSpan {
    /// Whether the record and the span name different things of one kind.
    pub(super) fn differs(&self, orders: &Orders<'_>, kinds: &Kinds, fact: &Fact) -> bool {
        self.differs_in(orders, kinds, fact, &|_| true)
    }

    /// The same, of other kinds than the parts are of by which a whole is known: a
    /// whole has many parts, but what else it has to do with must be the same.
    pub(super) fn differs_besides_parts(&self, orders: &Orders<'_>, kinds: &Kinds, fact: &Fact) -> bool {
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
        let of_kind = |kind| self.known().filter(move |b| kinds.of(b.value_class) == kind).map(|b| &b.text);
        let is_another = |kind: ValueClassId, text: &Arc<str>| {
            let is_same = |known: &Arc<str>| known == text || are_part_and_whole(known, text);
            let mut known = of_kind(kind);
            // Most methods that it can be know the same.
            let mut last: Option<&Arc<str>> = None;
            counts(kind)
                && known.all(|known| {
                    let is_looked_at = last.replace(known).is_some_and(|last| Arc::ptr_eq(last, known));
                    is_looked_at || !is_same(known)
                })
                && last.is_some()
        };
        let are_fields = |kind, variable| {
            if !orders.is_field((fact.log_point, variable)) {
                return false;
            }
            let mut texts: Vec<&Arc<str>> = of_kind(kind).collect();
            texts.sort_unstable();
            texts.dedup();
            texts.iter().all(|text| self.is_another_field(orders, text, (fact.log_point, variable)))
        };
        let is_other =
            |uuid: &Uuid| uuid.classes.iter().any(|class| is_another(kinds.of(*class), &uuid.text));
        // Small numbers are sizes as often as names, but for what goes in rounds.
        let has_rounds = self.tops.iter().all(|state| orders.kind(state.top) == TopLevelKind::Dispatcher);
        fact.uuids.iter().filter(|uuid| uuid.is_shown).any(is_other)
            || fact.values.iter().filter(|(_, text)| has_rounds || !is_small(text)).any(|(variable, text)| {
                let classes = orders.request_classes(fact.log_point, *variable);
                classes.iter().map(|class| kinds.of(*class)).any(|kind| {
                    is_another(kind, text)
                        && !are_fields(kind, *variable)
                        && !self.names_many(orders, kinds, kind)
                })
            })
    }

    /// Whether its thread's last lines have named several things of a kind: who goes through
    /// many is not told by one of them.
    fn names_many(&self, orders: &Orders<'_>, kinds: &Kinds, kind: ValueClassId) -> bool {
        let mut named: Option<&str> = None;
        self.thread.is_some()
            && self.events.iter().rev().take(FIELDS_BACK_MAX).any(|event| {
                event.log_point.is_some_and(|point| {
                    event.values.iter().any(|(variable, text)| {
                        let is_of_kind = orders
                            .request_classes(point, variable)
                            .iter()
                            .any(|class| kinds.of(*class) == kind);
                        is_of_kind && *named.get_or_insert(text) != text
                    })
                })
            })
    }

    /// Whether what is known was printed as another field of the object of which `variable`
    /// of a log point prints one: an object's file and its index are two files, but not two
    /// objects.
    fn is_another_field(&self, orders: &Orders<'_>, known: &str, variable: (LogPointId, u32)) -> bool {
        self.events.iter().rev().take(FIELDS_BACK_MAX).any(|event| {
            event.log_point.is_some_and(|point| {
                let is_it = |(field, text): (u32, &str)| {
                    text == known && orders.are_two_fields((point, field), variable)
                };
                event.values.iter().any(is_it)
            })
        })
    }
}
