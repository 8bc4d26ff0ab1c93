//! Ids: the logs themselves say of which request a span is ([`schema::TraceId`]).
//!
//! What shares an id is one request, and what differs is not: spans with one id are united before
//! anything else is looked for, no link joins two of them that differ, and what has none is joined
//! by all else. Fields hold ids of one kind if they share a value: a program that gives each of its
//! own calls an id, and hands none on, says nothing of what others print.
//!
//! That holds of an id that lives as long as a request. What lives longer (of a user's session, of
//! a connection, of a process; left over in a thread that never takes it out) is told by what the
//! code says of what carries it: an id *comes again* where nothing that carries it has been at work
//! for longer than it ever was, and something begins that is asked for from outside, or runs once
//! more, and that nothing which carries the id, or none at all, can have asked for. An id of a
//! request comes again only where the model lacks a hand-off. Of a kind that comes again more often
//! than every other id, most requests would be put together with others: it is not used, and told.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use schema::{Model, Name, PairId, Pass, TopLevelId, TopLevelKind};

use super::facts::Facts;
use super::pairs::Pairs;
use crate::id_lives::{self, IdLives, Life, Shown};
use crate::merge::{Sets, SpanLink, to_u32};
use crate::skeleton::Span;
use crate::{ByHand, IdField};

/// What is asked for from outside for one request, at most, if that was handed an id by something
/// whose logs are not there, or have none: as often as one call in a loop is made ([`super::remote_calls`]). What
/// a user asks for in a session, or over one connection, is more, also where it is never at rest.
const ENTRIES_MAX: usize = 8;

/// Spans of one id, before one that is to be joined to them, that are looked at.
const LOOK_BACK_MAX: usize = 64;

/// The ids of spans, as far as they are those of requests.
#[derive(Debug, Default)]
pub(super) struct Ids {
    /// Per span: the kind of its id, and the number of that.
    pub(super) of: Vec<Option<(u32, u32)>>,
    /// Spans of each id that is on several, in canonical order.
    groups: Vec<Vec<u32>>,
    /// The fields that hold ids, with what became of them.
    pub(super) fields: Vec<IdField>,
    /// All ids, used or not, as far as the spans show their lives.
    pub(super) lives: BTreeMap<u64, Life>,
}

/// Ids of one kind: the spans of each, and the fields that hold it.
#[derive(Debug, Default)]
struct Kind<'s> {
    spans: BTreeMap<&'s str, Vec<u32>>,
    fields: BTreeMap<Name, FxHashSet<Name>>,
}

/// The ids of `spans`.
pub(super) fn find(
    model: &Model,
    (pairs, facts): (&Pairs<'_>, &Facts<'_>),
    spans: &[Span],
    (by_hand, known): (&ByHand, &IdLives),
) -> Ids {
    let mut ids = Ids::none(spans.len());
    let mut senders = Senders::new(model);
    for (kind, of_kind) in (0..).zip(kinds(spans, by_hand)) {
        let shown = lives((pairs, facts), &mut senders, (spans, &of_kind), known);
        let hashes: FxHashSet<u64> = shown.iter().map(|(hash, _)| *hash).collect();
        let [n_other, mut n_again, mut n_entries] =
            known.sums(&|field| of_kind.fields.contains_key(&field), &hashes);
        n_again += shown.iter().map(|(_, life)| life.n_again).sum::<usize>();
        n_entries += shown.iter().map(|(_, life)| life.n_entries).sum::<usize>();
        let n_values = n_other + of_kind.spans.len();
        ids.lives.extend(shown);
        let is_forced = of_kind.fields.keys().any(|field| by_hand.with.iter().any(|with| *with == **field));
        let is_used = is_forced || (2 * n_again <= n_values && n_entries <= ENTRIES_MAX * n_values);
        for (field, nodes) in &of_kind.fields {
            ids.fields.push(IdField {
                field: field.to_string(),
                nodes: nodes.len(),
                n_values,
                n_again: n_again.max(n_entries.saturating_sub(n_values)),
                is_used,
            });
        }
        // Ids that no two spans share would only keep spans apart.
        let is_shared = of_kind.spans.values().any(|spans| spans.len() > 1);
        for (number, spans) in (0..).zip(of_kind.spans.into_values().filter(|_| is_used && is_shared)) {
            spans.iter().for_each(|&span| ids.of[span as usize] = Some((kind, number)));
        }
    }
    between(facts, &mut ids.of);
    let mut groups: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
    for (span, id) in (0..).zip(ids.of.iter().copied()) {
        id.into_iter().for_each(|id| groups.entry(id).or_default().push(span));
    }
    ids.groups = groups.into_values().filter(|spans| spans.len() > 1).collect();
    ids
}

/// Gives spans without an id that of what their thread was at before and after them. That holds where
/// no thread of the node comes back to an id after another one: it does one request after the other.
fn between(facts: &Facts<'_>, of: &mut [Option<(u32, u32)>]) {
    let (mut found, mut comes_back) = (Vec::new(), FxHashSet::default());
    for lines in facts.lines_of_threads() {
        let mut ended: FxHashSet<(u32, u32)> = FxHashSet::default();
        let (mut last, mut open): (Option<(u32, u32)>, Vec<u32>) = (None, Vec::new());
        for &(.., span, _) in &lines {
            let Some(id) = of[span as usize] else {
                open.push(span);
                continue;
            };
            if last == Some(id) {
                found.extend(open.drain(..).map(|span| (span, id)));
            } else {
                if ended.contains(&id) {
                    comes_back.insert(facts.get(span).node);
                }
                ended.extend(last);
                last = Some(id);
            }
            open.clear();
        }
    }
    let mut given: BTreeMap<u32, Option<(u32, u32)>> = BTreeMap::new();
    for (span, id) in found.into_iter().filter(|(span, _)| !comes_back.contains(&facts.get(*span).node)) {
        let known = given.entry(span).or_insert(Some(id));
        *known = known.filter(|known| *known == id);
    }
    given.into_iter().for_each(|(span, id)| of[span as usize] = id);
}

/// The ids by their kinds: fields of nodes that share a value are of one.
fn kinds<'s>(spans: &'s [Span], by_hand: &ByHand) -> Vec<Kind<'s>> {
    let of_span = |span: &'s Span| {
        let trace = span.trace.as_ref()?;
        let is_out = by_hand.without.iter().any(|without| *without == *trace.field);
        (!is_out).then_some(((trace.field, span.node), &*trace.text))
    };
    let mut sources: BTreeMap<(Name, Name), u32> = BTreeMap::new();
    for (source, _) in spans.iter().filter_map(of_span) {
        let next = to_u32(sources.len());
        sources.entry(source).or_insert(next);
    }
    let mut sets = Sets::new(sources.len());
    let mut first: FxHashMap<&str, u32> = FxHashMap::default();
    for (source, text) in spans.iter().filter_map(of_span) {
        let source = sources[&source];
        sets.unite(*first.entry(text).or_insert(source), source);
    }
    let mut kinds: BTreeMap<u32, Kind<'s>> = BTreeMap::new();
    for (at, span) in (0..).zip(spans) {
        let Some((source, text)) = of_span(span) else { continue };
        let kind = kinds.entry(sets.root(sources[&source])).or_default();
        kind.spans.entry(text).or_default().push(at);
        kind.fields.entry(source.0).or_default().insert(source.1);
    }
    kinds.into_values().collect()
}

/// How often each id of a kind comes again, and how often something with it was asked for by nothing
/// that is known.
fn lives(
    (pairs, facts): (&Pairs<'_>, &Facts<'_>),
    senders: &mut Senders<'_>,
    (all, kind): (&[Span], &Kind<'_>),
    known: &IdLives,
) -> Vec<Shown> {
    let is_own = |span: u32| all[span as usize].is_own;
    let unnamed = Unnamed::new(facts, kind);
    let field = kind.fields.keys().next().copied().unwrap_or_default();
    // What asks for it, and carries no id of this kind, says as little as what asks from outside.
    let first_top = |span: u32| facts.get(span).tops.first().copied();
    let tops: FxHashSet<TopLevelId> =
        kind.spans.values().flatten().filter_map(|&span| first_top(span)).collect();
    let mut shown = Vec::new();
    for (text, spans) in &kind.spans {
        let hash = id_lives::hash(text);
        let mut is_entry = |span: u32| {
            let top = first_top(span).filter(|&top| senders.is_served(top));
            let top = top.filter(|&top| senders.of(top).is_disjoint(&tops));
            top.zip(facts.get(span).first_point).is_some_and(|(top, point)| pairs.starts_with(top, point))
        };
        let n_entries = spans.iter().filter(|&&span| is_own(span) && is_entry(span)).count();
        // The request that it was of is over, and written.
        let is_back = known.is_known(hash) && spans.first().is_some_and(|&at| is_own(at) && is_entry(at));
        let again = times_again((pairs, facts), (senders, &unnamed), spans);
        let n_again = again.into_iter().filter(|&span| is_own(span)).count() + usize::from(is_back);
        shown.push((hash, Life { field, n_again, n_entries }));
    }
    shown
}

/// Who can have handed over to a method, over any number of steps, as far as somebody has asked.
struct Senders<'m> {
    direct: FxHashMap<TopLevelId, Vec<TopLevelId>>,
    all: FxHashMap<TopLevelId, FxHashSet<TopLevelId>>,
    model: &'m Model,
}

impl<'m> Senders<'m> {
    fn new(model: &'m Model) -> Self {
        let mut direct: FxHashMap<TopLevelId, Vec<TopLevelId>> = FxHashMap::default();
        for pair in &model.communication_pairs {
            direct.entry(pair.to).or_default().push(pair.from);
        }
        Self { direct, all: FxHashMap::default(), model }
    }

    fn of(&mut self, top: TopLevelId) -> &FxHashSet<TopLevelId> {
        self.all.entry(top).or_insert_with(|| {
            let (mut found, mut next) = (FxHashSet::default(), vec![top]);
            while let Some(top) = next.pop() {
                let senders = self.direct.get(&top).into_iter().flatten();
                next.extend(senders.copied().filter(|&from| found.insert(from)));
            }
            found
        })
    }

    /// Whether remote callers ask for it.
    fn is_served(&self, top: TopLevelId) -> bool {
        let top = self.model.top_level_methods.get(top.index());
        top.is_some_and(|top| top.kind == TopLevelKind::RpcHandler)
    }
}

/// When spans without an id of a kind are at work, by what they can be.
struct Unnamed(FxHashMap<TopLevelId, Vec<(i64, i64)>>);

impl Unnamed {
    fn new(facts: &Facts<'_>, kind: &Kind<'_>) -> Self {
        let named: FxHashSet<u32> = kind.spans.values().flatten().copied().collect();
        let mut of: FxHashMap<TopLevelId, Vec<(i64, i64)>> = FxHashMap::default();
        for (_, fact) in facts.iter().filter(|(span, _)| !named.contains(span)) {
            fact.tops.iter().for_each(|&top| of.entry(top).or_default().push((fact.start_us, fact.end_us)));
        }
        Self(of)
    }

    /// Whether one of `top` has begun and can still have asked for what begins `at_us`: there is none
    /// that has begun since, so that nothing says that it has ended.
    fn can_ask(&self, top: TopLevelId, (from_us, at_us): (i64, i64)) -> bool {
        let Some(times) = self.0.get(&top) else { return false };
        // In canonical order, by start.
        let n = times.partition_point(|(start_us, _)| *start_us <= at_us);
        times[..n].iter().rev().take(LOOK_BACK_MAX).any(|(_, end_us)| *end_us >= from_us)
    }
}

/// With which spans an id comes again: nothing that carries it is at work, and something begins that
/// nothing of it can have asked for.
fn times_again(
    (pairs, facts): (&Pairs<'_>, &Facts<'_>),
    (senders, unnamed): (&mut Senders<'_>, &Unnamed),
    spans: &[u32],
) -> Vec<u32> {
    let mut again = Vec::new();
    let mut tops: FxHashSet<TopLevelId> = FxHashSet::default();
    let (mut from_us, mut end_us, mut longest_us) = (i64::MAX, i64::MIN, 0);
    for &span in spans {
        let fact = facts.get(span);
        let silence_us = fact.start_us.saturating_sub(end_us);
        if !tops.is_empty() && silence_us > 0 {
            longest_us = longest_us.max(end_us - from_us);
            let Some(&top) = fact.tops.first() else { continue };
            let times_us = (from_us, fact.start_us);
            let begins = fact.first_point.is_some_and(|point| pairs.starts_with(top, point));
            if begins
                && silence_us > longest_us
                && (tops.contains(&top) || senders.is_served(top))
                && !senders.of(top).iter().any(|from| *from != top && tops.contains(from))
                && !senders.of(top).iter().any(|from| unnamed.can_ask(*from, times_us))
            {
                again.push(span);
                tops.clear();
            }
            from_us = fact.start_us;
        }
        from_us = from_us.min(fact.start_us);
        end_us = end_us.max(fact.end_us);
        tops.extend(fact.tops);
    }
    again
}

impl Ids {
    /// Those of so many spans that have none.
    pub(super) fn none(n_spans: usize) -> Self {
        Self { of: vec![None; n_spans], ..Self::default() }
    }

    /// Whether there are any.
    pub(super) fn are_used(&self) -> bool {
        self.of.iter().any(Option::is_some)
    }

    /// Puts the spans of each id into one set.
    pub(super) fn unite(&self, sets: &mut Sets) {
        for spans in &self.groups {
            spans.windows(2).for_each(|both| _ = sets.unite(both[0], both[1]));
        }
    }

    /// Whether two spans are of one request, if both have an id of one kind.
    pub(super) fn are_one(&self, a: u32, b: u32) -> Option<bool> {
        let (a, b) = (self.of[a as usize]?, self.of[b as usize]?);
        (a.0 == b.0).then_some(a.1 == b.1)
    }

    /// Links between the spans of one id that no other link joins: from what can have handed over to
    /// what, the latest first, else from what was at work when it began, else from the first.
    pub(super) fn join(&self, pairs: &Pairs<'_>, facts: &Facts<'_>, links: &[SpanLink]) -> Vec<SpanLink> {
        let mut sets = Sets::new(facts.len());
        links.iter().for_each(|link| _ = sets.unite(link.from, link.to));
        let mut has_sender = vec![false; facts.len()];
        links.iter().for_each(|link| has_sender[link.to as usize] = true);
        let mut out = Vec::new();
        let known = pairs.between_all();
        for spans in &self.groups {
            for (n, &to) in spans.iter().enumerate().skip(1) {
                if sets.root(spans[0]) == sets.root(to) {
                    continue;
                }
                let before = &spans[n.saturating_sub(LOOK_BACK_MAX)..n];
                let (from, pair) = sender(&known, facts, before, to).unwrap_or((spans[0], None));
                sets.unite(from, to);
                out.push(SpanLink { from, to, pair, by: Pass::Ids });
                // What it hangs together with may be of other ids of this one, which are joined too.
                if sets.root(spans[0]) != sets.root(to) {
                    sets.unite(spans[0], to);
                    out.push(SpanLink { from: spans[0], to: from, pair: None, by: Pass::Ids });
                }
            }
        }
        out
    }
}

/// Of the spans of one id `before`, in order, the one from which `to` was reached.
fn sender(
    pairs: &FxHashMap<(TopLevelId, TopLevelId), PairId>,
    facts: &Facts<'_>,
    before: &[u32],
    to: u32,
) -> Option<(u32, Option<PairId>)> {
    let receiver = facts.get(to);
    let pair_from = |from: u32| {
        let ends = (*facts.get(from).tops.first()?, *receiver.tops.first()?);
        pairs.get(&ends).copied()
    };
    let handed = before.iter().rev().find_map(|&from| Some((from, Some(pair_from(from)?))));
    let is_around = |from: &&u32| facts.get(**from).end_us >= receiver.end_us;
    handed.or_else(|| before.iter().rev().find(is_around).map(|&from| (from, None)))
}
