//! What the model says of messages: whether a log point can have printed one, and which loggers it
//! knows.

use super::{Header, Layout};
use crate::matched::query;
use crate::patterns::{PatternSet, Scratch};

/// Constant bytes by which a message is known whose logger is not printed.
const CONSTANT_MIN: u32 = 8;

/// What the model says of messages.
pub(crate) struct Judge<'a> {
    patterns: Option<&'a PatternSet>,
    scratch: Scratch,
}

impl<'a> Judge<'a> {
    /// With the log points of a model.
    pub(crate) fn new(patterns: &'a PatternSet) -> Self {
        Self { patterns: Some(patterns), scratch: patterns.scratch() }
    }

    /// That knows nothing.
    pub(crate) fn without() -> Self {
        Self { patterns: None, scratch: Scratch::default() }
    }

    /// Whether there is a model.
    pub(super) fn has_model(&self) -> bool {
        self.patterns.is_some()
    }

    pub(super) fn knows_logger(&mut self, name: &[u8]) -> bool {
        self.patterns.is_some_and(|patterns| patterns.knows_logger(name, &mut self.scratch))
    }

    /// Whether a log point can have printed the record, by a text of its own.
    pub(super) fn explains(&mut self, layout: &Layout, rest: &[u8], header: &Header<'_>) -> bool {
        let Some(patterns) = self.patterns else { return false };
        let mut header = *header;
        if header.logger.is_some_and(|logger| !self.knows_logger(logger)) {
            return false;
        }
        let query = query(rest, &mut header, layout);
        let has_place = header.logger.is_some() || header.line.is_some() || header.method.is_some();
        patterns.find(&mut self.scratch, &query);
        let n_blanks = rest.iter().take_while(|b| **b == b' ').count();
        if n_blanks > 0 && self.scratch.constant() == 0 {
            let query = self::query(&rest[n_blanks..], &mut header, layout);
            patterns.find(&mut self.scratch, &query);
        }
        let constant = self.scratch.constant();
        constant >= CONSTANT_MIN.min(query.text.len() as u32).max(1) || (has_place && constant > 0)
    }
}
