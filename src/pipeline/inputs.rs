//! Inputs: the logs that are given, and of which node each is. Names only; what stands in the files
//! is for others.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};

use log_mapper::Source;

use super::files::log_files;
use super::names::{folders, name_of, node_names, stem};
use crate::error::Result;

/// Logs of any number of nodes: files, also rotated and packed, folders of them, and readers.
#[derive(Debug, Default)]
pub struct Inputs {
    /// Logs, with the node that was named.
    pub(crate) logs: Vec<(Option<String>, PathBuf)>,
    /// What is read once, from its beginning, and the node that it is of.
    pub(super) streams: Vec<(String, Source)>,
    /// Of the logs, those of folders in which others have names of logs, and they have not.
    pub(super) doubtful: BTreeSet<PathBuf>,
    /// Logs that were found in folders, and not named.
    pub(super) of_folders: BTreeSet<PathBuf>,
    /// What a user should know of them.
    pub(super) warnings: Vec<String>,
}

impl Inputs {
    /// None.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the logs that `path` stands for: a file, all that are below a folder, or, for `-`, standard
    /// input. Where `node` is not given a log is of the node that its folder is called after, if the
    /// logs lie in several folders, and else of the one that it is called after itself.
    ///
    /// # Errors
    /// It is not there or cannot be read; a folder without a log.
    pub fn add(&mut self, node: Option<&str>, path: &Path) -> Result<()> {
        let files = log_files(path, &mut self.doubtful, &mut self.warnings)?;
        if path.is_dir() {
            self.of_folders.extend(files.iter().cloned());
        }
        self.logs.extend(files.into_iter().map(|file| (node.map(str::to_owned), file)));
        Ok(())
    }

    /// Adds the log of `node` that `reader` gives, plain or packed, as if it were in a file called
    /// `name`. It is read once, as the logs are mapped.
    pub fn add_reader(&mut self, node: &str, name: &str, reader: impl Read + Send + 'static) {
        self.streams.push((node.to_owned(), Source::reader(name, reader)));
    }

    /// Whether there is no log.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.logs.is_empty() && self.streams.is_empty()
    }

    /// The logs of each node, without those that are reached twice.
    pub(super) fn by_node(&mut self) -> BTreeMap<String, Vec<PathBuf>> {
        drop_known_files(&mut self.logs, &mut self.warnings);
        let mut nodes: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
        let mut unnamed = Vec::new();
        for (node, file) in &self.logs {
            match node {
                Some(node) => nodes.entry(node.clone()).or_default().push(file.clone()),
                None => unnamed.push(file.clone()),
            }
        }
        for (file, node) in unnamed.iter().zip(node_names(&unnamed)) {
            nodes.entry(node).or_default().push(file.clone());
        }
        nodes.values_mut().for_each(|files| files.sort());
        self.warnings.extend(nodes.iter().filter_map(|(node, files)| mixed(node, files)));
        let archives = nodes.values().flatten().filter(|file| file.extension().is_some_and(|e| e == "zip"));
        self.warnings.extend(archives.filter_map(|file| several_folders(file)));
        nodes
    }
}

/// What files that nobody named are called, from one look at them to the next: a name stays,
/// whatever files come beside it.
#[derive(Debug, Default)]
pub(crate) struct Labels(BTreeMap<(Vec<String>, String), String>);

impl Labels {
    /// Names the logs of `inputs`, those that are known as before.
    pub(crate) fn name(&mut self, inputs: &mut Inputs) {
        let unnamed: Vec<PathBuf> =
            inputs.logs.iter().filter(|(node, _)| node.is_none()).map(|(_, file)| file.clone()).collect();
        let places = folders(&unnamed).into_iter().zip(unnamed.iter().map(|file| stem(&name_of(file))));
        let mut names = places.zip(node_names(&unnamed)).map(|(place, name)| {
            // What was renamed is in the folder where it was, and of the same stem.
            self.0.entry(place).or_insert(name).clone()
        });
        inputs.logs.iter_mut().filter(|(node, _)| node.is_none()).for_each(|(node, _)| *node = names.next());
    }
}

/// Drops files that are reached twice: named twice, by links, as an entry of several folders. What
/// the user has given a node is kept, and the file rather than a link to it, before anything is
/// named after where it lies.
fn drop_known_files(logs: &mut Vec<(Option<String>, PathBuf)>, warnings: &mut Vec<String>) {
    let real = |file: &PathBuf| std::fs::canonicalize(file).ok();
    let is_link = |file: &PathBuf| std::path::absolute(file).ok() != real(file);
    let mut order: Vec<usize> = (0..logs.len()).collect();
    order.sort_by_cached_key(|i| (logs[*i].0.is_none(), is_link(&logs[*i].1), logs[*i].1.clone()));
    let mut known: BTreeMap<PathBuf, usize> = BTreeMap::new();
    let mut dropped = BTreeSet::new();
    for i in order {
        let Some(real) = real(&logs[i].1) else { continue };
        let Some(first) = known.get(&real) else {
            known.insert(real, i);
            continue;
        };
        dropped.insert(i);
        if logs[i] != logs[*first] {
            let (file, first) = (logs[i].1.display(), logs[*first].1.display());
            warnings.push(format!("`{file}` is the same file as `{first}`: it is read once"));
        }
    }
    let mut at = 0;
    logs.retain(|_| {
        at += 1;
        !dropped.contains(&(at - 1))
    });
}

/// A warning that one node has logs of several names in one folder: they may be of several
/// processes.
fn mixed(node: &str, files: &[PathBuf]) -> Option<String> {
    let mut names: BTreeMap<&Path, BTreeMap<String, String>> = BTreeMap::new();
    for file in files {
        let name = name_of(file);
        let folder = file.parent().unwrap_or(Path::new(""));
        names.entry(folder).or_default().entry(stem(&name)).or_insert(name);
    }
    let names: Vec<String> = names
        .into_values()
        .find(|stems| stems.len() > 1)?
        .into_values()
        .map(|name| format!("`{name}`"))
        .collect();
    let shown = names[..names.len().min(4)].join(", ");
    Some(format!(
        "{shown} are read as logs of one node, `{node}`, as they are in one folder: if they are of several processes, name their nodes: NAME=LOG"
    ))
}

/// A warning that an archive holds logs of several folders, which are read as of one node.
fn several_folders(archive: &Path) -> Option<String> {
    let sources = log_mapper::discover(std::slice::from_ref(&archive.to_owned())).ok()?;
    let folder = |source: &log_mapper::Source| {
        let (_, entry) = source.name().split_once("!/")?;
        Some(entry.rsplit_once('/').map_or(String::new(), |(folder, _)| folder.to_owned()))
    };
    let folders: BTreeSet<String> = sources.iter().filter_map(folder).collect();
    (folders.len() > 1).then(|| {
        format!(
            "`{}` holds logs of {} folders, which are read as logs of one node: if they are of several, unpack it first",
            archive.display(),
            folders.len()
        )
    })
}
