//! The first halves of an aggregate: what a fixed query needs of one node, as
//! `OUT_DIR/aggregates/NODE.parquet`. Columns are the groups of the query and the states of its
//! aggregates; the query, and the engine whose states these are, stand in the file's footer.

use std::fs;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use super::map_output::path_of;
use super::parquet::{self, Metadata};
use crate::error::{Error, ErrorKind, Result};

const FOLDER: &str = "aggregates";
const QUERY: &str = "lprof.query";
const ENGINE: &str = "lprof.engine";
const NODE: &str = "lprof.node";

/// What one node sends of an aggregate.
#[derive(Clone, Debug)]
pub struct NodeAggregate {
    /// Label of the log source.
    pub node: String,
    /// The query, in SQL.
    pub query: String,
    /// The engine that made the states, with its version: another one may keep others.
    pub engine: String,
    /// Columns of the groups and of the states.
    pub schema: SchemaRef,
    /// Their rows.
    pub batches: Vec<RecordBatch>,
}

/// Where the aggregate of `node` is written below `folder`.
#[must_use]
pub fn aggregate_path(folder: &Path, node: &str) -> PathBuf {
    path_of(folder, FOLDER, node)
}

/// Writes what a node sends below `folder`; returns the bytes of the file.
///
/// # Errors
/// I/O errors, naming the file.
pub fn write_aggregate(folder: &Path, aggregate: &NodeAggregate) -> Result<u64> {
    let part = folder.join(FOLDER);
    fs::create_dir_all(&part).map_err(Error::io(&part))?;
    let metadata = Metadata::from([
        (NODE.to_owned(), aggregate.node.clone()),
        (QUERY.to_owned(), aggregate.query.clone()),
        (ENGINE.to_owned(), aggregate.engine.clone()),
    ]);
    let path = aggregate_path(folder, &aggregate.node);
    let batches = aggregate.batches.iter().cloned();
    Ok(parquet::write_columns(&path, aggregate.schema.clone(), batches, &metadata)?.n_bytes)
}

/// What nodes sent to `folder`, by the name of their files.
///
/// # Errors
/// No folder of aggregates; damage; I/O errors.
pub fn read_aggregates(folder: &Path) -> Result<Vec<NodeAggregate>> {
    let part = folder.join(FOLDER);
    let not_ours =
        |path: &Path| Error::new(path, ErrorKind::NotOurs { expected: "output of `lprof map --aggregate`" });
    if folder.is_dir() && !part.is_dir() {
        return Err(not_ours(folder));
    }
    let mut paths = Vec::new();
    for entry in fs::read_dir(&part).map_err(Error::io(folder))? {
        let path = entry.map_err(Error::io(folder))?.path();
        if path.extension().is_some_and(|e| e == "parquet") {
            paths.push(path);
        }
    }
    paths.sort();
    let read = |path: &PathBuf| {
        let (schema, batches, metadata) = parquet::read_columns(path)?;
        let value = |key: &str| metadata.get(key).cloned().ok_or_else(|| not_ours(path));
        let (node, query, engine) = (value(NODE)?, value(QUERY)?, value(ENGINE)?);
        Ok(NodeAggregate { node, query, engine, schema, batches })
    };
    paths.iter().map(read).collect()
}
