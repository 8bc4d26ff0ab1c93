//! Answers to those who ask over a wire: so many rows and no more, in so much time.

use std::time::Duration;

use anyhow::{Result, bail};
use futures::StreamExt as _;
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
    /// At most `n_max` rows of the answer to `query`, within `timeout`.
    pub(crate) fn answer(&self, query: &str, n_max: usize, timeout: Duration) -> Result<Answer> {
        self.within(timeout, async {
            let mut stream = self.start(query).await?;
            let schema = stream.schema();
            let fields = schema.fields().iter();
            let columns = fields.clone().map(|field| field.name().clone()).collect();
            let types = fields.map(|field| field.data_type().to_string()).collect();
            let mut answer = Answer { columns, types, rows: Vec::new(), is_cut: false };
            while let Some(batch) = stream.next().await {
                let batch = batch?;
                for row in 0..batch.num_rows() {
                    if answer.rows.len() == n_max {
                        answer.is_cut = true;
                        return Ok(answer);
                    }
                    answer
                        .rows
                        .push(batch.columns().iter().map(|column| values::value(column, row)).collect());
                }
            }
            Ok(answer)
        })
    }

    /// The first column of the answer to `query`, texts, within `timeout`.
    pub(crate) fn column(&self, query: &str, timeout: Duration) -> Result<Vec<String>> {
        self.within(timeout, async {
            let mut stream = self.start(query).await?;
            let mut found = Vec::new();
            while let Some(batch) = stream.next().await {
                let batch = batch?;
                let texts = (0..batch.num_rows()).map(|row| values::value(batch.column(0), row));
                found.extend(texts.filter_map(|value| value.as_str().map(str::to_owned)));
            }
            Ok(found)
        })
    }

    fn within<T>(&self, timeout: Duration, run: impl Future<Output = Result<T>>) -> Result<T> {
        self.block_on(async {
            match tokio::time::timeout(timeout, run).await {
                Ok(done) => done,
                Err(_) => bail!("not answered within {} s, so it was given up", timeout.as_secs()),
            }
        })
    }
}
