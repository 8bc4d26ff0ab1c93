//! How well a layout reads the lines of a sample: which of them are headers, whether each field can be
//! what the layout takes it for, and what the model says of the messages that are left.

use std::collections::BTreeSet;

use super::dates::N_DATED_MAX;
use super::judge::Judge;
use super::sample::Sample;
use super::timestamp::TimeLayout;
use super::{Header, Layout, parse_level};

/// Headers of a layout whose messages are looked for in the model.
const N_JUDGED_MAX: usize = 64;

/// How well a layout reads the lines of a sample.
pub(super) struct Fit {
    pub(super) layout: Layout,
    /// Which of the lines are headers.
    pub(super) lines: Vec<u32>,
    /// Of the judged ones: explained by the model, and with no field left in the message.
    pub(super) n_judged: usize,
    pub(super) n_explained: usize,
    pub(super) n_clean: usize,
    /// Of the judged ones: printed by well-known libraries, which no model holds.
    pub(super) n_libraries: usize,
}

/// The lines of the sample that are headers in `layout`; none if no line is.
pub(super) fn fit(layout: Layout, sample: &Sample<'_>, starts: &[usize]) -> Option<Fit> {
    let reads = |i: &&usize| header_of(&layout, sample, **i).is_some();
    // A layout that reads none of so many lines is not that of the file.
    let first = starts.len().min(N_DATED_MAX);
    let is_undated = layout.time().is_none();
    if starts.len() > first && !is_undated && !starts.iter().step_by(starts.len() / first).any(|i| reads(&i))
    {
        return None;
    }
    let lines: Vec<u32> = starts.iter().filter(reads).map(|i| *i as u32).collect();
    (!lines.is_empty()).then_some(Fit {
        layout,
        lines,
        n_judged: 0,
        n_explained: 0,
        n_clean: 0,
        n_libraries: 0,
    })
}

/// The header of a line that is a whole record of the layout, and what follows it. A layout that
/// prints something after the message does not fit a line without it, though
/// that can be the first of a longer message.
pub(super) fn header_of<'a>(
    layout: &Layout,
    sample: &Sample<'a>,
    i: usize,
) -> Option<(Header<'a>, &'a [u8])> {
    let at = sample.lines[i].0;
    let end = layout.header_end(sample.text, at);
    let line = &sample.text[at..end];
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let mut header = layout.scan(line)?;
    if header.time.is_some_and(|time| !time.is_possible()) || header.logger.is_some_and(|l| !is_logger(l)) {
        return None;
    }
    let rest = &line[header.message_start..];
    let trimmed = if layout.scan_suffix(rest, &mut header).is_some() { rest } else { rest.trim_ascii_end() };
    layout.scan_suffix(trimmed, &mut header)?;
    Some((header, trimmed))
}

/// No logger's name ends with a colon: that is of a layout which prints one there. Nor is a
/// number one.
fn is_logger(name: &[u8]) -> bool {
    !name.ends_with(b":")
        && !name.starts_with(b"[")
        && !name.starts_with(b"(")
        && !name.starts_with(b"-")
        && name.iter().any(u8::is_ascii_alphabetic)
        && !matches!(parse_level(name), Some(Some(_)))
}

/// Counts what the model explains.
pub(super) fn score(fit: &mut Fit, sample: &Sample<'_>, judge: &mut Judge<'_>) {
    let step = fit.lines.len().div_ceil(N_JUDGED_MAX);
    for &i in fit.lines.iter().step_by(step) {
        let Some((header, rest)) = header_of(&fit.layout, sample, i as usize) else { continue };
        fit.n_judged += 1;
        if is_wrong(&fit.layout, &header, judge) {
            continue;
        }
        let is_explained = judge.explains(&fit.layout, rest, &header);
        let is_of_library = |name| judge.is_of_library(name);
        fit.n_libraries +=
            usize::from(!is_explained && header.logger.or(header.class).is_some_and(is_of_library));
        fit.n_explained += usize::from(is_explained);
        let is_whole =
            is_explained && (header.logger.is_some() || header.class.is_some() || header.line.is_some());
        fit.n_clean +=
            usize::from(is_whole || (is_clean(&header, rest) && !holds_logger(&header, rest, judge)));
    }
    if is_mistaken(fit, sample) {
        (fit.n_explained, fit.n_clean) = (0, 0);
    }
}

/// The key by which layouts of the table name a node.
const NODE: &str = "node";

/// What stands in brackets behind the logger: a node has one name in all of its log, threads have
/// several. And what is always empty is no thread, though some of the threads can have no name.
fn is_mistaken(fit: &Fit, sample: &Sample<'_>) -> bool {
    let thread = |i: &u32| header_of(&fit.layout, sample, *i as usize)?.0.thread;
    let has_name = |i: &u32| thread(i).is_none_or(|thread| !thread.trim_ascii().is_empty());
    if !fit.layout.pattern().contains(UNIT) && !fit.lines.iter().any(has_name) {
        return true;
    }
    let node = fit.layout.mdc_keys().iter().position(|key| key == NODE);
    if node.is_none() && !fit.layout.pattern().ends_with("][%c] [%t] %m%n") {
        return false;
    }
    let value = |i: &u32| {
        let (header, _) = header_of(&fit.layout, sample, *i as usize)?;
        node.map_or(header.thread, |node| header.mdc[node])
    };
    let values: BTreeSet<&[u8]> = fit.lines.iter().filter_map(value).collect();
    if node.is_some() { values.len() > 1 } else { values.len() < 2 }
}

/// Whether a field cannot be what the layout takes it for. Loggers are classes of the program,
/// threads are not, nor are they ids or nothing.
fn is_wrong(layout: &Layout, header: &Header<'_>, judge: &mut Judge<'_>) -> bool {
    let correlation = layout.mdc_keys().iter().position(|key| key == CORRELATION);
    let correlation = correlation.and_then(|i| header.mdc[i]).map(<[u8]>::trim_ascii);
    if correlation.is_some_and(|id| !id.is_empty() && !is_id(id)) {
        return true;
    }
    if header.class.zip(header.method).is_some_and(|(class, method)| is_package(class) && is_big(method)) {
        return true;
    }
    header.thread.map(<[u8]>::trim_ascii).is_some_and(|thread| {
        is_id(thread)
            || is_cut(thread)
            || is_class(thread)
            || (thread.contains(&b'.') && judge.knows_logger(thread))
    })
}

/// Between fields that a wrapper has told apart by their names, of which some can be missing.
const UNIT: char = '\u{1f}';

/// Whether a bracket closes that nothing has opened: what is taken for one field are two.
fn is_cut(name: &[u8]) -> bool {
    let mut depth = 0_i32;
    name.iter().any(|b| {
        depth += i32::from(*b == b'[') - i32::from(*b == b']');
        depth < 0
    })
}

/// The key by which layouts of the table name a trace with its span.
const CORRELATION: &str = "correlation";

/// Whether nothing is left in the message that a layout prints: a level, a bracket, a second
/// time stamp, a logger.
fn is_clean(header: &Header<'_>, rest: &[u8]) -> bool {
    let text = rest.trim_ascii_start();
    let Some(first) = text.first() else { return true };
    if matches!(first, b'[' | b'|')
        || text.starts_with(b"- ")
        || text.starts_with(b"-- ")
        || text.starts_with(b"---")
    {
        return false;
    }
    if text.starts_with(b": ") || text.starts_with(b":: ") {
        return false;
    }
    if TimeLayout::iso().scan(text, 0).is_some() {
        return false;
    }
    let word_end = text.iter().position(|b| !is_name_byte(*b)).unwrap_or(text.len());
    let word = &text[..word_end];
    let is_level = header.level.is_none() && matches!(parse_level(word), Some(Some(_))) && word.len() > 3;
    let is_logger = header.logger.is_none() && header.class.is_none() && is_class(word);
    !is_level && !is_logger
}

/// Bytes of a message in which a logger is looked for that the layout prints.
const LOGGER_WITHIN: usize = 160;

/// Whether a logger of the program, with its package, stands in a message whose layout prints none.
fn holds_logger(header: &Header<'_>, rest: &[u8], judge: &mut Judge<'_>) -> bool {
    if header.logger.is_some() || header.class.is_some() || header.line.is_some() {
        return false;
    }
    let text = &rest[..rest.len().min(LOGGER_WITHIN)];
    let words = text.split(|b| !is_name_byte(*b)).filter(|word| word.contains(&b'.'));
    words.take(8).any(|word| judge.knows_logger(word))
}

fn is_name_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'$')
}

/// Whether what stands where a class should is a package, as far as its name says: classes begin
/// with a big letter, packages and methods do not. What stands behind it is the class then.
fn is_package(name: &[u8]) -> bool {
    let last = name.rsplit(|b| *b == b'.').next().unwrap_or_default();
    name.contains(&b'.') && last.first().is_some_and(u8::is_ascii_lowercase)
}

fn is_big(name: &[u8]) -> bool {
    name.first().is_some_and(u8::is_ascii_uppercase)
}

/// `a.b.C`
pub(super) fn is_class(name: &[u8]) -> bool {
    let mut parts = name.rsplit(|b| *b == b'.');
    let last = parts.next().unwrap_or_default();
    name.iter().filter(|b| **b == b'.').count() >= 2
        && last.first().is_some_and(u8::is_ascii_uppercase)
        && name.iter().all(|b| is_name_byte(*b))
}

/// `0123456789abcdef0123456789abcdef-0123456789abcdef`
fn is_id(name: &[u8]) -> bool {
    name.len() >= 32 && name.iter().all(|b| b.is_ascii_hexdigit() || *b == b'-')
}
