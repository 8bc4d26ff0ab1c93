//! Induction: a layout that no table has, read off the lines. The time is found by its shape,
//! the level by its name, the logger because the model knows it; what stands between them is
//! literal, in brackets a thread or any text. Whether it is right is decided as for any other.

use std::collections::BTreeMap;

use super::align::{Column, Token, columns, tokens};
use super::dates::date_in;
use super::judge::Judge;
use super::parse_level;
use super::sample::Sample;
use super::timestamp::TimeLayout;

/// Lines that are looked at.
const N_LINES_MAX: usize = 48;
/// Bytes of a line in which its fields stand.
const HEADER_WITHIN: usize = 400;
/// Shapes of lines of which layouts are tried, those of most lines.
const N_SHAPES_MAX: usize = 2;
/// Layouts of one shape that are tried.
const N_PATTERNS_MAX: usize = 6;
/// Words and signs between two fields, and between the last one and the message.
const N_TOKENS_MAX: usize = 24;

/// A field of a line: where it stands, and its conversion.
#[derive(Clone, Debug)]
struct Found {
    start: usize,
    end: usize,
    conversion: String,
}

/// A line as its fields, and the tokens before each one and behind the last.
struct Line<'a> {
    fields: Vec<Found>,
    gaps: Vec<Vec<Token<'a>>>,
}

/// What lines of one layout have in common: fields, and the shapes of what stands before them.
type Shape = Vec<(String, Vec<(u8, u8)>)>;

/// Layouts that lines of the sample show, those of most lines first.
pub(super) fn induced(
    sample: &Sample<'_>,
    starts: &[usize],
    dates: &[&str],
    judge: &mut Judge<'_>,
) -> Vec<String> {
    let dates: Vec<(&str, TimeLayout)> =
        dates.iter().filter_map(|date| Some((*date, TimeLayout::compile(date, None).ok()?))).collect();
    let mut groups: BTreeMap<Shape, Vec<Line<'_>>> = BTreeMap::new();
    let step = starts.len().div_ceil(N_LINES_MAX).max(1);
    for &i in starts.iter().step_by(step) {
        let line = sample.line(i);
        let line = &line[..line.len().min(HEADER_WITHIN)];
        let Some(fields) = fields_of(line, &dates, judge) else { continue };
        let line = cut(line, fields);
        groups.entry(shape(&line)).or_default().push(line);
    }
    let mut groups: Vec<Vec<Line<'_>>> = groups.into_values().collect();
    groups.sort_by_key(|lines| std::cmp::Reverse(lines.len()));
    let patterns = groups.iter().take(N_SHAPES_MAX).flat_map(|lines| patterns_of(lines));
    // What begins within an object is a part of its text, and no message.
    patterns.filter(|pattern| !pattern.contains(KEY_END)).collect()
}

/// What stands behind a key of JSON.
const KEY_END: &str = "\":";

fn cut(line: &[u8], fields: Vec<Found>) -> Line<'_> {
    let starts = std::iter::once(0).chain(fields.iter().map(|field| field.end));
    let ends = fields.iter().map(|field| field.start).chain([line.len()]);
    let gap = |(start, end): (usize, usize)| {
        tokens(&line[start..end], N_TOKENS_MAX).into_iter().map(|(token, _)| token).collect()
    };
    let gaps = starts.zip(ends).map(gap).collect();
    Line { fields, gaps }
}

fn shape(line: &Line<'_>) -> Shape {
    let of = |(field, gap): (&Found, &Vec<Token<'_>>)| {
        (field.conversion.clone(), gap.iter().map(|token| token.shape()).collect())
    };
    line.fields.iter().zip(&line.gaps).map(of).collect()
}

/// Time, level, and logger or call site of a line, in the order in which they stand there; two
/// of them at least.
fn fields_of(line: &[u8], dates: &[(&str, TimeLayout)], judge: &mut Judge<'_>) -> Option<Vec<Found>> {
    let stamp = |(date, layout): &(&str, TimeLayout)| {
        date_in(layout, line).map(|(start, end)| Found { start, end, conversion: format!("%d{{{date}}}") })
    };
    let time = dates.iter().filter_map(stamp).max_by_key(|found| found.end - found.start)?;
    // JSON and quoted lists of fields are no layout.
    if line[..time.start].contains(&b'"') {
        return None;
    }
    // Digits just before a time of day are of a longer stamp, which no pattern reads.
    let has_digits = line[..time.start].iter().rev().take(3).any(u8::is_ascii_digit);
    if has_digits && time.conversion.starts_with("%d{HH") {
        return None;
    }
    let mut fields = vec![time.clone()];
    let mut words = words_of(line).filter(|(start, end)| *end <= time.start || *start >= time.end);
    let (mut level, mut place) = (None, None);
    let mut n_since_place = 0;
    for (start, end) in &mut words {
        let word = &line[start..end];
        // What stands before the time can be the name of a server.
        let is_sure = place.as_ref().is_some_and(|place: &Found| place.start > time.start);
        n_since_place += usize::from(is_sure);
        // Behind the place stands a level in brackets, or the message.
        if n_since_place > N_BEHIND_PLACE || (level.is_some() && is_sure) {
            break;
        }
        let is_open = !is_sure || (start > 0 && line[start - 1] == b'[');
        if level.is_none() && is_open && word.len() > 3 && matches!(parse_level(word), Some(Some(_))) {
            level = Some(Found { start, end, conversion: "%p".to_owned() });
        } else if !is_sure {
            place = place_at(line, start, end, judge).or(place);
        }
    }
    fields.extend(level);
    fields.extend(place);
    fields.sort_by_key(|field| field.start);
    (fields.len() > 1).then_some(fields)
}

/// Words behind the place among which the level is looked for.
const N_BEHIND_PLACE: usize = 3;

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
    let sign = line.get(end).filter(|b| matches!(b, b':' | b'@')).map(|b| char::from(*b));
    let n = sign.map_or(0, |_| n_digits(end + 1));
    let (end, conversion) = match sign.filter(|_| n > 0) {
        Some(sign) => (end + 1 + n, format!("%c{sign}%L")),
        None => (end, "%c".to_owned()),
    };
    Some(Found { start, end, conversion })
}

/// Runs of what names are made of.
fn words_of(line: &[u8]) -> impl Iterator<Item = (usize, usize)> + '_ {
    let is_name = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'$') || b >= 0x80;
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + line[at..].iter().position(|b| is_name(*b))?;
        let end = start + line[start..].iter().position(|b| !is_name(*b)).unwrap_or(line.len() - start);
        at = end;
        Some((start, end))
    })
}

/// The patterns that lines of one shape show: they differ in where the message begins.
fn patterns_of(lines: &[Line<'_>]) -> Vec<String> {
    let Some(first) = lines.first() else { return Vec::new() };
    let column_of = |gap: usize| {
        let gaps: Vec<Vec<Token<'_>>> = lines.iter().map(|line| line.gaps[gap].clone()).collect();
        columns(&gaps)
    };
    let n_fields = first.fields.len();
    let mut gaps: Vec<Vec<Column<'_>>> = (0..n_fields).map(column_of).collect();
    gaps.push(behind(lines));
    let thread = thread_in(&gaps);
    let mut pattern = String::new();
    for (gap, (columns, field)) in gaps.iter().zip(&first.fields).enumerate() {
        for (i, column) in columns.iter().enumerate() {
            column.write(thread == Some((gap, i)), &mut pattern);
        }
        pattern.push_str(&field.conversion);
    }
    let mut out = Vec::new();
    let last = &gaps[n_fields];
    for (i, column) in last.iter().enumerate() {
        let is_thread = thread == Some((n_fields, i));
        if is_thread {
            column.write(true, &mut pattern)
        } else {
            column.write_text(&mut pattern)
        }
        // A message begins behind a blank, or behind a sign or a bracket that a word follows.
        let is_next = last.get(i + 1).is_none_or(Column::is_field);
        let is_end = column.is_blank() || (is_next && !column.is_word());
        if is_end && out.len() < N_PATTERNS_MAX {
            out.push(format!("{pattern}%m%n"));
        }
    }
    out
}

/// What can stand between the last field and the message: what all lines begin with there.
fn behind<'a>(lines: &[Line<'a>]) -> Vec<Column<'a>> {
    let gaps: Vec<&Vec<Token<'a>>> = lines.iter().filter_map(|line| line.gaps.last()).collect();
    let shortest = gaps.iter().map(|gap| gap.len()).min().unwrap_or(0);
    let is_alike = |i: &usize| gaps.iter().all(|gap| gap[*i].shape() == gaps[0][*i].shape());
    let n = (0..shortest).take_while(is_alike).count();
    let alike: Vec<Vec<Token<'a>>> = gaps.iter().map(|gap| gap[..n].to_vec()).collect();
    let mut columns = columns(&alike);
    let n_lines = lines.len();
    let n = columns.iter().take_while(|column| column.is_before_message(n_lines)).count();
    columns.truncate(n);
    columns
}

/// Gap and column of what looks most like names of threads.
fn thread_in(gaps: &[Vec<Column<'_>>]) -> Option<(usize, usize)> {
    let n_gaps = gaps.len();
    let all = gaps.iter().enumerate().flat_map(|(gap, columns)| {
        columns.iter().enumerate().map(move |(i, column)| {
            // Behind the last field a word can be the message's.
            let is_sure = gap + 1 < n_gaps || !column.is_word() || column.is_thread_word();
            (if is_sure { column.thread_score() } else { 0 }, std::cmp::Reverse((gap, i)))
        })
    });
    all.max().filter(|(score, _)| *score > 0).map(|(_, std::cmp::Reverse(place))| place)
}
