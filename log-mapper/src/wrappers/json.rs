//! JSON and logfmt: a record is one line of keys and values. The inner text of such a line is its
//! fields in one order, parted by a byte that no text holds, the message with its escapes undone
//! last; further lines of it and the stack trace follow as lines of their own.

use super::Inner;
use crate::header::timestamp::{Civil, TimeLayout};

/// Between the fields of an inner text.
const UNIT: u8 = 0x1f;

/// How the inner text is laid out, by what the time is printed as.
pub(super) const LAYOUTS: &[&str] = &[
    "%d{ISO8601}\u{1f}%p\u{1f}%t\u{1f}%c\u{1f}%X{trace_id}\u{1f}%X{span_id}\u{1f}%m%n",
    "%d{UNIX_MILLIS}\u{1f}%p\u{1f}%t\u{1f}%c\u{1f}%X{trace_id}\u{1f}%X{span_id}\u{1f}%m%n",
    "%d{yyyy-MM-dd HH:mm:ss.SSS Z}\u{1f}%p\u{1f}%t\u{1f}%c\u{1f}%X{trace_id}\u{1f}%X{span_id}\u{1f}%m%n",
];

/// What a field of a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Time = 0,
    Level = 1,
    Thread = 2,
    Logger = 3,
    Trace = 4,
    Span = 5,
    Message = 6,
    Throwable = 7,
    /// Seconds, and what is to be added to them.
    Seconds = 8,
    Nanos = 9,
}

const N_ROLES: usize = 10;

/// Keys of each role, with points between those of nested objects; the first that is there is
/// meant. Of ECS, logstash, log4j 2, GELF, logback, Quarkus, WildFly, Spring Boot, Trino.
const KEYS: &[(Role, &[&str])] = &[
    (
        Role::Time,
        &[
            "@timestamp",
            "timestamp",
            "time",
            "ts",
            "timeMillis",
            "date",
            "datetime",
            "@time",
            "ibm_datetime",
            "eventTime",
        ],
    ),
    (
        Role::Level,
        &[
            "log.level",
            "level",
            "severity",
            "levelname",
            "lvl",
            "loglevel",
            "logging.googleapis.com/labels.levelName",
        ],
    ),
    (
        Role::Thread,
        &[
            "process.thread.name",
            "thread_name",
            "threadName",
            "thread",
            "_thread",
            "_thread_name",
            "_threadName",
            "_process_thread_name",
            "logging.googleapis.com/labels.threadName",
        ],
    ),
    (
        Role::Logger,
        &[
            "log.logger",
            "logger_name",
            "loggerName",
            "logger",
            "component",
            "_logger",
            "_logger_name",
            "_loggerName",
            "category",
            "_log_logger",
            "logging.googleapis.com/labels.loggerName",
            "module",
        ],
    ),
    (
        Role::Trace,
        &[
            "trace.id",
            "traceId",
            "trace_id",
            "_traceId",
            "_trace_id",
            "mdc.traceId",
            "contextMap.traceId",
            "mdc.trace_id",
        ],
    ),
    (
        Role::Span,
        &[
            "span.id",
            "spanId",
            "span_id",
            "_spanId",
            "_span_id",
            "mdc.spanId",
            "contextMap.spanId",
            "mdc.span_id",
        ],
    ),
    (Role::Message, &["formattedMessage", "message", "msg", "short_message", "full_message", "LogMessage"]),
    (
        Role::Throwable,
        &[
            "error.stack_trace",
            "stack_trace",
            "stackTrace",
            "thrown.extendedStackTrace",
            "stacktrace",
            "exception",
            "throwable",
            "_stackTrace",
            "_StackTrace",
        ],
    ),
    (Role::Seconds, &["instant.epochSecond", "timestampSeconds"]),
    (Role::Nanos, &["instant.nanoOfSecond", "timestampNanos"]),
];

/// Levels of syslog, which GELF has, by number.
const SYSLOG: [&[u8]; 8] = [b"FATAL", b"FATAL", b"FATAL", b"ERROR", b"WARN", b"INFO", b"INFO", b"DEBUG"];

/// The level of a number as the libraries count, in tens or in ten thousands.
fn level_of(number: &[u8]) -> &[u8] {
    match number {
        b"10" | b"5000" => b"TRACE",
        b"20" | b"10000" => b"DEBUG",
        b"30" | b"20000" => b"INFO",
        b"40" | b"30000" => b"WARN",
        b"50" | b"40000" => b"ERROR",
        b"60" | b"50000" => b"FATAL",
        other => other,
    }
}

/// A value as it stands there.
#[derive(Clone, Copy, Debug)]
enum Value<'a> {
    /// Between the quotes, escapes not undone.
    String(&'a [u8]),
    /// A number or word.
    Bare(&'a [u8]),
}

/// What a line says, by role: the value, and how good its key is.
#[derive(Clone, Copy, Debug, Default)]
struct Fields<'a> {
    values: [Option<(usize, Value<'a>)>; N_ROLES],
}

impl<'a> Fields<'a> {
    fn add(&mut self, path: &[&[u8]], value: Value<'a>) {
        for (role, keys) in KEYS {
            let Some(rank) = keys.iter().position(|key| is_path(key.as_bytes(), path)) else { continue };
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
        let message = self.get(Role::Message)?;
        let is_record = self.get(Role::Level).is_some() || self.get(Role::Logger).is_some();
        is_record.then_some(())?;
        self.write_time(out)?;
        for role in [Role::Level, Role::Thread, Role::Logger, Role::Trace, Role::Span] {
            out.push(UNIT);
            match self.get(role) {
                Some(Value::Bare([digit @ b'0'..=b'7'])) if role == Role::Level => {
                    out.extend_from_slice(SYSLOG[usize::from(digit - b'0')]);
                }
                Some(Value::Bare(number)) if role == Role::Level && number.len() > 1 => {
                    out.extend_from_slice(level_of(number));
                }
                Some(Value::Bare(text)) => out.extend_from_slice(text),
                Some(Value::String(text)) => unescape(text, out),
                None => {}
            }
        }
        out.push(UNIT);
        let (Value::String(text) | Value::Bare(text)) = message;
        unescape(text, out);
        if let Some(Value::String(trace)) = self.get(Role::Throwable)
            && !trace.is_empty()
        {
            out.push(b'\n');
            unescape(trace, out);
        }
        Some(Inner::Whole)
    }

    /// A time as a text, or as milliseconds.
    fn write_time(&self, out: &mut Vec<u8>) -> Option<()> {
        if let (Some(Value::Bare(seconds)), Some(Value::Bare(nanos))) =
            (self.get(Role::Seconds), self.get(Role::Nanos))
        {
            let nanos: u64 = std::str::from_utf8(nanos).ok()?.parse().ok()?;
            out.extend_from_slice(seconds);
            out.extend_from_slice(format!("{:03}", nanos / 1_000_000).as_bytes());
            return Some(());
        }
        match self.get(Role::Time)? {
            Value::String(text) => unescape(text, out),
            Value::Bare(number) => {
                let whole = number.iter().take_while(|b| b.is_ascii_digit()).count();
                out.extend_from_slice(&number[..whole]);
                // Seconds have ten digits, and maybe a fraction.
                if whole == 10 {
                    let fraction = number.get(whole + 1..).unwrap_or_default();
                    out.extend(
                        (0..3).map(|i| fraction.get(i).copied().filter(u8::is_ascii_digit).unwrap_or(b'0')),
                    );
                } else if whole != 13 {
                    // logfmt prints a text without quotes.
                    out.extend_from_slice(&number[whole..]);
                }
            }
        }
        Some(())
    }
}

/// Whether `key` is the parts of `path` with points between them, in upper or lower case.
fn is_path(key: &[u8], path: &[&[u8]]) -> bool {
    let mut rest = key;
    for (i, part) in path.iter().enumerate() {
        if !rest.get(..part.len()).is_some_and(|start| start.eq_ignore_ascii_case(part)) {
            return false;
        }
        let after = &rest[part.len()..];
        rest = if i + 1 < path.len() {
            let Some(after) = after.strip_prefix(b".") else { return false };
            after
        } else {
            after
        };
    }
    rest.is_empty()
}

/// Objects in objects that are looked into.
const DEPTH_MAX: usize = 3;

/// Calls `give` with the path and value of each field of the object at the start of `text`; gives
/// the length of the object.
fn walk<'a>(
    text: &'a [u8],
    path: &mut Vec<&'a [u8]>,
    give: &mut dyn FnMut(&[&'a [u8]], Value<'a>),
) -> Option<usize> {
    let mut at = 1 + blanks(text, 1);
    if text.get(at) == Some(&b'}') {
        return Some(at + 1);
    }
    loop {
        let (key, end) = string(text, at)?;
        at = end + blanks(text, end);
        (text.get(at) == Some(&b':')).then_some(())?;
        at += 1;
        at += blanks(text, at);
        match text.get(at)? {
            b'"' => {
                let (value, end) = string(text, at)?;
                path.push(key);
                give(path, Value::String(value));
                path.pop();
                at = end;
            }
            b'{' if path.len() < DEPTH_MAX => {
                path.push(key);
                at += walk(&text[at..], path, give)?;
                path.pop();
            }
            b'{' | b'[' => at = nested_end(text, at)?,
            _ => {
                let n =
                    text[at..].iter().position(|b| matches!(b, b',' | b'}') || b.is_ascii_whitespace())?;
                path.push(key);
                give(path, Value::Bare(&text[at..at + n]));
                path.pop();
                at += n;
            }
        }
        at += blanks(text, at);
        match text.get(at)? {
            b',' => at += 1 + blanks(text, at + 1),
            b'}' => return Some(at + 1),
            _ => return None,
        }
    }
}

fn blanks(text: &[u8], at: usize) -> usize {
    text.get(at..).map_or(0, |rest| rest.iter().take_while(|b| b.is_ascii_whitespace()).count())
}

/// The string at `at`, between its quotes, and the end behind them.
fn string(text: &[u8], at: usize) -> Option<(&[u8], usize)> {
    (text.get(at) == Some(&b'"')).then_some(())?;
    let mut end = at + 1;
    loop {
        end += memchr::memchr2(b'"', b'\\', text.get(end..)?)?;
        if text[end] == b'"' {
            return Some((&text[at + 1..end], end + 1));
        }
        end += 2;
    }
}

/// The end of the object or list at `at`.
fn nested_end(text: &[u8], at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut end = at;
    loop {
        match text.get(end)? {
            b'"' => {
                end = string(text, end)?.1;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        end += 1;
        if depth == 0 {
            return Some(end);
        }
    }
}

/// Adds a string with its escapes undone.
fn unescape(text: &[u8], out: &mut Vec<u8>) {
    let mut at = 0;
    while let Some(n) = memchr::memchr(b'\\', &text[at..]) {
        out.extend_from_slice(&text[at..at + n]);
        at += n + 2;
        match text.get(at - 1) {
            Some(b'n') => out.push(b'\n'),
            Some(b't') => out.push(b'\t'),
            Some(b'r') => out.push(b'\r'),
            Some(b'b' | b'f') | None => {}
            Some(b'u') => at += unescape_unicode(text, at, out),
            Some(other) => out.push(*other),
        }
        at = at.min(text.len());
    }
    out.extend_from_slice(&text[at..]);
}

/// Adds the character whose four digits stand at `at`, or eight of a pair; gives their length.
fn unescape_unicode(text: &[u8], at: usize, out: &mut Vec<u8>) -> usize {
    let unit = |at: usize| {
        let digits = std::str::from_utf8(text.get(at..at + 4)?).ok()?;
        u32::from_str_radix(digits, 16).ok()
    };
    let Some(first) = unit(at) else { return 0 };
    let second = if text.get(at + 4..at + 6) == Some(b"\\u") { unit(at + 6) } else { None };
    let (code, len) = match second {
        Some(low) if (0xd800..0xdc00).contains(&first) && (0xdc00..0xe000).contains(&low) => {
            (0x1_0000 + ((first - 0xd800) << 10) + (low - 0xdc00), 10)
        }
        _ => (first, 4),
    };
    let c = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    len
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
    match best?.1 {
        Value::String(text) => unescape(text, &mut out),
        Value::Bare(text) => out.extend_from_slice(text),
    }
    Some(out)
}

/// The only object of a line, which can be an element of a list that has one on each line.
fn object(line: &[u8]) -> Option<&[u8]> {
    let line = line.trim_ascii();
    let line = line.strip_prefix(b"[").or_else(|| line.strip_prefix(b",")).unwrap_or(line);
    let line = line.strip_suffix(b",").or_else(|| line.strip_suffix(b"]")).unwrap_or(line).trim_ascii();
    (line.starts_with(b"{") && line.ends_with(b"}")).then_some(line)
}

/// Gives the fields of an object that is all of `text`.
fn walk_whole<'a>(text: &'a [u8], give: &mut dyn FnMut(&[&'a [u8]], Value<'a>)) -> Option<()> {
    (walk(text, &mut Vec::new(), give)? == text.len()).then_some(())
}

/// Lines of an object that is printed over several, indented by `BASE` blanks, to be put together.
pub(super) fn pretty<const BASE: usize>(line: &[u8], out: &mut Vec<u8>) -> Option<Inner> {
    let line = line.trim_ascii_end();
    let text = line.trim_ascii_start();
    let depth = line.len() - text.len();
    match text {
        b"" | b"[" | b"]" | b"," if depth <= BASE => Some(Inner::Nothing),
        b"{" | b"[{" | b", {" | b",{" if depth == BASE => {
            out.push(b'{');
            Some(Inner::Partial)
        }
        b"}" | b"}," | b"}]" if depth == BASE => {
            out.push(b'}');
            Some(Inner::Whole)
        }
        [b'"' | b'{' | b'}' | b'[' | b']' | b'0'..=b'9' | b'-' | b't' | b'f' | b'n', ..] if depth > BASE => {
            out.extend_from_slice(text);
            out.push(b' ');
            Some(Inner::Partial)
        }
        _ => None,
    }
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
    "_raw",
    "body",
];

/// Objects of log shippers whose message is a line.
pub(super) fn message(line: &[u8], out: &mut Vec<u8>) -> Option<Inner> {
    let mut text: Option<(usize, &[u8])> = None;
    walk_whole(object(line)?, &mut |path, value| {
        let rank = MESSAGES.iter().position(|key| is_path(key.as_bytes(), path));
        if let (Some(rank), Value::String(value)) = (rank, value)
            && text.is_none_or(|(known, _)| rank < known)
        {
            text = Some((rank, value));
        }
    })?;
    unescape(text?.1, out);
    while matches!(out.last(), Some(b'\n' | b'\r')) {
        out.pop();
    }
    Some(Inner::Whole)
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
