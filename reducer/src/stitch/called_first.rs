//! Called first: whoever calls before it prints anything is seen only when it goes on.
//!
//! What is called prints its lines, and then its caller begins, in the same thread, with
//! a line that it prints only after the call. No span of the caller stands before the
//! call from which a hand-off could be seen, and what was there before was at something
//! else. But a thread does one thing at a time: who goes on where the other one ends, and
//! has called it by then, has called this one. Where no thread is printed, a name tells: of
//! whoever names the folder of a thing when it has called what works on that is the last
//! one that has named a place in there.

use rustc_hash::FxHashMap;
use schema::kinds::are_folder_and_file;
use schema::{LogPointId, Pass, TopLevelId};

use super::facts::{Fact, Facts, Printed};
use super::held::Held;
use super::joined;
use super::pairs::{Pair, Pairs};
use crate::merge::{Sets, SpanLink};

/// A caller goes on this soon after what it has called has printed its last line, µs.
const GOES_ON_US: i64 = 1_000_000;

/// Lines before a caller's first one that are looked at.
const LINES_MAX: usize = 32;

/// Spans before a caller's that are looked at where no thread is printed.
const SPANS_MAX: usize = 256;

/// Spans whose last line a caller's line follows, so that both stand together by no chance.
const SPANS_MIN: usize = 4;

/// They do, with at most one exception in so many.
const EXCEPTIONS_SHARE: usize = 16;

/// Links from callers to what their threads printed before them, in addition to `links`.
pub(super) fn join(pairs: &Pairs<'_>, facts: &Facts<'_>, links: &[SpanLink]) -> Vec<SpanLink> {
    let (mut sets, mut has_sender) = joined(facts, links);
    let mut out = Vec::new();
    let threads = facts.lines_of_threads();
    let followers = Followers::new(facts, &threads);
    for lines in &threads {
        for (next, &(us, .., caller, _)) in lines.iter().enumerate().filter(|(_, line)| line.4 == 0) {
            let fact = facts.get(caller);
            let before = lines[..next].iter().rev().take(LINES_MAX);
            for &(.., called, at) in before.take_while(|line| us - line.0 <= GOES_ON_US) {
                let callee = facts.get(called);
                if callee.tops.first() == fact.tops.first() {
                    break;
                }
                let goes_on_with = |top: TopLevelId| {
                    has_called(pairs, fact, top)
                        || (callee.same_name(fact).is_some() || followers.always(callee, fact))
                            && can_have_called(pairs, fact, top)
                };
                if at + 1 == callee.events.len()
                    && !has_sender[called as usize]
                    && !callee.names_other(fact)
                    && callee.tops.first().is_some_and(|&top| goes_on_with(top))
                    && sets.join(caller, called)
                {
                    has_sender[called as usize] = true;
                    out.push(SpanLink { from: caller, to: called, pair: None, by: Pass::CalledFirst });
                    break;
                }
            }
        }
    }
    join_by_folder(pairs, facts, &mut sets, &mut out);
    out
}

/// What a span most likely is, and its last line.
type End = (TopLevelId, LogPointId);

/// Which lines spans of the same thread begin with directly after the last lines of others.
struct Followers {
    /// Spans that end so, by what they are and their last line.
    ends: FxHashMap<End, usize>,
    /// The same of those that are followed by a line.
    followed: FxHashMap<(End, LogPointId), usize>,
}

impl Followers {
    fn new(facts: &Facts<'_>, threads: &[Vec<Printed>]) -> Self {
        let mut of = Followers { ends: FxHashMap::default(), followed: FxHashMap::default() };
        for lines in threads {
            for (at, &(us, .., span, event)) in lines.iter().enumerate() {
                let Some(last) = end(facts.get(span)).filter(|_| facts.get(span).events.len() == event + 1)
                else {
                    continue;
                };
                *of.ends.entry(last).or_default() += 1;
                let next = lines.get(at + 1).filter(|next| next.4 == 0 && next.0 - us <= GOES_ON_US);
                if let Some(first) = next.and_then(|next| facts.get(next.3).first_point) {
                    *of.followed.entry((last, first)).or_default() += 1;
                }
            }
        }
        of
    }

    /// Whether spans that end as `callee` does are always followed by one that begins as
    /// `caller` does: what comes next by chance is now this, now that.
    fn always(&self, callee: &Fact<'_>, caller: &Fact<'_>) -> bool {
        let Some((last, first)) = end(callee).zip(caller.first_point) else { return false };
        let n = self.followed.get(&(last, first)).copied().unwrap_or_default();
        let ends = self.ends.get(&last).copied().unwrap_or_default();
        n >= SPANS_MIN && (ends - n) * EXCEPTIONS_SHARE <= ends
    }
}

fn end(fact: &Fact<'_>) -> Option<End> {
    Some((*fact.tops.first()?, fact.events.last()?.log_point?))
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
            let is_in_there = |folder: &Held<'_>| {
                callee.values().iter().any(|file| are_folder_and_file(folder.text, file.text))
            };
            callee.tops.first() != fact.tops.first()
                && fact.values().iter().any(is_in_there)
                && callee.tops.iter().any(|&top| has_called(pairs, fact, top))
        });
        if let Some(called) = called.filter(|&called| sets.join(caller, called)) {
            out.push(SpanLink { from: caller, to: called, pair: None, by: Pass::CalledFirst });
        }
    }
}

/// Whether what `caller` most likely is calls `to` before it prints its first line, and only
/// then; a dispatcher in one round.
fn has_called(pairs: &Pairs<'_>, caller: &Fact<'_>, to: TopLevelId) -> bool {
    let calls = pairs.to(to).map(|index| pairs.get(index)).filter(|pair| pair.is_call());
    goes_on_after(pairs, caller, calls)
}

/// The same of what a dispatcher looks up: it can print that line before, too, if it tries
/// again.
fn can_have_called(pairs: &Pairs<'_>, caller: &Fact<'_>, to: TopLevelId) -> bool {
    let look_ups = pairs.asking(to).map(|index| pairs.get(index)).filter(|pair| pair.is_look_up());
    goes_on_after(pairs, caller, look_ups)
}

fn goes_on_after<'p>(
    pairs: &Pairs<'_>,
    caller: &Fact<'_>,
    mut calls: impl Iterator<Item = &'p Pair>,
) -> bool {
    let Some((point, &from)) = caller.first_point.zip(caller.tops.first()) else { return false };
    calls.any(|pair| pair.from == from && pairs.printed_after(pair).binary_search(&point).is_ok())
}
