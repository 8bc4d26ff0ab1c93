//! A sender's identifiers by where they are: each by all names of its place.

use rustc_hash::FxHashMap;
use schema::IdentifierStrength;

use super::memory::{Memory, PlaceId, hash_of};
use super::{given_to_builder, ungotten};
use crate::identifiers::Identifier;
use crate::pairs::Context;
use crate::path::{AccessPath, Root};

/// Identifiers, by position, of one path; sorted. Most questions are of paths that no identifier
/// has: the hash of a path, which is known, answers them.
#[derive(Default)]
struct ByPath(FxHashMap<u64, Vec<(AccessPath, Vec<u32>)>>);

impl ByPath {
    fn add(&mut self, path: AccessPath, identifier: u32) {
        let of_hash = self.0.entry(hash_of(&path)).or_default();
        match of_hash.iter_mut().find(|(known, _)| *known == path) {
            Some((_, identifiers)) => identifiers.push(identifier),
            None => of_hash.push((path, vec![identifier])),
        }
    }

    /// The identifiers of the path of a place.
    fn get(&self, memory: &Memory, id: PlaceId) -> &[u32] {
        let of_hash = self.0.get(&memory.path_hash(id)).map_or(&[][..], Vec::as_slice);
        let found = of_hash.iter().find(|(path, _)| *path == memory.place(id).path);
        found.map_or(&[], |(_, identifiers)| identifiers)
    }
}

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
    /// By place: what was asked for before, as one more than its position in `lists`; 0: not asked.
    known: Vec<u32>,
    /// The places that were asked for.
    asked: Vec<PlaceId>,
    /// Identifiers at places; the first list is empty.
    lists: Vec<Box<[u32]>>,
}

impl Sender {
    /// Of the top-level method `from`, in the room that the one `before` took.
    pub(super) fn new(context: Context<'_>, from: usize, before: Sender) -> Self {
        let (mut known, mut asked) = (before.known, before.asked);
        asked.drain(..).for_each(|id| known[id as usize] = 0);
        let mut sender = Sender { from, known, asked, lists: vec![Box::default()], ..Sender::default() };
        for (i, identifier) in (0u32..).zip(&context.top_levels.methods[from].identifiers) {
            if identifier.strength == IdentifierStrength::Node {
                continue;
            }
            let place = &identifier.place;
            sender.paths.add(place.path.clone(), i);
            if let Some(gotten) = ungotten(context, place) {
                sender.gotten.add(gotten.path, i);
            }
            if matches!(place.path.root, Root::Local(_)) && !place.path.steps.is_empty() {
                let built = given_to_builder(context, place.frame, place.path.clone());
                sender.built.add(built, i);
            }
        }
        sender
    }

    /// The identifiers that are the value at a place: one each, or, if there is no such, one of many.
    pub(super) fn at(&mut self, context: Context<'_>, memory: &mut Memory, id: PlaceId) -> &[u32] {
        // Getters name more places.
        let known = self.known.get(id as usize).copied().unwrap_or_default();
        let list = match known.checked_sub(1) {
            Some(list) => list as usize,
            None => {
                let found = self.find(context, memory, id);
                let list = if found.is_empty() { 0 } else { self.lists.len() };
                self.lists.extend((list > 0).then(|| found.into()));
                self.known.resize(self.known.len().max(memory.n_places()), 0);
                self.known[id as usize] = list as u32 + 1;
                self.asked.push(id);
                list
            }
        };
        &self.lists[list]
    }

    fn find(&self, context: Context<'_>, memory: &mut Memory, id: PlaceId) -> Vec<u32> {
        let gotten = memory.ungotten(context, id).unwrap_or(id);
        let place = memory.place(id);
        let is_local = matches!(place.path.root, Root::Local(_));
        let can_be_built = is_local || matches!(place.path.root, Root::Param(_));
        let built = if can_be_built { self.built.get(memory, id) } else { &[] };
        let found = [self.paths.get(memory, id), self.gotten.get(memory, gotten), built];
        let identifiers = &context.top_levels.methods[self.from].identifiers;
        let of = |i: u32| -> &Identifier { &identifiers[i as usize] };
        let mut found = found.concat();
        found.retain(|&i| !is_local || of(i).place.frame == place.frame);
        found.sort_unstable();
        found.dedup();
        if found.iter().any(|&i| !of(i).is_one_of_many()) {
            found.retain(|&i| !of(i).is_one_of_many());
        }
        found
    }
}
