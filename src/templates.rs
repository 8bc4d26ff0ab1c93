//! How the message of a template looks to people.

/// The regex of a template as a message, with `*` for what it captures.
pub(crate) fn text_of(regex: &str) -> String {
    let mut out = String::new();
    let mut depth = 0_usize;
    let mut chars = regex.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.extend(chars.next().filter(|_| depth == 0)),
            '(' => {
                if depth == 0 {
                    out.push('*');
                }
                depth += 1;
            }
            ')' => depth = depth.saturating_sub(1),
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
    use super::text_of;

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
}
