//! Ways in: the pairs along which something can have come to the spans of one top-level method on a
//! node, as far as the log shows spans that send along them.
//!
//! Along most of them values alone can tell: of these only those are looked at whose senders have a
//! text in common with the receiver.

use rustc_hash::FxHashMap;
use schema::{LinkKind, Pass, TopLevelId};

use super::{ANY_NODE, Candidate, Finder, Receiver, hands_on};
use crate::stitch::facts::Facts;
use crate::stitch::pairs::{Pair, Pairs, Role};

/// The ways in of each (node, top-level method).
pub(super) type OfNodes = FxHashMap<(u32, TopLevelId), WaysIn>;

/// Pairs with who sends along them, sorted by that: those that hand nothing on, and those that do.
type BySender = [Vec<(TopLevelId, u32)>; 2];

/// Those of one top-level method on a node.
pub(super) struct WaysIn {
    /// Along which values alone can tell.
    pub(super) by_values: BySender,
    /// All others.
    pub(super) others: Vec<u32>,
    /// The same of calls by which somebody asks for what the method begins.
    pub(super) asking_by_values: BySender,
    pub(super) asking: Vec<u32>,
}

/// The ways in of what the log shows; `is_sent`: whether something on a node, or any, is of a top-level
/// method.
pub(super) fn of(
    pairs: &Pairs<'_>,
    facts: &Facts<'_>,
    is_sent: impl Fn(&(u32, TopLevelId)) -> bool,
) -> OfNodes {
    let mut found = OfNodes::default();
    for (_, fact) in facts.iter() {
        for &top in fact.tops {
            let can_come = |&index: &u32| {
                let pair = pairs.get(index);
                let node = if pair.role == Role::Remote { ANY_NODE } else { fact.node };
                pair.role != Role::Attached && is_sent(&(node, pair.from))
            };
            found.entry((fact.node, top)).or_insert_with(|| {
                let by_values = |index: &u32| values_tell(pairs, pairs.get(*index));
                let (by_values, others) = pairs.to(top).filter(can_come).partition(by_values);
                let asking = |index: &u32| !is_within(pairs.get(*index));
                let (asking_by_values, asking) = pairs.asking(top).filter(can_come).partition(asking);
                let [by_values, asking_by_values] =
                    [by_values, asking_by_values].map(|indexes| by_sender(pairs, indexes));
                WaysIn { by_values, others, asking_by_values, asking }
            });
        }
    }
    found
}

fn by_sender(pairs: &Pairs<'_>, indexes: Vec<u32>) -> BySender {
    let mut found = BySender::default();
    for index in indexes {
        let pair = pairs.get(index);
        found[usize::from(hands_on(pair))].push((pair.from, index));
    }
    found.iter_mut().for_each(|of| of.sort_unstable());
    found
}

/// Whether the name of a receiver's thread can hold what its sender names, or its own name that of
/// the sender's thing: then they need have no text in common.
pub(super) fn is_within(pair: &Pair) -> bool {
    pair.kind == LinkKind::Thread || pair.to_parts
}

/// Whether nothing but an equal value tells of a pair who has sent: neither time, nor a thread's name,
/// nor that somebody is the only one of a kind.
fn values_tell(pairs: &Pairs<'_>, pair: &Pair) -> bool {
    let is_local = pair.role == Role::Local;
    let is_by_order = pair.in_order && pair.map.is_empty();
    let is_excluded = pair.is_way() || pair.from == pair.to || pairs.is_event_handler(pair.to);
    let time_tells = is_local && !is_by_order && !is_excluded;
    let kind_tells = is_local && pair.by_name && !pairs.is_dispatcher(pair.from);
    let is_by_name = pair.role == Role::Served || pair.by_thread;
    !(time_tells || kind_tells || is_by_name || is_within(pair))
}

impl<'a> Finder<'a> {
    /// Along which values alone can tell: of those who have a text in common with the receiver.
    pub(super) fn by_values_alone<'f>(
        &'f self,
        by: Pass,
        ways: &BySender,
        receiver: &Receiver<'f, 'a>,
        out: &mut Vec<Candidate>,
    ) {
        for (ways, hands_on) in ways.iter().zip([false, true]) {
            let mut look_at = |ways: &[(TopLevelId, u32)]| {
                for &(_, index) in ways {
                    self.find(by, out, |out| self.by_values(index, receiver, out));
                }
            };
            if ways.is_empty() || receiver.telling[usize::from(hands_on)].is_empty() {
                continue;
            }
            let Some(sharing) = self.sharing(receiver, hands_on) else {
                look_at(ways);
                continue;
            };
            for spans in sharing.chunk_by(|a, b| a.0 == b.0) {
                let first = ways.partition_point(|(from, _)| *from < spans[0].0);
                let n = ways[first..].iter().take_while(|(from, _)| *from == spans[0].0).count();
                look_at(&ways[first..first + n]);
            }
        }
    }
}
