//! Dates: which of the known date patterns the first lines of a file hold, and where in a line.

use super::layouts::DATES;
use super::sample::Sample;
use super::timestamp::TimeLayout;

/// Lines with time stamps that are looked at.
pub(super) const N_DATED_MAX: usize = 60;
/// Bytes at the start of a line in which its time stamp begins.
const DATE_WITHIN: usize = 120;

/// Which date patterns the lines hold.
pub(super) struct Dates {
    pub(super) patterns: Vec<&'static str>,
    layouts: Vec<TimeLayout>,
}

impl Dates {
    pub(super) fn is_dated(&self, line: &[u8]) -> bool {
        self.layouts.iter().any(|layout| date_in(layout, line).is_some())
    }
}

/// Where a time stamp stands at the start of a line, or behind a few fields.
pub(crate) fn date_in(layout: &TimeLayout, line: &[u8]) -> Option<(usize, usize)> {
    let line = &line[..line.len().min(DATE_WITHIN + 64)];
    (0..line.len().min(DATE_WITHIN)).find_map(|at| {
        let is_letter = |b: u8| b.is_ascii_alphanumeric() || b >= 0x80;
        let begins = is_letter(line[at]) && (at == 0 || !is_letter(line[at - 1]));
        let (end, civil) = begins.then(|| layout.scan(line, at)).flatten()?;
        let ends = line.get(end).is_none_or(|b| !b.is_ascii_digit() && !matches!(b, b':' | b'.' | b','))
            || line.get(end..end + 2).is_some_and(|b| !b[1].is_ascii_digit());
        (ends && civil.is_possible()).then_some((at, end))
    })
}

pub(super) fn dates_of(sample: &Sample<'_>) -> Dates {
    let all = DATES.iter().map(|date| (*date, TimeLayout::compile(date, None).expect("a tested table")));
    let n_lines = sample.n_lines();
    // Text of somebody else can stand before the records, and be long.
    let mut counts: Vec<(&str, TimeLayout, usize, usize)> =
        all.map(|(date, layout)| (date, layout, 0, 0)).collect();
    let mut n_dated = 0;
    for i in 0..n_lines {
        let line = sample.line(i);
        let mut any = false;
        for (_, layout, n, bytes) in &mut counts {
            if let Some((at, end)) = date_in(layout, line) {
                *n += 1;
                *bytes += end - at;
                any = true;
            }
        }
        n_dated += usize::from(any);
        if n_dated == N_DATED_MAX {
            break;
        }
    }
    counts.retain(|(_, _, n, _)| *n * 10 >= n_dated && *n > 0);
    // A time of day stands within every time stamp: what reads more of it is meant.
    let longest = counts.iter().map(|(_, _, n, bytes)| bytes / n).max().unwrap_or(0);
    counts.retain(|(_, _, n, bytes)| bytes / n * 3 >= longest * 2 || n_dated > *n * 2);
    let (patterns, layouts) = counts.into_iter().map(|(date, layout, _, _)| (date, layout)).unzip();
    Dates { patterns, layouts }
}
