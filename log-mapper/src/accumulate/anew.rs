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

use super::Scan;
use super::evidence::is_silence;
use super::open_span::TopState;
use super::open_spans::SpanIndex;
use super::pools::{MAIN_THREAD, is_main};
use crate::record::Record;

/// The method that initializes a class.
pub(super) const CLASS_INITIALIZER: &str = "<clinit>";

/// What has shown so far which process is at work.
#[derive(Debug, Default)]
pub(super) struct Processes {
    /// The process that printed what initializes a class last, and when, µs.
    initialized: FxHashMap<LogPointId, (u32, i64)>,
    /// How many have ended.
    n_ended: u32,
    /// The first record that is surely of the one at work.
    first_seq: u64,
}

impl Processes {
    /// What a process prints once is printed by `point` in record number `seq`. Gives the first record that is
    /// surely of its process, if another one has printed it before.
    fn initialize(&mut self, point: LogPointId, seq: u64, now_us: i64) -> Option<u64> {
        let before = self.initialized.get(&point).copied();
        let is_again = |&(process, before_us): &(u32, i64)| {
            process == self.n_ended && is_silence(now_us.abs_diff(before_us), 0)
        };
        if before.as_ref().is_some_and(is_again) {
            self.n_ended += 1;
            self.first_seq = seq;
        }
        self.initialized.insert(point, (self.n_ended, now_us));
        before.filter(|&(process, _)| process < self.n_ended).map(|_| self.first_seq)
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
        let is_main_thread = |thread: &u32| self.thread_names[*thread as usize] == MAIN_THREAD;
        let begins = |state: &TopState| state.entered && is_main(self.model, state.top);
        let Some(thread) = thread.filter(is_main_thread) else { return };
        if !tops.is_empty() && tops.iter().all(begins) {
            let first_seq = self.processes.initialize(point, self.seq, now_us);
            first_seq.into_iter().for_each(|first_seq| self.end_before(first_seq, thread));
        }
    }

    /// Closes what `thread` was at before record `first_seq`.
    fn end_before(&mut self, first_seq: u64, thread: u32) {
        let is_of_before = |&span: &SpanIndex| self.open.get(span).last_seq < first_seq;
        let ended: Vec<SpanIndex> = self.open.of_thread(thread).filter(is_of_before).collect();
        ended.into_iter().for_each(|span| self.close(span, false));
    }

    /// Closes what `thread` was at if the record shows that it is of a process that was
    /// started since.
    pub(super) fn begin_anew(&mut self, record: &Record<'_>, thread: Option<u32>) {
        let initializes =
            |point: &LogPointId| self.model.log_points[point.index()].method == CLASS_INITIALIZER;
        let points = record.candidates.iter().map(|candidate| candidate.log_point);
        let Some(point) = points.into_iter().find(initializes) else { return };
        let first_seq = self.processes.initialize(point, self.seq, record.ts_us);
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
            processes.initialize(LogPointId::new(point), seq, seconds * 1_000_000)
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
}
