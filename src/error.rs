//! The error of the library: what kind of fault it is, for programs, and a sentence, for people.

use std::error::Error as StdError;
use std::fmt;

/// `Result` with [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong. It is shown as a sentence that names the file, the request or the text it is
/// about, and holds its causes; a fault in a query is shown in several lines, with the place.
///
/// ```
/// use std::path::Path;
/// use lprof::{ErrorKind, Table};
///
/// let error = Table::open(Path::new("no/such/table")).err().expect("it is not there");
/// assert_eq!(error.kind(), ErrorKind::NotFound);
/// assert!(error.to_string().contains("no/such/table"), "{error}");
/// ```
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    /// None where the cause says it all.
    message: Option<String>,
    cause: Option<Box<dyn StdError + Send + Sync>>,
}

/// The kind of an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A file, a folder or a request that is not there.
    NotFound,
    /// The operating system refused something else: a full disk, a file that may not be read.
    Io,
    /// A file or folder is not what is expected there: a table, a model, a jar.
    NotOurs,
    /// A file is of another version of lprof: it is to be made again.
    Version,
    /// A file is damaged or half written.
    Damaged,
    /// Another process writes the table.
    Busy,
    /// There is nothing to work on: no class in the class path, no record in the logs.
    Empty,
    /// What was given cannot be used: a layout, a zone, a query that is none or does not only read.
    Invalid,
    /// What was given does not belong together: spans of another model, a table that was made otherwise.
    Mismatch,
    /// It takes more than it may: time, memory, depth.
    Limit,
    /// This lprof was built without a feature that it needs.
    Unsupported,
    /// A fault of lprof itself, or of its SQL engine.
    Internal,
}

impl Error {
    /// One that says `message`.
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner { kind, message: Some(message.into()), cause: None }))
    }

    /// One that says what `cause` says.
    pub(crate) fn of(kind: ErrorKind, cause: impl StdError + Send + Sync + 'static) -> Self {
        Self(Box::new(Inner { kind, message: None, cause: Some(Box::new(cause)) }))
    }

    /// What kind of fault it is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The first of its causes that is a `T`.
    #[cfg(any(feature = "postgres", all(test, feature = "sql")))]
    pub(crate) fn cause<T: StdError + 'static>(&self) -> Option<&T> {
        causes(self).find_map(<dyn StdError>::downcast_ref)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let causes = causes(self).map(ToString::to_string);
        f.write_str(&sentence(self.0.message.clone().into_iter().chain(causes)))
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {self}", self.0.kind)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.cause.as_ref().map(|cause| &**cause as _)
    }
}

/// The causes of `error`, each that of the one before.
fn causes(error: &Error) -> impl Iterator<Item = &(dyn StdError + 'static)> {
    let mut next = error.source();
    std::iter::from_fn(move || {
        let cause = next?;
        next = cause.source();
        Some(cause)
    })
}

/// An error and its causes in one sentence. Our own errors say their cause themselves, so that a cause
/// that was just said is not said again.
pub(crate) fn sentence(causes: impl Iterator<Item = String>) -> String {
    let mut message = String::new();
    for cause in causes {
        if message.is_empty() {
            message = cause;
        } else if !message.ends_with(&cause) {
            message = format!("{message}: {cause}");
        }
    }
    message
}

/// The kind of an error that is not ours, as far as that can be told of it.
fn kind_of(error: &(dyn StdError + 'static)) -> ErrorKind {
    if let Some(error) = error.downcast_ref::<Error>() {
        return error.kind();
    }
    if let Some(error) = error.downcast_ref::<std::io::Error>() {
        return match error.kind() {
            std::io::ErrorKind::NotFound => ErrorKind::NotFound,
            std::io::ErrorKind::NotADirectory | std::io::ErrorKind::IsADirectory => ErrorKind::NotOurs,
            std::io::ErrorKind::ResourceBusy => ErrorKind::Busy,
            std::io::ErrorKind::OutOfMemory => ErrorKind::Limit,
            _ => ErrorKind::Io,
        };
    }
    if let Some(error) = error.downcast_ref::<schema::Error>() {
        return match error.kind() {
            schema::ErrorKind::Io(error) => kind_of(error),
            schema::ErrorKind::NotOurs { .. } => ErrorKind::NotOurs,
            schema::ErrorKind::Version { .. } => ErrorKind::Version,
            schema::ErrorKind::Damaged { .. } => ErrorKind::Damaged,
            schema::ErrorKind::Mismatch { .. } => ErrorKind::Mismatch,
            _ => ErrorKind::Internal,
        };
    }
    if let Some(error) = error.downcast_ref::<static_analyzer::Error>() {
        use static_analyzer::error::ErrorKind as Kind;
        return match error.kind() {
            Kind::Io => error.source().map_or(ErrorKind::Io, kind_of),
            Kind::Format => ErrorKind::NotOurs,
            Kind::Limit => ErrorKind::Limit,
            Kind::Empty => ErrorKind::Empty,
            _ => ErrorKind::Internal,
        };
    }
    ErrorKind::Invalid
}

macro_rules! from {
    ($($error:ty),* $(,)?) => {
        // Who uses the library does not meet them.
        $(#[doc(hidden)]
        impl From<$error> for Error {
            fn from(error: $error) -> Self {
                Self::of(kind_of(&error), error)
            }
        })*
    };
}

from!(schema::Error, static_analyzer::Error);

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Self::of(kind_of(&error), error)
    }
}

/// Says of what fails what it is about.
pub(crate) trait Context<T> {
    /// Says `what`, before the cause.
    fn context(self, what: impl fmt::Display) -> Result<T>;

    /// The same, made when it is needed.
    fn with_context<D: fmt::Display>(self, what: impl FnOnce() -> D) -> Result<T>;
}

impl<T, E: StdError + Send + Sync + 'static> Context<T> for Result<T, E> {
    fn context(self, what: impl fmt::Display) -> Result<T> {
        self.with_context(|| what)
    }

    fn with_context<D: fmt::Display>(self, what: impl FnOnce() -> D) -> Result<T> {
        self.map_err(|error| {
            let (kind, message) = (kind_of(&error), Some(what().to_string()));
            Error(Box::new(Inner { kind, message, cause: Some(Box::new(error)) }))
        })
    }
}

/// Of nothing: what should be there is not.
impl<T> Context<T> for Option<T> {
    fn context(self, what: impl fmt::Display) -> Result<T> {
        self.with_context(|| what)
    }

    fn with_context<D: fmt::Display>(self, what: impl FnOnce() -> D) -> Result<T> {
        self.ok_or_else(|| Error::new(ErrorKind::NotFound, what().to_string()))
    }
}

/// Returns an [`Error`] with a text as of `format!`; before it a colon and the kind, where it is not
/// that something which was given cannot be used.
macro_rules! bail {
    ($kind:ident: $($text:tt)*) => {
        return Err($crate::error::Error::new($crate::error::ErrorKind::$kind, format!($($text)*)))
    };
    ($($text:tt)*) => {
        return Err($crate::error::Error::new($crate::error::ErrorKind::Invalid, format!($($text)*)))
    };
}

pub(crate) use bail;

#[cfg(test)]
mod tests {
    use super::{Context as _, Error, ErrorKind, Result};

    #[test]
    fn a_cause_is_said_once() {
        let refused = || std::io::Error::from(std::io::ErrorKind::PermissionDenied);
        let of_file = || schema::Error::io(std::path::Path::new("a"))(refused());
        for (error, expected) in [
            (Error::from(refused()), "permission denied"),
            (Error::from(of_file()), "`a`: permission denied"),
            (Err::<(), _>(of_file()).context("b").expect_err("it is"), "b: `a`: permission denied"),
            (
                Err::<(), _>(refused()).context("b").context("c").expect_err("it is"),
                "c: b: permission denied",
            ),
        ] {
            assert_eq!((error.kind(), &*error.to_string()), (ErrorKind::Io, expected));
            assert_eq!(format!("{error:?}"), format!("Io: {expected}"));
        }
    }

    #[test]
    fn kinds_are_those_of_the_cause() {
        let of = |kind| Error::from(std::io::Error::from(kind)).kind();
        assert_eq!(of(std::io::ErrorKind::NotFound), ErrorKind::NotFound);
        assert_eq!(of(std::io::ErrorKind::ResourceBusy), ErrorKind::Busy);
        let inner: Result<()> = Err(Error::new(ErrorKind::Limit, "too deep"));
        assert_eq!(inner.context("a").expect_err("it is").kind(), ErrorKind::Limit);
        assert_eq!("x".parse::<u8>().context("a").expect_err("it is").kind(), ErrorKind::Invalid);
        assert_eq!(None::<u8>.context("a").expect_err("it is").kind(), ErrorKind::NotFound);
    }
}
