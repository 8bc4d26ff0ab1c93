//! `COPY .. TO STDOUT`: the rows of a table or a query as lines, in the three forms of PostgreSQL: text,
//! CSV and bytes. What is written elsewhere than to the client is refused.

use datafusion::sql::sqlparser::ast::{
    CopyLegacyCsvOption, CopyLegacyOption, CopyOption, CopySource, CopyTarget, Statement,
};
use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
use datafusion::sql::sqlparser::parser::Parser;
use datafusion_postgres::pgwire::api::results::{CopyResponse, QueryResponse, Response};
use datafusion_postgres::pgwire::error::{PgWireError, PgWireResult};
use datafusion_postgres::pgwire::messages::copy::CopyData;
use datafusion_postgres::pgwire::messages::data::DataRow;
use futures::StreamExt as _;

use super::faults::fault;

/// What the binary form begins with: its name, no flags and nothing more.
const HEAD: [u8; 19] = *b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";

/// How rows are written.
pub(super) struct Form {
    /// As bytes, with the lengths of values.
    pub(super) is_binary: bool,
    is_csv: bool,
    has_header: bool,
    delimiter: Option<char>,
    null: Option<String>,
    quote: char,
    escape: Option<char>,
}

/// The query whose rows `statement` copies, and how; none: it is no such statement.
pub(super) fn asked(statement: &Statement) -> Option<PgWireResult<(Statement, Form)>> {
    let Statement::Copy { source, to: true, target: CopyTarget::Stdout, options, legacy_options, .. } =
        statement
    else {
        return None;
    };
    let query = match source {
        CopySource::Query(query) => Ok(Statement::Query(query.clone())),
        CopySource::Table { table_name, columns } => {
            let names: Vec<String> = columns.iter().map(ToString::to_string).collect();
            let names = if names.is_empty() { "*".to_owned() } else { names.join(", ") };
            let parsed =
                Parser::parse_sql(&PostgreSqlDialect {}, &format!("SELECT {names} FROM {table_name}"));
            let parsed = parsed.map_err(|error| PgWireError::ApiError(Box::new(error)));
            parsed.and_then(|mut of| of.pop().ok_or_else(|| fault("42601", "expected a table")))
        }
    };
    Some(query.and_then(|query| Ok((query, Form::of(options, legacy_options)?))))
}

fn unsupported<T>(option: &impl ToString) -> PgWireResult<T> {
    Err(fault("0A000", format!("COPY with {} is not supported", option.to_string())))
}

impl Form {
    fn of(options: &[CopyOption], older: &[CopyLegacyOption]) -> PgWireResult<Self> {
        let mut form = Self {
            is_binary: false,
            is_csv: false,
            has_header: false,
            delimiter: None,
            null: None,
            quote: '"',
            escape: None,
        };
        for option in options {
            match option {
                CopyOption::Format(name) if name.value.eq_ignore_ascii_case("csv") => form.is_csv = true,
                CopyOption::Format(name) if name.value.eq_ignore_ascii_case("text") => form.is_csv = false,
                CopyOption::Format(name) if name.value.eq_ignore_ascii_case("binary") => {
                    form.is_binary = true
                }
                CopyOption::Header(has_header) => form.has_header = *has_header,
                CopyOption::Delimiter(delimiter) => form.delimiter = Some(*delimiter),
                CopyOption::Null(null) => form.null = Some(null.clone()),
                CopyOption::Quote(quote) => form.quote = *quote,
                CopyOption::Escape(escape) => form.escape = Some(*escape),
                CopyOption::Encoding(name) if name.eq_ignore_ascii_case("utf8") => {}
                other => return unsupported(other),
            }
        }
        for option in older {
            match option {
                CopyLegacyOption::Csv(of_csv) => {
                    form.is_csv = true;
                    for option in of_csv {
                        match option {
                            CopyLegacyCsvOption::Header => form.has_header = true,
                            CopyLegacyCsvOption::Quote(quote) => form.quote = *quote,
                            CopyLegacyCsvOption::Escape(escape) => form.escape = Some(*escape),
                            other => return unsupported(other),
                        }
                    }
                }
                CopyLegacyOption::Binary => form.is_binary = true,
                CopyLegacyOption::Header => form.has_header = true,
                CopyLegacyOption::Delimiter(delimiter) => form.delimiter = Some(*delimiter),
                CopyLegacyOption::Null(null) => form.null = Some(null.clone()),
                other => return unsupported(other),
            }
        }
        Ok(form)
    }

    fn delimiter(&self) -> char {
        self.delimiter.unwrap_or(if self.is_csv { ',' } else { '\t' })
    }

    fn null(&self) -> &str {
        self.null.as_deref().unwrap_or(if self.is_csv { "" } else { "\\N" })
    }

    /// A line of values; none: NULL.
    fn line<'v>(&self, values: impl Iterator<Item = Option<&'v str>>) -> String {
        let mut line = String::new();
        for (at, value) in values.enumerate() {
            if at > 0 {
                line.push(self.delimiter());
            }
            match value {
                None => line.push_str(self.null()),
                Some(value) if self.is_csv => self.put_quoted(value, &mut line),
                Some(value) => self.put_escaped(value, &mut line),
            }
        }
        line.push('\n');
        line
    }

    /// In quotes where it would be read as something else without them.
    fn put_quoted(&self, value: &str, line: &mut String) {
        let is_special = |c: char| c == self.delimiter() || c == self.quote || c == '\n' || c == '\r';
        if !value.contains(is_special) && value != self.null() && value != "\\." {
            return line.push_str(value);
        }
        line.push(self.quote);
        for c in value.chars() {
            if c == self.quote || Some(c) == self.escape {
                line.push(self.escape.unwrap_or(self.quote));
            }
            line.push(c);
        }
        line.push(self.quote);
    }

    fn put_escaped(&self, value: &str, line: &mut String) {
        for c in value.chars() {
            match c {
                '\\' => line.push_str("\\\\"),
                '\n' => line.push_str("\\n"),
                '\r' => line.push_str("\\r"),
                '\t' => line.push_str("\\t"),
                '\u{8}' => line.push_str("\\b"),
                '\u{c}' => line.push_str("\\f"),
                '\u{b}' => line.push_str("\\v"),
                c if c == self.delimiter() => line.extend(['\\', c]),
                c => line.push(c),
            }
        }
    }

    /// The rows of an answer as they are copied.
    pub(super) fn copied(self, rows: QueryResponse) -> Response {
        if self.is_binary { bytes(rows) } else { self.lines(rows) }
    }

    fn lines(self, rows: QueryResponse) -> Response {
        let QueryResponse { row_schema, data_rows, .. } = rows;
        let n_columns = row_schema.len();
        let mut head = match self.has_header {
            true => self.line(row_schema.iter().map(|column| Some(column.name()))),
            false => String::new(),
        };
        // With the first row, since what is sent at once is counted as one. Of no rows there is it alone.
        let rows = data_rows.map(Some).chain(futures::stream::iter([None]));
        let lines = rows.filter_map(move |row| {
            let line = match row {
                Some(Ok(row)) => {
                    let line = self.line(values(&row).into_iter());
                    Some(Ok(CopyData::new((std::mem::take(&mut head) + &line).into_bytes().into())))
                }
                Some(Err(error)) => Some(Err(error)),
                None if head.is_empty() => None,
                None => Some(Ok(CopyData::new(std::mem::take(&mut head).into_bytes().into()))),
            };
            std::future::ready(line)
        });
        Response::CopyOut(CopyResponse::new(0, n_columns, lines))
    }
}

/// Rows as bytes: a head, for each row the number of its values before these, and an end.
fn bytes(rows: QueryResponse) -> Response {
    let QueryResponse { row_schema, data_rows, .. } = rows;
    let (n_columns, mut head) = (row_schema.len(), Vec::from(HEAD));
    let count = u16::try_from(n_columns).unwrap_or(u16::MAX).to_be_bytes();
    let rows = data_rows.map(Some).chain(futures::stream::iter([None]));
    let parts = rows.filter_map(move |row| {
        // With the first row, since what is sent at once is counted as one.
        let mut part = std::mem::take(&mut head);
        let part = match row {
            Some(Ok(row)) => {
                part.extend(count);
                part.extend(&row.data[..]);
                Some(Ok(part))
            }
            Some(Err(error)) => Some(Err(error)),
            None if part.is_empty() => None,
            None => Some(Ok(part)),
        };
        std::future::ready(part.map(|part| part.map(|part| CopyData::new(part.into()))))
    });
    Response::CopyOut(CopyResponse::new(1, n_columns, parts))
}

/// The texts of a row.
fn values(row: &DataRow) -> Vec<Option<&str>> {
    let (mut rest, mut values) = (&row.data[..], Vec::new());
    while let Some((length, after)) = rest.split_first_chunk::<4>() {
        rest = after;
        values.push(usize::try_from(i32::from_be_bytes(*length)).ok().map(|n_bytes| {
            let (value, after) = rest.split_at(n_bytes);
            rest = after;
            std::str::from_utf8(value).unwrap_or("\u{fffd}")
        }));
    }
    values
}
