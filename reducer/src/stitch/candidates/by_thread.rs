//! By thread: a thread does one thing at a time, which tells who can still have called what
//! it prints.

use super::*;
use crate::skeleton::Event;

/// A thread was at work.
pub(super) struct AtWork {
    pub(super) start_us: i64,
    pub(super) end_us: i64,
}

impl<'a> Finder<'a> {
    /// Whether the thread of a caller began the calling method once more before the
    /// receiver began in it: it does one after the other, and the first is over. A
    /// dispatcher comes back to connections that it has met before.
    pub(super) fn has_begun_anew(&self, pair: &Pair, sender: u32, receiver: &Fact<'_>) -> bool {
        let caller = self.facts.get(sender);
        if !pair.is_call() || caller.thread.is_none() || caller.thread != receiver.thread {
            return false;
        }
        let is_theirs =
            |value: &Held<'_>| value.is_address() && caller.values().iter().any(|other| other.is(value));
        if self.pairs.is_dispatcher(pair.from) && receiver.values().iter().any(is_theirs) {
            return false;
        }
        let place =
            |fact: &Fact<'_>| fact.events.first().map(|event| (fact.start_us, event.file, event.line));
        let spans = self.by_top.get(&(caller.node, pair.from)).map_or(&[][..], Vec::as_slice);
        let later = &spans[spans.partition_point(|&span| span <= sender)..];
        let mut later = later.iter().map(|&span| self.facts.get(span)).take(LOOK_BACK_MAX);
        later.any(|other| {
            let begins = |point| self.pairs.starts_with(pair.from, point);
            other.thread == caller.thread
                && other.tops == [pair.from]
                && !other.truncated
                && other.first_point.is_some_and(begins)
                && caller.end_us <= other.start_us
                && place(other) < place(receiver)
        })
    }

    /// Whether the thread of a caller has printed, before the receiver began in it, what it
    /// prints only after the call: it has called before.
    pub(super) fn has_called_before(&self, pair: &Pair, caller: &Fact<'_>, receiver: &Fact<'_>) -> bool {
        let is_one = caller.thread.is_some() && caller.thread == receiver.thread;
        pair.is_call() && is_one && caller.node == receiver.node && self.pairs.is_past(pair, caller, receiver)
    }

    /// When the thread of two spans was at work; never if they are of different threads, or none
    /// is printed.
    pub(super) fn work_of_one_thread(&self, a: &Fact<'a>, b: &Fact<'a>) -> &[AtWork] {
        let thread = b.thread.filter(|_| a.node == b.node && a.thread == b.thread);
        thread.and_then(|thread| self.at_work.get(&(b.node, thread))).map_or(&[], Vec::as_slice)
    }
}

/// When each thread was at work, by (node, thread), in order, but for what only hands out work.
pub(super) fn at_work<'a>(pairs: &Pairs<'_>, facts: &'a Facts<'a>) -> FxHashMap<(u32, &'a str), Vec<AtWork>> {
    let mut at_work: FxHashMap<(u32, &str), Vec<AtWork>> = FxHashMap::default();
    for (_, fact) in facts.iter() {
        let hands_out = fact.tops.first().is_some_and(|&top| pairs.is_dispatcher(top));
        if let Some(thread) = fact.thread.filter(|_| !hands_out) {
            let work = AtWork { start_us: fact.start_us, end_us: fact.end_us };
            at_work.entry((fact.node, thread)).or_default().push(work);
        }
    }
    at_work
}

/// Whether a span stands in the middle of another one of its thread, which goes on after it:
/// it was called there. A thread takes nothing out of a queue before it is done with what it
/// is at.
pub(super) fn is_amid(outer: &Fact<'_>, inner: &Fact<'_>) -> bool {
    let when = |event: &Event| (event.ts_us, event.place());
    let ends = |fact: &Fact<'_>| Some((when(fact.events.first()?), when(fact.events.last()?)));
    let is_one_thread = outer.thread.is_some() && (outer.node, outer.thread) == (inner.node, inner.thread);
    let is_around = |((begins, goes_on), (first, last))| begins < first && last < goes_on;
    is_one_thread && ends(outer).zip(ends(inner)).is_some_and(is_around)
}
