//! The commands, one file each; this one holds what they share: the choice of
//! a command, wrong usage, and the exit code of work that lost something.

mod analyze;
mod compare;
mod evaluate;
mod export;
mod follow;
mod map;
mod profile;
mod query;
mod reduce;
mod related;
mod run;
mod serve;
mod show;
mod sql;
mod summary;
mod thin;

use std::fmt;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use reducer::table::Manifest;

use crate::args::{Args, Command, ConfidenceArgs, KeepArg};
use crate::output::Voice;
use crate::table::confident::{self, Confident};

/// Wrong usage that only shows when a command looks at its arguments: exit code 2.
#[derive(Debug)]
pub(crate) struct Usage(pub(crate) String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// A fault in a text that the user gave, shown in several lines: exit code 1.
#[derive(Debug)]
pub(crate) struct InText(pub(crate) String);

impl fmt::Display for InText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InText {}

/// Runs the command that was typed.
pub(crate) fn run(args: Args) -> Result<ExitCode> {
    let voice = Voice { quiet: args.quiet, verbose: args.verbose };
    if let Some(n) = args.threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(usize::from(n));
        pool.build_global().context("cannot start the threads")?;
    }
    match args.command {
        Command::Analyze(args) => analyze::run(&args, voice),
        Command::Map(args) => map::run(&args, voice),
        Command::Reduce(args) => reduce::run(&args, voice),
        Command::Run(args) => run::run(&args, voice),
        Command::Follow(args) => follow::run(&args, voice),
        Command::Thin(args) => thin::run(&args, voice),
        Command::Sql(mut args) => {
            let _split = split(args.table.as_mut(), args.confidence, voice)?;
            sql::run(&args, voice)
        }
        Command::Query(mut args) => {
            let _split = split(Some(&mut args.table), args.confidence, voice)?;
            query::run(&args, voice)
        }
        Command::Profile(mut args) => {
            let _split = split(args.table.as_mut(), args.confidence, voice)?;
            profile::run(&args, voice)
        }
        Command::Compare(args) => compare::run(&args, voice),
        Command::Related(args) => related::run(&args, voice),
        Command::Show(args) => show::run(args.what, voice),
        Command::Export(mut args) => {
            let _split = split(Some(&mut args.table), args.confidence, voice)?;
            export::run(&args, voice)
        }
        Command::Serve(mut args) => {
            let _split = split(Some(&mut args.table), args.confidence, voice)?;
            serve::run(&args, voice)
        }
        Command::Evaluate(mut args) => {
            let _split = split(Some(&mut args.table), args.confidence, voice)?;
            evaluate::run(&args, voice)
        }
    }
}

/// Says what is not in a table that was thinned, of the tables that are asked.
fn note_thinned(manifest: &Manifest, tables: &[&str], voice: Voice) {
    for note in tables.iter().filter_map(|table| manifest.thinned.note(table)) {
        voice.say(&format!("note: {note}"));
    }
}

/// Puts in the place of a table that is asked one that is split where it is not sure enough.
fn split(table: Option<&mut PathBuf>, confidence: ConfidenceArgs, voice: Voice) -> Result<Option<Confident>> {
    match table {
        Some(table) => confident::split(table, confidence.min_confidence, voice),
        None => Ok(None),
    }
}

/// 0, or 1 if something was lost and the user wants to know it from the code.
fn exit_code(lost: bool, strict: bool) -> ExitCode {
    if lost && strict { ExitCode::from(1) } else { ExitCode::SUCCESS }
}

impl From<KeepArg> for reducer::finish::Keep {
    fn from(keep: KeepArg) -> Self {
        match keep {
            KeepArg::Requests => Self::Requests,
            KeepArg::Spans => Self::Spans,
            KeepArg::Events => Self::Events,
        }
    }
}
