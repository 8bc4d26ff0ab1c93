//! Moves of a cursor: `FETCH` and `MOVE` with all ways to say how far, of which the parser knows some; and
//! `ABORT`, which it does not know.

use datafusion::sql::sqlparser::ast::{FetchDirection, FetchPosition, Ident, ObjectName, Statement, Value};
use datafusion::sql::sqlparser::parser::ParserError;

/// Marks a `FETCH` that moves only.
pub(super) const MOVES: &str = "move";

/// A statement that the parser does not know: `ABORT`, and all ways to say how far a cursor goes.
pub(super) fn moved(text: &str) -> Option<Result<Statement, ParserError>> {
    let text = text.trim().trim_end_matches(';').trim_end();
    let words: Vec<&str> = text.split_whitespace().collect();
    let first = words.first()?.to_ascii_lowercase();
    match &*first {
        "abort" => Some(Ok(Statement::Rollback { chain: false, savepoint: None })),
        "fetch" | "move" if !text.contains(';') => {
            let name = Ident::new(words.last()?.trim_matches('"'));
            let between = &words[1..words.len().saturating_sub(1).max(1)];
            let wrong = || ParserError::ParserError(format!("expected how far a cursor goes: {text}"));
            let statement = |direction| Statement::Fetch {
                name,
                direction,
                position: FetchPosition::From,
                into: (first == "move").then(|| ObjectName::from(vec![Ident::new(MOVES)])),
            };
            Some(direction(between).map(statement).ok_or_else(wrong))
        }
        _ => None,
    }
}

fn direction(words: &[&str]) -> Option<FetchDirection> {
    let words: Vec<String> = words.iter().map(|word| word.to_ascii_lowercase()).collect();
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    if matches!(words.last(), Some(&"from" | &"in")) {
        words.pop();
    }
    let of = |number: i64| Value::Number(number.to_string(), false).with_empty_span();
    let number = |word: &str| word.parse::<i64>().ok().map(of);
    let one = || of(1);
    Some(match words.as_slice() {
        [] | ["next" | "forward"] => FetchDirection::Forward { limit: Some(one()) },
        ["prior" | "backward"] => FetchDirection::Backward { limit: Some(one()) },
        ["first"] => FetchDirection::First,
        ["last"] => FetchDirection::Last,
        ["all"] | ["forward", "all"] => FetchDirection::All,
        ["backward", "all"] => FetchDirection::BackwardAll,
        ["absolute", n] => FetchDirection::Absolute { limit: number(n)? },
        ["relative", n] => FetchDirection::Relative { limit: number(n)? },
        ["forward", n] | [n] => FetchDirection::Forward { limit: Some(number(n)?) },
        ["backward", n] => FetchDirection::Backward { limit: Some(number(n)?) },
        _ => return None,
    })
}
