//! Accumulating: records of one node to request accumulators of one span each
//! (lprof §5, Map), in one linear scan.
//!
//! A record joins the open span that the evidence speaks for most, if it speaks
//! clearly enough ([`evidence`]); else it opens one. A span keeps every
//! top-level method that can still have printed all of its records; it closes
//! when none of them has a log point left, or after a window of silence. Closed
//! spans are kept whole until a part of the log ends ([`parts`]), since what it has
//! shown decides on them once more. Which spans belong to one request is not decided here.

use std::cmp::Reverse;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;

use rustc_hash::{FxHashMap, FxHashSet};
use schema::{Accumulator, Event, Kinds, LogPointId, Marks, Model, Name, Pass, Passes, Result, ValueClassId};

use self::anew::Processes;
use self::began::Began;
use self::begins::Begins;
use self::calls::Calls;
use self::choice::{Choice, Goes, event};
use self::evidence::{LOOP_US, Loops, Spread};
use self::facts::{Fact, Number};
use self::handed::Handed;
use self::library_lines::LibraryLines;
use self::names::Names;
use self::one_at_a_time::Running;
use self::open_span::{TopState, opening_any};
use self::open_spans::{OpenSpans, SpanIndex};
use self::orders::Orders;
use self::owned::Owned;
use self::parts::{KnownThreads, Part, PartEnds};
use self::pools::Closed;
use self::profile::{Line, Profile};
use self::programs::Programs;
use self::recent_texts::RecentTexts;
use self::successors::Successors;
use self::takers::{Found, Taker, prefer_living};
use self::thread_names::ThreadNames;
use self::threads::Threads;
use self::together::Together;
use self::tries::Tries;
use self::wholes::Wholes;
use crate::limits::PART_RECORDS;
use crate::record::{Record, Records};

mod ahead;
mod alternatives;
mod anew;
mod apply;
mod began;
mod begins;
mod between;
mod called_again;
mod calls;
mod canonical;
mod choice;
mod continuations;
mod decoder;
mod errands;
mod evidence;
mod facts;
mod given;
mod handed;
mod ids;
mod judge;
mod late;
mod library_lines;
mod names;
mod neighbours;
mod one_at_a_time;
mod one_by_one;
mod open_span;
mod open_spans;
mod orders;
mod owned;
mod parts;
mod pauses;
mod pools;
mod profile;
mod programs;
mod recent_texts;
mod reported;
mod rests;
mod rows;
mod soles;
mod successors;
mod tails;
mod takers;
#[cfg(test)]
mod tests;
mod thread_names;
mod threads;
mod together;
mod tries;
mod wholes;
mod words;

/// How to accumulate.
#[derive(Clone, Debug)]
pub struct Config {
    /// Label of the log source.
    pub node: String,
    /// A span closes after this much silence, µs.
    pub window_us: i64,
    /// Without a thread and without a shared identifier, a record can follow a
    /// span within this time, µs.
    pub order_window_us: i64,
    /// Passes that are left out, to see what they earn.
    pub without: Passes,
    /// Records of a part of the log: closed spans are held until one ends.
    pub part_records: u64,
}

impl Config {
    /// Runs a pass, if it is not left out.
    fn run(&self, pass: Pass, run: impl FnOnce()) {
        if !self.without.contains(pass) {
            run();
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        let (window_us, order_window_us) = (60_000_000, 5_000_000);
        let (without, part_records) = (Passes::default(), PART_RECORDS);
        Self { node: String::new(), window_us, order_window_us, without, part_records }
    }
}

/// What accumulating made of the records.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Accumulated {
    /// Request accumulators, of each part of the logs in order of their first event.
    pub accumulators: Vec<Accumulator>,
    /// Events of records without a candidate.
    pub unattributed: Vec<Event>,
    /// The ids that records print change within what one request runs.
    pub ids_change: bool,
}

/// Accumulates `records`, which come in log order.
///
/// Linear in the records; memory in proportion to the result, every span of the log.
pub fn accumulate(model: &Model, records: &mut dyn Records, config: &Config) -> Accumulated {
    let mut all = Accumulated::default();
    let add = |part: Accumulated| {
        all.accumulators.extend(part.accumulators);
        all.unattributed.extend(part.unattributed);
        all.ids_change |= part.ids_change;
        Ok(())
    };
    accumulate_parts(model, records, config, add).expect("adding does not fail");
    all
}

/// The same, one part of the log after the other: `take` is given what a part has made, while the
/// records of the next one are accumulated.
///
/// Linear in the records; memory in proportion to a part and what is open.
///
/// # Errors
/// Those of `take`, after which no more records are read.
pub fn accumulate_parts(
    model: &Model,
    records: &mut dyn Records,
    config: &Config,
    mut take: impl FnMut(Accumulated) -> Result<()> + Send,
) -> Result<()> {
    let names_of_threads = ThreadNames::new(model);
    std::thread::scope(|scope| {
        let (sender, parts) = sync_channel::<(Part<'_>, Vec<Event>)>(0);
        let names_of_threads = &names_of_threads;
        let finishing = scope.spawn(move || {
            let mut threads = KnownThreads::new(model, names_of_threads);
            parts.into_iter().try_for_each(|(part, unattributed)| {
                let ids_change = part.ids_change();
                take(Accumulated {
                    accumulators: part.finish(&mut threads, config),
                    unattributed,
                    ids_change,
                })
            })
        });
        let mut scan = Scan::new(model, config, names_of_threads);
        scan.look_ahead(records);
        let mut ends = PartEnds::new(config.part_records);
        let mut is_taken = true;
        while is_taken && let Some(record) = records.next() {
            if ends.comes_before(record.ts_us) {
                let unattributed = scan.take_unattributed();
                is_taken = sender.send((scan.split_part(), unattributed)).is_ok();
            }
            scan.accumulate(&record);
        }
        // Who takes no more says why.
        let unattributed = scan.take_unattributed();
        let _ = sender.send((scan.into_last_part(), unattributed));
        drop(sender);
        finishing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// A value of one class that many records show.
type Common = (ValueClassId, Arc<str>);

/// The state of the scan.
struct Scan<'m> {
    config: &'m Config,
    node: Name,
    model: &'m Model,
    orders: Orders<'m>,
    successors: Successors,
    programs: Programs<'m>,
    calls: Calls,
    open: OpenSpans,
    /// Those that were found for the record at hand.
    found: Found,
    threads: Threads<'m>,
    /// Number of the record at hand.
    seq: u64,
    previous_us: i64,
    /// How long this node's threads pause in the middle of their work.
    pauses: pauses::Pauses,
    /// Where the record before went, if that is still open.
    before: Option<SpanIndex>,
    loops: Loops,
    began: Began,
    begins: Begins,
    owned: Owned,
    profile: Profile,
    /// What the record at hand shows.
    line: Option<Line>,
    together: Together,
    familiar: rows::Familiar,
    tries: Tries,
    handed: Handed,
    /// Values by text.
    shown: RecentTexts<Shown>,
    /// What is common for the first records ([`ahead`]).
    common_ahead: FxHashSet<Arc<str>>,
    soles: soles::Soles,
    /// Common values of the record at hand, by candidate.
    common: Vec<(usize, Vec<Common>)>,
    /// How many records have shown a value of each class.
    n_of_class: FxHashMap<ValueClassId, u32>,
    /// UUIDs within the texts of the record at hand, by candidate.
    uuids: Vec<(usize, Vec<Arc<str>>)>,
    /// Numbers of the record at hand, by candidate.
    numbers: Vec<(usize, Vec<Number>)>,
    /// The class of the numbers of work, if that is numbered, with their marks.
    work: Option<(ValueClassId, Marks<'m>)>,
    kinds: Kinds,
    names: Names,
    wholes: Wholes,
    /// Classes of values that are UUIDs.
    uuid_classes: BTreeSet<ValueClassId>,
    /// Digests that were printed as values, and under which classes.
    digests: RecentTexts<Vec<ValueClassId>>,
    /// The last records that opened spans without a thread, while those are open.
    opened: VecDeque<SpanIndex>,
    /// The record at hand opens a span without a thread, and names nothing.
    is_lone: bool,
    processes: Processes,
    running: Running,
    library_lines: LibraryLines,
    /// Events of no span, since they were taken.
    unattributed: Vec<Event>,
    id_changes: ids::Changes,
    ids_ahead: ids::Ahead,
    /// Closed spans: (number of first record, span).
    done: Vec<(u64, Closed)>,
}

/// What is known of a text that was shown as a value.
#[derive(Default)]
struct Shown {
    /// How often.
    spread: Spread,
    /// Under which value classes.
    classes: Vec<ValueClassId>,
    /// The last record that showed it and stands before a hand-off: its number and
    /// log point.
    handed: Option<(u64, LogPointId)>,
}

impl<'m> Scan<'m> {
    fn new(model: &'m Model, config: &'m Config, names_of_threads: &'m ThreadNames<'m>) -> Self {
        Self {
            config,
            node: Name::from(&config.node),
            model,
            orders: Orders::new(model),
            successors: Successors::new(model),
            programs: Programs::new(model),
            calls: Calls::new(model),
            open: OpenSpans::default(),
            found: Found::default(),
            threads: Threads::new(names_of_threads),
            seq: 0,
            previous_us: i64::MIN,
            pauses: pauses::Pauses::default(),
            before: None,
            loops: Loops::default(),
            began: Began::default(),
            begins: Begins::default(),
            owned: Owned::default(),
            profile: Profile::new(model),
            line: None,
            together: Together::default(),
            familiar: rows::Familiar::default(),
            tries: Tries::default(),
            handed: Handed::new(model),
            shown: RecentTexts::default(),
            common_ahead: FxHashSet::default(),
            soles: soles::Soles::default(),
            common: Vec::new(),
            n_of_class: FxHashMap::default(),
            uuids: Vec::new(),
            numbers: Vec::new(),
            work: None,
            kinds: Kinds::default(),
            names: Names::default(),
            wholes: Wholes::default(),
            uuid_classes: BTreeSet::new(),
            digests: RecentTexts::default(),
            opened: VecDeque::new(),
            is_lone: false,
            processes: Processes::default(),
            running: Running::default(),
            library_lines: LibraryLines::default(),
            unattributed: Vec::new(),
            id_changes: ids::Changes::default(),
            ids_ahead: ids::Ahead::default(),
            done: Vec::new(),
        }
    }

    /// Learns from the first records.
    fn look_ahead(&mut self, records: &mut dyn Records) {
        let (common, work) =
            ahead::look(self.model, &mut self.orders, records, &mut self.soles, &mut self.together);
        self.successors.silence(self.orders.silent_points());
        self.together.begin();
        self.profile.see_ahead(records, ahead::AHEAD_RECORDS, &self.orders);
        records.ahead(ahead::AHEAD_RECORDS, &mut |record| self.ids_ahead.see(record));
        self.common_ahead = common;
        self.work = work.map(|class| (class, Marks::of(self.model, class)));
    }

    /// The events of no span since the part before ended, in their order.
    fn take_unattributed(&mut self) -> Vec<Event> {
        for (thread, lines) in self.library_lines.end_part() {
            self.leave_lines(thread, lines);
        }
        let mut unattributed = std::mem::take(&mut self.unattributed);
        unattributed.sort_by_key(|event| (event.ts_us, event.place()));
        unattributed
    }

    /// Gives a record to a span; one that no log point can have printed waits for the next line of
    /// its thread, if that is known.
    fn accumulate(&mut self, record: &Record<'_>) {
        self.expire(record.ts_us);
        self.line = record.thread.is_none().then(|| self.profile.line(record));
        let choice = self.place(record);
        let is_placed = choice.is_some() || self.place_report(record);
        let choice = if is_placed { choice } else { self.amid(record) };
        if let Some(line) = self.line.clone().filter(|_| self.seq > ahead::AHEAD_RECORDS) {
            self.profile.see(line, &self.orders);
        }
        match choice {
            Some(choice) => self.apply(record, choice),
            None if is_placed => {}
            None => self.wait(record),
        }
    }

    /// Keeps a record that no log point can have printed until the next line of its thread.
    fn wait(&mut self, record: &Record<'_>) {
        match record.thread.filter(|_| !self.leaves_out(Pass::NoLogPoint)) {
            Some(name) => {
                let event = event(record, None, (Pass::NoLogPoint, Name::from("thread, no log point")));
                let (thread, report) = (self.threads.show(name), self.report(record));
                self.library_lines.wait(thread, record, event, report);
            }
            None => {
                self.unattributed.push(event(record, None, (Pass::Unattributed, Name::from("no log point"))));
            }
        }
    }

    /// Decides where a record goes; none if no log point can have printed it.
    fn place(&mut self, record: &Record<'_>) -> Option<Choice> {
        self.seq += 1;
        let mut facts = self.facts(record);
        self.remember(&mut facts);
        let thread = record.thread.map(|name| self.threads.show(name));
        self.begin_anew(record, thread);
        self.find_digests(record, &mut facts, thread.is_none());
        if thread.is_none() {
            self.find_wholes(&mut facts);
        }
        if let Some((candidate, span)) = self.failed(record, thread, &facts) {
            return Some(Choice { candidate, thread, goes: Goes::Fails(span), by: Pass::Failed });
        }
        if let Some(choice) = self.by_running(record, thread, &facts) {
            return Some(choice);
        }
        let mut takers = self.takers(record, thread, &facts);
        // Who is left out by what is asked next can be asked once more before a span is begun.
        let mut aside = self.rank(record, &mut takers);
        if thread.is_none()
            && let Some(choice) = self.beside(record, &facts, &takers)
        {
            return Some(choice);
        }
        let told = match thread {
            None => self.by_beginning(record, &mut takers, &mut aside),
            Some(_) => None,
        };
        let told = told.map(|at| (at, "order+time", Pass::ByBeginning));
        let at_once = || Some((self.at_once(record, thread, &takers)?, "follows at once", Pass::AtOnce));
        if let Some((at, reason, by)) = told.or_else(at_once) {
            let after = self.after(&takers[at], &facts);
            return Some(Choice::joins((&takers[at], after), thread, reason, by));
        }
        let waiting = self.waiting(record, thread, &takers);
        if let Some(at) = self.by_words(record, &waiting, &takers)
            && !self.orders.starts(record.candidates[takers[at].candidate].log_point)
        {
            let after = self.after(&takers[at], &facts);
            return Some(Choice::joins((&takers[at], after), thread, "order+words", Pass::ByWords));
        }
        aside.extend(Self::leave_strangers(&waiting, &mut takers));
        if let Some(reason) = self.judge(record, thread, &takers, &facts) {
            return Some(self.join_best(record, thread, takers, &facts, reason));
        }
        if let Some(at) = self.in_row(record, thread, &takers) {
            let (after, reason) = (self.after(&takers[at], &facts), "order, names the same at once");
            return Some(Choice::joins((&takers[at], after), thread, reason, Pass::InRow));
        }
        self.place_anew(record, thread, facts, (takers, aside))
    }

    /// Where a record goes that the first of the `takers` takes for `reason`: to that, if the record
    /// does not show that its thread has begun another one.
    fn join_best(
        &mut self,
        record: &Record<'_>,
        thread: Option<u32>,
        mut takers: Vec<Taker>,
        facts: &[(usize, Fact)],
        reason: Name,
    ) -> Choice {
        let best = takers.swap_remove(0);
        let Taker { candidate, span, evidence, .. } = best;
        let mut after = self.after(&best, facts);
        let as_well = |taker: &&Taker| taker.span == span && taker.evidence == evidence;
        for taker in takers.iter().filter(as_well) {
            after.or(self.after(taker, facts));
        }
        let fact = best.fact_of(facts);
        let goes = fact.and_then(|fact| self.taking(record, thread, fact, Some(span)));
        let goes = goes.map(|goes| (goes, Pass::Taking));
        let own = || Some((self.of_its_own(thread, fact?, span, &after)?, Pass::OfItsOwn));
        if let Some((goes, by)) = goes.or_else(own) {
            return Choice { candidate, thread, goes, by };
        }
        if evidence.current && (after.n_request > 0 || self.only_goes_on(record, thread, span)) {
            self.pauses.learn(record.ts_us.abs_diff(self.open.get(span).last_us));
        }
        Choice { candidate, thread, goes: Goes::Joins(span, after, reason), by: Pass::Judge }
    }

    /// Puts the spans that can take a record in order, the likeliest first; gives those that are
    /// left out.
    fn rank(&mut self, record: &Record<'_>, takers: &mut Vec<Taker>) -> Vec<Taker> {
        let has_thread = record.thread.is_some();
        let aside = if has_thread { Vec::new() } else { self.keep_counting(record, takers) };
        let handles = |candidate: usize| self.is_in_handler(record.candidates[candidate].log_point);
        takers.sort_by_key(|taker| {
            (Reverse(taker.evidence), handles(taker.candidate), taker.candidate, taker.span)
        });
        if !has_thread {
            self.prefer_familiar(record, takers);
        }
        prefer_living(takers, has_thread);
        aside
    }

    /// Where a record goes that none of the `takers` takes: to one of them after all, or of those
    /// `aside`; to a span around it, to one that is taken from others, or to a new one.
    fn place_anew(
        &mut self,
        record: &Record<'_>,
        thread: Option<u32>,
        facts: Vec<(usize, Fact)>,
        (takers, aside): (Vec<Taker>, Vec<Taker>),
    ) -> Option<Choice> {
        // The candidate that starts something is the better reading of a tie;
        // the first one wins where they are equal.
        let (orders, points) = (&self.orders, &self.model.log_points);
        let (candidate, fact) = facts.iter().min_by_key(|(_, fact)| {
            let handles = points[fact.log_point.index()].in_handler;
            (!orders.starts(fact.log_point), orders.places(fact.log_point).is_empty(), handles)
        })?;
        let is_taken = !takers.is_empty();
        if thread.is_none()
            && !self.leaves_out(Pass::Decoder)
            && let Some((taker, after, reason)) =
                self.decode(record, &facts, takers.into_iter().chain(aside).collect())
        {
            return Some(Choice::joins((&taker, after), thread, reason, Pass::Decoder));
        }
        if let Some(span) = self.inside(record, thread, is_taken, fact) {
            let goes = Goes::Inside(span);
            return Some(Choice { candidate: *candidate, thread, goes, by: Pass::Inside });
        }
        let goes = self.taking(record, thread, fact, None).map(|goes| (goes, Pass::Taking));
        let (goes, by) = goes.unwrap_or_else(|| {
            let starts = self.orders.starts(fact.log_point);
            let others = facts.iter().map(|(_, other)| other);
            let others = others.filter(|other| other.log_point != fact.log_point);
            let mut readings = vec![fact];
            readings.extend(others.filter(|other| self.orders.starts(other.log_point) == starts));
            let tops = opening_any(&self.orders, &readings);
            if thread.is_some() {
                self.owned.learn(fact, tops.iter().map(|state| &state.bound[..]));
            }
            (Goes::Opens(tops), Pass::Opens)
        });
        let candidate = *candidate;
        if thread.is_none() {
            let fact = facts.into_iter().find(|(index, _)| *index == candidate).map(|(_, fact)| fact);
            self.is_lone = fact.is_some_and(|fact| fact.names_nothing());
        }
        Some(Choice { candidate, thread, goes, by })
    }

    /// Whether a pass is left out.
    fn leaves_out(&self, pass: Pass) -> bool {
        self.config.without.contains(pass)
    }

    /// Whether a log point stands in an exception handler: of two that print the
    /// same, the one on the way without exceptions is the more likely.
    fn is_in_handler(&self, point: LogPointId) -> bool {
        self.model.log_points.get(point.index()).is_some_and(|point| point.in_handler)
    }

    /// Whether it is an event of something that lives on, whose other events are
    /// found by its identifiers.
    fn is_event(&self, state: &TopState) -> bool {
        self.orders.is_event(state.top)
    }

    /// Closes spans that have been silent for the window, or, after the clock was
    /// set back, printed last as long after now. Of the last two times the one that
    /// closes less counts, so that one wrong time stamp closes nothing.
    fn expire(&mut self, now_us: i64) {
        let window_us = self.config.window_us;
        let previous_us = if self.previous_us == i64::MIN { now_us } else { self.previous_us };
        let first_us = now_us.min(previous_us).saturating_sub(window_us);
        let last_us = now_us.max(previous_us).saturating_add(window_us);
        self.previous_us = now_us;
        while let Some(index) = self.open.expired(first_us..=last_us) {
            self.close(index, true);
        }
    }

    fn close(&mut self, index: SpanIndex, was_cut: bool) {
        self.opened.retain(|lone| *lone != index);
        self.before = self.before.filter(|before| *before != index);
        let span = self.open.close(index);
        let thread = span.thread.map(|thread| Arc::clone(self.threads.name(thread)));
        let first_seq = span.first_seq;
        let closed = span.close(&self.orders, self.node, thread, was_cut);
        self.done.push((first_seq, closed));
    }

    /// Keeps what the name of a thread says can run in it.
    fn restrict(&self, thread: Option<u32>, tops: &mut Vec<TopState>) {
        if let Some(thread) = thread {
            self.threads.told(thread).restrict(tops, |top| self.threads.is_placed(top));
        }
    }
}
