//! Periods: what was read is decided some time after some time, so that what is held is bounded
//! by what goes on at once, not by how long the logs are.
//!
//! ```text
//! spans by start   |  1st period  |   2nd period   |  last period  |
//! requests          over . open ->
//!                         carried  over . . . open ->
//! ```
//! A request that may go on when a period ends is made again with the spans of the next one, as
//! an append does with what the table has kept ([`super::open`]). What is not longer than a
//! period is decided at once.

use schema::Result;

use crate::Config;
use crate::requests::Linked;
use crate::skeleton::{Span, Stored};
use crate::spill::{self, Spill, Store};

/// A period is at least so many windows long: what may go on, of the last one, is a small part.
const WINDOWS_MIN: i64 = 4;

/// Spans on disk, by start, as far as they were not looked at.
pub(super) struct Periods {
    spans: std::vec::IntoIter<Spill>,
    n_events: u64,
    /// Those of requests that may go on.
    open: Vec<Stored>,
    config: Config,
}

/// What is decided at once.
pub(super) struct Period {
    /// What is seen of the spans that begin in it, and of those before that may go on.
    pub(super) spans: Vec<Span>,
    /// When the first later span begins, µs; none: it is the last one.
    pub(super) until_us: Option<i64>,
}

impl Periods {
    /// Of all `spans`.
    pub(super) fn new(mut spans: Vec<Spill>, config: &Config) -> Self {
        spans.sort_unstable();
        let n_events = spans.iter().map(|span| u64::from(span.n_events)).sum();
        Self { spans: spans.into_iter(), n_events, open: Vec::new(), config: config.clone() }
    }

    /// The next one; the last one, which is there even without spans, is asked for once.
    ///
    /// # Errors
    /// I/O errors, naming the folder of `stores`.
    pub(super) fn next(&mut self, stores: &[Store]) -> Result<Period> {
        let mut places = std::mem::take(&mut self.open);
        let until_us = self.take(&mut places);
        Ok(Period { spans: spill::skeletons(stores, &places)?, until_us })
    }

    /// Takes the spans of the next period; returns when the first of the others begins.
    fn take(&mut self, places: &mut Vec<Stored>) -> Option<i64> {
        let Config { window_us, period_events, .. } = self.config;
        let first_us = self.spans.as_slice().first()?.start_us;
        let until_us = first_us.saturating_add(window_us.saturating_mul(WINDOWS_MIN));
        let mut n_taken = 0;
        while let Some(span) = self.spans.as_slice().first() {
            // A short rest is decided with it: little could be learnt from that.
            if n_taken >= period_events.max(1)
                && span.start_us >= until_us
                && self.n_events > period_events / 2
            {
                return Some(span.start_us);
            }
            places.push(span.stored);
            n_taken += u64::from(span.n_events);
            self.n_events -= u64::from(span.n_events);
            self.spans.next();
        }
        None
    }

    /// Takes the requests that `are_open` from those of a period; their spans are among the next.
    pub(super) fn take_open(&mut self, linked: &mut Linked, are_open: &[bool]) {
        let mut are_open = are_open.iter();
        let Linked { spans, requests, .. } = linked;
        requests.retain(|request| {
            let is_open = are_open.next().is_some_and(|is_open| *is_open);
            if is_open {
                self.open.extend(request.spans.iter().map(|&span| spans[span as usize].stored));
            }
            !is_open
        });
    }
}
