//! Tables and XML: rows of which one column is the line, and events whose parts have tags.

use super::Inner;
use crate::header::civil::Civil;
use crate::header::timestamp::TimeLayout;

/// Names of the column that holds the line.
const COLUMNS: [&[u8]; 8] =
    [b"message", b"@message", b"_raw", b"log", b"line", b"textPayload", b"_source.message", b"Message"];

/// A row of comma-separated values that begins with a time; its longest column is the line. In
/// quotes it can go on over several lines.
pub(super) fn csv(line: &[u8], out: &mut Vec<u8>) -> Option<Inner> {
    let fields = fields_of(line);
    let first = fields.first()?;
    if fields.len() > 1 && fields.iter().any(|field| COLUMNS.contains(&field.text.trim_ascii())) {
        return Some(Inner::Nothing);
    }
    let n_digits = first.text.iter().filter(|b| b.is_ascii_digit()).count();
    let is_time = n_digits >= 6 && (first.text.contains(&b':') || n_digits >= 10) && first.text.len() <= 40;
    let is_quoted = line.starts_with(b"\"") || memchr::memmem::find(line, b",\"").is_some();
    if fields.len() > 1 && is_time && is_quoted && first.is_closed {
        let longest = fields[1..].iter().max_by_key(|field| field.text.len())?;
        add_unquoted(longest.text, out);
        return Some(Inner::Whole);
    }
    // The rest of a column ends with its quote.
    let end = closing_quote(line, 0)?;
    let is_end = matches!(line.get(end + 1), None | Some(b','));
    is_end.then(|| add_unquoted(&line[..end], out))?;
    Some(Inner::Whole)
}

/// The time in the first column of a row: ISO 8601, as Kibana prints it, or a number since 1970.
pub(super) fn csv_stamp(line: &[u8]) -> Option<Civil> {
    let fields = fields_of(line);
    let first = fields.first()?.text.trim_ascii();
    if let Some(civil) = super::json::civil_of(first) {
        return Some(civil);
    }
    let time = TimeLayout::compile("MMM d, yyyy @ HH:mm:ss.SSS", None).ok()?;
    time.scan(first, 0).map(|(_, civil)| civil)
}

struct Field<'a> {
    text: &'a [u8],
    is_closed: bool,
}

fn fields_of(line: &[u8]) -> Vec<Field<'_>> {
    let mut fields = Vec::new();
    let mut at = 0;
    while at <= line.len() {
        if line.get(at) == Some(&b'"') {
            let end = closing_quote(line, at + 1);
            fields.push(Field { text: &line[at + 1..end.unwrap_or(line.len())], is_closed: end.is_some() });
            at = end.map_or(line.len(), |end| end + 1) + 1;
        } else {
            let end = memchr::memchr(b',', &line[at..]).map_or(line.len(), |n| at + n);
            fields.push(Field { text: &line[at..end], is_closed: true });
            at = end + 1;
        }
    }
    fields
}

/// The quote from `at` on that is not doubled.
fn closing_quote(line: &[u8], at: usize) -> Option<usize> {
    let mut at = at;
    loop {
        at += memchr::memchr(b'"', line.get(at..)?)?;
        if line.get(at + 1) != Some(&b'"') {
            return Some(at);
        }
        at += 2;
    }
}

fn add_unquoted(text: &[u8], out: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(at) = memchr::memmem::find(rest, b"\"\"") {
        out.extend_from_slice(&rest[..=at]);
        rest = &rest[at + 2..];
    }
    out.extend_from_slice(rest);
}

/// Between the fields of an inner text.
const UNIT: u8 = 0x1f;

/// How the inner text of an event is laid out.
pub(super) const EVENT_LAYOUTS: &[&str] = &["%d{UNIX_MILLIS}\u{1f}%p\u{1f}%t\u{1f}%c\u{1f}%m%n"];

/// `<log4j:event logger=".." timestamp=".." level=".." thread="..">` and what it holds, a line each;
/// `<Event timeMillis=".." level=".." loggerName=".." thread="..">` of log4j 2.
pub(super) fn log4j_xml(line: &[u8], out: &mut Vec<u8>) -> Option<Inner> {
    let text = line.trim_ascii();
    if text.starts_with(b"<log4j:event ") || text.starts_with(b"<Event ") {
        let time = attribute(text, b" timestamp=\"").or_else(|| attribute(text, b" timeMillis=\""))?;
        let level = attribute(text, b" level=\"")?;
        let logger = attribute(text, b" logger=\"").or_else(|| attribute(text, b" loggerName=\""))?;
        let thread = attribute(text, b" thread=\"").unwrap_or_default();
        for field in [time, level, thread, logger] {
            add_text(field, out);
            out.push(UNIT);
        }
        return Some(Inner::Partial);
    }
    for (open, close) in MESSAGE_TAGS {
        let Some(rest) = text.strip_prefix(open) else { continue };
        let rest = rest.strip_suffix(close).unwrap_or(rest);
        match rest.strip_prefix(b"<![CDATA[") {
            Some(text) => out.extend_from_slice(text.strip_suffix(b"]]>").unwrap_or(text)),
            None => add_text(rest, out),
        }
        return Some(Inner::Whole);
    }
    is_markup(text).then_some(Inner::Nothing)
}

const MESSAGE_TAGS: [(&[u8], &[u8]); 3] = [
    (b"<log4j:message>", b"</log4j:message>"),
    (b"<log4j:throwable>", b"</log4j:throwable>"),
    (b"<Message>", b"</Message>"),
];

/// How the inner text of a record of `java.util.logging` is laid out.
pub(super) const RECORD_LAYOUTS: &[&str] = &["%d{UNIX_MILLIS}\u{1f}%c\u{1f}%p\u{1f}%t\u{1f}%m%n"];

/// `<record>` of `java.util.logging`, with a line for each of its parts.
pub(super) fn logging_xml(line: &[u8], out: &mut Vec<u8>) -> Option<Inner> {
    const PARTS: [(&[u8], &[u8]); 4] = [
        (b"<millis>", b"</millis>"),
        (b"<logger>", b"</logger>"),
        (b"<level>", b"</level>"),
        (b"<thread>", b"</thread>"),
    ];
    let text = line.trim_ascii();
    for (open, close) in PARTS {
        if let Some(value) = text.strip_prefix(open).and_then(|rest| rest.strip_suffix(close)) {
            add_text(value, out);
            out.push(UNIT);
            return Some(Inner::Partial);
        }
    }
    if let Some(rest) = text.strip_prefix(b"<message>") {
        add_text(rest.strip_suffix(b"</message>").unwrap_or(rest), out);
        return Some(Inner::Whole);
    }
    is_markup(text).then_some(Inner::Nothing)
}

/// Nothing but a tag, or a tag with a short text.
fn is_markup(text: &[u8]) -> bool {
    text.is_empty() || text == b"]]>" || (text.starts_with(b"<") && text.ends_with(b">"))
}

fn attribute<'a>(text: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let rest = &text[memchr::memmem::find(text, key)? + key.len()..];
    Some(&rest[..memchr::memchr(b'"', rest)?])
}

/// Adds a text with its entities as characters.
fn add_text(text: &[u8], out: &mut Vec<u8>) {
    const ENTITIES: [(&[u8], u8); 5] =
        [(b"&lt;", b'<'), (b"&gt;", b'>'), (b"&amp;", b'&'), (b"&quot;", b'"'), (b"&apos;", b'\'')];
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'&', rest) {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at..];
        let (len, byte) = ENTITIES
            .iter()
            .find(|(entity, _)| rest.starts_with(entity))
            .map_or((1, b'&'), |(entity, byte)| (entity.len(), *byte));
        out.push(byte);
        rest = &rest[len..];
    }
    out.extend_from_slice(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(take: fn(&[u8], &mut Vec<u8>) -> Option<Inner>, line: &str, expected: Option<(Inner, &str)>) {
        let mut out = Vec::new();
        let inner = take(line.as_bytes(), &mut out);
        assert_eq!(
            inner.map(|inner| (inner, String::from_utf8_lossy(&out).into_owned())),
            expected.map(|(i, t)| (i, t.to_owned())),
            "{line}"
        );
    }

    #[test]
    fn rows() {
        check(csv, "@timestamp,@message", Some((Inner::Nothing, "")));
        check(csv, "2026-11-21 12:15:03.114,\"a, \"\"b\"\" and c\"", Some((Inner::Whole, "a, \"b\" and c")));
        check(csv, "\"Nov 21, 2026 @ 12:15:03.114\",\"a longer text", Some((Inner::Whole, "a longer text")));
        check(csv, "\tat x(Y.java:1)\"", Some((Inner::Whole, "\tat x(Y.java:1)")));
        check(csv, "\tat x(Y.java:1)", None);
    }

    #[test]
    fn events() {
        let event = "<log4j:event logger=\"a.B\" timestamp=\"1\" level=\"INFO\" thread=\"m\">";
        check(log4j_xml, event, Some((Inner::Partial, "1\u{1f}INFO\u{1f}m\u{1f}a.B\u{1f}")));
        check(log4j_xml, "<log4j:message><![CDATA[a <b>]]></log4j:message>", Some((Inner::Whole, "a <b>")));
        check(log4j_xml, "</log4j:event>", Some((Inner::Nothing, "")));
        check(logging_xml, "  <level>WARNING</level>", Some((Inner::Partial, "WARNING\u{1f}")));
        check(logging_xml, "  <message>a &lt;b&gt;</message>", Some((Inner::Whole, "a <b>")));
        check(logging_xml, "  <sequence>7</sequence>", Some((Inner::Nothing, "")));
    }
}
