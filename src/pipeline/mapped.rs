//! What was made of the logs of nodes, on its way to a table: spans, and the account of every log.

use std::path::{Path, PathBuf};

use reducer::spill::{SpillWriter, Spilled};
use schema::{InputAccount, tables};

use super::options::Options;
use super::progress::Step;
use crate::error::{Result, bail};
use crate::model::Model;

/// The spans of any number of nodes, and the accounts of their logs. The spans lie in files without a
/// name that go with it.
#[derive(Debug)]
pub struct Mapped {
    pub(super) model_digest: u128,
    outputs: Vec<Spilled>,
}

impl Mapped {
    pub(super) fn new(model_digest: u128, outputs: Vec<Spilled>) -> Self {
        Self { model_digest, outputs }
    }

    /// Reads what [`Mapper::write`](super::Mapper::write) or `lprof map` has written to `folders`, all
    /// with `model`, for the table in the folder `table`, which need not be there.
    ///
    /// # Errors
    /// A folder without an output, one of another model, damaged files; I/O errors.
    pub fn read(folders: &[PathBuf], model: &Model, table: &Path, options: &Options) -> Result<Self> {
        Self::read_where(folders, model, table, options, |_, _, _| true)
    }

    /// The same of spans for whose times, µs, and line `is_wanted`.
    pub(crate) fn read_where(
        folders: &[PathBuf],
        model: &Model,
        table: &Path,
        options: &Options,
        is_wanted: impl Fn(i64, i64, u64) -> bool,
    ) -> Result<Self> {
        let _step = options.begin(Step::Collect);
        let model_digest = model.inner.digest();
        let mut outputs = Vec::new();
        for folder in folders {
            let paths = tables::node_outputs(folder)?;
            if paths.is_empty() {
                bail!(NotFound: "`{}`: no map output in this folder", folder.display());
            }
            for path in paths {
                let mut spill = SpillWriter::create(table)?;
                let output =
                    tables::read_node_output_where(&path, &is_wanted, |part| spill.add(part, Vec::new()))?;
                if output.model_digest != model_digest {
                    bail!(Mismatch: "`{}`: made with another model than the one that is given", path.display());
                }
                spill.add(Vec::new(), output.unattributed)?;
                outputs.push(spill.finish(&output.node, output.inputs)?);
            }
        }
        Ok(Self { model_digest, outputs })
    }

    /// Adds others, of the same model.
    ///
    /// # Errors
    /// They are of another one.
    pub fn add(&mut self, others: Self) -> Result<()> {
        if others.model_digest != self.model_digest {
            bail!(Mismatch: "spans of two models do not belong together");
        }
        self.outputs.extend(others.outputs);
        Ok(())
    }

    /// The account of each log, with its node.
    pub fn inputs(&self) -> impl Iterator<Item = (&str, &InputAccount)> + Clone {
        self.outputs.iter().flat_map(|output| output.inputs.iter().map(|input| (output.node.as_str(), input)))
    }

    /// What is to be said of logs of which nothing could be read.
    ///
    /// # Errors
    /// They are all like that.
    pub fn check(&self) -> Result<Vec<String>> {
        unread(self.inputs().map(|(_, input)| input))
    }

    pub(crate) fn into_outputs(self) -> Vec<Spilled> {
        self.outputs
    }
}

/// Records of a log that have a header.
pub(crate) fn n_headed(input: &InputAccount) -> u64 {
    input.n_attributed + input.n_unattributed + input.n_rejected
}

/// What is to be said of each log that has no header that could be read: one bad log of many harms only
/// itself.
///
/// # Errors
/// They are all like that.
pub(crate) fn unread<'a>(inputs: impl Iterator<Item = &'a InputAccount> + Clone) -> Result<Vec<String>> {
    let messages = inputs.clone().filter(|input| input.n_bytes > 0 && n_headed(input) == 0).map(|input| {
        let why = input.damage.last().map_or("no line has a header of a known layout", String::as_str);
        let told = why.contains("--layout") || why.contains("not read");
        let next = if told { "" } else { "; give its layout with --layout" };
        format!("`{}`: {why}{next}", input.file)
    });
    let messages: Vec<String> = messages.collect();
    if let Some(first) = messages.first().filter(|_| inputs.clone().all(|input| n_headed(input) == 0)) {
        bail!(Empty: "{first}");
    }
    Ok(messages)
}
