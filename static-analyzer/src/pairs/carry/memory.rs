//! Memory: what was found out about places of methods, each thing once for all senders.
//!
//! What a call makes of a place of its callee does not depend on who is on the way to the call.
//! A large program has thousands of senders whose ways share most of their calls: a place is
//! bound once per call, not once per way.

use std::hash::BuildHasher as _;

use rustc_hash::{FxBuildHasher, FxHashMap};

use super::{is_computed, ungotten};
use crate::identifiers::{Bound, Place};
use crate::pairs::Context;
use crate::pairs::regions::{Edge, Region, UnitId, Units};
use crate::path::{AccessPath, Root};
use crate::program::MethodId;

/// Position of a place in [`Memory`].
pub(super) type PlaceId = u32;

/// The hash of a path.
pub(super) fn hash_of(path: &AccessPath) -> u64 {
    FxBuildHasher.hash_one(path)
}

/// Places that were met, and what they are elsewhere.
#[derive(Default)]
pub(super) struct Memory {
    /// By hash; of several places of one hash, each later one stands at the next hash that is free.
    /// The table grows without looking at the paths again, which are long.
    ids: FxHashMap<u64, PlaceId>,
    places: Vec<Place>,
    /// Hashes of their paths.
    paths: Vec<u64>,
    /// By caller, position of the call and place of the callee: the place in the caller's frame.
    bound: FxHashMap<(MethodId, u32, PlaceId), Option<PlaceId>>,
    /// Places by the name of what a getter is called on.
    gotten: FxHashMap<PlaceId, Option<PlaceId>>,
    /// The unit of the sender.
    sender: UnitId,
    /// By position of a method in the sender's region and place there: the place seen from the
    /// first method. Ways up share their upper parts.
    climbed: FxHashMap<(u32, PlaceId), Option<PlaceId>>,
    /// The same of other units, by method.
    climbed_links: FxHashMap<(UnitId, MethodId, PlaceId), Option<PlaceId>>,
}

impl Memory {
    /// Forgets what is of no use for other senders than the last one.
    pub(super) fn begin(&mut self, sender: UnitId) {
        self.climbed.clear();
        self.sender = sender;
    }

    pub(super) fn n_places(&self) -> usize {
        self.places.len()
    }

    /// Forgets all, but keeps the room that it took.
    pub(super) fn forget(&mut self) {
        self.ids.clear();
        self.places.clear();
        self.paths.clear();
        self.bound.clear();
        self.gotten.clear();
        self.climbed.clear();
        self.climbed_links.clear();
    }

    pub(super) fn id(&mut self, place: Place) -> PlaceId {
        let path = hash_of(&place.path);
        let mut hash = FxBuildHasher.hash_one((path, place.frame, place.looping));
        while let Some(&known) = self.ids.get(&hash) {
            if self.places[known as usize] == place {
                return known;
            }
            hash = hash.wrapping_add(1);
        }
        let next = self.places.len() as PlaceId;
        self.places.push(place);
        self.paths.push(path);
        self.ids.insert(hash, next);
        next
    }

    /// The hash of the path of a place.
    pub(super) fn path_hash(&self, id: PlaceId) -> u64 {
        self.paths[id as usize]
    }

    pub(super) fn place(&self, id: PlaceId) -> &Place {
        &self.places[id as usize]
    }

    /// A place of a callee in the frame of its caller.
    pub(super) fn bind(
        &mut self,
        context: Context<'_>,
        (caller, call, _): Edge,
        id: PlaceId,
    ) -> Option<PlaceId> {
        let key = (caller, call as u32, id);
        if let Some(known) = self.bound.get(&key) {
            return *known;
        }
        let call = &context.graph.calls(caller)[call];
        let found = match context.bindings.bind(caller, call, self.place(id)) {
            Bound::Place(bound) => Some(self.id(bound)),
            Bound::Constant | Bound::Unknown => None,
        };
        self.bound.insert(key, found);
        found
    }

    /// A place of a method of a unit, seen from the unit's first method.
    pub(super) fn climb(
        &mut self,
        (context, units): (Context<'_>, &Units),
        unit: UnitId,
        method: MethodId,
        id: PlaceId,
    ) -> Option<PlaceId> {
        if !matches!(self.place(id).path.root, Root::Param(_)) {
            return Some(id);
        }
        let region = units.region(unit);
        if unit == self.sender {
            return region.position(method).map_or(Some(id), |at| self.climb_own(context, region, at, id));
        }
        let key = (unit, method, id);
        if let Some(known) = self.climbed_links.get(&key) {
            return *known;
        }
        let mut found = Some(id);
        for edge in region.way_up(method) {
            let Some(place) = found.filter(|&at| !self.is_settled(context, edge.2, at)) else { break };
            found = self.bind(context, edge, place);
        }
        self.climbed_links.insert(key, found);
        found
    }

    /// Whether a place of `method`, or of what it calls, has the same path for all who call that.
    /// Only whether it is made again and again may differ, which nobody asks of what is carried,
    /// unless it was computed.
    pub(super) fn is_settled(&self, context: Context<'_>, method: MethodId, id: PlaceId) -> bool {
        let place = self.place(id);
        match place.path.root {
            Root::Param(_) => false,
            Root::Static(field) => !context.bindings.is_set_for_thread(field),
            // What a method makes and gives back is its caller's.
            Root::Local(_) => place.frame != method && !is_computed(context, place),
        }
    }

    /// The same of the method at a position of the sender's region.
    fn climb_own(
        &mut self,
        context: Context<'_>,
        region: &Region,
        from: usize,
        id: PlaceId,
    ) -> Option<PlaceId> {
        let (mut at, mut found) = (from, Some(id));
        let mut met = Vec::new();
        while let (Some(place), Some((caller, edge))) = (found, region.above(at)) {
            if self.is_settled(context, region.methods[at], place) {
                break;
            }
            let key = (at as u32, place);
            if let Some(known) = self.climbed.get(&key) {
                found = *known;
                break;
            }
            met.push(key);
            found = self.bind(context, edge, place);
            at = caller;
        }
        self.climbed.extend(met.into_iter().map(|key| (key, found)));
        found
    }

    /// A place by the name of what a getter is called on, if it is what one gave.
    pub(super) fn ungotten(&mut self, context: Context<'_>, id: PlaceId) -> Option<PlaceId> {
        if !matches!(self.place(id).path.root, Root::Local(_)) {
            return None;
        }
        if let Some(known) = self.gotten.get(&id) {
            return *known;
        }
        let found = ungotten(context, self.place(id)).map(|place| self.id(place));
        self.gotten.insert(id, found);
        found
    }
}
