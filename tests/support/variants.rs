//! Variants: runs of labelled sets as others have them, made from the ones in the tree: clocks
//! without fractions of seconds, clocks that differ, logs that begin in the middle of it all.

use std::collections::BTreeMap;

/// A log of one node, and what it is called.
pub(crate) type Log = (String, String);

/// Where the fraction of `2026-11-27 14:41:58,123` begins, and where it ends.
const FRACTION: std::ops::Range<usize> = 19..23;

/// By how much every second clock is ahead, ms.
const AHEAD_MS: u64 = 100;

/// Milliseconds of an hour.
const HOUR_MS: u64 = 3_600_000;

/// The ways in which a set is varied, by the ends of their names.
pub(crate) const NAMES: [&str; 3] = ["-seconds", "-apart", "-half"];

/// The logs, and the truth of them, varied as `name` says.
///
/// # Errors
/// If the truth lacks a column, or a time cannot be read.
pub(crate) fn varied(name: &str, logs: Vec<Log>, truth: String) -> Result<(Vec<Log>, String), String> {
    match name {
        "-seconds" => Ok((logs.into_iter().map(|(node, log)| (node, in_seconds(&log))).collect(), truth)),
        "-apart" => Ok((apart(logs)?, truth)),
        "-half" => second_half(logs, &truth),
        _ => Err(format!("no variant `{name}`")),
    }
}

/// The log without fractions of seconds in the times of its records: what Spark's and many a
/// service's own configuration prints.
fn in_seconds(log: &str) -> String {
    let mut cut = String::with_capacity(log.len());
    for line in log.split_inclusive('\n') {
        match time(line) {
            Some(begin) => {
                cut += &begin[..FRACTION.start];
                cut += &line[FRACTION.end..];
            }
            None => cut += line,
        }
    }
    cut
}

/// The logs with the clock of every second node ahead.
fn apart(logs: Vec<Log>) -> Result<Vec<Log>, String> {
    let mut moved = Vec::new();
    for (at, (node, log)) in logs.into_iter().enumerate() {
        let lines = log.split_inclusive('\n').map(|line| match time(line).filter(|_| at % 2 == 1) {
            Some(begin) => Ok(ahead(begin)? + &line[FRACTION.end..]),
            None => Ok(line.to_owned()),
        });
        moved.push((node, lines.collect::<Result<String, String>>()?));
    }
    Ok(moved)
}

/// A time that is [`AHEAD_MS`] later, on the same day.
fn ahead(time: &str) -> Result<String, String> {
    let number = |at: std::ops::Range<usize>| time[at].parse::<u64>().map_err(|e| format!("`{time}`: {e}"));
    let minutes = number(11..13)? * 60 + number(14..16)?;
    let ms = minutes * 60_000 + number(17..19)? * 1000 + number(20..23)? + AHEAD_MS;
    if ms >= 24 * HOUR_MS {
        return Err(format!("`{time}`: the day ends"));
    }
    let (hour, minute, second) = (ms / HOUR_MS, ms / 60_000 % 60, ms / 1000 % 60);
    Ok(format!("{} {hour:02}:{minute:02}:{second:02},{:03}", &time[..10], ms % 1000))
}

/// The second half of the lines of each log, from the first record of which the truth knows.
fn second_half(logs: Vec<Log>, truth: &str) -> Result<(Vec<Log>, String), String> {
    let mut rows = truth.lines().map(|row| row.split('\t').collect::<Vec<_>>());
    let header = rows.next().unwrap_or_default();
    let column = |name: &str| {
        header.iter().position(|column| *column == name).ok_or_else(|| format!("the truth has no `{name}`"))
    };
    let (node, line) = (column("node")?, column("line")?);
    let rows: Vec<Vec<&str>> = rows.collect();
    let mut n_left_out: BTreeMap<&str, usize> = BTreeMap::new();
    let mut halves = Vec::new();
    for (name, log) in &logs {
        let lines: Vec<&str> = log.split_inclusive('\n').collect();
        let of_node = rows.iter().filter(|row| row[node] == *name);
        let records = of_node.filter_map(|row| row[line].parse::<usize>().ok());
        let first = records.filter(|number| *number > lines.len() / 2).min().unwrap_or(lines.len() + 1);
        n_left_out.insert(name, first - 1);
        halves.push((name.clone(), lines[first - 1..].concat()));
    }
    let mut cut = header.join("\t") + "\n";
    for mut row in rows {
        let number: usize = row[line].parse().map_err(|e| format!("`{}`: {e}", row[line]))?;
        let left_out = n_left_out.get(row[node]).copied().unwrap_or_default();
        if number > left_out {
            let number = (number - left_out).to_string();
            row[line] = &number;
            cut += &(row.join("\t") + "\n");
        }
    }
    Ok((halves, cut))
}

/// The time that a record begins with, if it has milliseconds.
fn time(line: &str) -> Option<&str> {
    let begin = line.get(..FRACTION.end)?;
    let fits = |(at, byte): (usize, &u8)| match at {
        4 | 7 => *byte == b'-',
        10 => *byte == b' ',
        13 | 16 => *byte == b':',
        19 => *byte == b',',
        _ => byte.is_ascii_digit(),
    };
    begin.as_bytes().iter().enumerate().all(fits).then_some(begin)
}
