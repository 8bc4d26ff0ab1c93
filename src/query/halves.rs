//! An aggregate in two halves (Fay, TOCS'12, §3.2): the first one runs where logs are, so that
//! only groups and states leave a node, never the rows they are of; the second one makes of
//! these what the query gives over all rows.
//!
//! The engine divides any of its aggregates so, to run them on several threads. Here the halves
//! run at different times on different machines. What the query does before its innermost
//! aggregate must be done row by row; what it does afterwards is done by the second half.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::error::{Context as _, Result, bail};
use crate::render::Format;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::streaming::StreamingTable;
use datafusion::common::DataFusionError;
use datafusion::common::tree_node::{Transformed, TransformedResult as _, TreeNode as _};
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::execution::TaskContext;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::PartitionStream;
use datafusion::physical_plan::{ExecutionPlan, SendableRecordBatchStream, collect};
use reducer::finish::{Keep, finish as rows_of};
use schema::tables::{EventRow, NodeAggregate, RecordBatch, Row as _};
use schema::{Event, InputAccount, Model, NodeOutput};
use tokio::runtime::Runtime;

use super::limits::Limits;
use super::session::{self, Engine};
use super::{in_thread, places};

/// What keeps the states of aggregates.
pub(crate) const ENGINE: &str = concat!("lprof ", env!("CARGO_PKG_VERSION"));
/// Accumulators whose rows are held at once.
const ACCUMULATORS_AT_ONCE: usize = 16_384;
/// What may stand between the rows and the aggregate: it does with each row by itself.
const ROW_BY_ROW: [&str; 5] =
    ["FilterExec", "ProjectionExec", "UnnestExec", "CoalesceBatchesExec", "CooperativeExec"];

/// The first half of `query` over the events of one node.
///
/// # Errors
/// No aggregate, or what is not known where logs are.
pub(crate) fn first_half(query: &str, model: Model, output: NodeOutput) -> Result<NodeAggregate> {
    let node = output.node.clone();
    let events = NodeEvents { model: Arc::new(model), output: Arc::new(output), schema: schema() };
    in_thread(move || {
        let runtime = session::runtime()?;
        runtime.block_on(async {
            let (plan, context) = plan(&engine(Limits::default(), &runtime)?, query, Some(events)).await?;
            let half = half(&innermost(&plan)?, Half::First, None)?;
            let schema = half.schema();
            let batches = collect(half, context).await?;
            Ok(NodeAggregate { node, query: query.to_owned(), engine: engine_name(), schema, batches })
        })
    })
}

/// Fails if `query` has no half that a node can do: before its logs are read.
pub(crate) fn check(query: &str) -> Result<()> {
    in_thread(|| {
        let runtime = session::runtime()?;
        runtime.block_on(async {
            innermost(&plan(&engine(Limits::default(), &runtime)?, query, None).await?.0).map(drop)
        })
    })
}

/// Prints what the query of `aggregates` gives over the rows of all their nodes.
///
/// # Errors
/// None of them, different queries, one node twice, another version.
pub(crate) fn print_second_half(
    aggregates: Vec<NodeAggregate>,
    limits: Limits,
    format: Format,
) -> Result<()> {
    let Some(first) = aggregates.first() else { bail!(Empty: "no node's aggregate is there") };
    let query = first.query.clone();
    let mut nodes = std::collections::BTreeSet::new();
    for aggregate in &aggregates {
        if aggregate.query != query {
            bail!(Mismatch: "node `{}` was asked another query than `{}`", aggregate.node, first.node);
        }
        if aggregate.engine != engine_name() {
            bail!(Mismatch:
                "node `{}` was asked by {}, this is {}: states of aggregates are those of one version",
                aggregate.node,
                aggregate.engine,
                engine_name()
            );
        }
        if !nodes.insert(aggregate.node.clone()) {
            bail!(Mismatch: "node `{}` is there twice: its rows would count twice", aggregate.node);
        }
    }
    in_thread(move || {
        let runtime = session::runtime()?;
        let engine = engine(limits, &runtime)?;
        let rows = runtime.block_on(async {
            let (plan, context) = plan(&engine, &query, None).await?;
            let innermost = innermost(&plan)?;
            let whole = plan.transform_up(|part| {
                if !is_same(&part, &innermost) {
                    return Ok(Transformed::no(part));
                }
                Ok(Transformed::yes(half(&innermost, Half::Second, Some(&aggregates))?))
            });
            let rows = datafusion::physical_plan::execute_stream(whole.data()?, context)?;
            Ok::<_, crate::error::Error>(engine.limited(engine.limiter.turn(None).await?, rows, None))
        })?;
        let printed = session::print_rows(&runtime, rows, format);
        runtime.shutdown_background();
        printed
    })
}

/// The plan of an aggregate is the same at all nodes, so it has one partition.
fn engine(limits: Limits, threads: &Runtime) -> Result<Engine> {
    Engine::new(limits, super::Joins::ByRequest, 1, threads)
}

fn engine_name() -> String {
    format!("{ENGINE}, datafusion {}", datafusion::DATAFUSION_VERSION)
}

fn is_same(a: &Arc<dyn ExecutionPlan>, b: &Arc<dyn ExecutionPlan>) -> bool {
    Arc::ptr_eq(a, b)
}

/// The plan of `query` over `events`, in one partition and without what an engine knows of a
/// table that it has at hand: the same plan at all nodes and where they come together.
async fn plan(
    engine: &Engine,
    query: &str,
    events: Option<NodeEvents>,
) -> Result<(Arc<dyn ExecutionPlan>, Arc<TaskContext>)> {
    let context = &engine.context;
    let nothing = NodeEvents { model: Arc::default(), output: Arc::default(), schema: schema() };
    let events: Arc<dyn PartitionStream> = Arc::new(events.unwrap_or(nothing));
    let table = StreamingTable::try_new(schema(), vec![events])?;
    context.register_table("events", Arc::new(table))?;
    let plan = engine.plan(query).await.with_context(|| {
        format!("where logs are there is `events`, with {}", places::KNOWN_AT_NODE.join(", "))
    })?;
    let frame = context.execute_logical_plan(plan).await?;
    Ok((frame.create_physical_plan().await?, context.task_ctx()))
}

/// The aggregate below which there is none, if each row is dealt with by itself before it.
fn innermost(plan: &Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let mut found = None;
    let mut at = Arc::clone(plan);
    loop {
        if at.downcast_ref::<AggregateExec>().is_some() {
            found = Some(Arc::clone(&at));
        } else if found.is_some() && !at.children().is_empty() && !ROW_BY_ROW.contains(&at.name()) {
            bail!("`{}` before the aggregate needs the rows of all nodes together", at.name());
        }
        let next = match at.children().as_slice() {
            [] => break,
            [next] => Arc::clone(*next),
            _ => bail!("`{}` brings rows together, which a node cannot do by itself", at.name()),
        };
        at = next;
    }
    found.context("no aggregate in the query: there is nothing that could be sent instead of rows")
}

enum Half {
    First,
    Second,
}

/// One half of `aggregate`; the second one of what the nodes sent.
fn half(
    aggregate: &Arc<dyn ExecutionPlan>,
    half: Half,
    sent: Option<&[NodeAggregate]>,
) -> datafusion::common::Result<Arc<dyn ExecutionPlan>> {
    let Some(whole) = aggregate.downcast_ref::<AggregateExec>() else {
        return Err(DataFusionError::Internal("an aggregate was expected".to_owned()));
    };
    let first = AggregateExec::try_new(
        AggregateMode::Partial,
        whole.group_expr().clone(),
        whole.aggr_expr().to_vec(),
        whole.filter_expr().to_vec(),
        Arc::clone(whole.input()),
        whole.input_schema(),
    )?;
    let Half::Second = half else { return Ok(Arc::new(first)) };
    let schema = first.schema();
    let mut batches = Vec::new();
    for aggregate in sent.unwrap_or_default() {
        let is_alike = aggregate.schema.fields().len() == schema.fields().len()
            && aggregate
                .schema
                .fields()
                .iter()
                .zip(schema.fields())
                .all(|(a, b)| a.data_type() == b.data_type());
        if !is_alike {
            let message = format!("node `{}` sent other columns than the query has", aggregate.node);
            return Err(DataFusionError::Execution(message));
        }
        for batch in &aggregate.batches {
            batches.push(RecordBatch::try_new(Arc::clone(&schema), batch.columns().to_vec())?);
        }
    }
    let states = MemorySourceConfig::try_new_exec(&[batches], schema, None)?;
    let second = AggregateExec::try_new(
        AggregateMode::Final,
        whole.group_expr().as_final(),
        whole.aggr_expr().to_vec(),
        vec![None; whole.aggr_expr().len()],
        states,
        whole.input_schema(),
    )?;
    Ok(Arc::new(second))
}

/// The columns of `events` that are known where logs are.
fn schema() -> SchemaRef {
    let all = EventRow::schema();
    let known = places::KNOWN_AT_NODE.iter().filter_map(|name| all.index_of(name).ok());
    Arc::new(all.project(&known.collect::<Vec<_>>()).expect("columns of the table"))
}

/// The events of one node, as rows some at a time.
#[derive(Debug)]
struct NodeEvents {
    model: Arc<Model>,
    output: Arc<NodeOutput>,
    schema: SchemaRef,
}

impl PartitionStream for NodeEvents {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        let (model, output, schema) =
            (Arc::clone(&self.model), Arc::clone(&self.output), Arc::clone(&self.schema));
        let n_parts = output.accumulators.len().div_ceil(ACCUMULATORS_AT_ONCE) + 1;
        let batches = (0..n_parts).map(move |part| batch(&model, &output, part, &schema));
        Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), futures::stream::iter(batches)))
    }
}

/// Some of the rows of a node: those of some accumulators, or, last, of what is in none.
fn batch(
    model: &Model,
    output: &NodeOutput,
    part: usize,
    schema: &SchemaRef,
) -> datafusion::common::Result<RecordBatch> {
    let inputs: BTreeMap<String, Vec<InputAccount>> =
        BTreeMap::from([(output.node.clone(), output.inputs.clone())]);
    // Numbers of log points are a table's; no column shows them.
    let numbers = vec![0; model.log_points.len()];
    let context =
        reducer::finish::Context { model, inputs: &inputs, log_point_numbers: &numbers, keep: Keep::Events };
    let rows = match output.accumulators.chunks(ACCUMULATORS_AT_ONCE).nth(part) {
        Some(accumulators) => rows_of(context, accumulators, &[]),
        None => {
            let unattributed: Vec<(String, Event)> =
                output.unattributed.iter().map(|event| (output.node.clone(), event.clone())).collect();
            rows_of(context, &[], &unattributed)
        }
    };
    let rows = rows.map_err(|e| DataFusionError::External(Box::new(e)))?;
    let all = EventRow::batch(&rows.events);
    let columns = schema.fields().iter().map(|field| all.column_by_name(field.name()).cloned());
    let columns = columns.collect::<Option<Vec<_>>>();
    let columns =
        columns.ok_or_else(|| DataFusionError::Internal("a column of events is missing".to_owned()))?;
    Ok(RecordBatch::try_new(Arc::clone(schema), columns)?)
}
