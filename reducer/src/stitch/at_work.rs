//! At work: who is at work on a thing when something is done to it has asked for that, not who
//! was done with it by then.
//!
//! An event about a thing can come from its own node or from another one. That the senders of
//! its own node come first says nothing where one of them has printed its last line before, and
//! one elsewhere, which names as much of the thing, has begun and not ended: who asks for
//! something goes on when that is done.

use rustc_hash::FxHashMap;
use schema::LinkKind;

use super::candidates::TICK_US;
use super::evidence::Candidate;
use super::facts::Facts;
use super::pairs::{Pairs, Role};

/// Takes out hand-offs of events by who was done on the receiver's node, if somebody is at work
/// on another one.
pub(super) fn leave_out(pairs: &Pairs<'_>, facts: &Facts<'_>, candidates: &mut Vec<Candidate>) {
    let mut n_named: FxHashMap<u32, u32> = FxHashMap::default();
    for candidate in &*candidates {
        let pair = pairs.get(candidate.pair);
        let (sender, receiver) = (facts.get(candidate.from), facts.get(candidate.to));
        let is_at_work = sender.start_us <= receiver.start_us && receiver.start_us <= sender.end_us;
        if is_at_work && sender.node != receiver.node && pair.kind == LinkKind::Socket && !pair.is_way() {
            let n = n_named.entry(candidate.to).or_default();
            *n = (*n).max(candidate.evidence.0.n_request);
        }
    }
    candidates.retain(|candidate| {
        let pair = pairs.get(candidate.pair);
        let (sender, receiver) = (facts.get(candidate.from), facts.get(candidate.to));
        let is_over = sender.end_us.saturating_add(TICK_US) < receiver.start_us;
        let is_event = matches!(pair.role, Role::Local | Role::Remote)
            && matches!(pair.kind, LinkKind::Queue | LinkKind::Socket)
            && sender.node == receiver.node;
        let n_named = n_named.get(&candidate.to).copied().unwrap_or_default();
        !(is_over && is_event && n_named > 0 && candidate.evidence.0.n_request <= n_named)
    });
}
