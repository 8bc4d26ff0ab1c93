//! Layouts that begin after the start of a file: a program was upgraded, or given another
//! configuration, and goes on in the same file. A short piece is looked at every so many bytes,
//! to its end; where the layouts that are known read no record of it, those of the piece are
//! looked for. So what is found does not depend on the size of the file, and the search costs
//! a fixed share of reading it: each search that finds nothing makes the next one wait for one
//! piece more. Of what is compressed the pieces are read from its start.

use std::sync::Arc;

use super::wrapped::{WRAPPERS_MAX, choose_wrapped};
use crate::Config;
use crate::header::Judge;
use crate::input::{Input, Source};
use crate::limits::{LATER_LOOK_BYTES, LATER_SAMPLE_BYTES, LATER_STRIDE_BYTES};
use crate::lines::RawRecords;
use crate::reading::Reading;
use crate::wrappers::is_line_end;

/// Adds to `reading`, which is how the start of `source` is read, the layouts that begin later;
/// `sample` is that start.
pub(super) fn add_later(
    reading: &mut Reading,
    source: &Source,
    sample: &[u8],
    config: &Config,
    judge: &mut Judge<'_>,
) {
    let head = &sample[..sample.len().min(64)];
    let is_plain = source.piece(0, head.len()).is_some_and(|bytes| bytes == head);
    let mut search = Search { reading, judge, tries: Tries::default() };
    if is_plain {
        search.plain(source, sample.len() as u64);
    } else if !source.is_stream() {
        search.packed(source, sample.len(), config);
    }
}

struct Search<'a, 'p> {
    reading: &'a mut Reading,
    judge: &'a mut Judge<'p>,
    tries: Tries,
}

/// When layouts are looked for in a piece of which no record is read: of `n` pieces in fewer than
/// the root of `2 n` in vain, however many of them are of nobody.
#[derive(Default)]
struct Tries {
    /// Pieces in a row of which no record is read.
    n_misfits: usize,
    /// Pieces since the last search, and how many found nothing.
    n_since: usize,
    n_in_vain: usize,
}

impl Tries {
    /// Whether it is time for one; `is_read`: whether a record of the next piece is read. Of many
    /// that are not in a row, which can be a dump of anything, ever fewer are looked at.
    fn is_due(&mut self, is_read: bool) -> bool {
        self.n_since += 1;
        self.n_misfits = if is_read { 0 } else { self.n_misfits + 1 };
        let is_due = self.n_misfits.is_power_of_two() && self.n_since > self.n_in_vain;
        self.n_since = if is_due { 0 } else { self.n_since };
        is_due
    }
}

impl Search<'_, '_> {
    /// The pieces of a file that can be read anywhere.
    fn plain(&mut self, source: &Source, start: u64) {
        let Some(n_bytes) = source.n_bytes() else { return };
        let mut at = start;
        while at < n_bytes {
            // The last piece ends with the file.
            let start = at.min(n_bytes.saturating_sub(LATER_SAMPLE_BYTES as u64).max(start));
            let Some(piece) = source.piece(start, LATER_LOOK_BYTES) else { return };
            if self.is_to_be_tried(&piece) {
                let Some(piece) = source.piece(start, LATER_SAMPLE_BYTES) else { return };
                self.try_piece(&piece, start);
            }
            at += LATER_STRIDE_BYTES as u64;
        }
    }

    /// Those of one that is read from its start only.
    fn packed(&mut self, source: &Source, start: usize, config: &Config) {
        let Ok(mut input) = Input::open(source, config.input_bytes_max) else { return };
        let mut bytes = Vec::new();
        input.read(&mut bytes, start);
        let mut at = start as u64;
        while !input.ended() {
            bytes.clear();
            input.read(&mut bytes, LATER_STRIDE_BYTES);
            if self.is_to_be_tried(&bytes[..bytes.len().min(LATER_LOOK_BYTES)]) {
                self.try_piece(&bytes[..bytes.len().min(LATER_SAMPLE_BYTES)], at);
            }
            at += bytes.len() as u64;
        }
    }

    /// Whether no record of a piece is read, and layouts are to be looked for in it.
    fn is_to_be_tried(&mut self, piece: &[u8]) -> bool {
        let is_own = |layout: usize| layout < self.reading.n_own;
        let unwrapped = self.reading.unwrap(piece).map(|unwrapped| unwrapped.text);
        let text = unwrapped.as_deref().unwrap_or(piece);
        let is_read = RawRecords::new(whole_lines(text), self.reading)
            .any(|record| record.begin.is_some_and(|begin| is_own(begin.layout)));
        self.tries.is_due(is_read)
    }

    fn try_piece(&mut self, piece: &[u8], at: u64) {
        let n_before = self.reading.layouts.len();
        add_piece(self.reading, whole_lines(piece), at, self.judge);
        self.tries.n_in_vain += usize::from(self.reading.layouts.len() == n_before);
    }
}

/// Its lines that are there from start to end.
fn whole_lines(piece: &[u8]) -> &[u8] {
    let start = memchr::memchr(b'\n', piece).map_or(piece.len(), |n| n + 1);
    let end = memchr::memrchr(b'\n', piece).map_or(start, |n| n + 1);
    piece.get(start..end).unwrap_or_default()
}

/// Adds the layouts of a piece of which `reading` reads no record.
fn add_piece(reading: &mut Reading, piece: &[u8], at: u64, judge: &mut Judge<'_>) {
    let later = choose_wrapped(piece, false, &[], judge, WRAPPERS_MAX);
    if later.n_own == 0 || later.n_explained == 0 {
        return;
    }
    let names = |reading: &Reading| -> Vec<&str> {
        reading.wrappers.iter().filter(|wrapper| !is_line_end(wrapper)).map(|w| w.name).collect()
    };
    if names(&later) != names(reading) {
        let doubt = "lines about byte {at} are in another wrapper than those at the start, and are not read";
        reading.doubts.push(doubt.replace("{at}", &at.to_string()));
        return;
    }
    for (i, layout) in later.layouts.iter().enumerate() {
        if reading.layouts.iter().any(|known| known.pattern() == layout.pattern()) {
            continue;
        }
        if i < later.n_own {
            reading.layouts.insert(reading.n_own, Arc::clone(layout));
            reading.n_own += 1;
        } else {
            reading.layouts.push(Arc::clone(layout));
        }
    }
    reading.how += &format!(", another about byte {at}");
}

#[cfg(test)]
mod tests {
    use super::{Tries, whole_lines};

    #[test]
    fn what_is_of_nobody_is_searched_ever_less_and_what_begins_late_is_found_all_the_same() {
        let mut tries = Tries::default();
        // A piece of something else after every record: 20,000 of them.
        let mut n_in_vain = 0;
        for piece in 0..40_000 {
            if tries.is_due(piece % 2 == 0) {
                n_in_vain += 1;
                tries.n_in_vain += 1;
            }
        }
        assert!((100..=282).contains(&n_in_vain), "{n_in_vain}: the root of twice as many pieces at most");
        // Another layout begins, and stays.
        let first = (0..2 * n_in_vain).position(|_| tries.is_due(false));
        assert!(first.is_some(), "not in {} pieces", 2 * n_in_vain);
    }

    #[test]
    fn lines_that_were_cut_are_left_out() {
        for (piece, expected) in
            [("a\nb\nc\nd", "b\nc\n"), ("a\nb", ""), ("a", ""), ("", ""), ("\nb\n", "b\n"), ("a\n", "")]
        {
            assert_eq!(whole_lines(piece.as_bytes()), expected.as_bytes(), "{piece:?}");
        }
    }
}
