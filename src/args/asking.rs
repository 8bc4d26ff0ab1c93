//! Flags of the commands that ask a table: `sql`, `query`; and what others have of them.

use std::path::PathBuf;
#[cfg(feature = "sql")]
use std::time::Duration;

use clap::builder::PossibleValue;
use clap::{Args as ClapArgs, ValueEnum};

use super::values::{bytes, duration_us, share};
#[cfg(feature = "sql")]
use crate::query::Limits;
use crate::render::Format;

impl ValueEnum for Format {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Table, Self::Json, Self::Csv, Self::Parquet]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (name, help) = match self {
            Self::Table => ("table", "Columns for people"),
            Self::Json => ("json", "An array of objects"),
            Self::Csv => ("csv", "Comma-separated values with a header"),
            Self::Parquet => ("parquet", "A Parquet file"),
        };
        Some(PossibleValue::new(name).help(help))
    }
}

/// How sure links have to be.
#[derive(Clone, Copy, Debug, Default, ClapArgs)]
pub(crate) struct ConfidenceArgs {
    /// Split requests at links that are less likely to be true than this, 0 to 1 [default: at none]
    #[arg(long, value_name = "P", value_parser = share)]
    pub(crate) min_confidence: Option<f64>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct SqlArgs {
    /// Folder of the request table
    #[arg(long, value_name = "TABLE", required_unless_present = "aggregates")]
    pub(crate) table: Option<PathBuf>,
    /// The query; none: a prompt
    pub(crate) query: Option<String>,
    /// Answer the query that `lprof map --aggregate` was given, from what it wrote on all nodes
    #[arg(long, value_name = "OUT_DIR", num_args = 1.., conflicts_with_all = ["table", "query", "nested_loop"])]
    pub(crate) aggregates: Vec<PathBuf>,
    /// Form of the rows [default: table on a terminal, csv in a pipe]
    #[arg(long, value_enum)]
    pub(crate) format: Option<Format>,
    /// Ask of each two rows whether one happened before the other, as a check
    #[arg(long)]
    pub(crate) nested_loop: bool,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) confidence: ConfidenceArgs,
}

/// What a query may take.
#[derive(Clone, Copy, Debug, ClapArgs)]
#[cfg_attr(not(feature = "sql"), allow(dead_code, reason = "flags are known to every build"))]
pub(crate) struct LimitArgs {
    /// Give a query up that is not answered within this time [default: none]
    #[arg(long, value_name = "TIME", value_parser = duration_us)]
    pub(crate) timeout: Option<i64>,
    /// Memory of sorts, joins and aggregates, beyond which they go on on disk where they can
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = bytes)]
    pub(crate) memory: usize,
}

#[cfg(feature = "sql")]
impl From<LimitArgs> for Limits {
    fn from(LimitArgs { timeout, memory }: LimitArgs) -> Self {
        let timeout = timeout.map(|us| Duration::from_micros(us.unsigned_abs()));
        Self { memory_bytes: memory, timeout, ..Self::default() }
    }
}

/// `lprof query --help` tells the language.
#[derive(Debug, ClapArgs)]
#[command(after_help = QUERY_HELP)]
pub(crate) struct QueryArgs {
    /// Folder of the request table
    #[arg(long, value_name = "TABLE")]
    pub(crate) table: PathBuf,
    /// The query, e.g. `From e In Class.method GroupBy e.host Select e.host, COUNT`; none: from a file or a pipe
    #[arg(conflicts_with = "file")]
    pub(crate) query: Option<String>,
    /// A file with the query
    #[arg(short, long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Form of the rows [default: table on a terminal, csv in a pipe]
    #[arg(long, value_enum)]
    pub(crate) format: Option<Format>,
    /// Print the SQL that it becomes, and ask nothing
    #[arg(long)]
    pub(crate) show_sql: bool,
    /// Print the rewrites that were made and the plan of the engine, and ask nothing
    #[arg(long, conflicts_with = "show_sql")]
    pub(crate) explain: bool,
    /// Without rewrites, and of each two events whether one happened before the other, as a check
    #[arg(long)]
    pub(crate) unoptimized: bool,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) confidence: ConfidenceArgs,
}

const QUERY_HELP: &str = "\
[Name:] From v In SOURCES
[Left] Join v In SOURCES On a -> b [And a -> b within 5s]
Where .. GroupBy .. Having .. Select [Distinct] .. [As name] OrderBy .. [Desc] Limit n

SOURCES   Class, Class.method, Class.method:line, \"text of a template\", * (any event),
          the Name of a query before; several with commas;
          First(..), FirstN(n, ..), MostRecent(..), MostRecentN(n, ..) of what is joined
a -> b    a must have happened before b; `not a -> b`: no such a
a ~> b    only clocks say so    a || b  nothing orders them    a >> b  b came by way of a
v.export  host, process, timestamp, thread, request, span, level, class, method, line,
          requestType, topLevel, and what the log point prints, by name
          COUNT, SUM, MIN, MAX, AVERAGE; times apart are in microseconds, 5s is a number";
