//! Transactions of a session that only reads: where they begin and end, savepoints, and that nothing is
//! answered in one that has failed.

use std::sync::{Mutex, PoisonError};

use datafusion::sql::sqlparser::ast::{Ident, Statement};
use datafusion_postgres::hooks::HookClient;
use datafusion_postgres::pgwire::api::ClientInfo;
use datafusion_postgres::pgwire::api::results::{Response, Tag};
use datafusion_postgres::pgwire::error::{PgWireError, PgWireResult};
use datafusion_postgres::pgwire::messages::response::TransactionStatus;

use super::cursors::Cursors;
use super::faults::fault;

/// Savepoints of a transaction, the last one last.
#[derive(Default)]
pub(super) struct Savepoints(Mutex<Vec<String>>);

impl Savepoints {
    fn all(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many names there are up to the last one that is `name`.
    fn until(&self, name: &Ident) -> PgWireResult<usize> {
        let at = self.all().iter().rposition(|of| *of == named(name));
        at.map(|at| at + 1)
            .ok_or_else(|| fault("3B001", format!("savepoint \"{}\" does not exist", named(name))))
    }
}

/// A name as the language means it.
pub(super) fn named(name: &Ident) -> String {
    if name.quote_style.is_some() { name.value.clone() } else { name.value.to_lowercase() }
}

/// Why `statement` is not answered in a transaction that has failed.
pub(super) fn aborted(statement: &Statement, client: &dyn HookClient) -> Option<PgWireError> {
    let is_end = matches!(statement, Statement::Commit { .. } | Statement::Rollback { .. });
    let has_failed = client.transaction_status() == TransactionStatus::Error;
    (has_failed && !is_end).then(|| {
        let why = "current transaction is aborted, commands ignored until end of transaction block";
        fault("25P02", why)
    })
}

fn within(what: &str, client: &dyn HookClient) -> PgWireResult<()> {
    match client.transaction_status() {
        TransactionStatus::Idle => {
            Err(fault("25P01", format!("{what} can only be used in transaction blocks")))
        }
        _ => Ok(()),
    }
}

/// What becomes of a transaction; none: `statement` says nothing of one.
pub(super) fn answer(statement: &Statement, client: &dyn HookClient) -> Option<PgWireResult<Response>> {
    let savepoints = client.session_extensions().get_or_insert_with(Savepoints::default);
    let cursors = client.session_extensions().get_or_insert_with(Cursors::default);
    let done = |words: &str| Response::Execution(Tag::new(words));
    let end = |words: &str| {
        savepoints.all().clear();
        cursors.end();
        Response::TransactionEnd(Tag::new(words))
    };
    Some(match statement {
        Statement::StartTransaction { .. } => Ok(match client.transaction_status() {
            TransactionStatus::Idle => Response::TransactionStart(Tag::new("BEGIN")),
            _ => done("BEGIN"),
        }),
        Statement::Commit { .. } => Ok(match client.transaction_status() {
            TransactionStatus::Error => end("ROLLBACK"),
            TransactionStatus::Transaction => end("COMMIT"),
            TransactionStatus::Idle => done("COMMIT"),
        }),
        Statement::Rollback { savepoint: None, .. } => Ok(match client.transaction_status() {
            TransactionStatus::Idle => done("ROLLBACK"),
            _ => end("ROLLBACK"),
        }),
        // Nothing was done that could be undone.
        Statement::Rollback { savepoint: Some(name), .. } => {
            within("ROLLBACK TO SAVEPOINT", client).and_then(|()| savepoints.until(name)).map(|n| {
                savepoints.all().truncate(n);
                cursors.back_to(n);
                Response::TransactionStart(Tag::new("ROLLBACK"))
            })
        }
        Statement::Savepoint { name } => within("SAVEPOINT", client).map(|()| {
            savepoints.all().push(named(name));
            done("SAVEPOINT")
        }),
        Statement::ReleaseSavepoint { name } => {
            within("RELEASE SAVEPOINT", client).and_then(|()| savepoints.until(name)).map(|n| {
                savepoints.all().truncate(n - 1);
                done("RELEASE")
            })
        }
        _ => return None,
    })
}

/// Leads a transaction that has failed back to before that, if `statement` says so and there is such a
/// savepoint.
pub(super) fn revive(statement: &Statement, client: &mut (impl ClientInfo + ?Sized)) {
    if let Statement::Rollback { savepoint: Some(name), .. } = statement
        && client.transaction_status() == TransactionStatus::Error
        && client.session_extensions().get_or_insert_with(Savepoints::default).until(name).is_ok()
    {
        client.set_transaction_status(TransactionStatus::Transaction);
    }
}

/// How many savepoints there are.
pub(super) fn depth(client: &dyn HookClient) -> usize {
    client.session_extensions().get_or_insert_with(Savepoints::default).all().len()
}
