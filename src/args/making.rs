//! Flags of the commands that make tables: `analyze`, `map`, `reduce`, `run`, `follow`, `thin`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args as ClapArgs, ValueEnum};
use reducer::append::partition::Partition;
use schema::Pass;

use super::values::{bytes, day, duration_us, instant_us, partition, pass, period_us};
use crate::pipeline::{Keep, KnownIds};

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

impl From<IdArgs> for KnownIds {
    fn from(IdArgs { with, without }: IdArgs) -> Self {
        Self { with, without }
    }
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

impl LogArgs {
    /// The longest silence within a request.
    pub(crate) fn window(&self) -> Duration {
        Duration::from_micros(self.window.unsigned_abs())
    }
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

impl From<KeepArg> for Keep {
    fn from(keep: KeepArg) -> Self {
        match keep {
            KeepArg::Requests => Self::Requests,
            KeepArg::Spans => Self::Spans,
            KeepArg::Events => Self::Events,
        }
    }
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

impl ReduceArgs {
    /// The longest silence within a request.
    pub(crate) fn window(&self) -> Duration {
        Duration::from_micros(self.window.unsigned_abs())
    }
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
