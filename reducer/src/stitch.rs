//! Stitching: spans that one request made are linked along communication pairs
//! (lprof §5, Combine and Reduce).
//!
//! For every span the possible senders are found through an index by identifier
//! value, never by comparing all with all ([`candidates`]). Each possible
//! hand-off carries its evidence ([`evidence`]); the best are accepted first, as
//! long as sender and receiver are free ([`accept`]). All choices are made in an
//! order that is a function of the set of spans.

use rayon::prelude::*;
use rustc_hash::FxHashSet;
use schema::{Link, LinkKind, Model, Pass, Probability, TopLevelId};
use std::collections::BTreeMap;

use self::accept::accept;
use self::candidates::Finder;
use self::evidence::Candidate;
pub(crate) use self::evidence::is_address;
use self::facts::Facts;
use self::remote_calls::Asked;
use crate::id_lives::{IdLives, Life};
use crate::merge::{Sets, SpanLink, to_u32};
use crate::shuffle::by_component;
use crate::skeleton::Span;
use crate::ticks::Ticks;
use crate::{Config, IdField};

mod accept;
mod answers;
mod at_work;
mod backlog;
mod called_first;
mod calls_next;
mod candidates;
mod coincidence;
mod confidence;
mod counted;
mod creation_times;
mod delays;
mod determined;
mod detours;
mod entities;
mod evidence;
mod facts;
mod found;
mod hand_overs;
mod held;
mod hosts;
mod ids;
mod lifetimes;
mod lone_lines;
mod mentions;
mod named_last;
mod nested;
mod numbered;
mod on_behalf;
mod ownership;
mod pairs;
mod queue_order;
mod remote_calls;
mod request_values;
mod rounds;
mod serials;
mod series;
mod sole;
#[cfg(test)]
mod tests;
mod timed_names;
mod waiting;
mod ways;
mod within;

/// What stitching has found.
pub(crate) struct Stitched {
    /// The hand-offs between the spans.
    pub(crate) links: Vec<SpanLink>,
    /// How sure each of them is.
    pub(crate) probabilities: Vec<Probability>,
    /// Fields that hold ids of requests.
    pub(crate) id_fields: Vec<IdField>,
    /// The ids in these, as far as the spans show their lives.
    pub(crate) ids: BTreeMap<u64, Life>,
}

/// The hand-offs between `spans`, which are in canonical order.
pub(crate) fn stitch(
    model: &Model,
    spans: &[Span],
    ticks: &Ticks,
    (config, lives): (&Config, &IdLives),
) -> Stitched {
    let mut pairs = pairs::Pairs::new(model);
    let mut facts = Facts::new(&pairs, spans);
    facts.by_clocks(spans, ticks);
    facts.label(serials::of_spans(model, spans));
    facts.label(ownership::labels(&pairs, &facts));
    let mut counted = Vec::new();
    config.run(Pass::Counted, || counted = counted::find(&facts));
    counted.iter().for_each(|counted| facts.count_within(counted.number, counted.within));
    config.run(Pass::Ways, || pairs.add_ways(ways::find(&pairs, &facts)));
    config.run(Pass::Ids, || facts.carry(ids::find(model, (&pairs, &facts), spans, (&config.ids, lives))));
    let entities = entities::find(&pairs, &facts);
    facts.tell_apart(entities.names());
    let finder = Finder::new(&pairs, &facts, config);
    let receivers = (0..to_u32(spans.len())).into_par_iter();
    let mut candidates: Vec<Candidate> =
        receivers.flat_map_iter(|receiver| finder.senders_of(receiver)).collect();
    let mut found = Links::new(config);
    let mut told = BTreeMap::new();
    found.add(Pass::RemoteCalls, |_| {
        let mut links = remote_calls::find(model, &pairs, &facts, (Asked::FarOff, config));
        links.extend(remote_calls::find(model, &pairs, &facts, (Asked::InThread, config)));
        told.extend(links.iter().copied());
        links.into_iter().map(|(link, _)| link).collect()
    });
    // Of whom a step in another thread is, is known where ids have taught it.
    let known: FxHashSet<u32> =
        found.links.iter().filter(|link| is_thread(model, link)).map(|link| link.to).collect();
    candidates.retain(|candidate| !known.contains(&candidate.to));
    found.add(Pass::QueueOrder, |_| queue_order::find(&pairs, &facts, &mut candidates));
    found.add(Pass::LoneLines, |links| {
        can_be_one(&pairs, &facts, lone_lines::join(&pairs, &facts, links, &mut candidates))
    });
    found.add(Pass::CallsNext, |_| calls_next::join(&pairs, &facts, &mut candidates));
    config.run(Pass::Entities, || entities.keep_named(&pairs, &mut candidates));
    let late = delays::Late::new(&pairs, &facts, &candidates);
    let is_by_time = |one: &mut Candidate| one.is_bare && !one.evidence.0.same_thread;
    let mut by_time: Vec<Candidate> = candidates.extract_if(.., is_by_time).collect();
    leave_out(model, &pairs, &facts, (&late, config), &mut candidates);
    by_time.retain(|candidate| !facts.are_apart(candidate.from, candidate.to));
    config.run(Pass::Detours, || detours::leave_out(model, &pairs, &facts, &mut by_time));
    by_time.par_sort_unstable();
    candidates.par_sort_unstable();
    let mut links = Links::new(config);
    links.links = by_component(
        spans.len(),
        candidates,
        |candidate| (candidate.from, candidate.to),
        |group| accept(&pairs, &facts, group),
    );
    links.links.extend(found.links);
    links.add(Pass::Labels, |_| facts.of_label());
    keep_apart(&facts, &mut links.links);
    links.add(Pass::ByTime, |links| hand_overs::find(&pairs, &facts, &by_time, links));
    links.links.sort_unstable();
    join_more(model, &pairs, &facts, &mut links);
    links.links.sort_unstable();
    join_the_rest((model, &pairs, &facts), (&entities, &counted, &late), spans, &mut links);
    links.add(Pass::Ids, |links| facts.ids().join(&pairs, &facts, links));
    keep_apart(&facts, &mut links.links);
    links.links.sort_unstable();
    let probabilities = confidence::of(&pairs, &facts, &links.links, &told);
    let (id_fields, ids) = (facts.ids().fields.clone(), facts.ids().lives.clone());
    Stitched { links: links.links, probabilities, id_fields, ids }
}

/// Whether a thread hands over to another one.
fn is_thread(model: &Model, link: &SpanLink) -> bool {
    let pair = link.pair.and_then(|pair| model.communication_pairs.get(pair.index()));
    pair.is_some_and(|pair| pair.kind == LinkKind::Thread)
}

/// Links, and what may add to them.
struct Links<'c> {
    links: Vec<SpanLink>,
    config: &'c Config,
}

impl<'c> Links<'c> {
    fn new(config: &'c Config) -> Self {
        Self { links: Vec::new(), config }
    }

    /// Adds what a pass finds, given what is known, but for what is left out.
    fn add(&mut self, pass: Pass, find: impl FnOnce(&[SpanLink]) -> Vec<SpanLink>) {
        let mut found = Vec::new();
        self.config.run(pass, || found = find(&self.links));
        self.links.extend(found.into_iter().filter(|link| !self.config.without.contains(link.by)));
    }
}

/// Joins what threads, results and names show to be of one piece of work.
fn join_more(model: &Model, pairs: &pairs::Pairs<'_>, facts: &Facts<'_>, links: &mut Links<'_>) {
    links.add(Pass::Nested, |links| nested::join(model, pairs, facts, links));
    links.add(Pass::CalledFirst, |links| called_first::join(pairs, facts, links));
}

/// Joins what is left over to what is known by then.
fn join_the_rest(
    (model, pairs, facts): (&Model, &pairs::Pairs<'_>, &Facts<'_>),
    (entities, counted, late): (&entities::Entities, &[counted::Counted], &delays::Late),
    spans: &[Span],
    links: &mut Links<'_>,
) {
    let skew_us = links.config.skew_us;
    links.add(Pass::Lifetimes, |links| lifetimes::join(pairs, facts, (entities, counted), skew_us, links));
    links.add(Pass::TimedNames, |links| timed_names::join(pairs, facts, skew_us, links));
    links.add(Pass::Numbered, |links| numbered::join(model, facts, links));
    links.add(Pass::Rounds, |links| rounds::join(pairs, facts, links));
    links.add(Pass::Coincidence, |links| coincidence::join(pairs, facts, links));
    links.add(Pass::Answers, |links| answers::join(pairs, facts, links));
    links.add(Pass::NamedLast, |links| named_last::join(pairs, facts, links));
    links.add(Pass::CreationTimes, |links| creation_times::join(facts, skew_us, links));
    let hosts = hosts::Hosts::new(spans);
    links.add(Pass::Hosts, |links| hosts.join(facts, links));
    links.add(Pass::Within, |links| within::join(pairs, facts, &hosts, links));
    links.add(Pass::Mentions, |links| mentions::join(pairs, facts, (entities, late), skew_us, links));
    links.add(Pass::Waiting, |links| waiting::join(pairs, facts, &hosts, links));
    links.add(Pass::OnBehalf, |links| on_behalf::join(pairs, facts, links));
}

/// Takes out hand-offs that something speaks against.
fn leave_out(
    model: &Model,
    pairs: &pairs::Pairs<'_>,
    facts: &Facts<'_>,
    (late, config): (&delays::Late, &Config),
    candidates: &mut Vec<Candidate>,
) {
    config.run(Pass::Delays, || late.leave_out(pairs, facts, candidates));
    config.run(Pass::Delays, || delays::keep_usual(pairs, facts, candidates));
    candidates.retain(|candidate| !facts.are_apart(candidate.from, candidate.to));
    config.run(Pass::Ids, || keep_of_id(facts, candidates));
    config.run(Pass::AtWork, || at_work::leave_out(pairs, facts, candidates));
    config.run(Pass::Detours, || detours::leave_out(model, pairs, facts, candidates));
}

/// Of links that no hand-off tells, those between spans that do not name different requests.
fn can_be_one(pairs: &pairs::Pairs<'_>, facts: &Facts<'_>, mut links: Vec<SpanLink>) -> Vec<SpanLink> {
    links.retain(|link| !pairs.are_of_different_requests(facts.get(link.from), facts.get(link.to)));
    links
}

/// Of the senders of a receiver of which one has its id, keeps those that do.
fn keep_of_id(facts: &Facts<'_>, candidates: &mut Vec<Candidate>) {
    let is_of_id = |one: &Candidate| facts.ids().are_one(one.from, one.to) == Some(true);
    let known: FxHashSet<u32> = candidates.iter().filter(|one| is_of_id(one)).map(|one| one.to).collect();
    candidates.retain(|one| !known.contains(&one.to) || is_of_id(one));
}

/// Drops links that would put into one request what is never one.
fn keep_apart(facts: &Facts<'_>, links: &mut Vec<SpanLink>) {
    let mut sets = facts.numbered_sets();
    links.retain(|link| sets.join(link.from, link.to) || sets.root(link.from) == sets.root(link.to));
}

/// What `links` make of the spans: the sets of those that hang together, and
/// whether each has a sender.
fn joined(facts: &Facts<'_>, links: &[SpanLink]) -> (Sets, Vec<bool>) {
    let mut sets = facts.sets();
    let mut has_sender = vec![false; facts.len()];
    for link in links {
        sets.unite(link.from, link.to);
        has_sender[link.to as usize] = true;
    }
    (sets, has_sender)
}

/// Puts the top-level method first that the links of a span speak for: what goes on with a
/// span in the log, where no thread is printed, is of the same method, and was told by more.
/// `links` are those of one request, in order, between `spans`.
pub(crate) fn prefer_linked(model: &Model, spans: &mut [schema::Span], links: &[Link]) {
    for link in links.iter().rev().filter(|link| link.pair.is_none()) {
        let (from, to) = (&spans[link.from as usize], &spans[link.to as usize]);
        let goes_on = from.thread.is_none() && to.thread.is_none() && from.node == to.node;
        let common = to.top_levels.iter().find(|top| goes_on && from.top_levels.contains(top)).copied();
        common.into_iter().for_each(|top| prefer(&mut spans[link.from as usize], top));
    }
    for link in links {
        let Some(pair) = link.pair.and_then(|pair| model.communication_pairs.get(pair.index())) else {
            continue;
        };
        if pair.kind == LinkKind::Entity {
            continue;
        }
        prefer(&mut spans[link.from as usize], pair.from);
        prefer(&mut spans[link.to as usize], pair.to);
    }
}

fn prefer(span: &mut schema::Span, top: TopLevelId) {
    if let Some(position) = span.top_levels.iter().position(|&other| other == top) {
        span.top_levels[..=position].rotate_right(1);
    }
}
