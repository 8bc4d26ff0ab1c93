//! `lprof compare`: what differs between the requests of two tables, such as before and after a release.

mod rows;
mod text;

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};
use reducer::table::Manifest;

use super::Usage;
use crate::args::CompareArgs;
use crate::compare::report::Report;
use crate::compare::tables::{Populations, Selected};
use crate::output::{self, Voice};
use crate::page::file::Answers;
use crate::page::request::RequestShown;
use crate::page::table::TableShown;
use crate::releases::Translation;
use crate::render::Format;
use crate::table::Table;

/// Bytes of a comparison as one page, with the requests that it names; further ones are left out.
const PAGE_BYTES_MAX: usize = 8 << 20;

pub(crate) fn run(args: &CompareArgs, voice: Voice) -> Result<ExitCode> {
    if args.format == Format::Parquet {
        return Err(Usage("a comparison is printed as table, json or csv".to_owned()).into());
    }
    let (mut first, mut second) = (args.first.clone(), args.second.clone());
    let _first = super::split(Some(&mut first), args.confidence, voice)?;
    let _second = super::split(Some(&mut second), args.confidence, voice)?;
    let [first, second] = [opened(&first, args, voice)?, opened(&second, args, voice)?];
    let [first_ids, second_ids] = [wanted(&first, args)?, wanted(&second, args)?];
    let is_wanted = |ids: &Option<BTreeSet<u128>>, id: &str| match ids {
        Some(ids) => u128::from_str_radix(id, 16).is_ok_and(|id| ids.contains(&id)),
        None => true,
    };
    let wanted: [&(dyn Fn(&str) -> bool + Sync); 2] =
        [&|id| is_wanted(&first_ids, id), &|id| is_wanted(&second_ids, id)];
    let tables = [
        Selected { manifest: &first, wanted: wanted[0], places: None },
        Selected { manifest: &second, wanted: wanted[1], places: None },
    ];
    let translation = Translation::of_tables(&first, &second)?;
    let populations = Populations::of_tables(tables, translation, !args.no_regions)?;
    let names = [&args.first, &args.second].map(|table| table.display().to_string());
    let report = Report::new(&populations, names, args.min_support);
    if let Some(path) = &args.html {
        write_page(path, args, &report)?;
    }
    print(&report, (args.format, args.top), voice)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the comparison as one file, with the requests of the second table that it names.
fn write_page(path: &Path, args: &CompareArgs, report: &Report) -> Result<()> {
    let table = Table::open(&args.second)?;
    let types = report.types.iter().filter(|of| of.second.n > 0);
    let types = types.map(|of| (of.second.n, of.request_type.clone())).collect();
    let shown = TableShown::of_requests(Some(&table), types).beside(&report.first.name);
    let mut answers = Answers::default();
    answers.add("table", &shown, usize::MAX)?;
    answers.add("compare", report, usize::MAX)?;
    let mut logs = table.logs();
    for id in report.examples_of_second() {
        // Of a table that was split at weak links, the whole request may have another id.
        let Ok(request) = table.request(id) else { continue };
        let related = table.related(id)?;
        let request = RequestShown::new(&table, &request, &related, &mut logs);
        answers.add(&format!("requests/{id}"), &request, PAGE_BYTES_MAX)?;
    }
    Ok(schema::version::write_atomically(path, answers.page()?.as_bytes())?)
}

/// Prints what differs between two populations.
pub(super) fn print(report: &Report, (format, top): (Format, usize), voice: Voice) -> Result<()> {
    report.warnings.iter().for_each(|warning| voice.say(&format!("warning: {warning}")));
    for (side, which) in [(&report.first, "first"), (&report.second, "second")] {
        if side.n_requests == 0 {
            bail!("`{}`: the {which} population has no requests", side.name);
        }
    }
    let mut out = output::stdout();
    match format {
        Format::Table => text::print(&mut out, report, top)?,
        Format::Json => {
            serde_json::to_writer_pretty(&mut out, report)?;
            writeln!(out)?;
        }
        Format::Csv | Format::Parquet => rows::print(&mut out, format, report)?,
    }
    Ok(out.flush()?)
}

fn opened(table: &Path, args: &CompareArgs, voice: Voice) -> Result<Manifest> {
    let manifest = Manifest::read(table)?;
    if let Some(damage) = &manifest.damage {
        voice.say(&format!("warning: {damage}; the state before it is read"));
    }
    let tables: &[&str] =
        if args.no_regions { &["spans", "requests"] } else { &["events", "spans", "requests"] };
    super::note_thinned(&manifest, tables, voice);
    Ok(manifest)
}

/// The requests that are compared; none: all.
#[cfg(feature = "sql")]
fn wanted(manifest: &Manifest, args: &CompareArgs) -> Result<Option<BTreeSet<u128>>> {
    let condition = args.condition.as_ref();
    Ok(condition.map(|condition| crate::query::requests_that(manifest, condition)).transpose()?)
}

#[cfg(not(feature = "sql"))]
fn wanted(_manifest: &Manifest, args: &CompareArgs) -> Result<Option<BTreeSet<u128>>> {
    if args.condition.is_some() {
        bail!("this lprof was built without SQL; build it with `cargo build --features sql`");
    }
    Ok(None)
}
