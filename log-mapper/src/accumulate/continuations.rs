//! Continuations: without threads, which span each piece goes on with, all of them together.
//!
//! A piece begins where nothing told, while the log was read, which of several spans a line goes on
//! with, or with the first line of a request. Runs of one method wait side by side as a rule, and
//! each goes on once: so how likely each piece is the next one of each span is summed over all ways
//! to give them to each other ([`schema::assignment`]). What speaks for two of them is how often the
//! one line follows the other so long after, against how often it comes without; both are learnt
//! from the log, in rounds. In the first round it is how much more often the one line stands so long
//! after the other than so long before it, which is by chance. What a piece shows itself is never
//! evidence for it. The same way it is learnt how often two of them both name what so few name
//! ([`schema::in_common`]). The order of the code and values that contradict say what is possible at all.
//! Nothing goes on in a third method where either of two is all that another one prints: tasks of a
//! pool follow each other, too, and so do those that ask for something and what is asked.

use rustc_hash::{FxHashMap, FxHashSet};
use schema::assignment::{Edge, shares};
use schema::delays::{Delays, power};
use schema::in_common::{InCommon, Named, Rarity};
use schema::{Event, IdentifierId, Kinds, LogPointId, Pass, Place, TopLevelId, TopLevelKind};
use smallvec::SmallVec;

use super::began::Began;
use super::orders::{Follows, Orders, Position, comes_next, next_of, positions_of, step, walk};
use super::pools::Closed;
use super::rests::{contradict, names};
use about::About;

mod about;

/// Spans that have ended before a piece begins, newest first, that are looked at, and those of them
/// that can wait for it.
const LOOK_BACK_MAX: usize = 512;
const HOSTS_MAX: usize = 16;

/// Rounds of learning; after so many of them little changes.
const ROUNDS: usize = 6;

/// Of all ways to give pieces to spans a join has this share, if it counts: it is three times as
/// likely as not, as with links.
const SHARE_MIN: f64 = 0.75;

/// What is known before anything was seen counts as one sight.
const PRIOR: f64 = 1.0;

/// Other runs that have to show that a line follows another one: two, since one can be a piece
/// between two lines of somebody else.
const SHOWN_MIN: f64 = 2.0;

/// Of the lines that nothing can begin with by the code, so many stand alone: a line before them is
/// missing.
const ODD_LINE: f64 = 0.05;

/// Joins them. `done`: the spans of one log source with the numbers of their first records, sorted
/// by those; a piece comes at most `window_us` after the last line of what it goes on with.
pub(super) fn join(
    orders: &Orders<'_>,
    (kinds, began): (&Kinds, &Began),
    done: &mut Vec<(u64, Closed)>,
    window_us: i64,
) {
    let named = Named::of(done.iter().map(|(_, closed)| texts(closed)));
    let ends = Ends::of(done);
    let (pairs, about) = (Pairs::of(ends.points.len()), About::of(kinds, done));
    let known = done.iter().map(|_| Known::default()).collect();
    let mut search = Search { orders, began, done, named, about, window_us, ends, pairs, known };
    let pieces = search.pieces();
    let hosts = Learning::new(&pieces, &search.named).hosts();
    chain(orders, done, &hosts);
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

/// What a span names.
fn texts(closed: &Closed) -> impl Iterator<Item = &str> {
    let printed = closed.span.events.iter().flat_map(|event| event.values.iter());
    let named = closed.span.identifiers.iter().map(|value| &*value.text);
    printed.map(|(_, text)| text).chain(named)
}

/// The number of no log point.
const NO_POINT: u32 = u32::MAX;

/// The log points with which spans begin and end, by numbers of their own.
struct Ends {
    /// Sorted; the numbers are their places.
    points: Vec<LogPointId>,
    /// Per span its first and its last one.
    of_span: Vec<Option<(u32, u32)>>,
}

impl Ends {
    fn of(done: &[(u64, Closed)]) -> Self {
        let of_span: Vec<_> = done.iter().map(|(_, closed)| ends(closed)).collect();
        let mut points: Vec<LogPointId> =
            of_span.iter().flatten().flat_map(|&(first, last)| [first, last]).collect();
        points.sort_unstable();
        points.dedup();
        let number = |point| {
            let at = points.binary_search(&point).expect("all of them are there");
            u32::try_from(at).expect("a model has fewer than 2^32 elements")
        };
        let of_span = of_span.iter().map(|ends| ends.map(|(first, last)| (number(first), number(last))));
        Self { of_span: of_span.collect(), points }
    }
}

/// Two log points of which the second can be printed directly after the first, by its number.
type Pair = u32;

/// The log points that can follow each other.
struct Pairs {
    n_points: usize,
    /// Per second log point and first one, once it is asked for: none if it cannot follow.
    known: Vec<Option<Option<Pair>>>,
    n: u32,
}

impl Pairs {
    fn of(n_points: usize) -> Self {
        Self { n_points, known: vec![None; n_points * n_points], n: 0 }
    }

    /// The two, if the one `follows` the other.
    fn get(&mut self, (last, first): (u32, u32), follows: impl FnOnce() -> bool) -> Option<Pair> {
        let Self { n_points, known, n } = self;
        *known[first as usize * *n_points + last as usize].get_or_insert_with(|| {
            follows().then(|| {
                *n += 1;
                *n - 1
            })
        })
    }
}

/// Two lines that can follow each other, and the power of two of the time between.
type Step = (Pair, usize);

/// A span that can go on with a piece.
struct Host {
    span: usize,
    last: u32,
    step: Step,
    delay_us: i64,
    shared: Rarity,
}

/// A span as what another one may go on with.
struct Piece {
    span: usize,
    /// The numbers of its first and its last log point.
    first: u32,
    last: u32,
    /// Something can begin with it.
    begins: bool,
    hosts: Vec<Host>,
}

/// All pieces of a log.
struct Pieces {
    all: Vec<Piece>,
    /// How often one line stands so long before another one that could come after it.
    by_chance: FxHashMap<Step, f64>,
    /// What spans have in common that stand so.
    shared_by_chance: Vec<(Pair, Rarity)>,
    /// From the first line to the last one.
    whole_us: f64,
    n_points: usize,
    n_pairs: usize,
}

/// Finds what can go on with what.
struct Search<'a, 'm> {
    orders: &'a Orders<'m>,
    began: &'a Began,
    done: &'a [(u64, Closed)],
    named: Named,
    about: About,
    window_us: i64,
    ends: Ends,
    pairs: Pairs,
    /// Per span.
    known: Vec<Known>,
}

/// What is known of a span, once asked for: it is tried with many.
#[derive(Default)]
struct Known {
    /// The methods that can begin and end with it.
    wholes: Option<Vec<TopLevelId>>,
    /// Of methods that it can be: a few.
    of_top: Vec<(TopLevelId, KnownOfTop)>,
}

/// The same, if the span is of one method.
#[derive(Default)]
struct KnownOfTop {
    /// Where the method is after it.
    positions: Option<Vec<Position>>,
    /// What the identifiers of the method are in it.
    names: Option<Vec<(IdentifierId, String)>>,
}

impl Known {
    fn of_top(&mut self, top: TopLevelId) -> &mut KnownOfTop {
        let at = self.of_top.iter().position(|(known, _)| *known == top).unwrap_or_else(|| {
            self.of_top.push((top, KnownOfTop::default()));
            self.of_top.len() - 1
        });
        &mut self.of_top[at].1
    }
}

/// A span by its end: when that was, the span, and the number of its last log point.
type End = (At, usize, u32);

impl Search<'_, '_> {
    fn pieces(&mut self) -> Pieces {
        let by_end = self.by_end();
        let (mut all, mut by_chance, mut shared_by_chance) = (Vec::new(), FxHashMap::default(), Vec::new());
        let (mut start_us, mut end_us) = (i64::MAX, i64::MIN);
        for span in 0..self.done.len() {
            let event = self.done[span].1.span.events.first();
            let Some(((first, last), event)) = self.ends.of_span[span].zip(event) else { continue };
            let begin = at(event);
            (start_us, end_us) = (start_us.min(begin.0), end_us.max(begin.0));
            let point = self.ends.points[first as usize];
            let begins = self.begins(span, point);
            let mut hosts = Vec::new();
            if !self.orders.floats(point) {
                let before = by_end.partition_point(|(end, ..)| *end < begin);
                let piece = (span, first, begins);
                hosts = self.near(piece, begin, by_end[..before].iter().rev());
                for Host { step, shared, .. } in self.near(piece, begin, by_end[before..].iter()) {
                    *by_chance.entry(step).or_default() += 1.0;
                    shared_by_chance.push((step.0, shared));
                }
            }
            all.push(Piece { span, first, last, begins, hosts });
        }
        let whole_us = end_us.saturating_sub(start_us).max(1) as f64;
        let (n_points, n_pairs) = (self.ends.points.len(), self.pairs.n as usize);
        Pieces { all, by_chance, shared_by_chance, whole_us, n_points, n_pairs }
    }

    /// The spans by their ends.
    fn by_end(&self) -> Vec<End> {
        let mut by_end: Vec<End> = Vec::with_capacity(self.done.len());
        for (span, (_, closed)) in self.done.iter().enumerate() {
            // Who has printed no log point is passed over, and counts as one that was looked at.
            let last = self.ends.of_span[span].map_or(NO_POINT, |(_, last)| last);
            by_end.extend(closed.span.events.last().map(|event| (at(event), span, last)));
        }
        by_end.sort_unstable();
        by_end
    }

    /// Whether something can begin with a span, of which this is the first log point.
    fn begins(&mut self, span: usize, first: LogPointId) -> bool {
        let tops = &self.done[span].1.span.top_levels;
        let begins = |&top: &TopLevelId| {
            self.orders.kind(top) != TopLevelKind::Unreached && self.orders.can_begin(top, first)
        };
        tops.iter().any(begins)
    }

    /// The spans near a piece, nearest first, that can wait for it.
    fn near<'e>(
        &mut self,
        (piece, first, begins): (usize, u32, bool),
        begin: At,
        by_end: impl Iterator<Item = &'e End>,
    ) -> Vec<Host> {
        let mut hosts = Vec::new();
        for &((end_us, _), span, last) in by_end.take(LOOK_BACK_MAX) {
            let delay_us = begin.0.saturating_sub(end_us).saturating_abs();
            if delay_us > self.window_us || hosts.len() >= HOSTS_MAX {
                break;
            }
            if last == NO_POINT || span == piece {
                continue;
            }
            if let Some(pair) = self.pair(last, first)
                && self.waits(span, (piece, self.ends.points[first as usize], begins))
            {
                let (step, shared) = ((pair, power(delay_us).0), self.named.rarity(span, piece));
                hosts.push(Host { span, last, step, delay_us, shared });
            }
        }
        hosts
    }

    /// The two log points, if some method can print the second directly after the first.
    fn pair(&mut self, last: u32, first: u32) -> Option<Pair> {
        let Self { orders, ends, pairs, .. } = self;
        pairs.get((last, first), || {
            let [last, first] = [last, first].map(|number| ends.points[number as usize]);
            let tops: Vec<TopLevelId> = orders.places(first).iter().map(|places| places.top).collect();
            tops.into_iter().any(|top| {
                let positions = positions_of(orders, top, last);
                !step(orders, top, &positions, first, |follows| follows == Follows::Next).is_empty()
            })
        })
    }

    /// Whether a span can wait for `first`, with which a piece begins, and both are about the same.
    /// The rounds of a dispatcher are not begun and ended, but follow each other, and so do the
    /// events of an entity.
    fn waits(&mut self, host: usize, (piece, first, begins): (usize, LogPointId, bool)) -> bool {
        let (at, done) = ([host, piece], self.done);
        let (host, piece) = (&done[host].1, &done[piece].1);
        // The same statement once more: it goes on, or begins its work anew, and nothing tells.
        let is_again = || ends(host).is_some_and(|(begun, last)| begun == first || last == first);
        let is_apart = (begins && is_again())
            || self.about.names_others(at[0], at[1])
            || self.about.are_about_others(at[0], at[1])
            || self.began.is_later(host, piece)
            || host.is_of_another_trace(piece);
        if is_apart {
            return false;
        }
        let mut tops: SmallVec<[TopLevelId; 8]> = SmallVec::new();
        for &top in &host.span.top_levels {
            let is_begun = !matches!(self.orders.kind(top), TopLevelKind::Dispatcher | TopLevelKind::Entity);
            if is_begun
                && piece.span.top_levels.contains(&top)
                && !self.contradict(at, top)
                && self.goes_on(at[0], top, first)
            {
                tops.push(top);
            }
        }
        let mut is_else = |span| self.wholes(span).iter().any(|top| !tops.contains(top));
        !tops.is_empty() && !at.into_iter().all(&mut is_else)
    }

    /// Whether `top` prints `first` as the very next log point after a span.
    fn goes_on(&mut self, span: usize, top: TopLevelId, first: LogPointId) -> bool {
        let (orders, events) = (self.orders, &self.done[span].1.span.events);
        let known = self.known[span].of_top(top);
        let positions = known.positions.get_or_insert_with(|| walk(orders, top, events));
        comes_next(orders, top, positions, first)
    }

    /// Whether an identifier of `top` has another value in the one span than in the other.
    fn contradict(&mut self, spans: [usize; 2], top: TopLevelId) -> bool {
        let (orders, done) = (self.orders, self.done);
        if done[spans[0]].1.span.thread.is_some() {
            return false;
        }
        for span in spans {
            let names = || names(orders, top, &done[span].1);
            self.known[span].of_top(top).names.get_or_insert_with(names);
        }
        let names = |span: usize| {
            let known = self.known[span].of_top.iter().find(|(known, _)| *known == top);
            known.and_then(|(_, known)| known.names.as_deref()).unwrap_or_default()
        };
        contradict(names(spans[0]), names(spans[1]))
    }

    /// The methods of which a span can be all that they print.
    fn wholes(&mut self, span: usize) -> &[TopLevelId] {
        let (orders, closed) = (self.orders, &self.done[span].1);
        self.known[span].wholes.get_or_insert_with(|| {
            let Some((first, _)) = ends(closed) else { return Vec::new() };
            let mut tops = closed.span.top_levels.clone();
            tops.retain(|&top| {
                orders.kind(top) != TopLevelKind::Unreached && orders.can_begin(top, first) && {
                    let positions = walk(orders, top, &closed.span.events);
                    positions.iter().any(|&(node, _)| orders.is_exit(top, node))
                }
            });
            tops
        })
    }
}

/// What is known of how lines follow each other, and how likely each piece goes on with each of
/// its hosts by that.
struct Learning<'p> {
    pieces: &'p Pieces,
    shares: Vec<Vec<f64>>,
    /// By pair of log points.
    delays: Vec<Delays>,
    shared: InCommon<Pair>,
    named: &'p Named,
    /// Spans that end with a log point, and how many of them go on; pieces that begin with one, and
    /// how many of them nothing goes on with: by the numbers of log points.
    n_ends: Vec<f64>,
    n_go_on: Vec<f64>,
    n_alone: Vec<f64>,
}

impl<'p> Learning<'p> {
    /// What is more often so than by chance.
    fn new(pieces: &'p Pieces, named: &'p Named) -> Self {
        let mut n_seen: FxHashMap<Step, f64> = FxHashMap::default();
        let mut n_ends = vec![0.0; pieces.n_points];
        for piece in &pieces.all {
            n_ends[piece.last as usize] += 1.0;
            for host in &piece.hosts {
                *n_seen.entry(host.step).or_default() += 1.0;
            }
        }
        let share = |host: &Host| {
            let seen = n_seen[&host.step];
            let by_chance = pieces.by_chance.get(&host.step).copied().unwrap_or_default();
            // No more than a span has pieces that go on with it.
            ((seen - by_chance).max(0.0) / seen) / seen.sqrt().max(1.0)
        };
        let shares = pieces.all.iter().map(|piece| piece.hosts.iter().map(share).collect()).collect();
        let (delays, n_go_on, n_alone) = Default::default();
        let shared = InCommon::new(named);
        let mut learning = Self { pieces, shares, delays, shared, named, n_ends, n_go_on, n_alone };
        learning.learn();
        learning
    }

    fn learn(&mut self) {
        let Pieces { all, shared_by_chance, n_points, n_pairs, .. } = self.pieces;
        self.delays = vec![Delays::default(); *n_pairs];
        self.shared = InCommon::new(self.named);
        for &(pair, shared) in shared_by_chance {
            self.shared.add(pair, shared, 0.0);
        }
        self.n_go_on = vec![0.0; *n_points];
        self.n_alone = vec![0.0; *n_points];
        for (piece, shares) in all.iter().zip(&self.shares) {
            for (host, share) in piece.hosts.iter().zip(shares) {
                let (pair, _) = host.step;
                self.delays[pair as usize].add(host.delay_us, *share);
                self.shared.add(pair, host.shared, *share);
                self.n_go_on[host.last as usize] += share;
            }
            let alone = (1.0 - shares.iter().sum::<f64>()).max(0.0);
            self.n_alone[piece.first as usize] += alone;
        }
    }

    /// How much likelier it is that a span goes on with a piece than that it ends and the piece
    /// comes of itself, as a logarithm: by all others.
    fn odds(&self, piece: &Piece, host: &Host, (own, own_alone): (f64, f64)) -> f64 {
        let (pair, _) = host.step;
        let n_ends = (self.n_ends[host.last as usize] - 1.0).max(0.0) + PRIOR;
        let delays = &self.delays[pair as usize];
        // What no other run has shown is never so.
        let steps = delays.total() - own;
        if steps < SHOWN_MIN {
            return f64::NEG_INFINITY;
        }
        let n_go_on = (self.n_go_on[host.last as usize] - own).max(0.0);
        let ends = ((n_ends - n_go_on).max(0.0) + ODD_LINE * n_ends) / n_ends;
        let alone = (self.n_alone[piece.first as usize] - own_alone).max(0.0) + PRIOR;
        let alone = if piece.begins { alone } else { alone * ODD_LINE };
        let n_powers = power(self.pieces.whole_us as i64).0 + 1;
        (steps / n_ends).ln()
            + delays.log_density(host.delay_us, own, n_powers)
            + self.shared.odds(pair, host.shared, own)
            - ends.ln()
            - (alone / self.pieces.whole_us).ln()
    }

    /// Per piece, by their spans, the span that it goes on with.
    fn hosts(mut self) -> FxHashMap<usize, usize> {
        for _ in 0..ROUNDS {
            let edges: Vec<Vec<Edge>> = (self.pieces.all.iter().zip(&self.shares))
                .map(|(piece, shares)| {
                    let alone = (1.0 - shares.iter().sum::<f64>()).max(0.0);
                    let edge = |(host, &share): (&Host, &f64)| Edge {
                        place: Some(u32::try_from(host.span).expect("fewer than 2^32 spans")),
                        odds: self.odds(piece, host, (share, alone)),
                    };
                    piece.hosts.iter().zip(shares).map(edge).collect()
                })
                .collect();
            self.shares = shares(&edges);
            self.learn();
        }
        let mut found = FxHashMap::default();
        for (piece, shares) in self.pieces.all.iter().zip(&self.shares) {
            let sure = piece.hosts.iter().zip(shares).find(|(_, share)| **share >= SHARE_MIN);
            found.extend(sure.map(|(host, _)| (piece.span, host.span)));
        }
        found
    }
}

/// Joins pieces with their hosts, as far as one method can have printed all that goes on with each
/// other.
fn chain(orders: &Orders<'_>, done: &mut Vec<(u64, Closed)>, hosts: &FxHashMap<usize, usize>) {
    let goes_on: FxHashMap<usize, usize> = hosts.iter().map(|(&piece, &host)| (host, piece)).collect();
    let mut begun: Vec<usize> = hosts.values().copied().filter(|host| !hosts.contains_key(host)).collect();
    begun.sort_unstable();
    let mut gone = FxHashSet::default();
    while let Some(host) = begun.pop() {
        let mut states: Vec<(TopLevelId, Vec<Position>)> = Vec::new();
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
            let mut whole =
                done[host].1.clone().with(rest.into_iter(), (Pass::Continuations, "order, all together"));
            whole.keep(|top| states.iter().any(|(other, _)| *other == top));
            whole.span.truncated = truncated;
            done[host].1 = whole;
            gone.extend(parts);
        }
    }
    let mut span = 0..;
    done.retain(|_| span.next().is_some_and(|span| !gone.contains(&span)));
}

/// Where methods in these `states` are when they have printed a piece next.
fn after(
    orders: &Orders<'_>,
    states: &[(TopLevelId, Vec<Position>)],
    piece: &Closed,
) -> Vec<(TopLevelId, Vec<Position>)> {
    let points = piece.points();
    let Some((&first, rest)) = points.split_first() else { return Vec::new() };
    let mut found = Vec::new();
    for (top, positions) in states.iter().filter(|(top, _)| piece.span.top_levels.contains(top)) {
        let mut positions = next_of(orders, *top, positions, first);
        for &point in rest {
            if !orders.floats(point) {
                positions = step(orders, *top, &positions, point, |_| true);
            }
        }
        if !positions.is_empty() {
            found.push((*top, positions));
        }
    }
    found
}
