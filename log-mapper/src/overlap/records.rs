//! Overlap of records: files of one process in different layouts, as a program's own log and what
//! a service manager keeps of its standard output. Two records are one if message and time are,
//! whatever the zone; what stands around them is not compared.

use std::sync::Arc;

use rustc_hash::FxHashSet;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::{N_COMMON_MIN, Overlap, in_common};
use crate::files::each_record;
use crate::header::Header;
use crate::input::Source;
use crate::lines::without_line_end;
use crate::reading::{Reading, Start};

/// Records at the start of a file by which it is told whether files are compared.
const N_SAMPLE: usize = 256;
/// Zones are so many seconds apart, or a multiple of that.
const ZONES_APART: i64 = 15 * 60;

/// The files in different layouts of which one holds the records of another, or most of them.
pub(super) fn overlaps(sources: &[Source]) -> Vec<Overlap> {
    let keys: Vec<Option<Vec<u64>>> = sources.iter().map(|source| keys_of(source, N_SAMPLE)).collect();
    let set = |keys: &Option<Vec<u64>>| -> FxHashSet<u64> { keys.iter().flatten().copied().collect() };
    let samples: Vec<FxHashSet<u64>> = keys.iter().map(set).collect();
    let mut out: Vec<Overlap> = Vec::new();
    for ((i, j), n_common) in in_common(&samples) {
        let least = samples[i].len().min(samples[j].len());
        let is_known = |i: usize| out.iter().any(|known| known.whole && known.inner == sources[i].name());
        if n_common < N_COMMON_MIN.min(least) || !are_different(&sources[i], &sources[j]) {
            continue;
        }
        if is_known(i) || is_known(j) {
            continue;
        }
        let (Some(of_i), Some(of_j)) = (keys_of(&sources[i], usize::MAX), keys_of(&sources[j], usize::MAX))
        else {
            continue;
        };
        let (j_in_i, i_in_j) = (is_within(&of_j, &of_i), is_within(&of_i, &of_j));
        let (inner, outer, whole) = match (j_in_i, i_in_j) {
            (true, true) if rank(&sources[j]) > rank(&sources[i]) => (i, j, true),
            (true, _) => (j, i, true),
            (false, true) => (i, j, true),
            (false, false) if n_common * 2 > least => (i, j, false),
            (false, false) => continue,
        };
        let name = |i: usize| sources[i].name().to_owned();
        out.push(Overlap { inner: name(inner), outer: name(outer), whole });
    }
    out
}

/// Files in one layout of which most records at the start are of the same time, and have the same
/// thread, level and logger, or the same message: one of them has other words in what is left, as
/// where names were masked. Only times with fractions of seconds tell that.
pub(super) fn alike(sources: &[Source]) -> Vec<(usize, usize)> {
    let mut out: Vec<(usize, usize)> = Vec::new();
    for part_of in [head_of, message_of] {
        let samples: Vec<FxHashSet<u64>> = sources.iter().map(|source| parts_of(source, part_of)).collect();
        let is_alike = |((i, j), n_common): &((usize, usize), usize)| {
            let least = samples[*i].len().min(samples[*j].len());
            *n_common >= N_COMMON_MIN && n_common * 2 > least && !are_different(&sources[*i], &sources[*j])
        };
        out.extend(in_common(&samples).into_iter().filter(is_alike).map(|(pair, _)| pair));
    }
    out.sort_unstable();
    out.dedup();
    out
}

/// A number of a part of each record at the start of a file, and of its time.
fn parts_of(source: &Source, part_of: fn(&Reading, &[u8], &Start<'_>) -> Option<Vec<u8>>) -> FxHashSet<u64> {
    let key_of = |reading: &Reading, record: &[u8], begin: &Start<'_>| {
        let time = begin.header.time.filter(|time| time.has_millis())?;
        let part = part_of(reading, record, begin).filter(|_| begin.layout < reading.n_own)?;
        Some(xxh3_64_with_seed(&part, time.order(reading.calendar).unsigned_abs()))
    };
    let keys = source.looked().map(|looked| Arc::clone(&looked.reading)).filter(|reading| reading.n_own > 0);
    let keys = keys.and_then(|reading| sample_of(source, &reading, N_SAMPLE, key_of));
    keys.unwrap_or_default().into_iter().collect()
}

/// Thread, logger and level of a record.
fn head_of(_: &Reading, _: &[u8], begin: &Start<'_>) -> Option<Vec<u8>> {
    let header = begin.header;
    let mut key = header.thread.filter(|thread| !thread.is_empty())?.to_vec();
    key.push(0);
    key.extend_from_slice(header.logger.or(header.class)?);
    key.push(header.level.map_or(0, |level| level as u8));
    Some(key)
}

/// The first line of a record's message.
fn message_of(reading: &Reading, record: &[u8], begin: &Start<'_>) -> Option<Vec<u8>> {
    message(reading, record, begin).map(|(message, _)| message.to_vec())
}

/// Whether two files are read in different ways: those in one layout are compared by their lines.
fn are_different(one: &Source, other: &Source) -> bool {
    let pattern = |source: &Source| source.looked().map(|looked| looked.reading.pattern());
    pattern(one) != pattern(other)
}

/// How much is known of a file's records: whether they have a day, and how many fields.
fn rank(source: &Source) -> (bool, usize) {
    let Some(layout) = source.looked().and_then(|looked| looked.reading.main().cloned()) else {
        return (false, 0);
    };
    (layout.time().is_some_and(|time| time.has_day()), layout.n_fields())
}

/// A number of each record, up to `n`; none: the file was not looked at, or holds none.
fn keys_of(source: &Source, n: usize) -> Option<Vec<u64>> {
    let reading = Arc::clone(&source.looked()?.reading);
    if reading.n_own == 0 {
        return None;
    }
    if n < usize::MAX {
        return sample_of(source, &reading, n, key_of);
    }
    let mut out = Vec::new();
    let keep = &mut |_, record: &[u8], begin: &Start<'_>| out.extend(key_of(&reading, record, begin));
    each_record(source, &reading, u64::MAX, keep).ok()?;
    Some(out)
}

/// The same of the start of a file.
fn sample_of(
    source: &Source,
    reading: &Reading,
    n: usize,
    key_of: impl Fn(&Reading, &[u8], &Start<'_>) -> Option<u64>,
) -> Option<Vec<u64>> {
    let mut input = crate::input::Input::open(source, u64::MAX).ok()?;
    let mut bytes = Vec::new();
    input.read(&mut bytes, super::SAMPLE_BYTES);
    let unwrapped = reading.unwrap(&bytes).map(|unwrapped| unwrapped.text);
    let text = unwrapped.as_deref().unwrap_or(&bytes);
    let records = crate::lines::RawRecords::new(text, reading);
    let keys = records.filter_map(|record| key_of(reading, record.bytes, &record.begin?));
    Some(keys.take(n).collect())
}

/// A number of message and time.
fn key_of(reading: &Reading, record: &[u8], begin: &Start<'_>) -> Option<u64> {
    let (message, header) = message(reading, record, begin)?;
    let seconds = header.time.and_then(|time| time.second_within(ZONES_APART)).unwrap_or(0);
    Some(xxh3_64_with_seed(message, seconds.unsigned_abs()))
}

/// The first line of the message of a record in a layout of the program, and its header with what
/// stands behind the message; none: it is empty.
fn message<'a>(reading: &Reading, record: &'a [u8], begin: &Start<'a>) -> Option<(&'a [u8], Header<'a>)> {
    let layout = reading.layouts.get(begin.layout).filter(|_| begin.layout < reading.n_own)?;
    let mut header = begin.header;
    let body = without_line_end(record.get(header.message_start..)?);
    let end = layout.scan_suffix(body, &mut header).unwrap_or(body.len());
    let message = body[..end].split(|b| *b == b'\n').next()?.trim_ascii();
    (!message.is_empty()).then_some((message, header))
}

/// Whether all of `inner` stand in `outer`, in their order.
fn is_within(inner: &[u64], outer: &[u64]) -> bool {
    let mut left = outer.iter();
    !inner.is_empty() && inner.iter().all(|key| left.any(|other| other == key))
}
