//! Stitching: spans that one request made are linked along communication pairs
//! (lprof §5, Combine and Reduce).
//!
//! For every span the possible senders are found through an index by identifier
//! value, never by comparing all with all ([`candidates`]). Each possible
//! hand-off carries its evidence ([`evidence`]); the best are accepted first, as
//! long as sender and receiver are free ([`accept`]). All choices are made in an
//! order that is a function of the set of spans.

use rayon::prelude::*;
use schema::{LinkKind, Model, Span, TopLevelId};

use self::accept::accept;
use self::candidates::Finder;
use self::evidence::Candidate;
use self::facts::Facts;
use crate::Config;
use crate::merge::{Sets, SpanLink, to_u32};
use crate::shuffle::by_component;

mod accept;
mod alike;
mod amid;
mod answers;
mod at_work;
mod births;
mod born;
mod called_first;
mod calls_next;
mod candidates;
mod chance;
mod claims;
mod coincidence;
mod common_senders;
mod companions;
mod counted;
mod delays;
mod determined;
mod detours;
mod elimination;
mod entities;
mod evidence;
mod facts;
mod found;
mod goes_on;
mod held;
mod hosts;
mod in_line;
mod initialized;
mod kin;
mod lives;
mod lone_lines;
mod named_last;
mod nested;
mod numbered;
mod on_behalf;
mod pairs;
mod peers;
mod results;
mod rounds;
mod serials;
mod series;
mod siblings;
mod silent;
mod sole;
#[cfg(test)]
mod tests;
mod turns;
mod waiting;
mod ways;
mod within;

/// How far stitching may reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Along local pairs, within each node.
    Node,
    /// Along all pairs. Local ones come first: they are the surer ones.
    All,
}

/// The hand-offs between `spans`, which are in canonical order.
pub(crate) fn stitch(model: &Model, spans: &[Span], scope: Scope, config: &Config) -> Vec<SpanLink> {
    let mut pairs = pairs::Pairs::new(model, scope);
    let mut facts = Facts::new(&pairs, spans);
    facts.label(serials::of_spans(model, spans));
    facts.label(held::labels(&pairs, &facts));
    let counted = counted::find(&facts);
    counted.iter().for_each(|counted| facts.count_within(counted.number, counted.within));
    if scope == Scope::All {
        pairs.add_ways(ways::find(&pairs, &facts));
    }
    let entities = entities::find(&pairs, &facts);
    facts.tell_apart(entities.names());
    let finder = Finder::new(&pairs, &facts, config);
    let receivers = 0..to_u32(spans.len());
    let mut candidates: Vec<Candidate> =
        receivers.into_par_iter().flat_map_iter(|receiver| finder.senders_of(receiver)).collect();
    let mut companions = companions::find(&pairs, &facts);
    companions.links.extend(turns::find(&pairs, &facts));
    companions::lead_to_first(&pairs, &facts, &companions, &mut candidates);
    let mut companions = companions.links;
    companions.extend(lone_lines::join(&pairs, &facts, &companions, &mut candidates));
    companions.extend(calls_next::join(&pairs, &facts, &mut candidates));
    entities.keep_named(&pairs, &mut candidates);
    let late = delays::Late::new(&pairs, &facts, &candidates);
    leave_out(model, &pairs, &facts, &late, &mut candidates);
    candidates.par_sort_unstable();
    let mut links = by_component(
        spans.len(),
        candidates,
        |candidate| (candidate.from, candidate.to),
        |group| accept(&pairs, &facts, group),
    );
    links.extend(companions);
    links.extend(facts.of_label());
    keep_apart(&facts, &mut links);
    if scope == Scope::All {
        links.sort_unstable();
        links.extend(results::join(&pairs, &facts, config.window_us, &links));
        links.extend(nested::join(model, &pairs, &facts, &links));
        links.extend(called_first::join(&pairs, &facts, &links));
        links.extend(goes_on::join(&facts, &links));
        links.extend(initialized::join(&pairs, &facts, &links));
        links.extend(siblings::join(model, &pairs, &facts, &links));
        links.extend(common_senders::join(&pairs, &facts, &links));
        links.sort_unstable();
        links.extend(lives::join(&pairs, &facts, (&entities, &counted), config.skew_us, &links));
        links.extend(born::join(&pairs, &facts, config.skew_us, &links));
        links.extend(numbered::join(model, &facts, &links));
        links.extend(rounds::join(&pairs, &facts, &links));
        links.extend(elimination::join(&pairs, &facts, &links));
        links.extend(in_line::join(&pairs, &facts, &links));
        links.extend(coincidence::join(&pairs, &facts, &links));
        links.extend(answers::join(&pairs, &facts, &links));
        links.extend(named_last::join(&pairs, &facts, &links));
        links.extend(births::join(&facts, config.skew_us, &links));
        links.extend(amid::join(&pairs, &facts, &links));
        let hosts = hosts::Hosts::new(spans);
        links.extend(hosts.join(&facts, &links));
        links.extend(peers::join(&pairs, &facts, &links));
        links.extend(within::join(&pairs, &facts, &hosts, &links));
        links.extend(kin::join(&pairs, &facts, (&entities, &late), config.skew_us, &links));
        links.extend(waiting::join(&pairs, &facts, &hosts, &links));
        links.extend(on_behalf::join(&pairs, &facts, &links));
    }
    links.sort_unstable();
    links
}

/// Takes out hand-offs that something speaks against.
fn leave_out(
    model: &Model,
    pairs: &pairs::Pairs<'_>,
    facts: &Facts<'_>,
    late: &delays::Late,
    candidates: &mut Vec<Candidate>,
) {
    late.leave_out(pairs, facts, candidates);
    delays::keep_usual(pairs, facts, candidates);
    candidates.retain(|candidate| !facts.are_apart(candidate.from, candidate.to));
    chance::leave_out(pairs, facts, candidates);
    at_work::leave_out(pairs, facts, candidates);
    detours::leave_out(model, pairs, facts, candidates);
    alike::keep_alike(pairs, facts, candidates);
    candidates.retain(|candidate| !held::is_guess(pairs, facts, candidate.from, candidate.to));
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
pub(crate) fn prefer_linked(model: &Model, spans: &mut [Span], links: &[SpanLink]) {
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

fn prefer(span: &mut Span, top: TopLevelId) {
    if let Some(position) = span.top_levels.iter().position(|&other| other == top) {
        span.top_levels[..=position].rotate_right(1);
    }
}
