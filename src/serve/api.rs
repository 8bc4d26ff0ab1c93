//! The API of the page: JSON, each answer from one function.

use fixedbitset::FixedBitSet;
#[cfg(feature = "sql")]
use rayon::prelude::*;
use schema::tables::InputRow;
use schema::tables::index::Column;
use serde::{Deserialize, Serialize};

use super::chosen::Chosen;
use super::coverage::Coverage;
use super::http::{Answer, Asked};
use super::list::{self, ListedRequest, RequestList, Sort};
use super::order::OrderShown;
use super::requests::Conditions;
use super::{Served, compare, jaeger, overview, profile};
use crate::page;
use crate::page::request::RequestShown;
use crate::page::table::TableShown;
#[cfg(feature = "sql")]
use crate::table::{indexed::Indexed, places};

/// Requests of a list, rows of an answer.
const LISTED_MAX: usize = 1_000;
/// Other requests that are told of one.
const RELATED_MAX: usize = 100;
#[cfg(feature = "sql")]
const ROWS_MAX: usize = 10_000;

/// Answers what was asked.
pub(super) fn answer(served: &Served, asked: &Asked) -> Answer {
    let path: Vec<&str> = asked.path.iter().map(String::as_str).collect();
    let is_query = path == ["api", "sql"];
    match asked.method.as_str() {
        "GET" | "HEAD" if !is_query => {}
        "POST" if is_query => return sql(served, asked).unwrap_or_else(|fault| fault),
        _ => return Answer::fault(405, "this is asked for with GET, or, of SQL, POST"),
    }
    let found = match path.as_slice() {
        [""] => Ok(Answer::new("text/html; charset=utf-8", page::INDEX.into())),
        ["assets", "page.js"] => Ok(Answer::new("text/javascript; charset=utf-8", page::SCRIPT.into())),
        ["assets", "page.css"] => Ok(Answer::new("text/css; charset=utf-8", page::STYLE.into())),
        ["api", "table"] => table(served),
        ["api", "overview"] => the_overview(served, asked),
        ["api", "requests"] => list(served, asked),
        ["api", "requests", id] => request(served, id),
        ["api", "requests", id, "order"] => order(served, id, asked),
        ["api", "profile"] => the_profile(served, asked),
        ["api", "compare"] => the_comparison(served, asked),
        ["api", "coverage"] => coverage(served),
        ["api", rest @ ..] => return jaeger::answer(served, rest, asked).unwrap_or_else(none),
        _ => Err(none()),
    };
    found.unwrap_or_else(|fault| fault)
}

fn none() -> Answer {
    Answer::fault(404, "there is no such page")
}

impl From<crate::error::Error> for Answer {
    fn from(error: crate::error::Error) -> Self {
        Self::fault(400, &format!("{error:#}"))
    }
}

fn table(served: &Served) -> Result<Answer, Answer> {
    let indexes = served.indexes();
    let of_type = served.about()?.n_of_type.iter().copied();
    let types = of_type.zip(indexes.types.iter().map(ToString::to_string)).collect();
    let first = served.first.as_deref();
    let shown = TableShown::new((&served.table, first), types, &indexes.nodes, &indexes.flags);
    Ok(Answer::json(&shown))
}

/// The requests that meet `conditions`, that in SQL included.
pub(super) fn chosen<'s>(served: &'s Served, conditions: &Conditions) -> Result<Chosen<'s>, Answer> {
    let sql = conditions.sql.as_ref().map(|sql| rows_where(served, sql)).transpose()?;
    Ok(Chosen::new(served.indexes(), conditions, sql))
}

/// By file, the rows for which a condition holds.
#[cfg(feature = "sql")]
fn rows_where(served: &Served, sql: &str) -> Result<Vec<FixedBitSet>, Answer> {
    let query = format!("SELECT request_id FROM requests WHERE (\n{sql}\n)");
    let mut ids = Vec::new();
    served.session.each_text(&query, &mut |id| ids.extend(u128::from_str_radix(id, 16)))?;
    ids.sort_unstable();
    let of_file = |file: &Indexed| {
        let mut rows = FixedBitSet::with_capacity(file.index.n_rows());
        places::rows_with(&file.index, &ids)?.into_iter().for_each(|row| rows.insert(row));
        Ok(rows)
    };
    Ok(served.indexes().files.par_iter().map(of_file).collect::<crate::error::Result<_>>()?)
}

#[cfg(not(feature = "sql"))]
fn rows_where(_served: &Served, _sql: &str) -> Result<Vec<FixedBitSet>, Answer> {
    Err(without_sql())
}

#[cfg(not(feature = "sql"))]
fn without_sql() -> Answer {
    Answer::fault(501, "this lprof was built without SQL")
}

/// What `walk` makes of the requests that were chosen, unless somebody has asked for that before.
fn walked<S: Serialize>(
    served: &Served,
    asked: &Asked,
    walk: impl FnOnce(&Conditions, &Chosen<'_>) -> Result<S, Answer>,
) -> Result<Answer, Answer> {
    let conditions = Conditions::of(asked)?;
    // SQL can say another thing each time, e.g. by the clock.
    let key = conditions.sql.is_none().then(|| asked.key());
    let known = || key.as_ref().and_then(|key| served.kept.get(key));
    if let Some(answer) = known() {
        return Ok(answer);
    }
    // A query may take its time, and so has not yet one of the places.
    let chosen = chosen(served, &conditions)?;
    let _place = served.kept.place();
    if let Some(answer) = known() {
        return Ok(answer);
    }
    let answer = Answer::json(&walk(&conditions, &chosen)?);
    key.into_iter().for_each(|key| served.kept.put(key, &answer));
    Ok(answer)
}

/// The overview of some requests, and the condition that they meet, in SQL.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct OverviewAnswer {
    overview: overview::Overview,
    #[serde(rename = "where")]
    sql: Option<String>,
}

fn the_overview(served: &Served, asked: &Asked) -> Result<Answer, Answer> {
    let n_steps = asked.number("steps")?.unwrap_or(120);
    walked(served, asked, |conditions, chosen| {
        let overview = overview::overview(chosen, n_steps)?;
        Ok(OverviewAnswer { overview, sql: conditions.to_sql() })
    })
}

fn the_profile(served: &Served, asked: &Asked) -> Result<Answer, Answer> {
    walked(served, asked, |conditions, chosen| profile::profile(served, chosen, conditions.to_sql()))
}

fn the_comparison(served: &Served, asked: &Asked) -> Result<Answer, Answer> {
    let Some(first) = served.first.as_deref() else {
        return Err(Answer::fault(
            404,
            "there is no table to compare with; `lprof serve --compare` names one",
        ));
    };
    walked(served, asked, |conditions, chosen| compare::compare(served, first, conditions, chosen))
}

fn list(served: &Served, asked: &Asked) -> Result<Answer, Answer> {
    let limit = asked.number("limit")?.unwrap_or(100).min(LISTED_MAX);
    let offset = asked.number("offset")?.unwrap_or(0_usize);
    let is_ascending = asked.text("ascending") == Some("true");
    let (name, column) = match asked.text("sort").unwrap_or_default() {
        "duration" => ("duration_us", Column::Duration),
        "nodes" => ("n_nodes", Column::Nodes),
        "spans" => ("n_spans", Column::Spans),
        "events" => ("n_events", Column::Events),
        _ => ("start_ts", Column::Start),
    };
    walked(served, asked, |conditions, chosen| {
        let (n, rows) = list::list(chosen, Sort { column, is_ascending }, (offset, limit))?;
        let indexes = served.indexes();
        let listed = list::listed(indexes, &rows)?;
        let requests = listed.into_iter().map(|of| ListedRequest::new(indexes, of)).collect();
        let direction = if is_ascending { "" } else { " DESC" };
        let filter = conditions.to_sql().map(|condition| format!("\nWHERE {condition}")).unwrap_or_default();
        let sql = format!("SELECT * FROM requests{filter}\nORDER BY {name}{direction} LIMIT {limit}");
        Ok(RequestList { n, requests, sql })
    })
}

fn missing(error: crate::error::Error) -> Answer {
    Answer::from(error).with_status(404)
}

fn request(served: &Served, id: &str) -> Result<Answer, Answer> {
    let request = served.table.request(id).map_err(missing)?;
    let mut related = served.table.related(&request.row().request_id)?;
    related.truncate(RELATED_MAX);
    let mut logs = served.logs();
    Ok(Answer::json(&RequestShown::new(&served.table, &request, &related, &mut logs)))
}

fn order(served: &Served, id: &str, asked: &Asked) -> Result<Answer, Answer> {
    let (span, event) = (asked.number("span")?, asked.number("event")?);
    let request = served.table.request(id).map_err(missing)?;
    let order = OrderShown::new(&request, span.unwrap_or(0), event.unwrap_or(0));
    order.map(|order| Answer::json(&order)).ok_or_else(|| Answer::fault(404, "there is no such event"))
}

fn coverage(served: &Served) -> Result<Answer, Answer> {
    let rows: Vec<InputRow> = served.table.manifest().rows().map_err(crate::error::Error::from)?;
    Ok(Answer::json(&Coverage::new(&rows)))
}

/// A query that is asked.
#[derive(Debug, Deserialize)]
struct Question {
    query: String,
}

/// What a query gives, in its first rows.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename = "Answer"))]
#[cfg(any(feature = "sql", test))]
pub(super) struct SqlAnswer {
    columns: Vec<String>,
    types: Vec<String>,
    #[cfg_attr(test, ts(type = "unknown[][]"))]
    rows: Vec<Vec<serde_json::Value>>,
    is_cut: bool,
    /// Rows that an answer can have.
    rows_max: usize,
    ms: u64,
}

fn sql(served: &Served, asked: &Asked) -> Result<Answer, Answer> {
    // A form of another site cannot send this without being asked first.
    let kind = asked.header("content-type").unwrap_or_default();
    if kind.split(';').next().map(str::trim) != Some("application/json") {
        return Err(Answer::fault(415, "a query is sent as JSON"));
    }
    let question: Question = serde_json::from_slice(&asked.body)
        .map_err(|_| Answer::fault(400, "expected `{\"query\": \"SELECT ..\"}`"))?;
    answer_sql(served, &question.query)
}

#[cfg(feature = "sql")]
fn answer_sql(served: &Served, query: &str) -> Result<Answer, Answer> {
    let start = std::time::Instant::now();
    let answer = served.session.answer(query, ROWS_MAX)?;
    Ok(Answer::json(&SqlAnswer {
        columns: answer.columns,
        types: answer.types,
        rows: answer.rows,
        is_cut: answer.is_cut,
        rows_max: ROWS_MAX,
        ms: start.elapsed().as_millis() as u64,
    }))
}

#[cfg(not(feature = "sql"))]
fn answer_sql(_served: &Served, _query: &str) -> Result<Answer, Answer> {
    Err(without_sql())
}
