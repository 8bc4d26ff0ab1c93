//! A model as one JSON object, under the names of the request table.

use std::io::Write as _;

use anyhow::Result;
use schema::tables::{Row as _, kind_name, short_name, strength_name};
use schema::{IdentifierId, LogPoint, Model, ThreadName, TopLevelId, TopLevelMethod};
use serde_json::{Value, json};

use crate::output;

/// Writes the object, one log point, method or pair a line.
pub(crate) fn print(model: &Model) -> Result<()> {
    assert_eq!(schema::tables::LogPointRow::TABLE, "log_points", "tables and JSON use the same names");
    let mut out = output::stdout();
    let inputs = model.inputs.iter().map(|input| {
        json!({
            "name": input.name, "n_classes": input.n_classes, "n_skipped": input.n_skipped,
            "digest": format!("{:032x}", input.digest),
        })
    });
    let points = model.log_points.iter().enumerate().map(|(id, point)| log_point(id, point));
    let methods = model.top_level_methods.iter().map(|method| top_level_method(model, method));
    let pairs = model.communication_pairs.iter().map(|pair| communication_pair(model, pair));
    writeln!(out, "{{")?;
    list(&mut out, "inputs", inputs)?;
    list(&mut out, "log_points", points)?;
    list(&mut out, "top_level_methods", methods)?;
    list(&mut out, "communication_pairs", pairs)?;
    list(&mut out, "thread_names", model.thread_names.iter().map(|name| thread_name(model, name)))?;
    list(&mut out, "silent_threads", model.silent_threads.iter().map(|t| json!(t)))?;
    list(&mut out, "diagnostics", model.diagnostics.iter().map(|d| json!(d)))?;
    writeln!(out, "\"n_threads\": {},", model.n_threads)?;
    writeln!(out, "\"digest\": \"{:032x}\"", model.digest())?;
    writeln!(out, "}}")?;
    out.flush()?;
    Ok(())
}

fn list(
    out: &mut dyn std::io::Write,
    name: &str,
    values: impl Iterator<Item = Value>,
) -> std::io::Result<()> {
    write!(out, "\"{name}\": [")?;
    for (i, value) in values.enumerate() {
        write!(out, "{}{value}", if i == 0 { "\n" } else { ",\n" })?;
    }
    writeln!(out, "],")
}

fn thread_name(model: &Model, name: &ThreadName) -> Value {
    let path = |capture: &u32| name.variables.get(*capture as usize).map(|v| v.path.as_str());
    let class = |capture: &u32| {
        let class = name.variables.get(*capture as usize)?.value_class?;
        model.value_classes.get(class.index())
    };
    let runs = name.runs.iter().filter_map(|id| model.top_level_methods.get(id.index()));
    json!({
        "regex": name.template.regex,
        "variables": name.template.captures.iter().map(path).collect::<Vec<_>>(),
        "value_classes": name.template.captures.iter().map(class).collect::<Vec<_>>(),
        "runs": runs.map(TopLevelMethod::short_name).collect::<Vec<_>>(),
    })
}

fn log_point(id: usize, point: &LogPoint) -> Value {
    let path = |capture: &u32| point.variables.get(*capture as usize).map(|v| v.path.as_str());
    let template = |t: &schema::Template| json!({ "regex": t.regex, "variables": t.captures.iter().map(path).collect::<Vec<_>>() });
    let levels: Vec<&str> = point.levels.iter().map(|level| level.name()).collect();
    let mut value = json!({
        "id": id,
        "class": point.class,
        "method": point.method,
        "source_line": point.source_line,
        "n_sites": point.n_sites,
        "level": (!levels.is_empty()).then(|| levels.join("|")),
        "logger": (!point.loggers.is_empty()).then(|| point.loggers.join("|")),
        "in_handler": point.in_handler,
        "templates": point.templates.iter().map(template).collect::<Vec<_>>(),
    });
    if let Some(site) = &point.call_site {
        value["call_site"] = json!(site.place());
    }
    value
}

fn top_level_method(model: &Model, method: &TopLevelMethod) -> Value {
    let identifier = |id: &schema::Identifier| {
        json!({
            "path": id.path,
            "value_class": model.value_classes.get(id.value_class.index()),
            "strength": strength_name(id.strength),
        })
    };
    let points: Vec<usize> = method.log_points().into_iter().map(schema::LogPointId::index).collect();
    json!({
        "class": method.class,
        "method": method.method,
        "descriptor": method.descriptor,
        "kind": kind_name(method.kind),
        "identifiers": method.identifiers.iter().map(identifier).collect::<Vec<_>>(),
        "serves": method.serves,
        "n_log_points": points.len(),
        "log_points": points,
        "reason": method.reason,
    })
}

fn communication_pair(model: &Model, pair: &schema::CommunicationPair) -> Value {
    let method = |id: TopLevelId| model.top_level_methods.get(id.index());
    let name = |id| method(id).map(|m| short_name(&m.class, &m.method));
    let path = |of, id: IdentifierId| {
        method(of).and_then(|m| m.identifiers.get(id.index())).map(|i| i.path.as_str())
    };
    let identifiers: Vec<Value> =
        pair.identifiers.iter().map(|(a, b)| json!([path(pair.from, *a), path(pair.to, *b)])).collect();
    json!({
        "from": name(pair.from),
        "to": name(pair.to),
        "kind": pair.kind.name(),
        "identifiers": identifiers,
        "many": pair.many,
        "requests": pair.requests(),
        "reason": pair.reason,
    })
}
