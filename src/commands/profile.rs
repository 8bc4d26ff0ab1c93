//! `lprof profile`: where the time of requests goes, and why the slow ones differ.

mod rows;
mod text;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};
use reducer::table::Manifest;

use crate::args::ProfileArgs;
use crate::commands::Usage;
use crate::compare;
use crate::output::{self, Voice, grouped};
use crate::page::file::Answers;
use crate::page::profile::ProfileShown;
use crate::page::request::RequestShown;
use crate::page::table::TableShown;
use crate::profile::code::Code;
use crate::profile::critical_path::{SpeedUps, on_paths, predict};
use crate::profile::groups::Groups;
use crate::profile::layers::{Layer, Subject, Tails, layer, subjects};
use crate::profile::report::{Limits, Report};
use crate::profile::{foreign, json, table};
use crate::render::{self, Format};
use crate::table::Table;

/// Bytes of a report as one page, with the requests that it names; further ones are left out.
const EXAMPLES_BYTES_MAX: usize = 8 << 20;
/// Of what can take time in a region, how much is shown to people.
const SLOW_SHOWN: usize = 3;

pub(crate) fn run(args: &ProfileArgs, voice: Voice) -> Result<ExitCode> {
    if args.format == Format::Parquet {
        return Err(Usage("a profile is printed as table, json or csv".to_owned()).into());
    }
    let (groups, code) = match &args.table {
        Some(folder) => {
            let manifest = Manifest::read(folder)?;
            if let Some(damage) = &manifest.damage {
                voice.say(&format!("warning: {damage}; the state before it is read"));
            }
            let tables: &[&str] =
                if args.no_regions { &["spans", "requests"] } else { &["events", "spans", "requests"] };
            super::note_thinned(&manifest, tables, voice);
            let populations = populations(&manifest, args)?;
            let population = |id: &str| populations.of(id);
            if let [first, second] = &*args.compare {
                let found = compare::tables::Populations::of_table(&manifest, &population, !args.no_regions)?;
                let names = [first.clone(), second.clone()];
                let report = compare::report::Report::new(&found, names, args.min_support);
                super::compare::print(&report, (args.format, args.top), voice)?;
                return Ok(ExitCode::SUCCESS);
            }
            let groups = table::read(&manifest, &population, !args.no_regions)?;
            let (code, warning) = Code::read(&manifest)?;
            warning.iter().for_each(|warning| voice.say(&format!("warning: {warning}")));
            (groups, code)
        }
        None => {
            let (groups, warnings) = foreign::read(&args.traces)?;
            warnings.iter().for_each(|warning| voice.say(&format!("warning: {warning}")));
            (groups, Code::default())
        }
    };
    if let Some(repairs) = groups.repairs.sentence() {
        voice.say(&format!("warning: {repairs}"));
    }
    if groups.requests.len() == 0 {
        bail!("there are no requests to profile");
    }
    print(args, &groups, &code)?;
    Ok(ExitCode::SUCCESS)
}

fn print(args: &ProfileArgs, groups: &Groups, code: &Code) -> Result<()> {
    let mut out = output::stdout();
    if let Some(number) = args.layer {
        let tails = Tails::new(groups, args.tail);
        rows::layer(&mut out, args.format, &layer(groups, &tails, Layer::ALL[usize::from(number) - 1]))?;
    } else if args.critical_path {
        rows::critical_path(&mut out, args.format, groups, &on_paths(groups))?;
    } else if !args.speed_up.is_empty() {
        let found = predict(groups, &speed_ups(groups, &args.speed_up)?);
        rows::predicted(&mut out, args.format, groups, &found)?;
    } else {
        let tails = Tails::new(groups, args.tail);
        let table = args.table.as_ref().map(|table| table.display().to_string());
        let report =
            Report::new(groups, code, (&tails, args.tail), Limits { support: args.min_support }, table);
        if let Some(path) = &args.html {
            write_page(path, args, &report)?;
        }
        match args.format {
            Format::Table => text::report(&mut out, &report, args.top)?,
            Format::Json => {
                serde_json::to_writer_pretty(&mut out, &json::ReportJson::new(&report))?;
                writeln!(out)?;
            }
            Format::Csv | Format::Parquet => rows::report(&mut out, args.format, &report)?,
        }
    }
    Ok(out.flush()?)
}

/// The report as one page, with the requests that it names as far as there is room.
fn write_page(path: &Path, args: &ProfileArgs, report: &Report<'_>) -> Result<()> {
    let groups = report.groups;
    let types = groups.by_type().into_iter().map(|(name, of)| {
        let n = groups.members(&of).count() as u64;
        (n, groups.names.name(name).to_owned())
    });
    let table = args.table.as_deref().map(Table::open).transpose()?;
    let shown = ProfileShown {
        n: groups.requests.len(),
        report: json::ReportJson::new(report),
        warnings: groups.repairs.sentence().into_iter().collect(),
        sql: args.condition.clone(),
    };
    let mut answers = Answers::default();
    answers.add("table", &TableShown::of_requests(table.as_ref(), types.collect()), usize::MAX)?;
    answers.add("profile", &shown, usize::MAX)?;
    if let Some(table) = &table {
        let mut logs = table.logs();
        for id in shown.report.examples() {
            let (request, related) = (table.request(id)?, table.related(id)?);
            let request = RequestShown::new(table, &request, &related, &mut logs);
            answers.add(&format!("requests/{id}"), &request, EXAMPLES_BYTES_MAX)?;
        }
    }
    Ok(schema::version::write_atomically(path, answers.page()?.as_bytes())?)
}

/// Ids of requests, by population; empty: all requests are one.
struct Populations(BTreeMap<u128, u8>, bool);

impl Populations {
    fn of(&self, id: &str) -> Option<u8> {
        if !self.1 {
            return Some(0);
        }
        self.0.get(&u128::from_str_radix(id, 16).ok()?).copied()
    }
}

#[cfg(feature = "sql")]
fn populations(manifest: &Manifest, args: &ProfileArgs) -> Result<Populations> {
    let conditions: Vec<&String> = args.condition.iter().chain(&args.compare).collect();
    let mut ids = BTreeMap::new();
    for (number, condition) in (1..).zip(&conditions) {
        for id in crate::query::requests_that(manifest, condition)? {
            if ids.insert(id, number).is_some() {
                bail!("request {id:032x} is in both populations");
            }
        }
    }
    Ok(Populations(ids, !conditions.is_empty()))
}

#[cfg(not(feature = "sql"))]
fn populations(_manifest: &Manifest, args: &ProfileArgs) -> Result<Populations> {
    if args.condition.is_some() || !args.compare.is_empty() {
        bail!("this lprof was built without SQL; build it with `cargo build --features sql`");
    }
    Ok(Populations(BTreeMap::new(), false))
}

/// `Class.method=2x`, also of hand-overs: `Class.method -> Class.method=2x`.
fn speed_ups(groups: &Groups, texts: &[String]) -> Result<SpeedUps> {
    let everything: Vec<u32> = (0..groups.groups.len() as u32).collect();
    let known: BTreeMap<String, Subject> = subjects(groups, &everything)
        .into_iter()
        .map(|(subject, _)| (subject.name(groups), subject))
        .collect();
    let mut found = SpeedUps::new();
    for text in texts {
        let (name, factor) = text.rsplit_once('=').unwrap_or((text, ""));
        let factor = factor.trim_end_matches('x').parse::<f64>().ok().filter(|f| f.is_finite() && *f > 0.0);
        let Some(factor) = factor else {
            return Err(Usage(format!(
                "`{text}`: expected an operation and a factor, e.g. `Class.method=2x`"
            ))
            .into());
        };
        let Some(subject) = known.get(name) else {
            bail!("no operation `{name}`; `lprof profile --layer 1` lists them");
        };
        found.insert(*subject, factor);
    }
    Ok(found)
}

/// What is profiled, in one line.
fn heading(report: &Report<'_>) -> String {
    let (n_types, n_trees, n_orders) = report.sizes();
    format!(
        "{} requests of {n_types} types, in {} trees of spans and {} orders; the tail is the slowest {} %",
        grouped(report.groups.requests.len() as u64),
        grouped(n_trees as u64),
        grouped(n_orders as u64),
        report.tail_percent,
    )
}

/// How to look at a request.
fn show_request(report: &Report<'_>, request: u32) -> String {
    let id = report.groups.requests.id(request);
    match &report.table {
        Some(table) => {
            format!("lprof show request --table {} {}", render::neutral(table), &id[..id.len().min(12)])
        }
        None => format!("trace {}", render::neutral(id)),
    }
}
