//! A sender's identifiers by where they are: each by all names of its place.

use rustc_hash::FxHashMap;
use schema::IdentifierStrength;

use super::memory::{Memory, PlaceId};
use super::{given_to_builder, ungotten};
use crate::identifiers::Identifier;
use crate::pairs::Context;
use crate::path::{AccessPath, Root};

/// Identifiers, by position, of one path; sorted.
type ByPath = FxHashMap<AccessPath, Vec<u32>>;

/// The identifiers of one sender, but for those that name the node. There are as many questions
/// as receivers have identifiers: each name of an identifier is found once.
#[derive(Default)]
pub(super) struct Sender {
    /// Position of the sender in the top-level methods.
    pub(super) from: usize,
    /// By their own paths.
    paths: ByPath,
    /// Those that a getter gave, by the name of what it is called on.
    gotten: ByPath,
    /// Those that are parts of something made here, by the name of what its builder was given.
    built: ByPath,
    /// What was asked for before.
    known: FxHashMap<PlaceId, Vec<u32>>,
}

impl Sender {
    pub(super) fn new(context: Context<'_>, from: usize) -> Self {
        let mut sender = Sender { from, ..Sender::default() };
        for (i, identifier) in (0u32..).zip(&context.top_levels.methods[from].identifiers) {
            if identifier.strength == IdentifierStrength::Node {
                continue;
            }
            let place = &identifier.place;
            sender.paths.entry(place.path.clone()).or_default().push(i);
            if let Some(gotten) = ungotten(context, place) {
                sender.gotten.entry(gotten.path).or_default().push(i);
            }
            if matches!(place.path.root, Root::Local(_)) && !place.path.steps.is_empty() {
                let built = given_to_builder(context, place.frame, place.path.clone());
                sender.built.entry(built).or_default().push(i);
            }
        }
        sender
    }

    /// The identifiers that are the value at a place: one each, or, if there is no such, one of many.
    pub(super) fn at(&mut self, context: Context<'_>, memory: &mut Memory, id: PlaceId) -> &[u32] {
        self.known.entry(id).or_insert_with(|| {
            let gotten = memory.ungotten(context, id).unwrap_or(id);
            let (place, gotten) = (memory.place(id), memory.place(gotten));
            let is_local = matches!(place.path.root, Root::Local(_));
            let can_be_built = is_local || matches!(place.path.root, Root::Param(_));
            let found = [
                self.paths.get(&place.path),
                self.gotten.get(&gotten.path),
                self.built.get(&place.path).filter(|_| can_be_built),
            ];
            let identifiers = &context.top_levels.methods[self.from].identifiers;
            let of = |i: u32| -> &Identifier { &identifiers[i as usize] };
            let mut found: Vec<u32> = found.into_iter().flatten().flatten().copied().collect();
            found.retain(|&i| !is_local || of(i).place.frame == place.frame);
            found.sort_unstable();
            found.dedup();
            if found.iter().any(|&i| !of(i).is_one_of_many()) {
                found.retain(|&i| !of(i).is_one_of_many());
            }
            found
        })
    }
}
