//! Lone lines: a span, of one line mostly, that always stands directly after the same line
//! of its thread is printed by what the thread is at.
//!
//! The analysis misses calls (through reflection, native code, what a configuration
//! names), and lets begin anew what everybody hands work on through. Then a line of a
//! thread's work stands alone, although it is printed in the middle of it. The log
//! shows it: nearly always one of the same few lines stands directly before it in its
//! thread, a moment ago, or it nearly always follows where other spans of a thread end.
//! Two pieces of work that a thread is handed one after the other follow each other so
//! neatly only by chance, and not nearly always: where its threads are busy, the work
//! follows itself as well, which is none of these lines.
//!
//! What else could have been handed over teaches so too, but stays with who did it.
//!
//! The same holds for a span of several lines that always begins directly after one of a
//! few others. And where two lines that often stand together nearly always name one thing
//! that was made while the program ran, the later one goes on with the earlier one
//! wherever they do, whatever else stands before it elsewhere.
//!
//! Lines of one statement teach nothing, nor do spans that name different things, nor what
//! is an execution of its own by the code: the same method from its beginning, the next
//! target of one dispatcher, and methods that are both called from outside of the program
//! only.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;
use schema::kinds::is_made;
use schema::{LogPointId, Pass};

use super::evidence::{Candidate, is_naming};
use super::facts::Facts;
use super::pairs::Pairs;
use crate::merge::SpanLink;
use crate::skeleton::Event;

/// Spans from which to learn.
const SPANS_MIN: usize = 16;

/// At most one exception in so many.
const EXCEPTIONS_SHARE: usize = 16;

/// A line follows directly if it does so within this time, µs.
const AT_ONCE_US: i64 = 10_000;

/// A lone span, and the span that printed the line before in its thread.
struct Next {
    from: u32,
    to: u32,
    points: (LogPointId, LogPointId),
    /// Whether that line is the last of its span.
    is_last: bool,
    /// Whether the span is a line only.
    is_lone: bool,
    /// Whether both lines name one thing that was made while the program ran.
    is_same: bool,
}

/// Links from what threads are at to their lone lines, if nobody can have handed those
/// over and they are at no end of `links`. What they seemed to hand over themselves is
/// none of the `candidates`.
pub(super) fn join(
    pairs: &Pairs<'_>,
    facts: &Facts<'_>,
    links: &[SpanLink],
    candidates: &mut Vec<Candidate>,
) -> Vec<SpanLink> {
    let linked: FxHashSet<u32> = links.iter().flat_map(|link| [link.from, link.to]).collect();
    let mut next = following(pairs, facts);
    next.retain(|next| !linked.contains(&next.to));
    let known = Known::learn(facts, &next);
    let sure = candidates.iter().filter(|candidate| !candidate.is_bare);
    let handed: FxHashSet<u32> = sure.map(|candidate| candidate.to).collect();
    let mut is_lone = vec![false; facts.len()];
    let mut out = Vec::new();
    let mut goes_on = vec![false; facts.len()];
    for Next { from, to, is_lone: lone, .. } in next.into_iter().filter(|next| known.is_one(next)) {
        if !handed.contains(&to) {
            is_lone[to as usize] = lone;
            goes_on[to as usize] = true;
            out.push(SpanLink { from, to, pair: None, by: Pass::LoneLines });
        }
    }
    candidates.retain(|candidate| !is_lone[candidate.from as usize] && !goes_on[candidate.to as usize]);
    out
}

/// Lone spans that directly follow others in their threads, in canonical order.
fn following(pairs: &Pairs<'_>, facts: &Facts<'_>) -> Vec<Next> {
    let mut found = Vec::new();
    for lines in facts.lines_of_threads() {
        for pair in lines.windows(2) {
            let ((before_us, .., from, at), (us, .., to, place)) = (pair[0], pair[1]);
            let (sender, fact) = (facts.get(from), facts.get(to));
            let points = (sender.events[at].log_point, fact.first_point);
            let (Some(before), Some(point)) = points else { continue };
            let begins = from != to && place == 0 && before != point;
            let at_once = us - before_us <= AT_ONCE_US;
            if begins && at_once && !pairs.are_turns(sender, fact) && !sender.names_other(fact) {
                let is_last = at + 1 == sender.events.len();
                let is_lone = fact.events.len() == 1;
                let is_same = name_one(&sender.events[at], &fact.events[0]);
                found.push(Next { from, to, points: (before, point), is_last, is_lone, is_same });
            }
        }
    }
    found
}

/// Whether two records name one thing that was made while the program ran.
fn name_one(a: &Event, b: &Event) -> bool {
    let mut made = b.values.iter().map(|(_, text)| text).filter(|text| is_naming(text) && is_made(text));
    made.any(|text| a.values.iter().any(|(_, other)| other == text))
}

/// How often lines stand together.
#[derive(Default)]
struct Known {
    /// Spans with a thread by the log point that they begin with, and whether that is all.
    begun: BTreeMap<(LogPointId, bool), usize>,
    /// Of those, the ones directly after a line of another log point.
    after: BTreeMap<(LogPointId, LogPointId, bool), usize>,
    /// Of those again, the ones after a log point that often stands before them.
    after_usual: BTreeMap<(LogPointId, bool), usize>,
    /// Of those, the ones where both lines name one thing.
    same: BTreeMap<(LogPointId, LogPointId, bool), usize>,
    /// Spans with a thread that end with a log point.
    ended: BTreeMap<LogPointId, usize>,
    /// Of those, the ones that a lone line follows.
    followed: BTreeMap<(LogPointId, LogPointId), usize>,
}

impl Known {
    fn learn(facts: &Facts<'_>, next: &[Next]) -> Self {
        let mut known = Self::default();
        for (_, fact) in facts.iter().filter(|(_, fact)| fact.thread.is_some()) {
            if let Some(point) = fact.events.last().and_then(|event| event.log_point) {
                *known.ended.entry(point).or_default() += 1;
            }
            if let Some(point) = fact.first_point {
                *known.begun.entry((point, fact.events.len() == 1)).or_default() += 1;
            }
        }
        for Next { points, is_last, is_lone, is_same, .. } in next {
            *known.after.entry((points.0, points.1, *is_lone)).or_default() += 1;
            *known.same.entry((points.0, points.1, *is_lone)).or_default() += usize::from(*is_same);
            *known.followed.entry(*points).or_default() += usize::from(*is_last && *is_lone);
        }
        for ((_, point, is_lone), n) in known.after.iter().filter(|(_, n)| **n >= SPANS_MIN) {
            *known.after_usual.entry((*point, *is_lone)).or_default() += n;
        }
        known
    }

    /// Whether a lone line is of what stands before it.
    fn is_one(&self, next: &Next) -> bool {
        let is_rule = |n: usize, n_next: usize| n >= SPANS_MIN && (n - n_next) * EXCEPTIONS_SHARE <= n;
        let Next { points, is_lone, .. } = *next;
        let n_begun = self.begun.get(&(points.1, is_lone)).copied().unwrap_or_default();
        let n_after = self.after_usual.get(&(points.1, is_lone)).copied().unwrap_or_default();
        let is_usual = self.after.get(&(points.0, points.1, is_lone)).is_some_and(|n| *n >= SPANS_MIN);
        let n_ended = self.ended.get(&next.points.0).copied().unwrap_or_default();
        let n_followed = self.followed.get(&next.points).copied().unwrap_or_default();
        let key = (points.0, points.1, is_lone);
        let n_same = self.same.get(&key).copied().unwrap_or_default();
        let are_same = next.is_same && is_rule(self.after.get(&key).copied().unwrap_or_default(), n_same);
        are_same
            || is_usual && is_rule(n_begun, n_after)
            || (next.is_last && is_lone && is_rule(n_ended, n_followed))
    }
}
