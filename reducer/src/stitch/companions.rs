//! Companions: two lines that always stand together in the log, without threads.
//!
//! Many lines can begin a piece of work as far as the code tells, because what comes
//! before them is printed under conditions that the analysis cannot decide. Where
//! the layout prints no threads, such a line stands alone, unless it names
//! something. But the log shows what the code does not. If a line nearly always stands
//! directly after one that the same method prints before it, in one span or where
//! another span begins, it begins nothing: both are of one piece of work. And if after
//! the last line of spans nearly always the same line follows directly, that goes on with
//! them.
//!
//! Directly means: the very next record of the file, printed soon after. Whoever works
//! beside stands between two lines of one thread now and then; that a line of another
//! piece of work is always the next one is no chance. Nor is it if it is so mostly, and far
//! more often than such a line stands after any other one. Lines of one statement are no
//! companions: it begins its work once more, or goes on, and nothing tells which.
//!
//! What goes on so does it after one of a few lines: where it stands after another, that
//! is of somebody who works beside. And it begins nothing there either, so that time
//! alone does not tell that somebody has handed it over.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use schema::{LogPointId, Pass};

use super::evidence::Candidate;
use super::facts::{Fact, Facts};
use super::pairs::Pairs;
use crate::merge::SpanLink;
use crate::skeleton::Event;

mod enclosed;
mod late;
mod rows;

/// Spans from which to learn that two lines stand together.
const SPANS_MIN: usize = 8;

/// Spans from which to learn that they do if others stand between them now and then.
const CHANCES_MIN: usize = 64;

/// They do, with at most one exception in so many.
const EXCEPTIONS_SHARE: usize = 16;

/// What goes on with something stands alone at most once in so many times: others stand
/// between where several are at work.
const BETWEEN_SHARE: usize = 8;

/// One goes on with the other at most this long after it, µs: what was printed before
/// a longer pause is only what happens to stand before.
const SOON_US: u64 = 100_000;

/// What the log shows of lines that stand together.
#[derive(Debug)]
pub(super) struct Companions {
    /// Links to the spans without threads that go on with others.
    pub(super) links: Vec<SpanLink>,
    /// Spans without threads that go on with something, whether or not it is known with
    /// what.
    pub(super) rests: BTreeSet<u32>,
}

/// The companions of all spans.
pub(super) fn find(pairs: &Pairs<'_>, facts: &Facts<'_>) -> Companions {
    let mut next = next_to(pairs, facts);
    let known = Known::learn(facts, &next, &BTreeSet::new());
    let mut found: Vec<Next> = next.extract_if(.., |next| known.are_companions(next)).collect();
    // What goes on so does not end there: another line follows where it does.
    if !found.is_empty() {
        let gone_on: BTreeSet<u32> = found.iter().filter(|next| next.is_last).map(|next| next.from).collect();
        let begun: BTreeSet<u32> = found.iter().map(|next| next.to).collect();
        next.retain(|next| next.is_last && !gone_on.contains(&next.from) && !begun.contains(&next.to));
        let ends = Known::learn(facts, &next, &gone_on);
        found.extend(next.extract_if(.., |next| ends.ends_so(next.before, next.begin)));
    }
    let late = late::find(pairs, facts, &found);
    let links = found.into_iter().map(|Next { from, to, .. }| SpanLink {
        from,
        to,
        pair: None,
        by: Pass::Companions,
    });
    let mut links: Vec<SpanLink> = links.collect();
    links.extend(late);
    links.extend(rows::find(pairs, facts, &links));
    let gone_on: BTreeSet<u32> = links.iter().map(|link| link.to).collect();
    links.extend(enclosed::find(pairs, facts).into_iter().filter(|link| !gone_on.contains(&link.to)));
    links.sort_unstable();
    let begins_nothing = |(_, fact): &(u32, &Fact<'_>)| {
        let is_rest = |point| known.begins_nothing(point);
        fact.thread.is_none() && fact.first_point.is_some_and(is_rest)
    };
    let rests = facts.iter().filter(begins_nothing).map(|(index, _)| index).collect();
    Companions { links, rests }
}

/// Makes the candidates to senders of what goes on by `links` into those of what it
/// goes on with: a piece of work was handed over once, when it began. What is the rest of
/// something has none that time alone tells.
pub(super) fn lead_to_first(
    pairs: &Pairs<'_>,
    facts: &Facts<'_>,
    Companions { links, rests }: &Companions,
    candidates: &mut Vec<Candidate>,
) {
    if links.is_empty() && rests.is_empty() {
        return;
    }
    // What goes on begins after what it goes on with, so that this ends.
    let before: FxHashMap<u32, u32> = links.iter().map(|link| (link.to, link.from)).collect();
    let first = |mut span: u32| {
        while let Some(&from) = before.get(&span) {
            span = from;
        }
        span
    };
    candidates.retain_mut(|candidate| {
        let has_first = before.contains_key(&candidate.to);
        let sender = first(candidate.from);
        // Time is no evidence against what the whole of either names.
        let is_part = has_first || sender != candidate.from;
        if candidate.evidence.0.n_request == 0
            && is_part
            && facts.differ(facts.get(sender), facts.get(first(candidate.to)))
        {
            return false;
        }
        if !has_first {
            return !(candidate.is_bare && rests.contains(&candidate.to));
        }
        candidate.to = first(candidate.to);
        first(candidate.from) != candidate.to
            && facts.get(candidate.to).rank(pairs.get(candidate.pair).to).is_some()
    });
}

/// A span that begins directly after a line of another one that can go on with it.
struct Next {
    from: u32,
    to: u32,
    /// Log point of the line before.
    before: LogPointId,
    /// Whether that is the last one of its span.
    is_last: bool,
    /// Log point with which the span begins.
    begin: LogPointId,
    /// The two lines have a name in common.
    share: bool,
}

/// Spans without threads that begin directly after others, in canonical order.
fn next_to(pairs: &Pairs<'_>, facts: &Facts<'_>) -> Vec<Next> {
    let mut ends: FxHashMap<(u32, u32, u64), (u32, usize)> = FxHashMap::default();
    for (index, fact) in facts.iter().filter(|(_, fact)| fact.thread.is_none()) {
        for (at, event) in fact.events.iter().enumerate() {
            let line = event.line + u64::from(event.n_lines);
            ends.insert((fact.node, event.file, line), (index, at));
        }
    }
    let next = |(to, fact): (u32, &Fact<'_>)| {
        let first = fact.events.first().filter(|_| fact.thread.is_none())?;
        let &(from, at) = ends.get(&(fact.node, first.file, first.line))?;
        let sender = facts.get(from);
        let before = sender.events.get(at)?;
        let (point, begin) = (before.log_point?, first.log_point?);
        let is_its = from != to
            && point != begin
            && is_soon(before, first)
            && !facts.names_other(sender, fact)
            && can_go_on(pairs, sender, fact, point, begin);
        let (is_last, share) = (at + 1 == sender.events.len(), rows::share(before, first));
        is_its.then_some(Next { from, to, before: point, is_last, begin, share })
    };
    facts.iter().filter_map(next).collect()
}

/// Whether an event of a span is the very next record of its file after the one before,
/// and of another log point.
fn goes_on_at_once(before: &Event, event: &Event) -> bool {
    let next = (before.file, before.line + u64::from(before.n_lines));
    next == (event.file, event.line) && before.log_point != event.log_point && is_soon(before, event)
}

fn is_soon(before: &Event, after: &Event) -> bool {
    before.ts_us.abs_diff(after.ts_us) <= SOON_US
}

/// Whether a method that both spans can be of prints `begin` after `before`.
fn can_go_on(pairs: &Pairs<'_>, a: &Fact<'_>, b: &Fact<'_>, before: LogPointId, begin: LogPointId) -> bool {
    let tops = || a.tops.iter().chain(a.other_tops);
    let mut common = tops().filter(|top| b.tops.contains(top) || b.other_tops.contains(top));
    common.any(|&top| pairs.prints_after(top, before, begin))
}

/// How often lines stand together.
#[derive(Default)]
struct Known {
    /// Lines of a log point, and those of them that go on with what stands before.
    begun: BTreeMap<LogPointId, (usize, usize)>,
    /// Of those, the ones that go on with a line of one log point, by that and theirs.
    gone_on: BTreeMap<(LogPointId, LogPointId), usize>,
    /// Lines that stand directly after one of the same log point.
    repeated: BTreeMap<LogPointId, usize>,
    /// Spans that end with a log point.
    ended: BTreeMap<LogPointId, usize>,
    /// Those of them that one of the same statement stands directly after.
    in_row: BTreeMap<LogPointId, usize>,
    /// Of those, the ones that go on with what begins with another log point.
    followed: BTreeMap<(LogPointId, LogPointId), usize>,
    /// Lines of all log points.
    n_lines: usize,
}

impl Known {
    /// `gone_on`: spans that are known to go on with others.
    fn learn(facts: &Facts<'_>, next: &[Next], gone_on: &BTreeSet<u32>) -> Self {
        let mut known = Self::default();
        let mut ends = FxHashMap::default();
        for (index, fact) in facts.iter().filter(|(_, fact)| fact.thread.is_none()) {
            for (at, event) in fact.events.iter().enumerate() {
                known.n_lines += 1;
                let Some(point) = event.log_point else { continue };
                ends.insert(
                    (fact.node, event.file, event.line + u64::from(event.n_lines)),
                    (point, at + 1 == fact.events.len()),
                );
                let before = at.checked_sub(1).and_then(|before| fact.events.get(before));
                let before = before.filter(|before| goes_on_at_once(before, event));
                let (n, n_next) = known.begun.entry(point).or_default();
                (*n, *n_next) = (*n + 1, *n_next + usize::from(before.is_some()));
                if let Some(before) = before.and_then(|before| before.log_point) {
                    *known.gone_on.entry((before, point)).or_default() += 1;
                }
            }
            let last = fact.events.last().filter(|_| !gone_on.contains(&index));
            if let Some(point) = last.and_then(|event| event.log_point) {
                *known.ended.entry(point).or_default() += 1;
            }
        }
        known.count_repeated(facts, &ends);
        for Next { before, is_last, begin, .. } in next {
            known.begun.entry(*begin).or_default().1 += 1;
            *known.gone_on.entry((*before, *begin)).or_default() += 1;
            if *is_last {
                *known.followed.entry((*before, *begin)).or_default() += 1;
            }
        }
        known
    }

    /// Counts the lines that stand directly after one of the same log point.
    fn count_repeated(&mut self, facts: &Facts<'_>, ends: &FxHashMap<(u32, u32, u64), (LogPointId, bool)>) {
        for (_, fact) in facts.iter().filter(|(_, fact)| fact.thread.is_none()) {
            for event in fact.events {
                let Some(&(before, is_last)) = ends.get(&(fact.node, event.file, event.line)) else {
                    continue;
                };
                if event.log_point != Some(before) {
                    continue;
                }
                *self.repeated.entry(before).or_default() += 1;
                if is_last {
                    *self.in_row.entry(before).or_default() += 1;
                }
            }
        }
    }

    /// Whether lines of `begin` go on with what stands before them, and with lines of
    /// `before` more often than by chance, or lines of `before` go on with them.
    fn are_companions(&self, &Next { before, begin, share, .. }: &Next) -> bool {
        let (n_begun, n_next) = self.begun.get(&begin).copied().unwrap_or_default();
        let n_gone_on = self.gone_on.get(&(before, begin)).copied().unwrap_or_default();
        let is_usual = n_gone_on * EXCEPTIONS_SHARE >= n_next;
        (is_rule(n_begun, n_next) && is_usual)
            || self.ends_so(before, begin)
            || (share && self.rows_end_so(before, begin))
    }

    /// Whether rows of lines of `before` go on with what begins with `begin`: the others of a
    /// row are followed by their like.
    fn rows_end_so(&self, before: LogPointId, begin: LogPointId) -> bool {
        let n_ended = self.ended.get(&before).copied().unwrap_or_default();
        let n_in_row = self.in_row.get(&before).copied().unwrap_or_default();
        let n_followed = self.followed.get(&(before, begin)).copied().unwrap_or_default();
        is_rule(n_ended.saturating_sub(n_in_row), n_followed)
    }

    /// Whether spans that end with `before` go on with what begins with `begin`.
    fn ends_so(&self, before: LogPointId, begin: LogPointId) -> bool {
        let (n_begun, _) = self.begun.get(&begin).copied().unwrap_or_default();
        let n_ended = self.ended.get(&before).copied().unwrap_or_default();
        let n_followed = self.followed.get(&(before, begin)).copied().unwrap_or_default();
        let n_in_row = self.in_row.get(&before).copied().unwrap_or_default();
        let n_last = n_ended.saturating_sub(n_in_row);
        let n_else = (self.n_lines.saturating_sub(n_last), n_begun.saturating_sub(n_followed));
        is_rule(n_ended, n_followed) || is_no_chance((n_last, n_followed), n_else)
    }

    /// Whether lines of `point` go on with what stands before them, but for those that
    /// stand after one of the same statement, of which nothing tells.
    fn begins_nothing(&self, point: LogPointId) -> bool {
        let (n, n_next) = self.begun.get(&point).copied().unwrap_or_default();
        let n_repeated = self.repeated.get(&point).copied().unwrap_or_default();
        let n = n.saturating_sub(n_repeated);
        n >= SPANS_MIN && n.saturating_sub(n_next) * BETWEEN_SHARE <= n
    }
}

/// Whether lines that stand `n_followed` times after one of `n` do so as good as never by
/// chance: others stand between where several are at work, but what stands there by chance
/// stands after every other line as often, as it does `n_else.1` times of `n_else.0`.
fn is_no_chance((n, n_followed): (usize, usize), n_else: (usize, usize)) -> bool {
    let n_between = n.saturating_sub(n_followed);
    let (n_others, n_after_others) = n_else;
    // Of those that do not go on with it, as many stand there by chance as after others;
    // they are the ones that something else stands after, and these.
    let n_free = n_others.saturating_sub(n_after_others).max(1);
    let n_chance = (n_between * n_after_others).div_ceil(n_free);
    n >= CHANCES_MIN && n_followed > n_between && n_chance * EXCEPTIONS_SHARE <= n_followed
}

/// Whether of `n` as good as all do what `n_such` do.
fn is_rule(n: usize, n_such: usize) -> bool {
    n >= SPANS_MIN && n.saturating_sub(n_such) * EXCEPTIONS_SHARE <= n
}
