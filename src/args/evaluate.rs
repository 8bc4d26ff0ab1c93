//! Flags of `lprof evaluate`.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::ConfidenceArgs;
use crate::render::Format;

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
