//! Detection: which layouts the records of a file are in. Every layout that reads headers is
//! tried, and what the model says of the messages that are left decides: a layout is right if
//! log points of the printed logger and level have printed what it takes for messages. Without
//! a word of the model's, a layout is right that leaves no field inside the messages.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::dates::{Dates, N_DATED_MAX, dates_of};
use super::induce::induced;
use super::layouts::{ARRANGEMENTS, OF_THE_MACHINE, UNDATED};
use super::timestamp::TimeLayout;
use super::widths::with_widths;
use super::{Header, Layout, parse_level};
use crate::lines::line_end;
use crate::matched::query;
use crate::patterns::{PatternSet, Scratch};
use crate::reading::Reading;

/// Lines that can begin a record which are looked at.
const N_LINES_MAX: usize = 400;
/// Of them, those whose messages are looked for in the model.
const N_JUDGED_MAX: usize = 64;
/// Constant bytes by which a message is known whose logger is not printed.
const CONSTANT_MIN: u32 = 8;
/// Other layouts that one file can have.
const OTHERS_MAX: usize = 4;

/// What the model says of messages.
pub(crate) struct Judge<'a> {
    patterns: Option<&'a PatternSet>,
    scratch: Scratch,
}

impl<'a> Judge<'a> {
    /// With the log points of a model.
    pub(crate) fn new(patterns: &'a PatternSet) -> Self {
        Self { patterns: Some(patterns), scratch: patterns.scratch() }
    }

    /// That knows nothing.
    pub(crate) fn without() -> Self {
        Self { patterns: None, scratch: Scratch::default() }
    }

    pub(super) fn knows_logger(&mut self, name: &[u8]) -> bool {
        self.patterns.is_some_and(|patterns| patterns.knows_logger(name, &mut self.scratch))
    }

    /// Whether a log point can have printed the record, by a text of its own.
    fn explains(&mut self, layout: &Layout, rest: &[u8], header: &Header<'_>) -> bool {
        let Some(patterns) = self.patterns else { return false };
        let mut header = *header;
        if header.logger.is_some_and(|logger| !self.knows_logger(logger)) {
            return false;
        }
        let query = query(rest, &mut header, layout);
        let has_place = header.logger.is_some() || header.line.is_some() || header.method.is_some();
        patterns.find(&mut self.scratch, &query);
        let n_blanks = rest.iter().take_while(|b| **b == b' ').count();
        if n_blanks > 0 && self.scratch.constant() == 0 {
            let query = self::query(&rest[n_blanks..], &mut header, layout);
            patterns.find(&mut self.scratch, &query);
        }
        let constant = self.scratch.constant();
        constant >= CONSTANT_MIN.min(query.text.len() as u32).max(1) || (has_place && constant > 0)
    }
}

/// The text of a sample, and its lines that are not empty.
pub(super) struct Sample<'a> {
    pub(super) text: &'a [u8],
    pub(super) lines: Vec<(usize, usize)>,
}

impl<'a> Sample<'a> {
    fn new(text: &'a [u8], has_end: bool) -> Self {
        let mut lines = Vec::new();
        let mut at = 0;
        while at < text.len() {
            let end = line_end(text, at);
            // The last line may have been cut.
            if end > at && (end < text.len() || has_end || lines.is_empty()) {
                lines.push((at, end));
            }
            at = end + 1;
        }
        Self { text, lines }
    }

    pub(super) fn n_lines(&self) -> usize {
        self.lines.len()
    }

    pub(super) fn line(&self, i: usize) -> &'a [u8] {
        let (at, end) = self.lines[i];
        let line = &self.text[at..end];
        line.strip_suffix(b"\r").unwrap_or(line)
    }
}

/// How well a layout reads the lines of a sample.
struct Fit {
    layout: Layout,
    /// Which of the lines are headers.
    lines: Vec<u32>,
    /// Of the judged ones: explained by the model, and with no field left in the message.
    n_judged: usize,
    n_explained: usize,
    n_clean: usize,
}

/// How the records of `text`, the start of a file or all of it, are laid out. `given`: layouts
/// to choose from, if there are any.
pub(crate) fn choose(text: &[u8], has_end: bool, given: &[Arc<Layout>], judge: &mut Judge<'_>) -> Reading {
    let sample = Sample::new(text, has_end);
    if !given.is_empty() {
        return choose_given(&sample, given, judge);
    }
    let dates = dates_of(&sample);
    let dated: Vec<usize> = (0..sample.lines.len()).filter(|i| dates.is_dated(sample.line(*i))).collect();
    let starts: Vec<usize> = if dated.is_empty() { (0..sample.lines.len()).collect() } else { dated }
        .into_iter()
        .take(N_LINES_MAX)
        .collect();
    let patterns = patterns_of(&dates);
    let mut fits: Vec<Fit> =
        patterns.iter().filter_map(|p| fit(Layout::compile_any_padding(p).ok()?, &sample, &starts)).collect();
    let most = fits.iter().map(|fit| fit.lines.len()).max().unwrap_or(0);
    fits.iter_mut().filter(|fit| fit.lines.len() * 4 >= most).for_each(|fit| score(fit, &sample, judge));
    // Where the model knows what every line says behind a layout of the table, none is read off
    // the lines: what stands before each message is of the message then.
    let is_told =
        |fit: &Fit| fit.lines.len() == starts.len() && fit.n_judged > 0 && fit.n_explained == fit.n_judged;
    let induced = match fits.iter().any(is_told) {
        true => Vec::new(),
        false => induced(&sample, &starts, &dates.patterns, judge),
    };
    for pattern in induced {
        if !patterns.contains(&pattern)
            && let Ok(layout) = Layout::compile_any_padding(&pattern)
            && let Some(mut fit) = fit(layout, &sample, &starts)
        {
            score(&mut fit, &sample, judge);
            fits.push(fit);
        }
    }
    // What prints neither a time nor who it is of is a layout if the model knows what follows.
    fits.retain(|fit| {
        let fields = fit.layout.fields();
        fit.layout.time().is_some() || fields.place || fit.n_explained * 2 > fit.n_judged
    });
    let Some(best) = best(&fits) else { return Reading::default() };
    let (main, rest) = settle(fits, best, &sample);
    let mut reading = told(&main, starts.len(), judge.patterns.is_some());
    if reading.n_own > 0 {
        add_others(&mut reading, main, rest, &sample, &starts, judge);
    }
    reading
}

/// The date patterns that the lines of `text` show.
pub(crate) fn date_patterns(text: &[u8]) -> Vec<&'static str> {
    dates_of(&Sample::new(text, true)).patterns
}

/// The layouts of `given` that read any header; all of them if none does: what stands in the
/// sample may all be of somebody else.
fn choose_given(sample: &Sample<'_>, given: &[Arc<Layout>], judge: &mut Judge<'_>) -> Reading {
    let starts: Vec<usize> = (0..sample.lines.len()).collect();
    let mut fits: Vec<(usize, Fit)> = given
        .iter()
        .enumerate()
        .filter_map(|(i, layout)| Some((i, fit(Layout::clone(layout), sample, &starts)?)))
        .collect();
    fits.iter_mut().for_each(|(_, fit)| score(fit, sample, judge));
    // Two patterns of a configuration that read the same lines: one of them wrote the file.
    let mut layouts: Vec<Arc<Layout>> = Vec::new();
    let mut left: Vec<u32> = starts.iter().map(|i| *i as u32).collect();
    let (mut n_judged, mut n_explained) = (0, 0);
    loop {
        fits.iter_mut().for_each(|(_, fit)| fit.lines.retain(|line| left.contains(line)));
        let key = |(i, fit): &(usize, Fit)| {
            (fit.n_explained, fit.n_clean, fit.layout.n_fields(), fit.lines.len(), std::cmp::Reverse(*i))
        };
        let Some((i, fit)) = fits.iter().filter(|(_, fit)| !fit.lines.is_empty()).max_by_key(|f| key(f))
        else {
            break;
        };
        left.retain(|line| !fit.lines.contains(line));
        n_judged += fit.n_judged;
        n_explained += fit.n_explained;
        layouts.push(Arc::clone(&given[*i]));
        let taken = *i;
        fits.retain(|(i, _)| *i != taken);
    }
    let n_headers = starts.len() - left.len();
    let mut doubts = Vec::new();
    if layouts.is_empty() {
        layouts = given.to_vec();
        doubts.extend(misfit(sample, given));
    }
    let n_own = layouts.len();
    let how = "given".to_owned();
    let mut reading =
        Reading { layouts, n_own, n_headers, n_judged, n_explained, how, doubts, ..Reading::default() };
    add_start_only(&mut reading);
    reading
}

/// Lines among which the one is looked for that a layout fits nearly.
const N_NEARLY_MAX: usize = 20;

/// Where layouts do not fit: in the line, of the first ones, that one of them reads most of.
fn misfit(sample: &Sample<'_>, given: &[Arc<Layout>]) -> Option<String> {
    let lines = 0..sample.lines.len().min(N_NEARLY_MAX);
    let misfits =
        lines.flat_map(|i| given.iter().map(move |layout| (i, layout))).filter_map(|(i, layout)| {
            let (at, what) = layout.misfit(sample.line(i))?;
            Some((at, std::cmp::Reverse(i), layout, what))
        });
    let (at, std::cmp::Reverse(i), layout, what) = misfits.max_by_key(|(at, i, ..)| (*at, *i))?;
    let line = memchr::memchr_iter(b'\n', &sample.text[..sample.lines[i].0]).count() + 1;
    let pattern = layout.pattern().trim_end();
    Some(format!("the layout `{pattern}` does not fit: {what} is not at column {} of line {line}", at + 1))
}

/// The common layouts with the dates that were seen.
fn patterns_of(dates: &Dates) -> Vec<String> {
    let with = |date: &&str| {
        let date = format!("%d{{{date}}}");
        ARRANGEMENTS.iter().map(move |arrangement| arrangement.replace("%d", &date)).collect::<Vec<_>>()
    };
    let dated = dates.patterns.iter().flat_map(with);
    dated.chain(UNDATED.iter().map(|pattern| (*pattern).to_owned())).collect()
}

/// The lines of the sample that are headers in `layout`; none if no line is.
fn fit(layout: Layout, sample: &Sample<'_>, starts: &[usize]) -> Option<Fit> {
    let reads = |i: &&usize| header_of(&layout, sample, **i).is_some();
    // A layout that reads none of so many lines is not that of the file.
    let first = starts.len().min(N_DATED_MAX);
    let is_undated = layout.time().is_none();
    if starts.len() > first && !is_undated && !starts.iter().step_by(starts.len() / first).any(|i| reads(&i))
    {
        return None;
    }
    let lines: Vec<u32> = starts.iter().filter(reads).map(|i| *i as u32).collect();
    (!lines.is_empty()).then_some(Fit { layout, lines, n_judged: 0, n_explained: 0, n_clean: 0 })
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
fn score(fit: &mut Fit, sample: &Sample<'_>, judge: &mut Judge<'_>) {
    let step = fit.lines.len().div_ceil(N_JUDGED_MAX);
    for &i in fit.lines.iter().step_by(step) {
        let Some((header, rest)) = header_of(&fit.layout, sample, i as usize) else { continue };
        fit.n_judged += 1;
        if is_wrong(&fit.layout, &header, judge) {
            continue;
        }
        let is_explained = judge.explains(&fit.layout, rest, &header);
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
/// several.
fn is_mistaken(fit: &Fit, sample: &Sample<'_>) -> bool {
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
        (thread.is_empty() && !layout.pattern().contains(UNIT))
            || is_id(thread)
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
fn is_class(name: &[u8]) -> bool {
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

/// Of those that nearly as much speaks for as for any, the one that says most.
fn best(fits: &[Fit]) -> Option<usize> {
    let mut left: Vec<usize> = (0..fits.len()).filter(|i| fits[*i].n_judged > 0).collect();
    let share = |n: usize, fit: &Fit| n * fit.lines.len() / fit.n_judged.max(1);
    let counts: [&dyn Fn(&Fit) -> usize; 3] =
        [&|fit| share(fit.n_explained, fit), &|fit| share(fit.n_clean, fit), &|fit| fit.lines.len()];
    for count in counts {
        let most = left.iter().map(|i| count(&fits[*i])).max()?;
        left.retain(|i| count(&fits[*i]) >= most - most / 10);
    }
    // A layout prints its fields in every record: what only some lines have is of the messages,
    // if the program prints them so.
    let is_known = |i: &usize| fits[*i].n_explained > 0 && fits[*i].n_explained == fits[*i].n_judged;
    if let Some(most) = left.iter().filter(|i| is_known(i)).map(|i| fits[*i].lines.len()).max() {
        left.retain(|i| fits[*i].lines.len() >= most);
    }
    left.into_iter().max_by_key(|i| {
        let fit = &fits[*i];
        (fit.layout.n_fields(), share(fit.n_explained, fit), fit.lines.len(), std::cmp::Reverse(*i))
    })
}

/// The best layout with the widths that it pads its fields to, and the others.
fn settle(mut fits: Vec<Fit>, best: usize, sample: &Sample<'_>) -> (Fit, Vec<Fit>) {
    let mut main = fits.swap_remove(best);
    main.layout = with_widths(&main.layout, &main.lines, sample);
    (main, fits)
}

/// The reading with one layout, and how sure it is. A layout that leaves fields in the messages
/// and of which the model knows nothing is not used: its name is told.
fn told(fit: &Fit, n_starts: usize, has_model: bool) -> Reading {
    let pattern = fit.layout.pattern().trim_end_matches("%n").to_owned();
    let (n, n_judged) = (fit.lines.len(), fit.n_judged);
    let how = format!("found: {n} of {n_starts} lines, {} of {n_judged} texts known", fit.n_explained);
    let lacks = |has: bool, what: &'static str| (!has).then_some(what);
    let fields = fit.layout.fields();
    let lacking: Vec<&str> =
        [lacks(fields.level, "level"), lacks(fields.place, "logger")].into_iter().flatten().collect();
    let is_dirty = fit.n_clean * 2 < n_judged;
    if is_dirty && fit.n_explained * 2 < n_judged && !lacking.is_empty() {
        let doubt = format!(
            "no known layout: the best guess, `{pattern}`, leaves fields inside the messages; give the layout with --layout PATTERN"
        );
        return Reading { how, doubts: vec![doubt], ..Reading::default() };
    }
    let mut doubts = Vec::new();
    if has_model && fit.n_explained * 10 < n_judged {
        doubts.push(format!(
            "of {n_judged} messages looked at, the program's log points have printed {}: is it the log of another program, or not of the layout `{pattern}`?",
            fit.n_explained
        ));
    }
    Reading {
        layouts: vec![Arc::new(fit.layout.clone())],
        n_own: 1,
        n_headers: n,
        n_judged,
        n_explained: fit.n_explained,
        how,
        doubts,
        ..Reading::default()
    }
}

/// Adds layouts for the lines that the first does not read.
fn add_others(
    reading: &mut Reading,
    main: Fit,
    mut fits: Vec<Fit>,
    sample: &Sample<'_>,
    starts: &[usize],
    judge: &mut Judge<'_>,
) {
    let dates = dates_of(sample);
    for date in &dates.patterns {
        let patterns = OF_THE_MACHINE.iter().map(|p| p.replace("%d", &format!("%d{{{date}}}")));
        fits.extend(patterns.filter_map(|p| fit(Layout::compile_any_padding(&p).ok()?, sample, starts)));
    }
    let is_read = |reading: &Reading, i: &usize| {
        let (at, end) = sample.lines[*i];
        reading.scan(sample.text, at, end).is_some()
    };
    // The further lines of a header begin no record.
    let mut left: Vec<u32> = starts.iter().filter(|i| !is_read(reading, i)).map(|i| *i as u32).collect();
    if main.layout.n_header_lines > 1 {
        left.clear();
    }
    let (mut own, mut foreign) = (vec![Arc::new(main.layout)], Vec::new());
    for _ in 0..OTHERS_MAX {
        fits.iter_mut().for_each(|fit| fit.lines.retain(|line| left.binary_search(line).is_ok()));
        fits.retain(|fit| !fit.lines.is_empty());
        for fit in &mut fits {
            (fit.n_judged, fit.n_explained, fit.n_clean) = (0, 0, 0);
            score(fit, sample, judge);
        }
        // What stands in the middle of a record can look like a header without a time.
        fits.retain(|fit| fit.layout.time().is_some() || fit.n_explained * 2 > fit.n_judged);
        let Some(best) = best(&fits) else { break };
        let (fit, rest) = settle(fits, best, sample);
        fits = rest;
        left.retain(|line| fit.lines.binary_search(line).is_err());
        let is_own = fit.n_explained > 0 || has_classes(&fit, sample);
        if is_own { own.push(Arc::new(fit.layout)) } else { foreign.push(Arc::new(fit.layout)) }
    }
    own.sort_by_key(|layout| std::cmp::Reverse(layout.n_fields()));
    foreign.sort_by_key(|layout| std::cmp::Reverse(layout.n_fields()));
    reading.n_own = own.len();
    reading.layouts = own.into_iter().chain(foreign).collect();
    add_start_only(reading);
}

/// Whether most of the lines name a class where a logger stands.
fn has_classes(fit: &Fit, sample: &Sample<'_>) -> bool {
    let names_class = |i: &&u32| {
        let header = header_of(&fit.layout, sample, **i as usize).map(|(header, _)| header);
        header.is_some_and(|header| header.logger.or(header.class).is_some_and(is_class))
    };
    fit.lines.iter().filter(names_class).count() * 2 > fit.lines.len()
}

/// A line that begins with the time stamp of a record and is none is of somebody else.
fn add_start_only(reading: &mut Reading) {
    let more: Vec<Arc<Layout>> = reading.layouts[..reading.n_own]
        .iter()
        .filter_map(|layout| layout.start_only())
        .map(Arc::new)
        .collect();
    for layout in more {
        if reading.layouts.iter().all(|known| known.pattern() != layout.pattern()) {
            reading.layouts.push(layout);
        }
    }
}

/// The layout that reads `sample`, the start of a file, best, by its headers alone. Looks at
/// `given` if there are any, otherwise at the common layouts.
#[must_use]
pub fn detect(sample: &[u8], given: &[Arc<Layout>]) -> Option<Arc<Layout>> {
    choose(sample, true, given, &mut Judge::without()).main().cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(sample: &str, expected: &str) {
        let found = detect(sample.as_bytes(), &[]);
        assert_eq!(found.as_ref().map_or("none", |l| l.pattern()), expected, "{sample}");
    }

    #[test]
    fn common_layouts() {
        check("2026-11-21 01:28:30,199 INFO a.b.C: x\n/***\n", "%d{ISO8601} %p %c: %m%n");
        check("2026-11-21 01:28:30,199 INFO  [main] b.C: x\n", "%d{ISO8601} %-5p [%t] %c: %m%n");
        check(
            "2026-11-21 01:28:30,199 ERROR [main] b.C: x\n2026-11-21 01:28:30,199 INFO [main] b.C: x\n",
            "%d{ISO8601} %p [%t] %c: %m%n",
        );
        check(
            "INFO  [main] 2026-11-21 10:23:21,405 A.java:102 - H: n\n",
            "%-5p [%t] %d{ISO8601} %F:%L - %m%n",
        );
        check(
            "2026-11-21 09:40:31,876 [myid:] - INFO  [main:Q@101] - x\n",
            "%d{ISO8601} [myid:%X{myid}] - %-5p [%t:%C@%L] - %m%n",
        );
        check("2026-11-21 01:28:30,199 INFO a.b.C: [Part 3] x\n", "%d{ISO8601} %p %c: %m%n");
        check("2026-11-21 01:28:30,199 INFO a.b.C [Part 3] x\n", "%d{ISO8601} %p %c [%t] %m%n");
        check("26/11/21 09:40:31 INFO A: x\n", "%d{yy/MM/dd HH:mm:ss} %p %c: %m%n");
        check("[2026-11-21 09:40:31,876] INFO x y (k.S)\n", "[%d{ISO8601}] %p %m (%c)%n");
        check("09:40:31.876 [main] INFO  a.b.C - x\n", "%d{HH:mm:ss.SSS} [%t] %-5p %c - %m%n");
        // What is called like a class is no method of a package.
        check("2026-11-21 01:28:30,199 INFO [main] a.b.Cd Started\n", "%d{ISO8601} %p [%t] %c %m%n");
        check("2026-11-21 01:28:30,199 INFO [main] a.b.Cd.start Started\n", "%d{ISO8601} %p [%t] %C.%M %m%n");
        check("hello\nworld\n", "none");
    }
}
