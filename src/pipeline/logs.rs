//! The logs of each node, before they are read: what is no log, what is there twice, and files
//! with lines of several processes, of which each is a node.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use log_mapper::{Config, PatternSet, Source};

use super::inputs::Inputs;
use crate::error::Result;

/// The logs of each node, as they are read.
#[derive(Clone, Debug, Default)]
pub struct Nodes {
    pub(super) sources: BTreeMap<String, Vec<Source>>,
    warnings: Vec<String>,
}

impl Nodes {
    /// Names of the nodes, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.sources.keys().map(String::as_str)
    }

    /// What is to be said of the logs: what is left out, and why, and what may not be as it seems.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Bytes of the logs, as they lie there, as far as that is known.
    #[must_use]
    pub fn n_bytes(&self) -> u64 {
        self.sources.values().map(|sources| n_bytes(sources)).sum()
    }
}

/// Bytes of `sources`, as far as that is known.
pub(super) fn n_bytes(sources: &[Source]) -> u64 {
    sources.iter().filter_map(Source::n_bytes).sum()
}

/// Files that are named as left out; the rest are counted.
const NAMED_MAX: usize = 8;

/// The logs of `inputs`, by node, and what is to be said of them; of those that are `growing` whole
/// lines.
pub(super) fn of(
    mut inputs: Inputs,
    patterns: &PatternSet,
    config: &Config,
    is_growing: bool,
) -> Result<Nodes> {
    let mut looked = look(&inputs, patterns, config, is_growing)?;
    let left_out = leave_out(&mut inputs, &looked);
    let files = inputs.by_node();
    let mut warnings: Vec<String> = inputs.warnings.drain(..).chain(left_out).collect();
    let mut nodes: BTreeMap<String, Vec<Source>> = BTreeMap::new();
    for (node, files) in files {
        let sources = files.iter().filter_map(|file| looked.remove(file)).flatten();
        nodes.entry(node).or_default().extend(sources);
    }
    for (node, source) in inputs.streams.drain(..) {
        nodes.entry(node).or_default().push(source);
    }
    drop_contained(&mut nodes, &named_nodes(&inputs), &mut warnings);
    Ok(Nodes { sources: by_process(nodes), warnings })
}

/// What stands in each file, and how it is read.
fn look(
    inputs: &Inputs,
    patterns: &PatternSet,
    config: &Config,
    is_growing: bool,
) -> Result<BTreeMap<PathBuf, Vec<Source>>> {
    let files: BTreeSet<&PathBuf> = inputs.logs.iter().map(|(_, file)| file).collect();
    let (mut owners, mut sources) = (Vec::new(), Vec::new());
    for file in files {
        for source in log_mapper::discover(std::slice::from_ref(file))? {
            owners.push(file);
            sources.push(if is_growing { source.whole_lines()? } else { source });
        }
    }
    let mut out: BTreeMap<PathBuf, Vec<Source>> = BTreeMap::new();
    for (file, sources) in owners.into_iter().zip(log_mapper::look(sources, patterns, config)?) {
        out.entry(file.clone()).or_default().extend(sources);
    }
    Ok(out)
}

/// Leaves out files of folders that neither have the name of a log nor a text that the model
/// knows; says which.
fn leave_out(inputs: &mut Inputs, looked: &BTreeMap<PathBuf, Vec<Source>>) -> Option<String> {
    let is_log = |file: &PathBuf| {
        let sources = looked.get(file).map(Vec::as_slice).unwrap_or_default();
        sources.iter().any(|source| source.is_explained() == Some(true))
    };
    let is_any_log = looked.keys().any(is_log);
    let out: Vec<PathBuf> = inputs.doubtful.iter().filter(|file| !is_log(file)).cloned().collect();
    inputs.logs.retain(|(_, file)| out.binary_search(file).is_err());
    if is_any_log {
        let why = |file: &PathBuf| why_not(looked.get(file).map(Vec::as_slice).unwrap_or_default());
        let none: BTreeMap<PathBuf, String> = inputs
            .of_folders
            .iter()
            .filter(|file| out.binary_search(file).is_err())
            .filter_map(|file| Some((file.clone(), why(file)?)))
            .collect();
        inputs.logs.retain(|(_, file)| !none.contains_key(file));
        let told = none.iter().map(|(file, why)| format!("`{}`: {why}; it is not read", file.display()));
        inputs.warnings.extend(told);
    }
    let named: Vec<String> = out.iter().take(NAMED_MAX).map(|file| format!("`{}`", file.display())).collect();
    let more = match out.len() - named.len() {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    let (is, has) = if out.len() == 1 { ("is", "it has") } else { ("are", "they have") };
    (!named.is_empty()).then(|| {
        format!(
            "{}{more} {is} not read: {has} not the name of a log, and no text that the model knows; name a file to have it read",
            named.join(", ")
        )
    })
}

/// The files whose nodes the user has named, by name.
fn named_nodes(inputs: &Inputs) -> BTreeMap<String, String> {
    let named =
        inputs.logs.iter().filter_map(|(node, file)| Some((file.display().to_string(), node.clone()?)));
    named.collect()
}

/// Why a file of a folder with logs of the program is none: no record of it can be read, or it is of
/// the Java machine itself.
fn why_not(sources: &[Source]) -> Option<String> {
    if sources.is_empty() {
        return None;
    }
    if sources.iter().all(Source::is_of_machine) {
        return Some(
            "it holds what the Java machine prints of itself, and no text of the program".to_owned(),
        );
    }
    let why: Option<Vec<&str>> = sources.iter().map(Source::why_unread).collect();
    why.and_then(|why| why.first().map(|why| (*why).to_owned()))
}

/// Drops logs of which every record stands in another one of their folder, as where one process
/// logs all levels to one file and some of them to a second, or to a file and to its output; and
/// copies, wherever they are. Of files whose nodes are named, as different ones, it is told.
fn drop_contained(
    nodes: &mut BTreeMap<String, Vec<Source>>,
    named: &BTreeMap<String, String>,
    warnings: &mut Vec<String>,
) {
    drop_contained_in_folders(nodes, warnings);
    let all: Vec<Source> = nodes.values().flatten().filter(|s| s.process().is_none()).cloned().collect();
    let mut dropped: BTreeSet<String> = BTreeSet::new();
    for overlap in log_mapper::copies(&all) {
        let (inner, outer) = (&overlap.inner, &overlap.outer);
        let folder = |name: &String| Path::new(name).parent().map(Path::to_owned);
        let (is_told, is_apart) = (
            folder(inner) == folder(outer),
            named.get(inner).zip(named.get(outer)).is_some_and(|(a, b)| a != b),
        );
        if is_told || dropped.contains(inner) || dropped.contains(outer) {
            continue;
        }
        if overlap.whole && !is_apart {
            warnings.push(format!("all of `{inner}` is in `{outer}` too: it is read once"));
            dropped.insert(inner.clone());
        } else {
            warnings.push(format!(
                "`{inner}` and `{outer}` have records in common, which count twice: leave one of them out"
            ));
        }
    }
    nodes.values_mut().for_each(|sources| sources.retain(|source| !dropped.contains(source.name())));
    nodes.retain(|_, sources| !sources.is_empty());
}

fn drop_contained_in_folders(nodes: &mut BTreeMap<String, Vec<Source>>, warnings: &mut Vec<String>) {
    let folder = |source: &Source| Path::new(source.name()).parent().unwrap_or(Path::new("")).to_owned();
    let mut by_folder: BTreeMap<PathBuf, Vec<Source>> = BTreeMap::new();
    for source in nodes.values().flatten().filter(|source| source.process().is_none()) {
        by_folder.entry(folder(source)).or_default().push(source.clone());
    }
    for sources in by_folder.values().filter(|sources| sources.len() > 1) {
        for overlap in log_mapper::overlaps(sources) {
            let (inner, outer) = (&overlap.inner, &overlap.outer);
            if overlap.whole {
                warnings.push(format!("all of `{inner}` is in `{outer}` too: it is read once"));
                nodes.values_mut().for_each(|sources| sources.retain(|source| source.name() != inner));
            } else {
                warnings.push(format!(
                    "`{inner}` and `{outer}` have records in common, which count twice: leave one of them out"
                ));
            }
        }
    }
    nodes.retain(|_, sources| !sources.is_empty());
}

/// Each process of a file that holds lines of several is a node, called as it is there; and as the
/// file's node, where two have processes of one name.
fn by_process(nodes: BTreeMap<String, Vec<Source>>) -> BTreeMap<String, Vec<Source>> {
    let mut holders: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (node, sources) in &nodes {
        holders.entry(node.clone()).or_default().insert(node.clone());
        for process in sources.iter().filter_map(Source::process) {
            holders.entry(process.to_owned()).or_default().insert(node.clone());
        }
    }
    let mut out: BTreeMap<String, Vec<Source>> = BTreeMap::new();
    for (node, sources) in nodes {
        for source in sources {
            let name = match source.process() {
                None => node.clone(),
                Some(process) if holders.get(process).is_some_and(|nodes| nodes.len() == 1) => {
                    process.to_owned()
                }
                Some(process) => format!("{node}/{process}"),
            };
            out.entry(name).or_default().push(source);
        }
    }
    out
}
