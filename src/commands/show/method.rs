//! A top-level method with all that hangs on it, and the pairs between two.

use std::io::Write as _;

use anyhow::{Result, bail};
use schema::tables::{kind_name, strength_name};
use schema::{CommunicationPair, IdentifierId, LogPoint, Model, RemoteCall, TopLevelId, TopLevelMethod};

use super::methods;
use crate::output;
use crate::render::neutral;

pub(crate) fn print(model: &Model, what: &str) -> Result<()> {
    let mut out = output::stdout();
    for (index, method) in methods(model, what)? {
        writeln!(
            out,
            "{}.{}{}",
            neutral(&method.class),
            neutral(&method.method),
            neutral(&method.descriptor)
        )?;
        writeln!(out, "  kind    {}", kind_name(method.kind))?;
        writeln!(out, "  reason  {}", neutral(&method.reason))?;
        for serves in &method.serves {
            writeln!(out, "  serves  {}", neutral(serves))?;
        }
        let programs = method.entry_points.iter().filter_map(|&i| model.entry_points.get(usize::from(i)));
        let programs: Vec<String> = programs.map(|name| neutral(name)).collect();
        writeln!(
            out,
            "  run by  {}{}",
            if programs.is_empty() { "any".to_owned() } else { programs.join(", ") },
            if method.is_one_at_a_time { ", one at a time" } else { "" }
        )?;
        writeln!(out, "  identifiers")?;
        for identifier in &method.identifiers {
            let class = model.value_classes.get(identifier.value_class.index()).map_or("?", String::as_str);
            let strength = strength_name(identifier.strength);
            writeln!(out, "    {}  ({}, {strength})", neutral(&identifier.path), neutral(class))?;
        }
        let id = TopLevelId::new(index);
        writeln!(out, "  begins with")?;
        for point in model.successors.firsts(id).unwrap_or_default() {
            let place = model.log_points.get(point.index()).map(printer).unwrap_or_default();
            writeln!(out, "      {:>5}  {}", point.to_string(), neutral(&place))?;
        }
        print_order(&mut out, model, method)?;
        writeln!(out, "  pairs")?;
        for pair in model.communication_pairs.iter().filter(|p| p.from == id || p.to == id) {
            print_pair(&mut out, model, pair)?;
        }
        writeln!(out)?;
    }
    out.flush()?;
    Ok(())
}

pub(crate) fn print_pairs(model: &Model, from: &str, to: &str) -> Result<()> {
    let (senders, receivers) = (methods(model, from)?, methods(model, to)?);
    let is_one = |of: &[(usize, &TopLevelMethod)], id: TopLevelId| of.iter().any(|(i, _)| *i == id.index());
    let joins = |p: &&CommunicationPair| {
        (is_one(&senders, p.from) && is_one(&receivers, p.to))
            || (is_one(&senders, p.to) && is_one(&receivers, p.from))
    };
    let pairs: Vec<&CommunicationPair> = model.communication_pairs.iter().filter(joins).collect();
    if pairs.is_empty() {
        bail!("`{from}` and `{to}`: no communication pair between them");
    }
    let mut out = output::stdout();
    for pair in pairs {
        print_pair(&mut out, model, pair)?;
        print_places(&mut out, model, pair)?;
        for (side, points) in [
            ("after", &pair.before),
            ("before", &pair.after),
            ("not by", &pair.beside),
            ("not to", &pair.elsewhere),
        ] {
            for point in points {
                let place = model.log_points.get(point.index());
                let place = place.map(schema::LogPoint::place).unwrap_or_default();
                writeln!(out, "      {side} log point {point}  {}", neutral(&place))?;
            }
        }
    }
    out.flush()?;
    Ok(())
}

fn print_order(out: &mut dyn std::io::Write, model: &Model, method: &TopLevelMethod) -> Result<()> {
    let numbers = |of: &[u32]| of.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    writeln!(
        out,
        "  order   starts at {}; ends after {}",
        numbers(&method.dag.entries),
        numbers(&method.dag.exits)
    )?;
    for (i, node) in method.dag.nodes.iter().enumerate() {
        let repeats = if node.repeats { " (repeats)" } else { "" };
        writeln!(out, "    {i}{repeats} -> {}", numbers(&node.next))?;
        for point in &node.points {
            let Some(log_point) = model.log_points.get(point.log_point.index()) else { continue };
            let place = printer(log_point);
            let path = |id: &IdentifierId| method.identifiers.get(id.index()).map(|i| i.path.as_str());
            let bound: Vec<&str> = point.bindings.iter().flatten().filter_map(path).collect();
            writeln!(
                out,
                "      {:>5}  {}{}  {}",
                point.log_point.to_string(),
                neutral(&place),
                if node.once.contains(&point.log_point) { " (once)" } else { "" },
                neutral(&bound.join(" "))
            )?;
        }
    }
    Ok(())
}

/// Where the code that prints a log point stands: the caller of a logging wrapper, or itself.
fn printer(point: &LogPoint) -> String {
    point.call_site.as_ref().map_or_else(|| point.place(), schema::CallSite::place)
}

fn print_pair(out: &mut dyn std::io::Write, model: &Model, pair: &CommunicationPair) -> Result<()> {
    let method = |id: TopLevelId| model.top_level_methods.get(id.index());
    let name = |id| method(id).map_or_else(|| "?".to_owned(), TopLevelMethod::short_name);
    let many = if pair.many { ", many receivers" } else { "" };
    let (from, to) = (neutral(&name(pair.from)), neutral(&name(pair.to)));
    writeln!(out, "    {from} -> {to}  ({}{many})", pair.kind.name())?;
    writeln!(out, "      {}", neutral(&pair.reason))?;
    let path = |of, id: IdentifierId| {
        method(of).and_then(|m| m.identifiers.get(id.index())).map_or("?", |i| i.path.as_str())
    };
    for (a, b) in &pair.identifiers {
        writeln!(out, "      {} = {}", neutral(path(pair.from, *a)), neutral(path(pair.to, *b)))?;
    }
    let remote = pair.remote_calls.iter().filter(|_| pair.kind.is_served());
    let mut matched: Vec<String> = remote.map(matched).collect();
    matched.dedup();
    for matched in matched {
        writeln!(out, "      matched {}", neutral(&matched))?;
    }
    Ok(())
}

/// What a remote call asks for, and whom.
fn matched(call: &RemoteCall) -> String {
    let host = if call.host.is_empty() { String::new() } else { format!(" of {}", call.host) };
    let asked =
        if call.asked == call.template { String::new() } else { format!(", asked by {}", call.asked) };
    let waits = if call.waits { "" } else { ", does not wait" };
    format!("{}{host}{asked}{waits}", call.request())
}

/// Where each remote call stands between the lines of the sender.
fn print_places(out: &mut dyn std::io::Write, model: &Model, pair: &CommunicationPair) -> Result<()> {
    let places = |points: &[schema::LogPointId], is_end: bool, end: &str| {
        let of = |id: &schema::LogPointId| {
            let place = model.log_points.get(id.index()).map(schema::LogPoint::place);
            format!("{id} {}", place.unwrap_or_default())
        };
        let end = is_end.then(|| end.to_owned());
        points.iter().map(of).chain(end).collect::<Vec<_>>().join(" or ")
    };
    for call in &pair.remote_calls {
        let (after, before) =
            (places(&call.after, call.is_first, "the start"), places(&call.before, call.is_last, "the end"));
        let again = if call.repeats { ", again and again" } else { "" };
        writeln!(
            out,
            "      call {} between {} and {}{again}",
            call.order,
            neutral(&after),
            neutral(&before)
        )?;
    }
    Ok(())
}
