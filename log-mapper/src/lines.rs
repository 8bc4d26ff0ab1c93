//! Lines and records: a record is a line with a header and the lines after it
//! that have none. Text before the first header is one record without header.

use crate::reading::{Reading, Start};

/// One record as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RawRecord<'a> {
    /// Offset in the chunk.
    pub(crate) start: usize,
    /// All of it, with its line ends.
    pub(crate) bytes: &'a [u8],
    /// Line feeds in it.
    pub(crate) n_line_feeds: u64,
    /// What its first line begins with.
    pub(crate) begin: Option<Start<'a>>,
}

/// The records of `bytes`, which begin with a record.
pub(crate) struct RawRecords<'a> {
    bytes: &'a [u8],
    reading: &'a Reading,
    at: usize,
    /// What the record at `at` begins with.
    begin: Option<Start<'a>>,
}

impl<'a> RawRecords<'a> {
    pub(crate) fn new(bytes: &'a [u8], reading: &'a Reading) -> Self {
        let begin = reading.start(bytes, 0, line_end(bytes, 0));
        Self { bytes, reading, at: 0, begin }
    }
}

impl<'a> Iterator for RawRecords<'a> {
    type Item = RawRecord<'a>;

    fn next(&mut self) -> Option<RawRecord<'a>> {
        let start = self.at;
        if start == self.bytes.len() {
            return None;
        }
        let begin = self.begin.take();
        let mut end = line_end(self.bytes, start);
        let mut n_line_feeds = 0;
        while end < self.bytes.len() {
            n_line_feeds += 1;
            let next = end + 1;
            end = next;
            if next == self.bytes.len() {
                break;
            }
            let next_end = line_end(self.bytes, next);
            self.begin = self.reading.start(self.bytes, next, next_end);
            if self.begin.is_some() {
                break;
            }
            end = next_end;
        }
        self.at = end;
        Some(RawRecord { start, bytes: &self.bytes[start..end], n_line_feeds, begin })
    }
}

/// Position of the line feed that ends the line at `at`, or the end.
pub(crate) fn line_end(bytes: &[u8], at: usize) -> usize {
    memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |n| at + n)
}

/// `text` without one line end.
pub(crate) fn without_line_end(text: &[u8]) -> &[u8] {
    match text {
        [rest @ .., b'\r', b'\n'] | [rest @ .., b'\n'] => rest,
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::header::Layout;

    #[test]
    fn records() {
        let layout = Layout::compile("%d %p %c: %m%n").expect("pattern");
        let h = "2026-11-21 01:28:30,199 INFO a.B: ";
        let text = format!("junk\n\n{h}one\n{h}two\n\tat x\n\n{h}\r\n{h}end");
        let records: Vec<_> = RawRecords::new(text.as_bytes(), &Reading::of(layout))
            .map(|r| {
                let from = r.begin.map_or(0, |b| b.header.message_start);
                (
                    String::from_utf8_lossy(without_line_end(&r.bytes[from..])).into_owned(),
                    r.n_line_feeds,
                    r.begin.is_some(),
                )
            })
            .collect();
        let expected = [
            ("junk\n", 2, false),
            ("one", 1, true),
            ("two\n\tat x\n", 3, true),
            ("", 1, true),
            ("end", 0, true),
        ];
        assert_eq!(records, expected.map(|(t, n, h)| (t.to_owned(), n, h)));
    }
}
