//! Operations of `String` on terms, exact where the result can be known.

use super::term::{Node, Pattern, Term, Terms};

/// `Double.toString`
pub(crate) fn java_double(x: f64) -> String {
    java_number(x, format!("{x:e}"), x.is_nan(), x.is_infinite(), x == 0.0, x.is_sign_negative(), x.abs())
}

/// `Float.toString`
pub(crate) fn java_float(x: f32) -> String {
    java_number(
        f64::from(x),
        format!("{x:e}"),
        x.is_nan(),
        x.is_infinite(),
        x == 0.0,
        x.is_sign_negative(),
        f64::from(x.abs()),
    )
}

fn java_number(
    _: f64,
    scientific: String,
    nan: bool,
    infinite: bool,
    zero: bool,
    negative: bool,
    size: f64,
) -> String {
    let sign = if negative { "-" } else { "" };
    if nan {
        return "NaN".to_string();
    }
    if infinite {
        return format!("{sign}Infinity");
    }
    if zero {
        return format!("{sign}0.0");
    }
    let (digits, exponent) = scientific.trim_start_matches('-').split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let digits: String = digits.chars().filter(|c| *c != '.').collect();
    if (1e-3..1e7).contains(&size) {
        let plain = if exponent < 0 {
            format!("0.{}{digits}", "0".repeat((-exponent - 1) as usize))
        } else {
            let whole = exponent as usize + 1;
            let padded = format!("{digits:0<whole$}");
            let fraction = &padded[whole..];
            format!("{}.{}", &padded[..whole], if fraction.is_empty() { "0" } else { fraction })
        };
        return format!("{sign}{plain}");
    }
    let fraction = if digits.len() > 1 { &digits[1..] } else { "0" };
    format!("{sign}{}.{fraction}E{exponent}", &digits[..1])
}

/// `toUpperCase`, `toLowerCase`
pub(crate) fn change_case(terms: &mut Terms, term: Term, upper: bool) -> Term {
    match terms.node(term).clone() {
        Node::Text(text) => {
            let text = if upper { text.to_uppercase() } else { text.to_lowercase() };
            terms.text(&text)
        }
        Node::Cat(xs) => {
            let xs: Vec<Term> = xs.iter().map(|&x| change_case(terms, x, upper)).collect();
            terms.cat(xs)
        }
        Node::Alt(xs) => {
            let xs: Vec<Term> = xs.iter().map(|&x| change_case(terms, x, upper)).collect();
            terms.alt(xs)
        }
        Node::Star(x) => {
            let x = change_case(terms, x, upper);
            terms.star(x)
        }
        Node::Leaf(mut leaf) => {
            leaf.pattern = match leaf.pattern {
                Pattern::Integer => Pattern::Integer,
                Pattern::Hex if !upper => Pattern::Hex,
                Pattern::Boolean if !upper => Pattern::Boolean,
                Pattern::Words(words) => Pattern::Words(
                    words
                        .iter()
                        .map(|w| {
                            if upper {
                                w.to_uppercase().as_str().into()
                            } else {
                                w.to_lowercase().as_str().into()
                            }
                        })
                        .collect(),
                ),
                _ => Pattern::Text,
            };
            terms.leaf(*leaf)
        }
        Node::Open(_) => terms.top(),
    }
}

/// `trim`, `strip`
pub(crate) fn trim(terms: &mut Terms, term: Term) -> Term {
    match terms.node(term).clone() {
        Node::Text(text) => terms.text(text.trim_matches(|c| c <= ' ')),
        Node::Alt(xs) => {
            let xs: Vec<Term> = xs.iter().map(|&x| trim(terms, x)).collect();
            terms.alt(xs)
        }
        Node::Leaf(_) => term,
        Node::Cat(mut xs) => {
            let last = xs.len() - 1;
            if let Some(text) = terms.as_text(xs[0]).map(|t| t.trim_start_matches(|c| c <= ' ').to_string()) {
                xs[0] = terms.text(&text);
            } else if !matches!(terms.node(xs[0]), Node::Leaf(_)) {
                xs[0] = terms.top();
            }
            if let Some(text) = terms.as_text(xs[last]).map(|t| t.trim_end_matches(|c| c <= ' ').to_string())
            {
                xs[last] = terms.text(&text);
            } else if !matches!(terms.node(xs[last]), Node::Leaf(_)) {
                xs[last] = terms.top();
            }
            terms.cat(xs)
        }
        Node::Star(_) | Node::Open(_) => terms.top(),
    }
}

/// `substring(from)`, `substring(from, to)`; none if nothing is known of it.
pub(crate) fn substring(terms: &mut Terms, term: Term, from: usize, to: Option<usize>) -> Option<Term> {
    if terms.finite(term, 16).is_some() {
        return terms.map(term, |text| {
            let length = text.encode_utf16().count();
            // Bounds outside of the text throw: that choice prints nothing.
            utf16_slice(text, from.min(length), to.unwrap_or(length).min(length))
        });
    }
    if from == 0 && to.is_none() {
        return Some(term);
    }
    let mut parts = terms.parts(term);
    let first = terms.as_text(*parts.first()?)?.to_string();
    let length = first.encode_utf16().count();
    if let Some(to) = to {
        let text = (to <= length).then(|| utf16_slice(&first, from, to))??;
        return Some(terms.text(&text));
    }
    if from > length {
        return None;
    }
    let rest = utf16_slice(&first, from, length)?;
    parts[0] = terms.text(&rest);
    Some(terms.cat(parts))
}

/// Part of a text by UTF-16 positions.
pub(crate) fn utf16_slice(text: &str, from: usize, to: usize) -> Option<String> {
    if text.is_ascii() {
        return text.get(from..to).map(str::to_string);
    }
    let units: Vec<u16> = text.encode_utf16().collect();
    units.get(from..to).map(String::from_utf16_lossy)
}

/// Each line from its first bar on, if only blanks stand before it.
pub(crate) fn strip_margin(text: &str) -> String {
    let stripped = text.split_inclusive('\n').map(|line| {
        let rest = line.trim_start_matches(|c: char| c <= ' ' && c != '\n');
        rest.strip_prefix('|').unwrap_or(line)
    });
    stripped.collect()
}

/// The same of a text in which values stand: they hold no lines.
pub(crate) fn strip_margins(terms: &mut Terms, term: Term) -> Option<Term> {
    if let Some(stripped) = terms.map(term, |text| Some(strip_margin(text))) {
        return Some(stripped);
    }
    let mut parts = terms.parts(term);
    for (at, part) in parts.iter_mut().enumerate() {
        match terms.node(*part) {
            Node::Text(text) => {
                // Behind a value the first line goes on.
                let (first, rest) = if at == 0 { (0, &**text) } else { behind_line(text) };
                let stripped = format!("{}{}", &text[..first], strip_margin(rest));
                *part = terms.text(&stripped);
            }
            Node::Leaf(leaf) if !matches!(leaf.pattern, Pattern::Throwable | Pattern::Composed(_)) => {}
            _ => return None,
        }
    }
    Some(terms.cat(parts))
}

/// Where the second line of a text begins, and what stands there.
fn behind_line(text: &str) -> (usize, &str) {
    let first = text.find('\n').map_or(text.len(), |end| end + 1);
    (first, &text[first..])
}

/// `replace` of one character, as text, in a text in which values stand that cannot hold it: a
/// number has no blanks, no value has lines.
pub(crate) fn replace_in_parts(terms: &mut Terms, term: Term, from: &str, to: &str) -> Option<Term> {
    let is_control = from.chars().all(char::is_control);
    let is_of_no_number = !from.chars().any(|c| c.is_alphanumeric() || matches!(c, '-' | '.' | '+' | ','));
    let mut parts = terms.parts(term);
    for part in &mut parts {
        match terms.node(*part) {
            Node::Text(text) => {
                let replaced = text.replace(from, to);
                *part = terms.text(&replaced);
            }
            Node::Leaf(leaf) if !matches!(leaf.pattern, Pattern::Throwable | Pattern::Composed(_)) => {
                let is_number = matches!(leaf.pattern, Pattern::Integer | Pattern::Hex | Pattern::Boolean);
                if !(is_control || is_number && is_of_no_number) {
                    return None;
                }
            }
            _ => return None,
        }
    }
    Some(terms.cat(parts))
}

/// The text with its escapes resolved; an unknown one stays.
pub(crate) fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match characters.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('b') => out.push('\u{8}'),
            Some('f') => out.push('\u{c}'),
            Some(other) => {
                if !matches!(other, '\\' | '"' | '\'') {
                    out.push('\\');
                }
                out.push(other);
            }
            None => out.push('\\'),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Name;
    use crate::strings::term::Leaf;

    #[test]
    fn prints_numbers_as_java_does() {
        let cases = [
            (1.0, "1.0"),
            (0.1, "0.1"),
            (1e7, "1.0E7"),
            (123.456, "123.456"),
            (1.5e-5, "1.5E-5"),
            (-2.0, "-2.0"),
            (0.001, "0.001"),
        ];
        for (x, want) in cases {
            assert_eq!(java_double(x), want);
        }
        assert_eq!(java_float(3.25), "3.25");
    }

    /// `head`, a number, `tail`.
    fn around_number(terms: &mut Terms, head: &str, tail: &str) -> Term {
        let number = Leaf {
            path: None,
            text: String::new(),
            class: None,
            descriptor: Name::from("I"),
            pattern: Pattern::Integer,
        };
        let parts = vec![terms.text(head), terms.leaf(number), terms.text(tail)];
        terms.cat(parts)
    }

    #[test]
    fn margins_are_stripped_around_values() {
        let mut terms = Terms::new();
        let term = around_number(&mut terms, "  |Stage ", " has\n   |launched | it");
        let stripped = strip_margins(&mut terms, term).expect("known");
        assert_eq!(stripped, around_number(&mut terms, "Stage ", " has\nlaunched | it"));
    }

    #[test]
    fn what_no_value_holds_is_replaced_around_values() {
        let mut terms = Terms::new();
        let term = around_number(&mut terms, "a\nb", "\nc");
        let replaced = replace_in_parts(&mut terms, term, "\n", " ").expect("known");
        assert_eq!(replaced, around_number(&mut terms, "a b", " c"));
        // A number can hold it.
        assert_eq!(replace_in_parts(&mut terms, term, "1", "one"), None);
        assert_eq!(replace_in_parts(&mut terms, term, "-", "_"), None);
    }
}
