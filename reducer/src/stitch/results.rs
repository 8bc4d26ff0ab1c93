//! Results: who begins, as far as the log shows, with what has been done for him.
//!
//! Whoever hands work to other threads and waits until it is done can print nothing before
//! he does, and the first that he prints is what they have made: a list, a message with a
//! path in it, which the analysis knows as one text. The span that he is seen in begins when
//! those that he has sent are over, where no sender is looked for. But a thing that was made
//! while the program ran, named by a task at its end and by the first line of the one method
//! that prints such a line only after it has started such a task, was made for that one.

use rustc_hash::{FxHashMap, FxHashSet};
use schema::{LinkKind, LogPointId, Pass, TopLevelId};

use super::evidence::is_naming;
use super::facts::Facts;
use super::joined;
use super::pairs::{Pair, Pairs, Role};
use crate::merge::SpanLink;

/// What stands around a name in a text.
const AROUND: &[char] = &[' ', '\t', '"', '\'', '(', ')', '[', ']', '{', '}', '<', '>', ',', ';', '='];

/// Tasks that have named a thing last that are looked at.
const LOOK_BACK_MAX: usize = 64;

/// Links from who prints what others have made, to those, in addition to `links`.
/// `window_us`: how long he waits at most, µs.
pub(super) fn join(
    pairs: &Pairs<'_>,
    facts: &Facts<'_>,
    window_us: i64,
    links: &[SpanLink],
) -> Vec<SpanLink> {
    let (mut sets, has_sender) = joined(facts, links);
    let starts = starts(pairs);
    let tasks: FxHashSet<TopLevelId> = starts.values().flatten().map(|pair| pair.to).collect();
    let mut named: FxHashMap<(u32, &str), Vec<u32>> = FxHashMap::default();
    for (index, fact) in facts.iter().filter(|(_, fact)| fact.tops.iter().any(|top| tasks.contains(top))) {
        let values = fact.values().iter().filter(|value| facts.is_one_thing(value));
        for value in values.filter(|value| is_naming(&value.text)) {
            named.entry((fact.node, &*value.text)).or_default().push(index);
        }
    }
    let mut out = Vec::new();
    for (sender, fact) in facts.iter() {
        let Some(first) = fact.events.first() else { continue };
        let of = |&top: &TopLevelId| starts.get(&(top, first.log_point?));
        let pairs_of: Vec<&Pair> = fact.tops.iter().filter_map(of).flatten().copied().collect();
        // Where no thread is printed, what others could have printed begins nothing.
        let is_told = fact.thread.is_some() || fact.tops.len() == 1;
        if pairs_of.is_empty() || !is_told || has_sender[sender as usize] {
            continue;
        }
        let names = first
            .values
            .iter()
            .flat_map(|(_, text)| text.split(AROUND).filter(|name| name.len() < text.len()));
        let mut made: Vec<u32> = names
            .filter_map(|name| {
                let tasks = named.get(&(fact.node, name))?;
                let before = tasks[..tasks.partition_point(|&task| task < sender)].iter().rev();
                let done = before.take(LOOK_BACK_MAX).copied().filter(|&task| {
                    let end_us = facts.get(task).end_us;
                    end_us <= fact.start_us && fact.start_us - end_us <= window_us
                });
                done.max_by_key(|&task| (facts.get(task).end_us, task))
            })
            .collect();
        made.sort_unstable();
        made.dedup();
        for to in made {
            let tops = facts.get(to).tops;
            let pair = pairs_of.iter().find(|pair| tops.contains(&pair.to));
            if let Some(pair) = pair.filter(|_| sets.join(sender, to)) {
                out.push(SpanLink { from: sender, to, pair: pair.id, by: Pass::Results });
            }
        }
    }
    out
}

/// By who starts tasks, and what he prints only when he has: the starts.
fn starts<'p>(pairs: &'p Pairs<'_>) -> FxHashMap<(TopLevelId, LogPointId), Vec<&'p Pair>> {
    let mut starts: FxHashMap<_, Vec<&Pair>> = FxHashMap::default();
    for pair in pairs.iter().filter(|pair| pair.role == Role::Local && !pair.is_way()) {
        if pair.kind == LinkKind::Thread && pair.from != pair.to {
            for &point in pairs.printed_after(pair) {
                starts.entry((pair.from, point)).or_default().push(pair);
            }
        }
    }
    starts
}
