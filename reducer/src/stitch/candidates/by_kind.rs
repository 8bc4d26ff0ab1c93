//! Senders past a silent starter: a task that nobody else starts was started by it, and
//! that by who names what the task names. The name of a lasting thing comes back again
//! and again: who has named it last before the task began is meant.

use super::*;

impl<'a> Finder<'a> {
    /// The latest sender along a way of starts that names what the receiver names.
    pub(super) fn by_kind(&self, index: u32, receiver: &Receiver<'_, 'a>, out: &mut Vec<Candidate>) {
        let (pair, fact) = (self.pairs.get(index), receiver.fact);
        let serves = self.pairs.is_dispatcher(pair.from) || self.pairs.serves(pair, fact);
        if !pair.by_name || pair.role != Role::Local || serves {
            return;
        }
        let spans = self.by_top.get(&(fact.node, pair.from)).map_or(&[][..], Vec::as_slice);
        let found = self.around(pair, spans, receiver, LOOK_BACK_MAX).filter_map(|&sender| {
            let other = self.facts.get(sender);
            let gap_us = fact.start_us.saturating_sub(other.end_us);
            let is_near = gap_us <= HAND_OFF_MAX_US && self.in_time(index, sender, fact);
            if sender == receiver.index || !is_near || !self.comes_first(sender, receiver.index) {
                return None;
            }
            let evidence = weigh(self.pairs, self.facts, pair, other, fact)?;
            Some((since_us(other, fact), self.candidate(index, sender, receiver.index, evidence)))
        });
        out.extend(found.min().map(|(_, nearest)| nearest));
    }
}
