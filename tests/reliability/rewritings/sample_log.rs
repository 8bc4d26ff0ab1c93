//! The records of the sample's logs, to be written again as others write theirs.

use std::io::Write as _;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::command::samples;

/// A file: its name in the folder of logs, and its bytes.
pub(crate) type Files = Vec<(String, Vec<u8>)>;

/// What makes them of the sample.
pub(crate) type Write = fn(&Sample) -> Files;

/// The processes of the sample.
pub(crate) const NODES: [char; 3] = ['a', 'b', 'c'];

/// One record.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    /// Its process.
    pub(crate) node: char,
    /// Its number among those of its process, from 0.
    pub(crate) number: usize,
    /// µs since 1970.
    pub(crate) us: i64,
    pub(crate) level: String,
    pub(crate) logger: String,
    /// The message, and the lines of its stack trace.
    pub(crate) lines: Vec<String>,
}

impl Record {
    /// Its time in UTC.
    pub(crate) fn at(&self, format: &str) -> String {
        self.at_in("UTC", format)
    }

    /// Its time in a zone.
    pub(crate) fn at_in(&self, zone: &str, format: &str) -> String {
        let zone = TimeZone::get(zone).expect("a zone");
        let time = Timestamp::from_microsecond(self.us).expect("a time").to_zoned(zone);
        time.strftime(format).to_string()
    }

    /// Its fraction of a second, in ms.
    pub(crate) fn ms(&self) -> i64 {
        self.us / 1000 % 1000
    }

    /// Its lines as the sample prints them.
    pub(crate) fn plain(&self) -> Vec<String> {
        let time = self.at("%Y-%m-%d %H:%M:%S");
        let header = format!("{time},{:03} {} {}: {}", self.ms(), self.level, self.logger, self.lines[0]);
        std::iter::once(header).chain(self.lines[1..].iter().cloned()).collect()
    }

    /// The class of its logger alone.
    pub(crate) fn class(&self) -> &str {
        self.logger.rsplit('.').next().unwrap_or(&self.logger)
    }

    /// Its stack trace as one text.
    pub(crate) fn trace(&self) -> Option<String> {
        (self.lines.len() > 1).then(|| self.lines[1..].join("\n") + "\n")
    }
}

/// All records of the sample.
pub(crate) struct Sample {
    pub(crate) records: Vec<Record>,
}

impl Sample {
    /// Reads the sample's logs.
    pub(crate) fn read() -> Self {
        let mut records: Vec<Record> = Vec::new();
        for node in NODES {
            let path = samples().join("logs").join(format!("{node}.log"));
            let text = std::fs::read_to_string(path).expect("a log of the sample");
            let mut number = 0;
            for line in text.lines() {
                match record(node, number, line) {
                    Some(record) => {
                        records.push(record);
                        number += 1;
                    }
                    None => records.last_mut().expect("a record").lines.push(line.to_owned()),
                }
            }
        }
        Self { records }
    }

    /// Those of one process.
    pub(crate) fn of(&self, node: char) -> impl Iterator<Item = &Record> {
        self.records.iter().filter(move |record| record.node == node)
    }

    /// All of them in the order of time.
    pub(crate) fn merged(&self) -> Vec<&Record> {
        let mut all: Vec<&Record> = self.records.iter().collect();
        all.sort_by_key(|record| (record.us, record.node, record.number));
        all
    }

    /// A file for each process, `NODE` and `end`, of what `write` makes of each record.
    pub(crate) fn each(&self, end: &str, write: impl Fn(&Record) -> String) -> Files {
        NODES
            .map(|node| (format!("{node}{end}"), self.of(node).map(&write).collect::<String>().into()))
            .into()
    }

    /// The same of what `wrap` makes of each line as the sample prints it.
    pub(crate) fn each_line(&self, end: &str, wrap: impl Fn(&Record, &str) -> String) -> Files {
        self.each(end, |record| lines(record, &wrap))
    }

    /// One file of all processes, in the order of time.
    pub(crate) fn one(&self, name: &str, wrap: impl Fn(&Record, &str) -> String) -> Files {
        let text: String = self.merged().into_iter().map(|record| lines(record, &wrap)).collect();
        vec![(name.to_owned(), text.into())]
    }
}

fn lines(record: &Record, wrap: &impl Fn(&Record, &str) -> String) -> String {
    record.plain().iter().map(|line| wrap(record, line) + "\n").collect()
}

/// The record that a line begins.
fn record(node: char, number: usize, line: &str) -> Option<Record> {
    let (time, rest) = (line.get(..23)?, line.get(24..)?);
    let time: jiff::civil::DateTime = time.replace(',', ".").replace(' ', "T").parse().ok()?;
    let us = time.to_zoned(TimeZone::UTC).ok()?.timestamp().as_microsecond();
    let (level, rest) = rest.split_once(' ')?;
    let (logger, message) = rest.split_once(": ")?;
    let lines = vec![message.to_owned()];
    Some(Record { node, number, us, level: level.to_owned(), logger: logger.to_owned(), lines })
}

/// A text as it stands in JSON, with its quotes.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// `bytes`, compressed with gzip.
pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(bytes).expect("in memory");
    out.finish().expect("in memory")
}
