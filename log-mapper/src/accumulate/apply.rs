//! Applying: what becomes of the open spans once it is decided where a record
//! goes.

use std::cmp::Reverse;

use schema::{Event, LogPointId, Name, Pass, TopLevelKind, Values};

use super::ahead::AHEAD_RECORDS;
use super::canonical::canonical;
use super::neighbours::LONE_MAX;
use super::open_span::{OpenSpan, TopState};
use super::open_spans::SpanIndex;
use super::words::add as add_words;
use super::{Choice, Goes, Scan, event};
use crate::record::{Candidate, Record};

impl Scan<'_> {
    /// Learns from a record which loggers show what, and of which program it is.
    fn learn(&mut self, record: &Record<'_>, candidate: &Candidate<'_>) {
        if self.orders.see(record.level, candidate.log_point) {
            self.successors.silence(self.orders.silent_points());
        }
        if let Some(possible) = self.programs.learn(candidate.log_point) {
            self.orders.restrict(&possible);
        }
        self.handed.print(candidate.log_point, self.seq, record.ts_us);
    }

    /// Carries out a choice.
    pub(super) fn apply(&mut self, record: &Record<'_>, choice: Choice) {
        let Choice { candidate, thread, goes, by } = choice;
        let common = self.common.iter_mut().find(|(index, _)| *index == candidate);
        let common = common.map(|(_, common)| std::mem::take(common)).unwrap_or_default();
        let uuids = self.uuids.iter_mut().find(|(index, _)| *index == candidate);
        let uuids = uuids.map(|(_, uuids)| std::mem::take(uuids)).unwrap_or_default();
        let numbers = self.numbers.iter().position(|(index, _)| *index == candidate);
        let numbers = numbers.map(|at| self.numbers.swap_remove(at).1).unwrap_or_default();
        let candidate = record.candidates.get(candidate);
        if let Some(candidate) = candidate {
            self.learn(record, candidate);
            if thread.is_none() {
                self.hand_over(candidate);
            }
        }
        if thread.is_none() && self.seq > AHEAD_RECORDS {
            self.together.see(candidate.map(|candidate| candidate.log_point), record.ts_us);
        }
        if let Some(thread) = thread {
            self.see_given(thread, record.ts_us, (candidate, &goes));
        }
        let is_apart = matches!(goes, Goes::Apart(_));
        let opens = matches!(goes, Goes::Opens(_));
        if let (Some(thread), Goes::Joins(span, ..) | Goes::Inside(span) | Goes::Fails(span)) =
            (thread, &goes)
        {
            self.put_library_lines(thread, *span);
        }
        let index = self.carry_out(record, candidate, thread, (goes, by));
        if let Some(thread) = thread.filter(|_| !is_apart) {
            let span = self.open.get(index);
            let line = (span.first_seq, record.ts_us);
            let point = candidate.map(|candidate| candidate.log_point);
            let of_nothing = self.library_lines.print(thread, line, point, span.began());
            self.leave_lines(thread, of_nothing);
        }
        self.show_ids(index, record);
        self.open.update_in_place(index, |span| (span.is_left, span.has_returned) = (false, false));
        if !common.is_empty() {
            self.open.update_in_place(index, |span| span.show_common(common));
        }
        if thread.is_none() {
            self.add_words(index, record, candidate);
        }
        if !uuids.is_empty() {
            self.open.update_in_place(index, |span| span.show_uuids(uuids));
        }
        if !numbers.is_empty() {
            self.open.update_in_place(index, |span| span.show_numbers(&numbers));
        }
        self.note_opened(index);
        self.before = Some(index).filter(|_| thread.is_none());
        if is_apart {
            self.close(index, false);
            return;
        }
        if opens && thread.is_none() {
            self.end_run_before(index);
        }
        self.leave_behind(index);
        if !self.open.get(index).goes_on(&self.orders) {
            self.close(index, false);
        }
    }

    /// Remembers a span that a lone record has opened, of the last ones of these.
    fn note_opened(&mut self, index: SpanIndex) {
        if std::mem::take(&mut self.is_lone) {
            self.opened.push_back(index);
            if self.opened.len() > LONE_MAX {
                self.opened.pop_front();
            }
        }
    }

    /// Remembers the words, names and values of a record of a span without a thread.
    fn add_words(&mut self, index: SpanIndex, record: &Record<'_>, candidate: Option<&Candidate<'_>>) {
        let names = candidate.map_or(&[][..], |candidate| &candidate.names);
        self.familiar.see(names);
        let line = self.line.take();
        self.open.update_in_place(index, |span| {
            line.iter().for_each(|line| span.track.add(line));
            add_words(&mut span.words, &record.words);
            span.last_names.clear();
            span.last_names.extend_from_slice(names);
        });
    }

    /// Remembers what a record names that stands before a hand-off.
    fn hand_over(&mut self, candidate: &Candidate<'_>) {
        if !self.handed.hands_over(candidate.log_point) {
            return;
        }
        let variables = &self.model.log_points[candidate.log_point.index()].variables;
        for &(variable, text) in &candidate.values {
            let shape = variables.get(variable as usize).map(|variable| variable.shape);
            if let Some(text) = shape.and_then(|shape| canonical(text, shape))
                && let Some(shown) = self.shown.get_mut(&text)
            {
                shown.handed = Some((self.seq, candidate.log_point));
            }
        }
    }

    /// Leaves behind what the thread of `index` was at: a thread does one thing at a
    /// time, so whatever it prints, it has ended that, unless that has called this.
    /// What `index` has called is closed. What began before `index` can have called it
    /// in ways that nobody knows of, and goes on if a line comes that is of nothing
    /// else. The events of an entity stay, because the next ones are found by its
    /// identifiers; by nothing else if who calls it prints again, so that it has returned.
    fn leave_behind(&mut self, index: SpanIndex) {
        let Some(thread) = self.open.get(index).thread else { return };
        let mut others: Vec<SpanIndex> =
            self.open.of_thread(thread).filter(|&other| other != index).collect();
        others.sort_unstable_by_key(|&other| Reverse(self.open.get(other).first_seq));
        let first_seq = self.open.get(index).first_seq;
        let mut inner = index;
        for other in others {
            let span = self.open.get(other);
            if span.tops.iter().all(|state| self.is_event(state)) {
                if self.calls_it(index, other) {
                    self.open.update_in_place(other, |span| span.has_returned = true);
                } else if !self.encloses(other, inner) {
                    self.open.update_in_place(other, OpenSpan::leave_behind);
                }
                continue;
            }
            if span.first_seq < first_seq && self.encloses(other, inner) {
                inner = other;
            } else if span.first_seq < first_seq && span.began() {
                self.open.update_in_place(other, OpenSpan::leave_behind);
            } else {
                self.close(other, false);
            }
        }
    }

    /// A thread prints a record; it is given a task if that begins one.
    fn see_given(&mut self, thread: u32, now_us: i64, (candidate, goes): (Option<&Candidate<'_>>, &Goes)) {
        if let Goes::Opens(tops) = goes {
            let is_task =
                |state: &TopState| state.entered && self.orders.kind(state.top) == TopLevelKind::Task;
            if let Some(candidate) = candidate.filter(|_| tops.iter().any(is_task)) {
                self.threads.given.begin(thread, candidate.log_point, now_us);
            }
        }
        self.threads.given.see(thread, now_us);
    }

    /// Gives a span that its thread goes on with the lines that libraries have printed since.
    fn put_library_lines(&mut self, thread: u32, index: SpanIndex) {
        let lines = self.library_lines.amid(thread, self.open.get(index).first_seq);
        if !lines.is_empty() {
            self.open.update(index, |span| lines.into_iter().for_each(|line| span.add(line, span.last_seq)));
        }
    }

    /// Adds an event that has no place in the order of the span; returns that.
    fn put_inside(&mut self, index: SpanIndex, event: Event) -> SpanIndex {
        let seq = self.seq;
        self.open.update(index, |span| span.add(event, seq));
        index
    }

    /// Gives the record to a span; returns that.
    fn carry_out(
        &mut self,
        record: &Record<'_>,
        candidate: Option<&Candidate<'_>>,
        thread: Option<u32>,
        (goes, by): (Goes, Pass),
    ) -> SpanIndex {
        let seq = self.seq;
        let with_reason = |reason: &str| event(record, candidate, (by, Name::from(reason)));
        match goes {
            Goes::Joins(index, after, reason) => {
                let event = event(record, candidate, (by, reason));
                if let Some(point) = event.log_point
                    && self.open.get(index).events.len() == 1
                    && self.open.get(index).began_with(point)
                {
                    self.loops.again(point);
                }
                let named = event.log_point.filter(|_| after.n_request + after.n_weak > 0);
                named.into_iter().for_each(|point| self.begins.goes_on(point));
                self.open.update(index, |span| span.take(after, event, seq));
                index
            }
            Goes::Opens(mut tops) => {
                self.restrict(thread, &mut tops);
                let entered = tops.iter().any(|top| top.entered);
                let reason = if entered { "opens" } else { "opens, start not seen" };
                let event = with_reason(reason);
                if let Some(point) = event.log_point {
                    self.loops.begin(point);
                    self.begins.begins(point);
                    self.begin_main_anew(thread, &tops, point, record.ts_us);
                }
                let readings = readings(record, &tops, event.log_point);
                self.open.open(OpenSpan::new(thread, tops, event, seq).with_readings(readings))
            }
            Goes::Apart(tops) => {
                self.open.open(OpenSpan::new(thread, tops, with_reason("of what it names"), seq))
            }
            Goes::Inside(index) => {
                let around = if thread.is_some() { "thread" } else { "the only one at work" };
                let what = if candidate.is_some() { "inside" } else { "inside, no log point" };
                self.put_inside(index, with_reason(&format!("{around}, {what}")))
            }
            Goes::Fails(index) => self.put_inside(index, with_reason("failure of what was called")),
            Goes::Adopts(index, after, adopted) => {
                let lone: Vec<OpenSpan> = adopted.iter().map(|&lone| self.open.close(lone)).collect();
                self.opened.retain(|lone| !adopted.contains(lone));
                let event = with_reason("ids, with records before");
                self.open.update(index, |span| {
                    for lone in lone {
                        span.ids = span.ids.take().or(lone.ids);
                        for mut event in lone.events {
                            (event.pass, event.reason) = (by, Name::from("before a record with its ids"));
                            span.add(event, lone.first_seq);
                        }
                    }
                    span.take(after, event, seq);
                });
                index
            }
            Goes::Takes(mut tops, giver) => {
                self.restrict(thread, &mut tops);
                let event = with_reason("follows at once");
                self.take_over(OpenSpan::new(thread, tops, event, seq), giver, by)
            }
        }
    }

    /// Opens a span that begins with the last record of `giver`; returns that.
    fn take_over(&mut self, mut span: OpenSpan, giver: SpanIndex, by: Pass) -> SpanIndex {
        let mut taken = None;
        self.open.update(giver, |giver| taken = giver.give_last());
        if let Some((mut first, first_seq)) = taken {
            (first.pass, first.reason) = (by, Name::from("opens"));
            span.events.insert(0, first);
            span.first_seq = first_seq;
        }
        self.open.open(span)
    }
}

/// What else the record that begins a span can be, for any of `tops`.
fn readings(record: &Record<'_>, tops: &[TopState], chosen: Option<LogPointId>) -> Vec<(LogPointId, Values)> {
    let is_other = |candidate: &&Candidate<'_>| {
        Some(candidate.log_point) != chosen && tops.iter().any(|state| state.first == candidate.log_point)
    };
    let values = |candidate: &Candidate<'_>| Values::new(&candidate.values);
    let others = record.candidates.iter().filter(is_other);
    others.map(|candidate| (candidate.log_point, values(candidate))).collect()
}
