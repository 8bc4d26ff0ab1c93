//! Identifier maps: which identifiers of the receiver are which of the sender.
//!
//! A value of the receiver is taken to the sender's frame step by step along the
//! hand-off. Where the steps lose it, value classes decide: a class that both
//! ends have is the same value if each end has one, and may be if each has few.

use rustc_hash::FxHashMap;
use schema::IdentifierStrength;

use super::cuts::{self, Cut};
use super::handoffs::{Entry, Handoff, Lists};
use super::regions::{Edge, UnitId, Units};
use super::{Context, built, texts};
use crate::identifiers::{Bound, Identifier, Place};
use crate::ir::{InvokeKind, Op, ValueId};
use crate::limits::{CLASS_MEMBERS_MAX, PATH_FIELDS_MAX};
use crate::path::{AccessPath, Root, Step};
use crate::program::{MethodId, Name};

/// Texts within texts.
const CUTS_MAX: usize = 6;

/// Finds identifier maps of the pairs of one sender. Its ways share most of their
/// hand-offs, and are many more than these: what one hand-off makes of one place is
/// found once.
pub(super) struct Carrier<'a> {
    context: Context<'a>,
    units: &'a Units,
    members: &'a Members,
    places: Places,
    /// What a hand-off (by its address) makes of what is carried.
    steps: FxHashMap<(usize, Carried), Option<Carried>>,
    /// Places of methods below a unit's first one, seen from there: receivers
    /// that are reached from one place share the way up.
    climbed: FxHashMap<(UnitId, MethodId, PlaceId), Option<PlaceId>>,
    /// Ways to cut something out of a text that were met.
    cuts: Vec<Vec<Cut>>,
}

/// Position in [`Places`].
type PlaceId = u32;

/// Position in [`Carrier::cuts`].
type CutsId = u32;

/// A value on its way back to the sender.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Carried {
    place: PlaceId,
    /// How it was cut out of the text that is there, the last cut first; 0: not at all.
    cuts: CutsId,
    /// Who has it made it itself: it comes from nobody, unless it is what it took.
    own: bool,
}

/// Places that were met, each once.
#[derive(Default)]
struct Places {
    ids: FxHashMap<Place, PlaceId>,
    places: Vec<Place>,
}

impl Places {
    fn id(&mut self, place: Place) -> PlaceId {
        let next = self.places.len() as PlaceId;
        *self.ids.entry(place).or_insert_with_key(|place| {
            self.places.push(place.clone());
            next
        })
    }

    fn get(&self, id: PlaceId) -> &Place {
        &self.places[id as usize]
    }
}

impl<'a> Carrier<'a> {
    /// For the pairs of one sender.
    pub(super) fn new(context: Context<'a>, units: &'a Units, members: &'a Members) -> Self {
        Carrier {
            context,
            units,
            members,
            places: Places::default(),
            steps: FxHashMap::default(),
            climbed: FxHashMap::default(),
            cuts: vec![Vec::new()],
        }
    }

    /// Pairs of identifiers (sender's, receiver's) that carry one value along
    /// one of the ways (hand-offs in a row, first to last), sorted; `holds` tells
    /// which value classes they can carry where the ways lose them.
    pub(super) fn identifiers(
        &mut self,
        from: usize,
        to: usize,
        ways: &[Vec<&Handoff>],
        holds: impl Fn(Name) -> bool,
    ) -> Vec<(u32, u32)> {
        let sender = &self.context.top_levels.methods[from].identifiers;
        let receiver = &self.context.top_levels.methods[to].identifiers;
        if sender.is_empty() || receiver.is_empty() {
            return Vec::new();
        }
        let mut ends: Vec<(PlaceId, u32)> = Vec::new();
        for (j, identifier) in (0u32..).zip(receiver) {
            if identifier.strength == IdentifierStrength::Node || identifier.is_one_of_many() {
                continue;
            }
            let own = matches!(identifier.place.path.root, Root::Local(_));
            let carried = Carried { place: self.places.id(identifier.place.clone()), cuts: 0, own };
            ends.extend(ways.iter().filter_map(|way| Some((self.carried(carried, way)?, j))));
        }
        ends.sort_unstable();
        ends.dedup();
        let at_end = |(place, j): (PlaceId, u32)| {
            let found = at_place(self.context, sender, self.places.get(place), &receiver[j as usize]);
            found.into_iter().map(move |i| (i, j))
        };
        let mut pairs: Vec<(u32, u32)> = ends.iter().copied().flat_map(at_end).collect();
        // Who is told a key looks the thing up among all of its kind.
        let is_told = |way: &Vec<&Handoff>| way.last().is_some_and(|last| last.rule.tells_a_key());
        let class = |j: u32| receiver[j as usize].value_class;
        // What is computed where it comes from is no value of the sender's, if it always is.
        let is_new = |&(place, _): &(PlaceId, u32)| self.is_computed(self.places.get(place));
        let ends_of = |j: u32| ends.iter().filter(move |(_, other)| *other == j);
        let computed = ends.iter().map(|&(_, j)| j).filter(|&j| ends_of(j).count() == ways.len());
        let computed = computed.filter(|&j| ends_of(j).all(is_new)).map(class);
        let followed: Vec<Name> = pairs.iter().map(|&(_, j)| class(j)).chain(computed).collect();
        let theirs = self.members.received(to, ways.iter().any(is_told));
        let holds = |class| !followed.contains(&class) && holds(class);
        self.members.by_class(from, theirs, holds, &mut pairs);
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }

    /// Whether what is at a place is computed there.
    fn is_computed(&self, place: &Place) -> bool {
        let Root::Local(value) = place.path.root else { return false };
        let body = self.context.program.methods[place.frame.index()].body.as_ref();
        let op = body.filter(|_| place.path.steps.is_empty()).map(|body| body.op(value));
        matches!(op, Some(Op::Binary(..) | Op::Negate(_)))
    }

    /// What is carried to the receiver, in the sender's frame.
    fn carried(&mut self, mut carried: Carried, way: &[&Handoff]) -> Option<PlaceId> {
        for &handoff in way.iter().rev() {
            let key = (std::ptr::from_ref(handoff) as usize, carried);
            let before = match self.steps.get(&key) {
                Some(known) => *known,
                None => {
                    let found = self.step(carried, handoff);
                    self.steps.insert(key, found);
                    found
                }
            };
            carried = before?;
        }
        (!carried.own && carried.cuts == 0).then_some(carried.place)
    }

    /// What is carried over one hand-off, in the frame of who hands it over.
    fn step(&mut self, carried: Carried, handoff: &Handoff) -> Option<Carried> {
        let carried = self.uncut(handoff.to, carried);
        let Carried { place: id, own, cuts } = carried;
        let place = self.places.get(id);
        let place = match &handoff.entry {
            Entry::Call(_) if own => return Some(carried),
            Entry::Call(edge) => bind(self.context, *edge, place)?,
            Entry::Channel { way, taken, put, lists } => {
                let mut carried = carried;
                for edge in way.iter().filter(|_| !own) {
                    let place = bind(self.context, *edge, self.places.get(carried.place))?;
                    let place = self.places.id(place);
                    carried = self.cut_here(Carried { place, ..carried });
                }
                let place = self.places.get(carried.place);
                let place = across(self.context, place, (*taken)?, (handoff.site.0, (*put)?), *lists)?;
                let place = self.climb(handoff.from, handoff.site.0, place)?;
                return Some(self.put_in(handoff.from, Carried { place, own: false, ..carried }));
            }
        };
        let place = self.climb(handoff.from, handoff.site.0, place)?;
        Some(self.put_in(handoff.from, Carried { place, own: false, cuts }))
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
            let place = self.places.get(carried.place).clone();
            let Some(place) = self.climb(unit, place.frame, place) else { break };
            carried = Carried { place, ..carried };
            if carried.cuts == 0 {
                break;
            }
        }
        carried
    }

    /// The same within the frame of one method.
    fn cut_here(&mut self, mut carried: Carried) -> Carried {
        for _ in 0..CUTS_MAX {
            let place = self.places.get(carried.place);
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
            let place = self.places.id(Place { path, frame, looping: false });
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

    /// `place` of a method of a unit, seen from the unit's first method.
    fn climb(&mut self, unit: UnitId, method: MethodId, place: Place) -> Option<PlaceId> {
        let is_given = matches!(place.path.root, Root::Param(_));
        let id = self.places.id(place);
        if !is_given {
            return Some(id);
        }
        let key = (unit, method, id);
        if let Some(known) = self.climbed.get(&key) {
            return *known;
        }
        let mut place = Some(self.places.get(id).clone());
        let mut way = self.units.region(unit).way_up(method).into_iter();
        while let (Some(at), Some(edge)) = (&place, way.next()) {
            place = bind(self.context, edge, at);
        }
        let found = place.map(|place| self.places.id(place));
        self.climbed.insert(key, found);
        found
    }
}

/// A place of a callee in the frame of its caller.
fn bind(context: Context<'_>, (caller, call, _): Edge, place: &Place) -> Option<Place> {
    let call = &context.graph.calls(caller)[call];
    match context.bindings.bind(caller, call, place) {
        Bound::Place(bound) => Some(bound),
        Bound::Constant | Bound::Unknown => None,
    }
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

/// The identifiers of the sender that are the value at `place`, which is
/// `identifier` of the receiver.
fn at_place(context: Context<'_>, sender: &[Identifier], place: &Place, identifier: &Identifier) -> Vec<u32> {
    let gotten = ungotten(context, place);
    let path = &gotten.as_ref().unwrap_or(place).path;
    let is_built = |c: &Identifier| {
        matches!((c.place.path.root, place.path.root), (Root::Local(_), Root::Local(_) | Root::Param(_)))
            && !c.place.path.steps.is_empty()
            && given_to_builder(context, c.place.frame, c.place.path.clone()) == place.path
    };
    let is_there = |c: &Identifier| {
        c.place.path == place.path
            || ungotten(context, &c.place).is_some_and(|c| c.path == *path)
            || is_built(c)
    };
    let same = |c: &Identifier| {
        is_there(c)
            && (c.place.frame == place.frame || !matches!(place.path.root, Root::Local(_)))
            && c.strength != IdentifierStrength::Node
    };
    let of = |is_one_of_many: bool| -> Vec<u32> {
        let same = |c: &Identifier| same(c) && c.is_one_of_many() == is_one_of_many;
        (0u32..).zip(sender).filter(|(_, c)| same(c)).map(|(i, _)| i).collect()
    };
    let mut found = Some(of(false)).filter(|found| !found.is_empty()).unwrap_or_else(|| of(true));
    // One object printed as several values: each goes to its own kind.
    let class = |i: &u32| sender[*i as usize].value_class == identifier.value_class;
    if found.iter().any(class) {
        found.retain(class);
    } else if found.len() != 1 && !is_one_place(sender, &found) {
        found.clear();
    }
    found
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
