//! Pools: what kinds of work the threads of one name do, learnt from the spans
//! that can be of one top-level method only. The threads of a pool are named
//! alike but for a number or an address, and run the same few kinds of task; so
//! where several top-level methods could have printed a span's records equally
//! well, those that its pool is known to run come first, and then those that remote callers
//! call on what it serves, and of what is served that which somebody asks for. What is known to
//! run in other pools only comes after what this one runs, however much the records name of what
//! it is about. What nothing tells apart then is left open, and said to be.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use rustc_hash::FxHashSet;
use schema::{
    Event, LinkKind, LogPointId, Model, Name, Pass, Span, TopLevelId, TopLevelKind, TopLevelMethod,
};

use super::ids::Shown;
use super::open_span::kind_rank;
use super::recent_texts::RecentTexts;

/// The name that the JVM gives to the thread of `main`.
pub(super) const MAIN_THREAD: &str = "main";

/// How well the records of a span fit one of its top-level methods: its group of those they
/// fit as well in their order, and of those that they fit as well in all; best first.
pub(super) type Fitness = (u32, u32);

/// The best one.
pub(super) const BEST: Fitness = (0, 0);

/// A closed span: a log has very many, and they are sorted and moved often.
#[derive(Clone, Debug)]
pub(super) struct Closed(Box<Inside>);

/// What is known of a closed span.
#[derive(Clone, Debug)]
pub(super) struct Inside {
    pub(super) span: Span,
    /// How well the records fit each of its top-level methods, best first.
    pub(super) fits: Vec<Fitness>,
    /// UUIDs within its texts, of which it is not known yet what they name.
    pub(super) uuids: Vec<Arc<str>>,
    /// Lines of libraries before and after its own: they say nothing of what it is.
    pub(super) around: Vec<Event>,
    /// The ids that its records print, of each span that it was made of.
    pub(super) ids: Vec<Shown>,
}

impl Deref for Closed {
    type Target = Inside;

    fn deref(&self) -> &Inside {
        &self.0
    }
}

impl DerefMut for Closed {
    fn deref_mut(&mut self) -> &mut Inside {
        &mut self.0
    }
}

impl Closed {
    pub(super) fn new(span: Span, fits: Vec<Fitness>, uuids: Vec<Arc<str>>) -> Self {
        Self(Box::new(Inside { span, fits, uuids, around: Vec::new(), ids: Vec::new() }))
    }

    /// The same with the ids that its records print.
    pub(super) fn with_ids(mut self, ids: impl IntoIterator<Item = Shown>) -> Self {
        self.ids.extend(ids);
        self
    }

    /// The span alone, with what libraries have printed around it.
    pub(super) fn into_span(self) -> Span {
        let Inside { mut span, mut around, .. } = *self.0;
        if !around.is_empty() {
            span.events.append(&mut around);
            span.events.sort_by_key(|event| (event.ts_us, event.file, event.line));
        }
        span
    }

    /// Keeps the top-level methods that `is_kept`, if there are any.
    pub(super) fn keep(&mut self, is_kept: impl Fn(TopLevelId) -> bool) {
        let kept: Vec<bool> = self.span.top_levels.iter().map(|&top| is_kept(top)).collect();
        if kept.contains(&true) {
            let mut at = kept.iter();
            self.span.top_levels.retain(|_| at.next() == Some(&true));
            let mut at = kept.iter();
            self.fits.retain(|_| at.next() == Some(&true));
        }
    }

    /// Whether all that it prints is constant.
    pub(super) fn is_nameless(&self) -> bool {
        self.span.events.iter().all(|event| event.log_point.is_some() && event.values.is_empty())
    }

    /// The log points of its events, where they are known.
    pub(super) fn points(&self) -> Vec<LogPointId> {
        self.span.events.iter().filter_map(|event| event.log_point).collect()
    }

    /// The top-level methods that the records fit best.
    pub(super) fn best_tops(&self) -> impl Iterator<Item = TopLevelId> {
        let tops = self.span.top_levels.iter().zip(&self.fits);
        tops.filter(|(_, fit)| **fit == BEST).map(|(top, _)| *top)
    }

    /// This span together with other `parts` of it; the first event of each is there
    /// for that `reason`, by that pass. Where a part comes first, it is the first event of
    /// this that has joined it.
    pub(super) fn with(mut self, parts: impl Iterator<Item = Self>, (by, reason): (Pass, &str)) -> Self {
        let first = self.span.events.first().map(Event::place);
        for mut part in parts {
            if let Some(first) = part.span.events.first_mut() {
                (first.pass, first.reason) = (by, Name::from(reason));
            }
            self.span.events.append(&mut part.span.events);
            self.span.identifiers.append(&mut part.span.identifiers);
            self.span.truncated &= part.span.truncated;
            self.uuids.append(&mut part.uuids);
            self.around.append(&mut part.around);
            self.ids.append(&mut part.ids);
        }
        self.span.events.sort_by_key(|event| (event.ts_us, event.file, event.line));
        if self.span.events.first().map(Event::place) != first {
            let begun = self.span.events.iter_mut().find(|event| Some(event.place()) == first);
            begun.into_iter().for_each(|event| event.pass = by);
        }
        self.span.identifiers.sort();
        self.span.identifiers.dedup();
        self
    }

    /// Takes out a `main` of which this is not the thread.
    pub(super) fn drop_foreign_main(&mut self, model: &Model) {
        if self.span.thread.as_deref().is_some_and(|thread| thread != MAIN_THREAD) {
            self.keep(|top| !is_main(model, top));
        }
    }
}

/// Whether a top-level method is a program's `main`, which a process runs once.
pub(super) fn is_main(model: &Model, top: TopLevelId) -> bool {
    let top = model.top_level_methods.get(top.index());
    top.is_some_and(TopLevelMethod::is_main)
}

/// What each pool runs.
#[derive(Debug)]
pub(super) struct Pools<'m> {
    model: &'m Model,
    asked: Asked,
    runs: RecentTexts<Runs<'m>>,
    /// What any of them is known to run.
    placed: FxHashSet<TopLevelId>,
}

/// What one pool runs.
#[derive(Debug, Default)]
struct Runs<'m> {
    tops: FxHashSet<TopLevelId>,
    /// Classes whose methods it calls for remote callers: it calls their others, too.
    services: FxHashSet<&'m str>,
}

impl<'m> Pools<'m> {
    /// Nothing is known yet.
    pub(super) fn new(model: &'m Model) -> Self {
        Pools { model, asked: Asked::new(model), runs: RecentTexts::default(), placed: FxHashSet::default() }
    }

    /// Learns from a span that only one top-level method can have printed and begun with its first
    /// line, if nothing speaks against that.
    pub(super) fn learn(&mut self, span: &Span, is_doubtful: impl Fn(TopLevelId) -> bool) {
        let Some(thread) = &span.thread else { return };
        let mut tops = span.top_levels.iter().copied().filter(|&top| begins(self.model, top, span));
        let only = match (&span.top_levels[..], tops.next(), tops.next()) {
            (&[top], ..) | (_, Some(top), None) => Some(top),
            _ => None,
        };
        let runs = self.runs.show(&Arc::from(pool(thread)), Runs::default);
        if let Some(top) = only.filter(|&top| !is_doubtful(top)) {
            runs.tops.insert(top);
            runs.services.extend(service(self.model, top));
            self.placed.insert(top);
        }
    }

    /// A part of the log ends: what pools run of which it has no span is forgotten, if more than
    /// `n_kept` are known.
    pub(super) fn end_part(&mut self, n_kept: u64) {
        self.runs.end_part_beyond(n_kept);
    }

    /// Of how many pools something is known.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.runs.len()
    }

    /// Puts first what the span's pool is known to run, among equal fits. What it is not known to run,
    /// and what the span's first line cannot begin by the code, comes after what either speaks for; and
    /// what the name of the thread speaks against, or what other pools are known to run and this one
    /// is not, after all that the records fit as well by their order, however much they name of what
    /// it is about. Counts those first ones that nothing tells apart.
    pub(super) fn prefer(&self, closed: &mut Closed, is_doubtful: impl Fn(TopLevelId) -> bool) {
        let Inside { span, fits, .. } = &mut **closed;
        let known = span.thread.as_deref().and_then(|thread| self.runs.get(pool(thread)));
        let runs = |top| known.is_some_and(|known| known.tops.contains(&top));
        let serves = |top| {
            known.zip(service(self.model, top)).is_some_and(|(known, class)| known.services.contains(class))
        };
        let tops = span.top_levels.drain(..).zip(fits.drain(..));
        let mut tops: Vec<(TopLevelId, Fitness)> = tops.collect();
        let rank =
            |top: TopLevelId| self.model.top_level_methods.get(top.index()).map(|top| kind_rank(top.kind));
        let is_known = tops.iter().any(|&(top, fit)| fit.0 == BEST.0 && runs(top) && !is_doubtful(top));
        let is_elsewhere = |top| is_known && !runs(top) && self.placed.contains(&top);
        let key = |&(top, fit): &(TopLevelId, Fitness)| {
            let is_odd = !begins(self.model, top, span) && !runs(top);
            let is_doubtful = is_doubtful(top) || is_elsewhere(top);
            (fit.0, is_doubtful, is_odd, fit.1, !runs(top), !serves(top), rank(top))
        };
        let mut keyed: Vec<_> = tops.drain(..).map(|top| (key(&top), top)).collect();
        keyed.sort_by_key(|(key, _)| *key);
        let n_best = keyed.iter().take_while(|(key, _)| *key == keyed[0].0).count();
        tops.extend(keyed.into_iter().map(|(_, top)| top));
        let n_asked = self.asked.put_first(&mut tops[..n_best]);
        span.n_alike = u32::try_from(n_asked).expect("a model has fewer than 2^32 top-level methods");
        (span.top_levels, *fits) = tops.into_iter().unzip();
    }
}

/// What is served, by whether anybody asks for it.
#[derive(Debug)]
struct Asked {
    /// Per top-level method: remote callers are served by it, and one is known or said to be there;
    /// none if it serves nobody.
    is_asked: Vec<Option<bool>>,
}

impl Asked {
    fn new(model: &Model) -> Self {
        let serves = |top: &TopLevelMethod| top.kind == TopLevelKind::RpcHandler || !top.serves.is_empty();
        let tops = model.top_level_methods.iter();
        let mut is_asked: Vec<Option<bool>> =
            tops.map(|top| serves(top).then_some(top.is_asked_for)).collect();
        let is_remote =
            |kind| matches!(kind, LinkKind::Http | LinkKind::Grpc | LinkKind::Message | LinkKind::Rpc);
        for pair in model.communication_pairs.iter().filter(|pair| is_remote(pair.kind)) {
            if let Some(Some(is_asked)) = is_asked.get_mut(pair.to.index()) {
                *is_asked = true;
            }
        }
        Self { is_asked }
    }

    /// Puts what is served and nobody asks for last, if there is anything among `tops` that somebody
    /// asks for; returns how many come before it.
    fn put_first(&self, tops: &mut [(TopLevelId, Fitness)]) -> usize {
        let is_asked = |top: TopLevelId| self.is_asked.get(top.index()).copied().flatten();
        let is_unasked = |top: TopLevelId| is_asked(top) == Some(false);
        if !tops.iter().any(|&(top, _)| is_asked(top) == Some(true)) {
            return tops.len();
        }
        tops.sort_by_key(|&(top, _)| is_unasked(top));
        tops.iter().take_while(|(top, _)| !is_unasked(*top)).count()
    }
}

/// Whether a span of `top` can begin as `span` does.
fn begins(model: &Model, top: TopLevelId, span: &Span) -> bool {
    let first = span.events.iter().find_map(|event| event.log_point);
    first.is_none_or(|first| model.successors.can_begin(top, first))
}

/// The class of a method that is called by remote callers.
fn service(model: &Model, top: TopLevelId) -> Option<&str> {
    let top = model.top_level_methods.get(top.index())?;
    (top.kind == TopLevelKind::RpcHandler).then_some(&*top.class)
}

/// A thread's name up to its first number or address.
pub(super) fn pool(thread: &str) -> &str {
    thread.split(|c: char| c.is_ascii_digit()).next().unwrap_or_default()
}
