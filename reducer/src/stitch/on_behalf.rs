//! On behalf: what a server does to a thing while somebody elsewhere is at work on that
//! thing is done for them.
//!
//! A client that prints nothing where it calls (a library that everybody uses for its
//! files) leaves no hand-off to be seen, and what it hands over it calls otherwise than
//! the server does: a file by its URI, the server by the path within that. Both hold the
//! digest that the file is named by, or that what it is a part of is, and nobody has one
//! by chance. So whatever is asked for over the network by nobody known, and names such a
//! thing, is of the one request that works on it on another node: one that has a span
//! which begins before, ends after, and names it. The name that tells most is that which
//! fewest name: the file rather than what it is a part of. Where no thread is printed a
//! span holds lines of others too often to tell when somebody was at work.
//!
//! What a server calls a thing of its own (a block) stands for the digests that always
//! come with it where any do.
//!
//! Somebody else, who prints nothing, can use the thing at that time too. So it is learnt
//! from the log what those at work have done for them, to what they have made themselves
//! and to what was there: what is done for hardly any of those that begin with one line
//! was asked for by somebody else. And where the same is done to the thing for nobody
//! known just before or after, others are at it, and it is left to nobody.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};
use schema::kinds::{UUID_LEN, UUID_PARTS, is_digest};
use schema::{LogPointId, Pass, TopLevelKind};

use super::facts::{Fact, Facts};
use super::joined;
use super::pairs::{Pairs, Role};
use crate::merge::{Sets, SpanLink};

/// Digits of a digest: as many as a UUID has.
const DIGEST_LEN: usize = UUID_LEN - (UUID_PARTS.len() - 1);

/// Clocks of nodes that work together differ at least by so much, and lines are printed
/// so much later than what they tell of, µs.
const SLACK_US: i64 = 2_000;

/// What is done at most this long before or after is done just then, µs.
const JUST_US: i64 = 20_000;

/// Spans that work on a thing which are looked at, latest start first.
const LOOK_BACK_MAX: usize = 64;

/// Spans of those that begin with one line for which something is done, from which to
/// learn that it is.
const SPANS_MIN: usize = 4;

/// At least one of so many of them has it done where it is their way.
const DONE_SHARE: usize = 6;

/// Links to what is done on behalf of somebody, in addition to `links`.
pub(super) fn join(pairs: &Pairs<'_>, facts: &Facts<'_>, links: &[SpanLink]) -> Vec<SpanLink> {
    let (mut sets, has_sender) = joined(facts, links);
    let things = Things::new(facts);
    let works = works(pairs, facts, &mut sets, &has_sender);
    let asked: Vec<Asked<'_>> = works.iter().map(|work| things.asked(facts, &mut sets, work)).collect();
    let usual = usual(facts, &asked);
    let owners: Vec<Option<u32>> = asked.iter().map(|asked| asked.whose(&usual, &mut sets)).collect();
    let others = Others::new(&asked, &owners);
    let mut out = Vec::new();
    for (asked, owner) in asked.iter().zip(owners) {
        let Some(from) = owner.filter(|_| !others.use_it(asked)) else { continue };
        if sets.join(from, asked.to) {
            out.push(SpanLink { from, to: asked.to, pair: None, by: Pass::OnBehalf });
        }
    }
    out
}

/// What a server has done that nobody is known to have asked for.
#[derive(Debug)]
struct Work {
    /// What it began with.
    head: u32,
    spans: Vec<u32>,
    nodes: BTreeSet<u32>,
    start_us: i64,
    end_us: i64,
}

/// All that was asked for by nobody known.
fn works(pairs: &Pairs<'_>, facts: &Facts<'_>, sets: &mut Sets, has_sender: &[bool]) -> Vec<Work> {
    let heads = facts.iter().filter(|&(span, _)| !has_sender[span as usize]);
    let mut works: BTreeMap<u32, Option<Work>> = BTreeMap::new();
    for (head, fact) in heads {
        works.entry(sets.root(head)).or_insert_with(|| {
            let Fact { start_us, end_us, .. } = *fact;
            let work = Work { head, spans: Vec::new(), nodes: BTreeSet::new(), start_us, end_us };
            is_served(pairs, fact).then_some(work)
        });
    }
    for (span, fact) in facts.iter() {
        let Some(Some(work)) = works.get_mut(&sets.root(span)) else { continue };
        work.spans.push(span);
        work.nodes.insert(fact.node);
        work.start_us = work.start_us.min(fact.start_us);
        work.end_us = work.end_us.max(fact.end_us);
    }
    works.into_values().flatten().collect()
}

/// Whether a span is what others ask for over the network.
fn is_served(pairs: &Pairs<'_>, fact: &Fact<'_>) -> bool {
    fact.tops.iter().any(|&top| {
        let is_remote = |index: u32| pairs.get(index).role == Role::Remote;
        pairs.kind(top) == TopLevelKind::RpcHandler || pairs.to(top).any(is_remote)
    })
}

/// Who names what.
struct Things<'s> {
    /// Spans that last and name a digest, in order of start.
    workers: FxHashMap<&'s str, Vec<u32>>,
    /// The digests that always come with a name where any do.
    stands_for: FxHashMap<&'s str, Vec<&'s str>>,
    /// Which span has named a digest first on each node.
    first: FxHashMap<(u32, &'s str), u32>,
}

impl<'s> Things<'s> {
    fn new(facts: &Facts<'s>) -> Self {
        let mut workers: FxHashMap<&str, Vec<u32>> = FxHashMap::default();
        let mut stands_for: FxHashMap<&str, Vec<&str>> = FxHashMap::default();
        let mut first: FxHashMap<(u32, &str), u32> = FxHashMap::default();
        for (index, fact) in facts.iter() {
            let digests = digests(fact);
            for &digest in &digests {
                first.entry((fact.node, digest)).or_insert(index);
                if fact.end_us > fact.start_us && fact.thread.is_some() {
                    workers.entry(digest).or_default().push(index);
                }
            }
            let names = fact.values().iter().filter(|value| !digests.is_empty() && value.is_made());
            for name in names {
                let known = stands_for.entry(name.text).or_insert_with(|| digests.clone());
                known.retain(|digest| digests.contains(digest));
            }
        }
        Self { workers, stands_for, first }
    }

    /// Who can have asked for `work`.
    fn asked(&self, facts: &Facts<'s>, sets: &mut Sets, work: &Work) -> Asked<'s> {
        let mut names: BTreeSet<(usize, &str)> = BTreeSet::new();
        for &span in &work.spans {
            let fact = facts.get(span);
            let known = texts(fact).filter_map(|text| self.stands_for.get(text)).flatten();
            for digest in digests(fact).into_iter().chain(known.copied()) {
                names.extend(self.workers.get(digest).map(|workers| (workers.len(), digest)));
            }
        }
        let names: Vec<&str> = names.into_iter().map(|(_, name)| name).collect();
        let workers = names.iter().map(|&name| (name, self.at_work(facts, sets, work, name)));
        let (name, workers) = workers.into_iter().find(|(_, found)| !found.is_empty()).unzip();
        let point = facts.get(work.head).first_point;
        let workers = workers.unwrap_or_default();
        Asked { to: work.head, point, start_us: work.start_us, names, name, workers }
    }

    /// Who is at work elsewhere on what has a name, all the time that `work` takes.
    fn at_work(&self, facts: &Facts<'s>, sets: &mut Sets, work: &Work, name: &str) -> Vec<(u32, Way)> {
        let workers = &self.workers[name];
        let (latest_us, end_us) =
            (work.start_us.saturating_add(SLACK_US), work.end_us.saturating_sub(SLACK_US));
        let end = workers.partition_point(|&span| facts.get(span).start_us <= latest_us);
        let at_work = workers[..end].iter().rev().take(LOOK_BACK_MAX).filter_map(|&span| {
            let worker = facts.get(span);
            let is_elsewhere = !work.nodes.contains(&worker.node) && sets.root(span) != sets.root(work.head);
            let (begun, asked) = worker.first_point.zip(facts.get(work.head).first_point)?;
            let is_own = self.first.get(&(worker.node, name)) == Some(&span);
            let way = Way { worker: begun, asked, is_own };
            (worker.end_us >= end_us && is_elsewhere).then_some((span, way))
        });
        at_work.collect()
    }
}

/// What those that begin with one line have done for them, to what they have made or to
/// what they have found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Way {
    worker: LogPointId,
    asked: LogPointId,
    is_own: bool,
}

/// Who can have asked for something.
#[derive(Debug)]
struct Asked<'s> {
    /// What was asked for.
    to: u32,
    point: Option<LogPointId>,
    start_us: i64,
    /// What it names.
    names: Vec<&'s str>,
    /// The name that tells, and those at work on what has it.
    name: Option<&'s str>,
    workers: Vec<(u32, Way)>,
}

impl Asked<'_> {
    /// Who has asked for it, if it is one request that does so as others do.
    fn whose(&self, usual: &FxHashSet<Way>, sets: &mut Sets) -> Option<u32> {
        let mut usual = self.workers.iter().filter(|(_, way)| usual.contains(way)).map(|&(span, _)| span);
        let last = usual.next()?;
        usual.all(|span| sets.root(span) == sets.root(last)).then_some(last)
    }
}

/// When what was done to things for nobody known, in order.
struct Others<'s>(FxHashMap<(LogPointId, &'s str), Vec<i64>>);

impl<'s> Others<'s> {
    fn new(asked: &[Asked<'s>], owners: &[Option<u32>]) -> Self {
        let mut all: FxHashMap<_, Vec<i64>> = FxHashMap::default();
        for (asked, _) in asked.iter().zip(owners).filter(|(_, owner)| owner.is_none()) {
            let Some(point) = asked.point else { continue };
            for &name in &asked.names {
                all.entry((point, name)).or_default().push(asked.start_us);
            }
        }
        all.values_mut().for_each(|times| times.sort_unstable());
        Self(all)
    }

    /// Whether the same is done for somebody else to what `asked` names, just then.
    fn use_it(&self, asked: &Asked<'s>) -> bool {
        let times =
            asked.point.zip(asked.name).and_then(|key| self.0.get(&key)).map_or(&[][..], Vec::as_slice);
        let first = times.partition_point(|&us| us < asked.start_us.saturating_sub(JUST_US));
        times.get(first).is_some_and(|&us| us <= asked.start_us.saturating_add(JUST_US))
    }
}

/// The ways that are usual for those that begin with a line.
fn usual(facts: &Facts<'_>, asked: &[Asked<'_>]) -> FxHashSet<Way> {
    let mut n_spans: FxHashMap<LogPointId, usize> = FxHashMap::default();
    for point in facts.iter().filter_map(|(_, fact)| fact.first_point) {
        *n_spans.entry(point).or_default() += 1;
    }
    let mut of_way: FxHashMap<Way, FxHashSet<u32>> = FxHashMap::default();
    for &(span, way) in asked.iter().flat_map(|asked| &asked.workers) {
        of_way.entry(way).or_default().insert(span);
    }
    let is_usual = |way: &Way, spans: &FxHashSet<u32>| {
        spans.len() >= SPANS_MIN && spans.len() * DONE_SHARE >= n_spans[&way.worker]
    };
    of_way.into_iter().filter(|(way, spans)| is_usual(way, spans)).map(|(way, _)| way).collect()
}

/// The digests within what a span prints.
fn digests<'s>(fact: &Fact<'s>) -> Vec<&'s str> {
    let long = texts(fact).filter(|text| text.len() >= DIGEST_LEN);
    let runs = long.flat_map(|text| text.split(|c: char| !c.is_ascii_alphanumeric()));
    let mut digests: Vec<&str> = runs.filter(|run| is_digest(run)).collect();
    digests.sort_unstable();
    digests.dedup();
    digests
}

/// What a span prints, and what is known of it besides.
fn texts<'s>(fact: &Fact<'s>) -> impl Iterator<Item = &'s str> {
    let printed = fact.events.iter().flat_map(|event| event.values.iter().map(|(_, text)| text));
    fact.values().iter().map(|value| value.text).chain(printed)
}
