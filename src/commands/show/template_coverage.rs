//! How well the texts of log points are known: which have clean variables, opaque
//! parts, no constant at all, and why.

use std::collections::BTreeMap;

use anyhow::Result;
use schema::{Level, LogPoint, Model, ValueShape, Variable};
use serde_json::{Value, json};

use super::model::text_format;
use crate::output;
use crate::render::{self, Format};

/// Reasons listed of each kind; the rest is summed up.
const REASONS_MAX: usize = 20;

/// Prints counts and reasons.
pub(crate) fn print(model: &Model, format: Option<Format>) -> Result<()> {
    let points = &model.log_points;
    let variables: Vec<&Variable> = points.iter().flat_map(|p| &p.variables).collect();
    let mut rows = counts(points);
    rows.extend(kinds_of_paths("variables", &variables));
    let printed = points.iter().filter(|p| p.levels.iter().all(|&l| l >= Level::Info));
    let printed: Vec<&Variable> = printed.flat_map(|p| &p.variables).collect();
    rows.extend(kinds_of_paths("variables at INFO and above", &printed));
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    for reason in variables.iter().filter_map(|v| opaque(v)) {
        *reasons.entry(reason).or_default() += 1;
    }
    rows.extend(listed("  opaque, ", reasons, variables.len()));
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    for point in points.iter().filter(|p| is_bare(p)) {
        *reasons.entry(whole_message(point)).or_default() += 1;
    }
    let n_bare: usize = reasons.values().sum();
    rows.push(("log points without constant text".to_owned(), n_bare, points.len()));
    rows.extend(listed("  the message is ", reasons, points.len()));
    let percent = |n: usize, of: usize| (1000.0 * n as f64 / (of as f64).max(1.0)).round() / 10.0;
    let rows: Vec<Vec<Value>> =
        rows.into_iter().map(|(name, n, of)| vec![json!(name), json!(n), json!(percent(n, of))]).collect();
    render::rows(&mut output::stdout(), text_format(format)?, &["what", "count", "percent"], rows)?;
    Ok(())
}

/// A row: what, how many, of how many.
type Row = (String, usize, usize);

fn counts(points: &[LogPoint]) -> Vec<Row> {
    let count = |is: &dyn Fn(&LogPoint) -> bool| points.iter().filter(|point| is(point)).count();
    let has_opaque = |p: &LogPoint| p.variables.iter().any(|v| opaque(v).is_some());
    let facts: [(&str, usize); 9] = [
        ("log points", points.len()),
        ("  without variables", count(&|p| p.variables.is_empty())),
        ("  all variables are clean access paths", count(&|p| !p.variables.is_empty() && !has_opaque(p))),
        ("  with opaque parts", count(&has_opaque)),
        ("  no template", count(&|p| p.templates.is_empty())),
        ("  several templates", count(&|p| p.templates.len() > 1)),
        ("  level unknown", count(&|p| p.levels.is_empty())),
        ("  logger unknown", count(&|p| p.loggers.is_empty())),
        ("  in a logging wrapper", count(&|p| p.call_site.is_some())),
    ];
    facts.into_iter().map(|(name, n)| (name.to_owned(), n, points.len())).collect()
}

/// How many variables have a path, and how many of these paths are names only.
fn kinds_of_paths(what: &str, variables: &[&Variable]) -> [Row; 4] {
    let count = |is: &dyn Fn(&Variable) -> bool| variables.iter().filter(|v| is(v)).count();
    let n_paths = count(&|v| opaque(v).is_none());
    let n_calls = count(&|v| opaque(v).is_none() && v.path.contains("()"));
    [
        (what.to_owned(), variables.len(), variables.len()),
        ("  clean access paths".to_owned(), n_paths, variables.len()),
        ("    of fields, elements and parameters alone".to_owned(), n_paths - n_calls, variables.len()),
        ("    with the result of a call".to_owned(), n_calls, variables.len()),
    ]
}

/// The most frequent reasons first.
fn listed(what: &str, reasons: BTreeMap<String, usize>, of: usize) -> Vec<Row> {
    let mut reasons: Vec<(String, usize)> = reasons.into_iter().collect();
    reasons.sort_by(|a, b| (std::cmp::Reverse(a.1), &a.0).cmp(&(std::cmp::Reverse(b.1), &b.0)));
    let n_rest: usize = reasons.iter().skip(REASONS_MAX).map(|r| r.1).sum();
    let n_kinds = reasons.len().saturating_sub(REASONS_MAX);
    reasons.truncate(REASONS_MAX);
    if n_rest > 0 {
        reasons.push((format!("{n_kinds} other reasons"), n_rest));
    }
    reasons.into_iter().map(|(reason, n)| (format!("{what}{reason}"), n, of)).collect()
}

/// Why a variable has no path; none if it has one. A path can have getters that
/// could not be looked into, and can start with what a call of the method gave.
fn opaque(variable: &Variable) -> Option<String> {
    let path = variable.path.as_str();
    if path.ends_with("()") && !path.contains(['.', ' ']) {
        return Some(format!("result of {path}"));
    }
    match path {
        "" | "?" if variable.shape == ValueShape::Throwable => Some("an exception".to_owned()),
        "" | "?" => Some("text of unknown origin".to_owned()),
        "computed" | "length" => Some("computed".to_owned()),
        "exception" => Some("an exception".to_owned()),
        _ if path.starts_with("new ") && !path.contains('.') => {
            Some("an object made for the message".to_owned())
        }
        _ => None,
    }
}

/// What a message without constant text is.
fn whole_message(point: &LogPoint) -> String {
    match &point.variables[..] {
        [] => "empty or of unknown origin".to_owned(),
        [one] => match opaque(one) {
            Some(reason) => reason,
            None if one.shape == ValueShape::Throwable => "an exception".to_owned(),
            None if one.path.contains('.') => "a field".to_owned(),
            None => "a parameter or local value".to_owned(),
        },
        _ => "several values and nothing between them".to_owned(),
    }
}

fn is_bare(point: &LogPoint) -> bool {
    point.templates.iter().all(|t| !has_constant(&t.regex))
}

/// Whether a regex has a letter or digit outside of groups and escapes.
fn has_constant(regex: &str) -> bool {
    let mut depth = 0_usize;
    let mut characters = regex.chars();
    while let Some(c) = characters.next() {
        match c {
            // An escaped mark is itself; an escaped letter is a class.
            '\\' if characters.next().is_some_and(|c| !c.is_alphanumeric()) && depth == 0 => return true,
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            c if depth == 0 && (c.is_alphanumeric() || c == ' ') => return true,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::{has_constant, opaque};
    use schema::{ValueShape, Variable};

    fn variable(path: &str) -> Variable {
        let (parts, in_text) = (Vec::new(), false);
        Variable { path: path.to_owned(), value_class: None, shape: ValueShape::Text, parts, in_text }
    }

    #[test]
    fn reasons_of_opaque_variables() {
        let reason = |path: &str| opaque(&variable(path)).unwrap_or_default();
        assert_eq!(reason("this.block.poolId"), "");
        assert_eq!(reason("this.address.getPort()"), "");
        assert_eq!(reason("join()"), "result of join()");
        assert_eq!(reason("computed"), "computed");
        assert_eq!(reason("new Object()"), "an object made for the message");
        assert_eq!(reason("Map.get().name"), "");
    }

    #[test]
    fn constants_stand_outside_of_groups() {
        assert!(has_constant(r"(.*?): done"));
        assert!(!has_constant(r"(.*?)"));
        assert!(!has_constant(r"(?:a|(.*))"));
    }
}
