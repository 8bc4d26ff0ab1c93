//! Flags of the commands that show a table to people and to other programs: `show`, `related`,
//! `export`, `serve`.

use std::path::PathBuf;
#[cfg(feature = "serve")]
use std::time::Duration;

use clap::{Args as ClapArgs, Subcommand, ValueEnum};

use super::ConfidenceArgs;
use super::values::{bytes, duration_us};
use crate::render::Format;
#[cfg(feature = "serve")]
use crate::serve;

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
    /// Compare it with this table, such as that of the last release
    #[arg(long, value_name = "TABLE")]
    pub(crate) compare: Option<PathBuf>,
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

#[cfg(feature = "serve")]
impl From<ServeArgs> for serve::Options {
    fn from(args: ServeArgs) -> Self {
        let ServeArgs {
            table,
            compare,
            http,
            postgres,
            password_file,
            tls_certificate,
            tls_key,
            timeout,
            memory,
            ..
        } = args;
        let timeout = Duration::from_micros(timeout.unsigned_abs());
        Self {
            table,
            first: compare,
            http,
            postgres,
            password_file,
            tls_certificate,
            tls_key,
            timeout,
            memory,
        }
    }
}
