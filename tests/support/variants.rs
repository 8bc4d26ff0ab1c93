//! Variants: runs of labelled sets as others have them, made from the ones in the tree: clocks
//! without fractions of seconds, clocks that differ, logs that begin in the middle of it all, and
//! such in which some loggers are turned off.

use std::collections::{BTreeMap, BTreeSet};

/// A log of one node, and what it is called.
pub(crate) type Log = (String, String);

/// Where the fraction of `2026-11-27 14:41:58,123` begins, and where it ends.
const FRACTION: std::ops::Range<usize> = 19..23;

/// By how much every second clock is ahead, ms.
const AHEAD_MS: u64 = 100;

/// Milliseconds of an hour.
const HOUR_MS: u64 = 3_600_000;

/// The ways in which a set is varied, by the ends of their names.
pub(crate) const NAMES: [&str; 4] = ["-seconds", "-apart", "-half", "-muted"];

/// One class in so many, in the order of their names, has its logger turned off.
const MUTED_SHARE: usize = 3;

/// The logs, and the truth of them, varied as `name` says.
///
/// # Errors
/// If the truth lacks a column, or a time cannot be read.
pub(crate) fn varied(name: &str, logs: Vec<Log>, truth: String) -> Result<(Vec<Log>, String), String> {
    match name {
        "-seconds" => Ok((logs.into_iter().map(|(node, log)| (node, in_seconds(&log))).collect(), truth)),
        "-apart" => Ok((apart(logs)?, truth)),
        "-half" => second_half(logs, &truth),
        "-muted" => muted(logs, &truth),
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

/// The truth of records, by its columns.
struct Truth<'t> {
    header: Vec<&'t str>,
    rows: Vec<Vec<&'t str>>,
}

impl<'t> Truth<'t> {
    fn new(text: &'t str) -> Self {
        let mut rows = text.lines().map(|row| row.split('\t').collect());
        Self { header: rows.next().unwrap_or_default(), rows: rows.collect() }
    }

    fn column(&self, name: &str) -> Result<usize, String> {
        let position = self.header.iter().position(|column| *column == name);
        position.ok_or_else(|| format!("the truth has no `{name}`"))
    }

    /// The logs without the lines that are left out, and the truth of the others: `is_left_out` is
    /// asked of the number of each line.
    fn without(
        self,
        logs: &[Log],
        is_left_out: impl Fn(&str, usize) -> bool,
    ) -> Result<(Vec<Log>, String), String> {
        let (node, line) = (self.column("node")?, self.column("line")?);
        // Per line, from 1: how many are left before it and with it.
        let mut numbers: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        let mut left = Vec::new();
        for (name, log) in logs {
            let (mut text, numbers) = (String::new(), numbers.entry(name).or_insert_with(|| vec![0]));
            for (at, content) in log.split_inclusive('\n').enumerate() {
                let is_left = !is_left_out(name, at + 1);
                text += if is_left { content } else { "" };
                numbers.push(numbers[at] + usize::from(is_left));
            }
            left.push((name.clone(), text));
        }
        let mut truth = self.header.join("\t") + "\n";
        for mut row in self.rows {
            let number: usize = row[line].parse().map_err(|e| format!("`{}`: {e}", row[line]))?;
            if !is_left_out(row[node], number) {
                let number = numbers.get(row[node]).and_then(|numbers| numbers.get(number));
                let number = number.ok_or_else(|| format!("no line {} of {}", row[line], row[node]))?;
                let number = number.to_string();
                row[line] = &number;
                truth += &(row.join("\t") + "\n");
            }
        }
        Ok((left, truth))
    }
}

/// The second half of the lines of each log, from the first record of which the truth knows.
fn second_half(logs: Vec<Log>, truth: &str) -> Result<(Vec<Log>, String), String> {
    let truth = Truth::new(truth);
    let (node, line) = (truth.column("node")?, truth.column("line")?);
    let mut first: BTreeMap<String, usize> = BTreeMap::new();
    for (name, log) in &logs {
        let n_lines = log.split_inclusive('\n').count();
        let of_node = truth.rows.iter().filter(|row| row[node] == *name);
        let records = of_node.filter_map(|row| row[line].parse::<usize>().ok());
        let begin = records.filter(|number| *number > n_lines / 2).min().unwrap_or(n_lines + 1);
        first.insert(name.clone(), begin);
    }
    truth.without(&logs, |name, number| first.get(name).is_some_and(|first| number < *first))
}

/// The logs without the records of one class in [`MUTED_SHARE`].
fn muted(logs: Vec<Log>, truth: &str) -> Result<(Vec<Log>, String), String> {
    let truth = Truth::new(truth);
    let [node, line, n_lines, point] =
        ["node", "line", "n_lines", "log_point"].map(|name| truth.column(name));
    let (node, line, n_lines, point) = (node?, line?, n_lines?, point?);
    let class = |row: &[&'_ str]| row[point].rsplit_once('.').map(|(class, _)| class.to_owned());
    let classes: BTreeSet<String> = truth.rows.iter().filter_map(|row| class(row)).collect();
    let off: BTreeSet<String> = classes.into_iter().step_by(MUTED_SHARE).collect();
    let mut lines = BTreeSet::new();
    for row in truth.rows.iter().filter(|row| class(row).is_some_and(|class| off.contains(&class))) {
        let number = |at: usize| row[at].parse::<usize>().map_err(|e| format!("`{}`: {e}", row[at]));
        let (first, n) = (number(line)?, number(n_lines)?);
        lines.extend((first..first + n).map(|number| (row[node].to_owned(), number)));
    }
    truth.without(&logs, |name, number| lines.contains(&(name.to_owned(), number)))
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
