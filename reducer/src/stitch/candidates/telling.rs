//! Telling: senders that print a text which contains what the receiver names.
//!
//! Who looks something up before it hands over prints what it looks for, in words of
//! its own (a key that begins with the name of a table, a path below a folder); the
//! receiver prints the name. It need not print anything else, so that others can have
//! printed the same: then it is taken for what the pair says. The one that printed
//! last is meant, as a name that lives on is by who is at work on it. The `main` of a
//! server that has been silent waits for the end of the process and hands nothing over.

use schema::LinkKind;
use schema::kinds::{contains_apart, is_made};

use super::super::evidence::{is_naming, weigh};
use super::super::facts::Fact;
use super::super::pairs::Role;
use super::{Candidate, Finder, HAND_OFF_LOOK_BACK_MAX, HAND_OFF_MAX_US, Receiver, has_waited, since_us};

impl<'a> Finder<'a> {
    /// The latest sender of a task that tells of what the task names.
    pub(super) fn by_telling(&self, index: u32, receiver: &Receiver<'_, 'a>, out: &mut Vec<Candidate>) {
        let (pair, fact) = (self.pairs.get(index), receiver.fact);
        let is_task = pair.role == Role::Local && pair.kind == LinkKind::Thread && pair.from != pair.to;
        let serves = [pair.from, pair.to].into_iter().any(|top| self.pairs.is_dispatcher(top));
        let is_starter = self.pairs.is_main(pair.from);
        if !is_task || serves || pair.is_way() || self.pairs.is_event_handler(pair.to) {
            return;
        }
        let key = (fact.node, pair.from);
        let spans = [&self.by_top, &self.by_other_top].into_iter().filter_map(|index| index.get(&key));
        let around = spans.flat_map(|spans| self.around(pair, spans, receiver, HAND_OFF_LOOK_BACK_MAX));
        let found = around.filter_map(|&sender| {
            let other = self.facts.get(sender);
            let gap_us = fact.start_us.saturating_sub(other.end_us);
            let is_near = gap_us <= HAND_OFF_MAX_US && self.in_time(index, sender, fact);
            // A program whose `main` has fallen silent waits for what it has started.
            let waits = is_starter && has_waited(other, fact);
            if sender == receiver.index || waits || !is_near || !self.tells_of(other, fact) {
                return None;
            }
            let evidence = weigh(self.pairs, self.facts, pair, other, fact)?;
            Some((since_us(other, fact), self.candidate(index, sender, receiver.index, evidence)))
        });
        // More than time speaks for it: who hands out several things names another one to
        // each, and they do not contradict each other.
        out.extend(found.min().map(|(_, nearest)| Candidate { is_bare: false, ..nearest }));
    }

    /// Whether a text that the sender prints contains what the receiver names, set
    /// apart.
    fn tells_of(&self, sender: &Fact<'_>, receiver: &Fact<'_>) -> bool {
        let values = receiver.values().iter().filter(|value| {
            is_naming(&value.text) && is_made(&value.text) && !self.facts.is_everywhere(value)
        });
        let mut names = values.map(|value| &*value.text);
        names.any(|name| {
            sender.events.iter().any(|event| {
                let tells = |text: &str| text.len() > name.len() && contains_apart(text, name);
                // What is of no class is of nothing that the sender works on.
                event
                    .values
                    .iter()
                    .any(|(variable, text)| tells(text) && self.pairs.is_of_class(event, variable))
            })
        })
    }
}
