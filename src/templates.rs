//! How the message of a template looks to people.

/// The regex of a template as a message, with `*` for what it captures or chooses among.
pub(crate) fn text_of(regex: &str) -> String {
    message(regex, |_| Some("*".to_owned()))
}

/// The same with `$n` for the n-th capture, and what it chooses among in brackets.
pub(crate) fn numbered(regex: &str) -> String {
    message(regex, |capture| capture.map(|number| format!("${number}")))
}

/// The message of a template, marks without their escapes. `shown` says what stands for a group, by the
/// number of its capture from 1, if it is one; none: the group itself.
fn message(regex: &str, shown: impl Fn(Option<usize>) -> Option<String>) -> String {
    let mut out = String::new();
    let (mut depth, mut n_captures) = (0_usize, 0_usize);
    let mut chars = regex.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.extend(chars.next().filter(|_| depth == 0)),
            '(' => {
                let is_capture = chars.peek() != Some(&'?');
                n_captures += usize::from(is_capture);
                if depth > 0 {
                    depth += 1;
                } else if let Some(text) = shown(is_capture.then_some(n_captures)) {
                    out.push_str(&text);
                    depth = 1;
                } else {
                    out.push('(');
                }
            }
            ')' if depth > 0 => depth -= 1,
            '[' => {
                // A class of letters may hold brackets.
                let mut is_escaped = false;
                for c in chars.by_ref() {
                    if c == ']' && !is_escaped {
                        break;
                    }
                    is_escaped = c == '\\' && !is_escaped;
                }
            }
            c if depth == 0 => out.push(c),
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{numbered, text_of};

    #[test]
    fn templates_as_they_look() {
        for (regex, text) in [
            ("Served block (-?\\d+) to (.*)", "Served block * to *"),
            ("took (\\d+)ms \\(slow\\)\\.", "took *ms (slow)."),
            ("(?:a|(b\\)))c", "*c"),
            ("no values", "no values"),
        ] {
            assert_eq!(text_of(regex), text, "{regex}");
        }
    }

    #[test]
    fn captures_as_numbers() {
        for (regex, text) in [
            (r"a \[(-?\d+)\] of (.*)", "a [$1] of $2"),
            ("([)]+) of (?:one|two) (.*)", "$1 of (?:one|two) $2"),
        ] {
            assert_eq!(numbered(regex), text, "{regex}");
        }
    }
}
