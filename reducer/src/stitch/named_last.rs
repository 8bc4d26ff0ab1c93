//! Named last: what everybody can have started is of who has named it last.
//!
//! Where very many methods start a task through one helper, the analysis names no
//! sender: it would be everybody. The helper prints nothing, and nothing leads to it. But
//! such a task works on a thing that was made while the program ran, and whoever has
//! started it was at that thing: the request that named it last before the task began, a
//! moment ago, on the same node. If two name it at that time, nothing follows; nor if such a
//! task hardly ever begins after the line that named it: there it did by chance, asked for by
//! somebody who prints nothing. A thread that works off in a row what one request has handed
//! over at once keeps the last of it waiting: what was named before the row began, by whom
//! the task before is of as well, begins as soon as it can.

use rustc_hash::{FxHashMap, FxHashSet};
use schema::{LinkKind, LogPointId, Pass, TopLevelId, TopLevelKind};

use super::facts::{Fact, Facts};
use super::joined;
use super::pairs::Pairs;
use crate::merge::{Sets, SpanLink};
use crate::skeleton::Event;

/// What was named at most this long before a task begins was named for it, µs.
const SOON_US: i64 = 100_000;

/// Who waits for longer has been forgotten, µs.
const WAIT_MAX_US: i64 = 10_000_000;

/// Of so many lines of a statement one at least must have been the last to name what such a
/// task works on.
const LINES_PER_TASK_MAX: usize = 16;

/// Who named a text on a node, where, in log order, and with which statement.
type Named<'s> = FxHashMap<(u32, &'s str), Vec<(Line, u32, Option<LogPointId>)>>;

/// Who named what, and for each span the row of its thread that it goes on with.
struct Names<'s> {
    named: Named<'s>,
    rows: Vec<Option<Row>>,
}

/// Tasks of one kind that a thread works off one after the other.
#[derive(Clone, Copy)]
struct Row {
    /// When it began with the first of them.
    begun_us: i64,
    /// The last one so far.
    last: u32,
}

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
    let wanted: FxHashSet<&str> = free.iter().flat_map(|(_, fact)| texts(fact)).collect();
    let mut named: Named<'_> = FxHashMap::default();
    for (index, fact) in facts.iter() {
        for event in fact.events {
            // What is of no class is of nothing that the span works on.
            let tells =
                |&(variable, text): &(u32, &str)| wanted.contains(text) && pairs.is_of_class(event, variable);
            for (_, text) in event.values.iter().filter(tells) {
                named.entry((fact.node, text)).or_default().push((line_of(event), index, event.log_point));
            }
        }
    }
    named.values_mut().for_each(|named| named.sort_unstable());
    let named = Names { named, rows: rows(facts) };
    let chances = Chances::learn(facts, &named, &mut sets, &free);
    let mut out = Vec::new();
    for (to, fact) in free {
        if let Some((from, point)) = namer(&named, &mut sets, to, fact)
            && chances.begins_after(point, fact.tops)
            && sets.join(from, to)
        {
            out.push(SpanLink { from, to, pair: None, by: Pass::NamedLast });
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

/// For each span the row that it goes on with, if its thread was busy until then.
fn rows(facts: &Facts<'_>) -> Vec<Option<Row>> {
    let mut known: FxHashMap<(u32, &str, TopLevelId), Row> = FxHashMap::default();
    let mut rows = vec![None; facts.len()];
    for (index, fact) in facts.iter() {
        let Some((thread, &top)) = fact.thread.zip(fact.tops.first()) else { continue };
        let key = (fact.node, thread, top);
        let is_busy = |row: &Row| fact.start_us <= facts.get(row.last).end_us.saturating_add(SOON_US);
        let row = known.get(&key).copied().filter(is_busy);
        let begun_us = row.map_or(fact.start_us, |row| row.begun_us);
        known.insert(key, Row { begun_us, last: index });
        rows[index as usize] = row;
    }
    rows
}

/// What a span names that tells what it works on.
fn texts<'f>(fact: &'f Fact<'_>) -> impl Iterator<Item = &'f str> {
    let telling = fact.values().iter().filter(|value| value.is_naming() && value.is_one_thing());
    telling.map(|value| value.text)
}

/// How often tasks begin after the statements that name last what they work on.
struct Chances {
    /// Lines of each statement that named one last.
    n_lines: FxHashMap<LogPointId, usize>,
    /// Those after which a task began, by statement and task.
    n_begun: FxHashMap<(LogPointId, TopLevelId), usize>,
}

impl Chances {
    fn learn(facts: &Facts<'_>, named: &Names<'_>, sets: &mut Sets, free: &[(u32, &Fact<'_>)]) -> Self {
        let mut n_begun: FxHashMap<(LogPointId, TopLevelId), usize> = FxHashMap::default();
        for &(to, fact) in free {
            let point = namer(named, sets, to, fact).and_then(|(_, point)| point);
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
fn namer(named: &Names<'_>, sets: &mut Sets, to: u32, fact: &Fact<'_>) -> Option<(u32, Option<LogPointId>)> {
    let own = sets.root(to);
    let begin = line_of(fact.events.first()?);
    let row = named.rows[to as usize].map(|row| (row.begun_us, sets.root(row.last)));
    let mut found: Vec<(Line, u32, Option<LogPointId>)> = Vec::new();
    for text in texts(fact) {
        let by = named.named.get(&(fact.node, text)).map_or(&[][..], Vec::as_slice);
        let end = by.partition_point(|&(line, ..)| line < begin);
        let recent = by[..end].iter().rev().copied();
        let recent = recent.take_while(|((us, ..), ..)| us.saturating_add(WAIT_MAX_US) >= fact.start_us);
        found.extend(recent.filter(|&((us, ..), span, _)| {
            let root = sets.root(span);
            let waits = row.is_some_and(|(begun_us, of)| us <= begun_us && of == root);
            root != own && (us.saturating_add(SOON_US) >= fact.start_us || waits)
        }));
    }
    let last_us = found.iter().map(|&((us, ..), ..)| us).max()?;
    found.retain(|&((us, ..), ..)| us == last_us);
    let from = found.iter().map(|&(_, span, _)| span).min()?;
    let (_, _, point) = found.iter().filter(|&&(_, span, _)| span == from).max().copied()?;
    let root = sets.root(from);
    found.iter().all(|&(_, span, _)| sets.root(span) == root).then_some((from, point))
}
