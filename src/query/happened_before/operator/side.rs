//! One side of the operator: rows that come sorted by request, as far as they were read.

use std::collections::VecDeque;
use std::sync::Arc;

use datafusion::arrow::array::{Array as _, AsArray as _, Int64Array, RecordBatch};
use datafusion::arrow::compute::concat_batches;
use datafusion::arrow::datatypes::{Int64Type, SchemaRef};
use datafusion::common::{Result, exec_datafusion_err};
use datafusion::physical_plan::{PhysicalExpr, SendableRecordBatchStream};
use futures::StreamExt as _;

/// What tells the rows of one request from those of others; null: of none, these come first.
pub(super) type RequestKey = Option<i64>;

pub(super) struct Side {
    stream: SendableRecordBatchStream,
    key: Arc<dyn PhysicalExpr>,
    /// What was read and not taken yet.
    held: VecDeque<(RecordBatch, Int64Array)>,
    pub(super) is_done: bool,
}

impl Side {
    pub(super) fn new(stream: SendableRecordBatchStream, key: Arc<dyn PhysicalExpr>) -> Self {
        Self { stream, key, held: VecDeque::new(), is_done: false }
    }

    pub(super) fn schema(&self) -> SchemaRef {
        self.stream.schema()
    }

    /// Reads one more batch of rows, if there is one.
    pub(super) async fn read(&mut self) -> Result<()> {
        while !self.is_done {
            let Some(batch) = self.stream.next().await.transpose()? else {
                self.is_done = true;
                break;
            };
            if batch.num_rows() > 0 {
                let keys = self.key.evaluate(&batch)?.into_array(batch.num_rows())?;
                let keys = keys.as_primitive_opt::<Int64Type>().cloned();
                let keys = keys.ok_or_else(|| exec_datafusion_err!("a request's key is a number"))?;
                self.held.push_back((batch, keys));
                break;
            }
        }
        Ok(())
    }

    /// The request that the last row read is of; none: no row is held.
    pub(super) fn last(&self) -> Option<RequestKey> {
        let (_, keys) = self.held.back()?;
        Some(key_at(keys, keys.len() - 1))
    }

    /// Bytes of the rows held.
    pub(super) fn n_bytes(&self) -> usize {
        let bytes = |batch: &RecordBatch| -> usize {
            let columns = batch.columns().iter();
            columns.map(|column| column.to_data().get_slice_memory_size().unwrap_or(0)).sum()
        };
        self.held.iter().map(|(batch, _)| bytes(batch)).sum()
    }

    /// Takes the rows of all requests below `limit`, or all: as one batch and their keys.
    pub(super) fn take(&mut self, limit: Option<RequestKey>) -> Result<(RecordBatch, Vec<RequestKey>)> {
        let (mut batches, mut taken) = (Vec::new(), Vec::new());
        while let Some((batch, keys)) = self.held.pop_front() {
            let n = match limit {
                None => keys.len(),
                Some(limit) => partition_point(&keys, limit),
            };
            taken.extend((0..n).map(|row| key_at(&keys, row)));
            if n == keys.len() {
                batches.push(batch);
                continue;
            }
            let n_left = keys.len() - n;
            self.held.push_front((batch.slice(n, n_left), keys.slice(n, n_left)));
            batches.push(batch.slice(0, n));
            break;
        }
        let batch = match <[RecordBatch; 1]>::try_from(batches) {
            Ok([batch]) => batch,
            Err(batches) => concat_batches(&self.schema(), &batches)?,
        };
        Ok((batch, taken))
    }
}

fn key_at(keys: &Int64Array, row: usize) -> RequestKey {
    keys.is_valid(row).then(|| keys.value(row))
}

/// How many of the sorted `keys` are below `limit`.
fn partition_point(keys: &Int64Array, limit: RequestKey) -> usize {
    let (mut low, mut high) = (0, keys.len());
    while low < high {
        let middle = low + (high - low) / 2;
        if key_at(keys, middle) < limit {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}
