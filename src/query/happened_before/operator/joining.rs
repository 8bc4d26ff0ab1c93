//! Joining as a stream: which requests are whole on both sides, and then these.

use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::memory_pool::MemoryReservation;
use datafusion::physical_plan::metrics::BaselineMetrics;

use super::Join;
use super::requests::Requests;
use super::side::Side;

pub(super) struct Joining {
    join: Arc<Join>,
    left: Side,
    right: Side,
    reservation: MemoryReservation,
    /// Rows of a batch that is given out.
    n_rows: usize,
    metrics: BaselineMetrics,
    /// Requests that are whole on both sides.
    requests: Option<Requests>,
}

impl Joining {
    pub(super) fn new(
        join: Arc<Join>,
        left: Side,
        right: Side,
        reservation: MemoryReservation,
        n_rows: usize,
        metrics: BaselineMetrics,
    ) -> Self {
        Self { join, left, right, reservation, n_rows, metrics, requests: None }
    }

    /// The next batch of joined rows; none: that was all.
    pub(super) async fn next(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if let Some(requests) = &mut self.requests {
                let elapsed = self.metrics.elapsed_compute().clone();
                let _timer = elapsed.timer();
                if let Some(batch) = requests.next(&self.join, self.n_rows)? {
                    self.metrics.output_rows().add(batch.num_rows());
                    return Ok(Some(batch));
                }
                self.requests = None;
            }
            if !self.read().await? {
                return Ok(None);
            }
        }
    }

    /// Reads until some requests are whole on both sides; false: there are no more.
    async fn read(&mut self) -> Result<bool> {
        loop {
            for side in [&mut self.left, &mut self.right] {
                if side.last().is_none() {
                    side.read().await?;
                }
            }
            self.reserve()?;
            if self.left.last().is_none() && self.right.last().is_none() {
                return Ok(false);
            }
            // What is not read yet is of the last request that was, or of a later one.
            let open = |side: &Side| if side.is_done { None } else { side.last() };
            let limit = match (open(&self.left), open(&self.right)) {
                (Some(left), Some(right)) => Some(left.min(right)),
                (left, right) => left.or(right),
            };
            let (left, left_keys) = self.left.take(limit)?;
            let (right, right_keys) = self.right.take(limit)?;
            if left.num_rows() + right.num_rows() > 0 {
                self.requests = Some(Requests::new((left, left_keys), (right, right_keys)));
                return Ok(true);
            }
            for side in [&mut self.left, &mut self.right] {
                if !side.is_done && side.last() == limit {
                    side.read().await?;
                }
            }
        }
    }

    fn reserve(&mut self) -> Result<()> {
        let n_bytes = self.left.n_bytes() + self.right.n_bytes();
        // Held once as it was read, once as the batch that is being joined.
        self.reservation.try_resize(n_bytes.saturating_mul(2)).map_err(|error| {
            let message = "the rows of one request do not fit into memory; select fewer columns or rows";
            DataFusionError::Context(message.to_owned(), Box::new(error))
        })
    }
}
