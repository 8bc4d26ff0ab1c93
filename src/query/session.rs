//! A session: the engine with the tables of one manifest.

use std::collections::HashSet;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use datafusion::arrow::array::{ArrayRef, RecordBatch, StringArray};
use datafusion::datasource::MemTable;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::execution::context::SQLOptions;
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::optimizer::PhysicalOptimizer;
use datafusion::physical_plan::SendableRecordBatchStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::prelude::{DataFrame, SessionConfig, SessionContext};
use futures::StreamExt as _;
use reducer::table::{Manifest, TABLES};
use schema::tables::{self, Row, SchemaRef};
use serde_json::Value;
use tokio::runtime::Runtime;

use super::happened_before::{FilterPlanner, FilteredJoins, JoinByRequest, functions};
use super::row_names::add_positions;
use super::{QUERY_BYTES_MAX, STACK_BYTES, places, sketches, values};
use crate::args::Format;
use crate::output;
use crate::render::RowWriter;
use crate::table::Table;

/// Memory for sorts, joins and aggregates; they spill to disk beyond it.
pub(super) const MEMORY_BYTES_MAX: usize = 1 << 30;
/// Deepest nesting of brackets: the engine has no guard of its own in our build.
const NESTING_MAX: usize = 128;

/// The SQL engine with the tables of one [`Table`], which it can only read.
pub struct Session {
    context: SessionContext,
    runtime: Runtime,
    /// (table, its columns), for completion.
    pub(crate) names: Vec<(String, Vec<String>)>,
    /// Functions of rows, beside the engine's.
    functions: Arc<HashSet<String>>,
}

/// The answer to a query, one batch after the other.
pub struct Batches<'s> {
    session: &'s Session,
    schema: SchemaRef,
    stream: SendableRecordBatchStream,
}

impl Batches<'_> {
    /// Its columns.
    #[must_use]
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

impl Iterator for Batches<'_> {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.session.runtime.block_on(self.stream.next())?;
        Some(next.map_err(anyhow::Error::from))
    }
}

/// How joins on relations of events are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Joins {
    /// Request by request.
    ByRequest,
    /// By the engine, which asks of each two rows.
    Nested,
}

/// The engine without tables, which holds at most `memory_bytes` and then spills.
pub(super) fn context(memory_bytes: usize, joins: Joins, n_partitions: usize) -> Result<SessionContext> {
    let config = SessionConfig::new()
        .with_information_schema(true)
        .with_target_partitions(n_partitions)
        .set_bool("datafusion.execution.parquet.schema_force_view_types", false)
        .set_bool("datafusion.execution.parquet.pushdown_filters", true)
        // Fails on a column that is given out under two names, beside a field of a struct.
        .set_bool("datafusion.optimizer.enable_leaf_expression_pushdown", false)
        .set_str("datafusion.execution.time_zone", "UTC");
    let pool = Arc::new(FairSpillPool::new(memory_bytes));
    let env =
        RuntimeEnvBuilder::new().with_memory_pool(pool).build_arc().context("cannot start the SQL engine")?;
    let rule: Arc<dyn PhysicalOptimizerRule + Send + Sync> = Arc::new(JoinByRequest);
    let ours = (joins == Joins::ByRequest).then_some(rule);
    let rules = ours.into_iter().chain(PhysicalOptimizer::new().rules).collect();
    let state = SessionStateBuilder::new()
        .with_config(config)
        .with_runtime_env(env)
        .with_default_features()
        .with_physical_optimizer_rules(rules)
        .with_query_planner(Arc::new(FilterPlanner))
        .build();
    let context = SessionContext::new_with_state(state);
    context.add_analyzer_rule(Arc::new(FilteredJoins));
    functions().into_iter().for_each(|function| context.register_udf(function));
    sketches::functions().into_iter().for_each(|function| context.register_udf(function));
    sketches::aggregates().into_iter().for_each(|aggregate| context.register_udaf(aggregate));
    Ok(context)
}

/// What the engine runs in.
fn runtime() -> Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(rayon::current_num_threads())
        .thread_stack_size(STACK_BYTES)
        .enable_time()
        .build()
        .context("cannot start the SQL engine")
}

/// Runs what needs no table of a manifest.
pub(super) fn block_on<T>(run: impl Future<Output = Result<T>>) -> Result<T> {
    runtime()?.block_on(run)
}

/// The names of the functions of rows, beside the engine's.
pub(super) fn names_of_functions() -> HashSet<String> {
    functions().iter().map(|function| function.name().to_owned()).collect()
}

/// The rows of `query`, which can only read; `functions` are those of rows.
pub(super) async fn read_only(
    context: &SessionContext,
    query: &str,
    functions: &HashSet<String>,
) -> Result<DataFrame> {
    check(query)?;
    let options = SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false);
    let state = context.state();
    let dialect = state.config_options().sql_parser.dialect;
    let mut statement = state.sql_to_statement(query, &dialect)?;
    add_positions(&mut statement, functions);
    let plan = state.statement_to_plan(statement).await?;
    options.verify_plan(&plan)?;
    Ok(context.execute_logical_plan(plan).await?)
}

impl Session {
    /// Opens `table`.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("t");
    /// # let name = path.to_str().expect("UTF-8");
    /// # lprof::run(["lprof", "run", "-q", "--table", name, "samples/classes/java17/store.jar", "samples/logs"]);
    /// let session = lprof::Session::new(&lprof::Table::open(&path)?)?;
    /// let query = "SELECT request_type, count(*) AS n FROM requests GROUP BY request_type";
    /// let mut n_rows = 0;
    /// for batch in session.stream(query)? {
    ///     n_rows += batch?.num_rows();
    /// }
    /// assert_eq!(n_rows, 6);
    /// assert!(session.stream("DROP TABLE requests").is_err());
    /// # Ok::<(), anyhow::Error>(())
    /// ```
    ///
    /// # Errors
    /// Files that are not there; an engine that cannot be started.
    pub fn new(table: &Table) -> Result<Self> {
        Self::open(table.manifest(), Joins::ByRequest)
    }

    /// Runs `query`, which can only read. Rows are made as they are asked for.
    ///
    /// # Errors
    /// A query that is none or does not only read. What goes wrong later is an item.
    pub fn stream(&self, query: &str) -> Result<Batches<'_>> {
        let stream = self.runtime.block_on(self.start(query))?;
        Ok(Batches { session: self, schema: stream.schema(), stream })
    }

    /// Runs what asks this session.
    #[cfg(feature = "serve")]
    pub(super) fn block_on<T>(&self, run: impl Future<Output = T>) -> T {
        self.runtime.block_on(run)
    }

    /// Begins to run `query`, where there is room for its plan; a panic of the engine is a failed
    /// query.
    pub(super) async fn start(&self, query: &str) -> Result<SendableRecordBatchStream> {
        let (context, functions, query) =
            (self.context.clone(), Arc::clone(&self.functions), query.to_owned());
        let start = async move {
            let frame = read_only(&context, &query, &functions).await?;
            Ok::<_, anyhow::Error>(frame.execute_stream().await?)
        };
        match tokio::spawn(start).await {
            Ok(started) => started,
            Err(_) => bail!("the SQL engine gave up on this query"),
        }
    }

    /// Opens the tables of `manifest`.
    pub(crate) fn open(manifest: &Manifest, joins: Joins) -> Result<Self> {
        Self::with_memory(manifest, joins, MEMORY_BYTES_MAX)
    }

    /// The same with so much memory for all queries together.
    pub(crate) fn with_memory(manifest: &Manifest, joins: Joins, memory_bytes: usize) -> Result<Self> {
        let context = context(memory_bytes, joins, rayon::current_num_threads())?;
        let runtime = runtime()?;
        let mut names = Vec::new();
        for table in TABLES {
            let schema = schema_of(table);
            names
                .push((table.to_owned(), schema.fields().iter().map(|field| field.name().clone()).collect()));
            register(&context, manifest, table, schema)?;
        }
        Ok(Self { context, runtime, names, functions: Arc::new(names_of_functions()) })
    }

    /// Runs `query` and writes its rows to standard output.
    pub(crate) fn print(&self, query: &str, format: Format) -> Result<()> {
        self.runtime.block_on(async {
            let frame = self.ask(query).await?;
            let schema: SchemaRef = Arc::new(frame.schema().as_arrow().clone());
            let places = self.places(frame.logical_plan(), &schema)?;
            let rows = frame.execute_stream().await?;
            let rows = rows.chain(futures::stream::iter(places.map(Ok)));
            let rows = Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&schema), rows));
            print_stream(rows, schema, format).await
        })
    }

    /// What an explanation also says: where the parts of the query could run.
    fn places(&self, plan: &LogicalPlan, schema: &SchemaRef) -> Result<Option<RecordBatch>> {
        let LogicalPlan::Explain(explain) = plan else { return Ok(None) };
        let plan = self.context.state().optimize(&explain.plan)?;
        let texts = ["where_it_can_run".to_owned(), places::places(&plan)];
        let columns = texts.map(|text| Arc::new(StringArray::from(vec![text])) as ArrayRef);
        Ok(Some(RecordBatch::try_new(Arc::clone(schema), columns.to_vec())?))
    }

    /// The first column of the rows of `query`, as texts.
    pub(crate) fn texts(&self, query: &str) -> Result<Vec<String>> {
        let batches = self
            .runtime
            .block_on(async { Ok::<_, anyhow::Error>(self.ask(query).await?.collect().await?) })?;
        let mut texts = Vec::new();
        for batch in batches {
            for row in 0..batch.num_rows() {
                if let Value::String(text) = values::value(batch.column(0), row) {
                    texts.push(text);
                }
            }
        }
        Ok(texts)
    }

    async fn ask(&self, query: &str) -> Result<DataFrame> {
        read_only(&self.context, query, &self.functions).await
    }
}

/// Writes rows to standard output.
pub(super) async fn print_stream(
    mut stream: SendableRecordBatchStream,
    schema: SchemaRef,
    format: Format,
) -> Result<()> {
    let mut out = output::stdout();
    if format == Format::Parquet {
        let mut batches: Vec<RecordBatch> = Vec::new();
        while let Some(batch) = stream.next().await {
            batches.push(batch?);
        }
        let schema = batches.first().map_or(schema, RecordBatch::schema);
        tables::write_batches(&mut out, schema, batches.into_iter().map(Ok))?;
        return Ok(std::io::Write::flush(&mut out)?);
    }
    let columns = schema.fields().iter().map(|field| field.name().clone()).collect();
    let mut writer = RowWriter::new(&mut out, format, columns)?;
    while let Some(batch) = stream.next().await {
        let batch = batch?;
        for row in 0..batch.num_rows() {
            writer.row(batch.columns().iter().map(|column| values::value(column, row)).collect())?;
        }
    }
    writer.finish()?;
    Ok(())
}

/// Refuses what would cost the engine its stack or memory before it plans.
pub(super) fn check(query: &str) -> Result<()> {
    if query.len() > QUERY_BYTES_MAX {
        bail!("a query has at most {QUERY_BYTES_MAX} bytes, this one {}", query.len());
    }
    let (mut depth, mut deepest) = (0_usize, 0);
    for byte in query.bytes() {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    if deepest > NESTING_MAX {
        bail!("a query nests at most {NESTING_MAX} brackets, this one {deepest}");
    }
    if query.trim().trim_end_matches(';').is_empty() {
        bail!("the query is empty");
    }
    Ok(())
}

fn register(context: &SessionContext, manifest: &Manifest, table: &str, schema: SchemaRef) -> Result<()> {
    let mut urls = Vec::new();
    for path in manifest.paths(table) {
        if !path.is_file() {
            bail!("`{}`: named by the manifest, but not there", path.display());
        }
        let absolute = std::path::absolute(&path)?;
        urls.push(ListingTableUrl::parse(format!(
            "file://{}",
            percent_encoded(&absolute.to_string_lossy())
        ))?);
    }
    if urls.is_empty() {
        let empty = MemTable::try_new(schema, vec![vec![]])?;
        context.register_table(table, Arc::new(empty))?;
        return Ok(());
    }
    let options = ListingOptions::new(Arc::new(ParquetFormat::default())).with_file_extension(".parquet");
    let config =
        ListingTableConfig::new_with_multi_paths(urls).with_listing_options(options).with_schema(schema);
    context.register_table(table, Arc::new(ListingTable::try_new(config)?))?;
    Ok(())
}

/// A path as part of an URL, so that no character of it is a pattern.
fn percent_encoded(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' | b'=' => {
                out.push(byte as char)
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

fn schema_of(table: &str) -> SchemaRef {
    match table {
        "requests" => tables::RequestRow::schema(),
        "request_nodes" => tables::RequestNodeRow::schema(),
        "spans" => tables::SpanRow::schema(),
        "events" => tables::EventRow::schema(),
        "log_points" => tables::LogPointRow::schema(),
        "top_level_methods" => tables::TopLevelMethodRow::schema(),
        "communication_pairs" => tables::CommunicationPairRow::schema(),
        "log_sequences" => tables::LogSequenceRow::schema(),
        "inputs" => tables::InputRow::schema(),
        "runs" => tables::RunRow::schema(),
        other => unreachable!("`{other}` is not in the list of tables"),
    }
}
