//! Accumulating: records of one node to request accumulators (lprof §5, Map).
//! This form opens one span per record.

use schema::{Accumulator, Event, Model, Span};

use crate::record::{Record, Records};

/// How to accumulate.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// Label of the log source.
    pub node: String,
}

/// What accumulating made of the records.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Accumulated {
    /// Request accumulators, in order of their first event.
    pub accumulators: Vec<Accumulator>,
    /// Events of records without a candidate.
    pub unattributed: Vec<Event>,
}

/// Accumulates `records`, which come in log order.
pub fn accumulate(_model: &Model, records: &mut dyn Records, config: &Config) -> Accumulated {
    let mut out = Accumulated::default();
    while let Some(record) = records.next() {
        let event = event(&record);
        if record.candidates.is_empty() {
            out.unattributed.push(event);
            continue;
        }
        let span = Span {
            node: config.node.clone(),
            thread: record.thread.map(str::to_owned),
            top_levels: Vec::new(),
            identifiers: Vec::new(),
            events: vec![event],
            truncated: false,
        };
        out.accumulators.push(Accumulator { spans: vec![span], links: Vec::new() });
    }
    out
}

fn event(record: &Record<'_>) -> Event {
    let candidate = record.candidates.first();
    Event {
        file: record.file,
        line: record.line,
        n_lines: record.n_lines,
        byte_offset: record.byte_offset,
        ts_us: record.ts_us,
        level: record.level,
        log_point: candidate.map(|c| c.log_point),
        values: candidate
            .map(|c| c.values.iter().map(|&(v, text)| (v, text.to_owned())).collect())
            .unwrap_or_default(),
        reason: if candidate.is_some() { "opens" } else { "no log point" }.to_owned(),
    }
}
