//! `lprof serve`: a table in a browser, and for the pages of Jaeger: one process, on this machine
//! only, that can only read.
//!
//! ```text
//! connections ─▶ guard ─▶ api ──────▶ requests, overview   columns of the table, in memory
//! http, limits   Host,    jaeger ───▶ table                one request, read from its files
//!                Origin   page        sql                  the engine, within limits
//! ```
//! There is no password, so what does not come from this machine is refused: addresses other than
//! those of loopback, names of hosts that are not this one (DNS rebinding), and requests that the
//! page of another site makes a browser send.

mod api;
mod connections;
mod guard;
mod http;
mod jaeger;
mod overview;
mod page;
mod requests;
mod shown;

use std::io::Write as _;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use crate::output::{self, Voice};
use crate::table::Table;
use requests::Columns;

/// Memory of the SQL engine for all queries together; it spills beyond it.
#[cfg(feature = "sql")]
const SQL_BYTES_MAX: usize = 192 << 20;
/// Queries that run at a time; others wait.
#[cfg(feature = "sql")]
const QUERIES_MAX: usize = 4;

/// What is served.
struct Served {
    table: Table,
    columns: Columns,
    #[cfg(feature = "sql")]
    session: crate::query::Session,
    #[cfg(feature = "sql")]
    queries: connections::Places,
    #[cfg_attr(not(feature = "sql"), expect(dead_code, reason = "queries alone can take long"))]
    timeout: Duration,
}

/// Serves the table in `folder` at `http` until the process ends.
pub(crate) fn serve(folder: &Path, http: SocketAddr, timeout: Duration, voice: Voice) -> Result<()> {
    if !http.ip().is_loopback() {
        bail!(
            "{http}: only addresses of this machine, e.g. 127.0.0.1:8088, since there is no password; \
             from another one go through `ssh -L 8088:127.0.0.1:8088`"
        );
    }
    let table = Table::open(folder)?;
    if let Some(damage) = table.damage() {
        voice.say(&format!("warning: {damage}; the state before it is served"));
    }
    table.index()?;
    let served = Arc::new(Served {
        columns: Columns::read(&table)?,
        #[cfg(feature = "sql")]
        session: crate::query::Session::with_memory(
            table.manifest(),
            crate::query::Joins::ByRequest,
            SQL_BYTES_MAX,
        )?,
        #[cfg(feature = "sql")]
        queries: connections::Places::new(QUERIES_MAX),
        table,
        timeout,
    });
    let listener = TcpListener::bind(http).with_context(|| format!("{http}"))?;
    let address = listener.local_addr()?;
    let mut out = output::stdout();
    writeln!(out, "page: http://{address}/")?;
    out.flush()?;
    drop(out);
    connections::accept(&listener, &served)
}
