//! The API of Jaeger's query service, as far as its page asks it: services are nodes, operations are
//! types of requests, traces are requests.

mod tags;

use crate::error::{Context as _, Result, bail};
use schema::tables::index::Column;
use serde::Serialize;

use super::Served;
use super::api::chosen;
use super::http::{Answer, Asked};
use super::list::{self, Sort};
use super::requests::Conditions;
use crate::export::{JaegerTrace, View, jaeger_trace};
use crate::request::Request;
use tags::Tags;

/// Traces of an answer, as many as Jaeger's page can ask for.
const TRACES_MAX: usize = 1_500;
/// Spans of an answer.
const SPANS_MAX: i64 = 100_000;
/// Requests that are looked at for tags, the latest ones.
const LOOKED_MAX: usize = 2_000;

/// What every answer looks like.
#[derive(Debug, Serialize)]
struct Envelope<T> {
    data: Option<Vec<T>>,
    total: usize,
    limit: u32,
    offset: u32,
    errors: Option<[Error; 1]>,
}

#[derive(Debug, Serialize)]
struct Error {
    code: u16,
    msg: String,
}

/// A type of requests on a node.
#[derive(Debug, Serialize)]
struct Operation {
    name: String,
    #[serde(rename = "spanKind")]
    kind: &'static str,
}

/// Answers what was asked below `/api/`; none: Jaeger is not asked that.
pub(super) fn answer(served: &Served, path: &[&str], asked: &Asked) -> Option<Answer> {
    Some(match path {
        ["services"] => enveloped(Ok(services(served))),
        ["services", node, "operations"] => enveloped(types(served, node).map_err(Answer::from)),
        ["operations"] => {
            let names = types(served, asked.text("service").unwrap_or_default()).map_err(Answer::from);
            let operation = |name| Operation { name, kind: "internal" };
            enveloped(names.map(|names| names.into_iter().map(operation).collect()))
        }
        ["traces"] => enveloped(search(served, asked)),
        ["traces", id] => enveloped(one(served, id).map(|trace| vec![trace])),
        ["dependencies"] => enveloped::<String>(Ok(Vec::new())),
        _ => return None,
    })
}

fn enveloped<T: Serialize>(items: Result<Vec<T>, Answer>) -> Answer {
    let empty = Envelope { data: None, total: 0, limit: 0, offset: 0, errors: None };
    match items {
        Ok(items) => Answer::json(&Envelope { total: items.len(), data: Some(items), ..empty }),
        Err(fault) => {
            let error = Error { code: fault.status, msg: fault.said() };
            Answer::json(&Envelope::<T> { errors: Some([error]), ..empty }).with_status(fault.status)
        }
    }
}

fn services(served: &Served) -> Vec<String> {
    let mut nodes: Vec<String> = served.indexes().nodes.iter().map(ToString::to_string).collect();
    nodes.sort_unstable();
    nodes
}

/// Types of the requests on a node.
fn types(served: &Served, node: &str) -> Result<Vec<String>> {
    let indexes = served.indexes();
    let of_node = &served.about()?.types_of_nodes;
    let number = indexes.nodes.iter().position(|name| **name == *node);
    let types = number.into_iter().flat_map(|number| &of_node[number]);
    let mut names: Vec<String> = types.map(|number| indexes.types[*number as usize].to_string()).collect();
    names.sort_unstable();
    Ok(names)
}

fn search(served: &Served, asked: &Asked) -> Result<Vec<JaegerTrace>, Answer> {
    if let Some(id) = asked.text("traceID") {
        return Ok(vec![one(served, id)?]);
    }
    let text = |name| asked.text(name).map(str::to_owned);
    let length = |name| asked.text(name).map(length_us).transpose();
    let end: Option<i64> = asked.number("end")?;
    let conditions = Conditions {
        node: text("service"),
        request_type: text("operation").filter(|operation| operation != "all"),
        from: asked.number("start")?,
        to: end.map(|end| end.saturating_add(1)),
        min: length("minDuration")?,
        max: length("maxDuration")?,
        ..Conditions::default()
    };
    let limit = asked.number("limit")?.unwrap_or(20).min(TRACES_MAX);
    let chosen = chosen(served, &conditions)?;
    let place = served.kept.place();
    let sort = Sort { column: Column::Start, is_ascending: false };
    let tags = asked.text("tags").or_else(|| asked.text("tag")).map(Tags::new).transpose()?;
    let n_looked = if tags.is_some() { LOOKED_MAX } else { limit };
    let (_, rows) = list::list(&chosen, sort, (0, n_looked))?;
    let listed = list::listed(served.indexes(), &rows)?;
    drop(place);
    let (mut traces, mut n_spans) = (Vec::new(), 0);
    for of in listed {
        n_spans += of.n_spans;
        if n_spans > SPANS_MAX && !traces.is_empty() || traces.len() == limit {
            break;
        }
        let trace = as_trace(served, &served.table.request(&format!("{:032x}", of.id))?);
        match &tags {
            Some(tags) if !trace.has_tags(&tags.0) => n_spans -= of.n_spans,
            _ => traces.push(trace),
        }
    }
    Ok(traces)
}

/// Jaeger leaves out zeros at the beginning of ids.
fn one(served: &Served, id: &str) -> Result<JaegerTrace, Answer> {
    let number = u128::from_str_radix(id, 16).ok().filter(|_| !id.starts_with('+'));
    let found = number
        .with_context(|| format!("`{id}`: no id of a trace"))
        .and_then(|number| served.table.request(&format!("{number:032x}")));
    let request = found.map_err(|error| Answer::from(error).with_status(404))?;
    Ok(as_trace(served, &request))
}

fn as_trace(served: &Served, request: &Request) -> JaegerTrace {
    jaeger_trace(&mut View { request, logs: Some(&mut served.logs().closed()) })
}

/// `1.2s`, `100ms`, `5us`, as Go writes times.
fn length_us(text: &str) -> Result<i64> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let us = match &text[digits..] {
        "ns" => 1e-3,
        "us" | "µs" => 1.0,
        "ms" => 1e3,
        "s" => 1e6,
        "m" => 6e7,
        "h" => 3.6e9,
        _ => bail!("`{text}`: expected a number and one of us, ms, s, m, h"),
    };
    let number: f64 = text[..digits].parse().with_context(|| format!("`{text}`: expected a number"))?;
    Ok((number * us) as i64)
}

#[cfg(test)]
mod tests {
    use super::length_us;

    #[test]
    fn lengths_of_time() {
        for (text, expected) in [("1.2s", 1_200_000), ("100ms", 100_000), ("5us", 5), ("1h", 3_600_000_000)] {
            assert_eq!(length_us(text).ok(), Some(expected), "{text}");
        }
        for text in ["", "s", "1", "-1s", "1..2s", "1x", "NaNs"] {
            assert!(length_us(text).is_err(), "{text}");
        }
    }
}
