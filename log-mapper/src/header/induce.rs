//! Induction: a layout that no table has, read off the lines. The time is found by its shape,
//! the level by its name, the logger because the model knows it; what stands between them is
//! literal, in brackets a thread or any text. Whether it is right is decided as for any other.

use std::collections::BTreeMap;

use super::dates::date_in;
use super::detect::{Judge, Sample};
use super::parse_level;
use super::timestamp::TimeLayout;

/// Lines that are looked at.
const N_LINES_MAX: usize = 48;
/// Bytes of a line in which its fields stand.
const HEADER_WITHIN: usize = 400;
/// Layouts that are tried.
const N_PATTERNS_MAX: usize = 3;

/// A field of a line: where it stands, and its conversion.
#[derive(Clone, Debug)]
struct Found {
    start: usize,
    end: usize,
    conversion: String,
}

/// Layouts that lines of the sample show, those of most lines first.
pub(super) fn induced(
    sample: &Sample<'_>,
    starts: &[usize],
    dates: &[&str],
    judge: &mut Judge<'_>,
) -> Vec<String> {
    let dates: Vec<(&str, TimeLayout)> =
        dates.iter().filter_map(|date| Some((*date, TimeLayout::compile(date, None).ok()?))).collect();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let step = starts.len().div_ceil(N_LINES_MAX).max(1);
    for &i in starts.iter().step_by(step) {
        let line = sample.line(i);
        let line = &line[..line.len().min(HEADER_WITHIN)];
        let Some(fields) = fields_of(line, &dates, judge) else { continue };
        for pattern in patterns_of(line, &fields) {
            *counts.entry(pattern).or_default() += 1;
        }
    }
    let mut patterns: Vec<(String, usize)> = counts.into_iter().collect();
    patterns.sort_by_key(|(pattern, n)| (std::cmp::Reverse(*n), std::cmp::Reverse(pattern.len())));
    patterns.into_iter().take(N_PATTERNS_MAX).map(|(pattern, _)| pattern).collect()
}

/// Time, level and logger or call site of a line, in the order in which they stand there.
fn fields_of(line: &[u8], dates: &[(&str, TimeLayout)], judge: &mut Judge<'_>) -> Option<Vec<Found>> {
    let stamp = |(date, layout): &(&str, TimeLayout)| {
        date_in(layout, line).map(|(start, end)| Found { start, end, conversion: format!("%d{{{date}}}") })
    };
    let time = dates.iter().filter_map(stamp).max_by_key(|found| found.end - found.start)?;
    let mut fields = vec![time.clone()];
    let mut words = words_of(line).filter(|(start, end)| *end <= time.start || *start >= time.end);
    let mut level = None;
    let mut place = None;
    for (start, end) in &mut words {
        let word = &line[start..end];
        if level.is_none() && word.len() > 3 && matches!(parse_level(word), Some(Some(_))) {
            level = Some(Found { start, end, conversion: "%p".to_owned() });
            fields.extend(level.clone());
        } else if let Some(found) = place_at(line, start, end, judge) {
            place = Some(found);
            break;
        }
    }
    fields.extend(place);
    fields.sort_by_key(|field| field.start);
    (level.is_some() && fields.len() == 3).then_some(fields)
}

/// A logger that the model knows, or a source file with a line.
fn place_at(line: &[u8], start: usize, end: usize, judge: &mut Judge<'_>) -> Option<Found> {
    let word = &line[start..end];
    let n_digits = |from: usize| line[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    if [&b".java"[..], b".scala", b".kt"].iter().any(|suffix| word.ends_with(suffix)) {
        let n = line.get(end).filter(|b| **b == b':').map_or(0, |_| n_digits(end + 1));
        return (n > 0).then(|| Found { start, end: end + 1 + n, conversion: "%F:%L".to_owned() });
    }
    let is_name = word.contains(&b'.') || word.first().is_some_and(u8::is_ascii_uppercase);
    if !is_name || !judge.knows_logger(word) {
        return None;
    }
    let n = line.get(end).filter(|b| **b == b':').map_or(0, |_| n_digits(end + 1));
    let (end, conversion) = if n > 0 { (end + 1 + n, "%c:%L") } else { (end, "%c") };
    Some(Found { start, end, conversion: conversion.to_owned() })
}

/// Runs of what names are made of.
fn words_of(line: &[u8]) -> impl Iterator<Item = (usize, usize)> + '_ {
    let is_name = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'$');
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + line[at..].iter().position(|b| is_name(*b))?;
        let end = start + line[start..].iter().position(|b| !is_name(*b)).unwrap_or(line.len() - start);
        at = end;
        Some((start, end))
    })
}

/// The patterns that read the line so: the message begins after the last field, or after a
/// bracket behind that.
fn patterns_of(line: &[u8], fields: &[Found]) -> Vec<String> {
    let mut pattern = String::new();
    let mut has_thread = false;
    let mut at = 0;
    for field in fields {
        between(&line[at..field.start], &mut has_thread, &mut pattern);
        pattern.push_str(&field.conversion);
        at = field.end;
    }
    let close = line[at..].iter().take_while(|b| matches!(b, b']' | b')' | b'}' | b'>')).count();
    between(&line[at..at + close], &mut has_thread, &mut pattern);
    at += close;
    let mut out = Vec::new();
    let ends_at = |at: usize| {
        line[at..].iter().take_while(|b| matches!(b, b' ' | b'\t' | b':' | b'-' | b'|' | b'>')).count()
    };
    let n = ends_at(at);
    let finish = |pattern: &str, separator: &[u8]| {
        let mut pattern = pattern.to_owned();
        between(separator, &mut true, &mut pattern);
        pattern + "%m%n"
    };
    if n > 0 {
        out.push(finish(&pattern, &line[at..at + n]));
    }
    // ` [thread] - message`
    let rest = &line[at + n..];
    if let Some(len) = bracket(rest) {
        between(&line[at..at + n + len], &mut has_thread, &mut pattern);
        let after = at + n + len;
        let n = ends_at(after);
        if n > 0 {
            out.push(finish(&pattern, &line[after..after + n]));
        }
    }
    out
}

/// The length of a text in brackets at the start of `text`.
fn bracket(text: &[u8]) -> Option<usize> {
    let close = match text.first()? {
        b'[' => b']',
        b'(' => b')',
        b'{' => b'}',
        _ => return None,
    };
    memchr::memchr(close, text).map(|end| end + 1)
}

/// Adds what stands between two fields: literals, numbers, texts in brackets.
fn between(text: &[u8], has_thread: &mut bool, pattern: &mut String) {
    let mut at = 0;
    while at < text.len() {
        let b = text[at];
        if let Some(len) = bracket(&text[at..]) {
            pattern.push(char::from(b));
            pattern.push_str(if *has_thread { "%x" } else { "%t" });
            pattern.push(char::from(text[at + len - 1]));
            *has_thread = true;
            at += len;
            continue;
        }
        let n_digits = text[at..].iter().take_while(|b| b.is_ascii_digit()).count();
        if n_digits > 0 {
            pattern.push_str("%pid");
            at += n_digits;
            continue;
        }
        match b {
            b' ' if pattern.ends_with(' ') => {}
            b'%' => pattern.push_str("%%"),
            b'\\' => pattern.push_str("\\\\"),
            b if b.is_ascii() => pattern.push(char::from(b)),
            _ => pattern.push_str("%x"),
        }
        at += 1;
    }
}
