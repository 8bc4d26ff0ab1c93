//! Common senders: two tasks that name one thing have it from who started both.
//!
//! Who starts several tasks for one thing need not name it himself, or not by the name
//! that his tasks print: a flush starts a task that writes and one that cleans up after
//! it, and both print how far they got. Then nothing but time leads from the sender to
//! the second task. But the first one is known to be his, and what both of them name
//! tells that the other one is his as well. Of several senders it is the one with whose
//! tasks most is in common. Some of that has to be new: what others have named before
//! lives on, and is named by the tasks of many.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use schema::kinds::{contains_apart, is_made, without_dashes};
use schema::{LinkKind, Pass, TopLevelId, Value};

use super::candidates::TICK_US;
use super::facts::{Fact, Facts};
use super::intervals::Intervals;
use super::joined;
use super::pairs::{Pair, Pairs, Role};
use crate::merge::SpanLink;

/// What was handed over is begun at most this long after its sender's last line, µs.
const SOON_US: i64 = 1_000_000;

/// What was named first at most this long before a sender is new, µs.
const NEW_US: i64 = 1_000_000;

/// Senders looked at per receiver, latest start first.
const LOOK_BACK_MAX: usize = 64;

/// Tasks of a sender that are looked at.
const TASKS_MAX: usize = 16;

/// Texts in common: new ones, and all of them.
type InCommon = (usize, usize);

/// Links from senders to what names the same as a task of theirs, in addition to `links`.
pub(super) fn join(pairs: &Pairs<'_>, facts: &Facts<'_>, links: &[SpanLink]) -> Vec<SpanLink> {
    let (mut sets, has_sender) = joined(facts, links);
    let mut tasks: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    for link in links.iter().filter(|link| link.pair.is_some()) {
        tasks.entry(link.from).or_default().push(link.to);
    }
    let mut of_top: BTreeMap<(u32, TopLevelId), Vec<u32>> = BTreeMap::new();
    for (index, fact) in facts.iter().filter(|(index, _)| tasks.contains_key(index)) {
        fact.tops
            .first()
            .into_iter()
            .for_each(|&top| of_top.entry((fact.node, top)).or_default().push(index));
    }
    let of_top: BTreeMap<(u32, TopLevelId), Intervals> =
        of_top.into_iter().map(|(top, spans)| (top, Intervals::new(facts, &spans))).collect();
    let first_us = first_named(facts);
    let mut out = Vec::new();
    for (to, fact) in facts.iter().filter(|&(index, _)| !has_sender[index as usize]) {
        let Some(&top) = fact.tops.first() else { continue };
        let mut found: Vec<(InCommon, SpanLink)> = Vec::new();
        for pair in pairs.to(top).map(|index| pairs.get(index)).filter(|pair| is_start(pairs, pair)) {
            // A task can be one that was started then.
            let (latest_us, end_us) =
                (fact.start_us.saturating_add(TICK_US), fact.start_us.saturating_sub(SOON_US));
            let senders = of_top.get(&(fact.node, pair.from)).into_iter();
            let senders = senders.flat_map(|senders| senders.at_work(latest_us, end_us));
            for from in senders.take(LOOK_BACK_MAX) {
                // One of the same kind names the same places, whoever started it.
                let own = tasks[&from].iter().map(|&task| facts.get(task));
                let own = own.filter(|task| task.tops.first() != Some(&top) && are_close(task, fact));
                let own = own.take(TASKS_MAX);
                let since_us = facts.get(from).start_us.saturating_sub(NEW_US);
                let is_new =
                    |value: &Value| first_us[&*value.text] >= since_us && !facts.is_everywhere(value);
                let most = own.map(|task| in_common(fact, task, is_new)).max().unwrap_or_default();
                found.push((most, SpanLink { from, to, pair: pair.id, by: Pass::CommonSenders }));
            }
        }
        let most = found.iter().map(|(most, _)| *most).max().filter(|&(n_new, _)| n_new > 0);
        found.retain(|(in_common, _)| Some(*in_common) == most);
        let senders: BTreeSet<u32> = found.iter().map(|(_, link)| link.from).collect();
        if let Some((_, link)) = found.first().filter(|_| senders.len() == 1)
            && sets.join(link.from, to)
        {
            out.push(*link);
        }
    }
    out
}

/// Whether a pair starts a task of one request.
fn is_start(pairs: &Pairs<'_>, pair: &Pair) -> bool {
    let is_task = pair.role == Role::Local && pair.kind == LinkKind::Thread && !pair.is_way();
    is_task && !pairs.is_dispatcher(pair.from) && !pairs.is_dispatcher(pair.to)
}

/// Whether one of two spans begins while the other is at work, or soon after.
fn are_close(a: &Fact<'_>, b: &Fact<'_>) -> bool {
    let is_by_then = |a: &Fact<'_>, b: &Fact<'_>| a.start_us <= b.end_us.saturating_add(SOON_US);
    is_by_then(a, b) && is_by_then(b, a)
}

/// When what was made while the program ran was named first.
fn first_named<'s>(facts: &Facts<'s>) -> FxHashMap<&'s str, i64> {
    let mut first_us: FxHashMap<&str, i64> = FxHashMap::default();
    for (_, fact) in facts.iter() {
        for value in fact.values().iter().filter(|value| is_made(&value.text)) {
            first_us.entry(&value.text).or_insert(fact.start_us);
        }
    }
    first_us
}

/// What was made while the program ran and both of two spans name.
fn in_common(a: &Fact<'_>, b: &Fact<'_>, is_new: impl Fn(&Value) -> bool) -> InCommon {
    let made = a.values().iter().filter(|value| is_made(&value.text));
    let both = made.filter(|value| b.values().iter().any(|other| is_same(value, other)));
    let both: BTreeMap<&str, bool> = both.map(|value| (&*value.text, is_new(value))).collect();
    (both.values().filter(|&&is_new| is_new).count(), both.len())
}

/// Whether two values name one thing: a UUID is the same one without its dashes, also
/// in a longer name.
fn is_same(a: &Value, b: &Value) -> bool {
    a.text == b.text || without_dashes(&a.text).is_some_and(|digest| contains_apart(&b.text, &digest))
}
