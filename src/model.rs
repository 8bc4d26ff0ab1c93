//! The model of a release: everything the analysis found, in one file.

use std::path::Path;

use schema::StoredModel;

use crate::error::Result;

/// What a release of a program can log, and what its requests are: made by
/// [`analyze`](crate::pipeline::analyze), once.
#[derive(Debug)]
pub struct Model {
    pub(crate) inner: schema::Model,
    /// As it was read: it is written elsewhere without being encoded again.
    stored: Option<StoredModel>,
}

impl Model {
    pub(crate) fn new(inner: schema::Model) -> Self {
        Self { inner, stored: None }
    }

    /// Reads a model that [`write`](Self::write) or `lprof analyze` has written.
    ///
    /// # Errors
    /// Not a model, one of another version, cut short or damaged; I/O errors.
    pub fn read(path: &Path) -> Result<Self> {
        let stored = StoredModel::read(path)?;
        Ok(Self { inner: stored.decode(path)?, stored: Some(stored) })
    }

    /// Writes it to `path`, atomically.
    ///
    /// # Errors
    /// I/O errors, naming the file.
    pub fn write(&self, path: &Path) -> Result<()> {
        match &self.stored {
            Some(stored) => stored.write(path)?,
            None => self.inner.write(path)?,
        }
        Ok(())
    }

    /// Classes that were read.
    #[must_use]
    pub fn n_classes(&self) -> u64 {
        self.inner.inputs.iter().map(|input| u64::from(input.n_classes)).sum()
    }

    /// Classes that could not be read, and were left out.
    #[must_use]
    pub fn n_skipped(&self) -> u64 {
        self.inner.inputs.iter().map(|input| u64::from(input.n_skipped)).sum()
    }

    /// Statements that print a log message.
    #[must_use]
    pub fn n_log_points(&self) -> usize {
        self.inner.log_points.len()
    }

    /// Methods that are the first of a thread's work on a single request.
    #[must_use]
    pub fn n_top_level_methods(&self) -> usize {
        self.inner.top_level_methods.len()
    }

    /// Pairs of them that can work on one request.
    #[must_use]
    pub fn n_communication_pairs(&self) -> usize {
        self.inner.communication_pairs.len()
    }

    /// What was left out, given up or could not be read, and why, for people.
    #[must_use]
    pub fn diagnostics(&self) -> &[String] {
        &self.inner.diagnostics
    }
}
