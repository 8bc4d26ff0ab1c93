//! SQL over the request table: a session that knows the table's files and
//! nothing else, and can only read.
//!
//! Refused before anything runs: definitions, changes, `COPY`, `SET`, several
//! statements, files by name. A panic in the engine is one failed query.

mod prompt;
mod session;
mod values;

use std::io::{IsTerminal as _, Read as _};

use anyhow::{Context as _, Result, bail};
use reducer::table::Manifest;

use crate::args::Format;
use crate::output;
use session::Session;

/// Threads of the engine need room: its planner recurses with the query.
const STACK_BYTES: usize = 64 << 20;
/// Longest query.
const QUERY_BYTES_MAX: usize = 1 << 20;

/// Runs `query`, or those that come from a prompt or a pipe.
pub(crate) fn run(manifest: &Manifest, query: Option<&str>, format: Option<Format>) -> Result<()> {
    let run = || -> Result<()> {
        let session = Session::open(manifest)?;
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
    std::thread::scope(|scope| {
        let worker = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, run)?;
        match worker.join() {
            Ok(result) => result,
            Err(_) => bail!("the SQL engine gave up on this query"),
        }
    })
}
