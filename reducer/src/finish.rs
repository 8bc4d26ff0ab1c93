//! Finish: a stitched accumulator becomes rows of the request table, some requests at a time:
//! the rows of all would take many times the memory of what they are made of.
//!
//! Pure: what an input file is called and which number a log point has in the
//! table are given. Every id says where in the logs a span begins ([`ids`]), so the
//! same logs give the same ids, whatever was reduced beside them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

pub(crate) use self::clocks::Clocks;
use called::Called;
use ids::Ids;
use rayon::prelude::*;
use rows::{RequestRows, event_row, extent, request_rows};
use schema::tables::{EventRow, LogSequenceRow, RequestNodeRow, RequestRow, SpanRow, Text};
use schema::{Accumulator, Event, InputAccount, Model, Name, Place, Result};
use serde::{Deserialize, Serialize};

use crate::merge::to_u32;

mod called;
mod clocks;
mod handoffs;
mod ids;
mod rows;
pub mod split;

/// How much detail a table keeps of each request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Keep {
    /// Requests and their nodes.
    Requests,
    /// Spans too.
    Spans,
    /// Spans and events.
    #[default]
    Events,
}

impl Keep {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Keep::Requests => "requests",
            Keep::Spans => "spans",
            Keep::Events => "events",
        }
    }
}

/// What the ids in accumulators stand for.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The model the accumulators were made with.
    pub model: &'a Model,
    /// The inputs of each node; [`Event::file`] is a position in them.
    pub inputs: &'a BTreeMap<String, Vec<InputAccount>>,
    /// For each log point of the model, its number in the table.
    pub log_point_numbers: &'a [i64],
    /// Detail to keep.
    pub keep: Keep,
}

/// Rows of requests that follow each other in the request table, each table in its final order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    /// By start, then id.
    pub requests: Vec<RequestRow>,
    /// As `requests`, then by start on the node.
    pub request_nodes: Vec<RequestNodeRow>,
    /// As `requests`, then by start.
    pub spans: Vec<SpanRow>,
    /// As `spans`, then by position; the unattributed of a day after its others, by node and
    /// line.
    pub events: Vec<EventRow>,
    /// Each once, by id.
    pub log_sequences: Vec<LogSequenceRow>,
    /// All of them are of open requests.
    pub is_open: bool,
}

/// Requests that are finished together, of which few are held whole at once.
pub(crate) trait Requests: Sync {
    /// How many there are.
    fn len(&self) -> usize;
    /// When one begins, µs, and the node and place of the first record of its first span.
    fn begins(&self, request: usize) -> (i64, Name, Place);
    /// Whole ones, in this order.
    ///
    /// # Errors
    /// I/O errors, naming the folder in which they are.
    fn read(&self, requests: &[u32]) -> Result<Vec<Cow<'_, Accumulator>>>;
}

impl Requests for &[Accumulator] {
    fn len(&self) -> usize {
        <[_]>::len(self)
    }

    fn begins(&self, request: usize) -> (i64, Name, Place) {
        let spans = &self[request].spans;
        let start_us = spans.iter().map(|span| extent(span).0).min().unwrap_or_default();
        (start_us, spans[0].node, spans[0].events[0].place())
    }

    fn read(&self, requests: &[u32]) -> Result<Vec<Cow<'_, Accumulator>>> {
        Ok(requests.iter().map(|&at| Cow::Borrowed(&self[at as usize])).collect())
    }
}

/// Requests, and records that are in none, before they are rows.
pub(crate) struct Finished<'a, R> {
    names: &'a Names<'a>,
    clocks: &'a Clocks,
    requests: R,
    unattributed: Vec<Unattributed<'a>>,
    /// Requests by start and id.
    order: Vec<u32>,
    parts: std::vec::IntoIter<Part>,
}

/// A record that is in no request, of a node, with its number among those.
type Unattributed<'a> = (&'a str, usize, &'a Event);

/// What becomes rows at once.
enum Part {
    /// A range of the order of the requests, and whether these are open.
    Requests(Range<usize>, bool),
    /// A range of the unattributed.
    Unattributed(Range<usize>),
}

/// Most requests, or records of none, that become rows at once.
const PART_MAX: usize = 1024;
const US_PER_DAY: i64 = 86_400_000_000;

/// The day of a time, counted from 1970 UTC.
pub(crate) fn day_of(us: i64) -> i64 {
    us.div_euclid(US_PER_DAY)
}

impl<'a, R: Requests> Finished<'a, R> {
    /// Rows of all `requests`, and of the records that are in none, when they are asked for; the
    /// order of their events is told by `clocks`.
    ///
    /// Those that `are_open` become rows of their own; of those without an entry none does.
    pub(crate) fn new(
        names: &'a Names<'a>,
        clocks: &'a Clocks,
        requests: R,
        unattributed: &'a [(String, Event)],
        are_open: &[bool],
    ) -> Self {
        let key = |request: usize| {
            let (start_us, node, first) = requests.begins(request);
            let is_open = are_open.get(request).is_some_and(|is_open| *is_open);
            let kind = (day_of(start_us), is_open);
            (kind, start_us, names.request_number(&node, first), to_u32(request))
        };
        let mut keys: Vec<((i64, bool), i64, u128, u32)> = (0..requests.len()).map(key).collect();
        keys.sort_unstable();
        let of_none = if names.context.keep == Keep::Events { unattributed } else { &[] };
        let unattributed = in_order(names, of_none);
        let days: Vec<(i64, bool)> = keys.iter().map(|(kind, ..)| *kind).collect();
        let of_none: Vec<i64> = unattributed.iter().map(|(.., event)| day_of(event.printed_us())).collect();
        let parts = parts(&days, &of_none).into_iter();
        let order = keys.into_iter().map(|(.., at)| at).collect();
        Self { names, clocks, requests, unattributed, order, parts }
    }

    fn requests(&self, range: Range<usize>) -> Result<Rows> {
        let accumulators = self.requests.read(&self.order[range])?;
        let context = self.names.context;
        let rows = |accumulator: Cow<'_, Accumulator>| {
            request_rows(context, (self.names, self.clocks), &accumulator)
        };
        let requests: Vec<RequestRows> = accumulators.into_par_iter().map(rows).collect();
        let mut rows = Rows::default();
        let mut sequences = BTreeMap::new();
        for request in requests {
            sequences.entry(request.sequence.log_sequence_id.clone()).or_insert(request.sequence);
            rows.requests.push(request.request);
            rows.request_nodes.extend(request.nodes);
            rows.spans.extend(request.spans);
            rows.events.extend(request.events);
        }
        rows.log_sequences = sequences.into_values().collect();
        Ok(rows)
    }
}

impl<R: Requests> Iterator for Finished<'_, R> {
    type Item = Result<Rows>;

    /// The rows of the next requests, day by day.
    fn next(&mut self) -> Option<Result<Rows>> {
        Some(match self.parts.next()? {
            Part::Requests(range, is_open) => self.requests(range).map(|rows| Rows { is_open, ..rows }),
            Part::Unattributed(range) => {
                let row = |&(node, seq, event): &Unattributed<'_>| {
                    event_row(self.names.context, self.names, node, seq, event)
                };
                let events = self.unattributed[range].iter().map(row).collect();
                Ok(Rows { events, ..Rows::default() })
            }
        })
    }
}

/// All rows of `accumulators`, and of the records that are in none, at once.
///
/// # Errors
/// None: all that becomes rows is in memory.
pub fn finish(
    context: Context<'_>,
    accumulators: &[Accumulator],
    unattributed: &[(String, Event)],
) -> Result<Rows> {
    let mut all = Rows::default();
    let mut sequences = BTreeMap::new();
    let node_of = |request: usize, span: usize| accumulators[request].spans[span].node;
    let whole = |request: usize| Cow::Borrowed(&accumulators[request]);
    let clocks = Clocks::of(context.model, accumulators.len(), whole, node_of);
    let names = Names::new(context);
    for rows in Finished::new(&names, &clocks, accumulators, unattributed, &[]) {
        let rows = rows?;
        all.requests.extend(rows.requests);
        all.request_nodes.extend(rows.request_nodes);
        all.spans.extend(rows.spans);
        all.events.extend(rows.events);
        for row in rows.log_sequences {
            sequences.entry(row.log_sequence_id.clone()).or_insert(row);
        }
    }
    // Those of no request come last, whatever day they are of.
    all.events.sort_by_key(|row| row.request_id.is_none());
    all.log_sequences = sequences.into_values().collect();
    Ok(all)
}

/// What becomes rows, in the order of the days of requests and of records of none, which are
/// sorted; within a day requests come first, those last that are open.
fn parts(requests: &[(i64, bool)], unattributed: &[i64]) -> Vec<Part> {
    let mut by_day: BTreeMap<i64, Vec<Part>> = BTreeMap::new();
    let mut add = |days: &[(i64, bool)], part: fn(Range<usize>, bool) -> Part| {
        let mut from = 0;
        for of_day in days.chunk_by(|a, b| a == b) {
            let ((day, is_open), until) = (of_day[0], from + of_day.len());
            for first in (from..until).step_by(PART_MAX) {
                by_day.entry(day).or_default().push(part(first..until.min(first + PART_MAX), is_open));
            }
            from = until;
        }
    };
    add(requests, Part::Requests);
    let unattributed: Vec<(i64, bool)> = unattributed.iter().map(|day| (*day, false)).collect();
    add(&unattributed, |range, _| Part::Unattributed(range));
    by_day.into_values().flatten().collect()
}

/// Records that are in no request by day; numbered and sorted by node and line.
fn in_order<'a>(names: &Names<'_>, unattributed: &'a [(String, Event)]) -> Vec<Unattributed<'a>> {
    let mut sorted: Vec<Unattributed<'a>> =
        unattributed.iter().map(|(node, event)| (node.as_str(), 0, event)).collect();
    sorted.sort_by_key(|(node, _, event)| (*node, names.file(node, event.file), event.line));
    for of_node in sorted.chunk_by_mut(|a, b| a.0 == b.0) {
        (0..).zip(of_node).for_each(|(seq, row)| row.1 = seq);
    }
    sorted.sort_by_key(|(.., event)| day_of(event.printed_us()));
    sorted
}

/// Texts that repeat in rows, made once.
pub(crate) struct Names<'a> {
    context: Context<'a>,
    nodes: BTreeMap<String, Text>,
    files: BTreeMap<String, Vec<Text>>,
    classes: Vec<Text>,
    methods: Vec<Text>,
    value_classes: Vec<Text>,
    called: Called,
    ids: Ids,
    unknown: Text,
}

impl<'a> Names<'a> {
    /// For rows of what `context` tells.
    pub(crate) fn new(context: Context<'a>) -> Self {
        let model = context.model;
        let text = |s: &String| Text::from(s.as_str());
        let files = |accounts: &Vec<InputAccount>| accounts.iter().map(|a| text(&a.file)).collect();
        Self {
            context,
            nodes: context.inputs.keys().map(|node| (node.clone(), text(node))).collect(),
            files: context.inputs.iter().map(|(node, accounts)| (node.clone(), files(accounts))).collect(),
            classes: model.log_points.iter().map(|p| text(&p.class)).collect(),
            methods: model.log_points.iter().map(|p| text(&p.method)).collect(),
            value_classes: model.value_classes.iter().map(text).collect(),
            called: Called::new(model),
            ids: Ids::new(context.inputs),
            unknown: Text::from("?"),
        }
    }

    /// The number of the id of a request, by where its first span begins.
    pub(crate) fn request_number(&self, node: &str, first: Place) -> u128 {
        self.ids.request_number(node, first)
    }

    fn node(&self, node: &str) -> Text {
        self.nodes.get(node).cloned().unwrap_or_else(|| Text::from(node))
    }

    fn file(&self, node: &str, file: u32) -> Text {
        self.files.get(node).and_then(|files| files.get(file as usize)).unwrap_or(&self.unknown).clone()
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::{PART_MAX, Part, parts};

    #[test]
    fn rows_come_day_by_day_and_those_of_no_request_last() {
        let days = [0, 0].into_iter().chain((0..=PART_MAX).map(|_| 1));
        let requests: Vec<(i64, bool)> = days.map(|day| (day, false)).chain([(1, true)]).collect();
        let range = |part| match part {
            Part::Requests(range, _) => (true, range),
            Part::Unattributed(range) => (false, range),
        };
        let found: Vec<(bool, Range<usize>)> =
            parts(&requests, &[-1, 1, 3, 3]).into_iter().map(range).collect();
        let expected = [
            (false, 0..1),
            (true, 0..2),
            (true, 2..2 + PART_MAX),
            (true, 2 + PART_MAX..3 + PART_MAX),
            (true, 3 + PART_MAX..4 + PART_MAX),
            (false, 1..2),
            (false, 2..4),
        ];
        assert_eq!(found, expected);
    }
}
