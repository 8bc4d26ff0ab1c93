//! `lprof map`: the logs of one node to request accumulators. Only
//! accumulators leave the node.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::ScopedJoinHandle;

use anyhow::{Context as _, Result, bail};
use log_mapper::accumulate::Accumulated;
use log_mapper::{Layout, PatternSet};
use schema::tables::NodeOutputWriter;
use schema::{InputAccount, Model, NodeOutput, Passes};

use super::summary;
use super::{Usage, exit_code};
use crate::args::{LogArgs, MapArgs};
use crate::nodes;
use crate::output::Voice;
use crate::progress::Progress;

mod aggregate;

/// The model's name in the folder of a map output.
pub(crate) const MODEL_NAME: &str = "model";

pub(crate) fn run(args: &MapArgs, voice: Voice) -> Result<ExitCode> {
    if args.node.is_empty() {
        return Err(Usage("--node: a node has a name".to_owned()).into());
    }
    let (mut logs, mut warnings) = (Vec::new(), Vec::new());
    for path in &args.logs {
        logs.extend(nodes::log_files(path, &mut warnings)?);
    }
    for warning in warnings {
        voice.say(&format!("warning: {warning}"));
    }
    let model = Model::read(&args.model)?;
    let query = aggregate::query(args)?;
    check_output(&args.output, &args.node, &model)?;
    let mut logs = BTreeMap::from([(args.node.clone(), logs)]);
    drop_contained(&mut logs, voice)?;
    let logs = logs.remove(&args.node).unwrap_or_default();
    let mapper = Mapper::new(&model, &args.log, voice)?;
    if let Some(query) = query {
        let output = mapper.map(&args.node, &logs)?;
        let inputs = output.inputs.clone();
        summary::require_headers(inputs.iter(), voice)?;
        create_folder(&args.output)?;
        aggregate::write(&args.output, &query, model, output, voice)?;
        summary::tell_damage(inputs.iter().map(|input| (args.node.as_str(), input)), voice);
        let totals = summary::Totals::of(inputs.iter());
        return Ok(exit_code(totals.lost() > 0, args.log.strict));
    }
    let mut writer = NodeOutputWriter::new(&args.output, &args.node, model.digest());
    let mut n_accumulators = 0;
    let inputs = mapper.map_parts(&args.node, &logs, |part| {
        n_accumulators += part.accumulators.len();
        writer.add(&model, &part.accumulators, &part.unattributed)
    })?;
    summary::require_headers(inputs.iter(), voice)?;
    create_folder(&args.output)?;
    model.write(&args.output.join(MODEL_NAME))?;
    writer.finish(&inputs)?;
    let totals = summary::Totals::of(inputs.iter());
    voice.say(&format!("{}: {} in {n_accumulators} accumulators", args.node, totals.sentence()));
    let named = || inputs.iter().map(|input| (args.node.as_str(), input));
    if !voice.quiet {
        let mut out = crate::output::stdout();
        summary::print_layouts(&mut out, named())?;
        out.flush()?;
    }
    summary::tell_damage(named(), voice);
    Ok(exit_code(totals.lost() > 0, args.log.strict))
}

fn create_folder(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("`{}`", folder.display()))
}

/// Fails if the folder holds what this would replace: before the work, not after it.
fn check_output(folder: &Path, node: &str, model: &Model) -> Result<()> {
    if !folder.join("inputs").is_dir() {
        return Ok(());
    }
    let mut is_known = false;
    for path in schema::tables::node_outputs(folder)? {
        is_known |= schema::tables::read_node_output(&path)?.node == node;
    }
    if is_known {
        bail!(
            "`{}` holds an output of node `{node}` already: give another folder with -o, or another node, or remove it first",
            folder.display()
        );
    }
    let known = folder.join(MODEL_NAME);
    if known.exists() && Model::read(&known)?.digest() != model.digest() {
        bail!("`{}` holds outputs made with another model: give another folder with -o", folder.display());
    }
    Ok(())
}

/// Drops logs of which every line stands in another one of their folder, as where one process
/// logs all levels to one file and some of them to a second.
pub(crate) fn drop_contained(logs: &mut BTreeMap<String, Vec<PathBuf>>, voice: Voice) -> Result<()> {
    let mut by_folder: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
    for file in logs.values().flatten() {
        by_folder.entry(file.parent().unwrap_or(Path::new("")).to_owned()).or_default().push(file.clone());
    }
    for files in by_folder.values().filter(|files| files.len() > 1) {
        for overlap in log_mapper::overlaps(&log_mapper::discover(files)?) {
            let (inner, outer) = (&overlap.inner, &overlap.outer);
            if overlap.whole {
                voice.say(&format!("warning: all of `{inner}` is in `{outer}` too: it is read once"));
                logs.values_mut().for_each(|files| files.retain(|file| file.display().to_string() != *inner));
            } else {
                voice.say(&format!(
                    "warning: `{inner}` and `{outer}` have records in common, which count twice: leave one of them out"
                ));
            }
        }
    }
    logs.retain(|_, files| !files.is_empty());
    Ok(())
}

/// A model made ready to read logs, of any number of nodes.
pub(crate) struct Mapper<'a> {
    model: &'a Model,
    patterns: PatternSet,
    config: log_mapper::Config,
    voice: Voice,
}

impl<'a> Mapper<'a> {
    /// Compiles the templates of `model` and the layout that was given.
    pub(crate) fn new(model: &'a Model, args: &LogArgs, voice: Voice) -> Result<Self> {
        let mut config = log_mapper::Config::new("");
        (config.layouts, config.may_detect) = layouts(args, voice)?;
        if let Some(zone) = &args.tz {
            config.zone = log_mapper::parse_zone(zone).map_err(|e| Usage(format!("--tz: {e}")))?;
        }
        config.date = args.date;
        config.accumulate.window_us = args.window;
        config.accumulate.without = without(args);
        let progress = Progress::new(voice, "compiling templates");
        let patterns = PatternSet::new(model);
        drop(progress);
        for diagnostic in patterns.diagnostics() {
            voice.tell(&format!("  {diagnostic}"));
        }
        Ok(Self { model, patterns, config, voice })
    }

    /// Maps the logs of one node.
    pub(crate) fn map(&self, node: &str, logs: &[PathBuf]) -> Result<NodeOutput> {
        let progress = Progress::new(self.voice, &format!("reading the logs of {node}"));
        let output = self.map_one(node, logs);
        drop(progress);
        output
    }

    /// The same, one part of the logs after the other; returns the accounts of the files.
    pub(crate) fn map_parts(
        &self,
        node: &str,
        logs: &[PathBuf],
        take: impl FnMut(Accumulated) -> schema::Result<()> + Send,
    ) -> Result<Vec<InputAccount>> {
        let progress = Progress::new(self.voice, &format!("reading the logs of {node}"));
        let (sources, config) = (log_mapper::discover(logs)?, self.config_of(node));
        let inputs = log_mapper::map_parts(self.model, &self.patterns, &sources, &config, &|_| (), take);
        drop(progress);
        Ok(inputs?)
    }

    /// Maps the logs of several nodes, as many at once as there are threads to work with: the
    /// records of one node are accumulated one after the other. In order of their names.
    pub(crate) fn map_all(&self, nodes: &BTreeMap<String, Vec<PathBuf>>) -> Result<Vec<NodeOutput>> {
        let progress = Progress::new(self.voice, "reading logs");
        let bytes = |logs: &[PathBuf]| -> u64 {
            logs.iter().filter_map(|log| std::fs::metadata(log).ok()).map(|metadata| metadata.len()).sum()
        };
        // The largest first, as nothing else is left to be done beside the last one.
        let mut order: Vec<(usize, (&String, &Vec<PathBuf>))> = nodes.iter().enumerate().collect();
        order.sort_by_cached_key(|(_, (_, logs))| Reverse(bytes(logs)));
        let next = AtomicUsize::new(0);
        let work = || {
            let mut outputs = Vec::new();
            while let Some((place, (node, logs))) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                outputs.push((*place, self.map_one(node, logs)));
            }
            outputs
        };
        let n_workers = rayon::current_num_threads().min(nodes.len());
        let mut outputs: Vec<_> = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..n_workers).map(|_| scope.spawn(work)).collect();
            let join = |worker: ScopedJoinHandle<'_, _>| {
                worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            workers.into_iter().flat_map(join).collect()
        });
        drop(progress);
        outputs.sort_by_key(|(place, _)| *place);
        outputs.into_iter().map(|(_, output)| output).collect()
    }

    fn map_one(&self, node: &str, logs: &[PathBuf]) -> Result<NodeOutput> {
        let (sources, config) = (log_mapper::discover(logs)?, self.config_of(node));
        Ok(log_mapper::map(self.model, &self.patterns, &sources, &config, &|_| ())?)
    }

    fn config_of(&self, node: &str) -> log_mapper::Config {
        let mut config = self.config.clone();
        config.accumulate.node = node.to_owned();
        config
    }
}

/// The reducer's bounds for a window.
pub(crate) fn config(window_us: i64, without: Passes) -> reducer::Config {
    reducer::Config { window_us, without, ..reducer::Config::default() }
}

/// The passes that are left out.
pub(crate) fn without(args: &LogArgs) -> Passes {
    args.without_pass.iter().fold(Passes::default(), |passes, pass| passes.with(*pass))
}

/// The layouts that were given, and whether others are looked for if they do not fit; none: the
/// mapper knows the common ones.
fn layouts(args: &LogArgs, voice: Voice) -> Result<(Vec<Arc<Layout>>, bool)> {
    if let Some(pattern) = &args.layout {
        let layout = Layout::compile(pattern).map_err(|e| Usage(format!("--layout: `{pattern}`: {e}")))?;
        return Ok((vec![Arc::new(layout)], false));
    }
    let Some(path) = &args.layout_from else { return Ok((Vec::new(), true)) };
    Ok((layouts_from(path, voice)?, true))
}

/// The layouts that a logging configuration names. What of it cannot be used is told; nothing of
/// it: the layout is looked for in the logs.
fn layouts_from(path: &Path, voice: Voice) -> Result<Vec<Arc<Layout>>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("`{}`", path.display()))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let read = |name: &str| {
        let name = name.trim_start_matches("classpath:").trim_start_matches("file:");
        let beside = Path::new(name).file_name().map(|file| folder.join(file));
        std::fs::read_to_string(folder.join(name)).ok().or_else(|| std::fs::read_to_string(beside?).ok())
    };
    let configuration = log_mapper::read_configuration(&text, &read);
    let mut problems = configuration.problems;
    let mut layouts = Vec::new();
    for (pattern, line) in configuration.patterns {
        match Layout::compile(&pattern) {
            Ok(layout) => layouts.push(Arc::new(layout)),
            // Some appenders of a configuration print no message; those that do are enough.
            Err(e) => problems.push(format!("line {line}: {e}")),
        }
    }
    if layouts.is_empty() {
        problems.push("no pattern of a layout in it: the layout is looked for in the logs".to_owned());
    }
    for problem in problems {
        voice.say(&format!("warning: `{}`: {problem}", path.display()));
    }
    Ok(layouts)
}
