//! `format`: a text with values in the places that it marks, as texts, names or literals.
//!
//! ```text
//! '%2$-10s'  ─▶  position 2, to the left in 10 characters, as a text
//! ```

use datafusion::arrow::array::{Array as _, ArrayRef, AsArray as _};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, exec_datafusion_err, exec_err, not_impl_err};

use super::function::{Call, Function, is_text, no_such};
use super::shown;
use super::zone::Zone;

/// Most characters that a value is filled up to.
const WIDTH_MAX: usize = 10_000;

/// Words that are no names unless they are quoted.
const KEYWORDS: &str = "\
    all analyse analyze and any array as asc asymmetric authorization between bigint binary bit boolean \
    both case cast char character check coalesce collate collation column concurrently constraint create \
    cross current_catalog current_date current_role current_schema current_time current_timestamp \
    current_user dec decimal default deferrable desc distinct do else end except exists extract false \
    fetch float for foreign freeze from full grant greatest group grouping having ilike in initially \
    inner inout int integer intersect interval into is isnull join lateral leading least left like limit \
    localtime localtimestamp national natural nchar none normalize not notnull null nullif numeric \
    offset on only or order out outer overlaps overlay placing position precision primary real \
    references returning right row select session_user setof similar smallint some substring symmetric \
    table tablesample then time timestamp to trailing treat trim true union unique user using values \
    varchar variadic verbose when where window with xmlattributes xmlconcat xmlelement xmlexists \
    xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable";

/// The function.
pub(super) const FUNCTIONS: [Function; 1] = [Function {
    name: "format",
    takes: |of| match of {
        [first, rest @ ..] if is_text(first) => Ok([DataType::Utf8].iter().chain(rest).cloned().collect()),
        _ => no_such("format", of),
    },
    gives: |_| DataType::Utf8,
    run: format,
}];

fn format(call: &Call) -> Result<ArrayRef> {
    let zone = Zone::of(&call.config)?;
    let texts: Vec<ArrayRef> =
        call.arguments.iter().map(|of| shown::texts(of, &zone)).collect::<Result<_>>()?;
    call.give_texts(|row| {
        let value = |at: usize| -> Option<&str> {
            let column = &texts[at];
            let text = (!column.is_null(row)).then(|| column.as_string::<i32>().value(row))?;
            Some(if call.arguments[at].data_type() == &DataType::Boolean { &text[..1] } else { text })
        };
        let values: Vec<Option<&str>> = (1..texts.len()).map(value).collect();
        value(0).map(|pattern| formatted(pattern, &values)).transpose()
    })
}

fn formatted(pattern: &str, values: &[Option<&str>]) -> Result<String> {
    let (mut out, mut rest, mut next) = (String::new(), pattern, 0);
    while let Some((before, after)) = rest.split_once('%') {
        out.push_str(before);
        if let Some(after) = after.strip_prefix('%') {
            out.push('%');
            rest = after;
            continue;
        }
        let (position, after) = number(after);
        let (position, width, after) = match after.strip_prefix('$') {
            Some(after) => (position, None, after),
            // What stands there was a width.
            None => (None, position, after),
        };
        let (is_left, after) = match after.strip_prefix('-') {
            Some(after) => (true, after),
            None => (false, after),
        };
        let (width, after) = if width.is_some() { (width, after) } else { number(after) };
        let kind = after
            .chars()
            .next()
            .ok_or_else(|| exec_datafusion_err!("unterminated format() type specifier"))?;
        let at = position.map_or(Ok(next), |of| {
            of.checked_sub(1).ok_or_else(|| {
                exec_datafusion_err!("format specifies argument 0, but arguments are numbered from 1")
            })
        })?;
        let Some(value) = values.get(at) else { return exec_err!("too few arguments for format()") };
        next = at + 1;
        put(&mut out, &shown(kind, *value)?, width.unwrap_or(0), is_left)?;
        rest = &after[kind.len_utf8()..];
    }
    out.push_str(rest);
    Ok(out)
}

/// A number at the begin of a text, and what follows.
fn number(text: &str) -> (Option<usize>, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    (text[..end].parse().ok(), &text[end..])
}

fn put(out: &mut String, value: &str, width: usize, is_left: bool) -> Result<()> {
    if width > WIDTH_MAX {
        return exec_err!("format() fills up to {WIDTH_MAX} characters at most");
    }
    let blanks = " ".repeat(width.saturating_sub(value.chars().count()));
    out.push_str(&if is_left { format!("{value}{blanks}") } else { format!("{blanks}{value}") });
    Ok(())
}

fn shown(kind: char, value: Option<&str>) -> Result<String> {
    Ok(match (kind, value) {
        ('s', value) => value.unwrap_or_default().to_owned(),
        ('I', None) => return exec_err!("null values cannot be formatted as an SQL identifier"),
        ('I', Some(value)) => {
            let is_plain = value.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
                && value.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
            match is_plain && !KEYWORDS.split(' ').any(|word| word == value) {
                true => value.to_owned(),
                false => format!("\"{}\"", value.replace('"', "\"\"")),
            }
        }
        ('L', None) => "NULL".to_owned(),
        ('L', Some(value)) if value.contains('\\') => {
            return not_impl_err!("format with a literal that has backslashes is not supported");
        }
        ('L', Some(value)) => format!("'{}'", value.replace('\'', "''")),
        (kind, _) => return exec_err!("unrecognized format() type specifier \"{kind}\""),
    })
}
