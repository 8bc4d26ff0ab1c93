//! Text that is read from its end: exports of log stores put the newest record first. Chunks are cut
//! off the end of the text, one after the other, and their records, or their lines, are turned
//! round: what is held is a chunk, or the text of what is packed, which cannot be read from its end.

use std::sync::Arc;

use crate::chunks::{Chunk, LeftOut, begins};
use crate::header::calendar::Calendar;
use crate::header::civil::Civil;
use crate::input::{Input, Source};
use crate::limits::{BACKWARD_HELD_MAX, RECORD_BYTES_MAX};
use crate::lines::line_end;
use crate::reading::Reading;
use crate::stack_trace;
use crate::wrappers::{Place, Unwrapped};

/// What of a text is turned round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Backward {
    /// Its records; the lines of each are in order.
    Records,
    /// Its lines: those of a stack trace stand before the line that begins their record.
    Lines,
}

/// Steps back that are no chance: records of several threads that come late are alternately so.
const N_BACK_MIN: usize = 3;

/// Whether stamps, in the order of the lines, go back: most steps do, and nearly none goes forward,
/// as it is in a log that is not turned round.
pub(crate) fn is_newest_first(times: &[Civil], calendar: Calendar) -> bool {
    let steps = times.windows(2).map(|two| two[1].order(calendar).cmp(&two[0].order(calendar)));
    let (mut n_back, mut n_forward) = (0, 0);
    for step in steps {
        n_back += usize::from(step.is_lt());
        n_forward += usize::from(step.is_gt());
    }
    n_back >= N_BACK_MIN && n_back > 4 * n_forward
}

/// What of `text` is turned round, if its newest record is the first: the frames of a stack trace say
/// it, which stand behind the line that names what was thrown.
pub(crate) fn turned(text: &[u8]) -> Backward {
    let is_frame = |line: &[u8]| line.trim_ascii_start().starts_with(b"at ") && line[0].is_ascii_whitespace();
    let is_thrown =
        |line: &[u8]| !is_frame(line) && !line.starts_with(b"Caused by: ") && stack_trace::begins_trace(line);
    let lines: Vec<&[u8]> =
        text.split(|b| *b == b'\n').filter(|line| !line.trim_ascii().is_empty()).collect();
    let n = |first: &dyn Fn(&[u8]) -> bool, second: &dyn Fn(&[u8]) -> bool| {
        lines.windows(2).filter(|two| first(two[0]) && second(two[1])).count()
    };
    if n(&is_frame, &is_thrown) > n(&is_thrown, &is_frame) { Backward::Lines } else { Backward::Records }
}

/// Whether a text can be held that cannot be read from its end; none: `source` cannot be read again.
pub(crate) fn can_be_held(source: &Source, n_bytes_max: u64) -> bool {
    if source.is_stream() {
        return false;
    }
    if source.is_plain() {
        return true;
    }
    let Ok(mut input) = Input::open(source, n_bytes_max) else { return false };
    let (mut n_bytes, mut text) = (0, Vec::new());
    while !input.ended() && n_bytes <= BACKWARD_HELD_MAX {
        text.clear();
        input.read(&mut text, 1 << 20);
        n_bytes += text.len();
    }
    n_bytes <= BACKWARD_HELD_MAX
}

/// A text that is read from its end.
pub(crate) struct Backwards {
    source: Source,
    /// All of it, where it cannot be read from its end.
    held: Option<Vec<u8>>,
    reading: Arc<Reading>,
    chunk_bytes: usize,
    /// Where what is left of it ends.
    end: u64,
}

impl Backwards {
    /// Of `source`; `input` is it from its start, which is read for `see`, as any text is.
    pub(crate) fn new(
        source: &Source,
        input: &mut Input,
        reading: Arc<Reading>,
        chunk_bytes: usize,
        see: &mut dyn FnMut(&[u8]),
    ) -> Self {
        let mut held = (!source.is_plain()).then(Vec::new);
        let (mut end, mut text) = (0, Vec::new());
        while !input.ended() {
            text.clear();
            input.read(&mut text, 1 << 20);
            see(&text);
            end += text.len() as u64;
            if let Some(held) = &mut held {
                held.extend_from_slice(&text);
            }
        }
        Self { source: source.clone(), held, reading, chunk_bytes: chunk_bytes.max(4096), end }
    }

    fn piece(&self, start: u64, n: usize) -> Option<Vec<u8>> {
        match &self.held {
            Some(held) => Some(held[start as usize..start as usize + n].to_vec()),
            None => self.source.piece(start, n).filter(|bytes| bytes.len() == n),
        }
    }

    /// The chunk before those that were given; none: nothing is left, or it has changed meanwhile.
    pub(crate) fn next(&mut self) -> Option<Chunk> {
        if self.end == 0 {
            return None;
        }
        let mut n = self.chunk_bytes as u64;
        loop {
            let start = self.end.saturating_sub(n);
            let mut bytes = self.piece(start, (self.end - start) as usize)?;
            let cut = match start {
                0 => Some(0),
                _ if n > 2 * RECORD_BYTES_MAX as u64 => Some(0),
                _ => self.cut(&bytes),
            };
            if let Some(cut) = cut {
                let bytes = bytes.split_off(cut);
                self.end = start + cut as u64;
                let left_out = LeftOut::default();
                return Some(Chunk {
                    file: 0,
                    start: self.end,
                    bytes,
                    is_mine: true,
                    left_out,
                    n_lines_of_next: 0,
                });
            }
            n *= 2;
        }
    }

    /// Where a record begins in a piece of the text, or a line behind one that begins a record.
    fn cut(&self, bytes: &[u8]) -> Option<usize> {
        let mut at = line_end(bytes, 0) + 1;
        while at < bytes.len() {
            let is_it = begins(&self.reading, bytes, at, true) == Some(true);
            let next = line_end(bytes, at) + 1;
            match self.reading.backward {
                Some(Backward::Lines) if is_it => return (next < bytes.len()).then_some(next),
                Some(Backward::Records) if is_it => return Some(at),
                _ => at = next,
            }
        }
        None
    }
}

/// The lines of `text`, the last one first.
pub(crate) fn turn(text: &[u8]) -> Unwrapped {
    let mut out = Unwrapped { text: Vec::with_capacity(text.len() + 1), ..Unwrapped::default() };
    let mut end = text.strip_suffix(b"\n").unwrap_or(text).len();
    let mut line = 0;
    loop {
        let start = memchr::memrchr(b'\n', &text[..end]).map_or(0, |n| n + 1);
        out.places.push(Place { inner: out.text.len() as u32, start: start as u32, line, nth: 0 });
        out.text.extend_from_slice(&text[start..end]);
        out.text.push(b'\n');
        line += 1;
        if start == 0 {
            return out;
        }
        end = start - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_turned_round() {
        for (text, expected) in
            [("a\nb\nc\n", "c\nb\na\n"), ("a\nb", "b\na\n"), ("a", "a\n"), ("\na\n", "a\n\n")]
        {
            assert_eq!(String::from_utf8_lossy(&turn(text.as_bytes()).text), expected);
        }
        assert_eq!(turn(b"a\nbc\nd\n").place(2), (2, 1));
    }

    #[test]
    fn frames_say_what_is_turned_round() {
        let text = b"2 m\n1 x\njava.io.IOException: y\n\tat a.B.c(D.java:1)\n\tat a.B.d(D.java:2)\n";
        assert_eq!(turned(text), Backward::Records);
        assert_eq!(turned(&turn(text).text), Backward::Lines);
    }
}
