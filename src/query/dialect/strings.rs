//! Functions of texts that write values, or take characters by their numbers.

use datafusion::arrow::array::{Array as _, ArrayRef, AsArray as _};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, exec_err};

use super::function::{Call, Function, all_texts, is_integer, is_text, no_such};
use super::shown;
use super::zone::Zone;

/// The functions.
pub(super) const FUNCTIONS: [Function; 6] = [
    Function {
        name: "upper",
        takes: |of| all_texts("upper", of),
        gives: |_| DataType::Utf8,
        run: |call| cased(call, upper),
    },
    Function {
        name: "lower",
        takes: |of| all_texts("lower", of),
        gives: |_| DataType::Utf8,
        run: |call| cased(call, lower),
    },
    Function { name: "concat", takes: |of| Ok(of.to_vec()), gives: |_| DataType::Utf8, run: concat },
    Function { name: "concat_ws", takes: separated, gives: |_| DataType::Utf8, run: concat_ws },
    Function {
        name: "like_escape",
        takes: |of| if of.len() == 2 { all_texts("like_escape", of) } else { no_such("like_escape", of) },
        gives: |_| DataType::Utf8,
        run: like_escape,
    },
    Function { name: "chr", takes: number, gives: |_| DataType::Utf8, run: chr },
];

/// Patterns with backslashes instead of another escape.
fn like_escape(call: &Call) -> Result<ArrayRef> {
    call.give_texts(|row| match (call.text(0, row), call.text(1, row)) {
        (Some(pattern), Some(escape)) => escaped(pattern, escape).map(Some),
        _ => Ok(None),
    })
}

/// A pattern with backslashes instead of `escape`.
///
/// # Errors
/// An escape of more than one character, or one that nothing follows.
pub(super) fn escaped(pattern: &str, escape: &str) -> Result<String> {
    let mut escapes = escape.chars();
    let escape = escapes.next();
    if escapes.next().is_some() {
        return exec_err!("invalid escape string: an escape is one character");
    }
    let (mut out, mut characters) = (String::new(), pattern.chars());
    while let Some(c) = characters.next() {
        match c {
            c if Some(c) == escape => match characters.next() {
                Some(c) => out.extend(['\\', c]),
                None => return exec_err!("LIKE pattern must not end with escape character"),
            },
            '\\' => out.push_str("\\\\"),
            c => out.push(c),
        }
    }
    Ok(out)
}

fn separated(types: &[DataType]) -> Result<Vec<DataType>> {
    match types {
        [separator, rest @ ..] if is_text(separator) => {
            Ok([DataType::Utf8].iter().chain(rest).cloned().collect())
        }
        _ => no_such("concat_ws", types),
    }
}

fn number(types: &[DataType]) -> Result<Vec<DataType>> {
    match types {
        [of] if is_integer(of) => Ok(vec![DataType::Int64]),
        _ => no_such("chr", types),
    }
}

/// The arguments as texts, booleans by their first letter.
fn texts(call: &Call) -> Result<Vec<ArrayRef>> {
    let zone = Zone::of(&call.config)?;
    call.arguments.iter().map(|of| shown::texts(of, &zone)).collect()
}

/// The texts of a row that are not NULL.
fn of_row<'t>(call: &Call, texts: &'t [ArrayRef], row: usize) -> Vec<&'t str> {
    let text = |(column, of): (&'t ArrayRef, &ArrayRef)| {
        let text = (!column.is_null(row)).then(|| column.as_string::<i32>().value(row))?;
        Some(if of.data_type() == &DataType::Boolean { &text[..1] } else { text })
    };
    texts.iter().zip(&call.arguments).filter_map(text).collect()
}

fn concat(call: &Call) -> Result<ArrayRef> {
    let texts = texts(call)?;
    call.give_texts(|row| Ok(Some(of_row(call, &texts, row).concat())))
}

fn concat_ws(call: &Call) -> Result<ArrayRef> {
    let texts = texts(call)?;
    call.give_texts(|row| {
        let Some(separator) = call.text(0, row) else { return Ok(None) };
        Ok(Some(of_row(call, &texts, row)[1..].join(separator)))
    })
}

fn chr(call: &Call) -> Result<ArrayRef> {
    call.give_texts(|row| match call.integer(0, row) {
        None => Ok(None),
        Some(0) => exec_err!("null character not permitted"),
        Some(code) => match u32::try_from(code).ok().and_then(char::from_u32) {
            Some(c) => Ok(Some(c.to_string())),
            None => exec_err!("requested character not valid for encoding: {code}"),
        },
    })
}

/// Each letter for itself: one without a counterpart of one letter is as it is.
fn cased(call: &Call, of: fn(char) -> char) -> Result<ArrayRef> {
    if call.n() != 1 {
        return exec_err!("upper and lower are of one text");
    }
    call.give_texts(|row| Ok(call.text(0, row).map(|text| text.chars().map(of).collect())))
}

fn upper(letter: char) -> char {
    let mut letters = letter.to_uppercase();
    if letters.len() == 1 { letters.next().unwrap_or(letter) } else { letter }
}

fn lower(letter: char) -> char {
    let mut letters = letter.to_lowercase();
    if letters.len() == 1 { letters.next().unwrap_or(letter) } else { letter }
}
