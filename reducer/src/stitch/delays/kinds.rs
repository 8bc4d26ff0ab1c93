//! Kinds: a receiver's first line tells what sort of event it was handed.
//!
//! A handler of events takes those of all kinds as fast. Where those of one kind mostly come
//! at once after the nearest one who can have sent them, and those of another kind hardly
//! ever do, the latter are sent by somebody else, who prints nothing: that both name one
//! thing shows only that it is still there (what is kept for a request is thrown away
//! later, by who tidies up). A line that others print too tells no sort.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use schema::{LinkKind, LogPointId, TopLevelId};

use super::super::evidence::Candidate;
use super::super::facts::{Fact, Facts};
use super::super::pairs::{Pair, Pairs, Role};

/// What comes within this time after its sender comes at once, µs.
const AT_ONCE_US: i64 = 5_000;

/// Events of a kind from which to learn, and the share of those of a late kind that may
/// happen to come at once.
const EVENTS_MIN: usize = 8;
const STRAY_SHARE: usize = 8;

/// The kinds of events that nobody sends who prints anything: (handler, first line).
pub(in crate::stitch) struct Late(FxHashSet<(TopLevelId, LogPointId)>);

impl Late {
    /// Learnt from the nearest sender of each receiver.
    pub(in crate::stitch) fn new(pairs: &Pairs<'_>, facts: &Facts<'_>, candidates: &[Candidate]) -> Self {
        let mut nearest: FxHashMap<u32, (i64, TopLevelId)> = FxHashMap::default();
        let events = candidates.iter().filter(|candidate| is_event(pairs.get(candidate.pair)));
        for candidate in events.filter(|candidate| super::is_named(candidate)) {
            let sender = (candidate.gap_us, pairs.get(candidate.pair).to);
            nearest.entry(candidate.to).and_modify(|known| *known = sender.min(*known)).or_insert(sender);
        }
        let mut kinds: BTreeMap<(TopLevelId, LogPointId), (usize, usize)> = BTreeMap::new();
        for (receiver, (gap_us, handler)) in nearest {
            let Some(first) = facts.get(receiver).first_point else { continue };
            let (n_events, n_at_once) = kinds.entry((handler, first)).or_default();
            *n_events += 1;
            *n_at_once += usize::from(gap_us <= AT_ONCE_US);
        }
        kinds.retain(|_, (n_events, _)| *n_events >= EVENTS_MIN);
        let prompt = kinds.iter().filter(|(_, (n_events, n_at_once))| n_at_once * 2 >= *n_events);
        let prompt: FxHashSet<TopLevelId> = prompt.map(|((handler, _), _)| *handler).collect();
        kinds.retain(|(handler, _), (n_events, n_at_once)| {
            prompt.contains(handler) && *n_at_once * STRAY_SHARE <= *n_events
        });
        kinds.retain(|&(handler, first), _| pairs.alone_prints(handler, first));
        Self(kinds.into_keys().collect())
    }

    /// Takes out the candidates that hand over what is of such a kind.
    pub(in crate::stitch) fn leave_out(
        &self,
        pairs: &Pairs<'_>,
        facts: &Facts<'_>,
        candidates: &mut Vec<Candidate>,
    ) {
        candidates.retain(|candidate| !self.is(pairs.get(candidate.pair), facts.get(candidate.to)));
    }

    /// Whether what `receiver` was handed is of such a kind, if that was along `pair`.
    pub(in crate::stitch) fn is(&self, pair: &Pair, receiver: &Fact<'_>) -> bool {
        let first = receiver.first_point.filter(|_| is_event(pair));
        first.is_some_and(|first| self.0.contains(&(pair.to, first)))
    }
}

/// Whether a pair hands events to somebody else. What is done to one thing, one after the
/// other, takes as long as it takes.
fn is_event(pair: &Pair) -> bool {
    matches!(pair.kind, LinkKind::Queue | LinkKind::Socket)
        && matches!(pair.role, Role::Local | Role::Remote)
        && !pair.is_way()
}
