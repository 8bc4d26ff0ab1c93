//! `lprof reduce`: map outputs to a request table. Doing it again adds nothing.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use schema::{Model, NodeOutput, Passes, tables};

use super::map::{MODEL_NAME, config};
use super::{exit_code, summary};
use crate::args::ReduceArgs;
use crate::output::Voice;
use crate::progress::Progress;

pub(crate) fn run(args: &ReduceArgs, voice: Voice) -> Result<ExitCode> {
    let progress = Progress::new(voice, "reading map outputs");
    let model_path = args.model.clone().unwrap_or_else(|| args.outputs[0].join(MODEL_NAME));
    let outputs = read_outputs(&args.outputs)?;
    let model = Model::read(&model_path)?;
    let digest = model.digest();
    for (path, output) in &outputs {
        if output.model_digest != digest {
            bail!("`{}`: made with another model than `{}`", path.display(), model_path.display());
        }
    }
    progress.now("stitching requests");
    let outputs = outputs.into_iter().map(|(_, output)| output).collect();
    let appended = reducer::append::append(
        &args.table,
        &model,
        outputs,
        &config(args.window, Passes::default()),
        args.keep.into(),
    )?;
    drop(progress);
    let lost = summary::print(&args.table, &appended, voice)?;
    Ok(exit_code(lost > 0, args.strict))
}

fn read_outputs(folders: &[PathBuf]) -> Result<Vec<(PathBuf, NodeOutput)>> {
    let mut outputs = Vec::new();
    for folder in folders {
        let paths = tables::node_outputs(folder)?;
        if paths.is_empty() {
            bail!("`{}`: no map output in this folder", folder.display());
        }
        for path in paths {
            let output = tables::read_node_output(&path)?;
            outputs.push((path, output));
        }
    }
    Ok(outputs)
}
