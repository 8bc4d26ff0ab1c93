//! `lprof map`: the logs of one node to request accumulators. Only
//! accumulators leave the node.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::ScopedJoinHandle;

use anyhow::{Context as _, Result, bail};
use log_mapper::accumulate::Accumulated;
use log_mapper::{Layout, PatternSet, Source};
use reducer::spill::{SpillWriter, Spilled};
use schema::tables::NodeOutputWriter;
use schema::{InputAccount, Model, NodeOutput, Pass, Passes, StoredModel};

use super::summary;
use super::{Usage, exit_code};
use crate::args::{IdArgs, LogArgs, MapArgs};
use crate::nodes;
use crate::output::Voice;
use crate::progress::Progress;

mod aggregate;
mod logs;

/// The model's name in the folder of a map output.
pub(crate) const MODEL_NAME: &str = "model";

pub(crate) fn run(args: &MapArgs, voice: Voice) -> Result<ExitCode> {
    if args.node.is_empty() {
        return Err(Usage("--node: a node has a name".to_owned()).into());
    }
    check_name(&args.node)?;
    let mut inputs = nodes::Inputs::default();
    for path in &args.logs {
        inputs.add(Some(&args.node), path)?;
    }
    let stored = StoredModel::read(&args.model)?;
    let model = stored.decode(&args.model)?;
    let query = aggregate::query(args)?;
    check_output(&args.output, &args.node, &model)?;
    let mapper = Mapper::new(&model, &args.log, voice)?;
    let nodes = mapper.logs(&mut inputs)?;
    if let Some(query) = query {
        let outputs = mapper.map_all(&nodes)?;
        return aggregate::run(args, &query, &model, outputs, voice);
    }
    let (mut inputs, mut n_accumulators) = (Vec::new(), 0);
    for (node, logs) in &nodes {
        check_name(node)?;
        check_output(&args.output, node, &model)?;
        let mut writer = NodeOutputWriter::new(&args.output, node, model.digest());
        let accounts = mapper.map_parts(node, logs, |part| {
            n_accumulators += part.accumulators.len();
            writer.add(&model, &part.accumulators, &part.unattributed)
        })?;
        if nodes.len() == 1 {
            summary::require_headers(accounts.iter(), voice)?;
        }
        create_folder(&args.output)?;
        stored.write(&args.output.join(MODEL_NAME))?;
        writer.finish(&accounts)?;
        inputs.extend(accounts.into_iter().map(|account| (node.clone(), account)));
    }
    let totals = summary::Totals::of(inputs.iter().map(|(_, account)| account));
    voice.say(&format!("{}: {} in {n_accumulators} accumulators", args.node, totals.sentence()));
    let named = || inputs.iter().map(|(node, account)| (node.as_str(), account));
    if !voice.quiet {
        let mut out = crate::output::stdout();
        summary::layouts::print(&mut out, named(), voice)?;
        summary::print_ids(&mut out, named().map(|(_, account)| account), &[])?;
        out.flush()?;
    }
    summary::tell_damage(named(), voice);
    Ok(exit_code(totals.lost() > 0, args.log.strict))
}

/// Bytes that the name of a file can have, but for its extension and what it is called while it is
/// written.
const NAME_MAX: usize = 200;

/// Fails if no file can have the name of a node.
fn check_name(node: &str) -> Result<()> {
    let n: usize =
        node.bytes().map(|b| if b.is_ascii_alphanumeric() || b"._-".contains(&b) { 1 } else { 3 }).sum();
    if n > NAME_MAX {
        let start: String = node.chars().take(24).collect();
        let n_letters = node.chars().count();
        return Err(Usage(format!(
            "--node: the name of {n_letters} letters that begins with `{start}` is too long for a file: {NAME_MAX} bytes at most"
        ))
        .into());
    }
    Ok(())
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
            config.zone_is_given = true;
        }
        config.date = args.date;
        config.libraries = static_analyzer::LIBRARY_PREFIXES;
        config.ids = log_mapper::Fields { with: args.ids.with.clone(), without: args.ids.without.clone() };
        config.accumulate.window_us = args.window;
        config.accumulate.without = without(&args.without_pass);
        let progress = Progress::new(voice, "compiling templates");
        let patterns = PatternSet::new(model);
        drop(progress);
        for diagnostic in patterns.diagnostics() {
            voice.tell(&format!("  {diagnostic}"));
        }
        Ok(Self { model, patterns, config, voice })
    }

    /// Finds out how the logs of `inputs` are read: those of each node, without what is none and
    /// what is there twice. Says what is left out.
    pub(crate) fn logs(&self, inputs: &mut nodes::Inputs) -> Result<BTreeMap<String, Vec<Source>>> {
        let (logs, warnings) = self.looked_at(inputs, false)?;
        summary::warnings::tell(&warnings, self.voice);
        Ok(logs)
    }

    /// The same of logs that are being written, without lines that are not whole; with what is to
    /// be said of them.
    pub(crate) fn whole_logs(&self, inputs: &mut nodes::Inputs) -> Result<(logs::Nodes, Vec<String>)> {
        self.looked_at(inputs, true)
    }

    fn looked_at(&self, inputs: &mut nodes::Inputs, is_growing: bool) -> Result<(logs::Nodes, Vec<String>)> {
        let _progress = Progress::new(self.voice, "looking at the logs");
        logs::of(inputs, &self.patterns, &self.config, is_growing)
    }

    /// Maps the logs of one node, one part of the logs after the other; returns the accounts of the files.
    pub(crate) fn map_parts(
        &self,
        node: &str,
        sources: &[Source],
        take: impl FnMut(Accumulated) -> schema::Result<()> + Send,
    ) -> Result<Vec<InputAccount>> {
        let progress = Progress::new(self.voice, &format!("reading the logs of {node}"));
        let config = self.config_of(node);
        let inputs = log_mapper::map_parts(self.model, &self.patterns, sources, &config, &|_| (), take);
        drop(progress);
        Ok(inputs?)
    }

    /// Maps the logs of several nodes, in order of their names.
    pub(crate) fn map_all(&self, nodes: &BTreeMap<String, Vec<Source>>) -> Result<Vec<NodeOutput>> {
        self.each(nodes, |node, sources| {
            Ok(log_mapper::map(self.model, &self.patterns, sources, &self.config_of(node), &|_| ())?)
        })
    }

    /// The same; the spans go to a file where `table` is, and of each no more than what stitching
    /// sees of it is held.
    pub(crate) fn spill_all(
        &self,
        nodes: &BTreeMap<String, Vec<Source>>,
        table: &Path,
    ) -> Result<Vec<Spilled>> {
        self.each(nodes, |node, sources| {
            let mut spill = SpillWriter::create(table)?;
            let (config, take) =
                (self.config_of(node), |part: Accumulated| spill.add(part.accumulators, part.unattributed));
            let inputs = log_mapper::map_parts(self.model, &self.patterns, sources, &config, &|_| (), take)?;
            Ok(spill.finish(node, inputs)?)
        })
    }

    /// What `map` makes of each node, as many at once as there are threads to work with: the
    /// records of one node are accumulated one after the other.
    fn each<T: Send>(
        &self,
        nodes: &BTreeMap<String, Vec<Source>>,
        map: impl Fn(&str, &[Source]) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let progress = Progress::new(self.voice, "reading logs");
        let bytes = |logs: &[Source]| -> u64 { logs.iter().filter_map(Source::n_bytes).sum() };
        // The largest first, as nothing else is left to be done beside the last one.
        let mut order: Vec<(usize, (&String, &Vec<Source>))> = nodes.iter().enumerate().collect();
        order.sort_by_cached_key(|(_, (_, logs))| Reverse(bytes(logs)));
        let next = AtomicUsize::new(0);
        let work = || {
            let mut outputs = Vec::new();
            while let Some((place, (node, logs))) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                outputs.push((*place, map(node, logs)));
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

    fn config_of(&self, node: &str) -> log_mapper::Config {
        let mut config = self.config.clone();
        config.accumulate.node = node.to_owned();
        config
    }
}

/// The reducer's bounds for a window, and what was decided on fields that hold ids.
pub(crate) fn config(window_us: i64, ids: &IdArgs, passes: &[Pass]) -> reducer::Config {
    // Of a field behind which values stand in messages the name.
    let fields =
        |fields: &[String]| fields.iter().map(|field| log_mapper::name_of_field(field).to_owned()).collect();
    let ids = reducer::ByHand { with: fields(&ids.with), without: fields(&ids.without) };
    reducer::Config { window_us, without: without(passes), ids, ..reducer::Config::default() }
}

/// The passes that are left out.
pub(crate) fn without(passes: &[Pass]) -> Passes {
    passes.iter().fold(Passes::default(), |passes, pass| passes.with(*pass))
}

/// The pattern that was given.
fn given_layout(args: &LogArgs) -> Result<Option<Layout>> {
    let compile = |pattern: &String| {
        Layout::compile(pattern).map_err(|e| Usage(format!("--layout: `{pattern}`: {e}")).into())
    };
    args.layout.as_ref().map(compile).transpose()
}

/// Fails if what says how logs are read cannot be used: before the work, not after it.
pub(crate) fn check_layout(args: &LogArgs) -> Result<()> {
    given_layout(args)?;
    if let Some(zone) = &args.tz {
        log_mapper::parse_zone(zone).map_err(|e| Usage(format!("--tz: {e}")))?;
    }
    if let Some(path) = &args.layout_from {
        std::fs::metadata(path).with_context(|| format!("`{}`", path.display()))?;
    }
    Ok(())
}

/// The layouts that were given, and whether others are looked for if they do not fit; none: the
/// mapper knows the common ones.
fn layouts(args: &LogArgs, voice: Voice) -> Result<(Vec<Arc<Layout>>, bool)> {
    if let Some(layout) = given_layout(args)? {
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
