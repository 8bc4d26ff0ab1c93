//! `lprof export`: requests as traces for the tools of others.

use std::fs::File;
use std::io::{BufWriter, IsTerminal as _, Write as _};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result};

use super::Usage;
use crate::args::{ExportArgs, TraceArg};
use crate::export::{TraceFormat, export};
use crate::output::{self, Voice, grouped};
use crate::request::{Logs, Request};
use crate::table::{Filter, Table};

pub(crate) fn run(args: &ExportArgs, voice: Voice) -> Result<ExitCode> {
    let format = TraceFormat::from(args.format);
    let is_binary = matches!(format, TraceFormat::Perfetto | TraceFormat::OtlpProtobuf);
    if is_binary && args.output.is_none() && std::io::stdout().is_terminal() {
        return Err(Usage("this format is none for a terminal; give a file with -o".to_owned()).into());
    }
    let table = Table::open(&args.table)?;
    if let Some(damage) = table.damage() {
        voice.say(&format!("warning: {damage}; the state before it is read"));
    }
    super::note_thinned(table.manifest(), &["events", "spans", "requests"], voice);
    let requests: Box<dyn Iterator<Item = crate::error::Result<Request>>> =
        match (&args.request, &args.condition) {
            (Some(id), _) => Box::new(std::iter::once(Ok(table.request(id)?))),
            (None, Some(condition)) => Box::new(table.requests(&filter(&table, condition)?)?),
            (None, None) => Box::new(table.requests(&Filter::All)?),
        };
    let mut logs = if args.text { table.logs() } else { table.logs().closed() };
    let n = match &args.output {
        Some(path) if path.as_os_str() != "-" => to_file(path, requests, format, &mut logs)?,
        _ => {
            let mut out = output::stdout();
            let n = export(requests, format, Some(&mut logs), &mut out)?;
            out.flush()?;
            n
        }
    };
    voice.tell(&format!("{} requests written", grouped(n)));
    Ok(ExitCode::SUCCESS)
}

#[cfg(feature = "sql")]
fn filter(table: &Table, condition: &str) -> Result<Filter> {
    Ok(Filter::condition(table, condition)?)
}

#[cfg(not(feature = "sql"))]
fn filter(_: &Table, _: &str) -> Result<Filter> {
    anyhow::bail!("this lprof was built without SQL; build it with `cargo build --features sql`")
}

/// Writes beside `path` and renames, so that nobody reads half of it.
fn to_file(
    path: &Path,
    requests: impl Iterator<Item = crate::error::Result<Request>>,
    format: TraceFormat,
    logs: &mut Logs,
) -> Result<u64> {
    let name = || format!("`{}`", path.display());
    let file_name = path.file_name().with_context(|| format!("{}: no name of a file", name()))?;
    let mut aside = std::ffi::OsString::from(".");
    aside.push(file_name);
    aside.push(format!(".{}.tmp", std::process::id()));
    let aside = path.with_file_name(aside);
    let written = (|| {
        let mut out = BufWriter::with_capacity(1 << 18, File::create(&aside).with_context(name)?);
        let n = export(requests, format, Some(logs), &mut out)?;
        out.into_inner().map_err(std::io::IntoInnerError::into_error).with_context(name)?;
        std::fs::rename(&aside, path).with_context(name)?;
        Ok(n)
    })();
    if written.is_err() {
        // It may never have been made; either way nothing is left behind.
        let _ = std::fs::remove_file(&aside);
    }
    written
}

impl From<TraceArg> for TraceFormat {
    fn from(format: TraceArg) -> Self {
        match format {
            TraceArg::Jaeger => Self::Jaeger,
            TraceArg::Otlp => Self::Otlp,
            TraceArg::OtlpProtobuf => Self::OtlpProtobuf,
            TraceArg::Zipkin => Self::Zipkin,
            TraceArg::Perfetto => Self::Perfetto,
            TraceArg::Chrome => Self::Chrome,
        }
    }
}
