//! What was typed of how a table is made, as the library's options.

use anyhow::Result;
use schema::{Pass, Passes};

use super::{Usage, progress};
use crate::args::{LogArgs, ReduceArgs, RunArgs};
use crate::output::Voice;
use crate::pipeline::{Layouts, Options};

/// How logs are read. Fails if that cannot be used: before the work, not after it.
pub(super) fn of_logs(args: &LogArgs, voice: Voice) -> Result<Options> {
    let layouts = match (&args.layout, &args.layout_from) {
        (Some(pattern), _) => Layouts::pattern(pattern).map_err(|e| Usage(format!("--layout: {e}")))?,
        (None, Some(path)) => Layouts::configuration(path)?,
        (None, None) => Layouts::default(),
    };
    for warning in layouts.warnings() {
        voice.say(&format!("warning: {warning}"));
    }
    let zone = args.tz.as_deref().map(str::parse).transpose();
    Ok(Options {
        layouts,
        zone: zone.map_err(|e| Usage(format!("--tz: {e}")))?,
        date: args.date,
        ids: args.ids.clone().into(),
        window: args.window(),
        without: without(&args.without_pass),
        progress: progress::of_pipeline(voice),
        ..Options::default()
    })
}

/// How a table is made at once.
pub(super) fn of_run(args: &RunArgs, voice: Voice) -> Result<Options> {
    Ok(Options { rules: args.rules.clone(), keep: args.keep.into(), ..of_logs(&args.log, voice)? })
}

/// How requests are made of map outputs.
pub(super) fn of_reduce(args: &ReduceArgs, voice: Voice) -> Options {
    Options {
        ids: args.ids.clone().into(),
        window: args.window(),
        keep: args.keep.into(),
        memory_bytes: args.memory.map(|bytes| bytes as u64),
        without: without(&args.without_pass),
        progress: progress::of_pipeline(voice),
        ..Options::default()
    }
}

/// The passes that are left out.
fn without(passes: &[Pass]) -> Passes {
    passes.iter().fold(Passes::default(), |passes, pass| passes.with(*pass))
}
