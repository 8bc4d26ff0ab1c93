//! Detection: which layouts the records of a file are in. Every layout that reads headers is
//! tried, and what the model says of the messages that are left decides: a layout is right if
//! log points of the printed logger and level have printed what it takes for messages. Without
//! a word of the model's, a layout is right that leaves no field inside the messages.

use std::sync::Arc;

use super::Layout;
use super::dates::{Dates, dates_of};
use super::fit::{Fit, fit, header_of, is_class, score};
use super::found::Found;
use super::induce::induced;
use super::judge::Judge;
use super::layouts::{ARRANGEMENTS, OF_THE_MACHINE, UNDATED};
use super::sample::Sample;
use super::widths::with_widths;
use crate::limits::LAYOUT_LINES_MAX;
use crate::reading::Reading;

/// Other layouts that one file can have.
const OTHERS_MAX: usize = 4;

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
        .take(LAYOUT_LINES_MAX)
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
    let mut reading = told(&main, starts.len(), judge.has_model());
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
    let [n_lines, n_starts, n_known, n_of] = [n, n_starts, fit.n_explained, n_judged].map(|n| n as u64);
    let how = format!("found: {}", Found { n_lines, n_starts, n_known, n_judged: n_of });
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
    // What libraries print says nothing of whose log it is, and where most of it is theirs the few
    // other lines can be of more of them.
    let n_own = n_judged - fit.n_libraries;
    if has_model && fit.n_explained * 10 < n_own && fit.n_libraries < n_own {
        doubts.push(format!(
            "of {n_own} messages looked at, the program's log points have printed {}: is it the log of another program, or not of the layout `{pattern}`?",
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
            (fit.n_judged, fit.n_explained, fit.n_clean, fit.n_libraries) = (0, 0, 0, 0);
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
        // What is empty at times, or an id, is no thread.
        check(
            "2026-11-21 01:28:30,199 INFO  [] [main] b.C: x\n\
             2026-11-21 01:28:30,199 ERROR [5a80214ee961ed80a5a6e98b7f16f0ab] [http-9] b.C: x\n",
            "%d{ISO8601} %-5p [%x] [%t] %c: %m%n",
        );
        check("hello\nworld\n", "none");
    }
}
