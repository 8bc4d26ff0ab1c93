//! Rows as text: a table for people, CSV and JSON for programs. Values come as
//! JSON; a table never sends a control character to a terminal, because logs
//! hold what strangers typed.

use std::io::{self, Write};

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

/// Rows from which a table takes its column widths; more are fitted to them.
const WIDTH_SAMPLE_ROWS: usize = 1_000;
/// Widest column of a table; longer values are not cut, they push.
const COLUMN_CHARS_MAX: usize = 120;

/// Writes rows as they come.
pub(crate) struct RowWriter<'a> {
    out: &'a mut dyn Write,
    format: Format,
    columns: Vec<String>,
    /// Rows held back until the widths of a table are known.
    held: Vec<Vec<Value>>,
    widths: Option<Vec<usize>>,
    n_rows: usize,
}

impl<'a> RowWriter<'a> {
    /// Begins rows of `columns`; Parquet is not text and is written elsewhere.
    pub(crate) fn new(out: &'a mut dyn Write, format: Format, columns: Vec<String>) -> io::Result<Self> {
        assert!(format != Format::Parquet, "Parquet is not text");
        match format {
            Format::Csv => {
                let names: Vec<String> = columns.iter().map(|name| csv_cell(name)).collect();
                writeln!(out, "{}", names.join(","))?;
            }
            Format::Json => write!(out, "[")?,
            Format::Table | Format::Parquet => {}
        }
        Ok(Self { out, format, columns, held: Vec::new(), widths: None, n_rows: 0 })
    }

    /// Writes a row.
    pub(crate) fn row(&mut self, row: Vec<Value>) -> io::Result<()> {
        self.n_rows += 1;
        match self.format {
            Format::Csv => {
                let cells: Vec<String> = row.iter().map(|value| csv_cell(&plain(value))).collect();
                writeln!(self.out, "{}", cells.join(","))
            }
            Format::Json => {
                let separator = if self.n_rows == 1 { "\n" } else { ",\n" };
                let field =
                    |(name, value): (&String, &Value)| format!("{}: {value}", Value::from(name.as_str()));
                let fields: Vec<String> = self.columns.iter().zip(&row).map(field).collect();
                write!(self.out, "{separator}{{{}}}", fields.join(", "))
            }
            Format::Table | Format::Parquet => {
                if let Some(widths) = &self.widths {
                    return table_row(self.out, widths, &row);
                }
                self.held.push(row);
                if self.held.len() == WIDTH_SAMPLE_ROWS { self.flush_held() } else { Ok(()) }
            }
        }
    }

    /// Ends the rows.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        match self.format {
            Format::Csv => {}
            Format::Json if self.n_rows == 0 => writeln!(self.out, "]")?,
            Format::Json => writeln!(self.out, "\n]")?,
            Format::Table | Format::Parquet => self.flush_held()?,
        }
        self.out.flush()
    }

    fn flush_held(&mut self) -> io::Result<()> {
        if self.widths.is_some() {
            return Ok(());
        }
        let mut widths: Vec<usize> = self.columns.iter().map(|name| width(name)).collect();
        for row in &self.held {
            for (column, value) in widths.iter_mut().zip(row) {
                *column = (*column).max(width(&neutral(&plain(value)))).min(COLUMN_CHARS_MAX);
            }
        }
        let numeric = |i: usize| self.held.iter().any(|row| row[i].is_number());
        let header: Vec<String> = (0..self.columns.len())
            .map(|i| padded(&neutral(&self.columns[i]), widths[i], numeric(i)))
            .collect();
        writeln!(self.out, "{}", header.join("  ").trim_end())?;
        let rule: Vec<String> = widths.iter().map(|n| "-".repeat(*n)).collect();
        writeln!(self.out, "{}", rule.join("  "))?;
        for row in std::mem::take(&mut self.held) {
            table_row(self.out, &widths, &row)?;
        }
        self.widths = Some(widths);
        Ok(())
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

fn table_row(out: &mut dyn Write, widths: &[usize], row: &[Value]) -> io::Result<()> {
    let cell = |(value, width): (&Value, &usize)| padded(&neutral(&plain(value)), *width, value.is_number());
    let cells: Vec<String> = row.iter().zip(widths).map(cell).collect();
    writeln!(out, "{}", cells.join("  ").trim_end())
}

/// A value without quotes; null is nothing.
fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn csv_cell(text: &str) -> String {
    // A lone minus or digits are numbers; anything else that a spreadsheet
    // would take for a formula is quoted, as is what would break the row.
    let is_formula =
        text.starts_with(['=', '+', '@', '\t']) || (text.starts_with('-') && text.parse::<f64>().is_err());
    if is_formula || text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

fn width(text: &str) -> usize {
    text.chars().count()
}

fn padded(text: &str, to: usize, right: bool) -> String {
    let space = " ".repeat(to.saturating_sub(width(text)));
    if right { format!("{space}{text}") } else { format!("{text}{space}") }
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
    fn csv_quotes_what_would_break_the_row() {
        check(Format::Csv, "name,n\na\u{1b}[2J,1\n\"b,\"\"c\"\"\",\n");
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
