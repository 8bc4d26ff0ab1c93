//! `lprof evaluate`: how right a table is.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::process::ExitCode;

use anyhow::{Result, anyhow, bail};
use log_mapper::Layout;
use reducer::table::Manifest;
use schema::tables::{EventRow, InputRow, LogPointRow, RequestRow};
use serde_json::{Value, json};

use super::Usage;
use super::show::Logs;
use crate::args::{EvaluateArgs, Format};
use crate::evaluation::{Class, Found, Looks, Record, Scores, Tally, Truth, score};
use crate::output::{self, Voice};
use crate::render::{self, neutral};

/// Log points that are listed.
const WORST_MAX: usize = 10;

pub(crate) fn run(args: &EvaluateArgs, voice: Voice) -> Result<ExitCode> {
    if !matches!(args.format, Format::Table | Format::Json) {
        return Err(Usage("--format: scores come as table or json".to_owned()).into());
    }
    let manifest = Manifest::read(&args.table)?;
    let tables = Tables {
        events: manifest.rows()?,
        requests: manifest.rows()?,
        inputs: manifest.rows()?,
        log_points: manifest.rows()?,
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
    let scores = score(&truth, &tables.found());
    match args.format {
        Format::Json => print_json(&scores, &tables, n_unknown)?,
        _ => print_text(&scores, &tables)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// What the table holds.
struct Tables {
    events: Vec<EventRow>,
    requests: Vec<RequestRow>,
    inputs: Vec<InputRow>,
    log_points: Vec<LogPointRow>,
}

impl Tables {
    fn found(&self) -> Found<'_> {
        let place = |event: &EventRow| (event.node.to_string(), event.line.unsigned_abs());
        Found {
            events: self.events.iter().map(|event| (place(event), event)).collect(),
            types: self.requests.iter().map(|r| (&*r.request_id, &*r.request_type)).collect(),
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
    let mut layouts: BTreeMap<(&str, &str), (Layout, usize)> = BTreeMap::new();
    for input in &tables.inputs {
        let layout = Layout::compile(&input.layout).map_err(|e| anyhow!("`{}`: {e}", input.layout))?;
        if let Some(position) = layout.mdc_keys().iter().position(|known| known == key) {
            layouts.insert((&input.node, &input.file), (layout, position));
        }
    }
    if layouts.is_empty() {
        bail!("`{key}`: not in the layout of any log of the table");
    }
    let mut logs = Logs::default();
    let (mut truth, mut n_unread) = (Truth::default(), 0_u64);
    for event in &tables.events {
        let Some((layout, position)) = layouts.get(&(&*event.node, &*event.file)) else { continue };
        let Some(text) = logs.text(event) else {
            n_unread += 1;
            continue;
        };
        let first = text.lines().next().unwrap_or_default();
        let header = layout.scan(first.as_bytes());
        let value = header.and_then(|header| *header.mdc.get(*position)?).filter(|value| !value.is_empty());
        let value = value.map(|value| String::from_utf8_lossy(value).into_owned());
        let record = Record { unit: value.clone(), op: value, ..Record::default() };
        truth.records.insert((event.node.to_string(), event.line.unsigned_abs()), record);
    }
    if truth.records.values().all(|record| record.unit.is_none()) {
        bail!("`{key}`: no record has a value of it ({n_unread} records could not be read again)");
    }
    Ok(truth)
}

fn print_text(scores: &Scores, tables: &Tables) -> Result<()> {
    let mut out = output::stdout();
    let mut types: Vec<(&str, &Tally)> =
        scores.by_type.iter().map(|(name, tally)| (name.as_str(), tally)).collect();
    types.sort_by_key(|(name, tally)| (std::cmp::Reverse(tally.n_messages()), *name));
    types.insert(0, ("all", &scores.all));
    let row = |(name, tally): (&str, &Tally)| -> Vec<Value> {
        let n = tally.n_messages();
        let mut row = vec![json!(name), json!(n)];
        row.extend(tally.messages.iter().map(|m| json!(percent(*m, n))));
        row.extend([json!(rounded(tally.precision())), json!(rounded(tally.recall()))]);
        row.extend(tally.log_points.iter().map(|m| json!(percent(*m, tally.n_log_points()))));
        row
    };
    let columns = [
        "request_type",
        "messages",
        "correct%",
        "incomplete%",
        "incorrect%",
        "failed%",
        "precision",
        "recall",
        "point%",
        "method%",
        "wrong%",
        "none%",
    ];
    render::rows(&mut out, Format::Table, &columns, types.into_iter().map(row).collect())?;
    let (n, n_ties, [n_exact, ..]) = (scores.all.n_log_points(), scores.all.n_ties, scores.all.log_points);
    if n > 0 {
        let (exact, tied) = (percent(n_exact, n), percent(n_exact + n_ties, n));
        writeln!(out, "\nlog points: {exact} % exact, {tied} % exact or tied with one of the same text")?;
    }
    if !scores.worst.is_empty() {
        writeln!(out, "\nworst log points")?;
    }
    let mut logs = Logs::default();
    for worst in scores.worst.iter().take(WORST_MAX) {
        let [_, incomplete, incorrect, failed] = worst.messages;
        writeln!(
            out,
            "{}: {incomplete} incomplete, {incorrect} incorrect, {failed} failed of {}; {} with another log point or none",
            neutral(&worst.log_point),
            worst.messages.iter().sum::<u64>(),
            worst.n_wrong_log_point,
        )?;
        let (node, line) = &worst.example;
        let text = tables.text(&mut logs, &worst.example);
        writeln!(out, "  {}:{line} ({}): {}", neutral(node), worst.example_class, neutral(&text))?;
    }
    out.flush()?;
    Ok(())
}

fn print_json(scores: &Scores, tables: &Tables, n_left_out: usize) -> Result<()> {
    let by_type: BTreeMap<&String, Value> =
        scores.by_type.iter().map(|(name, tally)| (name, tally_json(tally))).collect();
    let mut logs = Logs::default();
    let worst = |worst: &crate::evaluation::Worst| {
        json!({
            "log_point": worst.log_point,
            "messages": classes(&worst.messages),
            "n_wrong_log_point": worst.n_wrong_log_point,
            "example": {
                "node": worst.example.0, "line": worst.example.1, "what": worst.example_class,
                "text": tables.text(&mut logs, &worst.example),
            },
        })
    };
    let worst: Vec<Value> = scores.worst.iter().take(WORST_MAX).map(worst).collect();
    let value = json!({
        "all": tally_json(&scores.all),
        "by_request_type": by_type,
        "worst_log_points": worst,
        "n_records_left_out": n_left_out,
    });
    let mut out = output::stdout();
    writeln!(out, "{value:#}")?;
    out.flush()?;
    Ok(())
}

fn tally_json(tally: &Tally) -> Value {
    let n = tally.n_messages();
    let shares: BTreeMap<&str, f64> =
        CLASSES.iter().map(|c| (c.name(), percent(tally.messages[*c as usize], n))).collect();
    let [exact, same_method, wrong, none] = tally.log_points;
    json!({
        "n_messages": n,
        "messages": classes(&tally.messages),
        "percent": shares,
        "b_cubed": { "precision": tally.precision(), "recall": tally.recall() },
        "log_points": { "exact": exact, "same_method": same_method, "wrong": wrong, "none": none },
        "log_point_exact_percent": percent(exact, tally.n_log_points()),
        "log_point_ties": tally.n_ties,
        "log_point_exact_or_tied_percent": percent(exact + tally.n_ties, tally.n_log_points()),
    })
}

const CLASSES: [Class; 4] = [Class::Correct, Class::Incomplete, Class::Incorrect, Class::Failed];

fn classes(messages: &[u64; 4]) -> Value {
    let counts: BTreeMap<&str, u64> =
        CLASSES.iter().map(|class| (class.name(), messages[*class as usize])).collect();
    json!(counts)
}

/// To two digits after the point.
fn percent(n: u64, of: u64) -> f64 {
    if of == 0 { 0.0 } else { (10_000.0 * n as f64 / of as f64).round() / 100.0 }
}

fn rounded(x: f64) -> f64 {
    (10_000.0 * x).round() / 10_000.0
}
