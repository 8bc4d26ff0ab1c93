//! Senders by time alone: where nothing that both ends name tells, who has handed over
//! something can follow from who was there, in which order, and how long ago.

use super::*;
use crate::skeleton::Event;

/// What was named at most this long ago was named in the same piece of work, µs.
const JUST_NAMED_US: i64 = 1_000_000;

impl<'a> Finder<'a> {
    /// The one sender that time allows, where no value is shared: the only one,
    /// or one that has just printed something when all others were long silent.
    pub(super) fn by_time(&self, index: u32, receiver: &Receiver<'_, 'a>, out: &mut Vec<Candidate>) {
        let (pair, fact) = (self.pairs.get(index), receiver.fact);
        // Across nodes, and between parts of one thing, only values can tell.
        // A thread that serves belongs to whatever it is given, not to its starter; but what
        // is called comes back to its caller, whatever it hands out until then.
        // Events come from everybody, also from who prints nothing; those of an
        // entity name it, and where threads are printed who sends them does too.
        let is_told = fact.thread.is_some() && pair.kind == LinkKind::Queue;
        let is_called = fact.thread.is_some() && pair.kind == LinkKind::Call;
        let is_excluded = pair.role != Role::Local
            || pair.is_way()
            || pair.from == pair.to
            || (self.pairs.serves(pair, fact) && !is_called)
            || self.pairs.is_event_handler(pair.to)
            || (self.pairs.is_entity(pair.to) && (is_told || !self.names_something(fact)));
        // Without threads, what does not begin as its method does is the rest of
        // something else that did.
        let begins = |point| fact.thread.is_some() || self.pairs.starts_with(pair.to, point);
        let begins = fact.first_point.is_none_or(begins);
        // Nor is it known to be a receiver at all, if it names nothing and others can
        // have printed it too.
        let is_anything = fact.thread.is_none() && fact.tops.len() > 1 && fact.values().is_empty();
        if is_excluded || !begins || is_anything {
            return;
        }
        let Some(spans) = self.by_top.get(&(fact.node, pair.from)) else { return };
        let (mut found, mut is_told) = (Vec::new(), false);
        for &sender in self.around(pair, spans, receiver, HAND_OFF_LOOK_BACK_MAX) {
            let other = self.facts.get(sender);
            if !self.time_allows(index, sender, receiver) {
                continue;
            }
            let Some(evidence) = weigh(self.pairs, self.facts, pair, other, fact) else { continue };
            let mut candidate = self.candidate(index, sender, receiver.index, evidence);
            // A dispatcher waits for the next piece of work: what it printed before that
            // was about another one, unless it is on the way to this.
            let is_on_the_way = self.is_on_the_way(pair, sender, receiver);
            if is_on_the_way {
                candidate.gap_us = 0;
            } else if candidate.is_bare && self.has_waited(pair, other, fact) {
                continue;
            }
            if candidate.is_bare && self.is_between_rounds(pair, other, fact) {
                continue;
            }
            // A call in one thread: the latest caller is the caller. What most likely is
            // something else can itself have been called by one that is on the way.
            if evidence.same_thread && (is_on_the_way || !is_told) {
                out.push(candidate);
                is_told = true;
                if is_on_the_way || other.tops.first() == Some(&pair.from) {
                    return;
                }
            }
            found.push((since_us(other, fact), candidate));
        }
        if is_told {
            return;
        }
        found.sort_unstable();
        let nearest = found.first().map(|(_, candidate)| candidate.from);
        if let Some(candidate) = nearest.and_then(|sender| self.at_work_since(sender, receiver)) {
            out.push(candidate);
            return;
        }
        out.extend(self.nearest(pair, receiver.index, &found).filter(|best| !self.is_idle(pair, best)));
    }

    /// Whether the sender is a dispatcher that has printed nothing for longer than a piece
    /// of work needs to begin, and its thread was at work on nothing else that it calls.
    fn has_waited(&self, pair: &Pair, sender: &Fact<'a>, receiver: &Fact<'a>) -> bool {
        self.pairs.is_dispatcher(pair.from)
            && sender.start_us <= receiver.start_us
            && since_us(sender, receiver) > JUST_US
            && !self.pairs.is_outside(pair)
            && !self.has_gone_on(sender, receiver)
    }

    /// Whether a sender can have handed over to the receiver just then, and nothing that they name
    /// speaks against it.
    fn time_allows(&self, index: u32, sender: u32, receiver: &Receiver<'_, 'a>) -> bool {
        let (pair, fact, other) = (self.pairs.get(index), receiver.fact, self.facts.get(sender));
        let gap_us = fact.start_us.saturating_sub(other.end_us);
        // Who waits for the end of what it has started starts nothing.
        let is_starter = self.pairs.is_main(pair.from) || self.starts_rounds(pair);
        let waits = is_starter && has_waited(other, fact);
        // Who hands over before its rounds has not begun them.
        let is_late = self.pairs.is_outside(pair) && !self.pairs.is_before_rounds(pair.from, other);
        if waits || is_late || sender == receiver.index || gap_us > HAND_OFF_MAX_US {
            return false;
        }
        if !self.in_time(index, sender, fact) || !self.can_follow(pair, sender, receiver) {
            return false;
        }
        let is_without = !self.pairs.begins_thread(pair, fact) && self.goes_on_without(pair, other);
        // Time is no evidence against values.
        !(self.has_left(pair, other, fact)
            || self.facts.differ(other, fact)
            || self.is_of_others(receiver, other)
            || is_without)
    }

    /// Whether the sender is a dispatcher that hands over in its rounds, to other threads, and has
    /// printed last what is of none of them: a round that prints nothing has handed it over.
    fn is_between_rounds(&self, pair: &Pair, sender: &Fact<'a>, receiver: &Fact<'a>) -> bool {
        let last = || sender.last_until(receiver.start_us)?.log_point;
        pair.kind != LinkKind::Call
            && self.pairs.is_dispatcher(pair.from)
            && !self.pairs.is_outside(pair)
            && last().is_some_and(|last| self.pairs.is_outside_rounds(pair.from, last))
    }

    /// Whether the thread of both was at work from what the sender printed last before the
    /// receiver up to that, without a pause in which it can have waited for the next piece
    /// of work: what it calls in one round it calls one after the other.
    pub(super) fn has_gone_on(&self, sender: &Fact<'a>, receiver: &Fact<'a>) -> bool {
        let spans = self.work_of_one_thread(sender, receiver);
        if spans.is_empty() {
            return false;
        }
        let mut done_us = receiver.start_us.saturating_sub(since_us(sender, receiver));
        let first = spans.partition_point(|span| span.start_us < done_us);
        let between = spans[first..].iter().take(LOOK_BACK_MAX);
        for span in between.take_while(|span| span.start_us <= receiver.start_us) {
            if span.start_us - done_us > JUST_US {
                return false;
            }
            done_us = done_us.max(span.end_us);
        }
        receiver.start_us - done_us <= JUST_US
    }

    /// Whether time can tell that a sender came before the receiver. A caller can print
    /// after what it calls, and who sends an event after it was handled, but only the
    /// thread or what they name tells.
    fn can_follow(&self, pair: &Pair, sender: u32, receiver: &Receiver<'_, 'a>) -> bool {
        let is_event = pair.kind == LinkKind::Queue && self.pairs.is_entity(pair.to);
        let is_told = receiver.fact.thread.is_some() || !(is_event || pair.kind == LinkKind::Call);
        is_told || self.comes_first(sender, receiver.index)
    }

    /// Of senders, nearest first, the one that time tells.
    fn nearest(&self, pair: &Pair, receiver: u32, found: &[(i64, Candidate)]) -> Option<Candidate> {
        match found[..] {
            [] => None,
            [(_, only)] => Some(only),
            [(nearest_us, first), (next_us, _), ..] => {
                // What a dispatcher prints is about no request in particular.
                if self.pairs.is_dispatcher(pair.from) && !self.pairs.is_outside(pair) {
                    return None;
                }
                let is_near = next_us >= nearest_us.max(TICK_US).saturating_mul(NEARER_MIN);
                let is_just = nearest_us <= JUST_US && (is_near || self.in_turn(pair, receiver, found));
                if is_just { Some(first) } else { self.first_in_line(pair, receiver, found) }
            }
        }
    }

    /// Who is at work when the receiver begins, can have handed it over and has printed
    /// since `sender` was done: no thread shows which of them it was, and more speaks for
    /// who goes on. Of several, who has printed last.
    fn at_work_since(&self, sender: u32, receiver: &Receiver<'_, 'a>) -> Option<Candidate> {
        let fact = receiver.fact;
        let done = self.facts.get(sender);
        if fact.thread.is_some() || done.end_us >= fact.start_us {
            return None;
        }
        let (mut found, mut past) = (Vec::new(), Vec::new());
        for index in fact.tops.iter().flat_map(|&top| self.pairs.to(top)) {
            let pair = self.pairs.get(index);
            if pair.role != Role::Local || pair.is_way() || self.pairs.is_dispatcher(pair.from) {
                continue;
            }
            let spans = self.by_top.get(&(fact.node, pair.from)).map_or(&[][..], Vec::as_slice);
            for &other in self.around(pair, spans, receiver, HAND_OFF_LOOK_BACK_MAX) {
                let other_fact = self.facts.get(other);
                let is_at_work = (other_fact.start_us..=other_fact.end_us).contains(&fact.start_us);
                let since = since_us(other_fact, fact);
                if other == receiver.index
                    || !self.can_follow(pair, other, receiver)
                    || !is_at_work
                    || since >= since_us(done, fact)
                    || past.contains(&other)
                {
                    continue;
                }
                if self.is_past(pair, other_fact, fact) {
                    past.push(other);
                    continue;
                }
                if let Some(evidence) = weigh(self.pairs, self.facts, pair, other_fact, fact)
                    && !self.facts.differ(other_fact, fact)
                {
                    found.push((since, self.candidate(index, other, receiver.index, evidence)));
                }
            }
        }
        found.into_iter().min_by_key(|&(since, candidate)| (since, candidate.from)).map(|(_, best)| best)
    }

    /// Whether somebody else has just named what the receiver works on by a digest, which
    /// nobody has by chance, and `sender` has not. Where threads are printed, who starts a
    /// task just then is known from more than time.
    fn is_of_others(&self, receiver: &Receiver<'_, 'a>, sender: &Fact<'a>) -> bool {
        let fact = receiver.fact;
        let has_just_named = |&span: &u32| {
            let silent_us = fact.start_us.saturating_sub(self.facts.get(span).end_us);
            span != receiver.index && silent_us <= JUST_NAMED_US
        };
        let is_named = |value: &Value| {
            let holders = self.by_digest.get(&(fact.node, &*value.text)).map_or(&[][..], Vec::as_slice);
            let before = &holders[..holders.partition_point(|&span| span < receiver.n_started)];
            before.iter().rev().take(LOOK_BACK_MAX).any(has_just_named)
        };
        let is_senders = |value: &Value| sender.values().iter().any(|our| our.text == value.text);
        fact.thread.is_none() && fact.values().iter().any(|value| is_named(value) && !is_senders(value))
    }

    /// Whether a sender has printed, long before the receiver begins, what it only prints
    /// after it hands over. The events of an entity hand over one by one.
    fn is_past(&self, pair: &Pair, sender: &Fact<'a>, fact: &Fact<'a>) -> bool {
        let after = self.pairs.printed_after(pair);
        let is_after =
            |event: &&Event| event.log_point.is_some_and(|point| after.binary_search(&point).is_ok());
        let mut events = sender.events.iter();
        !self.pairs.is_entity(pair.from)
            && events.find(is_after).is_some_and(|event| fact.start_us.saturating_sub(event.ts_us) > JUST_US)
    }

    /// Whether what a `main` has started again and again runs also when that is long
    /// done: a timer's task, or one that others start as well, of which a program's
    /// start is no sender that time alone could tell.
    fn goes_on_without(&self, pair: &Pair, sender: &Fact<'a>) -> bool {
        let spans = self.receivers.get(&(sender.node, pair.to)).map_or(&[][..], Vec::as_slice);
        let last = spans.last().map(|&span| self.facts.get(span).start_us);
        let over_us = sender.end_us.saturating_add(HAND_OFF_MAX_US);
        pair.many && self.pairs.is_main(pair.from) && last.is_some_and(|last_us| last_us > over_us)
    }

    /// Whether a span shows something that is not equal to another by chance.
    fn names_something(&self, fact: &Fact<'_>) -> bool {
        let mut values = fact.values().iter();
        values.any(|value| value.text.len() >= TELLING_MIN && !self.facts.is_everywhere(value))
    }

    /// Whether senders and receivers about one thing took turns lately: after
    /// each of the `senders` (nearest first) a receiver started before the next
    /// sender, and none after the nearest. What is handed over in turn is taken
    /// in turn.
    fn in_turn(&self, pair: &Pair, receiver: u32, senders: &[(i64, Candidate)]) -> bool {
        let fact = self.facts.get(receiver);
        let spans = self.receivers.get(&(fact.node, pair.to)).map_or(&[][..], Vec::as_slice);
        let mut next_us = fact.start_us;
        for (position, (since_us, candidate)) in senders.iter().enumerate() {
            if *since_us > TURNS_US {
                break;
            }
            let sender = self.facts.get(candidate.from);
            if !names_alike(pair, sender, fact) {
                return false;
            }
            let sent_us = fact.start_us.saturating_sub(*since_us);
            let first = spans.partition_point(|&span| self.facts.get(span).start_us < sent_us);
            let mut started =
                spans[first..].iter().take_while(|&&span| self.facts.get(span).start_us < next_us);
            let is_served =
                started.any(|&span| span != receiver && names_alike(pair, sender, self.facts.get(span)));
            if is_served != (position > 0) {
                return false;
            }
            next_us = sent_us;
        }
        true
    }

    /// Of several `senders` about one thing that wait at once, the one whose turn
    /// it is: what is handed over first is taken first.
    fn first_in_line(&self, pair: &Pair, receiver: u32, senders: &[(i64, Candidate)]) -> Option<Candidate> {
        let fact = self.facts.get(receiver);
        let lately = |since_us: i64| since_us <= TURNS_US;
        if senders
            .iter()
            .any(|&(since_us, c)| lately(since_us) && !names_alike(pair, self.facts.get(c.from), fact))
        {
            return None;
        }
        let mut waiting: Vec<(i64, Candidate)> = (senders.iter())
            .filter(|(since_us, _)| lately(*since_us))
            .map(|&(since_us, candidate)| (fact.start_us.saturating_sub(since_us), candidate))
            .collect();
        waiting.sort_unstable();
        let (first_us, first) = waiting.first().copied()?;
        let thing = self.facts.get(first.from);
        let spans = self.receivers.get(&(fact.node, pair.to)).map_or(&[][..], Vec::as_slice);
        let from = spans.partition_point(|&span| self.facts.get(span).start_us < first_us);
        let mut line: VecDeque<Candidate> = VecDeque::new();
        let mut arriving = waiting.into_iter().peekable();
        for &span in &spans[from..] {
            let other = self.facts.get(span);
            while let Some((_, candidate)) = arriving.next_if(|(sent_us, _)| *sent_us <= other.start_us) {
                line.push_back(candidate);
            }
            if span == receiver {
                return line.pop_front();
            }
            if other.start_us > fact.start_us {
                return None;
            }
            if names_alike(pair, thing, other) {
                line.pop_front();
            }
        }
        None
    }
}
