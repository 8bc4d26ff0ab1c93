//! What was typed, as values: flags and their help. Nothing here touches a file.

mod values;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use schema::Pass;

use reducer::append::partition::Partition;
use values::{bytes, day, duration_us, instant_us, partition, pass, percent, period_us, share};

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

#[derive(Debug, ClapArgs)]
pub(crate) struct AnalyzeArgs {
    /// Jars, wars and folders of classes, in class-path order
    #[arg(required = true, value_name = "JAR|DIR|WAR")]
    pub(crate) class_path: Vec<PathBuf>,
    /// Where to write the model
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) output: PathBuf,
    /// Rules that force or forbid top-level methods, pairs and identifiers
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: Option<PathBuf>,
    /// Exit with 1 if any class was skipped
    #[arg(long)]
    pub(crate) strict: bool,
}

/// Which fields of the logs hold the ids of requests.
#[derive(Clone, Debug, Default, ClapArgs)]
pub(crate) struct IdArgs {
    /// Tell requests by the ids in this field, whatever is found of it: an MDC key, a position
    /// `[n]` in the layout, a key of JSON, a name before values in messages (`key=`); repeatable
    /// [default: found]
    #[arg(long = "id", value_name = "FIELD")]
    pub(crate) with: Vec<String>,
    /// Tell no requests by the ids in this field; repeatable
    #[arg(long = "no-id", value_name = "FIELD")]
    pub(crate) without: Vec<String>,
}

/// How logs are read.
#[derive(Clone, Debug, Default, ClapArgs)]
pub(crate) struct LogArgs {
    /// Layout of the logs, a log4j, log4j 2 or logback pattern [default: found from the first records]
    #[arg(long, value_name = "PATTERN", conflicts_with = "layout_from")]
    pub(crate) layout: Option<String>,
    /// Take the layout from a logging configuration: properties, XML, YAML or JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) layout_from: Option<PathBuf>,
    /// Zone of time stamps that name none, e.g. Europe/Berlin [default: UTC]
    #[arg(long, value_name = "ZONE")]
    pub(crate) tz: Option<String>,
    /// Day of a first time stamp that names none, e.g. 2026-11-21 [default: by when the file was
    /// last written]
    #[arg(long, value_name = "DAY", value_parser = day)]
    pub(crate) date: Option<(i16, u8, u8)>,
    #[command(flatten)]
    pub(crate) ids: IdArgs,
    /// Longest silence within a request
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration_us)]
    pub(crate) window: i64,
    /// Exit with 1 if any record is in no request
    #[arg(long)]
    pub(crate) strict: bool,
    /// For developers: leave out a pass that joins records or spans, to see what it earns
    #[arg(long, value_name = "PASS", hide = true, value_parser = pass)]
    pub(crate) without_pass: Vec<Pass>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct MapArgs {
    /// The model of the program that logged
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// Label of the log source: a host, or a process on it
    #[arg(long, value_name = "NAME")]
    pub(crate) node: String,
    /// Logs, also rotated and compressed; folders of logs; `-` for standard input
    #[arg(required = true, value_name = "LOG|DIR|-")]
    pub(crate) logs: Vec<PathBuf>,
    /// Folder for the accumulators
    #[arg(short, long, value_name = "OUT_DIR")]
    pub(crate) output: PathBuf,
    /// Write what this query needs of the node instead, an aggregate over `events` in SQL; `lprof
    /// sql --aggregates` puts together what the nodes wrote
    #[arg(long, value_name = "QUERY.sql")]
    pub(crate) aggregate: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) log: LogArgs,
}

/// Detail that a table keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeepArg {
    /// Requests and the nodes they were on
    Requests,
    /// Spans too
    Spans,
    /// Events too
    #[default]
    Events,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ReduceArgs {
    /// Folders that `lprof map` wrote
    #[arg(required_unless_present = "commit", value_name = "OUT_DIR")]
    pub(crate) outputs: Vec<PathBuf>,
    /// First of three steps in which many processes reduce: learn from all outputs what the others
    /// go by, e.g. when periods begin
    #[arg(long, conflicts_with_all = ["partition", "commit"])]
    pub(crate) learn: bool,
    /// Second step, for each K from 1 to N, on any machine that sees the same table and outputs, as
    /// often and in which order you like: decide the K-th of N shares
    #[arg(long, value_name = "K/N", value_parser = partition,
        conflicts_with_all = ["commit", "keep", "window", "with", "without", "without_pass"])]
    pub(crate) partition: Option<Partition>,
    /// Last step: make all shares visible in the table at once
    #[arg(long, conflicts_with_all = ["outputs", "model", "keep", "window", "with", "without", "without_pass"])]
    pub(crate) commit: bool,
    /// Folder of the request table; made if it is not there
    #[arg(long, value_name = "TABLE")]
    pub(crate) table: PathBuf,
    /// The model [default: the one beside the accumulators]
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<PathBuf>,
    /// Detail to keep of each request
    #[arg(long, value_name = "DETAIL", value_enum, default_value_t)]
    pub(crate) keep: KeepArg,
    /// Longest silence within a request
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration_us)]
    pub(crate) window: i64,
    /// Memory for the periods that are decided side by side [default: as many are as there are threads]
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub(crate) memory: Option<usize>,
    #[command(flatten)]
    pub(crate) ids: IdArgs,
    /// Exit with 1 if any record is in no request
    #[arg(long)]
    pub(crate) strict: bool,
    /// For developers: leave out a pass that joins spans, to see what it earns
    #[arg(long, value_name = "PASS", hide = true, value_parser = pass)]
    pub(crate) without_pass: Vec<Pass>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct RunArgs {
    /// The model [default: made from the jars given, or the table's]
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<PathBuf>,
    /// Folder of the request table; made if it is not there
    #[arg(long, value_name = "TABLE")]
    pub(crate) table: PathBuf,
    /// Logs and folders of logs, `NAME=` before a log names its node; jars and folders of classes
    #[arg(required = true, value_name = "JAR|[NAME=]LOG")]
    pub(crate) inputs: Vec<PathBuf>,
    /// Detail to keep of each request
    #[arg(long, value_name = "DETAIL", value_enum, default_value_t)]
    pub(crate) keep: KeepArg,
    /// Rules that force or forbid top-level methods, pairs and identifiers
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) log: LogArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct FollowArgs {
    /// How often the logs are looked at
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = period_us)]
    pub(crate) every: i64,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// What thinning leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LeftArg {
    /// Requests and their spans
    Spans,
    /// Requests and the nodes they were on
    Requests,
    /// How many requests of each type there were in each interval, and how long they took
    Intervals,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ThinArgs {
    /// Folder of the request table
    #[arg(long, value_name = "TABLE")]
    pub(crate) table: PathBuf,
    /// Thin what ended before this time: a day or a time, UTC unless it says so, or how long ago,
    /// e.g. 2026-11-21, 2026-11-21T10:00+01:00, 30d
    #[arg(long, value_name = "TIME", value_parser = instant_us)]
    pub(crate) before: i64,
    /// What is left of it
    #[arg(long, value_name = "DETAIL", value_enum)]
    pub(crate) keep: LeftArg,
    /// Length of the intervals of `--keep intervals`
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = duration_us)]
    pub(crate) interval: i64,
}

/// Form in which rows come out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Columns for people
    Table,
    /// An array of objects
    Json,
    /// Comma-separated values with a header
    Csv,
    /// A Parquet file
    Parquet,
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
impl LimitArgs {
    /// The same for the engine.
    pub(crate) fn limits(self) -> crate::query::Limits {
        let timeout = self.timeout.map(|us| std::time::Duration::from_micros(us.unsigned_abs()));
        crate::query::Limits { memory_bytes: self.memory, timeout, ..crate::query::Limits::default() }
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

/// What a profile says.
const PROFILE: &str = "\
Without --layer, --critical-path, --speed-up or --compare it is a report: what only the slowest
requests do, then the operations with the most time of their own, each followed to the span, the
part of it and the region of code in which that time is. Metrics are those of tprof (SoCC'21):
  operation       from the start to the end of a span
  operation_self  without the time in which spans run that it waits for
  child_diff      layer 3: from the start of a child to that of the next one
  end_diff        layer 3: after the last child
  subspan         layer 4: between a start of a child, or the end, and what happened before
  hand_over       from the end of a span to the start of one for which nobody waits";

#[derive(Debug, ClapArgs)]
#[command(after_help = PROFILE)]
pub(crate) struct ProfileArgs {
    /// Folder of the request table
    #[arg(long, value_name = "TABLE", required_unless_present = "traces", conflicts_with = "traces")]
    pub(crate) table: Option<PathBuf>,
    /// Traces instead of a table: Jaeger JSON, OTLP JSON, Zipkin v2 JSON
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) traces: Vec<PathBuf>,
    /// Take these requests only, a condition in SQL on `requests`
    #[arg(long = "where", value_name = "SQL", requires = "table")]
    pub(crate) condition: Option<String>,
    /// The slowest requests of each group that are its tail, in percent
    #[arg(long, value_name = "PERCENT", default_value = "10", value_parser = percent)]
    pub(crate) tail: f64,
    /// Requests that a line of the report must be seen in
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) min_support: u64,
    /// Operations in the report, and lines of a comparison
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) top: usize,
    /// All metrics of all groups of a layer, 1 to 4
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=4), conflicts_with_all = ["critical_path", "speed_up", "compare"])]
    pub(crate) layer: Option<u8>,
    /// What of each type of requests is on their critical paths, and how much slack the rest has
    #[arg(long, conflicts_with_all = ["speed_up", "compare"])]
    pub(crate) critical_path: bool,
    /// How long requests would take if an operation were quicker, e.g. `Class.method=2x`
    #[arg(long, value_name = "OPERATION=FACTOR", conflicts_with = "compare")]
    pub(crate) speed_up: Vec<String>,
    /// What differs between two populations, each a condition in SQL on `requests`
    #[arg(long, value_names = ["SQL", "SQL"], num_args = 2, requires = "table", conflicts_with = "condition")]
    pub(crate) compare: Vec<String>,
    /// Write the report as a page for a browser too
    #[arg(long, value_name = "FILE", conflicts_with_all = ["layer", "critical_path", "speed_up", "compare"])]
    pub(crate) html: Option<PathBuf>,
    /// Leave out regions of code: events are not read then
    #[arg(long)]
    pub(crate) no_regions: bool,
    /// Form of the output
    #[arg(long, value_enum, default_value = "table")]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) confidence: ConfidenceArgs,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Log points and top-level methods of two releases are matched by name, by place and by what they print. What \
is told is more than chance, over all that is looked at; bounds are of a bootstrap, at 95 %.")]
pub(crate) struct CompareArgs {
    /// Folder of the request table to compare with, such as that of the last release
    #[arg(value_name = "FIRST")]
    pub(crate) first: PathBuf,
    /// Folder of the request table that is compared
    #[arg(value_name = "SECOND")]
    pub(crate) second: PathBuf,
    /// Compare these requests only, a condition in SQL on `requests` of either table
    #[arg(long = "where", value_name = "SQL")]
    pub(crate) condition: Option<String>,
    /// Requests that must do what only one of the tables has
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) min_support: u64,
    /// Lines of each part
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) top: usize,
    /// Leave out regions of code: events are not read then
    #[arg(long)]
    pub(crate) no_regions: bool,
    /// Form of the output
    #[arg(long, value_enum, default_value = "table")]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) confidence: ConfidenceArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ShowArgs {
    #[command(subcommand)]
    pub(crate) what: Show,
}

/// Where a model is.
#[derive(Clone, Debug, Default, ClapArgs)]
pub(crate) struct ModelArgs {
    /// The model
    #[arg(long, value_name = "MODEL", conflicts_with = "table")]
    pub(crate) model: Option<PathBuf>,
    /// A table: the model it was last made with
    #[arg(long, value_name = "TABLE")]
    pub(crate) table: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Show {
    /// Everything the analysis found
    Model {
        /// The model
        #[arg(value_name = "MODEL", conflicts_with_all = ["model", "table"])]
        path: Option<PathBuf>,
        #[command(flatten)]
        source: ModelArgs,
        /// Form of the output [default: for people]
        #[arg(long, value_enum)]
        format: Option<Format>,
        /// Threads, top-level methods and log points in figures
        #[arg(long)]
        table2: bool,
        /// How well the text of log points is known
        #[arg(long)]
        coverage: bool,
    },
    /// A log point: its templates, variables, loggers
    LogPoint {
        /// Its number, or `Class.method:line`, also without package or line
        what: String,
        #[command(flatten)]
        source: ModelArgs,
    },
    /// A top-level method: its identifiers, order, pairs
    Method {
        /// `Class.method`, also without package
        what: String,
        #[command(flatten)]
        source: ModelArgs,
    },
    /// The pairs between two top-level methods
    Pair {
        /// The sender, `Class.method`
        from: String,
        /// The receiver, `Class.method`
        to: String,
        #[command(flatten)]
        source: ModelArgs,
    },
    /// A request: its spans and records
    Request {
        /// Its id, or the beginning of it
        id: String,
        /// Folder of the request table
        #[arg(long, value_name = "TABLE")]
        table: PathBuf,
        #[command(flatten)]
        confidence: ConfidenceArgs,
    },
    /// What became of every input of a table
    Coverage {
        /// Folder of the request table
        #[arg(long, value_name = "TABLE")]
        table: PathBuf,
        /// Form of the rows [default: table on a terminal, csv in a pipe]
        #[arg(long, value_enum)]
        format: Option<Format>,
    },
}

#[derive(Debug, ClapArgs)]
pub(crate) struct RelatedArgs {
    /// The id of the request, or the beginning of it
    #[arg(value_name = "REQUEST")]
    pub(crate) id: String,
    /// Folder of the request table
    #[arg(long, value_name = "TABLE")]
    pub(crate) table: PathBuf,
    /// List so many, those first that are least likely by chance
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
    /// Form of the rows [default: table on a terminal, csv in a pipe]
    #[arg(long, value_enum)]
    pub(crate) format: Option<Format>,
}

/// Form of traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TraceArg {
    /// Jaeger's JSON, for its page
    Jaeger,
    /// OTLP as JSON, a request a line
    Otlp,
    /// OTLP as protobuf
    OtlpProtobuf,
    /// Zipkin's JSON, version 2
    Zipkin,
    /// Perfetto's protobuf
    Perfetto,
    /// The JSON of Chrome's trace viewer
    Chrome,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ExportArgs {
    /// Folder of the request table
    #[arg(long, value_name = "TABLE")]
    pub(crate) table: PathBuf,
    /// Form of the traces
    #[arg(long, value_enum)]
    pub(crate) format: TraceArg,
    /// This request alone, by its id or the beginning of it
    #[arg(long, value_name = "ID", conflicts_with = "condition")]
    pub(crate) request: Option<String>,
    /// Requests for which this holds, a condition in SQL on the columns of `requests` [default: all]
    #[arg(long = "where", value_name = "SQL")]
    pub(crate) condition: Option<String>,
    /// Tell what the log says of each event too, where the log can still be read
    #[arg(long)]
    pub(crate) text: bool,
    /// Where to write them [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) confidence: ConfidenceArgs,
}

#[derive(Clone, Debug, ClapArgs)]
#[cfg_attr(not(feature = "postgres"), allow(dead_code, reason = "flags are known to every build"))]
pub(crate) struct ServeArgs {
    /// Folder of the request table
    #[arg(long, value_name = "TABLE")]
    pub(crate) table: PathBuf,
    /// Address of the page and of its API; port 0 is one that is free
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8088")]
    pub(crate) http: std::net::SocketAddr,
    /// Answer the protocol of PostgreSQL too, at this address [without one: 127.0.0.1:5433]; from
    /// other machines only with a password and TLS
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "127.0.0.1:5433")]
    pub(crate) postgres: Option<std::net::SocketAddr>,
    /// A file whose first line is the password of --postgres, for any user [default: none is asked for]
    #[arg(long, value_name = "FILE", requires = "postgres")]
    pub(crate) password_file: Option<PathBuf>,
    /// Certificate of --postgres and those that vouch for it, PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_certificate: Option<PathBuf>,
    /// Its private key, PEM
    #[arg(long, value_name = "FILE", requires_all = ["tls_certificate", "postgres"])]
    pub(crate) tls_key: Option<PathBuf>,
    /// Longest time of a query
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = duration_us)]
    pub(crate) timeout: i64,
    /// Memory of sorts, joins and aggregates of all queries together, beyond which they go on on
    /// disk where they can
    #[arg(long, value_name = "SIZE", default_value = "192MiB", value_parser = bytes)]
    pub(crate) memory: usize,
    #[command(flatten)]
    pub(crate) confidence: ConfidenceArgs,
}

/// What the scores are.
const SCORES: &str = "\
A message is a record whose truth names a unit: the records that one request must hold.
  correct      its request holds its whole unit and no other op
  incomplete   a record of its unit is not in its request
  incorrect    its request holds another op
  failed       it has no request
  precision    b-cubed: the share of its request that is of its op
  recall       b-cubed: the share of its unit that is in its request; f: harmonic mean
  spans        the same of the span it is in; the truth is a run of records of one unit that
               one thread printed without another unit's between (records without a unit are
               in no span and end none)
  links        needed: one less than the spans of a unit; found: these spans less the requests
               they begin in; true: both ends hold a unit in common; false: they have ops, but
               none in common
  types        units whose request has an expected type (--types, or the truth's column stack)";

#[derive(Debug, ClapArgs)]
#[command(after_help = SCORES)]
pub(crate) struct EvaluateArgs {
    /// The truth: tab-separated, with a header naming node, line, log_point, unit, op
    #[arg(long, value_name = "TRUTH.tsv", required_unless_present = "by", conflicts_with = "by")]
    pub(crate) truth: Option<PathBuf>,
    /// Units to use instead of the truth's: node, line, unit
    #[arg(long, value_name = "FILE", requires = "truth")]
    pub(crate) cross: Option<PathBuf>,
    /// Take the truth from the logs: a key of the MDC that the layout prints, e.g. a trace id
    #[arg(long, value_name = "KEY")]
    pub(crate) by: Option<String>,
    /// Types that requests should have: tab-separated, with a header naming unit and types (patterns
    /// with `*`; types separated by blanks), and first (the log point of the unit's first record)
    #[arg(long, value_name = "FILE")]
    pub(crate) types: Option<PathBuf>,
    /// Tell what each pass has begun, joined and linked, and how much of it is true
    #[arg(long)]
    pub(crate) passes: bool,
    /// Tell how many of the links that are needed the model proposes at all
    #[arg(long)]
    pub(crate) ceiling: bool,
    /// Folder of the request table
    #[arg(long, value_name = "TABLE")]
    pub(crate) table: PathBuf,
    /// Form of the scores
    #[arg(long, value_enum, default_value = "table")]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) confidence: ConfidenceArgs,
}

/// What was typed, so that a text which begins with a comment of SQL is no flag: names of flags
/// hold no blanks and no line ends.
pub(crate) fn typed(arguments: impl Iterator<Item = OsString>) -> impl Iterator<Item = OsString> {
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
