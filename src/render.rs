//! Rows as text: a table for people, CSV and JSON for programs. Values come as
//! JSON; a table never sends a control character to a terminal, because logs
//! hold what strangers typed.

use std::io::{self, Write};

use comfy_table::{Cell, CellAlignment, ColumnConstraint, Table, Width};
use serde_json::Value;

/// Form in which rows come out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// Columns for people.
    Table,
    /// An array of objects.
    Json,
    /// Comma-separated values with a header.
    Csv,
    /// A Parquet file.
    Parquet,
}

/// Rows that are laid out at once; a later part of a table is as wide as the first one, or wider.
const PART_ROWS: usize = 1_000;
/// Widest column of a table; longer values go on in the next line.
const COLUMN_CHARS_MAX: u16 = 120;
/// Between two columns.
const SPACE: u16 = 2;

/// Writes rows as they come.
pub(crate) struct RowWriter<'a> {
    out: Out<'a>,
    columns: Vec<String>,
    n_rows: usize,
}

enum Out<'a> {
    Csv(Box<csv::Writer<&'a mut dyn Write>>),
    Json(&'a mut dyn Write),
    Table(Parts<'a>),
}

/// A table, part by part.
struct Parts<'a> {
    out: &'a mut dyn Write,
    held: Vec<Vec<Value>>,
    /// Of the parts before; none: the next one is the first.
    widths: Option<Vec<u16>>,
}

impl<'a> RowWriter<'a> {
    /// Begins rows of `columns`; Parquet is not text and is written elsewhere.
    pub(crate) fn new(out: &'a mut dyn Write, format: Format, columns: Vec<String>) -> io::Result<Self> {
        assert!(format != Format::Parquet, "Parquet is not text");
        let out = match format {
            Format::Csv => {
                let mut csv = csv::Writer::from_writer(out);
                csv.write_record(&columns).map_err(io_error)?;
                Out::Csv(Box::new(csv))
            }
            Format::Json => {
                write!(out, "[")?;
                Out::Json(out)
            }
            Format::Table | Format::Parquet => Out::Table(Parts { out, held: Vec::new(), widths: None }),
        };
        Ok(Self { out, columns, n_rows: 0 })
    }

    /// Writes a row.
    pub(crate) fn row(&mut self, row: Vec<Value>) -> io::Result<()> {
        self.n_rows += 1;
        match &mut self.out {
            Out::Csv(csv) => csv.write_record(row.iter().map(plain)).map_err(io_error),
            Out::Json(out) => {
                let separator = if self.n_rows == 1 { "\n" } else { ",\n" };
                let field =
                    |(name, value): (&String, &Value)| format!("{}: {value}", Value::from(name.as_str()));
                let fields: Vec<String> = self.columns.iter().zip(&row).map(field).collect();
                write!(out, "{separator}{{{}}}", fields.join(", "))
            }
            Out::Table(parts) => {
                parts.held.push(row);
                if parts.held.len() == PART_ROWS { parts.write(&self.columns) } else { Ok(()) }
            }
        }
    }

    /// Ends the rows.
    pub(crate) fn finish(self) -> io::Result<()> {
        match self.out {
            Out::Csv(mut csv) => csv.flush(),
            Out::Json(out) => {
                writeln!(out, "{}]", if self.n_rows == 0 { "" } else { "\n" })?;
                out.flush()
            }
            Out::Table(mut parts) => {
                if parts.widths.is_none() || !parts.held.is_empty() {
                    parts.write(&self.columns)?;
                }
                parts.out.flush()
            }
        }
    }
}

impl Parts<'_> {
    /// Writes what is held.
    fn write(&mut self, columns: &[String]) -> io::Result<()> {
        let mut table = Table::new();
        table.load_preset(comfy_table::presets::NOTHING);
        let align = |text: String, is_right: bool| {
            Cell::new(text).set_alignment(if is_right { CellAlignment::Right } else { CellAlignment::Left })
        };
        let is_number = |at: usize| self.held.iter().any(|row| row[at].is_number());
        let cell = |value: &Value| align(neutral(&plain(value)), value.is_number());
        for row in &self.held {
            table.add_row(row.iter().map(cell));
        }
        let names: Vec<String> = columns.iter().map(|name| neutral(name)).collect();
        let mut widths = table.column_max_content_widths();
        widths.resize(columns.len(), 0);
        match &self.widths {
            Some(before) => widths.iter_mut().zip(before).for_each(|(width, n)| *width = (*width).max(*n)),
            None => {
                let mut header = Table::new();
                header.set_header(&names);
                let of_names = header.column_max_content_widths();
                widths.iter_mut().zip(of_names).for_each(|(width, n)| *width = (*width).max(n));
            }
        }
        widths.iter_mut().for_each(|width| *width = (*width).min(COLUMN_CHARS_MAX));
        if self.widths.is_none() {
            let ruled = |(at, name): (usize, &String)| {
                align(format!("{name}\n{}", "-".repeat(usize::from(widths[at]))), is_number(at))
            };
            table.set_header(names.iter().enumerate().map(ruled));
        }
        for (column, width) in table.column_iter_mut().zip(&widths) {
            column.set_padding((0, SPACE));
            column.set_constraint(ColumnConstraint::Absolute(Width::Fixed(width + SPACE)));
        }
        for line in table.lines() {
            writeln!(self.out, "{}", line.trim_end())?;
        }
        self.held.clear();
        self.widths = Some(widths);
        Ok(())
    }
}

/// What failed when a row was written as CSV, with its kind: a closed pipe is no fault.
fn io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

/// Writes all `rows` at once.
pub(crate) fn rows(
    out: &mut dyn Write,
    format: Format,
    columns: &[&str],
    rows: Vec<Vec<Value>>,
) -> io::Result<()> {
    let mut writer = RowWriter::new(out, format, columns.iter().map(ToString::to_string).collect())?;
    for row in rows {
        writer.row(row)?;
    }
    writer.finish()
}

/// `text` with everything a terminal could obey spelled out: control
/// characters, also those of eight bits, and marks that turn the direction or are not seen.
pub(crate) fn neutral(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_control() => out.push_str(&format!("\\x{:02x}", u32::from(c))),
            '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}'
            | '\u{61c}'
            | '\u{feff}' => {
                out.push_str(&format!("\\u{{{:x}}}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out
}

/// A value without quotes; null is nothing.
fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Format, neutral, rows};
    use serde_json::json;

    #[track_caller]
    fn check(format: Format, expected: &str) {
        let mut out = Vec::new();
        let data = vec![vec![json!("a\u{1b}[2J"), json!(1)], vec![json!("b,\"c\""), json!(null)]];
        rows(&mut out, format, &["name", "n"], data).expect("memory does not fail");
        assert_eq!(String::from_utf8(out).expect("text"), expected);
    }

    #[test]
    fn table_spells_out_control_characters() {
        check(Format::Table, "name      n\n--------  -\na\\x1b[2J  1\nb,\"c\"\n");
    }

    #[test]
    fn a_closed_pipe_is_told_as_one() {
        struct Closed;
        impl std::io::Write for Closed {
            fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
                Err(std::io::ErrorKind::BrokenPipe.into())
            }

            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        for format in [Format::Csv, Format::Json, Format::Table] {
            let data = vec![vec![json!("x".repeat(100))]; 10_000];
            let error = rows(&mut Closed, format, &["name"], data).expect_err("nobody reads");
            assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe, "{format:?}");
        }
    }

    #[test]
    fn csv_quotes_what_would_break_the_row() {
        check(Format::Csv, "name,n\na\u{1b}[2J,1\n\"b,\"\"c\"\"\",\n");
    }

    #[test]
    fn a_long_table_goes_on_as_it_began() {
        let data: Vec<_> = (0..2_500).map(|n| vec![json!(n), json!("x")]).collect();
        let mut out = Vec::new();
        rows(&mut out, Format::Table, &["number", "text"], data).expect("memory does not fail");
        let text = String::from_utf8(out).expect("text");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2_502);
        assert_eq!([lines[0], lines[1]], ["number  text", "------  ----"]);
        assert_eq!([lines[2], lines[1_001], lines[2_501]], ["     0  x", "   999  x", "  2499  x"]);
    }

    #[test]
    fn a_long_value_goes_on_in_the_next_line() {
        let mut out = Vec::new();
        let data = vec![vec![json!("x".repeat(130)), json!(1)]];
        rows(&mut out, Format::Table, &["text", "n"], data).expect("memory does not fail");
        let text = String::from_utf8(out).expect("text");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[2], format!("{}  1", "x".repeat(120)));
        assert_eq!(lines[3], "x".repeat(10));
    }

    #[test]
    fn none_is_a_header() {
        let mut out = Vec::new();
        rows(&mut out, Format::Table, &["a", "b"], Vec::new()).expect("memory does not fail");
        rows(&mut out, Format::Csv, &["a", "b"], Vec::new()).expect("memory does not fail");
        rows(&mut out, Format::Json, &["a", "b"], Vec::new()).expect("memory does not fail");
        assert_eq!(String::from_utf8(out).expect("text"), "a  b\n-  -\na,b\n[]\n");
    }

    #[test]
    fn json_is_one_array() {
        check(
            Format::Json,
            "[\n{\"name\": \"a\\u001b[2J\", \"n\": 1},\n{\"name\": \"b,\\\"c\\\"\", \"n\": null}\n]\n",
        );
    }

    #[test]
    fn marks_that_turn_the_direction_are_spelled_out() {
        assert_eq!(neutral("a\u{202e}b\u{9b}"), "a\\u{202e}b\\x9b");
    }
}
