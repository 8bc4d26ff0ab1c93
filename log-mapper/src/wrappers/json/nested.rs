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

/// The value of `key` in an object, as it stands there.
fn member<'a>(object: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let mut at = 1 + blanks(object, 1);
    (object.first() == Some(&b'{')).then_some(())?;
    loop {
        let (name, end) = string(object, at)?;
        at = end + blanks(object, end);
        (object.get(at) == Some(&b':')).then_some(())?;
        at += 1 + blanks(object, at + 1);
        let end = value_end(object, at)?;
        if name == key {
            return Some(&object[at..end]);
        }
        at = end + blanks(object, end);
        (object.get(at) == Some(&b',')).then_some(())?;
        at += 1 + blanks(object, at + 1);
    }
}

/// Calls `give` with each item of a list.
fn each_item<'a>(list: &'a [u8], give: &mut dyn FnMut(&'a [u8]) -> Option<()>) -> Option<()> {
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

/// `{"resourceLogs":[{"resource":..,"scopeLogs":[{"scope":..,"logRecords":[{..},..]}]}]}`
pub(in crate::wrappers) fn otlp(line: &[u8], out: &mut Vec<u8>) -> Option<Inner> {
    let object = object(line)?;
    each_item(member(object, b"resourceLogs")?, &mut |of_resource| {
        let resource = member(of_resource, b"resource").unwrap_or(b"{}");
        each_item(member(of_resource, b"scopeLogs")?, &mut |of_scope| {
            let scope = member(of_scope, b"scope").unwrap_or(b"{}");
            each_item(member(of_scope, b"logRecords")?, &mut |record| {
                let rest = record.strip_prefix(b"{").filter(|rest| rest.first() != Some(&b'}'))?;
                add(out, &[b"{\"resource\":", resource, b",\"scope\":", scope, b",", rest]);
                Some(())
            })
        })
    })?;
    (!out.is_empty()).then_some(Inner::Whole)
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
