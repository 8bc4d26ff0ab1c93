//! Communication pairs made ready for stitching: by receiver, with the value
//! classes that their identifiers have, and those that join the parts of one
//! entity or of one span.

use std::collections::BTreeSet;
use std::sync::RwLock;

use rustc_hash::{FxHashMap, FxHashSet};
use schema::model::SENDERS_MAX;
use schema::{
    CommunicationPair, IdentifierId, IdentifierStrength, LinkKind, LogPoint, LogPointId, Model, PairId,
    TopLevelId, TopLevelKind, ValueClassId,
};

use super::facts::Fact;
use crate::skeleton::Event;
use tops::{Top, top};

pub(super) use tops::entries;

mod tops;

/// Whether a receiver is handed the name of a lasting thing and knows nothing that
/// tells requests apart: it looks after the thing (whether a table needs to be
/// compacted), whoever has found that it is time to.
fn serves_a_thing(model: &Model, pair: &CommunicationPair) -> bool {
    let to = model.top_level_methods.get(pair.to.index());
    let tells = |strength: IdentifierStrength| strength == IdentifierStrength::Request;
    !pair.identifiers.is_empty() && to.is_some_and(|to| !to.identifiers.iter().any(|id| tells(id.strength)))
}

/// All pairs in reach.
#[derive(Debug)]
pub(super) struct Pairs<'m> {
    model: &'m Model,
    pairs: Vec<Pair>,
    /// Positions in `pairs` by receiving top-level method.
    by_receiver: FxHashMap<TopLevelId, Vec<u32>>,
    /// Those that ask for what the receiver begins, by receiver: they tell nothing else.
    asking: FxHashMap<TopLevelId, Vec<u32>>,
    tops: Vec<Top>,
    /// Which lines of a method can come after which, as far as somebody has asked.
    after: RwLock<FxHashMap<(TopLevelId, LogPointId, LogPointId), bool>>,
}

/// One pair.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    /// Its id in the model; none: parts of one span of one top-level method.
    pub(super) id: Option<PairId>,
    pub(super) from: TopLevelId,
    pub(super) to: TopLevelId,
    pub(super) kind: LinkKind,
    pub(super) many: bool,
    pub(super) role: Role,
    /// Identifiers that carry one value on both ends.
    pub(super) map: Vec<Mapped>,
    /// Silent top-level methods between the ends (see [`super::ways`]).
    pub(super) through: Vec<TopLevelId>,
    /// A task for each of many, or a way that begins with a task: what the task works
    /// on can be a part of what its sender works on.
    pub(super) to_parts: bool,
    /// A way of starts that hands over nothing that is known: a name of one kind of thing
    /// at both ends tells.
    pub(super) by_name: bool,
    /// The last step of a way is one on the receiver's node: it is what started that.
    pub(super) ends_on_node: bool,
    /// A call of what looks after a thing: its thread tells who has called, and nothing
    /// else does.
    pub(super) by_thread: bool,
    /// The order in which it hands over is that in which the receiver takes.
    pub(super) in_order: bool,
}

impl Pair {
    /// One hand-off from one top-level method to another, past nothing else.
    fn step(
        id: Option<PairId>,
        (from, to): (TopLevelId, TopLevelId),
        kind: LinkKind,
        many: bool,
        role: Role,
        map: Vec<Mapped>,
    ) -> Self {
        Self {
            id,
            from,
            to,
            kind,
            many,
            role,
            map,
            through: Vec::new(),
            to_parts: false,
            by_name: false,
            ends_on_node: false,
            by_thread: false,
            in_order: false,
        }
    }

    /// Whether it is a way of several hand-offs.
    pub(super) fn is_way(&self) -> bool {
        !self.through.is_empty()
    }

    /// Whether it is a call within one thread by who is seen himself.
    pub(super) fn is_call(&self) -> bool {
        self.kind == LinkKind::Call && self.role == Role::Local && !self.is_way()
    }

    /// Whether a dispatcher looks the receiver up and hands it nothing that is known.
    pub(super) fn is_look_up(&self) -> bool {
        self.role == Role::Asked && self.map.is_empty()
    }

    /// Whether it hands over on one node.
    pub(super) fn is_on_node(&self) -> bool {
        matches!(self.role, Role::Local | Role::Served)
    }
}

/// What a pair does for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Role {
    /// Joins what the window or the end of an input cut apart.
    Cut,
    /// Joins the events of one entity: from a top-level method to itself.
    Entity,
    /// A hand-off on one node.
    Local,
    /// A hand-off that can cross nodes.
    Remote,
    /// Joins what works on one object that outlives it, on any node: its
    /// identifier alone tells, at any distance.
    Attached,
    /// A call by one of many of what begins a request of its own: nothing but one thread
    /// tells who has called.
    Asked,
    /// A hand-off to what serves everybody, of which no identifier is known, or one
    /// thing whoever works on it: tells nothing alone, see [`super::lifetimes`].
    Served,
}

/// A value that goes from a sender's identifier to a receiver's.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mapped {
    pub(super) from: ValueClassId,
    pub(super) to: ValueClassId,
    pub(super) strength: IdentifierStrength,
    /// Each end has one such value, so that two different ones contradict.
    pub(super) is_one: bool,
}

impl<'m> Pairs<'m> {
    /// Whether the receiver has begun when the sender on its node still prints what it only
    /// prints before it hands over: somebody else has handed it over. The events of an
    /// entity hand over one by one.
    pub(super) fn is_ahead(&self, pair: &Pair, sender: &Fact<'_>, receiver: &Fact<'_>) -> bool {
        let is_told = pair.role == Role::Local && sender.node == receiver.node && !self.is_entity(pair.from);
        let Some(pair) = pair.id.and_then(|id| self.model.communication_pairs.get(id.index())) else {
            return false;
        };
        let is_before =
            |event: &Event| event.log_point.is_some_and(|point| pair.before.binary_search(&point).is_ok());
        is_told && !pair.before.is_empty() && sender.events_after_begin(receiver).any(is_before)
    }

    /// Whether the sender of a pair waits until what it has started is done.
    pub(super) fn waits(&self, pair: &Pair) -> bool {
        let pair = pair.id.and_then(|id| self.model.communication_pairs.get(id.index()));
        pair.is_some_and(|pair| pair.waits)
    }

    /// Whether the sender of a pair is a dispatcher that hands over outside of its rounds only:
    /// there it waits for no piece of work.
    pub(super) fn is_outside(&self, pair: &Pair) -> bool {
        let pair = pair.id.filter(|_| !pair.is_way());
        let pair = pair.and_then(|id| self.model.communication_pairs.get(id.index()));
        pair.is_some_and(|pair| pair.outside_rounds)
    }

    /// What somebody on another node can have asked for: who receives its messages, who is called
    /// as those are by what gives each message to its handler, and what they hand on.
    pub(super) fn asked_from_afar(&self) -> FxHashSet<TopLevelId> {
        let is_known = |pair: &&Pair| pair.id.is_some() && !pair.is_way();
        let local = || self.pairs.iter().filter(is_known).filter(|pair| pair.is_on_node());
        let remote = self.pairs.iter().filter(is_known).filter(|pair| pair.role == Role::Remote);
        let mut out: FxHashSet<TopLevelId> =
            remote.map(|pair| pair.to).filter(|&top| !self.is_main(top)).collect();
        let calls = || local().filter(|pair| pair.kind == LinkKind::Call);
        let give: FxHashSet<TopLevelId> =
            calls().filter(|pair| out.contains(&pair.to)).map(|pair| pair.from).collect();
        out.extend(calls().filter(|pair| give.contains(&pair.from)).map(|pair| pair.to));
        let handed_on: Vec<TopLevelId> =
            local().filter(|pair| out.contains(&pair.from)).map(|pair| pair.to).collect();
        out.extend(handed_on);
        out
    }

    /// What most of those who start it wait for.
    pub(super) fn awaited(&self) -> BTreeSet<TopLevelId> {
        let mut n_pairs: FxHashMap<TopLevelId, (usize, usize)> = FxHashMap::default();
        for pair in self.pairs.iter().filter(|pair| pair.id.is_some() && !pair.is_way()) {
            let (n, n_waiting) = n_pairs.entry(pair.to).or_default();
            (*n, *n_waiting) = (*n + 1, *n_waiting + usize::from(self.waits(pair)));
        }
        n_pairs.into_iter().filter(|(_, (n, n_waiting))| n_waiting * 2 > *n).map(|(top, _)| top).collect()
    }

    /// What the sender of a pair prints after it hands over, and not before, sorted.
    pub(super) fn printed_after(&self, pair: &Pair) -> &'m [LogPointId] {
        let pair = pair.id.and_then(|id| self.model.communication_pairs.get(id.index()));
        pair.map_or(&[], |pair| &pair.after)
    }

    /// Whether a sender has printed, before the receiver begins, what it only prints after
    /// it hands over.
    pub(super) fn is_past(&self, pair: &Pair, sender: &Fact<'_>, receiver: &Fact<'_>) -> bool {
        let after = self.printed_after(pair);
        let mut before = sender.events.iter().take_while(|event| event.ts_us <= receiver.start_us);
        let first = receiver.events.first().map(Event::place);
        before.any(|event| {
            (event.ts_us < receiver.start_us || Some(event.place()) < first)
                && event.log_point.is_some_and(|point| after.binary_search(&point).is_ok())
        })
    }

    /// What the sender of a pair prints on other ways than to and from its hand-off, sorted.
    pub(super) fn printed_beside(&self, pair: &Pair) -> &'m [LogPointId] {
        let pair = pair.id.and_then(|id| self.model.communication_pairs.get(id.index()));
        pair.map_or(&[], |pair| &pair.beside)
    }

    /// What the receiver of a pair prints only when it is handed something else, sorted.
    pub(super) fn printed_elsewhere(&self, pair: &Pair) -> &'m [LogPointId] {
        let pair = pair.id.and_then(|id| self.model.communication_pairs.get(id.index()));
        pair.map_or(&[], |pair| &pair.elsewhere)
    }

    /// What the sender of a pair prints before it hands over, and not after, sorted.
    pub(super) fn printed_before(&self, pair: &Pair) -> &'m [LogPointId] {
        let pair = pair.id.and_then(|id| self.model.communication_pairs.get(id.index()));
        pair.map_or(&[], |pair| &pair.before)
    }

    /// Whether a log point is of what initializes a class.
    pub(super) fn initializes(&self, point: LogPointId) -> bool {
        self.model.log_points.get(point.index()).is_some_and(LogPoint::initializes)
    }

    /// The pairs of `model` that `scope` allows.
    pub(super) fn new(model: &'m Model) -> Self {
        let tops: Vec<Top> = (0..model.top_level_methods.len()).map(|t| top(model, t)).collect();
        let mut all = Self {
            model,
            pairs: Vec::new(),
            by_receiver: FxHashMap::default(),
            asking: FxHashMap::default(),
            tops,
            after: RwLock::default(),
        };
        let mut n_bare: FxHashMap<(TopLevelId, LinkKind), usize> = FxHashMap::default();
        for pair in model.communication_pairs.iter().filter(|pair| pair.identifiers.is_empty()) {
            *n_bare.entry((pair.to, pair.kind)).or_default() += 1;
        }
        for (index, pair) in model.communication_pairs.iter().enumerate() {
            let is_served = (pair.identifiers.is_empty() && n_bare[&(pair.to, pair.kind)] > SENDERS_MAX)
                || (serves_a_thing(model, pair) && pair.kind != LinkKind::Call);
            let known = |top: TopLevelId| top.index() < model.top_level_methods.len();
            let role = match (pair.kind, pair.from == pair.to) {
                (LinkKind::Entity, _) => Role::Attached,
                (LinkKind::Ask, _) => Role::Asked,
                (kind, _) if kind.crosses_nodes() => Role::Remote,
                _ if is_served => Role::Served,
                // A task that starts its like hands over as it does to anybody else.
                (LinkKind::Thread, true) if !is_entity(model, pair.to) => Role::Local,
                (_, true) => Role::Entity,
                (_, false) => Role::Local,
            };
            // A remote caller's handler is reached by calls only.
            let handler =
                |top: TopLevelId| model.top_level_methods[top.index()].kind == TopLevelKind::RpcHandler;
            let by_call =
                matches!(pair.kind, LinkKind::Rpc | LinkKind::Call | LinkKind::Socket | LinkKind::Entity)
                    || pair.kind.is_served();
            if known(pair.to) && handler(pair.to) && !by_call {
                continue;
            }
            // Who asks for what is served is found by all gaps at once (see [`super::remote_calls`]).
            if pair.kind.is_served() && !pair.remote_calls.is_empty() {
                continue;
            }
            // A process is begun by nobody over the network, whatever its `main` reads.
            let begins = role == Role::Remote && known(pair.to) && all.is_main(pair.to);
            if known(pair.from) && known(pair.to) && !begins {
                all.add(pair, PairId::new(index), role);
            }
        }
        for index in 0..model.top_level_methods.len() {
            let top = TopLevelId::new(index);
            let map = all.identity(top);
            if map.iter().any(|mapped| mapped.strength == IdentifierStrength::Request) {
                all.push(Pair::step(None, (top, top), LinkKind::Call, false, Role::Cut, map));
            }
        }
        all
    }

    /// Adds hand-offs in a row.
    pub(super) fn add_ways(&mut self, ways: Vec<Pair>) {
        ways.into_iter().for_each(|way| self.push(way));
    }

    /// The pairs whose receiver is `top`.
    pub(super) fn to(&self, top: TopLevelId) -> impl Iterator<Item = u32> {
        self.by_receiver.get(&top).into_iter().flatten().copied()
    }

    /// The first hand-off of the model from each method to each other one.
    pub(super) fn between_all(&self) -> FxHashMap<(TopLevelId, TopLevelId), PairId> {
        let pairs = self.model.communication_pairs.iter().enumerate().rev();
        pairs.map(|(index, pair)| ((pair.from, pair.to), PairId::new(index))).collect()
    }

    /// The calls by which somebody asks for what `top` begins.
    pub(super) fn asking(&self, top: TopLevelId) -> impl Iterator<Item = u32> {
        self.asking.get(&top).into_iter().flatten().copied()
    }

    /// The pair at `index`.
    pub(super) fn get(&self, index: u32) -> &Pair {
        &self.pairs[index as usize]
    }

    /// All pairs.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Pair> {
        self.pairs.iter()
    }

    /// Value classes by which entities that are sent events name themselves:
    /// identifiers that their own objects hold one of, and by which their events find
    /// them. What else they hold at the moment has a life of its own, and what only has
    /// the name of a parameter is the name of anything.
    pub(super) fn names_of_entities(&self) -> BTreeSet<ValueClassId> {
        let is_sent = |pair: &&Pair| pair.kind == LinkKind::Queue && self.is_entity(pair.to);
        let named = self.iter().filter(is_sent).flat_map(|pair| pair.map.iter().map(|m| (pair.to, m.to)));
        let named: BTreeSet<(TopLevelId, ValueClassId)> = named.collect();
        let is_own = |&(top, class): &(TopLevelId, ValueClassId)| {
            self.model.top_level_methods[top.index()].identifiers.iter().any(|id| {
                let own = id.path.starts_with("this.") && !id.path.contains("[*]") && !id.one_of_many;
                own && id.value_class == class
                    && id.strength == IdentifierStrength::Request
                    && self.model.is_declared(class)
            })
        };
        named.into_iter().filter(is_own).map(|(_, class)| class).collect()
    }

    /// Whether one sender can hand the same over to `top` on several nodes.
    pub(super) fn is_copied(&self, top: TopLevelId) -> bool {
        self.to(top).map(|index| self.get(index)).any(|pair| pair.role == Role::Remote && pair.many)
    }

    /// Whether two spans that follow each other in a thread are executions of their own by the
    /// code: of one method, which begins anew; of two targets of one dispatcher, which takes
    /// one after the other; of two methods that are called from outside of the program only.
    pub(super) fn are_turns(&self, before: &Fact<'_>, after: &Fact<'_>) -> bool {
        let (Some(&a), Some(&b)) = (before.tops.first(), after.tops.first()) else { return false };
        let dispatchers = |top: TopLevelId| {
            let pairs = self.to(top).map(|index| self.get(index));
            pairs
                .filter(|pair| pair.kind == LinkKind::Call && self.is_dispatcher(pair.from))
                .map(|pair| pair.from)
        };
        let is_outside = |top: TopLevelId| self.kind(top) == TopLevelKind::Unreached;
        a == b
            || is_outside(a) && is_outside(b)
            || dispatchers(a).any(|dispatcher| dispatchers(b).any(|other| other == dispatcher))
    }

    /// Whether the receiver of a pair dispatches, and is, for all that is known, at what others
    /// hand it.
    pub(super) fn serves(&self, pair: &Pair, receiver: &Fact<'_>) -> bool {
        self.is_dispatcher(pair.to) && !self.begins_thread(pair, receiver)
    }

    /// Whether the receiver of a pair begins with what its thread does before it serves: whoever
    /// started the thread has that.
    pub(super) fn begins_thread(&self, pair: &Pair, receiver: &Fact<'_>) -> bool {
        pair.kind == LinkKind::Thread && self.is_before_rounds(pair.to, receiver)
    }

    fn add(&mut self, pair: &CommunicationPair, id: PairId, role: Role) {
        let mut map: Vec<Mapped> =
            pair.identifiers.iter().filter_map(|&(a, b)| self.mapped(pair, a, b)).collect();
        // An entity is the same entity by all of its identifiers.
        if role == Role::Entity && map.is_empty() {
            map = self.identity(pair.from);
        }
        let CommunicationPair { from, to, kind, many, .. } = *pair;
        // What a dispatcher dispatches are different requests, however often
        // its loop turns.
        let many = many && !self.is_dispatcher(from);
        let hands_out = many && kind == LinkKind::Thread && role == Role::Local && !map.is_empty();
        let to_parts = hands_out && map.iter().all(|mapped| !mapped.is_one);
        let by_thread = kind == LinkKind::Call && role == Role::Local && serves_a_thing(self.model, pair);
        let in_order = pair.in_order;
        self.push(Pair {
            to_parts,
            by_thread,
            in_order,
            ..Pair::step(Some(id), (from, to), kind, many, role, map)
        });
    }

    fn push(&mut self, pair: Pair) {
        let index = u32::try_from(self.pairs.len()).expect("a model has fewer than 2^32 pairs");
        let of_role = if pair.role == Role::Asked { &mut self.asking } else { &mut self.by_receiver };
        of_role.entry(pair.to).or_default().push(index);
        self.pairs.push(pair);
    }

    fn identity(&self, top: TopLevelId) -> Vec<Mapped> {
        let classes = self.tops[top.index()].classes.iter();
        let classes = classes.filter(|(_, strength)| *strength != IdentifierStrength::Node);
        let same = |&(class, strength)| Mapped { from: class, to: class, strength, is_one: true };
        classes.map(same).collect()
    }

    fn mapped(&self, pair: &CommunicationPair, a: IdentifierId, b: IdentifierId) -> Option<Mapped> {
        let from = self.model.top_level_methods[pair.from.index()].identifiers.get(a.index())?.value_class;
        let to = self.model.top_level_methods[pair.to.index()].identifiers.get(b.index())?.value_class;
        let strength = self.strength_of(pair.from, a)?.max(self.strength_of(pair.to, b)?);
        let many = |top: TopLevelId, id: IdentifierId| {
            self.model.top_level_methods[top.index()].identifiers[id.index()].one_of_many
        };
        let is_one = !many(pair.from, a) && !many(pair.to, b);
        (strength != IdentifierStrength::Node).then_some(Mapped { from, to, strength, is_one })
    }
}

fn is_entity(model: &Model, top: TopLevelId) -> bool {
    model.top_level_methods.get(top.index()).is_some_and(|top| top.kind == TopLevelKind::Entity)
}
