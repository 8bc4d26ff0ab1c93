//! Layouts that begin after the start of a file: a program was upgraded, or given another
//! configuration, and goes on in the same file. Pieces of it are looked at, spread over all of
//! it; where the layouts of the start read no record, those of the piece are looked for. Of
//! what is compressed only the start is looked at: pieces of it would cost what all of it does.

use std::sync::Arc;

use super::{WRAPPERS_MAX, choose_wrapped};
use crate::header::Judge;
use crate::input::Source;
use crate::limits::{LATER_PIECES, LATER_SAMPLE_BYTES};
use crate::lines::RawRecords;
use crate::reading::Reading;

/// Adds to `reading`, which is how the start of `source` is read, the layouts that begin later;
/// `sample` is that start.
pub(super) fn add_later(reading: &mut Reading, source: &Source, sample: &[u8], judge: &mut Judge<'_>) {
    let Some(n_bytes) = source.n_bytes() else { return };
    let head = &sample[..sample.len().min(64)];
    let (start, piece_bytes) = (sample.len() as u64, LATER_SAMPLE_BYTES as u64);
    if n_bytes <= start || source.piece(0, head.len()).is_none_or(|bytes| bytes != head) {
        return;
    }
    // The last piece ends with the file.
    let room = (n_bytes - start).saturating_sub(piece_bytes);
    for i in 1..=LATER_PIECES {
        let at = start + room / LATER_PIECES * i;
        let Some(piece) = source.piece(at, LATER_SAMPLE_BYTES) else { return };
        add_piece(reading, whole_lines(&piece), at, judge);
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
    let unwrapped = reading.unwrap(piece).map(|unwrapped| unwrapped.text);
    let text = unwrapped.as_deref().unwrap_or(piece);
    let is_own = |layout: usize| layout < reading.n_own;
    if RawRecords::new(text, reading).any(|record| record.begin.is_some_and(|begin| is_own(begin.layout))) {
        return;
    }
    let later = choose_wrapped(piece, false, &[], judge, WRAPPERS_MAX);
    if later.n_own == 0 || later.n_explained == 0 {
        return;
    }
    let names = |reading: &Reading| -> Vec<&str> { reading.wrappers.iter().map(|w| w.name).collect() };
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
    use super::whole_lines;

    #[test]
    fn lines_that_were_cut_are_left_out() {
        for (piece, expected) in
            [("a\nb\nc\nd", "b\nc\n"), ("a\nb", ""), ("a", ""), ("", ""), ("\nb\n", "b\n"), ("a\n", "")]
        {
            assert_eq!(whole_lines(piece.as_bytes()), expected.as_bytes(), "{piece:?}");
        }
    }
}
