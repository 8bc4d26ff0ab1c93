//! `lprof serve`: a table in a browser, and for the pages of Jaeger: one process, on this machine
//! only, that can only read.
//!
//! ```text
//! connections ─▶ guard ─▶ api ──────▶ overview, list       blocks and intervals of its indexes
//! http, limits   Host,    jaeger ───▶ table, profile       requests, read from its files
//!                Origin   page        sql                  the engine, within limits
//! ```
//! There is no password, so what does not come from this machine is refused: addresses other than
//! those of loopback, names of hosts that are not this one (DNS rebinding), and requests that the
//! page of another site makes a browser send.

mod about;
mod api;
mod chosen;
mod compare;
mod connections;
mod coverage;
mod guard;
mod http;
mod jaeger;
mod kept;
mod list;
mod live;
mod order;
mod overview;
#[cfg(feature = "postgres")]
mod postgres;
mod profile;
mod requests;
#[cfg(test)]
mod types;

use std::io::Write as _;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use crate::error::{Context as _, Result, bail};

use crate::output::{self, Voice};
use crate::request::{Logs, Messages, Packed};
use crate::table::Table;
use crate::table::indexed::Indexes;
use about::About;
use kept::Kept;
use live::Live;

/// Queries that run at a time; others wait.
#[cfg(feature = "sql")]
const QUERIES_MAX: usize = 4;

/// What is served, and how.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "postgres"), expect(dead_code, reason = "what a build has not is refused"))]
pub(crate) struct Options {
    /// Folder of the table.
    pub(crate) table: PathBuf,
    /// Folder of a table that it is compared with.
    pub(crate) first: Option<PathBuf>,
    /// Address of the page and of its API.
    pub(crate) http: SocketAddr,
    /// Address at which the protocol of PostgreSQL is answered.
    pub(crate) postgres: Option<SocketAddr>,
    /// A file whose first line is its password.
    pub(crate) password_file: Option<PathBuf>,
    /// Its certificate and those that vouch for it, PEM.
    pub(crate) tls_certificate: Option<PathBuf>,
    /// The private key of that, PEM.
    pub(crate) tls_key: Option<PathBuf>,
    /// Longest time of a query.
    pub(crate) timeout: Duration,
    /// Memory of all queries together, in bytes.
    pub(crate) memory: usize,
}

/// Bytes of packed logs that are unpacked for one answer, a part of a second; one after the other, and so
/// from where the one before has come to. What stands further behind is made from templates.
const UNPACKED_BYTES_MAX: u64 = 64 << 20;

/// What is served.
struct Served {
    table: Table,
    /// The table that it is compared with, as it was at first.
    first: Option<Arc<Table>>,
    about: OnceLock<About>,
    kept: Kept,
    messages: OnceLock<Arc<Messages>>,
    packed: Arc<Mutex<Packed>>,
    #[cfg(feature = "sql")]
    session: crate::query::Session,
}

/// Serves a table until the process ends.
pub(crate) fn serve(args: &Options, voice: Voice) -> Result<()> {
    let http = args.http;
    if !http.ip().is_loopback() {
        bail!(
            "{http}: only addresses of this machine, e.g. 127.0.0.1:8088, since there is no password; \
             from another one go through `ssh -L 8088:127.0.0.1:8088`"
        );
    }
    #[cfg(feature = "postgres")]
    let postgres = args.postgres.map(|address| postgres::Door::new(address, args)).transpose()?;
    #[cfg(not(feature = "postgres"))]
    if let Some(address) = args.postgres {
        bail!(
            "this lprof was built without the protocol of PostgreSQL, so it cannot answer at {address}; \
             build it with `cargo build --features postgres`"
        );
    }
    let table = Table::open(&args.table)?;
    if let Some(damage) = table.damage() {
        voice.say(&format!("warning: {damage}; the state before it is served"));
    }
    let served = Arc::new(Served::new(table, args, None)?);
    // Who asks in SQL over a connection that stays sees one state of the table, as it was then.
    #[cfg(feature = "postgres")]
    let _first = Arc::clone(&served);
    let listener = TcpListener::bind(http).with_context(|| format!("{http}"))?;
    let mut out = output::stdout();
    writeln!(out, "page: http://{}/", listener.local_addr()?)?;
    #[cfg(feature = "postgres")]
    if let Some(door) = postgres {
        writeln!(out, "postgres: {}", door.open(&served)?)?;
    }
    out.flush()?;
    drop(out);
    connections::accept(&listener, &Live::follow(served, args.clone(), voice)?)
}

impl Served {
    /// What is needed to answer from a table, of which another state may have been served.
    fn new(table: Table, args: &Options, before: Option<&Self>) -> Result<Self> {
        #[cfg(not(feature = "sql"))]
        let _ = args;
        table.open_indexes(before.map(|before| &before.table))?;
        let first = match (before, &args.first) {
            (Some(before), _) => before.first.clone(),
            (None, Some(folder)) => {
                let first = Table::open(folder)?;
                first.open_indexes(None)?;
                Some(Arc::new(first))
            }
            (None, None) => None,
        };
        Ok(Self {
            first,
            about: OnceLock::new(),
            kept: Kept::new(rayon::current_num_threads()),
            messages: OnceLock::new(),
            packed: Arc::default(),
            #[cfg(feature = "sql")]
            session: crate::query::Session::with_limits(&table, limits(args))?,
            table,
        })
    }

    /// The indexes of its files.
    fn indexes(&self) -> &Indexes {
        self.table.indexes().expect("they were opened first of all")
    }

    /// Its logs, for one answer.
    fn logs(&self) -> Logs {
        let messages = self.messages.get_or_init(|| Arc::new(Messages::read(self.table.manifest())));
        Logs::bounded(Arc::clone(messages), Arc::clone(&self.packed), UNPACKED_BYTES_MAX)
    }

    /// What it holds at all.
    fn about(&self) -> Result<&About> {
        if let Some(about) = self.about.get() {
            return Ok(about);
        }
        let about = About::new(self.indexes())?;
        // Somebody else may have been quicker; it is the same.
        Ok(self.about.get_or_init(|| about))
    }
}

/// What queries of all who ask may take together.
#[cfg(feature = "sql")]
fn limits(args: &Options) -> crate::query::Limits {
    let timeout = Some(args.timeout);
    crate::query::Limits { memory_bytes: args.memory, timeout, at_once: QUERIES_MAX }
}
