//! Chunks: pieces of a file that begin and end with a record, so that each can
//! be matched alone. Where they are cut does not show in the result.

use std::sync::Arc;

use crate::input::Input;
use crate::limits::{HEADER_BYTES_MAX, HOLE_BYTES_MIN, RECORD_BYTES_MAX};
use crate::lines::line_end;
use crate::reading::Reading;

/// Some whole records of one file.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    /// Position of the file in the node's inputs.
    pub(crate) file: u32,
    /// Offset in the file's text.
    pub(crate) start: u64,
    pub(crate) bytes: Vec<u8>,
    /// Whether it begins with lines of the process that is read, as a line before it says.
    pub(crate) is_mine: bool,
    /// What was left out at the end of the last record.
    pub(crate) left_out: LeftOut,
    /// Lines at its end that stand in the next file, with the rest of its last line.
    pub(crate) n_lines_of_next: u64,
}

/// The rest of a record that is larger than the bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LeftOut {
    pub(crate) n_bytes: u64,
    pub(crate) n_line_feeds: u64,
    pub(crate) ends_with_line_feed: bool,
}

impl LeftOut {
    fn add(&mut self, bytes: &[u8]) {
        if let Some(last) = bytes.last() {
            self.n_bytes += bytes.len() as u64;
            self.n_line_feeds += memchr::memchr_iter(b'\n', bytes).count() as u64;
            self.ends_with_line_feed = *last == b'\n';
        }
    }
}

/// Cuts the text of one input into chunks.
pub(crate) struct Chunker {
    reading: Arc<Reading>,
    chunk_bytes: usize,
    /// Read, but not yet in a chunk.
    carry: Vec<u8>,
    start: u64,
    /// Whether what is read next is of the process that is read.
    is_mine: bool,
    /// Whether what is read next goes on with a hole.
    is_in_hole: bool,
}

impl Chunker {
    /// `head` was read from the input before.
    pub(crate) fn new(head: Vec<u8>, reading: Arc<Reading>, chunk_bytes: usize) -> Self {
        Self {
            reading,
            chunk_bytes: chunk_bytes.max(1),
            carry: head,
            start: 0,
            is_mine: true,
            is_in_hole: false,
        }
    }

    /// The next chunk; `digest` sees all text that is read, in order.
    pub(crate) fn next(&mut self, input: &mut Input, digest: &mut dyn FnMut(&[u8])) -> Option<Chunk> {
        let mut bytes = std::mem::take(&mut self.carry);
        let mut searched_to = 0;
        loop {
            if bytes.len() < self.chunk_bytes || searched_to > 0 {
                let wanted = self.chunk_bytes.max(4096);
                let old = bytes.len();
                input.read(&mut bytes, wanted);
                digest(&bytes[old..]);
            }
            if self.start == 0 && bytes.starts_with(b"\xef\xbb\xbf") {
                bytes.drain(..3);
                self.start = 3;
            }
            if self.is_in_hole {
                let n = bytes.iter().take_while(|b| **b == 0).count();
                bytes.drain(..n);
                self.start += n as u64;
                self.is_in_hole = bytes.is_empty();
            }
            if let Some(hole) = memchr::memmem::find(&bytes, &[0; HOLE_BYTES_MIN]) {
                if hole > 0 {
                    let rest = bytes.split_off(hole);
                    return self.finish(bytes, None, rest);
                }
                (self.is_in_hole, searched_to) = (true, 0);
                continue;
            }
            if input.ended() {
                return self.finish(bytes, None, Vec::new());
            }
            if let Some(cut) = self.last_record_start(&bytes, searched_to) {
                let rest = bytes.split_off(cut);
                return self.finish(bytes, None, rest);
            }
            if bytes.len() > RECORD_BYTES_MAX + HEADER_BYTES_MAX {
                return self.leave_out(bytes, input, digest);
            }
            searched_to = bytes.len().max(1);
        }
    }

    /// Whether nothing is read that is not in a chunk.
    pub(crate) fn is_at_end(&self) -> bool {
        self.carry.is_empty()
    }

    fn finish(&mut self, bytes: Vec<u8>, left_out: Option<LeftOut>, carry: Vec<u8>) -> Option<Chunk> {
        let left_out = left_out.unwrap_or_default();
        let start = self.start;
        self.start += bytes.len() as u64 + left_out.n_bytes;
        self.carry = carry;
        let is_mine = self.is_mine;
        self.is_mine = self.reading.is_mine_after(&bytes, is_mine);
        (!bytes.is_empty()).then_some(Chunk { file: 0, start, bytes, is_mine, left_out, n_lines_of_next: 0 })
    }

    /// Start of the last record in `bytes` that is surely one: its header, if it
    /// had one, is there. `searched_to`: no record starts below, except the one
    /// whose header was not whole.
    fn last_record_start(&self, bytes: &[u8], searched_to: usize) -> Option<usize> {
        let mut low = searched_to;
        for _ in 0..self.reading.header_lines_max() {
            let before = &bytes[..low.saturating_sub(HEADER_BYTES_MAX)];
            low = memchr::memrchr(b'\n', before).unwrap_or(before.len());
        }
        let mut end = bytes.len();
        while let Some(feed) = memchr::memrchr(b'\n', &bytes[low..end]).map(|n| low + n) {
            let start = feed + 1;
            if self.begins(bytes, start, false) == Some(true) {
                return Some(start);
            }
            end = feed;
        }
        None
    }

    fn begins(&self, bytes: &[u8], start: usize, ended: bool) -> Option<bool> {
        begins(&self.reading, bytes, start, ended)
    }

    /// `bytes` is the start of a record above the bound: its rest is counted and
    /// left out, up to the next record.
    fn leave_out(
        &mut self,
        mut bytes: Vec<u8>,
        input: &mut Input,
        digest: &mut dyn FnMut(&[u8]),
    ) -> Option<Chunk> {
        let mut rest = bytes.split_off(RECORD_BYTES_MAX);
        let mut left_out = LeftOut::default();
        // Whether `rest` begins where a line begins.
        let mut at_line_start = bytes.last() == Some(&b'\n');
        loop {
            let mut line = if at_line_start { Some(0) } else { memchr::memchr(b'\n', &rest).map(|n| n + 1) };
            while let Some(start) = line {
                let Some(begins) = self.begins(&rest, start, input.ended()) else { break };
                if begins {
                    left_out.add(&rest[..start]);
                    let carry = rest.split_off(start);
                    return self.finish(bytes, Some(left_out), carry);
                }
                let end = line_end(&rest, start);
                line = (end < rest.len()).then_some(end + 1);
            }
            let keep_from = line.unwrap_or(rest.len());
            left_out.add(&rest[..keep_from]);
            at_line_start = line.is_some();
            rest.drain(..keep_from);
            if input.ended() {
                left_out.add(&rest);
                return self.finish(bytes, Some(left_out), Vec::new());
            }
            let old = rest.len();
            input.read(&mut rest, 1 << 20);
            digest(&rest[old..]);
        }
    }
}

/// Whether a record begins at `start`, where a line does; none: `bytes`, unless they are all there is
/// (`ended`), do not hold its whole header.
pub(crate) fn begins(reading: &Reading, bytes: &[u8], start: usize, ended: bool) -> Option<bool> {
    let mut header_end = start;
    for _ in 0..reading.header_lines_max() {
        let end = line_end(bytes, header_end);
        let is_whole = end < bytes.len() || end - start >= HEADER_BYTES_MAX || ended;
        if !is_whole {
            return None;
        }
        header_end = (end + 1).min(bytes.len());
    }
    if start == bytes.len() {
        return Some(false);
    }
    reading.begins(bytes, start, header_end).or(ended.then_some(false))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::header::Layout;
    use crate::input::Source;

    fn chunks(text: &[u8], chunk_bytes: usize) -> Vec<Chunk> {
        let layout = Layout::compile("%d %p %c: %m%n").expect("pattern");
        let mut input = Input::open(&Source::bytes("x", text), u64::MAX).expect("in memory");
        let mut chunker = Chunker::new(Vec::new(), Arc::new(Reading::of(layout)), chunk_bytes);
        let mut out = Vec::new();
        let mut seen = 0;
        while let Some(chunk) = chunker.next(&mut input, &mut |b| seen += b.len()) {
            out.push(chunk);
        }
        assert_eq!(seen, text.len());
        out
    }

    #[test]
    fn cut_at_records() {
        let h = "2026-11-21 01:28:30,199 INFO a.B: ";
        let text = format!("junk\n{h}one\nmore\n{h}two\n{h}three\n").repeat(400);
        for size in [1, 7, 4096, 1 << 20] {
            let chunks = chunks(text.as_bytes(), size);
            let joined: Vec<u8> = chunks.iter().flat_map(|c| c.bytes.clone()).collect();
            assert_eq!(joined, text.as_bytes());
            assert!(chunks.iter().skip(1).all(|c| c.bytes.starts_with(b"2026")));
            assert!(size > 4096 || chunks.len() > 10);
        }
    }

    #[test]
    fn holes_are_left_out() {
        let h = "2026-11-21 01:28:30,199 INFO a.B: ";
        let hole = "\0".repeat(3 << 20);
        let text = format!("{hole}{h}one\n{h}two\n{hole}{h}three\n{hole}");
        for size in [1, 4096, 1 << 20] {
            let chunks = chunks(text.as_bytes(), size);
            let joined: Vec<u8> = chunks.iter().flat_map(|c| c.bytes.clone()).collect();
            assert_eq!(joined, format!("{h}one\n{h}two\n{h}three\n").as_bytes());
            for chunk in &chunks {
                assert!(text.as_bytes()[chunk.start as usize..].starts_with(&chunk.bytes));
            }
        }
    }

    #[test]
    fn record_above_the_bound() {
        let h = "2026-11-21 01:28:30,199 INFO a.B: ";
        let many_lines = "\tat a.b.C.d(E.java:1)\n".repeat(300_000);
        let one_line = "x".repeat(9 << 20);
        for long in [format!("{h}long\n{many_lines}"), format!("{h}{one_line}\n")] {
            let text = format!("{h}one\n{long}{h}two\n");
            for size in [5, 1 << 20, 16 << 20, 64 << 20] {
                let chunks = chunks(text.as_bytes(), size);
                let total: u64 = chunks.iter().map(|c| c.bytes.len() as u64 + c.left_out.n_bytes).sum();
                assert_eq!(total, text.len() as u64);
                let feeds: u64 = chunks
                    .iter()
                    .map(|c| c.left_out.n_line_feeds + c.bytes.iter().filter(|b| **b == b'\n').count() as u64)
                    .sum();
                assert_eq!(feeds, text.lines().count() as u64, "{size}");
                assert!(chunks.last().expect("some").bytes.ends_with(b"two\n"));
            }
        }
    }
}
