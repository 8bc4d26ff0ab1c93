//! In line: who waits for a task about a thing, and the task about it that comes next.
//!
//! A task that has to wait, because its node is at a standstill or its pool is busy, begins
//! so late that time does not tell who has handed it over; and what it names (a table, a
//! queue) is named by many. But where each sender of a pair starts one task, the log shows
//! who waits: of all that name one thing on a node, in the order of time, a sender without
//! a task stands directly before a task without a sender. Nobody else can have sent that,
//! and nothing else come of this. Who often starts nothing does not wait; nor does who has
//! printed nothing of what stands before the hand-off. What comes back is handed over soon,
//! or by somebody who is not seen; a thing that is handed over once only can wait for long.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use schema::{LinkKind, LogPointId, PairId, Pass, TopLevelId, ValueClassId};

use super::facts::{Facts, RETURN_US};
use super::joined;
use super::pairs::{Pair, Pairs, Role};
use crate::merge::SpanLink;

/// Hand-offs of a pair from which to learn that each sender starts one task.
const LINKS_MIN: usize = 16;

/// At most one sender in so many has several tasks or none, and one task in so many no
/// sender.
const EXCEPTIONS_SHARE: usize = 16;

/// What names one thing, in the order of time: (start µs, span, whether it is a sender).
type Named = Vec<(i64, u32, bool)>;

/// Links from senders to the tasks that stand next to them, in addition to `links`.
pub(super) fn join(pairs: &Pairs<'_>, facts: &Facts<'_>, links: &[SpanLink]) -> Vec<SpanLink> {
    let (mut sets, mut has_sender) = joined(facts, links);
    let mut of_top: BTreeMap<TopLevelId, Vec<u32>> = BTreeMap::new();
    for (index, fact) in facts.iter() {
        fact.tops.first().into_iter().for_each(|&top| of_top.entry(top).or_default().push(index));
    }
    let mut of_pair: FxHashMap<PairId, Vec<u32>> = FxHashMap::default();
    for link in links {
        link.pair.into_iter().for_each(|pair| of_pair.entry(pair).or_default().push(link.from));
    }
    let firsts = Firsts::new(facts, links);
    let spans = |top: TopLevelId| of_top.get(&top).map_or(&[][..], Vec::as_slice);
    let mut out = Vec::new();
    for pair in pairs.iter().filter(|pair| is_task(pairs, pair)) {
        let sent = pair.id.and_then(|id| of_pair.get(&id)).filter(|sent| sent.len() >= LINKS_MIN);
        let Some(sent) = sent else { continue };
        let served: BTreeSet<u32> = sent.iter().copied().collect();
        let before = pairs.printed_before(pair);
        let has_sent = |&span: &u32| before.is_empty() || has_printed(facts, span, before);
        let senders: Vec<u32> = spans(pair.from).iter().copied().filter(has_sent).collect();
        let mut named = by_name(facts, pair, (&senders, spans(pair.to)));
        // What nobody hands over by its own name is a part of something that somebody does.
        named.retain(|_, named| named.iter().any(|&(.., is_sender)| is_sender));
        let all = named.values().flatten().map(|&(_, span, is_sender)| (is_sender, span));
        let (senders, tasks): (BTreeSet<_>, BTreeSet<_>) = all.partition(|&(is_sender, _)| is_sender);
        let n_idle = senders.iter().filter(|(_, sender)| !served.contains(sender)).count();
        let is_lost = |task: u32| !has_sender[firsts.of(task, pair.to) as usize];
        let n_lost = tasks.iter().filter(|&&(_, task)| is_lost(task)).count();
        let are_few = |n: usize, n_all: usize| n * EXCEPTIONS_SHARE <= n_all;
        let is_exact = are_few(sent.len() - served.len(), sent.len())
            && are_few(n_idle, senders.len())
            && are_few(n_lost, tasks.len());
        if !is_exact {
            continue;
        }
        for (is_once, two) in named.values().flat_map(|all| all.windows(2).map(|two| (all.len() == 2, two))) {
            let [(sent_us, from, true), (begun_us, to, false)] = *two else { continue };
            let task = firsts.of(to, pair.to);
            let is_free = !served.contains(&from) && !has_sender[task as usize];
            let is_soon = is_once || begun_us - sent_us <= RETURN_US;
            if is_free && is_soon && !facts.names_other(facts.get(from), facts.get(to)) && sets.join(from, to)
            {
                has_sender[task as usize] = true;
                out.push(SpanLink { from, to: task, pair: pair.id, by: Pass::InLine });
            }
        }
    }
    out
}

/// The spans that others go on with: what names a task can be the rest of it.
struct Firsts<'f> {
    facts: &'f Facts<'f>,
    before: FxHashMap<u32, u32>,
}

impl<'f> Firsts<'f> {
    fn new(facts: &'f Facts<'f>, links: &[SpanLink]) -> Self {
        let goes_on = |link: &&SpanLink| {
            let starts = |span: u32| facts.get(span).events.first().map(|event| (event.ts_us, event.line));
            link.pair.is_none() && starts(link.from) < starts(link.to)
        };
        Self { facts, before: links.iter().filter(goes_on).map(|link| (link.to, link.from)).collect() }
    }

    /// The first part of the task of `top` that `span` is of.
    fn of(&self, mut span: u32, top: TopLevelId) -> u32 {
        while let Some(&before) = self.before.get(&span)
            && self.facts.get(before).tops.first() == Some(&top)
        {
            span = before;
        }
        span
    }
}

/// Whether a span has printed one of the lines that stand before a hand-off: who has not has
/// something else to do, and hands nothing over.
fn has_printed(facts: &Facts<'_>, span: u32, before: &[LogPointId]) -> bool {
    let mut points = facts.get(span).events.iter().filter_map(|event| event.log_point);
    points.any(|point| before.binary_search(&point).is_ok())
}

/// Whether a pair hands over a task that its sender names.
fn is_task(pairs: &Pairs<'_>, pair: &Pair) -> bool {
    let is_start = pair.role == Role::Local && pair.kind == LinkKind::Thread && !pair.is_way();
    is_start && !pair.map.is_empty() && !pairs.is_dispatcher(pair.from) && !pairs.is_dispatcher(pair.to)
}

/// The senders and the tasks of a pair by node and by the name that goes from one to the
/// other.
fn by_name<'f>(
    facts: &'f Facts<'_>,
    pair: &Pair,
    (senders, tasks): (&[u32], &[u32]),
) -> BTreeMap<(u32, &'f str), Named> {
    let mut named: BTreeMap<(u32, &str), Named> = BTreeMap::new();
    let mut add = |spans: &[u32], is_sender: bool, class: &dyn Fn(ValueClassId) -> bool| {
        for &span in spans {
            let fact = facts.get(span);
            for value in fact.values().iter().filter(|value| class(value.value_class)) {
                named.entry((fact.node, &*value.text)).or_default().push((fact.start_us, span, is_sender));
            }
        }
    };
    add(senders, true, &|class| pair.map.iter().any(|mapped| mapped.from == class));
    add(tasks, false, &|class| pair.map.iter().any(|mapped| mapped.to == class));
    for named in named.values_mut() {
        named.sort_unstable();
        named.dedup();
    }
    named
}
