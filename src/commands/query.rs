//! `lprof query`: what led to what, in the language of Pivot Tracing.

use std::process::ExitCode;

use anyhow::Result;

use crate::args::QueryArgs;
use crate::output::Voice;

#[cfg(feature = "sql")]
pub(crate) fn run(args: &QueryArgs, voice: Voice) -> Result<ExitCode> {
    use std::io::Read as _;

    use crate::query::Asking;
    use anyhow::Context as _;

    let manifest = reducer::table::Manifest::read(&args.table)?;
    if let Some(damage) = &manifest.damage {
        voice.say(&format!("warning: {damage}; the state before it is shown"));
    }
    super::note_thinned(&manifest, &["events"], voice);
    let text = match (&args.query, &args.file) {
        (Some(query), _) => query.clone(),
        (None, Some(file)) => {
            std::fs::read_to_string(file).with_context(|| format!("`{}`", file.display()))?
        }
        (None, None) => {
            let mut text = String::new();
            let longest = crate::query::QUERY_BYTES_MAX as u64 + 1;
            std::io::stdin().take(longest).read_to_string(&mut text).context("standard input")?;
            text
        }
    };
    let QueryArgs { format, show_sql, explain, unoptimized, limits, .. } = *args;
    let limits = limits.into();
    crate::query::ask(&manifest, &text, &Asking { format, show_sql, explain, unoptimized, limits })?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(not(feature = "sql"))]
pub(crate) fn run(args: &QueryArgs, _voice: Voice) -> Result<ExitCode> {
    anyhow::bail!(
        "this lprof was built without SQL; build it with `cargo build --features sql`, or read `{}` with any engine that reads Parquet",
        args.table.display(),
    )
}
