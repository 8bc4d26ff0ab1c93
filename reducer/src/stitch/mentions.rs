//! Mentions: what a request has named, each of its spans can have handed on.
//!
//! A task that works on what others of its request have made need not name it: it was
//! given a list, and prints how long that is. The model knows that it hands the names
//! on; whoever shows such a name, and begins a part of a request that nobody has sent,
//! while one request is at work that has named the thing before and holds such a
//! sender, was sent by that one. So it was if the sender has only just printed its last
//! line, which can be the last one of its request. Where several requests could have,
//! nothing follows, nor from the name of what is there for several; and who names another
//! thing of some kind than the part does has not sent that, be it a short number that the
//! pair hands over. Who handles messages takes those of all nodes: that one request at work could
//! have sent one says little.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use schema::{IdentifierStrength, LinkKind, Pass, ValueClassId};

use super::delays::{DELAY_MIN_US, Late};
use super::entities::Entities;
use super::evidence::contradict;
use super::facts::{Fact, Facts};
use super::held::Held;
use super::pairs::{Mapped, Pair, Pairs, Role};
use crate::merge::{Sets, SpanLink};

/// What was handed over is begun at most this long after its sender's last line, µs.
const SOON_US: i64 = 1_000_000;

/// A request of more spans than this that can have sent tells nothing.
const SENDERS_MAX: usize = 64;

/// Links to parts of requests that nobody has sent, in addition to `links`.
pub(super) fn join(
    pairs: &Pairs<'_>,
    facts: &Facts<'_>,
    (entities, late): (&Entities, &Late),
    skew_us: i64,
    links: &[SpanLink],
) -> Vec<SpanLink> {
    let mut sets = facts.sets();
    for link in links {
        sets.unite(link.from, link.to);
    }
    let kin = Kin::new(pairs, facts, (entities, late), skew_us, &mut sets);
    let parts: Vec<(u32, &[u32])> = kin.parts.iter().map(|(&root, (spans, _))| (root, &spans[..])).collect();
    let found: Vec<SpanLink> =
        parts.into_par_iter().filter_map(|(root, spans)| kin.sender_of(root, spans)).collect();
    found.into_iter().filter(|link| sets.join(link.from, link.to)).collect()
}

/// The requests as far as they are known.
struct Kin<'f> {
    pairs: &'f Pairs<'f>,
    facts: &'f Facts<'f>,
    entities: &'f Entities,
    late: &'f Late,
    skew_us: i64,
    /// The part that each span is of: its first span.
    part_of: Vec<u32>,
    /// The spans of each part, in order of start, and when the last one of them ends, µs.
    parts: BTreeMap<u32, (Vec<u32>, i64)>,
    /// Who names each made value of a kind.
    named: FxHashMap<(ValueClassId, u32), Namers>,
}

/// Who names one thing.
#[derive(Default)]
struct Namers {
    /// In order of start.
    spans: Vec<u32>,
    /// What those are parts of, each once, in order of start.
    parts: Vec<u32>,
}

impl<'f> Kin<'f> {
    fn new(
        pairs: &'f Pairs<'f>,
        facts: &'f Facts<'f>,
        (entities, late): (&'f Entities, &'f Late),
        skew_us: i64,
        sets: &mut Sets,
    ) -> Self {
        let mut parts: BTreeMap<u32, (Vec<u32>, i64)> = BTreeMap::new();
        let mut first: FxHashMap<u32, u32> = FxHashMap::default();
        let mut part_of = Vec::with_capacity(facts.len());
        let mut named: FxHashMap<(ValueClassId, u32), Namers> = FxHashMap::default();
        for (index, fact) in facts.iter() {
            let part = *first.entry(sets.root(index)).or_insert(index);
            part_of.push(part);
            let (spans, last_us) = parts.entry(part).or_insert((Vec::new(), fact.end_us));
            spans.push(index);
            *last_us = fact.end_us.max(*last_us);
            for value in fact.values().iter().filter(|value| tells(entities, value)) {
                let namers = named.entry((value.kind, value.number)).or_default();
                if namers.spans.last() != Some(&index) {
                    namers.spans.push(index);
                    namers.parts.push(part);
                }
            }
        }
        for Namers { parts, .. } in named.values_mut() {
            parts.sort_unstable();
            parts.dedup();
        }
        Self { pairs, facts, entities, late, skew_us, part_of, parts, named }
    }

    /// The hand-off by which the part with the first span `root` came to be.
    fn sender_of(&self, root: u32, spans: &[u32]) -> Option<SpanLink> {
        let mut found: BTreeSet<u32> = BTreeSet::new();
        let mut link = None;
        for &span in spans {
            let fact = self.facts.get(span);
            let Some(&top) = fact.tops.first() else { continue };
            for pair in self.pairs.to(top).map(|index| self.pairs.get(index)) {
                let is_hand_off = matches!(pair.role, Role::Local | Role::Remote) && !pair.is_way();
                // Those who are sent messages from any node are sent most of them by nobody who prints.
                let is_message = pair.kind == LinkKind::Socket;
                if !is_hand_off || is_message || self.late.is(pair, fact) {
                    continue;
                }
                for (from, value) in self.handed(pair, fact) {
                    for sender in self.senders(root, pair, from, value, fact) {
                        found.insert(self.part_of[sender as usize]);
                        link.get_or_insert(SpanLink {
                            from: sender,
                            to: span,
                            pair: pair.id,
                            by: Pass::Mentions,
                        });
                    }
                }
            }
        }
        link.filter(|_| found.len() == 1)
    }

    /// The values that a pair hands over and `fact` shows, with the class they have at
    /// the sender.
    fn handed<'v>(
        &'v self,
        pair: &'v Pair,
        fact: &'v Fact<'f>,
    ) -> impl Iterator<Item = (ValueClassId, &'v Held<'f>)> {
        let is_request = |mapped: &&Mapped| mapped.strength == IdentifierStrength::Request;
        pair.map.iter().filter(is_request).flat_map(move |mapped| {
            let values = fact.values_of(mapped.to).iter().filter(|value| tells(self.entities, value));
            values.map(move |value| (mapped.from, value))
        })
    }

    /// The senders of a pair that do not name what they hand on, of requests that have named
    /// `value`, as the part with the first span `root` begins: at work, or just done.
    fn senders(
        &self,
        root: u32,
        pair: &Pair,
        class: ValueClassId,
        value: &Held<'_>,
        receiver: &Fact<'_>,
    ) -> Vec<u32> {
        let begun_us = self.facts.get(root).start_us;
        let key = (self.facts.kind(class), value.number);
        let mut out = Vec::new();
        let Some(namers) = self.named.get(&key) else { return out };
        for &part in namers.parts.iter().filter(|&&part| part != root) {
            let (spans, last_us) = &self.parts[&part];
            // A part begins with its first span.
            let begins_us = self.facts.get(part).start_us;
            if begins_us > begun_us.saturating_add(self.skew_us) || last_us.saturating_add(SOON_US) < begun_us
            {
                continue;
            }
            let is_at_work = spans.iter().any(|&span| self.facts.get(span).end_us >= begun_us);
            let has_just_printed =
                |span: u32| self.facts.get(span).end_us.saturating_add(DELAY_MIN_US) >= begun_us;
            let can_send = |&&span: &&u32| {
                (is_at_work || has_just_printed(span)) && self.can_send(span, pair, class, receiver, begun_us)
            };
            let mut senders = spans.iter().filter(can_send).take(SENDERS_MAX);
            let named_before = |sender: u32| {
                let sender = self.facts.get(sender);
                namers.spans.iter().any(|&span| {
                    let fact = self.facts.get(span);
                    self.part_of[span as usize] == part
                        && fact.node == sender.node
                        && fact.start_us <= sender.start_us
                })
            };
            out.extend(senders.find(|&&sender| named_before(sender)));
        }
        out
    }

    fn can_send(
        &self,
        span: u32,
        pair: &Pair,
        class: ValueClassId,
        receiver: &Fact<'_>,
        begun_us: i64,
    ) -> bool {
        let fact = self.facts.get(span);
        let skew_us = if fact.node == receiver.node { 0 } else { self.skew_us };
        let is_near = pair.role == Role::Remote || fact.node == receiver.node;
        let kind = self.facts.kind(class);
        let names = || fact.values().iter().any(|value| value.kind == kind);
        is_near
            && fact.tops.first() == Some(&pair.from)
            && fact.start_us <= begun_us.saturating_add(skew_us)
            && begun_us <= fact.end_us.saturating_add(SOON_US)
            && !names()
            && !contradict(pair, fact, receiver)
            && !fact.names_other(receiver)
    }
}

/// Whether a value names one thing, made while the program ran for one request.
fn tells(entities: &Entities, value: &Held<'_>) -> bool {
    value.is_one_thing() && !entities.is_shared(value)
}
