//! The truth of a set of logs: for each record the statement that printed it
//! and the request it belongs to. Tab-separated, columns by the names in the
//! first line, others ignored.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::error::{Context as _, Error, ErrorKind, Result, bail};

/// Where a record stands: node and first line.
pub(crate) type Place = (String, u64);

/// What is known of a record; none: no claim.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Record {
    /// `class.method:line` of the statement.
    pub(crate) log_point: Option<String>,
    /// The caller, where the statement is in a logging wrapper.
    pub(crate) call_site: Option<String>,
    /// The thread that printed it.
    pub(crate) thread: Option<String>,
    /// The methods on its call stack, `Class.method`, separated by blanks.
    pub(crate) stack: Option<String>,
    /// Records of one unit belong in one request.
    pub(crate) unit: Option<String>,
    /// Records of different ops must not share a request.
    pub(crate) op: Option<String>,
}

/// The truth of all records, by place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Truth {
    /// All records with a truth.
    pub(crate) records: BTreeMap<Place, Record>,
}

impl Truth {
    /// Reads a truth table.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let text = read_text(path)?;
        Self::parse(&text).with_context(|| format!("`{}`", path.display()))
    }

    /// Parses a truth table.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let mut truth = Self::default();
        let rows = Rows::new(text, &["node", "line", "log_point", "unit", "op"])?;
        for row in rows {
            let row = row?;
            let record = Record {
                log_point: row.claim("log_point"),
                call_site: row.claim("call_site"),
                thread: row.claim("thread"),
                stack: row.claim("stack"),
                unit: row.claim("unit"),
                op: row.claim("op"),
            };
            truth.records.insert(row.place()?, record);
        }
        Ok(truth)
    }

    /// Puts the units of `text`, a table of node, line and unit, in place of
    /// those of the truth.
    pub(crate) fn replace_units(&mut self, path: &Path) -> Result<()> {
        let text = read_text(path)?;
        self.replace_units_by(&text).with_context(|| format!("`{}`", path.display()))
    }

    pub(crate) fn replace_units_by(&mut self, text: &str) -> Result<()> {
        let rows: Vec<Row<'_>> = Rows::new(text, &["node", "line", "unit"])?.collect::<Result<_>>()?;
        for record in self.records.values_mut() {
            record.unit = None;
        }
        for row in rows {
            if let Some(record) = self.records.get_mut(&row.place()?) {
                record.unit = row.claim("unit");
            }
        }
        Ok(())
    }

    /// Takes out the records of nodes that `is_known` does not know; returns
    /// these nodes and the number of their records.
    pub(crate) fn retain_nodes(&mut self, is_known: impl Fn(&str) -> bool) -> (BTreeSet<String>, usize) {
        let before = self.records.len();
        let mut unknown = BTreeSet::new();
        self.records.retain(|(node, _), _| {
            let known = is_known(node);
            if !known {
                unknown.insert(node.clone());
            }
            known
        });
        (unknown, before - self.records.len())
    }
}

/// The text of a file, which may be compressed with zstd.
pub(crate) fn read_text(path: &Path) -> Result<String> {
    let read = || -> Result<String> {
        let bytes = std::fs::read(path)?;
        let plain =
            if bytes.starts_with(&ZSTD_MAGIC) { zstd::stream::decode_all(bytes.as_slice())? } else { bytes };
        String::from_utf8(plain).map_err(|error| Error::of(ErrorKind::Invalid, error))
    };
    read().with_context(|| format!("`{}`", path.display()))
}

const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Rows of a tab-separated table, with their line numbers.
pub(crate) struct Rows<'a> {
    columns: Vec<&'a str>,
    lines: std::iter::Enumerate<std::str::Lines<'a>>,
}

impl<'a> Rows<'a> {
    pub(crate) fn new(text: &'a str, required: &[&str]) -> Result<Self> {
        let mut lines = text.lines().enumerate();
        let columns: Vec<&str> = lines.next().map(|(_, line)| line.split('\t').collect()).unwrap_or_default();
        for name in required {
            if !columns.contains(name) {
                bail!("line 1: no column `{name}`, expected {}", required.join(", "));
            }
        }
        Ok(Self { columns, lines })
    }
}

impl<'a> Iterator for Rows<'a> {
    type Item = Result<Row<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        let (index, line) = self.lines.by_ref().find(|(_, line)| !line.is_empty())?;
        let cells: Vec<&str> = line.split('\t').collect();
        if cells.len() != self.columns.len() {
            let (expected, got) = (self.columns.len(), cells.len());
            return Some(Err(Error::new(
                ErrorKind::Invalid,
                format!("line {}: expected {expected} columns, got {got}", index + 1),
            )));
        }
        let cells = self.columns.iter().copied().zip(cells).collect();
        Some(Ok(Row { number: index + 1, cells }))
    }
}

pub(crate) struct Row<'a> {
    number: usize,
    cells: BTreeMap<&'a str, &'a str>,
}

impl Row<'_> {
    /// The cell of a column, if there is one.
    pub(crate) fn cell(&self, column: &str) -> Option<&str> {
        self.cells.get(column).copied()
    }

    /// The cell; none if it makes no claim.
    fn claim(&self, column: &str) -> Option<String> {
        let cell = self.cell(column).filter(|cell| !matches!(*cell, "" | "-" | "?"));
        cell.map(str::to_owned)
    }

    fn place(&self) -> Result<Place> {
        let line = self.cells["line"];
        let line =
            line.parse().with_context(|| format!("line {}: `{line}` is no line number", self.number))?;
        Ok((self.cells["node"].to_owned(), line))
    }
}

#[cfg(test)]
mod tests {
    use super::Truth;

    #[test]
    fn columns_are_found_by_name() {
        let truth =
            Truth::parse("op\tunit\tlog_point\tline\tnode\tmore\no\t-\ta.B.c:1\t7\tn\tx\n").expect("a table");
        let record = &truth.records[&("n".to_owned(), 7)];
        assert_eq!(record.op.as_deref(), Some("o"));
        assert_eq!(record.unit, None);
    }

    #[test]
    fn errors_name_the_line() {
        for (text, expected) in [
            ("node\tline\n", "line 1: no column `log_point`"),
            ("node\tline\tlog_point\tunit\top\nn\tx\tp\tu\to\n", "line 2: `x` is no line number"),
            ("node\tline\tlog_point\tunit\top\nn\t1\n", "line 2: expected 5 columns, got 2"),
        ] {
            let error = format!("{:#}", Truth::parse(text).expect_err(text));
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn cross_replaces_all_units() {
        let mut truth =
            Truth::parse("node\tline\tlog_point\tunit\top\nn\t1\tp\tu\to\nn\t2\tp\tu\to\n").expect("a table");
        truth.replace_units_by("node\tline\tunit\nn\t2\tw\n").expect("a table");
        let units: Vec<Option<&str>> = truth.records.values().map(|r| r.unit.as_deref()).collect();
        assert_eq!(units, [None, Some("w")]);
    }
}
