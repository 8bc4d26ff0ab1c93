//! Detours: who went another way through its code has handed nothing over.
//!
//! A hand-off stands on some ways through its sender only. What is printed before it, or
//! after it, the model tells, and what is printed on other ways than to any place where it
//! is made; where no thread is printed, such a line must be one that can come neither before
//! nor after those (the other branch, an early return). A span that shows it went there
//! (happened-before, Pivot Tracing §3): a hand-off of somebody else is the only reading,
//! however near in time or by the name of a thread.
//!
//! Nor has who is seen only at what comes after the hand-off, and not how it begins, handed
//! over what begins when that is printed.
//!
//! The other way around, who shows what a receiver prints only when it is handed something
//! else has been handed nothing by this pair.
//!
//! Under-approximates: lines that everybody prints have no place, and where the sender
//! prints nothing beside its hand-off nothing is told.

use rustc_hash::FxHashMap;
use schema::model::floats_from;
use schema::{LinkKind, LogPointId, Model};

use super::evidence::Candidate;
use super::facts::Facts;
use super::pairs::{Pair, Pairs, Role};
use crate::skeleton::Event;

/// Takes out hand-offs to whom was handed something else, and those on one node, or of
/// events, by whom went another way.
pub(super) fn leave_out(
    model: &Model,
    pairs: &Pairs<'_>,
    facts: &Facts<'_>,
    candidates: &mut Vec<Candidate>,
) {
    let floats = floating(model);
    let mut known: FxHashMap<(u32, bool, LogPointId), bool> = FxHashMap::default();
    candidates.retain(|candidate| {
        let pair = pairs.get(candidate.pair);
        let elsewhere = pairs.printed_elsewhere(pair);
        let is_elsewhere = |event: &Event| {
            event
                .log_point
                .is_some_and(|point| elsewhere.binary_search(&point).is_ok() && !floats[point.index()])
        };
        if facts.get(candidate.to).events.iter().any(is_elsewhere) {
            return false;
        }
        let is_event = matches!(pair.kind, LinkKind::Queue | LinkKind::Socket);
        // Events of one entity are its life, whoever of it sends them.
        let is_seen = match pair.role {
            Role::Local => true,
            Role::Remote => is_event,
            Role::Entity => is_event && !pairs.is_entity(pair.to),
            _ => false,
        };
        if pair.id.is_none() || pair.is_way() || !is_seen || (pair.from == pair.to && !is_event) {
            return true;
        }
        if pair.role == Role::Local && is_over(pairs, facts, candidate) {
            return false;
        }
        let has_thread = facts.get(candidate.from).thread.is_some();
        let points = facts.get(candidate.from).events.iter().filter_map(|event| event.log_point);
        let mut went_there = points.map(|point| {
            let is_detour = || is_detour(pairs, &floats, (pair, has_thread), point);
            *known.entry((candidate.pair, has_thread, point)).or_insert_with(is_detour)
        });
        !went_there.any(|is_detour| is_detour)
    });
}

/// Whether all that the sender has printed comes after its hand-off, nothing of it is how
/// the sender begins, and the receiver began after all of it: the hand-off was made in what
/// is missing of the sender. Who begins with a line that he has handed over may only have
/// been faster than the receiver.
fn is_over(pairs: &Pairs<'_>, facts: &Facts<'_>, candidate: &Candidate) -> bool {
    let pair = pairs.get(candidate.pair);
    let (sender, receiver) = (facts.get(candidate.from), facts.get(candidate.to));
    let after = pairs.printed_after(pair);
    let is_late = |event: &Event| {
        event
            .log_point
            .is_some_and(|point| after.binary_search(&point).is_ok() && !pairs.starts_with(pair.from, point))
    };
    receiver.start_us > sender.end_us && sender.events.iter().all(is_late)
}

/// Which log points anybody prints at any time: they have no place in an order.
fn floating(model: &Model) -> Vec<bool> {
    let mut n_tops = vec![0; model.log_points.len()];
    for top in &model.top_level_methods {
        for point in top.dag.nodes.iter().flat_map(|node| &node.points) {
            n_tops[point.log_point.index()] += 1;
        }
    }
    let most = floats_from(model.top_level_methods.len());
    let is_initializer = |index: usize| model.log_points[index].method == "<clinit>";
    (0..n_tops.len()).map(|index| n_tops[index] > most || is_initializer(index)).collect()
}

/// Whether who prints `point` in the sender of `pair` has gone past its hand-off.
fn is_detour(
    pairs: &Pairs<'_>,
    floats: &[bool],
    (pair, has_thread): (&Pair, bool),
    point: LogPointId,
) -> bool {
    let (before, after) = (pairs.printed_before(pair), pairs.printed_after(pair));
    let has_place = |point: LogPointId| !floats[point.index()] && pairs.prints(pair.from, point);
    // What comes before one of several places of a hand-off is no line of another way.
    if pairs.printed_beside(pair).binary_search(&point).is_err() || !has_place(point) {
        return false;
    }
    if has_thread {
        return true;
    }
    let is_one_way = |&other: &LogPointId| {
        pairs.prints_after(pair.from, point, other) || pairs.prints_after(pair.from, other, point)
    };
    let mut beside = before.iter().chain(after).filter(|other| has_place(**other)).peekable();
    before.iter().any(|other| has_place(*other)) && !beside.any(is_one_way)
}
