//! Judging: what surrounds a record and the span that it fits best, put together
//! for the verdict ([`super::evidence`]).

use std::sync::Arc;

use schema::kinds::{is_made, stamps_us};
use schema::model::CLASS_INITIALIZER;
use schema::{Event, LogPointId, Name, Pass, TopLevelId, TopLevelKind};

use super::canonical::canonical;
use super::evidence::{AT_ONCE_US, FLOAT_US, LOOP_US, Surroundings, TICK_US, is_silence, verdict};
use super::facts::Fact;
use super::open_span::TopState;
use super::open_spans::SpanIndex;
use super::pools::is_main;
use super::{Scan, Taker};
use crate::record::{Candidate, Record};

/// What more top-level methods than this can have printed, anybody can: it does
/// not show that its thread is in the middle of something.
const ANYBODY_MIN: usize = 16;

/// Who has initialized a class goes on with what that was needed for within this time, µs: it
/// loads the next ones.
const INITIALIZED_US: u64 = 1_000_000;

/// A time is new for this long, µs.
const NEW_US: u64 = 1_000_000;

/// What may be a step only is over after a pause of so many times as long as it has
/// lasted.
const STEP_TIMES: u64 = 8;

/// Lines of a span, from the last one, that show what it has named.
const NAMED_EVENTS_MAX: usize = 32;

impl Scan<'_> {
    /// Why the record joins the first of `takers`; none if it does not.
    pub(super) fn judge(
        &mut self,
        record: &Record<'_>,
        thread: Option<u32>,
        takers: &[Taker],
        facts: &[(usize, Fact)],
    ) -> Option<Name> {
        let best = takers.first().filter(|_| !self.leaves_out(Pass::Judge))?;
        let point = record.candidates[best.candidate].log_point;
        let gap_us = record.ts_us.abs_diff(self.open.get(best.span).last_us);
        let current = thread.and_then(|thread| self.open.current(thread));
        let is_rest = thread.is_none() && self.is_rest(best, point, facts);
        let names_it_again = thread.is_some() && self.names_it_again(best.span, record, best.candidate);
        let around = Surroundings {
            has_thread: thread.is_some(),
            starts: (self.orders.starts(point) && !is_rest)
                || (thread.is_some() && self.orders.starts_before_rounds(point)),
            floats: self.floats_apart(best.span, point, gap_us)
                || (thread.is_some() && self.tells_of_another(best, point, facts)),
            encloses: current.is_some_and(|current| self.encloses(best.span, current)),
            again: (names_it_again || self.begins_again(best.span, point, gap_us))
                && !(best.evidence.n_request > 0 && self.is_all(best.span, TopLevelKind::Entity)),
            complete: names_it_again
                || self.is_complete(best.span, point)
                || self.is_handed_anew(best.span, point, record.ts_us),
            of_another: self.is_of_another(best, facts)
                || (thread.is_some() && self.names_anothers(best, point, facts)),
            leaves_entity: thread.is_some() && self.leaves_entity(best, facts),
            has_returned: thread.is_some() && self.open.get(best.span).has_returned,
            stamped_anew: self.is_stamped_anew(best.span, record, &record.candidates[best.candidate]),
            of_the_next: thread.is_none() && self.is_of_the_next(best, facts),
            turns_slowly: gap_us > LOOP_US
                && self.open.get(best.span).is_only(point)
                && self.open.get(best.span).tops.len() > 1,
            after_silence: is_silence(gap_us, self.open.get(best.span).lasted_us()),
            at_exit: self.open.get(best.span).is_at_exit(&self.orders)
                && !self.is_main(best.span)
                && !self.is_in_main(best.span),
            is_answered: self.is_answered(best.span, point),
            is_main: self.is_main(best.span),
            was_handed_out: self.open.get(best.span).was_handed_out(&self.orders, &best.fit),
            is_round: self.is_round(best.span),
            round_is_over: self.is_round_over(best.span, point, gap_us),
            handed_anew: self.is_next_handed(best.span, record.ts_us),
            is_its_own: self.is_its_own(best.span, point),
            outside_rounds: self.is_outside_rounds(best.span, point),
            is_dispatcher: self.is_all(best.span, TopLevelKind::Dispatcher),
            hands_out: best.evidence.n_request == 0 && self.hands_out(best, point, facts),
            printed_before: self.open.get(best.span).has_printed(point),
            began_so: self.open.get(best.span).began_with(point),
        };
        verdict(best.evidence, around)
    }

    /// Whether all that `best` has shown are names of entities that it met on its way, and the
    /// record names what `best` itself is about.
    fn leaves_entity(&mut self, best: &Taker, facts: &[(usize, Fact)]) -> bool {
        self.open.get(best.span).has_only_met(&best.fit, self.orders.identities())
            && self.after(best, facts).is_about_something()
    }

    /// Whether a record reports a failure of what names the same, as such lines only ever do,
    /// however long that has been silent ([`super::begins`]). Who has printed the line before
    /// is asked once more.
    fn is_rest(&self, best: &Taker, point: LogPointId, facts: &[(usize, Fact)]) -> bool {
        let open = self.open.get(best.span);
        !best.evidence.differs
            && self.is_in_handler(point)
            && self.begins.is_rest(point)
            && !open.has_printed(point)
            && best.fact_of(facts).is_some_and(|fact| open.names_made(fact))
    }

    /// Whether `span` began with `point`, other than a moment ago in a loop.
    fn begins_again(&self, span: SpanIndex, point: LogPointId, gap_us: u64) -> bool {
        let open = self.open.get(span);
        open.began_with(point) && !(open.may_loop(point, gap_us) && self.loops.can_be(point))
    }

    /// Whether `span` began with the line of the record and has just printed nothing else,
    /// and the record names the same once more. A loop that does one thing for each of
    /// several names each of them once, and what tries again waits before: who is at the
    /// same thing at once was called again. Counts name nothing.
    fn names_it_again(&self, span: SpanIndex, record: &Record<'_>, candidate: usize) -> bool {
        let open = self.open.get(span);
        let Candidate { log_point, values, .. } = &record.candidates[candidate];
        let is_it = |event: &Event| event.log_point == Some(*log_point);
        let Some(last) = open.events.last().filter(|_| open.events.iter().all(is_it)) else { return false };
        let texts = values.iter().map(|&(_, text)| text);
        let is_name = |text: &str| is_made(text) && text.parse::<f64>().is_err();
        record.ts_us.abs_diff(open.last_us) <= LOOP_US
            && texts.clone().any(is_name)
            && last.values.iter().map(|(_, text)| text).eq(texts)
    }

    /// Whether the record is the first line of `span` once more, and shows that it works on
    /// what was made after the span began: both show a time that was new, and not the
    /// same. What a thread is handed was made before.
    fn is_stamped_anew(&self, span: SpanIndex, record: &Record<'_>, candidate: &Candidate<'_>) -> bool {
        let open = self.open.get(span);
        let Some(first) = open.events.first().filter(|_| open.began_with(candidate.log_point)) else {
            return false;
        };
        let texts = candidate.values.iter().map(|&(_, text)| text);
        let before = newest_us(first.values.iter().map(|(_, text)| text), first.ts_us);
        let is_later = |(before, stamp): (i64, i64)| stamp.saturating_sub(before) > TICK_US;
        before.is_some() && before.zip(newest_us(texts, record.ts_us)).is_some_and(is_later)
    }

    /// Whether all that `span` can be is of one kind. The events of an entity are
    /// one request, however often it is in the same state.
    fn is_all(&self, span: SpanIndex, kind: TopLevelKind) -> bool {
        self.open.get(span).tops.iter().all(|state| self.orders.kind(state.top) == kind)
    }

    /// Whether `span` is all of one of the methods that it can be, and `point` can
    /// only begin that method once more.
    pub(super) fn is_complete(&self, span: SpanIndex, point: LogPointId) -> bool {
        let orders = &self.orders;
        self.open.get(span).tops.iter().any(|state| {
            let Some(places) = orders.places_in(state.top, point) else { return false };
            let at = &places.at;
            state.entered
                && state.at.iter().any(|&(node, _)| orders.is_exit(state.top, node))
                && at.iter().any(|&(node, _)| orders.is_entry(state.top, node))
                && !at
                    .iter()
                    .any(|&to| state.at.iter().any(|&from| orders.follows(state.top, from, to).is_some()))
        })
    }

    /// Whether the record begins the event of another entity than `best` can be of, or
    /// another call: its names contradict that one's. That a loop of somebody else goes
    /// through both of them is the longer reading.
    fn is_of_another(&mut self, best: &Taker, facts: &[(usize, Fact)]) -> bool {
        let Self { orders, open, .. } = self;
        let Some(fact) = best.fact_of(facts) else { return false };
        open.get(best.span).tops.iter().any(|state| {
            let is_own = state.entered
                && matches!(orders.kind(state.top), TopLevelKind::Entity | TopLevelKind::RpcHandler);
            is_own && state.begins_another(orders, fact)
        })
    }

    /// Whether the record names a thing that somebody else has named before, and `best`, a
    /// round that has named others of its kind, has not, nor anything else that the record
    /// names. What comes round in the middle of it can meet them all.
    fn names_anothers(&self, best: &Taker, point: LogPointId, facts: &[(usize, Fact)]) -> bool {
        let open = self.open.get(best.span);
        let is_turn = open.has_printed(point) && !open.began_with(point);
        let is_dispatcher = || self.is_all(best.span, TopLevelKind::Dispatcher);
        if best.evidence.n_request > 0 || !self.is_round(best.span) || (is_turn && !is_dispatcher()) {
            return false;
        }
        let Some(fact) = best.fact_of(facts) else { return false };
        let variable_of =
            |point: LogPointId, at: u32| self.model.log_points.get(point.index())?.variables.get(at as usize);
        let events = open.events.iter().rev().take(NAMED_EVENTS_MAX);
        let (mut names_anothers, mut names_own) = (false, false);
        for (at, text) in &fact.values {
            let class = variable_of(fact.log_point, *at).and_then(|variable| variable.value_class);
            let Some(class) = class else { continue };
            // An object's file and its index are two files, but not two objects.
            let is_field = |point, field| self.orders.are_two_fields((point, field), (fact.log_point, *at));
            let named = events.clone().flat_map(|event| {
                event.values.iter().filter_map(move |(at, known)| {
                    let point = event.log_point?;
                    let variable = variable_of(point, at).filter(|v| v.value_class == Some(class))?;
                    canonical(known, variable.shape).filter(|_| !is_field(point, at))
                })
            });
            let (mut n_named, mut is_named) = (0, false);
            for known in named {
                n_named += 1;
                is_named |= *known == **text;
            }
            let is_known = || self.shown.get(text).is_some_and(|shown| shown.spread.is_repeated());
            names_own |= is_named;
            names_anothers |= n_named > 0 && !is_named && is_known();
        }
        names_anothers && !names_own
    }

    /// Whether a line that everybody prints names, within its text, none of the things that
    /// `best` has named, which has named others of its kind: its thread is at work on another
    /// one, for nobody else's utilities tell of it.
    fn tells_of_another(&self, best: &Taker, point: LogPointId, facts: &[(usize, Fact)]) -> bool {
        if best.evidence.n_request > 0 || !self.orders.floats(point) {
            return false;
        }
        let Some(fact) = best.fact_of(facts).filter(|fact| !fact.named.is_empty()) else { return false };
        let kinds = |text: &str| {
            let shown = self.shown.get(text);
            shown.into_iter().flat_map(|shown| &shown.classes).map(|class| self.kinds.of(*class))
        };
        let events = self.open.get(best.span).events.iter().rev().take(NAMED_EVENTS_MAX);
        let values = events.flat_map(|event| event.values.iter().map(move |value| (event.log_point, value)));
        let known = values.filter_map(|(point, (at, text))| {
            let variable = self.model.log_points.get(point?.index())?.variables.get(at as usize)?;
            canonical(text, variable.shape)
        });
        let (mut names_own, mut names_another) = (false, false);
        for known in known {
            for (_, name) in &fact.named {
                names_own |= *known == **name;
                names_another |= kinds(&known).any(|kind| kinds(name).any(|other| other == kind));
            }
        }
        names_another && !names_own
    }

    /// Whether what the record names was handed over since the last line of `best`, to
    /// somebody who can begin with the record.
    fn is_of_the_next(&mut self, best: &Taker, facts: &[(usize, Fact)]) -> bool {
        let Some(fact) = best.fact_of(facts).filter(|_| best.evidence.n_request > 0) else { return false };
        let last_seq = self.open.get(best.span).last_seq;
        let handed = |text: &Arc<str>| self.shown.get(text).and_then(|shown| shown.handed);
        let made = fact.values.iter().map(|(_, text)| text).filter(|text| is_made(text));
        let senders: Vec<LogPointId> =
            made.filter_map(handed).filter(|&(seq, _)| seq > last_seq).map(|(_, sender)| sender).collect();
        let places = self.orders.places(fact.log_point).iter();
        let is_next = |top: &TopLevelId| senders.iter().any(|&sender| self.handed.is_before(sender, *top));
        let next: Vec<TopLevelId> = places.map(|places| places.top).filter(is_next).collect();
        next.into_iter().any(|top| self.orders.can_begin(top, fact.log_point))
    }

    /// Whether `span` is one line over and over, not of this moment, and somebody has
    /// just handed out what begins with it.
    pub(super) fn is_handed_anew(&self, span: SpanIndex, point: LogPointId, now_us: i64) -> bool {
        let open = self.open.get(span);
        let (since, now) = ((open.last_seq, open.last_us), (now_us, self.pause_us()));
        now_us.abs_diff(open.last_us) > LOOP_US
            && open.events.iter().all(|event| event.log_point == Some(point))
            && open.tops.iter().any(|state| self.handed.is_anew(&self.orders, state.top, since, now))
    }

    /// Whether somebody has just handed out, not at the moment of its last line, what
    /// `span` is in any case.
    fn is_next_handed(&self, span: SpanIndex, now_us: i64) -> bool {
        let open = self.open.get(span);
        let (since, now) = ((open.last_seq, open.last_us), (now_us, self.pause_us()));
        now_us.abs_diff(open.last_us) > LOOP_US
            && open.tops.iter().all(|state| self.handed.is_anew(&self.orders, state.top, since, now))
    }

    /// Whether `span` has printed nothing so far but what very many methods print, and `point`
    /// is printed by few: what everybody calls is in the middle of somebody's work, who has
    /// printed no line of his own yet.
    fn is_its_own(&self, span: SpanIndex, point: LogPointId) -> bool {
        let is_anybodys = |point: LogPointId| self.orders.places(point).len() > ANYBODY_MIN;
        let events = &self.open.get(span).events;
        events.len() <= NAMED_EVENTS_MAX
            && !is_anybodys(point)
            && events.iter().all(|event| event.log_point.is_some_and(is_anybodys))
    }

    /// Whether `span` is a program's `main`, whose thread does nothing after it.
    pub(super) fn is_main(&self, span: SpanIndex) -> bool {
        self.open.get(span).tops.iter().all(|state| is_main(self.model, state.top))
    }

    /// Whether `span` can be the program's `main`, in the thread of one: nothing else is.
    fn is_in_main(&self, span: SpanIndex) -> bool {
        let open = self.open.get(span);
        let is_main_thread = |thread: u32| self.threads.is_main(thread);
        open.thread.is_some_and(is_main_thread)
            && open.tops.iter().any(|state| is_main(self.model, state.top))
    }

    /// Whether `span` can be a round of a dispatcher, which is followed by another.
    fn is_round(&self, span: SpanIndex) -> bool {
        self.open.get(span).tops.iter().any(|state| self.is_round_of(state))
    }

    /// Whether order says nothing of `point` and `span` being one piece of work,
    /// because one of them floats, and time does not either.
    fn floats_apart(&mut self, span: SpanIndex, point: LogPointId, gap_us: u64) -> bool {
        let open = self.open.get(span);
        // The thread of `main` works on nothing else.
        if open.thread.is_some_and(|thread| self.threads.is_main(thread)) {
            return false;
        }
        // What initializes a class is in the middle of its thread's work.
        let initializes = |point: LogPointId| self.model.log_points[point.index()].initializes();
        let is_inner = open.events.iter().all(|event| event.log_point.is_some_and(initializes));
        let float_us = match (is_inner, initializes(point)) {
            (true, _) => INITIALIZED_US,
            (false, true) => FLOAT_US,
            (false, false) => AT_ONCE_US,
        };
        if self.orders.floats(point) {
            let last = open.events.last().and_then(|last| last.log_point);
            let is_between = last.is_some_and(|last| self.is_outside_rounds(span, last));
            let is_apart = open.only_floats() || (self.is_all_rounds(span) && !is_between);
            // What can have ended has, if nothing came of it for so long.
            // What a task has printed before, it prints as the next one.
            let is_next = self.is_given_task(span) && open.has_printed(point);
            let pause_us = if is_next { self.pause_of_task_us() } else { self.pause_us() };
            let has_ended = gap_us > pause_us && open.is_at_exit(&self.orders) && !is_between;
            return has_ended || is_silence(gap_us, open.lasted_us()) || (gap_us > float_us && is_apart);
        }
        let is_anybodys = open.tops.len() > ANYBODY_MIN && !open.only_floats();
        let is_apart = (gap_us > LOOP_US && is_anybodys) || (gap_us > float_us && open.only_floats());
        is_apart && self.orders.starts(point)
    }

    /// Whether `span` is a round of a dispatcher in any case, or a step of one: those
    /// take as long as they need.
    fn is_all_rounds(&self, span: SpanIndex) -> bool {
        self.open.get(span).tops.iter().all(|state| self.is_round_of(state))
    }

    /// Whether `span` is a call that somebody else made, as far as it began with a first
    /// line: its thread is handed the next one by who serves those.
    fn is_call(&self, span: SpanIndex) -> bool {
        let open = self.open.get(span);
        let is_main = open.thread.is_some_and(|thread| self.threads.is_main(thread));
        let is_call =
            |state: &TopState| state.entered && self.orders.kind(state.top) == TopLevelKind::RpcHandler;
        !is_main && open.tops.iter().any(is_call)
    }

    /// Whether `span` is a call that can have ended, and does not print `point` again and again.
    fn is_answered(&self, span: SpanIndex, point: LogPointId) -> bool {
        let open = self.open.get(span);
        open.is_at_exit(&self.orders) && !open.has_printed(point) && self.is_call(span)
    }

    /// Whether `span` is a round of a dispatcher, a call, or a task of a thread that is given
    /// one after the other, and nothing came of it for so long that it has ended: of a call
    /// or such a task, for longer than threads of its node usually pause. That what loses its
    /// identifiers on the way to its caller is a round is not known, it can be a step of
    /// something longer: only a pause much longer than it was at work tells.
    fn is_round_over(&self, span: SpanIndex, point: LogPointId, gap_us: u64) -> bool {
        let is_round = |state: &TopState| self.model.top_level_methods[state.top.index()].is_round;
        let is_step =
            self.is_all(span, TopLevelKind::IdentifierLoss) && !self.open.get(span).tops.iter().all(is_round);
        let times = if is_step { STEP_TIMES } else { 1 };
        let lasted_us = self.open.get(span).lasted_us().saturating_mul(times);
        (gap_us > FLOAT_US.max(lasted_us) && self.is_all_rounds(span))
            || (gap_us > self.pause_us().max(lasted_us) && self.is_call(span))
            || (gap_us > self.pause_of_task_us().max(lasted_us)
                && self.is_given_task(span)
                && self.open.get(span).thread.is_some_and(|thread| self.threads.given.begins(thread, point)))
    }

    /// Whether `span` is a dispatcher that has printed last what it prints before or after its
    /// rounds, and `point` is of that too.
    fn is_outside_rounds(&self, span: SpanIndex, point: LogPointId) -> bool {
        let open = self.open.get(span);
        let Some(last) = open.events.last().and_then(|event| event.log_point) else { return false };
        let is_outside = |top, point| self.orders.is_outside_rounds(top, point);
        open.tops.iter().all(|state| is_outside(state.top, last) && is_outside(state.top, point))
    }

    /// Whether the span of `best` is a dispatcher before its rounds, and the record, which its
    /// rounds print too, names what was made for a request: what the dispatcher has collected by
    /// then, it hands out one by one, and each is a request of its own as it is in a round.
    fn hands_out(&self, best: &Taker, point: LogPointId, facts: &[(usize, Fact)]) -> bool {
        let open = self.open.get(best.span);
        let Some(last) = open.events.last().and_then(|event| event.log_point) else { return false };
        let is_before = |state: &TopState| {
            self.orders.kind(state.top) == TopLevelKind::Dispatcher
                && self.orders.is_outside_rounds(state.top, last)
                && !self.orders.is_outside_rounds(state.top, point)
        };
        let tells = |fact: &Fact| {
            let mut values = fact.values.iter();
            values.any(|(variable, text)| {
                is_made(text) && !self.orders.request_classes(point, *variable).is_empty()
            })
        };
        open.tops.iter().all(is_before) && best.fact_of(facts).is_some_and(tells)
    }

    /// Whether `span` began as a task can, in a thread that is given one after the other.
    fn is_given_task(&self, span: SpanIndex) -> bool {
        let open = self.open.get(span);
        let is_task = |state: &TopState| state.entered && self.orders.kind(state.top) == TopLevelKind::Task;
        open.thread.is_some_and(|thread| self.threads.given.is_given(thread)) && open.tops.iter().any(is_task)
    }

    /// Whether a record of a thread can only go on with `span`: nothing begins with it, and it can
    /// come next.
    pub(super) fn only_goes_on(&self, record: &Record<'_>, thread: Option<u32>, span: SpanIndex) -> bool {
        if thread.is_none() || record.candidates.is_empty() {
            return false;
        }
        let goes_on = |point: LogPointId| {
            let before = self.open.get(span).newest_first();
            self.successors.never_begins(point) && self.successors.can_follow(before, point)
        };
        record.candidates.iter().all(|candidate| goes_on(candidate.log_point))
    }

    /// A longer pause than this is none in the middle of a thread's work, µs.
    fn pause_us(&self) -> u64 {
        self.pauses.usual_us().unwrap_or(FLOAT_US)
    }

    /// The same of a task, after which its thread is given another one: as soon as that.
    fn pause_of_task_us(&self) -> u64 {
        self.pauses.usual_us().unwrap_or_default().max(LOOP_US)
    }

    fn is_round_of(&self, state: &TopState) -> bool {
        use TopLevelKind::{DispatchTarget, Dispatcher, EventHandler, IdentifierLoss};
        matches!(self.orders.kind(state.top), DispatchTarget | Dispatcher | EventHandler | IdentifierLoss)
    }

    /// Whether all that `outer` can be calls what `inner` can be, and is not called by that.
    pub(super) fn calls_it(&self, outer: SpanIndex, inner: SpanIndex) -> bool {
        let (outer, inner) = (&self.open.get(outer).tops, &self.open.get(inner).tops);
        let mut both = outer.iter().flat_map(|outer| inner.iter().map(|inner| (outer.top, inner.top)));
        !self.calls.is_empty()
            && both.all(|(outer, inner)| self.calls.contains(outer, inner))
            && !inner.iter().any(|inner| outer.iter().any(|outer| self.calls.contains(inner.top, outer.top)))
    }

    /// Whether `outer` can enclose `inner`, which is of the same thread: a
    /// dispatcher, what calls it, `main` in its own thread (which runs it once: another
    /// `main` is that of another process). Whoever needs a class
    /// first waits for its initializer, wherever it is at work.
    pub(super) fn encloses(&self, outer: SpanIndex, inner: SpanIndex) -> bool {
        let is_main_thread = |thread: u32| self.threads.is_main(thread);
        let (outer_tops, inner_tops) = (&self.open.get(outer).tops, &self.open.get(inner).tops);
        let is_anybodys = |state: &TopState| {
            self.orders.kind(state.top) == TopLevelKind::DispatchTarget
                || self.model.top_level_methods[state.top.index()].method == CLASS_INITIALIZER
        };
        let calls =
            |outer: &TopState| inner_tops.iter().any(|inner| self.calls.contains(outer.top, inner.top));
        outer_tops.iter().any(|outer| self.orders.kind(outer.top) == TopLevelKind::Dispatcher)
            || inner_tops.iter().all(is_anybodys)
            || (self.is_main(outer)
                && !self.is_main(inner)
                && self.open.get(outer).thread.is_some_and(is_main_thread))
            || (!self.calls.is_empty() && outer_tops.iter().any(calls))
    }
}

/// The newest of the times in texts, if it was new when they were printed.
fn newest_us<'t>(texts: impl Iterator<Item = &'t str>, now_us: i64) -> Option<i64> {
    let newest = texts.flat_map(stamps_us).max()?;
    (newest.abs_diff(now_us) <= NEW_US).then_some(newest)
}
