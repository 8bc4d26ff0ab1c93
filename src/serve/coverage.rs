//! What became of the records of every file.

use schema::tables::InputRow;
use serde::Serialize;

/// All files of a table.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct Coverage {
    inputs: Vec<Input>,
}

/// A file.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Input {
    node: String,
    file: String,
    layout: String,
    n_records: i64,
    n_attributed: i64,
    n_unattributed: i64,
    n_headerless: i64,
    n_rejected: i64,
    damage: Vec<String>,
}

impl Coverage {
    /// Of these files.
    pub(super) fn new(rows: &[InputRow]) -> Self {
        let input = |row: &InputRow| Input {
            node: row.node.to_string(),
            file: row.file.to_string(),
            layout: row.layout.to_string(),
            n_records: row.n_records,
            n_attributed: row.n_attributed,
            n_unattributed: row.n_unattributed,
            n_headerless: row.n_headerless,
            n_rejected: row.n_rejected,
            damage: row.damage.iter().map(ToString::to_string).collect(),
        };
        Self { inputs: rows.iter().map(input).collect() }
    }
}
