//! Lifetimes: identifiers that come with a request and go with it.
//!
//! Hand-offs are found one by one, and any of them may leave no trace: a handler
//! that prints nothing passes on what it was given, a reply comes back to an
//! object that has waited in a table. Where the identifier is made for the
//! request (a session, a plan, a transaction) none of them is needed: all that
//! holds one value is one request. Whether a kind of identifier is made so is
//! learnt from the log: the spans that hold one value follow each other without
//! a silence, for nearly every value, while the name of a thing (a block, a
//! table) comes back when somebody else uses the thing. Some values of such a kind can be
//! names of things all the same, as a folder is among files: one that comes back more
//! often than once joins nothing.
//!
//! Joins only what the model connects: top-level methods that hand values of
//! that kind to each other, over any number of steps. Requests that merely use
//! one thing at one time (a file that is created and then closed by two calls of
//! a client) are not connected so.

use rustc_hash::{FxHashMap, FxHashSet};

use schema::kinds::is_made;
use schema::{Pass, TopLevelId, ValueClassId};

use super::counted::Counted;
use super::entities::{self, Entities, Holders, VALUES_MIN};
use super::facts::Facts;
use super::joined;
use super::pairs::{Pair, Pairs, Role};
use super::{series, sole};
use crate::merge::{Sets, SpanLink, to_u32};

/// Silence after which a value has come back, µs; longer for what has lasted
/// long: so many times as long as that.
const SILENCE_US: i64 = 1_000_000;
const TIMES_LASTED: i64 = 2;

/// At most one value in this many may have come back: where a node has died, or its
/// log is lost, some of those that live there fall silent in between.
const BACK_SHARE: usize = 16;

/// A value that comes back more often than once was not made for a request, whatever
/// the others of its kind are: a folder among the files that are written once.
const LIVES_MAX: usize = 2;

/// Links that make one request of what holds one value of such a kind, in
/// addition to `links`.
pub(super) fn join(
    pairs: &Pairs<'_>,
    facts: &Facts<'_>,
    (entities, counted): (&Entities, &[Counted]),
    skew_us: i64,
    links: &[SpanLink],
) -> Vec<SpanLink> {
    let (mut sets, mut has_sender) = joined(facts, links);
    let from: FxHashMap<u32, u32> = links.iter().map(|link| (link.to, link.from)).collect();
    let mut out = Vec::new();
    let events = entities::events(pairs, facts, entities);
    for spans in events.iter().chain(entities.spans()) {
        for ends in spans.windows(2) {
            if sets.join(ends[0], ends[1]) {
                has_sender[ends[1] as usize] = true;
                out.push(SpanLink { from: ends[0], to: ends[1], pair: None, by: Pass::Lifetimes });
            }
        }
    }
    out.extend(sole::join(pairs, facts, &mut sets));
    let holders = holders(pairs, facts);
    let mut kinds: Vec<_> = (holders.iter())
        .filter(|(_, values)| values.len() >= VALUES_MIN)
        .filter(|(_, values)| returns(facts, values.values().map(Vec::as_slice)) != Returns::Often)
        .collect();
    // What names fewer things holds more.
    kinds.sort_by_key(|(_, values)| values.len());
    for (kind, values) in kinds {
        let made = values.iter().filter(|(text, _)| is_made(text)).map(|(_, spans)| spans.as_slice());
        let made = made.map(|spans| lives(facts, spans)).filter(|lives| lives.len() <= LIVES_MAX);
        let lives: Vec<&[u32]> = made.flatten().collect();
        if cross(&lives, &mut sets) {
            continue;
        }
        let mut reach = Reach::new(pairs, facts, &[*kind]);
        out.extend(join_lives(facts, &mut reach, skew_us, &lives, (&mut sets, &mut has_sender, &from)));
    }
    for Counted { within, number, spans } in counted {
        if returns(facts, spans.iter().map(Vec::as_slice)) != Returns::Seldom {
            continue;
        }
        let lives: Vec<&[u32]> = spans.iter().flat_map(|spans| lives(facts, spans)).collect();
        let mut reach = Reach::new(pairs, facts, &[*within, *number]);
        out.extend(join_lives(facts, &mut reach, skew_us, &lives, (&mut sets, &mut has_sender, &from)));
    }
    for (kind, numbers) in series::find(pairs, facts) {
        let lives: Vec<&[u32]> = numbers.iter().map(Vec::as_slice).collect();
        let mut reach = Reach::new(pairs, facts, &[kind]);
        out.extend(join_lives(facts, &mut reach, skew_us, &lives, (&mut sets, &mut has_sender, &from)));
    }
    out
}

/// Whether values cross what is known to be of one request by now: spans of several of these in one
/// of `lives`, each of which has spans in several lives. What is made for a request is a part of it,
/// or has it as a part; a state that all share is shown by several who each show several.
fn cross(lives: &[&[u32]], sets: &mut Sets) -> bool {
    let named = (0_u32..).zip(lives).flat_map(|(life, spans)| spans.iter().map(move |&span| (span, life)));
    let mut named: Vec<(u32, u32)> = named.collect();
    named.sort_unstable();
    // Who names several of them meets them.
    let of_one = named.chunk_by(|a, b| a.0 == b.0).filter(|lives| lives.len() == 1);
    let mut in_sets: Vec<(u32, u32)> = of_one.map(|lives| (sets.root(lives[0].0), lives[0].1)).collect();
    in_sets.sort_unstable();
    in_sets.dedup();
    let of_several = in_sets.chunk_by(|a, b| a.0 == b.0).filter(|lives| lives.len() > 1);
    let mut lives: Vec<u32> = of_several.flatten().map(|&(_, life)| life).collect();
    lives.sort_unstable();
    let (mut n, mut n_crossed) = (0, 0);
    for sets in lives.chunk_by(|a, b| a == b) {
        n += 1;
        n_crossed += usize::from(sets.len() > 1);
    }
    n_crossed * BACK_SHARE > n
}

/// Links within each of `lives`: to a span that nobody has handed anything from the
/// latest one that can have, else from or to any that the model connects with it. A
/// clock can be behind.
///
/// What tasks of several senders name, and those do not, was not made for one request after
/// all: where a log was written up to does not change while nobody writes. Then it tells
/// no more than that the thread of the span goes on, or whose part the span is about.
fn join_lives(
    facts: &Facts<'_>,
    reach: &mut Reach,
    skew_us: i64,
    lives: &[&[u32]],
    (sets, has_sender, from): (&mut Sets, &mut [bool], &FxHashMap<u32, u32>),
) -> Vec<SpanLink> {
    let mut out = Vec::new();
    for spans in lives {
        // Spans in the order of their start, so that the life is sorted.
        let is_handed_alone =
            |span: &u32| from.get(span).is_some_and(|sender| spans.binary_search(sender).is_err());
        let handed: Vec<u32> = spans.iter().copied().filter(is_handed_alone).collect();
        for (position, &span) in spans.iter().enumerate() {
            if has_sender[span as usize] {
                continue;
            }
            let top = top_of(facts, span);
            let late_us = facts.get(span).start_us.saturating_add(skew_us);
            let after = spans[position + 1..].iter().take_while(|&&k| facts.get(k).start_us <= late_us);
            let mut senders = spans[..position].iter().rev().chain(after).copied();
            let is_early = |k: u32| k < span || (k > span && facts.get(k).start_us <= late_us);
            let mut tasks = handed
                .iter()
                .filter(|&&k| is_early(k) && reach.allows(top_of(facts, k), top))
                .map(|&k| sets.root(k));
            let is_shared = tasks.next().is_some_and(|first| tasks.any(|other| other != first));
            let is_told =
                |k: u32| !is_shared || facts.are_of_one_thread(k, span) || facts.are_part_and_whole(k, span);
            // What it started itself, before or after its own first line, is no sender.
            let is_sender =
                |&k: &u32| is_told(k) && reach.allows(top_of(facts, k), top) && sets.join(k, span);
            if let Some(from) = senders.find(is_sender) {
                has_sender[span as usize] = true;
                out.push(SpanLink { from, to: span, pair: None, by: Pass::Lifetimes });
                continue;
            }
            let mut others = spans.iter().copied().filter(|&k| k != span && !is_shared);
            let are_one = |reach: &mut Reach, k: u32| {
                reach.allows(top, top_of(facts, k)) || reach.allows(top_of(facts, k), top)
            };
            if let Some(other) = others.find(|&k| are_one(reach, k) && sets.join(k, span)) {
                out.push(SpanLink {
                    from: span.min(other),
                    to: span.max(other),
                    pair: None,
                    by: Pass::Lifetimes,
                });
            }
        }
    }
    out
}

fn holders<'s>(pairs: &Pairs<'_>, facts: &Facts<'s>) -> Holders<'s> {
    // The method may know it by another name than the one that prints it.
    entities::holders(pairs, facts, &|top, value| {
        let kind = facts.kind(value.value_class);
        pairs.knows_one(top, |class| facts.kind(class) == kind)
    })
}

/// How values come back when their requests are over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Returns {
    /// Hardly ever: each is made for a request.
    Seldom,
    /// Those that do are read back: what one thread is first to show again in one go, as
    /// a node that was away does with all that it has missed, is one return.
    InOneGo,
    /// They name things that are used again.
    Often,
}

/// How `values`, each with the spans that hold it, come back.
pub(super) fn returns<'a>(facts: &Facts<'_>, values: impl Iterator<Item = &'a [u32]>) -> Returns {
    let (mut n, mut n_back) = (0, 0);
    let mut back_once: Vec<(u32, &str, i64)> = Vec::new();
    for spans in values {
        n += 1;
        let lives = lives(facts, spans);
        let again = lives.get(1).and_then(|life| life.first()).map(|&span| facts.get(span));
        match again.and_then(|fact| Some((fact.node, fact.thread?, fact.start_us))) {
            Some(place) if lives.len() == 2 => back_once.push(place),
            _ => n_back += usize::from(lives.len() > 1),
        }
    }
    if (n_back + back_once.len()) * BACK_SHARE <= n {
        return Returns::Seldom;
    }
    back_once.sort_unstable();
    let mut last: Option<(u32, &str, i64)> = None;
    for (node, thread, at_us) in back_once {
        let in_one_go = |(of, by, since_us): (u32, &str, i64)| {
            (of, by) == (node, thread) && at_us.saturating_sub(since_us) <= SILENCE_US
        };
        if !last.is_some_and(in_one_go) {
            n_back += 1;
            last = Some((node, thread, at_us));
        }
    }
    if n_back * BACK_SHARE <= n { Returns::InOneGo } else { Returns::Often }
}

/// The spans that hold one value, cut where it comes back after a silence.
pub(super) fn lives<'a>(facts: &Facts<'_>, spans: &'a [u32]) -> Vec<&'a [u32]> {
    let mut out = Vec::new();
    let (mut first, mut born_us, mut end_us) = (0, 0_i64, 0_i64);
    for (position, &span) in spans.iter().enumerate() {
        let fact = facts.get(span);
        let silence_us = SILENCE_US.max(end_us.saturating_sub(born_us).saturating_mul(TIMES_LASTED));
        if position > first && fact.start_us.saturating_sub(end_us) > silence_us {
            out.push(&spans[first..position]);
            first = position;
        }
        if position == first {
            (born_us, end_us) = (fact.start_us, fact.end_us);
        }
        end_us = end_us.max(fact.end_us);
    }
    out.push(&spans[first..]);
    out
}

/// Which top-level methods hand values of one kind to which others, over any
/// number of steps.
struct Reach {
    next: FxHashMap<u32, Vec<u32>>,
    /// Tasks that one request can start several of.
    fanned_out: FxHashSet<u32>,
    /// Per top-level method whether each is reached from it, as far as asked.
    known: Vec<Option<Box<[bool]>>>,
}

impl Reach {
    fn new(pairs: &Pairs<'_>, facts: &Facts<'_>, kinds: &[ValueClassId]) -> Self {
        let mut next: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for pair in pairs.iter().filter(|pair| pair.role != Role::Asked) {
            let carries = |class: ValueClassId| kinds.contains(&facts.kind(class));
            let hands_on = pair.map.iter().any(|mapped| carries(mapped.from) || carries(mapped.to));
            // Who starts a service hands it nothing of what it serves.
            let bare = pair.role == Role::Local && pair.map.is_empty() && !pairs.is_dispatcher(pair.to);
            if pair.id.is_some() && !pair.is_way() && (hands_on || bare || pair.role == Role::Served) {
                next.entry(to_u32(pair.from.index())).or_default().push(to_u32(pair.to.index()));
            }
        }
        let fans_out =
            |pair: &&Pair| pair.id.is_some() && !pair.is_way() && pair.many && pair.role == Role::Local;
        let fanned_out = pairs.iter().filter(fans_out).map(|pair| to_u32(pair.to.index())).collect();
        Self { next, fanned_out, known: vec![None; pairs.n_tops().max(1)] }
    }

    /// Whether a request can get from one to the other, or to both as tasks of
    /// one fan-out.
    fn allows(&mut self, from: u32, to: u32) -> bool {
        (from == to && self.fanned_out.contains(&to)) || self.reaches(from, to)
    }

    fn reaches(&mut self, from: u32, to: u32) -> bool {
        let n_tops = self.known.len();
        let known = self.known[from as usize].get_or_insert_with(|| {
            let mut found = vec![false; n_tops].into_boxed_slice();
            let mut todo = vec![from];
            while let Some(at) = todo.pop() {
                let next = self.next.get(&at).into_iter().flatten().copied();
                todo.extend(next.filter(|&next| !std::mem::replace(&mut found[next as usize], true)));
            }
            found
        });
        known[to as usize]
    }
}

fn top_of(facts: &Facts<'_>, span: u32) -> u32 {
    facts.get(span).tops.first().map_or(0, |top: &TopLevelId| to_u32(top.index()))
}
