//! In turn: what a broker hands to one thread comes in the order in which it was sent.
//!
//! Between two messages of which it is sure who has sent them there are as many sent as taken, and
//! the first is the first. So each has its place in the line, and who can have sent it stands at that
//! place, or beside it as far as several were sending at once. That is believed where all messages
//! whose senders are sure keep the order, and enough of them.

use std::collections::{BTreeMap, BTreeSet};

use schema::TopLevelId;

use super::gaps::{Call, Gap, Gaps};
use super::{Handler, SURE_MIN, Shares, sure};
use crate::stitch::facts::Facts;

/// So many pairs of messages in a row are sent and taken in one order by chance less than once in
/// [`super::values`]' odds of nine.
const IN_ORDER_MIN: usize = 4;

/// One message that was taken: when, which of the handlers, and the gap of its sender if that is sure.
type Taken = (i64, usize, Option<u32>);

/// Leaves no match of a message that the order of others rules out.
pub(super) fn keep(
    facts: &Facts<'_>,
    (calls, gaps): (&[Call], &Gaps),
    handlers: &mut [Handler],
    known: &Shares,
) {
    let is_sent = |gap: u32| calls[gaps.get(gap).call as usize].is_sent;
    let mut queues: BTreeMap<(TopLevelId, u32), Vec<Taken>> = BTreeMap::new();
    let mut threads: BTreeMap<(TopLevelId, u32), BTreeSet<&str>> = BTreeMap::new();
    let sure = sure(gaps, handlers, known, SURE_MIN);
    for (at, ((span, matches), sure)) in handlers.iter().zip(sure).enumerate() {
        let fact = facts.get(*span);
        let to =
            matches.iter().find(|one| is_sent(one.gap)).map(|one| calls[gaps.get(one.gap).call as usize].to);
        if let Some((to, thread)) = to.zip(fact.thread) {
            threads.entry((to, fact.node)).or_default().insert(thread);
            queues.entry((to, fact.node)).or_default().push((fact.start_us, at, sure.map(|sure| sure.gap)));
        }
    }
    for (queue, mut taken) in queues {
        taken.sort_unstable();
        let sent: Vec<u32> = sent(calls, gaps, queue.0);
        let is_only =
            threads.keys().filter(|(top, _)| *top == queue.0).count() == 1 && threads[&queue].len() == 1;
        let times = |gap: u32| sent_us(facts, gaps.get(gap));
        let anchors: Vec<(usize, u32)> =
            (0..).zip(&taken).filter_map(|(at, one)| Some((at, one.2?))).collect();
        let rows = anchors.windows(2).map(|both| (times(both[0].1), times(both[1].1)));
        let (mut n_in_order, mut n_crossed) = (0, 0);
        for (a, b) in rows {
            n_in_order += usize::from(a[1] < b[0]);
            n_crossed += usize::from(b[1] < a[0]);
        }
        if !is_only || n_crossed > 0 || n_in_order < IN_ORDER_MIN {
            continue;
        }
        let ends = std::iter::once(None).chain(anchors.iter().copied().map(Some));
        let nexts = anchors.iter().copied().map(Some).chain(std::iter::once(None));
        for (from, to) in ends.zip(nexts) {
            let between = from.map_or(0, |(at, _)| at + 1)..to.map_or(taken.len(), |(at, _)| at);
            let bounds = [from.map(|(_, gap)| times(gap)), to.map(|(_, gap)| times(gap))];
            let own: Vec<usize> = taken[between].iter().map(|one| one.1).collect();
            let is_anchor = |gap: u32| anchors.iter().any(|(_, anchor)| *anchor == gap);
            let open: Vec<u32> = sent.iter().copied().filter(|&gap| !is_anchor(gap)).collect();
            keep_between(facts, gaps, (&open, bounds), &own, handlers);
        }
    }
}

/// Gaps in which something was sent to what `to` takes.
fn sent(calls: &[Call], gaps: &Gaps, to: TopLevelId) -> Vec<u32> {
    let is_meant = |gap: &Gap| {
        let call = &calls[gap.call as usize];
        call.is_sent && call.to == to && call.n_past == 0 && gap.n_odd == 0
    };
    (0..).zip(gaps.iter()).filter(|(_, gap)| is_meant(gap)).map(|(at, _)| at).collect()
}

/// From when until when it can have been sent: until the sender's next line.
fn sent_us(facts: &Facts<'_>, gap: &Gap) -> [i64; 2] {
    let fact = facts.get(gap.span);
    let end = fact.events.get(gap.behind as usize).map_or(fact.end_us, |event| event.ts_us);
    [gap.begin_us, end.max(gap.begin_us)]
}

/// Of the handlers `own` between two messages that were sent within `bounds` leaves each the
/// senders that stand at its place.
fn keep_between(
    facts: &Facts<'_>,
    gaps: &Gaps,
    (open, bounds): (&[u32], [Option<[i64; 2]>; 2]),
    own: &[usize],
    handlers: &mut [Handler],
) {
    let times = |gap: u32| sent_us(facts, gaps.get(gap));
    let is_in = |gap: &u32| {
        let [begin, end] = times(*gap);
        bounds[0].is_none_or(|before| end >= before[0]) && bounds[1].is_none_or(|after| begin <= after[1])
    };
    let is_surely_in = |gap: &u32| {
        let [begin, end] = times(*gap);
        bounds[0].is_none_or(|before| begin > before[1]) && bounds[1].is_none_or(|after| end < after[0])
    };
    let all: Vec<u32> = open.iter().copied().filter(is_in).collect();
    let sure: Vec<[i64; 2]> = all.iter().filter(|gap| is_surely_in(gap)).map(|gap| times(*gap)).collect();
    // Where more was sent than taken, some was taken elsewhere.
    let is_whole = sure.len() <= own.len();
    for (place, &at) in own.iter().enumerate() {
        let can_be = |gap: u32| {
            let [begin, end] = times(gap);
            let n_before = sure.iter().filter(|other| other[1] < begin).count();
            let n_after = sure.iter().filter(|other| other[0] > end).count();
            all.binary_search(&gap).is_ok() && (!is_whole || n_before <= place && place + n_after < own.len())
        };
        for one in &mut handlers[at].1 {
            if open.binary_search(&one.gap).is_ok() && !can_be(one.gap) {
                one.odd = f64::INFINITY;
            }
        }
    }
}
