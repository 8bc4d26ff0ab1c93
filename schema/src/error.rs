//! The error of the contracts: a file that is not ours, not whole, or of
//! another version.

use std::fmt;
use std::path::{Path, PathBuf};

/// `Result` with [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong with which file.
#[derive(Debug)]
pub struct Error {
    path: PathBuf,
    kind: ErrorKind,
}

/// The ways a file can be unreadable.
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The operating system refused.
    Io(std::io::Error),
    /// The first bytes are not those of the expected kind of file.
    NotOurs {
        /// The kind of file expected, e.g. `model`.
        expected: &'static str,
    },
    /// Written by another version of the format.
    Version {
        /// The version this program reads.
        expected: u32,
        /// The version found.
        got: u32,
    },
    /// Checksum or length does not fit: half written or damaged.
    Damaged {
        /// Byte offset of the damage, as far as it is known.
        offset: u64,
        /// What did not fit.
        detail: String,
    },
    /// It is as it should be, but does not belong to what was given with it.
    Mismatch {
        /// What does not belong to what.
        detail: String,
    },
}

impl Error {
    /// An error of `kind` on `path`.
    #[must_use]
    pub fn new(path: &Path, kind: ErrorKind) -> Self {
        Self { path: path.to_owned(), kind }
    }

    /// An I/O error on `path`, for `map_err`.
    pub fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        move |e| Self::new(path, ErrorKind::Io(e))
    }

    /// A damaged file, for `map_err`.
    #[must_use]
    pub fn damaged(path: &Path, offset: u64, detail: impl fmt::Display) -> Self {
        Self::new(path, ErrorKind::Damaged { offset, detail: detail.to_string() })
    }

    /// What does not belong together.
    #[must_use]
    pub fn mismatch(path: &Path, detail: impl fmt::Display) -> Self {
        Self::new(path, ErrorKind::Mismatch { detail: detail.to_string() })
    }

    /// What went wrong.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.kind {
            ErrorKind::Io(e) => write!(f, "`{path}`: {e}"),
            ErrorKind::NotOurs { expected } => write!(f, "`{path}`: not a {expected} file of lprof"),
            ErrorKind::Version { expected, got } => {
                write!(
                    f,
                    "`{path}`: format version {got}, this lprof reads version {expected}; make the file again"
                )
            }
            ErrorKind::Damaged { offset, detail } => {
                write!(f, "`{path}`: damaged or half written at byte {offset}: {detail}")
            }
            ErrorKind::Mismatch { detail } => write!(f, "`{path}`: {detail}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            ErrorKind::Io(e) => Some(e),
            _ => None,
        }
    }
}
