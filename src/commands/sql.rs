//! `lprof sql`: questions to a request table.

use std::process::ExitCode;

use anyhow::Result;

use crate::args::SqlArgs;
#[cfg(feature = "sql")]
use crate::output;
use crate::output::Voice;

#[cfg(feature = "sql")]
pub(crate) fn run(args: &SqlArgs, voice: Voice) -> Result<ExitCode> {
    let Some(table) = &args.table else {
        let mut aggregates = Vec::new();
        for folder in &args.aggregates {
            aggregates.extend(schema::tables::read_aggregates(folder)?);
        }
        crate::query::print_second_half(aggregates, args.limits.limits(), output::format(args.format))?;
        return Ok(ExitCode::SUCCESS);
    };
    let manifest = reducer::table::Manifest::read(table)?;
    if let Some(damage) = &manifest.damage {
        voice.say(&format!("warning: {damage}; the state before it is shown"));
    }
    let joins = if args.nested_loop { crate::query::Joins::Nested } else { crate::query::Joins::ByRequest };
    crate::query::run(&manifest, args.query.as_deref(), args.format, joins, args.limits.limits())?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(not(feature = "sql"))]
pub(crate) fn run(args: &SqlArgs, _voice: Voice) -> Result<ExitCode> {
    anyhow::bail!(
        "this lprof was built without SQL; build it with `cargo build --features sql`, or read `{}` with any engine that reads Parquet",
        args.table.as_deref().unwrap_or(std::path::Path::new("")).display(),
    )
}
