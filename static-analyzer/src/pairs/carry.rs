//! Identifier maps: which identifiers of the receiver are which of the sender.
//!
//! A value of the receiver is taken to the sender's frame step by step along the
//! hand-off. Where the steps lose it, value classes decide: a class that both
//! ends have is the same value if each end has one, and may be if each has few.

use schema::IdentifierStrength;

use super::Context;
use super::regions::Edge;
use crate::identifiers::{Bound, Identifier, Place};
use crate::ir::ValueId;
use crate::limits::CLASS_MEMBERS_MAX;
use crate::path::Root;
use crate::program::{MethodId, Name};

/// One step of a value from the receiver's to the sender's frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Carry {
    /// From a callee to its caller.
    Up(Edge),
    /// Out of a channel: what is reached from the value `taken` in a frame of
    /// the receiver is reached from the value `put` in a frame of the sender.
    Across {
        /// The received value.
        taken: (MethodId, ValueId),
        /// The value sent.
        put: (MethodId, ValueId),
    },
    /// Nothing can be followed across.
    Lost,
}

/// Pairs of identifiers (sender's, receiver's) that carry one value along one of
/// the chains, sorted; `holds` tells which value classes the hand-offs can carry
/// where the chains lose them.
pub(super) fn identifiers<'c>(
    context: Context<'_>,
    from: usize,
    to: usize,
    chains: impl Iterator<Item = &'c [Carry]>,
    holds: impl Fn(Name) -> bool,
) -> Vec<(u32, u32)> {
    let sender = &context.top_levels.methods[from].identifiers;
    let receiver = &context.top_levels.methods[to].identifiers;
    if sender.is_empty() || receiver.is_empty() {
        return Vec::new();
    }
    let mut pairs: Vec<(u32, u32)> = Vec::new();
    for chain in chains {
        for (j, identifier) in (0u32..).zip(receiver) {
            if identifier.strength == IdentifierStrength::Node || identifier.is_one_of_many() {
                continue;
            }
            let Some(place) = carried(context, &identifier.place, chain) else { continue };
            let same = |c: &Identifier| {
                c.place.path == place.path
                    && (c.place.frame == place.frame || !matches!(place.path.root, Root::Local(_)))
                    && c.strength != IdentifierStrength::Node
            };
            let of = |is_one_of_many: bool| -> Vec<u32> {
                let same = |c: &Identifier| same(c) && c.is_one_of_many() == is_one_of_many;
                (0u32..).zip(sender).filter(|(_, c)| same(c)).map(|(i, _)| i).collect()
            };
            let found = Some(of(false)).filter(|found| !found.is_empty()).unwrap_or_else(|| of(true));
            // One object printed as several values: each goes to its own kind.
            let class = |i: &u32| sender[*i as usize].value_class == identifier.value_class;
            if found.iter().any(class) {
                pairs.extend(found.iter().copied().filter(class).map(|i| (i, j)));
            } else if found.len() == 1 {
                pairs.push((found[0], j));
            }
        }
    }
    let followed: Vec<Name> = pairs.iter().map(|&(_, j)| receiver[j as usize].value_class).collect();
    by_class(context, (from, to), |class| !followed.contains(&class) && holds(class), &mut pairs);
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// `place` of the receiver's frame in the sender's frame.
fn carried(context: Context<'_>, place: &Place, chain: &[Carry]) -> Option<Place> {
    let mut place = place.clone();
    // What the receiver made itself comes from nobody, unless it is what it took.
    let mut own = matches!(place.path.root, Root::Local(_));
    for step in chain {
        match step {
            Carry::Up(_) if own => {}
            Carry::Up((caller, call, target)) => {
                let call = &context.graph.calls(*caller)[*call];
                match context.bindings.bind(*caller, call, *target, &place) {
                    Bound::Place(bound) => place = bound,
                    Bound::Constant | Bound::Unknown => return None,
                }
            }
            Carry::Across { taken, put } => {
                let prefix = context.bindings.path(taken.0, taken.1);
                let here = !matches!(prefix.root, Root::Local(_)) || place.frame == taken.0;
                if !here || place.path.root != prefix.root {
                    return None;
                }
                own = false;
                let rest = place.path.steps.strip_prefix(prefix.steps.as_slice())?;
                let mut path = context.bindings.path(put.0, put.1);
                path.steps.extend_from_slice(rest);
                path = context.bindings.normalize(put.0, &path);
                place = Place { path, frame: put.0, looping: false };
            }
            Carry::Lost => return None,
        }
    }
    (!own).then_some(place)
}

/// Adds pairs of value classes that no step followed.
fn by_class(
    context: Context<'_>,
    (from, to): (usize, usize),
    holds: impl Fn(Name) -> bool,
    pairs: &mut Vec<(u32, u32)>,
) {
    let sender = &context.top_levels.methods[from].identifiers;
    let receiver = &context.top_levels.methods[to].identifiers;
    let mut classes: Vec<Name> = receiver.iter().map(|i| i.value_class).collect();
    classes.sort_unstable();
    classes.dedup();
    for class in classes {
        // A class named after a parameter says nothing across methods.
        if !holds(class) {
            continue;
        }
        let of_class = |list: &[Identifier]| -> Vec<u32> {
            let members = (0u32..).zip(list);
            let members = members.filter(|(_, i)| {
                i.value_class == class && i.strength != IdentifierStrength::Node && !i.is_one_of_many()
            });
            members.map(|(at, _)| at).collect()
        };
        let (ours, theirs) = (of_class(sender), of_class(receiver));
        if ours.is_empty() || theirs.is_empty() || ours.len().max(theirs.len()) > CLASS_MEMBERS_MAX {
            continue;
        }
        // Which is which is not known: every one has at least one partner.
        pairs.extend(ours.iter().map(|&i| (i, theirs[0])));
        pairs.extend(theirs.iter().map(|&j| (ours[0], j)));
    }
}
