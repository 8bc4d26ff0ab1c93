//! `lprof map`: the logs of one node to request accumulators. Map and combine;
//! only accumulators leave the node.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow, bail};
use log_mapper::{Layout, PatternSet};
use schema::{Model, NodeOutput, Passes};

use super::summary;
use super::{Usage, exit_code};
use crate::args::{LogArgs, MapArgs};
use crate::nodes;
use crate::output::Voice;
use crate::progress::Progress;

/// The model's name in the folder of a map output.
pub(crate) const MODEL_NAME: &str = "model";

pub(crate) fn run(args: &MapArgs, voice: Voice) -> Result<ExitCode> {
    if args.node.is_empty() {
        return Err(Usage("--node: a node has a name".to_owned()).into());
    }
    let mut logs = Vec::new();
    for path in &args.logs {
        logs.extend(nodes::log_files(path)?);
    }
    let model = Model::read(&args.model)?;
    let mapper = Mapper::new(&model, &args.log, voice)?;
    let output = mapper.map(&args.node, &logs)?;
    summary::require_headers(std::slice::from_ref(&output), voice)?;
    std::fs::create_dir_all(&args.output).with_context(|| format!("`{}`", args.output.display()))?;
    model.write(&args.output.join(MODEL_NAME))?;
    let keys = reducer::ShuffleKeys::new(&model);
    schema::tables::write_node_output(&args.output, &model, &output, &|accumulator| keys.of(accumulator))?;
    let totals = summary::Totals::of(output.inputs.iter());
    voice.say(&format!("{}: {} in {} accumulators", args.node, totals.sentence(), output.accumulators.len()));
    summary::tell_damage(output.inputs.iter().map(|input| (args.node.as_str(), input)), voice);
    Ok(exit_code(totals.lost() > 0, args.log.strict))
}

/// A model made ready to read logs, of any number of nodes.
pub(crate) struct Mapper<'a> {
    model: &'a Model,
    patterns: PatternSet,
    config: log_mapper::Config,
    reducer: reducer::Config,
    voice: Voice,
}

impl<'a> Mapper<'a> {
    /// Compiles the templates of `model` and the layout that was given.
    pub(crate) fn new(model: &'a Model, args: &LogArgs, voice: Voice) -> Result<Self> {
        let mut config = log_mapper::Config::new("");
        config.layouts = layouts(args)?;
        if let Some(zone) = &args.tz {
            config.zone = log_mapper::parse_zone(zone).map_err(|e| Usage(format!("--tz: {e}")))?;
        }
        config.accumulate.window_us = args.window;
        config.accumulate.without = without(args);
        let progress = Progress::new(voice, "compiling templates");
        let patterns = PatternSet::new(model);
        drop(progress);
        for diagnostic in patterns.diagnostics() {
            voice.tell(&format!("  {diagnostic}"));
        }
        Ok(Self { model, patterns, config, reducer: self::config(args.window, without(args)), voice })
    }

    /// Maps and combines the logs of one node.
    pub(crate) fn map(&self, node: &str, logs: &[PathBuf]) -> Result<NodeOutput> {
        let progress = Progress::new(self.voice, &format!("reading the logs of {node}"));
        let mut config = self.config.clone();
        config.accumulate.node = node.to_owned();
        let sources = log_mapper::discover(logs)?;
        let output = log_mapper::map(self.model, &self.patterns, &sources, &config, &|_| ())?;
        progress.now(&format!("combining the accumulators of {node}"));
        let output = reducer::combine(self.model, output, &self.reducer);
        drop(progress);
        let layouts: BTreeSet<&str> = output.inputs.iter().map(|input| input.layout.as_str()).collect();
        for layout in layouts {
            self.voice.tell(&format!("{node}: layout {layout}"));
        }
        Ok(output)
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

/// The layouts that were given; none: the mapper knows the common ones.
fn layouts(args: &LogArgs) -> Result<Vec<Arc<Layout>>> {
    if let Some(pattern) = &args.layout {
        let layout = Layout::compile(pattern).map_err(|e| Usage(format!("--layout: `{pattern}`: {e}")))?;
        return Ok(vec![Arc::new(layout)]);
    }
    args.layout_from.as_deref().map_or(Ok(Vec::new()), layouts_from)
}

/// The layouts that a logging configuration names.
fn layouts_from(path: &Path) -> Result<Vec<Arc<Layout>>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("`{}`", path.display()))?;
    let patterns = log_mapper::patterns_of(&text);
    if patterns.is_empty() {
        bail!("`{}`: no pattern of a layout in it", path.display());
    }
    let compile = |pattern: &String| {
        let layout = Layout::compile(pattern);
        layout.map(Arc::new).map_err(|e| anyhow!("`{}`: pattern `{pattern}`: {e}", path.display()))
    };
    // Some appenders of a configuration print no message; those that do are enough.
    let (compiled, mut errors): (Vec<_>, Vec<_>) = patterns.iter().map(compile).partition(Result::is_ok);
    match (compiled.is_empty(), errors.pop()) {
        (true, Some(Err(error))) => Err(error),
        _ => Ok(compiled.into_iter().flatten().collect()),
    }
}
