//! lprof tells what every request of a JVM distributed system did, from the logs it already
//! writes. This is what its command is made of, for programs that want the requests themselves:
//! a [`Table`] that `lprof run` or `lprof reduce` has written, the [`Request`]s in it as trees of
//! spans with their events, hand-overs and critical path, and, with the feature `sql`, a
//! [`Session`] that answers SQL in batches of Arrow.
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("t");
//! # let table = path.to_str().expect("UTF-8");
//! # lprof::run(["lprof", "run", "-q", "--table", table, "samples/classes/java17/store.jar", "samples/logs"]);
//! use lprof::{Filter, Table};
//!
//! let table = Table::open(&path)?;
//! let mut longest = None;
//! for request in table.requests(&Filter::All)? {
//!     let request = request?;
//!     let length = request.critical_path().len();
//!     if longest.as_ref().is_none_or(|(most, _)| length > *most) {
//!         longest = Some((length, request.row().request_id.clone()));
//!     }
//! }
//! let (length, id) = longest.expect("the sample has requests");
//! assert!(length > 1);
//!
//! // Its spans, each with its depth in the tree and what it printed.
//! let request = table.request(&id)?;
//! let mut rest: Vec<(usize, usize)> = request.roots().map(|root| (root, 0)).collect();
//! let mut n_events = 0;
//! while let Some((at, depth)) = rest.pop() {
//!     let span = &request.spans()[at];
//!     println!("{}{} on {}", "  ".repeat(depth), span.row.top_level_method, span.row.node);
//!     n_events += span.events.len();
//!     rest.extend(request.children(at).map(|child| (child, depth + 1)));
//! }
//! assert_eq!(n_events as i64, request.row().n_events);
//! # Ok::<(), anyhow::Error>(())
//! ```

mod args;
mod commands;
mod evaluation;
mod export;
mod nodes;
mod output;
mod page;
mod profile;
mod progress;
#[cfg(feature = "sql")]
mod query;
mod render;
mod request;
#[cfg(feature = "serve")]
mod serve;
mod table;

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use clap::Parser as _;

pub use export::{TraceFormat, export};
#[cfg(feature = "sql")]
pub use query::{Batches, Limits, Session};
pub use request::{Logs, PathPart, Request, Span, Wait};
/// Rows of the tables, as Rust values and as columns.
pub use schema::tables as rows;
pub use table::{Filter, Requests, Table};

/// Does what the command `lprof` does with these arguments, the first of which is its name, and
/// says what there is to say on standard output and standard error. The exit code is 0: done,
/// 1: failed, 2: wrong usage. A closed pipe is no failure: who reads has enough.
pub fn run(arguments: impl IntoIterator<Item = impl Into<OsString>>) -> ExitCode {
    let arguments = arguments.into_iter().map(Into::into);
    let args = match args::Args::try_parse_from(args::typed(arguments)) {
        Ok(args) => args,
        Err(message) => {
            // Help and version are answers, not mistakes; clap knows which.
            let _ = message.print();
            return ExitCode::from(u8::try_from(message.exit_code()).unwrap_or(2));
        }
    };
    match commands::run(args) {
        Ok(code) => code,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let text = match error.downcast_ref::<commands::InText>() {
                Some(fault) => fault.0.clone(),
                None => sentence(&error),
            };
            let message = text.lines().map(render::neutral).collect::<Vec<_>>().join("\n");
            let _ = writeln!(std::io::stderr(), "lprof: {message}");
            ExitCode::from(if error.is::<commands::Usage>() { 2 } else { 1 })
        }
    }
}

/// The chain of causes in one line. Our own errors say their cause themselves,
/// so a cause that was just said is not said again.
fn sentence(error: &anyhow::Error) -> String {
    let mut message = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if message.is_empty() {
            message = cause;
        } else if !message.ends_with(&cause) {
            message = format!("{message}: {cause}");
        }
    }
    message
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let is_pipe = |e: &std::io::Error| e.kind() == std::io::ErrorKind::BrokenPipe;
    error.chain().filter_map(|cause| cause.downcast_ref::<std::io::Error>()).any(is_pipe)
}
