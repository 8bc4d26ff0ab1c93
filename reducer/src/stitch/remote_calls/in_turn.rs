//! In turn: what a broker hands to one thread comes in the order in which it was sent.
//!
//! Between two messages of which it is sure who has sent them there are as many sent as taken, and
//! the first is the first. So each has its place in the line, and who can have sent it stands at that
//! place, or beside it as far as several were sending at once. That is believed where all messages
//! whose senders are sure keep the order, and enough of them.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;
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
        let is_anchor: FxHashSet<u32> = anchors.iter().map(|(_, gap)| *gap).collect();
        let sent = Sent::new(sent(calls, gaps, queue.0).map(|gap| (times(gap), gap)).collect());
        let mut keep = |from: Option<(usize, u32)>, to: Option<(usize, u32)>, own: Option<(usize, u32)>| {
            let between = from.map_or(0, |(at, _)| at + 1)..to.map_or(taken.len(), |(at, _)| at);
            let bounds = [from.map(|(_, gap)| times(gap)), to.map(|(_, gap)| times(gap))];
            let is_open = |gap: u32| !is_anchor.contains(&gap) || own.is_some_and(|own| own.1 == gap);
            let all: Vec<One> = sent.within(bounds).filter(|(_, gap)| is_open(*gap)).collect();
            let is_meant = |at: usize| own.is_none_or(|own| own.0 == at);
            let places: Vec<Option<usize>> =
                between.map(|at| Some(taken[at].1).filter(|_| is_meant(at))).collect();
            keep_between(
                (&all, bounds),
                &places,
                |gap| is_sent(gap) && (own.is_some() || is_open(gap)),
                handlers,
            );
        };
        for place in 0..=anchors.len() {
            let before = place.checked_sub(1).map(|at| anchors[at]);
            let after = anchors.get(place).copied();
            keep(before, after, None);
            // What is sure stands at the place that the others leave it, or it would not be sure next time.
            if after.is_some() {
                keep(before, anchors.get(place + 1).copied(), after);
            }
        }
    }
}

/// From when until when something can have been sent, and its gap.
type One = ([i64; 2], u32);

/// The times of the messages before and after, if there are such.
type Bounds = [Option<[i64; 2]>; 2];

/// What was sent to one queue.
struct Sent {
    /// By the first time.
    all: Vec<One>,
    /// When those up to each have been sent.
    until: Vec<i64>,
}

impl Sent {
    fn new(mut all: Vec<One>) -> Self {
        all.sort_unstable();
        let mut last = i64::MIN;
        let until = all.iter().map(|([_, end], _)| {
            last = last.max(*end);
            last
        });
        Self { until: until.collect(), all }
    }

    /// What can have been sent within `bounds`.
    fn within(&self, bounds: Bounds) -> impl Iterator<Item = One> + '_ {
        let n = bounds[1]
            .map_or(self.all.len(), |after| self.all.partition_point(|([begin, _], _)| *begin <= after[1]));
        let from = bounds[0].map_or(0, |before| self.until.partition_point(|end| *end < before[0]));
        let ends_in = move |end: i64| bounds[0].is_none_or(|before| end >= before[0]);
        self.all[from.min(n)..n].iter().copied().filter(move |([_, end], _)| ends_in(*end))
    }
}

/// Gaps in which something was sent to what `to` takes.
fn sent<'a>(calls: &'a [Call], gaps: &'a Gaps, to: TopLevelId) -> impl Iterator<Item = u32> + use<'a> {
    let is_meant = move |gap: &Gap| {
        let call = &calls[gap.call as usize];
        call.is_sent && call.to == to && call.n_past == 0 && gap.n_odd == 0
    };
    (0..).zip(gaps.iter()).filter(move |(_, gap)| is_meant(gap)).map(|(at, _)| at)
}

/// From when until when it can have been sent: until the sender's next line.
fn sent_us(facts: &Facts<'_>, gap: &Gap) -> [i64; 2] {
    let fact = facts.get(gap.span);
    let end = fact.events.get(gap.behind as usize).map_or(fact.end_us, |event| event.ts_us);
    [gap.begin_us, end.max(gap.begin_us)]
}

/// Of the handlers that were taken between two messages which were sent within `bounds`, leaves those
/// that are meant the senders that stand at their `places`. `all`: what can have been sent within them.
fn keep_between(
    (all, bounds): (&[One], Bounds),
    places: &[Option<usize>],
    is_open: impl Fn(u32) -> bool,
    handlers: &mut [Handler],
) {
    let is_surely_in = |[begin, end]: [i64; 2]| {
        bounds[0].is_none_or(|before| begin > before[1]) && bounds[1].is_none_or(|after| end < after[0])
    };
    let sure: Vec<[i64; 2]> =
        all.iter().map(|(times, _)| *times).filter(|times| is_surely_in(*times)).collect();
    // Where more was sent than taken, some was taken elsewhere.
    let is_whole = sure.len() <= places.len();
    for (place, at) in (0..).zip(places).filter_map(|(place, at): (usize, _)| Some((place, (*at)?))) {
        let can_be = |[begin, end]: [i64; 2]| {
            let n_before = sure.iter().filter(|other| other[1] < begin).count();
            let n_after = sure.iter().filter(|other| other[0] > end).count();
            !is_whole || n_before <= place && place + n_after < places.len()
        };
        for one in handlers[at].1.iter_mut().filter(|one| is_open(one.gap)) {
            let times = all.iter().find(|(_, gap)| *gap == one.gap).map(|(times, _)| *times);
            if !times.is_some_and(can_be) {
                one.odd = f64::INFINITY;
            }
        }
    }
}
