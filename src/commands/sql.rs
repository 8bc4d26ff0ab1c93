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
        crate::query::print_second_half(aggregates, args.limits.into(), output::format(args.format))?;
        return Ok(ExitCode::SUCCESS);
    };
    let manifest = reducer::table::Manifest::read(table)?;
    if let Some(damage) = &manifest.damage {
        voice.say(&format!("warning: {damage}; the state before it is shown"));
    }
    super::note_thinned(&manifest, &asked(args.query.as_deref()), voice);
    let joins = if args.nested_loop { crate::query::Joins::Nested } else { crate::query::Joins::ByRequest };
    crate::query::run(&manifest, args.query.as_deref(), args.format, joins, args.limits.into())?;
    Ok(ExitCode::SUCCESS)
}

/// The tables that can be thinned and that a query names; without one all of them.
#[cfg(feature = "sql")]
fn asked(query: Option<&str>) -> Vec<&'static str> {
    let query = query.map(str::to_ascii_lowercase);
    let mut tables = vec!["requests", "request_nodes", "spans", "events"];
    tables.retain(|table| query.as_ref().is_none_or(|query| query.contains(table)));
    // The one note says what is to be said of both.
    tables.dedup_by_key(|table| table.starts_with("request"));
    tables
}

#[cfg(not(feature = "sql"))]
pub(crate) fn run(args: &SqlArgs, _voice: Voice) -> Result<ExitCode> {
    anyhow::bail!(
        "this lprof was built without SQL; build it with `cargo build --features sql`, or read `{}` with any engine that reads Parquet",
        args.table.as_deref().unwrap_or(std::path::Path::new("")).display(),
    )
}
