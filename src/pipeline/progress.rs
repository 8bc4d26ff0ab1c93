//! How far a pipeline has come, for those who wait for it.

/// Is told how far a pipeline has come. What it does is waited for, so it should be short.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use lprof::pipeline::{Progress, Step};
///
/// #[derive(Default)]
/// struct Bar {
///     n_bytes: AtomicU64,
/// }
///
/// impl Progress for Bar {
///     fn begins(&self, step: Step) {
///         if let Step::Read { n_bytes } = step {
///             println!("{n_bytes} bytes of logs");
///         }
///     }
///
///     fn reads(&self, n_bytes: u64) {
///         self.n_bytes.fetch_add(n_bytes, Ordering::Relaxed);
///     }
/// }
///
/// let options = lprof::pipeline::Options {
///     progress: std::sync::Arc::new(Bar::default()),
///     ..Default::default()
/// };
/// # drop(options);
/// ```
pub trait Progress: Send + Sync {
    /// A step begins. Steps do not overlap.
    fn begins(&self, step: Step) {
        let _ = step;
    }

    /// So many more bytes of the logs have been read, as they lie there (packed). Several threads say so.
    fn reads(&self, n_bytes: u64) {
        let _ = n_bytes;
    }

    /// The step that began is over, also if it failed.
    fn ends(&self) {}
}

/// Tells nobody.
impl Progress for () {}

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// Class files become a model.
    Analyze,
    /// Templates of a model become patterns.
    Compile,
    /// It is found out how the logs are read.
    Look,
    /// Records of the logs become spans.
    Read {
        /// Bytes that are read, as they lie there, as far as that is known.
        n_bytes: u64,
    },
    /// What maps have written is read.
    Collect,
    /// Spans become requests.
    Stitch,
}

/// A step, as long as it lasts.
pub(super) struct Stepping<'a>(&'a dyn Progress);

impl<'a> Stepping<'a> {
    pub(super) fn new(progress: &'a dyn Progress, step: Step) -> Self {
        progress.begins(step);
        Self(progress)
    }
}

impl Drop for Stepping<'_> {
    fn drop(&mut self) {
        self.0.ends();
    }
}
