//! Strangers: lines that look like records and are in none of a file's layouts, as those of a
//! program that was given another configuration for a while. They end the record before them and
//! are counted; taken for the rest of it they would vanish.

use crate::header::parse_level;

/// Bytes of a line in which its time stamp begins and ends.
const STAMP_WITHIN: usize = 48;
/// Bytes of a line in which the class stands that a record without a time names.
const CLASS_WITHIN: usize = 160;
/// Letters of a level, a month or a day in front of a time.
const WORD_MAX: usize = 5;

/// Whether a line looks like a record: it begins with a time stamp, or with a level that a class
/// follows.
pub(crate) fn is_like_record(line: &[u8]) -> bool {
    match line.first() {
        Some(b' ' | b'\t' | b'"' | b'{') | None => false,
        Some(_) => is_stamped(line) || is_levelled(line),
    }
}

/// Whether it begins with date and time, or with a level and a time.
fn is_stamped(line: &[u8]) -> bool {
    let head = &line[..line.len().min(STAMP_WITHIN)];
    let is_time = |at: usize| {
        head.get(at..at + 8).is_some_and(|time| {
            time.iter().enumerate().all(|(i, b)| if i % 3 == 2 { *b == b':' } else { b.is_ascii_digit() })
        })
    };
    let Some(colon) = memchr::memchr(b':', head).filter(|colon| *colon >= 2) else { return false };
    let at = colon - 2;
    if !is_time(at) || head.get(at + 8).is_some_and(u8::is_ascii_digit) {
        return false;
    }
    let before = &head[..at];
    let is_sign = |b: &u8| !b.is_ascii_alphanumeric() && *b < 0x80;
    let mut words = before.split(is_sign).filter(|word| !word.is_empty());
    let is_of_stamp = |word: &[u8]| {
        word.iter().all(u8::is_ascii_digit)
            || word.len() <= WORD_MAX
            || matches!(parse_level(word), Some(Some(_)))
            || word.strip_suffix(b"T").is_some_and(|day| day.iter().all(u8::is_ascii_digit))
    };
    let has_date = before.iter().any(u8::is_ascii_digit);
    let has_level = || before.split(is_sign).any(|word| matches!(parse_level(word), Some(Some(_))));
    let is_alone = before.iter().all(|b| matches!(b, b'[' | b'(' | b'<' | b'#' | b'|'));
    (is_alone || has_date || has_level()) && words.all(is_of_stamp)
}

/// Levels that the Java machine prints in its own log.
const OF_THE_MACHINE: [&[u8]; 5] = [b"trace", b"debug", b"info", b"warning", b"error"];

/// Whether a line is one of those that the Java machine itself prints: of what it collects, compiles
/// and loads, in its own layout, or in that of old machines.
pub(crate) fn is_of_machine(line: &[u8]) -> bool {
    let mut rest = line;
    let mut has_level = false;
    while let Some(inner) = rest.strip_prefix(b"[") {
        let Some(end) = memchr::memchr(b']', inner) else { break };
        if has_level {
            // Behind the level stand the tags.
            return inner[..end]
                .trim_ascii()
                .iter()
                .all(|b| b.is_ascii_lowercase() || b",+0123456789".contains(b));
        }
        has_level = OF_THE_MACHINE.contains(&inner[..end].trim_ascii());
        rest = &inner[end + 1..];
    }
    let head = &line[..line.len().min(STAMP_WITHIN + 16)];
    [&b": [GC"[..], b": [Full GC", b": [CMS", b": [Times", b": Total time for which"]
        .iter()
        .any(|mark| memchr::memmem::find(head, mark).is_some())
}

/// Whether it begins with a level, and names a class of a package.
fn is_levelled(line: &[u8]) -> bool {
    let text = line.strip_prefix(b"[").unwrap_or(line);
    let n = text.iter().take_while(|b| b.is_ascii_uppercase()).count();
    if !(4..=7).contains(&n) || !matches!(parse_level(&text[..n]), Some(Some(_))) {
        return false;
    }
    let head = &text[n..text.len().min(CLASS_WITHIN)];
    let is_name = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'$');
    head.split(|b| !is_name(b)).any(|word| {
        let last = word.rsplit(|b| *b == b'.').next().unwrap_or_default();
        word.iter().filter(|b| **b == b'.').count() >= 2 && last.first().is_some_and(u8::is_ascii_uppercase)
    })
}

#[cfg(test)]
mod tests {
    use super::{is_like_record, is_of_machine};

    #[test]
    fn lines_of_the_machine() {
        for line in [
            "[0.012s][info][gc] Using G1",
            "[2025-03-29T11:54:00.101+0000][0.421s][info ][gc,heap,exit] Heap",
            "2025-03-29T11:54:05.123+0000: 12.345: [GC (Allocation Failure) 1M->1M(2M), 0.1 secs]",
        ] {
            assert!(is_of_machine(line.as_bytes()), "{line}");
        }
        for line in ["[main] [info] a.B: x", "[2025-03-29][INFO][a.B] x", "[info][Some Text] x", ""] {
            assert!(!is_of_machine(line.as_bytes()), "{line}");
        }
    }

    #[test]
    fn lines_that_look_like_records() {
        for line in [
            "2025-03-29 11:54:05,123 INFO a.B: x",
            "[2025-03-29T11:54:05.123Z] x",
            "29-Mar-2025 11:54:05.123 INFO x",
            "Mar 29, 2025 11:54:05 AM a.B c",
            "11:54:05 [main] x",
            "INFO  [main] 2025-03-29 11:54:05,123 x",
            "INFO  [main] a.b.C - x",
            "[WARN] a.b.C: x",
        ] {
            assert!(is_like_record(line.as_bytes()), "{line}");
        }
        for line in [
            "\tat a.b.C.d(E.java:12)",
            "java.io.IOException: at 11:54:05",
            "Caused by: a.b.C: 12:30:00",
            "  2025-03-29 11:54:05 is when it began",
            "elapsed: 11:54:05",
            "{\"time\":\"11:54:05\"}",
            "ERROR: no such thing",
            "at 11:54:05 it began",
            "",
        ] {
            assert!(!is_like_record(line.as_bytes()), "{line}");
        }
    }
}
