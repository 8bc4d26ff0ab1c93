//! JSON and logfmt: a record is one line of keys and values. The inner text of such a line is its
//! fields in one order, parted by a byte that no text holds, the message with its escapes undone
//! last; further lines of it and the stack trace follow as lines of their own.

use super::Inner;

mod keys;
mod nested;
mod pretty;
mod shippers;
mod syntax;

pub(super) use nested::{fluent_bit, fluent_bit_process, loki, loki_lines, loki_process, otlp};
pub(super) use pretty::pretty;
pub(super) use shippers::{process, stream};

use keys::{KEYS, N_ROLES, PARSED, Role, SYSLOG, level_of};
use shippers::{LAST_PIECES, PIECES};
use syntax::{Value, blanks, is_path, nested_end, object, string, unescape, walk_whole};

use crate::header::civil::Civil;
use crate::header::timestamp::TimeLayout;

/// Between the fields of an inner text.
const UNIT: u8 = 0x1f;

/// How the inner text is laid out, by what the time is printed as.
pub(super) const LAYOUTS: &[&str] = &[
    "%d{ISO8601}\u{1f}%p\u{1f}%t\u{1f}%c\u{1f}%X{trace_id}\u{1f}%X{span_id}\u{1f}%X{request_id}\u{1f}%m%n",
    "%d{UNIX_MILLIS}\u{1f}%p\u{1f}%t\u{1f}%c\u{1f}%X{trace_id}\u{1f}%X{span_id}\u{1f}%X{request_id}\u{1f}%m%n",
    "%d{yyyy-MM-dd HH:mm:ss.SSS Z}\u{1f}%p\u{1f}%t\u{1f}%c\u{1f}%X{trace_id}\u{1f}%X{span_id}\u{1f}%X{request_id}\u{1f}%m%n",
    "\u{1f}%p\u{1f}%t\u{1f}%c\u{1f}%X{trace_id}\u{1f}%X{span_id}\u{1f}%X{request_id}\u{1f}%m%n",
];

/// What a line says, by role: the value, and how good its key is.
#[derive(Clone, Copy, Debug, Default)]
struct Fields<'a> {
    values: [Option<(usize, Value<'a>)>; N_ROLES],
}

impl<'a> Fields<'a> {
    fn add(&mut self, path: &[&[u8]], value: Value<'a>) {
        for (role, keys) in KEYS {
            let Some(rank) = rank(keys, path) else { continue };
            let slot = &mut self.values[*role as usize];
            if slot.is_none_or(|(known, _)| rank < known) {
                *slot = Some((rank, value));
            }
        }
    }

    fn get(&self, role: Role) -> Option<Value<'a>> {
        self.values[role as usize].map(|(_, value)| value)
    }

    /// Adds the fields in order; none: it is no record.
    fn write(&self, out: &mut Vec<u8>) -> Option<Inner> {
        self.get(Role::Message)?;
        let is_record = self.get(Role::Level).is_some() || self.get(Role::Logger).is_some();
        is_record.then_some(())?;
        self.write_time(out)?;
        for role in [Role::Level, Role::Thread, Role::Logger, Role::Trace, Role::Span, Role::Request] {
            out.push(UNIT);
            match self.get(role) {
                Some(Value::Bare([digit @ b'0'..=b'7'])) if role == Role::Level => {
                    out.extend_from_slice(SYSLOG[usize::from(digit - b'0')]);
                }
                Some(Value::Bare(number)) if role == Role::Level && number.len() > 1 => {
                    out.extend_from_slice(level_of(number));
                }
                Some(Value::String(level)) if role == Role::Level => unescape(level.trim_ascii(), out),
                Some(value) => value.write(out).unwrap_or_default(),
                None => {}
            }
        }
        out.push(UNIT);
        self.write_message(out)?;
        if let Some(Value::String(trace)) = self.get(Role::Throwable)
            && !trace.is_empty()
        {
            out.push(b'\n');
            unescape(trace, out);
        }
        Some(Inner::Whole)
    }

    /// A time as a text, or as milliseconds; nothing where none is printed.
    fn write_time(&self, out: &mut Vec<u8>) -> Option<()> {
        if let (Some(Value::Bare(seconds)), Some(Value::Bare(nanos))) =
            (self.get(Role::Seconds), self.get(Role::Nanos))
        {
            let nanos: u64 = std::str::from_utf8(nanos).ok()?.parse().ok()?;
            out.extend_from_slice(seconds);
            out.extend_from_slice(format!("{:03}", nanos / 1_000_000).as_bytes());
            return Some(());
        }
        match self.get(Role::Time) {
            Some(Value::String(text)) if !is_number(text) => unescape(text, out),
            Some(Value::List(_)) => return None,
            Some(Value::Bare(number) | Value::String(number)) => write_number(number, out),
            None => {}
        }
        Some(())
    }

    /// Adds the message; of a pattern with its values apart, as encoders print them, the text that
    /// they make.
    fn write_message(&self, out: &mut Vec<u8>) -> Option<()> {
        let message = self.get(Role::Message)?;
        let (Value::String(pattern), Some(Value::List(list))) = (message, self.get(Role::Arguments)) else {
            return message.write(out);
        };
        let mut values = Vec::new();
        nested::each_item(list, &mut |value| {
            values.push(value);
            Some(())
        })?;
        let mut rest = pattern;
        for value in values {
            let Some(at) = memchr::memmem::find(rest, b"{}") else { break };
            unescape(&rest[..at], out);
            match string(value, 0) {
                Some((text, _)) => unescape(text, out),
                None => out.extend_from_slice(value),
            }
            rest = &rest[at + 2..];
        }
        unescape(rest, out);
        Some(())
    }
}

/// Adds a number of seconds since 1970, or of parts of them, as milliseconds.
fn write_number(number: &[u8], out: &mut Vec<u8>) {
    let mut digits = Vec::new();
    let number = match without_exponent(number, &mut digits) {
        Some(()) => &digits[..],
        None => number,
    };
    let whole = number.iter().take_while(|b| b.is_ascii_digit()).count();
    // Of micro- and nanoseconds the milliseconds.
    let n_kept = if matches!(whole, 16 | 19) { MILLIS_DIGITS } else { whole };
    out.extend_from_slice(&number[..n_kept]);
    // Seconds have ten digits, and maybe a fraction.
    if whole == 10 {
        let fraction = number.get(whole + 1..).unwrap_or_default();
        out.extend((0..3).map(|i| fraction.get(i).copied().filter(u8::is_ascii_digit).unwrap_or(b'0')));
    } else if n_kept != MILLIS_DIGITS {
        // logfmt prints a text without quotes.
        out.extend_from_slice(&number[whole..]);
    }
}

/// Adds `1.743249245123E9` with its point where it belongs; none: the number has no exponent.
fn without_exponent(number: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let at = number.iter().position(|b| matches!(b, b'e' | b'E'))?;
    let (mantissa, exponent) =
        (&number[..at], number[at + 1..].strip_prefix(b"+").unwrap_or(&number[at + 1..]));
    let exponent: usize = std::str::from_utf8(exponent).ok()?.parse().ok().filter(|n| *n <= 19)?;
    let (whole, fraction) = match mantissa.iter().position(|b| *b == b'.') {
        Some(point) => (&mantissa[..point], &mantissa[point + 1..]),
        None => (mantissa, &b""[..]),
    };
    (whole.iter().chain(fraction).all(u8::is_ascii_digit) && !whole.is_empty()).then_some(())?;
    out.extend_from_slice(whole);
    out.extend((0..exponent).map(|i| fraction.get(i).copied().unwrap_or(b'0')));
    if let Some(rest) = fraction.get(exponent..).filter(|rest| !rest.is_empty()) {
        out.push(b'.');
        out.extend_from_slice(rest);
    }
    Some(())
}

/// The time that a text is: of ISO 8601, or a number since 1970.
pub(in crate::wrappers) fn civil_of(text: &[u8]) -> Option<Civil> {
    let mut millis = Vec::new();
    if is_number(text) || without_exponent(text, &mut millis).is_some() {
        millis.clear();
        write_number(text, &mut millis);
        return TimeLayout::compile("UNIX_MILLIS", None).ok()?.scan(&millis, 0).map(|(_, civil)| civil);
    }
    TimeLayout::scan_iso(text, 0).map(|(_, civil)| civil)
}

/// The time of an object of a log shipper.
pub(super) fn stamp(line: &[u8]) -> Option<Civil> {
    let mut fields = Fields::default();
    walk_whole(object(line)?, &mut |path, value| fields.add(path, value))?;
    match fields.get(Role::Time)? {
        Value::String(text) | Value::Bare(text) => civil_of(text),
        Value::List(_) => None,
    }
}

/// Whether the message of a record is a pattern whose values are not there.
pub(super) fn lacks_arguments(line: &[u8]) -> bool {
    let mut fields = Fields::default();
    let walked =
        object(line).and_then(|object| walk_whole(object, &mut |path, value| fields.add(path, value)));
    let pattern = walked.and_then(|()| fields.get(Role::Message));
    let is_pattern =
        matches!(pattern, Some(Value::String(text)) if memchr::memmem::find(text, b"{}").is_some());
    is_pattern && fields.get(Role::Arguments).is_none()
}

/// How good a path is, of those that have a meaning: of a record that is parsed within the object
/// of a shipper its own fields are meant, not those of the shipper.
fn rank(keys: &[&str], path: &[&[u8]]) -> Option<usize> {
    let position = |path: &[&[u8]]| keys.iter().position(|key| is_path(key.as_bytes(), path));
    let within = path.split_first().filter(|(parent, rest)| !rest.is_empty() && PARSED.contains(*parent));
    within.and_then(|(_, rest)| position(rest)).or_else(|| Some(keys.len() + position(path)?))
}

/// Digits of milliseconds since 1970.
const MILLIS_DIGITS: usize = 13;

/// Whether a text is a number of seconds since 1970 or of parts of them.
fn is_number(text: &[u8]) -> bool {
    let whole = text.iter().take_while(|b| b.is_ascii_digit()).count();
    let is_fraction = |rest: &[u8]| rest.iter().all(u8::is_ascii_digit);
    matches!(whole, 10 | 13 | 16 | 19)
        && (whole == text.len() || (text[whole] == b'.' && is_fraction(&text[whole + 1..])))
}

/// What comes before the key of a diagnostic context in the layouts that nest it, or mark it.
const CONTEXTS: &[&str] = &["", "mdc.", "contextMap.", "labels.", "context.", "properties.", "_"];

/// The value of `key` in the diagnostic context of a line, or of a field that is called so.
pub(super) fn context(line: &[u8], key: &str) -> Option<Vec<u8>> {
    let names: Vec<String> = CONTEXTS.iter().map(|context| format!("{context}{key}")).collect();
    let mut best: Option<(usize, Value<'_>)> = None;
    let mut give = |path: &[&[u8]], value| {
        let rank = names.iter().position(|name| is_path(name.as_bytes(), path));
        if let Some(rank) = rank.filter(|rank| best.is_none_or(|(known, _)| *rank < known)) {
            best = Some((rank, value));
        }
    };
    match object(line) {
        Some(object) => walk_whole(object, &mut |path, value| give(path, value))?,
        None => pairs(line, &mut |key, value| give(&[key], value))?,
    }
    let mut out = Vec::new();
    best?.1.write(&mut out)?;
    Some(out)
}

/// When Docker got the line.
pub(super) fn docker_stamp(line: &[u8]) -> Option<Civil> {
    let mut stamp = None;
    walk_whole(object(line)?, &mut |path, value| {
        if let ([b"time"], Value::String(text)) = (path, value) {
            stamp = TimeLayout::scan_iso(text, 0).map(|(_, civil)| civil);
        }
    })?;
    stamp
}

/// Records of JSON layouts.
pub(super) fn fields(line: &[u8], out: &mut Vec<u8>) -> Option<Inner> {
    let mut fields = Fields::default();
    walk_whole(object(line)?, &mut |path, value| fields.add(path, value))?;
    fields.write(out)
}

/// What of a record has none of the keys that are known for it, for people; none: it is no object,
/// or nothing is missing.
pub(super) fn missing_keys(line: &[u8]) -> Option<String> {
    let mut fields = Fields::default();
    walk_whole(object(line)?, &mut |path, value| fields.add(path, value))?;
    let keys = |role: Role| {
        let keys = KEYS.iter().find(|(known, _)| *known == role).map_or(&[][..], |(_, keys)| *keys);
        keys.iter().take(3).map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ")
    };
    let lacks = |role: Role| fields.get(role).is_none();
    let mut missing = Vec::new();
    if lacks(Role::Message) {
        missing.push(format!("the message ({} ...)", keys(Role::Message)));
    }
    if lacks(Role::Time) && lacks(Role::Seconds) {
        missing.push(format!("the time ({} ...)", keys(Role::Time)));
    }
    if lacks(Role::Level) && lacks(Role::Logger) {
        missing.push(format!("level or logger ({}, {} ...)", keys(Role::Level), keys(Role::Logger)));
    }
    (!missing.is_empty()).then(|| {
        format!(
            "lines are JSON objects without a key that is known for {}: no layout fits",
            missing.join(" and ")
        )
    })
}

/// Keys of lists of records: of AWS, Elasticsearch and others.
const LISTS: &[&str] = &["events", "logEvents", "hits.hits", "records", "entries", "results", "data", "logs"];

/// An object on one line with a list of objects, or objects one behind the other: a line each.
pub(super) fn list(line: &[u8], out: &mut Vec<u8>) -> Option<Inner> {
    if let Some(inner) = objects(line, out) {
        return Some(inner);
    }
    let mut list = None;
    walk_whole(object(line)?, &mut |path, value| {
        if let Value::List(text) = value
            && LISTS.iter().any(|key| is_path(key.as_bytes(), path))
        {
            list = list.or(Some(text));
        }
    })?;
    let list = list?;
    let (n_objects, at) = add_objects(list, 1, out)?;
    (n_objects > 0 && list.get(at) == Some(&b']')).then_some(Inner::Whole)
}

/// `{..}{..}` and `[{..},{..}]`: several objects that are all of a line.
fn objects(line: &[u8], out: &mut Vec<u8>) -> Option<Inner> {
    let line = line.trim_ascii();
    let is_list = line.starts_with(b"[");
    let (n_objects, at) = add_objects(line, usize::from(is_list), out)?;
    let rest = line[at..].strip_prefix(b"]").unwrap_or(&line[at..]);
    if n_objects > 1 && matches!(rest, b"" | b",") {
        return Some(Inner::Whole);
    }
    out.clear();
    None
}

/// Adds the objects from `at` on, a line each; how many there are, and where they end.
fn add_objects(text: &[u8], at: usize, out: &mut Vec<u8>) -> Option<(usize, usize)> {
    let mut at = at + blanks(text, at);
    let mut n_objects = 0;
    while text.get(at) == Some(&b'{') {
        let end = nested_end(text, at)?;
        if n_objects > 0 {
            out.push(b'\n');
        }
        out.extend_from_slice(&text[at..end]);
        n_objects += 1;
        at = end + blanks(text, end);
        at += usize::from(text.get(at) == Some(&b','));
        at += blanks(text, at);
    }
    Some((n_objects, at.min(text.len())))
}

/// `{"log":"text\n","stream":"stdout","time":"..."}`, as Docker writes files.
pub(super) fn docker(line: &[u8], out: &mut Vec<u8>) -> Option<Inner> {
    let mut log = None;
    let mut has_stream = false;
    walk_whole(object(line)?, &mut |path, value| match (path, value) {
        ([b"log"], Value::String(text)) => log = Some(text),
        ([b"stream"], _) => has_stream = true,
        _ => {}
    })?;
    let log = log.filter(|_| has_stream)?;
    let whole = log.strip_suffix(b"\\n");
    unescape(whole.unwrap_or(log), out);
    if out.last() == Some(&b'\r') {
        out.pop();
    }
    Some(if whole.is_some() { Inner::Whole } else { Inner::Partial })
}

/// Keys under which log shippers have a line, the first that is there.
const MESSAGES: &[&str] = &[
    "message",
    "MESSAGE",
    "log",
    "msg",
    "line",
    "textPayload",
    "jsonPayload.message",
    "_source.message",
    "_source.log",
    "attributes.message",
    "LogEntry",
    "event",
    "result._raw",
    "body.stringValue",
    "content.message",
    "_raw",
    "body",
];

/// Objects of log shippers whose message is a line.
pub(super) fn message(line: &[u8], out: &mut Vec<u8>) -> Option<Inner> {
    let mut best: Option<(usize, Value<'_>)> = None;
    let (mut is_piece, mut is_last) = (false, false);
    walk_whole(object(line)?, &mut |path, value| {
        let rank = MESSAGES.iter().position(|key| is_path(key.as_bytes(), path));
        if let (Some(rank), Value::String(_) | Value::List(_)) = (rank, value)
            && best.is_none_or(|(known, _)| rank < known)
        {
            best = Some((rank, value));
        }
        let (Value::String(text) | Value::Bare(text) | Value::List(text)) = value;
        let is = |marks: &[(&str, &[u8])]| {
            marks.iter().any(|(key, mark)| is_path(key.as_bytes(), path) && *mark == text)
        };
        is_piece |= is(PIECES);
        is_last |= is(LAST_PIECES);
    })?;
    best?.1.write(out)?;
    while matches!(out.last(), Some(b'\n' | b'\r')) {
        out.pop();
    }
    Some(if is_piece && !is_last { Inner::Partial } else { Inner::Whole })
}

/// `key=value key="a text"`
pub(super) fn logfmt(line: &[u8], out: &mut Vec<u8>) -> Option<Inner> {
    let mut fields = Fields::default();
    pairs(line, &mut |key, value| fields.add(&[key], value))?;
    fields.write(out)
}

/// Calls `give` with each key and value of a line of them; none: it is no such line.
fn pairs<'a>(line: &'a [u8], give: &mut dyn FnMut(&'a [u8], Value<'a>)) -> Option<()> {
    let mut at = 0;
    while at < line.len() {
        let n = line[at..].iter().position(|b| matches!(b, b'=' | b' ' | b'"'))?;
        (n > 0 && line[at + n] == b'=').then_some(())?;
        let key = &line[at..at + n];
        at += n + 1;
        if line.get(at) == Some(&b'"') {
            let (value, end) = string(line, at)?;
            give(key, Value::String(value));
            at = end;
        } else {
            let n = memchr::memchr(b' ', &line[at..]).unwrap_or(line.len() - at);
            give(key, Value::Bare(&line[at..at + n]));
            at += n;
        }
        at += blanks(line, at);
    }
    Some(())
}
