//! `lprof map --aggregate`: what a fixed query needs of one node, instead of its accumulators.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use schema::{InputAccount, NodeOutput};

use super::super::{exit_code, summary};

use crate::args::MapArgs;
use crate::model::Model;
use crate::output::Voice;

/// The query that was given, after a look whether a node can do its first half.
///
/// # Errors
/// It cannot, or has done so already.
pub(super) fn query(args: &MapArgs) -> Result<Option<String>> {
    let Some(file) = &args.aggregate else { return Ok(None) };
    let query = std::fs::read_to_string(file).with_context(|| format!("`{}`", file.display()))?;
    check(&query).with_context(|| format!("`{}`", file.display()))?;
    let path = schema::tables::aggregate_path(&args.output, &args.node);
    if path.exists() {
        bail!("`{}` is there already: give another folder with -o, or remove it first", path.display());
    }
    Ok(Some(query))
}

#[cfg(feature = "sql")]
fn check(query: &str) -> Result<()> {
    Ok(crate::query::check_aggregate(query)?)
}

#[cfg(not(feature = "sql"))]
fn check(_: &str) -> Result<()> {
    bail!("this lprof was built without SQL; build it with `cargo build --features sql`")
}

/// Writes what `query` needs of each of `outputs`, and says what was lost.
pub(super) fn run(
    args: &MapArgs,
    query: &str,
    model: &Model,
    outputs: Vec<NodeOutput>,
    voice: Voice,
) -> Result<ExitCode> {
    let of = |output: &NodeOutput| -> Vec<(String, InputAccount)> {
        output.inputs.iter().map(|account| (output.node.clone(), account.clone())).collect()
    };
    let inputs: Vec<(String, InputAccount)> = outputs.iter().flat_map(of).collect();
    summary::require_headers(inputs.iter().map(|(_, account)| account), voice)?;
    std::fs::create_dir_all(&args.output).with_context(|| format!("`{}`", args.output.display()))?;
    for output in outputs {
        write(&args.output, query, model.inner.clone(), output, voice)?;
    }
    summary::tell_damage(inputs.iter().map(|(node, account)| (node.as_str(), account)), voice);
    let totals = summary::Totals::of(inputs.iter().map(|(_, account)| account));
    Ok(exit_code(totals.lost() > 0, args.log.strict))
}

/// Writes the first half of `query` over the rows of `output`.
#[cfg(feature = "sql")]
fn write(folder: &Path, query: &str, model: schema::Model, output: NodeOutput, voice: Voice) -> Result<()> {
    let aggregate = crate::query::first_half(query, model, output)?;
    let n_bytes = schema::tables::write_aggregate(folder, &aggregate)?;
    let n_rows: usize = aggregate.batches.iter().map(schema::tables::RecordBatch::num_rows).sum();
    voice.say(&format!("{}: {n_rows} rows in {n_bytes} bytes leave the node", aggregate.node));
    Ok(())
}

#[cfg(not(feature = "sql"))]
fn write(_: &Path, query: &str, _: schema::Model, _: NodeOutput, _: Voice) -> Result<()> {
    check(query)
}
