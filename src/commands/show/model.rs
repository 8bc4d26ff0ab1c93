//! A model for people: what is in it, how well texts are known, and the
//! figures of the paper's Table 2.

use std::io::Write as _;

use anyhow::Result;
use schema::tables::kind_name;
use schema::{Level, LogPointId, Model, TopLevelKind, TopLevelMethod};
use serde_json::{Value, json};

use crate::output::{self, Voice};
use crate::render::{self, Format, neutral};

/// Threads that log nothing, listed without `-v`.
const SILENT_MAX: usize = 20;

pub(crate) fn print(model: &Model, voice: Voice) -> Result<()> {
    let mut out = output::stdout();
    for input in &model.inputs {
        writeln!(out, "{}: {} classes, {} skipped", neutral(&input.name), input.n_classes, input.n_skipped)?;
    }
    writeln!(out, "\ntop-level methods")?;
    let method = |m: &TopLevelMethod| -> Vec<Value> {
        let identifiers: Vec<&str> = m.identifiers.iter().map(|i| i.path.as_str()).collect();
        vec![
            json!(m.short_name()),
            json!(kind_name(m.kind)),
            json!(m.log_points().len()),
            json!(identifiers.join(" ")),
        ]
    };
    let rows = model.top_level_methods.iter().map(method).collect();
    render::rows(&mut out, Format::Table, &["method", "kind", "n_log_points", "identifiers"], rows)?;
    writeln!(out, "\ncommunication pairs")?;
    let name = |id: schema::TopLevelId| model.top_level_methods.get(id.index()).map(|m| m.short_name());
    let pair = |p: &schema::CommunicationPair| -> Vec<Value> {
        vec![
            json!(name(p.from)),
            json!(name(p.to)),
            json!(p.kind.name()),
            json!(p.identifiers.len()),
            json!(p.many),
        ]
    };
    let rows = model.communication_pairs.iter().map(pair).collect();
    render::rows(&mut out, Format::Table, &["from", "to", "kind", "n_identifiers", "many"], rows)?;
    writeln!(out, "\nnames of threads")?;
    let name_of = |name: &schema::ThreadName| -> Vec<Value> {
        let n_runs = if name.runs.is_empty() { json!("any") } else { json!(name.runs.len()) };
        vec![json!(name.template.regex), n_runs]
    };
    let rows = model.thread_names.iter().map(name_of).collect();
    render::rows(&mut out, Format::Table, &["name", "top_level_methods"], rows)?;
    writeln!(out, "\nthreads that log nothing: {}", model.silent_threads.len())?;
    let n_shown = if voice.verbose { model.silent_threads.len() } else { SILENT_MAX };
    for thread in model.silent_threads.iter().take(n_shown) {
        writeln!(out, "  {}", neutral(thread))?;
    }
    writeln!(out, "diagnostics: {}", model.diagnostics.len())?;
    if voice.verbose {
        for diagnostic in &model.diagnostics {
            writeln!(out, "  {}", neutral(diagnostic))?;
        }
    }
    out.flush()?;
    Ok(())
}

/// The columns of the paper's Table 2; of the top-level methods also how many are
/// handlers of events, which the paper does not count.
pub(crate) fn table2(model: &Model, format: Option<Format>) -> Result<()> {
    let n_silent = model.silent_threads.len() as u64;
    let n_points = model.log_points.len() as f64;
    // As the paper counts: printed at the usual level when all goes well.
    let usual = |id: &LogPointId| {
        let point = &model.log_points[id.index()];
        !point.in_handler && point.levels.iter().any(|&level| level >= Level::Info)
    };
    let n_usual = |m: &TopLevelMethod| m.log_points().iter().filter(|id| usual(id)).count();
    let reached = model.top_level_methods.iter().filter(|m| m.kind != TopLevelKind::Unreached);
    let methods: Vec<&TopLevelMethod> = reached.filter(|m| n_usual(m) > 0).collect();
    let n_handlers = methods.iter().filter(|m| m.kind == TopLevelKind::EventHandler).count();
    let per_dag: usize = methods.iter().map(|m| n_usual(m)).sum();
    let mut with_identifier = std::collections::BTreeSet::new();
    for node in model.top_level_methods.iter().flat_map(|m| &m.dag.nodes) {
        let bound = node.points.iter().filter(|p| p.bindings.iter().any(Option::is_some));
        with_identifier.extend(bound.map(|p| p.log_point));
    }
    let rounded = |x: f64| (x * 10.0).round() / 10.0;
    let row = vec![
        json!(model.n_threads),
        json!(u64::from(model.n_threads).saturating_sub(n_silent)),
        json!(methods.len()),
        json!(n_handlers),
        json!(model.log_points.len()),
        json!(rounded(100.0 * with_identifier.len() as f64 / n_points.max(1.0))),
        json!(rounded(per_dag as f64 / (methods.len() as f64).max(1.0))),
    ];
    let columns = [
        "n_threads",
        "n_threads_that_log",
        "n_top_level_methods",
        "n_event_handlers",
        "n_log_points",
        "log_points_with_identifier_percent",
        "log_points_per_dag",
    ];
    render::rows(&mut output::stdout(), text_format(format)?, &columns, vec![row])?;
    Ok(())
}

pub(super) fn text_format(format: Option<Format>) -> Result<Format> {
    match output::format(format) {
        Format::Parquet => Err(super::Usage("--format: parquet is for tables".to_owned()).into()),
        format => Ok(format),
    }
}
