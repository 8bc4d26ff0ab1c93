//! Late companions: what goes on with something, but does not stand directly after it.
//!
//! Others print between two lines of one thread where several are at work, and on a machine
//! that is at a standstill a thread goes on after a pause. Which lines go on with which ones
//! is known from where they stand together. If a line has a name that was made while the
//! program ran, and one span alone ends with what that goes on with, has the name too, and
//! waits, it goes on with that, however late.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use schema::kinds::{TELLING_MIN, is_made};
use schema::{LogPointId, Pass};

use super::super::facts::{Fact, Facts};
use super::super::pairs::Pairs;
use super::{Next, SPANS_MIN};
use crate::merge::SpanLink;
use crate::skeleton::Event;

/// Ends of spans, by node, name and what goes on with them.
type Waiting<'f> = FxHashMap<(u32, &'f str, LogPointId), Vec<u32>>;

/// Links from spans to what goes on with them late, of the lines that `found` stand together.
pub(super) fn find(pairs: &Pairs<'_>, facts: &Facts<'_>, found: &[Next]) -> Vec<SpanLink> {
    let mut known: BTreeMap<(LogPointId, LogPointId), usize> = BTreeMap::new();
    for next in found.iter().filter(|next| next.is_last) {
        *known.entry((next.before, next.begin)).or_default() += 1;
    }
    known.retain(|_, n| *n >= SPANS_MIN);
    let gone_on: FxHashSet<u32> = found.iter().map(|next| next.from).collect();
    let begun: FxHashSet<u32> = found.iter().map(|next| next.to).collect();
    let mut waiting = Waiting::default();
    for (index, fact) in
        facts.iter().filter(|(index, fact)| fact.thread.is_none() && !gone_on.contains(index))
    {
        let last = fact.events.last().and_then(|event| event.log_point);
        for (&(_, begin), _) in known.iter().filter(|((before, _), _)| Some(*before) == last) {
            for name in names(fact) {
                waiting.entry((fact.node, name, begin)).or_default().push(index);
            }
        }
    }
    let mut links: Vec<SpanLink> = Vec::new();
    for (to, fact) in facts.iter().filter(|(index, fact)| fact.thread.is_none() && !begun.contains(index)) {
        let (Some(point), Some(first)) = (fact.first_point, fact.events.first()) else { continue };
        let goes_on = |&from: &u32| {
            let sender = facts.get(from);
            let last = sender.events.last();
            from != to
                && last.is_some_and(|last| is_before(last, first) && !pairs.say_other(last, first))
                && !facts.names_other(sender, fact)
        };
        let named = names(fact).filter_map(|name| waiting.get(&(fact.node, name, point)));
        let mut senders: Vec<u32> = named.flatten().copied().filter(goes_on).collect();
        senders.sort_unstable();
        senders.dedup();
        if let [from] = senders[..] {
            links.push(SpanLink { from, to, pair: None, by: Pass::CompanionsLate });
        }
    }
    let mut n_to: FxHashMap<u32, usize> = FxHashMap::default();
    links.iter().for_each(|link| *n_to.entry(link.from).or_default() += 1);
    links.retain(|link| n_to[&link.from] == 1);
    links
}

/// The names of a span that were made while the program ran.
fn names<'f>(fact: &Fact<'f>) -> impl Iterator<Item = &'f str> + use<'f> {
    let telling = |text: &&str| text.len() >= TELLING_MIN && is_made(text);
    fact.values().iter().map(|value| &*value.text).filter(telling)
}

/// Whether one line stands before another one in the log of their node.
fn is_before(a: &Event, b: &Event) -> bool {
    (a.ts_us, a.place()) < (b.ts_us, b.place())
}
