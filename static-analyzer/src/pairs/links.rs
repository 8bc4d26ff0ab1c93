//! Links: a thread that logs nothing, or a dispatcher that only passes work on,
//! connects whoever hands to it with whomever it hands to (lprof §4.4,
//! improvements). Not so what comes round in a service loop: whoever started its thread
//! hands over none of that.

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use schema::LinkKind;

use super::facts::Channel;
use super::handoffs::{Handoff, Rule, Sources};
use super::homes::Object;
use super::regions::UnitId;
use crate::ir::ValueId;
use crate::limits::{HANDOFFS_PER_PAIR_MAX, LINK_HANDOFFS_MAX, LINKS_IN_A_ROW_MAX};
use crate::top_level::loops::ServiceLoops;

/// All hand-offs, and which links are followed.
pub(super) struct Network {
    /// Per unit, in the order they were found.
    direct: Vec<Vec<Handoff>>,
    /// Whether what is handed to a unit is followed to whom it hands it.
    follows: Vec<bool>,
    /// Per unit that is followed: its hand-offs, by position, that it makes in the rounds
    /// of a service loop. Whoever started the thread started the loop: what comes round
    /// in it is of others.
    in_rounds: Vec<Vec<bool>>,
    /// Units that are service loops which print nothing but that something failed: they hand
    /// what they take on to other threads. Whom they call themselves is told by what was taken.
    silent_loops: Vec<bool>,
}

impl Network {
    /// Finds the hand-offs of all senders. Those that pass work on come first:
    /// what is handed to a link that leads to no top-level method is no hand-off,
    /// and most of what is handed over in a large program ends so.
    pub(super) fn new(sources: Sources<'_>, diagnostics: &mut Vec<String>) -> Self {
        let units = sources.units;
        let find = |passes: bool, wanted: &(dyn Fn(UnitId) -> bool + Sync)| {
            let of = |unit| {
                let one = units.passes(unit) == passes;
                if one { sources.of(unit, &|to| wanted(to)) } else { Vec::new() }
            };
            (0..units.len()).into_par_iter().map(of).collect::<Vec<_>>()
        };
        let mut direct = find(true, &|_| true);
        let leads = leads(sources, &direct);
        let n_out: Vec<usize> = direct.iter().map(Vec::len).collect();
        for handoffs in &mut direct {
            handoffs.retain(|h| leads[h.to]);
            handoffs.shrink_to_fit();
        }
        for (unit, mut handoffs) in find(false, &|to| leads[to]).into_iter().enumerate() {
            if !units.passes(unit) {
                handoffs.shrink_to_fit();
                direct[unit] = handoffs;
            }
        }
        let mut into: Vec<usize> = vec![0; units.len()];
        direct.iter().flatten().for_each(|handoff| into[handoff.to] += 1);
        let mut follows = vec![false; units.len()];
        for unit in (0..units.len()).filter(|&unit| units.passes(unit) && leads[unit]) {
            follows[unit] = n_out[unit] * into[unit] <= LINK_HANDOFFS_MAX;
            if !follows[unit] {
                let root = sources.context.program.method_name(units.region(unit).root);
                let (into, out) = (into[unit], n_out[unit]);
                diagnostics.push(format!("{root} passes {into} hand-offs on to {out}: not followed"));
            }
        }
        let in_rounds = (direct.iter().enumerate())
            .map(
                |(unit, handoffs)| {
                    if follows[unit] { in_rounds(sources, unit, handoffs) } else { Vec::new() }
                },
            )
            .collect();
        let silent_loops = (0..units.len()).map(|unit| units.is_silent_loop(unit)).collect();
        Network { direct, follows, in_rounds, silent_loops }
    }

    /// All hand-offs between units.
    pub(super) fn direct(&self) -> impl Iterator<Item = &Handoff> {
        self.direct.iter().flatten()
    }

    /// The ways of one sender, with up to [`LINKS_IN_A_ROW_MAX`] links between; of those to
    /// one receiver of one kind the first few.
    pub(super) fn ways(&self, from: UnitId) -> Ways<'_> {
        let mut ways: Vec<Way<'_>> = self.direct[from].iter().map(Way::new).collect();
        let mut n = Counts::new(self.direct.len());
        ways.iter().for_each(|way| _ = n.wants(way.to, way.kind));
        let mut open: FxHashMap<(UnitId, Past), Vec<u32>> = FxHashMap::default();
        let mut fresh = 0..ways.len();
        for _ in 0..LINKS_IN_A_ROW_MAX {
            for at in fresh.clone() {
                let link = ways[at].to;
                if link == from || !self.follows[link] {
                    continue;
                }
                let past = Past::new(&ways[at]);
                let open = open.entry((link, past)).or_insert_with(|| self.past(link, past));
                // What its receiver has enough of is never looked at again.
                open.retain(|&next| {
                    let last = &self.direct[link][next as usize];
                    let kind = farthest(past.kind, last.kind);
                    let wants = n.wants(last.to, kind);
                    if wants {
                        ways.push(Way { to: last.to, kind, before: Some(at), last });
                    }
                    wants
                });
            }
            fresh = fresh.end..ways.len();
        }
        Ways { ways }
    }

    /// The hand-offs of a link that what comes to it goes on with, by position.
    fn past(&self, link: UnitId, past: Past) -> Vec<u32> {
        let hands_on = |&at: &u32| {
            let (last, in_round) = (&self.direct[link][at as usize], self.in_rounds[link][at as usize]);
            let is_own = Object::may_be(past.through, last.by);
            let is_handed_on = !self.silent_loops[link] || last.kind != LinkKind::Call;
            is_own && is_handed_on && !(past.is_started && in_round || past.is_call && is_message(last))
        };
        (0..self.direct[link].len() as u32).filter(hands_on).collect()
    }
}

/// What matters of a way to a link for how it goes on.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Past {
    kind: LinkKind,
    /// The link's thread was started.
    is_started: bool,
    /// The link was called remotely: a message that it sends is what it answers. It goes
    /// back to whoever waits for it, and is handed to nobody.
    is_call: bool,
    /// The object that has taken it: it hands on to whom it knows.
    through: Option<Object>,
}

impl Past {
    fn new(way: &Way<'_>) -> Self {
        let is_call = matches!(way.last.rule, Rule::Call(kind) if kind.is_remote());
        let is_started = way.last.kind == LinkKind::Thread;
        Past { kind: way.kind, is_started, is_call, through: way.last.through }
    }
}

/// How many ways there are to each receiver, by kind.
struct Counts(Vec<[u8; Counts::KINDS]>);

impl Counts {
    /// Kinds of links: one more than the last.
    const KINDS: usize = LinkKind::Message as usize + 1;

    fn new(n_units: usize) -> Self {
        Counts(vec![[0; Self::KINDS]; n_units])
    }

    /// Whether one more to this receiver is kept; counts it.
    fn wants(&mut self, to: UnitId, kind: LinkKind) -> bool {
        let n = &mut self.0[to][kind as usize];
        *n = n.saturating_add(1);
        usize::from(*n) <= HANDOFFS_PER_PAIR_MAX
    }
}

/// Which of the hand-offs of a unit are made in the rounds of its service loop, or where
/// nobody can say whether they are.
fn in_rounds(sources: Sources<'_>, unit: UnitId, handoffs: &[Handoff]) -> Vec<bool> {
    let (program, graph) = (sources.context.program, sources.context.graph);
    let root = sources.units.region(unit).root;
    if sources.units.is_silent_loop(unit) {
        return vec![true; handoffs.len()];
    }
    let loops = ServiceLoops::of(program, graph, root);
    let Some(body) = program.methods[root.index()].body.as_ref().filter(|_| loops.any) else {
        return vec![false; handoffs.len()];
    };
    let is_outside = |site: ValueId| !loops.contains(body, site);
    handoffs.iter().map(|handoff| !(handoff.site.0 == root && is_outside(handoff.site.1))).collect()
}

/// Units from which a top-level method is reached, and top-level methods.
fn leads(sources: Sources<'_>, passed: &[Vec<Handoff>]) -> Vec<bool> {
    let units = sources.units;
    let mut senders: Vec<Vec<UnitId>> = vec![Vec::new(); units.len()];
    for handoff in passed.iter().flatten() {
        senders[handoff.to].push(handoff.from);
    }
    let mut leads: Vec<bool> = (0..units.len()).map(|unit| units.top_level(unit).is_some()).collect();
    let mut todo: Vec<UnitId> = (0..units.len()).filter(|&unit| leads[unit]).collect();
    while let Some(unit) = todo.pop() {
        for &sender in &senders[unit] {
            if !std::mem::replace(&mut leads[sender], true) {
                todo.push(sender);
            }
        }
    }
    leads
}

/// A way along hand-offs.
struct Way<'a> {
    to: UnitId,
    kind: LinkKind,
    /// The way without its last hand-off.
    before: Option<usize>,
    last: &'a Handoff,
}

impl<'a> Way<'a> {
    fn new(handoff: &'a Handoff) -> Self {
        Self { to: handoff.to, kind: handoff.kind, before: None, last: handoff }
    }
}

/// The ways of one sender: many are tried, and few end at a top-level method.
pub(super) struct Ways<'a> {
    ways: Vec<Way<'a>>,
}

impl<'a> Ways<'a> {
    /// Of those to receivers that are `wanted`: the receiver, how far it is, and the
    /// hand-offs on the way, first to last.
    pub(super) fn iter(
        &self,
        wanted: impl Fn(UnitId) -> bool,
    ) -> impl Iterator<Item = (UnitId, LinkKind, Vec<&'a Handoff>)> {
        let ways = self.ways.iter().filter(move |way| wanted(way.to));
        ways.map(|way| (way.to, way.kind, self.hops(way)))
    }

    fn hops(&self, way: &Way<'a>) -> Vec<&'a Handoff> {
        let mut hops = vec![way.last];
        let mut at = way.before;
        while let Some(before) = at {
            hops.push(self.ways[before].last);
            at = self.ways[before].before;
        }
        hops.reverse();
        hops
    }
}

fn is_message(handoff: &Handoff) -> bool {
    matches!(handoff.rule, Rule::Channel(Channel::Message(_)))
}

/// The kind that says how far two hand-offs in a row reach.
fn farthest(first: LinkKind, second: LinkKind) -> LinkKind {
    match (first, second) {
        (a, b) if b.crosses_nodes() && !a.crosses_nodes() => b,
        (LinkKind::Call, b) => b,
        (a, _) => a,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::cargo::Cargo;
    use super::super::handoffs::{Entry, Lists};
    use super::*;
    use crate::call_graph::CallKind;
    use crate::ir::ValueId;
    use crate::program::{MethodId, Name};

    fn handoff(from: UnitId, to: UnitId, kind: LinkKind, rule: Rule) -> Handoff {
        Handoff {
            from,
            to,
            kind,
            site: (MethodId::new(0), ValueId::new(0)),
            entry: Entry::Channel { way: Arc::new([]), taken: None, put: None, lists: Lists::default() },
            many: false,
            needs_identifier: false,
            is_in_order: false,
            followed_only: false,
            by: None,
            through: None,
            cargo: Cargo::Any,
            rule,
        }
    }

    /// The receivers of unit 0, past unit 1, which hands on to unit 2 by `last`, in the
    /// rounds of a service loop or not.
    fn receivers((kind, rule): (LinkKind, Rule), last: (LinkKind, Rule), in_round: bool) -> Vec<UnitId> {
        let direct = vec![vec![handoff(0, 1, kind, rule)], vec![handoff(1, 2, last.0, last.1)], Vec::new()];
        let in_rounds = vec![Vec::new(), vec![in_round], Vec::new()];
        let network =
            Network { direct, follows: vec![false, true, false], in_rounds, silent_loops: vec![false; 3] };
        network.ways(0).iter(|_| true).map(|(to, ..)| to).collect()
    }

    #[test]
    fn who_starts_a_service_loop_hands_over_none_of_its_rounds() {
        let start = |kind| (kind, Rule::Call(CallKind::Direct));
        let call = || (LinkKind::Call, Rule::Call(CallKind::Direct));
        assert_eq!(receivers(start(LinkKind::Thread), call(), true), [1]);
        assert_eq!(receivers(start(LinkKind::Thread), call(), false), [1, 2]);
        // What is put into its queue is what comes round.
        assert_eq!(receivers(start(LinkKind::Queue), call(), true), [1, 2]);
    }

    #[test]
    fn what_a_handler_answers_is_handed_to_nobody() {
        let message = || (LinkKind::Socket, Rule::Channel(Channel::Message(Name::from("Block"))));
        assert_eq!(receivers((LinkKind::Rpc, Rule::Call(CallKind::Rpc)), message(), false), [1]);
        assert_eq!(receivers((LinkKind::Call, Rule::Call(CallKind::Direct)), message(), false), [1, 2]);
    }
}
