//! Gaps: where callers can have asked, by the log points around their calls.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use schema::{Dag, LinkKind, LogPointId, Model, PairId, TopLevelId};

use super::{Asked, spans_of_tops};
use crate::merge::to_u32;
use crate::skeleton::Event;
use crate::stitch::facts::{Fact, Facts};

/// Handlers in a row that print nothing.
const PAST_MAX: u32 = 4;

/// Gaps that are looked at around one time, the nearest ones.
const AROUND_MAX: usize = 64;

/// Gaps that are passed over for that.
const LOOK_BACK_MAX: usize = 512;

/// One place of the code that asks for what a handler does.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) pair: PairId,
    pub(super) from: TopLevelId,
    pub(super) to: TopLevelId,
    /// The caller holds still.
    pub(super) waits: bool,
    pub(super) repeats: bool,
    /// What is asked for is done in the same process.
    pub(super) is_local: bool,
    /// It is sent to a broker, which hands on in order.
    pub(super) is_sent: bool,
    /// Handlers between that print nothing there, but elsewhere.
    pub(super) n_past: u32,
    /// Its place among the calls of one run of the caller, and of the handlers between.
    order: Vec<u32>,
    after: FxHashSet<LogPointId>,
    is_first: bool,
    before: FxHashSet<LogPointId>,
    is_last: bool,
}

impl Call {
    /// Whether both ask for the same at the same place of the code.
    fn is_same_place(&self, other: &Self) -> bool {
        (self.from, self.to, self.order[0]) == (other.from, other.to, other.order[0])
            && (&self.after, self.is_first) == (&other.after, other.is_first)
            && (&self.before, self.is_last) == (&other.before, other.is_last)
    }
}

/// Two lines of a caller between which it can have asked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gap {
    /// Position among the calls.
    pub(super) call: u32,
    pub(super) span: u32,
    /// The two lines; the same number for all calls between them.
    pub(super) lines: u32,
    /// How many events of the caller stand before them, and from which one on the others do.
    pub(super) before: u32,
    pub(super) behind: u32,
    /// What one call fills: the same number for calls of which one run makes one.
    pub(super) place: u32,
    /// Which of the places between the lines, in the order of the code, and of how many.
    pub(super) rank: u32,
    pub(super) n_places: u32,
    /// Some call between the lines can be made again and again.
    pub(super) is_looped: bool,
    pub(super) begin_us: i64,
    pub(super) end_us: i64,
    /// The caller has printed nothing before it, or nothing after it.
    pub(super) is_open: [bool; 2],
    /// Lines around it that the code does not have around the call.
    pub(super) n_odd: u32,
}

impl Gap {
    /// How long it is, if both lines are there, µs.
    pub(super) fn length_us(&self) -> Option<i64> {
        (self.is_open == [false, false]).then_some(self.end_us - self.begin_us)
    }
}

/// All gaps.
#[derive(Debug)]
pub(super) struct Gaps {
    gaps: Vec<Gap>,
    /// Positions by (receiver, node of the caller), those with a begin by that, the others by
    /// their end.
    of: BTreeMap<(TopLevelId, u32), [Vec<u32>; 2]>,
}

/// All calls that are meant, also past handlers that print nothing. Log points that nobody has
/// printed, because their level is off or for another reason, are passed over.
pub(super) fn calls(model: &Model, facts: &Facts<'_>, asked: Asked) -> Vec<Call> {
    let events = facts.iter().flat_map(|(_, fact)| fact.events);
    let shown: FxHashSet<LogPointId> = events.filter_map(|event| event.log_point).collect();
    let mut calls = Vec::new();
    for (index, pair) in model.communication_pairs.iter().enumerate() {
        let Some(top) = model.top_level_methods.get(pair.from.index()).filter(|_| asked.is_by(pair)) else {
            continue;
        };
        for call in &pair.remote_calls {
            let (after, is_first) = nearest(&top.dag, &call.after, &shown, Way::Back);
            let (before, is_last) = nearest(&top.dag, &call.before, &shown, Way::On);
            calls.push(Call {
                pair: PairId::new(index),
                from: pair.from,
                to: pair.to,
                waits: call.waits,
                repeats: call.repeats,
                is_local: false,
                is_sent: pair.kind == LinkKind::Message,
                n_past: 0,
                order: vec![call.order],
                after,
                is_first: is_first || call.is_first,
                before,
                is_last: is_last || call.is_last,
            });
        }
    }
    if asked == Asked::FarOff && facts.ids().are_used() {
        calls.extend(local(model, &shown));
    }
    add_past(&mut calls, model, &shown);
    calls
}

/// Adds the calls that a handler makes on, as calls of its own caller, where the handler has
/// printed nothing or need not print around that call: the shortest ways first, at most `PAST_MAX`
/// handlers far.
fn add_past(calls: &mut Vec<Call>, model: &Model, shown: &FxHashSet<LogPointId>) {
    let is_silent = |top: TopLevelId| {
        let dag = &model.top_level_methods[top.index()].dag;
        !dag.nodes.iter().flat_map(|node| &node.points).any(|point| shown.contains(&point.log_point))
    };
    let direct = calls.clone();
    let mut last = 0..calls.len();
    for _ in 0..PAST_MAX {
        let further: Vec<Call> = (calls[last.clone()].iter())
            .flat_map(|first| {
                direct.iter().filter(move |next| next.from == first.to).map(move |next| (first, next))
            })
            .filter(|(first, next)| {
                next.to != first.from && (is_silent(next.from) || (next.is_first && next.is_last))
            })
            .map(|(first, next)| Call {
                to: next.to,
                waits: first.waits && next.waits,
                repeats: first.repeats || next.repeats,
                is_local: first.is_local && next.is_local,
                is_sent: first.is_sent || next.is_sent,
                n_past: first.n_past + u32::from(!is_silent(next.from)),
                order: [&first.order[..], &next.order].concat(),
                ..first.clone()
            })
            .collect();
        // What the model tells itself of the way past them is no other call; past one that prints nothing
        // but can be reported to have failed it has a place of its own.
        let mut is_new = |one: &Call| {
            let Some(known) = calls.iter_mut().find(|known| known.is_same_place(one)) else { return true };
            if one.n_past == 0 {
                known.order.clone_from(&one.order);
            }
            false
        };
        let further: Vec<Call> = further.into_iter().filter(|one| is_new(one)).collect();
        last = calls.len()..calls.len() + further.len();
        calls.extend(further);
    }
}

/// What is handed to other threads, or back to one when an answer is there: nobody waits for that,
/// and where ids teach how long it takes they tell of whom a step without one is.
fn local<'m>(model: &'m Model, shown: &'m FxHashSet<LogPointId>) -> impl Iterator<Item = Call> + use<'m> {
    let pairs = model.communication_pairs.iter().enumerate();
    pairs.filter(|(_, pair)| pair.kind == LinkKind::Thread && pair.from != pair.to).filter_map(
        |(index, pair)| {
            let nodes = &model.top_level_methods.get(pair.from.index())?.dag.nodes;
            let printed = |point: LogPointId| shown.contains(&point) && !pair.after.contains(&point);
            let points = nodes.iter().flat_map(|node| &node.points).map(|point| point.log_point);
            Some(Call {
                pair: PairId::new(index),
                from: pair.from,
                to: pair.to,
                waits: false,
                repeats: pair.many,
                is_local: true,
                is_sent: false,
                n_past: 0,
                order: vec![u32::MAX],
                after: points.filter(|&point| printed(point)).collect(),
                is_first: false,
                before: FxHashSet::default(),
                is_last: true,
            })
        },
    )
}

/// Along the order of the code, or against it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Back,
    On,
}

/// The log points that stand next to a place of the code, given those that can, of those that
/// somebody has `shown`; and whether there can be none.
fn nearest(
    dag: &Dag,
    points: &[LogPointId],
    shown: &FxHashSet<LogPointId>,
    way: Way,
) -> (FxHashSet<LogPointId>, bool) {
    let holds = |node: usize, point: LogPointId| dag.nodes[node].points.iter().any(|p| p.log_point == point);
    let (mut found, mut is_end) = (FxHashSet::default(), false);
    let (mut open, mut seen): (Vec<LogPointId>, FxHashSet<LogPointId>) =
        (points.to_vec(), points.iter().copied().collect());
    while let Some(point) = open.pop() {
        if shown.contains(&point) {
            found.insert(point);
            continue;
        }
        for node in (0..dag.nodes.len()).filter(|&node| holds(node, point)) {
            let ends = if way == Way::Back { &dag.entries } else { &dag.exits };
            is_end |= ends.contains(&to_u32(node));
            let beside: Vec<usize> = match way {
                Way::On => dag.nodes[node].next.iter().map(|&next| next as usize).collect(),
                Way::Back => (0..dag.nodes.len())
                    .filter(|&other| dag.nodes[other].next.contains(&to_u32(node)))
                    .collect(),
            };
            for point in beside.into_iter().flat_map(|node| &dag.nodes[node].points) {
                if seen.insert(point.log_point) {
                    open.push(point.log_point);
                }
            }
        }
    }
    (found, is_end)
}

/// The gaps of all spans in which one of `calls` can have been made. One that is open ends
/// with what its thread prints for others, or after `window_us`.
pub(super) fn find(facts: &Facts<'_>, calls: &[Call], window_us: i64) -> Gaps {
    let bounds = Bounds::new(facts, window_us);
    let spans = spans_of_tops(facts);
    let (mut n_lines, mut next): (FxHashMap<(u32, usize), u32>, u32) = (FxHashMap::default(), 0);
    let mut gaps = Vec::new();
    for (index, call) in calls.iter().enumerate() {
        for &span in spans.get(&call.from).map_or(&[][..], Vec::as_slice) {
            let fact = facts.get(span);
            let (known, at_events): (Vec<&Event>, Vec<usize>) =
                (fact.events.iter().zip(0..)).filter(|(event, _)| event.log_point.is_some()).unzip();
            let [first, mut last] = bounds.of(span, fact);
            // What a library reports of a failure is the last of a run, and may be all of it.
            if known.is_empty() {
                last = fact.end_us;
            }
            let last_before = known
                .iter()
                .rposition(|event| event.log_point.is_some_and(|point| call.after.contains(&point)));
            for at in 0..=known.len() {
                // What is handed over stands behind all that is printed before it.
                if call.is_local && last_before.map(|last| last + 1) != Some(at) {
                    continue;
                }
                let (before, after) = (at.checked_sub(1).map(|at| known[at]), known.get(at));
                let fits = |event: Option<&Event>, points: &FxHashSet<LogPointId>, is_end: bool| {
                    event.map_or(is_end, |event| event.log_point.is_some_and(|point| points.contains(&point)))
                };
                let fits = [
                    fits(before, &call.after, call.is_first),
                    fits(after.copied(), &call.before, call.is_last),
                ];
                // Between two lines that the code has both elsewhere nothing is asked.
                let is_odd = !fits[0] && (!fits[1] || before.is_none()) || (!fits[1] && after.is_none());
                if is_odd && !call.is_local {
                    continue;
                }
                let begin_us = before.map_or(first, |event| event.ts_us);
                // Who does not wait has gone on by the time that it is heard.
                let end_us = match call.waits {
                    true => after.map_or(last, |event| event.ts_us),
                    false => begin_us.max(first).saturating_add(window_us),
                };
                let lines = *n_lines.entry((span, at)).or_insert(next);
                next += u32::from(lines == next);
                gaps.push(Gap {
                    call: to_u32(index),
                    span,
                    lines,
                    before: at.checked_sub(1).map_or(0, |at| to_u32(at_events[at] + 1)),
                    behind: to_u32(at_events.get(at).copied().unwrap_or(fact.events.len())),
                    place: 0,
                    rank: 0,
                    n_places: 0,
                    is_looped: false,
                    begin_us,
                    end_us,
                    is_open: [before.is_none(), after.is_none() && !known.is_empty()],
                    n_odd: if call.is_local { 0 } else { fits.iter().filter(|fits| !**fits).count() as u32 },
                });
            }
        }
    }
    number(calls, &mut gaps);
    Gaps::new(facts, calls, gaps)
}

/// Numbers the places between each two lines by the order of the calls.
fn number(calls: &[Call], gaps: &mut [Gap]) {
    let mut between: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    gaps.iter().enumerate().for_each(|(at, gap)| between.entry(gap.lines).or_default().push(at));
    let mut n_places = 0;
    for own in between.into_values() {
        let call = |at: &usize| &calls[gaps[*at].call as usize];
        let is_looped = own.iter().any(|at| call(at).repeats);
        let orders = |is_meant: &dyn Fn(&Gap) -> bool| {
            let meant = own.iter().filter(|at| is_meant(&gaps[**at]));
            let mut orders: Vec<&[u32]> = meant.map(|at| &call(at).order[..]).collect();
            orders.sort_unstable();
            orders.dedup();
            orders
        };
        let (all, even) = (orders(&|_| true), orders(&|gap| gap.n_odd == 0));
        for at in own {
            let order = &calls[gaps[at].call as usize].order[..];
            let rank = |orders: &[&[u32]]| to_u32(orders.partition_point(|other| *other < order));
            (gaps[at].rank, gaps[at].place) = (rank(&even), n_places + rank(&all));
            (gaps[at].n_places, gaps[at].is_looped) = (to_u32(even.len()).max(1), is_looped);
        }
        n_places += to_u32(all.len());
    }
}

/// What threads print around spans.
struct Bounds {
    of: FxHashMap<u32, [i64; 2]>,
    window_us: i64,
}

impl Bounds {
    fn new(facts: &Facts<'_>, window_us: i64) -> Self {
        let mut of: FxHashMap<u32, [i64; 2]> = FxHashMap::default();
        for lines in facts.lines_of_threads() {
            for pair in lines.windows(2).filter(|pair| pair[0].3 != pair[1].3) {
                let ((before, .., ended, at), (next, .., begun, first)) = (pair[0], pair[1]);
                if at + 1 == facts.get(ended).events.len() {
                    of.entry(ended).or_insert([i64::MIN, i64::MAX])[1] = next;
                }
                if first == 0 {
                    of.entry(begun).or_insert([i64::MIN, i64::MAX])[0] = before;
                }
            }
        }
        Self { of, window_us }
    }

    fn of(&self, span: u32, fact: &Fact<'_>) -> [i64; 2] {
        let [begin, end] = self.of.get(&span).copied().unwrap_or([i64::MIN, i64::MAX]);
        [
            begin.max(fact.start_us.saturating_sub(self.window_us)),
            end.min(fact.end_us.saturating_add(self.window_us)),
        ]
    }
}

impl Gaps {
    fn new(facts: &Facts<'_>, calls: &[Call], gaps: Vec<Gap>) -> Self {
        let mut of: BTreeMap<(TopLevelId, u32), [Vec<u32>; 2]> = BTreeMap::new();
        for (index, gap) in gaps.iter().enumerate() {
            let key = (calls[gap.call as usize].to, facts.get(gap.span).node);
            of.entry(key).or_default()[usize::from(gap.is_open[0])].push(to_u32(index));
        }
        for [closed, open] in of.values_mut() {
            closed.sort_by_key(|&gap| gaps[gap as usize].begin_us);
            open.sort_by_key(|&gap| gaps[gap as usize].end_us);
        }
        Self { gaps, of }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.gaps.len()
    }

    /// How many calls they have room for.
    pub(super) fn n_places(&self) -> u32 {
        self.gaps.iter().map(|gap| gap.place + 1).max().unwrap_or_default()
    }

    /// All of them.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Gap> {
        self.gaps.iter()
    }

    pub(super) fn get(&self, gap: u32) -> &Gap {
        &self.gaps[gap as usize]
    }

    /// Gaps of calls of `to` that are open at `at_us`, by a clock that is ahead of that of each
    /// caller's node by `offset`.
    pub(super) fn around(&self, to: TopLevelId, at_us: i64, offset: impl Fn(u32) -> i64) -> Vec<u32> {
        let mut out = Vec::new();
        for (node, [closed, open]) in self.of_nodes(to) {
            let at_us = at_us.saturating_sub(offset(node));
            let holds = |gap: &&u32| {
                let gap = self.get(**gap);
                gap.begin_us <= at_us && at_us <= gap.end_us
            };
            let n = closed.partition_point(|&gap| self.get(gap).begin_us <= at_us);
            out.extend(closed[..n].iter().rev().take(LOOK_BACK_MAX).filter(holds).take(AROUND_MAX));
            let n = open.partition_point(|&gap| self.get(gap).end_us < at_us);
            out.extend(open[n..].iter().take(LOOK_BACK_MAX).filter(holds).take(AROUND_MAX));
        }
        out
    }

    /// Gaps of calls of `to` that begin, or end, next to `at_us`, whatever clocks say.
    pub(super) fn next_to(&self, to: TopLevelId, at_us: i64) -> Vec<u32> {
        let mut out = Vec::new();
        for (_, [closed, open]) in self.of_nodes(to) {
            let n = closed.partition_point(|&gap| self.get(gap).begin_us <= at_us);
            let m = open.partition_point(|&gap| self.get(gap).end_us < at_us);
            for (gaps, at) in [(closed, n), (open, m)] {
                let end = gaps.len().min(at + AROUND_MAX);
                out.extend(&gaps[at.saturating_sub(AROUND_MAX)..end]);
            }
        }
        out
    }

    fn of_nodes(&self, to: TopLevelId) -> impl Iterator<Item = (u32, &[Vec<u32>; 2])> {
        self.of.range((to, 0)..=(to, u32::MAX)).map(|(&(_, node), gaps)| (node, gaps))
    }
}
