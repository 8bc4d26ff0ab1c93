//! Progress: what is being done, on standard error, only on a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::Voice;

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

    /// Says what is being done now.
    pub(crate) fn now(&self, what: &str) {
        self.bar.set_message(crate::render::neutral(what));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
