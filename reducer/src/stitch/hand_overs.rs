//! Hand-overs: where nothing that both ends name tells, who has handed over to whom, all of them
//! together.
//!
//! Each receiver has candidates: senders that the code and the clocks allow. How likely each of them
//! is the sender is summed over all ways to give the receivers to the senders
//! ([`schema::assignment`]); what speaks for a sender is learnt from the log ([`learning`]). What one
//! line of a sender leads to is one receiver, or several where the code says so. Senders of one
//! request speak for that request together, whichever of them it was.
//!
//! A link puts two requests into one. If it is wrong, the messages of the smaller one are with
//! strangers: that is what it may cost, and so where much is joined more has to speak for it.

use rustc_hash::{FxHashMap, FxHashSet};
use schema::in_common::{Named, Rarity};
use schema::{LogPointId, Place, TopLevelId};

use self::learning::Learning;
use super::backlog::Backlog;
use super::evidence::Candidate;
use super::facts::{Fact, Facts};
use super::joined;
use super::pairs::Pairs;
use super::request_values::{Values, contradict, request_values, unite};
use crate::merge::{Sets, SpanLink, to_u32};
use crate::skeleton::Event;

mod learning;
mod nearness;

/// Of all ways to give receivers to senders those with a link have this share, if it counts: it is
/// three times as likely as not, as with all links.
const SHARE_MIN: f64 = 0.75;

/// So many messages may be with strangers by one link, as far as the shares tell.
const STRANGERS_MAX: f64 = 1.0;

/// What is known before anything was seen counts as one sight.
const PRIOR: f64 = 1.0;

/// Links by time along `candidates`, which are sorted best first, to receivers that `links` gives no
/// sender on their nodes.
pub(super) fn find(
    pairs: &Pairs<'_>,
    facts: &Facts<'_>,
    candidates: &[Candidate],
    links: &[SpanLink],
) -> Vec<SpanLink> {
    let (mut sets, _) = joined(facts, links);
    // What somebody far off has asked for, a thread of its own node has handed over.
    let is_local = |link: &&SpanLink| facts.get(link.from).node == facts.get(link.to).node;
    let has_sender: FxHashSet<u32> = links.iter().filter(is_local).map(|link| link.to).collect();
    let possible = possible(candidates, &mut sets);
    let mut is_asked = vec![false; facts.len()];
    for candidate in possible.values().flatten().filter(|candidate| !has_sender.contains(&candidate.to)) {
        is_asked[candidate.from as usize] = true;
        is_asked[candidate.to as usize] = true;
    }
    let named = Named::among(|span| is_asked[span], facts.iter().map(|(_, fact)| texts(fact)));
    let receivers = Receivers { pairs, facts, named: &named }.all(possible, &has_sender);
    let from = candidates.iter().map(|candidate| pairs.get(candidate.pair).from).collect();
    let shares = Learning::new(facts, &receivers, &from, &named).shares();
    decide((pairs, facts), (&receivers, &shares), sets)
}

/// What a span names: its values, and the words of those.
fn texts<'s>(fact: &Fact<'s>) -> impl Iterator<Item = &'s str> {
    let printed = fact.events.iter().flat_map(|event| event.values.iter().map(|(_, text)| text));
    let named = fact.values().iter().map(|value| value.text);
    printed.chain(named).flat_map(|text: &str| {
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-');
        words.filter(|word| !word.is_empty()).chain([text])
    })
}

/// The line that a span begins with, and the top-level method that it most likely is of.
type Begin = (Option<LogPointId>, Option<TopLevelId>);

fn begin(fact: &Fact<'_>) -> Begin {
    (fact.first_point, fact.tops.first().copied())
}

/// The line that a sender printed last before a receiver began, and how the receiver begins.
type Step = (Option<LogPointId>, Begin);

/// A sender that can have handed over.
struct Choice {
    candidate: Candidate,
    step: Step,
    /// When the sender printed that line, µs, and where it stands.
    at: (i64, Place),
    /// From when the receiver could begin by that to when it did, µs.
    delay_us: i64,
    in_common: Rarity,
    /// That line of that sender: it leads to one receiver that begins so.
    place: u32,
    /// Or to several.
    many: bool,
}

/// A span that something can have handed over to.
struct Receiver {
    node: u32,
    start_us: i64,
    begin: Begin,
    /// Since the span before it that begins as it does on its node, µs; none: it is the first.
    gap_us: Option<i64>,
    choices: Vec<Choice>,
}

/// By receiver the candidates that can still be, the best one of each sender.
fn possible(candidates: &[Candidate], sets: &mut Sets) -> FxHashMap<u32, Vec<Candidate>> {
    let mut possible: FxHashMap<u32, Vec<Candidate>> = FxHashMap::default();
    for candidate in candidates {
        let (from, to) = (candidate.from, candidate.to);
        let known = possible.entry(to).or_default();
        let is_new = known.iter().all(|other| other.from != from);
        if is_new && sets.root(from) != sets.root(to) && !sets.are_apart(from, to) {
            known.push(*candidate);
        }
    }
    possible
}

/// Makes receivers of candidates.
struct Receivers<'f, 's, 'm> {
    pairs: &'f Pairs<'m>,
    facts: &'f Facts<'s>,
    named: &'f Named,
}

impl Receivers<'_, '_, '_> {
    /// The receivers in order of start, but for those that have a sender; those that nothing can have
    /// handed over to show how often such begin by themselves.
    fn all(
        &self,
        mut possible: FxHashMap<u32, Vec<Candidate>>,
        has_sender: &FxHashSet<u32>,
    ) -> Vec<Receiver> {
        let wanted: FxHashSet<Begin> = possible.keys().map(|&span| begin(self.facts.get(span))).collect();
        let backlog = Backlog::new(self.facts);
        let mut places: FxHashMap<(u32, usize, Begin), u32> = FxHashMap::default();
        let mut begun_us: FxHashMap<(u32, Begin), i64> = FxHashMap::default();
        let mut all = Vec::new();
        for (span, fact) in self.facts.iter().filter(|(_, fact)| wanted.contains(&begin(fact))) {
            let (node, start_us, begin) = (fact.node, fact.start_us, begin(fact));
            let before_us = begun_us.insert((node, begin), start_us);
            if has_sender.contains(&span) {
                continue;
            }
            let choice = |candidate: Candidate| {
                let (at, event) = last_before(self.facts.get(candidate.from), fact);
                let many = self.pairs.get(candidate.pair).many;
                let next = to_u32(places.len());
                Choice {
                    candidate,
                    step: (event.log_point, begin),
                    at: (event.ts_us, event.place()),
                    delay_us: backlog.delay_us(fact, event.ts_us),
                    in_common: self.named.rarity(candidate.from as usize, span as usize),
                    place: *places.entry((candidate.from, if many { at } else { 0 }, begin)).or_insert(next),
                    many,
                }
            };
            let choices = possible.remove(&span).unwrap_or_default().into_iter().map(choice).collect();
            let gap_us = before_us.map(|before_us| start_us.saturating_sub(before_us));
            all.push(Receiver { node, start_us, begin, gap_us, choices });
        }
        all
    }
}

/// The event that a sender printed last before a receiver began, and its position; the first one, if
/// there is none.
fn last_before<'s>(sender: &Fact<'s>, receiver: &Fact<'_>) -> (usize, &'s Event) {
    let is_before = |event: &Event| event.ts_us <= receiver.start_us;
    let at = sender.events.iter().rposition(is_before).unwrap_or_default();
    (at, &sender.events[at])
}

/// Links that are likely enough for what they join, surest first.
fn decide(
    (pairs, facts): (&Pairs<'_>, &Facts<'_>),
    (receivers, shares): (&[Receiver], &[Vec<f64>]),
    mut sets: Sets,
) -> Vec<SpanLink> {
    let mut n_messages: FxHashMap<u32, f64> = FxHashMap::default();
    for (span, fact) in facts.iter() {
        *n_messages.entry(sets.root(span)).or_default() += fact.events.len() as f64;
    }
    let likely = receivers.iter().zip(shares).filter_map(|(receiver, shares)| {
        let (share, candidate) = likeliest(receiver, shares, &mut sets)?;
        (share >= SHARE_MIN).then_some((share, candidate))
    });
    let mut likely: Vec<(f64, Candidate)> = likely.collect();
    let scattered = scattered(pairs, facts, &likely);
    likely.retain(|(_, candidate)| !scattered.contains(&(candidate.from, candidate.pair)));
    likely.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.to.cmp(&b.1.to)));
    let mut links = Vec::new();
    for (share, Candidate { from, to, pair, by, .. }) in likely {
        let (ours, theirs) = (n_messages[&sets.root(from)], n_messages[&sets.root(to)]);
        if (1.0 - share) * ours.min(theirs) <= STRANGERS_MAX && sets.join(from, to) {
            n_messages.insert(sets.root(to), ours + theirs);
            links.push(SpanLink { from, to, pair: pairs.get(pair).id, by });
        }
    }
    links
}

/// The senders, and along which pairs, of receivers of which no request can hold all: who has started
/// many things, each with a name of its own, is part of no request of theirs.
fn scattered(pairs: &Pairs<'_>, facts: &Facts<'_>, likely: &[(f64, Candidate)]) -> FxHashSet<(u32, u32)> {
    let mut scattered = FxHashSet::default();
    let mut named: FxHashMap<(u32, u32), Values<'_>> = FxHashMap::default();
    for &(_, Candidate { from, to, pair, .. }) in likely {
        let known = named.entry((from, pair)).or_default();
        let values = request_values(facts, pairs, to);
        if contradict(known, &values) {
            scattered.insert((from, pair));
        }
        *known = unite(std::mem::take(known), values);
    }
    scattered
}

/// How likely the likeliest request is the sender of a receiver, and its likeliest span.
fn likeliest(receiver: &Receiver, shares: &[f64], sets: &mut Sets) -> Option<(f64, Candidate)> {
    let mut of_request: FxHashMap<u32, (f64, f64, usize)> = FxHashMap::default();
    for (at, (choice, &share)) in receiver.choices.iter().zip(shares).enumerate() {
        let known = of_request.entry(sets.root(choice.candidate.from)).or_default();
        known.0 += share;
        if share > known.1 {
            (known.1, known.2) = (share, at);
        }
    }
    let best = of_request.into_values().max_by(|a, b| a.0.total_cmp(&b.0).then(b.2.cmp(&a.2)));
    best.map(|(share, _, at)| (share, receiver.choices[at].candidate))
}
