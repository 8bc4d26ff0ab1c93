//! `lprof map`: the logs of one node to request accumulators. Map and combine;
//! only accumulators leave the node.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use schema::{Accumulator, Model, NodeOutput};

use super::summary;
use super::{Usage, exit_code};
use crate::args::{LogArgs, MapArgs};
use crate::output::Voice;
use crate::progress::Progress;
use crate::{layout_file, nodes};

/// The model's name in the folder of a map output.
pub(crate) const MODEL_NAME: &str = "model";

pub(crate) fn run(args: &MapArgs, voice: Voice) -> Result<ExitCode> {
    if args.node.is_empty() {
        return Err(Usage("--node: a node has a name".to_owned()).into());
    }
    let model = Model::read(&args.model)?;
    let mut logs = Vec::new();
    for path in &args.logs {
        logs.extend(nodes::log_files(path)?);
    }
    let output = map_node(&model, &args.node, &logs, &args.log, voice)?;
    summary::require_headers(&output, &|file| args.logs.iter().any(|named| named.as_os_str() == file), voice)?;
    std::fs::create_dir_all(&args.output).with_context(|| format!("`{}`", args.output.display()))?;
    model.write(&args.output.join(MODEL_NAME))?;
    schema::tables::write_node_output(&args.output, &model, &output, &|a| shuffle_key(&model, a))?;
    let totals = summary::Totals::of(output.inputs.iter());
    voice.say(&format!("{}: {} in {} accumulators", args.node, totals.sentence(), output.accumulators.len()));
    summary::tell_damage(output.inputs.iter().map(|input| (args.node.as_str(), input)), voice);
    Ok(exit_code(totals.lost() > 0, args.log.strict))
}

/// Maps and combines the logs of one node.
pub(crate) fn map_node(model: &Model, node: &str, logs: &[PathBuf], args: &LogArgs, voice: Voice) -> Result<NodeOutput> {
    let progress = Progress::new(voice, &format!("reading the logs of {node}"));
    let layout = match &args.layout_from {
        Some(path) => Some(layout_file::read(path)?),
        None => args.layout.clone(),
    };
    let output = call_mapper(model, node, logs, layout.as_deref(), args)?;
    progress.now(&format!("combining the accumulators of {node}"));
    let output = reducer::combine(model, output, &config(args.window));
    drop(progress);
    let layouts: std::collections::BTreeSet<&str> = output.inputs.iter().map(|input| input.layout.as_str()).collect();
    for layout in layouts {
        voice.tell(&format!("{node}: layout {layout}"));
    }
    Ok(output)
}

/// The reducer's bounds for a window.
pub(crate) fn config(window_us: i64) -> reducer::Config {
    reducer::Config { window_us, ..reducer::Config::default() }
}

fn shuffle_key(model: &Model, accumulator: &Accumulator) -> i64 {
    let _ = (model, accumulator);
    0
}

fn call_mapper(
    model: &Model,
    node: &str,
    logs: &[PathBuf],
    layout: Option<&str>,
    args: &LogArgs,
) -> Result<NodeOutput> {
    let _ = (model, node, logs, layout, args);
    anyhow::bail!("the mapper is not in this build")
}
