//! Random queries over random tables: with rewrites and the operator they give the same rows
//! as without, by the nested loop of the engine.

use std::sync::Arc;

use datafusion::datasource::MemTable;
use datafusion::prelude::SessionContext;
use schema::happened_before::random::{Random, RandomRequest};
use schema::tables::{
    EventRow, NameValue, PositionRow, RecordBatch, RequestRow, Row, SharedBytes, SpanRow, Text, Time,
    request_key,
};

use super::super::{Catalog, Kind, Point, compile};
use super::export;
use crate::query::session::{Joins, context};
use crate::query::values;

const TABLES: u64 = 40;
const QUERIES: u64 = 25;

/// Four log points; the last one prints a text, too.
fn catalog() -> Catalog {
    let point = |id: i64, class: &str| {
        let mut exports = vec![export(&["n"], "n", Kind::Whole)];
        if id == 3 {
            exports.push(export(&["t"], "t", Kind::Text));
        }
        let (class, method) = (class.to_owned(), "m".to_owned());
        Point { id, class, method, line: 1, texts: vec![format!("text {id}")], exports }
    };
    Catalog {
        points: (0..).zip(["A", "B", "C", "D"]).map(|(id, c)| point(id, c)).collect(),
        has_positions: true,
    }
}

/// Events and spans of some requests.
fn rows(random: &mut Random) -> (Vec<EventRow>, Vec<SpanRow>) {
    let (mut events, mut spans) = (Vec::new(), Vec::new());
    for id in 1..=1 + u128::from(random.below(4)) {
        let request = RandomRequest::new(random);
        let id = id << 64;
        let labels = request.labels(request_key(id)).0;
        for (at, times) in request.times_us.iter().enumerate() {
            if times.is_empty() {
                continue;
            }
            let label = SharedBytes(labels[at].encode().into());
            let span_id = Text::from(format!("{id:x}-{at}"));
            let node = Text::from(format!("n{}", request.nodes[at]));
            let position = |first, last| {
                let stretch = request.stretch(at, first, last);
                Some(PositionRow::new(request_key(id), &label, stretch, 0))
            };
            spans.push(span(&span_id, &node, id, times.len(), position(0, times.len() - 1)));
            for (seq, &us) in times.iter().enumerate() {
                let place = position(seq, seq).filter(|_| !random.once_in(10));
                events.push(event(random, (&span_id, &node, id), (seq, us), place));
            }
        }
    }
    (events, spans)
}

fn span(span_id: &Text, node: &Text, id: u128, n_events: usize, position: Option<PositionRow>) -> SpanRow {
    SpanRow {
        request_id: Text::from(format!("{id:032x}")),
        span_id: span_id.clone(),
        parent_span_id: None,
        node: node.clone(),
        thread: (node.to_string() != "n0").then(|| Text::from(format!("t-{node}"))),
        top_level_method: Text::from("A.m"),
        link: None,
        start_ts: Time(0),
        end_ts: Time(0),
        n_events: i64::try_from(n_events).expect("few"),
        link_reason: None,
        link_probability: None,
        hand_overs: None,
        top_level_methods: None,
        parent_before: None,
        parent_after: None,
        position,
    }
}

fn event(
    random: &mut Random,
    (span_id, node, id): (&Text, &Text, u128),
    (seq, us): (usize, i64),
    position: Option<PositionRow>,
) -> EventRow {
    let point = i64::from(random.below(4));
    let value = |name: &str, value: String| NameValue { name: name.into(), value: value.as_str().into() };
    let mut values = Vec::new();
    if !random.once_in(5) {
        values.push(value("n", random.below(4).to_string()));
    }
    if point == 3 {
        values.push(value("t", ["x", "y", "7"][random.below(3) as usize].to_owned()));
    }
    EventRow {
        request_id: Some(Text::from(format!("{id:032x}"))),
        span_id: Some(span_id.clone()),
        seq: i64::try_from(seq).expect("few"),
        node: node.clone(),
        ts: Time(us),
        log_point_id: Some(point),
        values,
        position,
        ..EventRow::default()
    }
}

/// A query: maybe with one by name before it, joins, conditions, groups.
fn query(random: &mut Random) -> String {
    let source = |random: &mut Random| ["A", "B", "C", "D", "A, C", "B, D", "*"][random.below(7) as usize];
    let filtered = |random: &mut Random, source: &str| match random.below(6) {
        0 => format!("First({source})"),
        1 => format!("MostRecent({source})"),
        2 => format!("MostRecentN(2, {source})"),
        _ => source.to_owned(),
    };
    let mut text = String::new();
    let has_query = random.once_in(2);
    if has_query {
        let (from, joined) = (source(random), source(random));
        let joined = filtered(random, joined);
        let condition = if random.once_in(3) { " Where p.n > 0" } else { "" };
        text.push_str(&format!(
            "Q: From p In {from} Join q In {joined} On q -> p{condition} Select p.line As n, q.line As m, p.time - q.time As took\n"
        ));
    }
    let mut variables = vec!["e"];
    text.push_str(&format!(
        "From e In {}",
        if has_query && random.once_in(4) { "Q" } else { source(random) }
    ));
    for (name, wanted) in [("f", 2), ("g", 3)] {
        if !random.once_in(wanted) {
            continue;
        }
        let joined = if has_query && random.once_in(2) { "Q" } else { source(random) };
        let joined = filtered(random, joined);
        let left = if random.once_in(5) { "Left " } else { "" };
        let other = variables[random.below(u32::try_from(variables.len()).expect("few")) as usize];
        let edge = match random.below(5) {
            _ if joined.contains('(') => format!("{name} -> {other}"),
            0 => format!("{name} || {other}"),
            1 => format!("{other} -> {name}"),
            2 => format!("{name} -> {other} within 3us"),
            _ => format!("{name} -> {other}"),
        };
        text.push_str(&format!(" {left}Join {name} In {joined} On {edge}"));
        variables.push(name);
    }
    text + &rest(random, &variables)
}

/// What is asked of the variables, and given out.
fn rest(random: &mut Random, variables: &[&str]) -> String {
    let one =
        |random: &mut Random| variables[random.below(u32::try_from(variables.len()).expect("few")) as usize];
    let mut text = String::new();
    if random.once_in(2) {
        let (a, b) = (one(random), one(random));
        text.push_str(&match random.below(4) {
            0 => format!(" Where {a}.n > 1"),
            1 => format!(" Where {a}.n >= {b}.n And {b}.n < 3"),
            2 => format!(" Where {a}.n Is Null Or {b}.n = 2"),
            _ => format!(" Where Not {a}.n = 1"),
        });
    }
    if random.once_in(3) {
        let (a, b) = (one(random), one(random));
        let distinct = if random.once_in(2) { "Distinct " } else { "" };
        return format!("{text} Select {distinct}{a}.n, {b}.n As other, {a}.n + {b}.n As both");
    }
    let keys = [one(random)];
    let mut select: Vec<String> = Vec::new();
    if random.once_in(2) {
        text.push_str(&format!(" GroupBy {}.n", keys[0]));
        select.push(format!("{}.n", keys[0]));
    }
    for function in ["COUNT", "SUM", "MIN", "MAX", "AVERAGE"] {
        if random.once_in(2) {
            select.push(format!("{function}({}.n)", one(random)));
        }
    }
    if random.once_in(3) {
        text.push_str(" Having COUNT > 1");
    }
    select.push("COUNT".to_owned());
    format!("{text} Select {}", select.join(", "))
}

async fn run(context: &SessionContext, sql: &str) -> Vec<String> {
    let frame = context.sql(sql).await.unwrap_or_else(|error| panic!("{sql}\n{error}"));
    let batches = frame.collect().await.unwrap_or_else(|error| panic!("{sql}\n{error}"));
    let mut rows = Vec::new();
    for batch in &batches {
        let row =
            |row| format!("{:?}", batch.columns().iter().map(|c| values::value(c, row)).collect::<Vec<_>>());
        rows.extend((0..batch.num_rows()).map(row));
    }
    rows.sort_unstable();
    rows
}

fn register(context: &SessionContext, name: &str, batch: RecordBatch) {
    context.deregister_table(name).expect("a name");
    let table = MemTable::try_new(batch.schema(), vec![vec![batch]]).expect("a table");
    context.register_table(name, Arc::new(table)).expect("a name that is free");
}

#[test]
fn rewrites_change_no_row() {
    let fast = context(1 << 28, None, Joins::ByRequest, rayon::current_num_threads()).expect("a session");
    let slow = context(1 << 28, None, Joins::Nested, rayon::current_num_threads()).expect("a session");
    let catalog = catalog();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().expect("a runtime");
    let (mut n_rows, mut n_combined, mut n_refused) = (0, 0, 0);
    for seed in 0..TABLES {
        let mut random = Random(seed);
        let (events, spans) = rows(&mut random);
        for context in [&fast, &slow] {
            register(context, "events", EventRow::batch(&events));
            register(context, "spans", SpanRow::batch(&spans));
            register(context, "requests", RequestRow::batch(&[]));
        }
        for _ in 0..QUERIES {
            let text = query(&mut random);
            let Ok(optimized) = compile(&text, &catalog, true) else {
                n_refused += 1;
                continue;
            };
            let plain = compile(&text, &catalog, false).expect("a query with rewrites is one without");
            let found = runtime.block_on(run(&fast, &optimized.sql));
            let expected = runtime.block_on(run(&slow, &plain.sql));
            assert_eq!(found, expected, "{text}\nof seed {seed}\n{}\n{}", optimized.sql, plain.sql);
            n_rows += found.len();
            n_combined += usize::from(optimized.rules.iter().any(|rule| rule.starts_with("aggregation")));
        }
    }
    let told = format!("{n_rows} rows, {n_combined} combined, {n_refused} refused");
    assert!(n_rows > 1_000 && n_combined > 30 && n_refused < 250, "{told}");
}
