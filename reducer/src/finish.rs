//! Finish: a stitched accumulator becomes rows of the request table, some requests at a time:
//! the rows of all would take many times the memory of what they are made of.
//!
//! Pure: what an input file is called and which number a log point has in the
//! table are given. Every id says where in the logs a span begins ([`ids`]), so the
//! same logs give the same ids, whatever was reduced beside them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use handoffs::{HandOffs, stretch};
use ids::Ids;
use rayon::prelude::*;
use schema::happened_before::{Label, SkewBounds, Taken};
use schema::tables::{
    EventRow, HandOver, LogSequenceRow, NameValue, NodeTime, PositionRow, RequestNodeRow, RequestRow,
    SharedBytes, SpanRow, Text, Time, request_key, short_name,
};
use schema::{Accumulator, Event, InputAccount, Link, LogPointId, Model, Name, Pass, Result, Span};
use xxhash_rust::xxh3::Xxh3;

use crate::merge::to_u32;

mod clocks;
mod handoffs;
mod ids;

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
    /// A range of the order of the requests.
    Requests(Range<usize>),
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
    pub(crate) fn new(context: Context<'a>, mut requests: R, unattributed: &'a [(String, Event)]) -> Self {
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
            (start.unwrap_or_default(), names.ids.request_number(&outline), to_u32(request))
        };
        for (request, taken) in all_taken.iter().enumerate().filter(|(_, taken)| !taken.is_empty()) {
            bounds.add_request(taken, |span| requests.node(request, span));
        }
        drop(all_taken);
        let mut keys: Vec<(i64, u128, u32)> = all.into_par_iter().map(key).collect();
        requests.forget_outlines();
        keys.par_sort_unstable();
        let of_none = if context.keep == Keep::Events { unattributed } else { &[] };
        let unattributed = in_order(&names, of_none);
        let days: Vec<i64> = keys.iter().map(|(start_us, ..)| day_of(*start_us)).collect();
        let of_none: Vec<i64> = unattributed.iter().map(|(.., event)| day_of(event.printed_us())).collect();
        let parts = parts(&days, &of_none).into_iter();
        let order = keys.into_iter().map(|(_, _, at)| at).collect();
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
            Part::Requests(range) => self.requests(range),
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
    for rows in Finished::new(context, accumulators, unattributed) {
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
/// sorted; within a day requests come first.
fn parts(requests: &[i64], unattributed: &[i64]) -> Vec<Part> {
    let mut by_day: BTreeMap<i64, Vec<Part>> = BTreeMap::new();
    let mut add = |days: &[i64], part: fn(Range<usize>) -> Part| {
        let mut from = 0;
        for of_day in days.chunk_by(|a, b| a == b) {
            let until = from + of_day.len();
            for first in (from..until).step_by(PART_MAX) {
                by_day.entry(of_day[0]).or_default().push(part(first..until.min(first + PART_MAX)));
            }
            from = until;
        }
    };
    add(requests, Part::Requests);
    add(unattributed, Part::Unattributed);
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
    top_levels: Vec<Text>,
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
            top_levels: model
                .top_level_methods
                .iter()
                .map(|m| Text::from(short_name(&m.class, &m.method)))
                .collect(),
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

    fn top_level(&self, span: &Span) -> Text {
        let first = span.top_levels.first().and_then(|id| self.top_levels.get(id.index()));
        first.unwrap_or(&self.unknown).clone()
    }
}

/// How the spans of a request were reached.
struct Reached {
    /// All links to each span, and the one by which it was.
    links: Vec<Vec<Link>>,
    incoming: Vec<Option<Link>>,
    hand_offs: HandOffs,
}

impl Reached {
    /// Of `accumulator`; the hand-offs to the spans `wrong` order nothing, as clocks contradict
    /// them.
    fn new(model: &Model, accumulator: &Accumulator, wrong: &[usize]) -> Self {
        let links = links_to(accumulator);
        let incoming: Vec<Option<Link>> = links.iter().map(|links| links.first().copied()).collect();
        let mut hand_offs = HandOffs::new(model, accumulator, &incoming);
        if !wrong.is_empty() {
            hand_offs.leave_out(wrong);
        }
        Self { links, incoming, hand_offs }
    }
}

/// The rows of one request.
struct RequestRows {
    request: RequestRow,
    nodes: Vec<RequestNodeRow>,
    spans: Vec<SpanRow>,
    events: Vec<EventRow>,
    sequence: LogSequenceRow,
}

fn request_rows(
    context: Context<'_>,
    (names, bounds): (&Names, &SkewBounds<Name>),
    accumulator: &Accumulator,
    reached: &Reached,
) -> RequestRows {
    assert!(!accumulator.spans.is_empty(), "a request has a span");
    let number = names.ids.request_number(accumulator);
    let request_id = Text::from(format!("{number:032x}"));
    let extents: Vec<(i64, i64)> = accumulator.spans.iter().map(extent).collect();
    let (labels, clocks_differ) = reached.hand_offs.labels(accumulator, request_key(number), bounds);
    let request_type = request_type(names, accumulator, &extents, &reached.incoming);
    let sequence = log_sequence(context, names, accumulator, &request_type);
    let nodes = node_times(names, accumulator, &extents);
    let start = extents.iter().map(|e| e.0).min().unwrap_or_default();
    let end = extents.iter().map(|e| e.1).max().unwrap_or_default();
    let request = RequestRow {
        request_id: request_id.clone(),
        request_type,
        start_ts: Time(start),
        end_ts: Time(end),
        duration_us: end - start,
        n_nodes: nodes.len() as i64,
        n_spans: accumulator.spans.len() as i64,
        n_events: nodes.iter().map(|(_, n)| n).sum(),
        log_sequence_id: sequence.log_sequence_id.clone(),
        nodes: nodes.iter().map(|(time, _)| time.clone()).collect(),
        identifiers: identifiers(names, accumulator),
        flags: flags(accumulator, &extents, (reached.hand_offs.has_conflict, clocks_differ)),
    };
    let node_row = |(time, n_events): (NodeTime, i64)| RequestNodeRow {
        request_id: request_id.clone(),
        node: time.node,
        start_ts: time.start_ts,
        end_ts: time.end_ts,
        n_events,
    };
    let (spans, events) = span_rows(context, names, accumulator, (&request_id, start), (reached, &labels));
    RequestRows { request, nodes: nodes.into_iter().map(node_row).collect(), spans, events, sequence }
}

fn span_rows(
    context: Context<'_>,
    names: &Names,
    accumulator: &Accumulator,
    (request_id, start_us): (&Text, i64),
    (reached, labels): (&Reached, &[Label]),
) -> (Vec<SpanRow>, Vec<EventRow>) {
    let (mut spans, mut events) = (Vec::new(), Vec::new());
    if context.keep < Keep::Spans {
        return (spans, events);
    }
    let ids: Vec<Text> = accumulator.spans.iter().map(|span| names.ids.span(span)).collect();
    let pair_kind = |link: &Link| {
        let pair = context.model.communication_pairs.get(link.pair?.index())?;
        Some(Text::from(pair.kind.name()))
    };
    let hand_over = |link: &Link| HandOver {
        span_id: ids[link.from as usize].clone(),
        link: pair_kind(link),
        reason: Text::from(link.by.name()),
    };
    for (i, span) in accumulator.spans.iter().enumerate() {
        let incoming = reached.links[i].first();
        let hand_off = reached.hand_offs.of_spans[i];
        let whole = extent(span);
        let label = SharedBytes(labels[i].encode().into());
        let request = labels[i].request;
        let position = |first, last| {
            Some(PositionRow::new(request, &label, stretch(&span.events, first, last), start_us))
        };
        spans.push(SpanRow {
            request_id: request_id.clone(),
            span_id: ids[i].clone(),
            parent_span_id: incoming.map(|link| ids[link.from as usize].clone()),
            node: names.node(&span.node),
            thread: span.thread.map(|thread| Text::from(thread.as_str())),
            top_level_method: names.top_level(span),
            link: incoming.and_then(pair_kind),
            start_ts: Time(whole.0),
            end_ts: Time(whole.1),
            n_events: span.events.len() as i64,
            link_reason: incoming.map(|link| Text::from(link.by.name())),
            hand_overs: Some(reached.links[i].iter().map(hand_over).collect()),
            parent_before: hand_off.and_then(|hand_off| hand_off.before).map(i64::from),
            parent_after: hand_off.and_then(|hand_off| hand_off.after).map(i64::from),
            position: position(0, span.events.len() - 1),
        });
        if context.keep == Keep::Events {
            let row = |(seq, event)| {
                let mut row = event_row(context, names, &span.node, seq, event);
                row.request_id = Some(request_id.clone());
                row.span_id = Some(ids[i].clone());
                row.position = position(seq, seq);
                row
            };
            events.extend(span.events.iter().enumerate().map(row));
        }
    }
    (spans, events)
}

fn event_row(context: Context<'_>, names: &Names, node: &str, seq: usize, event: &Event) -> EventRow {
    let point = event.log_point.and_then(|id| Some((id, context.model.log_points.get(id.index())?)));
    let name = |variable: u32| {
        let variable = point?.1.variables.get(variable as usize)?;
        let class = variable.value_class.and_then(|class| names.value_classes.get(class.index()).cloned());
        Some(class.unwrap_or_else(|| Text::from(variable.path.as_str())))
    };
    let value = |(variable, text): (u32, &str)| NameValue {
        name: name(variable).unwrap_or_else(|| names.unknown.clone()),
        value: Text::from(text),
    };
    EventRow {
        request_id: None,
        span_id: None,
        seq: seq as i64,
        node: names.node(node),
        file: names.file(node, event.file),
        line: event.line.cast_signed(),
        n_lines: i64::from(event.n_lines),
        byte_offset: event.byte_offset.cast_signed(),
        ts: Time(event.printed_us()),
        level: event.level.map(|level| Text::from(level.name())),
        log_point_id: point.map(|(id, _)| number(context, id)),
        class: point.map(|(id, _)| names.classes[id.index()].clone()),
        method: point.map(|(id, _)| names.methods[id.index()].clone()),
        source_line: point.map(|(_, point)| i64::from(point.source_line)),
        values: event.values.iter().map(value).collect(),
        reason: Text::from(event.reason.as_str()),
        pass: Some(event.pass).filter(|pass| *pass != Pass::Unattributed).map(|pass| Text::from(pass.name())),
        position: None,
    }
}

fn number(context: Context<'_>, id: LogPointId) -> i64 {
    context.log_point_numbers.get(id.index()).copied().unwrap_or(-1)
}

fn extent(span: &Span) -> (i64, i64) {
    assert!(!span.events.is_empty(), "a span has an event");
    let times = || span.events.iter().map(|event| event.ts_us);
    (times().min().unwrap_or_default(), times().max().unwrap_or_default())
}

/// The links by which each span was reached, in order of sender.
fn links_to(accumulator: &Accumulator) -> Vec<Vec<Link>> {
    let mut links = accumulator.links.clone();
    links.sort();
    let mut to = vec![Vec::new(); accumulator.spans.len()];
    for link in links {
        let known = (link.from as usize) < to.len() && link.from != link.to;
        if let Some(links) = to.get_mut(link.to as usize).filter(|_| known) {
            links.push(link);
        }
    }
    to
}

/// The method of the earliest span. Clocks tick in milliseconds: of several
/// that start together it is the one that none of the others handed over to.
fn request_type(
    names: &Names,
    accumulator: &Accumulator,
    extents: &[(i64, i64)],
    incoming: &[Option<Link>],
) -> Text {
    let start = extents.iter().map(|e| e.0).min();
    let first: Vec<usize> = (0..extents.len()).filter(|i| Some(extents[*i].0) == start).collect();
    let is_root = |i: &&usize| incoming[**i].is_none_or(|link| !first.contains(&(link.from as usize)));
    let root = first.iter().find(is_root).or(first.first()).copied().unwrap_or_default();
    names.top_level(&accumulator.spans[root])
}

fn node_times(names: &Names, accumulator: &Accumulator, extents: &[(i64, i64)]) -> Vec<(NodeTime, i64)> {
    let mut nodes: BTreeMap<&str, (i64, i64, i64)> = BTreeMap::new();
    for (span, (start, end)) in accumulator.spans.iter().zip(extents) {
        let time = nodes.entry(span.node.as_str()).or_insert((*start, *end, 0));
        *time = (time.0.min(*start), time.1.max(*end), time.2 + span.events.len() as i64);
    }
    let row = |(node, (start, end, n)): (&str, (i64, i64, i64))| {
        (NodeTime { node: names.node(node), start_ts: Time(start), end_ts: Time(end) }, n)
    };
    let mut rows: Vec<(NodeTime, i64)> = nodes.into_iter().map(row).collect();
    rows.sort_by(|(a, _), (b, _)| (a.start_ts, &a.node).cmp(&(b.start_ts, &b.node)));
    rows
}

fn identifiers(names: &Names, accumulator: &Accumulator) -> Vec<NameValue> {
    let value = |v: &schema::Value| {
        let name = names.value_classes.get(v.value_class.index()).unwrap_or(&names.unknown);
        (name.clone(), Text::clone(&v.text))
    };
    let mut pairs: Vec<(Text, Text)> =
        accumulator.spans.iter().flat_map(|span| &span.identifiers).map(value).collect();
    pairs.sort();
    pairs.dedup();
    pairs.into_iter().map(|(name, value)| NameValue { name, value }).collect()
}

fn flags(
    accumulator: &Accumulator,
    extents: &[(i64, i64)],
    (has_conflict, clocks_differ): (bool, bool),
) -> Vec<Text> {
    let starts = |link: &Link| Some((extents.get(link.from as usize)?.0, extents.get(link.to as usize)?.0));
    let mut flags = Vec::new();
    if accumulator.links.iter().filter_map(starts).any(|(from, to)| to < from) {
        flags.push(Text::from("clock_conflict"));
    }
    if clocks_differ {
        flags.push(Text::from("clock_contradiction"));
    }
    if has_conflict {
        flags.push(Text::from("order_conflict"));
    }
    if accumulator.spans.iter().any(|span| span.truncated) {
        flags.push(Text::from("truncated"));
    }
    flags
}

/// One sequence per span, sorted: in which order spans interleave is a matter
/// of clocks, not of the path through the code.
fn log_sequence(
    context: Context<'_>,
    names: &Names,
    accumulator: &Accumulator,
    request_type: &Text,
) -> LogSequenceRow {
    let of_span = |span: &Span| -> (Text, Vec<i64>) {
        let points = span.events.iter().filter_map(|event| event.log_point);
        (names.top_level(span), points.map(|id| number(context, id)).collect())
    };
    let mut sequences: Vec<(Text, Vec<i64>)> = accumulator.spans.iter().map(of_span).collect();
    sequences.sort();
    let mut hash = Xxh3::new();
    let mut paths: Vec<u64> = accumulator.spans.iter().map(|span| span_path(context, span)).collect();
    paths.sort_unstable();
    for path in paths {
        hash.update(&path.to_le_bytes());
    }
    LogSequenceRow {
        log_sequence_id: Text::from(format!("{:016x}", hash.digest())),
        request_type: request_type.clone(),
        sequence: sequences.into_iter().map(|(_, sequence)| sequence).collect(),
    }
}

/// Hash of a span's path; of names, not numbers, so that equal paths are equal
/// under any model.
fn span_path(context: Context<'_>, span: &Span) -> u64 {
    let mut hash = Xxh3::new();
    if let Some(method) =
        span.top_levels.first().and_then(|id| context.model.top_level_methods.get(id.index()))
    {
        text(&mut hash, &method.class);
        text(&mut hash, &method.method);
    }
    for id in span.events.iter().filter_map(|event| event.log_point) {
        let point = &context.model.log_points[id.index()];
        text(&mut hash, &point.class);
        text(&mut hash, &point.method);
        hash.update(&point.source_line.to_le_bytes());
    }
    hash.digest()
}

/// Length first, so that no two lists of texts are the same bytes.
fn text(hash: &mut Xxh3, text: &str) {
    hash.update(&(text.len() as u64).to_le_bytes());
    hash.update(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::{PART_MAX, Part, parts};

    #[test]
    fn rows_come_day_by_day_and_those_of_no_request_last() {
        let requests: Vec<i64> = [0, 0].into_iter().chain((0..=PART_MAX).map(|_| 1)).collect();
        let range = |part| match part {
            Part::Requests(range) => (true, range),
            Part::Unattributed(range) => (false, range),
        };
        let found: Vec<(bool, Range<usize>)> =
            parts(&requests, &[-1, 1, 3, 3]).into_iter().map(range).collect();
        let expected = [
            (false, 0..1),
            (true, 0..2),
            (true, 2..2 + PART_MAX),
            (true, 2 + PART_MAX..3 + PART_MAX),
            (false, 1..2),
            (false, 2..4),
        ];
        assert_eq!(found, expected);
    }
}
