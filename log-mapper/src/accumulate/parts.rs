//! Parts: what becomes of closed spans when a part of the log ends.
//!
//! What is learnt from many spans decides once more on those that were closed. A log is as long
//! as it is, so this is done for [`PART_RECORDS`](crate::limits::PART_RECORDS) or a few more at a
//! time, beside the accumulating of the next ones. What is open at the end of a part goes on in the next one. What was left of
//! a span that has been closed is not joined with that across an end: so one is put where the
//! log is quiet.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use schema::{Accumulator, Kinds, Model, Pass, TopLevelId};

use super::began::Began;
use super::ids::Changes;
use super::orders::Orders;
use super::pools::{Closed, Pools};
use super::recent_texts::RecentTexts;
use super::thread_names::{ThreadNames, Told};
use super::together::Together;
use super::{Config, Scan, between, called_again, continuations, errands, late, one_by_one, rests, tails};

/// A thread that does more than this was not made for a request, and a value in
/// its name is none of one.
const OWN_THREAD_MAX: u32 = 4;

/// Of the records of a part, one in so many shows how long a silence is long here; after three
/// times as many more it ends in any case. The longest of all of them is in those three with odds
/// of three to one, wherever silences fall, however long the log is.
const QUIET_SHARE: u64 = 8;

/// Finds where a part ends: after so many records, where nothing was printed for as long as in
/// none of the last ones before.
#[derive(Debug)]
pub(super) struct PartEnds {
    n_records_min: u64,
    n_records: u64,
    before_us: Option<i64>,
    /// The longest silence so far, of those that are looked at, µs.
    longest_us: u64,
}

impl PartEnds {
    /// Parts of about `n_records`.
    pub(super) fn new(n_records: u64) -> Self {
        Self { n_records_min: n_records.max(1), n_records: 0, before_us: None, longest_us: 0 }
    }

    /// Whether a part ends before the next record, which is printed at `now_us`.
    pub(super) fn comes_before(&mut self, now_us: i64) -> bool {
        let silence_us = self.before_us.replace(now_us).map_or(0, |before_us| now_us.abs_diff(before_us));
        let n_looked_at = self.n_records_min / QUIET_SHARE;
        let ends = self.n_records >= self.n_records_min + 3 * n_looked_at
            || (self.n_records >= self.n_records_min && silence_us > self.longest_us);
        if ends {
            (self.n_records, self.longest_us) = (0, 0);
        } else if self.n_records + n_looked_at >= self.n_records_min {
            self.longest_us = self.longest_us.max(silence_us);
        }
        self.n_records += 1;
        ends
    }
}

/// What names of threads tell.
type ToldByName = FxHashMap<Arc<str>, Told>;

/// The spans that a part of the log has closed, with all that decides on them.
pub(super) struct Part<'m> {
    model: &'m Model,
    /// Numbers of first records, and spans; in order of these.
    done: Vec<(u64, Closed)>,
    orders: Orders<'m>,
    together: Together,
    began: Began,
    kinds: Kinds,
    /// What the names of the spans' threads tell.
    told: ToldByName,
    /// The layout prints threads.
    has_threads: bool,
    /// What the program can run, as far as is known.
    possible: Option<Vec<bool>>,
    id_changes: Changes,
}

/// What is known of threads from the spans of all parts so far.
pub(super) struct KnownThreads<'m> {
    names: &'m ThreadNames<'m>,
    pools: Pools<'m>,
    /// Per thread.
    n_spans: RecentTexts<u32>,
}

impl<'m> KnownThreads<'m> {
    /// Nothing is known yet.
    pub(super) fn new(model: &'m Model, names: &'m ThreadNames<'m>) -> Self {
        Self { names, pools: Pools::new(model), n_spans: RecentTexts::default() }
    }

    /// A part of the log ends: threads and pools of which it has no span are forgotten, if more than
    /// `n_kept` are known.
    fn end_part(&mut self, n_kept: u64) {
        self.n_spans.end_part_beyond(n_kept);
        self.pools.end_part(n_kept);
    }

    /// What is held, in entries of all its tables.
    #[cfg(test)]
    pub(super) fn n_entries(&self) -> usize {
        self.n_spans.len() + self.pools.len()
    }
}

impl<'m> Scan<'m> {
    /// What was closed since the part before ended.
    pub(super) fn split_part(&mut self) -> Part<'m> {
        let (done, told) = self.take_closed();
        self.shown.end_part();
        self.digests.end_part();
        self.names.end_part();
        self.profile.end_part();
        let Self { threads, open, config, .. } = self;
        threads.end_part(config.part_records, |thread| open.current(thread).is_some());
        Part {
            model: self.model,
            done,
            orders: self.orders.clone(),
            together: self.together.clone(),
            began: self.began.clone(),
            kinds: self.kinds.clone(),
            told,
            has_threads: self.threads.are_printed(),
            possible: self.programs.possible(),
            id_changes: self.id_changes,
        }
    }

    /// The same with what is open, after the last record.
    pub(super) fn into_last_part(mut self) -> Part<'m> {
        for index in self.open.all() {
            self.close(index, true);
        }
        let (done, told) = self.take_closed();
        let Self { model, orders, together, began, kinds, programs, threads, id_changes, .. } = self;
        let (has_threads, possible) = (threads.are_printed(), programs.possible());
        Part { model, done, orders, together, began, kinds, told, has_threads, possible, id_changes }
    }

    fn take_closed(&mut self) -> (Vec<(u64, Closed)>, ToldByName) {
        let mut done = std::mem::take(&mut self.done);
        done.iter_mut().for_each(|(_, closed)| closed.resolve(&self.shown));
        done.iter_mut().for_each(|(first, closed)| closed.around = self.library_lines.take_around(*first));
        done.sort_unstable_by_key(|&(first_seq, _)| first_seq);
        let mut told = ToldByName::default();
        for thread in done.iter().filter_map(|(_, closed)| closed.span.thread.as_ref()) {
            if !told.contains_key(thread)
                && let Some(known) = self.threads.told_by(thread)
            {
                told.insert(Arc::clone(thread), known.clone());
            }
        }
        (done, told)
    }
}

impl Part<'_> {
    /// Whether the ids that records print change within runs of methods.
    pub(super) fn ids_change(&self) -> bool {
        self.id_changes.are_within_runs()
    }

    /// The accumulators of the spans, in order of their first event.
    pub(super) fn finish(mut self, threads: &mut KnownThreads<'_>, config: &Config) -> Vec<Accumulator> {
        self.join(config);
        let Self { mut done, told, .. } = self;
        for thread in done.iter().filter_map(|(_, closed)| closed.span.thread.as_ref()) {
            *threads.n_spans.show(thread, || 0) += 1;
        }
        let told_of = |closed: &Closed| told.get(closed.span.thread.as_ref()?);
        for (_, closed) in &mut done {
            let is_own = |thread: &str| threads.n_spans.get(thread).is_none_or(|&n| n <= OWN_THREAD_MAX);
            if let Some(told) = told_of(closed)
                && closed.span.thread.as_deref().is_some_and(is_own)
            {
                told.add_values(&mut closed.span);
            }
        }
        let KnownThreads { names, pools, .. } = &mut *threads;
        let is_doubtful = |told: Option<&Told>, top: TopLevelId| {
            told.is_some_and(|told| told.speaks_against(top, names.is_placed(top)))
        };
        for (_, closed) in &done {
            pools.learn(&closed.span, |top| is_doubtful(told_of(closed), top));
        }
        let accumulators = done.into_iter().map(|(_, mut closed)| {
            let told = told_of(&closed);
            pools.prefer(&mut closed, |top| is_doubtful(told, top));
            closed.settle_trace();
            Accumulator { spans: vec![closed.into_span()], links: Vec::new() }
        });
        let accumulators = accumulators.collect();
        threads.end_part(config.part_records);
        accumulators
    }

    /// Joins and cuts spans as all of them together show that they should be.
    fn join(&mut self, config: &Config) {
        let Self { model, done, orders, together, began, kinds, has_threads, possible, .. } = self;
        let (model, has_threads) = (*model, *has_threads);
        done.iter_mut().for_each(|(_, closed)| closed.drop_foreign_main(model));
        if let Some(possible) = possible {
            done.iter_mut().for_each(|(_, closed)| closed.keep(|top| possible[top.index()]));
            orders.restrict(possible);
            if !has_threads {
                config.run(Pass::Errands, || errands::gather(orders, model, done));
            }
        }
        if !has_threads {
            config.run(Pass::OneByOne, || one_by_one::join(orders, done));
            config.run(Pass::Between, || between::join(orders, together, done));
        }
        config.run(Pass::CalledAgain, || called_again::cut(orders, done));
        config.run(Pass::Tails, || tails::join(orders, done));
        config.run(Pass::Late, || late::join(orders, done, config.window_us));
        let window_us = if has_threads { config.window_us } else { config.order_window_us };
        if !has_threads {
            config.run(Pass::Continuations, || continuations::join(orders, (kinds, began), done, window_us));
        }
        config.run(Pass::Rests, || rests::join(orders, (kinds, began), done, window_us));
    }
}

#[cfg(test)]
mod tests {
    use super::PartEnds;

    /// The records before which parts of about `n` end, of records that come after `silences_us`.
    fn ends(n: u64, silences_us: impl IntoIterator<Item = i64>) -> Vec<usize> {
        let (mut ends, mut now_us) = (PartEnds::new(n), 0);
        let comes = silences_us.into_iter().map(|silence_us| {
            now_us += silence_us;
            ends.comes_before(now_us)
        });
        comes.enumerate().filter(|(_, ends)| *ends).map(|(at, _)| at).collect()
    }

    #[test]
    fn a_part_ends_where_the_log_is_quiet() {
        let silence_us = |at: usize| if [30, 67, 70, 130].contains(&at) { 1_000 } else { 10 };
        // The silence before record 30 comes too early to be looked at; at 67 it is longer than any of
        // the last eight before.
        assert_eq!(ends(64, (0..200).map(silence_us)), [67, 155]);
    }

    #[test]
    fn a_part_ends_where_there_is_no_silence() {
        assert_eq!(ends(64, (0..200).map(|_| 10)), [88, 176]);
        assert_eq!(ends(1, (0..4).map(|_| 0)), [1, 2, 3]);
    }
}
