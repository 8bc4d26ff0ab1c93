//! What stops an analysis: class paths that cannot be read. Bad classes and
//! methods do not; they are counted and named in the diagnostics.

use std::fmt;
use std::path::{Path, PathBuf};

/// Why an analysis could not be made.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    path: PathBuf,
    detail: String,
    source: Option<std::io::Error>,
}

/// The kind of an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A file or folder could not be read.
    Io,
    /// A file is no jar, or a broken one.
    Format,
    /// A bound of [`crate::limits`] is exceeded.
    Limit,
    /// There is not a single class to analyse.
    Empty,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, path: &Path, detail: impl Into<String>) -> Self {
        Self { kind, path: path.to_path_buf(), detail: detail.into(), source: None }
    }

    pub(crate) fn io(path: &Path, source: std::io::Error) -> Self {
        Self { kind: ErrorKind::Io, path: path.to_path_buf(), detail: String::new(), source: Some(source) }
    }

    /// What kind of problem it is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The file or folder it is about.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            Some(source) => write!(f, "cannot read `{}`: {source}", self.path.display()),
            None => write!(f, "`{}`: {}", self.path.display(), self.detail),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|e| e as _)
    }
}
