//! Called first: whoever calls before it prints anything is seen only when it goes on.
//!
//! What is called prints its lines, and then its caller begins, in the same thread, with
//! a line that it prints only after the call. No span of the caller stands before the
//! call from which a hand-off could be seen, and what was there before was at something
//! else. But a thread does one thing at a time: who goes on where the other one ends, and
//! has called it by then, has called this one.

use super::facts::{Fact, Facts};
use super::joined;
use super::pairs::{Pair, Pairs};
use crate::merge::SpanLink;

/// A caller goes on this soon after what it has called has printed its last line, µs.
const GOES_ON_US: i64 = 1_000_000;

/// Lines before a caller's first one that are looked at.
const LINES_MAX: usize = 32;

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
                    && has_called(pairs, fact, callee)
                    && sets.join(caller, called)
                {
                    has_sender[called as usize] = true;
                    out.push(SpanLink { from: caller, to: called, pair: None });
                    break;
                }
            }
        }
    }
    out
}

/// Whether what `caller` most likely is calls what `callee` most likely is before it prints
/// its first line, and only then; a dispatcher in one round.
fn has_called(pairs: &Pairs<'_>, caller: &Fact<'_>, callee: &Fact<'_>) -> bool {
    let (Some(&from), Some(&to)) = (caller.tops.first(), callee.tops.first()) else { return false };
    let is_call = |pair: &&Pair| pair.from == from && pair.is_call();
    let comes_after = |pair: &Pair| {
        caller.first_point.is_some_and(|point| pairs.printed_after(pair).binary_search(&point).is_ok())
    };
    pairs.to(to).map(|index| pairs.get(index)).filter(is_call).any(comes_after)
}
