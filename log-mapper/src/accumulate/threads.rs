//! The threads of a node by their names, and what is known of each.
//!
//! Where names hold what a thread works on, a log shows new ones for as long as it goes on. So
//! threads of which a part of the log has shown nothing are forgotten at its end, if nothing is
//! open in them and as soon as more are known than a part has records: memory is bounded by a part
//! and what is open, and a program with fewer threads keeps what is known of all of them.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::given::Given;
use super::pools::MAIN_THREAD;
use super::thread_names::{ThreadNames, Told};

/// A thread. Numbers of forgotten ones are used again.
pub(super) type ThreadIndex = u32;

/// What is known of one thread.
#[derive(Debug)]
struct Thread {
    name: Arc<str>,
    /// What the name tells.
    told: Told,
    /// The part at hand has shown it.
    is_shown: bool,
}

/// The threads that are known.
#[derive(Debug)]
pub(super) struct Threads<'m> {
    names: &'m ThreadNames<'m>,
    by_name: FxHashMap<Arc<str>, ThreadIndex>,
    threads: Vec<Option<Thread>>,
    free: Vec<ThreadIndex>,
    /// Which of them are given tasks.
    pub(super) given: Given,
}

impl<'m> Threads<'m> {
    /// None is known yet.
    pub(super) fn new(names: &'m ThreadNames<'m>) -> Self {
        let (by_name, threads, free, given) = Default::default();
        Self { names, by_name, threads, free, given }
    }

    /// Whether the log has shown any.
    pub(super) fn are_printed(&self) -> bool {
        !self.threads.is_empty()
    }

    /// The thread of a name, which is shown now.
    pub(super) fn show(&mut self, name: &str) -> ThreadIndex {
        if let Some(&index) = self.by_name.get(name) {
            self.threads[index as usize].iter_mut().for_each(|thread| thread.is_shown = true);
            return index;
        }
        let index = self.free.pop().unwrap_or_else(|| {
            self.threads.push(None);
            u32::try_from(self.threads.len() - 1).expect("fewer than 2^32 threads are known")
        });
        let name: Arc<str> = Arc::from(name);
        let told = self.names.told(&name);
        self.given.add_thread(index, &name);
        self.by_name.insert(Arc::clone(&name), index);
        self.threads[index as usize] = Some(Thread { name, told, is_shown: true });
        index
    }

    fn get(&self, index: ThreadIndex) -> &Thread {
        self.threads[index as usize].as_ref().expect("an index names a known thread")
    }

    /// Its name.
    pub(super) fn name(&self, index: ThreadIndex) -> &Arc<str> {
        &self.get(index).name
    }

    /// Whether it is called as that of `main`.
    pub(super) fn is_main(&self, index: ThreadIndex) -> bool {
        **self.name(index) == *MAIN_THREAD
    }

    /// What its name tells.
    pub(super) fn told(&self, index: ThreadIndex) -> &Told {
        &self.get(index).told
    }

    /// What a name tells, if it is that of a known thread.
    pub(super) fn told_by(&self, name: &str) -> Option<&Told> {
        self.by_name.get(name).map(|&index| self.told(index))
    }

    /// Whether threads of some name are known to run `top`.
    pub(super) fn is_placed(&self, top: schema::TopLevelId) -> bool {
        self.names.is_placed(top)
    }

    /// A part of the log ends: what it has not shown is forgotten, if more than `n_kept` are known.
    /// `is_open`: something is open in a thread.
    pub(super) fn end_part(&mut self, n_kept: u64, is_open: impl Fn(ThreadIndex) -> bool) {
        let forgets = self.by_name.len() as u64 > n_kept;
        for index in 0..u32::try_from(self.threads.len()).expect("fewer than 2^32 threads are known") {
            let Some(thread) = &mut self.threads[index as usize] else { continue };
            let was_shown = std::mem::take(&mut thread.is_shown);
            if forgets && !was_shown && !is_open(index) {
                self.given.forget_thread(index);
                self.by_name.remove(&thread.name);
                self.threads[index as usize] = None;
                self.free.push(index);
            }
        }
    }

    /// What is held, in entries of all its tables.
    #[cfg(test)]
    pub(super) fn n_entries(&self) -> usize {
        self.by_name.len().max(self.threads.len()) + self.given.n_entries()
    }
}

#[cfg(test)]
mod tests {
    use schema::Model;

    use super::*;

    /// The names of `known` ones.
    fn names<'t>(threads: &'t Threads<'_>) -> Vec<&'t str> {
        let mut names: Vec<&str> = threads.threads.iter().flatten().map(|thread| &*thread.name).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn those_that_a_part_has_not_shown_are_forgotten_beyond_as_many_as_are_kept() {
        let model = Model::default();
        let told = ThreadNames::new(&model);
        let mut threads = Threads::new(&told);
        let [a, b, c] = ["work-1", "work-2", "req-3"].map(|name| threads.show(name));
        threads.end_part(2, |_| false);
        assert_eq!(names(&threads), ["req-3", "work-1", "work-2"], "the part has shown them");
        assert_eq!(threads.show("work-1"), a);
        threads.end_part(3, |_| false);
        assert_eq!(names(&threads).len(), 3, "as many are kept");
        threads.end_part(2, |index| index == b);
        assert_eq!(names(&threads), ["work-2"], "something is open in it");
        let d = threads.show("req-4");
        assert!([a, c].contains(&d), "numbers are used again");
        assert_eq!((&**threads.name(d), &**threads.name(b)), ("req-4", "work-2"));
        assert!(threads.are_printed() && threads.told_by("work-1").is_none());
    }

    #[test]
    fn new_names_for_ever_take_no_more_memory() {
        let model = Model::default();
        let told = ThreadNames::new(&model);
        let mut threads = Threads::new(&told);
        let mut most = 0;
        for part in 0..100 {
            // Some begin with letters of their own, each of which could name a pool.
            (0..64).for_each(|n| _ = threads.show(&format!("request-{part}-{n}")));
            let letters = |n: u32| char::from_u32(0x4e00 + part * 64 + n).expect("a character");
            (0..64).for_each(|n| _ = threads.show(&letters(n).to_string()));
            threads.end_part(64, |_| false);
            most = most.max(threads.n_entries());
        }
        assert!(most <= 5 * 2 * 128, "{most} entries");
    }
}
