//! Faults of the engine as those of the library: what kind they are of, and what is said of them.

use datafusion::arrow::error::ArrowError;
use datafusion::error::DataFusionError;
use rustyline::error::ReadlineError;
use tokio::sync::AcquireError;

use super::limits::GivenUp;
use crate::error::{Error, ErrorKind};

#[doc(hidden)]
impl From<GivenUp> for Error {
    fn from(why: GivenUp) -> Self {
        let kind = match why {
            GivenUp::Time(_) | GivenUp::Memory(_) => ErrorKind::Limit,
            GivenUp::Panic => ErrorKind::Internal,
        };
        Self::of(kind, why)
    }
}

#[doc(hidden)]
impl From<DataFusionError> for Error {
    /// A limit speaks for itself.
    fn from(error: DataFusionError) -> Self {
        let kind = match error.find_root() {
            DataFusionError::External(why) => match why.downcast_ref::<GivenUp>() {
                Some(why) => return Self::from(*why),
                None => ErrorKind::Invalid,
            },
            DataFusionError::ResourcesExhausted(_) => ErrorKind::Limit,
            DataFusionError::IoError(_) | DataFusionError::ObjectStore(_) => ErrorKind::Io,
            DataFusionError::ParquetError(_) => ErrorKind::Damaged,
            DataFusionError::Internal(_) => ErrorKind::Internal,
            _ => ErrorKind::Invalid,
        };
        Self::of(kind, error)
    }
}

#[doc(hidden)]
impl From<ArrowError> for Error {
    fn from(error: ArrowError) -> Self {
        DataFusionError::from(error).into()
    }
}

#[doc(hidden)]
impl From<AcquireError> for Error {
    fn from(error: AcquireError) -> Self {
        Self::of(ErrorKind::Internal, error)
    }
}

#[doc(hidden)]
impl From<ReadlineError> for Error {
    fn from(error: ReadlineError) -> Self {
        Self::of(ErrorKind::Io, error)
    }
}
