//! Between: what stands alone and is the middle, or the beginning, of the one span
//! that it fits, without threads.
//!
//! While a log is read, a line that names nothing begins a span of its own where
//! nothing before it waits for it, and so does one that names something new. Once all
//! has been read, what comes after it is known too. Such a part belongs to a span that
//! prints it between two of its records, or directly before its first one, if there is
//! only one such span, and if what follows it there follows it elsewhere too; with
//! several, nothing tells which.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use schema::kinds::is_made;
use schema::{Event, LogPointId, Pass, Place, TopLevelId, TopLevelKind, Value};

use super::evidence::{FLOAT_US, WAIT_US, is_rarely_next};
use super::orders::{Follows, Orders, positions_of, step, walk};
use super::pools::Closed;
use super::together::Together;

/// Spans around a part that are looked at; with more of them nothing tells.
const HOSTS_MAX: usize = 256;

/// With more spans that a part can belong to nothing will tell.
const HOSTS_NAMED_MAX: usize = 16;

/// A span that a part can belong to: position of the part, of the span, and of the
/// span's record that follows the part.
#[derive(Clone, Copy)]
struct Host {
    part: usize,
    span: usize,
    at: usize,
}

/// Joins such parts with their spans, in the closed spans of a log without threads,
/// which have the numbers of their first records and are in order of these.
pub(super) fn join(orders: &Orders<'_>, together: &Together, done: &mut Vec<(u64, Closed)>) {
    let near = find(orders, together, done, (FLOAT_US, |_| true));
    let chosen = choose(orders, near, done);
    let target: FxHashMap<usize, usize> = chosen.iter().map(|&(part, span, _)| (part, span)).collect();
    let is_left = |part: usize| !target.contains_key(&part);
    let mut further = find(orders, together, done, (WAIT_US.unsigned_abs(), is_left));
    keep_next(&mut further, done);
    name_hosts(&further, done);
    let mut parts: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (part, span, tops) in &chosen {
        done[*span].1.keep(|top| tops.contains(&top));
        // A span ends after its parts, so that this ends.
        let mut whole = *span;
        while let Some(&further) = target.get(&whole) {
            whole = further;
        }
        parts.entry(whole).or_default().push(*part);
    }
    let (mut gone, mut first_seqs) = (FxHashSet::default(), Vec::new());
    for (whole, parts) in parts {
        let inner: Vec<Closed> = parts.iter().map(|&part| done[part].1.clone()).collect();
        done[whole].1 =
            done[whole].1.clone().with(inner.into_iter(), (Pass::Between, "order, the only one around"));
        gone.extend(parts.iter().map(|&part| done[part].0));
        first_seqs.push((whole, parts.iter().map(|&part| done[part].0).fold(done[whole].0, u64::min)));
    }
    let is_gone: Vec<bool> = done.iter().map(|(seq, _)| gone.contains(seq)).collect();
    first_seqs.into_iter().for_each(|(whole, first_seq)| done[whole].0 = first_seq);
    let mut is_gone = is_gone.into_iter();
    done.retain(|_| is_gone.next() != Some(true));
    done.sort_unstable_by_key(|&(first_seq, _)| first_seq);
}

/// The spans that each part `is_asked` for can belong to, those that the most speaks for, of
/// those that begin at most `soon_us` after it.
fn find(
    orders: &Orders<'_>,
    together: &Together,
    done: &[(u64, Closed)],
    (soon_us, is_asked): (u64, impl Fn(usize) -> bool),
) -> Vec<Host> {
    let mut found: Vec<Host> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut n_kept = 0;
    for part in 0..done.len() {
        let is_part = is_asked(part) && is_part(orders, &done[part].1);
        if is_part || open.len() > 2 * n_kept + HOSTS_MAX {
            open.retain(|&span| last(&done[span].1).is_some_and(|end| Some(end) > last(&done[part].1)));
            n_kept = open.len();
        }
        if is_part && open.len() <= HOSTS_MAX {
            found.extend(hosts_of(orders, together, done, part, (&open, soon_us)));
        }
        open.push(part);
    }
    found
}

/// Whether a span is only part of one: it names nothing, or it has begun in the middle
/// of whatever it can be that is run.
fn is_part(orders: &Orders<'_>, closed: &Closed) -> bool {
    let Some(first) = closed.span.events.first().and_then(|event| event.log_point) else { return false };
    let mut tops = closed.span.top_levels.iter();
    let begins = |orders: &Orders<'_>, top| {
        orders.kind(top) != TopLevelKind::Unreached && orders.can_begin(top, first)
    };
    is_nameless(orders, closed) || !tops.any(|&top| begins(orders, top))
}

/// Whether nothing that a span prints names anything: it is constant, or a line of a text.
fn is_nameless(orders: &Orders<'_>, closed: &Closed) -> bool {
    let is_text = |event: &Event| event.log_point.is_some_and(|point| orders.is_free_text(point));
    let is_line = |value: &Value| value.text.contains(char::is_whitespace);
    closed.is_nameless()
        || (closed.span.events.iter().all(is_text) && closed.span.identifiers.iter().all(is_line))
}

/// The spans that `part` can belong to: of those `around` it, and of those that begin at
/// most `soon_us` after it, if it names nothing.
fn hosts_of(
    orders: &Orders<'_>,
    together: &Together,
    done: &[(u64, Closed)],
    part: usize,
    (around, soon_us): (&[usize], u64),
) -> Vec<Host> {
    let inner = &done[part].1;
    let points = inner.points();
    let (Some(first), Some(end)) = (inner.span.events.first(), inner.span.events.last()) else {
        return Vec::new();
    };
    let is_nameless_part = is_nameless(orders, inner);
    let mut hosts: Vec<(bool, Host)> = Vec::new();
    for &span in around.iter().filter(|&&span| !done[span].1.is_of_another_trace(inner)) {
        let outer = &done[span].1;
        let at = outer.span.events.partition_point(|event| event.place() < first.place());
        // Where the clock was set back, events stand in no order of place.
        let next = outer.span.events.get(at);
        let is_within = at > 0 && next.is_some_and(|next| next.place() > end.place());
        let is_shared = |value: &Value| is_made(&value.text) && outer.span.identifiers.contains(value);
        let shares = inner.span.identifiers.iter().any(is_shared);
        if is_within && (shares || is_nameless_part) && !fitting(orders, outer, at, &points).is_empty() {
            hosts.push((shares, Host { part, span, at }));
        }
    }
    let soon_us = end.ts_us.saturating_add_unsigned(soon_us);
    let is_soon =
        |(_, outer): &&(u64, Closed)| outer.span.events.first().is_some_and(|next| next.ts_us <= soon_us);
    for (span, (_, outer)) in (part + 1..).zip(done[part + 1..].iter().take(HOSTS_MAX).take_while(is_soon)) {
        let next = &outer.span.events[0];
        let is_after = next.place() > end.place() && last(outer) > Some(end.place());
        let is_apart = is_after && next.log_point != first.log_point;
        let can_be =
            is_nameless_part && !outer.is_of_another_trace(inner) && is_apart && !outer.is_nameless();
        if can_be && !fitting(orders, outer, 0, &points).is_empty() {
            hosts.push((false, Host { part, span, at: 0 }));
        }
    }
    if hosts.iter().all(|(shares, _)| !shares) && waits(orders, done, part) {
        return Vec::new();
    }
    let shares = hosts.iter().any(|(shares, _)| *shares);
    let is_text = end.log_point.is_some_and(|point| orders.is_free_text(point));
    hosts.retain(|(known, _)| *known == shares);
    let n_next = |host: &Host| -> u64 {
        let next = done[host.span].1.span.events[host.at].log_point;
        // The lines of one text follow each other.
        let goes_on = |end: LogPointId, next: LogPointId| end == next && is_text;
        let n_after =
            |end, next| if goes_on(end, next) { u64::from(u32::MAX) } else { together.n_after(end, next) };
        end.log_point.zip(next).map_or(0, |(end, next)| n_after(end, next))
    };
    let most = hosts.iter().map(|(_, host)| n_next(host)).max().unwrap_or_default();
    hosts.retain(|(_, host)| !is_rarely_next(n_next(host), most));
    hosts.into_iter().map(|(_, host)| host).collect()
}

/// Whether a span that was cut off lately goes on with `part`: it has not come to its end,
/// and that may be what it lacks.
fn waits(orders: &Orders<'_>, done: &[(u64, Closed)], part: usize) -> bool {
    let Some(first) = done[part].1.span.events.first() else { return false };
    let Some(point) = first.log_point else { return false };
    done[..part].iter().rev().take(HOSTS_MAX).any(|(_, outer)| {
        let events = &outer.span.events;
        let is_cut = outer.span.truncated
            && !outer.is_nameless()
            && events.last().is_some_and(|end| {
                end.place() < first.place() && first.ts_us <= end.ts_us.saturating_add(WAIT_US)
            });
        is_cut
            && outer.best_tops().any(|top| {
                let at = walk(orders, top, events);
                !step(orders, top, &at, point, |follows| follows == Follows::Next).is_empty()
            })
    })
}

/// Of the spans that begin after equal parts, printed a moment apart, keeps those that begin
/// soon, and as many as there are parts.
fn keep_next(hosts: &mut Vec<Host>, done: &[(u64, Closed)]) {
    let first = |part: usize| &done[part].1.span.events[0];
    let mut parts: Vec<usize> = hosts.iter().map(|host| host.part).collect();
    parts.sort_unstable_by_key(|&part| (first(part).log_point, first(part).ts_us, part));
    parts.dedup();
    let is_alike = |&a: &usize, &b: &usize| {
        let apart_us = first(b).ts_us.saturating_sub(first(a).ts_us);
        first(a).log_point == first(b).log_point && apart_us <= FLOAT_US.cast_signed()
    };
    let alike = parts.chunk_by(is_alike);
    let n_alike: FxHashMap<usize, usize> =
        alike.flat_map(|alike| alike.iter().map(|&part| (part, alike.len()))).collect();
    let mut n_kept: FxHashMap<usize, usize> = FxHashMap::default();
    hosts.retain(|host| {
        let n_kept = n_kept.entry(host.part).or_default();
        let end_us = done[host.part].1.span.events.last().map_or(i64::MAX, |event| event.ts_us);
        let is_soon = first(host.span).ts_us <= end_us.saturating_add_unsigned(FLOAT_US);
        let is_kept = host.at > 0 || is_soon || *n_kept < n_alike[&host.part];
        *n_kept += usize::from(is_kept);
        is_kept
    });
}

/// Notes for the parts that can belong to several spans which these are: the reducer may
/// find that all of them are of one request. Of more equal parts than such spans some
/// belong to neither.
fn name_hosts(hosts: &[Host], done: &mut [(u64, Closed)]) {
    let mut alike: BTreeMap<(Vec<Place>, Option<LogPointId>), Vec<usize>> = BTreeMap::new();
    for of_part in hosts.chunk_by(|a, b| a.part == b.part).filter(|of_part| of_part.len() > 1) {
        let part = of_part[0].part;
        let mut places: Vec<Place> =
            of_part.iter().map(|host| done[host.span].1.span.events[host.at].place()).collect();
        places.sort_unstable();
        alike.entry((places, done[part].1.span.events[0].log_point)).or_default().push(part);
    }
    for ((places, _), parts) in alike {
        if parts.len() <= places.len() && places.len() <= HOSTS_NAMED_MAX {
            parts.into_iter().for_each(|part| done[part].1.span.hosts.clone_from(&places));
        }
    }
}

/// The parts that can belong to one span only, with that and what it then can be. Of
/// two equal ones at one place nothing tells which is the span's, unless it has a place in its
/// order for each of them.
fn choose(
    orders: &Orders<'_>,
    hosts: Vec<Host>,
    done: &[(u64, Closed)],
) -> Vec<(usize, usize, Vec<TopLevelId>)> {
    let mut n_hosts: FxHashMap<usize, usize> = FxHashMap::default();
    hosts.iter().for_each(|host| *n_hosts.entry(host.part).or_default() += 1);
    let mut at_place: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
    for host in hosts.into_iter().filter(|host| n_hosts[&host.part] == 1) {
        at_place.entry((host.span, host.at)).or_default().push(host.part);
    }
    let mut chosen = Vec::new();
    for ((span, at), parts) in at_place {
        let first = |part: &usize| done[*part].1.span.events[0].log_point;
        let is_sole = |part: &&usize| parts.iter().filter(|other| first(other) == first(part)).count() == 1;
        let sole: Vec<usize> = parts.iter().filter(is_sole).copied().collect();
        for (are_all, parts) in [(true, parts), (false, sole)] {
            let points: Vec<LogPointId> = parts.iter().flat_map(|&part| done[part].1.points()).collect();
            let firsts: Vec<LogPointId> = parts.iter().filter_map(first).collect();
            let mut tops = fitting(orders, &done[span].1, at, &points);
            tops.retain(|&top| !are_all || (at > 0 && has_places(orders, top, &firsts)));
            if !tops.is_empty() {
                chosen.extend(parts.into_iter().map(|part| (part, span, tops.clone())));
                break;
            }
        }
    }
    chosen
}

/// Whether `top` has a place of its own for each of `points` that are the same: those of one place
/// that is printed again and again can be anybody's.
fn has_places(orders: &Orders<'_>, top: TopLevelId, points: &[LogPointId]) -> bool {
    points.iter().all(|point| {
        let n = points.iter().filter(|other| *other == point).count();
        let at = if n > 1 { positions_of(orders, top, *point) } else { Vec::new() };
        n == 1 || at.into_iter().filter(|&at| orders.follows(top, at, at).is_none()).count() >= n
    })
}

/// Where the last event of a span stands in the log.
fn last(closed: &Closed) -> Option<Place> {
    closed.span.events.last().map(Event::place)
}

/// Of the top-level methods that `outer` is best read as, those that print `points`
/// directly before its record `at`, and after the one before that.
fn fitting(orders: &Orders<'_>, outer: &Closed, at: usize, points: &[LogPointId]) -> Vec<TopLevelId> {
    let events = &outer.span.events;
    let Some(((first, rest), after)) = points.split_first().zip(events[at].log_point) else {
        return Vec::new();
    };
    let mut tops: Vec<TopLevelId> = outer.best_tops().collect();
    tops.retain(|&top| {
        let begins = match at {
            0 => positions_of(orders, top, *first),
            _ => {
                let before = walk(orders, top, &events[..at]);
                step(orders, top, &before, *first, |follows| follows == Follows::Next)
            }
        };
        let mut points = rest.iter().chain([&after]);
        points
            .try_fold(begins, |positions, &point| {
                let next = step(orders, top, &positions, point, |follows| follows == Follows::Next);
                (!positions.is_empty()).then_some(next)
            })
            .is_some_and(|positions| !positions.is_empty())
    });
    tops
}
