//! By entity: all that is done to one attached object, along which of its events follow each other.

use super::{Finder, LOOK_BACK_MAX, Receiver};
use crate::stitch::evidence::{Candidate, weigh_attached};
use crate::stitch::facts::Fact;
use crate::stitch::pairs::Role;

impl<'a> Finder<'a> {
    /// Spans before the receiver that work on the same attached object.
    pub(super) fn by_entity(&self, receiver: &Receiver<'_, 'a>, out: &mut Vec<Candidate>) {
        let fact = receiver.fact;
        let pairs: Vec<u32> = (fact.tops.iter())
            .flat_map(|&top| self.pairs.to(top))
            .filter(|&index| self.pairs.get(index).role == Role::Attached)
            .collect();
        if pairs.is_empty() {
            return;
        }
        let mut senders = Vec::new();
        for value in fact.values().iter().filter(|value| value.is_one_thing()) {
            let spans = self.by_text.get(&value.number).map_or(&[][..], Vec::as_slice);
            let end = spans.partition_point(|&span| span < receiver.n_started);
            let spans = spans[..end].iter().rev().take(LOOK_BACK_MAX);
            let spans = spans.filter(|&&span| self.comes_first(span, receiver.index));
            if value.is_address() {
                let born_us = self.born_us(fact, value.number);
                senders.extend(spans.filter(|&&span| {
                    let other = self.facts.get(span);
                    other.node == fact.node && other.start_us >= born_us
                }));
            } else {
                senders.extend(spans);
            }
        }
        senders.sort_unstable();
        senders.dedup();
        for sender in senders {
            let other = self.facts.get(sender);
            // Before its rounds a dispatcher works on none of what it hands out in them.
            let works = |&&index: &&u32| !self.pairs.is_before_rounds(self.pairs.get(index).from, other);
            let found = pairs.iter().filter(works).filter_map(|&index| {
                let evidence =
                    weigh_attached(self.facts, &self.determined, self.pairs.get(index), (other, fact))?;
                Some(self.candidate(index, sender, receiver.index, evidence))
            });
            out.extend(found.min());
        }
    }

    /// Whether a span that starts no later than another one comes first. Of two that
    /// start at one time, one is before the other in the log: both ways at once they
    /// would be all that they have to do with anybody.
    pub(super) fn comes_first(&self, span: u32, other: u32) -> bool {
        let (a, b) = (self.facts.get(span), self.facts.get(other));
        if a.start_us != b.start_us {
            return true;
        }
        let place = |fact: &Fact<'_>| fact.events.first().map(|event| (event.file, event.line));
        if a.node == b.node { (place(a), span) < (place(b), other) } else { span < other }
    }

    /// When the connection with an address that `fact` shows was met last.
    fn born_us(&self, fact: &Fact<'a>, address: u32) -> i64 {
        let births = self.births_us.get(&(fact.node, address)).map_or(&[][..], Vec::as_slice);
        let n = births.partition_point(|&birth| birth <= fact.start_us);
        n.checked_sub(1).map_or(i64::MIN, |last| births[last])
    }
}
