//! `lprof show`: what was found and why, for people; `--format json` for
//! programs.

mod coverage;
mod log_point;
mod method;
mod model;
mod model_json;
mod request;
mod template_coverage;

use std::process::ExitCode;

use anyhow::Result;
use schema::{Model, TopLevelMethod};

use super::Usage;
use crate::args::{ModelArgs, Show};
use crate::output::Voice;
use crate::render::Format;
use crate::table::Table;

pub(crate) fn run(what: Show, voice: Voice) -> Result<ExitCode> {
    match what {
        Show::Model { path, mut source, format, table2, coverage } => {
            source.model = source.model.or(path);
            let model = load(&source)?;
            match (format, table2, coverage) {
                (_, true, _) => model::table2(&model, format)?,
                (_, _, true) => template_coverage::print(&model, format)?,
                (Some(Format::Json), ..) => model_json::print(&model)?,
                (None | Some(Format::Table), ..) => model::print(&model, voice)?,
                _ => return Err(Usage("--format: a model is shown as table or json".to_owned()).into()),
            }
        }
        Show::LogPoint { what, source } => log_point::print(&load(&source)?, &what)?,
        Show::Method { what, source } => method::print(&load(&source)?, &what)?,
        Show::Pair { from, to, source } => method::print_pairs(&load(&source)?, &from, &to)?,
        Show::Request { id, mut table, confidence } => {
            let _split = super::split(Some(&mut table), confidence, voice)?;
            request::print(&table, &id, voice)?;
        }
        Show::Coverage { table, format } => coverage::print(&table, format)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn load(source: &ModelArgs) -> Result<Model> {
    match (&source.model, &source.table) {
        (Some(path), _) => Ok(Model::read(path)?),
        (None, Some(table)) => Ok(Table::open(table)?.model()?.inner),
        (None, None) => Err(Usage("which model: --model MODEL or --table TABLE".to_owned()).into()),
    }
}

/// Whether `what` names a place in `class`: with its package, without it, or
/// as a nested class alone.
fn names_method(what: &str, class: &str, method: &str) -> bool {
    let full = format!("{class}.{method}");
    full == what || [".", "$"].iter().any(|separator| full.ends_with(&format!("{separator}{what}")))
}

/// The top-level methods that `what` names.
fn methods<'a>(model: &'a Model, what: &str) -> Result<Vec<(usize, &'a TopLevelMethod)>> {
    let all = model.top_level_methods.iter().enumerate();
    let found: Vec<_> = all.filter(|(_, m)| names_method(what, &m.class, &m.method)).collect();
    if found.is_empty() {
        anyhow::bail!("`{what}`: no top-level method of this name in the model");
    }
    Ok(found)
}
