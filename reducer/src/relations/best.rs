//! Best: of all that a request shares with others, what is the least likely by chance.

use schema::tables::Text;

use super::Fact;
use super::chance::is_small;
use super::held::{Held, Holder};
use super::threads;
use crate::stitch::is_address;

/// Most relations that a request is told to have. It takes two to hang together with all that hold
/// a value: who made it, and who had it last. So many are the thing that the request is about, and
/// the one for whom it is done; further values are mostly other names of these.
pub(super) const RELATIONS_MAX: usize = 4;

/// How two requests are related.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum How {
    MadeThere,
    MadeHere,
    Connection,
    AtOnce,
    Thread,
}

impl How {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::MadeThere => "made there, used here",
            Self::MadeHere => "made here, used there",
            Self::Connection => "same connection",
            Self::AtOnce => "same thing at once",
            Self::Thread => "same thread of a client",
        }
    }
}

/// A request that has to do with another one.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Related {
    pub(super) owner: u32,
    pub(super) other: u32,
    pub(super) how: How,
    /// Class of the value; none: they share a thread.
    pub(super) class: Option<Text>,
    pub(super) value: Text,
    pub(super) chance: f64,
}

/// Two requests that share something; the second one began later.
#[derive(Clone, Copy, Debug)]
struct Pair {
    owner: u32,
    other: u32,
    how: How,
    chance: f64,
    /// Which of the owner's values they share.
    value: u32,
}

/// The relations of the new ones of `facts`, which are sorted by start; in order of these.
pub(super) fn of(facts: &[Fact]) -> Vec<Related> {
    let held = Held::new(facts);
    let mut pairs = by_value(facts, &held);
    pairs.extend(by_thread(facts, &held));
    pairs.retain(|pair| is_small(pair.chance));
    // Of two that share several values, the least likely.
    let distance = |pair: &Pair| pair.owner.abs_diff(pair.other);
    pairs.sort_unstable_by(|a, b| {
        let key = |pair: &Pair| (pair.owner, pair.other);
        key(a).cmp(&key(b)).then(a.chance.total_cmp(&b.chance)).then((a.how, a.value).cmp(&(b.how, b.value)))
    });
    pairs.dedup_by_key(|pair| (pair.owner, pair.other));
    pairs.sort_by(|a, b| {
        let order = a.owner.cmp(&b.owner).then(a.chance.total_cmp(&b.chance));
        order.then((distance(a), a.other).cmp(&(distance(b), b.other)))
    });
    let of_owners = pairs.chunk_by(|a, b| a.owner == b.owner);
    of_owners.flat_map(|pairs| pairs.iter().take(RELATIONS_MAX)).map(|pair| related(facts, pair)).collect()
}

fn related(facts: &[Fact], pair: &Pair) -> Related {
    let &Pair { owner, other, how, chance, value } = pair;
    let fact = &facts[owner as usize];
    let (class, value) = match (how, &fact.thread) {
        (How::Thread, Some((_, thread))) => (None, thread.clone()),
        _ => {
            let (class, text) = &fact.values[value as usize];
            (Some(class.clone()), text.clone())
        }
    };
    Related { owner, other, how, class, value, chance }
}

/// Whose relation it is: that of a request that is new, is open, began later.
fn owner_of(facts: &[Fact], earlier: u32, later: u32) -> Option<u32> {
    let (a, b) = (&facts[earlier as usize], &facts[later as usize]);
    match (a.is_new, b.is_new) {
        (false, false) => None,
        (true, false) => Some(earlier),
        (false, true) => Some(later),
        (true, true) => Some(if a.is_open && !b.is_open { earlier } else { later }),
    }
}

/// Each holder of a value with its first one, and with the one before.
fn by_value(facts: &[Fact], held: &Held) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for (holders, shared) in held.shared() {
        let made = shared.made();
        let first = holders[0];
        let text = &facts[first.fact as usize].values[first.value as usize].1;
        let is_connection = is_address(text);
        let mut add = |earlier: Holder, later: Holder, chance: f64, is_made: bool| {
            let Some(owner) = owner_of(facts, earlier.fact, later.fact) else { return };
            let is_later = owner == later.fact;
            let how = match (is_connection, is_made) {
                (true, _) => How::Connection,
                (false, true) if is_later => How::MadeThere,
                (false, true) => How::MadeHere,
                (false, false) => How::AtOnce,
            };
            let (own, other) = if is_later { (later, earlier) } else { (earlier, later) };
            pairs.push(Pair { owner, other: other.fact, how, chance, value: own.value });
        };
        for ends in holders.windows(2) {
            add(ends[0], ends[1], shared.at_once(ends[1].nth - ends[0].nth), false);
        }
        holders[1..].iter().for_each(|&user| add(first, user, made, true));
    }
    pairs
}

/// Calls of one client, each with the one before.
fn by_thread(facts: &[Fact], held: &Held) -> Vec<Pair> {
    let pair = |threads::Next { earlier, later, chance }| {
        let owner = owner_of(facts, earlier, later)?;
        let other = if owner == later { earlier } else { later };
        Some(Pair { owner, other, how: How::Thread, chance, value: 0 })
    };
    threads::calls(facts, held).into_iter().filter_map(pair).collect()
}
