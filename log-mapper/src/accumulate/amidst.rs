//! Amidst: what a thread prints between two lines of one task is of that task.
//!
//! A line that many can print, and that can begin something, begins something after a pause.
//! Once all has been read, what its thread did next is known: if it went on with the task that
//! it was at before, it was at that all the time, for a thread that was given a task does
//! nothing else until that is done. What it printed in between is the task's own where the task
//! can print it, and names nothing that the task calls otherwise. A program's `main` goes through
//! what others ask for as well. A handler of what others ask for over a network is such a task: the
//! server's thread serves one of them at a time.

use rustc_hash::{FxHashMap, FxHashSet};
use schema::{Pass, TopLevelId, TopLevelKind};

use super::late::{Line, lines_of_threads};
use super::orders::Orders;
use super::pools::Closed;
use super::rests::names;

/// Joins with tasks what stands between their lines. `done`: the spans of one log source with
/// the numbers of their first records, sorted by those.
pub(super) fn join(orders: &Orders<'_>, done: &mut Vec<(u64, Closed)>) {
    let mut gone = FxHashSet::default();
    for lines in lines_of_threads(done) {
        for (host, parts) in within(&lines) {
            let tasks: Vec<TopLevelId> = done[host].1.best_tops().collect();
            let is_given = |&top: &TopLevelId| {
                orders.serves(top) || orders.kind(top) == TopLevelKind::Task && !orders.is_main(top)
            };
            if gone.contains(&host) || !tasks.iter().all(is_given) {
                continue;
            }
            for part in parts {
                let tops = common(orders, &tasks, &done[host].1, &done[part].1);
                if !tops.is_empty() && gone.insert(part) {
                    let inner = done[part].1.clone();
                    let mut whole = done[host]
                        .1
                        .clone()
                        .with(std::iter::once(inner), (Pass::Amidst, "thread, amidst its task"));
                    whole.keep(|top| tops.contains(&top));
                    done[host].1 = whole;
                }
            }
        }
    }
    let mut span = 0..;
    done.retain(|_| span.next().is_some_and(|span| !gone.contains(&span)));
}

/// Of `tasks`, those that the part between lines of `host` can be as well, if that names nothing
/// that they call otherwise.
fn common(orders: &Orders<'_>, tasks: &[TopLevelId], host: &Closed, part: &Closed) -> Vec<TopLevelId> {
    let is_one = |&top: &TopLevelId| {
        let theirs = names(orders, top, part);
        let ours = names(orders, top, host);
        let is_other = |(id, text): &(_, String)| {
            let mut same = theirs.iter().filter(|(other, _)| other == id).peekable();
            same.peek().is_some() && !same.any(|(_, known)| known == text)
        };
        !host.is_of_another_trace(part) && part.span.top_levels.contains(&top) && !ours.iter().any(is_other)
    };
    tasks.iter().copied().filter(is_one).collect()
}

/// The spans of a thread that stand between two lines of another one each, by that, in order.
fn within(lines: &[Line]) -> Vec<(usize, Vec<usize>)> {
    let mut ends: FxHashMap<usize, (usize, usize)> = FxHashMap::default();
    for (at, line) in lines.iter().enumerate() {
        ends.entry(line.span).or_insert((at, at)).1 = at;
    }
    let mut found: Vec<(usize, Vec<usize>)> = Vec::new();
    let mut last: FxHashMap<usize, usize> = FxHashMap::default();
    for (at, line) in lines.iter().enumerate() {
        let Some(before) = last.insert(line.span, at).filter(|&before| before + 1 < at) else { continue };
        let is_within = |part: &Line| ends[&part.span].0 > before && ends[&part.span].1 < at;
        let mut parts: Vec<usize> =
            lines[before + 1..at].iter().filter(|part| is_within(part)).map(|part| part.span).collect();
        parts.dedup();
        found.push((line.span, parts));
    }
    found
}
