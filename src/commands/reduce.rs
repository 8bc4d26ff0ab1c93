//! `lprof reduce`: map outputs to a request table, by one process or, in three steps, by many. Doing it
//! again adds nothing.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};
use reducer::append::partition::{Learnt, Partition};
use reducer::spill::{SpillWriter, Spilled};
use schema::{Model, tables};

use super::map::{MODEL_NAME, config};
use super::{exit_code, summary};
use crate::args::ReduceArgs;
use crate::output::{Voice, grouped};
use crate::progress::Progress;

pub(crate) fn run(args: &ReduceArgs, voice: Voice) -> Result<ExitCode> {
    if args.commit {
        return commit(args, voice);
    }
    let progress = Progress::new(voice, "reading map outputs");
    let model_path = args.model.clone().unwrap_or_else(|| args.outputs[0].join(MODEL_NAME));
    let outputs = read_outputs(&args.outputs, &args.table, args.partition)?;
    let model = Model::read(&model_path)?;
    let digest = model.digest();
    for (path, model_digest, _) in &outputs {
        if *model_digest != digest {
            bail!("`{}`: made with another model than `{}`", path.display(), model_path.display());
        }
    }
    let outputs = outputs.into_iter().map(|(.., output)| output).collect();
    let mut config = config(args.window, &args.ids, &args.without_pass);
    config.memory_bytes = args.memory.map(|bytes| bytes as u64);
    if args.learn {
        progress.now("learning");
        let learnt = Learnt::of(&args.table, &model, outputs, &config, args.keep.into())?;
        drop(progress);
        match learnt.n_periods() {
            0 => voice.say("all of this is in the table already"),
            n => voice.say(&format!(
                "learnt of {} periods: run `lprof reduce --partition K/N` for each K up to some N, which need not be larger, then `--commit`",
                grouped(n as u64)
            )),
        }
        return Ok(ExitCode::SUCCESS);
    }
    progress.now("stitching requests");
    if let Some(partition) = args.partition {
        let is_new = Learnt::decide(&args.table, &model, outputs, partition, config.memory_bytes)?;
        drop(progress);
        let Partition { number, of } = partition;
        let what = if is_new { "is decided" } else { "was decided before, or has nothing new" };
        voice.say(&format!("share {number} of {of} {what}"));
        return Ok(ExitCode::SUCCESS);
    }
    let appended = reducer::append::append(&args.table, &model, outputs, &config, args.keep.into())?;
    drop(progress);
    let lost = summary::print(&args.table, &appended, voice)?;
    Ok(exit_code(lost > 0, args.strict))
}

fn commit(args: &ReduceArgs, voice: Voice) -> Result<ExitCode> {
    let progress = Progress::new(voice, "joining shares");
    let appended = Learnt::commit(&args.table)?;
    drop(progress);
    let lost = summary::print(&args.table, &appended, voice)?;
    Ok(exit_code(lost > 0, args.strict))
}

/// The outputs in `folders`, each with its path and the digest of its model; their spans, or those
/// that a partition sees, go to where `table` is.
fn read_outputs(
    folders: &[PathBuf],
    table: &Path,
    partition: Option<Partition>,
) -> Result<Vec<(PathBuf, u128, Spilled)>> {
    let learnt = partition.map(|_| Learnt::read(table)).transpose()?;
    let sees = partition.zip(learnt).map(|(partition, (learnt, _))| learnt.sees(partition));
    let is_wanted = |start_us, end_us, line| sees.as_ref().is_none_or(|sees| sees(start_us, end_us, line));
    let mut outputs = Vec::new();
    for folder in folders {
        let paths = tables::node_outputs(folder)?;
        if paths.is_empty() {
            bail!("`{}`: no map output in this folder", folder.display());
        }
        for path in paths {
            let mut spill = SpillWriter::create(table)?;
            let output =
                tables::read_node_output_where(&path, is_wanted, |part| spill.add(part, Vec::new()))?;
            spill.add(Vec::new(), output.unattributed)?;
            outputs.push((path, output.model_digest, spill.finish(&output.node, output.inputs)?));
        }
    }
    Ok(outputs)
}
