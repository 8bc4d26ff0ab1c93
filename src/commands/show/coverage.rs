//! Coverage: what became of every record of every input of a table.

use std::path::Path;

use anyhow::Result;
use reducer::table::Manifest;
use schema::tables::InputRow;
use serde_json::{Value, json};

use crate::output;
use crate::render::{self, Format};

pub(crate) fn print(table: &Path, format: Option<Format>) -> Result<()> {
    let rows: Vec<InputRow> = Manifest::read(table)?.rows()?;
    let row = |row: &InputRow| -> Vec<Value> {
        let damage: Vec<&str> = row.damage.iter().map(|d| &**d).collect();
        vec![
            json!(&*row.node),
            json!(&*row.file),
            json!(&*row.layout),
            json!(row.n_records),
            json!(row.n_attributed),
            json!(row.n_unattributed),
            json!(row.n_headerless),
            json!(row.n_rejected),
            json!(damage.join("; ")),
        ]
    };
    let columns = [
        "node",
        "file",
        "layout",
        "n_records",
        "n_attributed",
        "n_unattributed",
        "n_headerless",
        "n_rejected",
        "damage",
    ];
    let format = match output::format(format) {
        Format::Parquet => return Err(super::Usage("--format: parquet is for `lprof sql`".to_owned()).into()),
        format => format,
    };
    render::rows(&mut output::stdout(), format, &columns, rows.iter().map(row).collect())?;
    Ok(())
}
