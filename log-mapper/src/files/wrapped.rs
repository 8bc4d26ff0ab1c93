//! What is around the lines of a file, and which layouts the lines within are in: every wrapper
//! that fits is tried, and what the model says of the texts that are left decides.

use std::sync::Arc;

use crate::header::timestamp::TimeLayout;
use crate::header::{Judge, Layout, choose, date_patterns};
use crate::limits::LAYOUT_SAMPLE_BYTES;
use crate::lines::line_end;
use crate::reading::Reading;
use crate::strangers::is_like_record;
use crate::wrappers::{
    BARE, WRAPPERS, Wrapper, are_around_lines, before_lines, fits, has_names, has_stamp, is_before_lines,
    unwrap,
};

/// Wrappers in each other.
pub(super) const WRAPPERS_MAX: usize = 3;
/// Lines from which it is told whether there is a wrapper.
const N_WRAPPED_MAX: usize = 40;

/// How `sample` is read, in the wrapper, if any, in which the model knows most of its texts.
pub(super) fn choose_wrapped(
    sample: &[u8],
    has_end: bool,
    given: &[Arc<Layout>],
    judge: &mut Judge<'_>,
    n_wrappers: usize,
) -> Reading {
    let clean = Reading::default().unwrap(sample);
    let text = clean.as_ref().map_or(sample, |clean| &clean.text);
    let mut best = choose(text, has_end, given, judge);
    if n_wrappers == 0 {
        return best;
    }
    for wrapper in WRAPPERS.iter().filter(|wrapper| is_wrapped(wrapper, text)) {
        let inner = unwrap(&[*wrapper], text).text;
        let own = layouts_of(wrapper, &inner);
        let given = if own.is_empty() { given } else { &own };
        let mut reading = choose_wrapped(&inner, has_end, given, judge, n_wrappers - 1);
        if own.is_empty() {
            reading.wrappers.insert(0, *wrapper);
        } else {
            reading.wrappers = vec![*wrapper];
            reading.how = format!("found: {} records", reading.n_headers);
            reading.doubts.clear();
            add_bare(&mut reading, &inner, has_end, judge);
            reading.layouts.extend(Layout::compile(BARE_LAYOUT).ok().map(Arc::new));
        }
        if n_wrappers == WRAPPERS_MAX && lacks_time(&reading) {
            continue;
        }
        if is_better(&reading, &best) && !(wrapper.is_like_thread() && lacks_thread(&reading)) {
            best = reading;
        }
    }
    match WRAPPERS_MAX - n_wrappers {
        0 => choose_behind_words(text, has_end, given, judge, best),
        // Within another wrapper: of who has passed on what somebody else logs.
        1 if !is_known(&best) => choose_behind_words(text, has_end, given, judge, best),
        _ => best,
    }
}

/// Whether a reading has names for what it reads, and a time is not among them, nor does a wrapper
/// have it: a key of it that is not known would be passed over.
fn lacks_time(reading: &Reading) -> bool {
    has_names(&reading.wrappers)
        && !has_stamp(&reading.wrappers)
        && reading.main().is_some_and(|layout| layout.time().is_none())
}

/// Whether the model knows most of the messages that were looked at.
fn is_known(reading: &Reading) -> bool {
    reading.n_explained > 0 && reading.n_explained * 2 >= reading.n_headers.min(N_KNOWN)
}

/// Whether the layout of a reading prints no thread, or no day before it: a name before its lines
/// can be that of a thread then, as a layout prints it.
fn lacks_thread(reading: &Reading) -> bool {
    reading.main().is_none_or(|layout| !layout.fields().thread) || !reading.has_day()
}

/// The layouts of the inner text of a wrapper that tells the fields apart: with the dates that it
/// is tested for, and those that the text shows.
fn layouts_of(wrapper: &Wrapper, inner: &[u8]) -> Vec<Arc<Layout>> {
    let mut patterns: Vec<String> = wrapper.layouts.iter().map(|pattern| (*pattern).to_owned()).collect();
    if let Some(first) = wrapper.layouts.first().filter(|first| first.contains(ANY_DATE)) {
        let dates = date_patterns(inner);
        let others = dates.iter().map(|date| first.replace(ANY_DATE, &format!("%d{{{date}}}")));
        let others: Vec<String> = others.filter(|pattern| !patterns.contains(pattern)).collect();
        patterns.extend(others);
    }
    patterns.iter().filter_map(|pattern| Layout::compile(pattern).ok()).map(Arc::new).collect()
}

const ANY_DATE: &str = "%d{ISO8601}";

/// Whether a reading with a wrapper is to be preferred to `best`. What the model knows of both is
/// counted in samples, which differ a little.
fn is_better(reading: &Reading, best: &Reading) -> bool {
    if reading.n_headers == 0 || reading.n_own == 0 {
        return false;
    }
    let is_less = |ours: usize, theirs: usize| ours * 10 < theirs * 9;
    let (ours, theirs) = (reading.n_known(), best.n_known());
    if is_less(ours, theirs) || is_less(theirs, ours) {
        return is_less(theirs, ours);
    }
    // A layout without a time, where another one has one, lacks what the wrapper was taken for, if
    // that does not say the time itself.
    let has_time = |reading: &Reading| {
        has_stamp(&reading.wrappers) || reading.main().is_some_and(|layout| layout.time().is_some())
    };
    let key = |reading: &Reading| (reading.n_own.min(1), has_time(reading));
    if key(reading) != key(best) {
        return key(reading) > key(best);
    }
    // What is around the lines is no part of them, if they can be read without it.
    match best.wrappers.is_empty() {
        true => !is_less(reading.n_headers, best.n_headers),
        false => is_less(best.n_headers, reading.n_headers),
    }
}

/// How `text` is read, if not by `best`: behind words that stand before each of its lines. They are
/// looked for where nothing else is known of most messages; of a layout that knows them they are a
/// field, unless they stand before the other lines of its records too.
fn choose_behind_words(
    text: &[u8],
    has_end: bool,
    given: &[Arc<Layout>],
    judge: &mut Judge<'_>,
    mut best: Reading,
) -> Reading {
    let is_known = is_known(&best);
    // What is of nobody is searched on and on for a first record: not for words before it.
    if !is_known && text.len() > LAYOUT_SAMPLE_BYTES {
        return best;
    }
    for wrapper in before_lines(text) {
        let begins = |line: &[u8]| {
            let inner = unwrap(&best.wrappers, line).text;
            let start = best.scan(&inner, 0, line_end(&inner, 0));
            start.is_some_and(|start| start.layout < best.n_own)
        };
        let is_around = is_known
            && best.wrappers.iter().all(is_before_lines)
            && (are_around_lines(&wrapper, text, &begins) || is_before_time(&wrapper, text));
        if is_known && !is_around {
            continue;
        }
        let inner = unwrap(&[wrapper], text).text;
        // Where names are taken off a layout that is known, nothing else is around its lines.
        let n_wrappers = usize::from(!(is_around && wrapper.names_processes()));
        let mut reading = choose_wrapped(&inner, has_end, given, judge, n_wrappers);
        reading.wrappers.insert(0, wrapper);
        let is_more = !is_known && reading.n_explained > best.n_explained && is_better(&reading, &best);
        let is_as_good = reading.n_own > 0 && reading.n_known() * 10 >= best.n_known() * 9;
        if is_more || (is_around && is_as_good && says_as_much(&reading, &best)) {
            best = reading;
        }
    }
    best
}

/// Whether what stands before each line names nobody, and a whole time follows it: a record prints
/// its time once, what stands before is of who has got the line.
fn is_before_time(wrapper: &Wrapper, text: &[u8]) -> bool {
    let first = unwrap(&[*wrapper], &text[..line_end(text, 0)]).text;
    !wrapper.names_processes() && TimeLayout::scan_iso(&first, 0).is_some()
}

/// Whether day, level and logger are in one reading as in the other: none of them was taken for words.
fn says_as_much(reading: &Reading, best: &Reading) -> bool {
    let fields = |reading: &Reading| {
        let fields = reading.main().map(|layout| layout.fields());
        (reading.has_day(), fields.as_ref().map(|fields| fields.level), fields.map(|fields| fields.place))
    };
    fields(reading) == fields(best)
}

/// Messages that are looked for in the model at least, of a file with so many.
const N_KNOWN: usize = 64;

/// Adds the layouts of lines that look like records and are not read yet: a program that has been
/// given another configuration, for a while or from there on.
pub(super) fn add_rest(reading: &mut Reading, text: &[u8], judge: &mut Judge<'_>) {
    if reading.n_own == 0 || has_names(&reading.wrappers) || reading.header_lines_max() > 1 {
        return;
    }
    let inner = unwrap(&reading.wrappers, text).text;
    let is_left = |line: &[u8]| {
        let start = reading.scan(line, 0, line.len());
        start.is_none_or(|start| start.layout >= reading.n_own) && is_like_record(line)
    };
    let lines = inner.split_inclusive(|b| *b == b'\n').filter(|line| line.ends_with(b"\n"));
    let rest: Vec<u8> = lines.filter(|line| is_left(&line[..line.len() - 1])).flatten().copied().collect();
    if rest.is_empty() {
        return;
    }
    let found = choose(&rest, true, &[], judge);
    let own = found.layouts.iter().take(found.n_own).filter(|_| found.n_explained * 2 > found.n_judged);
    for layout in own.filter(|layout| layout.n_header_lines == 1) {
        if reading.layouts.iter().all(|known| known.pattern() != layout.pattern()) {
            reading.layouts.insert(reading.n_own, Arc::clone(layout));
            reading.n_own += 1;
        }
    }
}

/// Adds the layouts of lines that are in no wrapper: a program that prints in one way until it has
/// read its configuration, or two on one output.
fn add_bare(reading: &mut Reading, inner: &[u8], has_end: bool, judge: &mut Judge<'_>) {
    let bare: Vec<u8> = inner
        .split(|b| *b == b'\n')
        .filter_map(|line| line.strip_prefix(&[BARE]))
        .flat_map(|line| line.iter().copied().chain([b'\n']))
        .collect();
    let found = choose(&bare, has_end, &[], judge);
    if found.n_explained == 0 {
        return;
    }
    let one_line = found.layouts.iter().take(found.n_own).filter(|layout| layout.n_header_lines == 1);
    for layout in one_line {
        let pattern = format!("{}{}", char::from(BARE), layout.pattern());
        if let Ok(layout) = Layout::compile(&pattern) {
            reading.layouts.insert(reading.n_own, Arc::new(layout));
            reading.n_own += 1;
        }
    }
    reading.n_headers += found.n_headers;
    reading.n_judged += found.n_judged;
    reading.n_explained += found.n_explained;
    reading.how = format!("found: {} records", reading.n_headers);
}

/// A line that is in no wrapper, where each record is.
const BARE_LAYOUT: &str = "\u{1e}%m%n";

/// What leaves the lines of each section as they are.
const SECTIONS: &str = "sections";

/// Whether most lines are wrapped so.
fn is_wrapped(wrapper: &Wrapper, text: &[u8]) -> bool {
    if wrapper.has_sections() && !wrapper.has_section_in(text) {
        return false;
    }
    if wrapper.joins() && !wrapper.begins_object_in(text) {
        return false;
    }
    if wrapper.name == SECTIONS {
        return true;
    }
    let mut scratch = Vec::new();
    let lines = text.split(|b| *b == b'\n').filter(|line| !line.is_empty()).take(N_WRAPPED_MAX);
    let (n, n_fit) = lines.fold((0, 0), |(n, n_fit), line| {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        (n + 1, n_fit + usize::from(fits(wrapper, line, &mut scratch)))
    });
    // Where each record says what its fields are, some of the lines are enough.
    if wrapper.layouts.is_empty() { n_fit * 2 > n } else { n_fit * 4 >= n && n_fit > 0 }
}
