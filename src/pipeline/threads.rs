//! Threads that a pipeline works with.

use std::sync::Arc;

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::{Context as _, Result};

/// Threads that a pipeline works with; the default: those that all of the process share, one per core.
/// Those who read and write beside them are not counted.
#[derive(Clone, Debug, Default)]
pub struct Threads(Option<Arc<ThreadPool>>);

impl Threads {
    /// `n` threads of its own, which end with the last clone of it; 0: one per core.
    ///
    /// # Errors
    /// The operating system refuses.
    pub fn new(n: usize) -> Result<Self> {
        let pool = ThreadPoolBuilder::new().num_threads(n).build().context("cannot start the threads")?;
        Ok(Self(Some(Arc::new(pool))))
    }

    /// How many there are.
    pub(super) fn n(&self) -> usize {
        self.0.as_ref().map_or_else(rayon::current_num_threads, |pool| pool.current_num_threads())
    }

    /// Runs `work` on them.
    pub(super) fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        match &self.0 {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }
}
