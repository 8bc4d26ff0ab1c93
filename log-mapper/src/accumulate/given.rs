//! Given: threads that are given tasks, learnt from the log. The threads of a pool are
//! named alike but for a number, and begin tasks again and again, each more than its own.
//!
//! Such a thread has ended a task that can have ended when it has printed nothing for
//! longer than threads of its node pause in the middle of their work, as who serves calls
//! has ended a call: what can begin a task then is the next one (`judge`). What can begin
//! one is learnt too, from the first lines of such threads and those after a silence: the
//! middle of a long task may look like the beginning of another one.

use rustc_hash::{FxHashMap, FxHashSet};
use schema::LogPointId;

use super::pools::pool;

/// Threads of a name, and tasks that each of them began, on the average: what one thread
/// is made for it does once, and its parts can look like some more.
const THREADS_MIN: u32 = 2;
const TASKS_MIN: u32 = 4;

/// After so long without a line a thread begins anew, µs.
const SILENCE_US: u64 = 1_000_000;

/// The threads of a node by their names.
#[derive(Debug, Default)]
pub(super) struct Given {
    names: FxHashMap<String, usize>,
    /// Per thread: its name, less its number.
    of_thread: Vec<usize>,
    /// Per thread: its last line, µs; none: it has printed nothing yet.
    last_us: Vec<Option<i64>>,
    /// Per name: threads, and tasks that they began.
    seen: Vec<(u32, u32)>,
    /// With what threads of a name begin: their first lines, and those after a silence.
    first: FxHashSet<(usize, LogPointId)>,
}

impl Given {
    /// Another thread, of this name.
    pub(super) fn add_thread(&mut self, name: &str) {
        let next = self.seen.len();
        let at = *self.names.entry(pool(name)).or_insert(next);
        if at == next {
            self.seen.push((0, 0));
        }
        self.seen[at].0 += 1;
        self.of_thread.push(at);
        self.last_us.push(None);
    }

    /// A thread printed a line.
    pub(super) fn see(&mut self, thread: u32, ts_us: i64) {
        if let Some(last_us) = self.last_us.get_mut(thread as usize) {
            *last_us = Some(ts_us);
        }
    }

    /// A thread began a task with a line of `point`.
    pub(super) fn begin(&mut self, thread: u32, point: LogPointId, ts_us: i64) {
        let last_us = self.last_us.get(thread as usize).copied().flatten();
        let is_first = last_us.is_none_or(|last_us| ts_us.abs_diff(last_us) >= SILENCE_US);
        if let Some(&at) = self.of_thread.get(thread as usize).filter(|_| is_first) {
            self.first.insert((at, point));
        }
        if let Some(seen) = self.of_thread.get(thread as usize).and_then(|&at| self.seen.get_mut(at)) {
            seen.1 = seen.1.saturating_add(1);
        }
    }

    /// Whether threads named like this one have begun with a line of `point`, beyond doubt.
    pub(super) fn begins(&self, thread: u32, point: LogPointId) -> bool {
        let at = self.of_thread.get(thread as usize);
        at.is_some_and(|&at| self.first.contains(&(at, point)))
    }

    /// Whether a thread is one of those that are given tasks.
    pub(super) fn is_given(&self, thread: u32) -> bool {
        let seen = self.of_thread.get(thread as usize).and_then(|&at| self.seen.get(at));
        seen.is_some_and(|&(n_threads, n_begun)| {
            n_threads >= THREADS_MIN && n_begun >= n_threads.saturating_mul(TASKS_MIN)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_are_named_alike_and_begin_again_and_again_are_given_tasks() {
        let mut given = Given::default();
        ["worker-1", "worker-2", "flusher", "made-1", "made-2"]
            .iter()
            .for_each(|name| given.add_thread(name));
        for thread in [0, 1, 0, 0, 1, 0, 1, 0, 2, 2, 2, 2, 2, 3, 4] {
            given.begin(thread, LogPointId::new(0), 0);
        }
        let is_given: Vec<bool> = (0..6).map(|thread| given.is_given(thread)).collect();
        assert_eq!(is_given, [true, true, false, false, false, false]);
    }

    #[test]
    fn with_what_threads_begin_their_first_lines_tell_and_those_after_a_silence() {
        let mut given = Given::default();
        ["worker-1", "worker-2", "flusher"].iter().for_each(|name| given.add_thread(name));
        let [reads, writes, closes] = [0, 1, 2].map(LogPointId::new);
        for (point, ts_us) in [(reads, 0), (closes, 900_000), (writes, 1_900_000)] {
            given.begin(0, point, ts_us);
            given.see(0, ts_us);
        }
        let begins = |thread| [reads, writes, closes].map(|point| given.begins(thread, point));
        assert_eq!(begins(0), [true, true, false]);
        assert_eq!(begins(1), begins(0), "named alike");
        assert_eq!(begins(2), [false; 3]);
    }
}
