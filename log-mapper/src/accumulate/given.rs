//! Given: threads that are given tasks, learnt from the log. The threads of a pool are
//! named alike but for a number, and begin tasks again and again, each more than its own.
//!
//! Such a thread has ended a task that can have ended when it has printed nothing for
//! longer than threads of its node pause in the middle of their work, as who serves calls
//! has ended a call: what can begin a task then is the next one (`judge`). What can begin
//! one is learnt too, from the first lines of such threads and those after a silence: the
//! middle of a long task may look like the beginning of another one.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use schema::LogPointId;

use super::pools::pool;
use super::threads::ThreadIndex;

/// Threads of a name, and tasks that each of them began, on the average: what one thread
/// is made for it does once, and its parts can look like some more.
const THREADS_MIN: u32 = 2;
const TASKS_MIN: u32 = 4;

/// After so long without a line a thread begins anew, µs.
const SILENCE_US: u64 = 1_000_000;

/// The threads of a node by the names that they have in common.
#[derive(Debug, Default)]
pub(super) struct Given {
    names: FxHashMap<Arc<str>, usize>,
    /// Per thread: where its name, less its number, is.
    of_thread: Vec<usize>,
    /// Per thread: its last line, µs; none: it has printed nothing yet.
    last_us: Vec<Option<i64>>,
    pools: Vec<Pool>,
    free: Vec<usize>,
}

/// Threads of one name.
#[derive(Debug, Default)]
struct Pool {
    name: Arc<str>,
    /// Those that are known.
    n_known: u32,
    /// Those that were seen, and tasks that they began. One that was forgotten counts once more.
    n_threads: u32,
    n_begun: u32,
    /// With what they begin: their first lines, and those after a silence.
    first: FxHashSet<LogPointId>,
}

impl Given {
    /// Another thread, of this name.
    pub(super) fn add_thread(&mut self, thread: ThreadIndex, name: &str) {
        let name = pool(name);
        let at = self.names.get(name).copied().unwrap_or_else(|| self.add_pool(name));
        self.pools[at].n_known += 1;
        self.pools[at].n_threads = self.pools[at].n_threads.saturating_add(1);
        let thread = thread as usize;
        if self.of_thread.len() <= thread {
            self.of_thread.resize(thread + 1, 0);
            self.last_us.resize(thread + 1, None);
        }
        (self.of_thread[thread], self.last_us[thread]) = (at, None);
    }

    fn add_pool(&mut self, name: &str) -> usize {
        let at = self.free.pop().unwrap_or_else(|| {
            self.pools.push(Pool::default());
            self.pools.len() - 1
        });
        let name: Arc<str> = Arc::from(name);
        self.names.insert(Arc::clone(&name), at);
        self.pools[at] = Pool { name, ..Pool::default() };
        at
    }

    /// A thread is known no longer, nor, after the last one of a name, what such do.
    pub(super) fn forget_thread(&mut self, thread: ThreadIndex) {
        let at = self.of_thread[thread as usize];
        let pool = &mut self.pools[at];
        pool.n_known -= 1;
        if pool.n_known == 0 {
            self.names.remove(&pool.name);
            *pool = Pool::default();
            self.free.push(at);
        }
    }

    /// A thread printed a line.
    pub(super) fn see(&mut self, thread: ThreadIndex, ts_us: i64) {
        self.last_us[thread as usize] = Some(ts_us);
    }

    /// A thread began a task with a line of `point`.
    pub(super) fn begin(&mut self, thread: ThreadIndex, point: LogPointId, ts_us: i64) {
        let last_us = self.last_us[thread as usize];
        let is_first = last_us.is_none_or(|last_us| ts_us.abs_diff(last_us) >= SILENCE_US);
        let pool = &mut self.pools[self.of_thread[thread as usize]];
        if is_first {
            pool.first.insert(point);
        }
        pool.n_begun = pool.n_begun.saturating_add(1);
    }

    fn pool(&self, thread: ThreadIndex) -> &Pool {
        &self.pools[self.of_thread[thread as usize]]
    }

    /// Whether threads named like this one have begun with a line of `point`, beyond doubt.
    pub(super) fn begins(&self, thread: ThreadIndex, point: LogPointId) -> bool {
        self.pool(thread).first.contains(&point)
    }

    /// Whether a thread is one of those that are given tasks.
    pub(super) fn is_given(&self, thread: ThreadIndex) -> bool {
        let Pool { n_threads, n_begun, .. } = *self.pool(thread);
        n_threads >= THREADS_MIN && n_begun >= n_threads.saturating_mul(TASKS_MIN)
    }

    /// What is held, in entries of all its tables.
    #[cfg(test)]
    pub(super) fn n_entries(&self) -> usize {
        self.of_thread.len() + self.last_us.len() + self.names.len().max(self.pools.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(given: &mut Given, names: &[&str]) {
        (0..).zip(names).for_each(|(thread, name)| given.add_thread(thread, name));
    }

    #[test]
    fn threads_that_are_named_alike_and_begin_again_and_again_are_given_tasks() {
        let mut given = Given::default();
        add(&mut given, &["worker-1", "worker-2", "flusher", "made-1", "made-2"]);
        for thread in [0, 1, 0, 0, 1, 0, 1, 0, 2, 2, 2, 2, 2, 3, 4] {
            given.begin(thread, LogPointId::new(0), 0);
        }
        let is_given: Vec<bool> = (0..5).map(|thread| given.is_given(thread)).collect();
        assert_eq!(is_given, [true, true, false, false, false]);
    }

    #[test]
    fn with_what_threads_begin_their_first_lines_tell_and_those_after_a_silence() {
        let mut given = Given::default();
        add(&mut given, &["worker-1", "worker-2", "flusher"]);
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
