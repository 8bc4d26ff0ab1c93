//! Overlap: logs of which one holds what another holds, too. One process can log all levels to
//! one file and some of them to a second; a file can be there plain and packed. Told by the first
//! lines, and proved by all of them: the lines of one stand in the other, in their order. Where one
//! process prints each record in two layouts, records are compared, not lines.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use xxhash_rust::xxh3::xxh3_64;

use crate::input::{Input, Source};

mod records;

/// Bytes at the start of each file from which it is told whether they are compared.
const SAMPLE_BYTES: usize = 64 << 10;
/// Bytes read at once.
const READ_BYTES: usize = 1 << 20;
/// Shortest line that says whose it is.
const LINE_BYTES_MIN: usize = 40;
/// Lines in common, of those that were looked at, from which on files are compared.
const N_COMMON_MIN: usize = 4;

/// Two files with lines in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// The one with fewer lines.
    pub inner: String,
    /// The one with more.
    pub outer: String,
    /// Whether all lines of the first stand in the second.
    pub whole: bool,
}

/// The files among `sources` that have lines or records in common; of files with the same text the
/// first is kept. What cannot be read is left to who reads it.
#[must_use]
pub fn overlaps(sources: &[Source]) -> Vec<Overlap> {
    with_lines(sources, records::overlaps(sources))
}

/// The same of files that can be of any process: those with the same lines, or with records that only
/// a few words tell apart.
#[must_use]
pub fn copies(sources: &[Source]) -> Vec<Overlap> {
    with_lines(sources, Vec::new())
}

/// Adds those with lines in common to those that are known, and copies in which words are changed.
fn with_lines(sources: &[Source], known: Vec<Overlap>) -> Vec<Overlap> {
    let mut out = with_equal_lines(sources, known);
    for (i, j) in records::alike(sources) {
        let (inner, outer) = (sources[i].name().to_owned(), sources[j].name().to_owned());
        let is_known = |overlap: &Overlap| {
            let names = [&overlap.inner, &overlap.outer];
            let is_pair = names.contains(&&inner) && names.contains(&&outer);
            is_pair || (overlap.whole && (overlap.inner == inner || overlap.inner == outer))
        };
        if !out.iter().any(is_known) {
            out.push(Overlap { inner, outer, whole: false });
        }
    }
    out
}

fn with_equal_lines(sources: &[Source], known: Vec<Overlap>) -> Vec<Overlap> {
    let samples: Vec<FxHashSet<u64>> = sources.iter().map(sample).collect();
    let mut out = known;
    for ((i, j), n_common) in in_common(&samples) {
        let least = samples[i].len().min(samples[j].len());
        if n_common < N_COMMON_MIN.min(least) {
            continue;
        }
        let known = |name: &str| out.iter().any(|overlap| overlap.whole && overlap.inner == name);
        if known(sources[i].name()) || known(sources[j].name()) {
            continue;
        }
        let (inner, outer, whole) = if holds(&sources[i], &sources[j]) {
            (j, i, true)
        } else {
            let whole = holds(&sources[j], &sources[i]);
            (i, j, whole)
        };
        // Servers that start together print the same words, some of them at the same time.
        if !whole && n_common * 2 <= least {
            continue;
        }
        let name = |i: usize| sources[i].name().to_owned();
        out.push(Overlap { inner: name(inner), outer: name(outer), whole });
    }
    out
}

/// Files that hold one line: of more it is a banner, and says nothing.
const N_HOLDERS_MAX: usize = 8;

/// Pairs of samples with lines in common, and how many.
fn in_common(samples: &[FxHashSet<u64>]) -> BTreeMap<(usize, usize), usize> {
    let mut holders: FxHashMap<u64, Vec<usize>> = FxHashMap::default();
    for (i, sample) in samples.iter().enumerate() {
        sample.iter().for_each(|line| holders.entry(*line).or_default().push(i));
    }
    let mut out = BTreeMap::new();
    for of_line in holders.values().filter(|files| files.len() <= N_HOLDERS_MAX) {
        for (n, i) in of_line.iter().enumerate() {
            of_line[n + 1..].iter().for_each(|j| *out.entry((*i, *j)).or_default() += 1);
        }
    }
    out
}

/// Hashes of the lines at the start of a file.
fn sample(source: &Source) -> FxHashSet<u64> {
    let mut bytes = Vec::new();
    if source.is_stream() {
        return FxHashSet::default();
    }
    if let Ok(mut input) = Input::open(source, u64::MAX) {
        input.read(&mut bytes, SAMPLE_BYTES);
    }
    // The last one may have been cut.
    let whole = memchr::memrchr(b'\n', &bytes).map_or(&bytes[..], |end| &bytes[..end]);
    let lines = whole.split(|b| *b == b'\n').map(<[u8]>::trim_ascii_end);
    lines.filter(|line| line.len() >= LINE_BYTES_MIN && has_stamp(line)).map(xxh3_64).collect()
}

/// Digits of a time of day: frames of stack traces, which every process prints, have fewer.
const N_DIGITS_MIN: usize = 6;

fn has_stamp(line: &[u8]) -> bool {
    line.iter().filter(|b| b.is_ascii_digit()).count() >= N_DIGITS_MIN
}

/// Whether the lines of `inner` stand in `outer`, in their order. The last one may have been cut.
fn holds(outer: &Source, inner: &Source) -> bool {
    let (Some(mut outer), Some(mut inner)) = (Lines::open(outer), Lines::open(inner)) else { return false };
    while let Some(line) = inner.next() {
        let is_it = |other: Line<'_>| match line.has_end {
            true => other.text.trim_ascii_end() == line.text.trim_ascii_end(),
            false => other.text.starts_with(line.text),
        };
        loop {
            match outer.next() {
                Some(other) if is_it(other) => break,
                Some(_) => {}
                None => return false,
            }
        }
    }
    true
}

/// A line of a file.
#[derive(Clone, Copy)]
struct Line<'a> {
    text: &'a [u8],
    /// A line feed follows.
    has_end: bool,
}

/// The lines of a file, one after the other.
struct Lines {
    input: Input,
    text: Vec<u8>,
    at: usize,
}

impl Lines {
    fn open(source: &Source) -> Option<Self> {
        let input = Input::open(source, u64::MAX).ok()?;
        Some(Self { input, text: Vec::new(), at: 0 })
    }

    fn next(&mut self) -> Option<Line<'_>> {
        let mut searched_to = self.at;
        let feed = loop {
            if let Some(n) = memchr::memchr(b'\n', &self.text[searched_to..]) {
                break Some(searched_to + n);
            }
            if self.input.ended() {
                break None;
            }
            self.text.drain(..self.at);
            self.at = 0;
            searched_to = self.text.len();
            self.input.read(&mut self.text, READ_BYTES);
        };
        let (start, end) = (self.at, feed.unwrap_or(self.text.len()));
        self.at = (end + 1).min(self.text.len());
        let has_end = feed.is_some();
        (has_end || start < end).then(|| Line { text: &self.text[start..end], has_end })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(ids: &[u32]) -> Vec<u8> {
        ids.iter()
            .flat_map(|id| format!("2026-11-21 01:28:30,199 INFO a.B: line number {id}\n").into_bytes())
            .collect()
    }

    #[track_caller]
    fn check(a: &[u32], b: &[u32], expected: Option<(&str, bool)>) {
        let sources = [Source::bytes("a", &lines(a)), Source::bytes("b", &lines(b))];
        let got = overlaps(&sources);
        let got = got.first().map(|overlap| (overlap.inner.as_str(), overlap.whole));
        assert_eq!(got, expected, "{a:?} {b:?}");
    }

    #[test]
    fn what_was_cut_within_a_line_is_contained() {
        let text = lines(&[1, 2, 3]);
        for n_bytes in 48..text.len() {
            let sources = [Source::bytes("a", &text), Source::bytes("b", &text[..n_bytes])];
            let got = overlaps(&sources);
            let got = got.first().map(|overlap| (overlap.inner.as_str(), overlap.whole));
            assert_eq!(got, Some(("b", true)), "{n_bytes} of {} bytes", text.len());
        }
        // The start of a line, and another end.
        let other = [&text[..n_of_line(&text) + 30], b"x y z"].concat();
        let sources = [Source::bytes("a", &text), Source::bytes("b", &other)];
        assert!(overlaps(&sources).iter().all(|overlap| !overlap.whole));
    }

    fn n_of_line(text: &[u8]) -> usize {
        text.iter().position(|b| *b == b'\n').map_or(text.len(), |n| n + 1)
    }

    #[test]
    fn contained_lines() {
        check(&[1, 2, 3, 4, 5, 6], &[1, 3, 4, 6, 5], Some(("a", false)));
        check(&[1, 2, 3, 4, 5, 6], &[1, 3, 4, 6], Some(("b", true)));
        check(&[2, 3, 4, 5], &[1, 2, 3, 4, 5, 6], Some(("a", true)));
        check(&[1, 2, 3, 4], &[1, 2, 3, 4], Some(("b", true)));
        check(&[1, 2, 3, 4], &[5, 6, 7, 8], None);
        check(&[1, 2, 3, 4], &[4, 5, 6, 7], None);
        check(&[1, 2, 3, 4, 5, 6, 7, 8], &[1, 2, 3, 4, 15, 16, 17, 18], None);
    }
}
