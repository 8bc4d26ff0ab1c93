//! Queue order: of hand-offs that nothing but time tells apart, those that were handed over
//! first are taken first.
//!
//! Who is nearest in time is taken for the sender, best first ([`super::accept`]), and where
//! several wait with the same values that gives the last one to the first taker, and leaves
//! the first one to the last. Queues, executors and connections do not let the later one
//! overtake. Two such hand-offs that cross are uncrossed: the time between senders and
//! receivers is the same in all, and as many are served.

use rustc_hash::FxHashMap;
use schema::LinkKind;

use super::evidence::Candidate;
use super::facts::Facts;
use super::pairs::{Pair, Pairs, Role};

/// Uncrosses hand-offs of `taken`, of which each end is another one's equal as far as
/// `candidates` tell.
pub(super) fn uncross<'c>(
    pairs: &Pairs<'_>,
    facts: &Facts<'_>,
    candidates: &'c [Candidate],
    taken: &mut [&'c Candidate],
) {
    let is_queued = |candidate: &Candidate| !candidate.is_bare && is_queue(pairs.get(candidate.pair));
    let mut receivers: Vec<usize> = (0..taken.len()).filter(|&at| is_queued(taken[at])).collect();
    if receivers.len() < 2 {
        return;
    }
    let mut of_sender: FxHashMap<(u32, u32), usize> =
        receivers.iter().map(|&at| ((taken[at].pair, taken[at].from), at)).collect();
    let known = candidates.iter().filter(|candidate| is_queued(candidate));
    let known: FxHashMap<(u32, u32, u32), &Candidate> =
        known.map(|candidate| ((candidate.pair, candidate.from, candidate.to), candidate)).collect();
    let mut senders: FxHashMap<(u32, u32), Vec<&Candidate>> = FxHashMap::default();
    for candidate in known.values() {
        senders.entry((candidate.pair, candidate.to)).or_default().push(candidate);
    }
    // Spans are numbered in the order in which they start.
    receivers.sort_unstable_by_key(|&at| taken[at].to);
    for at in receivers {
        let own = taken[at];
        let swapped = |earlier: &&&Candidate| {
            let other = taken[*of_sender.get(&(earlier.pair, earlier.from))?];
            let crossed = known.get(&(own.pair, own.from, other.to))?;
            let are_equal = own.evidence.0.tells_as(&earlier.evidence.0)
                && other.evidence.0.tells_as(&crossed.evidence.0);
            let in_order = begins_before(facts, earlier) && begins_before(facts, crossed);
            (earlier.from < own.from && other.to > own.to && are_equal && in_order).then_some(*crossed)
        };
        let options = senders.get(&(own.pair, own.to)).into_iter().flatten();
        let first = options.filter(|earlier| swapped(earlier).is_some()).min_by_key(|earlier| earlier.from);
        let Some((earlier, crossed)) = first.and_then(|earlier| Some((*earlier, swapped(&earlier)?))) else {
            continue;
        };
        let Some(&other) = of_sender.get(&(earlier.pair, earlier.from)) else { continue };
        (taken[at], taken[other]) = (earlier, crossed);
        of_sender.insert((own.pair, earlier.from), at);
        of_sender.insert((own.pair, own.from), other);
    }
}

/// Whether a pair hands over one thing at a time, to whoever takes it next.
fn is_queue(pair: &Pair) -> bool {
    !pair.many
        && !pair.is_way()
        && matches!(pair.role, Role::Local | Role::Remote)
        && pair.kind != LinkKind::Call
}

/// Whether the sender has begun when the receiver does.
fn begins_before(facts: &Facts<'_>, candidate: &Candidate) -> bool {
    facts.get(candidate.from).start_us <= facts.get(candidate.to).start_us
}
