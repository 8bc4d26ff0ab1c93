//! Named last: what everybody can have started is of who has named it last.
//!
//! Where very many methods start a task through one helper, the analysis names no
//! sender: it would be everybody. The helper prints nothing, and nothing leads to it. But
//! such a task works on a thing that was made while the program ran, and whoever has
//! started it was at that thing: the request that named it last before the task began, a
//! moment ago, on the same node. If two name it at that time, nothing follows.

use rustc_hash::{FxHashMap, FxHashSet};
use schema::kinds::is_made;
use schema::{Event, LinkKind, TopLevelId, TopLevelKind};

use super::evidence::is_naming;
use super::facts::{Fact, Facts};
use super::joined;
use super::pairs::Pairs;
use crate::merge::{Sets, SpanLink};

/// What was named at most this long before a task begins was named for it, µs.
const SOON_US: i64 = 100_000;

/// Who named a text on a node, and where, in log order.
type Named<'s> = FxHashMap<(u32, &'s str), Vec<(Line, u32)>>;

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
                named.entry((fact.node, text)).or_default().push((line_of(event), index));
            }
        }
    }
    named.values_mut().for_each(|named| named.sort_unstable());
    let mut out = Vec::new();
    for (to, fact) in free {
        if let Some(from) = namer(facts, &named, &mut sets, to, fact)
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

/// A span of the one request that has named last what `fact` names.
fn namer(facts: &Facts<'_>, named: &Named<'_>, sets: &mut Sets, to: u32, fact: &Fact<'_>) -> Option<u32> {
    let own = sets.root(to);
    let begin = line_of(fact.events.first()?);
    let mut found: Vec<(i64, u32)> = Vec::new();
    for text in texts(facts, fact) {
        let by = named.get(&(fact.node, text)).map_or(&[][..], Vec::as_slice);
        let end = by.partition_point(|&(line, _)| line < begin);
        let recent = by[..end].iter().rev().map(|&((us, ..), span)| (us, span));
        let recent = recent.take_while(|(us, _)| us.saturating_add(SOON_US) >= fact.start_us);
        found.extend(recent.filter(|&(_, span)| sets.root(span) != own));
    }
    let last_us = found.iter().map(|&(us, _)| us).max()?;
    found.retain(|&(us, _)| us == last_us);
    let from = found.iter().map(|&(_, span)| span).min()?;
    let root = sets.root(from);
    found.iter().all(|&(_, span)| sets.root(span) == root).then_some(from)
}
