//! `lprof run`: from class files and logs to a request table on one machine.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};
use schema::ErrorKind;

use super::{Usage, analyze, exit_code, map, options, summary};
use crate::args::RunArgs;
use crate::model::Model;
use crate::output::Voice;
use crate::pipeline::{self, Inputs, Options, is_class_path, n_headed};
use crate::table::Table;

pub(crate) fn run(args: &RunArgs, voice: Voice) -> Result<ExitCode> {
    check_table(&args.table)?;
    let (class_path, logs) = sorted(&args.inputs)?;
    let mut inputs = Inputs::new();
    for (node, path) in &logs {
        inputs.add(node.as_deref(), path)?;
    }
    let options = options::of_run(args, voice)?;
    let model = model(args, &class_path, &options, voice)?;
    let mapper = map::mapper(&model, &options, voice);
    let nodes = mapper.look(inputs)?;
    map::tell(&nodes, voice);
    let mapped = mapper.map(&nodes, &args.table)?;
    // Nothing of what it has compiled is asked for any more.
    drop(mapper);
    summary::warnings::tell(&mapped.check()?, voice);
    if mapped.inputs().all(|(_, input)| n_headed(input) == 0) {
        match mapped.inputs().find(|(_, input)| input.n_bytes == 0).filter(|_| mapped.inputs().count() == 1) {
            Some((_, input)) => bail!("`{}` is empty: there is no record in it", input.file),
            None => bail!("no record in any of the logs"),
        }
    }
    let appended = pipeline::append(&args.table, &model, mapped, &options)?;
    let lost = summary::print(&args.table, &appended, voice)?;
    Ok(exit_code(lost > 0, args.log.strict))
}

/// A log or a folder of logs, and the name of its node, if it was given.
pub(super) type Named = (Option<String>, PathBuf);

/// Jars and folders of classes, and logs.
///
/// # Errors
/// There is no log.
pub(super) fn sorted(inputs: &[PathBuf]) -> Result<(Vec<PathBuf>, Vec<Named>)> {
    let (class_path, logs): (Vec<PathBuf>, Vec<PathBuf>) =
        inputs.iter().cloned().partition(|input| is_class_path(input));
    if logs.is_empty() {
        return Err(Usage("no log given: name logs or folders of logs after the jars".to_owned()).into());
    }
    Ok((class_path, logs.iter().map(|log| split_name(log)).collect()))
}

/// `NAME=PATH`, unless a file of that whole name is there.
fn split_name(argument: &Path) -> Named {
    let split = argument.to_str().filter(|_| !argument.exists()).and_then(|text| text.split_once('='));
    match split {
        Some((name, path)) if !name.is_empty() && !name.contains(['/', '\\']) => {
            (Some(name.to_owned()), PathBuf::from(path))
        }
        _ => (None, argument.to_owned()),
    }
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
pub(super) fn model(
    args: &RunArgs,
    class_path: &[PathBuf],
    options: &Options,
    voice: Voice,
) -> Result<Model> {
    match (&args.model, class_path.is_empty()) {
        (Some(_), false) => Err(Usage("give a model or jars, not both".to_owned()).into()),
        (Some(path), true) => Ok(Model::read(path)?),
        (None, false) => {
            let model = analyze::analyze(class_path, options, voice)?;
            voice.say(&analyze::counts(&model));
            Ok(model)
        }
        (None, true) if args.table.exists() => Ok(Table::open(&args.table)?.model()?),
        (None, true) => Err(Usage("no model: give jars, or --model MODEL".to_owned()).into()),
    }
}
