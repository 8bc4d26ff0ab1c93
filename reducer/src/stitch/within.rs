//! Within: a task that most of those who start it wait for is a part of theirs, as the program tells,
//! even if it looks after a lasting thing that any of them can name, and if some of them print nothing.
//!
//! Where nothing that a span names tells who has handed it over, several spans may be as likely. They
//! need not be told apart if they are all of one request: so what counts is not how many spans can
//! have sent another one, but how many requests. A task is of the only request that can have waited
//! for it: by who is at work, or has printed nothing yet, and goes on soon after it; where no thread
//! is printed, by who prints nothing while the task is done.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use schema::{LogPointId, Pass, TopLevelId};

use super::candidates::TICK_US;
use super::facts::{Fact, Facts};
use super::hosts::Hosts;
use super::joined;
use super::pairs::Pairs;
use crate::merge::{Sets, SpanLink, to_u32};
use crate::skeleton::Event;

/// Spans from which to learn.
const SPANS_MIN: usize = 8;

/// Senders looked at per receiver, latest start first.
const LOOK_BACK_MAX: usize = 256;

/// What a span hands over or goes on with comes this soon after it has printed, µs.
const SOON_US: i64 = 1_000_000;

/// Who has waited for a task goes on this soon after it is done, µs.
const GOES_ON_US: i64 = 100_000;

/// What joins makes more requests whole, within which more is found.
const ROUNDS_MAX: usize = 8;

/// Links to tasks for which one request only waits, in addition to `links`.
pub(super) fn join(pairs: &Pairs<'_>, facts: &Facts<'_>, hosts: &Hosts, links: &[SpanLink]) -> Vec<SpanLink> {
    let (mut sets, mut has_sender) = joined(facts, links);
    let work = Work::new(pairs, facts);
    let mut out = Vec::new();
    for _ in 0..ROUNDS_MAX {
        let n_before = out.len();
        for (from, to) in work.round(&mut sets, &has_sender) {
            // Who begins only after it can have printed it as well.
            if !hosts.are_of_several(&mut sets, to) && sets.join(from, to) {
                has_sender[to as usize] = true;
                out.push(SpanLink { from, to, pair: None, by: Pass::Within });
            }
        }
        if n_before == out.len() {
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
}

/// Spans of one top-level method on one node, in order of start: what each is a part of, when
/// that printed last there, µs, and when any of those up to this one did.
type Lasts = FxHashMap<(u32, TopLevelId), Vec<(u32, i64, i64)>>;

/// A top-level method whose spans can have led to a span directly, and the pair by which; none:
/// it would be the rest of them.
type Sender = (TopLevelId, Option<u32>);

/// All that tells who they are: what the span can be, the less likely of that, and whether a thread
/// is printed.
type SendersOf<'a> = (&'a [TopLevelId], &'a [TopLevelId], bool);

fn senders_of<'a>(fact: &Fact<'a>) -> SendersOf<'a> {
    (fact.tops, fact.other_tops, fact.thread.is_some())
}

/// What is known of the requests in one round.
struct Requests<'r> {
    /// The request of each span.
    roots: &'r [u32],
    ends: Ends,
    lasts: Lasts,
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

    /// Hand-offs to tasks for which one request only can have waited. A task that is a part of others
    /// is at work for somebody too, and as long as nobody knows for whom, it is no other request.
    fn round(&self, sets: &mut Sets, has_sender: &[bool]) -> Vec<(u32, u32)> {
        let mut ends = Ends::default();
        let mut free: BTreeMap<Begin<'a>, Vec<u32>> = BTreeMap::new();
        let mut n_all: FxHashMap<Begin<'a>, usize> = FxHashMap::default();
        let roots: Vec<u32> = (0..to_u32(self.facts.len())).map(|span| sets.root(span)).collect();
        for ((index, fact), &root) in self.facts.iter().zip(&roots) {
            ends.add((root, fact.node), fact);
            let Some(point) = fact.first_point.filter(|_| self.is_awaited(fact)) else { continue };
            let is_free = root == index && !sets.is_named(root);
            if is_free || has_sender[index as usize] {
                *n_all.entry((point, fact.tops)).or_default() += 1;
            }
            if is_free && !has_sender[index as usize] {
                free.entry((point, fact.tops)).or_default().push(index);
            }
        }
        free.retain(|begin, _| n_all[begin] >= SPANS_MIN);
        let spans: Vec<u32> = free.into_values().flatten().collect();
        let nobodys: FxHashSet<u32> = spans.iter().copied().collect();
        let requests = Requests { lasts: self.lasts(&roots, &ends), ends, roots: &roots };
        let only = |&index: &u32| {
            let mut around = self.around(&requests, index);
            around.retain(|&span| !nobodys.contains(&roots[span as usize]));
            if let [from] = around[..] { Some((from, index)) } else { None }
        };
        spans.par_iter().filter_map(only).collect()
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

    /// Of each request that waits while a task is done, and can have started it, the latest span from
    /// which it can have come.
    fn around(&self, Requests { roots, ends, lasts }: &Requests<'_>, index: u32) -> Vec<u32> {
        let fact = self.facts.get(index);
        let own = roots[index as usize];
        let end_us = ends.last_us((own, fact.node));
        let mut found: BTreeMap<u32, u32> = BTreeMap::new();
        let mut naming: BTreeSet<u32> = BTreeSet::new();
        // Who waits has not printed anything yet, perhaps.
        let n_begun = self.facts.n_started(fact.end_us.saturating_add(GOES_ON_US));
        for &(top, pair) in self.senders(fact) {
            let Some(spans) = self.of_top.get(&(fact.node, top)) else { continue };
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
                let is_active = other.end_us + SOON_US >= fact.start_us
                    && !(self.pairs.is_main(top) && is_silent(other, fact.start_us));
                let is_around = is_active
                    && self.goes_on_soon(other, fact)
                    && !other.names_other(fact)
                    && !self.pairs.are_of_different_requests(other, fact);
                let leads_here = || match pair {
                    // Who had printed nothing yet prints first what is not before its hand-off,
                    // and no thread goes back to what is: without threads, one span may hold
                    // a line of another. Nor has who waits printed what it only prints after that.
                    Some(pair) if self.pairs.is_past(self.pairs.get(pair), other, fact) => false,
                    Some(pair) => {
                        (fact.thread.is_none() && other.start_us <= fact.start_us)
                            || !self.pairs.is_ahead(self.pairs.get(pair), other, fact)
                    }
                    None => self.goes_on(top, other, fact),
                };
                if is_around && leads_here() {
                    let latest = found.entry(root).or_insert(span);
                    *latest = span.max(*latest);
                    if names_it(other, fact) {
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

    /// The possible senders of a span, sorted.
    fn senders(&self, fact: &Fact<'a>) -> &[Sender] {
        self.senders.get(&senders_of(fact)).map_or(&[], Vec::as_slice)
    }

    /// Works them out, for all tasks that are waited for.
    fn find_all_senders(&mut self) {
        for (_, fact) in self.facts.iter() {
            if self.is_awaited(fact) && !self.senders.contains_key(&senders_of(fact)) {
                let found = self.find_senders(fact).into_iter().collect();
                self.senders.insert(senders_of(fact), found);
            }
        }
    }

    fn find_senders(&self, fact: &Fact<'_>) -> BTreeSet<Sender> {
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
                    .filter(|(_, pair)| self.pairs.waits(pair))
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
    let mut names = task.values().iter().filter(|value| value.is_name()).map(|value| value.text);
    names.any(|name| span.events.iter().any(|event| event.values.iter().any(|(_, text)| text == name)))
}
