//! Named last: what everybody can have started is of who has named it last.
//!
//! Where very many methods start a task through one helper, the analysis names no
//! sender: it would be everybody. The helper prints nothing, and nothing leads to it. But
//! such a task works on a thing that was made while the program ran, and whoever has
//! started it was at that thing: the request that named it last before the task began, a
//! moment ago, on the same node. If two name it at that time, nothing follows; nor if such a
//! task hardly ever begins after the line that named it: there it did by chance, asked for by
//! somebody who prints nothing.

use rustc_hash::{FxHashMap, FxHashSet};
use schema::kinds::is_made;
use schema::{Event, LinkKind, LogPointId, TopLevelId, TopLevelKind};

use super::evidence::is_naming;
use super::facts::{Fact, Facts};
use super::joined;
use super::pairs::Pairs;
use crate::merge::{Sets, SpanLink};

/// What was named at most this long before a task begins was named for it, µs.
const SOON_US: i64 = 100_000;

/// Of so many lines of a statement one at least must have been the last to name what such a
/// task works on.
const LINES_PER_TASK_MAX: usize = 16;

/// Who named a text on a node, where, in log order, and with which statement.
type Named<'s> = FxHashMap<(u32, &'s str), Vec<(Line, u32, Option<LogPointId>)>>;

/// Where a record stands among those of its node.
type Line = (i64, u32, u64);

fn line_of(event: &Event) -> Line {
    (event.ts_us, event.file, event.line)
}

/// Links from who has named what a task of anybody works on, in addition to `links`.
pub(super) fn join(pairs: &Pairs<'_>, facts: &Facts<'_>, links: &[SpanLink]) -> Vec<SpanLink> {
    let (mut sets, has_sender) = joined(facts, links);
    let shown: FxHashSet<TopLevelId> =
        facts.iter().filter_map(|(_, fact)| fact.tops.first().copied()).collect();
    let is_free = |&(index, fact): &(u32, &Fact<'_>)| {
        let is_anybodys = |&top: &TopLevelId| is_anybodys(pairs, &shown, top);
        !has_sender[index as usize] && fact.thread.is_some() && fact.tops.first().is_some_and(is_anybodys)
    };
    let free: Vec<(u32, &Fact<'_>)> = facts.iter().filter(is_free).collect();
    let wanted: FxHashSet<&str> = free.iter().flat_map(|(_, fact)| texts(facts, fact)).collect();
    let mut named: Named<'_> = FxHashMap::default();
    for (index, fact) in facts.iter() {
        for event in fact.events {
            for (_, text) in event.values.iter().filter(|(_, text)| wanted.contains(text)) {
                named.entry((fact.node, text)).or_default().push((line_of(event), index, event.log_point));
            }
        }
    }
    named.values_mut().for_each(|named| named.sort_unstable());
    let chances = Chances::learn(facts, &named, &mut sets, &free);
    let mut out = Vec::new();
    for (to, fact) in free {
        if let Some((from, point)) = namer(facts, &named, &mut sets, to, fact)
            && chances.begins_after(point, fact.tops)
            && sets.join(from, to)
        {
            out.push(SpanLink { from, to, pair: None });
        }
    }
    out
}

/// Whether a task is started by methods only that print nothing and to which nothing leads.
fn is_anybodys(pairs: &Pairs<'_>, shown: &FxHashSet<TopLevelId>, top: TopLevelId) -> bool {
    let led_to = |top: TopLevelId| {
        pairs.to(top).map(|index| pairs.get(index)).filter(|pair| pair.id.is_some() && !pair.is_way())
    };
    let is_helper = |top: TopLevelId| {
        !shown.contains(&top)
            && pairs.kind(top) == TopLevelKind::DispatchTarget
            && led_to(top).next().is_none()
    };
    let mut own = led_to(top).peekable();
    own.peek().is_some() && own.all(|pair| pair.kind == LinkKind::Thread && is_helper(pair.from))
}

/// What a span names that tells what it works on.
fn texts<'f>(facts: &'f Facts<'_>, fact: &'f Fact<'_>) -> impl Iterator<Item = &'f str> {
    let telling = fact.values().iter().filter(|value| is_naming(&value.text) && is_made(&value.text));
    telling.filter(|value| !facts.is_everywhere(value)).map(|value| &*value.text)
}

/// How often tasks begin after the statements that name last what they work on.
struct Chances {
    /// Lines of each statement that named one last.
    n_lines: FxHashMap<LogPointId, usize>,
    /// Those after which a task began, by statement and task.
    n_begun: FxHashMap<(LogPointId, TopLevelId), usize>,
}

impl Chances {
    fn learn(facts: &Facts<'_>, named: &Named<'_>, sets: &mut Sets, free: &[(u32, &Fact<'_>)]) -> Self {
        let mut n_begun: FxHashMap<(LogPointId, TopLevelId), usize> = FxHashMap::default();
        for &(to, fact) in free {
            let point = namer(facts, named, sets, to, fact).and_then(|(_, point)| point);
            if let Some(key) = point.zip(fact.tops.first().copied()) {
                *n_begun.entry(key).or_default() += 1;
            }
        }
        let mut n_lines: FxHashMap<LogPointId, usize> =
            n_begun.keys().map(|&(point, _)| (point, 0)).collect();
        for point in facts.iter().flat_map(|(_, fact)| fact.events).filter_map(|event| event.log_point) {
            n_lines.entry(point).and_modify(|n| *n += 1);
        }
        Self { n_lines, n_begun }
    }

    /// Whether such a task begins after lines of `point` often enough to be no chance.
    fn begins_after(&self, point: Option<LogPointId>, tops: &[TopLevelId]) -> bool {
        let Some((point, &top)) = point.zip(tops.first()) else { return false };
        let n_begun = self.n_begun.get(&(point, top)).copied().unwrap_or_default();
        self.n_lines.get(&point).is_some_and(|&n_lines| n_begun * LINES_PER_TASK_MAX >= n_lines)
    }
}

/// A span of the one request that has named last what `fact` names, and the statement by
/// which it did.
fn namer(
    facts: &Facts<'_>,
    named: &Named<'_>,
    sets: &mut Sets,
    to: u32,
    fact: &Fact<'_>,
) -> Option<(u32, Option<LogPointId>)> {
    let own = sets.root(to);
    let begin = line_of(fact.events.first()?);
    let mut found: Vec<(Line, u32, Option<LogPointId>)> = Vec::new();
    for text in texts(facts, fact) {
        let by = named.get(&(fact.node, text)).map_or(&[][..], Vec::as_slice);
        let end = by.partition_point(|&(line, ..)| line < begin);
        let recent = by[..end].iter().rev().copied();
        let recent = recent.take_while(|((us, ..), ..)| us.saturating_add(SOON_US) >= fact.start_us);
        found.extend(recent.filter(|&(_, span, _)| sets.root(span) != own));
    }
    let last_us = found.iter().map(|&((us, ..), ..)| us).max()?;
    found.retain(|&((us, ..), ..)| us == last_us);
    let from = found.iter().map(|&(_, span, _)| span).min()?;
    let (_, _, point) = found.iter().filter(|&&(_, span, _)| span == from).max().copied()?;
    let root = sets.root(from);
    found.iter().all(|&(_, span, _)| sets.root(span) == root).then_some((from, point))
}
