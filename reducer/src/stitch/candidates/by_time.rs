//! Senders by time alone: where nothing that both ends name tells, who has handed over
//! something can follow from who was there, in which order, and how long ago.

use super::*;

impl<'a> Finder<'a> {
    /// The senders that time and the code allow, where no value is shared. Which of them it was is
    /// decided of all receivers together ([`crate::stitch::hand_overs`]).
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
        // What names nothing and others can have printed too is not known to be a receiver at all.
        let is_anything = fact.thread.is_none() && fact.tops.len() > 1 && fact.values().is_empty();
        if is_excluded || is_anything {
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
            found.push(candidate);
        }
        // What several name tells nothing of which of them it was.
        if found.iter().filter(|candidate| !candidate.is_bare).count() > 1 {
            found.iter_mut().for_each(|candidate| candidate.is_bare = true);
        }
        if !is_told {
            out.append(&mut found);
        }
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
        // Time is no evidence against values.
        !other.differ(fact)
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

    /// Whether a span shows something that is not equal to another by chance.
    fn names_something(&self, fact: &Fact<'_>) -> bool {
        let mut values = fact.values().iter();
        values.any(|value| value.is_telling() && !value.is_everywhere())
    }
}
