//! `lprof sql`: questions to a request table.

use std::process::ExitCode;

use anyhow::Result;

use crate::args::SqlArgs;
use crate::output::Voice;

#[cfg(feature = "sql")]
pub(crate) fn run(args: &SqlArgs, voice: Voice) -> Result<ExitCode> {
    let manifest = reducer::table::Manifest::read(&args.table)?;
    if let Some(damage) = &manifest.damage {
        voice.say(&format!("warning: {damage}; the state before it is shown"));
    }
    let joins = if args.nested_loop { crate::query::Joins::Nested } else { crate::query::Joins::ByRequest };
    crate::query::run(&manifest, args.query.as_deref(), args.format, joins)?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(not(feature = "sql"))]
pub(crate) fn run(args: &SqlArgs, _voice: Voice) -> Result<ExitCode> {
    anyhow::bail!(
        "this lprof was built without SQL; build it with `cargo build --features sql`, or read `{}` with any engine that reads Parquet",
        args.table.display(),
    )
}
