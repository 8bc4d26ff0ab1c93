//! Evidence: how much speaks for a hand-off between two spans. All weights of
//! stitching are here.
//!
//! Fields are compared in the order they stand in: a call about one thing within
//! one thread first, then shared request identifiers, then a caller's and a
//! callee's common thread, then shared weak values, then how well the pair fits what the spans can be, then nearness in
//! time, which tells apart two requests on the same identifiers.

use std::cmp::Reverse;

use super::candidates::has_waited;
use super::determined::Determined;
use super::facts::{Fact, Facts};
use super::held::Held;
use super::pairs::{Pair, Pairs, Role};
use crate::merge::to_u32;
use schema::kinds::{contains_apart, is_made};
use schema::{IdentifierStrength, LinkKind, Pass, TopLevelId};

/// A receiver can print before its sender does: the sender may log after the
/// hand-off. Such a pair counts as this many times as far apart as it is.
const BEFORE_PENALTY: u64 = 10;

/// A task that was handed over is normally begun within this time, µs.
const SOON_US: u64 = 1_000_000;

/// What was printed at most this long ago was just printed, µs.
const JUST_US: i64 = 100_000;

/// A value of so many characters is part of a longer name on purpose.
const NAMING_MIN: usize = 8;

/// Whether a text is part of a longer name, or of a thread's, on purpose: it is long, or
/// short and a name that was made (`t0_152`). A short number is in many.
pub(super) fn is_naming(text: &str) -> bool {
    let has_letter = || text.bytes().any(|b| b.is_ascii_alphabetic());
    text.len() >= NAMING_MIN || (is_made(text) && has_letter())
}

/// A possible hand-off. Sorted best first: what values or threads say before what time
/// alone says, and of each local ones before remote ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Candidate {
    /// Nothing but time speaks for it. The thread of a dispatcher says nothing about
    /// which of its requests a line of its own belongs to.
    pub(super) is_bare: bool,
    /// Remote hand-offs are decided when the local ones are.
    pub(super) is_remote: bool,
    pub(super) evidence: Reverse<Evidence>,
    pub(super) to: u32,
    pub(super) from: u32,
    pub(super) pair: u32,
    /// From the sender's last event before the receiver's start to that start,
    /// µs; 0 where the sender is still at work.
    pub(super) gap_us: i64,
    /// What found it.
    pub(super) by: Pass,
}

/// What speaks for a hand-off: larger is more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Evidence {
    /// Call within one thread about one thing: nothing is surer.
    is_call: bool,
    /// Shared values of request identifiers.
    pub(super) n_request: u32,
    /// Call within one thread, by its name.
    pub(super) same_thread: bool,
    /// Request identifiers of one name with different values.
    n_differ: Reverse<u32>,
    /// Shared values of weak identifiers.
    pub(super) n_weak: u32,
    /// The sender has printed before the receiver began, where no thread shows that it
    /// was at work by then: who hands over begins before whom he hands over to.
    is_first: bool,
    /// Powers of ten between the sender's work and the receiver's start: what was
    /// handed over long ago was handed over by somebody else.
    magnitude: Reverse<u32>,
    /// Places of the pair's ends among what the spans can be.
    rank: Reverse<u32>,
    /// Time between the starts, µs.
    distance_us: Reverse<u64>,
}

impl Evidence {
    /// Whether as much speaks for one as for the other, whatever the places of
    /// their pairs' ends.
    pub(super) fn is_as_good(&self, other: &Self) -> bool {
        let rank = other.rank;
        Self { rank, ..*self } == *other
    }
}

/// Whether the sender is a program's `main` in the middle of its work, or just done, when the
/// thread of the receiver begins: it starts what makes up the program, and what that starts,
/// it has started.
fn is_starting(pairs: &Pairs<'_>, pair: &Pair, sender: &Fact<'_>, receiver: &Fact<'_>) -> bool {
    let is_first = receiver.first_point.is_some_and(|first| pairs.starts_with(pair.to, first));
    pairs.is_main(pair.from) && is_first && !has_waited(sender, receiver)
}

/// Weighs `pair` from `sender` to `receiver`; none if they contradict it: one
/// value each of an identifier that the pair hands over, and not the same one.
/// Time is checked by the caller.
pub(super) fn weigh(
    pairs: &Pairs<'_>,
    facts: &Facts<'_>,
    pair: &Pair,
    sender: &Fact<'_>,
    receiver: &Fact<'_>,
) -> Option<Evidence> {
    // A way says less than a hand-off.
    let rank = sender.any_rank(pair.from)? + receiver.rank(pair.to)? + to_u32(pair.through.len());
    let threads_known = sender.thread.is_some() && receiver.thread.is_some();
    let same_thread = threads_known && sender.node == receiver.node && sender.thread == receiver.thread;
    // Who calls itself does so in its thread, unless it is the events of an entity.
    let is_recursion = pair.role == Role::Entity && !pairs.is_entity(pair.to);
    let is_call = pair.kind == LinkKind::Call && (pair.role == Role::Local || is_recursion);
    let one_thread = matches!(pair.role, Role::Cut | Role::Asked) || is_call;
    let is_elsewhere = !same_thread && (one_thread && threads_known || pair.role == Role::Asked);
    if is_elsewhere || reads_otherwise(pairs, pair, sender, receiver) {
        return None;
    }
    let part = names_part(pair, sender, receiver).filter(|_| !names_parts(pair, sender));
    let mut shared = mapped_values(facts, pair, sender, receiver, part.is_some())?;
    let is_started = pair.by_name && is_starting(pairs, pair, sender, receiver);
    if shared.request.is_empty() {
        match part {
            Some(part) => shared.add_request(&part),
            None => match sender.same_name(receiver).filter(|_| pair.by_name) {
                Some(name) => shared.weak.push(name),
                None if pair.is_way() && !is_started => return None,
                None => {}
            },
        }
    }
    let hands_on_same = !shared.request.is_empty() || !shared.weak.is_empty();
    let others = class_values(pairs, facts, pair, (sender, receiver), &mut shared);
    // A thread named after what it works on.
    if pair.kind == LinkKind::Thread && !same_thread {
        for value in sender.values().iter().filter(|value| names_thread(facts, value, sender, receiver)) {
            shared.add_request(value);
        }
    }
    // Without a map, what both know by one name must not differ, and past others
    // nothing that both name one of.
    let goes_past = pair.is_way() && !is_started;
    if (pair.map.is_empty() && others.n_differ > 0) || (goes_past && sender.names_other(receiver)) {
        return None;
    }
    // Who names others of a kind has to do with the receiver only by what tells things apart.
    if others.names_others && !shared.tells {
        return None;
    }
    if (!hands_on_same && hands_on_others(pair, sender, receiver))
        || is_state_only(pair, (sender, receiver), &shared)
        || is_anybodys_next(pair, &shared)
    {
        return None;
    }
    let same_thread = same_thread && one_thread;
    let (n_request, n_weak) = (to_u32(shared.request.len()), to_u32(shared.weak.len()));
    Some(Evidence {
        is_call: same_thread && n_request > 0,
        n_request,
        same_thread,
        n_differ: Reverse(others.n_differ),
        n_weak,
        is_first: is_first(sender, receiver),
        magnitude: Reverse(magnitude(sender, receiver)),
        rank: Reverse(rank),
        distance_us: Reverse(distance_us(sender, receiver)),
    })
}

/// Whether one of the two ends of `pair` is rather the beginning of something else than the
/// middle of what the pair takes it for: a caller, or a task without a thread.
fn reads_otherwise(pairs: &Pairs<'_>, pair: &Pair, sender: &Fact<'_>, receiver: &Fact<'_>) -> bool {
    let is_task = pair.role == Role::Local && pair.kind == LinkKind::Thread;
    (pair.kind == LinkKind::Rpc && reads_amid(pairs, sender, pair.from))
        || (is_task && receiver.thread.is_none() && reads_amid(pairs, receiver, pair.to))
}

/// Whether the receiver is the next step of a chain over nodes: a method that hands over
/// to itself there, and waits.
pub(super) fn is_chain(pair: &Pair) -> bool {
    pair.role == Role::Remote && pair.from == pair.to
}

/// Whether the pair is one step from who works on a thing to who does next, and not a way
/// past others: the thing that it names is the one that is meant, even if it comes back
/// often in the life of that.
pub(super) fn hands_on(pair: &Pair) -> bool {
    matches!(pair.role, Role::Local | Role::Remote) && !pair.is_way()
}

/// Whether who is handed what it hands on itself can be anybody's next: only numbers or
/// what was made for the request tell whose.
fn is_anybodys_next(pair: &Pair, shared: &Shared<'_>) -> bool {
    let is_own = |text: &&str| is_made(text) || !text.bytes().any(|b| b.is_ascii_alphabetic());
    is_chain(pair) && !shared.request.iter().any(is_own)
}

/// Whether the sender names several of what the pair hands over for a request, and not the
/// one that the receiver has got.
fn hands_on_others(pair: &Pair, sender: &Fact<'_>, receiver: &Fact<'_>) -> bool {
    pair.map.iter().filter(|mapped| mapped.strength == IdentifierStrength::Request).any(|mapped| {
        let (ours, theirs) = (sender.values_of(mapped.from), receiver.values_of(mapped.to));
        ours.len() > 1 && theirs.len() == 1 && !ours.iter().any(|our| our.is(&theirs[0]))
    })
}

/// Whether two events, that are about different things and of which not both name the
/// entity, have bare numbers in common only: that can be a state that many find.
fn is_state_only(pair: &Pair, (sender, receiver): (&Fact<'_>, &Fact<'_>), shared: &Shared<'_>) -> bool {
    pair.role == Role::Entity
        && !pair.map.is_empty()
        && shared.request.iter().all(|text| is_number(text))
        && !names_alike(pair, sender, receiver)
        && sender.names_other(receiver)
}

/// Whether a span began with a first line of what it is taken for, and in the middle
/// of `top`: that it is of `top` is the longer reading.
fn reads_amid(pairs: &Pairs<'_>, span: &Fact<'_>, top: TopLevelId) -> bool {
    let Some((&best, point)) = span.tops.first().zip(span.first_point) else { return false };
    best != top && !span.truncated && pairs.starts_with(best, point) && !pairs.starts_with(top, point)
}

/// Whether the receiver's thread is named after a value: contains it, set apart
/// from what stands beside it. What lives on is meant by who is at work on it.
pub(super) fn names_thread(
    facts: &Facts<'_>,
    value: &Held<'_>,
    sender: &Fact<'_>,
    receiver: &Fact<'_>,
) -> bool {
    let is_at_work = (sender.start_us..=sender.end_us).contains(&receiver.start_us);
    let tells = if is_at_work { !value.is_everywhere() } else { !value.is_common() };
    let thread = || facts.own_thread(receiver);
    value.is_naming() && tells && thread().is_some_and(|thread| contains_apart(thread, value.text))
}

/// The receiver's value that names a part, if the pair hands over such, of what the sender names
/// and works on just then: its name contains that of the whole, set apart (the region of a table, the
/// file in a folder).
pub(super) fn names_part<'v>(pair: &Pair, sender: &Fact<'_>, receiver: &Fact<'v>) -> Option<Held<'v>> {
    if !pair.to_parts || !(sender.start_us..=sender.end_us).contains(&receiver.start_us) {
        return None;
    }
    let is_whole = |value: &&Held<'_>| value.is_naming() && !value.is_everywhere();
    let is_part =
        |part: &&Held<'_>| sender.values().iter().filter(is_whole).any(|whole| is_part(part, whole));
    receiver.values().iter().find(is_part).copied()
}

/// Whether the sender names parts of what it works on, of the kind that the pair hands
/// over: it would name the one that it hands over.
fn names_parts(pair: &Pair, sender: &Fact<'_>) -> bool {
    let mut handed = pair.map.iter().flat_map(|mapped| sender.values_of(mapped.from));
    let is_whole = |value: &&Held<'_>| value.is_naming();
    handed.any(|part| sender.values().iter().filter(is_whole).any(|whole| is_part(part, whole)))
}

fn is_part(part: &Held<'_>, whole: &Held<'_>) -> bool {
    part.text.len() > whole.text.len() && contains_apart(part.text, whole.text)
}

/// Whether both ends print one value that the pair hands over, be it ever so common.
pub(super) fn names_alike(pair: &Pair, sender: &Fact<'_>, receiver: &Fact<'_>) -> bool {
    pair.map.iter().any(|mapped| {
        let theirs = receiver.values_of(mapped.to);
        sender.values_of(mapped.from).iter().any(|our| theirs.iter().any(|their| their.is(our)))
    })
}

/// Weighs that two spans work on one attached object: the same text of something
/// that there is only one of, whatever each end calls it.
pub(super) fn weigh_attached(
    facts: &Facts<'_>,
    determined: &Determined,
    pair: &Pair,
    (sender, receiver): (&Fact<'_>, &Fact<'_>),
) -> Option<Evidence> {
    let rank = sender.rank(pair.from)? + receiver.rank(pair.to)?;
    let ours = sender.values();
    let mut shared = Shared::default();
    let same_node = sender.node == receiver.node;
    for value in receiver.values().iter().filter(|value| value.is_one_thing()) {
        if value.is_address() && !same_node {
            continue;
        }
        // Who meets several of a kind works on none of them in particular.
        let is_one = |fact: &Fact<'_>, value: &Held<'_>| fact.values_of(value.value_class).len() == 1;
        let same = ours.iter().find(|our| our.is(value) && is_one(sender, our));
        let has_come_back = || {
            facts.is_counted_apart(value, sender, receiver)
                || determined.has_come_back(value.kind, sender, receiver)
        };
        let is_known = shared.request.contains(&value.text);
        if same.is_some() && is_one(receiver, value) && !is_known && !has_come_back() {
            shared.request.push(value.text);
        }
    }
    // A bare number that spans about different things share is a state that all have met.
    let is_state = shared.request.iter().all(|text| is_number(text)) && sender.names_other(receiver);
    let is_other = || is_attached_to_another(facts, pair, (sender, receiver), &shared);
    (!shared.request.is_empty() && !is_state && !is_other()).then(|| Evidence {
        is_call: false,
        n_request: to_u32(shared.request.len()),
        same_thread: false,
        n_differ: Reverse(0),
        n_weak: 0,
        is_first: is_first(sender, receiver),
        magnitude: Reverse(magnitude(sender, receiver)),
        rank: Reverse(rank),
        distance_us: Reverse(distance_us(sender, receiver)),
    })
}

/// Whether two spans name two attached objects, each by what such an object keeps for itself:
/// then all that they have in common is what both have come across.
fn is_attached_to_another(
    facts: &Facts<'_>,
    pair: &Pair,
    (sender, receiver): (&Fact<'_>, &Fact<'_>),
    shared: &Shared<'_>,
) -> bool {
    let mut differs = false;
    for mapped in &pair.map {
        let kind = facts.kind(mapped.from);
        let only = (sender.only_value(kind), receiver.only_value(kind));
        let (Some(ours), Some(theirs)) = only else { continue };
        if ours == theirs && shared.request.contains(&ours) {
            return false;
        }
        differs |= ours != theirs && is_made(ours) && is_made(theirs);
    }
    differs
}

/// Whether a text is the address of one end of a connection (`host:port`): it
/// names the connection on the node that has the other end only; elsewhere the
/// same port can be in use at the same time, and later it is used again.
pub(crate) fn is_address(text: &str) -> bool {
    let Some((host, port)) = text.rsplit_once(':') else { return false };
    let is_host = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '/' | ':' | '[' | ']');
    (1..=5).contains(&port.len())
        && port.bytes().all(|b| b.is_ascii_digit())
        && host.contains(['.', ':'])
        && host.chars().all(is_host)
}

/// Whether both ends of a pair name one value each of an identifier that it hands over, and
/// not the same one.
pub(super) fn contradict(pair: &Pair, sender: &Fact<'_>, receiver: &Fact<'_>) -> bool {
    pair.map.iter().filter(|mapped| mapped.is_one).any(|mapped| {
        let (ours, theirs) = (sender.values_of(mapped.from), receiver.values_of(mapped.to));
        ours.len() == 1 && theirs.len() == 1 && !ours[0].is(&theirs[0])
    })
}

/// The values that a pair's identifiers share; none if they contradict it. `is_part`: what
/// the receiver names is a part of what the sender works on, whatever else that names.
fn mapped_values<'v>(
    facts: &Facts<'_>,
    pair: &Pair,
    sender: &Fact<'v>,
    receiver: &Fact<'v>,
    is_part: bool,
) -> Option<Shared<'v>> {
    // Who hands over can print it a moment later.
    let hands_on = hands_on(pair);
    let first_us = sender.start_us.saturating_sub(if hands_on { JUST_US } else { 0 });
    let times = first_us..=sender.end_us.saturating_add(JUST_US);
    let at_work = times.contains(&receiver.start_us);
    let of_entity = pair.role == Role::Entity;
    let mut shared = Shared {
        at_work,
        hands_on,
        is_rpc: pair.kind == LinkKind::Rpc && pair.role == Role::Remote,
        of_entity,
        ..Shared::default()
    };
    let mut differs = false;
    for mapped in &pair.map {
        let (ours, theirs) = (sender.values_of(mapped.from), receiver.values_of(mapped.to));
        let mut none = true;
        let is_ours = |their: &Held<'_>| ours.iter().any(|our| our.is(their));
        let is_same = |their: &&Held<'_>| is_ours(their) && !facts.is_counted_apart(their, sender, receiver);
        for value in theirs.iter().filter(is_same) {
            shared.add(value, mapped.strength, true);
            none = false;
        }
        if none && ours.len() == 1 && theirs.len() == 1 {
            if mapped.is_one {
                return None;
            }
            differs = true;
        }
    }
    // Another one of many: it may be theirs too, if something else says so.
    if differs && !is_part && shared.request.is_empty() {
        return None;
    }
    Some(shared)
}

/// How the two ends name different things.
#[derive(Default)]
struct Others {
    /// Kinds of identifiers of both of which each names one, and not the same.
    n_differ: u32,
    /// There is a kind of which they name things, and none in common.
    names_others: bool,
}

/// Adds to `shared` what no map names, but is the same thing by its class, or is one
/// rare text; returns how else the ends differ.
fn class_values<'v>(
    pairs: &Pairs<'_>,
    facts: &Facts<'_>,
    pair: &Pair,
    (sender, receiver): (&Fact<'v>, &Fact<'v>),
    shared: &mut Shared<'v>,
) -> Others {
    let mut others = Others::default();
    for value in receiver.values() {
        let class = value.value_class;
        let (ours, theirs) = (sender.values_of(class), receiver.values_of(class));
        let (from, to) = (pairs.strength(pair.from, class), pairs.strength(pair.to, class));
        let identify = from == to && from == Some(IdentifierStrength::Request);
        let is_ours = |value: &Held<'_>| {
            ours.iter().any(|our| our.is(value)) && !facts.is_counted_apart(value, sender, receiver)
        };
        if is_ours(value) {
            // The ends may hold it by the way only, without knowing what it is: then a
            // number tells what was meant, and a name (the queue that there is) does not.
            let unknown =
                if value.is_numbered() { IdentifierStrength::Request } else { IdentifierStrength::Weak };
            let strength = from.max(to).unwrap_or(unknown);
            shared.add(value, strength, false);
        } else if ours.len() == 1 && theirs.len() == 1 {
            others.n_differ += u32::from(identify);
        }
        others.names_others |= identify && !ours.is_empty() && !theirs.iter().any(is_ours);
    }
    // One rare text under two names: an address that one end calls its peer and
    // the other its source.
    for value in receiver.values() {
        if !value.is_numbered() {
            continue;
        }
        let other_name = |our: &&Held<'_>| our.is(value) && our.value_class != value.value_class;
        let is_apart = || facts.is_counted_apart(value, sender, receiver);
        // A bare number that one of them changes is a state: what one leaves behind, the
        // next one finds.
        let is_weak = |top, class| pairs.strength(top, class) == Some(IdentifierStrength::Weak);
        let is_state = |our: &Held<'_>| {
            is_number(value.text)
                && (is_weak(pair.from, our.value_class) || is_weak(pair.to, value.value_class))
        };
        let mut ours = sender.values().iter().filter(other_name);
        if ours.any(|our| !is_state(our)) && !is_apart() {
            shared.add(value, IdentifierStrength::Request, false);
        }
    }
    others
}

/// Whether a text is a number and nothing else.
pub(super) fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}

/// Distinct texts that both ends hold: one text under several names is one
/// piece of evidence.
#[derive(Default)]
struct Shared<'v> {
    request: Vec<&'v str>,
    weak: Vec<&'v str>,
    /// One of them tells things apart.
    tells: bool,
    /// The sender has just been at work as the receiver starts.
    at_work: bool,
    /// The receiver is handed by the sender what that works on.
    hands_on: bool,
    /// It is called by the sender, who waits for it.
    is_rpc: bool,
    /// The ends are events of one entity: its identity maps whatever it has a name
    /// for, also what it is a part of.
    of_entity: bool,
}

impl<'v> Shared<'v> {
    fn add_request(&mut self, value: &Held<'v>) {
        self.tells = true;
        if !self.request.contains(&value.text) {
            self.request.push(value.text);
        }
    }

    fn add(&mut self, value: &Held<'v>, strength: IdentifierStrength, is_mapped: bool) {
        // What lives on is meant by who is at work on it; and what comes back now and then
        // by who hands it on just then.
        let is_handed_on = self.hands_on && (is_mapped || self.is_rpc) && value.is_one_thing();
        let is_meant = self.at_work && (value.is_meant() || is_handed_on);
        let tells = match strength {
            IdentifierStrength::Request => true,
            IdentifierStrength::Weak => is_meant || value.is_rare(),
            IdentifierStrength::Node => false,
        };
        let is_telling = is_mapped || value.is_telling();
        let is_common = !is_meant && value.is_common();
        let is_request = tells && is_telling && !is_common;
        // A short text that both happen to know is equal by chance.
        if !is_request && (!is_telling || is_common) {
            return;
        }
        self.tells |= if self.of_entity { value.is_numbered() } else { is_mapped || value.tells_apart() };
        let known = if is_request { &mut self.request } else { &mut self.weak };
        if strength != IdentifierStrength::Node && !known.contains(&value.text) {
            known.push(value.text);
        }
    }
}

/// Time from the sender's work to the receiver's start, in powers of ten above
/// [`SOON_US`].
fn magnitude(sender: &Fact<'_>, receiver: &Fact<'_>) -> u32 {
    let gap_us = receiver.start_us.saturating_sub(sender.end_us).max(0).unsigned_abs();
    (gap_us / SOON_US).checked_ilog10().map_or(0, |powers| powers + 1)
}

fn is_first(sender: &Fact<'_>, receiver: &Fact<'_>) -> bool {
    let is_known = sender.thread.is_some() || receiver.thread.is_some() || sender.node != receiver.node;
    // What one tick of the clock holds stands in the log in the order in which it was printed.
    let begin = |fact: &Fact<'_>| fact.events.first().map(|event| (event.file, event.line));
    let is_behind = begin(sender).zip(begin(receiver)).is_some_and(|(a, b)| a.0 == b.0 && a.1 > b.1);
    is_known || (sender.start_us, is_behind) <= (receiver.start_us, false)
}

fn distance_us(sender: &Fact<'_>, receiver: &Fact<'_>) -> u64 {
    let distance = sender.start_us.abs_diff(receiver.start_us);
    if sender.start_us <= receiver.start_us { distance } else { distance.saturating_mul(BEFORE_PENALTY) }
}
