//! What was typed, as values: flags and their help. Nothing here touches a file, and nothing but the
//! commands knows of it.

mod asking;
mod evaluate;
mod making;
mod profile;
mod showing;
mod values;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

pub(crate) use asking::{ConfidenceArgs, QueryArgs, SqlArgs};
pub(crate) use evaluate::EvaluateArgs;
pub(crate) use making::{AnalyzeArgs, FollowArgs, LeftArg, LogArgs, MapArgs, ReduceArgs, RunArgs, ThinArgs};
pub(crate) use profile::{CompareArgs, ProfileArgs};
pub(crate) use showing::{ExportArgs, ModelArgs, RelatedArgs, ServeArgs, Show, ShowArgs, TraceArg};

/// Tells what every request of a JVM distributed system did, from the logs it
/// already writes.
#[derive(Debug, Parser)]
#[command(name = "lprof", version, arg_required_else_help = true)]
#[command(after_help = "The shortest useful call:\n  lprof run --table t app.jar logs/")]
pub(crate) struct Args {
    /// Print errors only
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Print more of what is done, and why
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
    /// Threads to work with [default: one per core]
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Find log points and requests in class files, once per release
    Analyze(AnalyzeArgs),
    /// Read the logs of one node into request accumulators
    Map(MapArgs),
    /// Add the requests of map outputs to a table
    Reduce(ReduceArgs),
    /// Analyze, map and reduce on this machine
    Run(RunArgs),
    /// Go on adding what logs that grow, and are rotated, say, until a signal ends it
    Follow(FollowArgs),
    /// Take detail of old requests out of a table, so that it can go on for years
    Thin(ThinArgs),
    /// Ask a table; without a query, prompt for them
    Sql(SqlArgs),
    /// Ask what led to what: a query in the language of Pivot Tracing
    Query(QueryArgs),
    /// Say where the time of requests goes, and why the slow ones differ
    Profile(ProfileArgs),
    /// Tell what differs between the requests of two tables
    Compare(CompareArgs),
    /// Show what was found, and why
    Show(ShowArgs),
    /// List other requests that have to do with one, though no code leads from one to the other
    Related(RelatedArgs),
    /// Write requests as traces for Jaeger, OpenTelemetry, Zipkin, Perfetto or Chrome
    Export(ExportArgs),
    /// Serve a table as a page and to Jaeger's, on this machine
    Serve(ServeArgs),
    /// Score a table against the truth
    Evaluate(EvaluateArgs),
}

/// The arguments of the command, the first of which is its name; else how it ends, after the words that
/// were said on it.
pub(crate) fn parsed(arguments: impl Iterator<Item = OsString>) -> Result<Args, ExitCode> {
    Args::try_parse_from(typed(arguments)).map_err(|message| {
        // Help and version are answers, not mistakes; clap knows which.
        let _ = message.print();
        ExitCode::from(u8::try_from(message.exit_code()).unwrap_or(2))
    })
}

/// What was typed, so that a text which begins with a comment of SQL is no flag: names of flags
/// hold no blanks and no line ends.
fn typed(arguments: impl Iterator<Item = OsString>) -> impl Iterator<Item = OsString> {
    arguments.map(|argument| {
        let text = argument.to_str().filter(|text| text.starts_with("--"));
        let name = text.map(|text| text.split('=').next().unwrap_or_default());
        if name.is_some_and(|name| name.contains(char::is_whitespace)) {
            let mut out = OsString::from("\n");
            out.push(&argument);
            return out;
        }
        argument
    })
}

#[cfg(test)]
mod tests {
    use super::{Args, Command, typed};
    use clap::{CommandFactory as _, Parser as _};

    #[test]
    fn comments_are_no_flags() {
        for query in ["-- a comment\nselect 1", "--comment\nselect 1", "--a = b\nselect 1"] {
            let words = ["lprof", "sql", "--table", "t", query].map(Into::into);
            let args = Args::try_parse_from(typed(words.into_iter())).expect("a query");
            let Command::Sql(sql) = args.command else { panic!("sql was asked for") };
            assert_eq!(sql.query.as_deref().map(str::trim), Some(query));
        }
        for flag in ["--fromat", "--fromat=a b"] {
            let words = ["lprof", "sql", "--table", "t", flag].map(Into::into);
            assert!(Args::try_parse_from(typed(words.into_iter())).is_err(), "{flag}");
        }
    }

    #[test]
    fn flags_do_not_contradict_each_other() {
        Args::command().debug_assert();
    }
}
