//! A log point: where it is, what it prints, under which loggers and levels,
//! in which top-level methods.

use std::io::Write as _;

use anyhow::{Result, bail};
use schema::{LogPointId, Model, Variable};

use super::names_method;
use crate::output;
use crate::render::neutral;
use crate::templates::numbered;

pub(crate) fn print(model: &Model, what: &str) -> Result<()> {
    let found = find(model, what);
    if found.is_empty() {
        bail!("`{what}`: no log point of this number or place in the model");
    }
    let mut out = output::stdout();
    for id in found {
        print_one(&mut out, model, id)?;
    }
    out.flush()?;
    Ok(())
}

/// By number, or by `Class.method:line`, the line optional.
fn find(model: &Model, what: &str) -> Vec<LogPointId> {
    if let Ok(number) = what.parse::<usize>() {
        return if number < model.log_points.len() { vec![LogPointId::new(number)] } else { Vec::new() };
    }
    let (method, line) = match what.rsplit_once(':') {
        Some((method, line)) => (method, line.parse::<u32>().ok()),
        None => (what, None),
    };
    let is_there =
        |class: &str, name: &str, at: u32| names_method(method, class, name) && line.is_none_or(|l| l == at);
    let matches = |i: &usize| {
        let point = &model.log_points[*i];
        let site = point.call_site.as_ref();
        is_there(&point.class, &point.method, point.source_line)
            || site.is_some_and(|s| is_there(&s.class, &s.method, s.source_line))
    };
    (0..model.log_points.len()).filter(matches).map(LogPointId::new).collect()
}

fn print_one(out: &mut dyn std::io::Write, model: &Model, id: LogPointId) -> Result<()> {
    let point = &model.log_points[id.index()];
    let names =
        |names: Vec<&str>| if names.is_empty() { "unknown".to_owned() } else { neutral(&names.join(" | ")) };
    writeln!(out, "log point {id}  {}", neutral(&point.place()))?;
    if let Some(site) = &point.call_site {
        writeln!(out, "  called by     {}", neutral(&site.place()))?;
    }
    writeln!(out, "  level         {}", names(point.levels.iter().map(|l| l.name()).collect()))?;
    writeln!(out, "  logger        {}", names(point.loggers.iter().map(String::as_str).collect()))?;
    writeln!(out, "  call sites    {}", point.n_sites)?;
    writeln!(out, "  in a handler  {}", if point.in_handler { "yes" } else { "no" })?;
    for template in &point.templates {
        writeln!(out, "  template      {}", neutral(&numbered(&template.regex)))?;
        writeln!(out, "    regex       {}", neutral(&template.regex))?;
        for (i, capture) in template.captures.iter().enumerate() {
            let Some(variable) = point.variables.get(*capture as usize) else { continue };
            writeln!(out, "    {:<10}  {}", format!("${}", i + 1), neutral(&described(model, variable)))?;
        }
    }
    let methods = model.top_level_methods.iter().filter(|m| m.log_points().contains(&id));
    let methods: Vec<String> = methods.map(|m| m.short_name()).collect();
    writeln!(out, "  printed in    {}\n", neutral(&methods.join(", ")))?;
    Ok(())
}

fn described(model: &Model, variable: &Variable) -> String {
    let class = variable.value_class.and_then(|class| model.value_classes.get(class.index()));
    let shape = format!("{:?}", variable.shape).to_lowercase();
    match class {
        Some(class) => format!("{} ({shape}, {class})", variable.path),
        None => format!("{} ({shape})", variable.path),
    }
}
