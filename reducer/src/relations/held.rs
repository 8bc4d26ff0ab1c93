//! Held: which requests hold which values, over all of them, by kind.

use rustc_hash::FxHashMap;
use schema::ValueClassId;
use schema::kinds::{Kinds, TELLING_MIN};

use super::Fact;
use super::chance::Shared;
use crate::merge::to_u32;

/// A request that holds a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Holder {
    /// Which of all.
    pub(super) fact: u32,
    /// Which of those that hold a value of its kind, from 1.
    pub(super) nth: u32,
    /// Which of its values it is.
    pub(super) value: u32,
}

/// Who holds what.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// The holders of each value, by start.
    holders: Vec<Vec<Holder>>,
    /// The kind of each value.
    kinds: Vec<ValueClassId>,
    n_of_kind: FxHashMap<ValueClassId, u32>,
    /// The values that each request holds, as positions.
    pub(super) of_facts: Vec<Box<[u32]>>,
}

impl Held {
    /// Of `facts`, which are sorted by start.
    pub(super) fn new(facts: &[Fact]) -> Self {
        let mut held = Self::default();
        let (kinds, texts) = kinds(facts);
        let mut values: FxHashMap<(ValueClassId, u32), u32> = FxHashMap::default();
        let mut texts = texts.into_iter();
        for (at, fact) in facts.iter().enumerate() {
            let texts = texts.by_ref().take(fact.values.len());
            let of_fact: Vec<(ValueClassId, u32)> =
                texts.map(|(class, text)| (kinds.of(class), text)).collect();
            let mut of_kinds: Vec<ValueClassId> = of_fact.iter().map(|(kind, _)| *kind).collect();
            of_kinds.sort_unstable();
            of_kinds.dedup();
            of_kinds.iter().for_each(|kind| *held.n_of_kind.entry(*kind).or_default() += 1);
            let mut positions = Vec::new();
            for (key, number) in of_fact.into_iter().zip(0..) {
                let position = *values.entry(key).or_insert_with(|| {
                    held.kinds.push(key.0);
                    held.holders.push(Vec::new());
                    to_u32(held.holders.len() - 1)
                });
                let holders = &mut held.holders[position as usize];
                // Under several classes of its kind it is one value.
                if holders.last().is_none_or(|last| last.fact != to_u32(at)) {
                    holders.push(Holder { fact: to_u32(at), nth: held.n_of_kind[&key.0], value: number });
                    positions.push(position);
                }
            }
            held.of_facts.push(positions.into());
        }
        held
    }

    /// The values that several hold.
    pub(super) fn shared(&self) -> impl Iterator<Item = (&[Holder], Shared)> {
        let several = (0..self.holders.len()).filter(|&at| self.holders[at].len() > 1);
        several.map(|at| (self.holders[at].as_slice(), self.place(at)))
    }

    /// What is known of a value.
    pub(super) fn place(&self, at: usize) -> Shared {
        let holders = &self.holders[at];
        Shared {
            n_holders: to_u32(holders.len()),
            n_of_kind: self.n_of_kind[&self.kinds[at]],
            life: (holders[0].nth, holders[holders.len() - 1].nth),
        }
    }
}

/// Which classes are one kind, and the class and the number of the text of each value of each
/// request.
fn kinds(facts: &[Fact]) -> (Kinds, Vec<(ValueClassId, u32)>) {
    let mut kinds = Kinds::default();
    let mut class_ids: FxHashMap<&str, ValueClassId> = FxHashMap::default();
    let mut numbers: FxHashMap<&str, u32> = FxHashMap::default();
    let mut classes: Vec<Vec<ValueClassId>> = Vec::new();
    let mut texts = Vec::new();
    for (class, text) in facts.iter().flat_map(|fact| &fact.values) {
        let number = *numbers.entry(text).or_insert_with(|| {
            classes.push(Vec::new());
            to_u32(classes.len() - 1)
        });
        let next = ValueClassId::new(class_ids.len());
        let class = *class_ids.entry(class).or_insert(next);
        if text.len() >= TELLING_MIN {
            kinds.learn(&mut classes[number as usize], class, text);
        }
        texts.push((class, number));
    }
    (kinds, texts)
}
