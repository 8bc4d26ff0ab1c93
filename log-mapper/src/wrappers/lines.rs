//! Wrappers that stand before each line, or at its end.

use super::Inner;
use crate::header::civil::Civil;
use crate::header::parse_level;
use crate::header::timestamp::TimeLayout;

/// The time that a line begins with.
pub(super) fn stamp_at_start(line: &[u8]) -> Option<Civil> {
    TimeLayout::scan_iso(line, blanks(line)).map(|(_, civil)| civil)
}

/// The time of a line of RFC 5424.
pub(super) fn syslog_stamp(line: &[u8]) -> Option<Civil> {
    TimeLayout::scan_iso(line, priority(line)? + 2).map(|(_, civil)| civil)
}

fn blanks(line: &[u8]) -> usize {
    line.iter().take_while(|b| **b == b' ').count()
}

/// A line with a blank behind it.
pub(super) fn trailing_blank(line: &[u8], out: &mut Vec<u8>) -> Option<Inner> {
    out.extend_from_slice(line.strip_suffix(b" ")?);
    Some(Inner::Whole)
}

/// A line of Windows, whose end has been taken off before.
pub(super) fn carriage_return(line: &[u8], out: &mut Vec<u8>) -> Option<Inner> {
    rest(line, 0, out)
}

/// Adds what follows `end`, in which rsyslog writes line ends and tabs as `#012` and `#011`.
fn rest_of_syslog(line: &[u8], end: usize, out: &mut Vec<u8>) -> Option<Inner> {
    let mut text = line.get(end..)?;
    while let Some(at) = memchr::memmem::find(text, b"#01") {
        out.extend_from_slice(&text[..at]);
        let (sign, len) = match text.get(at + 3) {
            Some(b'2') => (&b"\n"[..], 4),
            Some(b'1') => (&b"\t"[..], 4),
            _ => (&b"#01"[..], 3),
        };
        out.extend_from_slice(sign);
        text = &text[at + len..];
    }
    out.extend_from_slice(text);
    Some(Inner::Whole)
}

/// Adds what follows `end`.
fn rest(line: &[u8], end: usize, out: &mut Vec<u8>) -> Option<Inner> {
    out.extend_from_slice(line.get(end..)?);
    Some(Inner::Whole)
}

/// The end of a word at `at` that is followed by a blank, behind that.
fn word(line: &[u8], at: usize) -> Option<usize> {
    let n = memchr::memchr(b' ', line.get(at..)?)?;
    (n > 0).then_some(at + n + 1)
}

/// The end of an ISO 8601 time with `T` and a zone at `at`.
fn stamp(line: &[u8], at: usize) -> Option<usize> {
    (line.get(at + 10) == Some(&b'T')).then_some(())?;
    let (end, civil) = TimeLayout::scan_iso(line, at)?;
    civil.has_zone().then_some(end)
}

/// `2025-03-29T11:54:05.123456789Z stdout F text`, as Kubernetes' runtimes write files.
pub(super) fn cri(line: &[u8], out: &mut Vec<u8>) -> Option<Inner> {
    let at = stamp(line, 0)?;
    let rest = line.get(at..)?;
    let rest = rest.strip_prefix(b" stdout ").or_else(|| rest.strip_prefix(b" stderr "))?;
    let (flag, text) = rest.split_first()?;
    let end = memchr::memchr(b' ', text).map_or(text.len(), |n| n + 1);
    out.extend_from_slice(&text[end..]);
    match flag {
        b'F' => Some(Inner::Whole),
        b'P' => Some(Inner::Partial),
        _ => None,
    }
}

/// `stdout` or `stderr`.
pub(super) fn cri_stream(line: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let rest = line.get(stamp(line, 0)? + 1..)?;
    let name = rest.get(..6).filter(|name| matches!(*name, b"stdout" | b"stderr"))?;
    out.extend_from_slice(name);
    Some(())
}

/// `2025-03-29T11:54:05.123456789Z text`: `kubectl logs --timestamps`, `docker logs -t`.
pub(super) fn timestamps(line: &[u8], out: &mut Vec<u8>) -> Option<Inner> {
    let at = stamp(line, 0)?;
    (line.get(at).is_none_or(|b| *b == b' ')).then_some(())?;
    rest(line, (at + 1).min(line.len()), out)
}

/// `2025-03-29T13:54:05+02:00: text`, as command lines that add a time to each line print it.
pub(super) fn timestamps_colon(line: &[u8], out: &mut Vec<u8>) -> Option<Inner> {
    let at = stamp(line, 0)?;
    line.get(at..)?.strip_prefix(b":").filter(|rest| rest.is_empty() || rest[0] == b' ')?;
    rest(line, (at + 2).min(line.len()), out)
}

/// Whether a word is the name of a pod: of parts with lines between.
fn is_pod(word: &[u8]) -> bool {
    let is_of_name = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'.');
    word.iter().all(is_of_name)
        && word.contains(&b'-')
        && word.first().is_some_and(u8::is_ascii_alphanumeric)
        && word.last().is_some_and(u8::is_ascii_alphanumeric)
        && word.iter().any(u8::is_ascii_lowercase)
        && !is_uuid(word)
}

fn is_uuid(word: &[u8]) -> bool {
    word.len() == 36 && word.iter().all(|b| b.is_ascii_hexdigit() || *b == b'-')
}

/// `[pod-name] text`, `[pod-name container] text`, as kubetail prints.
pub(super) fn kubetail(line: &[u8], out: &mut Vec<u8>) -> Option<Inner> {
    let end = kubetail_name(line)?;
    rest(line, (end + 2).min(line.len()), out)
}

pub(super) fn kubetail_process(line: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let end = kubetail_name(line)?;
    out.extend(line[1..end].iter().map(|b| if *b == b' ' { b'/' } else { *b }));
    Some(())
}

/// Where the bracket closes.
fn kubetail_name(line: &[u8]) -> Option<usize> {
    let end = memchr::memchr(b']', line.strip_prefix(b"[")?)? + 1;
    let mut words = line[1..end].split(|b| *b == b' ');
    let is_name =
        is_pod(words.next()?) && words.next().is_none_or(|word| !word.is_empty()) && words.next().is_none();
    (is_name && line.get(end + 1).is_none_or(|b| *b == b' ')).then_some(end)
}

/// `host: text`, as tools that run a command on many hosts print it.
pub(super) fn pdsh(line: &[u8], out: &mut Vec<u8>) -> Option<Inner> {
    rest(line, pdsh_name(line)? + 2, out)
}

pub(super) fn pdsh_process(line: &[u8], out: &mut Vec<u8>) -> Option<()> {
    out.extend_from_slice(&line[..pdsh_name(line)?]);
    Some(())
}

/// Where the name of a host ends, in small letters as hosts are called.
fn pdsh_name(line: &[u8]) -> Option<usize> {
    let end = memchr::memmem::find(line, b": ")?;
    let name = &line[..end];
    let is_of_name = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'.');
    let is_host = name.iter().all(is_of_name) && name.first().is_some_and(u8::is_ascii_lowercase);
    (is_host && !matches!(parse_level(name), Some(Some(_)))).then_some(end)
}

/// `namespace/pod[container]: text`
pub(super) fn kail(line: &[u8], out: &mut Vec<u8>) -> Option<Inner> {
    let end = kail_name(line)?;
    rest(line, (end + 3).min(line.len()), out)
}

/// `namespace/pod/container`
pub(super) fn kail_process(line: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let name = &line[..kail_name(line)?];
    let open = memchr::memchr(b'[', name)?;
    out.extend_from_slice(&name[..open]);
    out.push(b'/');
    out.extend_from_slice(&name[open + 1..]);
    Some(())
}

/// Where the bracket closes.
fn kail_name(line: &[u8]) -> Option<usize> {
    let end = memchr::memchr(b']', line)?;
    let name = &line[..end];
    let (slash, open) = (memchr::memchr(b'/', name)?, memchr::memchr(b'[', name)?);
    let is_of_name = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'.');
    let parts = [&name[..slash], name.get(slash + 1..open)?, &name[open + 1..]];
    let is_name = parts.iter().all(|part| !part.is_empty() && part.iter().all(is_of_name));
    (is_name && line.get(end + 1) == Some(&b':')).then_some(end)
}

/// `[pod/NAME/CONTAINER] text`
pub(super) fn kubectl_prefix(line: &[u8], out: &mut Vec<u8>) -> Option<Inner> {
    line.strip_prefix(b"[pod/")?;
    let end = memchr::memchr(b']', line)?;
    rest(line, (end + 2).min(line.len()), out)
}

/// `NAME/CONTAINER`
pub(super) fn kubectl_process(line: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let name = line.strip_prefix(b"[pod/")?;
    out.extend_from_slice(&name[..memchr::memchr(b']', name)?]);
    Some(())
}

/// `name-1  | text`
pub(super) fn compose(line: &[u8], out: &mut Vec<u8>) -> Option<Inner> {
    let is_name = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'@');
    let n = line.iter().take_while(|b| is_name(b)).count();
    let blanks = line[n..].iter().take_while(|b| **b == b' ').count();
    let at = n + blanks;
    (n > 0 && blanks > 0 && line.get(at) == Some(&b'|')).then_some(())?;
    rest(line, (at + 2).min(line.len()), out)
}

/// What stands before the bar.
pub(super) fn compose_process(line: &[u8], out: &mut Vec<u8>) -> Option<()> {
    compose(line, &mut Vec::new())?;
    out.extend_from_slice(&line[..memchr::memchr(b' ', line)?]);
    Some(())
}

/// `pod-name container text`
pub(super) fn stern(line: &[u8], out: &mut Vec<u8>) -> Option<Inner> {
    let first = word(line, 0)?;
    let is_name = |word: &[u8]| {
        word.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'.'))
            && word.iter().any(u8::is_ascii_lowercase)
    };
    let second = word(line, first)?;
    let (pod, container) = (&line[..first - 1], &line[first..second - 1]);
    (is_name(pod) && pod.contains(&b'-') && is_name(container)).then_some(())?;
    rest(line, second, out)
}

/// `pod-name/container`
pub(super) fn stern_process(line: &[u8], out: &mut Vec<u8>) -> Option<()> {
    stern(line, &mut Vec::new())?;
    let pod = word(line, 0)?;
    out.extend_from_slice(&line[..pod - 1]);
    out.push(b'/');
    out.extend_from_slice(&line[pod..word(line, pod)? - 1]);
    Some(())
}

/// `<34>` and its end.
fn priority(line: &[u8]) -> Option<usize> {
    let end = memchr::memchr(b'>', line.strip_prefix(b"<")?)?;
    (end <= 3 && line[1..=end].iter().all(u8::is_ascii_digit)).then_some(end + 2)
}

/// ` host tag[pid]: text` from `at` on.
fn host_and_tag(line: &[u8], at: usize, out: &mut Vec<u8>) -> Option<Inner> {
    (line.get(at) == Some(&b' ')).then_some(())?;
    let tag = word(line, at + 1)?;
    let is_tag = |b: &u8| !b.is_ascii_whitespace() && *b != b':';
    let n = line[tag..].iter().take_while(|b| is_tag(b)).count();
    // No program is called by digits alone: that is an hour.
    let is_name = line[tag..tag + n].iter().any(u8::is_ascii_alphabetic);
    (is_name && line.get(tag + n) == Some(&b':')).then_some(())?;
    rest_of_syslog(line, (tag + n + 2).min(line.len()), out)
}

/// `host/tag[pid]`, where ` host tag[pid]:` stands at `at`.
fn process_of_tag(line: &[u8], at: usize, out: &mut Vec<u8>) -> Option<()> {
    let tag = word(line, at + 1)?;
    out.extend_from_slice(&line[at + 1..tag - 1]);
    out.push(b'/');
    let n = line[tag..].iter().take_while(|b| !b.is_ascii_whitespace() && **b != b':').count();
    out.extend_from_slice(&line[tag..tag + n]);
    Some(())
}

/// `<34>Mar  9 11:54:05 host app[12]: text`, also without the priority, as journalctl prints.
pub(super) fn syslog_3164(line: &[u8], out: &mut Vec<u8>) -> Option<Inner> {
    host_and_tag(line, syslog_stamp_end(line)?, out)
}

pub(super) fn syslog_3164_process(line: &[u8], out: &mut Vec<u8>) -> Option<()> {
    process_of_tag(line, syslog_stamp_end(line)?, out)
}

/// The end of a priority and of `Mar  9 11:54:05`.
fn syslog_stamp_end(line: &[u8]) -> Option<usize> {
    const MONTHS: [&[u8]; 12] =
        [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];
    let at = priority(line).unwrap_or(0);
    let stamp = line.get(at..at + 15)?;
    MONTHS.contains(&&stamp[..3]).then_some(())?;
    let is_digit = |i: usize| stamp[i].is_ascii_digit();
    let fits = stamp[3] == b' '
        && (stamp[4] == b' ' || is_digit(4))
        && is_digit(5)
        && stamp[9] == b':'
        && stamp[12] == b':';
    fits.then_some(())?;
    let fraction = line[at + 15..].iter().take_while(|b| b.is_ascii_digit() || **b == b'.').count();
    Some(at + 15 + fraction)
}

/// `host/app[12]`
pub(super) fn syslog_5424_process(line: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let host = word(line, priority(line)? + 2)?;
    let app = word(line, host)?;
    let pid = word(line, app)?;
    let end = word(line, pid)?;
    out.extend_from_slice(&line[host..app - 1]);
    out.push(b'/');
    out.extend_from_slice(&line[app..pid - 1]);
    if &line[pid..end - 1] != b"-" {
        out.push(b'[');
        out.extend_from_slice(&line[pid..end - 1]);
        out.push(b']');
    }
    Some(())
}

/// `<34>1 2025-03-29T11:54:05.123Z host app 12 ID [sd] text`
pub(super) fn syslog_5424(line: &[u8], out: &mut Vec<u8>) -> Option<Inner> {
    let at = priority(line)?;
    (line.get(at..at + 2) == Some(b"1 ")).then_some(())?;
    let mut at = at + 2;
    for _ in 0..5 {
        at = word(line, at)?;
    }
    if line.get(at) == Some(&b'-') {
        return rest_of_syslog(line, (at + 2).min(line.len()), out);
    }
    // Values are quoted and can hold brackets.
    let mut quoted = false;
    let mut end = at;
    while let Some(b) = line.get(end) {
        match b {
            b'\\' if quoted => end += 1,
            b'"' => quoted = !quoted,
            b']' if !quoted && line.get(end + 1) != Some(&b'[') => break,
            _ => {}
        }
        end += 1;
    }
    (line.get(at) == Some(&b'[')).then_some(())?;
    rest_of_syslog(line, (end + 2).min(line.len()), out)
}

/// `2025-03-29T11:54:05+0000 host app[12]: text`: `journalctl -o short-iso`.
pub(super) fn journal(line: &[u8], out: &mut Vec<u8>) -> Option<Inner> {
    host_and_tag(line, stamp(line, 0)?, out)
}

/// `Sat 2025-03-29 11:54:05 UTC host app[12]: text`: `journalctl -o short-full`.
pub(super) fn journal_full(line: &[u8], out: &mut Vec<u8>) -> Option<Inner> {
    host_and_tag(line, journal_full_stamp_end(line)?, out)
}

pub(super) fn journal_full_process(line: &[u8], out: &mut Vec<u8>) -> Option<()> {
    process_of_tag(line, journal_full_stamp_end(line)?, out)
}

pub(super) fn journal_process(line: &[u8], out: &mut Vec<u8>) -> Option<()> {
    process_of_tag(line, stamp(line, 0)?, out)
}

fn journal_full_stamp_end(line: &[u8]) -> Option<usize> {
    let day = word(line, 0)?;
    (day == 4 && line[..3].iter().all(u8::is_ascii_alphabetic)).then_some(())?;
    let (end, _) = TimeLayout::scan_iso(line, day)?;
    Some(word(line, end + 1)? - 1)
}

/// `INFO   | jvm 1    | 2025/03/29 11:54:05 | text`: what a service wrapper starts, in any choice
/// of its fields.
pub(super) fn service_wrapper(line: &[u8], out: &mut Vec<u8>) -> Option<Inner> {
    let mut at = 0;
    let mut is_started = false;
    while let Some(n) = memchr::memmem::find(line.get(at..)?, b" | ") {
        let field = line[at..at + n].trim_ascii();
        let is_child = field.starts_with(b"jvm ") && field[4..].iter().all(u8::is_ascii_digit);
        let is_level = !field.is_empty() && field.iter().all(u8::is_ascii_uppercase);
        let is_stamp = field.len() == 19 && field[..4].iter().all(u8::is_ascii_digit) && field[4] == b'/';
        if !(is_child || (!is_started && is_level) || (is_started && is_stamp)) {
            break;
        }
        is_started |= is_child;
        at += n + 3;
    }
    is_started.then_some(())?;
    rest(line, at, out)
}

/// `   2025-03-29T11:54:05.12+0000 [APP/PROC/WEB/0] OUT text`
pub(super) fn cloud_foundry(line: &[u8], out: &mut Vec<u8>) -> Option<Inner> {
    let at = stamp(line, blanks(line))?;
    line.get(at..)?.strip_prefix(b" [")?;
    let end = at + memchr::memchr(b']', &line[at..])?;
    let after = line.get(end..)?;
    (after.starts_with(b"] OUT") || after.starts_with(b"] ERR")).then_some(())?;
    rest(line, (end + 6).min(line.len()), out)
}

/// `APP/PROC/WEB/0`: what stands in brackets.
pub(super) fn cloud_foundry_process(line: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let name = line.get(stamp(line, blanks(line))?..)?.strip_prefix(b" [")?;
    out.extend_from_slice(&name[..memchr::memchr(b']', name)?]);
    Some(())
}

/// `2025-03-29T11:54:05.123456+00:00 app[web.1]: text`
pub(super) fn heroku(line: &[u8], out: &mut Vec<u8>) -> Option<Inner> {
    rest(line, heroku_tag(line)?.1, out)
}

pub(super) fn heroku_process(line: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let (start, end) = heroku_tag(line)?;
    let tag = line[start..end].trim_ascii_end();
    out.extend_from_slice(tag.strip_suffix(b":")?);
    Some(())
}

/// Start and end of `app[web.1]: `.
fn heroku_tag(line: &[u8]) -> Option<(usize, usize)> {
    let start = stamp(line, 0)? + 1;
    let tag = line.get(start..)?;
    let n = tag.iter().take_while(|b| b.is_ascii_lowercase()).count();
    (n > 0 && tag.get(n) == Some(&b'[')).then_some(())?;
    let end = memchr::memmem::find(tag, b"]:")?;
    let is_name = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_');
    tag[n + 1..end].iter().all(is_name).then_some((start, (start + end + 3).min(line.len())))
}

/// `2025-03-29T11:54:05Z {app="x"} text`
pub(super) fn logcli(line: &[u8], out: &mut Vec<u8>) -> Option<Inner> {
    let (_, end) = labels(line)?;
    rest(line, (end + 2).min(line.len()), out)
}

/// Labels that say of whom a line is, those that say more first: one of each row.
const LABELS: [&[&str]; 3] = [
    &["pod", "instance", "host", "hostname", "node_name"],
    &["container", "container_name", "unit", "compose_service"],
    &["app", "service_name", "job"],
];

pub(super) fn logcli_process(line: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let (start, end) = labels(line)?;
    let labels = &line[start..end];
    for row in LABELS {
        let value = row.iter().find_map(|label| {
            let mut at = 0;
            loop {
                at += memchr::memmem::find(&labels[at..], format!("{label}=\"").as_bytes())?;
                let begins = at == 0 || matches!(labels[at - 1], b' ' | b',');
                at += label.len() + 2;
                if begins {
                    return Some(&labels[at..at + memchr::memchr(b'"', &labels[at..])?]);
                }
            }
        });
        if let Some(value) = value {
            if !out.is_empty() {
                out.push(b'/');
            }
            out.extend_from_slice(value);
        }
    }
    Some(())
}

/// Start and end of what stands in the braces.
fn labels(line: &[u8]) -> Option<(usize, usize)> {
    let at = stamp(line, 0)?;
    let labels = line.get(at..)?.strip_prefix(b" {")?;
    let mut quoted = false;
    let end = labels.iter().position(|b| {
        quoted ^= *b == b'"';
        *b == b'}' && !quoted
    })?;
    labels[..end].contains(&b'=').then_some((at + 2, at + 2 + end))
}

/// `1743249245123000000<tab>2025-03-29T11:54:05.123Z<tab>text`
pub(super) fn grafana(line: &[u8], out: &mut Vec<u8>) -> Option<Inner> {
    let n = line.iter().take_while(|b| b.is_ascii_digit()).count();
    (n >= 13 && line.get(n) == Some(&b'\t')).then_some(())?;
    let at = stamp(line, n + 1)?;
    (line.get(at) == Some(&b'\t')).then_some(())?;
    rest(line, at + 1, out)
}

/// The second time of such a line.
pub(super) fn grafana_stamp(line: &[u8]) -> Option<Civil> {
    TimeLayout::scan_iso(line, memchr::memchr(b'\t', line)? + 1).map(|(_, civil)| civil)
}

/// `2025-03-29T11:54:05+00:00<tab>tag<tab>{"log":"text"}` as fluentd writes files, and on standard
/// output `2025-03-29 11:54:05.123456789 +0000 tag: {"log":"text"}`: the tag, and where the object is.
fn fluentd_parts(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = stamp(line, 0).or_else(|| TimeLayout::scan_iso(line, 0).map(|(end, _)| end))?;
    let rest = line.get(at + 1..)?;
    if line[at] == b'\t' {
        let tag = memchr::memchr(b'\t', rest)?;
        return Some((&rest[..tag], &rest[tag + 1..]));
    }
    let zone = rest.first_chunk::<ZONE_BYTES>()?;
    let is_zone = matches!(zone[0], b'+' | b'-') && zone[1..5].iter().all(u8::is_ascii_digit);
    (line[at] == b' ' && is_zone && zone[5] == b' ').then_some(())?;
    let rest = &rest[ZONE_BYTES..];
    let tag = memchr::memchr(b' ', rest)?;
    Some((rest[..tag].strip_suffix(b":")?, &rest[tag + 1..]))
}

/// Bytes of `+0000` and a blank.
const ZONE_BYTES: usize = 6;

pub(super) fn fluentd(line: &[u8], out: &mut Vec<u8>) -> Option<Inner> {
    super::json::message(fluentd_parts(line)?.1, out)
}

/// What the object says, else the tag.
pub(super) fn fluentd_process(line: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let (tag, object) = fluentd_parts(line)?;
    if super::json::process(object, out).is_none() || out.is_empty() {
        out.extend_from_slice(tag);
    }
    Some(())
}

/// When fluentd got the line; its zone can stand behind a blank.
pub(super) fn fluentd_stamp(line: &[u8]) -> Option<Civil> {
    let with_zone = TimeLayout::compile("yyyy-MM-dd HH:mm:ss.SSS Z", None).ok()?;
    with_zone.scan(line, 0).map(|(_, civil)| civil).or_else(|| stamp_at_start(line))
}

/// `KEY=value` lines of which `MESSAGE` is the text: `journalctl -o export`.
pub(super) fn journal_export(line: &[u8], out: &mut Vec<u8>) -> Option<Inner> {
    if line.is_empty() {
        return Some(Inner::Nothing);
    }
    let at = memchr::memchr(b'=', line)?;
    let is_key = line[..at].iter().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_');
    (at > 0 && is_key).then_some(())?;
    if &line[..at] == b"MESSAGE" { rest(line, at + 1, out) } else { Some(Inner::Nothing) }
}
