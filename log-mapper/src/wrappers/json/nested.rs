//! Objects that hold lines in lists of lists: answers of Loki, batches of OpenTelemetry. Each line
//! becomes an object of its own, with what is said of all of them. And Fluent Bit's standard output.

use super::super::Inner;
use super::syntax::{blanks, nested_end, object, string};

/// The end of the value at `at`.
fn value_end(text: &[u8], at: usize) -> Option<usize> {
    match text.get(at)? {
        b'"' => Some(string(text, at)?.1),
        b'{' | b'[' => nested_end(text, at),
        _ => {
            let n = text[at..].iter().position(|b| matches!(b, b',' | b'}' | b']'))?;
            (n > 0).then_some(at + n)
        }
    }
}

/// Calls `give` with the name and value of each member of an object, as they stand there, until it
/// says that it is enough.
fn each_member<'a>(object: &'a [u8], give: &mut dyn FnMut(&'a [u8], &'a [u8]) -> bool) -> Option<()> {
    let mut at = 1 + blanks(object, 1);
    (object.first() == Some(&b'{')).then_some(())?;
    if object.get(at) == Some(&b'}') {
        return Some(());
    }
    loop {
        let (name, end) = string(object, at)?;
        at = end + blanks(object, end);
        (object.get(at) == Some(&b':')).then_some(())?;
        at += 1 + blanks(object, at + 1);
        let end = value_end(object, at)?;
        if !give(name, &object[at..end]) {
            return Some(());
        }
        at = end + blanks(object, end);
        match object.get(at)? {
            b',' => at += 1 + blanks(object, at + 1),
            b'}' => return Some(()),
            _ => return None,
        }
    }
}

/// The value of `key` in an object, as it stands there.
fn member<'a>(object: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let mut found = None;
    each_member(object, &mut |name, value| {
        found = (name == key).then_some(value);
        found.is_none()
    })?;
    found
}

/// Calls `give` with each item of a list.
pub(super) fn each_item<'a>(list: &'a [u8], give: &mut dyn FnMut(&'a [u8]) -> Option<()>) -> Option<()> {
    (list.first() == Some(&b'[')).then_some(())?;
    let mut at = 1 + blanks(list, 1);
    while list.get(at)? != &b']' {
        let end = value_end(list, at)?;
        give(&list[at..end])?;
        at = end + blanks(list, end);
        at += usize::from(list.get(at) == Some(&b','));
        at += blanks(list, at);
    }
    Some(())
}

/// Adds an object of its own to those before.
fn add(out: &mut Vec<u8>, parts: &[&[u8]]) {
    if !out.is_empty() {
        out.push(b'\n');
    }
    parts.iter().for_each(|part| out.extend_from_slice(part));
}

/// `{"data":{"result":[{"stream":{..},"values":[["1743249245123000000","text"],..]}]}}`, the newest
/// line of a stream first, or last.
pub(in crate::wrappers) fn loki(line: &[u8], out: &mut Vec<u8>) -> Option<Inner> {
    let object = object(line)?;
    let result = member(object, b"data").and_then(|data| member(data, b"result"));
    each_item(result.or_else(|| member(object, b"streams"))?, &mut |stream| {
        let labels = member(stream, b"stream")?;
        let mut values: Vec<(&[u8], &[u8])> = Vec::new();
        each_item(member(stream, b"values")?, &mut |pair| {
            let mut parts = Vec::new();
            each_item(pair, &mut |part| {
                parts.push(part);
                Some(())
            })?;
            values.push((parts.first().copied()?, parts.get(1).copied()?));
            Some(())
        })?;
        if values.first().zip(values.last()).is_some_and(|(first, last)| first.0 > last.0) {
            values.reverse();
        }
        for (time, text) in values {
            add(out, &[b"{\"stream\":", labels, b",\"timestamp\":", time, b",\"line\":", text, b"}"]);
        }
        Some(())
    })?;
    (!out.is_empty()).then_some(Inner::Whole)
}

/// A value of an answer of Loki that is printed over several lines: its time on one, its text on the
/// next. Whatever else the answer has is of no record.
pub(in crate::wrappers) fn loki_lines(line: &[u8], out: &mut Vec<u8>) -> Option<Inner> {
    let text = line.trim_ascii();
    let (start, comma) = match text.strip_suffix(b",") {
        Some(start) => (start, true),
        None => (text, false),
    };
    let Some((value, _)) = string(start, 0).filter(|(_, end)| *end == start.len()) else {
        let is_markup = matches!(text.first(), None | Some(b'{' | b'}' | b'[' | b']'))
            || string(text, 0).is_some_and(|(_, end)| text[end..].trim_ascii_start().starts_with(b":"));
        return is_markup.then_some(Inner::Nothing);
    };
    let is_time = comma && value.len() == NANOS_DIGITS && value.iter().all(u8::is_ascii_digit);
    if is_time {
        add(out, &[b"{\"timestamp\":", start, b",\"line\":"]);
        return Some(Inner::Partial);
    }
    add(out, &[start, b"}"]);
    Some(Inner::Whole)
}

/// Digits of nanoseconds since 1970.
const NANOS_DIGITS: usize = 19;

/// Labels that say of whom the values of a stream are, a row of which one is enough.
const LABELS: [&[&[u8]]; 3] = [
    &[b"pod", b"pod_name", b"kubernetes_pod_name"],
    &[b"instance", b"host", b"hostname", b"filename", b"container"],
    &[b"service_name", b"app", b"job"],
];

/// The value of a label of such an answer.
pub(in crate::wrappers) fn loki_process<const ROW: usize>(line: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let text = line.trim_ascii();
    let (name, end) = string(text, 0)?;
    let rest = text[end..].trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
    LABELS[ROW].contains(&name).then_some(())?;
    out.extend_from_slice(string(rest, 0)?.0);
    Some(())
}

/// `{"resourceLogs":[{"resource":..,"scopeLogs":[{"scope":..,"logRecords":[{..},..]}]}]}`
pub(in crate::wrappers) fn otlp(line: &[u8], out: &mut Vec<u8>) -> Option<Inner> {
    let object = object(line)?;
    each_item(member(object, b"resourceLogs")?, &mut |of_resource| {
        let mut resource = Vec::new();
        add_attributes(member(of_resource, b"resource").unwrap_or(b"{}"), &mut resource)?;
        each_item(member(of_resource, b"scopeLogs")?, &mut |of_scope| {
            let scope = member(of_scope, b"scope").unwrap_or(b"{}");
            each_item(member(of_scope, b"logRecords")?, &mut |record| {
                add(out, &[b"{\"resource\":{", &resource, b"},\"scope\":", scope]);
                add_record(record, out)
            })
        })
    })?;
    (!out.is_empty()).then_some(Inner::Whole)
}

/// Levels of OpenTelemetry by number, four of each.
const SEVERITIES: [&[u8]; 6] = [b"TRACE", b"DEBUG", b"INFO", b"WARN", b"ERROR", b"FATAL"];

/// Adds the members of a record; the time when it was seen, where it has none, and the name of its
/// level, where that is but a number.
fn add_record(record: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let is_none = |value: Option<&[u8]>| matches!(value, None | Some(b"\"\"" | b"\"0\"" | b"0"));
    let lacks_time = is_none(member(record, b"timeUnixNano"));
    let lacks_level = is_none(member(record, b"severityText"));
    each_member(record, &mut |name, value| {
        match name {
            b"attributes" => {}
            b"timeUnixNano" if lacks_time => {}
            b"severityText" if lacks_level => {}
            b"observedTimeUnixNano" if lacks_time => {
                [&b",\"timeUnixNano\":"[..], value].iter().for_each(|part| out.extend_from_slice(part));
            }
            b"severityNumber" if lacks_level => {
                let number = std::str::from_utf8(value).ok().and_then(|n| n.parse::<usize>().ok());
                let level = number.and_then(|n| SEVERITIES.get(n.checked_sub(1)? / 4));
                out.extend_from_slice(b",\"severityText\":\"");
                out.extend_from_slice(level.copied().unwrap_or(b"INFO"));
                out.push(b'"');
            }
            name => {
                [b",\"", name, b"\":", value].iter().for_each(|part| out.extend_from_slice(part));
            }
        }
        true
    })?;
    out.push(b',');
    add_attributes(record, out)?;
    out.push(b'}');
    Some(())
}

/// Adds `"attributes":{..}` of the list of keys and values that an object has.
fn add_attributes(object: &[u8], out: &mut Vec<u8>) -> Option<()> {
    out.extend_from_slice(b"\"attributes\":{");
    let mut n = 0;
    each_item(member(object, b"attributes").unwrap_or(b"[]"), &mut |one| {
        let (key, mut value) = (member(one, b"key")?, &b"null"[..]);
        each_member(member(one, b"value").unwrap_or(b"{}"), &mut |_, first| {
            value = first;
            false
        })?;
        let comma: &[u8] = if n > 0 { b"," } else { b"" };
        [comma, key, b":", value].iter().for_each(|part| out.extend_from_slice(part));
        n += 1;
        Some(())
    })?;
    out.push(b'}');
    Some(())
}

/// Keys under which Fluent Bit has a line.
const LINES: [&[u8]; 3] = [b"\"log\"=>\"", b"\"message\"=>\"", b"\"MESSAGE\"=>\""];

/// `[0] tag: [1743249245.123, {"log"=>"text"}]`
pub(in crate::wrappers) fn fluent_bit(line: &[u8], out: &mut Vec<u8>) -> Option<Inner> {
    let (_, end) = fluent_bit_tag(line)?;
    let rest = &line[end..];
    let at = LINES.iter().find_map(|key| Some(memchr::memmem::find(rest, key)? + key.len() - 1))?;
    super::unescape(string(rest, at)?.0, out);
    while matches!(out.last(), Some(b'\n' | b'\r')) {
        out.pop();
    }
    Some(Inner::Whole)
}

/// Whose line it is: that of a pod, else of a tag.
pub(in crate::wrappers) fn fluent_bit_process(line: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let (start, end) = fluent_bit_tag(line)?;
    let value = |key: &[u8]| Some(string(line, memchr::memmem::find(line, key)? + key.len())?.0);
    let Some(pod) = value(b"\"pod_name\"=>") else {
        out.extend_from_slice(&line[start..end]);
        return Some(());
    };
    out.extend_from_slice(pod);
    if let Some(container) = value(b"\"container_name\"=>") {
        out.push(b'/');
        out.extend_from_slice(container);
    }
    Some(())
}

/// Start and end of the tag.
fn fluent_bit_tag(line: &[u8]) -> Option<(usize, usize)> {
    let rest = line.strip_prefix(b"[")?;
    let n = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    (n > 0 && rest[n..].starts_with(b"] ")).then_some(())?;
    let start = n + 3;
    Some((start, start + memchr::memmem::find(&line[start..], b": [")?))
}
