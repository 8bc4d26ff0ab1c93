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
use schema::{IdentifierStrength, LinkKind, RemoteCall, TopLevelKind};

use crate::call_graph::{CallGraph, CallKind};
use crate::identifiers::Bindings;
use crate::ir::ValueId;
use crate::limits::HELPER_CALLERS_MAX;
use crate::path::LogPoint;
use crate::program::{MethodId, Program};
use crate::rules::Rules;
use crate::top_level::loops::ServiceLoops;
use crate::top_level::{Member, TopLevel, TopLevels};

mod apis;
mod attached;
mod built;
mod bytes;
mod cargo;
mod carried;
mod carry;
mod channels;
mod cuts;
mod entities;
mod events;
mod facts;
mod folders;
mod handoffs;
mod homes;
mod links;
mod mapped;
mod origins;
mod places;
mod preludes;
pub(crate) mod regions;
mod remote_calls;
mod sides;
mod streams;
mod takers;
pub(crate) mod texts;
mod topics;
mod uses;
mod waits;
mod wires;

pub use carried::settle;

use handoffs::Handoff;

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
    /// The same only after it; of what a dispatcher looks up, handing it nothing that is known,
    /// also what it prints on both sides, because it tries again.
    pub after: Vec<u32>,
    /// Neither before nor after it, sorted.
    pub beside: Vec<u32>,
    /// Log points of the receiver that it prints only when it is handed something else,
    /// sorted.
    pub elsewhere: Vec<u32>,
    /// The sender waits until what it has started is done.
    pub waits: bool,
    /// The sender is a dispatcher that hands this over before or after its rounds only.
    pub outside_rounds: bool,
    /// What is handed over first is taken first, by what runs one at a time, and each sender hands
    /// over once.
    pub in_order: bool,
    /// Where the sender asks for what the receiver serves; log points are positions.
    pub remote_calls: Vec<RemoteCall>,
    /// Which rule found it, and where the hand-off is.
    pub reason: String,
}

impl Pair {
    /// Whether a dispatcher looks the receiver up, and hands it nothing that is known.
    fn is_bare_look_up(&self) -> bool {
        self.kind == LinkKind::Ask && self.identifiers.is_empty()
    }
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
    let channels = channels::Channels::new(context, &units, &facts, &mut diagnostics);
    let events = events::Events::new(context, &units, &facts);
    let made = origins::made(context);
    let sources =
        handoffs::Sources { context, units: &units, channels: &channels, events: &events, made: &made };
    let network = links::Network::new(sources, &mut diagnostics);
    let (mut pairs, mut sites, taken) = merge(context, &units, &network);
    drop_services(context, &mut pairs, &mut sites);
    let prints = sides::Prints::new(context);
    add_sides(context, &units, &prints, &sites, &mut pairs);
    add_elsewhere(context, &units, &prints, &taken, &mut pairs);
    add_rounds(context, &mut pairs);
    divide(context, &mut pairs);
    waits::add(context, &units, &sites, &mut pairs);
    remote_calls::add(context, &units, &prints, &sites, &mut pairs);
    preludes::add(context, &units, &sites, &mut pairs);
    entities::add(context, &mut pairs);
    attached::add(context, &units, &facts, &mut pairs);
    add_forced(context, &units, rules, &mut pairs);
    diagnostics.sort();
    (pairs.into_values().collect(), diagnostics)
}

type Key = (usize, usize, LinkKind);
type Pairs = BTreeMap<Key, Pair>;

/// Where the sender hands over, sorted.
type Sites = Vec<(MethodId, ValueId)>;

/// Receivers of one sender, each with its hand-offs.
type Receivers<'n> = BTreeMap<(usize, LinkKind), Vec<Vec<&'n Handoff>>>;

/// One pair per (sender, receiver, kind) from all its hand-offs.
fn merge(
    context: Context<'_>,
    units: &regions::Units,
    network: &links::Network,
) -> (Pairs, BTreeMap<Key, Sites>, BTreeMap<Key, Sites>) {
    let members = carry::Members::new(context);
    let carriers = carry::Carriers::new(context, units, &members);
    let manifest = cargo::Manifest::new(context, network.direct().map(|h| &h.cargo));
    let of_sender = |from: usize| -> Vec<(Pair, Sites, Sites)> {
        let mut receivers = Receivers::new();
        for (to, kind, way) in network.ways(from).iter(|to| units.top_level(to).is_some()) {
            receivers.entry((to, kind)).or_default().push(way);
        }
        carriers.lend(from, |carrier| {
            let pair = |((to, kind), ways): (_, Vec<_>)| {
                let ways = shortest(units, ways);
                merge_one(context, units, &manifest, carrier, (from, to, kind), &ways)
            };
            receivers.into_iter().filter_map(pair).collect()
        })
    };
    let n = context.top_levels.methods.len();
    // Senders differ a thousandfold in what they hand over.
    let found: Vec<Vec<(Pair, Sites, Sites)>> =
        (0..n).into_par_iter().with_max_len(1).map(of_sender).collect();
    let (mut pairs, mut sites, mut taken) = (Pairs::new(), BTreeMap::new(), BTreeMap::new());
    for (pair, handed_at, taken_at) in found.into_iter().flatten() {
        let key = (pair.from, pair.to, pair.kind);
        pairs.insert(key, pair);
        sites.insert(key, handed_at);
        taken.insert(key, taken_at);
    }
    (pairs, sites, taken)
}

/// The pair of all ways (hand-offs in a row) from one sender to one receiver.
fn merge_one(
    context: Context<'_>,
    units: &regions::Units,
    manifest: &cargo::Manifest<'_>,
    carrier: &mut carry::Carrier<'_>,
    (from, to, kind): Key,
    ways: &[Vec<&Handoff>],
) -> Option<(Pair, Sites, Sites)> {
    // A method that calls itself does so within its own lines: where it begins anew is
    // the next thing that its thread does, or another thread's.
    if kind == LinkKind::Call && from == to {
        return None;
    }
    // What no known thread reaches stands for all that print its lines, and for who calls those:
    // that it asks for something afterwards says nothing of the others.
    let of = |at: usize| &context.top_levels.methods[at];
    if kind == LinkKind::Call && of(from).kind == TopLevelKind::Unreached && of(to).is_asked_for {
        return None;
    }
    let identifiers = carried_by(context, manifest, carrier, (from, to, kind), ways);
    let is_bare = identifiers.is_empty() && !ways.iter().any(|way| tells(context, to, way));
    let (sites, many) = handed_at(context, ways);
    let in_order = is_in_order(of(to), ways) && !many;
    if is_bare
        && !in_order
        && !(of(from).kind == TopLevelKind::Dispatcher && ways.iter().any(|way| is_look_up(way)))
    {
        return None;
    }
    let is_of_rounds = || names_nothing(context, from, &identifiers) && are_rounds(context, from, ways);
    let is_each = || preludes::hands_out_each(context, units, from, &identifiers, ways);
    if kind == LinkKind::Call && (is_of_rounds() || is_each()) {
        return None;
    }
    let more = if ways.len() > 1 { format!(", and {} more", ways.len() - 1) } else { String::new() };
    let pair = Pair {
        from,
        to,
        kind: if is_bare && !in_order { LinkKind::Ask } else { kind },
        identifiers,
        many,
        before: Vec::new(),
        after: Vec::new(),
        beside: Vec::new(),
        elsewhere: Vec::new(),
        waits: false,
        outside_rounds: false,
        in_order,
        remote_calls: Vec::new(),
        reason: format!("{}{more}", handoffs::reason(context, units, &ways[0])),
    };
    let taken = events::taken_at(context, context.top_levels.methods[to].method, ways);
    Some((pair, sites, taken))
}

/// Pairs of identifiers that all ways from one sender to one receiver carry, sorted.
fn carried_by(
    context: Context<'_>,
    manifest: &cargo::Manifest<'_>,
    carrier: &mut carry::Carrier<'_>,
    (from, to, kind): Key,
    ways: &[Vec<&Handoff>],
) -> Vec<(u32, u32)> {
    let of = |at: usize| &context.top_levels.methods[at];
    let unpacked = cargo::unpacked(context, &of(to).identifiers, ways);
    let holds = |class| {
        let holds = |way: &Vec<&Handoff>| {
            !way.iter().any(|h| h.followed_only) && manifest.holds(cargo::narrowest(way), class)
        };
        ways.iter().any(holds) || (unpacked.contains(&class) && manifest.declares(class))
    };
    let mut identifiers = carrier.identifiers(to, ways, holds);
    if kind == LinkKind::Call {
        // What a thread calls can read anew what it was not handed.
        identifiers.retain(|&(i, j)| of(from).is_sure(i) && of(to).is_sure(j));
    }
    if kind.crosses_nodes() {
        // A loop around a remote call tries again or asks for the next thing, unless
        // it goes through what one request has collected, or given to a task.
        let sender = &context.top_levels.methods[from];
        let is_batch = is_made_for_work(context, sender);
        identifiers.retain(|&(i, _)| {
            let identifier = &sender.identifiers[i as usize];
            let place = &identifier.place;
            !identifier.is_one_of_many() || place.is_collected() || (is_batch && place.is_given())
        });
    }
    identifiers
}

/// Whether `to` takes one thing after the other, in the order in which they are handed over on
/// the only way there.
fn is_in_order(to: &TopLevel, ways: &[Vec<&Handoff>]) -> bool {
    let is_only_way = matches!(ways, [way] if matches!(way[..], [handoff] if handoff.is_in_order));
    is_only_way && to.is_one_at_a_time && to.kind == TopLevelKind::Dispatcher
}

/// Those of the ways that go through no silent task, if there are such: who hands over himself
/// is not found again by what he has started.
fn shortest<'h>(units: &regions::Units, mut ways: Vec<Vec<&'h Handoff>>) -> Vec<Vec<&'h Handoff>> {
    let is_short = |way: &Vec<&Handoff>| !way[1..].iter().any(|h| units.is_silent_task(h.from));
    if ways.iter().any(is_short) {
        ways.retain(is_short);
    }
    ways
}

/// Where the sender hands over, and whether one request of it can do so several times.
fn handed_at(context: Context<'_>, ways: &[Vec<&Handoff>]) -> (Sites, bool) {
    // Numbers and texts that go over a connection beside a message are a part of it.
    let is_apart = |way: &&Vec<&Handoff>| !way.iter().any(|handoff| handoff.rule.is_of_wires());
    let mut apart: Vec<&Vec<&Handoff>> = ways.iter().filter(is_apart).collect();
    if apart.is_empty() {
        apart = ways.iter().collect();
    }
    let mut sites: Sites = apart.iter().map(|way| way[0].site).collect();
    sites.sort_unstable();
    sites.dedup();
    let many = (sites.len() > 1 && !regions::are_alternatives(context, &sites))
        || apart.iter().copied().flatten().any(|h| h.many);
    (sites, many)
}

/// Whether a way to `to` tells alone. What passes through others does not; but who starts a
/// thread has started the dispatcher that the thread is, whoever calls that.
fn tells(context: Context<'_>, to: usize, way: &[&Handoff]) -> bool {
    let is_run = match *way {
        [_] => true,
        _ if way.iter().all(|handoff| handoff.kind.is_served()) => true,
        [start, call] => {
            let kinds = (start.kind, call.kind) == (LinkKind::Thread, LinkKind::Call);
            kinds && !call.many && is_started_once(context, to)
        }
        _ => false,
    };
    is_run && way.iter().all(|handoff| !handoff.needs_identifier)
}

/// Whether a way is one call of what is looked up in a table: one of many, and only the
/// caller's own thread shows which.
fn is_look_up(way: &[&Handoff]) -> bool {
    matches!(*way, [Handoff { rule: handoffs::Rule::Call(CallKind::Table), .. }])
}

/// Whether a top-level method is a dispatcher that does not start itself anew: one that does
/// is nobody's, whoever has started it first.
fn is_started_once(context: Context<'_>, at: usize) -> bool {
    let top = &context.top_levels.methods[at];
    let calls = context.graph.calls(top.method).iter();
    let mut started =
        calls.filter(|call| matches!(call.kind, CallKind::Start(_))).flat_map(|call| &call.targets);
    let leads_back = |&method: &MethodId| {
        method == top.method || context.graph.local_edges(method).any(|(_, target)| target == top.method)
    };
    top.kind == TopLevelKind::Dispatcher && !started.any(leads_back)
}

/// Whether a sender is a task that ends: it was made for some work, and does not wait for
/// more.
fn is_made_for_work(context: Context<'_>, sender: &TopLevel) -> bool {
    sender.kind == TopLevelKind::Task && !ServiceLoops::of(context.program, context.graph, sender.method).any
}

/// Whether what a sender hands over tells none of its requests from another.
fn names_nothing(context: Context<'_>, from: usize, carried: &[(u32, u32)]) -> bool {
    let identifiers = &context.top_levels.methods[from].identifiers;
    carried.iter().all(|&(i, _)| identifiers[i as usize].strength != IdentifierStrength::Request)
}

/// Whether a sender calls the receiver in the rounds of its own service loop, and
/// prints nothing in them: each is a request of its own.
fn are_rounds(context: Context<'_>, from: usize, ways: &[Vec<&Handoff>]) -> bool {
    let top = &context.top_levels.methods[from];
    let root = top.method;
    let Some(body) = &context.program.methods[root.index()].body else { return false };
    let loops = ServiceLoops::of(context.program, context.graph, root);
    let is_outside = |member: &Member| {
        let point = &context.log_points[member.log_point as usize];
        point.frame == root && !point.sites.iter().any(|&site| loops.contains(body, site))
    };
    ways.iter().all(|way| way[0].site.0 == root && loops.contains(body, way[0].site.1))
        && top.members.iter().all(is_outside)
}

/// Adds what the senders have printed before they hand over, and print after that.
fn add_sides(
    context: Context<'_>,
    units: &regions::Units,
    prints: &sides::Prints,
    sites: &BTreeMap<Key, Sites>,
    pairs: &mut Pairs,
) {
    let mut of_senders: Vec<Vec<&mut Pair>> = Vec::new();
    for pair in pairs.values_mut() {
        match of_senders.last_mut() {
            Some(list) if list[0].from == pair.from => list.push(pair),
            _ => of_senders.push(vec![pair]),
        }
    }
    of_senders.into_par_iter().with_max_len(1).for_each(|pairs| {
        let mut sides_of = sides::SidesOf::new(context, units.region(pairs[0].from), prints);
        for pair in pairs {
            let sides = sides_of.points(&sites[&(pair.from, pair.to, pair.kind)]);
            let after = if pair.is_bare_look_up() { sides.later } else { sides.after };
            (pair.before, pair.after, pair.beside) = (sides.before, after, sides.beside);
        }
    });
}

/// Adds what the receivers of events print only when they are handed others.
fn add_elsewhere(
    context: Context<'_>,
    units: &regions::Units,
    prints: &sides::Prints,
    taken: &BTreeMap<Key, Sites>,
    pairs: &mut Pairs,
) {
    let mut of_receivers: BTreeMap<usize, Vec<&mut Pair>> = BTreeMap::new();
    for (key, pair) in pairs.iter_mut().filter(|(key, _)| taken.get(key).is_some_and(|at| !at.is_empty())) {
        of_receivers.entry(key.1).or_default().push(pair);
    }
    of_receivers.into_par_iter().for_each(|(to, pairs)| {
        let Some(unit) = units.of(context, context.top_levels.methods[to].method) else { return };
        let mut sides_of = sides::SidesOf::new(context, units.region(unit), prints);
        for pair in pairs {
            pair.elsewhere = sides_of.points(&taken[&(pair.from, pair.to, pair.kind)]).beside;
        }
    });
}

/// Adds what receivers print only in the rounds of their service loops: whoever starts or calls
/// one has none of them.
fn add_rounds(context: Context<'_>, pairs: &mut Pairs) {
    let is_begun = |pair: &&mut Pair| matches!(pair.kind, LinkKind::Thread | LinkKind::Call);
    for pair in pairs.values_mut().filter(is_begun) {
        pair.elsewhere.extend(&context.top_levels.methods[pair.to].in_rounds);
        pair.elsewhere.sort_unstable();
        pair.elsewhere.dedup();
    }
}

/// Hands over to all parts at once what a task divides: one that starts its like before it prints
/// anything, or does a part itself, is started by whoever began, through any number of them.
fn divide(context: Context<'_>, pairs: &mut Pairs) {
    let divides = |(key, pair): &(&Key, &Pair)| {
        let method = context.top_levels.methods[key.0].method;
        let calls_itself = || context.graph.local_edges(method).any(|(_, target)| target == method);
        let has_sides = !pair.after.is_empty() || !pair.beside.is_empty();
        let is_silent = pair.before.is_empty() && (has_sides || calls_itself());
        key.0 == key.1 && key.2 == LinkKind::Thread && is_silent
    };
    let of_itself: Vec<Key> = pairs.iter().filter(divides).map(|(key, _)| *key).collect();
    for key in of_itself {
        let Some(own) = pairs.remove(&key) else { continue };
        let starts = |pair: &&mut Pair| pair.to == own.to && pair.kind == LinkKind::Thread;
        for pair in pairs.values_mut().filter(starts) {
            pair.many = true;
            // What changes from part to part is not what the whole began with.
            pair.identifiers.retain(|(_, theirs)| own.identifiers.contains(&(*theirs, *theirs)));
        }
    }
}

/// Drops pairs without identifiers whose receiver serves many senders: a helper
/// thread or method of everybody tells nothing about the request, unless the
/// sender names its own: then values can tell, or the name of the started thread.
/// Calls of what everybody hands work to a task through go too: its request begins there.
/// Who names what it asks for is known to have asked if its own thread shows it.
fn drop_services(context: Context<'_>, pairs: &mut Pairs, sites: &mut BTreeMap<Key, Sites>) {
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
    let mut asked = Vec::new();
    pairs.retain(|key, pair| {
        let is_start = matches!(pair.kind, LinkKind::Thread | LinkKind::Queue);
        let can_tell = is_start && names_requests(pair.from);
        if is_service(pair) {
            let at = sites.remove(key).filter(|_| !pair.identifiers.is_empty());
            asked.extend(at.map(|at| (Pair { kind: LinkKind::Ask, ..pair.clone() }, at)));
            return false;
        }
        !pair.identifiers.is_empty()
            || pair.kind.is_served()
            || n_bare[&(pair.to, pair.kind)] <= SENDERS_MAX
            || can_tell
    });
    for (pair, at) in asked {
        let key = (pair.from, pair.to, pair.kind);
        sites.insert(key, at);
        pairs.insert(key, pair);
    }
}

/// Pairs of the rules file.
fn add_forced(context: Context<'_>, units: &regions::Units, rules: &Rules, pairs: &mut Pairs) {
    if rules.pairs.is_empty() {
        return;
    }
    let members = carry::Members::new(context);
    let carriers = carry::Carriers::new(context, units, &members);
    for (from, to, kind) in &rules.pairs {
        for a in named(context, from) {
            for b in named(context, to) {
                let identifiers = carriers.lend(a, |carrier| carrier.identifiers(b, &[], |_| true));
                pairs.entry((a, b, *kind)).or_insert_with(|| Pair {
                    from: a,
                    to: b,
                    kind: *kind,
                    identifiers,
                    many: true,
                    before: Vec::new(),
                    after: Vec::new(),
                    beside: Vec::new(),
                    elsewhere: Vec::new(),
                    waits: false,
                    outside_rounds: false,
                    in_order: false,
                    remote_calls: Vec::new(),
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
