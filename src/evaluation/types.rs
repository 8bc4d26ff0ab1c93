//! Request types: what the requests of a table are called, against what they are.
//!
//! The truth is a table by hand, tab-separated with a header: `unit` (a pattern
//! of units, in which `*` stands for anything), `first` (a pattern of the true
//! log point of a unit's first record, `class.method:line`; the column may be
//! missing) and `types` (patterns of the top-level methods that such a unit can begin
//! with, `Class.method`, separated by blanks). The first row that fits counts. A
//! request that holds no unit is told by its own first record, with the unit `-`.
//! Where the truth itself has a column `stack` (the methods on the call stack of a
//! record, `Class.method` separated by blanks), that counts instead.
//!
//! The request of a unit is the one that holds its first record by time. It is right if
//! its type is one that is expected, or on the stack of the request's first record that
//! has one; one that is left open, of several types, also if all of them are so. What no row fits
//! makes no claim.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::error::{Context as _, Result};

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
    types: Vec<String>,
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
            let types = cell("types").split_whitespace().map(str::to_owned).collect();
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
    /// Those whose type is left open.
    pub(crate) n_open: u64,
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

    /// Units with a truth whose request is left open.
    pub(crate) fn n_open(&self) -> u64 {
        self.kinds.values().map(|kind| kind.n_open).sum()
    }
}

/// Scores the types of `found`; none where there is no truth.
pub(crate) fn score(truth: &Truth, found: &Found<'_>, expected: Option<&Expected>) -> Option<TypeScores> {
    let stacks = stacks(truth, found);
    if expected.is_none() && stacks.is_empty() {
        return None;
    }
    let mut scores = TypeScores::default();
    for (unit, place) in subjects(truth, found) {
        let request = found.request_of(place);
        let name = request.and_then(|request| found.types.get(request)).copied().unwrap_or("(none)");
        let stack = request.and_then(|request| stacks.get(request));
        let point = truth.records[place].log_point.as_deref().unwrap_or_default();
        let row = expected.and_then(|expected| expected.row(unit, point));
        let open = request.and_then(|request| found.open_types.get(request)).copied().unwrap_or_default();
        let is_right = |is_one: &dyn Fn(&str) -> bool| {
            is_one(name) || (!open.is_empty() && open.iter().all(|name| is_one(name)))
        };
        let (kind, is_right) = match (stack, row) {
            (Some((_, stack)), _) => {
                (("*", "*"), is_right(&|name| stack.split(' ').any(|method| method == name)))
            }
            (None, Some(row)) => {
                let is_one = |name: &str| row.types.iter().any(|t| matches(t, name));
                ((&*row.unit, &*row.first), is_right(&is_one))
            }
            (None, None) => {
                scores.n_unclaimed += 1;
                continue;
            }
        };
        let kind = scores.kinds.entry((kind.0.to_owned(), kind.1.to_owned())).or_default();
        kind.n += 1;
        kind.n_right += u64::from(is_right);
        kind.n_open += u64::from(!open.is_empty());
        if !is_right {
            *kind.wrong.entry(name.to_owned()).or_default() += 1;
        }
    }
    Some(scores)
}

/// What has a type: units, and `-` for each request that holds none, with their first records.
fn subjects<'a>(truth: &'a Truth, found: &Found<'_>) -> Vec<(&'a str, &'a Place)> {
    let units = (truth.records.iter())
        .filter_map(|(place, record)| Some((record.unit.as_deref()?, found.time_of(place), place)));
    let with_unit: BTreeSet<&str> = (truth.records.iter())
        .filter(|(_, record)| record.unit.is_some())
        .filter_map(|(place, _)| found.request_of(place))
        .collect();
    let requests = truth.records.keys().filter_map(|place| {
        let request = found.request_of(place).filter(|request| !with_unit.contains(request))?;
        Some((request, found.time_of(place), place))
    });
    let others = first_of(requests).into_values().map(|place| ("-", place));
    first_of(units).into_iter().chain(others).collect()
}

/// The first record of each thing, by time and place.
fn first_of<'k, 'a>(
    records: impl Iterator<Item = (&'k str, i64, &'a Place)>,
) -> BTreeMap<&'k str, &'a Place> {
    let mut first: BTreeMap<&str, (i64, &Place)> = BTreeMap::new();
    for (key, ts, place) in records {
        let at = (ts, place);
        first.entry(key).and_modify(|known| *known = at.min(*known)).or_insert(at);
    }
    first.into_iter().map(|(key, (_, place))| (key, place)).collect()
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

#[cfg(test)]
mod tests {
    use schema::tables::Text;

    use super::{Expected, matches, score};
    use crate::evaluation::sketch::Sketch;

    #[test]
    fn patterns() {
        for (pattern, text) in
            [("a", "a"), ("a*", "a"), ("a*", "ab"), ("*b", "ab"), ("a*c*e", "abcde"), ("*", "")]
        {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [("a", "ab"), ("a*", "b"), ("a*b", "ac"), ("a*a", "a"), ("", "a")] {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
    }

    #[test]
    fn the_first_row_that_fits_tells_the_types() {
        let table = "unit\tfirst\ttypes\nread:*\t*\tS.read\nwrite:*\ta.B.c:3\tS.write S.*Write\n";
        let expected = Expected::parse(table).expect("a table");
        // The unit of request r begins with line 1, that of r3 with the one of line 3.
        let sketch = Sketch::new(
            "1 t read:1 o s r -\n2 t read:1 o s2 r2 -\n3 t write:1 p s3 r3 -\n4 t write:2 q s4 r4 -\n\
             5 t read:2 v s5 r5 -",
        );
        let types = [("r", "S.read"), ("r3", "S.lateWrite"), ("r5", "S.run")];
        let scores = score(&sketch.truth, &sketch.found(&types), Some(&expected)).expect("a truth");
        assert_eq!((scores.n(), scores.n_unclaimed), ((3, 2), 1));
        let wrong: Vec<_> = scores.kinds.values().flat_map(|kind| &kind.wrong).collect();
        assert_eq!(wrong, [(&"S.run".to_owned(), &1)]);
    }

    #[test]
    fn what_is_left_open_is_right_if_all_that_it_can_be_is() {
        let expected = Expected::parse("unit\ttypes\n*\tS.read S.write\n").expect("a table");
        let sketch = Sketch::new("1 t a o s r -\n2 t b o s2 r2 -\n3 t c o s3 r3 -");
        let mut found = sketch.found(&[("r", "C.print"), ("r2", "C.print"), ("r3", "S.read")]);
        let types = ["S.read", "S.write", "S.close"].map(Text::from);
        found.open_types = [("r", &types[..2]), ("r2", &types[1..]), ("r3", &types[1..])].into();
        let scores = score(&sketch.truth, &found, Some(&expected)).expect("a truth");
        assert_eq!((scores.n(), scores.n_open()), ((3, 2), 3));
        let wrong: Vec<_> = scores.kinds.values().flat_map(|kind| &kind.wrong).collect();
        assert_eq!(wrong, [(&"C.print".to_owned(), &1)]);
    }

    #[test]
    fn requests_without_a_unit_are_told_by_their_first_record() {
        let expected = Expected::parse("unit\tfirst\ttypes\n-\ta.B.c:1\tS.report\n").expect("a table");
        let sketch =
            Sketch::new("1 t - o s r -\n2 t - o s r -\n3 t - o s2 r2 -\n4 t u p s3 r3 -\n5 t - p s3 r3 -");
        let types = [("r", "S.main"), ("r2", "S.report")];
        let scores = score(&sketch.truth, &sketch.found(&types), Some(&expected)).expect("a truth");
        assert_eq!((scores.n(), scores.n_unclaimed), ((1, 0), 2));
    }

    #[test]
    fn without_a_table_nothing_is_known() {
        let sketch = Sketch::new("1 t u o s r -");
        assert_eq!(score(&sketch.truth, &sketch.found(&[]), None), None);
    }
}
