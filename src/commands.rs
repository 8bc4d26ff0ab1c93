//! The commands, one file each; this one holds what they share: the choice of
//! a command, wrong usage, and the exit code of work that lost something.

mod analyze;
mod evaluate;
mod export;
mod map;
mod profile;
mod query;
mod reduce;
mod run;
mod serve;
mod show;
mod sql;
mod summary;

use std::fmt;
use std::process::ExitCode;

use anyhow::{Context as _, Result};

use crate::args::{Args, Command, KeepArg};
use crate::output::Voice;

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
        Command::Sql(args) => sql::run(&args, voice),
        Command::Query(args) => query::run(&args, voice),
        Command::Profile(args) => profile::run(&args, voice),
        Command::Show(args) => show::run(args.what, voice),
        Command::Export(args) => export::run(&args, voice),
        Command::Serve(args) => serve::run(&args, voice),
        Command::Evaluate(args) => evaluate::run(&args, voice),
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
