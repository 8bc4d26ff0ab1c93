//! Border: a span that was cut where a period ends, as its log is not there any more, goes on
//! with what its thread prints first in the next period.
//!
//! The code tells: the thread was in the middle of it when the log ended, what it prints next
//! begins nothing that can have printed it, and comes after the last line in the order of a
//! method that both can be. Where no threads are printed, nothing shows whose rest it is, and
//! both stay spans of their own, that what they name can join.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use schema::{Dag, LogPointId, Model, Result, TopLevelId};

use super::Node;
use crate::merge::{end_us, start_us, to_u32};
use crate::skeleton::{Span, Stored};
use crate::spill::{self, SpillWriter, Store};

/// Joins spans of `node` that were kept, in the store of the number `kept`, with their rests.
pub(super) fn join(
    node: &mut Node,
    model: &Model,
    (folder, kept, stores): (&Path, u32, &mut Vec<Store>),
    window_us: i64,
) -> Result<()> {
    let mut last: BTreeMap<Arc<str>, Span> = BTreeMap::new();
    let mut first: BTreeMap<Arc<str>, Span> = BTreeMap::new();
    let place = |span: &Span| (start_us(span), span.events[0].place(), span.stored);
    let places: Vec<Stored> = node.spans.iter().map(|span| span.stored).collect();
    spill::read_in_parts(stores, &places, |stored, span| {
        let Some(thread) = span.thread.clone() else { return Ok(()) };
        let span = Span::new(span, stored);
        let (ends, is_kept) = if stored.store == kept { (&mut last, true) } else { (&mut first, false) };
        let is_end = ends.get(&thread).is_none_or(|known| (place(&span) > place(known)) == is_kept);
        if is_end {
            ends.insert(thread, span);
        }
        Ok(())
    })?;
    let mut joined = Vec::new();
    for (thread, whole) in last {
        let Some(rest) = first.get(&thread) else { continue };
        let tops = goes_on(model, (&whole, rest), window_us);
        if !tops.is_empty() {
            joined.push(([whole.stored, rest.stored], tops));
        }
    }
    if joined.is_empty() {
        return Ok(());
    }
    let mut writer = SpillWriter::create(folder)?;
    let gone: BTreeSet<Stored> = joined.iter().flat_map(|(places, _)| *places).collect();
    for (places, tops) in joined {
        let mut spans = spill::read(stores, &places)?.into_iter();
        if let (Some(whole), Some(rest)) = (spans.next(), spans.next()) {
            writer.add_span(&put_together(whole, rest, tops))?;
        }
    }
    let mut output = writer.finish(&node.name, Vec::new())?;
    let store = to_u32(stores.len());
    output.spans.iter_mut().for_each(|span| span.stored.store = store);
    stores.push(output.store);
    node.spans.retain(|span| !gone.contains(&span.stored));
    node.spans.append(&mut output.spans);
    Ok(())
}

/// The methods of which a span and its rest are one run, best first; empty: it is none.
fn goes_on(model: &Model, (span, rest): (&Span, &Span), window_us: i64) -> Vec<TopLevelId> {
    let points = |span: &Span, at: usize| span.events.get(at).and_then(|event| event.log_point);
    let (Some(before), Some(next)) = (points(span, span.events.len().wrapping_sub(1)), points(rest, 0))
    else {
        return Vec::new();
    };
    let silence_us = start_us(rest).saturating_sub(end_us(span));
    let dag = |top: &TopLevelId| model.top_level_methods.get(top.index()).map(|top| &top.dag);
    let is_rest = |top: &TopLevelId| {
        dag(top).is_some_and(|dag| {
            let begins = begins(dag, next) && model.successors.can_begin(*top, next);
            !dag.nodes.is_empty() && !begins
        })
    };
    if !span.truncated
        || !(0..=window_us).contains(&silence_us)
        || !rest.top_levels.iter().all(is_rest)
        || names_another(span, rest)
    {
        return Vec::new();
    }
    let is_one = |top: &&TopLevelId| {
        rest.top_levels.contains(top) && dag(top).is_some_and(|dag| comes_after(dag, before, next))
    };
    span.top_levels.iter().filter(is_one).copied().collect()
}

/// Whether an execution can begin with a log point.
fn begins(dag: &Dag, point: LogPointId) -> bool {
    dag.entries.iter().any(|&node| has(dag, node, point))
}

fn has(dag: &Dag, node: u32, point: LogPointId) -> bool {
    dag.nodes[node as usize].points.iter().any(|known| known.log_point == point)
}

/// Whether a log point can be printed some time after another one.
fn comes_after(dag: &Dag, before: LogPointId, next: LogPointId) -> bool {
    let mut reached = vec![false; dag.nodes.len()];
    for node in (0..to_u32(dag.nodes.len())).filter(|node| has(dag, *node, before)) {
        reached[node as usize] |= dag.nodes[node as usize].repeats;
        dag.nodes[node as usize].next.iter().for_each(|next| reached[*next as usize] = true);
    }
    // Nodes are in the order in which they can come.
    for node in 0..dag.nodes.len() {
        if reached[node] {
            dag.nodes[node].next.iter().for_each(|next| reached[*next as usize] = true);
        }
    }
    (0..to_u32(dag.nodes.len())).any(|node| reached[node as usize] && has(dag, node, next))
}

/// Whether both name something of a kind, and nothing of it is the same.
fn names_another(span: &Span, rest: &Span) -> bool {
    let of = |span: &Span, value: &schema::Value| -> bool {
        span.identifiers.iter().any(|other| other.value_class == value.value_class)
    };
    rest.identifiers.iter().any(|value| {
        let is_shared = |other: &&schema::Value| other.value_class == value.value_class;
        of(span, value)
            && !rest.identifiers.iter().filter(is_shared).any(|value| span.identifiers.contains(value))
    })
}

fn put_together(mut span: schema::Span, rest: schema::Span, tops: Vec<TopLevelId>) -> schema::Span {
    span.top_levels = tops;
    span.events.extend(rest.events);
    span.identifiers.extend(rest.identifiers);
    span.identifiers.sort();
    span.identifiers.dedup();
    span.hosts.extend(rest.hosts);
    span.hosts.sort_unstable();
    span.truncated = rest.truncated;
    span
}

#[cfg(test)]
mod tests {
    use schema::{Event, Name, Span, TopLevelId, Value, Values, sketch};

    use super::goes_on;
    use crate::skeleton::{self, Stored};

    const MODEL: &str = "
        point begins r=R.id
        point reads r=R.id
        point ends r=R.id
        top run Task r=R.id
          >begins reads
          reads ends
          ends<
        top read Task r=R.id
          >reads<
    ";

    /// A span of some of the methods with the log points that it prints, a second between them.
    fn span(tops: &[&str], from_s: i64, points: &[&str], value: &str, is_cut: bool) -> skeleton::Span {
        let model = sketch::model(MODEL);
        let event = |(at, point): (i64, &&str)| Event {
            file: 0,
            line: 1 + (from_s + at).unsigned_abs(),
            n_lines: 1,
            byte_offset: 0,
            ts_us: (from_s + at) * 1_000_000,
            late_us: 0,
            level: None,
            log_point: Some(sketch::point(&model, point)),
            values: Values::default(),
            pass: schema::Pass::Opens,
            reason: Name::default(),
        };
        let value_class = model.top_level_methods[0].identifiers[0].value_class;
        let whole = Span {
            node: Name::from("a"),
            thread: Some("t-1".into()),
            top_levels: tops.iter().map(|top| sketch::top(&model, top)).collect(),
            identifiers: vec![Value { value_class, text: value.into() }],
            events: (0..).zip(points).map(event).collect(),
            truncated: is_cut,
            trace: None,
            hosts: Vec::new(),
            n_alike: 1,
        };
        skeleton::Span::new(whole, Stored::default())
    }

    #[track_caller]
    fn check(span: skeleton::Span, rest: skeleton::Span, expected: &[&str]) {
        let model = sketch::model(MODEL);
        let expected: Vec<TopLevelId> = expected.iter().map(|top| sketch::top(&model, top)).collect();
        assert_eq!(goes_on(&model, (&span, &rest), 60_000_000), expected);
    }

    #[test]
    fn the_code_tells_what_is_a_rest() {
        let begun = || span(&["run"], 0, &["begins", "reads"], "7", true);
        check(begun(), span(&["run"], 5, &["ends"], "7", false), &["run"]);
        check(begun(), span(&["run"], 90, &["ends"], "7", false), &[]);
        check(begun(), span(&["run"], 5, &["ends"], "8", false), &[]);
        check(begun(), span(&["run"], 5, &["begins", "reads"], "7", false), &[]);
        check(span(&["run"], 0, &["begins"], "7", true), span(&["run"], 5, &["ends"], "7", false), &["run"]);
        check(span(&["run"], 0, &["begins"], "7", false), span(&["run"], 5, &["ends"], "7", false), &[]);
        // It can be a run of its own.
        let read = span(&["run", "read"], 5, &["reads"], "7", false);
        check(span(&["run"], 0, &["begins"], "7", true), read, &[]);
    }
}
