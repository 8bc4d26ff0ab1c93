//! How long and how deep a query may be. Parsers, planners and what frees their trees go down with
//! the query, and the engine has no guard of its own in every build.

use std::ops::ControlFlow;

use crate::error::{Result, bail};
use datafusion::common::plan_err;
use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{TableFactor, Visit as _, Visitor};

use super::QUERY_BYTES_MAX;

/// Deepest nesting of brackets.
const NESTING_MAX: usize = 128;
/// Words and signs in a row, each of which may go on with those before it: `a + a + a`.
const ROW_MAX: usize = 4_096;

/// Queries within a query, and words that put them together.
const PARTS_MAX: usize = 512;
/// Tables that a query is of.
const TABLES_MAX: usize = 256;

/// Refuses what would cost the engine its stack or memory before it is parsed.
pub(super) fn check(query: &str) -> Result<()> {
    if query.len() > QUERY_BYTES_MAX {
        bail!(Limit: "a query has at most {QUERY_BYTES_MAX} bytes, this one {}", query.len());
    }
    let (brackets, row) = depth(query);
    if brackets > NESTING_MAX {
        bail!(Limit: "a query nests at most {NESTING_MAX} brackets, this one {brackets}");
    }
    if row > ROW_MAX {
        bail!(Limit: "a query has at most {ROW_MAX} words and signs without a comma, this one {row}");
    }
    let words = query.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let is_part = |word: &str| {
        ["SELECT", "UNION", "EXCEPT", "INTERSECT", "MINUS", "VALUES", "TABLE"]
            .iter()
            .any(|part| word.eq_ignore_ascii_case(part))
    };
    let parts = words.filter(|word| is_part(word)).count();
    if parts > PARTS_MAX {
        bail!(Limit: "a query has at most {PARTS_MAX} queries within it, this one {parts}");
    }
    if query.trim().trim_end_matches(';').is_empty() {
        bail!("the query is empty");
    }
    Ok(())
}

/// Refuses what the planner would need too long or too much stack for.
pub(super) fn check_tables(statement: &Statement) -> datafusion::common::Result<()> {
    match statement {
        Statement::Statement(statement) => {
            let mut tables = Tables(0);
            let _ = statement.visit(&mut tables);
            match tables.0 > TABLES_MAX {
                true => plan_err!("a query is of at most {TABLES_MAX} tables"),
                false => Ok(()),
            }
        }
        Statement::Explain(explain) => check_tables(&explain.statement),
        _ => Ok(()),
    }
}

struct Tables(usize);

impl Visitor for Tables {
    type Break = ();

    fn pre_visit_table_factor(&mut self, _: &TableFactor) -> ControlFlow<()> {
        self.0 += 1;
        if self.0 > TABLES_MAX { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// How deep brackets are nested at most, and the most words and signs that can hang together: those
/// since the last comma within each of the brackets that are open.
fn depth(query: &str) -> (usize, usize) {
    // Where a quote can be something else than the begin of a text, texts count too.
    let has_plain_quotes = !["\\", "$", "/*", "--"].iter().any(|mark| query.contains(mark));
    let (mut brackets, mut brackets_max, mut row, mut row_max) = (vec![0_usize], 0, 0_usize, 0);
    let (mut quote, mut is_in_word) = (None, false);
    for byte in query.bytes() {
        if let Some(end) = quote {
            if byte == end {
                quote = None;
            }
            continue;
        }
        let is_word = byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | 0x80..);
        let mut n = usize::from(!is_word && !byte.is_ascii_whitespace() || is_word && !is_in_word);
        is_in_word = is_word;
        match byte {
            b'(' | b'[' => brackets.push(0),
            b')' | b']' => {
                let within = if brackets.len() > 1 { brackets.pop().unwrap_or_default() } else { 0 };
                row -= within;
            }
            b',' | b';' => {
                let since = brackets.last_mut().map(std::mem::take).unwrap_or_default();
                (row, n) = (row - since, 0);
            }
            b'\'' | b'"' if has_plain_quotes => quote = Some(byte),
            _ => {}
        }
        row += n;
        if let Some(since) = brackets.last_mut() {
            *since += n;
        }
        (brackets_max, row_max) = (brackets_max.max(brackets.len() - 1), row_max.max(row));
    }
    (brackets_max, row_max)
}

#[cfg(test)]
mod tests {
    use super::{check, depth};

    #[test]
    fn depths() {
        for (query, expected) in [
            ("", (0, 0)),
            ("SELECT 1", (0, 2)),
            ("SELECT a, b, c FROM t", (0, 3)),
            ("SELECT f(a, g(b + 1), c) + 1", (2, 7)),
            ("a IN ('x y z', 'it''s', \"q r\")", (1, 4)),
            ("a = 1 OR a = 2 OR a = 3", (0, 11)),
            ("))", (0, 2)),
        ] {
            assert_eq!(depth(query), expected, "{query}");
        }
    }

    #[test]
    fn what_hangs_together_is_bounded() {
        let chain = |n: usize| format!("SELECT 1{}", "+1".repeat(n));
        assert!(check(&chain(1_000)).is_ok());
        assert!(check(&chain(100_000)).is_err());
        // Nothing hides behind a quote that is none.
        for begin in ["$$'$$", "E'\\''", "/* ' */ 1", "1 -- '\n"] {
            assert!(check(&format!("SELECT {begin}{}", "+1".repeat(100_000))).is_err(), "{begin}");
        }
        for word in ["UNION SELECT 1, 2 ", "UNION SELECT 1 ", "OR NOT a ", "JOIN t USING (a) ", "- ", "::int"]
        {
            assert!(check(&format!("SELECT 1 {}", word.repeat(20_000))).is_err(), "{word}");
        }
        let list = format!("SELECT 1 WHERE a IN ({})", vec!["1"; 100_000].join(", "));
        assert!(check(&list).is_ok(), "a list is not deep");
        let text = format!("SELECT '{}'", "word ".repeat(50_000));
        assert!(check(&text).is_ok(), "nor is a text");
    }
}
