//! Logs of any size out of small ones: what was logged once is logged again and again, later
//! and with other names.
//!
//! `cargo run --profile test --no-default-features --example amplify-logs -- FOLDER MEGABYTES
//! HEAD_SECONDS LOG...` writes a log of the same name into FOLDER for each LOG, `MEGABYTES` of
//! all of them together. What they print in their first HEAD_SECONDS, when processes start,
//! stands there once. The rest is repeated: each time it is later by the time that all of it
//! took, and numbers of six digits and more and hexadecimal names get another value, the same
//! in all logs. Names that the first seconds show, and those in more than one line of a
//! hundred, are names of the processes or of nothing: they stay.
//!
//! Only lines with a time as in `2026-11-21 01:28:54,087` tell when they were printed; all
//! others go with the line before.

use std::collections::HashMap;
use std::io::{BufWriter, Write};
use std::ops::Range;
use std::path::Path;

/// Bytes of `2026-11-21 01:28:54,087`.
const TIME_BYTES: usize = 23;
/// The time stands within so many bytes of the beginning of a line.
const TIME_AT_MAX: usize = 64;
/// Digits of the shortest number that can name something.
const NUMBER_DIGITS_MIN: usize = 6;
/// Digits of the shortest hexadecimal name, and of a time in ms since 1970.
const HEX_DIGITS_MIN: usize = 8;
const EPOCH_MS_DIGITS: usize = 13;
/// By what numbers grow each time: more than one log counts.
const STEP: u64 = 1_000_003;

/// One log: its text, and its lines, where their time is, if they have one, and the names.
struct Log {
    text: Vec<u8>,
    lines: Vec<Line>,
}

struct Line {
    bytes: Range<usize>,
    time: Option<(usize, i64)>,
    names: Vec<Range<usize>>,
}

fn main() -> std::io::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [folder, megabytes, head_s, paths @ ..] = &args[..] else {
        eprintln!("usage: amplify-logs FOLDER MEGABYTES HEAD_SECONDS LOG...");
        std::process::exit(2);
    };
    let number = |text: &String| text.parse::<u64>().map_err(std::io::Error::other);
    let (bytes_max, head_ms) = (number(megabytes)? * 1_000_000, number(head_s)? as i64 * 1000);
    let logs: Vec<Log> =
        paths.iter().map(|path| Ok(read(std::fs::read(path)?))).collect::<std::io::Result<_>>()?;
    let times = || logs.iter().flat_map(|log| &log.lines).filter_map(|line| Some(line.time?.1));
    let (first, last) = (times().min().unwrap_or(0), times().max().unwrap_or(0));
    let head_end = first + head_ms;
    let stays = constant(&logs, head_end);
    std::fs::create_dir_all(folder)?;
    let n_all: usize = logs.iter().map(|log| log.text.len()).sum();
    for (log, path) in logs.iter().zip(paths) {
        let name = Path::new(path).file_name().unwrap_or_default();
        let mut out = BufWriter::new(std::fs::File::create(Path::new(folder).join(name))?);
        let share = bytes_max * log.text.len() as u64 / n_all.max(1) as u64;
        let is_head = |line: &&Line| line.time.is_none_or(|(_, ms)| ms < head_end);
        let n_head = log.lines.iter().take_while(is_head).count();
        if n_head == log.lines.len() {
            let told = format!("`{path}`: no line is later than its first {head_s} s: not a plain log?");
            return Err(std::io::Error::other(told));
        }
        let (mut n_written, mut nth) = (0, 0);
        while n_written < share {
            let lines = &log.lines[if nth == 0 { 0 } else { n_head }..];
            for line in lines {
                let of = Again { nth, late_ms: nth as i64 * (last + 1000 - head_end), stays: &stays };
                n_written += of.write(&log.text, line, &mut out)?;
            }
            nth += 1;
        }
        out.flush()?;
    }
    Ok(())
}

/// One of the times that a log is written again.
struct Again<'a> {
    nth: u64,
    late_ms: i64,
    stays: &'a HashMap<&'a [u8], bool>,
}

impl Again<'_> {
    /// Writes a line of `text` with its time and names of this time; its bytes.
    fn write(&self, text: &[u8], line: &Line, out: &mut impl Write) -> std::io::Result<u64> {
        let mut at = line.bytes.start;
        if let Some((start, ms)) = line.time {
            out.write_all(&text[at..start])?;
            out.write_all(printed(ms + self.late_ms).as_bytes())?;
            at = start + TIME_BYTES;
        }
        let after_time = at;
        let renewed = line.names.iter().filter(|name| name.start >= after_time);
        for name in renewed.filter(|name| !self.stays[&text[(*name).clone()]]) {
            out.write_all(&text[at..name.start])?;
            out.write_all(&self.renew(&text[name.clone()]))?;
            at = name.end;
        }
        out.write_all(&text[at..line.bytes.end])?;
        Ok(line.bytes.len() as u64)
    }

    /// Another name of the same form.
    fn renew(&self, name: &[u8]) -> Vec<u8> {
        let digits = std::str::from_utf8(name).ok().filter(|name| name.bytes().all(|b| b.is_ascii_digit()));
        if let Some(number) = digits.and_then(|digits| digits.parse::<u64>().ok()) {
            let is_time = name.len() == EPOCH_MS_DIGITS && name[0] == b'1';
            let more = if is_time { self.late_ms as u64 } else { self.nth * STEP };
            let all = 10u64.checked_pow(name.len() as u32);
            let renewed = number.wrapping_add(more);
            return format!("{:0width$}", all.map_or(renewed, |all| renewed % all), width = name.len())
                .into_bytes();
        }
        let mut seed = self.nth;
        let mut turn = |digit: u8| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let more = if self.nth == 0 { 0 } else { (seed >> 33) as u8 };
            match digit {
                b'0'..=b'9' => b'0' + (digit - b'0' + more % 10) % 10,
                b'a'..=b'f' => b'a' + (digit - b'a' + more % 6) % 6,
                _ => digit,
            }
        };
        name.iter().map(|digit| turn(*digit)).collect()
    }
}

/// Whether each name is one that stays.
fn constant(logs: &[Log], head_end: i64) -> HashMap<&[u8], bool> {
    let mut shown: HashMap<&[u8], (usize, bool)> = HashMap::new();
    let mut n_lines = 0;
    for log in logs {
        let mut is_head = true;
        for line in &log.lines {
            n_lines += 1;
            is_head &= line.time.is_none_or(|(_, ms)| ms < head_end);
            for name in &line.names {
                let known = shown.entry(&log.text[name.clone()]).or_default();
                *known = (known.0 + 1, known.1 || is_head);
            }
        }
    }
    shown.into_iter().map(|(name, (n, is_head))| (name, is_head || n * 100 > n_lines)).collect()
}

fn read(text: Vec<u8>) -> Log {
    let mut lines = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let end = text[at..].iter().position(|b| *b == b'\n').map_or(text.len(), |n| at + n + 1);
        lines.push(Line { bytes: at..end, time: time(&text[..end], at), names: names(&text, at..end) });
        at = end;
    }
    Log { text, lines }
}

/// Runs of digits and hexadecimal digits that can name something.
fn names(text: &[u8], line: Range<usize>) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut at = line.start;
    while at < line.end {
        let n = text[at..line.end].iter().take_while(|b| b.is_ascii_alphanumeric()).count();
        if n == 0 {
            at += 1;
            continue;
        }
        // `0x1f` is a number, too; so is the one in `attempt1234567`.
        let word = &text[at..at + n];
        let is_hex = |word: &[u8]| {
            word.len() >= HEX_DIGITS_MIN
                && word.iter().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(b))
        };
        let hex = if word.starts_with(b"0x") { &word[2..] } else { word };
        let n_digits = word.iter().rev().take_while(|b| b.is_ascii_digit()).count();
        if is_hex(hex) {
            out.push(at + n - hex.len()..at + n);
        } else if n_digits >= NUMBER_DIGITS_MIN {
            out.push(at + n - n_digits..at + n);
        }
        at += n;
    }
    out
}

/// Where the time of a line is, and the time in ms.
fn time(text: &[u8], at: usize) -> Option<(usize, i64)> {
    let places = at..(at + TIME_AT_MAX).min(text.len());
    places.into_iter().find_map(|at| Some((at, civil(text.get(at..at + TIME_BYTES)?)?)))
}

/// `2026-11-21 01:28:54,087` in ms since 1970.
fn civil(text: &[u8]) -> Option<i64> {
    let shape = b"dddd-dd-dd dd:dd:dd,ddd";
    let fits = |(b, shape): (&u8, &u8)| if *shape == b'd' { b.is_ascii_digit() } else { b == shape };
    if !text.iter().zip(shape).all(fits) {
        return None;
    }
    let number = |range: Range<usize>| text[range].iter().fold(0i64, |n, b| n * 10 + i64::from(b - b'0'));
    let (year, month, day) = (number(0..4), number(5..7), number(8..10));
    // Days of the civil calendar, with years that begin in March.
    let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = y * 365 + y / 4 - y / 100 + y / 400 + (m * 153 + 2) / 5 + day - 1 - 719_468;
    Some(
        ((days * 24 + number(11..13)) * 60 + number(14..16)) * 60_000
            + number(17..19) * 1000
            + number(20..23),
    )
}

fn printed(ms: i64) -> String {
    let (days, ms) = (ms.div_euclid(86_400_000) + 719_468, ms.rem_euclid(86_400_000));
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let y = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * y + y / 4 - y / 100);
    let m = (5 * day_of_year + 2) / 153;
    let (day, month) = (day_of_year - (153 * m + 2) / 5 + 1, if m < 10 { m + 3 } else { m - 9 });
    let year = era * 400 + y + i64::from(month <= 2);
    let (s, ms) = (ms / 1000, ms % 1000);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02},{ms:03}", s / 3600, s / 60 % 60, s % 60)
}
