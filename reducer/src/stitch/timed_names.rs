//! Timed names: a name that says when it was made is at first known to its maker alone.
//!
//! A time-based UUID (RFC 9562, version 1) holds the time at which it was made, to 100 ns,
//! and the node that made it. Nobody else can know it then: who shows it at once has it from the
//! request that made it, over whatever hand-offs, on any node. What shows it later on may
//! have found it in a table, if it names a thing; but where the analysis has found that it
//! is what tells requests apart (lprof §4.2), and the log shows it from its birth, it was
//! made for its request, and all that holds it is that. This needs no statistics: it
//! holds of the only one in a log as well, and however long its request pauses.
//!
//! What a client asks is begun by nobody who could hand the name on: if it is asked after
//! the name was made, and not the first to show it, the client has learnt the name, or it
//! was found in a table, however short a time ago.

use std::collections::{BTreeMap, BTreeSet};

use schema::kinds::is_uuid;
use schema::{IdentifierStrength, Pass, TopLevelId, TopLevelKind};

use super::entities::holders;
use super::facts::{Fact, Facts};
use super::joined;
use super::lifetimes::lives;
use super::pairs::Pairs;
use crate::merge::{Sets, SpanLink};

/// A name is new for this long, µs.
const NEW_US: i64 = 1_000_000;

/// Links among what shows a name as it is made, and what holds the name of a request
/// that the log shows from then on, in addition to `links`.
pub(super) fn join(pairs: &Pairs<'_>, facts: &Facts<'_>, skew_us: i64, links: &[SpanLink]) -> Vec<SpanLink> {
    let (mut sets, _) = joined(facts, links);
    let mut out = Vec::new();
    let asked_us = asked_us(pairs, facts, &mut sets);
    let mut newborn: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    let mut shown_new: BTreeSet<(u32, &str)> = BTreeSet::new();
    for (index, fact) in facts.iter() {
        let new = new_names(fact, skew_us);
        // Who shows two new names has met another request, or makes several.
        if let (Some(name), true) = (new.first(), new.len() == 1) {
            newborn.entry(name).or_default().push(index);
        }
        shown_new.extend(new.into_iter().map(|name| (index, name)));
    }
    for (name, spans) in &mut newborn {
        let Some((&first, made_us)) = spans.first().zip(made_us(name)) else { continue };
        let has_learnt = |root: u32| asked_us.get(&root).is_some_and(|&asked_us| asked_us > made_us);
        spans.retain(|&span| span == first || !has_learnt(sets.root(span)));
    }
    newborn.values().for_each(|spans| join_all(spans, &mut sets, &mut out));
    let names = holders(pairs, facts, &|top, value| {
        pairs.strength(top, value.value_class) == Some(IdentifierStrength::Request)
            && !pairs.looks_through(top, value.value_class)
    });
    for (name, spans) in names.values().flatten() {
        let is_born = spans.first().is_some_and(|&first| shown_new.contains(&(first, name)));
        // The name of a thing is shown by one request now and by another then.
        if is_born && lives(facts, spans).len() * 2 <= spans.len() {
            join_all(spans, &mut sets, &mut out);
        }
    }
    out
}

/// When handlers that nobody in the model calls or hands work to began, by the root of
/// their set: the first of each. Of a task that is so, whoever starts it was not found.
fn asked_us(pairs: &Pairs<'_>, facts: &Facts<'_>, sets: &mut Sets) -> BTreeMap<u32, i64> {
    let is_asked = |&top: &TopLevelId| {
        let mut to = pairs.to(top).chain(pairs.asking(top)).map(|index| pairs.get(index));
        matches!(pairs.kind(top), TopLevelKind::RpcHandler | TopLevelKind::EventHandler)
            && to.all(|pair| pair.from == top)
    };
    let mut out = BTreeMap::new();
    for (span, fact) in facts.iter().filter(|(_, fact)| fact.tops.iter().all(is_asked)) {
        let first_us = out.entry(sets.root(span)).or_insert(fact.start_us);
        *first_us = fact.start_us.min(*first_us);
    }
    out
}

/// The names that lines of a span show and that were new then.
fn new_names<'s>(fact: &Fact<'s>, skew_us: i64) -> BTreeSet<&'s str> {
    let events = fact.events.iter();
    let names = events.flat_map(|event| {
        let new = event.ts_us.saturating_sub(NEW_US)..=event.ts_us.saturating_add(skew_us);
        let names = event.values.iter().flat_map(|(_, text)| uuids(text));
        names.filter(move |name| made_us(name).is_some_and(|made_us| new.contains(&made_us)))
    });
    names.collect()
}

fn join_all(spans: &[u32], sets: &mut Sets, out: &mut Vec<SpanLink>) {
    for ends in spans.windows(2).filter(|ends| ends[0] != ends[1]) {
        if sets.join(ends[0], ends[1]) {
            out.push(SpanLink { from: ends[0], to: ends[1], pair: None, by: Pass::TimedNames });
        }
    }
}

/// The UUIDs in a text, set apart from what stands beside them.
fn uuids(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c != '-' && !c.is_ascii_alphanumeric()).filter(|run| is_uuid(run))
}

/// Where in a UUID its version stands, and that of those which hold the time.
const VERSION_AT: usize = 14;
const TIME_BASED: u8 = b'1';

/// From the first day of the Gregorian calendar, from which time-based UUIDs count, to
/// 1970, in their ticks, and those of one µs.
const GREGORIAN_TICKS: i64 = 0x01b2_1dd2_1381_4000;
const TICKS_PER_US: i64 = 10;

/// When a time-based UUID (RFC 9562, version 1) was made, in µs since 1970; none if a text
/// is no such.
fn made_us(text: &str) -> Option<i64> {
    if !is_uuid(text) || text.as_bytes()[VERSION_AT] != TIME_BASED {
        return None;
    }
    let part = |from: usize, to: usize| i64::from_str_radix(&text[from..to], 16).ok();
    let (low, mid, high) = (part(0, 8)?, part(9, 13)?, part(15, 18)?);
    Some(((high << 48 | mid << 32 | low) - GREGORIAN_TICKS) / TICKS_PER_US)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_based_uuid_says_when_it_was_made() {
        let made = "c232ab00-9414-11ec-b3c8-9f6bdeced846";
        assert_eq!(made_us(made), Some(1_645_557_742_000_000));
        for other in ["c232ab00-9414-41ec-b3c8-9f6bdeced846", "c232ab00-9414-11ec-b3c8-9f6bdeced84", ""] {
            assert_eq!(made_us(other), None, "{other}");
        }
        let text = format!("X@1[id={made},other=7],{made}0");
        assert_eq!(uuids(&text).collect::<Vec<_>>(), [made]);
    }
}
