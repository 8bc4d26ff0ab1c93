//! Request types: what the requests of a table are called, against what they are.
//!
//! The truth is a table by hand, tab-separated with a header: `unit` (a pattern
//! of units, in which `*` stands for anything), `first` (a pattern of the true
//! log points of a unit's first record, as `class.method:line`; the column may be
//! missing) and `types` (the top-level methods that such a unit can begin with,
//! `Class.method`, separated by blanks). The first row that fits counts; units
//! without one make no claim. Where the truth itself has a column `stack` (the
//! methods on the call stack of a record, `Class.method` separated by blanks), that
//! counts instead.
//!
//! A unit's request is the one that holds its first record by time. It is right if its
//! type is one that is expected, or on the stack of the request's first record that has one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context as _, Result};

use super::found::Found;
use super::truth::{Place, Rows, Truth, read_text};

/// The types expected of units.
#[derive(Clone, Debug, Default)]
pub(crate) struct Expected {
    rows: Vec<Row>,
}

#[derive(Clone, Debug)]
struct Row {
    unit: String,
    first: String,
    types: BTreeSet<String>,
}

impl Expected {
    /// Reads a table.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let text = read_text(path)?;
        Self::parse(&text).with_context(|| format!("`{}`", path.display()))
    }

    /// Parses a table.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let mut rows = Vec::new();
        for row in Rows::new(text, &["unit", "types"])? {
            let row = row?;
            let cell = |column: &str| row.cell(column).unwrap_or("*").to_owned();
            let types = cell("types").split(' ').map(str::to_owned).collect();
            rows.push(Row { unit: cell("unit"), first: cell("first"), types });
        }
        Ok(Self { rows })
    }

    /// The row of a unit with a first record of the log point `first`.
    fn row(&self, unit: &str, first: &str) -> Option<&Row> {
        self.rows.iter().find(|row| matches(&row.unit, unit) && matches(&row.first, first))
    }
}

/// Whether `text` is like `pattern`, in which `*` stands for anything.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// Units of one row of the table, or of one truth, and what their requests are called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kind {
    pub(crate) n: u64,
    pub(crate) n_right: u64,
    /// Types that are none of those expected, and of how many units.
    pub(crate) wrong: BTreeMap<String, u64>,
}

/// How right the types of a table's requests are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TypeScores {
    /// By the pattern of the units, and that of their first log points.
    pub(crate) kinds: BTreeMap<(String, String), Kind>,
    /// Units of which nothing is known.
    pub(crate) n_unclaimed: u64,
}

impl TypeScores {
    /// Units with a truth, and those of them whose request has a right type.
    pub(crate) fn n(&self) -> (u64, u64) {
        self.kinds.values().fold((0, 0), |(n, n_right), kind| (n + kind.n, n_right + kind.n_right))
    }
}

/// Scores the types of `found`; none where there is no truth.
pub(crate) fn score(truth: &Truth, found: &Found<'_>, expected: Option<&Expected>) -> Option<TypeScores> {
    let stacks = stacks(truth, found);
    if expected.is_none() && stacks.is_empty() {
        return None;
    }
    let mut scores = TypeScores::default();
    for (unit, (_, place)) in first_records(truth, found) {
        let request = found.events.get(place).and_then(|event| event.request_id.as_deref());
        let name = request.and_then(|request| found.types.get(request)).copied().unwrap_or("(none)");
        let stack = request.and_then(|request| stacks.get(request));
        let point = truth.records[place].log_point.as_deref().unwrap_or_default();
        let row = expected.and_then(|expected| expected.row(unit, point));
        let (kind, is_right) = match (stack, row) {
            (Some((_, stack)), _) => {
                (("*".to_owned(), "*".to_owned()), stack.split(' ').any(|method| method == name))
            }
            (None, Some(row)) => ((row.unit.clone(), row.first.clone()), row.types.contains(name)),
            (None, None) => {
                scores.n_unclaimed += 1;
                continue;
            }
        };
        let kind = scores.kinds.entry(kind).or_default();
        kind.n += 1;
        kind.n_right += u64::from(is_right);
        if !is_right {
            *kind.wrong.entry(name.to_owned()).or_default() += 1;
        }
    }
    Some(scores)
}

/// The first record of each unit, with its time.
fn first_records<'a>(truth: &'a Truth, found: &Found<'_>) -> BTreeMap<&'a str, (i64, &'a Place)> {
    let mut first: BTreeMap<&str, (i64, &Place)> = BTreeMap::new();
    for (place, record) in &truth.records {
        let Some(unit) = record.unit.as_deref() else { continue };
        let at = (found.events.get(place).map_or(i64::MAX, |event| event.ts.0), place);
        first.entry(unit).and_modify(|known| *known = at.min(*known)).or_insert(at);
    }
    first
}

/// The stack of the first record of each request that has one, with its time.
fn stacks<'a>(truth: &'a Truth, found: &Found<'a>) -> BTreeMap<&'a str, (i64, &'a str)> {
    let mut first: BTreeMap<&str, (i64, &str)> = BTreeMap::new();
    for (place, record) in &truth.records {
        let Some((event, stack)) = found.events.get(place).zip(record.stack.as_deref()) else { continue };
        let Some(request) = event.request_id.as_deref() else { continue };
        let at = (event.ts.0, stack);
        first
            .entry(request)
            .and_modify(|known| {
                if at.0 < known.0 {
                    *known = at
                }
            })
            .or_insert(at);
    }
    first
}
