//! Finish: a stitched accumulator becomes rows of the request table, some requests at a time:
//! the rows of all would take many times the memory of what they are made of.
//!
//! Pure: what an input file is called and which number a log point has in the
//! table are given. Every id says where in the logs a span begins ([`ids`]), so the
//! same logs give the same ids, whatever was reduced beside them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use called::Called;
use ids::Ids;
use rayon::prelude::*;
use rows::{Reached, RequestRows, event_row, extent, request_rows};
use schema::happened_before::{SkewBounds, Taken};
use schema::tables::{EventRow, LogSequenceRow, RequestNodeRow, RequestRow, SpanRow, Text};
use schema::{Accumulator, Event, InputAccount, Model, Name, Result};

use crate::merge::to_u32;

mod called;
mod clocks;
mod handoffs;
mod ids;
mod rows;
pub mod split;

/// How much detail a table keeps of each request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
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
    /// All of them are of requests that may go on.
    pub is_open: bool,
}

/// Requests, of which few are held whole at once.
pub(crate) trait Requests: Sync {
    /// How many there are.
    fn len(&self) -> usize;
    /// The node of a span of one.
    fn node(&self, request: usize, span: usize) -> Name;
    /// One without values, without what stands beside times, places and log points of its events.
    fn outline(&self, request: usize) -> Cow<'_, Accumulator>;
    /// No outline and no node is asked for any more.
    fn forget_outlines(&mut self) {}
    /// Whole ones, in this order.
    fn read(&self, requests: &[u32]) -> Result<Vec<Cow<'_, Accumulator>>>;
}

impl Requests for &[Accumulator] {
    fn len(&self) -> usize {
        <[_]>::len(self)
    }

    fn node(&self, request: usize, span: usize) -> Name {
        self[request].spans[span].node
    }

    fn outline(&self, request: usize) -> Cow<'_, Accumulator> {
        Cow::Borrowed(&self[request])
    }

    fn read(&self, requests: &[u32]) -> Result<Vec<Cow<'_, Accumulator>>> {
        Ok(requests.iter().map(|&at| Cow::Borrowed(&self[at as usize])).collect())
    }
}

/// Requests, and records that are in none, before they are rows.
pub(crate) struct Finished<'a, R> {
    context: Context<'a>,
    requests: R,
    unattributed: Vec<Unattributed<'a>>,
    names: Names,
    /// Hand-offs that clocks contradict, by request: the spans that were handed over to.
    contradicting: BTreeMap<usize, Vec<usize>>,
    bounds: SkewBounds<Name>,
    /// Requests by start and id.
    order: Vec<u32>,
    parts: std::vec::IntoIter<Part>,
}

/// A record that is in no request, of a node, with its number among those.
type Unattributed<'a> = (&'a str, usize, &'a Event);

/// What becomes rows at once.
enum Part {
    /// A range of the order of the requests, and whether these may go on.
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
    /// Rows of all `requests`, and of the records that are in none, when they are asked for.
    ///
    /// Those that `are_open` become rows of their own; of those without an entry none does.
    pub(crate) fn new(
        context: Context<'a>,
        mut requests: R,
        unattributed: &'a [(String, Event)],
        are_open: &[bool],
    ) -> Self {
        let names = Names::new(context);
        // How requests were reached is worked out again for their rows: held, it would take as
        // much memory as they do.
        let taken = |request: usize, wrong: &[usize]| -> Box<[Taken]> {
            let outline = requests.outline(request);
            Reached::new(context.model, &outline, wrong).hand_offs.taken(&outline).into()
        };
        let all = 0..requests.len();
        let mut all_taken: Vec<Box<[Taken]>> =
            all.clone().into_par_iter().map(|request| taken(request, &[])).collect();
        let contradicting = clocks::contradicting(&all_taken, |request, span| requests.node(request, span));
        for (&request, wrong) in &contradicting {
            all_taken[request] = taken(request, wrong);
        }
        let mut bounds = SkewBounds::default();
        let key = |request: usize| {
            let outline = requests.outline(request);
            let start = outline.spans.iter().map(|span| extent(span).0).min();
            let start_us = start.unwrap_or_default();
            let is_open = are_open.get(request).is_some_and(|is_open| *is_open);
            let kind = (day_of(start_us), is_open);
            (kind, start_us, names.ids.request_number(&outline), to_u32(request))
        };
        for (request, taken) in all_taken.iter().enumerate().filter(|(_, taken)| !taken.is_empty()) {
            bounds.add_request(taken, |span| requests.node(request, span));
        }
        drop(all_taken);
        let mut keys: Vec<((i64, bool), i64, u128, u32)> = all.into_par_iter().map(key).collect();
        requests.forget_outlines();
        keys.par_sort_unstable();
        let of_none = if context.keep == Keep::Events { unattributed } else { &[] };
        let unattributed = in_order(&names, of_none);
        let days: Vec<(i64, bool)> = keys.iter().map(|(kind, ..)| *kind).collect();
        let of_none: Vec<i64> = unattributed.iter().map(|(.., event)| day_of(event.printed_us())).collect();
        let parts = parts(&days, &of_none).into_iter();
        let order = keys.into_iter().map(|(.., at)| at).collect();
        Self { context, requests, unattributed, names, contradicting, bounds, order, parts }
    }

    fn requests(&self, range: Range<usize>) -> Result<Rows> {
        let order = &self.order[range];
        let accumulators = self.requests.read(order)?;
        let rows = |(at, accumulator): (&u32, Cow<'_, Accumulator>)| {
            let wrong = self.contradicting.get(&(*at as usize)).map_or(&[][..], Vec::as_slice);
            let reached = Reached::new(self.context.model, &accumulator, wrong);
            request_rows(self.context, (&self.names, &self.bounds), &accumulator, &reached)
        };
        let requests: Vec<RequestRows> = order.par_iter().zip(accumulators).map(rows).collect();
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
                    event_row(self.context, &self.names, node, seq, event)
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
    for rows in Finished::new(context, accumulators, unattributed, &[]) {
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
/// sorted; within a day requests come first, those last that may go on.
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
fn in_order<'a>(names: &Names, unattributed: &'a [(String, Event)]) -> Vec<Unattributed<'a>> {
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
struct Names {
    nodes: BTreeMap<String, Text>,
    files: BTreeMap<String, Vec<Text>>,
    classes: Vec<Text>,
    methods: Vec<Text>,
    value_classes: Vec<Text>,
    called: Called,
    ids: Ids,
    unknown: Text,
}

impl Names {
    fn new(context: Context<'_>) -> Self {
        let model = context.model;
        let text = |s: &String| Text::from(s.as_str());
        let files = |accounts: &Vec<InputAccount>| accounts.iter().map(|a| text(&a.file)).collect();
        Self {
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
