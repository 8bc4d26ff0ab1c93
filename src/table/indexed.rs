//! The indexes of all files of a table, side by side, for those who ask often. What is held of each is
//! its footer; where a table has none, as it is older, what they would hold is made of the rows.

use std::path::PathBuf;
use std::sync::Arc;

use crate::error::Result;
use rayon::prelude::*;
use reducer::table::Manifest;
use rustc_hash::FxHashMap;
use schema::tables::Text;
use schema::tables::index::Index;

#[cfg(feature = "serve")]
use super::files::Place;
use super::files::{Paths, paths};
use super::places::{self, Placed};
use super::related::{RelationFile, relation_files};

/// The index of one file, whose numbers are those of the file.
#[cfg_attr(
    not(feature = "serve"),
    expect(dead_code, reason = "only what is served asks for numbers of names")
)]
pub(crate) struct Indexed {
    pub(crate) index: Arc<Index>,
    /// Of each type its number in the table.
    pub(crate) types: Vec<u32>,
    /// Of each node its number in the table.
    pub(crate) nodes: Vec<u32>,
    paths: Paths,
}

/// The indexes of the files of a table, in the order of these.
#[cfg_attr(
    not(feature = "serve"),
    expect(dead_code, reason = "only what is served asks for numbers of names")
)]
pub(crate) struct Indexes {
    pub(crate) files: Vec<Indexed>,
    /// Files of relations, with their indexes.
    pub(super) relations: Vec<RelationFile>,
    /// Names of types.
    pub(crate) types: Vec<Text>,
    /// Names of nodes.
    pub(crate) nodes: Vec<Text>,
    /// Names of flags.
    pub(crate) flags: Vec<Text>,
}

impl Indexes {
    /// Those of `manifest`; files that are `known` already are not opened again.
    pub(super) fn new(manifest: &Manifest, known: Option<&Self>) -> Result<Self> {
        let of_relations: FxHashMap<&PathBuf, &RelationFile> =
            known.iter().flat_map(|known| &known.relations).map(|file| (&file.path, file)).collect();
        let relations = relation_files(manifest).into_iter();
        let relations = relations.map(|file| file.open(of_relations.get(&file.path).copied()));
        let relations = relations.collect::<Result<_>>()?;
        let known: FxHashMap<&PathBuf, &Indexed> =
            known.iter().flat_map(|known| &known.files).map(|file| (&file.paths.requests, file)).collect();
        let of_file = |paths: &Paths| {
            let known = known.get(&paths.requests).filter(|known| known.paths.digest == paths.digest);
            known.map_or_else(|| read(paths).map(Arc::new), |known| Ok(Arc::clone(&known.index)))
        };
        let paths = paths(manifest);
        let indexes: Vec<Arc<Index>> = paths.par_iter().map(of_file).collect::<Result<_>>()?;
        let (mut types, mut nodes, mut flags) = (Names::default(), Names::default(), Names::default());
        let files = paths.into_iter().zip(indexes).map(|(paths, index)| {
            let (types, nodes) = (types.numbers(index.types()), nodes.numbers(index.nodes()));
            flags.numbers(index.flags());
            Indexed { index, types, nodes, paths }
        });
        let files = files.collect();
        Ok(Self { files, relations, types: types.names, nodes: nodes.names, flags: flags.names })
    }

    /// All blocks, by file and by number.
    #[cfg(feature = "serve")]
    pub(crate) fn blocks(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let of_file = |(number, file): (usize, &Indexed)| {
            let n_blocks = file.index.n_blocks();
            (0..n_blocks).map(move |block| (number, block))
        };
        self.files.iter().enumerate().flat_map(of_file)
    }

    /// The first two requests, in the order of the table, whose ids begin with `prefix`.
    pub(super) fn beginning_with(&self, prefix: &str) -> Result<(Option<Placed>, Option<Placed>)> {
        let mut found = Vec::new();
        // One after the other, and so never behind those who have all cores at work.
        for (number, file) in self.files.iter().enumerate() {
            found.extend(places::beginning_with_in(number, &file.paths, Some(&file.index), prefix)?);
            if found.len() > 1 {
                break;
            }
        }
        let mut found = found.into_iter();
        Ok((found.next(), found.next()))
    }

    /// Where the rows of a file stand that are asked for, which ascend.
    #[cfg(feature = "serve")]
    pub(crate) fn places(&self, file: usize, rows: &[usize]) -> Result<Vec<Place>> {
        places::of_rows(&self.files[file].index, rows)
    }
}

fn read(paths: &Paths) -> Result<Index> {
    Ok(match &paths.index {
        Some(path) => Index::open(path)?,
        None => Index::of_rows(&paths.requests, paths.nodes.as_deref())?,
    })
}

/// Names as numbers, in the order in which they come.
#[derive(Default)]
struct Names {
    numbers: FxHashMap<Text, u32>,
    names: Vec<Text>,
}

impl Names {
    fn numbers(&mut self, names: &[String]) -> Vec<u32> {
        let number = |name: &String| {
            if let Some(number) = self.numbers.get(name.as_str()) {
                return *number;
            }
            let (name, number) = (Text::from(name.as_str()), self.names.len() as u32);
            self.names.push(name.clone());
            self.numbers.insert(name, number);
            number
        };
        names.iter().map(number).collect()
    }
}
