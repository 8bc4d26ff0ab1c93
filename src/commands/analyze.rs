//! `lprof analyze`: class files to a model.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use schema::model::ClassPathEntry;

use super::{exit_code, progress};
use crate::args::AnalyzeArgs;
use crate::model::Model;
use crate::output::{Voice, grouped};
use crate::pipeline::{self, Options, some};

pub(crate) fn run(args: &AnalyzeArgs, voice: Voice) -> Result<ExitCode> {
    let (rules, progress) = (args.rules.clone(), progress::of_pipeline(voice));
    let model = analyze(&args.class_path, &Options { rules, progress, ..Options::default() }, voice)?;
    model.write(&args.output)?;
    voice.say(&format!("{}: {}", args.output.display(), counts(&model)));
    Ok(exit_code(model.n_skipped() > 0, args.strict))
}

/// The model of `class_path`, with a word about what was skipped.
pub(super) fn analyze(class_path: &[PathBuf], options: &Options, voice: Voice) -> Result<Model> {
    let model = pipeline::analyze(class_path, options)?;
    tell_empty(&model, voice);
    let n_skipped = model.n_skipped();
    if n_skipped > 0 {
        voice.say(&format!(
            "warning: {} of {} classes could not be read and were skipped",
            n_skipped,
            model.n_classes() + n_skipped
        ));
    }
    for diagnostic in model.diagnostics() {
        voice.tell(&format!("  {diagnostic}"));
    }
    if model.n_log_points() == 0 {
        voice.say("warning: no log point in these classes: nothing that they log can be attributed");
    }
    Ok(model)
}

/// Names the jars of which no class was read, and why.
fn tell_empty(model: &Model, voice: Voice) {
    let is_told = |input: &ClassPathEntry, of: &str| {
        let start = format!("{of}: `{}`", input.name);
        model.diagnostics().iter().any(|diagnostic| diagnostic.starts_with(&start))
    };
    // What was opened for the jars in it has no class of its own.
    let is_outer = |input: &ClassPathEntry| {
        let inner = format!("{}!", input.name);
        model.inner.inputs.iter().any(|other| other.name.starts_with(&inner))
    };
    let (mut of_libraries, mut empty) = (Vec::new(), Vec::new());
    for input in model.inner.inputs.iter().filter(|input| input.n_classes == 0 && input.n_skipped == 0) {
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
    for diagnostic in model.diagnostics().iter().filter(|told| told.starts_with("class path: ")) {
        voice.say(&format!("warning: {}", diagnostic.trim_start_matches("class path: ")));
    }
}

/// What the model holds, in one line.
pub(crate) fn counts(model: &Model) -> String {
    format!(
        "{} classes, {} log points, {} top-level methods, {} communication pairs",
        grouped(model.n_classes()),
        grouped(model.n_log_points() as u64),
        grouped(model.n_top_level_methods() as u64),
        grouped(model.n_communication_pairs() as u64),
    )
}
