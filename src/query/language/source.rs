//! Sources: which log points, or queries before, a name stands for, and what they export.

use std::collections::BTreeSet;

use super::catalog::{Catalog, Kind, Point};
use super::compile::Relation;
use super::query::{Named, Range};
use super::text::{Fault, hint};

/// What each event exports, whatever prints it: its names, the column, and what that is.
const EVERYWHERE: [(&[&str], &str, Kind); 12] = [
    (&["host", "node"], "e.node", Kind::Text),
    (&["process", "procName", "processName"], "e.node", Kind::Text),
    (&["timestamp", "time"], "e.ts", Kind::Time),
    (&["thread"], "s.thread", Kind::Text),
    (&["request"], "e.request_id", Kind::Text),
    (&["span"], "e.span_id", Kind::Text),
    (&["level"], "e.level", Kind::Text),
    (&["class"], "e.class", Kind::Text),
    (&["method"], "e.method", Kind::Text),
    (&["line"], "e.source_line", Kind::Whole),
    (&["requestType"], "r.request_type", Kind::Text),
    (&["topLevel"], "s.top_level_method", Kind::Text),
];

/// What a variable stands for.
pub(super) struct Source<'c> {
    /// Log points; none: any event.
    points: Option<Vec<&'c Point>>,
    /// Queries before, by their place.
    pub(super) queries: Vec<usize>,
}

/// Finds what the sources of a variable are.
pub(super) fn resolve<'c>(
    range: &Range,
    catalog: &'c Catalog,
    queries: &[(Option<String>, Relation)],
) -> Result<Source<'c>, Fault> {
    let mut source = Source { points: Some(Vec::new()), queries: Vec::new() };
    for name in &range.sources {
        let found: Vec<&Point> = match &name.name {
            Named::Anything => {
                source.points = None;
                continue;
            }
            Named::Template(text) => {
                let pattern = format!("*{text}*");
                let is_like = |point: &&Point| point.texts.iter().any(|text| matches(&pattern, text));
                catalog.points.iter().filter(is_like).collect()
            }
            Named::Name(name) => {
                let is_it = |query: &&(usize, &(Option<String>, Relation))| query.1.0.as_ref() == Some(name);
                if let Some((at, _)) = queries.iter().enumerate().collect::<Vec<_>>().iter().rfind(is_it) {
                    source.queries.push(*at);
                    continue;
                }
                catalog.points.iter().filter(|point| is_named(point, name)).collect()
            }
        };
        if found.is_empty() {
            return Err(unknown(&name.name, name.at, catalog, queries));
        }
        if let Some(points) = &mut source.points {
            points.extend(found);
        }
    }
    if let Some(points) = &mut source.points {
        points.sort_by_key(|point| point.id);
        points.dedup_by_key(|point| point.id);
    }
    Ok(source)
}

fn unknown(name: &Named, at: usize, catalog: &Catalog, queries: &[(Option<String>, Relation)]) -> Fault {
    let Named::Name(name) = name else {
        return Fault::new(at, "no log point of this table prints such a text");
    };
    let mut known: BTreeSet<String> = queries.iter().filter_map(|(name, _)| name.clone()).collect();
    for point in &catalog.points {
        let class = point.class.rsplit('.').next().unwrap_or_default();
        known.insert(class.to_owned());
        known.insert(format!("{class}.{}", point.method));
        if name.contains(':') {
            known.insert(point.short());
        }
    }
    let hint = hint(name, known.iter().map(String::as_str));
    Fault::new(
        at,
        format!(
            "`{name}` is no class, method or log point that prints in this table, and no query before{hint}"
        ),
    )
}

/// Whether a log point is of the class, the method or the line called `name`, also without
/// packages and with `*` for anything.
fn is_named(point: &Point, name: &str) -> bool {
    let method = format!("{}.{}", point.class, point.method);
    let line = format!("{method}:{}", point.line);
    let ends = |whole: &str| {
        matches(name, whole) || whole.match_indices(['.', '$']).any(|(at, _)| matches(name, &whole[at + 1..]))
    };
    ends(&point.class) || ends(&method) || (name.contains(':') && ends(&line))
}

/// Whether `pattern`, in which `*` stands for anything, is all of `text`.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        match text.find(part) {
            Some(at) => text = &text[at + part.len()..],
            None => return false,
        }
    }
    text.ends_with(last)
}

impl Source<'_> {
    /// What the field called `name` is; none: nothing here exports it.
    pub(super) fn kind(&self, name: &str, queries: &[(Option<String>, Relation)]) -> Option<Kind> {
        let mut kind: Option<Kind> = None;
        let mut add = |found: Kind| kind = Some(kind.map_or(found, |kind| kind.common(found)));
        let of_points = self.points.as_ref().is_none_or(|points| !points.is_empty());
        if let Some((_, _, found)) = everywhere(name).filter(|_| of_points) {
            add(found);
        } else {
            self.exports(name).into_iter().for_each(|(_, found)| add(found));
        }
        for &at in &self.queries {
            if let Some((_, found)) = queries[at].1.column(name) {
                add(found);
            }
        }
        kind
    }

    /// Columns of `values` that have the name, and what they are.
    fn exports(&self, name: &str) -> Vec<(String, Kind)> {
        let points = self.points.iter().flatten();
        let exports = points.flat_map(|point| &point.exports);
        let is_called = |known: &String| known.eq_ignore_ascii_case(name);
        let named = exports.filter(|export| export.names.iter().any(is_called));
        let mut found: Vec<(String, Kind)> =
            named.map(|export| (export.column.clone(), export.kind)).collect();
        found.sort_by(|a, b| a.0.cmp(&b.0));
        found.dedup();
        found
    }

    /// All names of exports, for hints and for queries without rewrites.
    pub(super) fn names(&self, queries: &[(Option<String>, Relation)]) -> Vec<String> {
        let mut names: BTreeSet<String> = BTreeSet::new();
        if self.points.as_ref().is_none_or(|points| !points.is_empty()) {
            names.extend(EVERYWHERE.iter().flat_map(|known| known.0).map(ToString::to_string));
        }
        let points = self.points.iter().flatten();
        names.extend(points.flat_map(|point| &point.exports).flat_map(|export| export.names.iter().cloned()));
        names.extend(self.queries.iter().flat_map(|&at| queries[at].1.names()));
        names.into_iter().collect()
    }

    /// The rows of the source as SQL: `position` and `fields`, each by its name.
    pub(super) fn sql(&self, fields: &[(String, Kind)], queries: &[(Option<String>, Relation)]) -> String {
        let mut parts = Vec::new();
        if self.points.as_ref().is_none_or(|points| !points.is_empty()) {
            parts.push(self.events(fields));
        }
        for &at in &self.queries {
            let relation = &queries[at].1;
            let column = |(name, kind): &(String, Kind)| match relation.column(name) {
                Some((column, _)) => format!("{} AS {}", quoted(&column), quoted(name)),
                None => format!("CAST(NULL AS {}) AS {}", sql_type(*kind), quoted(name)),
            };
            let columns: Vec<String> =
                std::iter::once("position".to_owned()).chain(fields.iter().map(column)).collect();
            parts.push(format!("SELECT {} FROM ({}) AS q", columns.join(", "), relation.sql));
        }
        parts.join(" UNION ALL ")
    }

    fn events(&self, fields: &[(String, Kind)]) -> String {
        let mut columns = vec!["e.position AS position".to_owned()];
        let mut tables = "events AS e".to_owned();
        let is_of = |field: &str, table: &str| {
            everywhere(field).is_some_and(|(_, column, _)| column.starts_with(table))
        };
        if fields.iter().any(|(name, _)| is_of(name, "s.")) {
            tables.push_str(" LEFT JOIN spans AS s ON s.span_id = e.span_id");
        }
        if fields.iter().any(|(name, _)| is_of(name, "r.")) {
            tables.push_str(" LEFT JOIN requests AS r ON r.request_id = e.request_id");
        }
        for (name, kind) in fields {
            columns.push(format!("{} AS {}", self.value(name, *kind), quoted(name)));
        }
        let mut condition = "e.position IS NOT NULL".to_owned();
        if let Some(points) = &self.points {
            let ids: Vec<String> = points.iter().map(|point| point.id.to_string()).collect();
            condition.push_str(&format!(" AND e.log_point_id IN ({})", ids.join(", ")));
        }
        format!("SELECT {} FROM {tables} WHERE {condition}", columns.join(", "))
    }

    /// A field of an event, as SQL.
    fn value(&self, name: &str, kind: Kind) -> String {
        if let Some((_, column, _)) = everywhere(name) {
            return column.to_owned();
        }
        let text = |(column, _): (String, Kind)| format!("value_of(e.values, {})", literal(&column));
        let values: Vec<String> = self.exports(name).into_iter().map(text).collect();
        let value = match values.as_slice() {
            [] => return format!("CAST(NULL AS {})", sql_type(kind)),
            [value] => value.clone(),
            values => format!("COALESCE({})", values.join(", ")),
        };
        if kind.is_number() { format!("TRY_CAST({value} AS {})", sql_type(kind)) } else { value }
    }
}

fn everywhere(name: &str) -> Option<(&'static [&'static str], &'static str, Kind)> {
    EVERYWHERE.into_iter().find(|(names, ..)| names.iter().any(|known| known.eq_ignore_ascii_case(name)))
}

pub(super) fn sql_type(kind: Kind) -> &'static str {
    match kind {
        Kind::Text => "VARCHAR",
        Kind::Whole => "BIGINT",
        Kind::Number => "DOUBLE",
        Kind::Time => "TIMESTAMP",
        Kind::Truth => "BOOLEAN",
    }
}

/// A name of a column or table.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A text.
pub(super) fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
