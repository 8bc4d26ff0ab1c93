//! Progress: what is being done, on standard error, only on a terminal.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::Voice;
use crate::pipeline::{self, Step};

/// A line that says what is being done; it is gone when it is dropped.
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// Says that `what` has begun.
    pub(crate) fn new(voice: Voice, what: &str) -> Self {
        // indicatif draws nothing where standard error is no terminal.
        let target = if voice.quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let style = ProgressStyle::with_template("{spinner} {msg} [{elapsed}]")
            .unwrap_or(ProgressStyle::default_spinner());
        let bar = ProgressBar::with_draw_target(None, target).with_style(style);
        bar.set_message(crate::render::neutral(what));
        bar.enable_steady_tick(Duration::from_millis(120));
        Self { bar }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// A line for the step that a pipeline is at.
struct Line {
    voice: Voice,
    progress: Mutex<Option<Progress>>,
    /// Bytes that are to be read, and those that were.
    n_bytes: [AtomicU64; 2],
}

/// Says what a pipeline is doing.
pub(crate) fn of_pipeline(voice: Voice) -> Arc<dyn pipeline::Progress> {
    Arc::new(Line { voice, progress: Mutex::default(), n_bytes: Default::default() })
}

impl Line {
    fn put(&self, progress: Option<Progress>) {
        // What was there goes first.
        drop(self.progress.lock().unwrap_or_else(PoisonError::into_inner).take());
        *self.progress.lock().unwrap_or_else(PoisonError::into_inner) = progress;
    }
}

impl pipeline::Progress for Line {
    fn begins(&self, step: Step) {
        let what = match step {
            Step::Analyze => "analyzing class files",
            Step::Compile => "compiling templates",
            Step::Look => "looking at the logs",
            Step::Read { n_bytes } => {
                self.n_bytes[0].store(n_bytes, Ordering::Relaxed);
                self.n_bytes[1].store(0, Ordering::Relaxed);
                "reading logs"
            }
            Step::Collect => "reading map outputs",
            Step::Stitch => "stitching requests",
        };
        self.put(Some(Progress::new(self.voice, what)));
    }

    fn reads(&self, n_bytes: u64) {
        let n_all = self.n_bytes[0].load(Ordering::Relaxed);
        let n_read = self.n_bytes[1].fetch_add(n_bytes, Ordering::Relaxed) + n_bytes;
        // Of what is read from a pipe nobody knows how much it is.
        if let Some(percent) = (n_read.min(n_all) * 100).checked_div(n_all)
            && let Some(progress) = &*self.progress.lock().unwrap_or_else(PoisonError::into_inner)
        {
            progress.bar.set_message(format!("reading logs, {percent} %"));
        }
    }

    fn ends(&self) {
        self.put(None);
    }
}
