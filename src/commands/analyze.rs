//! `lprof analyze`: class files to a model.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use schema::Model;
use schema::model::ClassPathEntry;

use super::exit_code;
use crate::args::AnalyzeArgs;
use crate::output::{Voice, grouped};
use crate::progress::Progress;

pub(crate) fn run(args: &AnalyzeArgs, voice: Voice) -> Result<ExitCode> {
    let model = analyze(&args.class_path, args.rules.as_deref(), voice)?;
    model.write(&args.output)?;
    voice.say(&format!("{}: {}", args.output.display(), counts(&model)));
    let n_skipped: u32 = model.inputs.iter().map(|input| input.n_skipped).sum();
    Ok(exit_code(n_skipped > 0, args.strict))
}

/// The model of `class_path`, with a word about what was skipped.
pub(crate) fn analyze(class_path: &[PathBuf], rules: Option<&Path>, voice: Voice) -> Result<Model> {
    for path in class_path {
        std::fs::metadata(path).with_context(|| format!("`{}`", path.display()))?;
    }
    let progress = Progress::new(voice, "analyzing class files");
    let config = static_analyzer::Config {
        threads: Some(rayon::current_num_threads()),
        rules: rules.map(Path::to_owned),
        ..static_analyzer::Config::default()
    };
    let model = static_analyzer::analyze(class_path, &config)?;
    drop(progress);
    let n_classes: u64 = model.inputs.iter().map(|input| u64::from(input.n_classes)).sum();
    if n_classes == 0 {
        let names: Vec<String> = class_path.iter().map(|path| format!("`{}`", path.display())).collect();
        bail!("{}: no class in it", some(&names));
    }
    tell_empty(&model, voice);
    let n_skipped: u64 = model.inputs.iter().map(|input| u64::from(input.n_skipped)).sum();
    if n_skipped > 0 {
        voice.say(&format!(
            "warning: {} of {} classes could not be read and were skipped",
            n_skipped,
            n_classes + n_skipped
        ));
    }
    for diagnostic in &model.diagnostics {
        voice.tell(&format!("  {diagnostic}"));
    }
    if model.log_points.is_empty() {
        voice.say("warning: no log point in these classes: nothing that they log can be attributed");
    }
    Ok(model)
}

/// Names that are listed; the rest are counted.
const NAMES_MAX: usize = 6;

/// The first of some names, and how many more there are.
fn some(names: &[String]) -> String {
    let shown = names[..names.len().min(NAMES_MAX)].join(", ");
    match names.len() - names.len().min(NAMES_MAX) {
        0 => shown,
        n => format!("{shown} and {n} more"),
    }
}

/// Names the jars of which no class was read, and why.
fn tell_empty(model: &Model, voice: Voice) {
    let is_told = |input: &ClassPathEntry, of: &str| {
        let start = format!("{of}: `{}`", input.name);
        model.diagnostics.iter().any(|diagnostic| diagnostic.starts_with(&start))
    };
    // What was opened for the jars in it has no class of its own.
    let is_outer = |input: &ClassPathEntry| {
        let inner = format!("{}!", input.name);
        model.inputs.iter().any(|other| other.name.starts_with(&inner))
    };
    let (mut of_libraries, mut empty) = (Vec::new(), Vec::new());
    for input in model.inputs.iter().filter(|input| input.n_classes == 0 && input.n_skipped == 0) {
        let name = format!("`{}`", input.name);
        if is_told(input, "libraries") {
            of_libraries.push(name);
        } else if !is_outer(input) {
            empty.push(name);
        }
    }
    if !of_libraries.is_empty() {
        voice.say(&format!(
            "left out, as they hold classes of well-known libraries alone: {} (a line `not-library PACKAGE` in --rules FILE reads them)",
            some(&of_libraries)
        ));
    }
    if !empty.is_empty() {
        voice.say(&format!("warning: no class of their own in {}", some(&empty)));
    }
    for diagnostic in model.diagnostics.iter().filter(|told| told.starts_with("class path: ")) {
        voice.say(&format!("warning: {}", diagnostic.trim_start_matches("class path: ")));
    }
}

/// What the model holds, in one line.
pub(crate) fn counts(model: &Model) -> String {
    let n_classes: u64 = model.inputs.iter().map(|input| u64::from(input.n_classes)).sum();
    format!(
        "{} classes, {} log points, {} top-level methods, {} communication pairs",
        grouped(n_classes),
        grouped(model.log_points.len() as u64),
        grouped(model.top_level_methods.len() as u64),
        grouped(model.communication_pairs.len() as u64),
    )
}
