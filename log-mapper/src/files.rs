//! The files of one node: their layouts and order, and their text as one
//! sequence of chunks. Files are read one after another, the one with the
//! earliest first time stamp first, whatever rotation named them.

use std::sync::Arc;

use rayon::prelude::*;
use schema::{InputAccount, Result};

use crate::Config;
use crate::backward::Backwards;
use crate::chunks::{Chunk, Chunker};
use crate::digests::Digests;
use crate::header::calendar::Calendar;
use crate::header::clock::Clock;
use crate::header::timestamp::TimeLayout;
use crate::header::{Judge, Layout, date_in};
use crate::ids;
use crate::input::{Input, Source};
use crate::limits::{
    CHUNK_BYTES, HOLE_BYTES_MIN, LATER_SAMPLE_BYTES, LAYOUT_LINES_MAX, LAYOUT_SAMPLE_BYTES,
    LAYOUT_SEARCH_BYTES,
};
use crate::lines::{RawRecords, line_end};
use crate::patterns::PatternSet;
use crate::processes::{Process, processes_of};
use crate::reading::{Reading, Start};
use crate::strangers::is_of_machine;
use crate::wrappers::{self, Wrapper, has_names, line_ends, unwrap};

mod later;
mod times;
mod wrapped;

use wrapped::{WRAPPERS_MAX, add_rest, choose_wrapped};

/// One file, looked at.
pub(crate) struct PreparedFile {
    source: usize,
    pub(crate) reading: Arc<Reading>,
    first_us: Option<i64>,
    /// A stream cannot be opened again: it and what was read of it.
    opened: Option<(Input, Vec<u8>)>,
}

/// Detects the layouts of each source and puts them in order of time; sources
/// without a time come last, in the order given.
pub(crate) fn prepare(
    sources: &[Source],
    patterns: &PatternSet,
    config: &Config,
) -> Result<Vec<PreparedFile>> {
    let looked: Result<Vec<PreparedFile>> =
        sources.par_iter().enumerate().map(|(i, source)| prepare_one(i, source, patterns, config)).collect();
    let mut files = looked?;
    files.sort_by_key(|f| (f.first_us.is_none(), f.first_us, f.source));
    Ok(files)
}

fn prepare_one(
    index: usize,
    source: &Source,
    patterns: &PatternSet,
    config: &Config,
) -> Result<PreparedFile> {
    if let Some(looked) = source.looked() {
        let reading = Arc::clone(&looked.reading);
        return Ok(PreparedFile { source: index, reading, first_us: looked.first_us, opened: None });
    }
    let mut input = Input::open(source, config.input_bytes_max)?;
    let mut sample = Vec::new();
    let (looked, _) = look_at(source, &mut input, &mut sample, patterns, config)?;
    let opened = source.is_stream().then_some((input, sample));
    Ok(PreparedFile { source: index, reading: looked.reading, first_us: looked.first_us, opened })
}

/// How a file is read, found out before it is.
#[derive(Clone, Debug)]
pub(crate) struct Looked {
    pub(crate) reading: Arc<Reading>,
    pub(crate) first_us: Option<i64>,
    /// Whether most of its lines are those that the Java machine itself prints.
    pub(crate) is_of_machine: bool,
    /// Whose lines are read, where they are those of several processes.
    pub(crate) process: Option<String>,
}

/// Finds out how each of `sources` is read. Of a file with lines of several processes one source
/// of each is made, which are given together. What can be read once only, or not at all, is left
/// as it is.
///
/// # Errors
/// A file that can be opened cannot be read.
pub fn look(sources: Vec<Source>, patterns: &PatternSet, config: &Config) -> Result<Vec<Vec<Source>>> {
    sources.into_par_iter().map(|source| look_one(source, patterns, config)).collect()
}

fn look_one(source: Source, patterns: &PatternSet, config: &Config) -> Result<Vec<Source>> {
    if source.is_stream() {
        return Ok(vec![source]);
    }
    let Ok(mut input) = Input::open(&source, config.input_bytes_max) else { return Ok(vec![source]) };
    let mut sample = Vec::new();
    let (mut looked, ended) = look_at(&source, &mut input, &mut sample, patterns, config)?;
    let processes = match processes_of(&source, &looked.reading, config.input_bytes_max) {
        Ok(processes) => processes,
        Err(doubt) => {
            Arc::make_mut(&mut looked.reading).doubts.push(doubt);
            Vec::new()
        }
    };
    if processes.is_empty() {
        return Ok(vec![source.with_looked(looked)]);
    }
    let of_process = |process: Process| {
        let all = Reading { only: Some(process.only.clone()), ..Reading::clone(&looked.reading) };
        let mine: Vec<u8> = all.lines_of(&sample);
        let mut reading = detect_in(&mine, ended, patterns, config);
        let names = |reading: &Reading| reading.wrappers.get(process.only.wrapper).map(|one| one.name);
        if reading.n_headers == 0 || names(&reading) != names(&all) {
            reading = all.clone();
        }
        reading.only = Some(process.only);
        let mut one = finish(reading, &source, &sample, ended, patterns, config)?;
        one.process = Some(process.name);
        Ok(source.clone().with_looked(one))
    };
    processes.into_iter().map(of_process).collect()
}

/// Finds out how `source` is read, by its start, which is left in `sample`; and whether that is all
/// of it.
fn look_at(
    source: &Source,
    input: &mut Input,
    sample: &mut Vec<u8>,
    patterns: &PatternSet,
    config: &Config,
) -> Result<(Looked, bool)> {
    let mut reading = Reading::default();
    // Text of somebody else can stand before the first record, and be long.
    while reading.n_headers == 0 && sample.len() < LAYOUT_SEARCH_BYTES && !input.ended() {
        let n_more = LAYOUT_SAMPLE_BYTES.max(sample.len());
        input.read(sample, n_more);
        leave_out_holes(sample, source.is_stream());
        reading = detect_in(sample, input.ended(), patterns, config);
    }
    let looked = finish(reading, source, sample, input.ended(), patterns, config)?;
    Ok((looked, input.ended()))
}

/// How `sample` is read: in the encoding, the wrappers and the layouts that it shows.
fn detect_in(sample: &[u8], ended: bool, patterns: &PatternSet, config: &Config) -> Reading {
    let mut judge = Judge::new(patterns, config.libraries);
    let encoding = wrappers::encoding(sample);
    let decoded = encoding.map(|encoding| unwrap(&[encoding], sample).text);
    let text = decoded.as_deref().unwrap_or(sample);
    let mut reading = choose_wrapped(text, ended, &config.layouts, &mut judge, WRAPPERS_MAX);
    if config.layouts.is_empty() {
        add_rest(&mut reading, text, &mut judge);
    }
    if reading.n_headers == 0 && ended && config.may_detect && !config.layouts.is_empty() {
        let misfits = std::mem::take(&mut reading.doubts);
        reading = choose_wrapped(text, ended, &[], &mut judge, WRAPPERS_MAX);
        reading.doubts.extend(misfits.into_iter().map(|misfit| format!("{misfit}: another was looked for")));
    }
    if let Some(encoding) = encoding {
        reading.wrappers.insert(0, encoding);
        reading.doubts.push(NOT_UTF_8.to_owned());
    }
    reading
}

/// Completes what is known of how `source` is read, which begins with `sample`.
fn finish(
    mut reading: Reading,
    source: &Source,
    sample: &[u8],
    ended: bool,
    patterns: &PatternSet,
    config: &Config,
) -> Result<Looked> {
    let mut judge = Judge::new(patterns, config.libraries);
    if reading.n_headers == 0 && !ended && config.may_detect && !config.layouts.is_empty() {
        let given = Config { layouts: Vec::new(), ..config.clone() };
        let misfits = std::mem::take(&mut reading.doubts);
        reading = detect_in(sample, ended, patterns, &given);
        reading.doubts.extend(misfits.into_iter().map(|misfit| format!("{misfit}: another was looked for")));
    }
    if !has_names(&reading.wrappers) {
        let inner = unwrap(&reading.wrappers, sample).text;
        reading.wrappers.extend(line_ends(&inner).or_else(|| line_ends(sample)));
    }
    if config.layouts.is_empty() && reading.n_own > 0 && !ended {
        later::add_later(&mut reading, source, sample, config, &mut judge);
    }
    let unwrapped = reading.unwrap(sample);
    let text = unwrapped.as_ref().map_or(sample, |unwrapped| &unwrapped.text);
    times::settle(&mut reading, source, sample, text, config)?;
    reading.ids = ids::find(&reading, text, &config.ids);
    let mut clocks = clocks(config, &reading);
    let of_wrapper = match reading.n_own {
        0 => None,
        _ => first_line_of(&reading, sample).and_then(|line| reading.stamp(0, sample, (line, 0))),
    };
    let first_us = of_wrapper.and_then(|civil| clocks[0].resolve(&civil)).or_else(|| {
        RawRecords::new(text, &reading).find_map(|record| {
            let begin = record.begin.filter(|begin| begin.layout < reading.n_own)?;
            let start = unwrapped.as_ref().map_or(record.start, |unwrapped| unwrapped.place(record.start).0);
            reading.set_clocks(&mut clocks, start as u64);
            clocks[begin.layout].resolve(&begin.header.time?)
        })
    });
    let first_us = first_us.map(|us| earliest(&reading, source, &mut clocks, us));
    if first_us.is_none() && reading.n_headers > 0 && reading.main().is_some_and(|one| one.time().is_none()) {
        reading
            .doubts
            .push("the layout prints no time: all records are of 1970-01-01, in their order".to_owned());
    }
    if config.layouts.is_empty()
        && let Some(date) = unread_date(&reading, sample, text)
    {
        let doubt = format!(
            "the date `{date}` beside the time of day in its records is not understood: give the layout"
        );
        reading = Reading { doubts: vec![doubt], ..Reading::default() };
    }
    tell_of_json(&mut reading, sample);
    if sample.get(257..262) == Some(b"ustar") {
        reading = Reading { doubts: vec![PACKED.to_owned()], ..Reading::default() };
    }
    if memchr::memchr(b'\n', sample).is_none() && memchr::memchr_iter(b'\r', sample).count() > 1 {
        reading = Reading { doubts: vec![ONE_LINE.to_owned()], ..Reading::default() };
    }
    if reading.layouts.is_empty() && reading.doubts.is_empty() && !sample.trim_ascii().is_empty() {
        let what_is_missing = wrappers::missing_keys(sample);
        reading.doubts.push(what_is_missing.unwrap_or_else(|| NO_LAYOUT.to_owned()));
    }
    let is_of_machine = is_mostly_of_machine(sample);
    Ok(Looked { reading: Arc::new(reading), first_us, is_of_machine, process: None })
}

/// Leaves what was never written out of the start of a file, but for what can be read once only.
fn leave_out_holes(sample: &mut Vec<u8>, is_stream: bool) {
    while let Some(hole) = memchr::memmem::find(sample, &[0; HOLE_BYTES_MIN]).filter(|_| !is_stream) {
        let n = sample[hole..].iter().take_while(|b| **b == 0).count();
        sample.drain(hole..hole + n);
    }
}

/// The time of the first record by its clock, where that of the first line is `us`: that of the last
/// line, where the newest record is the first.
fn earliest(reading: &Reading, source: &Source, clocks: &mut [Clock], us: i64) -> i64 {
    if reading.backward.is_none() {
        return us;
    }
    reading.set_clocks(clocks, u64::MAX);
    let last = times::tail_of(source, reading).last().and_then(|civil| clocks[0].resolve(civil));
    last.map_or(us, |last| last.min(us))
}

/// Where the first line of `text` stands of which anything is left.
fn first_line_of(reading: &Reading, text: &[u8]) -> Option<usize> {
    let unwrapped = unwrap(&reading.wrappers, text);
    unwrapped.places.first().map(|place| place.start as usize).or(reading.wrappers.is_empty().then_some(0))
}

/// The time stamp that `time` reads at the start of a line, or behind a few fields.
fn dated_line<'a>(time: &TimeLayout, line: &'a [u8]) -> Option<&'a [u8]> {
    date_in(time, line).map(|(start, end)| &line[start..end])
}

/// Whether most lines are those that the Java machine itself prints.
fn is_mostly_of_machine(sample: &[u8]) -> bool {
    let lines = || sample.split(|b| *b == b'\n').filter(|line| !line.is_empty()).take(LAYOUT_LINES_MAX);
    lines().filter(|line| is_of_machine(line)).count() * 2 > lines().count()
}

/// Tells what objects do not say.
fn tell_of_json(reading: &mut Reading, sample: &[u8]) {
    let has_resources = memchr::memmem::find(sample, b"\"resourceLogs\"").is_some();
    if has_resources && reading.wrappers.iter().any(Wrapper::joins) {
        reading.doubts.push(RESOURCES.to_owned());
    }
    if lacks_values(reading, sample) {
        reading.doubts.push(NO_VALUES.to_owned());
    }
}

/// Of batches of OpenTelemetry whose resources cannot be told apart.
const RESOURCES: &str = "its records are of resources of OpenTelemetry, printed over several lines, which are read as of one process: write each batch on a line (`jq -c .`) if they are of several";

/// Of messages that are patterns.
const NO_VALUES: &str = "messages are patterns with `{}` whose arguments are not printed: the values are not known, have the encoder print them (`withArguments`, `withFormattedMessage`)";

/// Whether messages of JSON are patterns, and their values are not there; a program that prints `{}`
/// prints it now and then.
fn lacks_values(reading: &Reading, sample: &[u8]) -> bool {
    let Some(n) = reading.wrappers.iter().position(|wrapper| wrapper.name == "json") else { return false };
    let text = unwrap(&reading.wrappers[..n], sample).text;
    let lines = || text.split(|b| *b == b'\n').filter(|line| !line.is_empty());
    let n_lines = lines().count();
    lines().filter(|line| wrappers::lacks_arguments(line)).count() * 10 > n_lines
}

/// Of records of which the layout reads the time of day alone: a date right beside it, which it does
/// not read. Whatever day would be taken, it would not be that one.
fn unread_date(reading: &Reading, sample: &[u8], text: &[u8]) -> Option<String> {
    let time = reading.main()?.time().filter(|time| !time.has_day())?;
    // Words before each line can be a date.
    let is_words = !reading.wrappers.is_empty() && reading.wrappers.iter().all(Wrapper::is_words);
    if is_words {
        let line = sample.split(|b| *b == b'\n').find(|line| date_in(time, line).is_some())?;
        return date_beside(time, line);
    }
    let record = RawRecords::new(text, reading)
        .find(|record| record.begin.is_some_and(|begin| begin.layout < reading.n_own))?;
    date_beside(time, &record.bytes[..line_end(record.bytes, 0)])
}

/// What looks like a date right before the time of a line, or behind it.
fn date_beside(time: &TimeLayout, line: &[u8]) -> Option<String> {
    let (start, end) = date_in(time, line)?;
    let is_between = |b: &u8| b" T_-,|[](<>)".contains(b);
    let before = &line[..start];
    let before = &before[..before.iter().rposition(|b| !is_between(b)).map_or(0, |last| last + 1)];
    let word = before.rsplit(|b| b" [(<|".contains(b)).next().unwrap_or_default();
    let after = &line[end..];
    let after = &after[after.iter().position(|b| !is_between(b)).unwrap_or(after.len())..];
    let next = after.split(|b| b" ])>|,".contains(b)).next().unwrap_or_default();
    let date = [word, next].into_iter().find(|word| is_like_date(word))?;
    Some(String::from_utf8_lossy(date).into_owned())
}

/// Whether a word is two or three numbers of a date with signs between, or the digits of one.
fn is_like_date(word: &[u8]) -> bool {
    let is_number = |part: &[u8]| !part.is_empty() && part.len() <= 4 && part.iter().all(u8::is_ascii_digit);
    let has_sign = |sign: u8| {
        let parts: Vec<&[u8]> = word.split(|b| *b == sign).collect();
        (2..=3).contains(&parts.len()) && parts.iter().all(|part| is_number(part))
    };
    let is_digits = matches!(word.len(), 6 | 8) && word.iter().all(u8::is_ascii_digit);
    is_digits || [b'.', b'/', b'-'].into_iter().any(has_sign)
}

/// Of text in which no record is found.
const NO_LAYOUT: &str = "no line has a header of a known layout: give the layout";

/// Of text that is read byte by byte.
const NOT_UTF_8: &str =
    "bytes that are not UTF-8: they are read as those of Windows-1252 and ISO 8859-1 (Latin 1)";

/// Calls `give` with the offset and text of each record of `source`, and with what it begins with.
pub(crate) fn each_record(
    source: &Source,
    reading: &Arc<Reading>,
    input_bytes_max: u64,
    give: &mut dyn FnMut(u64, &[u8], &Start<'_>),
) -> Result<()> {
    let mut input = Input::open(source, input_bytes_max)?;
    let mut chunker = Chunker::new(Vec::new(), Arc::clone(reading), CHUNK_BYTES);
    while let Some(chunk) = chunker.next(&mut input, &mut |_| ()) {
        let unwrapped = reading.unwrap_after(&chunk.bytes, chunk.is_mine);
        let text = unwrapped.as_ref().map_or(&chunk.bytes, |unwrapped| &unwrapped.text);
        for record in RawRecords::new(text, reading) {
            let Some(begin) = record.begin.filter(|begin| begin.layout < reading.n_own) else { continue };
            let start = unwrapped.as_ref().map_or(record.start, |unwrapped| unwrapped.place(record.start).0);
            give(chunk.start + start as u64, record.bytes, &begin);
        }
    }
    Ok(())
}

/// Of a file of which each line is one for old machines only.
const ONE_LINE: &str =
    "no line has a header of a known layout: lines end with a carriage return alone, convert them first";

/// Of several files in one.
const PACKED: &str = "a tar archive, no file with a header of a layout: unpack it first";

/// The clocks of one file, one for each layout: the layout's own zone, else the configured one.
pub(crate) fn clocks(config: &Config, reading: &Reading) -> Vec<Clock> {
    let zone = |layout: &Arc<Layout>| layout.zone().unwrap_or(&config.zone).clone();
    let clock = |layout: &Arc<Layout>| {
        let is_of_week = layout.time().is_some_and(TimeLayout::has_week_year);
        let calendar = Calendar { is_of_week: reading.calendar.is_of_week || is_of_week, ..reading.calendar };
        Clock::new(zone(layout), reading.date).with_calendar(calendar).with_start(reading.start_us)
    };
    reading.layouts.iter().map(clock).collect()
}

/// What the times and layouts of a file depend on.
fn settings(config: &Config, reading: &Reading) -> String {
    let zone = config.zone.iana_name().map_or_else(|| format!("{:?}", config.zone), str::to_owned);
    let given = if reading.how == "given" { "given layout" } else { "layout found" };
    format!("zone {zone}, {given}, window {} us", config.accumulate.window_us)
}

/// Reads the chunks of all files, in order, and keeps their accounts.
pub(crate) struct ChunkReader<'a> {
    sources: &'a [Source],
    files: Vec<PreparedFile>,
    config: &'a Config,
    progress: &'a (dyn Fn(u64) + Sync),
    next_file: usize,
    current: Option<Current>,
    pub(crate) accounts: Vec<InputAccount>,
}

struct Current {
    input: Input,
    chunker: Chunker,
    /// Instead, of a text that is read from its end.
    backwards: Option<Backwards>,
    digest: Digests,
}

impl<'a> ChunkReader<'a> {
    pub(crate) fn new(
        sources: &'a [Source],
        files: Vec<PreparedFile>,
        config: &'a Config,
        progress: &'a (dyn Fn(u64) + Sync),
    ) -> Self {
        let accounts = files
            .iter()
            .map(|file| InputAccount {
                file: sources[file.source].name().to_owned(),
                layout: file.reading.pattern(),
                layout_found: file.reading.how.clone(),
                settings: settings(config, &file.reading),
                id_field: file.reading.ids.field.clone(),
                ..InputAccount::default()
            })
            .collect();
        Self { sources, files, config, progress, next_file: 0, current: None, accounts }
    }

    /// Up to `n` chunks; none left if it gives none.
    pub(crate) fn batch(&mut self, n: usize) -> Result<Vec<Chunk>> {
        let mut out = Vec::new();
        while out.len() < n {
            match self.next()? {
                Some(chunk) => out.push(chunk),
                None => break,
            }
        }
        Ok(out)
    }

    fn next(&mut self) -> Result<Option<Chunk>> {
        loop {
            let Some(current) = &mut self.current else {
                if self.next_file == self.files.len() {
                    return Ok(None);
                }
                self.open_next()?;
                continue;
            };
            let account = &mut self.accounts[self.next_file - 1];
            let digest = &mut current.digest;
            let mut see = |bytes: &[u8]| {
                digest.update(bytes);
                account.n_bytes += bytes.len() as u64;
            };
            let chunk = match &mut current.backwards {
                Some(backwards) => backwards.next(),
                None => current.chunker.next(&mut current.input, &mut see),
            };
            (self.progress)(current.input.progress());
            account.damage.append(&mut current.input.take_damage());
            if let Some(mut chunk) = chunk {
                chunk.file = (self.next_file - 1) as u32;
                self.add_rest(&mut chunk);
                return Ok(Some(chunk));
            }
            if let Some(ended) = self.current.take() {
                (account.digest, account.prefixes) = ended.digest.finish();
            }
        }
    }

    /// Adds to the last chunk of a file the rest of its last line, where that was cut as the file was
    /// rotated, and stands at the start of the next one.
    fn add_rest(&self, chunk: &mut Chunk) {
        let is_last = self.current.as_ref().is_some_and(|current| {
            current.backwards.is_none() && current.input.ended() && current.chunker.is_at_end()
        });
        let (Some(this), Some(next)) = (self.files.get(self.next_file - 1), self.files.get(self.next_file))
        else {
            return;
        };
        let names = |file: &PreparedFile| file.reading.wrappers.first().map(|wrapper| wrapper.name);
        if !is_last || names(this).is_none() || names(this) != names(next) || next.opened.is_some() {
            return;
        }
        let Ok(mut input) = Input::open(&self.sources[next.source], self.config.input_bytes_max) else {
            return;
        };
        let mut head = Vec::new();
        input.read(&mut head, LATER_SAMPLE_BYTES);
        let n = this.reading.rest_of(&chunk.bytes, &head);
        if n > 0 {
            chunk.bytes.extend_from_slice(&head[..n]);
            chunk.n_lines_of_next = memchr::memchr_iter(b'\n', &head[..n]).count() as u64;
        }
    }

    fn open_next(&mut self) -> Result<()> {
        let file = &mut self.files[self.next_file];
        let (mut input, head) = match file.opened.take() {
            Some(opened) => opened,
            None => (Input::open(&self.sources[file.source], self.config.input_bytes_max)?, Vec::new()),
        };
        let account = &mut self.accounts[self.next_file];
        let mut digest = Digests::new(self.sources[file.source].process());
        digest.update(&head);
        account.n_bytes += head.len() as u64;
        account.damage.extend(file.reading.doubts.iter().cloned());
        let backwards = file.reading.backward.map(|_| {
            let mut see = |bytes: &[u8]| {
                digest.update(bytes);
                account.n_bytes += bytes.len() as u64;
            };
            let (source, reading) = (&self.sources[file.source], Arc::clone(&file.reading));
            Backwards::new(source, &mut input, reading, self.config.chunk_bytes, &mut see)
        });
        let chunker = Chunker::new(head, Arc::clone(&file.reading), self.config.chunk_bytes);
        self.current = Some(Current { input, chunker, backwards, digest });
        self.next_file += 1;
        Ok(())
    }

    /// How each file is read, by its position.
    pub(crate) fn readings(files: &[PreparedFile]) -> Vec<Arc<Reading>> {
        files.iter().map(|f| Arc::clone(&f.reading)).collect()
    }
}
