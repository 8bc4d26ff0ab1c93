//! Entities: things that are made for a request and that events are sent to (a
//! container, an attempt). All that is done to one of them is one request, over
//! threads and nodes and however long it is silent: its name tells.
//!
//! Things contain things (an application its attempts, an attempt its
//! containers), and only the innermost ones are taken: a node's name is that of
//! an entity too, but what is done on one node is many requests. What contains
//! what is learnt from the log. But what the innermost ones are named after, they were
//! made for: it is taken too, and of those that are named after nothing, two are of
//! two requests.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};
use schema::kinds::{contains_apart, is_made};
use schema::{IdentifierStrength, LinkKind, TopLevelId, ValueClassId};

use super::evidence::Candidate;
use super::facts::Facts;
use super::found::has_found;
use super::held::Held;
use super::pairs::{Pair, Pairs};
use crate::merge::{Names, to_u32};

/// Values of a kind from which to learn.
pub(super) const VALUES_MIN: usize = 16;

/// A kind contains another one if more than one in this many of its values is
/// held together with several of the other's.
const CONTAINS_SHARE: usize = 8;

/// Spans by the one value that each holds of a kind, in order of start.
pub(super) type Holders<'s> = BTreeMap<ValueClassId, BTreeMap<&'s str, Vec<u32>>>;

/// The entities that the logs show.
#[derive(Debug, Default)]
pub(super) struct Entities {
    /// For each of those that are taken the spans that work on it, in order of start.
    spans: Vec<Vec<u32>>,
    /// Who names an outermost one of those.
    names: FxHashMap<u32, Names>,
    /// Of each kind what spans of several of those hold.
    shared: FxHashSet<(ValueClassId, u32)>,
}

impl Entities {
    /// For each entity that is taken the spans that work on it, in order of start.
    pub(super) fn spans(&self) -> &[Vec<u32>] {
        &self.spans
    }

    /// What tells requests apart, by the spans that name it: what others are named after
    /// that is named after nothing itself.
    pub(super) fn names(&self) -> FxHashMap<u32, Names> {
        self.names.clone()
    }

    /// Whether several requests are named beside what is called so (a node that they all
    /// run on): it is there for all of them, and who names it is of none for that.
    pub(super) fn is_shared(&self, name: &Held<'_>) -> bool {
        self.shared.contains(&(name.kind, name.number))
    }

    /// Takes out hand-offs of events to entities that time alone speaks for, where the
    /// event names its entity: it is found by that name.
    pub(super) fn keep_named(&self, pairs: &Pairs<'_>, candidates: &mut Vec<Candidate>) {
        let named: FxHashSet<u32> = self.spans.iter().flatten().copied().collect();
        let is_event = |pair: &Pair| pair.kind == LinkKind::Queue && pairs.is_entity(pair.to);
        candidates.retain(|candidate| {
            !(candidate.is_bare && named.contains(&candidate.to) && is_event(pairs.get(candidate.pair)))
        });
    }
}

/// Which entities the logs show: the innermost ones, and what those are named after.
pub(super) fn find<'s>(pairs: &Pairs<'_>, facts: &Facts<'s>) -> Entities {
    // Whoever names an entity works on it, known identifier or not; except who
    // looks through all of them, or has only found it.
    let mut holders = holders(pairs, facts, &|top, value| {
        let strength = pairs.strength(top, value.value_class);
        strength != Some(IdentifierStrength::Node) && !pairs.looks_through(top, value.value_class)
    });
    let kinds: BTreeSet<ValueClassId> =
        pairs.names_of_entities().into_iter().map(|class| facts.kind(class)).collect();
    holders.retain(|kind, _| kinds.contains(kind));
    for (&kind, values) in &mut holders {
        for (&name, spans) in values.iter_mut() {
            spans.retain(|&span| !has_found(pairs, facts, facts.get(span), (kind, name)));
        }
        values.retain(|_, spans| !spans.is_empty());
    }
    let held = Together::new(&holders);
    let innermost = innermost(&holders, &held);
    let is_whole = |kind: &ValueClassId| {
        !innermost.contains(kind)
            && innermost.iter().any(|&inner| held.is_named_after(inner, *kind, VALUES_MIN))
    };
    let wholes: BTreeSet<ValueClassId> = holders.keys().copied().filter(is_whole).collect();
    let is_outermost = |kind: ValueClassId| !wholes.iter().any(|&other| held.is_named_after(kind, other, 1));
    // Who looks through the parts of something works on none of it.
    let looks_through = |span: u32| {
        let fact = facts.get(span);
        let is_looked_at = |value: &Held<'_>, top: TopLevelId| {
            innermost.contains(&value.kind) && pairs.looks_through(top, value.value_class)
        };
        fact.tops.first().is_some_and(|&top| fact.values().iter().any(|value| is_looked_at(value, top)))
    };
    let mut found = Entities::default();
    for (kind, values) in &holders {
        let is_whole = wholes.contains(kind);
        let names = is_whole && is_outermost(*kind);
        let made = values.iter().filter(|(text, _)| is_made(text) && (is_whole || innermost.contains(kind)));
        for (number, (_, spans)) in made.enumerate() {
            let spans = spans.iter().copied().filter(|&span| !is_whole || !looks_through(span));
            let spans: Vec<u32> = spans.collect();
            for &span in spans.iter().filter(|_| names) {
                found.names.entry(span).or_default().insert(to_u32(kind.index()), to_u32(number));
            }
            found.spans.push(spans);
        }
    }
    found.shared = shared(facts, &found.names);
    found
}

/// For each entity the spans of its own events, in order of start: they are its life,
/// however long it is silent, and whatever it is a part of. But what happens now and then
/// to one that is there for several requests is each of whoever makes it happen.
pub(super) fn events(pairs: &Pairs<'_>, facts: &Facts<'_>, entities: &Entities) -> Vec<Vec<u32>> {
    let mut found: BTreeMap<(TopLevelId, ValueClassId), BTreeMap<&str, Vec<u32>>> = BTreeMap::new();
    let identities = pairs.identities();
    for (index, fact) in facts.iter() {
        // Without threads too much hangs on time alone to make one of so much.
        let is_event = |top: &&TopLevelId| fact.thread.is_some() && pairs.is_entity(**top);
        let Some(&top) = fact.tops.first().filter(is_event) else { continue };
        let own = identities.range((top, ValueClassId::new(0))..).take_while(|(of, _)| *of == top);
        for &(_, class) in own {
            let mut names = fact.values_of(class).iter().filter(|value| value.is_made());
            if let (Some(name), None) = (names.next().filter(|name| !entities.is_shared(name)), names.next())
            {
                found.entry((top, class)).or_default().entry(name.text).or_default().push(index);
            }
        }
    }
    found.into_values().flat_map(BTreeMap::into_values).collect()
}

/// What spans of several requests hold, by the `names` that tell requests apart.
fn shared(facts: &Facts<'_>, names: &FxHashMap<u32, Names>) -> FxHashSet<(ValueClassId, u32)> {
    let mut beside: FxHashMap<(ValueClassId, u32), Names> = FxHashMap::default();
    let mut shared = FxHashSet::default();
    for (index, fact) in facts.iter() {
        for (&kind, &name) in names.get(&index).into_iter().flatten() {
            for value in fact.values().iter().filter(|value| value.is_made()) {
                let held = (value.kind, value.number);
                if *beside.entry(held).or_default().entry(kind).or_insert(name) != name {
                    shared.insert(held);
                }
            }
        }
    }
    shared
}

/// The spans that hold one value of a kind, of those values that `counts`.
pub(super) fn holders<'s>(
    pairs: &Pairs<'_>,
    facts: &Facts<'s>,
    counts: &dyn Fn(TopLevelId, &Held<'_>) -> bool,
) -> Holders<'s> {
    let mut of_values: FxHashMap<(ValueClassId, u32), (&'s str, Vec<u32>)> = FxHashMap::default();
    let mut own: Vec<(ValueClassId, Option<Held<'s>>)> = Vec::new();
    for (index, fact) in facts.iter() {
        let Some(&top) = fact.tops.first().filter(|top| !pairs.is_dispatcher(**top)) else { continue };
        own.clear();
        for value in fact.values().iter().filter(|value| value.is_telling() && counts(top, value)) {
            match own.iter_mut().find(|(kind, _)| *kind == value.kind) {
                Some((_, known)) => *known = known.filter(|known| known.is(value)),
                None => own.push((value.kind, Some(*value))),
            }
        }
        for value in own.iter().filter_map(|(_, value)| *value) {
            let of_value = of_values.entry((value.kind, value.number));
            of_value.or_insert_with(|| (value.text, Vec::new())).1.push(index);
        }
    }
    let mut out = Holders::new();
    // A number that is counted within something names nothing by itself.
    for ((kind, _), (text, spans)) in of_values.into_iter().filter(|((kind, _), _)| !facts.is_counted(*kind))
    {
        out.entry(kind).or_default().insert(text, spans);
    }
    out
}

/// Whether values are given to things made while the program runs: there are
/// many, and most are numbered.
fn are_made(values: &BTreeMap<&str, Vec<u32>>) -> bool {
    let n_numbered = values.keys().filter(|text| is_made(text)).count();
    values.len() >= VALUES_MIN && n_numbered * 2 > values.len()
}

/// The kinds by which entities name themselves that contain no others of them.
fn innermost(holders: &Holders<'_>, held: &Together<'_>) -> BTreeSet<ValueClassId> {
    let kinds: Vec<ValueClassId> =
        holders.iter().filter(|(_, values)| are_made(values)).map(|(&kind, _)| kind).collect();
    let is_innermost =
        |kind: &ValueClassId| !kinds.iter().any(|&other| other != *kind && held.contains(*kind, other));
    kinds.iter().copied().filter(is_innermost).collect()
}

/// What is held together with what.
struct Together<'h> {
    holders: &'h Holders<'h>,
    /// The one value of each kind that a span holds.
    values: FxHashMap<(ValueClassId, u32), &'h str>,
}

impl<'h> Together<'h> {
    fn new(holders: &'h Holders<'h>) -> Self {
        let mut values = FxHashMap::default();
        for (&kind, of_kind) in holders {
            for (text, spans) in of_kind {
                values.extend(spans.iter().map(|&span| ((kind, span), *text)));
            }
        }
        Self { holders, values }
    }

    /// The values of a kind that are held together with one of `spans`.
    fn beside(&self, spans: &[u32], kind: ValueClassId) -> BTreeSet<&'h str> {
        spans.iter().filter_map(|&span| self.values.get(&(kind, span)).copied()).collect()
    }

    /// Whether things of a kind contain several of another one.
    fn contains(&self, outer: ValueClassId, inner: ValueClassId) -> bool {
        let (mut n_many, mut n_known) = (0, 0);
        for spans in self.holders[&outer].values() {
            let texts = self.beside(spans, inner);
            n_known += usize::from(!texts.is_empty());
            n_many += usize::from(texts.len() > 1);
        }
        n_many * CONTAINS_SHARE > n_known
    }

    /// Whether the name of each of at least `n_min` things of a kind contains that of the
    /// one of another kind that it was made for, as that of a task's attempt contains the
    /// task's: what is done to all those is done for that one. What just happens to be
    /// held with it (the node that it is on) gives it no name.
    fn is_named_after(&self, inner: ValueClassId, outer: ValueClassId, n_min: usize) -> bool {
        let mut n_named = 0;
        for (text, spans) in &self.holders[&inner] {
            let wholes = self.beside(spans, outer);
            if wholes.iter().any(|whole| text.len() <= whole.len() || !contains_apart(text, whole)) {
                return false;
            }
            n_named += usize::from(!wholes.is_empty());
        }
        n_named >= n_min
    }
}
