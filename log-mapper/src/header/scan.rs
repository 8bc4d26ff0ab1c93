//! Scanning: reading the header of one line by the parts of a layout.
//!
//! A field of unknown length ends where the next literal stands; a thread name
//! or MDC value can hold that literal too, so later places are tried, in order,
//! until the rest of the header fits. The tries of one line are bounded.

use super::civil::Civil;
use super::layout::{Field, Layout, Part};
use super::{Header, parse_level};
use crate::limits::{HEADER_BYTES_MAX, HEADER_TRIES_MAX};
use crate::lines::line_end;

impl Layout {
    /// The header at the start of `line`, which may be longer than its header.
    /// None: `line` does not begin a record.
    #[must_use]
    pub fn scan<'a>(&self, line: &'a [u8]) -> Option<Header<'a>> {
        let line = &line[..line.len().min(HEADER_BYTES_MAX)];
        let mut header = Header::default();
        let mut tries = HEADER_TRIES_MAX;
        let end = scan_parts(&self.prefix, line, 0, &mut header, &mut tries, false)?;
        header.message_start = end;
        Some(header)
    }

    /// The end of the header that may begin at `at` of `bytes`: that of its line, or
    /// of as many lines as a header takes.
    pub(crate) fn header_end(&self, bytes: &[u8], at: usize) -> usize {
        let mut end = line_end(bytes, at);
        for _ in 1..self.n_header_lines {
            if end < bytes.len() {
                end = line_end(bytes, end + 1);
            }
        }
        end
    }

    /// Splits what follows the prefix into message and stack trace, and reads
    /// the fields after the message. Where the layout prints nothing after
    /// the message, all of it is message. `None`: the suffix is missing.
    #[must_use]
    pub fn scan_suffix<'a>(&self, body: &'a [u8], header: &mut Header<'a>) -> Option<usize> {
        if self.suffix.is_empty() {
            return Some(body.len());
        }
        let mut line_start = 0;
        loop {
            let line_end = line_end(body, line_start);
            let mut end = line_end;
            if end > line_start && body[end - 1] == b'\r' {
                end -= 1;
            }
            let mut tries = HEADER_TRIES_MAX;
            let line = &body[line_start..end];
            if let Some(at) = suffix_in_line(&self.suffix, line, header, &mut tries) {
                return Some(line_start + at);
            }
            // A blank at the end of a line is no part of it.
            let shorter = line.trim_ascii_end();
            if shorter.len() < line.len()
                && let Some(at) = suffix_in_line(&self.suffix, shorter, header, &mut tries)
            {
                return Some(line_start + at);
            }
            if line_end == body.len() {
                return None;
            }
            line_start = line_end + 1;
        }
    }

    /// How far `line` is a header, in bytes, and the part that does not fit there, for
    /// people; none: it is one.
    #[must_use]
    pub fn misfit(&self, line: &[u8]) -> Option<(usize, String)> {
        let mut end = 0;
        for n in 1..=self.prefix.len() {
            let mut header = Header::default();
            let mut tries = HEADER_TRIES_MAX;
            match scan_parts(&self.prefix[..n], line, 0, &mut header, &mut tries, false) {
                Some(at) => end = at,
                None => return Some((end, self.prefix[n - 1].field.to_string())),
            }
        }
        None
    }
}

/// Last place in `line` from which the suffix fits to the end.
fn suffix_in_line<'a>(
    parts: &[Part],
    line: &'a [u8],
    header: &mut Header<'a>,
    tries: &mut u32,
) -> Option<usize> {
    let literal = |part: Option<&Part>| match part.map(|p| &p.field) {
        Some(Field::Literal(l)) => l.clone(),
        _ => Box::default(),
    };
    let first = match parts.first().map(|p| &p.field) {
        Some(Field::Optional(n)) => {
            let begins = literal(parts.get(1));
            let there = suffix_from(parts, &begins, line, header, tries).filter(|at| *at < line.len());
            return there.or_else(|| suffix_in_line(&parts[1 + n..], line, header, tries));
        }
        None => return Some(line.len()),
        first => match first {
            Some(Field::Literal(l)) => l.clone(),
            _ => Box::default(),
        },
    };
    suffix_from(parts, &first, line, header, tries)
}

/// The last place in `line` with the text `first` from which `parts` fit to the end. A suffix
/// that begins with no literal begins at the end, or it would take words off the message.
fn suffix_from<'a>(
    parts: &[Part],
    first: &[u8],
    line: &'a [u8],
    header: &mut Header<'a>,
    tries: &mut u32,
) -> Option<usize> {
    let low = if first.is_empty() { line.len() } else { line.len().saturating_sub(HEADER_BYTES_MAX) };
    for at in (low..=line.len()).rev() {
        if !line[at..].starts_with(first) {
            continue;
        }
        let mut fields = *header;
        if scan_parts(parts, line, at, &mut fields, tries, true) == Some(line.len()) {
            *header = fields;
            return Some(at);
        }
        *tries = tries.checked_sub(1)?;
    }
    None
}

/// Reads `parts` at `at`; gives where they end. `whole`: they must end with the line.
fn scan_parts<'a>(
    parts: &[Part],
    line: &'a [u8],
    at: usize,
    header: &mut Header<'a>,
    tries: &mut u32,
    whole: bool,
) -> Option<usize> {
    let mut pos = at;
    for (i, part) in parts.iter().enumerate() {
        pos = match &part.field {
            Field::Literal(literal) => line.get(pos..)?.starts_with(literal).then(|| pos + literal.len())?,
            Field::Time(layout) => {
                let (end, civil) = layout.scan(line, pos)?;
                header.time = Some(civil);
                let missing = part.min.saturating_sub(end - pos);
                end + blanks(line, end).min(missing)
            }
            Field::Level => scan_level(part, parts.get(i + 1), line, pos, header)?,
            Field::Elapsed => {
                let (end, civil) = scan_elapsed(part, parts.get(i + 1), line, pos)?;
                header.time = header.time.or(Some(civil));
                end
            }
            Field::Number => scan_number(line, pos)?,
            Field::Line => {
                let end = scan_number(line, pos)?;
                header.line = std::str::from_utf8(&line[pos..end]).ok().and_then(|n| n.parse().ok());
                end
            }
            Field::Padding => pos + blanks(line, pos),
            Field::LineBreak => line_break(line, pos)?,
            Field::Throwable => throwable_end(line, pos)?,
            Field::Optional(n) => {
                let mut fields = *header;
                if let Some(end) = scan_parts(&parts[i + 1..], line, pos, &mut fields, tries, whole) {
                    *header = fields;
                    // A message can begin as the group does.
                    if i + 1 + n == parts.len() && !whole {
                        header.earlier_start = Some(pos);
                    }
                    return Some(end);
                }
                *tries = tries.checked_sub(1)?;
                return scan_parts(&parts[i + 1 + n..], line, pos, header, tries, whole);
            }
            _ => return scan_free(parts, i, line, pos, header, tries, whole),
        };
    }
    (!whole || pos == line.len()).then_some(pos)
}

/// Reads a field of unknown length and everything after it.
fn scan_free<'a>(
    parts: &[Part],
    i: usize,
    line: &'a [u8],
    pos: usize,
    header: &mut Header<'a>,
    tries: &mut u32,
    whole: bool,
) -> Option<usize> {
    let part = &parts[i];
    let next = (parts.get(i + 1).map(|p| &p.field), parts.get(i + 2).map(|p| &p.field));
    let (literal, other) = match next {
        (Some(Field::Literal(literal)), _) => (&literal[..], None),
        (Some(Field::Optional(n)), Some(Field::Literal(literal))) => {
            match parts.get(i + 2 + n).map(|p| &p.field) {
                Some(Field::Literal(after)) => (&literal[..], Some(&after[..])),
                _ => return scan_run(parts, i, line, pos, header, tries, whole),
            }
        }
        (Some(Field::LineBreak), _) => (&b"\n"[..], None),
        _ => return scan_run(parts, i, line, pos, header, tries, whole),
    };
    // A name in brackets can hold brackets itself: where they are paired it ends, if it can.
    let encloses = matches!(part.field, Field::Thread | Field::Mdc(_) | Field::Text)
        && matches!(literal.first(), Some(b']' | b')' | b'}' | b'>'));
    if encloses && let Some(end) = scan_to(parts, i, line, pos, (literal, other), true, header, tries, whole)
    {
        return Some(end);
    }
    scan_to(parts, i, line, pos, (literal, other), false, header, tries, whole)
}

/// The same of a field that ends before one of two texts. `paired`: only where its brackets are
/// closed.
#[expect(clippy::too_many_arguments, reason = "the state of one line, lent piece by piece")]
fn scan_to<'a>(
    parts: &[Part],
    i: usize,
    line: &'a [u8],
    pos: usize,
    (literal, other): (&[u8], Option<&[u8]>),
    paired: bool,
    header: &mut Header<'a>,
    tries: &mut u32,
    whole: bool,
) -> Option<usize> {
    let part = &parts[i];
    let rest = line.get(pos..)?;
    let mut from = 0;
    while let Some(found) = find_either(rest, from, literal, other) {
        from = found + 1;
        if paired && !is_paired(&rest[..found]) {
            continue;
        }
        *tries = tries.checked_sub(1)?;
        let raw = &rest[..found];
        let raw = if literal == b"\n" { raw.strip_suffix(b"\r").unwrap_or(raw) } else { raw };
        let fitting = trim(part, raw).and_then(|value| keep(&part.field, value, header));
        if fitting.is_none() {
            if raw.contains(&b'\n')
                || (is_token(&part.field)
                    && raw.iter().skip_while(|b| **b == b' ').any(|b| *b == b' ')
                    && part.min == 0
                    && !part.any_padding)
            {
                return None;
            }
            continue;
        }
        let end = scan_parts(&parts[i + 1..], line, pos + raw.len(), header, tries, whole);
        if end.is_some() && !is_cut(parts, i, literal, header) {
            return end;
        }
    }
    None
}

/// Whether every bracket in `text` is closed, and none that was not opened; brackets in each other
/// up to a depth.
fn is_paired(text: &[u8]) -> bool {
    const DEPTH_MAX: usize = 16;
    let mut open = [0; DEPTH_MAX];
    let mut depth = 0;
    for b in text {
        let close = match b {
            b'[' => b']',
            b'(' => b')',
            b'{' => b'}',
            b']' | b')' | b'}' if depth > 0 && open[depth - 1] == *b => {
                depth -= 1;
                continue;
            }
            b']' | b')' | b'}' => return false,
            _ => continue,
        };
        if depth == DEPTH_MAX {
            return false;
        }
        open[depth] = close;
        depth += 1;
    }
    depth == 0
}

/// Whether a bracket of one kind is closed in `text` that nothing before it has opened.
fn closes_too_much(text: &[u8]) -> bool {
    [(b'[', b']'), (b'(', b')')].into_iter().any(|(open, close)| {
        let mut depth = 0_i32;
        text.iter().any(|b| {
            depth += i32::from(*b == open) - i32::from(*b == close);
            depth < 0
        })
    })
}

/// The first place from `from` on at which one of the texts stands.
fn find_either(text: &[u8], from: usize, one: &[u8], other: Option<&[u8]>) -> Option<usize> {
    let find = |what: &[u8]| memchr::memmem::find(text.get(from..)?, what).map(|at| from + at);
    match other.map(find) {
        None => find(one),
        Some(second) => find(one).into_iter().chain(second).min(),
    }
}

/// Reads a field that no literal ends: it is a run without blanks, or nothing. Before the
/// message nothing is read; where its value would end is kept.
fn scan_run<'a>(
    parts: &[Part],
    i: usize,
    line: &'a [u8],
    pos: usize,
    header: &mut Header<'a>,
    tries: &mut u32,
    whole: bool,
) -> Option<usize> {
    let part = &parts[i];
    let rest = line.get(pos..)?;
    let is_last = i + 1 == parts.len();
    let may_be_empty = matches!(part.field, Field::Mdc(_) | Field::Text) && part.min == 0;
    if is_last && !whole && may_be_empty {
        let end = enclosed_end(rest);
        header.earlier_start = (end > 0).then_some(pos);
        keep(&part.field, rest[..end].trim_ascii_end(), header)?;
        return Some(pos + end);
    }
    let run = if is_last && whole {
        rest.len()
    } else {
        let padding = if part.left_justified { 0 } else { blanks(line, pos) };
        padding + rest[padding..].iter().take_while(|b| !b.is_ascii_whitespace()).count()
    };
    let runs = [Some(run), may_be_empty.then_some(0)];
    for run in runs.into_iter().flatten() {
        let kept = trim(part, &rest[..run]).and_then(|value| keep(&part.field, value, header));
        if kept.is_some()
            && let Some(end) = scan_parts(&parts[i + 1..], line, pos + run, header, tries, whole)
        {
            return Some(end);
        }
        *tries = tries.checked_sub(1)?;
    }
    None
}

/// The length of a text in brackets at the start of `rest`, with the blanks after it.
fn enclosed_end(rest: &[u8]) -> usize {
    let close = match rest.first() {
        Some(b'[') => b']',
        Some(b'{') => b'}',
        Some(b'(') => b')',
        _ => return 0,
    };
    let Some(end) = memchr::memchr(close, rest) else { return 0 };
    let n_blanks = blanks(rest, end + 1);
    if n_blanks == 0 { 0 } else { end + 1 + n_blanks }
}

fn line_break(line: &[u8], pos: usize) -> Option<usize> {
    match line.get(pos..)? {
        [b'\r', b'\n', ..] => Some(pos + 2),
        [b'\n', ..] => Some(pos + 1),
        _ => None,
    }
}

/// The end of a throwable at `pos`, which is that of the line; of nothing, if nothing is there.
fn throwable_end(line: &[u8], pos: usize) -> Option<usize> {
    let rest = line.get(pos..)?;
    (rest.is_empty() || crate::stack_trace::begins_trace(rest)).then_some(line.len())
}

/// Whether the logger's name after a thread holds what stands between the two:
/// threads have all kinds of names (`Worker:1`), and this one was cut too early.
fn is_cut(parts: &[Part], i: usize, literal: &[u8], header: &Header<'_>) -> bool {
    let fields = (&parts[i].field, parts.get(i + 2).map(|next| &next.field));
    let logger = header.logger.filter(|_| matches!(fields, (Field::Thread, Some(Field::Logger))));
    logger.is_some_and(|logger| memchr::memmem::find(logger, literal).is_some())
}

fn scan_level(
    part: &Part,
    next: Option<&Part>,
    line: &[u8],
    pos: usize,
    header: &mut Header<'_>,
) -> Option<usize> {
    let n_before = blanks(line, pos);
    let before = match (part.any_padding, part.left_justified) {
        (true, _) => n_before,
        (_, true) => 0,
        _ => n_before.min(part.min),
    };
    let start = pos + before;
    let is_letter = |b: &u8| b.is_ascii_alphabetic() || *b >= 0x80;
    let len = line.get(start..)?.iter().take_while(|b| is_letter(b)).count();
    header.level = parse_level(&line[start..start + len])?;
    let n_after = blanks(line, start + len);
    if part.any_padding {
        let is_literal = next.is_some_and(|n| matches!(&n.field, Field::Literal(l) if l.starts_with(b" ")));
        return Some(start + len + n_after - n_after.min(usize::from(is_literal)));
    }
    let missing = part.min.saturating_sub(before + len);
    let after = if part.left_justified { n_after.min(missing) } else { 0 };
    (missing == after).then_some(start + len + after)
}

/// Digits of the milliseconds since a program began: of three centuries.
const ELAPSED_DIGITS_MAX: usize = 13;

/// Milliseconds since the program began, padded on either side.
fn scan_elapsed(part: &Part, next: Option<&Part>, line: &[u8], pos: usize) -> Option<(usize, Civil)> {
    let start = pos + blanks(line, pos);
    let digits = line.get(start..)?.iter().take_while(|b| b.is_ascii_digit()).count();
    (1..=ELAPSED_DIGITS_MAX).contains(&digits).then_some(())?;
    let end = start + digits;
    let ms = line[start..end].iter().fold(0_i64, |n, b| n * 10 + i64::from(b - b'0'));
    let after = blanks(line, end);
    let is_literal = next.is_some_and(|n| matches!(&n.field, Field::Literal(l) if l.starts_with(b" ")));
    let padding = match part.any_padding {
        true => after - after.min(usize::from(is_literal)),
        false => after.min(part.min.saturating_sub(end - pos)),
    };
    Some((end + padding, Civil::elapsed(ms * 1_000)))
}

fn scan_number(line: &[u8], pos: usize) -> Option<usize> {
    let start = pos + blanks(line, pos);
    let n = line.get(start..)?.iter().take_while(|b| b.is_ascii_digit()).count();
    if n > 0 {
        return Some(start + n);
    }
    // Libraries print `?` or `-1` where the place is unknown.
    match line.get(start..)? {
        [b'?', ..] => Some(start + 1),
        [b'-', b'1', ..] => Some(start + 2),
        _ => None,
    }
}

/// The value without its padding; none if it is shorter than it is padded to.
fn trim<'a>(part: &Part, raw: &'a [u8]) -> Option<&'a [u8]> {
    // Blanks before a name are those after the level.
    if part.any_padding {
        return Some(if is_token(&part.field) { raw.trim_ascii_end() } else { raw.trim_ascii() });
    }
    if part.min == 0 {
        return Some(raw);
    }
    // Widths count characters; a name beyond ASCII has more bytes, never fewer.
    if raw.len() < part.min {
        return None;
    }
    Some(if part.left_justified { raw.trim_ascii_end() } else { raw.trim_ascii_start() })
}

fn is_token(field: &Field) -> bool {
    matches!(field, Field::Logger | Field::Class | Field::File | Field::Method | Field::Location)
}

/// What follows the point of a source file's name; with a layout that prints
/// `File.java:1`, this keeps another one from reading `class.method:line`.
const SOURCE_SUFFIXES: [&[u8]; 4] = [b"java", b"scala", b"kt", b"groovy"];

/// Stores a value if the field can have it.
fn keep<'a>(field: &Field, value: &'a [u8], header: &mut Header<'a>) -> Option<()> {
    if is_token(field) && (value.is_empty() || value.iter().any(|b| b.is_ascii_whitespace())) {
        return None;
    }
    let is_suffix = SOURCE_SUFFIXES.contains(&value);
    match field {
        // The rest of a name in brackets before it, which was cut too early. What is opened and not
        // closed is of a name that a layout has shortened: `C.[.[.[/].[dispatcherServlet]`.
        Field::Logger if (value.ends_with(b"]") || value.ends_with(b")")) && closes_too_much(value) => {
            return None;
        }
        Field::Class | Field::Method | Field::File if !value.iter().all(|b| is_name_byte(*b)) => return None,
        Field::Method if is_suffix || value.contains(&b'.') => return None,
        Field::Logger => header.logger = Some(value),
        Field::Thread => header.thread = Some(value),
        Field::File => header.file = Some(value),
        Field::Class => header.class = Some(value),
        Field::Method => header.method = Some(value),
        Field::Mdc(i) => header.mdc[*i] = Some(value),
        Field::Location => keep_location(value, header)?,
        _ => {}
    }
    Some(())
}

/// Bytes of class, method and file names: of identifiers, `a.b$1`, `<init>`,
/// hidden classes (`/0x1f`), and `?` where the place is unknown.
fn is_name_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric()
        || b >= 0x80
        || matches!(b, b'.' | b'_' | b'$' | b'-' | b'<' | b'>' | b'/' | b'?')
}

/// `a.b.Class.method(File.java:12)`
fn keep_location<'a>(value: &'a [u8], header: &mut Header<'a>) -> Option<()> {
    let open = memchr::memchr(b'(', value)?;
    let place = value[open + 1..].strip_suffix(b")")?;
    let dot = memchr::memrchr(b'.', &value[..open])?;
    header.class = Some(&value[..dot]);
    header.method = Some(&value[dot + 1..open]);
    if let Some(colon) = memchr::memrchr(b':', place) {
        header.file = Some(&place[..colon]);
        header.line = std::str::from_utf8(&place[colon + 1..]).ok().and_then(|n| n.parse().ok());
    }
    Some(())
}

fn blanks(line: &[u8], pos: usize) -> usize {
    line.get(pos..).map_or(0, |rest| rest.iter().take_while(|b| **b == b' ').count())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a layout reads of a record, as text.
    #[track_caller]
    fn check(pattern: &str, record: &str, expected: &str) {
        let layout = Layout::compile(pattern).expect("pattern");
        let Some(mut h) = layout.scan(record.as_bytes()) else {
            assert_eq!("no header", expected, "{pattern} of {record}");
            return;
        };
        let body = &record.as_bytes()[h.message_start..];
        let message_end = layout.scan_suffix(body, &mut h);
        let text = |b: Option<&[u8]>| b.map(|b| String::from_utf8_lossy(b).into_owned()).unwrap_or_default();
        let mut out = Vec::new();
        for (name, value) in [
            ("level", h.level.map(|l| l.name().to_owned()).unwrap_or_default()),
            ("logger", text(h.logger)),
            ("thread", text(h.thread)),
            ("file", text(h.file)),
            ("line", h.line.map(|l| l.to_string()).unwrap_or_default()),
            ("class", text(h.class)),
            ("method", text(h.method)),
            ("mdc", text(h.mdc[0])),
            ("message", text(message_end.map(|e| &body[..e]))),
        ] {
            if !value.is_empty() {
                out.push(format!("{name}={value}"));
            }
        }
        assert_eq!(out.join("|"), expected, "{pattern} of {record}");
    }

    #[test]
    fn log4j1() {
        check(
            "%d{ISO8601} %p %c: %m%n",
            "2026-11-21 01:28:30,199 INFO a.b.C: hello",
            "level=INFO|logger=a.b.C|message=hello",
        );
        check("%d{ISO8601} %p %c: %m%n", "2026-11-21 01:28:30,199 INFO a.b.C: ", "level=INFO|logger=a.b.C");
        check("%d{ISO8601} %p %c: %m%n", "2026-11-21 01:28:30,199 INFO  [main] a.b.C: x", "no header");
        check("%d{ISO8601} %p %c: %m%n", "\tat a.b.C(D.java:1)", "no header");
        check(
            "%d{ISO8601} %-5p [%t] %c{2}: %m%n",
            "2026-11-21 01:28:30,199 WARN  [X at /1.2.3.4:5 [Receiving b:1_2]] b.C: x: y",
            "level=WARN|logger=b.C|thread=X at /1.2.3.4:5 [Receiving b:1_2]|message=x: y",
        );
        check(
            "%d{ISO8601} [myid:%X{myid}] - %-5p [%t:%C{1}@%L] - %m%n",
            "2026-11-21 09:40:31,905 [myid:1] - INFO  [Q[myid=1]/0:0:0:0:2181:Cfg@78] - a - b",
            "level=INFO|thread=Q[myid=1]/0:0:0:0:2181|line=78|class=Cfg|mdc=1|message=a - b",
        );
        check(
            "%d{ISO8601} [myid:%X{myid}] - %-5p [%t:%c] - %m%n",
            "2026-11-21 09:40:31,905 [myid:1] - INFO  [Worker[a:b]:1:a.b.Cfg] - m",
            "level=INFO|logger=a.b.Cfg|thread=Worker[a:b]:1|mdc=1|message=m",
        );
        check(
            "%d %5p %l - %m%n",
            "2026-11-21 09:40:31,905  INFO a.B$1.run(B.java:12) - x",
            "level=INFO|file=B.java|line=12|class=a.B$1|method=run|message=x",
        );
        check(
            "%r [%t] %-5p %c %x - %m%n",
            "12 [main] INFO  a.B  - x",
            "level=INFO|logger=a.B|thread=main|message=x",
        );
    }

    #[test]
    fn logback_and_log4j2() {
        check(
            "%-5level [%thread] %date{ISO8601} %F:%L - %msg%n",
            "INFO  [a:1] 2026-11-21 10:23:21,405 Cfg.java:102 - m",
            "level=INFO|thread=a:1|file=Cfg.java|line=102|message=m",
        );
        check(
            "[%d] %p %m (%c)%n",
            "[2026-11-21 10:23:21,405] INFO a (b) (k.l.M)\njava.lang.X: (q)",
            "level=INFO|logger=k.l.M|message=a (b)",
        );
        check(
            "[%d] %p %m (%c)%n",
            "[2026-11-21 10:23:21,405] INFO a\nb (k.M)",
            "level=INFO|logger=k.M|message=a\nb",
        );
        check(
            "%clr(%d{yyyy-MM-dd HH:mm:ss.SSS}){faint} %clr(%5p) %clr(%pid){magenta} --- [%15.15t] %-12.12logger{11} : %m%n%wEx",
            "2026-11-21 10:23:21.405  WARN 12 --- [           main] o.s.Boot     : x",
            "level=WARN|logger=o.s.Boot|thread=main|message=x",
        );
        check(
            "%d %5p %pid --- [%x] [%15t] %-40c : %m%n",
            "2026-11-21T10:23:21.405Z ERROR 1 --- [shop] [nio-8080-exec-3] o.a.c.c.C.[.[.[/].[dispatcherServlet]    : x",
            "level=ERROR|logger=o.a.c.c.C.[.[.[/].[dispatcherServlet]|thread=nio-8080-exec-3|mdc=shop|message=x",
        );
        check(
            "%highlight{%d %-5level} %replace{%c{1.}}{x}{y} - %msg%n%throwable",
            "2026-11-21T10:23:21,405 INFO  a.b.C - x",
            "level=INFO|logger=a.b.C|message=x",
        );
    }
}
