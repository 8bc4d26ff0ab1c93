//! SQL over the request table: a session that knows the table's files and
//! nothing else, and can only read.
//!
//! Refused before anything runs: definitions, changes, `COPY`, `SET`, several
//! statements, files by name. A panic in the engine is one failed query.

#[cfg(feature = "serve")]
mod answers;
mod bounds;
mod dialect;
mod faults;
mod halves;
mod happened_before;
mod language;
mod limits;
mod log_points;
mod places;
#[cfg(feature = "postgres")]
pub(crate) mod postgres;
mod prompt;
mod row_names;
mod session;
mod sketches;
mod spill;
mod values;

use std::collections::BTreeSet;
use std::io::{IsTerminal as _, Read as _, Write as _};

use reducer::table::Manifest;

use crate::error::{Context as _, Error, ErrorKind, Result, bail};
use crate::output;
use crate::render::{Format, neutral};
use crate::table::{Filter, Table};
pub(crate) use halves::{check as check_aggregate, first_half, print_second_half};
pub use limits::Limits;
pub(crate) use session::Joins;
pub use session::{Batches, Session};

/// Threads of the engine need room: its planner recurses with the query.
const STACK_BYTES: usize = 64 << 20;
/// Longest query.
pub(crate) const QUERY_BYTES_MAX: usize = 1 << 20;

/// Runs `query`, or those that come from a prompt or a pipe.
pub(crate) fn run(
    manifest: &Manifest,
    query: Option<&str>,
    format: Option<Format>,
    joins: Joins,
    limits: Limits,
) -> Result<()> {
    let run = || -> Result<()> {
        let session = Session::open(manifest, joins, limits)?;
        match query {
            Some(query) => session.print(query, output::format(format)),
            None if std::io::stdin().is_terminal() => prompt::run(&session, format),
            None => {
                let mut text = String::new();
                std::io::stdin()
                    .take(QUERY_BYTES_MAX as u64 + 1)
                    .read_to_string(&mut text)
                    .context("standard input")?;
                session.print(&text, output::format(format))
            }
        }
    };
    in_thread(run)
}

/// How a query in the language of Pivot Tracing is asked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asking {
    /// Form of the rows; none: the one that fits.
    pub(crate) format: Option<Format>,
    /// Print the SQL that it becomes, and ask nothing.
    pub(crate) show_sql: bool,
    /// Print the rewrites and the plan, and ask nothing.
    pub(crate) explain: bool,
    /// Without rewrites, of each two events.
    pub(crate) unoptimized: bool,
    pub(crate) limits: Limits,
}

/// Asks `text`, a query in the language of Pivot Tracing.
pub(crate) fn ask(manifest: &Manifest, text: &str, how: &Asking) -> Result<()> {
    if text.len() > QUERY_BYTES_MAX {
        bail!(Limit: "a query has at most {QUERY_BYTES_MAX} bytes, this one {}", text.len());
    }
    let catalog = log_points::catalog(manifest)?;
    let compiled = language::compile(text, &catalog, !how.unoptimized)
        .map_err(|fault| Error::new(ErrorKind::Invalid, fault.show(text)))?;
    if how.show_sql {
        let mut out = output::stdout();
        writeln!(out, "{};", compiled.sql)?;
        return Ok(out.flush()?);
    }
    let joins = if how.unoptimized { Joins::Nested } else { Joins::ByRequest };
    in_thread(|| {
        let session = Session::open(manifest, joins, how.limits)?;
        if !how.explain {
            return session.print(&compiled.sql, output::format(how.format));
        }
        let mut out = output::stdout();
        for rule in &compiled.rules {
            writeln!(out, "rewrite: {}", neutral(rule))?;
        }
        out.flush()?;
        drop(out);
        session.print(&format!("EXPLAIN {}", compiled.sql), output::format(how.format))
    })
}

impl Filter {
    /// The requests of `table` for which `condition` holds, an expression in SQL on the columns of
    /// `requests`. With the feature `sql`.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("t");
    /// # let name = path.to_str().expect("UTF-8");
    /// # lprof::run(["lprof", "run", "-q", "--table", name, "samples/classes/java17/store.jar", "samples/logs"]);
    /// let table = lprof::Table::open(&path)?;
    /// let slow = lprof::Filter::condition(&table, "duration_us > 10000")?;
    /// for request in table.requests(&slow)? {
    ///     assert!(request?.row().duration_us > 10_000);
    /// }
    /// let error = lprof::Filter::condition(&table, "no_column > 1").err().expect("it is no condition");
    /// assert_eq!(error.kind(), lprof::ErrorKind::Invalid);
    /// # Ok::<(), lprof::Error>(())
    /// ```
    ///
    /// # Errors
    /// It is none.
    pub fn condition(table: &Table, condition: &str) -> Result<Self> {
        Ok(Self::Ids(requests_that(table.manifest(), condition)?))
    }
}

/// Ids of the requests for which `condition` holds, an expression on the columns of `requests`.
pub(crate) fn requests_that(manifest: &Manifest, condition: &str) -> Result<BTreeSet<u128>> {
    in_thread(|| {
        let session = Session::open(manifest, Joins::ByRequest, Limits::default())?;
        // On lines of its own, so that a comment in it ends nothing.
        let query = format!("SELECT request_id FROM requests WHERE (\n{condition}\n)");
        let (mut ids, mut other) = (BTreeSet::new(), None);
        session.each_text(&query, &mut |id| match u128::from_str_radix(id, 16) {
            Ok(id) => _ = ids.insert(id),
            Err(_) => other = Some(id.to_owned()),
        })?;
        if let Some(id) = other {
            bail!(Damaged: "`{id}` is no id of a request");
        }
        Ok(ids)
    })
}

/// Runs `run` where the engine has room; a panic of it is a failed query.
fn in_thread<T: Send>(run: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    std::thread::scope(|scope| {
        let worker = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, run)?;
        match worker.join() {
            Ok(result) => result,
            Err(_) => Err(limits::GivenUp::Panic.into()),
        }
    })
}
