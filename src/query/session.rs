//! A session: the engine with the tables of one manifest.

use std::collections::HashSet;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, RecordBatch, StringArray};
#[cfg(feature = "postgres")]
use datafusion::config::ConfigOptions;
use datafusion::datasource::MemTable;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::execution::context::SQLOptions;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::optimizer::PhysicalOptimizer;
use datafusion::physical_plan::SendableRecordBatchStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion::sql::parser::Statement;
use futures::StreamExt as _;
use reducer::table::{Manifest, TABLES};
use schema::tables::{self, Row, SchemaRef};
use tokio::runtime::Runtime;

use super::happened_before::{FilterPlanner, FilteredJoins, JoinByRequest, functions};
use super::limits::{Limiter, Limits, Turn};
use super::row_names::add_positions;
use super::spill::Folder;
use super::{STACK_BYTES, bounds, dialect, places, sketches, values};
use crate::error::{Context as _, Error, Result, bail};
use crate::output;
use crate::render::{Format, RowWriter};
use crate::table::Table;

/// What the tables are in, for those who want to know.
pub(super) const DATABASE: &str = "lprof";
/// The SQL engine with the tables of one [`Table`], which it can only read.
pub struct Session {
    engine: Engine,
    /// None when it ends.
    runtime: Option<Runtime>,
    /// (table, its columns), for completion.
    pub(crate) names: Vec<(String, Vec<String>)>,
}

/// What answers queries; it needs a runtime around it.
#[derive(Clone)]
pub(super) struct Engine {
    pub(super) context: SessionContext,
    pub(super) limiter: Limiter,
    /// Functions of rows, beside the engine's.
    functions: Arc<HashSet<String>>,
    /// Where it goes on that needs more memory; none: it fails.
    _spill: Option<Arc<Folder>>,
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
        let next = self.session.block_on(self.stream.next())?;
        Some(next.map_err(Error::from))
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

/// The engine without tables, which holds at most `memory_bytes` and then goes on in `spill`.
pub(super) fn context(
    memory_bytes: usize,
    spill: Option<&Folder>,
    joins: Joins,
    n_partitions: usize,
) -> Result<SessionContext> {
    let config = SessionConfig::new()
        .with_default_catalog_and_schema(DATABASE, "public")
        .with_information_schema(true)
        .with_target_partitions(n_partitions)
        .set_bool("datafusion.execution.parquet.schema_force_view_types", false)
        .set_bool("datafusion.execution.parquet.pushdown_filters", true)
        // Fails on a column that is given out under two names, beside a field of a struct.
        .set_bool("datafusion.optimizer.enable_leaf_expression_pushdown", false)
        .set_str("datafusion.sql_parser.dialect", "PostgreSQL")
        .set_str("datafusion.execution.time_zone", "UTC");
    let pool = Arc::new(FairSpillPool::new(memory_bytes));
    let disk = match spill {
        Some(folder) => DiskManagerMode::Directories(vec![folder.path().to_owned()]),
        None => DiskManagerMode::Disabled,
    };
    let env = RuntimeEnvBuilder::new()
        .with_memory_pool(pool)
        .with_disk_manager_builder(DiskManagerBuilder::default().with_mode(disk))
        .build_arc()
        .context("cannot start the SQL engine")?;
    let rule: Arc<dyn PhysicalOptimizerRule + Send + Sync> = Arc::new(JoinByRequest);
    let ours = (joins == Joins::ByRequest).then_some(rule);
    let rules = ours.into_iter().chain(PhysicalOptimizer::new().rules).collect();
    let state = SessionStateBuilder::new()
        .with_config(config)
        .with_runtime_env(env)
        .with_expr_planners(dialect::planners())
        .with_default_features()
        .with_physical_optimizer_rules(rules)
        .with_query_planner(Arc::new(FilterPlanner))
        .build();
    let context = SessionContext::new_with_state(state);
    context.add_analyzer_rule(Arc::new(FilteredJoins));
    functions().into_iter().for_each(|function| context.register_udf(function));
    dialect::install(&context);
    sketches::functions().into_iter().for_each(|function| context.register_udf(function));
    sketches::aggregates().into_iter().for_each(|aggregate| context.register_udaf(aggregate));
    Ok(context)
}

/// What the engine runs in.
pub(super) fn runtime() -> Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(rayon::current_num_threads())
        .thread_stack_size(STACK_BYTES)
        .enable_all()
        .build()
        .context("cannot start the SQL engine")
}

impl Engine {
    /// One without tables.
    pub(super) fn new(limits: Limits, joins: Joins, n_partitions: usize, threads: &Runtime) -> Result<Self> {
        // Where nothing can be written, what needs more memory fails.
        let spill = Folder::new(&std::env::temp_dir()).ok().map(Arc::new);
        Ok(Self {
            context: context(limits.memory_bytes, spill.as_deref(), joins, n_partitions)?,
            limiter: Limiter::new(limits, threads.handle().clone()),
            functions: Arc::new(functions().iter().map(|function| function.name().to_owned()).collect()),
            _spill: spill,
        })
    }

    /// The same for a session in another zone, which has catalogs of its own.
    #[cfg(feature = "postgres")]
    pub(super) fn in_zone(&self, zone: &str) -> Self {
        self.with_options(|options| {
            options.execution.time_zone = Some(zone.to_owned());
            options.catalog.information_schema = false;
        })
    }

    /// The same, whose rows come in the same order each time.
    #[cfg(feature = "postgres")]
    pub(super) fn in_one_part(&self) -> Self {
        self.with_options(|options| options.execution.target_partitions = 1)
    }

    /// The same with what `change` makes of its options.
    #[cfg(feature = "postgres")]
    pub(super) fn with_options(&self, change: impl FnOnce(&mut ConfigOptions)) -> Self {
        let mut state = self.context.state();
        change(state.config_mut().options_mut());
        Self { context: SessionContext::new_with_state(state), ..self.clone() }
    }

    /// What `query` asks for.
    pub(super) async fn plan(&self, query: &str) -> Result<LogicalPlan> {
        bounds::check(query)?;
        let state = self.context.state();
        let dialect = state.config_options().sql_parser.dialect;
        let statement = state.sql_to_statement(query, &dialect)?;
        Ok(self.plan_of(statement).await?)
    }

    /// What `statement` asks for, which can only read.
    pub(super) async fn plan_of(&self, mut statement: Statement) -> datafusion::common::Result<LogicalPlan> {
        let options =
            SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false);
        bounds::check_tables(&statement)?;
        dialect::understand(&mut statement)?;
        add_positions(&mut statement, &self.functions);
        let plan = self.context.state().statement_to_plan(statement).await?;
        options.verify_plan(&plan)?;
        Ok(plan)
    }

    /// Begins to answer `query`; rows are made as they are asked for.
    pub(super) async fn start(&self, query: &str) -> Result<SendableRecordBatchStream> {
        let turn = self.limiter.turn(None).await?;
        let (engine, query) = (self.clone(), query.to_owned());
        let rows = turn
            .begin(async move {
                let plan = engine.plan(&query).await?;
                let places = engine.places(&plan)?;
                let rows = engine.context.execute_logical_plan(plan).await?.execute_stream().await;
                Ok((rows.map_err(|error| Error::from(engine.limiter.told(error)))?, places))
            })
            .await?;
        Ok(self.limited(turn, rows.0, rows.1))
    }

    /// Rows within the limits of `turn`, and then `last`.
    pub(super) fn limited(
        &self,
        turn: Turn,
        rows: SendableRecordBatchStream,
        last: Option<RecordBatch>,
    ) -> SendableRecordBatchStream {
        let schema = rows.schema();
        let limiter = self.limiter.clone();
        let rows = rows.map(move |batch| batch.map_err(|error| limiter.told(error)));
        let rows = rows.chain(futures::stream::iter(last.map(Ok)));
        Box::pin(RecordBatchStreamAdapter::new(schema, turn.items(rows)))
    }

    /// What an explanation also says: where the parts of the query could run.
    fn places(&self, plan: &LogicalPlan) -> Result<Option<RecordBatch>> {
        let LogicalPlan::Explain(explain) = plan else { return Ok(None) };
        let texts =
            ["where_it_can_run".to_owned(), places::places(&self.context.state().optimize(&explain.plan)?)];
        let columns = texts.map(|text| Arc::new(StringArray::from(vec![text])) as ArrayRef);
        let schema = Arc::new(plan.schema().as_arrow().clone());
        Ok(Some(RecordBatch::try_new(schema, columns.to_vec())?))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // What was given up and has not noticed is not waited for.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
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
    /// # Ok::<(), lprof::Error>(())
    /// ```
    ///
    /// # Errors
    /// Files that are not there; an engine that cannot be started.
    pub fn new(table: &Table) -> Result<Self> {
        Self::with_limits(table, Limits::default())
    }

    /// The same with other limits.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("t");
    /// # let name = path.to_str().expect("UTF-8");
    /// # lprof::run(["lprof", "run", "-q", "--table", name, "samples/classes/java17/store.jar", "samples/logs"]);
    /// use std::time::Duration;
    ///
    /// let limits = lprof::Limits { timeout: Some(Duration::from_millis(50)), ..lprof::Limits::default() };
    /// let session = lprof::Session::with_limits(&lprof::Table::open(&path)?, limits)?;
    /// let endless = "SELECT sum(value) FROM generate_series(1, 1000000000000)";
    /// let last = session.stream(endless).and_then(|mut batches| batches.next().expect("an item"));
    /// assert!(last.is_err());
    /// # Ok::<(), lprof::Error>(())
    /// ```
    ///
    /// # Errors
    /// Files that are not there; an engine that cannot be started.
    pub fn with_limits(table: &Table, limits: Limits) -> Result<Self> {
        Self::open(table.manifest(), Joins::ByRequest, limits)
    }

    /// Runs `query`, which can only read. Rows are made as they are asked for.
    ///
    /// # Errors
    /// A query that is none or does not only read. What goes wrong later is an item.
    pub fn stream(&self, query: &str) -> Result<Batches<'_>> {
        let stream = self.block_on(self.engine.start(query))?;
        Ok(Batches { session: self, schema: stream.schema(), stream })
    }

    /// Runs what asks this session.
    pub(super) fn block_on<T>(&self, run: impl Future<Output = T>) -> T {
        self.runtime().block_on(run)
    }

    /// What its queries run in.
    pub(super) fn runtime(&self) -> &Runtime {
        self.runtime.as_ref().expect("it is there until the end")
    }

    /// What answers.
    #[cfg(feature = "postgres")]
    pub(super) fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Runs what asks it for others, until the process ends: on other threads than queries run on,
    /// which may all be at work.
    #[cfg(feature = "postgres")]
    pub(crate) fn spawn(&self, run: impl Future<Output = ()> + Send + 'static) -> Result<()> {
        let runtime = runtime()?;
        std::thread::Builder::new().name("postgres".to_owned()).spawn(move || runtime.block_on(run))?;
        Ok(())
    }

    /// Opens the tables of `manifest`.
    pub(crate) fn open(manifest: &Manifest, joins: Joins, limits: Limits) -> Result<Self> {
        let runtime = runtime()?;
        let engine = Engine::new(limits, joins, rayon::current_num_threads(), &runtime)?;
        let mut names = Vec::new();
        for table in TABLES {
            let schema = schema_of(table);
            names
                .push((table.to_owned(), schema.fields().iter().map(|field| field.name().clone()).collect()));
            register(&engine.context, manifest, table, schema)?;
        }
        Ok(Self { engine, runtime: Some(runtime), names })
    }

    /// Runs `query` and writes its rows to standard output.
    pub(crate) fn print(&self, query: &str, format: Format) -> Result<()> {
        let rows = self.block_on(self.engine.start(query))?;
        print_rows(self.runtime(), rows, format)
    }

    /// Tells `take` of the first column of each of the rows of `query`, where it is text.
    pub(crate) fn each_text(&self, query: &str, take: &mut dyn FnMut(&str)) -> Result<()> {
        for batch in self.stream(query)? {
            let batch = batch?;
            let values = (0..batch.num_rows()).map(|row| values::value(batch.column(0), row));
            values.for_each(|value| value.as_str().into_iter().for_each(&mut *take));
        }
        Ok(())
    }
}

/// Writes rows to standard output as they come.
pub(super) fn print_rows(
    runtime: &Runtime,
    mut rows: SendableRecordBatchStream,
    format: Format,
) -> Result<()> {
    let mut out = output::stdout();
    let schema = rows.schema();
    let mut batches =
        std::iter::from_fn(|| Some(runtime.block_on(rows.next())?.map_err(Error::from))).peekable();
    if format == Format::Parquet {
        let schema = match batches.peek() {
            Some(Ok(batch)) => batch.schema(),
            _ => schema,
        };
        tables::write_batches(&mut out, schema, batches.map(|batch| batch.map_err(std::io::Error::other)))?;
        return Ok(std::io::Write::flush(&mut out)?);
    }
    let columns = schema.fields().iter().map(|field| field.name().clone()).collect();
    let mut writer = RowWriter::new(&mut out, format, columns)?;
    for batch in batches {
        let batch = batch?;
        for row in 0..batch.num_rows() {
            writer.row(batch.columns().iter().map(|column| values::value(column, row)).collect())?;
        }
    }
    writer.finish()?;
    Ok(())
}

fn register(context: &SessionContext, manifest: &Manifest, table: &str, schema: SchemaRef) -> Result<()> {
    let mut urls = Vec::new();
    for path in manifest.paths(table) {
        if !path.is_file() {
            bail!(Damaged: "`{}`: named by the manifest, but not there", path.display());
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
        "intervals" => tables::IntervalRow::schema(),
        "relations" => tables::RelationRow::schema(),
        "inputs" => tables::InputRow::schema(),
        "runs" => tables::RunRow::schema(),
        other => unreachable!("`{other}` is not in the list of tables"),
    }
}
