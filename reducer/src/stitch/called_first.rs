//! Called first: whoever calls before it prints anything is seen only when it goes on.
//!
//! What is called prints its lines, and then its caller begins, in the same thread, with
//! a line that it prints only after the call. No span of the caller stands before the
//! call from which a hand-off could be seen, and what was there before was at something
//! else. But a thread does one thing at a time: who goes on where the other one ends, and
//! has called it by then, has called this one. Where no thread is printed, a name tells: of
//! whoever names the folder of a thing when it has called what works on that is the last
//! one that has named a place in there.

use schema::kinds::are_folder_and_file;
use schema::{TopLevelId, Value};

use super::facts::{Fact, Facts};
use super::joined;
use super::pairs::{Pair, Pairs};
use crate::merge::{Sets, SpanLink};

/// A caller goes on this soon after what it has called has printed its last line, µs.
const GOES_ON_US: i64 = 1_000_000;

/// Lines before a caller's first one that are looked at.
const LINES_MAX: usize = 32;

/// Spans before a caller's that are looked at where no thread is printed.
const SPANS_MAX: usize = 256;

/// Links from callers to what their threads printed before them, in addition to `links`.
pub(super) fn join(pairs: &Pairs<'_>, facts: &Facts<'_>, links: &[SpanLink]) -> Vec<SpanLink> {
    let (mut sets, mut has_sender) = joined(facts, links);
    let mut out = Vec::new();
    for lines in facts.lines_of_threads() {
        for (next, &(us, .., caller, _)) in lines.iter().enumerate().filter(|(_, line)| line.4 == 0) {
            let fact = facts.get(caller);
            let before = lines[..next].iter().rev().take(LINES_MAX);
            for &(.., called, at) in before.take_while(|line| us - line.0 <= GOES_ON_US) {
                let callee = facts.get(called);
                if callee.tops.first() == fact.tops.first() {
                    break;
                }
                if at + 1 == callee.events.len()
                    && !has_sender[called as usize]
                    && !facts.names_other(callee, fact)
                    && callee.tops.first().is_some_and(|&top| has_called(pairs, fact, top))
                    && sets.join(caller, called)
                {
                    has_sender[called as usize] = true;
                    out.push(SpanLink { from: caller, to: called, pair: None });
                    break;
                }
            }
        }
    }
    join_by_folder(pairs, facts, &mut sets, &mut out);
    out
}

/// The same of rounds of dispatchers where no thread is printed: whatever else names a folder
/// can be about all that lies in there.
fn join_by_folder(pairs: &Pairs<'_>, facts: &Facts<'_>, sets: &mut Sets, out: &mut Vec<SpanLink>) {
    let bare = || facts.iter().filter(|(_, fact)| fact.thread.is_none());
    let mut ends: Vec<(u32, i64, u32)> = bare().map(|(at, fact)| (fact.node, fact.end_us, at)).collect();
    ends.sort_unstable();
    let rounds = bare().filter(|(_, fact)| fact.tops.first().is_some_and(|&top| pairs.is_dispatcher(top)));
    for (caller, fact) in rounds {
        let first = ends.partition_point(|end| *end < (fact.node, fact.start_us - GOES_ON_US, 0));
        let last = ends.partition_point(|end| *end <= (fact.node, fact.start_us, u32::MAX));
        let before = ends[first..last].iter().rev().take(SPANS_MAX).filter(|end| end.2 != caller);
        let called = before.map(|&(.., at)| at).find(|&at| {
            let callee = facts.get(at);
            let is_in_there = |folder: &Value| {
                callee.values().iter().any(|file| are_folder_and_file(&folder.text, &file.text))
            };
            callee.tops.first() != fact.tops.first()
                && fact.values().iter().any(is_in_there)
                && callee.tops.iter().any(|&top| has_called(pairs, fact, top))
        });
        if let Some(called) = called.filter(|&called| sets.join(caller, called)) {
            out.push(SpanLink { from: caller, to: called, pair: None });
        }
    }
}

/// Whether what `caller` most likely is calls `to` before it prints its first line, and only
/// then; a dispatcher in one round.
fn has_called(pairs: &Pairs<'_>, caller: &Fact<'_>, to: TopLevelId) -> bool {
    let Some(&from) = caller.tops.first() else { return false };
    let is_call = |pair: &&Pair| pair.from == from && pair.is_call();
    let comes_after = |pair: &Pair| {
        caller.first_point.is_some_and(|point| pairs.printed_after(pair).binary_search(&point).is_ok())
    };
    pairs.to(to).map(|index| pairs.get(index)).filter(is_call).any(comes_after)
}
