//! Anew: a process that was started again after another one of its kind had ended.
//!
//! A process initializes each of its classes once. What an initializer prints again, long
//! after, is printed by another process, and what its thread was at in the first one has
//! ended with that: the `main` of the second one is not the rest of the first one's.
//!
//! And a process runs its `main` once, in a thread of its own: when that begins again, what
//! the thread was at before has ended, whatever came of it.

use rustc_hash::FxHashMap;
use schema::LogPointId;
use schema::model::CLASS_INITIALIZER;

use super::Scan;
use super::evidence::is_silence;
use super::open_span::TopState;
use super::open_spans::SpanIndex;
use super::pools::is_main;
use crate::record::Record;

/// What has shown so far which process is at work.
#[derive(Debug, Default)]
pub(super) struct Processes {
    /// The process that printed what initializes a class last, and when: record and µs.
    initialized: FxHashMap<LogPointId, (u32, u64, i64)>,
    /// How many have ended.
    n_ended: u32,
    /// The first record that is surely of the one at work.
    first_seq: u64,
}

impl Processes {
    /// What a process prints once is printed by `point` in record number `seq`; a `main` that
    /// can be its own began with record `main_seq`. Gives the first record that is surely of
    /// its process, if another one has printed it before: that with which its `main` began,
    /// if it did since then.
    fn initialize(
        &mut self,
        point: LogPointId,
        (seq, now_us): (u64, i64),
        main_seq: Option<u64>,
    ) -> Option<u64> {
        let before = self.initialized.get(&point).copied();
        if let Some((process, before_seq, before_us)) = before
            && process == self.n_ended
            && is_silence(now_us.abs_diff(before_us), 0)
        {
            self.n_ended += 1;
            self.first_seq = main_seq.filter(|&main_seq| main_seq > before_seq).unwrap_or(seq);
        }
        self.initialized.insert(point, (self.n_ended, seq, now_us));
        before.filter(|&(process, ..)| process < self.n_ended).map(|_| self.first_seq)
    }
}

impl Scan<'_> {
    /// Closes what `thread` was at if a `main` begins in it with `point` that began so before.
    pub(super) fn begin_main_anew(
        &mut self,
        thread: Option<u32>,
        tops: &[TopState],
        point: LogPointId,
        now_us: i64,
    ) {
        let is_main_thread = |thread: &u32| self.threads.is_main(*thread);
        let begins = |state: &TopState| state.entered && is_main(self.model, state.top);
        let Some(thread) = thread.filter(is_main_thread) else { return };
        if !tops.is_empty() && tops.iter().all(begins) {
            let first_seq = self.processes.initialize(point, (self.seq, now_us), None);
            first_seq.into_iter().for_each(|first_seq| self.end_before(first_seq, thread));
        }
    }

    /// Closes what `thread` was at before record `first_seq`.
    fn end_before(&mut self, first_seq: u64, thread: u32) {
        let is_of_before = |&span: &SpanIndex| self.open.get(span).last_seq < first_seq;
        let ended: Vec<SpanIndex> = self.open.of_thread(thread).filter(is_of_before).collect();
        ended.into_iter().for_each(|span| self.close(span, false));
    }

    /// The first record of what `thread` is at, if that is the thread of a `main` at its `main`.
    fn main_began(&self, thread: u32) -> Option<u64> {
        let is_main_thread = self.threads.is_main(thread);
        let begun = self.open.current(thread).filter(|_| is_main_thread)?;
        let open = self.open.get(begun);
        let mains = |state: &TopState| state.entered && is_main(self.model, state.top);
        open.tops.iter().any(mains).then_some(open.first_seq)
    }

    /// Closes what `thread` was at if the record shows that it is of a process that was
    /// started since.
    pub(super) fn begin_anew(&mut self, record: &Record<'_>, thread: Option<u32>) {
        let initializes =
            |point: &LogPointId| self.model.log_points[point.index()].method == CLASS_INITIALIZER;
        let points = record.candidates.iter().map(|candidate| candidate.log_point);
        let Some(point) = points.into_iter().find(initializes) else { return };
        let main_seq = thread.and_then(|thread| self.main_began(thread));
        let first_seq = self.processes.initialize(point, (self.seq, record.ts_us), main_seq);
        if let Some((thread, first_seq)) = thread.zip(first_seq) {
            self.end_before(first_seq, thread);
        }
    }
}

#[cfg(test)]
mod tests {
    use schema::LogPointId;

    use super::Processes;

    #[test]
    fn classes_that_are_initialized_later_are_of_the_same_process() {
        let mut processes = Processes::default();
        let mut initialize = |point: usize, seq: u64, seconds: i64| {
            processes.initialize(LogPointId::new(point), (seq, seconds * 1_000_000), None)
        };
        assert_eq!(initialize(0, 1, 0), None);
        assert_eq!(initialize(1, 2, 5), None);
        // The second process begins with the first record that shows it.
        assert_eq!(initialize(0, 10, 20), Some(10));
        assert_eq!(initialize(1, 12, 40), Some(10));
        assert_eq!(initialize(1, 13, 60), Some(13));
        // What an initializer prints twice at once is of one process.
        assert_eq!(initialize(1, 14, 60), None);
    }

    #[test]
    fn a_process_begins_with_its_main() {
        let mut processes = Processes::default();
        let mut initialize = |seq: u64, seconds: i64, main_seq: u64| {
            processes.initialize(LogPointId::new(0), (seq, seconds * 1_000_000), Some(main_seq))
        };
        assert_eq!(initialize(5, 0, 1), None);
        // A `main` that began before is the earlier process's.
        assert_eq!(initialize(20, 20, 1), Some(20));
        assert_eq!(initialize(40, 40, 31), Some(31));
    }
}
