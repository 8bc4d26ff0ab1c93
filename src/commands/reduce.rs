//! `lprof reduce`: map outputs to a request table, by one process or, in three steps, by many. Doing it
//! again adds nothing.

use std::process::ExitCode;

use anyhow::Result;
use reducer::append::partition::{Learnt, Partition};

use super::progress::Progress;
use super::{exit_code, options, summary};
use crate::args::ReduceArgs;
use crate::model::Model;
use crate::output::{Voice, grouped};
use crate::pipeline::{self, MODEL_NAME, Mapped, Options};

pub(crate) fn run(args: &ReduceArgs, voice: Voice) -> Result<ExitCode> {
    if args.commit {
        return commit(args, voice);
    }
    let model_path = args.model.clone().unwrap_or_else(|| args.outputs[0].join(MODEL_NAME));
    let (model, options) = (Model::read(&model_path)?, options::of_reduce(args, voice));
    if let Some(partition) = args.partition {
        return decide(args, partition, &model, &options, voice);
    }
    let mapped = Mapped::read(&args.outputs, &model, &args.table, &options)?;
    if args.learn {
        return learn(args, mapped, &model, &options, voice);
    }
    let appended = pipeline::append(&args.table, &model, mapped, &options)?;
    let lost = summary::print(&args.table, &appended, voice)?;
    Ok(exit_code(lost > 0, args.strict))
}

/// The first of the three steps.
fn learn(
    args: &ReduceArgs,
    mapped: Mapped,
    model: &Model,
    options: &Options,
    voice: Voice,
) -> Result<ExitCode> {
    let progress = Progress::new(voice, "learning");
    let (outputs, config) = (mapped.into_outputs(), options.reducing());
    let learnt = Learnt::of(&args.table, &model.inner, outputs, &config, options.keep)?;
    drop(progress);
    match learnt.n_periods() {
        0 => voice.say("all of this is in the table already"),
        n => voice.say(&format!(
            "learnt of {} periods: run `lprof reduce --partition K/N` for each K up to some N, which need not be larger, then `--commit`",
            grouped(n as u64)
        )),
    }
    Ok(ExitCode::SUCCESS)
}

/// The second one, of the spans that a partition sees.
fn decide(
    args: &ReduceArgs,
    partition: Partition,
    model: &Model,
    options: &Options,
    voice: Voice,
) -> Result<ExitCode> {
    let (learnt, _) = Learnt::read(&args.table)?;
    let sees = learnt.sees(partition);
    drop(learnt);
    let mapped = Mapped::read_where(&args.outputs, model, &args.table, options, sees)?;
    let progress = Progress::new(voice, "stitching requests");
    let outputs = mapped.into_outputs();
    let is_new = Learnt::decide(&args.table, &model.inner, outputs, partition, options.memory_bytes)?;
    drop(progress);
    let Partition { number, of } = partition;
    let what = if is_new { "is decided" } else { "was decided before, or has nothing new" };
    voice.say(&format!("share {number} of {of} {what}"));
    Ok(ExitCode::SUCCESS)
}

/// The last one.
fn commit(args: &ReduceArgs, voice: Voice) -> Result<ExitCode> {
    let progress = Progress::new(voice, "joining shares");
    let appended = Learnt::commit(&args.table)?;
    drop(progress);
    let lost = summary::print(&args.table, &appended, voice)?;
    Ok(exit_code(lost > 0, args.strict))
}
