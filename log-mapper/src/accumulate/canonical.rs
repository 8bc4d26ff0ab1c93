//! Canonical values: one text for one value, however it was printed, so that
//! the values of one value class can be compared as text.
//!
//! Does not know about files or names: texts that differ by more than notation
//! stay different.

use std::borrow::Cow;

use schema::ValueShape;

/// The canonical text of `text`; none where it names nothing.
pub(super) fn canonical(text: &str, shape: ValueShape) -> Option<Cow<'_, str>> {
    let text = text.trim();
    let is_nothing = text.is_empty() || matches!(text, "null" | "None") || is_empty_collection(text);
    if is_nothing || is_limit(text) || is_source_line(text) {
        return None;
    }
    Some(match shape {
        ValueShape::Integer => integer(text),
        ValueShape::Hex => hex(text),
        ValueShape::Boolean => Cow::Owned(text.to_ascii_lowercase()),
        ValueShape::Float | ValueShape::Enum | ValueShape::Text | ValueShape::Throwable => {
            // Text that carries the prefix of hexadecimal is a number by its
            // own account; the same value may be printed as decimal elsewhere.
            if text.starts_with("0x") { hex(text) } else { Cow::Borrowed(without_stop(text)) }
        }
    })
}

/// The text that whoever prints it prints again as long as it works on one thing: the canonical
/// one, or a line of the source, which names nothing, but does not change meanwhile.
pub(super) fn fixed(text: &str, shape: ValueShape) -> Option<Cow<'_, str>> {
    let source_line = || Some(Cow::Borrowed(text.trim())).filter(|text| is_source_line(text));
    canonical(text, shape).or_else(source_line)
}

/// A text without the full stop that ends a sentence after it.
fn without_stop(text: &str) -> &str {
    text.strip_suffix('.').filter(|rest| !rest.is_empty()).unwrap_or(text)
}

/// Whether a collection without elements is printed: `[]`, `{}`, in languages that print
/// which collection it is `List()`.
fn is_empty_collection(text: &str) -> bool {
    let is_class = |name: &str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphabetic());
    matches!(text, "[]" | "{}") || text.strip_suffix("()").is_some_and(is_class)
}

/// Endings of source files that are compiled to classes.
const SOURCES: [&str; 4] = [".java", ".scala", ".kt", ".groovy"];

/// Whether a text ends with a line of a source file: it was written with the program, and
/// all that is done there has it.
fn is_source_line(text: &str) -> bool {
    let line = text.rsplit_once(':').filter(|(_, n)| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
    line.is_some_and(|(file, _)| SOURCES.iter().any(|source| file.ends_with(source)))
}

/// Whether a number is the smallest or largest of its type: programs write it for
/// "none" and "any", so that it names nothing.
fn is_limit(text: &str) -> bool {
    const INTS: [i64; 2] = [i32::MIN as i64, i32::MAX as i64];
    text.parse::<i64>().is_ok_and(|n| n == i64::MIN || n == i64::MAX || INTS.contains(&n))
}

fn integer(text: &str) -> Cow<'_, str> {
    if text.bytes().skip(1).any(|b| !b.is_ascii_digit()) {
        return ungrouped(text);
    }
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let short = digits.trim_start_matches('0');
    match (short.len() == digits.len(), short.is_empty(), digits.is_empty()) {
        (_, _, true) => Cow::Borrowed(text),
        (true, ..) if !text.starts_with('+') => Cow::Borrowed(text),
        (_, true, _) => Cow::Borrowed("0"),
        _ => Cow::Owned(format!("{sign}{short}")),
    }
}

/// A number without the separators of a locale, and without the brackets around a negative one.
fn ungrouped(text: &str) -> Cow<'_, str> {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    if digits.is_empty() {
        return Cow::Borrowed(text);
    }
    let sign = if text.starts_with(['-', '(']) { "-" } else { "" };
    Cow::Owned(integer(&format!("{sign}{digits}")).into_owned())
}

/// Hexadecimal of 64 bits is read as Java prints it: two's complement.
fn hex(text: &str) -> Cow<'_, str> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
    match u64::from_str_radix(digits, 16) {
        Ok(value) => Cow::Owned(value.cast_signed().to_string()),
        Err(_) => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_text_for_one_value() {
        let check = |text, shape, expected: Option<&str>| {
            assert_eq!(canonical(text, shape).as_deref(), expected, "{text} as {shape:?}");
        };
        check("007", ValueShape::Integer, Some("7"));
        check("-7", ValueShape::Integer, Some("-7"));
        check("+7", ValueShape::Integer, Some("7"));
        check("000", ValueShape::Integer, Some("0"));
        check("1,001", ValueShape::Integer, Some("1001"));
        check("-1.234.567", ValueShape::Integer, Some("-1234567"));
        check("(1\u{a0}001)", ValueShape::Integer, Some("-1001"));
        check("0XFF", ValueShape::Hex, Some("255"));
        check("0x10", ValueShape::Hex, Some("16"));
        check("ffffffffffffffff", ValueShape::Hex, Some("-1"));
        check("0x14f0b5ef8ce0001", ValueShape::Text, Some("94306619727151105"));
        check("a b", ValueShape::Text, Some("a b"));
        check("a.b.", ValueShape::Text, Some("a.b"));
        check(".", ValueShape::Text, Some("."));
        check(" ", ValueShape::Text, None);
        check("null", ValueShape::Text, None);
        for nothing in ["None", "[]", "{}", "List()", "HashSet()"] {
            check(nothing, ValueShape::Text, None);
        }
        check("List(a)", ValueShape::Text, Some("List(a)"));
        check("collect at Job.java:6", ValueShape::Text, None);
        check("a.java:b", ValueShape::Text, Some("a.java:b"));
        check("host:6", ValueShape::Text, Some("host:6"));
        check("a.B.run()", ValueShape::Text, Some("a.B.run()"));
        check("-9223372036854775808", ValueShape::Integer, None);
        check("2147483647", ValueShape::Integer, None);
        check("2147483646", ValueShape::Integer, Some("2147483646"));
    }
}
