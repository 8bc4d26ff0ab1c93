//! Waiting: what always comes while a request waits is of who waits.
//!
//! A request that has asked others for something prints nothing more until they have
//! answered. What they print meanwhile, in other threads, may name nothing, and the
//! analysis may see no way that leads there: a callback kept in a table until the answer
//! comes, a line of a utility that a hundred methods call. But how often such a line comes
//! while somebody waits at one place of the code, and how often while nobody does, tells
//! what it is of: each place causes it at a rate of its own, everything else at another,
//! and what comes while several wait is shared out by their rates until these no longer
//! change (expectation maximization of a sum of Poisson processes). What comes while only
//! one request waits that the log has shown to cause it is of that one.
//!
//! Lines of which a utility begins its work with one or the other are counted as one. What
//! can be asked for from other nodes, and what nobody on its own node causes, is caused by who
//! waits on any of them. And a request can end before all that it has asked for is done: what
//! begins nothing by itself comes of who has just ended as well.
//!
//! Three things could make a chance look like a cause. The line also begins work of its
//! own: then it often comes when nobody waits. Somebody waits nearly all the time: then as
//! many of the lines, moved a little, would still come while somebody waits. One request
//! asks for very much at once: so only different requests count as evidence.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use schema::{LogPointId, Pass, TopLevelId};

use super::facts::{Fact, Facts};
use super::hosts::Hosts;
use super::joined;
use super::pairs::Pairs;
use crate::merge::{Sets, SpanLink, to_u32};
use crate::skeleton::Event;

/// Spans that begin with one line, from which to learn.
const SPANS_MIN: usize = 8;

/// At most one in so many of those without a sender begins while nobody waits.
const ALONE_SHARE: usize = 8;

/// The same of what so many methods print that it begins nothing by itself: who has called
/// them may print nothing else.
const ANYBODYS_ALONE_SHARE: usize = 4;

/// Requests that have waited at a place while the line came, of one that causes it.
const REQUESTS_MIN: usize = 4;

/// Of so many that come while somebody waits, at most one would if it came at another time.
const CHANCE_SHARE: usize = 4;

/// When else it could have come, µs.
pub(super) const SHIFTS_US: [i64; 4] = [-3_000_000, -1_000_000, 1_000_000, 3_000_000];

/// And how many times the length of the wait before and after it, at least this long, µs.
const SHIFT_LENGTHS: [i64; 2] = [-2, 2];
const SHIFT_MIN_US: i64 = 1_000;

/// The same of those times: who waits is mostly not the only one for long.
const NEAR_CHANCE_SHARE: usize = 3;

/// How likely it is that who causes a line has caused this one.
const LIKELY_MIN: f64 = 0.95;

/// Steps in which the rates become what the log shows.
const STEPS: usize = 60;

/// Steps after which a place that has caused next to nothing causes nothing.
const STEPS_FREE: usize = 20;

/// What a request has asked for and does not wait for comes this soon after its last line, µs.
const AFTER_US: i64 = 5_000;

/// Who waits for longer is at rest, µs.
const WAIT_MAX_US: i64 = 60_000_000;

/// All nodes.
const ANY_NODE: u32 = u32::MAX;

/// What is joined makes more requests that wait.
const ROUNDS_MAX: usize = 4;

/// Links to what comes while one request only waits that can have caused it, in addition
/// to `links`.
pub(super) fn join(pairs: &Pairs<'_>, facts: &Facts<'_>, hosts: &Hosts, links: &[SpanLink]) -> Vec<SpanLink> {
    let (mut sets, mut has_sender) = joined(facts, links);
    let learnt = Learnt { from_afar: pairs.asked_from_afar(), kinds: kinds(facts) };
    let mut out = Vec::new();
    for _ in 0..ROUNDS_MAX {
        let n_before = out.len();
        let waits = Waits::new(pairs, facts, &mut sets);
        for (from, to) in waits.round((pairs, &learnt), &mut sets, &has_sender) {
            if !hosts.are_of_several(&mut sets, to) && sets.join(from, to) {
                has_sender[to as usize] = true;
                out.push(SpanLink { from, to, pair: None, by: Pass::Waiting });
            }
        }
        if out.len() == n_before {
            break;
        }
    }
    out
}

/// What holds however much is joined.
struct Learnt {
    /// What can be asked for from other nodes.
    from_afar: FxHashSet<TopLevelId>,
    /// The first of the lines of its kind, for each line that is of one with others.
    kinds: BTreeMap<LogPointId, LogPointId>,
}

/// Where a record stands in the logs of its node: time in µs, file, line.
type At = (i64, u32, u64);

fn at(event: &Event) -> At {
    (event.ts_us, event.file, event.line)
}

/// Who prints in one thread for one request: that, the node, and the thread or, where none is
/// printed, the span.
type Worker<'a> = (u32, u32, Result<&'a str, u32>);

/// A record: where it stands, what has printed it, and its span.
type Line = (At, Option<LogPointId>, u32);

/// A place of the code at which is waited: the records before and after.
type Place = (Option<LogPointId>, Option<LogPointId>);

/// Nothing is printed for a request by one of its threads.
#[derive(Clone, Copy, Debug)]
struct Wait {
    node: u32,
    from: At,
    to: At,
    place: u32,
    /// The span that has printed the record before.
    span: u32,
    /// That of the request.
    root: u32,
    /// The request prints nothing more on the node, and can have left something to do.
    has_ended: bool,
}

/// Who waits when.
struct Waits<'a> {
    facts: &'a Facts<'a>,
    /// Per node, and of all, by the number of bits of their length in µs: who waits at a time is
    /// found among few more than do.
    of_node: FxHashMap<u32, Vec<OfLength>>,
    /// How long is waited at each place, µs.
    places_us: Vec<f64>,
    /// How long the logs of all nodes are, µs.
    logs_us: f64,
    /// First and last record of each request on each node.
    ends: FxHashMap<(u32, u32), (At, At)>,
}

/// Those of about one length, in order of their start.
#[derive(Default)]
struct OfLength {
    waits: Vec<Wait>,
    /// When each of them starts, µs: beside each other, because they are searched so often.
    starts_us: Vec<i64>,
}

/// Something that begins, and who waits meanwhile: per request the wait with the highest
/// rate counts.
struct Begin {
    span: u32,
    waits: Vec<Wait>,
}

/// What causes the line with which spans begin.
struct Causes {
    /// By place, per µs.
    rates: BTreeMap<u32, f64>,
    /// Of everything else, per µs.
    other_rate: f64,
    /// Places that are known to cause it.
    known: BTreeSet<u32>,
}

impl<'a> Waits<'a> {
    fn new(pairs: &Pairs<'_>, facts: &'a Facts<'a>, sets: &mut Sets) -> Self {
        let mut workers: FxHashMap<Worker<'_>, usize> = FxHashMap::default();
        let mut lines: Vec<(u32, u32, Vec<Line>)> = Vec::new();
        let mut ends: FxHashMap<(u32, u32), (At, At)> = FxHashMap::default();
        let mut logs_us: FxHashMap<u32, (i64, i64)> = FxHashMap::default();
        for (index, fact) in facts.iter() {
            let root = sets.root(index);
            let dispatches = fact.tops.first().is_some_and(|&top| pairs.is_dispatcher(top));
            let Some(first) = fact.events.iter().map(at).min() else { continue };
            let last = fact.events.iter().map(at).max().unwrap_or(first);
            let known = ends.entry((root, fact.node)).or_insert((first, last));
            *known = (known.0.min(first), known.1.max(last));
            let known = logs_us.entry(fact.node).or_insert((first.0, last.0));
            *known = (known.0.min(first.0), known.1.max(last.0));
            if !dispatches {
                let who = (root, fact.node, fact.thread.ok_or(index));
                let worker = *workers.entry(who).or_insert(lines.len());
                if worker == lines.len() {
                    lines.push((root, fact.node, Vec::new()));
                }
                lines[worker].2.extend(fact.events.iter().map(|event| (at(event), event.log_point, index)));
            }
        }
        let mut numbers: FxHashMap<Place, u32> = FxHashMap::default();
        let mut waits = Self {
            facts,
            of_node: FxHashMap::default(),
            places_us: Vec::new(),
            logs_us: logs_us.values().map(|(from, to)| (to - from) as f64).sum(),
            ends,
        };
        let mut lasts: BTreeMap<(u32, u32), Line> = BTreeMap::new();
        for (root, node, mut lines) in lines {
            lines.sort_unstable();
            if let Some(&last) = lines.last() {
                let known = lasts.entry((root, node)).or_insert(last);
                *known = (*known).max(last);
            }
            for ends in lines.windows(2) {
                let ((from, before, span), (to, after, _)) = (ends[0], ends[1]);
                // Between two records that follow each other in the log nothing can come.
                let is_empty = (from.1, from.2 + 1) == (to.1, to.2);
                if is_empty || to.0.saturating_sub(from.0) > WAIT_MAX_US {
                    continue;
                }
                let n = to_u32(numbers.len());
                let place = *numbers.entry((before, after)).or_insert(n);
                waits.add(Wait { node, from, to, place, span, root, has_ended: false });
            }
        }
        waits.add_ends(&mut numbers, lasts);
        for OfLength { waits, starts_us } in waits.of_node.values_mut().flatten() {
            waits.sort_unstable_by_key(|wait| (wait.from, wait.to, wait.node, wait.root, wait.span));
            starts_us.extend(waits.iter().map(|wait| wait.from.0));
        }
        waits
    }

    /// Adds who has printed the last line of its request on a node, but perhaps has asked for more.
    fn add_ends(&mut self, numbers: &mut FxHashMap<Place, u32>, lasts: BTreeMap<(u32, u32), Line>) {
        for ((root, node), (from, point, span)) in lasts {
            let n = to_u32(numbers.len());
            let place = *numbers.entry((point, None)).or_insert(n);
            let to = (from.0.saturating_add(AFTER_US), u32::MAX, u64::MAX);
            self.add(Wait { node, from, to, place, span, root, has_ended: true });
        }
    }

    fn add(&mut self, wait: Wait) {
        let len_us = wait.to.0.saturating_sub(wait.from.0).max(0);
        let n_bits = (i64::BITS - len_us.leading_zeros()) as usize;
        for node in [wait.node, ANY_NODE] {
            let of_node = self.of_node.entry(node).or_default();
            of_node.resize_with(of_node.len().max(n_bits + 1), OfLength::default);
            of_node[n_bits].waits.push(wait);
        }
        let place = wait.place as usize;
        self.places_us.resize(self.places_us.len().max(place + 1), 0.0);
        // Logs print milliseconds.
        self.places_us[place] += len_us as f64 + super::candidates::TICK_US as f64 / 4.0;
    }

    /// Hand-offs to what comes while one request only waits that can have caused it.
    fn round(
        &self,
        (pairs, learnt): (&Pairs<'_>, &Learnt),
        sets: &mut Sets,
        has_sender: &[bool],
    ) -> Vec<(u32, u32)> {
        let mut free: BTreeMap<LogPointId, Vec<(u32, u32)>> = BTreeMap::new();
        let mut n_handed: FxHashMap<LogPointId, usize> = FxHashMap::default();
        for (index, fact) in self.facts.iter() {
            let Some(point) = fact.first_point else { continue };
            let point = learnt.kinds.get(&point).copied().unwrap_or(point);
            let root = sets.root(index);
            let is_start = fact.tops.first().is_some_and(|&top| pairs.is_main(top));
            if has_sender[index as usize] {
                *n_handed.entry(point).or_default() += 1;
            } else if root == index && !sets.is_named(root) && !is_start {
                free.entry(point).or_default().push((index, root));
            }
        }
        let lines: Vec<_> = free.into_iter().collect();
        let found = lines.into_par_iter().flat_map_iter(|(point, spans)| {
            let n_spans = spans.len() + n_handed.get(&point).copied().unwrap_or_default();
            if spans.len() < REQUESTS_MIN || n_spans < SPANS_MIN {
                return Vec::new();
            }
            let on_node = self.of_line(&spans, false);
            let is_from_afar = |&(span, _): &(u32, u32)| {
                let fact = self.facts.get(span);
                fact.tops.iter().chain(fact.other_tops).any(|top| learnt.from_afar.contains(top))
            };
            if on_node.is_empty() && spans.iter().all(is_from_afar) {
                self.of_line(&spans, true)
            } else {
                on_node
            }
        });
        found.collect()
    }

    /// The same for `spans` (with their roots) that begin with one line, or one of a kind.
    fn of_line(&self, spans: &[(u32, u32)], anywhere: bool) -> Vec<(u32, u32)> {
        let begin = |&(span, root): &(u32, u32)| Begin { span, waits: self.meanwhile(span, root, anywhere) };
        let mut begins: Vec<Begin> = spans.iter().map(begin).collect();
        let n_anybodys = spans.iter().filter(|&&(span, _)| self.facts.get(span).is_anybodys()).count();
        let share = if n_anybodys * 2 > spans.len() { ANYBODYS_ALONE_SHARE } else { ALONE_SHARE };
        // What can begin something begins it where something else has just ended.
        if n_anybodys < spans.len() {
            begins.iter_mut().for_each(|begin| begin.waits.retain(|wait| !wait.has_ended));
        }
        let n_alone = begins.iter().filter(|begin| begin.waits.is_empty()).count();
        if n_alone * share > spans.len() {
            return Vec::new();
        }
        let causes = self.causes(&begins);
        if self.is_chance(spans, &begins, &causes, anywhere) {
            return Vec::new();
        }
        let found = begins.iter().filter_map(|begin| Some((causes.of(&begin.waits)?, begin.span)));
        found.filter(|&(from, to)| !self.facts.get(from).names_other(self.facts.get(to))).collect()
    }

    /// Who waits while a span and all that hangs on it is printed.
    fn meanwhile(&self, span: u32, root: u32, anywhere: bool) -> Vec<Wait> {
        let fact = self.facts.get(span);
        let (from, to) = self.ends[&(root, fact.node)];
        let is_around = |wait: &Wait| {
            if wait.node == fact.node {
                wait.from < from && to < wait.to
            } else {
                wait.from.0 <= from.0 && to.0 <= wait.to.0
            }
        };
        self.waiting((fact, root), from.0, anywhere, is_around).collect()
    }

    /// The same if it had come `shift_us` later.
    fn if_shifted(&self, span: u32, root: u32, shift_us: i64, anywhere: bool) -> impl Iterator<Item = Wait> {
        let fact = self.facts.get(span);
        let (from, to) = self.ends[&(root, fact.node)];
        let (from_us, to_us) = (from.0.saturating_add(shift_us), to.0.saturating_add(shift_us));
        let is_around = move |wait: &Wait| wait.from.0 <= from_us && to_us <= wait.to.0;
        self.waiting((fact, root), from_us, anywhere, is_around)
    }

    /// Who else waits at `time_us`, in other threads, of those that `counts`.
    fn waiting(
        &self,
        (fact, root): (&'a Fact<'a>, u32),
        time_us: i64,
        anywhere: bool,
        counts: impl Fn(&Wait) -> bool,
    ) -> impl Iterator<Item = Wait> {
        let node = if anywhere { ANY_NODE } else { fact.node };
        let lengths = self.of_node.get(&node).map_or(&[][..], Vec::as_slice);
        let waiting = lengths.iter().zip(0u32..).flat_map(move |(OfLength { waits, starts_us }, n_bits)| {
            let since_us = time_us.saturating_sub(1 << n_bits.min(i64::BITS - 2));
            let to = starts_us.partition_point(|&start_us| start_us <= time_us);
            let from = starts_us[..to].partition_point(|&start_us| start_us < since_us);
            waits[from..to].iter().filter(move |wait| wait.to.0 >= time_us)
        });
        let is_other = move |wait: &&Wait| {
            let is_same_thread = || fact.thread.is_some() && fact.thread == self.facts.get(wait.span).thread;
            wait.root != root && counts(wait) && !(wait.node == fact.node && is_same_thread())
        };
        waiting.filter(is_other).copied()
    }

    /// How often what begins is caused by who waits where.
    fn causes(&self, begins: &[Begin]) -> Causes {
        let n_begins = begins.len() as f64;
        // At first everybody who waits is ten times as likely to have caused it as nobody.
        let other_rate = n_begins / self.logs_us.max(1.0);
        let places = begins.iter().flat_map(|begin| &begin.waits).map(|wait| wait.place);
        let rates = places.map(|place| (place, other_rate * 10.0)).collect();
        let mut causes = Causes { rates, other_rate, known: BTreeSet::new() };
        let mut requests: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for step in 0..STEPS {
            let mut shares: BTreeMap<u32, f64> = BTreeMap::new();
            let mut others = 0.0;
            requests.clear();
            for begin in begins {
                let sum = causes.sum(&begin.waits);
                others += causes.other_rate / sum;
                for wait in &begin.waits {
                    let share = causes.rate(wait) / sum;
                    *shares.entry(wait.place).or_default() += share;
                    if share > 0.5 {
                        requests.entry(wait.place).or_default().insert(wait.root);
                    }
                }
            }
            causes.other_rate = others.max(0.5) / self.logs_us.max(1.0);
            if step > STEPS_FREE {
                shares.retain(|_, share| *share >= REQUESTS_MIN as f64);
            }
            causes.rates = shares
                .into_iter()
                .map(|(place, share)| (place, share / self.places_us[place as usize]))
                .collect();
        }
        let is_known = |place: &&u32| requests.get(place).is_some_and(|roots| roots.len() >= REQUESTS_MIN);
        causes.known = causes.rates.keys().filter(is_known).copied().collect();
        causes
    }

    /// Whether as many would come while somebody waits whenever they came.
    fn is_chance(&self, spans: &[(u32, u32)], begins: &[Begin], causes: &Causes, anywhere: bool) -> bool {
        let (mut n_within, mut n_far, mut n_near) = (0, 0, 0);
        for (&(span, root), begin) in spans.iter().zip(begins) {
            let would = |shift_us: &i64| {
                self.if_shifted(span, root, *shift_us, anywhere).any(|wait| causes.rate(&wait) > 0.0)
            };
            n_far += SHIFTS_US.iter().filter(|shift_us| would(shift_us)).count();
            let known = begin.waits.iter().filter(|wait| causes.known.contains(&wait.place));
            if let Some(len_us) = known.map(|wait| wait.to.0 - wait.from.0).max() {
                n_within += 1;
                let near = SHIFT_LENGTHS.map(|n| n * len_us.max(SHIFT_MIN_US));
                n_near += near.iter().filter(|shift_us| would(shift_us)).count();
            }
        }
        n_within == 0
            || n_far * CHANCE_SHARE > n_within * SHIFTS_US.len()
            || n_near * NEAR_CHANCE_SHARE > n_within * SHIFT_LENGTHS.len()
    }
}

/// The first of the lines of its kind, for each line that is of one with others: what prints them
/// for anybody begins with any of them, and the others follow.
fn kinds(facts: &Facts<'_>) -> BTreeMap<LogPointId, LogPointId> {
    let mut follow: BTreeSet<(LogPointId, LogPointId)> = BTreeSet::new();
    for (_, fact) in facts.iter().filter(|(_, fact)| fact.is_anybodys()) {
        let Some(first) = fact.first_point else { continue };
        follow.extend(fact.events.iter().filter_map(|event| Some((first, event.log_point?))));
    }
    let mut kinds = BTreeMap::new();
    // A line stands for a kind if it is of none of those before it.
    for &(first, other) in follow.iter().filter(|(first, other)| first < other) {
        if follow.contains(&(other, first)) {
            let kind = kinds.get(&first).copied().unwrap_or(first);
            kinds.entry(other).or_insert(kind);
        }
    }
    kinds
}

impl Causes {
    fn rate(&self, wait: &Wait) -> f64 {
        self.rates.get(&wait.place).copied().unwrap_or_default()
    }

    /// How often anything causes it while `waits` last, per µs.
    fn sum(&self, waits: &[Wait]) -> f64 {
        self.other_rate + waits.iter().map(|wait| self.rate(wait)).sum::<f64>()
    }

    /// The span of who has caused what came during `waits`, if one request is as good as
    /// certain to have.
    fn of(&self, waits: &[Wait]) -> Option<u32> {
        let sum = self.sum(waits);
        let mut of_requests: BTreeMap<u32, (f64, u32)> = BTreeMap::new();
        for wait in waits.iter().filter(|wait| self.known.contains(&wait.place)) {
            let known = of_requests.entry(wait.root).or_insert((0.0, wait.span));
            known.0 += self.rate(wait) / sum;
        }
        let mut likely = of_requests.into_values().filter(|&(share, _)| share >= LIKELY_MIN);
        likely.next().map(|(_, span)| span)
    }
}
