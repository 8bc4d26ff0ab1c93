//! On the way: a dispatcher that has printed the line before a call has come to that call.
//!
//! What a dispatcher prints says nothing of what its thread does after a pause: it waits
//! between its rounds. But a line that it prints in each round before it calls something, and
//! not before its rounds, would be printed once more by the next round. What its thread begins next, and is called
//! from there on, is called in that very round, however long the dispatcher takes to come to
//! it.

use super::by_thread::is_amid;
use super::*;

impl<'a> Finder<'a> {
    /// Whether the sender of `pair` is a dispatcher that has printed last, in the thread of the
    /// receiver, what it prints in a round only before it calls that, and nothing that it has
    /// called since goes on with the receiver's lines. What initializes a class is printed
    /// wherever that is used first.
    pub(super) fn is_on_the_way(&self, pair: &Pair, sender: u32, receiver: &Receiver<'_, 'a>) -> bool {
        let (other, fact) = (self.facts.get(sender), receiver.fact);
        if !pair.is_call() || !self.pairs.is_dispatcher(pair.from) || sender == receiver.index {
            return false;
        }
        if !self.facts.are_of_one_thread(sender, receiver.index) {
            return false;
        }
        let earlier = other.events.iter().rev().filter(|event| event.ts_us <= fact.start_us);
        let mut printed = earlier.filter_map(|event| Some((event.log_point?, event.ts_us)));
        let own = printed.find(|&(point, _)| !self.pairs.initializes(point));
        own.is_some_and(|(last, last_us)| {
            self.pairs.printed_before(pair).binary_search(&last).is_ok()
                && !self.pairs.is_outside_rounds(pair.from, last)
                && !self.is_at_something(sender, last_us, receiver)
        })
    }

    /// Whether the thread of both has begun something after `since_us` that goes on after the
    /// receiver, or is what the receiver can be a part of.
    fn is_at_something(&self, sender: u32, since_us: i64, receiver: &Receiver<'_, 'a>) -> bool {
        let fact = receiver.fact;
        let of_thread = fact.thread.and_then(|thread| self.of_thread.get(&(fact.node, thread)));
        let spans = of_thread.map_or(&[][..], Vec::as_slice);
        let first = spans.partition_point(|&span| self.facts.get(span).start_us < since_us);
        let is_earlier = |span: u32| span < receiver.n_started && self.comes_first(span, receiver.index);
        let mut between = spans[first..].iter().take(LOOK_BACK_MAX).take_while(|&&span| is_earlier(span));
        between.any(|&span| {
            let inner = self.facts.get(span);
            let can_be = |&top: &TopLevelId| fact.tops.contains(&top) || fact.other_tops.contains(&top);
            span != sender
                && span != receiver.index
                && (is_amid(inner, fact) || inner.tops.first().is_some_and(can_be))
        })
    }
}
