//! Faults as clients of PostgreSQL know them: a code of five letters, SQLSTATE, and a message.

use datafusion::common::SchemaError;
use datafusion::error::DataFusionError;
use datafusion_postgres::pgwire::error::{ErrorInfo, PgWireError};

use crate::query::limits::{GivenUp, Limiter};

/// A fault of a query.
pub(super) fn fault(code: &str, message: impl Into<String>) -> PgWireError {
    PgWireError::UserError(Box::new(ErrorInfo::new("ERROR".to_owned(), code.to_owned(), message.into())))
}

/// A fault that ends the connection.
pub(super) fn fatal(code: &str, message: &str) -> PgWireError {
    let info = ErrorInfo::new("FATAL".to_owned(), code.to_owned(), message.to_owned());
    PgWireError::UserError(Box::new(info))
}

impl From<GivenUp> for PgWireError {
    fn from(why: GivenUp) -> Self {
        let code = match why {
            GivenUp::Time(_) => "57014",
            GivenUp::Memory(_) => "53200",
            GivenUp::Panic => "XX000",
        };
        fault(code, why.to_string())
    }
}

/// A fault of ours.
pub(super) fn of(error: crate::error::Error) -> PgWireError {
    match error.cause::<GivenUp>() {
        Some(why) => (*why).into(),
        None => fault("XX000", format!("{error:#}")),
    }
}

/// Names an error of the engine.
pub(super) fn name(error: &mut PgWireError, limiter: &Limiter) {
    let PgWireError::ApiError(inner) = error else { return };
    let named = match inner.downcast_ref::<DataFusionError>().map(DataFusionError::find_root) {
        Some(DataFusionError::ResourcesExhausted(_)) => limiter.out_of_memory().into(),
        Some(DataFusionError::External(why)) if why.is::<GivenUp>() => {
            why.downcast_ref::<GivenUp>().copied().map_or_else(|| fault("XX000", why.to_string()), Into::into)
        }
        Some(root) => fault(code(root), message(root)),
        // What cannot be parsed comes as the parser's own error.
        None => fault("42601", inner.to_string()),
    };
    *error = named;
}

/// What is wrong, in the words of PostgreSQL where clients look for these.
fn message(error: &DataFusionError) -> String {
    match error {
        DataFusionError::SchemaError(of, _) => match &**of {
            SchemaError::FieldNotFound { field, .. } => {
                let name = field.flat_name();
                let quoted = if name.contains('.') { name } else { format!("\"{name}\"") };
                format!("column {quoted} does not exist")
            }
            _ => error.strip_backtrace(),
        },
        DataFusionError::Plan(message) => {
            let table = message.strip_prefix("table '").and_then(|rest| rest.strip_suffix("' not found"));
            match table.and_then(|table| table.rsplit('.').next()) {
                Some(table) => format!("relation \"{table}\" does not exist"),
                None => error.strip_backtrace(),
            }
        }
        _ => error.strip_backtrace(),
    }
}

fn code(error: &DataFusionError) -> &'static str {
    match error {
        DataFusionError::SQL(..) => "42601",
        DataFusionError::NotImplemented(_) => "0A000",
        DataFusionError::SchemaError(of, _) => match **of {
            SchemaError::FieldNotFound { .. } => "42703",
            _ => "42702",
        },
        DataFusionError::Plan(message) if message.starts_with("table '") => "42P01",
        DataFusionError::Plan(message) if message.starts_with("Invalid function") => "42883",
        DataFusionError::Plan(_) | DataFusionError::Configuration(_) => "42000",
        DataFusionError::ArrowError(of, _) if of.to_string().contains("ivide by zero") => "22012",
        DataFusionError::Execution(of) if of == "division by zero" => "22012",
        DataFusionError::Execution(of) if of.starts_with("more than one row returned") => "21000",
        DataFusionError::Execution(of) if of.starts_with("unrecognized configuration parameter") => "42704",
        DataFusionError::Execution(of) if of.starts_with("relation \"") => "42P01",
        DataFusionError::Execution(of) if of.starts_with("type \"") => "42704",
        DataFusionError::Execution(of) if of.ends_with("out of range") => "22003",
        DataFusionError::Execution(of) if of.starts_with("invalid input syntax") => "22P02",
        DataFusionError::ArrowError(..) | DataFusionError::Execution(_) => "22000",
        DataFusionError::External(why) if why.to_string().starts_with("regex parse error") => "2201B",
        DataFusionError::ParquetError(_) | DataFusionError::ObjectStore(_) | DataFusionError::IoError(_) => {
            "58030"
        }
        _ => "XX000",
    }
}
