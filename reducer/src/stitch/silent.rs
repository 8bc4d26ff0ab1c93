//! Silent handlers: an entity sends an event, and who handles it prints nothing and
//! starts a task; the task names the entity.
//!
//! No hand-off is seen, for the one in the middle has left no span. The model knows
//! the way, though: the event carries the entity's name, and its handler starts the
//! task. What names the entity, can have got it on this way, and starts just after
//! the entity has printed, is its work. The entity need not be an innermost one: the
//! way and the time tell what the name alone does not.

use std::collections::{BTreeMap, BTreeSet};

use schema::kinds::is_made;
use schema::{IdentifierStrength, LinkKind, Pass, TopLevelId, ValueClassId};

use super::entities;
use super::facts::Facts;
use super::pairs::{Pair, Pairs};
use crate::merge::{Sets, SpanLink};

/// What was printed at most this long before was just printed, µs.
const JUST_US: i64 = 100_000;

/// Joins to `sets` the tasks that have no sender yet, and returns the links.
pub(super) fn join(
    pairs: &Pairs<'_>,
    facts: &Facts<'_>,
    sets: &mut Sets,
    has_sender: &[bool],
) -> Vec<SpanLink> {
    let mut out = Vec::new();
    let kinds: BTreeSet<ValueClassId> =
        pairs.names_of_entities().into_iter().map(|class| facts.kind(class)).collect();
    // The task may have the name in a text, and not know what it is.
    let holders = entities::holders(pairs, facts, &|top, value| {
        let strength = pairs.strength(top, value.value_class);
        strength != Some(IdentifierStrength::Node) && !pairs.looks_through(top, value.value_class)
    });
    for (kind, values) in holders.into_iter().filter(|(kind, _)| kinds.contains(kind)) {
        let ways = Ways::new(pairs, facts, kind);
        for spans in values.iter().filter(|(text, _)| is_made(text)).map(|(_, spans)| spans) {
            for (position, &span) in spans.iter().enumerate().filter(|&(_, &span)| !has_sender[span as usize])
            {
                let mut senders = spans[..position].iter().rev().copied();
                let is_sender =
                    |&sender: &u32| ways.lead(facts, sender, span) && has_just_printed(facts, sender, span);
                if let Some(from) = senders.find(is_sender).filter(|&sender| sets.join(sender, span)) {
                    out.push(SpanLink { from, to: span, pair: None, by: Pass::Silent });
                }
            }
        }
    }
    out
}

/// Whether `sender` printed something on the node of `receiver` just before that
/// started.
fn has_just_printed(facts: &Facts<'_>, sender: u32, receiver: u32) -> bool {
    let (sender, receiver) = (facts.get(sender), facts.get(receiver));
    let before = sender.events.iter().rev().find(|event| event.ts_us <= receiver.start_us);
    sender.node == receiver.node
        && before.is_some_and(|event| receiver.start_us.saturating_sub(event.ts_us) <= JUST_US)
}

/// Ways of names of one kind over a handler of events to a task that it starts.
struct Ways(BTreeSet<(TopLevelId, TopLevelId)>);

impl Ways {
    fn new(pairs: &Pairs<'_>, facts: &Facts<'_>, kind: ValueClassId) -> Self {
        let carries = |pair: &&Pair| {
            let is_its = |class: ValueClassId| facts.kind(class) == kind;
            pair.kind == LinkKind::Queue
                && pair.map.iter().any(|mapped| is_its(mapped.from) && is_its(mapped.to))
        };
        let mut tells: BTreeMap<TopLevelId, Vec<TopLevelId>> = BTreeMap::new();
        for pair in pairs.iter().filter(carries) {
            tells.entry(pair.to).or_default().push(pair.from);
        }
        let starts = |pair: &&Pair| pair.kind == LinkKind::Thread && pair.map.is_empty();
        let ways = pairs.iter().filter(starts).flat_map(|pair| {
            let from = tells.get(&pair.from).into_iter().flatten();
            from.map(|&from| (from, pair.to))
        });
        Self(ways.collect())
    }

    fn lead(&self, facts: &Facts<'_>, from: u32, to: u32) -> bool {
        let top = |span: u32| facts.get(span).tops.first().copied();
        top(from).zip(top(to)).is_some_and(|way| self.0.contains(&way))
    }
}
