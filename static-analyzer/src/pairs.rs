//! Communication pairs: which top-level methods hand a request to which others,
//! and which identifiers they carry over (lprof §4.4).
//!
//! Work is cut into *units*: the top-level methods, and *links*, methods that
//! are started or called remotely and log nothing themselves. Every rule finds
//! hand-offs between units: edges of the call graph that leave the thread or
//! enter another top-level method, and channels (queues, messages, stores) that
//! one unit writes and another reads. Links are then contracted, and what
//! remains are pairs.
//!
//! Over-approximates who may hand to whom; under-approximates the identifiers:
//! they are followed along the hand-off, and where that fails taken by value
//! class if the class has few members on both ends.

use std::collections::BTreeMap;

use rayon::prelude::*;
use schema::model::SENDERS_MAX;
use schema::{IdentifierStrength, LinkKind, TopLevelKind};

use crate::call_graph::CallGraph;
use crate::identifiers::Bindings;
use crate::limits::{HANDOFFS_PER_PAIR_MAX, HELPER_CALLERS_MAX};
use crate::path::LogPoint;
use crate::program::Program;
use crate::rules::Rules;
use crate::top_level::TopLevels;

mod apis;
mod attached;
mod before;
mod cargo;
mod carry;
mod channels;
mod entities;
mod events;
mod facts;
mod handoffs;
mod links;
mod origins;
pub(crate) mod regions;
mod uses;

/// Two top-level methods that can work on one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The sender: position in [`TopLevels::methods`].
    pub from: usize,
    /// The receiver.
    pub to: usize,
    /// How.
    pub kind: LinkKind,
    /// Identifiers that carry one value: (sender's, receiver's), sorted.
    pub identifiers: Vec<(u32, u32)>,
    /// One sender can reach several receivers in one request.
    pub many: bool,
    /// Log points of the sender that are only printed before the hand-off, sorted.
    pub before: Vec<u32>,
    /// Which rule found it, and where the hand-off is.
    pub reason: String,
}

/// What the rules look at.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) program: &'a Program,
    pub(crate) graph: &'a CallGraph,
    pub(crate) bindings: &'a Bindings<'a>,
    pub(crate) log_points: &'a [LogPoint],
    pub(crate) top_levels: &'a TopLevels,
}

/// All pairs, sorted by (from, to, kind), and what was given up, for people.
pub fn find(
    program: &Program,
    graph: &CallGraph,
    bindings: &Bindings<'_>,
    log_points: &[LogPoint],
    top_levels: &TopLevels,
    rules: &Rules,
) -> (Vec<Pair>, Vec<String>) {
    let context = Context { program, graph, bindings, log_points, top_levels };
    let mut diagnostics = Vec::new();
    let units = regions::Units::new(context);
    let facts = facts::scan(context);
    let mut handoffs = handoffs::Collector::default();
    handoffs::along_calls(context, &units, &mut handoffs);
    channels::handoffs(context, &units, &facts, &mut diagnostics, &mut handoffs);
    events::handoffs(context, &units, &mut handoffs);
    let handoffs = links::contract(context, &units, handoffs, &mut diagnostics);
    let mut pairs = merge(context, &units, &handoffs);
    drop_services(context, &mut pairs);
    entities::add(context, &mut pairs);
    attached::add(context, &mut pairs);
    add_forced(context, rules, &mut pairs);
    diagnostics.sort();
    (pairs.into_values().collect(), diagnostics)
}

type Pairs = BTreeMap<(usize, usize, LinkKind), Pair>;

/// Receivers of one sender, each with its hand-offs.
type Receivers<'h> = BTreeMap<(usize, LinkKind), Vec<&'h handoffs::Handoff>>;

/// One pair per (sender, receiver, kind) from all its hand-offs.
fn merge(context: Context<'_>, units: &regions::Units, handoffs: &[handoffs::Handoff]) -> Pairs {
    let mut found: BTreeMap<usize, Receivers<'_>> = BTreeMap::new();
    for handoff in handoffs {
        let (Some(from), Some(to)) = (units.top_level(handoff.from), units.top_level(handoff.to)) else {
            continue;
        };
        found.entry(from).or_default().entry((to, handoff.kind)).or_default().push(handoff);
    }
    let prints = before::Prints::new(context);
    let manifest = cargo::Manifest::new(context, handoffs.iter().map(|h| &h.cargo));
    let found: Vec<(usize, Receivers<'_>)> = found.into_iter().collect();
    let pairs: Vec<Vec<Pair>> = found
        .into_par_iter()
        .map(|(from, receivers)| {
            let mut before = before::Before::new(context, units.region(from), &prints);
            let pair =
                |((to, kind), list)| merge_one(context, &manifest, &mut before, (from, to, kind), list);
            receivers.into_iter().filter_map(pair).collect()
        })
        .collect();
    pairs.into_iter().flatten().map(|p| ((p.from, p.to, p.kind), p)).collect()
}

fn merge_one(
    context: Context<'_>,
    manifest: &cargo::Manifest,
    before: &mut before::Before<'_>,
    (from, to, kind): (usize, usize, LinkKind),
    list: Vec<&handoffs::Handoff>,
) -> Option<Pair> {
    let chains = list.iter().take(HANDOFFS_PER_PAIR_MAX).map(|h| h.chain.as_slice());
    let holds = |class| list.iter().any(|h| !h.followed_only && manifest.holds(&h.cargo, class));
    let mut identifiers = carry::identifiers(context, from, to, chains, holds);
    if kind.crosses_nodes() {
        // A loop around a remote call tries again or asks for the next thing;
        // only tasks and queues spread one request over its members.
        let sender = &context.top_levels.methods[from].identifiers;
        identifiers.retain(|&(i, _)| !sender[i as usize].is_one_of_many());
    }
    if identifiers.is_empty() && list.iter().all(|h| h.needs_identifier) {
        return None;
    }
    let more = if list.len() > 1 { format!(", and {} more", list.len() - 1) } else { String::new() };
    let mut sites: Vec<_> = list.iter().map(|h| h.site).collect();
    sites.sort_unstable();
    sites.dedup();
    Some(Pair {
        from,
        to,
        kind,
        identifiers,
        many: sites.len() > 1 || list.iter().any(|h| h.many),
        before: before.points(&sites),
        reason: format!("{}{more}", list[0].reason(context)),
    })
}

/// Drops pairs without identifiers whose receiver serves many senders: a helper
/// thread or method of everybody tells nothing about the request, unless the
/// sender names its own: then values can tell, or the name of the started thread.
/// Calls of what
/// everybody hands work to a task through go, whatever they carry: its request
/// begins there, and the caller's goes on without it.
fn drop_services(context: Context<'_>, pairs: &mut Pairs) {
    let mut n_senders: BTreeMap<(usize, LinkKind), usize> = BTreeMap::new();
    let mut n_bare = n_senders.clone();
    for pair in pairs.values() {
        *n_senders.entry((pair.to, pair.kind)).or_default() += 1;
        *n_bare.entry((pair.to, pair.kind)).or_default() += usize::from(pair.identifiers.is_empty());
    }
    let is_service = |pair: &Pair| {
        let kind = context.top_levels.methods[pair.to].kind;
        pair.kind == LinkKind::Call
            && kind == TopLevelKind::DispatchTarget
            && n_senders[&(pair.to, pair.kind)] > HELPER_CALLERS_MAX
    };
    let names_requests = |top: usize| {
        let mut identifiers = context.top_levels.methods[top].identifiers.iter();
        identifiers.any(|i| i.strength == IdentifierStrength::Request && !i.is_one_of_many())
    };
    pairs.retain(|_, pair| {
        let is_start = matches!(pair.kind, LinkKind::Thread | LinkKind::Queue);
        let can_tell = is_start && names_requests(pair.from);
        let is_sure =
            !pair.identifiers.is_empty() || n_bare[&(pair.to, pair.kind)] <= SENDERS_MAX || can_tell;
        is_sure && !is_service(pair)
    });
}

/// Pairs of the rules file.
fn add_forced(context: Context<'_>, rules: &Rules, pairs: &mut Pairs) {
    for (from, to, kind) in &rules.pairs {
        for a in named(context, from) {
            for b in named(context, to) {
                let identifiers = carry::identifiers(context, a, b, std::iter::empty(), |_| true);
                pairs.entry((a, b, *kind)).or_insert_with(|| Pair {
                    from: a,
                    to: b,
                    kind: *kind,
                    identifiers,
                    many: true,
                    before: Vec::new(),
                    reason: "forced by the rules file".to_owned(),
                });
            }
        }
    }
}

/// Top-level methods called `a.b.C.m`.
fn named(context: Context<'_>, name: &str) -> Vec<usize> {
    let matches = |i: &usize| {
        let method = &context.program.methods[context.top_levels.methods[*i].method.index()];
        let class = context.program.classes[method.class.index()].name.replace('/', ".");
        name.rsplit_once('.').is_some_and(|(c, m)| c == class && m == method.name.as_str())
    };
    (0..context.top_levels.methods.len()).filter(matches).collect()
}
