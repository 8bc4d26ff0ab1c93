//! A matched chunk: its records with time, level and the log points that can
//! have printed them, in flat vectors that refer to the chunk's bytes.

use std::borrow::Cow;
use std::ops::Range;

use schema::{Level, LogPointId, TopLevelId};

use crate::backward::{self, Backward};
use crate::chunks::{Chunk, LeftOut};
use crate::header::civil::Civil;
use crate::header::clock::Clock;
use crate::header::{Header, Layout};
use crate::ids::Printed;
use crate::limits::{LINE_BYTES_MAX, RECORD_BYTES_MAX};
use crate::lines::{RawRecord, RawRecords, line_end, without_line_end};
use crate::patterns::{Cut, PatternSet, Query, Scratch};
use crate::reading::{Reading, Start};
use crate::record::{Candidate, Record};
use crate::said::{self, NameOf};
use crate::stack_trace;
use crate::wrappers::Unwrapped;

/// The records of one chunk, matched.
#[derive(Debug, Default)]
pub(crate) struct Matched {
    pub(crate) chunk: Chunk,
    /// Number of the chunk's first line in its file, from 1; known when the
    /// chunks before are.
    pub(crate) first_line: u64,
    pub(crate) counts: Counts,
    entries: Vec<Entry>,
    candidates: Vec<Found>,
    /// What ran of records without candidates, by their stack traces.
    ran: Vec<TopLevelId>,
    values: Vec<(u32, Text)>,
    /// Words of records without a thread, and names within values of their candidates.
    words: Vec<u64>,
    names: Vec<NameOf>,
    /// Text that is not UTF-8, made so.
    lossy: String,
}

/// What a chunk adds to the account of its file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) n_lines: u64,
    pub(crate) n_records: u64,
    pub(crate) n_headerless: u64,
    pub(crate) n_rejected: u64,
    /// Records that print an id of their request.
    pub(crate) n_ids: u64,
    /// Records of times that there are not, and lines of the chunk before the first of them.
    pub(crate) n_impossible: u64,
    pub(crate) first_impossible: Option<u64>,
    /// Records whose end was left out, and offset of the first.
    pub(crate) n_cut: u64,
    pub(crate) first_cut: Option<u64>,
    /// Lines of other programs, and lines of the chunk before the first of them.
    pub(crate) n_foreign_lines: u64,
    pub(crate) first_foreign: Option<u64>,
    pub(crate) first_us: Option<i64>,
    pub(crate) last_us: Option<i64>,
}

#[derive(Clone, Debug)]
struct Entry {
    start: u32,
    /// Lines before it in the chunk.
    line: u32,
    n_lines: u32,
    ts_us: i64,
    level: Option<Level>,
    thread: Option<Text>,
    ids: [Option<Text>; 2],
    /// The message in the chunk.
    message: Range<u32>,
    words: Range<u32>,
    candidates: Range<u32>,
    ran: Range<u32>,
}

/// A log point that can have printed a record.
#[derive(Clone, Debug)]
struct Found {
    log_point: LogPointId,
    values: Range<u32>,
    names: Range<u32>,
}

/// Where a record stands in the text of its file.
#[derive(Clone, Copy, Debug)]
struct Where<'t> {
    /// Offset in the chunk as it was read.
    start: usize,
    /// Lines before it in the chunk.
    line: u64,
    n_lines: u32,
    /// What a wrapper says of its time.
    stamp: Option<Civil>,
    /// Which layout it is in.
    layout: usize,
    /// The text from its start on, with what is around its lines; empty: nothing is.
    around: &'t [u8],
}

/// Lines of a chunk, with those that were left out.
fn n_lines_of(chunk: &Chunk) -> u64 {
    let n_feeds = memchr::memchr_iter(b'\n', &chunk.bytes).count() as u64 + chunk.left_out.n_line_feeds;
    let ends = if chunk.left_out.n_bytes > 0 {
        chunk.left_out.ends_with_line_feed
    } else {
        chunk.bytes.is_empty() || chunk.bytes.ends_with(b"\n")
    };
    n_feeds + u64::from(!ends) - chunk.n_lines_of_next
}

/// A piece of the chunk, or of its lossy text.
#[derive(Clone, Copy, Debug)]
struct Text {
    start: u32,
    len: u32,
    is_lossy: bool,
}

/// Matches all records of `chunk`.
pub(crate) fn match_chunk(
    chunk: Chunk,
    reading: &Reading,
    patterns: &PatternSet,
    clocks: &mut [Clock],
    scratch: &mut Scratch,
) -> Matched {
    let mut out = Matched::default();
    let mut chunk = chunk;
    let unwrapped = unwrap(reading, &chunk);
    let n_raw_lines = unwrapped.as_ref().map_or(0, |unwrapped| n_lines_of(&chunk) + unwrapped.n_added);
    let mut wrapped = Vec::new();
    let unwrapped = unwrapped.map(|mut unwrapped| {
        wrapped = std::mem::replace(&mut chunk.bytes, std::mem::take(&mut unwrapped.text));
        unwrapped
    });
    let mut line = 0;
    let mut n_backward = 0;
    for record in RawRecords::new(&chunk.bytes, reading) {
        let is_last = record.start + record.bytes.len() == chunk.bytes.len();
        let left_out = if is_last { chunk.left_out } else { LeftOut::default() };
        let ends_line =
            if left_out.n_bytes > 0 { left_out.ends_with_line_feed } else { record.bytes.ends_with(b"\n") };
        let mut n_lines = record.n_line_feeds + left_out.n_line_feeds + u64::from(!ends_line);
        let (mut start, mut place_in_line) = (record.start, (record.start, 0));
        if let Some(unwrapped) = &unwrapped {
            let place = unwrapped.place_of(record.start);
            place_in_line = (place.start as usize, place.nth as usize);
            (start, line) = unwrapped.place(record.start);
            let next =
                if is_last { n_raw_lines } else { unwrapped.place(record.start + record.bytes.len()).1 };
            n_lines = next.saturating_sub(line);
        }
        if reading.backward == Some(Backward::Records) {
            // Counted from the end.
            n_backward += n_lines;
        }
        if left_out.n_bytes > 0 || record.bytes.len() > RECORD_BYTES_MAX {
            out.counts.n_cut += 1;
            out.counts.first_cut = out.counts.first_cut.or(Some(chunk.start + start as u64));
        }
        out.counts.n_records += 1;
        match record.begin {
            Some(Start { header, layout }) if layout < reading.n_own => {
                let n_lines = u32::try_from(n_lines).unwrap_or(u32::MAX);
                let stamp = reading.stamp(layout, &wrapped, place_in_line);
                let around = wrapped.get(place_in_line.0..).unwrap_or_default();
                let place = Where { start, line, n_lines, stamp, layout, around };
                reading.set_clocks(clocks, chunk.start + start as u64);
                let clock = &mut clocks[layout];
                out.add(&chunk.bytes, &record, header, reading, place, patterns, clock, scratch);
            }
            begin => {
                out.counts.n_headerless += 1;
                if begin.is_some() {
                    out.counts.n_foreign_lines += n_lines;
                    out.counts.first_foreign = out.counts.first_foreign.or(Some(line));
                }
            }
        }
        line += n_lines;
    }
    out.counts.n_lines = if unwrapped.is_some() { n_raw_lines } else { line };
    if reading.backward == Some(Backward::Records) {
        out.turn(n_backward);
    }
    out.chunk = chunk;
    out
}

/// The inner text of a chunk, in the order in which it was written; none: it is the chunk's.
fn unwrap(reading: &Reading, chunk: &Chunk) -> Option<Unwrapped> {
    if reading.backward != Some(Backward::Lines) {
        return reading.unwrap_after(&chunk.bytes, chunk.is_mine);
    }
    let turned = backward::turn(&chunk.bytes);
    let inner = reading.unwrap_after(&turned.text, chunk.is_mine);
    Some(match inner {
        // Lines are counted in the order in which they are read.
        Some(inner) => turned.then(inner),
        None => turned,
    })
}

impl Matched {
    /// Turns the records round, which take `n_lines` together: lines are counted from the end.
    fn turn(&mut self, n_lines: u64) {
        self.entries.reverse();
        let n_lines = u32::try_from(n_lines).unwrap_or(u32::MAX);
        for entry in &mut self.entries {
            entry.line = n_lines.saturating_sub(entry.line.saturating_add(entry.n_lines));
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the state of one chunk, lent piece by piece")]
    fn add<'a>(
        &mut self,
        chunk: &[u8],
        record: &RawRecord<'a>,
        mut header: Header<'a>,
        reading: &Reading,
        place: Where<'_>,
        patterns: &PatternSet,
        clock: &mut Clock,
        scratch: &mut Scratch,
    ) {
        let kept = &record.bytes[..record.bytes.len().min(RECORD_BYTES_MAX)];
        // A wrapper's is asked for only where the layout prints none but since the program began.
        // Without a time the order of the records is left.
        let time = place.stamp.or(header.time).map_or(Some(0), |civil| clock.resolve(&civil));
        let is_too_long = record.bytes.len() > LINE_BYTES_MAX && line_end(record.bytes, 0) > LINE_BYTES_MAX;
        let (Some(ts_us), false) = (time, is_too_long) else {
            self.counts.n_rejected += 1;
            if time.is_none() {
                self.counts.n_impossible += 1;
                self.counts.first_impossible = self.counts.first_impossible.or(Some(place.line));
            }
            return;
        };
        self.counts.first_us = Some(self.counts.first_us.map_or(ts_us, |us| us.min(ts_us)));
        self.counts.last_us = Some(self.counts.last_us.map_or(ts_us, |us| us.max(ts_us)));
        let layout = &reading.layouts[place.layout];
        let (body_start, query) = find(kept, &mut header, layout, patterns, scratch);
        let message_start = (record.start + body_start) as u32;
        let message_len = query.before_trace.unwrap_or(query.text.len()) as u32;

        let candidates_start = self.candidates.len() as u32;
        self.add_candidates(chunk, record.start + body_start, patterns, scratch);
        let ran_start = self.ran.len() as u32;
        if let Some(at) = query.before_trace.filter(|_| scratch.matches().is_empty()) {
            patterns.add_ran(&query.text[at..], &mut self.ran);
        }
        let thread = header.thread.filter(|name| !name.is_empty()).map(|name| {
            let at = name.as_ptr() as usize - record.bytes.as_ptr() as usize;
            self.text(chunk, record.start + at, name.len())
        });
        let message = &query.text[..message_len as usize];
        let words_start = self.words.len() as u32;
        if thread.is_none() {
            said::add_words(message, &mut self.words);
            self.add_names(chunk, candidates_start as usize);
        }
        let printed = Printed { layout: place.layout, header: &header, message, line: place.around };
        let ids = reading.ids.of(&reading.wrappers, printed).map(|id| Some(self.owned(chunk, &id?)));
        self.counts.n_ids += u64::from(ids[0].is_some());
        self.entries.push(Entry {
            start: place.start as u32,
            line: u32::try_from(place.line).unwrap_or(u32::MAX),
            n_lines: place.n_lines,
            ts_us,
            level: header.level,
            thread,
            ids,
            message: message_start..message_start + message_len,
            words: words_start..self.words.len() as u32,
            candidates: candidates_start..self.candidates.len() as u32,
            ran: ran_start..self.ran.len() as u32,
        });
    }

    /// Adds the log points that were found for the text from `start` on, with what they have printed.
    fn add_candidates(&mut self, chunk: &[u8], start: usize, patterns: &PatternSet, scratch: &Scratch) {
        for found in scratch.matches() {
            let values_start = self.values.len() as u32;
            for (variable, range) in patterns.captures(scratch, found) {
                let text = self.text(chunk, start + range.start, range.len());
                self.values.push((variable, text));
            }
            for object in patterns.objects(found.log_point) {
                let Some(range) = span_of(&object.parts, patterns.captures(scratch, found)) else { continue };
                let start = start + range.start;
                // A name has no blanks: parts with words between them are two names.
                if !chunk[start..start + range.len()].contains(&b' ') {
                    let text = self.text(chunk, start, range.len());
                    self.values.push((object.variable, text));
                }
            }
            let values = values_start..self.values.len() as u32;
            self.candidates.push(Found { log_point: found.log_point, values, names: 0..0 });
        }
    }

    /// Adds the names within the values of the candidates from `start` on.
    fn add_names(&mut self, chunk: &[u8], start: usize) {
        for at in start..self.candidates.len() {
            let values = &self.candidates[at].values;
            let values = &self.values[values.start as usize..values.end as usize];
            let names_start = self.names.len() as u32;
            let texts = values.iter().map(|(_, text)| str_in(chunk, &self.lossy, *text));
            said::add_names(texts, &mut self.names);
            self.candidates[at].names = names_start..self.names.len() as u32;
        }
    }

    fn text(&mut self, chunk: &[u8], start: usize, len: usize) -> Text {
        let bytes = &chunk[start..start + len];
        if std::str::from_utf8(bytes).is_ok() {
            return Text { start: start as u32, len: len as u32, is_lossy: false };
        }
        let start = self.lossy.len();
        self.lossy.push_str(&String::from_utf8_lossy(bytes));
        Text { start: start as u32, len: (self.lossy.len() - start) as u32, is_lossy: true }
    }

    /// A text of a record, or one that stands elsewhere.
    fn owned(&mut self, chunk: &[u8], text: &[u8]) -> Text {
        let within = (text.as_ptr() as usize).checked_sub(chunk.as_ptr() as usize);
        if let Some(start) = within.filter(|start| start + text.len() <= chunk.len()) {
            return self.text(chunk, start, text.len());
        }
        let start = self.lossy.len();
        self.lossy.push_str(&String::from_utf8_lossy(text));
        Text { start: start as u32, len: (self.lossy.len() - start) as u32, is_lossy: true }
    }

    fn str_of(&self, text: Text) -> &str {
        str_in(&self.chunk.bytes, &self.lossy, text)
    }

    /// Records with a header and a time.
    pub(crate) fn n_records(&self) -> usize {
        self.entries.len()
    }

    /// Line and printed time of one of them.
    pub(crate) fn time(&self, index: usize) -> Option<(u64, i64)> {
        let entry = self.entries.get(index)?;
        Some((self.first_line + u64::from(entry.line), entry.ts_us))
    }

    /// One of them; none after the last.
    pub(crate) fn record(&self, index: usize) -> Option<Record<'_>> {
        let entry = self.entries.get(index)?;
        let range = |r: &Range<u32>| r.start as usize..r.end as usize;
        let candidates = self.candidates[range(&entry.candidates)].iter().map(|found| Candidate {
            log_point: found.log_point,
            values: self.values[range(&found.values)]
                .iter()
                .map(|(v, text)| (*v, self.str_of(*text)))
                .collect(),
            names: Cow::Borrowed(&self.names[range(&found.names)]),
        });
        Some(Record {
            file: self.chunk.file,
            line: self.first_line + u64::from(entry.line),
            n_lines: entry.n_lines,
            byte_offset: self.chunk.start + u64::from(entry.start),
            ts_us: entry.ts_us,
            late_us: 0,
            tick_us: 0,
            level: entry.level,
            thread: entry.thread.map(|t| self.str_of(t)),
            ids: entry.ids.map(|id| id.map(|text| self.str_of(text))),
            text: self.chunk.bytes.get(range(&entry.message)).unwrap_or_default(),
            words: Cow::Borrowed(&self.words[range(&entry.words)]),
            candidates: candidates.collect(),
            ran: self.ran[range(&entry.ran)].to_vec(),
        })
    }
}

fn str_in<'t>(chunk: &'t [u8], lossy: &'t str, text: Text) -> &'t str {
    let range = text.start as usize..(text.start + text.len) as usize;
    if text.is_lossy {
        return lossy.get(range).unwrap_or_default();
    }
    chunk.get(range).and_then(|b| std::str::from_utf8(b).ok()).unwrap_or_default()
}

/// Finds what can have printed the message of a record; gives where that begins, and what was
/// looked for.
fn find<'a>(
    kept: &'a [u8],
    header: &mut Header<'a>,
    layout: &Layout,
    patterns: &PatternSet,
    scratch: &mut Scratch,
) -> (usize, Query<'a>) {
    let mut start = header.message_start;
    let mut query = self::query(&kept[start..], header, layout);
    patterns.find(scratch, &query);
    if let Some(earlier) = header.earlier_start {
        // What can be a field or the message's start is what explains the text better.
        let with_field = scratch.constant();
        let whole = self::query(&kept[earlier..], header, layout);
        patterns.find(scratch, &whole);
        if scratch.constant() > with_field || with_field == 0 {
            (start, query) = (earlier, whole);
        } else {
            patterns.find(scratch, &query);
        }
    }
    // A layout whose last field is empty leaves its blanks before the message.
    let n_blanks = kept[start..].iter().take_while(|b| **b == b' ').count();
    if n_blanks > 0 && scratch.constant() == 0 {
        let whole = self::query(&kept[start + n_blanks..], header, layout);
        patterns.find(scratch, &whole);
        if scratch.constant() > 0 {
            (start, query) = (start + n_blanks, whole);
        } else {
            patterns.find(scratch, &query);
        }
    }
    (start, query)
}

/// From the first to the last of `parts`; none if one is not captured.
fn span_of(parts: &[u32], captures: impl Iterator<Item = (u32, Range<usize>)>) -> Option<Range<usize>> {
    let mut whole: Option<Range<usize>> = None;
    let mut n_found = 0;
    for (_, range) in captures.filter(|(variable, _)| parts.contains(variable)) {
        n_found += 1;
        whole = Some(match whole {
            None => range,
            Some(old) => old.start.min(range.start)..old.end.max(range.end),
        });
    }
    whole.filter(|_| n_found == parts.len())
}

/// What to look for: `rest` is what follows the header of a record.
pub(crate) fn query<'a>(rest: &'a [u8], header: &mut Header<'a>, layout: &Layout) -> Query<'a> {
    let body = without_line_end(rest);
    let (text, before_trace) = match layout.scan_suffix(body, header) {
        Some(end) if end < body.len() => (&body[..end], None),
        _ => (body, stack_trace::message_before(body)),
    };
    let first_line = memchr::memchr(b'\n', text).map(|n| n - usize::from(text[..n].ends_with(b"\r")));
    Query {
        text,
        before_trace,
        first_line,
        level: header.level,
        logger: header.logger,
        file: header.file,
        line: header.line,
        class: header.class,
        method: header.method,
        cut: layout
            .message_max()
            .and_then(|(max, side)| Cut::of(&text[..before_trace.unwrap_or(text.len())], max, side)),
    }
}
