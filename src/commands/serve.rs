//! `lprof serve`: a table in a browser.

use std::process::ExitCode;

use anyhow::Result;

use crate::args::ServeArgs;
use crate::output::Voice;

#[cfg(feature = "serve")]
pub(crate) fn run(args: &ServeArgs, voice: Voice) -> Result<ExitCode> {
    crate::serve::serve(&args.clone().into(), voice)?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(not(feature = "serve"))]
pub(crate) fn run(args: &ServeArgs, _voice: Voice) -> Result<ExitCode> {
    let ServeArgs { table, http, .. } = args;
    anyhow::bail!(
        "this lprof was built without a server, so `{}` cannot be served at {http}; build it with \
         `cargo build --features serve`",
        table.display(),
    )
}
