//! Within: what is printed while one request is at work that can have done it, and no
//! other, is that request's.
//!
//! Where nothing that a span names tells who has handed it over, several spans may be
//! as likely. They need not be told apart if they are all of one request: a request
//! that has started a task for each of its parts is at work in all of them, and
//! whichever of them goes on, it is the request that does. So what counts is not how
//! many spans can have sent another one, but how many requests: those that began
//! before it, print again after it, and have a span from which the model leads to it.
//! That span may print its first line later, if that comes after its hand-off.
//!
//! Whether what begins with a line always comes within something is learnt from the
//! log: nearly all of it does, and a little later far less would. Else it can be a
//! request by itself that begins while another one happens to be at work. What was
//! learnt of all such lines holds for those that are told of last, too. But what most of
//! those who start it wait for is a part of theirs, as the program tells, even if it looks
//! after a lasting thing that any of them can name, and if some of them print nothing: it
//! is of the only request that can have waited for such a task then: by who is at work, or
//! has printed nothing yet, and goes on soon after it; where no thread is printed, by who prints
//! nothing while the task is done. If nobody is seen to wait, who is at work counts as for all.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use schema::{LogPointId, Pass, TopLevelId};

use super::candidates::TICK_US;
use super::facts::{Fact, Facts};
use super::hosts::Hosts;
use super::joined;
use super::pairs::{Pair, Pairs, Role};
use crate::merge::{Sets, SpanLink, to_u32};
use crate::skeleton::Event;

/// Spans from which to learn.
const SPANS_MIN: usize = 8;

/// How much later what is together by chance is as likely to be, µs.
pub(super) const SHIFT_US: i64 = 1_000_000;

/// Senders looked at per receiver, latest start first.
const LOOK_BACK_MAX: usize = 256;

/// At most one span in so many stands alone where the rule holds.
const ALONE_SHARE: usize = 8;

/// What a span hands over or goes on with comes this soon after it has printed, µs.
const SOON_US: i64 = 1_000_000;

/// Who has waited for a task goes on this soon after it is done, µs.
const GOES_ON_US: i64 = 100_000;

/// What joins makes more requests whole, within which more is found.
const ROUNDS_MAX: usize = 8;

/// Links to what is within one request only, in addition to `links`.
pub(super) fn join(pairs: &Pairs<'_>, facts: &Facts<'_>, hosts: &Hosts, links: &[SpanLink]) -> Vec<SpanLink> {
    let (mut sets, mut has_sender) = joined(facts, links);
    let work = Work::new(pairs, facts);
    let mut parts = BTreeSet::new();
    let mut out = Vec::new();
    for _ in 0..ROUNDS_MAX {
        let n_before = (parts.len(), out.len());
        for (from, to) in work.round(&mut sets, &has_sender, &mut parts) {
            // Who begins only after it can have printed it as well.
            if !hosts.are_of_several(&mut sets, to) && sets.join(from, to) {
                has_sender[to as usize] = true;
                out.push(SpanLink { from, to, pair: None, by: Pass::Within });
            }
        }
        if n_before == (parts.len(), out.len()) {
            break;
        }
    }
    out
}

/// What a span begins with, and what it can be.
type Begin<'a> = (LogPointId, &'a [TopLevelId]);

/// When each request printed on each node, µs: first and last event of its spans, sorted, with
/// the last one of all up to each.
#[derive(Default)]
struct Ends {
    of: FxHashMap<(u32, u32), Vec<(i64, i64)>>,
}

impl Ends {
    fn add(&mut self, of: (u32, u32), fact: &Fact<'_>) {
        let known = self.of.entry(of).or_default();
        let last_us = known.last().map_or(fact.end_us, |&(_, last_us)| fact.end_us.max(last_us));
        known.push((fact.start_us, last_us));
    }

    /// The last event.
    fn last_us(&self, of: (u32, u32)) -> i64 {
        self.of.get(&of).and_then(|spans| spans.last()).map_or(i64::MIN, |&(_, last_us)| last_us)
    }

    /// Whether a span had begun and not ended long before.
    fn is_at_work(&self, of: (u32, u32), now_us: i64) -> bool {
        let spans = self.of.get(&of).map_or(&[][..], Vec::as_slice);
        let begun = spans.partition_point(|&(start_us, _)| start_us <= now_us + TICK_US);
        begun > 0 && spans[begun - 1].1 + SOON_US >= now_us
    }
}

/// Spans of one top-level method on one node, in order of start: what each is a part of, when
/// that printed last there, µs, and when any of those up to this one did.
type Lasts = FxHashMap<(u32, TopLevelId), Vec<(u32, i64, i64)>>;

/// A top-level method whose spans can have led to a span directly, and the pair by which; none:
/// it would be the rest of them.
type Sender = (TopLevelId, Option<u32>);

/// All that tells who they are: what the span can be, the less likely of that, whether a thread
/// is printed, and whether its senders wait for it.
type SendersOf<'a> = (&'a [TopLevelId], &'a [TopLevelId], bool, bool);

fn senders_of<'a>(fact: &Fact<'a>, is_awaited: bool) -> SendersOf<'a> {
    (fact.tops, fact.other_tops, fact.thread.is_some(), is_awaited)
}

/// What is known of the requests in one round.
struct Requests<'r> {
    /// The request of each span.
    roots: &'r [u32],
    ends: Ends,
    lasts: Lasts,
}

/// Who is around a span: of each request the latest span from which it can have come.
enum Surroundings {
    /// Who waits for it.
    Waiting(Vec<u32>),
    /// Who is at work, and whether anybody would be a little later.
    AtWork { around: Vec<u32>, is_later: bool },
}

/// Who is at work when.
struct Work<'a> {
    pairs: &'a Pairs<'a>,
    facts: &'a Facts<'a>,
    /// Spans by (node, top-level method that they are most likely of), in order of start:
    /// what a span only may be has mostly done nothing.
    of_top: FxHashMap<(u32, TopLevelId), Vec<u32>>,
    /// When each thread of a node prints, in order, µs.
    of_thread: FxHashMap<(u32, &'a str), Vec<i64>>,
    /// Tasks that most of those who start them wait for.
    awaited: BTreeSet<TopLevelId>,
    /// The possible senders of spans, sorted.
    senders: FxHashMap<SendersOf<'a>, Vec<Sender>>,
}

impl<'a> Work<'a> {
    fn new(pairs: &'a Pairs<'a>, facts: &'a Facts<'a>) -> Self {
        let mut of_top: FxHashMap<(u32, TopLevelId), Vec<u32>> = FxHashMap::default();
        let mut of_thread: FxHashMap<(u32, &'a str), Vec<i64>> = FxHashMap::default();
        for (index, fact) in facts.iter() {
            if let Some(&top) = fact.tops.first().filter(|&&top| !pairs.is_dispatcher(top)) {
                of_top.entry((fact.node, top)).or_default().push(index);
            }
            if let Some(thread) = fact.thread {
                let lines_us = of_thread.entry((fact.node, thread)).or_default();
                lines_us.extend(fact.events.iter().map(|event| event.ts_us));
            }
        }
        of_thread.values_mut().for_each(|lines_us| lines_us.sort_unstable());
        let (awaited, senders) = (pairs.awaited(), FxHashMap::default());
        let mut work = Self { pairs, facts, of_top, of_thread, awaited, senders };
        work.find_all_senders();
        work
    }

    /// Hand-offs to spans that are within one request only. What turns out to be a part
    /// of others always is added to `parts`: such a span is at work for somebody too,
    /// and as long as nobody knows for whom, it is no other request.
    fn round(
        &self,
        sets: &mut Sets,
        has_sender: &[bool],
        parts: &mut BTreeSet<Begin<'a>>,
    ) -> Vec<(u32, u32)> {
        let mut ends = Ends::default();
        let mut free: BTreeMap<Begin<'a>, Vec<u32>> = BTreeMap::new();
        let mut n_handed: FxHashMap<Begin<'a>, usize> = FxHashMap::default();
        let roots: Vec<u32> = (0..to_u32(self.facts.len())).map(|span| sets.root(span)).collect();
        for ((index, fact), &root) in self.facts.iter().zip(&roots) {
            ends.add((root, fact.node), fact);
            let Some(point) = fact.first_point else { continue };
            if has_sender[index as usize] {
                *n_handed.entry((point, fact.tops)).or_default() += 1;
            } else if root == index && !sets.is_named(root) {
                free.entry((point, fact.tops)).or_default().push(index);
            }
        }
        let known = free.iter().filter(|(begin, _)| parts.contains(begin));
        let nobodys: FxHashSet<u32> = known.flat_map(|(_, spans)| spans).copied().collect();
        let is_nobodys = |span: u32| nobodys.contains(&roots[span as usize]);
        let requests = Requests { lasts: self.lasts(&roots, &ends), ends, roots: &roots };
        let requests = &requests;
        let mut out = Vec::new();
        for (begin, spans) in free {
            let (mut n_alone, mut n_later, mut found) = (0, 0, Vec::new());
            let (mut n_awaited, mut waiting) = (0, Vec::new());
            let looked: Vec<Surroundings> =
                spans.par_iter().map(|&index| self.surroundings(requests, index)).collect();
            for (&index, looked) in spans.iter().zip(looked) {
                n_awaited += usize::from(self.is_awaited(self.facts.get(index)));
                match looked {
                    Surroundings::Waiting(around) => waiting.push((around, index)),
                    Surroundings::AtWork { mut around, is_later } => {
                        n_alone += usize::from(around.is_empty());
                        n_later += usize::from(is_later);
                        around.retain(|&span| !is_nobodys(span));
                        if let [from] = around[..] {
                            found.push((from, index));
                        }
                    }
                }
            }
            let n_others = spans.len() - waiting.len();
            let is_chance = n_later * 2 > n_others - n_alone;
            let n_spans = spans.len() + n_handed.get(&begin).copied().unwrap_or_default();
            let is_part = n_spans >= SPANS_MIN && n_alone * ALONE_SHARE <= n_spans;
            let is_handed_over = |&span: &u32| self.is_handed_over(self.facts.get(span));
            let is_awaited = n_spans >= SPANS_MIN && n_awaited == spans.len();
            // Those that are left are the ones that nothing tells of: what was learnt stays.
            let is_known = parts.contains(&begin);
            let is_told = is_known || !is_chance || spans.iter().all(is_handed_over);
            if is_awaited || (is_part && is_told) {
                parts.insert(begin);
            }
            if is_awaited {
                for (mut around, index) in waiting {
                    around.retain(|&span| !is_nobodys(span));
                    if let [from] = around[..] {
                        out.push((from, index));
                    }
                }
            }
            if is_part && is_told {
                out.extend(found);
            }
        }
        out
    }

    /// What the spans of each top-level method are parts of.
    fn lasts(&self, roots: &[u32], ends: &Ends) -> Lasts {
        let mut lasts = Lasts::default();
        for (&(node, top), spans) in &self.of_top {
            let mut latest_us = i64::MIN;
            let of_spans = spans.iter().map(|&span| {
                let root = roots[span as usize];
                let last_us = ends.last_us((root, node));
                latest_us = latest_us.max(last_us);
                (root, last_us, latest_us)
            });
            lasts.insert((node, top), of_spans.collect());
        }
        lasts
    }

    /// Who is around a span.
    fn surroundings(&self, requests: &Requests<'_>, index: u32) -> Surroundings {
        if self.is_awaited(self.facts.get(index)) {
            let around = self.around(requests, index, (0, true));
            if !around.is_empty() {
                return Surroundings::Waiting(around);
            }
        }
        let around = self.around(requests, index, (0, false));
        let is_later = !self.around(requests, index, (SHIFT_US, false)).is_empty();
        Surroundings::AtWork { around, is_later }
    }

    /// Of each request that is at work when a span, moved by `shift_us`, begins and
    /// all that hangs on it ends, and can have done it, the latest span from which it
    /// can have come.
    fn around(
        &self,
        Requests { roots, ends, lasts }: &Requests<'_>,
        index: u32,
        (shift_us, is_awaited): (i64, bool),
    ) -> Vec<u32> {
        let fact = self.facts.get(index);
        let own = roots[index as usize];
        let start_us = fact.start_us.saturating_add(shift_us);
        let end_us = ends.last_us((own, fact.node)).saturating_add(shift_us);
        let mut found: BTreeMap<u32, u32> = BTreeMap::new();
        let mut naming: BTreeSet<u32> = BTreeSet::new();
        let n_begun = |by_pair| self.facts.n_started(start_us + lead_us(fact, by_pair, is_awaited));
        let (n_before_task, n_before_rest) = (n_begun(true), n_begun(false));
        for &(top, pair) in self.senders(fact, is_awaited) {
            let Some(spans) = self.of_top.get(&(fact.node, top)) else { continue };
            let n_begun = if pair.is_some() { n_before_task } else { n_before_rest };
            let until = spans.partition_point(|&span| span < n_begun);
            let lasts = lasts.get(&(fact.node, top)).map_or(&[][..], Vec::as_slice);
            let known = spans[..until].iter().zip(&lasts[..until]).rev().take(LOOK_BACK_MAX);
            // Before the last of those that have printed since, nobody is at work any more.
            let known = known.take_while(|(_, (_, _, latest_us))| *latest_us >= end_us);
            for (&span, &(root, last_us, _)) in known {
                if root == own || last_us < end_us {
                    continue;
                }
                let other = self.facts.get(span);
                let is_active = shift_us > 0
                    || (other.end_us + SOON_US >= start_us
                        && !(self.pairs.is_main(top) && is_silent(other, start_us)));
                // Who prints nothing before its hand-off has begun, if its request has.
                let has_begun = || {
                    other.start_us <= start_us + TICK_US
                        || (self.begins_after(pair, other) && ends.is_at_work((root, fact.node), start_us))
                };
                let is_around = is_active
                    && (!is_awaited || self.goes_on_soon(other, fact))
                    && !self.facts.names_other(other, fact)
                    && !self.pairs.are_of_different_requests(other, fact)
                    && (is_awaited || has_begun());
                let leads_here = || match pair {
                    // Who had printed nothing yet prints first what is not before its hand-off,
                    // and no thread goes back to what is: without threads, one span may hold
                    // a line of another. Nor has who waits printed what it only prints after that.
                    Some(pair) if is_awaited && self.pairs.is_past(self.pairs.get(pair), other, fact) => {
                        false
                    }
                    Some(pair) => {
                        (fact.thread.is_none() && other.start_us <= fact.start_us)
                            || !self.pairs.is_ahead(self.pairs.get(pair), other, fact)
                    }
                    None => self.goes_on(top, other, fact),
                };
                if is_around && leads_here() {
                    let latest = found.entry(root).or_insert(span);
                    *latest = span.max(*latest);
                    if is_awaited && names_it(other, fact) {
                        naming.insert(root);
                    }
                }
            }
        }
        // Who waits for what is done to a thing has named it, rather than who has named nothing.
        if !naming.is_empty() {
            found.retain(|root, _| naming.contains(root));
        }
        found.into_values().collect()
    }

    /// Whether the first line of the sender of a pair is one that it prints only after it has
    /// handed over.
    fn begins_after(&self, pair: Option<u32>, sender: &Fact<'_>) -> bool {
        let after = pair.map_or(&[][..], |pair| self.pairs.printed_after(self.pairs.get(pair)));
        sender.first_point.is_some_and(|point| after.binary_search(&point).is_ok())
    }

    /// The possible senders of a span, sorted.
    fn senders(&self, fact: &Fact<'a>, is_awaited: bool) -> &[Sender] {
        self.senders.get(&senders_of(fact, is_awaited)).map_or(&[], Vec::as_slice)
    }

    /// Works them out, for all spans.
    fn find_all_senders(&mut self) {
        for (_, fact) in self.facts.iter() {
            for is_awaited in [false, self.is_awaited(fact)] {
                let of = senders_of(fact, is_awaited);
                if !self.senders.contains_key(&of) {
                    let found = self.find_senders(fact, is_awaited).into_iter().collect();
                    self.senders.insert(of, found);
                }
            }
        }
    }

    fn find_senders(&self, fact: &Fact<'_>, is_awaited: bool) -> BTreeSet<Sender> {
        let mut out = BTreeSet::new();
        // Where a thread shows, what a span only may be was mostly handed over by nobody.
        let n_tops = if fact.thread.is_some() { 1 } else { usize::MAX };
        for &top in fact.tops.iter().chain(fact.other_tops).take(n_tops) {
            // A thread would have shown what it goes on with.
            if fact.thread.is_none() {
                out.insert((top, None));
            }
            let pairs = self.pairs.to(top).map(|index| (index, self.pairs.get(index)));
            out.extend(
                pairs
                    .filter(|(_, pair)| pair.is_on_node() && !pair.is_way())
                    .filter(
                        |(_, pair)| if is_awaited { self.pairs.waits(pair) } else { !serves_a_thing(pair) },
                    )
                    .map(|(index, pair)| (pair.from, Some(index))),
            );
        }
        out
    }

    /// Whether a span of `top` can print what another one begins with.
    fn goes_on(&self, top: TopLevelId, span: &Fact<'_>, rest: &Fact<'_>) -> bool {
        let before = span.last_until(rest.start_us + TICK_US);
        let before = before.and_then(|event| event.log_point);
        before.zip(rest.first_point).is_some_and(|(a, b)| self.pairs.prints_after(top, a, b))
    }

    /// Whether a span most likely is of a task that is waited for.
    fn is_awaited(&self, fact: &Fact<'_>) -> bool {
        fact.tops.first().is_some_and(|top| self.awaited.contains(top))
    }

    /// Whether the thread of a span goes on with it soon after a task is done, or with
    /// something else if it has begun before.
    fn goes_on_soon(&self, span: &Fact<'_>, task: &Fact<'_>) -> bool {
        let Some(thread) = span.thread else { return goes_on_after(span, task) };
        let lines_us = self.of_thread.get(&(span.node, thread)).map_or(&[][..], Vec::as_slice);
        let next = lines_us.partition_point(|&us| us < task.end_us);
        let begins = |us: i64| span.start_us <= task.start_us || us == span.start_us;
        lines_us.get(next).is_some_and(|&us| us <= task.end_us.saturating_add(GOES_ON_US) && begins(us))
    }

    /// Whether somebody on its node has handed over a span, whatever it is of.
    fn is_handed_over(&self, fact: &Fact<'_>) -> bool {
        let begins =
            |top: &&TopLevelId| fact.first_point.is_none_or(|point| self.pairs.starts_with(**top, point));
        let mut tops = fact.tops.iter().chain(fact.other_tops).filter(begins);
        tops.all(|&top| {
            let pairs = self.pairs.to(top).map(|index| self.pairs.get(index));
            let mut pairs = pairs.filter(|pair| pair.id.is_some()).peekable();
            pairs.peek().is_some() && pairs.all(Pair::is_on_node)
        })
    }
}

/// How much later than a span whoever has handed it over along a pair, or goes on with it, can
/// begin, µs.
fn lead_us(fact: &Fact<'_>, by_pair: bool, is_awaited: bool) -> i64 {
    match by_pair {
        // Who waits has not printed anything yet, perhaps.
        _ if is_awaited => (fact.end_us - fact.start_us).saturating_add(GOES_ON_US),
        true => SOON_US,
        false => TICK_US,
    }
}

/// Whether a span prints nothing while a task is done, which it waits for where no thread is
/// printed, and something soon after that.
fn goes_on_after(span: &Fact<'_>, task: &Fact<'_>) -> bool {
    let (Some(first), Some(last)) = (task.events.first(), task.events.last()) else { return false };
    let when = |event: &Event| (event.ts_us, event.place());
    let at = span.events.partition_point(|event| when(event) < when(first));
    let next = span.events.get(at);
    next.is_some_and(|next| when(next) > when(last) && next.ts_us <= last.ts_us.saturating_add(SOON_US))
}

/// Whether a span has printed nothing for long: a `main` waits for others then.
fn is_silent(span: &Fact<'_>, now_us: i64) -> bool {
    let before = span.last_until(now_us);
    before.is_some_and(|event| event.ts_us + SOON_US < now_us)
}

/// Whether a span has printed what another one works on: it may be one of many in a loop, which
/// is no identifier of its own.
fn names_it(span: &Fact<'_>, task: &Fact<'_>) -> bool {
    let names = task.values().iter().map(|value| &value.text);
    let mut names = names.filter(|text| text.bytes().any(|byte| byte.is_ascii_alphabetic()));
    names.any(|name| span.events.iter().any(|event| event.values.iter().any(|(_, text)| *text == **name)))
}

/// Whether a pair leads to who looks after a lasting thing, whoever has found that it is
/// time to: that is a request by itself.
fn serves_a_thing(pair: &Pair) -> bool {
    (pair.role == Role::Served && !pair.map.is_empty()) || pair.by_thread
}
