//! The commands, one file each; this one holds what they share: the choice of
//! a command, wrong usage, and the exit code of work that lost something.

mod analyze;
mod compare;
mod evaluate;
mod export;
mod follow;
mod map;
mod options;
mod profile;
mod progress;
mod query;
mod reduce;
mod related;
mod run;
mod serve;
mod show;
mod sql;
mod summary;
mod thin;

use std::ffi::OsString;
use std::fmt;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use reducer::table::Manifest;

use crate::args::{self, Args, Command, ConfidenceArgs};
use crate::error;
use crate::output::Voice;
use crate::render;
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

/// Does what the command `lprof` does with these arguments, the first of which is its name, and
/// says what there is to say on standard output and standard error. The exit code is 0: done,
/// 1: failed, 2: wrong usage. A closed pipe is no failure: who reads has enough.
pub fn run(arguments: impl IntoIterator<Item = impl Into<OsString>>) -> ExitCode {
    let arguments = arguments.into_iter().map(Into::into);
    let args = match args::parsed(arguments) {
        Ok(args) => args,
        Err(code) => return code,
    };
    match command(args) {
        Ok(code) => code,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let text = error::sentence(error.chain().map(ToString::to_string));
            let message = text.lines().map(render::neutral).collect::<Vec<_>>().join("\n");
            let _ = writeln!(std::io::stderr(), "lprof: {message}");
            ExitCode::from(if error.is::<Usage>() { 2 } else { 1 })
        }
    }
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let is_pipe = |e: &std::io::Error| e.kind() == std::io::ErrorKind::BrokenPipe;
    error.chain().filter_map(|cause| cause.downcast_ref::<std::io::Error>()).any(is_pipe)
}

/// Runs the command that was typed.
fn command(args: Args) -> Result<ExitCode> {
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
    let Some(table) = table else { return Ok(None) };
    let split = confident::split(table, confidence.min_confidence)?;
    split.iter().flat_map(|split| &split.notes).for_each(|note| voice.say(note));
    Ok(split)
}

/// 0, or 1 if something was lost and the user wants to know it from the code.
fn exit_code(lost: bool, strict: bool) -> ExitCode {
    if lost && strict { ExitCode::from(1) } else { ExitCode::SUCCESS }
}
