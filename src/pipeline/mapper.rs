//! Mapper: a model made ready to read logs, of any number of nodes.

use std::cmp::Reverse;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::ScopedJoinHandle;

use log_mapper::accumulate::Accumulated;
use log_mapper::{PatternSet, Source};
use reducer::spill::SpillWriter;
use schema::tables::NodeOutputWriter;
use schema::{InputAccount, NodeOutput};

use super::inputs::Inputs;
use super::logs::{self, Nodes};
use super::mapped::{Mapped, unread};
use super::options::Options;
use super::outputs::{MODEL_NAME, check_name, check_output};
use super::progress::Step;
use crate::error::{Context as _, Result};
use crate::model::Model;

/// A model made ready to read logs.
pub struct Mapper<'m> {
    model: &'m Model,
    patterns: PatternSet,
    config: log_mapper::Config,
    options: Options,
}

/// What a map has written to a folder.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Written {
    /// The account of each log, with its node.
    pub inputs: Vec<(String, InputAccount)>,
    /// Request accumulators, of which each is a span.
    pub n_accumulators: usize,
}

impl<'m> Mapper<'m> {
    /// Compiles the templates of `model`.
    #[must_use]
    pub fn new(model: &'m Model, options: &Options) -> Self {
        let _step = options.begin(Step::Compile);
        let patterns = options.threads.run(|| PatternSet::new(&model.inner));
        Self { model, patterns, config: options.mapping(), options: options.clone() }
    }

    /// What of the templates could not be compiled.
    #[must_use]
    pub fn diagnostics(&self) -> &[String] {
        self.patterns.diagnostics()
    }

    /// Finds out how the logs of `inputs` are read, and of which node each is: without what is none
    /// and what is there twice. Of a file with lines of several processes each is a node.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn look(&self, inputs: Inputs) -> Result<Nodes> {
        self.look_at(inputs, false)
    }

    /// The same of logs that are being written, without lines that are not whole.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn look_at_growing(&self, inputs: Inputs) -> Result<Nodes> {
        self.look_at(inputs, true)
    }

    fn look_at(&self, inputs: Inputs, is_growing: bool) -> Result<Nodes> {
        let _step = self.options.begin(Step::Look);
        self.options.threads.run(|| logs::of(inputs, &self.patterns, &self.config, is_growing))
    }

    /// Reads the logs of `nodes` for the table in the folder `table`, which need not be there. Spans
    /// are held on its disk, and of each in memory no more than what stitching sees of it.
    ///
    /// # Errors
    /// A log that cannot be opened; a full disk.
    pub fn map(&self, nodes: &Nodes, table: &Path) -> Result<Mapped> {
        let outputs = self.each(nodes, |node, sources| {
            let mut spill = SpillWriter::create(table)?;
            let take = |part: Accumulated| spill.add(part.accumulators, part.unattributed);
            let inputs = self.map_parts(node, sources, take)?;
            Ok(spill.finish(node, inputs)?)
        })?;
        Ok(Mapped::new(self.model.inner.digest(), outputs))
    }

    /// Reads the logs of `nodes`, one node after the other, and writes what was made of them to
    /// `folder`, with the model: what [`Mapped::read`] reads, here or on another machine. No text of
    /// the logs is in it. Memory is bounded by a part of a log.
    ///
    /// # Errors
    /// A log that cannot be opened; one node, of whose logs nothing can be read; a folder that holds
    /// an output of the node, or of another model; a name of a node that is too long for a file.
    pub fn write(&self, nodes: &Nodes, folder: &Path) -> Result<Written> {
        for node in nodes.names() {
            check_name(node)?;
            check_output(folder, node, self.model)?;
        }
        let mut written = Written::default();
        let _step = self.options.begin(Step::Read { n_bytes: nodes.n_bytes() });
        for (node, sources) in &nodes.sources {
            let model = &self.model.inner;
            let mut writer = NodeOutputWriter::new(folder, node, model.digest());
            let inputs = self.map_parts(node, sources, |part| {
                written.n_accumulators += part.accumulators.len();
                writer.add(model, &part.accumulators, &part.unattributed)
            })?;
            if nodes.sources.len() == 1 {
                unread(inputs.iter())?;
            }
            std::fs::create_dir_all(folder).with_context(|| format!("`{}`", folder.display()))?;
            self.model.write(&folder.join(MODEL_NAME))?;
            writer.finish(&inputs)?;
            written.inputs.extend(inputs.into_iter().map(|input| (node.clone(), input)));
        }
        Ok(written)
    }

    /// Reads the logs of `nodes` and holds all that was made of them.
    pub(crate) fn hold(&self, nodes: &Nodes) -> Result<Vec<NodeOutput>> {
        self.each(nodes, |node, sources| {
            let mut all = Accumulated::default();
            let inputs = self.map_parts(node, sources, |part| {
                all.accumulators.extend(part.accumulators);
                all.unattributed.extend(part.unattributed);
                Ok(())
            })?;
            let Accumulated { accumulators, unattributed, .. } = all;
            let model_digest = self.model.inner.digest();
            Ok(NodeOutput { node: node.to_owned(), model_digest, inputs, accumulators, unattributed })
        })
    }

    /// Maps the logs of one node, one part of the logs after the other; returns the accounts of the
    /// files.
    fn map_parts(
        &self,
        node: &str,
        sources: &[Source],
        take: impl FnMut(Accumulated) -> schema::Result<()> + Send,
    ) -> Result<Vec<InputAccount>> {
        let mut config = self.config.clone();
        config.accumulate.node = node.to_owned();
        let reads = |n_bytes| self.options.progress.reads(n_bytes);
        let (model, patterns) = (&self.model.inner, &self.patterns);
        let threads = &self.options.threads;
        Ok(threads.run(|| log_mapper::map_parts(model, patterns, sources, &config, &reads, take))?)
    }

    /// What `map` makes of each node, as many at once as there are threads to work with: the
    /// records of one node are accumulated one after the other.
    fn each<T: Send>(
        &self,
        nodes: &Nodes,
        map: impl Fn(&str, &[Source]) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let _step = self.options.begin(Step::Read { n_bytes: nodes.n_bytes() });
        // The largest first, as nothing else is left to be done beside the last one.
        let mut order: Vec<(usize, (&String, &Vec<Source>))> = nodes.sources.iter().enumerate().collect();
        order.sort_by_cached_key(|(_, (_, sources))| Reverse(logs::n_bytes(sources)));
        let next = AtomicUsize::new(0);
        let work = || {
            let mut outputs = Vec::new();
            while let Some((place, (node, sources))) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                outputs.push((*place, map(node, sources)));
            }
            outputs
        };
        let n_workers = self.options.threads.n().min(nodes.sources.len());
        let mut outputs: Vec<_> = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..n_workers).map(|_| scope.spawn(work)).collect();
            let join = |worker: ScopedJoinHandle<'_, _>| {
                worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            workers.into_iter().flat_map(join).collect()
        });
        outputs.sort_by_key(|(place, _)| *place);
        outputs.into_iter().map(|(_, output)| output).collect()
    }
}
