//! Delays: how long a hand-off takes, learnt from the log itself.
//!
//! Two requests on one identifier, seconds apart, share all that two spans of
//! one request share; what tells them apart is that a hand-off takes as long as
//! it always takes. For each kind of receiver the delays of the nearest senders are
//! collected, each receiver speaking for its nearest sender only; a hand-off
//! that takes many times the usual delay is another request's. Whoever hands over, what is
//! handed over stands in one line; a sender that is nearest now and then only, and long before,
//! has no usual delay of its own. And what a thread calls stands in no line.
//!
//! A task that stands in line waits for as long as those before it are at work:
//! while receivers of its kind, or other tasks of its thread, follow each other without
//! a break, its delay counts from when the last one of them was done. And who has started
//! something about the same thing may wait for that, and print nothing before it goes on:
//! where values tell who has sent, the delay counts from the end of what was started too.
//! And what a process does first takes longer than anything it does later, and a thread that
//! serves is started once: the only one who can have started it has, however late. Where no
//! thread is printed, who can also be something that starts no such task has none that stands
//! in line.
//!
//! Who hands on to itself on the next node waits for that one: what begins and ends
//! while the sender, or what that has handed to other threads, is at work on the same
//! thing is no later request's, however late it begins.

use rustc_hash::{FxHashMap, FxHashSet};
use schema::{LinkKind, LogPointId, TopLevelId};

use super::backlog::Line;
use super::evidence::{Candidate, is_chain};
use super::facts::Facts;
use super::pairs::{Pairs, Role};

mod kinds;
mod only;

pub(super) use kinds::Late;
use only::Only;

/// No delay below this is unusual, µs: scheduling, garbage collection, a slow
/// disk.
pub(super) const DELAY_MIN_US: i64 = 100_000;

/// Delays up to this many times the usual one are usual.
const TIMES_USUAL: i64 = 10;

/// Starts of threads from which to learn what is quick.
const STARTS_MIN: usize = 16;

/// Takes out the candidates whose delay is unusual for their pair.
pub(super) fn keep_usual(pairs: &Pairs<'_>, facts: &Facts<'_>, candidates: &mut Vec<Candidate>) {
    let is_late_call = |candidate: &Candidate| {
        pairs.get(candidate.pair).role == Role::Asked && candidate.gap_us > DELAY_MIN_US
    };
    candidates.retain(|candidate| !is_late_call(candidate));
    let mut nearest: Vec<Option<(i64, u32)>> = vec![None; facts.len()];
    for candidate in candidates.iter().filter(|candidate| is_hand_off(pairs, candidate)) {
        let delay = (candidate.gap_us, candidate.pair);
        let known = &mut nearest[candidate.to as usize];
        *known = Some(known.map_or(delay, |known| known.min(delay)));
    }
    let nearest: Vec<(i64, u32)> = nearest.into_iter().flatten().collect();
    let sure = most_of_sure(pairs, &nearest);
    let mut delays: FxHashMap<TopLevelId, Vec<i64>> = FxHashMap::default();
    for (delay_us, pair) in nearest {
        delays.entry(pairs.get(pair).to).or_default().push(delay_us);
    }
    let longest: FxHashMap<TopLevelId, i64> = delays
        .into_iter()
        .map(|(to, mut delays)| {
            delays.sort_unstable();
            let usual = delays[delays.len() / 2];
            (to, usual.saturating_mul(TIMES_USUAL).min(sure).max(DELAY_MIN_US))
        })
        .collect();
    let lines = Lines::new(pairs, facts);
    let only = Only::new(pairs, facts, candidates);
    let ends = Ends::new(pairs, facts, candidates);
    let longest_us =
        |candidate: &Candidate| longest.get(&pairs.get(candidate.pair).to).copied().unwrap_or(DELAY_MIN_US);
    let is_usual = |candidate: &mut Candidate| {
        !is_hand_off(pairs, candidate)
            || candidate.gap_us <= longest_us(candidate)
            || ends.is_waited_for(pairs, facts, candidate)
            || (can_only_start(pairs, facts, candidate)
                && lines.delay_us(pairs, facts, candidate) <= longest_us(candidate))
            || (only.are(pairs, candidate) && facts.share_alone(candidate.from, candidate.to))
            || only.is_asked_once(pairs, facts, candidate)
            || only.is_started_in_turn(pairs, facts, candidate)
            || (pairs.begins_thread(pairs.get(candidate.pair), facts.get(candidate.to))
                && only.are(pairs, candidate))
            || is_first_start(pairs, facts, candidate)
    };
    let mut usual: Vec<Candidate> = candidates.extract_if(.., is_usual).collect();
    let started = Started::new(pairs, facts, &usual);
    candidates.retain(|candidate| {
        started.delay_us(facts, candidate).is_some_and(|delay_us| delay_us <= longest_us(candidate))
    });
    candidates.append(&mut usual);
}

/// Whether the sender of a candidate starts what it has started whatever it can be, as far as
/// no thread tells what it is: another reading of it starts nothing that could stand in line.
fn can_only_start(pairs: &Pairs<'_>, facts: &Facts<'_>, candidate: &Candidate) -> bool {
    let to = pairs.get(candidate.pair).to;
    let starts = |&top: &TopLevelId| pairs.to(to).any(|index| pairs.get(index).from == top);
    let sender = facts.get(candidate.from);
    sender.thread.is_some() || sender.tops.iter().all(starts)
}

/// Whether values tell who has sent along a candidate.
fn is_named(candidate: &Candidate) -> bool {
    candidate.evidence.0.n_request > 0
}

/// What spans have started on their nodes, as values tell: along which pair, and when it
/// was done.
struct Started(FxHashMap<u32, Vec<(u32, i64)>>);

impl Started {
    fn new(pairs: &Pairs<'_>, facts: &Facts<'_>, candidates: &[Candidate]) -> Self {
        let mut all: FxHashMap<u32, Vec<(u32, i64)>> = FxHashMap::default();
        for candidate in candidates.iter().filter(|candidate| is_named(candidate)) {
            let pair = pairs.get(candidate.pair);
            if pair.role == Role::Local && pair.kind == LinkKind::Thread && !pair.is_way() {
                let done_us = facts.get(candidate.to).end_us;
                all.entry(candidate.from).or_default().push((candidate.pair, done_us));
            }
        }
        Self(all)
    }

    /// The delay of a hand-off from when something else that its sender has started was
    /// done, µs. More of what the sender hands over is not what it waits for.
    fn delay_us(&self, facts: &Facts<'_>, candidate: &Candidate) -> Option<i64> {
        let start_us = facts.get(candidate.to).start_us;
        let started = self.0.get(&candidate.from).filter(|_| is_named(candidate))?;
        let others = started.iter().filter(|&&(pair, _)| pair != candidate.pair);
        let delays_us = others.map(|&(_, done_us)| start_us.saturating_sub(done_us));
        delays_us.filter(|&delay_us| delay_us >= 0).min()
    }
}

/// When the receivers of tasks were at work: per node and top-level method, and per
/// node and thread.
struct Lines<'f> {
    spans: FxHashMap<(u32, TopLevelId), Line>,
    threads: FxHashMap<(u32, &'f str), Line>,
}

impl<'f> Lines<'f> {
    fn new(pairs: &Pairs<'_>, facts: &'f Facts<'_>) -> Self {
        let is_task = |role: Role, kind: LinkKind| role == Role::Local && kind != LinkKind::Call;
        let tasks = pairs.iter().filter(|pair| is_task(pair.role, pair.kind)).map(|pair| pair.to);
        let tasks: FxHashSet<TopLevelId> = tasks.collect();
        let mut spans: FxHashMap<(u32, TopLevelId), Line> = FxHashMap::default();
        let mut threads: FxHashMap<(u32, &str), Line> = FxHashMap::default();
        for (_, fact) in facts.iter() {
            if let Some(&top) = fact.tops.first().filter(|&top| tasks.contains(top)) {
                spans.entry((fact.node, top)).or_default().add(fact, DELAY_MIN_US);
                if let Some(thread) = fact.thread {
                    threads.entry((fact.node, thread)).or_default().add(fact, DELAY_MIN_US);
                }
            }
        }
        Self { spans, threads }
    }

    /// The delay of a hand-off from when it can have been its turn, µs.
    fn delay_us(&self, pairs: &Pairs<'_>, facts: &Facts<'_>, candidate: &Candidate) -> i64 {
        let fact = facts.get(candidate.to);
        let of_kind = self.spans.get(&(fact.node, pairs.get(candidate.pair).to));
        let of_thread = fact.thread.and_then(|thread| self.threads.get(&(fact.node, thread)));
        let waited_us = |line: &Line| {
            let last = line.before(fact.start_us)?;
            let handed_us = fact.start_us.saturating_sub(candidate.gap_us);
            let waited = handed_us >= last.began_us.saturating_sub(DELAY_MIN_US)
                && facts.get(candidate.from).node == fact.node;
            waited.then(|| fact.start_us.saturating_sub(last.done_us).max(0))
        };
        let turns_us = of_kind.into_iter().chain(of_thread).filter_map(waited_us);
        turns_us.fold(candidate.gap_us, i64::min)
    }
}

/// How long a hand-off can take at all. Threads are started at once where they
/// are started at all, so half of those starts being quick shows what quick is
/// on the systems at hand; a pair of which every delay is longer joins requests
/// that merely follow each other on one thing.
fn most_of_sure(pairs: &Pairs<'_>, delays: &[(i64, u32)]) -> i64 {
    let is_start =
        |pair: u32| pairs.get(pair).kind == LinkKind::Thread && pairs.get(pair).role == Role::Local;
    let starts = delays.iter().filter(|(_, pair)| is_start(*pair));
    let mut starts: Vec<i64> = starts.map(|(delay_us, _)| *delay_us).collect();
    starts.sort_unstable();
    let usual = starts.get(starts.len() / 2).copied().filter(|_| starts.len() >= STARTS_MIN);
    usual.map_or(i64::MAX, |usual| usual.saturating_mul(TIMES_USUAL))
}

/// Whether a program's `main` starts what it starts once, and what was started can be
/// nothing else: a process that has just begun loads what it runs first, however quick it
/// is later.
fn is_first_start(pairs: &Pairs<'_>, facts: &Facts<'_>, candidate: &Candidate) -> bool {
    let pair = pairs.get(candidate.pair);
    let is_start = pair.kind == LinkKind::Thread && pair.role == Role::Local && !pair.is_way();
    is_start && !pair.many && pairs.is_main(pair.from) && facts.get(candidate.to).tops == [pair.to]
}

/// When senders and what they nearly certainly handed to threads of their nodes ended:
/// what is about the same, and has no nearer sender.
struct Ends {
    ends_us: FxHashMap<u32, i64>,
    /// What was handed to threads, by sender.
    handed: FxHashMap<u32, Vec<u32>>,
}

impl Ends {
    fn new(pairs: &Pairs<'_>, facts: &Facts<'_>, candidates: &[Candidate]) -> Self {
        let mut nearest: FxHashMap<u32, (i64, u32)> = FxHashMap::default();
        let is_local = |candidate: &&Candidate| pairs.get(candidate.pair).role == Role::Local;
        let names_same = |candidate: &&Candidate| candidate.evidence.0.n_request > 0;
        for candidate in candidates.iter().filter(is_local).filter(names_same) {
            let sender = (candidate.gap_us, candidate.from);
            nearest.entry(candidate.to).and_modify(|known| *known = sender.min(*known)).or_insert(sender);
        }
        let mut ends_us: FxHashMap<u32, i64> = FxHashMap::default();
        let mut handed: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for (receiver, (_, sender)) in nearest {
            let end_us = facts.get(receiver).end_us;
            ends_us.entry(sender).and_modify(|known| *known = end_us.max(*known)).or_insert(end_us);
            handed.entry(sender).or_default().push(receiver);
        }
        Self { ends_us, handed }
    }

    fn end_us(&self, facts: &Facts<'_>, span: u32) -> i64 {
        facts.get(span).end_us.max(self.ends_us.get(&span).copied().unwrap_or(i64::MIN))
    }

    /// When a span, or what it has handed to threads, printed each log point last, but for that
    /// with which it begins.
    fn printed_us(&self, facts: &Facts<'_>, span: u32) -> FxHashMap<LogPointId, i64> {
        let mut printed: FxHashMap<LogPointId, i64> = FxHashMap::default();
        let first = facts.get(span).first_point;
        for span in self.handed.get(&span).into_iter().flatten().chain([&span]) {
            let events = facts.get(*span).events.iter();
            for (point, ts_us) in events.filter_map(|event| Some((event.log_point?, event.ts_us))) {
                if Some(point) != first {
                    printed.entry(point).and_modify(|last| *last = ts_us.max(*last)).or_insert(ts_us);
                }
            }
        }
        printed
    }

    /// Whether the receiver of a step of a chain has printed something that its sender prints
    /// in turn, later: it was done when the sender goes on, whatever it tidies up after that.
    fn goes_first(&self, facts: &Facts<'_>, candidate: &Candidate) -> bool {
        let (ours, theirs) = (self.printed_us(facts, candidate.from), self.printed_us(facts, candidate.to));
        theirs.iter().any(|(point, &ts_us)| ours.get(point).is_some_and(|&our_us| ts_us <= our_us))
    }

    /// Whether the sender of a step of a chain over nodes is seen to wait for the
    /// receiver, which names the same: a later request would begin when this one is done.
    fn is_waited_for(&self, pairs: &Pairs<'_>, facts: &Facts<'_>, candidate: &Candidate) -> bool {
        let pair = pairs.get(candidate.pair);
        is_chain(pair)
            && candidate.evidence.0.n_request > 0
            && facts.get(candidate.from).start_us <= facts.get(candidate.to).start_us
            && (self.end_us(facts, candidate.to) <= self.end_us(facts, candidate.from)
                || self.goes_first(facts, candidate))
    }
}

/// Parts of one entity or of one span follow each other at any distance.
fn is_hand_off(pairs: &Pairs<'_>, candidate: &Candidate) -> bool {
    !matches!(pairs.get(candidate.pair).role, Role::Cut | Role::Entity | Role::Attached)
}
