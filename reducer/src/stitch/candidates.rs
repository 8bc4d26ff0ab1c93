//! Candidates: for a receiver's span, the spans that can have handed the
//! request to it. Found by identifier value and time, never by comparing all
//! spans with all.
//!
//! Under-approximates: of the spans with one value, only the latest
//! [`LOOK_BACK_MAX`] that started before the receiver are looked at.

use std::cell::{OnceCell, RefCell};
use std::cmp::Reverse;
use std::ops::Range;

use rustc_hash::FxHashMap;
use schema::{IdentifierStrength, LinkKind, Pass, TopLevelId, TopLevelKind, ValueClassId};

use super::determined::Determined;
use super::evidence::{Candidate, Evidence, hands_on, names_part, names_thread, weigh};
use super::facts::{Fact, Facts};
use super::held::{Held, TextSet};
use super::pairs::{Pair, Pairs, Role};
use crate::Config;

mod by_entity;
mod by_kind;
mod by_thread;
mod by_time;
mod in_time;
mod indexes;
mod on_the_way;
mod ways_in;

use self::by_thread::AtWork;
use self::indexes::{ANY_NODE, ByText, ByTop, OfTop, ValueKey};

/// Senders looked at per value, latest start first.
const LOOK_BACK_MAX: usize = 64;

/// Senders looked at per top-level method where only time can tell.
const HAND_OFF_LOOK_BACK_MAX: usize = 16;

/// Without a shared value, a receiver starts at most this long after its
/// sender's last event, µs: what takes longer is not handed over directly.
const HAND_OFF_MAX_US: i64 = 10_000_000;

/// What was printed at most this long ago was just printed, µs.
const JUST_US: i64 = 100_000;

/// Times closer than this are equal: logs print milliseconds, µs.
pub(super) const TICK_US: i64 = 2_000;

/// After printing nothing for so long the `main` of a program, or who has started a
/// thread that goes round by itself, hands over nothing that time alone or the thread's
/// name could tell, µs: it has started what it runs, and waits.
const STARTER_SILENT_MAX_US: i64 = 1_000_000;

/// On one node a receiver can print this much before its sender does, µs.
const LOCAL_LEAD_MAX_US: i64 = 1_000_000;

/// Values of a receiver of which is remembered who has them: one after the other they are looked
/// through as fast as they are hashed.
const LOOKED_UP_MAX: usize = 32;

/// Spans that have a text in common with a receiver, of which it is looked up who of them has a
/// value: of more than these it is faster to look through those who have the value.
const SHARING_MAX: usize = 64;

/// Finds the possible senders of spans.
pub(super) struct Finder<'a> {
    pairs: &'a Pairs<'a>,
    facts: &'a Facts<'a>,
    config: &'a Config,
    /// Senders by (node, value), of each top-level method in order of start.
    by_value: FxHashMap<ValueKey, Vec<OfTop>>,
    /// Senders by (node, top-level method), in order of start.
    by_top: FxHashMap<(u32, TopLevelId), Vec<u32>>,
    /// Spans that can work on an attached object, by the number of a text, in order of start.
    by_text: FxHashMap<u32, Vec<u32>>,
    /// Spans that hold each text, in order of start: up to [`SHARING_MAX`] and one.
    holders: Vec<Vec<u32>>,
    /// What comes with what in spans that can work on an attached object.
    determined: Determined,
    /// When a dispatcher printed an address of its node, in order: it met a new
    /// connection, and what had the address before was another one.
    births_us: FxHashMap<(u32, u32), Vec<i64>>,
    /// When each thread was at work, by (node, thread): its spans, in order, but for those in
    /// which it only hands out work.
    at_work: FxHashMap<(u32, &'a str), Vec<AtWork>>,
    /// Spans by (node, thread), in order of start.
    of_thread: FxHashMap<(u32, &'a str), Vec<u32>>,
    /// By the (node, top-level method) of a receiver.
    ways_in: ways_in::OfNodes,
}

/// A top-level method with one of its spans.
type SpanOfTop = (TopLevelId, u32);

/// A span whose senders are looked for.
struct Receiver<'f, 'a> {
    index: u32,
    fact: &'f Fact<'a>,
    /// Senders by value, sorted by their top-level methods, as far as they were looked up: most
    /// pairs ask for the same few values.
    by_value: RefCell<Vec<(ValueKey, &'f [OfTop])>>,
    /// What it holds that can say anything of its sender.
    telling: [TextSet; 2],
    /// Spans that hold one of the texts or one of the things of that, by their top-level methods,
    /// sorted; none: too many.
    sharing: [OnceCell<Option<Vec<SpanOfTop>>>; 2],
    /// Spans that start no later than it does.
    n_started: u32,
    /// Spans that start no later than the latest of its local senders, and of its
    /// remote ones, can.
    n_local: u32,
    n_remote: u32,
}

impl<'a> Finder<'a> {
    /// Indexes the spans as senders.
    pub(super) fn new(pairs: &'a Pairs<'a>, facts: &'a Facts<'a>, config: &'a Config) -> Self {
        let (by_top, by_text) = rayon::join(|| ByTop::new(pairs, facts), || ByText::new(pairs, facts));
        let ByTop { by_value, by_top } = by_top;
        let ByText { by_text, holders, determined, births_us, at_work, of_thread } = by_text;
        let ways_in = ways_in::of(pairs, facts, |sender| by_top.contains_key(sender));
        Self {
            pairs,
            facts,
            config,
            ways_in,
            by_value,
            by_top,
            by_text,
            holders,
            determined,
            births_us,
            at_work,
            of_thread,
        }
    }

    /// The possible hand-offs to the span at `index`.
    pub(super) fn senders_of(&self, index: u32) -> Vec<Candidate> {
        let fact = self.facts.get(index);
        let n_leading = |lead_us: i64| self.facts.n_started(fact.start_us.saturating_add(lead_us));
        let telling =
            |hands_on| TextSet::of(fact.values().iter().filter(|value| value.tells_sender(hands_on)));
        let receiver = Receiver {
            index,
            fact,
            by_value: RefCell::default(),
            telling: [telling(false), telling(true)],
            sharing: Default::default(),
            n_started: n_leading(0),
            n_local: n_leading(self.local_lead_max_us()),
            n_remote: n_leading(self.config.skew_us),
        };
        let mut out = Vec::new();
        self.find(Pass::ByEntity, &mut out, |out| self.by_entity(&receiver, out));
        for &top in fact.tops {
            let ways_in = &self.ways_in[&(fact.node, top)];
            self.by_values_alone(Pass::ByValues, &ways_in.by_values, &receiver, &mut out);
            for &index in &ways_in.others {
                let pair = self.pairs.get(index);
                if pair.role == Role::Served || (pair.by_thread && fact.thread.is_none()) {
                    self.find(Pass::ByName, &mut out, |out| self.by_name(index, &receiver, out));
                    continue;
                }
                // Who is nearest in time is not whose turn it is.
                let is_by_order = pair.in_order && pair.map.is_empty();
                let _ = self.find(Pass::ByValues, &mut out, |out| self.by_values(index, &receiver, out))
                    || self.find(Pass::ByKind, &mut out, |out| self.by_kind(index, &receiver, out))
                    || is_by_order
                    || self.find(Pass::ByTime, &mut out, |out| self.by_time(index, &receiver, out));
            }
            self.by_values_alone(Pass::ByAsking, &ways_in.asking_by_values, &receiver, &mut out);
            for &index in &ways_in.asking {
                self.find(Pass::ByAsking, &mut out, |out| self.by_values(index, &receiver, out));
            }
        }
        out
    }

    /// Lets a pass find more candidates; whether there are some.
    fn find(&self, by: Pass, out: &mut Vec<Candidate>, find: impl FnOnce(&mut Vec<Candidate>)) -> bool {
        let before = out.len();
        self.config.run(by, || find(out));
        out[before..].iter_mut().for_each(|candidate| candidate.by = by);
        out.len() > before
    }

    /// Senders that share a value with the receiver.
    fn by_values<'f>(&'f self, index: u32, receiver: &Receiver<'f, 'a>, out: &mut Vec<Candidate>) {
        let (pair, fact) = (self.pairs.get(index), receiver.fact);
        // Who has no text in common with the receiver says nothing to it, unless its
        // thread is named after what the sender has, or its name contains the sender's.
        let by_thread = pair.kind == LinkKind::Thread && self.facts.own_thread(fact).is_some();
        let is_within = by_thread || pair.to_parts;
        let texts = receiver.telling[usize::from(hands_on(pair))];
        if texts.is_empty() && !is_within {
            return;
        }
        let may_tell = |span: &&u32| is_within || self.facts.texts(**span).meets(texts);
        let sharing = if is_within { None } else { self.sharing_of(receiver, pair) };
        if sharing.is_some_and(<[_]>::is_empty) {
            return;
        }
        let node = if pair.role == Role::Remote { ANY_NODE } else { fact.node };
        let mut senders = Vec::new();
        // What is mapped is a value of the receiver too, mostly of the same kind.
        let mut looked_up: Vec<(ValueClassId, u32)> = Vec::with_capacity(fact.values().len());
        let mut look_up = |kind: ValueClassId, text: u32| {
            if looked_up.contains(&(kind, text)) {
                return;
            }
            looked_up.push((kind, text));
            let key = (node, kind, text);
            let is_shared = |sharing: &[SpanOfTop]| sharing.iter().any(|&(_, span)| self.holds(span, key));
            if !sharing.is_none_or(is_shared) {
                return;
            }
            let tops = self.with_value(receiver, key);
            let Ok(at) = tops.binary_search_by_key(&pair.from, |(top, _)| *top) else { return };
            let spans = &tops[at].1[..];
            match sharing {
                Some(sharing) => senders.extend(self.around_among(pair, (key, spans), receiver, sharing)),
                None => senders.extend(self.around(pair, spans, receiver, LOOK_BACK_MAX).filter(may_tell)),
            }
        };
        // Along a way only what all of its steps carry counts.
        let unmapped = if pair.is_way() { &[][..] } else { fact.values() };
        for mapped in &pair.map {
            let kind = self.facts.kind(mapped.from);
            fact.values_of(mapped.to).iter().for_each(|value| look_up(kind, value.number));
        }
        for value in unmapped {
            if self.pairs.strength(pair.to, value.value_class) != Some(IdentifierStrength::Node) {
                look_up(value.kind, value.number);
            }
        }
        senders.extend(self.naming(pair, receiver));
        senders.extend(self.part_named(pair, node, receiver));
        senders.sort_unstable();
        senders.dedup();
        for sender in senders {
            if sender == receiver.index || !self.in_time(index, sender, fact) {
                continue;
            }
            let other = self.facts.get(sender);
            if let Some(evidence) = weigh(self.pairs, self.facts, pair, other, fact)
                && (evidence.n_request > 0 || (evidence.n_weak > 0 && self.weak_tells(pair, other, fact)))
            {
                out.push(self.candidate(index, sender, receiver.index, evidence));
            }
        }
    }

    /// Whether an equal weak value says enough: the sender must be at work when the receiver starts.
    fn weak_tells(&self, pair: &Pair, sender: &Fact<'_>, receiver: &Fact<'_>) -> bool {
        // An event names the entity that it is sent to.
        let is_event = pair.kind == LinkKind::Queue && self.pairs.is_entity(pair.to);
        receiver.start_us <= sender.end_us + LOCAL_LEAD_MAX_US
            && pair.from != pair.to
            && !is_event
            && !matches!(pair.role, Role::Cut | Role::Remote | Role::Entity)
    }

    /// The spans that have a text in common with a receiver which can say anything of who sent it, or
    /// `hands_on` to it, by their top-level methods, sorted; none if there are too many.
    fn sharing<'r>(&self, receiver: &'r Receiver<'_, 'a>, hands_on: bool) -> Option<&'r [SpanOfTop]> {
        // Mostly there is nothing that says more of one than of the other.
        let tells_more = |value: &Held<'_>| value.tells_sender(hands_on) != value.tells_sender(!hands_on);
        let at = usize::from(hands_on && receiver.fact.values().iter().any(tells_more));
        let find = || {
            let mut spans = Vec::new();
            for value in receiver.fact.values().iter().filter(|value| value.tells_sender(hands_on)) {
                let of_text = &self.holders[value.number as usize][..];
                if spans.len() + of_text.len() > SHARING_MAX {
                    return None;
                }
                spans.extend_from_slice(of_text);
            }
            spans.sort_unstable();
            spans.dedup();
            let of_tops = |&span: &u32| self.facts.get(span).tops.iter().map(move |&top| (top, span));
            let mut found: Vec<SpanOfTop> = spans.iter().flat_map(of_tops).collect();
            found.sort_unstable();
            Some(found)
        };
        receiver.sharing[at].get_or_init(find).as_deref()
    }

    /// Those of the method that sends along `pair`.
    fn sharing_of<'r>(&self, receiver: &'r Receiver<'_, 'a>, pair: &Pair) -> Option<&'r [SpanOfTop]> {
        let all = self.sharing(receiver, hands_on(pair))?;
        let from = all.partition_point(|(top, _)| *top < pair.from);
        let n = all[from..].partition_point(|(top, _)| *top == pair.from);
        Some(&all[from..from + n])
    }

    /// Whether a span of a node, or any, has a value.
    fn holds(&self, span: u32, (node, kind, text): ValueKey) -> bool {
        let fact = self.facts.get(span);
        let is_it = |value: &Held<'_>| (value.kind, value.number) == (kind, text);
        (node == ANY_NODE || node == fact.node) && fact.values().iter().any(is_it)
    }

    /// Those of [`Self::around`] the `spans` with a value that are among `sharing`, which is sorted.
    fn around_among<'b>(
        &'b self,
        pair: &Pair,
        (key, spans): (ValueKey, &'b [u32]),
        receiver: &Receiver<'_, 'a>,
        sharing: &'b [SpanOfTop],
    ) -> impl Iterator<Item = u32> + use<'b, 'a> {
        // Of few spans all are near that can start so late.
        let near = if spans.len() <= LOOK_BACK_MAX {
            0..self.n_leading(pair, receiver)
        } else {
            let near = &spans[self.range_around(pair, spans, receiver, LOOK_BACK_MAX)];
            near.first().zip(near.last()).map_or(0..0, |(first, last)| *first..last + 1)
        };
        let sharing = sharing.iter().map(|&(_, span)| span);
        sharing.filter(move |span| near.contains(span) && self.holds(*span, key))
    }

    /// The senders with a value of a receiver.
    fn with_value<'f>(&'f self, receiver: &Receiver<'f, 'a>, key: ValueKey) -> &'f [OfTop] {
        let mut known = receiver.by_value.borrow_mut();
        if let Some((_, tops)) = known.iter().find(|(known, _)| *known == key) {
            return tops;
        }
        let tops = self.by_value.get(&key).map_or(&[][..], Vec::as_slice);
        if known.len() < LOOKED_UP_MAX {
            known.push((key, tops));
        }
        tops
    }

    /// Senders after one of whose values the receiver's thread is named. What
    /// dispatches in it belongs to whatever it is given, not to its starter.
    fn naming(&self, pair: &Pair, receiver: &Receiver<'_, 'a>) -> Vec<u32> {
        let fact = receiver.fact;
        let is_start = pair.kind == LinkKind::Thread && matches!(pair.role, Role::Local | Role::Served);
        let dispatches = self.pairs.serves(pair, fact);
        if !is_start || dispatches || self.facts.own_thread(fact).is_none() {
            return Vec::new();
        }
        let spans = self.by_top.get(&(fact.node, pair.from)).map_or(&[][..], Vec::as_slice);
        let names = |span: &&u32| {
            let sender = self.facts.get(**span);
            !(self.starts_rounds(pair) && has_waited(sender, fact))
                && sender.values().iter().any(|value| names_thread(self.facts, value, sender, fact))
        };
        self.around(pair, spans, receiver, LOOK_BACK_MAX).filter(names).copied().collect()
    }

    /// Senders of a pair that names nothing, where a value names a part of theirs.
    fn part_named(&self, pair: &Pair, node: u32, receiver: &Receiver<'_, 'a>) -> Vec<u32> {
        if !pair.to_parts {
            return Vec::new();
        }
        let spans = self.by_top.get(&(node, pair.from)).map_or(&[][..], Vec::as_slice);
        let names = |span: &&u32| names_part(pair, self.facts.get(**span), receiver.fact).is_some();
        self.around(pair, spans, receiver, LOOK_BACK_MAX).filter(names).copied().collect()
    }

    /// Of the `spans` that can have handed over to `receiver`, at most `n_max` that
    /// started before it, latest first, and as many that started after it: those
    /// must not crowd out the others.
    fn around<'b>(
        &self,
        pair: &Pair,
        spans: &'b [u32],
        receiver: &Receiver<'_, 'a>,
        n_max: usize,
    ) -> impl Iterator<Item = &'b u32> + use<'b> {
        let range = self.range_around(pair, spans, receiver, n_max);
        let started = spans[range.clone()].partition_point(|&span| span < receiver.n_started);
        let (before, after) = spans[range].split_at(started);
        before.iter().rev().chain(after)
    }

    /// Where those stand.
    fn range_around(
        &self,
        pair: &Pair,
        spans: &[u32],
        receiver: &Receiver<'_, 'a>,
        n_max: usize,
    ) -> Range<usize> {
        let n_leading = self.n_leading(pair, receiver);
        let end = spans.partition_point(|&span| span < n_leading);
        let started = spans[..end].partition_point(|&span| span < receiver.n_started);
        started.saturating_sub(n_max)..end.min(started + n_max)
    }

    /// Spans that start no later than the latest sender along `pair` can.
    fn n_leading(&self, pair: &Pair, receiver: &Receiver<'_, 'a>) -> u32 {
        match self.lead_max_us(pair) {
            0 => receiver.n_started,
            _ if pair.role == Role::Remote => receiver.n_remote,
            _ => receiver.n_local,
        }
    }

    /// Hand-offs to what serves everybody: the name of its thread must tell.
    fn by_name(&self, index: u32, receiver: &Receiver<'_, 'a>, out: &mut Vec<Candidate>) {
        let (pair, fact) = (self.pairs.get(index), receiver.fact);
        for sender in self.naming(pair, receiver) {
            if sender != receiver.index
                && self.in_time(index, sender, fact)
                && let Some(evidence) = weigh(self.pairs, self.facts, pair, self.facts.get(sender), fact)
                && evidence.n_request > 0
            {
                out.push(self.candidate(index, sender, receiver.index, evidence));
            }
        }
    }

    /// Whether a pair starts a thread that goes round by itself: what its loop does without
    /// telling one round from the next it is given by others, round by round.
    fn starts_rounds(&self, pair: &Pair) -> bool {
        pair.kind == LinkKind::Thread && self.pairs.kind(pair.to) == TopLevelKind::IdentifierLoss
    }

    fn candidate(&self, index: u32, from: u32, to: u32, evidence: Evidence) -> Candidate {
        let pair = self.pairs.get(index);
        let by_thread = evidence.same_thread && !self.pairs.is_dispatcher(pair.from);
        let is_bare = evidence.n_request == 0 && evidence.n_weak == 0 && !by_thread;
        let is_remote = pair.kind.crosses_nodes() || pair.is_way();
        let (sender, receiver) = (self.facts.get(from), self.facts.get(to));
        // What is called takes as long as it takes: who prints after it has not waited, nor
        // has whose thread was at work all along.
        let is_round = is_round_of(self.pairs, pair);
        let is_later = sender.start_us > receiver.start_us;
        let has_no_gap = is_round && (is_later || self.has_gone_on(sender, receiver));
        let penalty = if self.prints_late(pair, sender, receiver) { 1 } else { LEAD_PENALTY };
        let gap_us = if has_no_gap { 0 } else { delay_us(sender, receiver, penalty) };
        let (evidence, by) = (Reverse(evidence), Pass::ByValues);
        Candidate { is_bare, is_remote, evidence, to, from, pair: index, gap_us, by }
    }

    /// Whether a sender that starts later than the receiver's thread, which is named after
    /// the digest of what the sender works on, is no rest of something: it was at work
    /// before, prints first what comes after its hand-off, and no clock is behind another.
    fn prints_late(&self, pair: &Pair, sender: &Fact<'_>, receiver: &Fact<'_>) -> bool {
        let mut digests = sender.values().iter().filter(|value| value.is_unique());
        pair.is_on_node()
            && sender.start_us > receiver.start_us
            && sender.first_point.is_some_and(|point| self.pairs.starts_with(pair.from, point))
            && digests.any(|value| names_thread(self.facts, value, sender, receiver))
    }

    /// How much later than the receiver a sender on its node can start, µs.
    fn local_lead_max_us(&self) -> i64 {
        LOCAL_LEAD_MAX_US.min(self.config.window_us)
    }

    /// How much later than the receiver the sender along `pair` can start, µs.
    fn lead_max_us(&self, pair: &Pair) -> i64 {
        match pair.role {
            Role::Remote => self.config.skew_us,
            Role::Local if pair.kind == LinkKind::Call && !is_round_of(self.pairs, pair) => 0,
            Role::Local | Role::Served => self.local_lead_max_us(),
            Role::Asked | Role::Cut | Role::Entity | Role::Attached => 0,
        }
    }
}

/// Whether a dispatcher calls the receiver of a pair in its rounds: what it prints of that
/// itself can come after the call as well as before it.
fn is_round_of(pairs: &Pairs<'_>, pair: &Pair) -> bool {
    pair.kind == LinkKind::Call && pair.role == Role::Local && pairs.is_dispatcher(pair.from)
}

/// Times that a receiver's start before its sender's counts as a delay: a clock
/// can be behind, but by always the same.
pub(super) const LEAD_PENALTY: i64 = 10;

/// Time from what the sender printed last, before the receiver started, to that
/// start, µs.
fn since_us(sender: &Fact<'_>, receiver: &Fact<'_>) -> i64 {
    let before = sender.last_until(receiver.start_us);
    before.map_or(i64::MAX, |event| receiver.start_us.saturating_sub(event.ts_us))
}

/// Whether `sender` had printed nothing for so long, as the receiver began, that it waits
/// for what it has started.
pub(super) fn has_waited(sender: &Fact<'_>, receiver: &Fact<'_>) -> bool {
    since_us(sender, receiver) > STARTER_SILENT_MAX_US
}

/// From the sender's last event before the receiver's start to that start, µs; the other
/// way around it counts `penalty` times.
fn delay_us(sender: &Fact<'_>, receiver: &Fact<'_>, penalty: i64) -> i64 {
    let is_told = !sender.begins_in_one_tick(receiver);
    let lead_us = sender.start_us.saturating_sub(receiver.start_us).max(0) * i64::from(is_told);
    let gap_us = receiver.start_us.saturating_sub(sender.end_us).max(0);
    gap_us.saturating_add(lead_us.saturating_mul(penalty))
}
