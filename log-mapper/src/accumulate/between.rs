//! Between: parts of a span that stand in the middle of it, without threads.
//!
//! While a log is read, a part of a span that names nothing, or other things than the
//! rest of it, can look like the beginning of something else. Once all has been read,
//! the record after it is known too: what can only be the middle of something belongs
//! to the one span around it that prints it there.

use rustc_hash::FxHashSet;
use schema::kinds::is_made;
use schema::{Event, LogPointId, TopLevelId, TopLevelKind};

use super::orders::{Follows, Orders};
use super::pools::Closed;
use super::together::Together;

/// A span around a part, and where in it the part stands.
struct Around {
    part: usize,
    span: usize,
    /// Its next record after the part.
    at: usize,
    needs: bool,
    names: bool,
    tops: Vec<TopLevelId>,
}

/// Joins, in the closed spans of a log without threads, which have the numbers of their
/// first records and are in order of these, what stands in the middle with what is
/// around it.
pub(super) fn join(orders: &mut Orders<'_>, done: &mut Vec<(u64, Closed)>, window_us: i64, together: &Together) {
    let mut found: Vec<Around> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for part in 0..done.len() {
        let events = &done[part].1.span.events;
        let (first, last) = (&events[0], &events[events.len() - 1]);
        open.retain(|&span| done[span].1.span.events.last().is_some_and(|end| place(end) > place(last)));
        if is_part(orders, &done[part].1) {
            let start = found.len();
            found.extend(ahead(orders, done, part));
            for &span in &open {
                if let Some(around) = around(orders, done, part, span, window_us) {
                    found.push(around);
                }
            }
            let last = last.log_point;
            let n_next = |one: &Around| {
                let next = done[one.span].1.span.events[one.at].log_point;
                last.zip(next).map_or(0, |(last, next)| together.n_after(last, next))
            };
            let most = found[start..].iter().map(n_next).max().unwrap_or_default();
            let mut index = 0;
            found.retain(|one| { index += 1; index <= start || n_next(one) * 8 >= most });
            let best = found[start..].iter().map(|one| (one.names, one.needs)).max();
            let mut index = 0;
            found.retain(|one| { index += 1; index <= start || Some((one.names, one.needs)) == best });
        }
        let _ = first;
        open.push(part);
    }
    if let Ok(d) = std::env::var("BETD") {
        for a in &found {
            let e = |i: usize| done[i].1.span.events.iter().map(|e| e.line.to_string()).collect::<Vec<_>>().join(",");
            eprintln!("{d} {} part [{}] span [{}] at {} needs {} names {}", done[a.part].1.span.node, e(a.part), e(a.span), a.at, a.needs, a.names);
        }
    }
    let mut gone = FxHashSet::default();
    let chosen: Vec<(usize, usize, Vec<TopLevelId>)> = choose(&found, done);
    let mut chosen = chosen;
    while !chosen.is_empty() {
        let is_last = |(part, _, _): &(usize, usize, Vec<TopLevelId>)| !chosen.iter().any(|(_, span, _)| span == part);
        let Some(at) = chosen.iter().position(is_last) else { break };
        let (part, span, tops) = chosen.remove(at);
        if std::env::var("BETW").is_ok() {
            let show = |c: &Closed| c.span.events.iter().map(|e| e.line.to_string()).collect::<Vec<_>>().join(",");
            eprintln!("{} join [{}] into [{}]", done[part].1.span.node, show(&done[part].1), show(&done[span].1));
        }
        let inner = done[part].1.clone();
        let mut whole = done[span].1.clone();
        whole.keep(|top| tops.contains(&top));
        let whole = whole.with(std::iter::once(inner), "order, in the middle");
        done[span].1 = whole;
        gone.insert(done[part].0);
    }
    done.retain(|(seq, _)| !gone.contains(seq));
}

fn choose(found: &[Around], done: &[(u64, Closed)]) -> Vec<(usize, usize, Vec<TopLevelId>)> {
    let first = |part: usize| done[part].1.span.events[0].log_point;
    let mut left: Vec<&Around> = found.iter().collect();
    let mut out = Vec::new();
    loop {
        let mut n: rustc_hash::FxHashMap<usize, usize> = Default::default();
        left.iter().for_each(|one| *n.entry(one.part).or_default() += 1);
        let slot = |one: &Around| (one.span, one.at, first(one.part));
        let sole: Vec<&Around> = left.iter().copied().filter(|one| n[&one.part] == 1).collect();
        let Some(&next) = sole.iter().find(|one| sole.iter().filter(|other| slot(one) == slot(other)).count() == 1) else { break };
        out.push((next.part, next.span, next.tops.clone()));
        left.retain(|one| one.part != next.part);
    }
    out
}

fn place(event: &Event) -> (u32, u64) {
    (event.file, event.line)
}

fn is_nameless(closed: &Closed) -> bool {
    closed.span.events.iter().all(|event| event.log_point.is_some() && event.values.is_empty())
}

/// Whether a span names nothing, or has begun in the middle of whatever it can be.
fn is_part(orders: &mut Orders<'_>, closed: &Closed) -> bool {
    let Some(first) = closed.span.events[0].log_point else { return false };
    is_nameless(closed)
        || !closed.span.top_levels.iter().any(|&top| {
            orders.kind(top) != TopLevelKind::Unreached && orders.can_begin(top, first)
        })
}

fn around(
    orders: &mut Orders<'_>,
    done: &[(u64, Closed)],
    part: usize,
    span: usize,
    window_us: i64,
) -> Option<Around> {
    let (inner, outer) = (&done[part].1, &done[span].1);
    let (first, last) = (inner.span.events.first()?, inner.span.events.last()?);
    let events = &outer.span.events;
    let at = events.partition_point(|event| place(event) < place(first));
    let (before, after) = (events.get(at.checked_sub(1)?)?, events.get(at)?);
    if place(after) < place(last) || after.ts_us.saturating_sub(before.ts_us) > window_us {
        return None;
    }
    let is_shared = |value: &schema::Value| is_made(&value.text) && outer.span.identifiers.contains(value);
    let names = inner.span.identifiers.iter().any(is_shared);
    if !names && !is_nameless(inner) {
        return None;
    }
    let points: Vec<LogPointId> = inner.span.events.iter().filter_map(|event| event.log_point).collect();
    let after = after.log_point?;
    let mut needs = None;
    let mut tops = Vec::new();
    for (index, &top) in outer.span.top_levels.iter().enumerate() {
        if outer.fits.get(index) != Some(&0) {
            continue;
        }
        let Some(from) = walk(orders, top, &events[..at]) else { continue };
        let Some(through) = points.iter().try_fold(from.clone(), |nodes, &point| step(orders, top, &nodes, point, false)) else { continue };
        if step(orders, top, &through, after, false).is_none() {
            continue;
        }
        let skips = step(orders, top, &from, after, false).is_none();
        tops.push(top);
        needs = Some(needs.unwrap_or(false) | skips);
    }
    Some(Around { part, span, at, needs: needs?, names, tops })
}

fn ahead(orders: &mut Orders<'_>, done: &[(u64, Closed)], part: usize) -> Vec<Around> {
    let inner = &done[part].1;
    let mut out = Vec::new();
    let Some(last) = inner.span.events.last() else { return out };
    let points: Vec<LogPointId> = inner.span.events.iter().filter_map(|event| event.log_point).collect();
    for span in part + 1..done.len() {
        let outer = &done[span].1;
        let next = &outer.span.events[0];
        if next.ts_us.saturating_sub(last.ts_us) > 100_000 {
            break;
        }
        if place(next) < place(last) || is_nameless(outer) || outer.span.events[0].log_point == inner.span.events[0].log_point {
            continue;
        }
        let Some(after) = next.log_point else { continue };
        let tops: Vec<TopLevelId> = outer.span.top_levels.iter().zip(&outer.fits).filter(|(_, fit)| **fit == 0).map(|(top, _)| *top).collect();
        let tops: Vec<TopLevelId> = tops.into_iter().filter(|&top| {
            let from = nodes_of(orders, top, points[0]);
            let through = points[1..].iter().try_fold(from, |nodes, &point| step(orders, top, &nodes, point, false));
            through.is_some_and(|nodes| step(orders, top, &nodes, after, false).is_some())
        }).collect();
        if !tops.is_empty() {
            out.push(Around { part, span, at: 0, needs: false, names: false, tops });
        }
    }
    out
}

/// Nodes of `top` at which the last of `events` can have been printed.
fn walk(orders: &mut Orders<'_>, top: TopLevelId, events: &[Event]) -> Option<Vec<u32>> {
    let mut points = events.iter().filter_map(|event| event.log_point);
    let first = points.next()?;
    let mut nodes = nodes_of(orders, top, first);
    for point in points {
        if orders.floats(point) { continue; }
        if let Some(next) = step(orders, top, &nodes, point, true) { nodes = next; } else { return None; }
    }
    (!nodes.is_empty()).then_some(nodes)
}

fn nodes_of(orders: &Orders<'_>, top: TopLevelId, point: LogPointId) -> Vec<u32> {
    let places = orders.places(point);
    let found = places.binary_search_by_key(&top, |places| places.top);
    found.map_or(Vec::new(), |index| places[index].at.iter().map(|&(node, _)| node).collect())
}

fn step(orders: &mut Orders<'_>, top: TopLevelId, from: &[u32], point: LogPointId, later: bool) -> Option<Vec<u32>> {
    let mut to = nodes_of(orders, top, point);
    to.retain(|&to| {
        from.iter().any(|&from| match orders.follows(top, from, to) {
            Some(Follows::Next) => true,
            Some(Follows::Later) => later,
            None => false,
        })
    });
    to.dedup();
    (!to.is_empty()).then_some(to)
}
