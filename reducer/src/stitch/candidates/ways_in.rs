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

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use schema::sketch;

    use super::*;
    use crate::Config;
    use crate::skeleton::{Span, Stored};
    use crate::stitch::tests::spans;

    /// A client calls servers, which hand on to tasks of theirs: by number, name, thread and time.
    const MODEL: &str = "
        point p
        top call Task file=File.path session=Session.id
          >p
        top serve RpcHandler session=Session.id block=Block.id
          >p
        top store Task block=Block.id peer=Peer.name?
          >p
        top report Task
          >p
        top check Task file=File.path block=Block.id
          >p
        pair call serve Rpc session=session
        pair serve store Thread block=block
        pair serve check Queue block=block
        pair store report Queue
        pair call check Call file=file
        pair check store Call block=block
        pair store store Rpc block=block";

    /// Spans of three nodes that share few, many and no values.
    fn log() -> String {
        let mut seed = 7_u64;
        let mut next = |n: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % n
        };
        let mut text = String::new();
        for at in 0..400 {
            let (node, thread) = (['a', 'b', 'c'][next(3) as usize], next(4));
            let (file, session, block) = (next(9), 70_000 + next(60), 1_000_000 + next(90));
            let span = match next(5) {
                0 => format!("call file=/data/f{file} session={session}"),
                1 => format!("serve session={session} block={block}"),
                2 => format!("store block={block} peer=host{}", next(2)),
                3 => "report".to_owned(),
                _ => format!("check|store file=/data/f{file} block={block}"),
            };
            let from = f64::from(at) / 10.0;
            writeln!(text, "{node} t{thread} {span} {from:.3}-{:.3}", from + next(20) as f64 / 10.0).unwrap();
        }
        text
    }

    #[test]
    fn pairs_that_are_passed_over_have_no_candidates() {
        let model = sketch::model(MODEL);
        let spans: Vec<Span> =
            spans(&model, &log()).into_iter().map(|span| Span::new(span, Stored::default())).collect();
        let (pairs, config) = (Pairs::new(&model), Config::default());
        let facts = Facts::new(&pairs, &spans);
        let fast = Finder::new(&pairs, &facts, &config);
        let mut slow = Finder::new(&pairs, &facts, &config);
        // Every pair of the model, each by itself.
        for (&(_, top), ways) in &mut slow.ways_in {
            let others = pairs.to(top).filter(|&index| pairs.get(index).role != Role::Attached).collect();
            let asking = pairs.asking(top).collect();
            let (by_values, asking_by_values) = Default::default();
            *ways = WaysIn { by_values, others, asking_by_values, asking };
        }
        let mut n = 0;
        for index in 0..u32::try_from(spans.len()).unwrap() {
            let [mut found, mut expected] = [&fast, &slow].map(|finder| finder.senders_of(index));
            found.sort_unstable();
            expected.sort_unstable();
            assert_eq!(found, expected, "{index}");
            n += found.len();
        }
        let alone: usize = fast.ways_in.values().flat_map(|ways| &ways.by_values).map(Vec::len).sum();
        assert!(n > 400 && alone > 0, "{n} candidates, {alone} pairs of which values alone tell");
    }
}
