//! Continuations: without threads, the spans that what begins in the middle goes on with, all of
//! them together.
//!
//! A piece that nothing can begin with is the rest of a span that waits for its first line; one that
//! something can begin with is that as often as the log shows such lines in the middle of spans.
//! Several wait as a rule, runs of one method side by side, and each goes on once: so all pieces are
//! given to all that wait at the least cost together ([`super::assignment`]). A cost is how much
//! rather chance puts the two beside each other than one run does: how often the one line follows
//! the other, and how long after, as the lines of spans and then the pieces that were joined show
//! it. The order of the code and values that contradict decide what is possible at all. A piece
//! that could as well be of another one stays apart.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use schema::{Event, Kinds, LogPointId, Pass, Place, TopLevelId, TopLevelKind};

use super::assignment::{Edge, assign};
use super::began::Began;
use super::between::{nodes_of, step, walk};
use super::orders::{Follows, Orders};
use super::pools::Closed;
use super::rests::{are_apart, next_of};

/// Spans that have ended before a piece begins, newest first, that are looked at, and those of them
/// that can wait for it.
const LOOK_BACK_MAX: usize = 512;
const HOSTS_MAX: usize = 16;

/// What is joined shows more of how lines follow each other; after so many rounds little is new.
const ROUNDS_MAX: usize = 4;

/// Natural logarithms in thousandths. A piece stays alone unless one run is so much likelier than
/// chance; and unless it is nine times likelier with the one than with all others: what stays apart
/// can be joined later, what is joined here is one from then on.
const ALONE: i64 = 2_996;
const MARGIN_MIN: i64 = 2_197;

/// Bins of delays: below a millisecond, and up to each power of two of them.
const N_BINS: usize = 16;

/// Joins them. `done`: the spans of one log source with the numbers of their first records, sorted
/// by those; a rest comes at most `window_us` after the last line of what it is the rest of.
pub(super) fn join(
    orders: &mut Orders<'_>,
    (kinds, began): (&Kinds, &Began),
    done: &mut Vec<(u64, Closed)>,
    window_us: i64,
) {
    for _ in 0..ROUNDS_MAX {
        let delays = Delays::of(done);
        let mut pieces =
            Pieces { orders: &mut *orders, kinds, began, done, window_us, can_follow: FxHashMap::default() };
        let hosts = pieces.assign(&delays);
        if hosts.is_empty() || !chain(orders, done, &hosts) {
            return;
        }
    }
}

/// When an event was printed, and where it stands.
type At = (i64, Place);

fn at(event: &Event) -> At {
    (event.ts_us, event.place())
}

/// The first and the last log point of a span.
fn ends(closed: &Closed) -> Option<(LogPointId, LogPointId)> {
    let mut points = closed.span.events.iter().filter_map(|event| event.log_point);
    let first = points.next()?;
    Some((first, points.next_back().unwrap_or(first)))
}

/// How often lines follow each other in spans, and how long after.
struct Delays {
    of_pair: FxHashMap<(LogPointId, LogPointId), [u32; N_BINS]>,
    all: [u32; N_BINS],
    /// Lines that follow another one, by log point.
    n_after: FxHashMap<LogPointId, u32>,
    /// Spans that begin with a log point, and those that end with it.
    n_begins: FxHashMap<LogPointId, u32>,
    n_ends: FxHashMap<LogPointId, u32>,
    /// From the first line to the last one.
    length_us: f64,
}

impl Delays {
    fn of(done: &[(u64, Closed)]) -> Self {
        let (mut of_pair, mut n_after) = (FxHashMap::default(), FxHashMap::default());
        let (mut n_begins, mut n_ends) = (FxHashMap::default(), FxHashMap::default());
        let mut all = [0; N_BINS];
        let (mut first_us, mut last_us) = (i64::MAX, i64::MIN);
        for (_, closed) in done {
            let known =
                || closed.span.events.iter().filter_map(|event| Some((event.log_point?, event.ts_us)));
            for ((before, before_us), (after, after_us)) in known().zip(known().skip(1)) {
                let bin = bin(before_us.abs_diff(after_us));
                of_pair.entry((before, after)).or_insert([0; N_BINS])[bin] += 1;
                all[bin] += 1;
                *n_after.entry(after).or_default() += 1;
            }
            if let Some((first, _)) = known().next() {
                *n_begins.entry(first).or_default() += 1;
            }
            if let Some((last, at_us)) = known().next_back() {
                *n_ends.entry(last).or_default() += 1;
                (first_us, last_us) = (first_us.min(at_us), last_us.max(at_us));
            }
        }
        Self {
            of_pair,
            all,
            n_after,
            n_begins,
            n_ends,
            length_us: last_us.saturating_sub(first_us).max(1) as f64,
        }
    }

    /// What it costs that a span begins with a log point that can begin one: as often as it does.
    fn begins(&self, point: LogPointId) -> i64 {
        let n = |counts: &FxHashMap<LogPointId, u32>| {
            f64::from(counts.get(&point).copied().unwrap_or_default()) + 1.0
        };
        ((n(&self.n_after) / n(&self.n_begins)).ln() * 1_000.0).round() as i64
    }

    /// How much rather chance than one run puts `after` so long after `before`.
    fn cost(&self, before: LogPointId, after: LogPointId, delay_us: u64) -> i64 {
        let bin = bin(delay_us);
        let of_pair = self.of_pair.get(&(before, after));
        let n_pair = of_pair.map_or(0, |bins| bins.iter().sum::<u32>());
        let n_all: u32 = self.all.iter().sum();
        // Where little was seen of the two: as all lines follow each other, and as soon as late.
        let usual = (f64::from(self.all[bin]) + 1.0) / (f64::from(n_all) + N_BINS as f64);
        let share =
            (of_pair.map_or(0.0, |bins| f64::from(bins[bin])) + 2.0 * usual) / (f64::from(n_pair) + 2.0);
        let n_after = f64::from(self.n_after.get(&after).copied().unwrap_or_default());
        let follows = (f64::from(n_pair) + 0.5) / (n_after + 1.0);
        let n_ends = f64::from(self.n_ends.get(&before).copied().unwrap_or(1));
        let by_chance = n_ends * width_us(bin) / self.length_us;
        let cost = (by_chance.ln() - (share * follows).ln()) * 1_000.0;
        cost.round() as i64
    }
}

fn bin(delay_us: u64) -> usize {
    let bits = (u64::BITS - (delay_us / 1_000).leading_zeros()) as usize;
    bits.min(N_BINS - 1)
}

fn width_us(bin: usize) -> f64 {
    let below = |bin: usize| if bin == 0 { 1_000.0 } else { 1_000.0 * (1_u64 << (bin - 1)) as f64 };
    below(bin)
}

/// Finds what can go on with what.
struct Pieces<'a, 'm> {
    orders: &'a mut Orders<'m>,
    kinds: &'a Kinds,
    began: &'a Began,
    done: &'a [(u64, Closed)],
    window_us: i64,
    /// Whether some method can print the second directly after the first.
    can_follow: FxHashMap<(LogPointId, LogPointId), bool>,
}

impl Pieces<'_, '_> {
    /// Per piece, by positions in `done`, the span that it goes on with.
    fn assign(&mut self, delays: &Delays) -> BTreeMap<usize, usize> {
        let mut by_end: Vec<(At, usize)> = Vec::with_capacity(self.done.len());
        for (span, (_, closed)) in self.done.iter().enumerate() {
            by_end.extend(closed.span.events.last().map(|last| (at(last), span)));
        }
        by_end.sort_unstable();
        let (mut pieces, mut edges, mut alone) = (Vec::new(), Vec::new(), Vec::new());
        for piece in 0..self.done.len() {
            let Some((first, _)) = ends(&self.done[piece].1) else { continue };
            let begins = self.begins(piece, first);
            let hosts = match self.orders.floats(first) {
                true => Vec::new(),
                false => self.hosts(piece, &by_end, delays),
            };
            if !hosts.is_empty() {
                pieces.push(piece);
                edges.push(hosts);
                alone.push(if begins { delays.begins(first).min(ALONE) } else { ALONE });
            }
        }
        let chosen = assign(&edges, &alone, MARGIN_MIN);
        let chosen = pieces.into_iter().zip(edges.iter().zip(chosen));
        let sure = chosen.filter_map(|(piece, (edges, choice))| {
            let choice = choice.filter(|choice| choice.margin >= MARGIN_MIN)?;
            Some((piece, edges[choice.edge].place as usize))
        });
        sure.collect()
    }

    /// Whether something can begin with a span, of which this is the first log point.
    fn begins(&mut self, span: usize, first: LogPointId) -> bool {
        let tops = &self.done[span].1.span.top_levels;
        let begins = |&top: &TopLevelId| {
            self.orders.kind(top) != TopLevelKind::Unreached && self.orders.can_begin(top, first)
        };
        tops.iter().any(begins)
    }

    /// The spans that can wait for a piece, with what each costs.
    fn hosts(&mut self, piece: usize, by_end: &[(At, usize)], delays: &Delays) -> Vec<Edge> {
        let done = self.done;
        let Some(((first, _), event)) = ends(&done[piece].1).zip(done[piece].1.span.events.first()) else {
            return Vec::new();
        };
        let begin = at(event);
        let before = by_end[..by_end.partition_point(|(end, _)| *end < begin)].iter().rev();
        let mut hosts: Vec<Edge> = Vec::new();
        for &((end_us, _), host) in before.take(LOOK_BACK_MAX) {
            let delay_us = begin.0.saturating_sub(end_us);
            if delay_us > self.window_us || hosts.len() >= HOSTS_MAX {
                break;
            }
            let Some((_, last)) = ends(&done[host].1).filter(|_| host != piece) else { continue };
            if self.can_follow(last, first) && self.waits(host, piece, first) {
                let place = u32::try_from(host).expect("fewer than 2^32 spans");
                let cost = delays.cost(last, first, delay_us.unsigned_abs());
                hosts.push(Edge { place, cost, group: place });
            }
        }
        hosts
    }

    fn can_follow(&mut self, last: LogPointId, first: LogPointId) -> bool {
        let orders = &mut *self.orders;
        *self.can_follow.entry((last, first)).or_insert_with(|| {
            let tops: Vec<TopLevelId> = orders.places(first).iter().map(|places| places.top).collect();
            tops.into_iter().any(|top| {
                let nodes = nodes_of(orders, top, last);
                !step(orders, top, &nodes, first, |follows| follows == Follows::Next).is_empty()
            })
        })
    }

    /// Whether a span can wait for `first`, with which a piece begins, and both are about the same.
    /// The rounds of a dispatcher are not begun and ended, but follow each other, and so do the
    /// events of an entity.
    fn waits(&mut self, host: usize, piece: usize, first: LogPointId) -> bool {
        let (host, piece) = (&self.done[host].1, &self.done[piece].1);
        if self.began.is_later(host, piece) {
            return false;
        }
        host.span.top_levels.iter().any(|&top| {
            let is_begun = !matches!(self.orders.kind(top), TopLevelKind::Dispatcher | TopLevelKind::Entity);
            let both = is_begun && piece.span.top_levels.contains(&top);
            both && !are_apart(self.orders, self.kinds, top, (host, piece)) && {
                let nodes = walk(self.orders, top, &host.span.events);
                !next_of(self.orders, top, &nodes, first).is_empty()
            }
        })
    }
}

/// Joins pieces with their hosts, as far as one method can have printed all that goes on with each
/// other; whether any were joined.
fn chain(orders: &mut Orders<'_>, done: &mut Vec<(u64, Closed)>, hosts: &BTreeMap<usize, usize>) -> bool {
    let goes_on: FxHashMap<usize, usize> = hosts.iter().map(|(&piece, &host)| (host, piece)).collect();
    let mut begun: Vec<usize> = hosts.values().copied().filter(|host| !hosts.contains_key(host)).collect();
    let mut gone = FxHashSet::default();
    while let Some(host) = begun.pop() {
        let mut states: Vec<(TopLevelId, Vec<u32>)> = Vec::new();
        for &top in &done[host].1.span.top_levels {
            states.push((top, walk(orders, top, &done[host].1.span.events)));
        }
        let (mut parts, mut last) = (Vec::new(), host);
        while let Some(&piece) = goes_on.get(&last) {
            let next = after(orders, &states, &done[piece].1);
            if next.is_empty() {
                // What is left of it begins with this piece.
                begun.push(piece);
                break;
            }
            (states, last) = (next, piece);
            parts.push(piece);
        }
        if !parts.is_empty() {
            let rest: Vec<Closed> = parts.iter().map(|&part| done[part].1.clone()).collect();
            let truncated = done[last].1.span.truncated;
            let mut whole = done[host].1.clone().with(rest.into_iter(), (Pass::Rests, "order, all together"));
            whole.keep(|top| states.iter().any(|(other, _)| *other == top));
            whole.span.truncated = truncated;
            done[host].1 = whole;
            gone.extend(parts);
        }
    }
    let mut span = 0..;
    done.retain(|_| span.next().is_some_and(|span| !gone.contains(&span)));
    !gone.is_empty()
}

/// Where methods in these `states` are when they have printed a piece next.
fn after(
    orders: &mut Orders<'_>,
    states: &[(TopLevelId, Vec<u32>)],
    piece: &Closed,
) -> Vec<(TopLevelId, Vec<u32>)> {
    let points = piece.points();
    let Some((&first, rest)) = points.split_first() else { return Vec::new() };
    let mut found = Vec::new();
    for (top, nodes) in states.iter().filter(|(top, _)| piece.span.top_levels.contains(top)) {
        let mut nodes = next_of(orders, *top, nodes, first);
        for &point in rest {
            if !orders.floats(point) {
                nodes = step(orders, *top, &nodes, point, |_| true);
            }
        }
        if !nodes.is_empty() {
            found.push((*top, nodes));
        }
    }
    found
}
