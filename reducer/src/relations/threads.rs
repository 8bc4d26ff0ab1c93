//! Threads: requests that one thread begins, one after the other, can be the calls of one client.
//!
//! A thread of a pool serves whoever comes next; one of a client, or of a connection, goes on with
//! the same work. Which it is tells the log: calls of one client share values, so that requests
//! which follow each other on one thread share them more often than such as follow each other
//! on two. It is counted for threads of one name, whatever their numbers; from few the
//! worst is assumed.

use rustc_hash::FxHashMap;

use super::Fact;
use super::chance::is_small;
use super::held::Held;
use crate::merge::to_u32;

/// What stands in the place of the class of the value where a thread is shared.
pub(super) const CLASS: &str = "thread";

/// Two requests that a thread began one after the other.
pub(super) struct Next {
    pub(super) earlier: u32,
    pub(super) later: u32,
    pub(super) chance: f64,
}

/// Of requests that follow each other: how many share a value, of how many that could.
#[derive(Clone, Copy, Default)]
struct Tally {
    n_sharing: u32,
    n: u32,
}

impl Tally {
    fn add(&mut self, is_sharing: bool) {
        self.n += 1;
        self.n_sharing += u32::from(is_sharing);
    }
}

/// The calls that follow each other on one thread, with their chance to be of two clients.
pub(super) fn calls(facts: &[Fact], held: &Held) -> Vec<Next> {
    let mut groups: FxHashMap<(&str, String), u32> = FxHashMap::default();
    let mut tallies: Vec<[Tally; 2]> = Vec::new();
    let mut last_of_thread: FxHashMap<(&str, &str), u32> = FxHashMap::default();
    let mut last_of_group: FxHashMap<u32, u32> = FxHashMap::default();
    let mut found: Vec<(u32, u32, u32)> = Vec::new();
    let has_values = |at: u32| !held.of_facts[at as usize].is_empty();
    for at in 0..to_u32(facts.len()) {
        let Some((node, thread)) = &facts[at as usize].thread else { continue };
        let group = *groups.entry((&**node, without_digits(thread))).or_insert_with(|| {
            tallies.push([Tally::default(); 2]);
            to_u32(tallies.len() - 1)
        });
        let before = last_of_thread.insert((&**node, &**thread), at);
        if let Some(before) = before {
            found.push((before, at, group));
        }
        let other = last_of_group.insert(group, at).filter(|&other| Some(other) != before);
        for (is_same, before) in [(0, before), (1, other)] {
            let both = before.filter(|&b| has_values(b) && has_values(at));
            if let Some(before) = both {
                tallies[group as usize][is_same].add(share(held, before, at));
            }
        }
    }
    let chance = |group: u32| chance(tallies[group as usize]);
    found.into_iter().map(|(earlier, later, group)| Next { earlier, later, chance: chance(group) }).collect()
}

/// The chance that calls which follow each other on one thread are of two clients.
fn chance([same, other]: [Tally; 2]) -> f64 {
    let on_same = f64::from(same.n_sharing) / f64::from(same.n + 1);
    let on_other = f64::from(other.n_sharing + 1) / f64::from(other.n + 1);
    if on_same > on_other { on_other / (on_same + on_other) } else { 1.0 }
}

/// Whether two requests share a value that not many share.
fn share(held: &Held, a: u32, b: u32) -> bool {
    let of_b = &held.of_facts[b as usize];
    let is_telling = |at: u32| is_small(held.place(at as usize).share());
    held.of_facts[a as usize].iter().any(|at| of_b.contains(at) && is_telling(*at))
}

fn without_digits(thread: &str) -> String {
    thread.chars().filter(|c| !c.is_ascii_digit()).collect()
}
