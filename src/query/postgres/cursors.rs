//! Cursors: queries whose rows are fetched by a name, as many at a time as are asked for. What waits is
//! a plan that has begun and at most one batch of rows; going back means to begin anew and pass over.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use datafusion::arrow::array::{RecordBatch, UInt64Array};
use datafusion::arrow::compute::{concat_batches, take_record_batch};
use datafusion::error::DataFusionError;
use datafusion::logical_expr::LogicalPlan;
use datafusion::sql::sqlparser::ast::{FetchDirection, ValueWithSpan};
use datafusion_postgres::arrow_pg::datatypes::{arrow_schema_to_pg_fields, encode_recordbatch};
use datafusion_postgres::pgwire::api::portal::Format;
use datafusion_postgres::pgwire::api::results::QueryResponse;
use datafusion_postgres::pgwire::error::{PgWireError, PgWireResult};
use datafusion_postgres::pgwire::types::format::FormatOptions;
use futures::StreamExt as _;
use futures::stream::BoxStream;
use schema::tables::SchemaRef;

use super::faults::{self, fault};
use crate::query::session::Engine;

/// Rows that are held at most to be given in reverse.
const BACK_MAX: i64 = 100_000;

/// The cursors of a session.
#[derive(Default)]
pub(super) struct Cursors(Mutex<HashMap<String, Declared>>);

struct Declared {
    cursor: Arc<tokio::sync::Mutex<Cursor>>,
    plan: LogicalPlan,
    is_held: bool,
    /// Savepoints that there were.
    depth: usize,
}

impl Cursors {
    fn all(&self) -> std::sync::MutexGuard<'_, HashMap<String, Declared>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One more.
    pub(super) fn add(&self, name: &str, cursor: Cursor, is_held: bool, depth: usize) -> PgWireResult<()> {
        let plan = cursor.plan.clone();
        let cursor = Arc::new(tokio::sync::Mutex::new(cursor));
        let mut all = self.all();
        if all.contains_key(name) {
            return Err(fault("42P03", format!("cursor \"{name}\" already exists")));
        }
        all.insert(name.to_owned(), Declared { cursor, plan, is_held, depth });
        Ok(())
    }

    /// That of a name.
    pub(super) fn get(&self, name: &str) -> Option<Arc<tokio::sync::Mutex<Cursor>>> {
        self.all().get(name).map(|of| Arc::clone(&of.cursor))
    }

    /// What it gives the rows of.
    pub(super) fn plan(&self, name: &str) -> Option<LogicalPlan> {
        self.all().get(name).map(|of| of.plan.clone())
    }

    /// Closes it; whether it was there.
    pub(super) fn close(&self, name: &str) -> bool {
        self.all().remove(name).is_some()
    }

    /// Closes all.
    pub(super) fn clear(&self) {
        self.all().clear();
    }

    /// Closes those that end with their transaction.
    pub(super) fn end(&self) {
        self.all().retain(|_, of| of.is_held);
    }

    /// Closes those that were declared after the `n`-th savepoint.
    pub(super) fn back_to(&self, n: usize) {
        self.all().retain(|_, of| of.depth < n);
    }
}

/// A query that is answered in portions.
pub(super) struct Cursor {
    engine: Engine,
    plan: LogicalPlan,
    schema: SchemaRef,
    can_go_back: bool,
    rows: BoxStream<'static, Result<RecordBatch, DataFusionError>>,
    /// What of it was not given yet.
    rest: Option<RecordBatch>,
    /// The row at which it stands, from 1; 0: before the first.
    at: i64,
    is_over: bool,
}

/// Where a cursor is sent.
enum Goal {
    /// This many rows on, all of which are given.
    On(i64),
    /// This many back.
    Back(i64),
    /// To one row, counted from the first, or from the last where negative.
    Row(i64),
}

impl Cursor {
    /// Begins to answer `plan`. Who can go back has to find the same order again.
    ///
    /// # Errors
    /// What cannot be planned.
    pub(super) async fn new(engine: &Engine, plan: LogicalPlan, can_go_back: bool) -> PgWireResult<Self> {
        let mut engine = engine.clone();
        if can_go_back {
            engine = engine.in_one_part();
        }
        let schema = Arc::new(plan.schema().as_arrow().clone());
        let rows = begun(&engine, &plan).await?;
        Ok(Self { engine, plan, schema, can_go_back, rows, rest: None, at: 0, is_over: false })
    }

    /// The next rows, `most` of them at most; none: it stands behind the last.
    async fn next(&mut self, most: i64) -> PgWireResult<Option<RecordBatch>> {
        while self.rest.as_ref().is_none_or(|rest| rest.num_rows() == 0) {
            match self.rows.next().await {
                None => {
                    self.at += i64::from(!self.is_over);
                    self.is_over = true;
                    return Ok(None);
                }
                Some(batch) => {
                    self.rest = Some(batch.map_err(|error| PgWireError::ApiError(Box::new(error)))?)
                }
            }
        }
        let Some(rest) = self.rest.take() else { return Ok(None) };
        let n = rest.num_rows().min(usize::try_from(most).unwrap_or(usize::MAX));
        self.rest = Some(rest.slice(n, rest.num_rows() - n));
        self.at += n as i64;
        Ok(Some(rest.slice(0, n)))
    }

    /// Stands before the first row again.
    async fn restart(&mut self) -> PgWireResult<()> {
        if !self.can_go_back {
            return Err(fault("55000", "cursor can only scan forward: declare it with SCROLL"));
        }
        self.rows = begun(&self.engine, &self.plan).await?;
        (self.rest, self.at, self.is_over) = (None, 0, false);
        Ok(())
    }

    /// Passes over rows until it stands at `row`, or behind the last.
    async fn pass(&mut self, row: i64) -> PgWireResult<()> {
        if row < self.at {
            self.restart().await?;
        }
        while self.at < row && !self.is_over {
            self.next(row - self.at).await?;
        }
        Ok(())
    }

    /// The row `row`, at which it then stands.
    async fn row(&mut self, row: i64) -> PgWireResult<Vec<RecordBatch>> {
        if row <= 0 {
            self.pass(0).await?;
            return Ok(Vec::new());
        }
        self.pass(row - 1).await?;
        Ok(self.next(1).await?.into_iter().collect())
    }

    /// The last `n` rows before where it stands, backwards; it then stands at the last one given, or before
    /// the first row if there were fewer.
    async fn back(&mut self, n: i64) -> PgWireResult<Vec<RecordBatch>> {
        let (end, first) = (self.at, self.at.saturating_sub(n).max(1));
        let reaches_begin = n >= end;
        if end - first > BACK_MAX {
            return Err(fault("54000", format!("a cursor goes back by {BACK_MAX} rows at most")));
        }
        self.restart().await?;
        self.pass(first - 1).await?;
        let mut batches = Vec::new();
        while self.at < end - 1 {
            let Some(batch) = self.next(end - 1 - self.at).await? else { break };
            batches.push(batch);
        }
        self.pass(if reaches_begin { 0 } else { first }).await?;
        let whole = concat_batches(&self.schema, &batches);
        let turned = whole.and_then(|whole| {
            let order: UInt64Array = (0..whole.num_rows() as u64).rev().collect();
            take_record_batch(&whole, &order)
        });
        Ok(vec![turned.map_err(|error| PgWireError::ApiError(Box::new(error)))?])
    }

    fn goal(&self, direction: &FetchDirection) -> Goal {
        let number = |value: &ValueWithSpan| value.to_string().parse::<i64>().unwrap_or(0);
        let signed = |n: i64| match n {
            0 => Goal::Row(self.at),
            n if n < 0 => Goal::Back(-n),
            n => Goal::On(n),
        };
        match direction {
            FetchDirection::Next | FetchDirection::Forward { limit: None } => Goal::On(1),
            FetchDirection::Forward { limit: Some(n) } | FetchDirection::Count { limit: n } => {
                signed(number(n))
            }
            FetchDirection::All | FetchDirection::ForwardAll => Goal::On(i64::MAX),
            FetchDirection::Prior | FetchDirection::Backward { limit: None } => Goal::Back(1),
            FetchDirection::Backward { limit: Some(n) } => signed(-number(n)),
            FetchDirection::BackwardAll => Goal::Back(i64::MAX),
            FetchDirection::First => Goal::Row(1),
            FetchDirection::Last => Goal::Row(-1),
            FetchDirection::Absolute { limit } => Goal::Row(number(limit)),
            FetchDirection::Relative { limit } => Goal::Row((self.at + number(limit)).max(0)),
        }
    }
}

async fn begun(
    engine: &Engine,
    plan: &LogicalPlan,
) -> PgWireResult<BoxStream<'static, Result<RecordBatch, DataFusionError>>> {
    let wrong = |error| PgWireError::ApiError(Box::new(error) as Box<dyn std::error::Error + Send + Sync>);
    let frame = engine.context.execute_logical_plan(plan.clone()).await.map_err(wrong)?;
    let rows = frame.execute_stream().await.map_err(wrong)?;
    // It may wait for long until it is asked again, and others must not wait for that.
    let turn = engine.limiter.aside(None).map_err(faults::of)?;
    Ok(turn.items(rows).boxed())
}

/// The rows to which `direction` leads `cursor`.
///
/// # Errors
/// One that would have to go back and cannot.
pub(super) async fn fetched(
    cursor: Arc<tokio::sync::Mutex<Cursor>>,
    direction: &FetchDirection,
    format: &Format,
    options: Arc<FormatOptions>,
) -> PgWireResult<QueryResponse> {
    let mut held = Arc::clone(&cursor).lock_owned().await;
    let fields = Arc::new(arrow_schema_to_pg_fields(&held.schema, format, Some(options))?);
    let goal = held.goal(direction);
    let batches = match goal {
        Goal::On(n) => {
            // Held until they were read, so that the next portion begins where this one ends.
            let rows = futures::stream::try_unfold((held, n), |(mut held, left)| async move {
                if left <= 0 {
                    return Ok(None);
                }
                let next = held.next(left).await?;
                Ok::<_, PgWireError>(next.map(|batch| {
                    let left = left - batch.num_rows() as i64;
                    (batch, (held, left))
                }))
            });
            return Ok(response(fields, rows.boxed()));
        }
        Goal::Back(n) => held.back(n).await?,
        Goal::Row(row) if row < 0 => {
            held.pass(i64::MAX).await?;
            let row = held.at + row;
            held.row(row).await?
        }
        Goal::Row(row) => held.row(row).await?,
    };
    Ok(response(fields, futures::stream::iter(batches.into_iter().map(Ok)).boxed()))
}

type Fields = Arc<Vec<datafusion_postgres::pgwire::api::results::FieldInfo>>;

fn response(fields: Fields, batches: BoxStream<'static, PgWireResult<RecordBatch>>) -> QueryResponse {
    let of_rows = Arc::clone(&fields);
    let rows = batches.flat_map(move |batch| match batch {
        Ok(batch) => futures::stream::iter(encode_recordbatch(Arc::clone(&of_rows), batch)).boxed(),
        Err(error) => futures::stream::iter([Err(error)]).boxed(),
    });
    let mut response = QueryResponse::new(fields, rows);
    response.set_command_tag("FETCH");
    response
}
