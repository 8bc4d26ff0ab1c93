//! `lprof evaluate`: how right a table is.

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;

use anyhow::{Result, anyhow, bail};
use log_mapper::Reread;
use reducer::table::Manifest;
use schema::tables::{
    EventRow, InputRow, LogPointRow, RelationRow, RequestRow, SpanRow, Text, TopLevelMethodRow,
};

use super::Usage;
use crate::args::EvaluateArgs;
use crate::evaluation::baselines::{self, Baselines};
use crate::evaluation::ceiling::{self, Ceiling};
use crate::evaluation::continuations::{self, Continuations};
use crate::evaluation::links::{self, LinkScores};
use crate::evaluation::passes::{self, Passes};
use crate::evaluation::relations::{self, RelationScores};
use crate::evaluation::reliability::{self, Reliability};
use crate::evaluation::spans::{self, SpanScores, TrueSpans};
use crate::evaluation::types::{self, Expected, TypeScores};
use crate::evaluation::{Class, Found, Looks, Record, Scores, Truth, score};
use crate::output::Voice;
use crate::render::Format;
use crate::request::Logs;
use crate::table::Table;

mod json;
mod text;

/// Log points, types and missing links that are listed.
const WORST_MAX: usize = 10;

pub(crate) fn run(args: &EvaluateArgs, voice: Voice) -> Result<ExitCode> {
    if !matches!(args.format, Format::Table | Format::Json) {
        return Err(Usage("--format: scores come as table or json".to_owned()).into());
    }
    let manifest = Manifest::read(&args.table)?;
    if let Some(note) = manifest.thinned.note("events") {
        bail!("`{}`: {note}, and cannot be held to the truth", args.table.display());
    }
    let tables = Tables {
        events: manifest.rows()?,
        spans: manifest.rows()?,
        requests: manifest.rows()?,
        relations: manifest.rows()?,
        inputs: manifest.rows()?,
        log_points: manifest.rows()?,
        top_level_methods: manifest.rows()?,
    };
    if tables.events.is_empty() {
        bail!("`{}`: the table keeps no events; make it with `--keep events`", args.table.display());
    }
    let mut truth = match (&args.truth, &args.by) {
        (Some(path), _) => Truth::read(path)?,
        (None, Some(key)) => truth_by_key(&tables, key)?,
        (None, None) => return Err(Usage("--truth or --by".to_owned()).into()),
    };
    if let Some(path) = &args.cross {
        truth.replace_units(path)?;
    }
    let nodes: BTreeSet<&str> = tables.inputs.iter().map(|input| &*input.node).collect();
    let (unknown, n_unknown) = truth.retain_nodes(|node| nodes.contains(node));
    if !unknown.is_empty() {
        let names: Vec<String> = unknown.into_iter().collect();
        voice.say(&format!(
            "warning: {n_unknown} records of nodes without a log in the table are left out: {}",
            names.join(", ")
        ));
    }
    if truth.records.is_empty() {
        let names: Vec<&str> = nodes.into_iter().collect();
        bail!("no record of the truth is of a node of the table; its nodes are {}", names.join(", "));
    }
    let report = Report::new(args, &truth, &tables, n_unknown)?;
    if report.links.is_none() {
        voice.say("warning: the table is of an older lprof and does not keep all links; make it again");
    }
    match args.format {
        Format::Json => json::print(&report, &tables)?,
        _ => text::print(&report, &tables)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// What a table is worth.
struct Report {
    scores: Scores,
    /// None: the truth names no threads, like what follows.
    spans: Option<SpanScores>,
    continuations: Option<Continuations>,
    baselines: Option<Baselines>,
    /// None: the table does not keep its links.
    links: Option<LinkScores>,
    /// None: the table has none.
    relations: Option<RelationScores>,
    /// None: the table does not say how likely links are.
    reliability: Option<Reliability>,
    /// None: there is no truth.
    types: Option<TypeScores>,
    /// None: not asked for, like what follows.
    passes: Option<Passes>,
    ceiling: Option<Ceiling>,
    n_records_left_out: usize,
}

impl Report {
    fn new(args: &EvaluateArgs, truth: &Truth, tables: &Tables, n_records_left_out: usize) -> Result<Self> {
        let expected = args.types.as_deref().map(Expected::read).transpose()?;
        let found = tables.found();
        let spans = TrueSpans::new(truth);
        let keeps_links = tables.spans.iter().all(|span| span.hand_overs.is_some());
        let confidences: Vec<(&str, Option<f64>)> =
            tables.requests.iter().map(|row| (&*row.request_id, row.confidence)).collect();
        let ceiling = match args.ceiling {
            true => Some(ceiling::measure(truth, &spans, &Table::open(&args.table)?.model()?.inner)),
            false => None,
        };
        Ok(Self {
            scores: score(truth, &found),
            spans: spans::score(&spans, &found),
            continuations: continuations::count(truth, &found),
            baselines: baselines::measure(&spans, &found, &tables.log_points, &tables.top_level_methods),
            links: keeps_links.then(|| links::score(truth, &spans, &found)),
            relations: (!tables.relations.is_empty())
                .then(|| relations::score(truth, &found, &tables.relations)),
            reliability: reliability::measure(truth, &found, &confidences),
            types: types::score(truth, &found, expected.as_ref()),
            passes: args.passes.then(|| passes::count(truth, &spans, &found)),
            ceiling,
            n_records_left_out,
        })
    }
}

/// What the table holds.
struct Tables {
    events: Vec<EventRow>,
    spans: Vec<SpanRow>,
    requests: Vec<RequestRow>,
    relations: Vec<RelationRow>,
    inputs: Vec<InputRow>,
    log_points: Vec<LogPointRow>,
    top_level_methods: Vec<TopLevelMethodRow>,
}

impl Tables {
    fn found(&self) -> Found<'_> {
        let place = |event: &EventRow| (event.node.to_string(), event.line.unsigned_abs());
        Found {
            events: self.events.iter().map(|event| (place(event), event)).collect(),
            spans: &self.spans,
            types: self.requests.iter().map(|r| (&*r.request_id, &*r.request_type)).collect(),
            open_types: self.requests.iter().filter_map(open_types).collect(),
            call_sites: self
                .log_points
                .iter()
                .filter_map(|p| Some((p.log_point_id, p.call_site.as_deref()?)))
                .collect(),
            looks: Looks::new(&self.log_points),
        }
    }

    /// The record of an example as it stands in the log.
    fn text(&self, logs: &mut Logs, place: &(String, u64)) -> String {
        let is_it = |event: &&EventRow| *event.node == *place.0 && event.line.unsigned_abs() == place.1;
        let text = self.events.iter().find(is_it).and_then(|event| logs.text(event));
        let text = text.unwrap_or_default();
        text.lines().next().unwrap_or_default().to_owned()
    }
}

/// The truth that a layout prints: records with one value of `key` are one
/// unit and one op, records without a value make no claim.
fn truth_by_key(tables: &Tables, key: &str) -> Result<Truth> {
    let mut layouts: BTreeMap<(&str, &str), Reread> = BTreeMap::new();
    for input in tables.inputs.iter().filter(|input| !input.layout.is_empty()) {
        let layout = Reread::parse(&input.layout).map_err(|e| anyhow!("`{}`: {e}", input.layout))?;
        if layout.prints(key) {
            layouts.insert((&input.node, &input.file), layout);
        }
    }
    if layouts.is_empty() {
        bail!("`{key}`: not in the layout of any log of the table");
    }
    let mut logs = Logs::default();
    let (mut truth, mut n_unread) = (Truth::default(), 0_u64);
    for event in &tables.events {
        let Some(layout) = layouts.get(&(&*event.node, &*event.file)) else { continue };
        let Some(text) = logs.text(event) else {
            n_unread += 1;
            continue;
        };
        let value = layout.value(text.as_bytes(), key);
        let record = Record { unit: value.clone(), op: value, ..Record::default() };
        truth.records.insert((event.node.to_string(), event.line.unsigned_abs()), record);
    }
    if truth.records.values().all(|record| record.unit.is_none()) {
        bail!("`{key}`: no record has a value of it ({n_unread} records could not be read again)");
    }
    Ok(truth)
}

const CLASSES: [Class; 4] = [Class::Correct, Class::Incomplete, Class::Incorrect, Class::Failed];

/// To two digits after the point.
fn percent(n: u64, of: u64) -> f64 {
    if of == 0 { 0.0 } else { (10_000.0 * n as f64 / of as f64).round() / 100.0 }
}

fn rounded(x: f64) -> f64 {
    (10_000.0 * x).round() / 10_000.0
}

/// A request that can be of several types, and these.
fn open_types(request: &RequestRow) -> Option<(&str, &[Text])> {
    let types = request.request_types.as_deref().filter(|types| types.len() > 1)?;
    Some((&request.request_id, types))
}
