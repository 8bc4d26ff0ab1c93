//! `lprof follow`: logs that grow, and are rotated, to a request table, round by round.
//!
//! A round reads the logs that are new or have grown since they were read last, from their
//! beginning to their last whole line, and those of the same node that were written within a window
//! before: a log that was renamed, and what follows it, are read together as long as spans may go on
//! from one to the other. What the table holds of them already is left out, and what may go on goes
//! on, as with `run`.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context as _, Result};
use signal_hook::consts::{SIGINT, SIGTERM};

use super::run::{Named, check_table, model, sorted};
use super::{Usage, exit_code, map, options, summary};
use crate::args::FollowArgs;
use crate::model::Model;
use crate::output::{self, Voice, grouped};
use crate::pipeline::{self, Appended, Inputs, Labels, Mapper, Options, n_headed};

/// How long a signal can wait to be seen.
const NAP: Duration = Duration::from_millis(50);

pub(crate) fn run(args: &FollowArgs, voice: Voice) -> Result<ExitCode> {
    let run_args = &args.run;
    check_table(&run_args.table)?;
    let options = options::of_run(run_args, voice)?;
    if run_args.inputs.iter().any(|input| input.as_os_str() == "-") {
        return Err(
            Usage("standard input cannot be followed: name logs or folders of logs".to_owned()).into()
        );
    }
    let (class_path, logs) = sorted(&run_args.inputs)?;
    let is_over = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // Who asks twice does not want to wait for the end of the round.
        signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&is_over))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&is_over)))
            .context("cannot wait for signals")?;
    }
    let model = model(run_args, &class_path, &options, voice)?;
    let mapper = map::mapper(&model, &options, voice);
    let (model, options) = (&model, &options);
    let mut follower = Follower { args, logs, mapper, model, options, voice, known: Known::default() };
    let every = Duration::from_micros(args.every.unsigned_abs());
    loop {
        let next = Instant::now() + every;
        follower.round_or_diagnostic()?;
        while Instant::now() < next && !is_over.load(Ordering::Relaxed) {
            std::thread::sleep(NAP.min(next.saturating_duration_since(Instant::now())));
        }
        if is_over.load(Ordering::Relaxed) {
            return follower.end();
        }
    }
}

/// What is known from one round to the next.
#[derive(Default)]
struct Known {
    /// Whether a round was done.
    has_begun: bool,
    labels: Labels,
    /// By what a file is, whatever it is called.
    logs: BTreeMap<FileId, Seen>,
    /// Diagnostics that were told, and how often each was met.
    told: BTreeMap<String, u64>,
    n_rounds: u64,
    n_failed: u64,
    n_records: u64,
    n_lost: u64,
}

/// A file, told from others; where files have no such numbers, by its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum FileId {
    #[cfg(unix)]
    Inode(u64, u64),
    #[cfg(not(unix))]
    Path(PathBuf),
}

/// How a file was when it was read last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    n_bytes: u64,
    written: Option<SystemTime>,
}

/// A log as it is now; none: it is not there.
fn look(path: &Path) -> Option<(FileId, Seen)> {
    let metadata = std::fs::metadata(path).ok()?;
    #[cfg(unix)]
    let id = {
        use std::os::unix::fs::MetadataExt as _;
        FileId::Inode(metadata.dev(), metadata.ino())
    };
    #[cfg(not(unix))]
    let id = FileId::Path(path.to_owned());
    Some((id, Seen { n_bytes: metadata.len(), written: metadata.modified().ok() }))
}

/// Logs that are followed.
struct Follower<'a> {
    args: &'a FollowArgs,
    logs: Vec<Named>,
    mapper: Mapper<'a>,
    model: &'a Model,
    options: &'a Options,
    voice: Voice,
    known: Known,
}

impl Follower<'_> {
    /// A round. What goes wrong is told and tried again in the next one, but for the first.
    fn round_or_diagnostic(&mut self) -> Result<()> {
        self.known.n_rounds += 1;
        match self.round() {
            Ok(appended) => {
                self.known.has_begun |= appended.is_some();
                appended.map_or(Ok(()), |appended| self.tell(&appended))
            }
            Err(error) if !self.known.has_begun && !is_gone(&error) => Err(error),
            Err(error) => {
                self.known.n_failed += 1;
                self.diagnostic(format!("{error:#}; tried again in the next round"));
                Ok(())
            }
        }
    }

    /// Reads what is new and adds it to the table; none: nothing is.
    fn round(&mut self) -> Result<Option<Appended>> {
        let mut inputs = self.inputs();
        self.known.labels.name(&mut inputs);
        let now: BTreeMap<PathBuf, (FileId, Seen)> =
            inputs.logs.iter().filter_map(|(_, path)| Some((path.clone(), look(path)?))).collect();
        let is_new =
            |path: &PathBuf| now.get(path).is_some_and(|(id, seen)| self.known.logs.get(id) != Some(seen));
        let mut newest: BTreeMap<Option<String>, Option<SystemTime>> = BTreeMap::new();
        for (node, path) in inputs.logs.iter().filter(|(_, path)| is_new(path)) {
            let newest = newest.entry(node.clone()).or_default();
            *newest = (*newest).max(now.get(path).and_then(|(_, seen)| seen.written));
        }
        if newest.is_empty() {
            return Ok(None);
        }
        let window = Duration::from_micros(self.args.run.log.window.unsigned_abs());
        let goes_on = |node: &Option<String>, path: &PathBuf| {
            let written = now.get(path).and_then(|(_, seen)| seen.written);
            newest.get(node).is_some_and(|newest| written.is_some_and(|at| Some(at + window) >= *newest))
        };
        inputs.logs.retain(|(node, path)| is_new(path) || goes_on(node, path));
        let read: Vec<(FileId, Seen)> =
            inputs.logs.iter().filter_map(|(_, path)| now.get(path).cloned()).collect();
        let appended = self.add(inputs)?;
        self.known.logs.extend(read);
        Ok(appended)
    }

    /// The logs that are there.
    fn inputs(&mut self) -> Inputs {
        let mut inputs = Inputs::new();
        for (node, path) in &self.logs.clone() {
            if let Err(error) = inputs.add(node.as_deref(), path) {
                self.diagnostic(format!("{error:#}; it is waited for"));
            }
        }
        inputs
    }

    fn add(&mut self, inputs: Inputs) -> Result<Option<Appended>> {
        let table = &self.args.run.table;
        let nodes = self.mapper.look_at_growing(inputs)?;
        nodes.warnings().iter().for_each(|warning| self.diagnostic(warning.clone()));
        let mapped = self.mapper.map(&nodes, table)?;
        if mapped.inputs().all(|(_, input)| n_headed(input) == 0) {
            // Nothing is said yet, or nothing that can be read: told when a layout is given or begins.
            if mapped.inputs().any(|(_, input)| input.n_bytes > 0) {
                self.diagnostic("no line of the new logs has a header of a known layout".to_owned());
            }
            return Ok(None);
        }
        Ok(Some(pipeline::append(table, self.model, mapped, self.options)?))
    }

    /// Says what a round has added.
    fn tell(&mut self, appended: &Appended) -> Result<()> {
        if appended.run.is_none() {
            return Ok(());
        }
        let named = || appended.inputs.iter().map(|(node, input)| (node.as_str(), input));
        for (node, input) in named() {
            for damage in &input.damage {
                self.diagnostic(format!("{node}: `{}`: {damage}", input.file));
            }
        }
        for field in appended.id_fields.iter().filter(|field| !field.is_used) {
            let name = crate::render::neutral(&field.field);
            self.diagnostic(format!(
                "ids `{name}` are not used: they come again after the requests that they were of (--id '{name}' uses them)"
            ));
        }
        let totals = summary::Totals::of(named().map(|(_, input)| input));
        self.known.n_lost += totals.lost();
        let n_records: u64 = named().map(|(_, input)| input.n_records).sum();
        self.known.n_records += n_records;
        if self.voice.quiet {
            return Ok(());
        }
        let [n_gone_on, ..] = appended.n_gone_on;
        let mut out = output::stdout();
        writeln!(
            out,
            "{}; {} requests, of which {} were open and {} are",
            totals.sentence(),
            grouped(appended.requests.len() as u64),
            grouped(n_gone_on),
            grouped(appended.n_open),
        )?;
        Ok(out.flush()?)
    }

    /// Says once what may come up in every round.
    fn diagnostic(&mut self, text: String) {
        if !self.known.told.contains_key(&text) {
            self.voice.say(&format!("warning: {text}"));
        }
        *self.known.told.entry(text).or_default() += 1;
    }

    /// What there is to say at the end.
    fn end(self) -> Result<ExitCode> {
        let Known { told, n_rounds, n_failed, n_records, n_lost, .. } = self.known;
        if !self.voice.quiet {
            let mut out = output::stdout();
            writeln!(
                out,
                "{} rounds, {} of them failed; {} records, {} of them in no request",
                grouped(n_rounds),
                grouped(n_failed),
                grouped(n_records),
                grouped(n_lost),
            )?;
            out.flush()?;
        }
        for (text, n) in told.into_iter().filter(|(_, n)| *n > 1) {
            self.voice.say(&format!("{} times: {text}", grouped(n)));
        }
        Ok(exit_code(n_lost > 0, self.args.run.log.strict))
    }
}

/// Whether a log that was there is not any more.
fn is_gone(error: &anyhow::Error) -> bool {
    let is_gone = |cause: &std::io::Error| cause.kind() == std::io::ErrorKind::NotFound;
    error.chain().filter_map(|cause| cause.downcast_ref::<std::io::Error>()).any(is_gone)
}
