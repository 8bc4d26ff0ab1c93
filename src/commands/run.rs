//! `lprof run`: from class files and logs to a request table on one machine.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};
use schema::{ErrorKind, Model};

use super::map::{Mapper, check_layout, config};
use super::{Usage, analyze, exit_code, summary};
use crate::args::RunArgs;
use crate::nodes;
use crate::output::Voice;
use crate::progress::Progress;
use crate::table::Table;

pub(crate) fn run(args: &RunArgs, voice: Voice) -> Result<ExitCode> {
    check_table(&args.table)?;
    let mut inputs = nodes::sort_inputs(&args.inputs)?;
    if inputs.logs.is_empty() {
        return Err(Usage("no log given: name logs or folders of logs after the jars".to_owned()).into());
    }
    check_layout(&args.log)?;
    let model = model(args, &inputs, voice)?;
    let mapper = Mapper::new(&model, &args.log, voice)?;
    let logs = mapper.logs(&mut inputs)?;
    let outputs = mapper.spill_all(&logs, &args.table)?;
    // Nothing of what it has compiled is asked for any more.
    drop(mapper);
    summary::require_headers(outputs.iter().flat_map(|output| &output.inputs), voice)?;
    let inputs = || outputs.iter().flat_map(|output| &output.inputs);
    if inputs().all(|input| summary::n_headed(input) == 0) {
        let empty = inputs().find(|input| input.n_bytes == 0).filter(|_| inputs().count() == 1);
        match empty {
            Some(input) => bail!("`{}` is empty: there is no record in it", input.file),
            None => bail!("no record in any of the logs"),
        }
    }
    let progress = Progress::new(voice, "stitching requests");
    let config = config(args.log.window, &args.log.ids, &args.log.without_pass);
    let appended = reducer::append::append(&args.table, &model, outputs, &config, args.keep.into())?;
    drop(progress);
    let lost = summary::print(&args.table, &appended, voice)?;
    Ok(exit_code(lost > 0, args.log.strict))
}

/// Fails if the table cannot be one: before the work, not after it.
pub(super) fn check_table(table: &Path) -> Result<()> {
    if table.exists() && !table.is_dir() {
        return Err(Usage(format!("--table: `{}` is a file, a table is a folder", table.display())).into());
    }
    if table.is_dir() && reducer::table::holds_something(table)? {
        match reducer::table::Manifest::read(table) {
            // A first run that did not come to its end has left a lock, and no state.
            Err(error)
                if matches!(error.kind(), ErrorKind::NotOurs { .. }) && table.join(".lock").exists() => {}
            read => drop(read?),
        }
    }
    Ok(())
}

/// The model that was given, or that of the jars that were, or the table's.
pub(super) fn model(args: &RunArgs, inputs: &nodes::Inputs, voice: Voice) -> Result<Model> {
    match (&args.model, inputs.class_path.is_empty()) {
        (Some(_), false) => Err(Usage("give a model or jars, not both".to_owned()).into()),
        (Some(path), true) => Ok(Model::read(path)?),
        (None, false) => {
            let model = analyze::analyze(&inputs.class_path, args.rules.as_deref(), voice)?;
            voice.say(&analyze::counts(&model));
            Ok(model)
        }
        (None, true) if args.table.exists() => Table::open(&args.table)?.model(),
        (None, true) => Err(Usage("no model: give jars, or --model MODEL".to_owned()).into()),
    }
}
