//! Stack traces: where in the text of a record the message ends and the
//! throwable that was logged with it begins. Layouts print it on the lines
//! after the message.

/// Length of the message before the stack trace in `text`, without its line
/// end; none if no line after the first begins one.
#[must_use]
pub(crate) fn message_before(text: &[u8]) -> Option<usize> {
    let mut feed = memchr::memchr(b'\n', text)?;
    loop {
        let line = &text[feed + 1..];
        let end = memchr::memchr(b'\n', line).unwrap_or(line.len());
        if begins_trace(&line[..end]) {
            // Spring Boot prints an empty line before a trace.
            let message = &text[..feed];
            return Some(
                message.iter().rposition(|b| !matches!(b, b'\n' | b'\r')).map_or(0, |last| last + 1),
            );
        }
        feed += 1 + memchr::memchr(b'\n', line)?;
    }
}

/// What the frames of a stack trace name, `a.b.C.method`, the innermost first, by throwable: what was
/// thrown, and what it was caused by.
pub(crate) fn frames(trace: &[u8]) -> impl Iterator<Item = impl Iterator<Item = &[u8]>> {
    let mut rest = trace;
    std::iter::from_fn(move || {
        let mut lines = rest.split_inclusive(|b| *b == b'\n');
        let begins = lines.by_ref().take_while(|line| frame(line).is_none()).map(<[u8]>::len).sum::<usize>();
        let own = &rest[begins..];
        let n = own.split_inclusive(|b| *b == b'\n').take_while(|line| frame(line).is_some());
        let n: usize = n.map(<[u8]>::len).sum();
        rest = &own[n..];
        (n > 0).then(|| own[..n].split(|b| *b == b'\n').filter_map(frame))
    })
}

/// Of `at loader/module@1/a.b.C.method(C.java:1)` the method.
fn frame(line: &[u8]) -> Option<&[u8]> {
    let text = line.trim_ascii_start().strip_prefix(b"at ")?;
    let text = &text[..memchr::memchr(b'(', text)?];
    Some(text.rsplit(|b| *b == b'/').next().unwrap_or(text))
}

/// `a.b.SomeException: text`, `a.b.SomeException`, or a frame.
pub(crate) fn begins_trace(line: &[u8]) -> bool {
    if line.starts_with(b"\tat ") || line.starts_with(b"    at ") || line.starts_with(b"Caused by: ") {
        return true;
    }
    let name_len =
        line.iter().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'$')).count();
    let name = &line[..name_len];
    let after = &line[name_len..];
    let ends = after.is_empty() || after == b"\r" || after.starts_with(b":");
    if !ends || name.starts_with(b".") || !name.first().is_some_and(u8::is_ascii_alphabetic) {
        return false;
    }
    let last = name.rsplit(|b| matches!(b, b'.' | b'$')).next().unwrap_or(name);
    let throwable = [&b"Exception"[..], b"Error", b"Throwable", b"Failure"].iter().any(|s| last.ends_with(s));
    throwable
        || (name.iter().filter(|b| **b == b'.').count() >= 2
            && last.first().is_some_and(u8::is_ascii_uppercase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_by_throwable() {
        let trace = "a.E: b\n\tat java.base/a.B.c(B.java:1)\n\tat app//d.E$F.<init>(E.java)\n\
                     Caused by: g.H: at i\nmore\n    at j.K.l(Native Method) [k.jar:1]\r\n\t... 3 more\n";
        let frames = frames(trace.as_bytes()).map(|frames| frames.collect::<Vec<_>>());
        let expected: [&[&[u8]]; 2] = [&[b"a.B.c", b"d.E$F.<init>"], &[b"j.K.l"]];
        assert!(frames.eq(expected), "{trace}");
    }

    #[test]
    fn splits() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(message_before(text.as_bytes()).map(|n| &text[..n]), expected, "{text}");
        };
        check("a", None);
        check("a\njava.io.IOException: b\n\tat c", Some("a"));
        check("a\r\njava.io.IOException\r\n\tat c", Some("a"));
        check("a\n\njava.io.IOException: b\n\tat c\n\n", Some("a"));
        check("a\r\n\r\njava.io.IOException: b\r\n", Some("a"));
        check("a\nb c\njava.io.IOException: b", Some("a\nb c"));
        check("a: java.io.IOException: b\n\tat c.d", Some("a: java.io.IOException: b"));
        check("a\nb: c\n d", None);
        check("\norg.x.y.Closed\n", Some(""));
    }
}
