//! Answers to those who ask over a wire: so many rows and no more.

use crate::error::Result;
use serde_json::Value;

use super::session::Session;
use super::values;

/// Rows as JSON.
pub(crate) struct Answer {
    /// Names of the columns.
    pub(crate) columns: Vec<String>,
    /// Their types, as the engine calls them.
    pub(crate) types: Vec<String>,
    /// Values by row.
    pub(crate) rows: Vec<Vec<Value>>,
    /// There were more.
    pub(crate) is_cut: bool,
}

impl Session {
    /// At most `n_max` rows of the answer to `query`.
    pub(crate) fn answer(&self, query: &str, n_max: usize) -> Result<Answer> {
        let batches = self.stream(query)?;
        let schema = batches.schema();
        let fields = schema.fields().iter();
        let columns = fields.clone().map(|field| field.name().clone()).collect();
        let types = fields.map(|field| field.data_type().to_string()).collect();
        let mut answer = Answer { columns, types, rows: Vec::new(), is_cut: false };
        for batch in batches {
            let batch = batch?;
            for row in 0..batch.num_rows() {
                if answer.rows.len() == n_max {
                    answer.is_cut = true;
                    return Ok(answer);
                }
                answer.rows.push(batch.columns().iter().map(|column| values::value(column, row)).collect());
            }
        }
        Ok(answer)
    }
}
