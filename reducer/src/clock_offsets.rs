//! Clock offsets: by how much the clock of each node is ahead of those of the others, all the time.
//!
//! What is handed over begins no earlier than who hands it over. Where nodes hand over to each other
//! both ways, and along one of them most receivers begin before those of the other node that name
//! the same rare thing, the clock of their node is behind: by as much as makes receivers of both
//! ways equally late. Of one way alone nothing is concluded: who prints only what is done comes
//! later than what was done for him.
//!
//! The times of spans are moved while spans are joined; rows show what was printed.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use schema::kinds::TELLING_MIN;
use schema::{LinkKind, Model, Name, TopLevelId};

use crate::merge::start_us;
use crate::skeleton::Span;

/// A text that more spans hold names something that lives on.
const HOLDERS_MAX: usize = 32;

/// Who comes before a receiver has handed over, unless another one is so many times nearer.
const NEARER_MIN: i64 = 10;

/// Delays each way from which to learn.
const DELAYS_MIN: usize = 16;

/// How much likelier than chance a difference of two clocks must be.
const ODDS_MIN: f64 = 20.0;

/// By how much the clocks of nodes are ahead, µs.
pub(crate) type Offsets = FxHashMap<Name, i64>;

/// Moves the times of the nodes whose clocks differ from those of most; returns by how much. No
/// clock differs by more than `most_us`.
pub(crate) fn make_up(model: &Model, spans: &mut [Span], most_us: i64) -> Offsets {
    let delays = delays(model, spans, most_us);
    let mut found: Vec<Offset> = Vec::new();
    for (&(from, to), there_us) in delays.iter().filter(|((from, to), _)| from < to) {
        if let Some(back_us) = delays.get(&(to, from)) {
            found.extend(difference(there_us, back_us).map(|(us, n)| Offset { from, to, us, n }));
        }
    }
    found.sort_by_key(|offset| (std::cmp::Reverse(offset.n), offset.from, offset.to));
    let mut n_spans: BTreeMap<&'static str, usize> = BTreeMap::new();
    if !found.is_empty() {
        spans.iter().for_each(|span| *n_spans.entry(span.node.as_str()).or_default() += 1);
    }
    let offsets = agreed(&found, &n_spans);
    for span in spans.iter_mut().filter(|_| !offsets.is_empty()) {
        if let Some(ahead_us) = offsets.get(&span.node) {
            span.events.iter_mut().for_each(|event| event.ts_us -= ahead_us);
        }
    }
    offsets
}

/// Gives the spans the times that were printed.
pub(crate) fn restore(spans: &mut [Span], offsets: &Offsets) {
    for span in spans.iter_mut().filter(|_| !offsets.is_empty()) {
        if let Some(ahead_us) = offsets.get(&span.node) {
            span.events.iter_mut().for_each(|event| event.ts_us += ahead_us);
        }
    }
}

/// By nodes of senders and receivers, how much later than the sender each receiver begins that names
/// the same rare thing, µs.
fn delays(model: &Model, spans: &[Span], most_us: i64) -> BTreeMap<(&'static str, &'static str), Vec<i64>> {
    let pairs: FxHashSet<(TopLevelId, TopLevelId)> = (model.communication_pairs.iter())
        .filter(|pair| pair.kind.crosses_nodes() && pair.kind != LinkKind::Entity)
        .map(|pair| (pair.from, pair.to))
        .collect();
    let mut holders: FxHashMap<&str, Vec<u32>> = FxHashMap::default();
    for (at, span) in (0_u32..).zip(spans) {
        let texts = span.identifiers.iter().map(|value| &*value.text);
        for text in texts.filter(|text| text.len() >= TELLING_MIN) {
            let holders = holders.entry(text).or_default();
            // One more than counts tells that there are too many.
            if holders.len() <= HOLDERS_MAX && holders.last() != Some(&at) {
                holders.push(at);
            }
        }
    }
    let mut nearest: BTreeMap<(u32, &'static str), i64> = BTreeMap::new();
    for holders in holders.values().filter(|holders| holders.len() <= HOLDERS_MAX) {
        for &to in holders {
            for &from in holders {
                let (sender, receiver) = (&spans[from as usize], &spans[to as usize]);
                let Some((&a, &b)) = sender.top_levels.first().zip(receiver.top_levels.first()) else {
                    continue;
                };
                if sender.node == receiver.node || !pairs.contains(&(a, b)) {
                    continue;
                }
                let delay_us = start_us(receiver).saturating_sub(start_us(sender));
                if delay_us.abs() <= most_us {
                    let known = nearest.entry((to, sender.node.as_str())).or_insert(delay_us);
                    *known = nearer(*known, delay_us);
                }
            }
        }
    }
    let mut out: BTreeMap<(&'static str, &'static str), Vec<i64>> = BTreeMap::new();
    for ((to, from), delay_us) in nearest {
        out.entry((from, spans[to as usize].node.as_str())).or_default().push(delay_us);
    }
    out
}

/// Of two delays the one that is rather that of a hand-over.
fn nearer(a: i64, b: i64) -> i64 {
    let cost = |us: i64| if us >= 0 { us } else { us.saturating_mul(-NEARER_MIN) };
    std::cmp::min_by_key(a, b, |&us| (cost(us), us))
}

/// By how much the clock of one node is ahead of that of another one.
#[derive(Clone, Copy, Debug)]
struct Offset {
    from: &'static str,
    to: &'static str,
    us: i64,
    /// Delays that say so.
    n: usize,
}

/// By how much the clock of receivers `there` is ahead of that of their senders, which are receivers
/// `back`, and how many delays say so; none if both can go by one clock.
fn difference(there_us: &[i64], back_us: &[i64]) -> Option<(i64, usize)> {
    if there_us.len().min(back_us.len()) < DELAYS_MIN {
        return None;
    }
    let [there, back] = [there_us, back_us].map(Middle::of);
    let apart = if there.us < 0 { there } else { back };
    let is_told = apart.us < 0 && there.us.saturating_add(back.us) >= 0 && apart.is_early();
    is_told.then(|| ((there.us - back.us) / 2, there_us.len().min(back_us.len())))
}

/// What is usual of delays.
#[derive(Clone, Copy, Debug)]
struct Middle {
    /// The median, µs.
    us: i64,
    n: usize,
    n_early: usize,
}

impl Middle {
    fn of(delays_us: &[i64]) -> Self {
        let mut sorted = delays_us.to_vec();
        sorted.sort_unstable();
        let n_early = sorted.partition_point(|&us| us < 0);
        Self { us: sorted[sorted.len() / 2], n: sorted.len(), n_early }
    }

    /// Whether more come too early than by chance, if as many do as do not.
    fn is_early(self) -> bool {
        let (n, n_early) = (self.n as f64, self.n_early as f64);
        let share = |part: f64| if part > 0.0 { part * (2.0 * part / n).ln() } else { 0.0 };
        share(n_early) + share(n - n_early) >= ODDS_MIN.ln()
    }
}

/// What the clocks of nodes are ahead, by the differences that were `found`, surest first: of those
/// that are compared with each other those of most spans are right.
fn agreed(found: &[Offset], n_spans: &BTreeMap<&'static str, usize>) -> Offsets {
    let mut groups: Vec<BTreeMap<&'static str, i64>> = Vec::new();
    for &Offset { from, to, us, .. } in found {
        let group_of =
            |groups: &[BTreeMap<&str, i64>], node| groups.iter().position(|g| g.contains_key(node));
        let mut take = |node: &'static str| match group_of(&groups, node) {
            Some(at) => groups.remove(at),
            None => BTreeMap::from([(node, 0)]),
        };
        let mut senders = take(from);
        if senders.contains_key(to) {
            groups.push(senders);
            continue;
        }
        let receivers = take(to);
        let by_us = senders[from] + us - receivers[to];
        senders.extend(receivers.into_iter().map(|(node, us)| (node, us + by_us)));
        groups.push(senders);
    }
    let mut offsets = Offsets::default();
    for group in groups {
        let mut votes: BTreeMap<i64, usize> = BTreeMap::new();
        for (node, us) in &group {
            *votes.entry(*us).or_default() += n_spans.get(node).copied().unwrap_or_default();
        }
        let right_us =
            votes.into_iter().max_by_key(|&(us, n)| (n, std::cmp::Reverse(us))).map_or(0, |(us, _)| us);
        let ahead = group.into_iter().map(|(node, us)| (Name::from(node), us - right_us));
        offsets.extend(ahead.filter(|(_, us)| *us != 0));
    }
    offsets
}

#[cfg(test)]
mod tests {
    use schema::{Event, Pass, Value, ValueClassId, Values, sketch};

    use super::*;
    use crate::skeleton::Stored;

    const MODEL: &str = "
        top a Task
        top b Task
        pair a b Socket
        ";

    /// What `top` prints on `node` at `us` of a thing.
    fn span(model: &Model, (node, top): (&str, &str), us: i64, thing: u32) -> Span {
        let event = Event {
            file: 0,
            line: us.unsigned_abs(),
            n_lines: 1,
            byte_offset: 0,
            ts_us: us,
            late_us: 0,
            level: None,
            log_point: None,
            values: Values::default(),
            pass: Pass::Opens,
            reason: Name::default(),
        };
        let text = format!("thing-{thing:05}");
        let span = schema::Span {
            node: Name::from(node),
            thread: None,
            top_levels: vec![sketch::top(model, top)],
            identifiers: vec![Value { value_class: ValueClassId::new(0), text: text.into() }],
            events: vec![event],
            truncated: false,
            trace: None,
            hosts: Vec::new(),
            n_alike: 1,
        };
        Span::new(span, Stored::default())
    }

    /// Hand-overs from x to y, and, if so, back, each 2 ms or a little more after the other, where y
    /// is ahead.
    fn hand_overs(model: &Model, ahead_us: i64, goes_back: bool) -> Vec<Span> {
        let mut spans = Vec::new();
        for n in 0..40_u32 {
            let at_us = i64::from(n) * 3_000_000;
            let later_us = 2_000 + i64::from(n % 5) * 100;
            let goes_there = !goes_back || n.is_multiple_of(2);
            let (first, second) = if goes_there { ("x", "y") } else { ("y", "x") };
            let by = |node: &str| if node == "y" { ahead_us } else { 0 };
            let (from, to) = if goes_there { ("a", "b") } else { ("b", "a") };
            spans.push(span(model, (first, from), at_us + by(first), n));
            spans.push(span(model, (second, to), at_us + later_us + by(second), n));
        }
        // Most is printed by x.
        spans.push(span(model, ("x", "a"), 0, 99_999));
        spans
    }

    #[track_caller]
    fn check(ahead_us: i64, goes_back: bool, expected: &[(&str, i64)]) {
        let back = if goes_back { "pair b a Socket" } else { "" };
        let model = sketch::model(&format!("{MODEL}{back}"));
        let printed = hand_overs(&model, ahead_us, goes_back);
        let mut spans = printed.clone();
        let offsets = make_up(&model, &mut spans, 1_000_000);
        let expected: Offsets = expected.iter().map(|(node, us)| (Name::from(node), *us)).collect();
        assert_eq!(offsets, expected);
        if ahead_us == 0 || !goes_back {
            assert_eq!(spans, printed);
        }
        restore(&mut spans, &offsets);
        assert_eq!(spans, printed);
    }

    #[test]
    fn a_clock_is_ahead_by_what_makes_both_ways_equally_late() {
        check(100_000, true, &[("y", 100_000)]);
        check(-30_000, true, &[("y", -30_000)]);
    }

    #[test]
    fn clocks_that_can_be_one_are() {
        check(0, true, &[]);
        // Both ways are late, one more than the other.
        check(1_000, true, &[]);
    }

    #[test]
    fn of_one_way_alone_nothing_is_concluded() {
        check(-30_000, false, &[]);
    }

    #[test]
    fn clocks_that_go_together_are_moved_together() {
        let offset = |from, to, us, n| Offset { from, to, us, n };
        let found = [offset("a", "b", 50, 9), offset("b", "c", 0, 8), offset("a", "c", 40, 7)];
        let n_spans = BTreeMap::from([("a", 10), ("b", 8), ("c", 8)]);
        // b and c go by one clock, which more spans go by than by that of a.
        assert_eq!(agreed(&found, &n_spans), Offsets::from_iter([(Name::from("a"), -50)]));
    }
}
