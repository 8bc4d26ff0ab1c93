//! Given: threads that are given tasks, learnt from the log. The threads of a pool are
//! named alike but for a number, and begin tasks again and again, each more than its own.
//!
//! Such a thread has ended a task that can have ended when it has printed nothing for
//! longer than threads of its node pause in the middle of their work, as who serves calls
//! has ended a call: what can begin a task then is the next one (`judge`).

use rustc_hash::FxHashMap;

use super::pools::pool;

/// Threads of a name, and tasks that each of them began, on the average: what one thread
/// is made for it does once, and its parts can look like some more.
const THREADS_MIN: u32 = 2;
const TASKS_MIN: u32 = 4;

/// The threads of a node by their names.
#[derive(Debug, Default)]
pub(super) struct Given {
    names: FxHashMap<String, usize>,
    /// Per thread: its name, less its number.
    of_thread: Vec<usize>,
    /// Per name: threads, and tasks that they began.
    seen: Vec<(u32, u32)>,
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
    }

    /// A thread began a task.
    pub(super) fn begin(&mut self, thread: u32) {
        if let Some(seen) = self.of_thread.get(thread as usize).and_then(|&at| self.seen.get_mut(at)) {
            seen.1 = seen.1.saturating_add(1);
        }
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
            given.begin(thread);
        }
        let is_given: Vec<bool> = (0..6).map(|thread| given.is_given(thread)).collect();
        assert_eq!(is_given, [true, true, false, false, false, false]);
    }
}
