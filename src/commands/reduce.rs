//! `lprof reduce`: map outputs to a request table. Doing it again adds nothing.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};
use reducer::spill::{SpillWriter, Spilled};
use schema::{Model, tables};

use super::map::{MODEL_NAME, config};
use super::{exit_code, summary};
use crate::args::ReduceArgs;
use crate::output::Voice;
use crate::progress::Progress;

pub(crate) fn run(args: &ReduceArgs, voice: Voice) -> Result<ExitCode> {
    let progress = Progress::new(voice, "reading map outputs");
    let model_path = args.model.clone().unwrap_or_else(|| args.outputs[0].join(MODEL_NAME));
    let outputs = read_outputs(&args.outputs, &args.table)?;
    let model = Model::read(&model_path)?;
    let digest = model.digest();
    for (path, model_digest, _) in &outputs {
        if *model_digest != digest {
            bail!("`{}`: made with another model than `{}`", path.display(), model_path.display());
        }
    }
    progress.now("stitching requests");
    let outputs = outputs.into_iter().map(|(.., output)| output).collect();
    let appended = reducer::append::append(
        &args.table,
        &model,
        outputs,
        &config(args.window, &args.ids, &args.without_pass),
        args.keep.into(),
    )?;
    drop(progress);
    let lost = summary::print(&args.table, &appended, voice)?;
    Ok(exit_code(lost > 0, args.strict))
}

/// The outputs in `folders`, each with its path and the digest of its model; their spans go to
/// where `table` is.
fn read_outputs(folders: &[PathBuf], table: &Path) -> Result<Vec<(PathBuf, u128, Spilled)>> {
    let mut outputs = Vec::new();
    for folder in folders {
        let paths = tables::node_outputs(folder)?;
        if paths.is_empty() {
            bail!("`{}`: no map output in this folder", folder.display());
        }
        for path in paths {
            let mut spill = SpillWriter::create(table)?;
            let output = tables::read_node_output_in_parts(&path, |part| spill.add(part, Vec::new()))?;
            spill.add(Vec::new(), output.unattributed)?;
            outputs.push((path, output.model_digest, spill.finish(&output.node, output.inputs)?));
        }
    }
    Ok(outputs)
}
