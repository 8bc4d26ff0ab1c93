//! Loads: what one call hands over, taken from caller to caller as a whole.
//!
//! Each identifier of a receiver is looked for at each of its senders, and a large program has
//! tens of millions of such questions. But the identifiers that one call hands over go up through
//! the same callers together, and most senders share all of these but the last few: a load that
//! came to a method is taken over one edge once, whoever asks next. What is the same for all
//! callers further up is left behind on the way.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::memory::{Memory, PlaceId};
use crate::pairs::Context;
use crate::pairs::regions::{Edge, Region};
use crate::path::Root;
use crate::program::MethodId;

/// Position of a load in [`Loads`].
pub(super) type LoadId = u32;

/// An identifier of a receiver, and the place where it is.
pub(super) type Item = (u32, PlaceId);

/// Loads that were met, and what they are further up.
#[derive(Default)]
pub(super) struct Loads {
    ids: FxHashMap<Arc<[Item]>, LoadId>,
    loads: Vec<Arc<[Item]>>,
    /// By load, caller and position of the call: what goes on from there.
    above: FxHashMap<(LoadId, MethodId, u32), Step>,
    n_items: usize,
}

/// What a load is in the frame of a caller.
#[derive(Clone)]
struct Step {
    /// What the caller's own callers see under other names.
    open: LoadId,
    /// What is at the same place for all of them.
    settled: Arc<[Item]>,
}

impl Loads {
    /// Forgets all, but keeps the room that it took.
    pub(super) fn forget(&mut self) {
        self.ids.clear();
        self.loads.clear();
        self.above.clear();
        self.n_items = 0;
    }

    /// Items and steps that are remembered.
    pub(super) fn n_items(&self) -> usize {
        self.n_items
    }

    /// Where the items of a call in the method at the position `at` of the sender's region are
    /// in the frame of the sender's first method; added to `ends`.
    pub(super) fn climb(
        &mut self,
        memory: &mut Memory,
        (context, region): (Context<'_>, &Region),
        at: usize,
        items: &[Item],
        ends: &mut Vec<Item>,
    ) {
        let is_open = |item: &&Item| matches!(memory.place(item.1).path.root, Root::Param(_));
        ends.extend(items.iter().filter(|item| !is_open(item)));
        let open: Vec<Item> = items.iter().filter(is_open).copied().collect();
        let (mut at, mut load) = (at, self.id(open));
        while let Some((caller, edge)) = region.above(at) {
            if self.loads[load as usize].is_empty() {
                return;
            }
            let step = self.step(memory, context, load, edge);
            ends.extend(&*step.settled);
            (at, load) = (caller, step.open);
        }
        ends.extend(&*self.loads[load as usize]);
    }

    /// A load in the frame of a caller.
    fn step(&mut self, memory: &mut Memory, context: Context<'_>, load: LoadId, edge: Edge) -> Step {
        let key = (load, edge.0, edge.1 as u32);
        if let Some(known) = self.above.get(&key) {
            return known.clone();
        }
        let (mut open, mut settled) = (Vec::new(), Vec::new());
        for &(identifier, place) in &*self.loads[load as usize] {
            let Some(place) = memory.bind(context, edge, place) else { continue };
            let is_settled = memory.is_settled(context, edge.0, place);
            if is_settled { &mut settled } else { &mut open }.push((identifier, place));
        }
        // A step over which nothing goes on is remembered too.
        self.n_items += 1 + settled.len();
        let step = Step { open: self.id(open), settled: settled.into() };
        self.above.insert(key, step.clone());
        step
    }

    /// The load of these items.
    pub(super) fn id(&mut self, items: Vec<Item>) -> LoadId {
        if let Some(known) = self.ids.get(&*items) {
            return *known;
        }
        let next = self.loads.len() as LoadId;
        self.n_items += items.len();
        let items: Arc<[Item]> = items.into();
        self.loads.push(Arc::clone(&items));
        self.ids.insert(items, next);
        next
    }
}
