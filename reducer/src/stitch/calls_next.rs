//! Calls next: a thread that has printed a line before a call goes on with what it calls.
//!
//! A caller may print, before its call, only lines that name nothing (a size, a state), and
//! nothing after it. No value shows then what it is of. But a thread does one thing at a
//! time: what begins where the caller stops, at once, and is called by it from there on,
//! directly or by what it calls, is what it has called.
//!
//! That the caller has ended without that, and the thread was given the next one that
//! prints nothing before, would be seen: spans that end with that line would be followed
//! by other things as well.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use schema::{LogPointId, Pass, TopLevelId};

use super::evidence::{Candidate, is_number};
use super::facts::{Fact, Facts};
use super::pairs::{Pair, Pairs};
use crate::merge::SpanLink;

/// Spans from which to learn.
const SPANS_MIN: usize = 16;

/// At most one in so many does not go on with what it calls.
const EXCEPTIONS_SHARE: usize = 16;

/// What is called prints its first line within this time, µs.
const AT_ONCE_US: i64 = 10_000;

/// Links from callers to what they call next. Who names other things than what a caller
/// calls has handed nothing over to the caller, as far as time alone tells: that is none
/// of the `candidates`.
pub(super) fn join(pairs: &Pairs<'_>, facts: &Facts<'_>, candidates: &mut Vec<Candidate>) -> Vec<SpanLink> {
    let mut ended: BTreeMap<LogPointId, (usize, usize)> = BTreeMap::new();
    let mut next = Vec::new();
    for lines in facts.lines_of_threads() {
        for (index, &(us, .., from, at)) in lines.iter().enumerate() {
            let caller = facts.get(from);
            let Some(last) = caller.events.last().and_then(|event| event.log_point) else { continue };
            let names_nothing = caller.values().iter().all(|value| is_number(value.text));
            if at + 1 < caller.events.len() || !names_nothing {
                continue;
            }
            let seen = ended.entry(last).or_default();
            seen.0 += 1;
            let following = lines.get(index + 1).filter(|line| line.4 == 0 && line.0 - us <= AT_ONCE_US);
            let called = following.map(|line| line.3);
            if let Some(called) = called.filter(|called| calls(pairs, caller, last, facts.get(*called))) {
                seen.1 += 1;
                next.push((last, SpanLink { from, to: called, pair: None, by: Pass::CallsNext }));
            }
        }
    }
    let is_rule = |point: &LogPointId| {
        let (n, n_next) = ended[point];
        n >= SPANS_MIN && (n - n_next) * EXCEPTIONS_SHARE <= n
    };
    let is_one = |link: &SpanLink| !facts.get(link.from).names_other(facts.get(link.to));
    next.retain(|(point, link)| is_rule(point) && is_one(link));
    let links: Vec<SpanLink> = next.into_iter().map(|(_, link)| link).collect();
    let called: FxHashMap<u32, u32> = links.iter().map(|link| (link.from, link.to)).collect();
    candidates.retain(|candidate| {
        let called = called.get(&candidate.to).filter(|_| candidate.is_bare);
        !called.is_some_and(|called| facts.get(candidate.from).names_other(facts.get(*called)))
    });
    links
}

/// Whether what `caller` most likely is calls what `called` most likely is, or what calls
/// that, and prints `last` before it does only.
fn calls(pairs: &Pairs<'_>, caller: &Fact<'_>, last: LogPointId, called: &Fact<'_>) -> bool {
    let (Some(&from), Some(&to)) = (caller.tops.first(), called.tops.first()) else { return false };
    let to_it = |to: TopLevelId| pairs.to(to).map(|index| pairs.get(index)).filter(|pair| pair.is_call());
    let is_next = |pair: &Pair| pair.from == from && pairs.printed_before(pair).binary_search(&last).is_ok();
    // A dispatcher calls one after the other, and each is another request.
    !pairs.is_dispatcher(from)
        && to_it(to)
            .any(|pair| is_next(pair) || (!pairs.is_dispatcher(pair.from) && to_it(pair.from).any(is_next)))
}
