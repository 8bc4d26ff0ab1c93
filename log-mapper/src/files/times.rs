//! What the time stamps of a file mean where they leave it open: which day they are of, which of
//! two hours when the clock is set back at the end of summer time, and which half of the day. The
//! order of the lines decides, and the file's name; what stays open is told.

use std::sync::Arc;

use jiff::tz::{AmbiguousOffset, TimeZone};
use schema::Result;

use super::each_record;
use crate::Config;
use crate::backward::{can_be_held, is_newest_first, turned};
use crate::header::civil::{Civil, Round};
use crate::input::Source;
use crate::lines::{RawRecord, RawRecords};
use crate::reading::{Reading, Shift, earlier, later};
use crate::wrappers::{self, Wrapper};

mod meaning;
mod order;

/// Bytes at the end of a file in which its last records are looked for.
const TAIL_BYTES: usize = 64 << 10;

/// Settles what the time stamps of `source` mean, which begins with `sample`, the inner text of
/// which is `text`, and is read so.
pub(super) fn settle(
    reading: &mut Reading,
    source: &Source,
    sample: &[u8],
    text: &[u8],
    config: &Config,
) -> Result<()> {
    let tail = tail_of(source, reading);
    if config.layouts.is_empty() {
        order::settle(reading, source, &[&stamps(reading, text), &tail[..]].concat(), config);
    }
    // The order of the numbers of its dates can be another one by now.
    let tail = tail_of(source, reading);
    let times = stamps(reading, text);
    meaning::settle(reading, source, text, &times, &tail, config);
    settle_direction(reading, source, sample, text, config);
    let Some(first) = times.first() else { return Ok(()) };
    if first.elapsed_us().is_some() {
        return settle_start(reading, source, config);
    }
    if let Some(round) = first.round() {
        settle_day(reading, source, config, round)?;
        return Ok(());
    }
    let zone = reading.main().and_then(|layout| layout.zone()).unwrap_or(&config.zone).clone();
    let last = tail.last().or(times.last()).unwrap_or(first);
    let is_halved = config.layouts.is_empty() && may_be_halves(source, reading, &times);
    let has_fold = !first.has_zone() && fold_between(&zone, first, last, !tail.is_empty());
    if is_halved || has_fold {
        let mut order = Order::new(zone, is_halved);
        walk(source, reading, config, &mut |offset, civil| order.add(offset, civil))?;
        order.tell(reading);
    }
    Ok(())
}

/// Settles whether the newest record is the first, and what is turned round then.
fn settle_direction(reading: &mut Reading, source: &Source, sample: &[u8], text: &[u8], config: &Config) {
    let all = [wrapped_stamps(reading, sample), tail_of(source, reading)].concat();
    if !is_newest_first(&all, reading.calendar) {
        return;
    }
    if reading.only.is_some() && reading.wrappers.iter().any(Wrapper::has_sections) {
        reading.doubts.push(
            "its records stand newest first, and are read so: turn the lines of each process round"
                .to_owned(),
        );
    } else if !can_be_held(source, config.input_bytes_max) {
        reading.doubts.push(
            "its records stand newest first, and are read so: give it as a file that is not packed, or turn it round (`tac`)".to_owned(),
        );
    } else {
        reading.backward = Some(turned(text));
        reading.doubts.push(
            "its records stand newest first: it is read from its end, and lines are counted from there"
                .to_owned(),
        );
    }
}

/// The stamps of the records in `sample`, which can be those of a wrapper.
fn wrapped_stamps(reading: &Reading, sample: &[u8]) -> Vec<Civil> {
    let unwrapped = reading.unwrap(sample);
    let text = unwrapped.as_ref().map_or(sample, |unwrapped| &unwrapped.text);
    let stamp = |record: RawRecord<'_>| {
        let begin = record.begin.filter(|begin| begin.layout < reading.n_own)?;
        begin.header.time.or_else(|| {
            let place = unwrapped.as_ref()?.place_of(record.start);
            reading.stamp(begin.layout, sample, (place.start as usize, place.nth as usize))
        })
    };
    RawRecords::new(text, reading).filter_map(stamp).collect()
}

/// The stamps of the program's records in `text`.
fn stamps(reading: &Reading, text: &[u8]) -> Vec<Civil> {
    let records = RawRecords::new(text, reading).filter_map(|record| record.begin);
    records.filter(|begin| begin.layout < reading.n_own).filter_map(|begin| begin.header.time).collect()
}

/// Those at the end of a file; none where it cannot be read from there.
pub(super) fn tail_of(source: &Source, reading: &Reading) -> Vec<Civil> {
    let Some(n_bytes) = source.n_bytes() else { return Vec::new() };
    let start = n_bytes.saturating_sub(TAIL_BYTES as u64);
    let Some(bytes) = source.piece(start, TAIL_BYTES) else { return Vec::new() };
    let whole = if start == 0 { 0 } else { memchr::memchr(b'\n', &bytes).map_or(bytes.len(), |n| n + 1) };
    let unwrapped = reading.unwrap(&bytes[whole..]).map(|unwrapped| unwrapped.text);
    stamps(reading, unwrapped.as_deref().unwrap_or(&bytes[whole..]))
}

/// Calls `give` with the offset and stamp of each record.
fn walk(
    source: &Source,
    reading: &Reading,
    config: &Config,
    give: &mut dyn FnMut(u64, &Civil),
) -> Result<()> {
    if source.is_stream() {
        return Ok(());
    }
    each_record(source, &Arc::new(reading.clone()), config.input_bytes_max, &mut |offset, _, begin| {
        if let Some(civil) = begin.header.time {
            give(offset, &civil);
        }
    })
}

/// When the program began, of stamps that count the milliseconds since then: so that the last record
/// is of when the file was last written, or at the start of a day that is given. A wrapper's time is
/// used where it has one.
fn settle_start(reading: &mut Reading, source: &Source, config: &Config) -> Result<()> {
    if wrappers::has_stamp(&reading.wrappers) {
        return Ok(());
    }
    let mut last_us = 0;
    let is_backward = reading.backward.is_some();
    walk(source, reading, config, &mut |_, civil| {
        let us = civil.elapsed_us().unwrap_or(0);
        last_us = if is_backward { us.max(last_us) } else { us };
    })?;
    let given = config.date.and_then(|(year, month, day)| {
        let day = jiff::civil::Date::new(year, month.cast_signed(), day.cast_signed()).ok()?;
        Some(config.zone.to_timestamp(day.at(0, 0, 0, 0)).ok()?.as_microsecond())
    });
    let written = || source.written_at().map(|at| at.as_microsecond() - last_us);
    let (start_us, how) = match (given, written()) {
        (Some(us), _) => (us, "at the start of the day that is given"),
        (None, Some(us)) => (us, "so that the last record is of when the file was last written"),
        (None, None) => (0, "on 1970-01-01"),
    };
    reading.start_us = start_us;
    reading.doubts.push(format!(
        "its time stamps are milliseconds since the program began, which is taken to be {how}; give the day with --date"
    ));
    Ok(())
}

/// The day of stamps that do not name it, its month or its year: that of the file's name, else of
/// its last record the one on which the file was written.
fn settle_day(
    reading: &mut Reading,
    source: &Source,
    config: &Config,
    (_, n, round): (u32, u32, Round),
) -> Result<()> {
    let is_backward = reading.backward.is_some();
    let mut turns = Vec::new();
    let mut last: Option<u32> = None;
    walk(source, reading, config, &mut |offset, civil| {
        let Some((at, ..)) = civil.round() else { return };
        // Clocks that are set back go less far than half a round.
        let is_turn = |last: u32| if is_backward { last + n / 2 < at } else { at + n / 2 < last };
        if last.is_some_and(is_turn) {
            turns.push(offset);
        }
        last = Some(at);
    })?;
    let n_turns = turns.len();
    (reading.turns, reading.turn) = (turns, round);
    let written = source.written(&config.zone);
    let named = day_of_name(source.name());
    reading.date = match (config.date, named) {
        (Some(date), _) if is_backward => later(date, n_turns, round),
        (Some(date), _) => date,
        (None, Some(Named { day, is_of_end: false })) if round == Round::Day => day,
        // A log that is rotated in the night has the name of the new day.
        (None, Some(Named { day, .. })) if round == Round::Day => {
            let (year, month, day_number) = day;
            reading.doubts.push(format!(
                "time stamps have no day: they are taken to be of the night of {year:04}-{month:02}-{day_number:02} and before, as the file's name says; give the first day with --date"
            ));
            earlier(day, n_turns.max(1), round)
        }
        (None, named) if is_backward => named.map(|named| named.day).or(written).unwrap_or((1970, 1, 1)),
        (None, named) => {
            earlier(named.map(|named| named.day).or(written).unwrap_or((1970, 1, 1)), n_turns, round)
        }
    };
    if round == Round::Month && config.date.is_none() {
        let (year, month, _) = reading.date;
        reading.doubts.push(format!(
            "the layout prints minutes where months belong (`mm` for `MM`): the first records are taken to be of month {month} of {year}; give --date if they are not"
        ));
    }
    Ok(())
}

/// A day in a file's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Named {
    day: (i16, u8, u8),
    /// It is the day on which the file was rotated, as logrotate names it.
    is_of_end: bool,
}

/// The day that the name of a file holds: `x-2025-03-27-1.log.gz`, `x.log.2025-03-27`,
/// `x.log-20250327`, `x-03-27-2025-1.log`.
fn day_of_name(path: &str) -> Option<Named> {
    let name = path.rsplit(['/', '\\']).next()?.as_bytes();
    let number = |at: usize, n: usize| -> Option<u32> {
        let digits = name.get(at..at + n).filter(|digits| digits.iter().all(u8::is_ascii_digit))?;
        std::str::from_utf8(digits).ok()?.parse().ok()
    };
    let is_sign = |at: usize| matches!(name.get(at), Some(b'-' | b'_' | b'.'));
    (0..name.len()).filter(|at| *at == 0 || !name[at - 1].is_ascii_digit()).find_map(|at| {
        let ends = |n: usize| name.get(at + n).is_none_or(|b| !b.is_ascii_digit());
        let parts = if is_sign(at + 4) && is_sign(at + 7) && ends(10) {
            (number(at, 4)?, number(at + 5, 2)?, number(at + 8, 2)?)
        } else if is_sign(at + 2) && is_sign(at + 5) && ends(10) {
            let (one, two, year) = (number(at, 2)?, number(at + 3, 2)?, number(at + 6, 4)?);
            if one > 12 || name[at + 2] == b'.' { (year, two, one) } else { (year, one, two) }
        } else if ends(8) {
            (number(at, 4)?, number(at + 4, 2)?, number(at + 6, 2)?)
        } else {
            return None;
        };
        let day = (i16::try_from(parts.0).ok()?, u8::try_from(parts.1).ok()?, u8::try_from(parts.2).ok()?);
        let exists = jiff::civil::Date::new(day.0, day.1.cast_signed(), day.2.cast_signed()).is_ok();
        let is_of_end = name[..at].ends_with(b".log-") || name[..at].ends_with(b".out-");
        (exists && (1990..2100).contains(&parts.0)).then_some(Named { day, is_of_end })
    })
}

/// Whether the clock can have been set back for the end of summer time while a file was written.
fn fold_between(zone: &TimeZone, first: &Civil, last: &Civil, is_last: bool) -> bool {
    /// Longest file of which the end is not known.
    const DAYS: i64 = 400;
    const HOURS_12: i64 = 12 * 3600;
    let second =
        |civil: &Civil| civil.date_time().and_then(|at| zone.to_timestamp(at).ok()).map(|t| t.as_second());
    let (Some(from), Some(to)) = (second(first), second(last)) else { return false };
    let to = if is_last { to } else { from.saturating_add(DAYS * 86_400) };
    let Ok(start) = jiff::Timestamp::from_second(from.min(to) - HOURS_12) else { return false };
    let offset_before = |at: jiff::Timestamp| {
        jiff::Timestamp::from_second(at.as_second() - 1).map(|before| zone.to_offset(before))
    };
    zone.following(start)
        .take_while(|change| change.timestamp().as_second() <= from.max(to) + HOURS_12)
        .any(|change| offset_before(change.timestamp()).is_ok_and(|before| before > change.offset()))
}

/// Hours of a clock with twelve of them.
fn is_of_twelve(civil: &Civil) -> bool {
    (1..=12).contains(&civil.hour())
}

/// Whether a file can be of a clock that prints hours from 1 to 12 and not which half of the day
/// they are of: there are no others, and on one day a later record has an earlier hour.
fn may_be_halves(source: &Source, reading: &Reading, times: &[Civil]) -> bool {
    let says_half = reading.main().and_then(|layout| layout.time()).is_none_or(|time| time.has_half_day());
    if says_half || !times.iter().all(is_of_twelve) {
        return false;
    }
    let goes_back = |times: &[Civil]| {
        times.windows(2).any(|two| two[0].day() == two[1].day() && two[1].hour() < two[0].hour())
    };
    if goes_back(times) {
        return true;
    }
    // Once more through the file, a record each so many bytes: other hours end it.
    let Some(n_bytes) = source.n_bytes() else { return false };
    let mut last: Vec<Civil> = times.last().copied().into_iter().collect();
    let mut at = crate::limits::LAYOUT_SAMPLE_BYTES as u64;
    while at < n_bytes {
        let Some(piece) = source.piece(at, crate::limits::LATER_LOOK_BYTES) else { return false };
        let start = memchr::memchr(b'\n', &piece).map_or(piece.len(), |n| n + 1);
        let unwrapped = reading.unwrap(&piece[start..]).map(|unwrapped| unwrapped.text);
        let here = stamps(reading, unwrapped.as_deref().unwrap_or(&piece[start..]));
        if !here.iter().all(is_of_twelve) {
            return false;
        }
        last.extend(here);
        if goes_back(&last) {
            return true;
        }
        last.drain(..last.len().saturating_sub(1));
        at += crate::limits::LATER_STRIDE_BYTES as u64;
    }
    false
}

/// What the order of all records says of the hours that exist twice, and of halves of days.
struct Order {
    zone: TimeZone,
    is_halved: bool,
    last: Option<Civil>,
    /// Where the second of two hours begins, and where it is over.
    folds: Vec<(u64, bool)>,
    /// Records of hours that exist twice, and the first of them.
    n_twice: u64,
    /// Where a half of the day begins: the first or the second one.
    halves: Vec<(u64, bool)>,
    /// Whether the first record is surely of that half.
    start: Option<bool>,
}

impl Order {
    fn new(zone: TimeZone, is_halved: bool) -> Self {
        Self { zone, is_halved, last: None, folds: Vec::new(), n_twice: 0, halves: Vec::new(), start: None }
    }

    fn add(&mut self, offset: u64, civil: &Civil) {
        self.is_halved &= is_of_twelve(civil);
        self.add_fold(offset, civil);
        self.add_half(offset, civil);
        self.last = Some(*civil);
    }

    fn add_fold(&mut self, offset: u64, civil: &Civil) {
        /// Threads that print late are late by less, and clocks are set back by less; seconds.
        const BACK_MIN: i64 = 20 * 60;
        let is_second = self.folds.last().is_some_and(|(_, is_second)| *is_second);
        let is_fold =
            |at| matches!(self.zone.to_ambiguous_timestamp(at).offset(), AmbiguousOffset::Fold { .. });
        let is_twice = civil.date_time().is_some_and(is_fold);
        self.n_twice += u64::from(is_twice);
        let went = self.last.and_then(|last| Some(civil.local_second()? - last.local_second()?));
        if is_twice && !is_second && went.is_some_and(|went| went < -BACK_MIN) {
            self.folds.push((offset, true));
        } else if !is_twice && is_second {
            self.folds.push((offset, false));
        }
    }

    fn add_half(&mut self, offset: u64, civil: &Civil) {
        let Some(last) = self.last else { return };
        let is_later_day = civil.day() != last.day();
        let (before, now) = (last.hour() % 12, civil.hour() % 12);
        // From 11 to 12: noon on one day, midnight from one to the next.
        if is_later_day && self.half() != Some(false) {
            self.start = self.start.or(self.halves.is_empty().then_some(true));
            self.halves.push((offset, false));
        } else if !is_later_day && now + 6 <= before && self.half() != Some(true) {
            self.start = self.start.or(self.halves.is_empty().then_some(false));
            self.halves.push((offset, true));
        } else if !is_later_day && self.half().is_none() && last.hour() == 12 && civil.hour() <= 6 {
            // One after twelve: noon or midnight before, which only the rest can say.
            self.halves.push((offset, true));
        }
    }

    fn half(&self) -> Option<bool> {
        self.halves.last().map(|(_, half)| *half)
    }

    /// Puts into `reading` what was found, and says what stays open.
    fn tell(self, reading: &mut Reading) {
        let mut shifts: Vec<Shift> = Vec::new();
        if !self.folds.is_empty() {
            let fold = |(offset, is_second): &(u64, bool)| Shift {
                offset: *offset,
                is_second: *is_second,
                half: None,
            };
            shifts.extend(self.folds.iter().map(fold));
        } else if self.n_twice > 0 {
            reading.doubts.push(format!(
                "{} records are of the hour that exists twice at the end of summer time: the first of the two is taken",
                self.n_twice
            ));
        }
        if self.is_halved && !self.halves.is_empty() {
            let half =
                |(offset, half): &(u64, bool)| Shift { offset: *offset, is_second: false, half: Some(*half) };
            shifts = self
                .start
                .map(|half| Shift { offset: 0, is_second: false, half: Some(half) })
                .into_iter()
                .collect();
            shifts.extend(self.halves.iter().map(half));
            let open = if self.start.is_some() {
                ""
            } else {
                ", which half of the day it begins in is not told: the times to 12:59 are taken as printed"
            };
            reading.doubts.push(format!(
                "hours go from 1 to 12 without AM or PM (`hh` for `HH`): halves of the day are told by the order of the lines{open}"
            ));
        }
        reading.shifts = shifts;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_of_names() {
        for (name, expected) in [
            ("logs/x-2025-03-27-1.log.gz", Some(((2025, 3, 27), false))),
            ("server.log.2025-03-27", Some(((2025, 3, 27), false))),
            ("app.log-20250328.gz", Some(((2025, 3, 28), true))),
            ("app-20250328.log", Some(((2025, 3, 28), false))),
            ("app-03-27-2025-1.log", Some(((2025, 3, 27), false))),
            ("app-27.03.2025.log", Some(((2025, 3, 27), false))),
            ("2025_03_28.request.log", Some(((2025, 3, 28), false))),
            ("am-1711712345678-0001.log", None),
            ("node-10-11-12.log", None),
            ("x.log.1", None),
        ] {
            let found = day_of_name(name).map(|named| (named.day, named.is_of_end));
            assert_eq!(found, expected, "{name}");
        }
    }
}
