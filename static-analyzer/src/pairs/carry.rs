//! Identifier maps: which identifiers of the receiver are which of the sender.
//!
//! A value of the receiver is taken to the sender's frame step by step along the
//! hand-off. Where the steps lose it, value classes decide: a class that both
//! ends have is the same value if each end has one, and may be if each has few.

use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;
use schema::IdentifierStrength;

use super::cuts::{self, Cut};
use super::handoffs::{Entry, Handoff, Lists};
use super::regions::{Edge, UnitId, Units};
use super::{Context, built, texts};
use crate::identifiers::{Identifier, Place};
use crate::ir::{InvokeKind, Op, ValueId};
use crate::limits::{CARRIED_ITEMS_MAX, CARRIED_PLACES_MAX, CLASS_MEMBERS_MAX, PATH_FIELDS_MAX};
use crate::path::{AccessPath, Root, Step};
use crate::program::{MethodId, Name};

mod loads;
mod memory;
mod sender;

use loads::{Item, Loads};
use memory::{Memory, PlaceId};
use sender::Sender;

/// Texts within texts.
const CUTS_MAX: usize = 6;

/// Carriers that wait for a sender. A thread takes one for each sender, so that what was
/// followed for one sender is known for the next: most ways of a large program go through
/// the same few hundred methods.
pub(super) struct Carriers<'a> {
    context: Context<'a>,
    units: &'a Units,
    members: &'a Members,
    idle: Mutex<Vec<Carrier<'a>>>,
}

impl<'a> Carriers<'a> {
    /// None yet.
    pub(super) fn new(context: Context<'a>, units: &'a Units, members: &'a Members) -> Self {
        Carriers { context, units, members, idle: Mutex::new(Vec::new()) }
    }

    /// Lends one for the pairs of the sender `from`.
    pub(super) fn lend<T>(&self, from: usize, work: impl FnOnce(&mut Carrier<'a>) -> T) -> T {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = idle().pop();
        let mut carrier = waiting.unwrap_or_else(|| Carrier::new(self.context, self.units, self.members));
        carrier.begin(from);
        let done = work(&mut carrier);
        idle().push(carrier);
        done
    }
}

/// Finds identifier maps of the pairs of one sender after the other.
pub(super) struct Carrier<'a> {
    context: Context<'a>,
    units: &'a Units,
    members: &'a Members,
    memory: Memory,
    loads: Loads,
    sender: Sender,
    /// By receiver: its identifiers, with what is carried before the first step.
    starts: FxHashMap<usize, Arc<[Start]>>,
    /// By receiver and call of it: what is carried in the frame of the caller.
    over_calls: FxHashMap<(usize, MethodId, u32), Arc<CarriedOver>>,
    /// What a hand-off of the sender (by its address) makes of what is carried.
    own_steps: FxHashMap<(usize, Carried), Option<Carried>>,
    /// The same of the hand-offs of links: all senders go through them.
    steps: FxHashMap<(usize, Carried), Option<Carried>>,
    /// Ways to cut something out of a text that were met.
    cuts: Vec<Vec<Cut>>,
    /// What is left of what is carried once it was cut in the frame where it is.
    cut: FxHashMap<Carried, Carried>,
}

/// Position in [`Carrier::cuts`].
type CutsId = u32;

/// Identifiers of a receiver with their values on the sender's side of a call.
struct CarriedOver {
    /// Those that are whole.
    whole: Box<[Item]>,
    /// Those that were cut out of a text.
    cut: Box<[(u32, Carried)]>,
}

/// An identifier of a receiver, and its value.
struct Start {
    identifier: u32,
    carried: Carried,
    /// Whether the receiver makes the value itself, and cuts it out of nothing: no call hands it over.
    is_made: bool,
}

/// A value on its way back to the sender.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Carried {
    place: PlaceId,
    /// How it was cut out of the text that is there, the last cut first; 0: not at all.
    cuts: CutsId,
    /// Who has it made it itself: it comes from nobody, unless it is what it took.
    own: bool,
}

impl Carried {
    /// The place of what has come to its sender whole.
    fn end(self) -> Option<PlaceId> {
        (!self.own && self.cuts == 0).then_some(self.place)
    }
}

impl<'a> Carrier<'a> {
    fn new(context: Context<'a>, units: &'a Units, members: &'a Members) -> Self {
        Carrier {
            context,
            units,
            members,
            memory: Memory::default(),
            loads: Loads::default(),
            sender: Sender::default(),
            starts: FxHashMap::default(),
            over_calls: FxHashMap::default(),
            own_steps: FxHashMap::default(),
            steps: FxHashMap::default(),
            cuts: vec![Vec::new()],
            cut: FxHashMap::default(),
        }
    }

    /// Forgets what is of no use for other senders than the last one.
    fn begin(&mut self, from: usize) {
        if self.memory.n_places() > CARRIED_PLACES_MAX {
            self.forget();
        }
        if self.loads.n_items() > CARRIED_ITEMS_MAX {
            self.loads.forget();
        }
        self.own_steps.clear();
        self.memory.begin(from);
        self.sender = Sender::new(self.context, from, std::mem::take(&mut self.sender));
    }

    /// Forgets all that has to do with places.
    fn forget(&mut self) {
        self.memory.forget();
        self.loads.forget();
        self.starts.clear();
        self.over_calls.clear();
        self.own_steps.clear();
        self.steps.clear();
        self.cuts.truncate(1);
        self.cut.clear();
    }

    /// Pairs of identifiers (sender's, receiver's) that carry one value along
    /// one of the ways (hand-offs in a row, first to last), sorted; `holds` tells
    /// which value classes they can carry where the ways lose them.
    pub(super) fn identifiers(
        &mut self,
        to: usize,
        ways: &[Vec<&Handoff>],
        holds: impl Fn(Name) -> bool,
    ) -> Vec<(u32, u32)> {
        let from = self.sender.from;
        let sender = &self.context.top_levels.methods[from].identifiers;
        let receiver = &self.context.top_levels.methods[to].identifiers;
        if sender.is_empty() || receiver.is_empty() {
            return Vec::new();
        }
        let ends = self.ends(to, ways);
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        for &(j, place) in &ends {
            let found = self.sender.at(self.context, &mut self.memory, place);
            if found.is_empty() {
                continue;
            }
            pairs.extend(of_kind(sender, found, &receiver[j as usize]).into_iter().map(|i| (i, j)));
        }
        // Who is told a key looks the thing up among all of its kind.
        let is_told = |way: &Vec<&Handoff>| way.last().is_some_and(|last| last.rule.tells_a_key());
        let class = |j: u32| receiver[j as usize].value_class;
        // What is computed where it comes from is no value of the sender's, if it always is.
        let is_new = |&(_, place): &(u32, PlaceId)| is_computed(self.context, self.memory.place(place));
        let computed = ends.chunk_by(|a, b| a.0 == b.0).filter(|ends| ends.len() == ways.len());
        let computed = computed.filter(|ends| ends.iter().all(is_new)).map(|ends| class(ends[0].0));
        let followed: Vec<Name> = pairs.iter().map(|&(_, j)| class(j)).chain(computed).collect();
        let theirs = self.members.received(to, ways.iter().any(is_told));
        let holds = |class| !followed.contains(&class) && holds(class);
        self.members.by_class(from, theirs, holds, &mut pairs);
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }

    /// Where each identifier of the receiver `to` comes from in the sender's frame, one entry for
    /// each place that some way leads to, sorted.
    fn ends(&mut self, to: usize, ways: &[Vec<&Handoff>]) -> Vec<(u32, PlaceId)> {
        let mut ends: Vec<(u32, PlaceId)> = Vec::new();
        for way in ways {
            if let [Handoff { entry: Entry::Call(edge), from, site, .. }] = way[..] {
                let over = self.over_call(to, *edge);
                self.hand_over_all(*from, site.0, &over.whole, &mut ends);
                for &(j, carried) in &over.cut {
                    let handed = self.hand_over(*from, site.0, carried);
                    ends.extend(handed.and_then(Carried::end).map(|place| (j, place)));
                }
                continue;
            }
            let are_calls = way.iter().all(|handoff| matches!(handoff.entry, Entry::Call(_)));
            for start in self.starts(to).iter().filter(|start| !(are_calls && start.is_made)) {
                ends.extend(self.carried(start.carried, way).map(|place| (start.identifier, place)));
            }
        }
        ends.sort_unstable();
        ends.dedup();
        ends
    }

    /// The identifiers of a receiver that something can be handed over for.
    fn starts(&mut self, to: usize) -> Arc<[Start]> {
        if let Some(known) = self.starts.get(&to) {
            return Arc::clone(known);
        }
        let identifiers = (0u32..).zip(&self.context.top_levels.methods[to].identifiers);
        let is_wanted = |i: &Identifier| i.strength != IdentifierStrength::Node && !i.is_one_of_many();
        let starts = identifiers.filter(|(_, i)| is_wanted(i)).map(|(identifier, i)| {
            let own = matches!(i.place.path.root, Root::Local(_));
            let carried = Carried { place: self.memory.id(i.place.clone()), cuts: 0, own };
            Start { identifier, carried, is_made: self.uncut(to, carried).own }
        });
        let starts: Arc<[Start]> = starts.collect();
        self.starts.insert(to, Arc::clone(&starts));
        starts
    }

    /// What the identifiers of a receiver are in the frame of the method that calls it by `edge`.
    fn over_call(&mut self, to: usize, edge: Edge) -> Arc<CarriedOver> {
        let key = (to, edge.0, edge.1 as u32);
        if let Some(known) = self.over_calls.get(&key) {
            return Arc::clone(known);
        }
        let (mut whole, mut cut) = (Vec::new(), Vec::new());
        for start in self.starts(to).iter().filter(|start| !start.is_made) {
            let carried = self.uncut(to, start.carried);
            let Some(place) = self.memory.bind(self.context, edge, carried.place) else { continue };
            match carried.cuts {
                0 => whole.push((start.identifier, place)),
                _ => cut.push((start.identifier, Carried { place, ..carried })),
            }
        }
        let found = Arc::new(CarriedOver { whole: whole.into(), cut: cut.into() });
        self.over_calls.insert(key, Arc::clone(&found));
        found
    }

    /// What is carried to the receiver, in the sender's frame.
    fn carried(&mut self, mut carried: Carried, way: &[&Handoff]) -> Option<PlaceId> {
        for &handoff in way.iter().rev() {
            let key = (std::ptr::from_ref(handoff) as usize, carried);
            let is_own = handoff.from == self.sender.from;
            let steps = if is_own { &self.own_steps } else { &self.steps };
            let before = match steps.get(&key) {
                Some(known) => *known,
                None => {
                    let found = self.step(carried, handoff);
                    let steps = if is_own { &mut self.own_steps } else { &mut self.steps };
                    steps.insert(key, found);
                    found
                }
            };
            carried = before?;
        }
        carried.end()
    }

    /// What is carried over one hand-off, in the frame of who hands it over.
    fn step(&mut self, carried: Carried, handoff: &Handoff) -> Option<Carried> {
        let carried = self.uncut(handoff.to, carried);
        let (context, (site, _)) = (self.context, handoff.site);
        let carried = match &handoff.entry {
            Entry::Call(_) if carried.own => return Some(carried),
            Entry::Call(edge) => {
                let place = self.memory.bind(context, *edge, carried.place)?;
                Carried { place, ..carried }
            }
            Entry::Channel { way, taken, put, lists } => {
                let mut at = carried;
                for edge in way.iter().filter(|_| !carried.own) {
                    let place = self.memory.bind(context, *edge, at.place)?;
                    at = self.cut_here(Carried { place, ..at });
                }
                let place = self.memory.place(at.place);
                let place = across(context, place, (*taken)?, (site, (*put)?), *lists)?;
                Carried { place: self.memory.id(place), ..at }
            }
        };
        self.hand_over(handoff.from, site, carried)
    }

    /// What is handed over by a method of a unit, in the frame of the unit's first method.
    fn hand_over(&mut self, unit: UnitId, method: MethodId, carried: Carried) -> Option<Carried> {
        let place = self.memory.climb((self.context, self.units), unit, method, carried.place)?;
        Some(self.put_in(unit, Carried { place, own: false, ..carried }))
    }

    /// The same of all that a call hands over whole; added to `ends`.
    fn hand_over_all(&mut self, unit: UnitId, method: MethodId, whole: &[Item], ends: &mut Vec<Item>) {
        let region = self.units.region(unit);
        match region.position(method) {
            Some(at) => self.loads.climb(&mut self.memory, (self.context, region), at, whole, ends),
            None => ends.extend(whole),
        }
    }

    /// What was put into a text that is cut later, or what the text was cut out of in turn: a
    /// value that is left alone stays what it is for who hands it over.
    fn put_in(&mut self, unit: UnitId, carried: Carried) -> Carried {
        if carried.cuts == 0 { carried } else { self.uncut(unit, carried) }
    }

    /// What was cut out of a text, or put into one that is cut, followed to what it was
    /// before, as far as that is known in the frame of the unit's first method.
    fn uncut(&mut self, unit: UnitId, mut carried: Carried) -> Carried {
        for _ in 0..CUTS_MAX {
            let place = carried.place;
            carried = self.cut_here(carried);
            if carried.place == place {
                break;
            }
            let frame = self.memory.place(carried.place).frame;
            let way = (self.context, self.units);
            let Some(place) = self.memory.climb(way, unit, frame, carried.place) else { break };
            carried = Carried { place, ..carried };
            if carried.cuts == 0 {
                break;
            }
        }
        carried
    }

    /// The same within the frame of one method.
    fn cut_here(&mut self, carried: Carried) -> Carried {
        if let Some(known) = self.cut.get(&carried) {
            return *known;
        }
        let found = self.cut_anew(carried);
        self.cut.insert(carried, found);
        found
    }

    fn cut_anew(&mut self, mut carried: Carried) -> Carried {
        for _ in 0..CUTS_MAX {
            let place = self.memory.place(carried.place);
            let Root::Local(value) = place.path.root else { break };
            let frame = place.frame;
            let Some(body) = self.context.program.methods[frame.index()].body.as_ref() else { break };
            if !place.path.steps.is_empty() {
                break;
            }
            let mut cuts = self.cuts[carried.cuts as usize].clone();
            let source = if let Some((text, cut)) = cuts::cut(body, value) {
                cuts.push(cut);
                text
            } else if let Some((text, cut)) = self.named_values(frame, value) {
                cuts.push(cut);
                text
            } else {
                let pieces = texts::pieces(body, value);
                let in_order: Vec<Cut> = cuts.iter().rev().cloned().collect();
                let is_made = !cuts.is_empty() && pieces != [texts::Piece::Value(value)];
                let pieces = self.members.texts.known(self.context, frame, pieces);
                let left = texts::left(pieces, &in_order).filter(|_| is_made);
                let Some((left, n_cuts)) = left else { break };
                cuts.truncate(cuts.len() - n_cuts);
                left
            };
            let mut path = self.context.bindings.path(frame, source);
            while let Some(Step::Call(method)) = path.steps.last()
                && cuts::is_of_address(method)
            {
                path.steps.pop();
                cuts.push(Cut::Some);
            }
            let place = self.memory.id(Place { path, frame, looping: false });
            carried = Carried { place, cuts: self.cuts_id(cuts), own: false };
            if carried.cuts == 0 {
                break;
            }
        }
        carried
    }

    /// The text that a method makes a map of its names and values of, where that is called.
    fn named_values(&self, frame: MethodId, call: ValueId) -> Option<(ValueId, Cut)> {
        let calls = self.context.graph.calls(frame).iter().filter(|c| c.site == call && c.kind.is_local());
        let (mut calls, program) = (calls, self.context.program);
        let call = calls.next()?;
        let &[target] = &call.targets[..] else { return None };
        let body = program.methods[target.index()].body.as_ref()?;
        let mut returned = body.iter().filter_map(|(_, inst)| match inst.op {
            Op::Return(Some(value)) => Some(body.uncast(value)),
            _ => None,
        });
        let (mut text, cut) = cuts::named_values(body, returned.next()?)?;
        while let Some((whole, Cut::Some)) = cuts::cut(body, text) {
            text = whole;
        }
        let Op::Param(i) = body.op(body.uncast(text)) else { return None };
        Some(((*call.args.get(usize::from(*i))?)?, cut))
    }

    fn cuts_id(&mut self, cuts: Vec<Cut>) -> CutsId {
        let known = self.cuts.iter().position(|known| *known == cuts);
        let at = known.unwrap_or_else(|| {
            self.cuts.push(cuts);
            self.cuts.len() - 1
        });
        at as CutsId
    }
}

/// Whether what is at a place is computed there.
fn is_computed(context: Context<'_>, place: &Place) -> bool {
    let Root::Local(value) = place.path.root else { return false };
    let body = context.program.methods[place.frame.index()].body.as_ref();
    let op = body.filter(|_| place.path.steps.is_empty()).map(|body| body.op(value));
    matches!(op, Some(Op::Binary(..) | Op::Negate(_)))
}

type Value = (MethodId, ValueId);

/// What is reached from the value `taken`, in the frame of `put`.
fn across(context: Context<'_>, place: &Place, taken: Value, put: Value, lists: Lists) -> Option<Place> {
    let mut prefix = context.bindings.path(taken.0, taken.1);
    prefix.steps.extend(lists.taken.then_some(Step::Element));
    let gotten = if prefix.root == place.path.root { None } else { ungotten(context, place) };
    let place = gotten.as_ref().unwrap_or(place);
    // A loop may take at two places: before its first round, and at the end of each.
    if let (Root::Local(joined), true) = (place.path.root, place.frame == taken.0)
        && prefix.root == Root::Local(taken.1)
        && joins(context, taken.0, joined, taken.1)
    {
        prefix.root = place.path.root;
    }
    // Parameters of two methods have nothing to do with each other, but for their object.
    let here = match prefix.root {
        Root::Static(_) => true,
        Root::Param(0) => place.frame == taken.0 || are_of_one_object(context, place.frame, taken.0),
        Root::Param(_) | Root::Local(_) => place.frame == taken.0,
    };
    if !here || place.path.root != prefix.root {
        return None;
    }
    let rest = place.path.steps.strip_prefix(prefix.steps.as_slice())?;
    let mut path = context.bindings.path(put.0, put.1);
    path.steps.extend(lists.put.then_some(Step::Element));
    path.steps.extend_from_slice(rest);
    path = context.bindings.handed_over(put.0, &path);
    Some(Place { path: given_to_builder(context, put.0, path), frame: put.0, looping: false })
}

/// Whether `value` is one of those that are joined in one.
fn joins(context: Context<'_>, method: MethodId, joined: ValueId, value: ValueId) -> bool {
    let Some(body) = &context.program.methods[method.index()].body else { return false };
    match body.op(joined) {
        Op::Phi(operands) => operands.iter().any(|&(_, operand)| body.uncast(operand) == value),
        _ => false,
    }
}

/// The part of an object that is built, by the name of what its builder was given.
fn given_to_builder(context: Context<'_>, method: MethodId, mut path: AccessPath) -> AccessPath {
    let Some(body) = &context.program.methods[method.index()].body else { return path };
    while let (Root::Local(built), [part, rest @ ..]) = (path.root, &*path.steps) {
        let Some(value) = built::given(body, built, part) else { break };
        let mut inner = context.bindings.path(method, value);
        inner.steps.extend_from_slice(rest);
        path = context.bindings.normalize(method, &inner);
    }
    path
}

/// A place by the name of what a getter is called on, if it is what one gave.
fn ungotten(context: Context<'_>, place: &Place) -> Option<Place> {
    let body = context.program.methods[place.frame.index()].body.as_ref()?;
    let mut found: Option<Place> = None;
    loop {
        let at = found.as_ref().unwrap_or(place);
        let Root::Local(value) = at.path.root else { break };
        let Op::Invoke { kind, method, args } = body.op(body.uncast(value)) else { break };
        let ([of], true) = (&args[..], *kind != InvokeKind::Static) else { break };
        if !method.name.starts_with("get") || at.path.steps.len() >= PATH_FIELDS_MAX {
            break;
        }
        let mut path = context.bindings.path(at.frame, *of);
        path.steps.push(Step::Call(*method));
        path.steps.extend_from_slice(&at.path.steps);
        found = Some(Place { path, ..at.clone() });
    }
    found
}

/// Whether two methods can be of one object: both have one, of classes of which one is the
/// other or above it.
fn are_of_one_object(context: Context<'_>, a: MethodId, b: MethodId) -> bool {
    let program = context.program;
    let class = |method: MethodId| program.classes[program.methods[method.index()].class.index()].name;
    let has_object = |method: MethodId| !program.methods[method.index()].is_static();
    let is_related = program.is_subtype(class(a), class(b)) || program.is_subtype(class(b), class(a));
    has_object(a) && has_object(b) && is_related
}

/// Those identifiers of the sender's that are at one place, which can be `identifier` of the
/// receiver.
fn of_kind(sender: &[Identifier], found: &[u32], identifier: &Identifier) -> Vec<u32> {
    // One object printed as several values: each goes to its own kind.
    let class = |i: &&u32| sender[**i as usize].value_class == identifier.value_class;
    if found.iter().any(|i| class(&i)) {
        found.iter().filter(class).copied().collect()
    } else if found.len() == 1 || is_one_place(sender, found) {
        found.to_vec()
    } else {
        Vec::new()
    }
}

/// Whether all of these are one value, printed under several value classes.
fn is_one_place(identifiers: &[Identifier], found: &[u32]) -> bool {
    let mut places = found.iter().map(|&i| &identifiers[i as usize].place);
    let first = places.next();
    places.all(|place| Some(place) == first)
}

/// Identifiers by value class.
type ByClass = Vec<(Name, Vec<u32>)>;

/// For each top-level method: its identifiers by value class, without those that
/// name the node.
pub(super) struct Members {
    /// Without those that name one of many.
    by_class: Vec<ByClass>,
    /// With those of what a method has collected itself: it hands them out.
    collected: Vec<ByClass>,
    /// With all.
    with_many: Vec<ByClass>,
    texts: texts::Fields,
}

impl Members {
    /// Of all top-level methods.
    pub(super) fn new(context: Context<'_>) -> Self {
        let top_levels = context.top_levels;
        let all = |is_member: &dyn Fn(&Identifier) -> bool| {
            top_levels
                .methods
                .iter()
                .map(|top| members(&top.identifiers[..top.identifiers.len() - top.n_doubtful], is_member))
                .collect()
        };
        let is_one = |identifier: &Identifier| !identifier.is_one_of_many();
        Members {
            by_class: all(&is_one),
            collected: all(&|identifier| is_one(identifier) || identifier.place.is_collected()),
            with_many: all(&|_| true),
            texts: texts::Fields::new(context),
        }
    }

    /// Those of a receiver, `with_many` or without.
    pub(super) fn received(&self, to: usize, with_many: bool) -> &[(Name, Vec<u32>)] {
        if with_many { &self.with_many[to] } else { &self.by_class[to] }
    }

    /// Adds pairs of value classes that no step followed.
    pub(super) fn by_class(
        &self,
        from: usize,
        receivers: &[(Name, Vec<u32>)],
        holds: impl Fn(Name) -> bool,
        pairs: &mut Vec<(u32, u32)>,
    ) {
        for (class, theirs) in receivers {
            let Some((_, ours)) = self.collected[from].iter().find(|(ours, _)| ours == class) else {
                continue;
            };
            // A class named after a parameter says nothing across methods.
            if ours.len().max(theirs.len()) > CLASS_MEMBERS_MAX || !holds(*class) {
                continue;
            }
            // Which is which is not known: every one has at least one partner.
            pairs.extend(ours.iter().map(|&i| (i, theirs[0])));
            pairs.extend(theirs.iter().map(|&j| (ours[0], j)));
        }
    }
}

fn members(identifiers: &[Identifier], is_member: &dyn Fn(&Identifier) -> bool) -> ByClass {
    let mut by_class = ByClass::new();
    for (at, identifier) in (0u32..).zip(identifiers) {
        if identifier.strength == IdentifierStrength::Node || !is_member(identifier) {
            continue;
        }
        match by_class.iter_mut().find(|(class, _)| *class == identifier.value_class) {
            Some((_, members)) => members.push(at),
            None => by_class.push((identifier.value_class, vec![at])),
        }
    }
    by_class
}

#[cfg(test)]
mod tests;
