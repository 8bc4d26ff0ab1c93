//! `java.text.MessageFormat`: `{0}`, `{0,number,#}`, `{0,choice,0#none|1<{0} of them}`; and what
//! tinylog puts between braces.
//!
//! Quotes are read as the platform reads them: outside of braces they are taken away, inside they
//! belong to the style, whose own format takes them away.

use super::super::term::{Node, Pattern, Term, Terms};
use super::{Arguments, GROUPED, relook};

/// Choices within choices.
const NESTED_MAX: u32 = 4;

/// Any number, as formats of the platform print it.
const FRACTION: Pattern = Pattern::Regex(r"-?[0-9][0-9,.\x{a0}\x{202f}' ]*");
/// A number by a pattern of its own, with what stands around its digits.
const BY_PATTERN: Pattern = Pattern::Regex(r"\D*[0-9][0-9,.\x{a0}\x{202f}' ]*\D*");

/// One piece of a pattern.
enum Piece {
    Text(String),
    /// What stands between braces.
    Value(String),
}

/// Expands the constant `text` of a pattern; false if it is none.
pub(super) fn parts(terms: &mut Terms, text: &str, arguments: &Arguments, out: &mut Vec<Term>) -> bool {
    expand(terms, text, arguments, out, NESTED_MAX).is_some()
}

fn expand(
    terms: &mut Terms,
    text: &str,
    arguments: &Arguments,
    out: &mut Vec<Term>,
    depth: u32,
) -> Option<()> {
    for piece in pieces(text)? {
        let term = match piece {
            Piece::Text(text) => terms.text(&text),
            Piece::Value(inside) => value(terms, &inside, arguments, depth)?,
        };
        out.push(term);
    }
    Some(())
}

/// Takes a pattern apart; none if its braces do not match.
fn pieces(text: &str) -> Option<Vec<Piece>> {
    let mut found = Vec::new();
    let mut piece = String::new();
    let (mut depth, mut is_quoted) = (0_usize, false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, depth) {
            ('\'', 0) if chars.peek() == Some(&'\'') => {
                chars.next();
                piece.push('\'');
            }
            ('\'', _) => {
                is_quoted = !is_quoted;
                piece.extend((depth > 0).then_some(c));
            }
            ('{', 0) if !is_quoted => {
                found.push(Piece::Text(std::mem::take(&mut piece)));
                depth = 1;
            }
            ('}', 1) if !is_quoted => {
                found.push(Piece::Value(std::mem::take(&mut piece)));
                depth = 0;
            }
            _ => {
                if !is_quoted && depth > 0 {
                    depth = match c {
                        '{' => depth + 1,
                        '}' => depth - 1,
                        _ => depth,
                    };
                }
                piece.push(c);
            }
        }
    }
    found.push(Piece::Text(piece));
    (depth == 0).then_some(found)
}

/// What `{inside}` prints.
fn value(terms: &mut Terms, inside: &str, arguments: &Arguments, depth: u32) -> Option<Term> {
    let mut words = inside.splitn(3, ',');
    let index: usize = words.next()?.trim().parse().ok()?;
    let (kind, style) = (words.next().unwrap_or("").trim(), words.next().unwrap_or(""));
    let given = match arguments.known.get(index) {
        Some(argument) => argument.text,
        None if arguments.complete => return Some(terms.text(&format!("{{{index}}}"))),
        None => return Some(terms.top()),
    };
    Some(match kind {
        "" => plain(terms, given),
        "number" => number(terms, given, style.trim()),
        "choice" if depth > 0 => {
            let mut choices = Vec::new();
            for choice in choices_of(style) {
                let mut parts = Vec::new();
                // A choice with braces is a pattern again.
                if choice.contains('{') {
                    expand(terms, &choice, arguments, &mut parts, depth - 1)?;
                } else {
                    parts.push(terms.text(&choice));
                }
                choices.push(terms.cat(parts));
            }
            terms.alt(choices)
        }
        _ => relook(terms, given, &Pattern::Text),
    })
}

/// A value by itself: numbers are printed with the separators of the locale.
fn plain(terms: &mut Terms, value: Term) -> Term {
    match terms.node(value).clone() {
        Node::Leaf(leaf) if leaf.pattern == Pattern::Integer => relook(terms, value, &GROUPED),
        Node::Leaf(leaf) if leaf.pattern == Pattern::Float => relook(terms, value, &FRACTION),
        Node::Text(text) if text.len() <= 3 || text.parse::<f64>().is_err() => value,
        Node::Text(text) if text.parse::<i64>().is_ok() => terms.unknown(GROUPED, "java/lang/Number"),
        _ => value,
    }
}

/// `{0,number,style}`
fn number(terms: &mut Terms, value: Term, style: &str) -> Term {
    match style {
        "#" => value,
        "" => plain(terms, value),
        "integer" => relook(terms, value, &GROUPED),
        _ => relook(terms, value, &BY_PATTERN),
    }
}

/// The texts of a `ChoiceFormat`, `limit#text|limit<text`.
fn choices_of(style: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut text: Option<String> = None;
    let mut is_quoted = false;
    let mut chars = style.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\'' if chars.peek() == Some(&'\'') => {
                chars.next();
                text.iter_mut().for_each(|text| text.push('\''));
            }
            '\'' => is_quoted = !is_quoted,
            '|' if !is_quoted => found.extend(text.take()),
            '#' | '<' | '\u{2264}' if !is_quoted && text.is_none() => text = Some(String::new()),
            _ => text.iter_mut().for_each(|text| text.push(c)),
        }
    }
    found.extend(text);
    found
}

/// The same of a pattern of tinylog: values in turn, a pattern of numbers or choices in the braces.
pub(super) fn tiny_parts(
    terms: &mut Terms,
    text: &str,
    arguments: &Arguments,
    next: &mut usize,
    out: &mut Vec<Term>,
) {
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        let Some(length) = matching(&rest[at..]) else { break };
        let inside = &rest[at + 1..at + length];
        out.push(terms.text(&rest[..at]));
        let given = arguments.known.get(*next).map(|argument| argument.text);
        *next += 1;
        out.push(match given {
            Some(given) if inside.is_empty() => given,
            // Choices hold values of their own.
            Some(_) if inside.contains([':', '|', '{']) => terms.top(),
            Some(given) => relook(terms, given, &BY_PATTERN),
            None if arguments.complete => terms.text(&rest[at..=at + length]),
            None => terms.top(),
        });
        rest = &rest[at + length + 1..];
    }
    out.push(terms.text(rest));
}

/// Where the brace ends that `text` begins with.
fn matching(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => return Some(at),
            '}' => depth -= 1,
            _ => {}
        }
    }
    None
}
