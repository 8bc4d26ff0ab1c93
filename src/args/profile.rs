//! Flags of `lprof profile` and `lprof compare`.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::ConfidenceArgs;
use super::values::percent;
use crate::render::Format;

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

/// What a comparison says.
const COMPARE: &str = "\
Log points and top-level methods of two releases are matched by name, by place and by what they print.
What is told is more than chance, over all that is looked at; bounds are of a bootstrap, at 95 %.";

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
#[command(after_help = COMPARE)]
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
    /// Write the comparison as a page for a browser too
    #[arg(long, value_name = "FILE")]
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
