//! Joins in SQL: the operator, the engine's nested loop and the plain definition give the
//! same rows; plans say which of them ran; what does not fit into memory spills.

use std::sync::Arc;

use datafusion::arrow::array::{AsArray as _, RecordBatch};
use datafusion::arrow::datatypes::Int64Type;
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::common::config::ConfigNonZeroUsize;
use datafusion::datasource::MemTable;
use datafusion::physical_plan::{ExecutionPlan, collect};
use datafusion::prelude::SessionContext;
use schema::happened_before::random::Random;
use schema::happened_before::{Hop, Label, Stretch};

use super::tables::{TestJoin, TestRow, batch, requests, rows, schema, table};
use crate::query::happened_before::condition::Condition;
use crate::query::session::{Joins, context};
use crate::query::spill::Folder;

/// Pairs of tables, and joins of each.
const TABLES: u64 = 500;
const JOINS: u64 = 10;

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().expect("a runtime")
}

/// A session whose batches are small, so that requests come in several; what is more than its memory
/// goes to `spill`.
fn session_with(spill: Option<&Folder>, joins: Joins, memory_bytes: usize, n_rows: usize) -> SessionContext {
    let context = context(memory_bytes, spill, joins, rayon::current_num_threads()).expect("a session");
    let state = context.state_ref();
    let mut state = state.write();
    let options = state.config_mut().options_mut();
    options.execution.batch_size = ConfigNonZeroUsize::try_new(n_rows).expect("some rows");
    options.execution.target_partitions = 3;
    options.execution.sort_spill_reservation_bytes = 64 << 10;
    drop(state);
    context
}

/// The same with all in memory.
fn session(joins: Joins, memory_bytes: usize, n_rows: usize) -> SessionContext {
    session_with(None, joins, memory_bytes, n_rows)
}

fn register(context: &SessionContext, name: &str, table: Arc<MemTable>) {
    context.deregister_table(name).expect("a name");
    context.register_table(name, table).expect("a name that is free");
}

async fn run(context: &SessionContext, sql: &str) -> Result<Vec<RecordBatch>, String> {
    let frame = context.sql(sql).await.map_err(|error| error.to_string())?;
    frame.collect().await.map_err(|error| error.to_string())
}

/// The first two columns, sorted.
async fn pairs(context: &SessionContext, sql: &str) -> Vec<(Option<i64>, Option<i64>)> {
    let batches = run(context, sql).await.unwrap_or_else(|error| panic!("{sql}\n{error}"));
    let mut out = Vec::new();
    for batch in batches {
        let column = |at: usize| {
            let column = batch.column(at).as_primitive_opt::<Int64Type>();
            column.map_or_else(|| vec![None; batch.num_rows()], |column| column.iter().collect())
        };
        out.extend(column(0).into_iter().zip(column(1)));
    }
    out.sort_unstable();
    out
}

async fn explained(context: &SessionContext, sql: &str) -> String {
    let batches = run(context, &format!("EXPLAIN {sql}")).await.expect("a plan");
    pretty_format_batches(&batches).expect("text").to_string()
}

#[test]
fn joins_are_those_of_the_nested_loop() {
    let fast = session(Joins::ByRequest, 1 << 28, 3);
    let slow = session(Joins::Nested, 1 << 28, 8192);
    let (mut n_rows, mut n_filters) = (0, 0);
    runtime().block_on(async {
        for seed in 0..TABLES {
            let mut random = Random(seed);
            let requests = requests(&mut random);
            let (a, b) = (rows(&mut random, &requests), rows(&mut random, &requests));
            for context in [&fast, &slow] {
                register(context, "a", table(&a));
                register(context, "b", table(&b));
            }
            for _ in 0..JOINS {
                let join = TestJoin::new(&mut random);
                let (sql, expected) = (join.sql(), join.naive(&a, &b));
                assert_eq!(pairs(&fast, &sql).await, expected, "{sql}\nof seed {seed}");
                n_rows += expected.len();
                match join.condition {
                    Condition::Relation(_) => {
                        assert_eq!(pairs(&slow, &sql).await, expected, "nested: {sql}\nof seed {seed}");
                    }
                    Condition::Filter(_) => n_filters += 1,
                }
            }
        }
    });
    assert!(n_rows > 10_000 && n_filters > 1_000, "{n_rows} rows, {n_filters} filters");
}

#[test]
fn plans_name_the_operator() {
    let join = "SELECT a.id FROM a JOIN b ON happened_before(a.position, b.position) AND a.k = b.k";
    let filter = "SELECT a.id FROM a, b WHERE a.x > 1 AND b.id = 7";
    let filter = filter.replace("a, b", "a JOIN b ON mostrecent(a.position, b.position)");
    runtime().block_on(async {
        for (joins, operator) in [(Joins::ByRequest, true), (Joins::Nested, false)] {
            let context = session(joins, 1 << 28, 8192);
            register(&context, "a", table(&[]));
            register(&context, "b", table(&[]));
            let plan = explained(&context, join).await;
            assert_eq!(plan.contains("HappenedBeforeJoinExec"), operator, "{plan}");
            assert_eq!(
                plan.contains("HashJoinExec") || plan.contains("NestedLoopJoinExec"),
                !operator,
                "{plan}"
            );
            // What is asked of the filtered side stays above the join.
            let plan = explained(&context, &filter).await;
            let at = |what: &str| plan.find(what).unwrap_or_else(|| panic!("{what} in\n{plan}"));
            let physical = at("physical_plan");
            let after =
                |what: &str| physical + plan[physical..].find(what).unwrap_or_else(|| panic!("{plan}"));
            assert!(after("FilterExec: x@") < after("HappenedBeforeJoinExec"), "{plan}");
        }
    });
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let context = session(Joins::ByRequest, 1 << 28, 8192);
    register(&context, "a", table(&[]));
    register(&context, "b", table(&[]));
    let join = "SELECT 1 FROM a JOIN b ON ";
    runtime().block_on(async {
        for (sql, expected) in [
            (format!("{join}happened_before(a.id, b.id)"), "is about two positions"),
            (format!("{join}happened_before(a.position)"), "happened_before"),
            (format!("{join}first(a.id, b.position)"), "is about two positions"),
            (format!("{join}firstn(a.position, b.position, 'x')"), "takes a whole number"),
            (format!("{join}firstn(a.position, b.position, -1)"), "takes a whole number"),
            (format!("{join}firstn(a.position, b.position, a.id)"), "takes a whole number"),
            (format!("{join}first(a.position, a.position)"), "is a condition of a join"),
            (format!("{join}NOT first(a.position, b.position)"), "has to hold as it stands"),
            (format!("{join}first(a.position, b.position) OR a.id = 1"), "has to hold as it stands"),
            (
                format!("{join}first(a.position, b.position) AND mostrecent(b.position, a.position)"),
                "the second filter in time",
            ),
            ("SELECT first(a.position, b.position) FROM a, b".to_owned(), "is a condition of a join"),
            ("SELECT 1 FROM a, b WHERE first(a.position, b.position)".to_owned(), "is a condition of a join"),
        ] {
            let found = run(&context, &sql).await.expect_err(&sql);
            assert!(found.contains(expected), "{sql}\n{found}");
        }
    });
}

/// `n_requests` requests of `n_events` events of one span each.
fn long(n_requests: u32, n_events: u32) -> Arc<MemTable> {
    let row = |at: u32| {
        let (request, first) = (at / n_events, at % n_events);
        let path = vec![Hop { span: 0, before: None, after: None }];
        // Requests come in no order.
        let request = i64::from(request.wrapping_mul(0x9e37_79b1));
        let label = Label { request, node: 0, path, bounds_us: Vec::new() };
        let stretch = Stretch { first, last: first, start_us: 0, end_us: 0 };
        TestRow { id: i64::from(at), place: Some((label, stretch)), k: None, x: None }
    };
    let rows: Vec<TestRow> = (0..n_requests * n_events).map(row).collect();
    let batches = rows.chunks(8192).map(batch).collect();
    Arc::new(MemTable::try_new(schema(), vec![batches]).expect("a table"))
}

/// How often the operators of `plan` spilled.
fn n_spills(plan: &Arc<dyn ExecutionPlan>) -> usize {
    let own = plan.metrics().and_then(|metrics| metrics.spill_count()).unwrap_or(0);
    own + plan.children().into_iter().map(n_spills).sum::<usize>()
}

#[test]
fn what_does_not_fit_into_memory_spills() {
    let spill = Folder::new(&std::env::temp_dir()).expect("a folder");
    let context = session_with(Some(&spill), Joins::ByRequest, 12 << 20, 1024);
    let (n_requests, n_events) = (40_000, 3);
    register(&context, "a", long(n_requests, n_events));
    register(&context, "b", long(n_requests, n_events));
    let sql = "SELECT count(*), CAST(sum(b.id - a.id) AS bigint) FROM a JOIN b ON happened_before(a.position, b.position)";
    runtime().block_on(async {
        let frame = context.sql(sql).await.expect("a query");
        let plan = frame.create_physical_plan().await.expect("a plan");
        let batches = collect(Arc::clone(&plan), context.task_ctx()).await.expect("rows");
        let value = |at: usize| batches[0].column(at).as_primitive::<Int64Type>().value(0);
        // Of three in a row: 0 before 1, 1 before 2 and 0 before 2.
        assert_eq!((value(0), value(1)), (i64::from(n_requests) * 3, i64::from(n_requests) * 4));
        assert!(n_spills(&plan) > 0, "nothing spilled");
    });
}

#[test]
fn a_request_that_does_not_fit_is_an_error() {
    let spill = Folder::new(&std::env::temp_dir()).expect("a folder");
    let context = session_with(Some(&spill), Joins::ByRequest, 6 << 20, 1024);
    register(&context, "a", long(1, 120_000));
    // Nothing to sort on this side: two sorts would race for the memory, and can lose that as well.
    register(&context, "b", long(0, 0));
    let sql = "SELECT count(*) FROM a JOIN b ON mostrecent(a.position, b.position)";
    let found = runtime().block_on(run(&context, sql)).expect_err("too large");
    assert!(found.contains("the rows of one request do not fit into memory"), "{found}");
}
